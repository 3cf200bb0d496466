//! Keys of the document, `[render]` and `[camera]`, in the order of the reference page.

use super::light::{ENVIRONMENT, LIGHT, PORTAL};
use super::material::MATERIAL;
use super::shape::{GROUP, INSTANCE, SHAPE};
use super::texture::TEXTURE;
use crate::description::key::Value::{
    Boolean, Either, Integer, Named, Number, Several, Table, Tables, Vector, Word,
};
use crate::description::key::{Key, Section, Type};
use crate::description::limits::{LEAST_CLAMP, MAX_COORDINATE, MAX_DEPTH, MAX_SPP, MOST_CLAMP};

/// Longest radius of a pixel filter, pixels.
const MAX_FILTER: f32 = 16.0;

pub(crate) static TOP: Section = Section::new("scene", "A scene file", "").keys(&TOP_KEYS);

static TOP_KEYS: [Key; 10] = [
    Key::new("render", Table(&RENDER), "Image size, sampling and transport."),
    Key::new("camera", Table(&CAMERA), "From where the scene is seen.")
        .required("{ position = [0, 1, 5], target = [0, 0, 0], fov = 40 }"),
    Key::new("environment", Table(&ENVIRONMENT), "Light that arrives from outside the scene."),
    Key::new("lights", Tables(&LIGHT), "Lights that are points or directions."),
    Key::new("portals", Tables(&PORTAL), "Windows through which the environment shines in."),
    Key::new("textures", Named(&TEXTURE), "Textures by name."),
    Key::new("materials", Named(&MATERIAL), "Materials by name."),
    Key::new("shapes", Tables(&SHAPE), "What is in one place."),
    Key::new("groups", Named(&GROUP), "Shapes that can be in many places, by name."),
    Key::new("instances", Tables(&INSTANCE), "The places of groups."),
];

pub(crate) static RENDER: Section = Section::new(
    "render",
    "[render]",
    "How the image is made. Most of it can also be said on the command line, which wins: `--max-depth` is `max_depth`, \
     and `--rr-depth` is `rr`.",
)
.keys(&RENDER_KEYS);

