//! Exponentials, logarithms, powers: the hardware's base-2 instructions and a scale.

use core::f32::consts::{LN_2, LOG2_E};

use crate::primitive;

/// 2ˣ: `ex2.approx.ftz.f32`.
#[inline(always)]
#[must_use]
pub fn exp2f(x: f32) -> f32 {
    primitive::exp2(x)
}

/// log₂ x: `lg2.approx.ftz.f32`. −∞ at zero, NaN below.
#[inline(always)]
#[must_use]
pub fn log2f(x: f32) -> f32 {
    primitive::log2(x)
}

/// eˣ: one multiplication and `ex2.approx.ftz.f32`.
#[inline(always)]
#[must_use]
pub fn expf(x: f32) -> f32 {
    exp2f(x * LOG2_E)
}

/// ln x: `lg2.approx.ftz.f32` and one multiplication.
#[inline(always)]
#[must_use]
pub fn logf(x: f32) -> f32 {
    log2f(x) * LN_2
}

/// xʸ: `lg2.approx.ftz.f32`, a multiplication, `ex2.approx.ftz.f32`, and the special cases that a
/// renderer meets: x⁰ = 1, 0ʸ, and a negative x with an integer y. A negative x with another y is NaN.
#[inline(always)]
#[must_use]
pub fn powf(x: f32, y: f32) -> f32 {
    let magnitude = exp2f(y * log2f(x.abs()));
    let half = y * 0.5;
    let integer = primitive::trunc(y) == y;
    let odd = integer && primitive::trunc(half) != half;
    let signed = if odd { magnitude.copysign(x) } else { magnitude };
    let power = if x < 0.0 && !integer { f32::NAN } else { signed };
    if y == 0.0 { 1.0 } else { power }
}
