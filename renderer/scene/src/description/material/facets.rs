//! Parameters that several kinds of material have: microfacets and tints.

use super::parameters::color;
use super::{Distribution, Scattering};
use crate::description::key::Value::{self, Either, Number, OneOrTwo, Textured, Word};
use crate::description::key::{Default, Key};
use crate::description::limits::MIN_ALPHA;

/// Smallest roughness that is not smooth.
const MIN_ROUGHNESS: f32 = 1e-2;

const ONE_ROUGHNESS: Value = Textured(&Either(&[Number(MIN_ROUGHNESS, 1.0), Number(0.0, 0.0)]));
const ONE_ALPHA: Value = Textured(&Either(&[Number(MIN_ALPHA, 1.0), Number(0.0, 0.0)]));

const ROUGHNESS: Key = Key::new(
    "roughness",
    OneOrTwo(&ONE_ROUGHNESS),
    "0 is as smooth as a mirror, 1 as rough as it gets; `alpha` is its square. Two numbers are along u and v.",
)
.instead(&["alpha"]);
const ALPHA: Key = Key::new(
    "alpha",
    OneOrTwo(&ONE_ALPHA),
    "The square of `roughness`, instead of it: the width of the distribution of microfacets.",
)
.example("0.1")
.instead(&["roughness"]);

/// Of what has to be said to be rough or smooth.
pub(super) const ROUGH: [Key; 2] = [ROUGHNESS.required("0.3").hint("(or alpha = 0.09)"), ALPHA];
/// Of what is smooth unless said otherwise.
pub(super) const SMOOTH: [Key; 2] = [ROUGHNESS.default(Default::Number(0.0)), ALPHA];
/// As [`SMOOTH`], the same along u and v.
pub(super) const SMOOTH_COAT: [Key; 2] =
    [Key { value: ONE_ROUGHNESS, ..SMOOTH[0] }, Key { value: ONE_ALPHA, ..ALPHA }];

// Words stand in the order of the numbers that they are.
const _: () = assert!(Distribution::Ggx as u32 == 0 && Distribution::Beckmann as u32 == 1);
const _: () = assert!(Scattering::Compensated as u32 == 1 && Scattering::RandomWalk as u32 == 2);

pub(super) const DISTRIBUTION: Key = Key::new(
    "distribution",
    Word(&[("ggx", "long tails, as most real surfaces have"), ("beckmann", "a Gaussian of slopes")]),
    "How the highlight of a rough surface fades out: the statistics of its microfacets.",
)
.or("\"ggx\"");

pub(super) const SCATTERING: Key = Key::new(
    "scattering",
    Word(&[
        ("none", "is lost, which darkens what is rough"),
        ("compensated", "its energy is brought back, from tables; glass is of GGX then"),
        ("random_walk", "is followed from facet to facet, exactly but with noise"),
    ]),
    "What becomes of light that meets several facets. The last two have height-correlated masking.",
)
.or("\"none\"");

pub(super) const REFLECTION: Key = color("reflection_tint", 1.0, "Scales what is reflected; 1 in nature.");
pub(super) const TRANSMISSION: Key = color(
    "transmission_tint",
    1.0,
    "Scales what passes the surface; 1 in nature, where colour comes from within.",
);
