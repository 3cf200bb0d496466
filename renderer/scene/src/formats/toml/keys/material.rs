//! Keys of `[materials]`.

use super::texture::{BUMP_MAP, NORMAL_MAP};
use crate::description::MATERIAL_TYPES;
use crate::description::key::Value::{Boolean, Name, Number, Table, Textured};
use crate::description::key::{Key, Section};

pub(crate) static MATERIAL: Section = Section::new(
    "material",
    "[materials.NAME]",
    "What a surface does to light. Shapes name it, `material = \"NAME\"`, or have the table itself.",
)
.keys(&MATERIAL_KEYS)
.types(MATERIAL_TYPES)
.notes(
    "```toml\n[materials.rusty]\ntype = \"blend\"\nmaterials = [\"iron\", \"rust\"]\nweight = 0.6\nopacity = 0.9\n\n\
     [materials.iron]\ntype = \"conductor\"\nmetal = \"iron\"\nroughness = 0.35\n\n\
     [materials.rust]\ntype = \"diffuse\"\nreflectance = [0.34, 0.12, 0.04]\nroughness = 1\n```",
);

static MATERIAL_KEYS: [Key; 7] = [
    Key::new(
        "two_sided",
        Boolean,
        "Whether the back scatters as the front does; otherwise it is black. Not for what light passes, nor with `back`.",
    )
    .or("true")
    .not_for(&["dielectric", "thin_dielectric", "blend"]),
    Key::flag(
        "cull_backfaces",
        "Whether nothing is there for rays that come from behind: of the camera, of light, or scattered. Not for solid glass, nor \
         with `back`.",
    )
    .not_for(&["dielectric"]),
    Key::new("back", Name("material"), "The material that the back has instead, which shows its front there.")
        .example("\"other\""),
    Key::new(
        "opacity",
        Textured(&Number(0.0, 1.0)),
        "The part of the surface that is there; the rest are holes. Paths end at the 256th hole in a row.",
    )
    .or("1"),
    Key::flag(
        "holes_emit",
        "Whether shapes emit where there are holes as well, as in Mitsuba: with an `opacity` of 0, lamps that nothing else \
         is seen of.",
    ),
    Key::new("normal_map", Table(&NORMAL_MAP), "Normals that perturb those of the shape.")
        .example("{ file = \"bumps.png\" }")
        .instead(&["bump_map"])
        .not_for(&["blend"]),
    Key::new("bump_map", Table(&BUMP_MAP), "Heights that perturb the normals of the shape.")
        .example("{ file = \"bumps.png\" }")
        .instead(&["normal_map"])
        .not_for(&["blend"]),
];
