//! Parallel primitives: scan, reduce, compact, sort, histograms, summed-area tables and their like, on arrays of plain
//! numbers. No physics, no allocation, no standard library on a GPU.
//!
//! **In** go arrays in the memory of the machine that runs a primitive, as addresses ([`Ptr`]) in an argument struct, with
//! a length below 2³¹ that may itself be in that memory ([`Length`]). **Out** come arrays in the same memory. Who launches
//! a kernel vouches for the addresses; the crate `renderer` has an API that checks them.
//!
//! Each primitive exists twice: as [`Kernel`]s, whose blocks of threads work together on a GPU, and as a sequential twin
//! (`twin` in each module), which is what a machine without a GPU runs and what the kernels are tested against.
//! [`for_each_primitive!`] lists the kernels, and [`KERNELS`] says how they are launched.
//!
//! ```
//! use primitives::scan::{self, Bounds, Scannable};
//! use primitives::{Entry, KERNELS, Sum};
//!
//! // Where each of a few bins begins, if these are their sizes.
//! let sizes = [3_u32, 0, 4, 2];
//! let mut begins = [0; 4];
//! scan::twin::<Sum<u32>>(Bounds::Exclusive, &sizes, &mut begins);
//! assert_eq!(begins, [0, 3, 3, 7]);
//!
//! // The kernel of the same operator, for a GPU.
//! let name = <<Sum<u32> as Scannable>::LookBack as Entry>::NAME;
//! assert!(KERNELS.iter().any(|kernel| kernel.stage == name));
//! ```

#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]

#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

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

/// How a GPU launches a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Name of the kernel, which is its entry point's.
    pub stage: &'static str,
    /// Threads a block.
    pub block: u32,
    /// Minimum number of blocks per multiprocessor, which limits the registers that the compiler gives each thread.
    pub blocks: u32,
    /// Bytes of shared memory that a launch gives each block, beside what the kernel declares itself.
    pub shared: u32,
}

/// Threads of a warp.
pub const WARP: u32 = 32;

/// Largest number of elements that a primitive takes: indices are `u32`, with room to round up.
pub const MOST: u32 = i32::MAX as u32;

/// A GPU kernel whose blocks of threads work together.
pub trait Kernel: 'static {
    /// Arguments, passed by value.
    type Args: Copy + Send + Sync + 'static;
    /// Threads a block.
    const BLOCK: u32;
    /// Blocks that fit on a multiprocessor at least: the compiler gives threads as many registers as that allows.
    const BLOCKS: u32;
    /// Bytes of shared memory that a launch gives each block, beside what the kernel declares itself.
    const SHARED: u32 = 0;

    /// Body of the kernel, which each thread of the grid runs.
    ///
    /// # Safety
    /// The pointers in `args` are valid for what the kernel documents, and the grid is as it documents.
    #[cfg(target_arch = "nvptx64")]
    unsafe fn run(args: &Self::Args);
}
