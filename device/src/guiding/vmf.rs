//! The von Mises–Fisher distribution on the sphere, κ e^(κ (cos θ − 1)) / (2π (1 − e^(−2κ))), where θ is the angle to the mean direction
//! and κ the concentration.

use core::f32::consts::FRAC_1_PI;

use glam::{Vec2, Vec3};

use crate::arch::{max, min, sqrt};
use crate::math::{exp, ln, sin_cos_turn};
use crate::sampling::Frame;

/// The least concentration: all but uniform.
pub const MIN_KAPPA: f32 = 0.1;

/// The largest: half of the samples are within 0.15° of the mean.
pub const MAX_KAPPA: f32 = 1e5;

/// The density at the mean, 1/sr.
#[inline(always)]
pub fn peak(kappa: f32) -> f32 {
    0.5 * FRAC_1_PI * kappa / (1.0 - exp(-2.0 * kappa))
}

/// The density where 1 − cos θ is `one_minus_cos`, relative to [`peak`].
#[inline(always)]
pub fn falloff(kappa: f32, one_minus_cos: f32) -> f32 {
    exp(-kappa * one_minus_cos)
}

/// A direction around the unit vector `mean` (Jakob 2012, "Numerically Stable Sampling of the von Mises Fisher Distribution on S²").
#[inline(always)]
pub fn sample(mean: Vec3, kappa: f32, u: Vec2) -> Vec3 {
    let one_minus_cos = -ln((1.0 - u.x) + u.x * exp(-2.0 * kappa)) / kappa;
    let t = min(max(one_minus_cos, 0.0), 2.0);
    let r = sqrt(t * (2.0 - t));
    let (sin, cos) = sin_cos_turn(u.y);
    Frame::from_z(mean).to_world(Vec3::new(r * cos, r * sin, 1.0 - t))
}

/// The concentration whose mean cosine is `mean_cos`, in [0, 1), to a few per cent (Banerjee et al. 2005, "Clustering on the Unit
/// Hypersphere using von Mises–Fisher Distributions", eq. 4.4).
#[inline(always)]
pub fn concentration(mean_cos: f32) -> f32 {
    let r2 = mean_cos * mean_cos;
    let kappa = mean_cos * (3.0 - r2) / max(1.0 - r2, f32::MIN_POSITIVE);
    min(max(kappa, MIN_KAPPA), MAX_KAPPA)
}
