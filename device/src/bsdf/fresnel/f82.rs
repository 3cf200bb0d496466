//! Schlick's approximation with a second colour near grazing incidence, where metals dip: Kutz, Hašan & Edmondson
//! 2021, "Novel aspects of the Adobe Standard Material".

use glam::Vec3;

use super::{schlick, schlick_average};

/// Cosine at which the tint is strongest: cos 82°, nearly.
const COS: f32 = 1.0 / 7.0;

/// Schlick's approximation from `f0` to 1, of which the part `tint` is left at the cosine 1/7. Zero where a dark
/// tint of a dark `f0` would make it negative.
#[inline(always)]
pub fn f82_tint(cos_i: f32, f0: Vec3, tint: Vec3) -> Vec3 {
    let x = 1.0 - cos_i;
    let x2 = x * x;
    (schlick(cos_i, f0, Vec3::ONE) - dip(f0, tint) * (cos_i * x2 * x2 * x2)).max(Vec3::ZERO)
}

/// Reflectance of light from all directions: ∫ 2μ · μ (1 − μ)⁶ dμ = 1/126. Exact but where [`f82_tint`] is cut
/// off at zero: up to 0.018 too low there.
#[inline(always)]
pub fn f82_tint_average(f0: Vec3, tint: Vec3) -> Vec3 {
    (schlick_average(f0, Vec3::ONE) - dip(f0, tint) * (1.0 / 126.0)).max(Vec3::ZERO)
}

/// The factor b of μ (1 − μ)⁶.
#[inline(always)]
fn dip(f0: Vec3, tint: Vec3) -> Vec3 {
    const X2: f32 = (1.0 - COS) * (1.0 - COS);
    schlick(COS, f0, Vec3::ONE) * (Vec3::ONE - tint) * (1.0 / (COS * X2 * X2 * X2))
}
