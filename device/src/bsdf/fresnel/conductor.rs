//! The boundary to a medium that absorbs.

use glam::Vec3;

use crate::arch::{max, sqrt};

/// Reflectance of unpolarised light by a conductor with complex index of refraction `eta` + i·`k`, relative to
/// the outside, per channel; `cos_i` is the cosine of incidence, in [0, 1].
///
/// Born & Wolf, Principles of Optics, §14.2, in the real form of pbrt 3rd ed., eq. 8.3.
#[inline(always)]
pub fn conductor(cos_i: f32, eta: Vec3, k: Vec3) -> Vec3 {
    Vec3::new(
        conductor_channel(cos_i, eta.x, k.x),
        conductor_channel(cos_i, eta.y, k.y),
        conductor_channel(cos_i, eta.z, k.z),
    )
}

#[inline(always)]
fn conductor_channel(cos_i: f32, eta: f32, k: f32) -> f32 {
    let cos2 = cos_i * cos_i;
    let sin2 = 1.0 - cos2;
    let t0 = eta * eta - k * k - sin2;
    let a2_plus_b2 = sqrt(t0 * t0 + 4.0 * eta * eta * k * k);
    // a² = ½(a² + b² + t0), or from ab = ηk where that cancels.
    let larger = sqrt(0.5 * (a2_plus_b2 + t0.abs()));
    let a = if t0 >= 0.0 { larger } else { eta * k / larger };
    let t1 = a2_plus_b2 + cos2;
    let t2 = 2.0 * cos_i * a;
    let r_s = (t1 - t2) / max(t1 + t2, f32::MIN_POSITIVE);
    let t3 = cos2 * a2_plus_b2 + sin2 * sin2;
    let t4 = t2 * sin2;
    let r_p = r_s * (t3 - t4) / max(t3 + t4, f32::MIN_POSITIVE);
    0.5 * (r_s + r_p)
}

/// Reflectance of light from all directions, ∫ 2μ F(μ) dμ, to 3·10⁻⁴.
///
/// Five-point Gauss–Jacobi quadrature with the weight μ on [0, 1].
#[inline(always)]
pub fn conductor_average(eta: Vec3, k: Vec3) -> Vec3 {
    const NODES: [(f32, f32); 5] = [
        (0.098_535_09, 0.031_495_83),
        (0.304_535_7, 0.147_817_7),
        (0.562_025_2, 0.292_774),
        (0.801_986_6, 0.334_349_3),
        (0.960_190_1, 0.193_563_2),
    ];
    let mut sum = Vec3::ZERO;
    for (mu, weight) in NODES {
        sum += weight * conductor(mu, eta, k);
    }
    sum
}
