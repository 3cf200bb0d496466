//! Rounding to integers.

use crate::primitive;

/// Largest integer not above x: `cvt.rmi.ftz.f32.f32`.
#[inline(always)]
#[must_use]
pub fn floorf(x: f32) -> f32 {
    primitive::floor(x)
}

/// Smallest integer not below x: `cvt.rpi.ftz.f32.f32`.
#[inline(always)]
#[must_use]
pub fn ceilf(x: f32) -> f32 {
    primitive::ceil(x)
}

/// x towards zero: `cvt.rzi.ftz.f32.f32`.
#[inline(always)]
#[must_use]
pub fn truncf(x: f32) -> f32 {
    primitive::trunc(x)
}

/// Nearest integer, halves away from zero: a truncation, a subtraction, a comparison and an addition.
///
/// `cvt.rni` is shorter but sends halves to the even neighbour, which is not what `round` means in Rust.
#[inline(always)]
#[must_use]
pub fn roundf(x: f32) -> f32 {
    let whole = primitive::trunc(x);
    let step = if (x - whole).abs() >= 0.5 { 1.0 } else { 0.0 };
    (whole + f32::copysign(step, x)).copysign(x)
}
