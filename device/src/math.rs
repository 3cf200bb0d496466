//! Elementary functions over the ranges that sampling needs, the same on every machine.

use core::f32::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, PI};

use glam::Vec2;

use crate::arch::{max, min, sqrt};

/// (sin x, cos x) for |x| ≤ π/4, to 1.2·10⁻⁷. Minimax polynomials of Moshier's Cephes library (sinf.c).
#[inline(always)]
pub fn sin_cos_octant(x: f32) -> (f32, f32) {
    debug_assert!(x.abs() <= FRAC_PI_4 * 1.0001);
    let x2 = x * x;
    let sin = ((-1.951_529_6e-4 * x2 + 8.332_161e-3) * x2 - 0.166_666_55) * x2 * x + x;
    let cos = ((2.443_315_7e-5 * x2 - 1.388_731_6e-3) * x2 + 4.166_664_6e-2) * x2 * x2 - 0.5 * x2 + 1.0;
    (sin, cos)
}

/// (sin 2πu, cos 2πu) for u in [0, 1], to 2·10⁻⁷. The reduction to an octant is exact.
#[inline(always)]
pub fn sin_cos_turn(u: f32) -> (f32, f32) {
    let quarters = 4.0 * u;
    // SAFETY: quarters is in [0, 4].
    let k = unsafe { (quarters + 0.5).to_int_unchecked::<i32>() };
    let (s, c) = sin_cos_octant(FRAC_PI_2 * (quarters - k as f32));
    let (s, c) = if k & 1 == 0 { (s, c) } else { (c, s) };
    let sin = if k & 2 == 0 { s } else { -s };
    let cos = if (k + 1) & 2 == 0 { c } else { -c };
    (sin, cos)
}

/// eˣ, to 1.5·10⁻⁷ of it; 0 below −87 and for NaN, and no more above 87. After x = n ln 2 + r, the polynomial of
/// Moshier's Cephes library (expf.c) for |r| ≤ ½ ln 2.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let x = min(max(x, -88.0), 87.0);
    let half = if x < 0.0 { -0.5 } else { 0.5 };
    // SAFETY: |x| ≤ 88.
    let n = unsafe { (x * LOG2_E + half).to_int_unchecked::<i32>() };
    // ln 2 in two parts, so that n times the first is exact.
    let r = x - n as f32 * 0.693_359_4 + n as f32 * 2.121_944_4e-4;
    let p = ((1.987_569_1e-4 * r + 1.398_2e-3) * r + 8.333_452e-3) * r + 4.166_579_6e-2;
    let p = ((p * r + 0.166_666_65) * r + 0.5) * r * r + r + 1.0;
    let y = p * f32::from_bits(((n + 127) as u32) << 23);
    // At the end, so that compilers take several at once.
    if x < -87.0 { 0.0 } else { y }
}

/// ln x for positive normal x, to 2·10⁻⁷ of its value, or of 0.01 where that is less.
///
/// x = 2ᵏ·m with m around 1; ln m = 2 artanh s with s = (m − 1)/(m + 1), by a minimax polynomial in s².
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    const SQRT_HALF: i32 = 0x3f35_04f3;
    let k = (x.to_bits() as i32 - SQRT_HALF) >> 23;
    let m = f32::from_bits((x.to_bits() as i32 - (k << 23)) as u32);
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let p = ((2.333_291_3e-1 * z + 2.855_073e-1) * z + 4.000_012_3e-1) * z + 6.666_667e-1;
    k as f32 * LN_2 + (s * z * p + 2.0 * s)
}

/// The angle of (x, y) to the x axis, in [−π, π], to 3·10⁻⁷; 0 at the origin. Minimax polynomial of Moshier's Cephes
/// library (atanf.c) for |x| ≤ tan π/8.
#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    const TAN_PI_8: f32 = 0.414_213_57;
    let (a, b) = (x.abs(), y.abs());
    let (small, large) = if a > b { (b, a) } else { (a, b) };
    if large == 0.0 {
        return 0.0;
    }
    let t = small / large;
    let steep = t > TAN_PI_8;
    let t = if steep { (t - 1.0) / (t + 1.0) } else { t };
    let z = t * t;
    let p = ((8.053_744_5e-2 * z - 1.387_768_6e-1) * z + 1.997_771_1e-1) * z - 3.333_295e-1;
    let angle = p * z * t + t + if steep { FRAC_PI_4 } else { 0.0 };
    let angle = if a > b { angle } else { FRAC_PI_2 - angle };
    let angle = if x < 0.0 { PI - angle } else { angle };
    if y < 0.0 { -angle } else { angle }
}

/// Fractional part of x, in [0, 1].
#[inline(always)]
pub fn fract(x: f32) -> f32 {
    x - Vec2::new(x, 0.0).floor().x
}

/// xʸ for x ≥ 0 and y > 0, to 2·10⁻⁷·(1 + |y ln x|) of it; subnormal x is 0.
#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    if x < f32::MIN_POSITIVE { 0.0 } else { exp(y * ln(x)) }
}

