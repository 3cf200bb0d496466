//! Keys of `[environment]`, `[[portals]]` and `[[lights]]`, in the order of the reference page.

use super::shape::STEPS;
use crate::description::key::Value::{Color, File, Number, Several, Tables, Text, Textured, Vector, Word};
use crate::description::key::{Key, Section, Type};
use crate::description::limits::{MAX_COORDINATE, MAX_RADIANCE};

pub(crate) static ENVIRONMENT: Section = Section::new(
    "environment",
    "[environment]",
    "Light that arrives from outside the scene; without the section, none does. Without `type`, it is an image if there \
     is a `file`, and constant otherwise.",
)
.types(&ENVIRONMENT_TYPES);

static ENVIRONMENT_TYPES: [Type; 4] = [
    Type::new(&["constant"], "The same from everywhere.").adding(&[&CONSTANT]),
    Type::new(
        &["image"],
        "An image of all directions: the top row is +y, the middle column −z, and columns to the right of it turn towards \
         +x.",
    )
    .adding(&[&IMAGE, &PLACED]),
    Type::new(&["sun_sky"], "A clear sky with its sun, by Hošek and Wilkie 2012; the zenith is +y.")
        .adding(&[&SUN_SKY, &PLACED]),
    Type::new(
        &["studio"],
        "The soft boxes of a photographer's studio, which is looked into along −z; models that come without light are in it.",
    )
    .adding(&[&STUDIO, &PLACED]),
];

static CONSTANT: [Key; 1] =
    [Key::new("radiance", Color(MAX_RADIANCE), "Radiance.").unit("W·sr⁻¹·m⁻²").required("0.5")];

static IMAGE: [Key; 3] = [
    Key::new(
        "file",
        File("image"),
        "A PNG, JPEG, WebP, KTX2, BMP, PNM, TGA, Radiance HDR, PFM or OpenEXR image, twice as wide as high.",
    )
    .required("\"sky.exr\""),
    Key::new("scale", Color(MAX_RADIANCE), "What its values are multiplied by to give radiance, W·sr⁻¹·m⁻².")
        .or("1"),
    Key::new(
        "color_space",
        Word(&[("srgb", "encoded as for displays"), ("linear", "proportional to light")]),
        "How whole numbers are encoded; floats are linear.",
    )
    .or("\"srgb\""),
];

static STUDIO: [Key; 1] =
    [Key::new("scale", Color(MAX_RADIANCE), "What its radiance is multiplied by.").or("1")];

static PLACED: [Key; 1] = [Key::new("transform", Tables(&STEPS), "A rotation of it into the world.")
    .example("[{ rotate = { axis = \"y\", degrees = 30 } }]")];

static SUN_SKY: [Key; 8] = [
    Key::new("sun_direction", Vector(MAX_COORDINATE), "The direction to the sun, above the horizon.")
        .required("[1, 1, 0]")
        .instead(&["elevation", "azimuth"]),
    Key::angle("elevation", 0.0, 90.0, "Height of the sun above the horizon, instead of `sun_direction`.")
        .example("40")
        .instead(&["sun_direction"])
        .with(&["azimuth"]),
    Key::angle(
        "azimuth",
        -360.0,
        360.0,
        "Where above the horizon the sun is, from −z towards +x; goes with `elevation`.",
    )
    .example("120")
    .instead(&["sun_direction"])
    .with(&["elevation"]),
    Key::new("turbidity", Number(1.0, 10.0), "How hazy the air is.").or("3"),
    Key::new("ground_albedo", Color(1.0), "What the ground reflects.").or("0.3"),
    Key::new("sky_scale", Number(0.0, MAX_RADIANCE), "What the light of the sky is multiplied by.").or("1"),
    Key::new("sun_scale", Number(0.0, MAX_RADIANCE), "What the light of the sun is multiplied by.").or("1"),
    Key::angle(
        "sun_diameter",
        0.01,
        90.0,
        "How large the sun looks; what it shines on gets the same light whatever this is.",
    )
    .or("0.5358"),
];

