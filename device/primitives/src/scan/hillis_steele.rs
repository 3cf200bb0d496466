//! The step-efficient scan: in step k, each element takes in the one 2ᵏ before it (Hillis & Steele 1986, "Data parallel
//! algorithms"). log₂ n steps, each over all elements, from one buffer into another.

use core::marker::PhantomData;

use crate::{Kernel, Length, Operator, Ptr};

/// One step: one thread per element.
pub struct HillisSteele<O>(PhantomData<O>);

/// Arguments of [`HillisSteele`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct HillisSteeleArgs<T> {
    /// Result of the step before.
    pub from: Ptr<T>,
    /// Result of this step, not overlapping that of the step before.
    pub to: Ptr<T>,
    /// Number of elements.
    pub length: Length,
    /// Distance to the earlier element that an element takes in. Zero makes the scan exclusive: elements move by one.
    pub distance: u32,
}

impl<O: Operator> Kernel for HillisSteele<O> {
    type Args = HillisSteeleArgs<O::Value>;
    const BLOCK: u32 = 256;
    const BLOCKS: u32 = 4;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        let i = cuda_std::thread::index_1d();
        let &HillisSteeleArgs { from, to, length, distance } = args;
        // SAFETY: the element is this thread's; nothing writes `from`; memory is as the caller promised.
        unsafe {
            if i >= length.get() {
                return;
            }
            let value = match distance {
                0 if i == 0 => O::IDENTITY,
                0 => from.load(i - 1),
                _ => {
                    let before = if i < distance { O::IDENTITY } else { from.load(i - distance) };
                    // Extremes pass over NaNs: if there is nothing else, what is left is the identity.
                    O::combine(O::combine(O::IDENTITY, before), from.load(i))
                }
            };
            to.store(i, value);
        }
    }
}
