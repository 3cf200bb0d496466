//! The principled model.

use bytemuck::Zeroable;
use device::bsdf::principled::Parameters;

use super::PrincipledMaterial;
use super::parameters::{Parameter, ParameterList, color, parameters, scalar};
use crate::description::key::Value::Number;
use crate::description::key::{Default, Key};

const D: Parameters = Parameters::DEFAULT;

const SPECULAR: Key =
    Key::new("specular", Number(0.0, 1.0), "12.5 times the reflectance straight on, instead of `ior`.")
        .example("0.5")
        .instead(&["ior"]);
const IOR: Key = Key::new("ior", Number(0.1, 10.0), "Index of refraction.")
    .default(Default::Number(D.eta))
    .instead(&["specular"]);

parameters! {
    PrincipledMaterial = Self::zeroed();
    Color base_color = [color("base_color", D.base_color.x, "Colour of paint and of metal, and of what glass transmits.")];
    Scalar roughness = [scalar("roughness", D.roughness, "Square root of alpha.")];
    Scalar anisotropic = [scalar("anisotropic", D.anisotropic, "From the same along u and v to brushed.")];
    Scalar metallic = [scalar("metallic", D.metallic, "From a dielectric to a metal.")];
    Derived = [SPECULAR];
    Number eta = [IOR];
    Scalar spec_tint = [scalar("spec_tint", D.spec_tint, "How much of `base_color` there is in the highlight of a dielectric.")];
    Scalar spec_trans = [scalar("spec_trans", D.spec_trans, "From opaque to clear as glass, which fills what lies behind the surface.")];
    Scalar flatness = [scalar("flatness", D.flatness, "From diffuse to an approximation of subsurface scattering.")];
    Scalar sheen = [scalar("sheen", D.sheen, "What reflects at grazing angles.")];
    Scalar sheen_tint = [scalar("sheen_tint", D.sheen_tint, "How much of `base_color` there is in the sheen.").depends_on("sheen")];
    Scalar clearcoat = [scalar("clearcoat", D.clearcoat, "Strength of a layer on top.")];
    Scalar clearcoat_gloss = [scalar("clearcoat_gloss", D.clearcoat_gloss, "From satin to gloss.").depends_on("clearcoat")];
}
