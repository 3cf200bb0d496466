//! Histograms: counts of numbers in each of many bins.
//!
//! Blocks count in copies of the bins in shared memory, one for each warp if there is room, and add their counts to the
//! result at their end. Bins that have no room there are counted in global memory.

use core::marker::PhantomData;

use super::radix_sort::{Digit, Rank};
use super::{Element, Entry, Kernel, Length, Ptr};

/// Assignment of numbers to bins.
pub trait Binning: Copy + Send + Sync + 'static {
    /// Type of the elements that are counted.
    type Item: Element;

    /// The bin; the element is not counted if it is not less than the number of bins.
    fn bin(&self, item: Self::Item) -> u32;
}

/// Some bits of the number, or all of it, are the bin.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Digits {
    /// Which bits.
    pub digit: Digit,
}

impl Binning for Digits {
    type Item = u32;

    #[inline(always)]
    fn bin(&self, item: u32) -> u32 {
        item.digit(self.digit)
    }
}

/// Bins of equal width between two numbers. NaNs and numbers outside are in none. Subnormal numbers count as zero.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Even {
    low: f32,
    high: f32,
    /// Bins in an interval of 1.
    scale: f32,
    last: u32,
}

impl Even {
    /// So many bins from `low` up to, but without, `high`. There are none unless both are finite, `low` is less than
    /// `high`, they are no further apart than the largest number, and bins are from 2⁻¹⁰⁰ to 2¹²⁶ wide.
    pub fn new(low: f32, high: f32, bins: u32) -> Option<Self> {
        let [low, high] = [low, high].map(flushed);
        let scale = bins as f32 / (high - low);
        // Subnormal scales are zero to a GPU.
        let has_bins = scale >= f32::MIN_POSITIVE && scale <= f32::from_bits((127 + 100) << 23);
        let is_valid = bins > 0 && low < high && has_bins;
        is_valid.then(|| Self { low, high, scale, last: bins - 1 })
    }
}

impl Binning for Even {
    type Item = f32;

    #[inline(always)]
    fn bin(&self, item: f32) -> u32 {
        let x = flushed(item);
        if x >= self.low && x < self.high {
            // Rounding may reach the end of the last bin.
            (((x - self.low) * self.scale) as u32).min(self.last)
        } else {
            u32::MAX
        }
    }
}

/// Zero for subnormal numbers, which GPUs take for zero, and CPUs do not.
#[inline(always)]
fn flushed(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0 } else { x }
}

/// A binning for which there is a kernel.
pub trait Countable: Binning {
    /// The kernel.
    type Histogram: Kernel<Args = HistogramArgs<Self>> + Entry;
}

impl<B: Binning> Countable for B
where
    Histogram<B>: Entry,
{
    type Histogram = Histogram<B>;
}

/// Rows of a tile: 4 × 32 numbers of a warp each.
const ROWS: usize = 4;

/// Counts everything: any number of blocks, which share the tiles.
pub struct Histogram<B>(PhantomData<B>);

/// Arguments of [`Histogram`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct HistogramArgs<B: Binning> {
    /// Elements to count.
    pub input: Ptr<B::Item>,
    /// A number for each bin. Zeros at the start.
    pub counts: Ptr<u32>,
    /// Number of elements.
    pub length: Length,
    /// Number of bins.
    pub bins: u32,
    /// Which bin a number falls into.
    pub binning: B,
}

impl<B: Binning> Histogram<B> {
    /// Numbers of a tile.
    pub const TILE: u32 = Self::BLOCK * 4 * ROWS as u32;
    /// Bins that have room in shared memory.
    pub const ROOM: u32 = 1 << 13;
}

impl<B: Binning> Kernel for Histogram<B> {
    type Args = HistogramArgs<B>;
    const BLOCK: u32 = 256;
    const BLOCKS: u32 = 5;
    const SHARED: u32 = Self::ROOM * 4;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::run(args) }
    }
}

