//! GPU intrinsics for kernels: the `cuda_std` API on rustc's own NVPTX backend.
//!
//! The published crate of this name needs a compiler of its own. This one implements the same API with
//! the compiler everybody has, so kernels read as they would with the published crate and can move to it
//! the day it works. Each function says which PTX instruction it becomes; everything works on sm_75 and
//! later, and a test kernel runs each one.
//!
//! | module | what |
//! |---|---|
//! | [`macro@kernel`] | makes a function an entry point |
//! | `thread` | indices, dimensions, block barriers, fences, clocks, sleeping |
//! | `warp` | lanes, shuffles, votes, matches, reductions, scans |
//! | `shared` | shared memory: `shared_array!`, `dynamic_shared_mem` |
//! | `atomic` | atomics of block and device scope, acquire and release |
//! | `mem` | wide loads and stores with cache hints |
//! | [`float`] | [`GpuFloat`], and arithmetic that is never fused |
//! | [`print`](mod@print) | [`cuda_print!`], for debugging |
//!
//! On the host only what is the same everywhere exists: [`macro@kernel`] (which then makes an ordinary
//! function), [`GpuFloat`], [`float`] and the checks of [`print`](mod@print)'s formats.
//!
//! # Convergence
//!
//! Barriers, shuffles, votes and matches name the threads that must reach them together. The compiler
//! must not move such an instruction into or out of a branch. LLVM keeps that promise for calls marked
//! `convergent`; its own intrinsics are, Rust's `asm!` is not. So these functions are LLVM intrinsics
//! throughout, and `asm!` is used only for what one thread does alone.

#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(abi_unadjusted, asm_experimental_arch, link_llvm_intrinsics),
    allow(internal_features, reason = "the hardware instructions have no other name in Rust")
)]

#[cfg(target_arch = "nvptx64")]
pub mod atomic;
pub mod float;
#[cfg(target_arch = "nvptx64")]
pub mod mem;
pub mod print;
#[cfg(target_arch = "nvptx64")]
pub mod shared;
#[cfg(target_arch = "nvptx64")]
pub mod thread;
#[cfg(target_arch = "nvptx64")]
pub mod warp;

pub use cuda_std_macros::kernel;
pub use float::GpuFloat;

/// Ends the kernel with an error, as a failed assertion would: `trap`.
///
/// The launch fails and the context is lost with it: what the host could have rejected must not come here.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
#[cold]
pub fn trap() -> ! {
    // SAFETY: `trap` takes nothing and does not return.
    unsafe { core::arch::asm!("trap;", options(noreturn, nostack)) }
}
