//! Run-length encoding: start, length and value of runs of equal neighbours.

use core::marker::PhantomData;

use super::select::BLOCK;
#[cfg(target_arch = "nvptx64")]
use super::select::rows;
use super::{Entry, Kernel, Length, Operator, Ptr};

pub use super::select::tile;

/// Elements whose bits decide whether they are equal, as in runs.
pub trait Bits: Copy + PartialEq + Send + Sync + 'static {}

impl Bits for u32 {}
impl Bits for u64 {}

/// Finds runs, in a single pass with decoupled look-back: one block per tile, and at least one.
pub struct RunLength<T>(PhantomData<T>);

/// Arguments of [`RunLength`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct RunLengthArgs<T> {
    /// Elements to encode.
    pub input: Ptr<T>,
    /// Room for one element per run: its value.
    pub values: Ptr<T>,
    /// Room for one number per run: the index of its first element.
    pub starts: Ptr<u32>,
    /// Room for one number per run: its length.
    pub lengths: Ptr<u32>,
    /// Receives the number of runs.
    pub count: Ptr<u32>,
    /// Number of elements.
    pub length: Length,
    /// Words that tiles publish, two each. Zeros at the start.
    pub tiles: Ptr<u64>,
    /// Counter of tiles. Zero at the start.
    pub ticket: Ptr<u32>,
}

impl<T: Bits> Kernel for RunLength<T> {
    type Args = RunLengthArgs<T>;
    const BLOCK: u32 = BLOCK;
    const BLOCKS: u32 = 3;
    const SHARED: u32 = tile::<T>() * 4;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe {
            match rows::<T>() {
                8 => gpu::run::<T, 8>(args),
                _ => gpu::run::<T, 4>(args),
            }
        }
    }
}

/// An element type for whose runs there is a kernel.
pub trait RunLengthable: Bits {
    /// The kernel.
    type RunLength: Kernel<Args = RunLengthArgs<Self>> + Entry;
}

impl<T: Bits> RunLengthable for T
where
    RunLength<T>: Entry,
{
    type RunLength = RunLength<T>;
}

/// Number of runs that have started, in the low half, and start of the last one in the high half.
pub struct Runs;

impl Operator for Runs {
    type Value = u64;
    const IDENTITY: u64 = 0;

    #[inline(always)]
    fn combine(earlier: u64, later: u64) -> u64 {
        let last = if later as u32 == 0 { earlier } else { later };
        u64::from((earlier as u32).wrapping_add(later as u32)) | last & 0xffff_ffff_0000_0000
    }
}

/// Calls back with the value, start and length of each run of `n` elements.
pub fn twin<T: Bits>(n: u32, item: impl Fn(u32) -> T, mut run: impl FnMut(T, u32, u32)) {
    let mut start = 0;
    for end in 1..=n {
        if end == n || item(end) != item(start) {
            run(item(start), start, end - start);
            start = end;
        }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use cuda_std::{mem, shared, shared_array, thread};

    use super::*;
    use crate::block::{first_of, ranks};
    use crate::look_back::{Tiles, take_tile_of};
    use crate::{Quad, WARP};

    /// A bit for each of this thread's elements that starts a run, four for each row.
    #[inline(always)]
    unsafe fn heads<T: Bits, const ROWS: usize>(input: Ptr<T>, begin: u32, n: u32) -> u32 {
        let first = begin + first_of::<ROWS>();
        // SAFETY: memory is as the caller promised; what is beyond `n` is not touched.
        unsafe {
            let quads: [[T; 4]; ROWS] = if n - begin >= tile::<T>() {
                core::array::from_fn(|k| mem::ldg(input.at(first + 128 * k as u32).cast::<Quad<T>>()).0)
            } else {
                core::array::from_fn(|k| {
                    core::array::from_fn(|j| {
                        let i = first + 128 * k as u32 + j as u32;
                        input.load_constant(if i < n { i } else { n - 1 })
                    })
                })
            };
            let mut heads = 0;
            for k in 0..ROWS {
                let i = first + 128 * k as u32;
                // The element before, which has just been read, or will be by the warp before.
                let mut before = input.load_constant(if i == 0 {
                    0
                } else if i <= n {
                    i - 1
                } else {
                    n - 1
                });
                for j in 0..4 {
                    let starts = i + j as u32 == 0 || quads[k][j] != before;
                    heads |= u32::from(starts && i + (j as u32) < n) << (4 * k + j);
                    before = quads[k][j];
                }
            }
            heads
        }
    }

    #[inline(always)]
    pub(super) unsafe fn run<T: Bits, const ROWS: usize>(args: &RunLengthArgs<T>) {
        let totals = shared_array![u32; 32];
        let starts = shared::dynamic_shared_mem::<u32>();
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let &RunLengthArgs { length, ticket, count, .. } = args;
            let Some((index, begin, n)) = take_tile_of(tile::<T>(), length, ticket, count) else {
                return;
            };
            let thread = thread::thread_idx_x();
            let heads = heads::<T, ROWS>(args.input, begin, n);
            let count = compact::<ROWS>(heads, begin, starts, totals);
            thread::sync_threads();
            let last = if count == 0 { 0 } else { starts.add(count as usize - 1).read() };
            let of_tile = u64::from(count) | u64::from(last) << 32;
            let before_tile = Tiles::new(args.tiles).look_back::<Runs>(index, of_tile);
            if thread == 0 && n - begin <= tile::<T>() {
                let all = Runs::combine(before_tile, of_tile);
                args.count.store(0, all as u32);
                args.lengths.store(all as u32 - 1, n - (all >> 32) as u32);
            }
            let before = before_tile as u32;
            let mut i = thread;
            while i < count {
                let start = starts.add(i as usize).read();
                args.starts.store(before + i, start);
                args.values.store(before + i, args.input.load_constant(start));
                // A run ends where the next one starts.
                if before + i > 0 {
                    let last =
                        if i == 0 { (before_tile >> 32) as u32 } else { starts.add(i as usize - 1).read() };
                    args.lengths.store(before + i - 1, start - last);
                }
                i += BLOCK;
            }
        }
    }

    /// Writes the indices of heads one after the other. Returns how many the tile has.
    #[inline(always)]
    unsafe fn compact<const ROWS: usize>(heads: u32, begin: u32, starts: *mut u32, totals: *mut u32) -> u32 {
        // SAFETY: the whole block comes here, and ranks are in the tile.
        unsafe {
            let (before, of_tile) = ranks::<ROWS>(heads, totals, BLOCK / WARP);
            for k in 0..ROWS {
                let first = begin + first_of::<ROWS>() + 128 * k as u32;
                let mut rank = before[k];
                for j in 0..4 {
                    if heads >> (4 * k as u32 + j) & 1 != 0 {
                        starts.add(rank as usize).write(first + j);
                        rank += 1;
                    }
                }
            }
            of_tile
        }
    }
}