/// Counts one number after the other.
pub fn twin<B: Binning>(binning: B, input: &[B::Item], counts: &mut [u32]) {
    counts.fill(0);
    for item in input {
        if let Some(count) = counts.get_mut(binning.bin(*item) as usize) {
            *count += 1;
        }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use cuda_std::shared::dynamic_shared_mem;
    use cuda_std::{atomic, thread};

    use super::*;
    use crate::WARP;
    use crate::block::{load_rows, unrolled, warp_id};

    #[inline(always)]
    pub(super) unsafe fn run<B: Binning>(args: &HistogramArgs<B>) {
        let HistogramArgs { counts, bins, .. } = *args;
        // SAFETY: the whole block comes here; memory is as the caller promised; bins are counted where they have room.
        unsafe {
            if bins > Histogram::<B>::ROOM {
                return tiles(args, |bin| {
                    atomic::device::add_u32(counts.at(bin), 1);
                });
            }
            let shared = dynamic_shared_mem::<u32>();
            let copies = (Histogram::<B>::ROOM / bins.max(1)).clamp(1, Histogram::<B>::BLOCK / WARP);
            for_each(copies * bins, |i| shared.add(i as usize).write(0));
            thread::sync_threads();
            let own = shared.add((warp_id() % copies * bins) as usize);
            tiles(args, |bin| {
                atomic::block::add_u32(own.add(bin as usize), 1);
            });
            thread::sync_threads();
            for_each(bins, |bin| {
                let mut count = 0;
                for copy in 0..copies {
                    count += shared.add((copy * bins + bin) as usize).read();
                }
                if count != 0 {
                    atomic::device::add_u32(counts.at(bin), count);
                }
            });
        }
    }

    /// Calls `f` for each number below `n`: the threads of a block take turns.
    #[inline(always)]
    fn for_each(n: u32, mut f: impl FnMut(u32)) {
        let mut i = thread::thread_idx_x();
        while i < n {
            f(i);
            i += thread::block_dim_x();
        }
    }

    /// Does something for the bins of this block's tiles.
    #[inline(always)]
    unsafe fn tiles<B: Binning>(args: &HistogramArgs<B>, mut count: impl FnMut(u32)) {
        let mut count = |item| {
            let bin = args.binning.bin(item);
            if bin < args.bins {
                count(bin);
            }
        };
        // SAFETY: as the caller promised.
        unsafe {
            let n = args.length.get();
            let mut begin = thread::block_idx_x() * Histogram::<B>::TILE;
            while begin < n {
                if n - begin >= Histogram::<B>::TILE {
                    let rows: [_; ROWS] = load_rows(args.input, begin, n, B::Item::ZERO);
                    unrolled!(k < ROWS * 4, { count(rows[k / 4][k % 4]) });
                } else {
                    for_each(n - begin, |i| count(args.input.load_constant(begin + i)));
                }
                begin += thread::grid_dim_x() * Histogram::<B>::TILE;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 to the power of `exponent`.
    fn power(exponent: i32) -> f32 {
        f32::from_bits((127 + exponent).cast_unsigned() << 23)
    }

    #[test]
    fn bins_are_as_wide_as_both_machines_can_count() {
        for (low, high, bins, is_valid) in [
            (0.0, 1.0, 10, true),
            (-1.0, 1.0, 1, true),
            (0.0, 1.0, 0, false),
            (1.0, 1.0, 1, false),
            (1.0, 0.0, 1, false),
            (f32::NAN, 1.0, 1, false),
            (0.0, f32::INFINITY, 1, false),
            (-f32::MAX, f32::MAX, 4, false),
            // 2⁻¹⁰⁰ wide and narrower; 2¹²⁶ wide and wider, of which a GPU would put everything into the first bin.
            (0.0, power(-100), 1, true),
            (0.0, power(-100), 2, false),
            (0.0, power(126), 1, true),
            (0.0, power(127), 2, true),
            (0.0, power(127), 1, false),
            (0.0, f32::MAX, 4, true),
            (0.0, f32::MAX, 3, false),
            (0.0, f32::from_bits(1), 1, false),
        ] {
            assert_eq!(Even::new(low, high, bins).is_some(), is_valid, "{bins} from {low:e} to {high:e}");
        }
    }

    #[test]
    fn wide_bins_are_told_apart() {
        let even = Even::new(0.0, f32::MAX, 4).unwrap();
        for (share, bin) in [(0.0, 0), (0.1, 0), (0.3, 1), (0.6, 2), (0.9, 3)] {
            assert_eq!(even.bin(share * f32::MAX), bin, "{share}");
        }
        assert_eq!(even.bin(f32::MAX), u32::MAX, "the end is not in the range");
    }
}
