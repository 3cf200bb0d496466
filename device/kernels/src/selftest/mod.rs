//! One kernel for each function, or family of functions, of `cuda_std` and `libm`.
//!
//! Each writes what the functions return; `tests/tests/machines/gpu_selftest.rs` launches it and knows the exact
//! answer. A kernel that has no check there, or a check without a kernel, fails a test that needs no GPU. Those in
//! `lobe` are of the physics instead.

mod arguments;
mod atomic;
mod debug;
mod float;
mod lobe;
mod mem;
mod shared;
mod thread;
mod warp;

/// Writes `values` one after the other from `out[start]` on.
///
/// # Safety
/// All of them must be inside the buffer at `out`.
#[inline(always)]
unsafe fn write<T, const N: usize>(out: *mut T, start: usize, values: [T; N]) {
    for (i, value) in values.into_iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { out.add(start + i).write(value) }
    }
}
