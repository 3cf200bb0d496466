//! Stages that take some pixels of a row at once.

use core::ops::Range;

use crate::arch::Real;
use crate::bvh::Arch;
use crate::function::{Count, Function};

/// A function of as many pixels of a row as there are lanes in `F`.
pub trait Rows: 'static {
    /// Arguments.
    type Args: Count + Copy + Send + Sync + 'static;

    /// Does it for the pixels of the invocations `i` to `i` + `F::LANES` − 1, which are in one row.
    ///
    /// # Safety
    /// As [`Function::run`], for each; the machine has the instruction set of `F`.
    unsafe fn run<F: Real>(i: u32, args: &Self::Args);
}

impl<T: Rows> Function for T {
    type Args = T::Args;

    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { <T as Rows>::run::<f32>(i, args) };
    }

    /// Rows are multiples of all numbers of lanes, and so are the borders of ranges, unless somebody divides them otherwise.
    #[inline(always)]
    unsafe fn run_range<A: Arch>(range: Range<u32>, args: &Self::Args) {
        let lanes = A::Packet::LANES as u32;
        let mut i = range.start;
        while i < range.end {
            // SAFETY: as the caller promised.
            unsafe {
                if i.is_multiple_of(lanes) && range.end - i >= lanes {
                    <T as Rows>::run::<A::Packet>(i, args);
                    i += lanes;
                } else {
                    <T as Rows>::run::<f32>(i, args);
                    i += 1;
                }
            }
        }
    }
}

/// Gives arguments their number of invocations, and lets threads share them.
macro_rules! arguments {
    ($Args:ident, $count:expr) => {
        // SAFETY: invocations write numbers that no other one reads or writes.
        unsafe impl Send for $Args {}
        // SAFETY: as above.
        unsafe impl Sync for $Args {}

        impl $crate::function::Count for $Args {
            #[inline(always)]
            fn count(&self) -> u32 {
                let count: fn(&Self) -> u32 = $count;
                count(self)
            }
        }
    };
}

pub(super) use arguments;

/// How much a pixel counts at a distance (times 1/8 of the inverse square of the bandwidth): e^−d, nearly, and zero where that is less
/// than 1/3000.
#[inline(always)]
pub(super) fn weight<F: Real>(distance: F, scale: F) -> F {
    // (1 − d/8)⁸. Not a number becomes zero.
    let w = (F::splat(1.0) - distance * scale).max(F::splat(0.0));
    let w = w * w;
    let w = w * w;
    w * w
}

/// The scale of [`weight`] for a bandwidth.
#[inline(always)]
pub(super) fn scale<F: Real>(bandwidth: f32) -> F {
    F::splat(0.125 / (bandwidth * bandwidth))
}
