//! How often numbers fall into each of many bins.

use std::ops::Range;

use primitives::histogram::{self, Binning, Countable, Digits, Even, HistogramArgs, twin};
use primitives::radix_sort::Digit;
use primitives::{Kernel, Ptr};

use super::call::Call;
use super::parallel::{self, chunk_len};
use super::{Length, Primitives, Work, kernels};
use crate::backend::Error;
use crate::backend::cuda::Cuda;

/// Bins that numbers are counted in, of any number that memory has room for. Up to 8192 are counted fast. Needs no
/// temporary memory.
#[derive(Debug, Clone, Copy)]
pub struct Histogram<B> {
    binning: B,
    bins: u32,
}

impl Histogram<Digits> {
    /// A bin for each number below `bins`. Other numbers are not counted.
    pub fn values(bins: u32) -> Self {
        Self { binning: Digits { digit: Digit { shift: 0, mask: u32::MAX } }, bins }
    }

    /// A bin for each value that some bits of a number can have. Bit 0 is the least significant one.
    ///
    /// # Panics
    /// There are no such bits, or 32 of them.
    pub fn digits(bits: Range<u32>) -> Self {
        assert!(bits.start < bits.end && bits.end <= 32 && bits.len() < 32, "no digit has bits {bits:?}");
        let bins = 1 << bits.len();
        Self { binning: Digits { digit: Digit { shift: bits.start, mask: bins - 1 } }, bins }
    }
}

impl Histogram<Even> {
    /// A histogram of this many bins of equal width. Values outside `range`, or at its end, are not counted, nor are NaNs.
    ///
    /// # Panics
    /// There are no bins, the range is empty or not finite, or bins are narrower than 2⁻¹⁰⁰ or wider than
    /// 2¹²⁶.
    pub fn even(range: Range<f32>, bins: u32) -> Self {
        let binning = Even::new(range.start, range.end, bins);
        Self { binning: binning.unwrap_or_else(|| panic!("no {bins} bins are even in {range:?}")), bins }
    }
}

impl<B: Countable> Histogram<B> {
    /// How many bins there are.
    pub fn bins(&self) -> u32 {
        self.bins
    }

    /// Queues the counting of `input`; the numbers of bins go to `counts`.
    ///
    /// # Errors
    /// A buffer is too small, or the machine reports an error.
    pub fn run<M: Primitives>(
        &self,
        backend: &mut M,
        input: &M::Buf<B::Item>,
        counts: &mut M::Buf<u32>,
        length: Length<'_, M>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, "counting");
        let work = HistogramWork {
            input: call.input("input", input, length.most())?,
            counts: call.output("bins", counts, self.bins)?,
            length: call.length(length)?,
            histogram: *self,
        };
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }
}

/// Bins that each thread of a CPU has for itself, at most.
const MOST_BINS: u32 = 1 << 16;

struct HistogramWork<B: Binning> {
    input: Ptr<B::Item>,
    counts: Ptr<u32>,
    length: kernels::Length,
    histogram: Histogram<B>,
}

impl<B: Countable> Work for HistogramWork<B> {
    unsafe fn on_cpu(&self) {
        let Histogram { binning, bins } = self.histogram;
        // SAFETY: as the caller promised.
        let (input, counts) = unsafe { (self.input.slice(self.length.get()), self.counts.slice_mut(bins)) };
        // Each thread has bins of its own, which are worth it if they are fewer than what is counted.
        let chunk = chunk_len(input.len()).max(input.len().div_ceil(rayon::current_num_threads()));
        if chunk >= input.len() || bins > MOST_BINS.min(chunk as u32) {
            return twin(binning, input, counts);
        }
        let chunks: Vec<&[B::Item]> = input.chunks(chunk).collect();
        let of_chunks = parallel::map(chunks.len(), |k| {
            let mut counts = vec![0; bins as usize];
            twin(binning, chunks[k], &mut counts);
            counts
        });
        counts.fill(0);
        for of_chunk in of_chunks {
            counts.iter_mut().zip(of_chunk).for_each(|(count, of_chunk)| *count += of_chunk);
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let &Self { input, counts, length, histogram: Histogram { binning, bins } } = self;
        let tiles = length.most().div_ceil(histogram::Histogram::<B>::TILE);
        let blocks = tiles.min(gpu.info().multiprocessors * B::Histogram::BLOCKS);
        // SAFETY: as the caller promised.
        unsafe {
            gpu.clear(counts, bins as usize * size_of::<u32>())?;
            gpu.launch_primitive::<B::Histogram>(
                blocks,
                HistogramArgs { input, counts, length, bins, binning },
            )
        }
    }
}
