//! One entry point for every stage.

use cuda_std::kernel;
use device::bvh::Gpu;
use device::path::stage::{Stage, stages};

macro_rules! entry_points {
    ($($name:ident: $function:ty, block $block:literal times $blocks:literal;)*) => { $(
        #[kernel]
        pub unsafe fn $name(args: <stages::$name as Stage>::Args) {
            let i = cuda_std::thread::index_1d();
            if i < <stages::$name as Stage>::threads(&args) {
                // SAFETY: the host passes valid arguments, and each index is one thread's.
                unsafe { <stages::$name as Stage>::run::<Gpu>(i, &args) }
            }
        }
    )* };
}
device::for_each_stage!(entry_points);
