//! y ← a·x + y: the "hello, world" of parallel programs.

use primitives::Ptr;

/// Arguments of the kernel `saxpy` and of [`twin`].
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct SaxpyArgs {
    /// `n` numbers.
    pub(crate) x: Ptr<f32>,
    /// `n` numbers, and the results.
    pub(crate) y: Ptr<f32>,
    pub(crate) a: f32,
    pub(crate) n: u32,
}

/// Sequential equivalent of the kernel, one element after the other.
///
/// # Safety
/// The arrays have `n` numbers each, and nobody else uses them meanwhile.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) unsafe fn twin(args: &SaxpyArgs) {
    // SAFETY: as the caller promised.
    let (x, y) = unsafe { (args.x.slice(args.n), args.y.slice_mut(args.n)) };
    for (x, y) in x.iter().zip(y) {
        *y = args.a.mul_add(*x, *y);
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use super::*;
    use cuda_std::{float, kernel, mem, thread};
    use primitives::Quad;

    /// Element `i`.
    #[inline(always)]
    unsafe fn one(args: &SaxpyArgs, i: u32) {
        // SAFETY: the caller vouches for `i`, and it is this thread's.
        unsafe {
            let y = args.y.at(i);
            mem::st(y, float::fma_rn(args.a, mem::ldg(args.x.at(i)), mem::ld(y)));
        }
    }

    /// One element per thread.
    ///
    /// # Safety
    /// As [`twin`](super), for a grid of `n` threads or more.
    #[kernel]
    pub unsafe fn saxpy(args: SaxpyArgs) {
        let i = thread::index_1d();
        if i < args.n {
            // SAFETY: both arrays have `n` numbers.
            unsafe { one(&args, i) };
        }
    }

    /// Four neighbours per thread, in accesses of 16 bytes, so that more memory traffic is in flight. The first threads do
    /// the rest.
    ///
    /// # Safety
    /// As [`twin`](super), for arrays aligned to 16 bytes and a grid of `n` / 4 threads or more, four at least.
    #[kernel]
    pub unsafe fn saxpy_wide(args: SaxpyArgs) {
        let (i, quads) = (thread::index_1d(), args.n / 4);
        // SAFETY: both arrays have `n` numbers.
        unsafe {
            if i < quads {
                let at = args.y.at(4 * i).cast::<Quad<f32>>();
                let (Quad(x), Quad(y)) = (mem::ldg(args.x.at(4 * i).cast::<Quad<f32>>()), mem::ld(at));
                mem::st(at, Quad([0, 1, 2, 3].map(|k| float::fma_rn(args.a, x[k], y[k]))));
            }
            if i < args.n % 4 {
                one(&args, 4 * quads + i);
            }
        }
    }
}
