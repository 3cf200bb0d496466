//! Arc sine, arc cosine, arc tangent.

use crate::{polynomial, primitive};

/// π/2 = `PIO2_A · PIO2_B` to 1.6e-14, so that one fma computes π/2 ± a without the 4.4e-8 that π/2
/// itself loses as an `f32`.
const PIO2_A: f32 = 1.683_255_6;
const PIO2_B: f32 = 0.933_189_45;

/// (atan a / a − 1)/a² on 0 ≤ a ≤ 1: 2.3e-9.
const ATAN: [f32; 9] = [
    -0.333_333_02,
    0.199_986_26,
    -0.142_650_92,
    0.109_566_58,
    -0.084_164_61,
    0.058_178_104,
    -0.031_394_552,
    0.011_029_064,
    -0.001_818_750_3,
];

/// (asin s / s − 1)/s² on 0 ≤ s ≤ ½: 5.0e-9.
const ASIN: [f32; 5] = [0.166_667_54, 0.074_952_52, 0.045_476_04, 0.024_152_093, 0.042_211_797];

/// π/2 − a.
#[inline(always)]
fn pio2_minus(a: f32) -> f32 {
    primitive::fma(PIO2_A, PIO2_B, -a)
}

/// π − a.
#[inline(always)]
fn pi_minus(a: f32) -> f32 {
    primitive::fma(2.0 * PIO2_A, PIO2_B, -a)
}

/// atan a for 0 ≤ a ≤ 1.
#[inline(always)]
fn atan_unit(a: f32) -> f32 {
    let z = a * a;
    primitive::fma(polynomial(z, &ATAN) * z, a, a)
}

/// The angle of the point (x, y): about 35 instructions, no branch.
///
/// Absolute error 4e-7. Every quadrant, signed zero and infinity as C's `atan2f`; NaN if either is NaN.
#[inline(always)]
#[must_use]
pub fn atan2f(y: f32, x: f32) -> f32 {
    let (ax, ay) = (x.abs(), y.abs());
    let steep = ay > ax;
    let (near, far) = if steep { (ax, ay) } else { (ay, ax) };
    // 0/0 is 0 and ∞/∞ is 1; a NaN reaches the quotient either way.
    let divisor = if far == 0.0 { 1.0 } else { far };
    let a = if near == divisor { 1.0 } else { primitive::div(near, divisor) };
    let angle = atan_unit(a);
    let angle = if steep { pio2_minus(angle) } else { angle };
    let angle = if x.is_sign_negative() { pi_minus(angle) } else { angle };
    angle.copysign(y)
}

/// Arc tangent: [`atan2f`] of (x, 1).
#[inline(always)]
#[must_use]
pub fn atanf(x: f32) -> f32 {
    atan2f(x, 1.0)
}

/// |x|, whether it is above ½, and its arc sine s; above ½ the arc sine of √((1 − |x|)/2), which is half
/// the arc cosine of |x|.
#[inline(always)]
fn asin_half(x: f32) -> (bool, f32) {
    let a = x.abs();
    let high = a > 0.5;
    let folded = primitive::fma(-0.5, a, 0.5);
    let z = if high { folded } else { a * a };
    let s = if high { primitive::sqrt(folded) } else { a };
    (high, primitive::fma(polynomial(z, &ASIN) * z, s, s))
}

/// Arc cosine, 0 … π: about 20 instructions. Absolute error 4e-7; NaN outside −1 … 1.
#[inline(always)]
#[must_use]
pub fn acosf(x: f32) -> f32 {
    let (high, half) = asin_half(x);
    let negative = x.is_sign_negative();
    let of_high = if negative { pi_minus(2.0 * half) } else { 2.0 * half };
    let of_low = pio2_minus(half.copysign(x));
    if high { of_high } else { of_low }
}

/// Arc sine, −π/2 … π/2: about 20 instructions. Absolute error 4e-7; NaN outside −1 … 1.
#[inline(always)]
#[must_use]
pub fn asinf(x: f32) -> f32 {
    let (high, half) = asin_half(x);
    let angle = if high { pio2_minus(2.0 * half) } else { half };
    angle.copysign(x)
}
