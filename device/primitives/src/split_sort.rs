//! Textbook sorting: tiles by one bit after the other, then merged by a sorting network. It shows how sorting follows from
//! scans; [`radix_sort`](super::radix_sort) is the one to use.
//!
//! A split moves what has a bit clear before what has it set, each in the order in which it was; where a key goes is a
//! prefix sum (Blelloch 1990, "Prefix sums and their applications", section 1.3). 32 splits, from the lowest bit on, sort a
//! tile in shared memory (Satish, Harris & Garland, "Designing efficient sorting algorithms for manycore GPUs", 2009).
//!
//! Sorted runs are merged by comparing each key with one partner in each of a few steps (Batcher, "Sorting networks and
//! their applications", 1968). In the first, the partner of a key in the one run is as far from its end as the key is from
//! its beginning: then no key of the first half is greater than any of the second. In the others the same is done to halves,
//! quarters, …. The lesser key always goes to the lower index, so that what is beyond the end may be thought of as the
//! greatest key, which never moves.

use core::marker::PhantomData;

use bytemuck::Pod;

use super::{Entry, Kernel, Length, Ptr};

/// Threads of a block.
const BLOCK: u32 = 256;

/// Neighbouring keys of a thread.
const ITEMS: usize = 4;

/// Keys of a tile.
pub const TILE: u32 = BLOCK * ITEMS as u32;

/// A step of the network: the partner of index `i` is `i ^ mask`. A mask of trailing ones is the first step of a merge, a
/// single bit a further one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Step {
    mask: u32,
}

impl Step {
    /// The first step that merges runs of length `run`, a power of two, two at a time.
    #[inline(always)]
    pub const fn first(run: u32) -> Self {
        Self { mask: 2 * run - 1 }
    }

    /// A further step, with partners at `distance`, a power of two.
    #[inline(always)]
    pub const fn further(distance: u32) -> Self {
        Self { mask: distance }
    }

    /// The pair of indices number `i`, the lower one first.
    #[inline(always)]
    pub const fn pair(self, i: u32) -> (u32, u32) {
        // The highest bit of the lower index that the mask turns is clear.
        let top = 1 << (31 - self.mask.leading_zeros());
        let low = (i & !(top - 1)) << 1 | i & (top - 1);
        (low, low ^ self.mask)
    }

    /// Numbers of pairs are less than this, if the lower index is less than `n`.
    #[inline(always)]
    pub const fn pairs(self, n: u32) -> u32 {
        let top = 1 << (31 - self.mask.leading_zeros());
        n.div_ceil(2 * top) * top
    }
}

/// The steps that merge the tiles of `n` keys, and whether it is [`Finish`] that does a step, and all that follow it.
pub fn steps(n: u32) -> impl Iterator<Item = (Step, bool)> {
    let runs =
        core::iter::successors(Some(TILE), |run: &u32| run.checked_mul(2)).take_while(move |run| *run < n);
    runs.flat_map(|run| {
        let further = core::iter::successors(Some(run / 2), |distance| Some(distance / 2))
            .take_while(|distance| *distance >= TILE)
            .map(|distance| (Step::further(distance), false));
        core::iter::once((Step::first(run), false)).chain(further).chain([(Step::further(TILE / 2), true)])
    })
}

/// Sorts each tile by splits: one block per tile. `V` is a word, or `()` if there are only keys.
pub struct Splits<V>(PhantomData<V>);

/// Arguments of [`Splits`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SplitsArgs<V> {
    /// The keys.
    pub keys: Ptr<u32>,
    /// Output.
    pub keys_out: Ptr<u32>,
    /// A value for each key.
    pub values: Ptr<V>,
    /// Output.
    pub values_out: Ptr<V>,
    /// Number of elements.
    pub length: Length,
}

/// Does one step of the network, in place: one thread per pair.
pub struct Network<V>(PhantomData<V>);

/// Does steps of the network within each tile, in place: one block per tile.
pub struct Finish<V>(PhantomData<V>);

/// Arguments of [`Network`] and [`Finish`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct NetworkArgs<V> {
    /// The keys.
    pub keys: Ptr<u32>,
    /// A value for each key.
    pub values: Ptr<V>,
    /// Number of elements.
    pub length: Length,
    /// The step; for [`Finish`] the first one.
    pub step: Step,
}

