//! Parallel primitives: reduce, scan, compact, sort and their like, on arrays in the memory of a back end.
//!
//! A primitive is a small value that says what is to be done, e.g. `Scan::<Sum<u32>>::exclusive()`. It tells how much
//! temporary memory it needs for so many elements, and does its work on buffers of any back end: on a GPU by kernels, on a
//! CPU on all threads of the back end. Work is queued: nothing is allocated and nobody waits, but that the first call compiles
//! kernels unless they were prepared ([`Primitives::prepare_primitives`]). Lengths may be numbers in the machine's memory
//! ([`Length::Device`]), which earlier work left there.
//!
//! ```
//! use torrance_gpu::backend::{Backend, cpu::Cpu};
//! use torrance_gpu::primitives::{Length, Scan, Sum, Temp};
//!
//! # fn main() -> Result<(), torrance_gpu::backend::Error> {
//! let mut backend = Cpu::new(None)?;
//! let input = backend.upload("numbers", &[3_u32, 1, 4, 1, 5])?;
//! let mut sums = backend.zeroed("sums", 5)?;
//! let scan = Scan::<Sum<u32>>::exclusive();
//! let mut temp = Temp::new(&mut backend, scan.temp_bytes(5))?;
//! scan.run(&mut backend, &input, &mut sums, Length::Host(5), &mut temp)?;
//! assert_eq!(backend.download(&sums)?, [0, 3, 4, 8, 9]);
//! # Ok(())
//! # }
//! ```

mod call;
mod histogram;
mod images;
mod merge_sort;
mod moves;
mod parallel;
mod radix_sort;
mod reduce;
mod run_length;
mod sat;
mod scan;
mod select;
mod split_sort;
mod temp;

pub use histogram::Histogram;
pub use images::{Border, Convolution, Luminance, Transpose};
pub use merge_sort::MergeSort;
pub use moves::{CopyElements, Fill, Gather, Scatter};
pub use primitives::histogram::{Binning, Countable, Digits, Even};
pub use primitives::merge_sort::{Ascending, Descending, LowHalf, MergeSortable, Order, Payload};
pub use primitives::radix_sort::{Direction, Key, RadixSortable};
pub use primitives::reduce::{ArgMax, Mean, Reducible, Reduction};
pub use primitives::sat::{Narrow, Tabulated, Whole, Wide};
pub use primitives::scan::{Bounds, Scannable};
pub use primitives::select::{Below, If, Predicate, Selectable};
pub use primitives::split_sort::Splittable;
pub use primitives::{Affine, Element, MOST, Max, Min, Operator, Sum};
pub use radix_sort::{PartitionByKey, RadixSort};
pub use reduce::Reduce;
pub use run_length::{RunBuffers, RunLength};
pub use sat::{BoxBlur, SummedArea};
pub use scan::{Form, Scan};
pub use select::Select;
pub use split_sort::SplitSort;
pub use temp::Temp;

use primitives as kernels;

use crate::backend::cpu::Cpu;
use crate::backend::cuda::Cuda;
use crate::backend::{Backend, Error};

/// How many elements there are.
#[derive(Debug)]
pub enum Length<'a, B: Backend> {
    /// A number that the host knows.
    Host(u32),
    /// The first number of a buffer, which earlier work has written; at most `most`.
    Device {
        /// Where the number is.
        count: &'a B::Buf<u32>,
        /// So many elements there is room for.
        most: u32,
    },
}

impl<B: Backend> Clone for Length<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Backend> Copy for Length<'_, B> {}

impl<B: Backend> Length<'_, B> {
    /// At most so many.
    pub fn most(&self) -> u32 {
        match *self {
            Self::Host(most) | Self::Device { most, .. } => most,
        }
    }
}

/// A back end that runs primitives.
pub trait Primitives: Backend {
    /// Prepares the primitives that `calls` calls: a GPU's driver compiles their kernels, or finds them in its cache, which
    /// otherwise is part of the first call of each. Nothing is queued meanwhile, and buffers stay as they are.
    ///
    /// # Errors
    /// Those of `calls`, or the machine's.
    fn prepare_primitives(&mut self, calls: impl FnOnce(&mut Self) -> Result<(), Error>)
    -> Result<(), Error>;

    /// Queues the work.
    ///
    /// # Errors
    /// The machine reports one.
    ///
    /// # Safety
    /// All pointers in `work` are to memory of this back end, as large as `work` documents, until it has ended.
    unsafe fn queue<W: Work>(&mut self, work: &W) -> Result<(), Error>;
}

/// One call of a primitive.
pub trait Work: Sync {
    /// Does it, on the threads of the `rayon` pool that it is called in.
    ///
    /// # Safety
    /// As [`Primitives::queue`].
    unsafe fn on_cpu(&self);

    /// Queues it.
    ///
    /// # Errors
    /// The driver reports one.
    ///
    /// # Safety
    /// As [`Primitives::queue`].
    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error>;
}

impl Primitives for Cpu {
    /// There is nothing to do.
    fn prepare_primitives(&mut self, _: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn queue<W: Work>(&mut self, work: &W) -> Result<(), Error> {
        // SAFETY: as the caller promised; stages have ended when a launch returns.
        self.install(&|| unsafe { work.on_cpu() });
        Ok(())
    }
}

impl Primitives for Cuda {
    fn prepare_primitives(
        &mut self,
        calls: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.compiling_only(calls)
    }

    unsafe fn queue<W: Work>(&mut self, work: &W) -> Result<(), Error> {
        // SAFETY: as the caller promised.
        unsafe { work.on_gpu(self) }
    }
}
