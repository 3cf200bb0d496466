//! One entry point for every kernel of the primitives.

use cuda_std::kernel;
use primitives::{Kernel, *};

macro_rules! entry_points {
    ($($name:ident: $kernel:ty;)*) => { $(
        #[kernel]
        pub unsafe fn $name(args: <$kernel as Kernel>::Args) {
            // SAFETY: the host passes valid arguments, and launches the grid that the kernel documents.
            unsafe { <$kernel as Kernel>::run(&args) }
        }
    )* };
}
primitives::for_each_primitive!(entry_points);