/// Values for which there are kernels.
pub trait Splittable: Pod + Send + Sync {
    /// Sorts each tile.
    type Splits: Kernel<Args = SplitsArgs<Self>> + Entry;
    /// Does one step.
    type Network: Kernel<Args = NetworkArgs<Self>> + Entry;
    /// Does the last steps of a merge.
    type Finish: Kernel<Args = NetworkArgs<Self>> + Entry;
}

impl<V: Pod + Send + Sync> Splittable for V
where
    Splits<V>: Entry,
    Network<V>: Entry,
    Finish<V>: Entry,
{
    type Splits = Splits<V>;
    type Network = Network<V>;
    type Finish = Finish<V>;
}

macro_rules! kernels {
    ($($Kernel:ident($Args:ident) = $body:ident;)*) => { $(
        impl<V: Pod + Send + Sync> Kernel for $Kernel<V> {
            type Args = $Args<V>;
            const BLOCK: u32 = BLOCK;
            const BLOCKS: u32 = 4;

            #[cfg(target_arch = "nvptx64")]
            #[inline(always)]
            unsafe fn run(args: &Self::Args) {
                // SAFETY: as the caller promised.
                unsafe { gpu::$body(args) }
            }
        }
    )* };
}

kernels! {
    Splits(SplitsArgs) = splits;
    Network(NetworkArgs) = network;
    Finish(NetworkArgs) = finish;
}

/// Sequential equivalent of the kernels, with the same result.
///
/// # Panics
/// The slices differ in length.
pub fn twin<V: Pod>((keys, values): (&[u32], &[V]), (keys_out, values_out): (&mut [u32], &mut [V])) {
    keys_out.copy_from_slice(keys);
    values_out.copy_from_slice(values);
    for (keys, values) in keys_out.chunks_mut(TILE as usize).zip(values_out.chunks_mut(TILE as usize)) {
        for bit in 0..u32::BITS {
            split(keys, values, bit);
        }
    }
    let n = keys.len() as u32;
    let mut exchange = |step: Step| {
        for (low, high) in (0..step.pairs(n)).map(|i| step.pair(i)).filter(|(_, high)| *high < n) {
            if keys_out[low as usize] > keys_out[high as usize] {
                keys_out.swap(low as usize, high as usize);
                values_out.swap(low as usize, high as usize);
            }
        }
    };
    for (step, is_finish) in steps(n) {
        let mut distance = TILE / 2;
        exchange(step);
        while is_finish && distance > 1 {
            distance /= 2;
            exchange(Step::further(distance));
        }
    }
}