/// arccos x for |x| ≤ 1, to 4·10⁻⁷.
///
/// arcsin by the polynomial of Moshier's Cephes library (asinf.c) for |x| ≤ ½; beyond, arccos x is twice the arcsine of
/// the sine of half the angle.
#[inline(always)]
pub fn acos(x: f32) -> f32 {
    let half = 0.5 * max(1.0 - x.abs(), 0.0);
    let steep = x.abs() <= 0.5;
    let (z, s) = if steep { (x * x, x.abs()) } else { (half, sqrt(half)) };
    let p = ((4.216_32e-2 * z + 2.418_131e-2) * z + 4.547_002_6e-2) * z + 7.495_300_3e-2;
    let asin = (p * z + 0.166_667_52) * z * s + s;
    let acos = if steep { FRAC_PI_2 - asin } else { 2.0 * asin };
    if x < 0.0 { PI - acos } else { acos }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::f64::consts::TAU;

    #[test]
    fn sin_cos_turn_is_accurate() {
        let n = 1 << 20;
        for i in 0..=n {
            let u = i as f32 / n as f32;
            let ((s, c), x) = (sin_cos_turn(u), TAU * f64::from(u));
            let error = (f64::from(s) - x.sin()).abs().max((f64::from(c) - x.cos()).abs());
            assert!(error < 2e-7, "{u}: {s} {c}");
        }
    }

    #[test]
    fn exp_is_accurate() {
        let n = 1 << 20;
        let worst = |exp: fn(f32) -> f32| {
            let error = |i| {
                let x = 174.0 * i as f32 / n as f32 - 87.0;
                (f64::from(exp(x)) / f64::from(x).exp() - 1.0).abs()
            };
            (0..=n).map(error).fold(0.0, f64::max)
        };
        assert!(worst(exp) < 1.5e-7, "{:e}", worst(exp));
        assert!(worst(|x| exp(x * (1.0 + f32::EPSILON))) > 1.5e-7, "control: one bit off");
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(-1e30) == 0.0 && exp(1e30) == exp(87.0) && exp(f32::NAN) == 0.0);
    }

    #[test]
    fn ln_is_accurate() {
        let n = 1 << 20;
        for i in 0..=n {
            let y = exp(-86.9 + 173.0 * i as f32 / n as f32);
            let expected = f64::from(y).ln();
            assert!((f64::from(ln(y)) - expected).abs() < 2e-7 * expected.abs().max(0.01), "{y}: {}", ln(y));
        }
        assert_eq!(ln(1.0), 0.0);
    }

    #[test]
    fn atan2_is_accurate() {
        let n = 1 << 20;
        for i in 0..=n {
            let angle = TAU * (i as f64 / n as f64 - 0.5) * (1.0 - 1e-9);
            for r in [1e-30, 1.0, 1e30] {
                let (y, x) = ((r * angle.sin()) as f32, (r * angle.cos()) as f32);
                let expected = f64::from(y).atan2(f64::from(x));
                assert!((f64::from(atan2(y, x)) - expected).abs() < 3e-7, "{y} {x}: {}", atan2(y, x));
            }
        }
        assert_eq!(atan2(0.0, 0.0), 0.0);
    }

    #[test]
    fn pow_is_accurate() {
        let relative = |x: f32, y: f32| f64::from(pow(x, y)) / f64::from(x).powf(y.into()) - 1.0;
        let worst = |y: f32| {
            let error = |i| {
                let x = exp(-80.0 / y.max(1.0) * (i as f32 / 4096.0));
                relative(x, y).abs() / (1.0 + (f64::from(y) * f64::from(x).ln()).abs())
            };
            (0..4096).map(error).fold(0.0, f64::max)
        };
        for y in [0.1, 0.168, 0.5, 1.0, 2.5, 100.0] {
            assert!(worst(y) < 2e-7, "{y}: {:e}", worst(y));
        }
        assert!(pow(0.0, 0.1) == 0.0 && pow(1.0, 0.1) == 1.0 && pow(1e-40, 0.1) == 0.0);
        assert!((f64::from(pow(0.5, 3.000_01)) / 0.125 - 1.0).abs() > 2e-6, "control: another exponent");
    }

    #[test]
    fn acos_is_accurate() {
        let n = 1 << 20;
        let worst = |acos: fn(f32) -> f32| {
            let error = |i| {
                let x = 2.0 * i as f32 / n as f32 - 1.0;
                (f64::from(acos(x)) - f64::from(x).acos()).abs()
            };
            (0..=n).map(error).fold(0.0, f64::max)
        };
        assert!(worst(acos) < 4e-7, "{:e}", worst(acos));
        assert!(worst(|x| acos(x) + 4e-7) > 4e-7, "control");
        assert!(acos(1.0) == 0.0 && acos(1.000_000_1) == 0.0 && acos(-1.0) == PI);
    }
}