static RENDER_KEYS: [Key; 20] = [
    Key::new(
        "size",
        Several(2, &Integer(1, u32::MAX)),
        "Width and height, at most 64 GiB of film at 200 bytes a pixel.",
    )
    .unit("pixels")
    .or("[512, 512]")
    .instead(&["width", "height"]),
    Key::new("width", Integer(1, u32::MAX), "Width, instead of `size`.")
        .unit("pixels")
        .or("512")
        .instead(&["size"]),
    Key::new("height", Integer(1, u32::MAX), "Height, instead of `size`.")
        .unit("pixels")
        .or("512")
        .instead(&["size"]),
    Key::new("spp", Integer(1, MAX_SPP), "Samples per pixel.").or("64"),
    Key::new(
        "max_depth",
        Integer(1, MAX_DEPTH),
        "Longest path: 1 shows emission only, 2 adds one bounce, and so on.",
    )
    .or("16"),
    Key::new(
        "rr",
        Either(&[Integer(0, MAX_DEPTH), Boolean]),
        "Bounces after which Russian roulette may end a path; `false` is never, `true` the default.",
    )
    .or("5"),
    Key::new(
        "sampler",
        Word(&[
            ("sobol", "scrambled Sobol points, which cover a pixel evenly"),
            ("blue_noise", "such points, with errors that cancel between neighbouring pixels"),
            ("independent", "random points"),
        ]),
        "Where samples are.",
    )
    .or("\"sobol\""),
    Key::new(
        "direct",
        Word(&[
            ("mis", "both ways, weighted by multiple importance sampling"),
            ("nee", "sampling of lights alone"),
            ("bsdf", "sampling of surfaces alone"),
        ]),
        "How direct light is found.",
    )
    .or("\"mis\""),
    Key::new(
        "lights",
        Word(&[
            ("auto", "a tree where it pays: where what lights bring differs much from place to place, as of many small ones"),
            ("tree", "what a light may bring to a point, by a tree of those that have a place"),
            ("power", "the power of a light alone"),
        ]),
        "By what the light of a sample is chosen.",
    )
    .or("\"auto\""),
    Key::new(
        "guiding",
        Word(&[
            ("auto", "they are in long renders where a trial says that it pays"),
            ("on", "they are"),
            ("off", "they are not"),
        ]),
        "Whether paths are guided by what earlier ones have learnt: for light that is hard to find.",
    )
    .or("\"off\""),
    Key::new("guiding_memory", Integer(16, 1 << 16), "Most memory that learning that takes.").unit("MiB").or("256"),
    Key::new(
        "caustics",
        Word(&[
            ("paths", "by paths, by chance; never if the light has no size"),
            ("walks", "by manifold walks: with Newton's method, over four surfaces at most"),
        ]),
        "How light from suns and directional lights is found that comes by way of smooth surfaces: through glass and water, off mirrors.",
    )
    .or("\"paths\""),
    Key::new(
        "clamp_indirect",
        Either(&[Number(LEAST_CLAMP, MOST_CLAMP), Word(&[("off", "no limit")])]),
        "Most radiance that indirect light brings to a sample at once. With a limit there is less noise, and less light.",
    )
    .or("\"off\""),
    Key::new(
        "masking",
        Word(&[("correlated", "height-correlated"), ("separable", "the product of masking and shadowing")]),
        "Smith masking and shadowing of microfacets.",
    )
    .or("\"correlated\""),
    Key::new("seed", Integer(0, u32::MAX), "The same seed gives the same image.").or("0"),
    Key::new(
        "filter",
        Either(&[
            Word(&[
                ("box", "the same everywhere; without more the pixel itself"),
                ("tent", "falls linearly"),
                ("gaussian", "a Gaussian, less its value at the radius"),
                ("mitchell", "Mitchell and Netravali's, which is negative in part"),
                ("blackman_harris", "the window of Blackman and Harris"),
            ]),
            Table(&FILTER),
        ]),
        "What a pixel is the mean of.",
    )
    .or("\"box\""),
    Key::new(
        "sample_border",
        Boolean,
        "Whether that is of what lies beyond the edge of the image too, where the filter reaches there. Mitsuba's default \
         is not to.",
    )
    .or("true"),
    Key::new(
        "hidden_normals",
        Word(&[
            ("bend", "turned to the nearest that do not"),
            ("geometric", "replaced by the normal of the triangle if they face away; reflections into the surface are lost"),
            ("keep", "left as they are, as in Mitsuba: opaque materials are black where they face away"),
        ]),
        "What is done to interpolated normals of meshes that face away from the viewer, or would send reflections into the surface.",
    )
    .or("\"bend\""),
    Key::new(
        "holes",
        Word(&[
            ("pass", "nothing"),
            (
                "scatter",
                "scattering straight on, as for Mitsuba's `path`: it makes paths longer, and light of points, spots and \
                 directions does not come through",
            ),
        ]),
        "What passing a hole in a surface is.",
    )
    .or("\"pass\""),
    Key::flag(
        "hide_emitters",
        "Whether the camera does not see lights, which light the scene all the same: it looks through surfaces that emit, \
         and beyond the scene all is black.",
    ),
];

pub(crate) static FILTER: Section =
    Section::new("filter", "A pixel filter", "`filter` is the name of a filter, or a table that says more.")
        .types(&FILTER_TYPES);

static FILTER_TYPES: [Type; 5] = [
    Type::new(&["box"], "The same everywhere.").adding(&[&BOX_FILTER]),
    Type::new(&["tent"], "Falls linearly to 0.").adding(&[&TENT_FILTER]),
    Type::new(&["gaussian"], "A Gaussian, less its value at the radius.").adding(&[&GAUSSIAN_FILTER]),
    Type::new(&["mitchell"], "Mitchell and Netravali 1988.").adding(&[&MITCHELL_FILTER]),
    Type::new(&["blackman_harris"], "Harris 1978, four terms.").adding(&[&WINDOW_FILTER]),
];

const fn radius(default: &'static str, about: &'static str) -> Key {
    Key::new("radius", Number(0.1, MAX_FILTER), about).unit("pixels").or(default)
}

