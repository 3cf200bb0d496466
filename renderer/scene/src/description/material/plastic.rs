//! A clear coat over a diffuse base.

use bytemuck::Zeroable;

use super::PlasticMaterial;
use super::facets::{DISTRIBUTION, SMOOTH_COAT};
use super::parameters::{COLOR, Parameter, ParameterList, color, parameters};
use crate::description::key::Value::Number;
use crate::description::key::{Default, Key};

const NONLINEAR: Key = Key::flag(
    "nonlinear",
    "Whether light that the coat sends back to the base takes on its colour again, which makes colours deeper.",
);

// If the coat sent all light back, none would ever leave.
const INTERNAL_REFLECTANCE: Key = Key::new(
    "internal_reflectance",
    Number(0.0, 0.999),
    "The part of light from the base that the coat sends back; without it, what Fresnel's equations say.",
);

const _: () = assert!(PlasticMaterial::COMPUTED == -1.0);

parameters! {
    PlasticMaterial = Self::zeroed();
    Color reflectance = [Key::new("reflectance", COLOR, "Colour of the base under the coat: its albedo.").required("[0.7, 0.1, 0.1]")];
    Color specular = [color("specular", 1.0, "Scales what the coat reflects; 1 in nature.")];
    Number ior = [Key::new("ior", Number(1.01, 10.0), "Index of refraction of the coat; with higher ones it reflects more.").default(Default::Number(1.5))];
    Roughness facets = SMOOTH_COAT;
    Word facets.distribution = [DISTRIBUTION];
    Flag nonlinear = [NONLINEAR];
    Optional internal_reflectance = [INTERNAL_REFLECTANCE];
}
