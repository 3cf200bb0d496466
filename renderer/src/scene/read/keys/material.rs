//! Keys of `[materials]`.

use super::table::Value::{Boolean, Color, Either, Name, Number, OneOrTwo, Several, Table, Textured, Word};
use super::table::{Key, Section, Type, Value};
use super::texture::{BUMP_MAP, NORMAL_MAP};
use crate::scene::limits::{MAX_IOR, MIN_ALPHA};

const NUMBER: Value = Textured(&Number(0.0, 1.0));
const COLOR: Value = Textured(&Color(1.0));
/// Smallest roughness that is not smooth.
const MIN_ROUGHNESS: f32 = 1e-2;

const fn number(name: &'static str, default: &'static str, about: &'static str) -> Key {
    Key::new(name, NUMBER, about).or(default)
}

const fn color(name: &'static str, default: &'static str, about: &'static str) -> Key {
    Key::new(name, COLOR, about).or(default)
}

pub(crate) static MATERIAL: Section = Section::new(
    "material",
    "[materials.NAME]",
    "What a surface does to light. Shapes name it, `material = \"NAME\"`, or have the table itself.",
)
.keys(&MATERIAL_KEYS)
.types(&MATERIAL_TYPES)
.notes(
    "```toml\n[materials.rusty]\ntype = \"blend\"\nmaterials = [\"iron\", \"rust\"]\nweight = 0.6\nopacity = 0.9\n\n\
     [materials.iron]\ntype = \"conductor\"\nmetal = \"iron\"\nroughness = 0.35\n\n\
     [materials.rust]\ntype = \"diffuse\"\nreflectance = [0.34, 0.12, 0.04]\nroughness = 1\n```",
);

static MATERIAL_KEYS: [Key; 6] = [
    Key::new(
        "two_sided",
        Boolean,
        "Whether the back scatters as the front does; otherwise it is black. Not for what light passes, nor with `back`.",
    )
    .or("true")
    .not_for(&["dielectric", "thin_dielectric", "blend"]),
    Key::new("back", Name("material"), "The material that the back has instead, which shows its front there.")
        .example("\"other\""),
    number(
        "opacity",
        "1",
        "The part of the surface that is there; the rest are holes. Paths end at the 256th hole in a row.",
    ),
    Key::new(
        "holes_emit",
        Boolean,
        "Whether shapes emit where there are holes as well, as in Mitsuba: with an `opacity` of 0, lamps that nothing else \
         is seen of.",
    )
    .or("false"),
    Key::new("normal_map", Table(&NORMAL_MAP), "Normals that perturb those of the shape.")
        .example("{ file = \"bumps.png\" }")
        .instead(&["bump_map"])
        .not_for(&["blend"]),
    Key::new("bump_map", Table(&BUMP_MAP), "Heights that perturb the normals of the shape.")
        .example("{ file = \"bumps.png\" }")
        .instead(&["normal_map"])
        .not_for(&["blend"]),
];

static MATERIAL_TYPES: [Type; 9] = [
    Type { names: &["diffuse"], about: "Paint, paper, clay.", keys: &[&DIFFUSE] },
    Type {
        names: &["conductor"],
        about: "A metal.",
        keys: &[&METAL, &ROUGH, &FACETS, &SCATTERING, &REFLECTION],
    },
    Type {
        names: &["dielectric"],
        about: "Glass or water that fills what lies behind the surface.",
        keys: &[&IOR, &SMOOTH, &FACETS, &SCATTERING, &REFLECTION, &TRANSMISSION],
    },
    Type {
        names: &["thin_dielectric"],
        about: "A smooth pane with air on both sides.",
        keys: &[&IOR, &REFLECTION, &TRANSMISSION],
    },
    Type {
        names: &["plastic"],
        about: "A clear coat over a diffuse base that lets no light pass.",
        keys: &[&PLASTIC, &SMOOTH_COAT, &FACETS, &BASE],
    },
    Type {
        names: &["sheen"],
        about: "Upright fibres of cloth on black. For their shimmer on something else, blend them with it.",
        keys: &[&SHEEN],
    },
    Type {
        names: &["principled"],
        about: "Anything between plastic, metal and glass, by Burley's numbers made for artists, as Mitsuba defines them. \
                It is not careful about energy: white paint may send back more light than arrives.",
        keys: &[&PRINCIPLED],
    },
    Type {
        names: &["gltf"],
        about: "The metallic-roughness material of glTF 2.0 with its extensions, in layers none of which sends back more \
                light than arrives. What emits is the shape: its `emission` is glTF's `emissiveFactor` times \
                `emissiveStrength`.",
        keys: &[&GLTF],
    },
    Type {
        names: &["blend"],
        about: "A mixture of two materials, which may be blends themselves, up to seven levels deep. It has the sides and \
                maps of its parts; holes are those of the material that the shape has.",
        keys: &[&BLEND],
    },
];

