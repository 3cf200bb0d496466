//! Functions of the error-function family and the beta function, the same on every machine. The polynomials are
//! minimax fits made for this crate.

use core::f32::consts::{PI, TAU};

use crate::arch::{max, min, sqrt};
use crate::math::{exp, ln};

/// The scaled complementary error function e^(x²)·erfc x for x ≥ 0, to 4·10⁻⁷ of its value.
///
/// A polynomial in t = 2/(2 + x), which maps all x to (0, 1], as the NAG library's S15ADF does
/// (Shepherd & Laframboise 1981, "Chebyshev Approximation of (1 + 2x) exp(x²) erfc x").
#[inline(always)]
pub fn erfcx(x: f32) -> f32 {
    let t = 2.0 / (2.0 + x);
    let p = (4.535_166_6e-2 * t - 2.455_819e-1) * t + 5.169_041e-1;
    let p = ((p * t - 4.824_809_8e-1) * t + 1.518_904_3e-1) * t - 6.796_107_6e-2;
    let p = ((p * t + 9.582_814e-2) * t + 1.749_484_1e-1) * t + 2.469_135_8e-1;
    ((p * t + 2.820_928_6e-1) * t + 2.820_948e-1) * t
}

/// Where a variable of density e^(−x²)/√π is below with probability `u`: erf⁻¹(2u − 1). What lies beyond the ends
/// of 24-bit uniforms is taken for them.
///
/// The form is Giles's (2010, "Approximating the erfinv function", GPU Computing Gems 2): a polynomial in
/// w = −ln(1 − (2u − 1)²), and another in √w for the tails.
#[inline(always)]
pub fn gauss_quantile(u: f32) -> f32 {
    const ULP: f32 = 1.0 / 16_777_216.0;
    let u = min(max(u, 0.5 * ULP), 1.0 - ULP);
    let w = -ln(min(4.0 * u * (1.0 - u), 1.0));
    let p = if w < 5.0 {
        let w = w - 2.5;
        let p = ((2.260_597_8e-8 * w + 3.422_247e-7) * w - 3.454_779_6e-6) * w - 4.380_346_7e-6;
        let p = ((p * w + 2.183_129_8e-4) * w - 1.253_758_9e-3) * w - 4.177_346_5e-3;
        (p * w + 2.466_407_7e-1) * w + 1.501_409_4
    } else {
        let s = sqrt(w) - 3.0;
        let p = ((-5.896_063_6e-5 * s - 4.928_349e-5) * s + 1.190_266e-3) * s - 3.509_425_4e-3;
        let p = ((p * s + 5.798_574e-3) * s - 7.673_724_4e-3) * s + 9.430_971e-3;
        (p * s + 1.001_678) * s + 2.832_977
    };
    p * (2.0 * u - 1.0)
}

/// The beta function B(x, y) for x, y ≥ 1, to 5·10⁻⁶ of its value while that is above 10⁻⁶. Arguments beyond 10⁸ are
/// taken for that.
///
/// Stirling's series of the three gamma functions at x + 2 and y + 2, of which the logarithms of what nearly
/// cancels are taken together.
#[inline(always)]
pub fn beta(x: f32, y: f32) -> f32 {
    let (x, y) = (min(x, 1e8), min(y, 1e8));
    let n = x + y;
    // B(x, y) = B(x + 2, y + 2)·n(n + 1)(n + 2)(n + 3) / (x(x + 1)·y(y + 1))
    let shift = (n / x) * ((n + 1.0) / (x + 1.0)) * ((n + 2.0) / y) * ((n + 3.0) / (y + 1.0));
    let (x, y, n) = (x + 2.0, y + 2.0, n + 4.0);
    let exponent = stirling(x) + stirling(y) - stirling(n) - x * ln_1p(y / x) - y * ln_1p(x / y);
    shift * sqrt(TAU * (n / (x * y))) * exp(exponent)
}