static BOX_FILTER: [Key; 1] = [radius("0.5", "Half the side of the square.")];
static TENT_FILTER: [Key; 1] = [radius("1", "Where it ends.")];
static GAUSSIAN_FILTER: [Key; 2] = [
    radius("2", "Where it ends."),
    Key::new("sigma", Number(0.05, MAX_FILTER), "Standard deviation.").unit("pixels").or("0.5"),
];
static MITCHELL_FILTER: [Key; 3] = [
    radius("2", "Where it ends."),
    Key::new("b", Number(0.0, 1.0), "Their B: how much it blurs.").or("0.33333334"),
    Key::new("c", Number(0.0, 1.0), "Their C: how much it rings.").or("0.33333334"),
];
static WINDOW_FILTER: [Key; 1] = [radius("1.5", "Where it ends.")];

pub(crate) static CAMERA: Section =
    Section::new("camera", "[camera]", "Required. Its image is upright: `up` is what is up in it.")
        .keys(&CAMERA_KEYS)
        .types(&CAMERA_TYPES)
        .default_type("perspective");

static CAMERA_KEYS: [Key; 6] = [
    Key::point("position", "Where it stands.").required("[0, 1, 5]"),
    Key::point("target", "The point in the middle of the image.").required("[0, 0, 0]"),
    Key::new("up", Vector(MAX_COORDINATE), "What is up in the image.").or("[0, 1, 0]"),
    Key::flag("mirrored", "Exchanges left and right."),
    Key::new(
        "near",
        Number(0.0, MAX_COORDINATE),
        "Things that are nearer along the viewing direction are not seen, as through a wall behind which the camera stands.",
    )
    .unit("m")
    .or("0"),
    Key::new("far", Number(1e-9, 1e10), "Nor are those that are farther.").unit("m").or("1e10"),
];

static CAMERA_TYPES: [Type; 3] = [
    Type::new(&["perspective"], "Lines through one point, or through a lens.").adding(&[&PERSPECTIVE]),
    Type::new(&["orthographic"], "Parallel lines.").adding(&[&ORTHOGRAPHIC]),
    Type::new(
        &["equirectangular"],
        "All directions: longitude to the right, `target` in the middle, and latitude upwards.",
    ),
];

static PERSPECTIVE: [Key; 4] = [
    Key::angle("fov", 1e-3, 180.0 - 1e-3, "Field of view along `fov_axis`, above 0 and below 180.").required("40"),
    Key::new("fov_axis", AXIS, "Along what `fov` is measured.").or("\"y\""),
    Key::new(
        "principal_point",
        Several(2, &Number(-100.0, 100.0)),
        "Where `target` is in the image, as parts of its width and height to the right of and below the middle.",
    )
    .or("[0, 0]"),
    Key::new("lens", Table(&LENS), "A thin lens, which blurs what is out of focus.").example("{ radius = 0.05 }"),
];

const AXIS: crate::description::key::Value = Word(&[
    ("x", "the width of the image"),
    ("y", "its height"),
    ("diagonal", "from corner to corner"),
    ("smaller", "the shorter side"),
    ("larger", "the longer side"),
]);

static ORTHOGRAPHIC: [Key; 2] = [
    Key::length("size", "What of the scene is in the image, along `size_axis`.").required("4"),
    Key::new("size_axis", AXIS, "Along what `size` is measured.").or("\"y\""),
];

pub(crate) static LENS: Section = Section::new(
    "lens",
    "A lens",
    "`lens` of a perspective camera: what is nearer or farther than its focus blurs.",
)
.keys(&LENS_KEYS);

static LENS_KEYS: [Key; 5] = [
    Key::length("radius", "Radius of the aperture.").required("0.05"),
    Key::length(
        "focus_distance",
        "Distance along the axis of what is in focus; that of `target` if nothing is said.",
    )
    .example("4")
    .instead(&["focus"]),
    Key::point("focus", "A point that is in focus, instead of a distance.")
        .example("[0, 0, 1]")
        .instead(&["focus_distance"]),
    Key::new("blades", Integer(0, 64), "Number of blades of the aperture, 3 or more; 0 is round.").or("0"),
    Key::angle("rotation", -360.0, 360.0, "By how much the blades are turned.").or("0"),
];
