//! Merging sorted runs, two by two.

use core::marker::PhantomData;

use super::{ITEMS, Order, Pairs, Payload};
use crate::{Kernel, Length, Ptr};

/// Threads of a block that merges.
const BLOCK: u32 = 256;

/// Elements that a block merges.
pub const INTERVAL: u32 = BLOCK * ITEMS as u32;

/// Finds where intervals of the merged order begin in the runs: one thread per interval.
pub struct SplitRuns<O>(PhantomData<O>);

/// Arguments of [`SplitRuns`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct SplitArgs<K> {
    /// Runs of sorted keys.
    pub keys: Ptr<K>,
    /// Room for a number an interval: the index of its first key in the former run.
    pub splits: Ptr<u32>,
    /// Number of keys.
    pub length: Length,
    /// Two runs have 2^`level` intervals, and one run has fewer keys than the upper bound of `length`.
    pub level: u32,
}

impl<O: Order> Kernel for SplitRuns<O> {
    type Args = SplitArgs<O::Key>;
    const BLOCK: u32 = 128;
    const BLOCKS: u32 = 8;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::split::<O>(args) }
    }
}

/// Merges sorted runs two by two: one block per interval of the output.
pub struct MergeRuns<O, V>(PhantomData<(O, V)>);

/// Arguments of [`MergeRuns`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct MergeArgs<K, V> {
    /// Sorted runs.
    pub from: Pairs<K, V>,
    /// Output, not overlapping the input.
    pub to: Pairs<K, V>,
    /// Splits that [`SplitRuns`] has found.
    pub splits: Ptr<u32>,
    /// Number of elements.
    pub length: Length,
    /// Two runs have 2^`level` intervals, and one run has fewer elements than the upper bound of `length`.
    pub level: u32,
}

impl<O: Order, V: Payload> Kernel for MergeRuns<O, V> {
    type Args = MergeArgs<O::Key, V>;
    const BLOCK: u32 = BLOCK;
    const BLOCKS: u32 = if size_of::<O::Key>() == 4 { 4 } else { 3 };
    const SHARED: u32 = (INTERVAL + ITEMS as u32) * (size_of::<O::Rank>() + size_of::<V>()) as u32;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::merge::<O, V>(args) }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use core::array;

    use cuda_std::shared::dynamic_shared_mem;
    use cuda_std::thread;

    use super::super::gpu::{Items, Tile, blocked, split as split_at, striped};
    use super::*;

    /// The runs `first..middle` and `middle..end` that are merged to an interval and its neighbours.
    #[inline(always)]
    fn runs_of(interval: u32, level: u32, n: u32) -> (u32, u32, u32) {
        let first = (interval >> level << level) * INTERVAL;
        let width = INTERVAL << (level - 1);
        let middle = (first + width).min(n);
        (first, middle, (middle + width).min(n))
    }

    #[inline(always)]
    pub(super) unsafe fn split<O: Order>(args: &SplitArgs<O::Key>) {
        // SAFETY: memory is as the caller promised.
        unsafe {
            let n = args.length.get();
            let interval = thread::index_1d();
            let position = interval * INTERVAL;
            if position >= n {
                return;
            }
            let (first, middle, end) = runs_of(interval, args.level, n);
            let lengths = (middle - first, end - middle);
            let key = |begin| move |i| O::rank(args.keys.load_constant(begin + i));
            let of_first = split_at::<O>(key(first), key(middle), lengths, position - first);
            args.splits.store(interval, first + of_first);
        }
    }

    #[inline(always)]
    pub(super) unsafe fn merge<O: Order, V: Payload>(args: &MergeArgs<O::Key, V>) {
        let keys = dynamic_shared_mem::<O::Rank>();
        let tile = Tile::<_, V> { keys, extras: keys.wrapping_add(INTERVAL as usize + ITEMS).cast() };
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let n = args.length.get();
            let interval = thread::block_idx_x();
            let begin = interval * INTERVAL;
            if begin >= n {
                return;
            }
            let (first, middle, end) = runs_of(interval, args.level, n);
            let count = (end - begin).min(INTERVAL);
            // The interval has a..a_end of the former run, and as many from b on of the latter as it takes.
            let a = args.splits.load_constant(interval);
            let a_end = if begin + count == end { middle } else { args.splits.load_constant(interval + 1) };
            let b = middle + (begin - first) - (a - first);
            let of_first = a_end - a;
            let place = striped(BLOCK);
            let source = |j: u32| {
                let i = place(j).min(count - 1);
                if i < of_first { a + i } else { b + (i - of_first) }
            };
            let keys: [_; ITEMS] = array::from_fn(|j| args.from.keys.load_constant(source(j as u32)));
            let extras = array::from_fn(|j| V::load(args.from.values, source(j as u32)));
            let items = Items { keys: array::from_fn(|j| O::rank(keys[j])), extras };
            tile.write(&items, &place);
            thread::sync_threads();
            let merged = tile.merged::<O>((0, of_first, count), blocked(0).min(count));
            thread::sync_threads();
            tile.write(&merged, blocked);
            thread::sync_threads();
            let Items { keys, extras } = tile.read(&place);
            let keys: [_; ITEMS] = array::from_fn(|j| O::key(keys[j]));
            let to = args.to.skip(begin);
            for j in 0..ITEMS {
                let i = place(j as u32);
                if i < count {
                    to.keys.store(i, keys[j]);
                    extras[j].store(to.values, i);
                }
            }
        }
    }
}