pub(crate) static PORTAL: Section = Section::new(
    "portal",
    "[[portals]]",
    "A window through which an environment image or a sky shines into a room: directions through it are sampled by what \
     is seen of the environment there. It is no surface, and changes noise only.",
)
.keys(&PORTAL_KEYS);

static PORTAL_KEYS: [Key; 2] = [
    Key::point("corner", "A corner of the window.").required("[-1, 0, 0]"),
    Key::new(
        "edges",
        Several(2, &Vector(MAX_COORDINATE)),
        "From there to the two next corners, at right angles. Their cross product, the first by the second, points into the \
         room.",
    )
    .unit("m")
    .required("[[2, 0, 0], [0, 1, 0]]"),
];

pub(crate) static LIGHT: Section = Section::new(
    "light",
    "[[lights]]",
    "Light from a point or from one direction. Shapes shine by their `emission`, see [shapes](#shapes).",
)
.keys(&LIGHT_KEYS)
.types(&LIGHT_TYPES);

static LIGHT_KEYS: [Key; 1] =
    [Key::new("name", Text, "For messages; no two lights may share one.").example("\"lamp\"")];

static LIGHT_TYPES: [Type; 4] = [
    Type::new(&["point"], "Into all directions alike.").adding(&[&PLACE, &INTENSITY]),
    Type::new(&["spot"], "Into a cone.").adding(&[&PLACE, &PICTURE, &AIM, &UP, &SPOT]),
    Type::new(&["projector"], "Through a picture; nothing passes beside it.")
        .adding(&[&PLACE, &PICTURE, &AIM, &UP, &PROJECTOR]),
    Type::new(&["directional"], "Along one direction, or from a disk in the sky.")
        .adding(&[&DIRECTION, &DIRECTIONAL]),
];

static PLACE: [Key; 1] = [Key::point("position", "Where it is.").required("[0, 3, 0]")];
static INTENSITY: [Key; 1] =
    [Key::new("intensity", Color(MAX_RADIANCE), "Radiant intensity.").unit("W·sr⁻¹").required("10")];
static PICTURE: [Key; 1] = [Key::new(
    "intensity",
    Textured(&Color(MAX_RADIANCE)),
    "Radiant intensity on the axis. A texture is a picture that the light shines through, as onto a screen across the axis: of \
     a spot, it is as wide and high as the cone.",
)
.unit("W·sr⁻¹")
.required("10")];
static UP: [Key; 1] =
    [Key::new("up", Vector(MAX_COORDINATE), "Where the top of the picture is, by default +y.")
        .example("[0, 0, -1]")];
static PROJECTOR: [Key; 2] = [
    Key::angle("fov", 0.001, 179.0, "Angle that the picture is wide.").or("45"),
    Key::new("aspect", Number(1e-3, 1e3), "How many times as wide as high the picture is.").or("1"),
];
static AIM: [Key; 2] = [
    Key::new("direction", Vector(MAX_COORDINATE), "Where it points.")
        .required("[0, -1, 0]")
        .instead(&["target"]),
    Key::point("target", "A point that it points at, instead of `direction`.")
        .example("[0, 0, 1]")
        .instead(&["direction"]),
];
static SPOT: [Key; 3] = [
    Key::angle("inner", 0.0, 180.0, "Angle to the axis up to which the intensity is that on the axis.")
        .or("0")
        .with(&["outer"]),
    Key::angle("outer", 0.001, 180.0, "Angle to the axis from which on there is no light, above `inner`.")
        .or("45"),
    Key::new(
        "falloff",
        Word(&[
            ("smooth", "the square of a part of the way between the cosines, as in glTF"),
            ("linear", "linearly in the angle, as in Mitsuba"),
        ]),
        "How the intensity falls in between.",
    )
    .or("\"smooth\""),
];
static DIRECTION: [Key; 1] =
    [Key::new("direction", Vector(MAX_COORDINATE), "Along which light travels.").required("[0, -1, 0]")];
static DIRECTIONAL: [Key; 2] = [
    Key::new("irradiance", Color(MAX_RADIANCE), "Of a surface across it.").unit("W·m⁻²").required("3"),
    Key::angle("diameter", 0.0, 179.0, "How large it looks; 0 is a point, which is not seen itself.").or("0"),
];
