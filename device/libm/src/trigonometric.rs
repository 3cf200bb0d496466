//! Sine, cosine, tangent.
//!
//! x = k·π/2 + r with |r| ≤ π/4, then one polynomial each for sin r and cos r, of which the quadrant
//! k mod 4 picks. The hardware's `sin.approx` would be shorter, but its error of 2⁻²⁰·⁵ holds only near
//! the origin and grows with x.

use crate::{polynomial, primitive};

/// π/2 = `PIO2[0] + PIO2[1] + PIO2[2]`, each part rounded down: with every part positive, a negative zero
/// comes through. Products with k are exact inside their fma; the first subtraction is exact too, because
/// x and k·`PIO2[0]` are multiples of 2⁻²³ and differ by less than 1.
#[expect(clippy::approx_constant, reason = "the first part is deliberately below π/2")]
const PIO2: [f32; 3] = [1.570_796_3, 7.549_789_4e-8, 5.390_302_5e-15];

/// 1.5·2²³: added to a float below 2²² it leaves the nearest integer in the low bits.
const ROUND: f32 = 12_582_912.0;

/// Largest |x| that is reduced. Beyond it neighbouring floats are a large part of a period apart and the
/// reduction would leave the polynomials' range.
const LIMIT: f32 = 1_048_576.0;

/// (sin r / r − 1)/r² on |r| ≤ π/4: 3.7e-9.
const SIN: [f32; 3] = [-0.166_666_55, 0.008_332_191, -0.000_195_185_99];

/// (cos r − 1 + r²/2)/r⁴ on |r| ≤ π/4: 1.1e-10.
const COS: [f32; 3] = [0.041_666_646, -0.001_388_730_1, 2.443_067e-5];

/// The quadrant in the two low bits, and what is left of x after subtracting it.
#[inline(always)]
fn reduce(x: f32) -> (u32, f32) {
    let shifted = primitive::fma(x, core::f32::consts::FRAC_2_PI, ROUND);
    let k = shifted - ROUND;
    let r = primitive::fma(-k, PIO2[0], x);
    let r = primitive::fma(-k, PIO2[1], r);
    let r = primitive::fma(-k, PIO2[2], r);
    // Zero for a large finite x, NaN for infinity and NaN.
    let r = if x.abs() <= LIMIT { r } else { 0.0 * x };
    (shifted.to_bits(), r)
}

/// sin r, with the sign of a zero kept.
#[inline(always)]
fn sin_reduced(r: f32) -> f32 {
    let z = r * r;
    r * primitive::fma(polynomial(z, &SIN), z, 1.0)
}

#[inline(always)]
fn cos_reduced(r: f32) -> f32 {
    let z = r * r;
    let tail = primitive::fma(polynomial(z, &COS), z, -0.5);
    primitive::fma(tail, z, 1.0)
}

/// `value`, negated when bit 1 of the quadrant is set.
#[inline(always)]
fn with_sign(value: f32, quadrant: u32) -> f32 {
    f32::from_bits(value.to_bits() ^ ((quadrant & 2) << 30))
}

/// Sine and cosine together: about 25 instructions, no branch, no memory.
///
/// Absolute error 1e-7 for |x| ≤ 10⁵. For |x| > 2²⁰ the result is −1, 0 or 1; NaN for infinities.
#[inline(always)]
#[must_use]
pub fn sincosf(x: f32) -> (f32, f32) {
    let (quadrant, r) = reduce(x);
    let (s, c) = (sin_reduced(r), cos_reduced(r));
    let (s, c) = if quadrant & 1 == 0 { (s, c) } else { (c, s) };
    (with_sign(s, quadrant), with_sign(c, quadrant.wrapping_add(1)))
}

/// Sine, as [`sincosf`].
#[inline(always)]
#[must_use]
pub fn sinf(x: f32) -> f32 {
    sincosf(x).0
}

/// Cosine, as [`sincosf`].
#[inline(always)]
#[must_use]
pub fn cosf(x: f32) -> f32 {
    sincosf(x).1
}

/// Tangent: [`sincosf`] and one division.
#[inline(always)]
#[must_use]
pub fn tanf(x: f32) -> f32 {
    let (s, c) = sincosf(x);
    primitive::div(s, c)
}
