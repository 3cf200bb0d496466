//! The code of stages, before they have names.

use core::ops::Range;

use crate::bvh::Arch;

/// A function run for every index, with the same arguments: the code of a stage.
pub trait Function: 'static {
    /// Arguments, passed by value: those of its stage.
    type Args: Count + Copy + Send + Sync + 'static;

    /// As [`Stage::run`](crate::path::stage::Stage::run).
    ///
    /// # Safety
    /// As there.
    unsafe fn run<A: Arch>(i: u32, args: &Self::Args);

    /// As [`Stage::run_range`](crate::path::stage::Stage::run_range): one after the other, if it says nothing else.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn run_range<A: Arch>(range: Range<u32>, args: &Self::Args) {
        for i in range {
            // SAFETY: as the caller promised.
            unsafe { Self::run::<A>(i, args) };
        }
    }
}

/// Arguments that know how many invocations they are for.
pub trait Count {
    /// As [`Stage::count`](crate::path::stage::Stage::count).
    fn count(&self) -> u32;

    /// As [`Stage::threads`](crate::path::stage::Stage::threads).
    #[inline(always)]
    fn threads(&self) -> u32 {
        self.count()
    }
}
