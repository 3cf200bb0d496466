//! Parallel primitives: what a wavefront path tracer culls and orders its paths with, and a library in its own right.
//!
//! Each is for any length below 2³¹, which may be a number in the memory of the machine that runs it ([`Length`]). Each
//! exists twice: as [`Kernel`]s, whose blocks of threads work together on a GPU, and as a sequential twin (`twin` in each
//! module), which is what a machine without a GPU runs and what the kernels are tested against. [`for_each_primitive!`]
//! lists the kernels.
//!
//! [`for_each_primitive!`]: crate::for_each_primitive

#[cfg(target_arch = "nvptx64")]
mod block;
pub mod convolution;
pub mod defocus;
mod element;
pub mod gather;
pub mod histogram;
mod list;
#[cfg(target_arch = "nvptx64")]
mod look_back;
pub mod luminance;
pub mod merge_sort;
pub mod moves;
mod ptr;
pub mod radix_sort;
pub mod reduce;
pub mod run_length;
pub mod sat;
pub mod scan;
pub mod select;
pub mod split_sort;
pub mod transpose;

pub use element::{Affine, Element, Exchange, Max, Min, Operator, Sum};
pub use list::{Entry, KERNELS};
pub use ptr::{Length, Ptr, Quad};

/// Threads of a warp.
pub const WARP: u32 = 32;

/// The most elements that a primitive takes: indices are `u32`, with room to round up.
pub const MOST: u32 = i32::MAX as u32;

/// What blocks of threads do together on a GPU.
pub trait Kernel: 'static {
    /// Arguments, passed by value.
    type Args: Copy + Send + Sync + 'static;
    /// Threads a block.
    const BLOCK: u32;
    /// Blocks that fit on a multiprocessor at least: the compiler gives threads as many registers as that allows.
    const BLOCKS: u32;
    /// Bytes of shared memory that a launch gives each block, beside what the kernel declares itself.
    const SHARED: u32 = 0;

    /// What each thread of the grid does.
    ///
    /// # Safety
    /// The pointers in `args` are valid for what the kernel documents, and the grid is as it documents.
    #[cfg(target_arch = "nvptx64")]
    unsafe fn run(args: &Self::Args);
}
