//! The sheen of cloth.

use bytemuck::Zeroable;

use super::SheenMaterial;
use super::parameters::{Parameter, ParameterList, color, parameters, scalar};
use crate::description::key::Key;

parameters! {
    SheenMaterial = Self::zeroed();
    Color color = [color("color", 1.0, "What it reflects.")];
    Scalar roughness = [scalar("roughness", 0.3, "How far the fibres spread.")];
}
