//! Operations that the polynomials are built from, as NVPTX instructions.

use core::arch::asm;

unsafe extern "C" {
    #[link_name = "llvm.sqrt.f32"]
    safe fn llvm_sqrt(x: f32) -> f32;
    #[link_name = "llvm.fma.f32"]
    safe fn llvm_fma(x: f32, y: f32, z: f32) -> f32;
    #[link_name = "llvm.floor.f32"]
    safe fn llvm_floor(x: f32) -> f32;
    #[link_name = "llvm.ceil.f32"]
    safe fn llvm_ceil(x: f32) -> f32;
    #[link_name = "llvm.trunc.f32"]
    safe fn llvm_trunc(x: f32) -> f32;
    #[link_name = "llvm.nvvm.rsqrt.approx.ftz.f"]
    safe fn llvm_rsqrt(x: f32) -> f32;
    #[link_name = "llvm.nvvm.rcp.approx.ftz.f"]
    safe fn llvm_rcp(x: f32) -> f32;
    #[link_name = "llvm.nvvm.lg2.approx.ftz.f"]
    safe fn llvm_lg2(x: f32) -> f32;
}

/// `llvm.sqrt.f32` rather than the instruction's own intrinsic: LLVM folds constants through it, turns
/// 1/√x into `rsqrt.approx`, and the build's `--nvptx-prec-sqrtf32=0` makes it `sqrt.approx.ftz.f32`.
#[inline(always)]
pub(crate) fn sqrt(x: f32) -> f32 {
    llvm_sqrt(x)
}

#[inline(always)]
pub(crate) fn rsqrt(x: f32) -> f32 {
    llvm_rsqrt(x)
}

#[inline(always)]
pub(crate) fn rcp(x: f32) -> f32 {
    llvm_rcp(x)
}

#[inline(always)]
pub(crate) fn fma(x: f32, y: f32, z: f32) -> f32 {
    llvm_fma(x, y, z)
}

#[inline(always)]
pub(crate) fn floor(x: f32) -> f32 {
    llvm_floor(x)
}

#[inline(always)]
pub(crate) fn ceil(x: f32) -> f32 {
    llvm_ceil(x)
}

#[inline(always)]
pub(crate) fn trunc(x: f32) -> f32 {
    llvm_trunc(x)
}

/// By `asm!`: the intrinsic's name differs between LLVM releases.
#[inline(always)]
pub(crate) fn exp2(x: f32) -> f32 {
    let y: f32;
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!("ex2.approx.ftz.f32 {}, {};", out(reg32) y, in(reg32) x, options(pure, nomem, nostack, preserves_flags));
    }
    y
}

#[inline(always)]
pub(crate) fn log2(x: f32) -> f32 {
    llvm_lg2(x)
}

/// x/y over the full range, 2 ulp: `div.full.ftz.f32`. A plain `/` becomes `div.approx` in this build,
/// which is zero for |y| > 2¹²⁶.
#[inline(always)]
pub(crate) fn div(x: f32, y: f32) -> f32 {
    let q: f32;
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!("div.full.ftz.f32 {}, {}, {};", out(reg32) q, in(reg32) x, in(reg32) y,
             options(pure, nomem, nostack, preserves_flags));
    }
    q
}
