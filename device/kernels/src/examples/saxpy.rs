//! y ← a·x + y: the "hello, world" of parallel programs.

use device::primitives::Ptr;

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

/// What the kernel does, one element after the other.
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
    use cuda_std::{float, kernel, thread};

    /// A thread an element.
    ///
    /// # Safety
    /// As [`twin`](super), for a grid of `n` threads or more.
    #[kernel]
    pub unsafe fn saxpy(args: SaxpyArgs) {
        let i = thread::index_1d();
        if i < args.n {
            // SAFETY: both arrays have `n` numbers, and this one is this thread's.
            unsafe {
                let y = args.y.at(i);
                y.write(float::fma_rn(args.a, args.x.at(i).read(), y.read()));
            }
        }
    }
}
