//! Keys of `[textures]`, of normal maps and of bump maps.

use crate::description::key::Value::{Color, File, Matrix, Name, Number, OneOrTwo, Several, Textured, Word};
use crate::description::key::{Key, Section, Type, Value};
use crate::description::limits::MAX_RADIANCE;

/// Largest number of a map from texture coordinates.
pub(in crate::formats::toml) const MAX_UV: f32 = 1e6;

const NUMBER: Value = Textured(&Number(0.0, 1.0));
/// Its limit is that of `range`.
const COLOR: Value = Textured(&Color(MAX_RADIANCE));

pub(crate) static TEXTURE: Section = Section::new(
    "texture",
    "[textures.NAME]",
    "What varies over a surface, by its [texture coordinates](#texture-coordinates). Where ▪ stands, a texture can be \
     given in place of the number or colour: its name, `reflectance = \"wood\"`; the table itself, `reflectance = { file = \
     \"wood.png\", scale = 4 }`; or its name in a table with a factor, `reflectance = { texture = \"wood\", factor = 0.5 }`. \
     Without `type`, it is a bitmap.",
)
.keys(&TEXTURE_KEYS)
.types(&TEXTURE_TYPES)
.default_type("bitmap")
.notes(
    "Texture coordinates are turned by `rotate`, then scaled, then moved. v = 0 is the top row of an image. A texture may \
     be made of others, up to seven levels deep.",
);

static TEXTURE_KEYS: [Key; 1] = [Key::new(
    "range",
    Word(&[
        ("unit", "0 to 1; what an image has outside is brought there, with a warning"),
        ("radiance", "0 to 1e9, for what emits"),
        ("height", "anything, for bump maps"),
    ]),
    "What its values may be. What takes numbers or colours up to 1 takes textures of range `\"unit\"` only, and what emits \
     none of range `\"height\"`.",
)
.or("\"unit\" but for `emission` and `bump_map`")];

static TEXTURE_TYPES: [Type; 5] = [
    Type::new(&["bitmap"], "An image.").adding(&[&BITMAP, &UV]),
    Type::new(&["checker"], "Squares of two colours.").adding(&[&CHECKER, &UV]),
    Type::new(&["mix"], "(1 − weight) times the first colour, and weight times the second.").adding(&[&MIX]),
    Type::new(&["product"], "The product of two colours.").adding(&[&PRODUCT]),
    Type::new(
        &["vertex_color"],
        "The colours at the vertices of a mesh, interpolated; white where there are none.",
    )
    .adding(&[&VERTEX_COLOR]),
];

const CHANNEL: Key = Key::new(
    "channel",
    Word(&[("r", "red"), ("g", "green"), ("b", "blue"), ("a", "alpha"), ("rgb", "all three")]),
    "What of it counts; a single one is a grey.",
);

static BITMAP: [Key; 5] = [
    Key::new(
        "file",
        File("image"),
        "A PNG, JPEG, WebP, KTX2, BMP, PNM, TGA, Radiance HDR, PFM or OpenEXR image.",
    )
    .required("\"wood.png\""),
    Key::new(
        "color_space",
        Word(&[("srgb", "encoded as for displays"), ("linear", "as they are")]),
        "How whole numbers are encoded; floats are linear.",
    )
    .or("\"srgb\", but \"linear\" where it is the table itself and gives a number"),
    CHANNEL.or("\"rgb\", but \"r\" where it is the table itself and gives a number"),
    Key::new(
        "filter",
        Word(&[
            ("linear", "four texels, interpolated"),
            ("nearest", "one"),
            ("mipmap", "eight of two smaller versions of the image, by how much of it a ray sees"),
        ]),
        "How texels are looked up.",
    )
    .or("\"linear\""),
    Key::new(
        "wrap",
        OneOrTwo(&Word(&[
            ("repeat", "again and again"),
            ("mirror", "turned around each time"),
            ("clamp", "the edge"),
        ])),
        "What is beyond the edges.",
    )
    .or("\"repeat\""),
];

