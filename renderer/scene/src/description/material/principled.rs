//! The principled model.

use bytemuck::Zeroable;
use device::bsdf::principled::Parameters;

use super::PrincipledMaterial;
use super::parameters::{Parameter, ParameterList, color, parameters, scalar};
use crate::description::key::Value::Number;
use crate::description::key::{Default, Key};

const D: Parameters = Parameters::DEFAULT;

const SPECULAR: Key =
    Key::new("specular", Number(0.0, 1.0), "Strength of the reflections of paint and plastic, instead of `ior`: 12.5 times the reflectance straight on.")
        .example("0.5")
        .instead(&["ior"]);
const IOR: Key = Key::new(
    "ior",
    Number(0.1, 10.0),
    "Index of refraction: with higher ones, paint and plastic reflect more, and glass bends light more.",
)
.default(Default::Number(D.eta))
.instead(&["specular"]);

parameters! {
    PrincipledMaterial = Self::zeroed();
    Color base_color = [color("base_color", D.base_color.x, "Colour of paint and of metal, and of what glass transmits.")];
    Scalar roughness = [scalar("roughness", D.roughness, "0 is as smooth as a mirror, 1 as rough as it gets; alpha is its square.")];
    Scalar anisotropic = [scalar("anisotropic", D.anisotropic, "0 has round highlights, 1 has the longest ones, as of brushed metal.")];
    Scalar metallic = [scalar("metallic", D.metallic, "0 is paint, plastic or glass, 1 is metal, whose reflections have the colour of `base_color`.")];
    Derived = [SPECULAR];
    Number eta = [IOR];
    Scalar spec_tint = [scalar("spec_tint", D.spec_tint, "0: highlights of paint and plastic are white; 1: they have the hue of `base_color`.")];
    Scalar spec_trans = [scalar("spec_trans", D.spec_trans, "0 is opaque, 1 as clear as glass, which fills what lies behind the surface.")];
    Scalar flatness = [scalar("flatness", D.flatness, "0 is matt, 1 is shaded more evenly, as skin or wax is: an approximation of subsurface scattering.")];
    Scalar sheen = [scalar("sheen", D.sheen, "A soft gleam where the surface is seen at a grazing angle, as of cloth.")];
    Scalar sheen_tint = [scalar("sheen_tint", D.sheen_tint, "0: the sheen is white; 1: it has the hue of `base_color`.").depends_on("sheen")];
    Scalar clearcoat = [scalar("clearcoat", D.clearcoat, "Strength of the reflections of a clear coat on top.")];
    Scalar clearcoat_gloss = [scalar("clearcoat_gloss", D.clearcoat_gloss, "0: the coat reflects as blurred as satin; 1: as sharp as gloss.").depends_on("clearcoat")];
}
