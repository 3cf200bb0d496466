//! Diffuse reflection.

use bytemuck::Zeroable;

use super::DiffuseMaterial;
use super::parameters::{COLOR, Parameter, ParameterList, parameters, scalar};
use crate::description::key::Key;

parameters! {
    DiffuseMaterial = Self::zeroed();
    Color reflectance = [Key::new("reflectance", COLOR, "Albedo.").required("[0.8, 0.8, 0.8]")];
    Scalar roughness = [scalar(
        "roughness",
        0.0,
        "From Lambertian to dusty, by the model of Oren and Nayar in a form that keeps energy (\"EON\").",
    )];
}
