//! Glass, water and panes.

use bytemuck::Zeroable;

use super::facets::{DISTRIBUTION, REFLECTION, SCATTERING, SMOOTH, TRANSMISSION};
use super::parameters::{Parameter, ParameterList, parameters};
use super::{DielectricMaterial, ThinDielectricMaterial};
use crate::description::key::Value::Number;
use crate::description::key::{Default, Key};

const IOR: Key = Key::new("ior", Number(0.1, 10.0), "Index of refraction relative to the outside: 1.33 is water, 1.5 glass, 2.42 diamond. Higher ones reflect more and bend light more.")
    .default(Default::Number(1.5));

parameters! {
    DielectricMaterial = Self::zeroed();
    Number ior = [IOR];
    Roughness facets = SMOOTH;
    Word facets.distribution = [DISTRIBUTION];
    Word facets.scattering = [SCATTERING];
    Color tints.reflection = [REFLECTION];
    Color tints.transmission = [TRANSMISSION];
}

parameters! {
    ThinDielectricMaterial = Self::zeroed();
    Number ior = [IOR];
    Color tints.reflection = [REFLECTION];
    Color tints.transmission = [TRANSMISSION];
}
