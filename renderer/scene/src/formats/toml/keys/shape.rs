//! Keys of `[[shapes]]`, `[groups]`, `[[instances]]` and transforms.

use super::material::MATERIAL;
use crate::description::SHAPE_TYPES;
use crate::description::key::Value::{
    Color, Either, File, Matrix, Name, Number, Table, Tables, Text, Textured, Vector, Word,
};
use crate::description::key::{Key, Section};
use crate::description::limits::{MAX_COORDINATE, MAX_RADIANCE};

pub(crate) static SHAPE: Section =
    Section::new("shape", "[[shapes]]", "Geometry with a material and a place.")
        .keys(&SHAPE_KEYS)
        .types(SHAPE_TYPES)
        .notes(
            "A mirroring transform keeps the front where it was on the object. Spheres and cylinders must stay what they \
             are. Coordinates are single precision and go to 1e9; far from the origin, a radius must be at least 2⁻²⁰ (a \
             millionth) of the largest coordinate, and the corners of quads and boxes must stay apart when rounded.",
        );

static SHAPE_KEYS: [Key; 6] = [
    Key::new("name", Text, "For messages; no two shapes may share one.").or("`shapes[0]`, …").example("\"floor\""),
    Key::new(
        "material",
        Either(&[Name("material"), Table(&MATERIAL)]),
        "The name of a material, or the table itself; a shape that emits may go without, and then reflects nothing.",
    )
    .required("\"white\""),
    Key::new("emission", Textured(&Color(MAX_RADIANCE)), "Radiance that leaves the surface.")
        .unit("W·sr⁻¹·m⁻²")
        .or("0"),
    Key::new(
        "emission_sides",
        Word(&[("front", "the side that the normal points to"), ("both", "both sides")]),
        "Which sides emit.",
    )
    .or("\"front\""),
    Key::flag("flip_normals", "Makes the other side the front."),
    Key::new(
        "transform",
        Either(&[Tables(&STEPS), Table(&STEPS)]),
        "Steps from object to world, applied in the order written, the first one first; see [below](#transforms).",
    )
    .example("[{ translate = [0, 1, 0] }]"),
];

pub(crate) static GROUP: Section = Section::new(
    "group",
    "[groups.NAME]",
    "Shapes that are put into the scene by [instances](#instances): once in memory, in as many places as wanted.",
)
.keys(&GROUP_KEYS);

static GROUP_KEYS: [Key; 1] = [Key::new(
    "shapes",
    Tables(&SHAPE),
    "Its shapes: `[[groups.NAME.shapes]]`. Those that emit are copied for every place.",
)
.required("[{ type = \"box\", material = \"white\" }]")];

pub(crate) static INSTANCE: Section =
    Section::new("instance", "[[instances]]", "A place of a group, or many.").keys(&INSTANCE_KEYS).notes(
        "```toml\n[[groups.post.shapes]]\ntype = \"box\"\nmaterial = \"copper\"\ntransform = [{ scale = [0.1, 1, 0.1] }]\n\n\
         [[instances]]\ngroup = \"post\"\n\n\
         [[instances]]\ngroup = \"post\"\ntransform = [{ translate = [1, 0, 0] }]\n```",
    );

static INSTANCE_KEYS: [Key; 3] = [
    Key::new("group", Name("group"), "The name of the group.").required("\"tree\""),
    Key::new(
        "transform",
        Either(&[Tables(&STEPS), Table(&STEPS)]),
        "Steps from the group to the world, as those of shapes; any that can be undone.",
    )
    .example("[{ translate = [0, 1, 0] }]")
    .instead(&["transforms"]),
    Key::new(
        "transforms",
        File("transforms"),
        "A file of many transforms, instead of one. In a `.csv` file, each line has the twelve numbers of the first three \
         rows of a matrix, row by row; in any other, these are 32-bit floats, least significant byte first, and nothing \
         else.",
    )
    .example("\"trees.csv\"")
    .instead(&["transform"]),
];

pub(crate) static STEPS: Section = Section::new(
    "transform",
    "Transforms",
    "`transform` is an array of steps, applied in the order written. Each step is a table with one of these keys.",
)
.keys(&STEP_KEYS)
.notes(
    "```toml\ntransform = [\n    { scale = 2 },\n    { rotate = { axis = \"y\", degrees = 30 } },\n    { translate = [0, 1, \
     0] },\n]\n```",
);

static STEP_KEYS: [Key; 5] = [
    Key::new(
        "scale",
        Either(&[Number(-MAX_COORDINATE, MAX_COORDINATE), Vector(MAX_COORDINATE)]),
        "A factor, or one each for x, y and z; not 0.",
    )
    .example("2"),
    Key::new("rotate", Table(&ROTATE), "A rotation about an axis through the origin.")
        .example("{ axis = \"y\", degrees = 30 }"),
    Key::point("translate", "A move.").example("[0, 1, 0]"),
    Key::new("look_at", Table(&LOOK_AT), "Puts the origin somewhere and turns +z towards a point.")
        .example("{ origin = [0, 2, 3], target = [0, 0, 0] }"),
    Key::new(
        "matrix",
        Matrix(4, 4, MAX_COORDINATE),
        "Four rows, for column vectors; the last is [0, 0, 0, 1].",
    )
    .example("[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]"),
];

pub(crate) static ROTATE: Section =
    Section::new("rotate", "A rotation", "`rotate` of a step.").keys(&ROTATE_KEYS);

static ROTATE_KEYS: [Key; 2] = [
    Key::new(
        "axis",
        Either(&[Word(&[("x", "+x"), ("y", "+y"), ("z", "+z")]), Vector(MAX_COORDINATE)]),
        "The axis.",
    )
    .required("\"y\""),
    Key::angle(
        "degrees",
        -MAX_COORDINATE,
        MAX_COORDINATE,
        "By how much, counter-clockwise for those whom the axis points to.",
    )
    .required("30"),
];

pub(crate) static LOOK_AT: Section =
    Section::new("look_at", "A view", "`look_at` of a step.").keys(&LOOK_AT_KEYS);

static LOOK_AT_KEYS: [Key; 3] = [
    Key::point("origin", "Where the origin goes.").required("[0, 2, 3]"),
    Key::point("target", "Where +z points.").required("[0, 0, 0]"),
    Key::new("up", Vector(MAX_COORDINATE), "Where +y is turned.").or("[0, 1, 0]"),
];