static UV: [Key; 4] = [
    Key::angle("rotate", -360.0, 360.0, "Turns texture coordinates from u towards v.")
        .or("0")
        .instead(&["matrix"]),
    Key::new("scale", OneOrTwo(&Number(-MAX_UV, MAX_UV)), "Scales them: more is smaller.")
        .or("1")
        .instead(&["matrix"]),
    Key::new("offset", OneOrTwo(&Number(-MAX_UV, MAX_UV)), "Moves them.").or("0").instead(&["matrix"]),
    Key::new("matrix", Matrix(2, 3, MAX_UV), "All of this at once: two rows, for (u, v, 1).")
        .example("[[1, 0.5, 0], [0, 1, 0]]")
        .instead(&["rotate", "scale", "offset"]),
];

static CHECKER: [Key; 1] = [Key::new(
    "colors",
    Several(2, &COLOR),
    "Of the squares where the whole parts of u and v are both even or both odd, and of the others.",
)
.required("[0.8, \"#204060\"]")];

static MIX: [Key; 2] = [
    Key::new("colors", Several(2, &COLOR), "The two colours.").required("[0.8, \"#204060\"]"),
    Key::new("weight", NUMBER, "The part of the second, 0 to 1.").required("0.25"),
];

static PRODUCT: [Key; 1] =
    [Key::new("factors", Several(2, &COLOR), "The two colours.").required("[0.8, \"#204060\"]")];

static VERTEX_COLOR: [Key; 1] =
    [CHANNEL.or("\"rgb\", but \"r\" where it is the table itself and gives a number")];

/// The keys of a texture in the place of a number or colour.
pub(crate) static PARAMETER: Section =
    Section::new("parameter", "A texture in place of a number or colour", "")
        .keys(&PARAMETER_KEYS)
        .types(&TEXTURE_TYPES)
        .default_type("bitmap");

static PARAMETER_KEYS: [Key; 3] = [
    TEXTURE_KEYS[0],
    Key::new("texture", Name("texture"), "The name of a texture, instead of the keys of one.")
        .example("\"wood\"")
        .instead(&["type", "range", "file", "colors", "weight", "factors"]),
    Key::new("factor", Color(MAX_RADIANCE), "What it is multiplied by, in the range of the parameter.")
        .or("1")
        .example("0.5"),
];

const STRENGTH: Key = Key::new(
    "strength",
    Number(-1e6, 1e6),
    "Of normals: what multiplies the slopes. Of heights: how high, in metres, what is 1 in the texture is.",
)
.or("1");
const INVALID: Key = Key::new(
    "invalid_normals",
    Word(&[
        ("bend", "turned to the nearest that do not"),
        ("flip", "turned by half a turn around the normal below the map if they face away from the viewer, as in Mitsuba"),
        ("keep", "left as they are; what sees them from behind is black"),
    ]),
    "What is done to normals that would send reflections into the surface.",
)
.or("\"bend\"");
const TERMINATOR: Key = Key::new(
    "terminator",
    Word(&[
        ("soft", "light fades out towards the horizon of the surface, as microfacets would shadow it"),
        ("hard", "it does not"),
    ]),
    "The edge of its shadows.",
)
.or("\"soft\"");

pub(crate) static NORMAL_MAP: Section = Section::new(
    "normal_map",
    "A normal map",
    "`normal_map` of a material: normals in tangent space. The table itself, or the name of a texture with `color_space = \
     \"linear\"` as `texture`.",
)
.keys(&NORMAL_MAP_KEYS)
.types(&TEXTURE_TYPES)
.default_type("bitmap");

static NORMAL_MAP_KEYS: [Key; 6] = [
    TEXTURE_KEYS[0],
    PARAMETER_KEYS[1],
    Key::new(
        "green",
        Word(&[
            ("up", "up in the image, as in OpenGL and glTF"),
            ("down", "down in the image, as in DirectX"),
            ("across", "along n × ∂p/∂u whichever way v grows, as in Mitsuba"),
            ("against", "against n × ∂p/∂u, as in Mitsuba from behind"),
        ]),
        "What green stands for.",
    )
    .or("\"up\""),
    STRENGTH,
    INVALID,
    TERMINATOR,
];

pub(crate) static BUMP_MAP: Section = Section::new(
    "bump_map",
    "A bump map",
    "`bump_map` of a material: heights. The table itself, or the name of a texture with `range = \"height\"` as `texture`.",
)
.keys(&BUMP_MAP_KEYS)
.types(&TEXTURE_TYPES)
.default_type("bitmap");

static BUMP_MAP_KEYS: [Key; 5] = [TEXTURE_KEYS[0], PARAMETER_KEYS[1], STRENGTH, INVALID, TERMINATOR];