/// Moves the keys of a tile that have a bit clear before those that have it set.
fn split<V: Pod>(keys: &mut [u32], values: &mut [V], bit: u32) {
    let is_set = |key: u32| key >> bit & 1 == 1;
    let mut places = [0; TILE as usize];
    let mut next = [0, keys.iter().filter(|key| !is_set(**key)).count()];
    for (key, place) in keys.iter().zip(&mut places) {
        let next = &mut next[usize::from(is_set(*key))];
        *place = *next;
        *next += 1;
    }
    let mut moved = [(0, V::zeroed()); TILE as usize];
    for ((key, value), place) in keys.iter().zip(&*values).zip(places) {
        moved[place] = (*key, *value);
    }
    for ((key, value), from) in keys.iter_mut().zip(values).zip(moved) {
        (*key, *value) = from;
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use cuda_std::{shared_array, thread};

    use super::*;
    use crate::block::{load_word, scan_warp, scan_warps, store_word};
    use crate::{Element, Sum, WARP};

    /// The tile of a block, in shared memory.
    struct Tile<V> {
        keys: *mut u32,
        values: *mut V,
    }

    impl<V: Pod> Tile<V> {
        /// Loads a tile, padded beyond the end with the greatest key.
        ///
        /// # Safety
        /// All threads of the block call this together, once; there are `n` keys and values.
        #[inline(always)]
        unsafe fn load(keys: Ptr<u32>, values: Ptr<V>, n: u32) -> Self {
            // Values are words at most.
            let tile = Self {
                keys: shared_array![u32; TILE as usize],
                values: shared_array![u32; TILE as usize].cast::<V>(),
            };
            let begin = thread::block_idx_x() * TILE;
            for k in 0..ITEMS as u32 {
                let i = thread::thread_idx_x() + k * BLOCK;
                // SAFETY: what is beyond the end is not read.
                unsafe {
                    let pair = if i < n - begin {
                        (load_word(keys, begin + i), load_word(values, begin + i))
                    } else {
                        (u32::HIGHEST, V::zeroed())
                    };
                    tile.put(i, pair);
                }
            }
            // SAFETY: as the caller promised.
            unsafe { thread::sync_threads() };
            tile
        }

        /// # Safety
        /// The block has synchronised; there is room for `n` keys and values.
        #[inline(always)]
        unsafe fn store(&self, keys: Ptr<u32>, values: Ptr<V>, n: u32) {
            let begin = thread::block_idx_x() * TILE;
            for k in 0..ITEMS as u32 {
                let i = thread::thread_idx_x() + k * BLOCK;
                if i < n - begin {
                    // SAFETY: what is beyond the end is not written.
                    unsafe {
                        let (key, value) = self.get(i);
                        store_word(keys, begin + i, key);
                        store_word(values, begin + i, value);
                    }
                }
            }
        }

        #[inline(always)]
        unsafe fn get(&self, i: u32) -> (u32, V) {
            // SAFETY: the caller vouches for the index.
            unsafe { (self.keys.add(i as usize).read(), self.values.add(i as usize).read()) }
        }

        #[inline(always)]
        unsafe fn put(&self, i: u32, (key, value): (u32, V)) {
            // SAFETY: the caller vouches for the index.
            unsafe {
                self.keys.add(i as usize).write(key);
                self.values.add(i as usize).write(value);
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn splits<V: Pod + Send + Sync>(args: &SplitsArgs<V>) {
        let totals = shared_array![u32; 32];
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let n = args.length.get();
            if thread::block_idx_x() * TILE >= n {
                return;
            }
            let tile = Tile::load(args.keys, args.values, n);
            for bit in 0..u32::BITS {
                split(&tile, bit, totals);
            }
            tile.store(args.keys_out, args.values_out, n);
        }
    }

    /// Moves the keys that have a bit clear before those that have it set.
    #[inline(always)]
    unsafe fn split<V: Pod>(tile: &Tile<V>, bit: u32, totals: *mut u32) {
        let first = thread::thread_idx_x() * ITEMS as u32;
        let is_clear = |key: u32| key >> bit & 1 ^ 1;
        // SAFETY: the whole block comes here; all have read before the first barrier, which is in the scan, and write
        // after it.
        unsafe {
            let items: [_; ITEMS] = core::array::from_fn(|k| tile.get(first + k as u32));
            let clear = items.into_iter().fold(0, |clear, (key, _)| clear + is_clear(key));
            let (before_lane, of_warp) = scan_warp::<Sum<u32>>(clear);
            let (before_warp, of_tile) = scan_warps::<Sum<u32>>(of_warp, totals, BLOCK / WARP);
            let mut clear = before_warp + before_lane;
            for k in 0..ITEMS {
                let i = first + k as u32;
                // Those before it that have the bit set are all that are before it but those that do not.
                let to = if is_clear(items[k].0) == 1 { clear } else { of_tile + i - clear };
                clear += is_clear(items[k].0);
                tile.put(to, items[k]);
            }
            thread::sync_threads();
        }
    }

    #[inline(always)]
    pub(super) unsafe fn network<V: Pod + Send + Sync>(args: &NetworkArgs<V>) {
        let (low, high) = args.step.pair(thread::index_1d());
        // SAFETY: memory is as the caller promised; no other thread has these two.
        unsafe {
            if high < args.length.get() && low < high {
                let (a, b): (u32, u32) = (args.keys.load(low), args.keys.load(high));
                if a > b {
                    let (of_a, of_b) = (load_word(args.values, low), load_word(args.values, high));
                    args.keys.store(low, b);
                    args.keys.store(high, a);
                    store_word(args.values, low, of_b);
                    store_word(args.values, high, of_a);
                }
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn finish<V: Pod + Send + Sync>(args: &NetworkArgs<V>) {
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let n = args.length.get();
            if thread::block_idx_x() * TILE >= n {
                return;
            }
            let tile = Tile::load(args.keys, args.values, n);
            let mut distance = args.step.mask;
            while distance > 0 {
                for k in 0..ITEMS as u32 / 2 {
                    let (low, high) = Step::further(distance).pair(thread::thread_idx_x() + k * BLOCK);
                    let (a, b) = (tile.get(low), tile.get(high));
                    if a.0 > b.0 {
                        tile.put(low, b);
                        tile.put(high, a);
                    }
                }
                thread::sync_threads();
                distance /= 2;
            }
            tile.store(args.keys, args.values, n);
        }
    }
}
