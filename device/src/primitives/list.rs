//! The one list of the primitives' kernels.
//!
//! It expands to the GPU's entry points (`device/kernels`), to the names that the host launches by, and to the table of
//! launches.

use super::{Kernel, *};
use crate::path::stage::Launch;

/// Calls `$with!` with the name and the type of every kernel.
#[macro_export]
macro_rules! for_each_primitive {
    ($with:ident) => {
        $with! {
            reduce_sum_u32: reduce::Reduce<Sum<u32>>;
            reduce_sum_i32: reduce::Reduce<Sum<i32>>;
            reduce_sum_f32: reduce::Reduce<Sum<f32>>;
            reduce_sum_u64: reduce::Reduce<Sum<u64>>;
            reduce_min_u32: reduce::Reduce<Min<u32>>;
            reduce_min_i32: reduce::Reduce<Min<i32>>;
            reduce_min_f32: reduce::Reduce<Min<f32>>;
            reduce_min_u64: reduce::Reduce<Min<u64>>;
            reduce_max_u32: reduce::Reduce<Max<u32>>;
            reduce_max_i32: reduce::Reduce<Max<i32>>;
            reduce_max_f32: reduce::Reduce<Max<f32>>;
            reduce_max_u64: reduce::Reduce<Max<u64>>;
            reduce_mean_f32: reduce::Reduce<reduce::Mean>;
            reduce_argmax_u32: reduce::Reduce<reduce::ArgMax<u32>>;
            reduce_argmax_i32: reduce::Reduce<reduce::ArgMax<i32>>;
            reduce_argmax_f32: reduce::Reduce<reduce::ArgMax<f32>>;
            scan_sum_u32: scan::LookBack<Sum<u32>>;
            scan_sum_i32: scan::LookBack<Sum<i32>>;
            scan_sum_f32: scan::LookBack<Sum<f32>>;
            scan_sum_u64: scan::LookBack<Sum<u64>>;
            scan_min_u32: scan::LookBack<Min<u32>>;
            scan_min_i32: scan::LookBack<Min<i32>>;
            scan_min_f32: scan::LookBack<Min<f32>>;
            scan_min_u64: scan::LookBack<Min<u64>>;
            scan_max_u32: scan::LookBack<Max<u32>>;
            scan_max_i32: scan::LookBack<Max<i32>>;
            scan_max_f32: scan::LookBack<Max<f32>>;
            scan_max_u64: scan::LookBack<Max<u64>>;
            scan_affine: scan::LookBack<Affine>;
        }
    };
}

/// A kernel that is in the list, and so an entry point of the GPU's module.
pub trait Entry: Kernel {
    /// Its name.
    const NAME: &'static str;
}

macro_rules! entries {
    ($($name:ident: $kernel:ty;)*) => {
        $(impl Entry for $kernel {
            const NAME: &'static str = stringify!($name);
        })*

        /// How a GPU launches every kernel of the list.
        pub const KERNELS: &[Launch] = &[$(Launch {
            stage: stringify!($name),
            block: <$kernel as Kernel>::BLOCK,
            blocks: <$kernel as Kernel>::BLOCKS,
            shared: <$kernel as Kernel>::SHARED,
        }),*];
    };
}
for_each_primitive!(entries);
