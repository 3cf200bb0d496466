//! Metals.

use glam::Vec3;

use super::facets::{DISTRIBUTION, REFLECTION, ROUGH, SCATTERING};
use super::parameters::{Parameter, ParameterList, parameters};
use super::{ConductorMaterial, Facets};
use crate::description::key::Key;
use crate::description::key::Value::{Color, Word};
use crate::description::limits::MAX_IOR;
use crate::description::metals;

const METAL: [Key; 3] = [
    Key::new(
        "metal",
        Word(&metals::WORDS),
        "A metal by name or chemical symbol, as measured by those whom the tables in `assets/metals` name.",
    )
    .required("\"gold\"")
    .hint("(or \"eta\" and \"k\")")
    .instead(&["eta", "k"]),
    Key::new("eta", Color(MAX_IOR), "Index of refraction, a number for each channel, instead of `metal`; with `k`, it makes the metal's colour.")
        .example("[0.143, 0.375, 1.442]")
        .instead(&["metal"])
        .with(&["k"]),
    Key::new("k", Color(MAX_IOR), "Extinction, a number for each channel; goes with `eta`, and the higher it is, the more is reflected.")
        .example("[3.983, 2.386, 1.603]")
        .instead(&["metal"])
        .with(&["eta"]),
];

parameters! {
    ConductorMaterial = Self::new(Vec3::ONE, Vec3::ONE, Facets::SMOOTH);
    Derived = METAL;
    Roughness facets = ROUGH;
    Word facets.distribution = [DISTRIBUTION];
    Word facets.scattering = [SCATTERING];
    Color tints.reflection = [REFLECTION];
}
