//! The machine: rounding-exact arithmetic, elementary functions, registers of several numbers, wide loads.

#[cfg(not(target_arch = "nvptx64"))]
mod host;
#[cfg(target_arch = "x86_64")]
pub(crate) mod lanes;
#[cfg(target_arch = "nvptx64")]
mod nvptx;
mod real;

#[cfg(not(target_arch = "nvptx64"))]
pub use host::*;
#[cfg(target_arch = "nvptx64")]
pub use nvptx::*;
pub(crate) use real::{Mask, Real, Vec3s, cross, dot, minus, scaled, splat};

/// Value of the low 16 bits of `x` as a finite half.
#[inline(always)]
pub fn half(x: u32) -> f32 {
    let (exponent, fraction) = ((x >> 10) & 0x1f, x & 0x3ff);
    let magnitude = if exponent == 0 {
        // Made of a whole number: GPUs take subnormal floats for zero.
        fraction as f32 * (1.0 / (1 << 24) as f32)
    } else {
        f32::from_bits(((exponent + 112) << 23) | (fraction << 13))
    };
    magnitude.copysign(f32::from_bits((x & 0x8000) << 16))
}
