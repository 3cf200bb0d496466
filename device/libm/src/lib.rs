//! The `f32` functions a renderer needs, as GPU instructions.
//!
//! `glam` calls a crate named `libm` when it is built without `std`. The GPU build patches this one in,
//! so that `Vec3::normalize` becomes one `MUFU` instruction where a portable `libm` takes forty. On the
//! host the same algorithms compile over `std`'s primitives, which is how their errors are measured
//! without a GPU; the GPU's own errors are measured by the self test.
//!
//! # Accuracy
//!
//! | function | on the GPU | error |
//! |---|---|---|
//! | [`sinf`], [`cosf`], [`sincosf`] | reduction by π/2, polynomial | absolute 1e-7 for \|x\| ≤ 10⁵ |
//! | [`tanf`] | [`sinf`] over [`cosf`] | relative 6e-7 for \|x\| ≤ 10⁵ |
//! | [`atan2f`], [`atanf`] | one division, polynomial | absolute 4e-7 |
//! | [`acosf`], [`asinf`] | one square root, polynomial | absolute 4e-7 |
//! | [`sqrtf`] | `sqrt.approx.ftz.f32` | relative 2⁻²³ |
//! | [`rsqrtf`] | `rsqrt.approx.ftz.f32` | relative 2⁻²²·⁹ |
//! | [`rcpf`] | `rcp.approx.ftz.f32` | relative 2⁻²³ |
//! | [`exp2f`] | `ex2.approx.ftz.f32` | relative 2⁻²² |
//! | [`log2f`] | `lg2.approx.ftz.f32` | absolute 2⁻²² in ½…2, relative 2⁻²² elsewhere |
//! | [`expf`] | [`exp2f`] of x·log₂e | relative 2⁻²² + \|x\|·2⁻²³ |
//! | [`logf`] | [`log2f`] times ln 2 | as [`log2f`], 2⁻²³ more |
//! | [`powf`] | [`exp2f`] of y·[`log2f`] | relative (1 + \|y·log₂x\| + a)·2⁻²², a = \|y\| for x in ½…2, else 0 |
//!
//! Subnormal numbers are zero on the GPU (`.ftz`). No function branches. `glam`'s `f64` types are behind
//! its feature `f64`, which the GPU build does not enable, so nothing here is `f64`.

#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(asm_experimental_arch, link_llvm_intrinsics),
    allow(internal_features, reason = "the hardware instructions have no other name in Rust")
)]

#[cfg_attr(target_arch = "nvptx64", path = "gpu.rs")]
#[cfg_attr(not(target_arch = "nvptx64"), path = "host.rs")]
mod primitive;

mod exponential;
mod inverse;
mod rounding;
#[cfg(test)]
mod tests;
mod trigonometric;

pub use exponential::{exp2f, expf, log2f, logf, powf};
pub use inverse::{acosf, asinf, atan2f, atanf};
pub use rounding::{ceilf, floorf, roundf, truncf};
pub use trigonometric::{cosf, sincosf, sinf, tanf};

/// √x: `sqrt.approx.ftz.f32`, one `MUFU` and a multiplication.
#[inline(always)]
#[must_use]
pub fn sqrtf(x: f32) -> f32 {
    primitive::sqrt(x)
}

/// 1/√x: `rsqrt.approx.ftz.f32`.
#[inline(always)]
#[must_use]
pub fn rsqrtf(x: f32) -> f32 {
    primitive::rsqrt(x)
}

/// 1/x: `rcp.approx.ftz.f32`. Zero for |x| > 2¹²⁶, whose reciprocal is subnormal.
#[inline(always)]
#[must_use]
pub fn rcpf(x: f32) -> f32 {
    primitive::rcp(x)
}

/// x·y + z with one rounding: `fma.rn.ftz.f32`.
#[inline(always)]
#[must_use]
pub fn fmaf(x: f32, y: f32, z: f32) -> f32 {
    primitive::fma(x, y, z)
}

/// The polynomial `c[0] + c[1]·x + …` by Horner's rule, one `fma.rn.ftz.f32` a step.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, c: &[f32; N]) -> f32 {
    let mut value = c[N - 1];
    let mut i = N - 1;
    while i > 0 {
        i -= 1;
        value = primitive::fma(value, x, c[i]);
    }
    value
}
