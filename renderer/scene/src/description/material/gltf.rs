//! The material of glTF.

use super::GltfMaterial;
use super::parameters::{Parameter, ParameterList, color, parameters, scalar};
use crate::description::key::Value::{Color, Either, Number, Several, Textured};
use crate::description::key::{Default, Key};
use crate::description::limits::MAX_IOR;

const D: GltfMaterial = GltfMaterial::DEFAULT;

const SPECULAR_COLOR: Key = Key::new(
    "specular_color",
    Textured(&Color(MAX_IOR)),
    "Colour of what a dielectric reflects straight on.",
)
.default(Default::Number(D.specular_color.value.x));
const ROTATION: Key = Key::new(
    "anisotropy_rotation",
    Either(&[Number(-360.0, 360.0), Several(2, &Number(-1.0, 1.0))]),
    "Where it is stretched: degrees from u towards v, or the direction as a unit vector.",
)
.unit("°")
.default(Default::Number(0.0))
.depends_on("anisotropy");
const THICKNESS: Key =
    Key::new("iridescence_thickness", Textured(&Number(0.0, 10_000.0)), "Thickness of the film.")
        .unit("nm")
        .default(Default::Number(D.iridescence_thickness.value))
        .depends_on("iridescence");

const fn ior(name: &'static str, default: f32, about: &'static str) -> Key {
    Key::new(name, Number(1.0, 10.0), about).default(Default::Number(default))
}

parameters! {
    GltfMaterial = Self::DEFAULT;
    Color base_color = [color("base_color", D.base_color.value.x, "Colour of what is diffuse, metal or transmitted.")];
    Scalar metallic = [scalar("metallic", D.metallic.value, "0 is paint, plastic or glass, 1 is metal, whose reflections have the colour of `base_color`.")];
    Scalar roughness = [scalar("roughness", D.roughness.value, "0 is as smooth as a mirror, 1 as rough as it gets; alpha is its square.")];
    Number ior = [ior("ior", D.ior, "Index of refraction.")];
    Scalar specular = [scalar("specular", D.specular.value, "Strength of the reflections of paint and plastic.")];
    Color specular_color = [SPECULAR_COLOR];
    Scalar transmission = [scalar("transmission", D.transmission.value, "The part of the light that passes, as through a thin sheet.")];
    Scalar anisotropy = [scalar("anisotropy", D.anisotropy.value, "0 has round highlights, 1 has the longest ones, as of brushed metal.")];
    Rotation rotation = [ROTATION];
    Scalar clearcoat = [scalar("clearcoat", D.clearcoat.value, "The part that has a clear coat.")];
    Scalar clearcoat_roughness = [scalar("clearcoat_roughness", D.clearcoat_roughness.value, "0: the coat is as smooth as a mirror; 1: as rough as it gets.").depends_on("clearcoat")];
    Color sheen_color = [color("sheen_color", D.sheen_color.value.x, "Colour of fibres on top.")];
    Scalar sheen_roughness = [scalar("sheen_roughness", D.sheen_roughness.value, "How far the fibres spread.").depends_on("sheen_color")];
    Scalar iridescence = [scalar("iridescence", D.iridescence.value, "Strength of a thin film.")];
    Number iridescence_ior = [ior("iridescence_ior", D.iridescence_ior, "Index of refraction of the film.").depends_on("iridescence")];
    Scalar iridescence_thickness = [THICKNESS];
}
