//! The boundary to a medium that does not absorb.

use crate::arch::{max, min, sqrt};

/// Reflectance of unpolarised light, and the cosine of refraction; `eta` is the index on the transmitted side over
/// that on the incident side. (1, 0) where all is reflected.
///
/// To 4·10⁻⁶ for `eta` above 0.4, and 10⁻⁴ above 0.1, the worst just above the critical angle.
///
/// Born & Wolf, Principles of Optics, §1.5.2, eq. 21, in a form in which nothing cancels but at Brewster's angle:
/// with g = η cos θt, r_s = (1 − η²)/(cos θi + g)² and r_p/r_s = (g cos θi − sin² θi)/(g cos θi + sin² θi).
#[inline(always)]
pub fn dielectric(cos_i: f32, eta: f32) -> (f32, f32) {
    let g2 = refracted2(cos_i, eta);
    if g2 < 0.0 {
        return (1.0, 0.0);
    }
    let g = sqrt(g2);
    let sum = cos_i + g;
    // At grazing incidence onto nothing new, 0/0: nothing is reflected.
    let r_s = (1.0 - eta) * (1.0 + eta) / max(sum * sum, f32::MIN_POSITIVE);
    let (cg, sin2) = (cos_i * g, (1.0 - cos_i) * (1.0 + cos_i));
    let ratio = (cg - sin2) / (cg + sin2);
    (min(0.5 * r_s * r_s * (1.0 + ratio * ratio), 1.0), min(g / eta, 1.0))
}

/// (η cos θt)² = η² − sin² θi, also near the critical angle, where it cancels. With d = 1 − η it is
/// cos² θi − 2d + d². Numbers cut to 12 bits have exact squares, whose differences are exact where they cancel;
/// what was cut off is small.
#[inline(always)]
fn refracted2(cos_i: f32, eta: f32) -> f32 {
    let d = 1.0 - eta;
    // 1 − η was rounded for η < ½ only.
    let rounding = (1.0 - d) - eta;
    let (c_high, c_low) = halves(cos_i);
    let (d_high, d_low) = halves(d);
    let low = (2.0 * c_high + c_low) * c_low + (2.0 * d_high + d_low) * d_low - 2.0 * eta * rounding;
    (c_high * c_high - 2.0 * d) + d_high * d_high + low
}

/// `x` as a number of 12 bits and the rest, exactly.
#[inline(always)]
fn halves(x: f32) -> (f32, f32) {
    let high = f32::from_bits(x.to_bits() & 0xffff_f000);
    (high, x - high)
}

/// Reflectance of light from all directions, ∫ 2 cos θ R(θ) dcos θ, to 6·10⁻⁵ for `eta` in [⅕, 5]; within [0, 1]
/// beyond.
///
/// A rational fit to the closed form of Walsh (1926); below 1, η² (1 − F̄(η)) = 1 − F̄(1/η), since the light that
/// passes is the same in both directions.
#[inline(always)]
pub fn dielectric_average(eta: f32) -> f32 {
    let inverted = eta < 1.0;
    let d = if inverted { 1.0 / eta } else { eta } - 1.0;
    // So that no power of it overflows.
    let d = min(d, 1e6);
    let outside = d * ((0.397_455_7 * d + 0.961_108_5) * d + 0.319_391_2)
        / (((0.426_317_6 * d + 2.650_165) * d + 6.368_752) * d + 1.0);
    if inverted { 1.0 - eta * eta * (1.0 - outside) } else { outside }
}
