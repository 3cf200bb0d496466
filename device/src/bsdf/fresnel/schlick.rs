//! Schlick's approximation.

use glam::Vec3;

/// From `f0` at normal incidence to `f90` at grazing incidence (Schlick 1994, "An Inexpensive BRDF Model for
/// Physically-based Rendering", eq. 15).
#[inline(always)]
pub fn schlick(cos_i: f32, f0: Vec3, f90: Vec3) -> Vec3 {
    f0 + (f90 - f0) * schlick_weight(cos_i)
}

/// (1 − cos θi)⁵, the weight of `f90` against `f0`.
#[inline(always)]
pub fn schlick_weight(cos_i: f32) -> f32 {
    let x = 1.0 - cos_i;
    let x2 = x * x;
    x2 * x2 * x
}

/// Reflectance of light from all directions, exactly: ∫ 2μ (1 − μ)⁵ dμ = 1/21.
#[inline(always)]
pub fn schlick_average(f0: Vec3, f90: Vec3) -> Vec3 {
    f0 + (f90 - f0) * (1.0 / 21.0)
}