static DIFFUSE: [Key; 2] = [
    Key::new("reflectance", COLOR, "Albedo.").required("[0.8, 0.7, 0.6]"),
    number(
        "roughness",
        "0",
        "From Lambertian to dusty, by the model of Oren and Nayar in a form that keeps energy (\"EON\").",
    ),
];

static METAL: [Key; 3] = [
    Key::new(
        "metal",
        Word(&[
            ("aluminium", "Al"),
            ("brass", "70 % copper, 30 % zinc"),
            ("chromium", "Cr"),
            ("cobalt", "Co"),
            ("copper", "Cu"),
            ("gold", "Au"),
            ("iridium", "Ir"),
            ("iron", "Fe"),
            ("mercury", "Hg"),
            ("molybdenum", "Mo"),
            ("nickel", "Ni"),
            ("palladium", "Pd"),
            ("platinum", "Pt"),
            ("rhodium", "Rh"),
            ("silver", "Ag"),
            ("steel", "stainless"),
            ("titanium", "Ti"),
            ("tungsten", "W"),
            ("aluminum", "aluminium"),
            ("Al", "aluminium"),
            ("Cr", "chromium"),
            ("Co", "cobalt"),
            ("Cu", "copper"),
            ("Au", "gold"),
            ("Ir", "iridium"),
            ("Fe", "iron"),
            ("Hg", "mercury"),
            ("Mo", "molybdenum"),
            ("Ni", "nickel"),
            ("Pd", "palladium"),
            ("Pt", "platinum"),
            ("Rh", "rhodium"),
            ("Ag", "silver"),
            ("Ti", "titanium"),
            ("W", "tungsten"),
        ]),
        "A metal by name or chemical symbol, as measured by those whom the tables in `assets/metals` name.",
    )
    .required("\"gold\"")
    .instead(&["eta", "k"]),
    Key::new("eta", Color(MAX_IOR), "Index of refraction, a number for each channel, instead of `metal`.")
        .example("[0.143, 0.375, 1.442]")
        .instead(&["metal"])
        .with(&["k"]),
    Key::new("k", Color(MAX_IOR), "Extinction, a number for each channel; goes with `eta`.")
        .example("[3.983, 2.386, 1.603]")
        .instead(&["metal"])
        .with(&["eta"]),
];

const ROUGHNESS: Key = Key::new(
    "roughness",
    OneOrTwo(&Textured(&Either(&[Number(MIN_ROUGHNESS, 1.0), Number(0.0, 0.0)]))),
    "Square root of `alpha`; 0 is smooth, and two are along u and v.",
)
.instead(&["alpha"]);
const ALPHA: Key = Key::new(
    "alpha",
    OneOrTwo(&Textured(&Either(&[Number(MIN_ALPHA, 1.0), Number(0.0, 0.0)]))),
    "Width of the distribution of microfacets, instead of `roughness`.",
)
.example("0.1")
.instead(&["roughness"]);
const ONE_ALPHA: Value = Textured(&Either(&[Number(MIN_ALPHA, 1.0), Number(0.0, 0.0)]));
const ONE_ROUGHNESS: Value = Textured(&Either(&[Number(MIN_ROUGHNESS, 1.0), Number(0.0, 0.0)]));

static ROUGH: [Key; 2] = [ROUGHNESS.required("0.3"), ALPHA];
static SMOOTH: [Key; 2] = [ROUGHNESS.or("0"), ALPHA];
static SMOOTH_COAT: [Key; 2] =
    [Key { value: ONE_ROUGHNESS, ..SMOOTH[0] }.or("0"), Key { value: ONE_ALPHA, ..ALPHA }];

static FACETS: [Key; 1] = [Key::new(
    "distribution",
    Word(&[("ggx", "long tails, as most real surfaces have"), ("beckmann", "a Gaussian of slopes")]),
    "Statistics of the microfacets.",
)
.or("\"ggx\"")];