/// ln Γ(x) − ((x − ½) ln x − x + ½ ln 2π) for x ≥ 3.
#[inline(always)]
fn stirling(x: f32) -> f32 {
    let i = 1.0 / x;
    i * (1.0 / 12.0 - i * i * (1.0 / 360.0 - i * i * (1.0 / 1260.0)))
}

/// ln(1 + x) for x ≥ 0, small ones too: what rounding takes from 1 + x is given back in proportion (Kahan).
#[inline(always)]
fn ln_1p(x: f32) -> f32 {
    let w = 1.0 + x;
    if w == 1.0 { x } else { ln(w) * (x / (w - 1.0)) }
}

/// 1/√π.
pub const FRAC_1_SQRT_PI: f32 = 0.564_189_6;

const _: () = assert!((FRAC_1_SQRT_PI * FRAC_1_SQRT_PI * PI - 1.0).abs() < 3e-7);

#[cfg(test)]
mod tests {
    use super::*;

    /// e^(x²)·erfc x = 2/√π ∫ e^(−t² − 2xt) dt over t ≥ 0, by Simpson's rule.
    fn erfcx_by_quadrature(x: f64) -> f64 {
        let (n, end) = (2000, 7.0 / (1.0 + 0.3 * x));
        let f = |i: i32| {
            let t = end * f64::from(i) / f64::from(n);
            let weight = if i == 0 || i == n { 1.0 } else { f64::from(2 + 2 * (i & 1)) };
            weight * (-t * t - 2.0 * x * t).exp()
        };
        (0..=n).map(f).sum::<f64>() * end / f64::from(3 * n) * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn erfcx_is_accurate() {
        for i in 0..2000 {
            let x = 12.0 * (i as f32 / 2000.0).powi(2);
            let relative = f64::from(erfcx(x)) / erfcx_by_quadrature(x.into()) - 1.0;
            assert!(relative.abs() < 4e-7, "{x}: {relative:e}");
        }
        assert!((erfcx(1e4) * 1e4 / FRAC_1_SQRT_PI - 1.0).abs() < 1e-6);
        assert_eq!(erfcx(f32::INFINITY), 0.0);
    }

    #[test]
    fn quantiles_have_the_probability_they_are_named_by() {
        let us = (1..4096).map(|i| i as f32 / 4096.0).chain((1..24).map(|k| 0.5_f32.powi(k)));
        for u in us.chain((13..=24).map(|k| 1.0 - 0.5_f32.powi(k))) {
            let x = f64::from(gauss_quantile(u));
            let tail = 0.5 * (-x * x).exp() * erfcx_by_quadrature(x.abs());
            let expected = f64::from(if u < 0.5 { u } else { 1.0 - u });
            assert!((tail / expected - 1.0).abs() < 1e-5 && (x < 0.0) == (u < 0.5), "{u}: {x} {tail}");
        }
        assert!(gauss_quantile(0.0) >= -4.2 && gauss_quantile(1.0) <= 4.2);
    }

    /// B(m, n) = (m − 1)! (n − 1)! / (m + n − 1)!, and B(x + 1, y) = B(x, y)·x/(x + y) from B(1, y) = 1/y.
    #[test]
    fn beta_agrees_with_its_recurrence() {
        for y in [1.0_f32, 1.1, 1.5, 2.7, 10.0, 1e3, 1e5, 1e7] {
            let mut expected = 1.0 / f64::from(y);
            for x in 1..40 {
                let (x, b) = (x as f32, f64::from(beta(x as f32, y)));
                let error = (b - expected).abs();
                assert!(error < 5e-6 * expected.max(1e-6), "{x} {y}: {b:e} {expected:e}");
                assert!((beta(y, x) / beta(x, y) - 1.0).abs() < 1e-5 || expected < 1e-6);
                expected *= f64::from(x) / (f64::from(x) + f64::from(y));
            }
        }
        assert!(beta(1.0, f32::INFINITY) < 1e-7 && beta(f32::INFINITY, f32::INFINITY) == 0.0);
    }
}