static SCATTERING: [Key; 1] = [Key::new(
    "scattering",
    Word(&[
        ("none", "is lost, which darkens what is rough"),
        ("compensated", "its energy is brought back, from tables; glass is of GGX then"),
        ("random_walk", "is followed from facet to facet, exactly but with noise"),
    ]),
    "Light that meets several facets. The last two have height-correlated masking.",
)
.or("\"none\"")];

static IOR: [Key; 1] =
    [Key::new("ior", Number(0.1, 10.0), "Index of refraction relative to the outside.").or("1.5")];

static REFLECTION: [Key; 1] = [color("reflection_tint", "1", "Scales what is reflected; 1 in nature.")];
static TRANSMISSION: [Key; 1] = [color(
    "transmission_tint",
    "1",
    "Scales what passes the surface; 1 in nature, where colour comes from within.",
)];

static PLASTIC: [Key; 3] = [
    Key::new("reflectance", COLOR, "Albedo of the base.").required("[0.7, 0.1, 0.1]"),
    color("specular", "1", "Scales what the coat reflects."),
    Key::new("ior", Number(1.01, 10.0), "Index of refraction of the coat.").or("1.5"),
];

static BASE: [Key; 2] = [
    Key::new(
        "nonlinear",
        Boolean,
        "Whether light that the coat sends back to the base takes on its colour again, which makes colours deeper.",
    )
    .or("false"),
    Key::new(
        "internal_reflectance",
        Number(0.0, 0.999),
        "The part of light from the base that the coat sends back; without it, what Fresnel's equations say.",
    ),
];

static SHEEN: [Key; 2] =
    [color("color", "1", "What it reflects."), number("roughness", "0.3", "How far the fibres spread.")];

static PRINCIPLED: [Key; 13] = [
    color("base_color", "0.5", "Colour of paint and of metal, and of what glass transmits."),
    number("roughness", "0.5", "Square root of alpha."),
    number("anisotropic", "0", "From the same along u and v to brushed."),
    number("metallic", "0", "From a dielectric to a metal."),
    Key::new("specular", Number(0.0, 1.0), "12.5 times the reflectance straight on, instead of `ior`.")
        .example("0.5")
        .instead(&["ior"]),
    Key::new("ior", Number(0.1, 10.0), "Index of refraction.").or("1.5").instead(&["specular"]),
    number("spec_tint", "0", "How much of `base_color` there is in the highlight of a dielectric."),
    number("spec_trans", "0", "From opaque to clear as glass, which fills what lies behind the surface."),
    number("flatness", "0", "From diffuse to an approximation of subsurface scattering."),
    number("sheen", "0", "What reflects at grazing angles."),
    number("sheen_tint", "0", "How much of `base_color` there is in the sheen."),
    number("clearcoat", "0", "Strength of a layer on top."),
    number("clearcoat_gloss", "0", "From satin to gloss."),
];

static GLTF: [Key; 16] = [
    color("base_color", "1", "Colour of what is diffuse, metal or transmitted."),
    number("metallic", "1", "From a dielectric to a metal."),
    number("roughness", "1", "Square root of alpha."),
    Key::new("ior", Number(1.0, 10.0), "Index of refraction.").or("1.5"),
    number("specular", "1", "Strength of what a dielectric reflects."),
    Key::new(
        "specular_color",
        Textured(&Color(MAX_IOR)),
        "Colour of what a dielectric reflects straight on.",
    )
    .or("1"),
    number("transmission", "0", "The part of the light that passes, as through a thin sheet."),
    number("anisotropy", "0", "How far the highlight is stretched."),
    Key::new(
        "anisotropy_rotation",
        Either(&[Number(-360.0, 360.0), Several(2, &Number(-1.0, 1.0))]),
        "Where it is stretched: degrees from u towards v, or the direction as a unit vector.",
    )
    .unit("°")
    .or("0"),
    number("clearcoat", "0", "The part that has a clear coat."),
    number("clearcoat_roughness", "0", "How rough the coat is."),
    color("sheen_color", "0", "Colour of fibres on top."),
    number("sheen_roughness", "0", "How far the fibres spread."),
    number("iridescence", "0", "Strength of a thin film."),
    Key::new("iridescence_ior", Number(1.0, 10.0), "Index of refraction of the film.").or("1.3"),
    Key::new("iridescence_thickness", Textured(&Number(0.0, 10_000.0)), "Thickness of the film.")
        .unit("nm")
        .or("400"),
];

static BLEND: [Key; 2] = [
    Key::new("materials", Several(2, &Name("material")), "The two.").required("[\"other\", \"other\"]"),
    number("weight", "", "The part of the second one.").required("0.5"),
];
