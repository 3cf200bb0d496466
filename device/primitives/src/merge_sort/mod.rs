//! Merge sort: stable, by any order, of keys alone or of keys and values.
//!
//! Tiles are sorted in shared memory; each pass then merges neighbouring runs two by two, until one is left. A pass cuts
//! what it writes into equal intervals, and finds for each where in the two runs it begins by binary search along a
//! diagonal of the merge matrix: the merge path of Odeh, Green, Mwassi, Shmueli & Birk 2012, "Merge Path – Parallel merging
//! made simple". The ranks of sampled keys (Satish, Harris & Garland 2009, "Designing efficient sorting algorithms for
//! manycore GPUs") also cut runs into pieces that fit shared memory, but into pieces of any size up to twice the distance
//! of the samples; on the merge path all have the same size, whatever the keys are.

mod order;
mod runs;
mod tiles;

pub use order::{Ascending, Descending, LowHalf, Order, Payload};
pub use runs::{INTERVAL, MergeArgs, MergeRuns, SplitArgs, SplitRuns};
pub use tiles::{SortTiles, SortTilesArgs};

use super::{Entry, Kernel, Ptr};

/// Elements of a thread. Odd, so that threads that go through theirs side by side use different banks of shared memory;
/// more do not fit its registers. A pass over memory then takes as long as a copy (H200).
const ITEMS: usize = 17;

/// An order for which there are kernels, of keys with values of type `V`.
pub trait MergeSortable<V: Payload>: Order {
    /// Sorts tiles.
    type Tiles: Kernel<Args = SortTilesArgs<Self::Key, V>> + Entry;
    /// Splits runs into intervals.
    type Splits: Kernel<Args = SplitArgs<Self::Key>> + Entry;
    /// Merges.
    type Runs: Kernel<Args = MergeArgs<Self::Key, V>> + Entry;
    /// Elements of a tile: [`INTERVAL`]s, to a power of two.
    const TILE: u32 = SortTiles::<Self, V>::TILE;
}

impl<O: Order, V: Payload> MergeSortable<V> for O
where
    SortTiles<O, V>: Entry,
    SplitRuns<O>: Entry,
    MergeRuns<O, V>: Entry,
{
    type Tiles = SortTiles<O, V>;
    type Splits = SplitRuns<O>;
    type Runs = MergeRuns<O, V>;
}

/// Passes that merge runs of `tile` elements two by two until there is one run of `n`.
pub fn passes(n: u32, tile: u32) -> u32 {
    n.div_ceil(tile).max(1).next_power_of_two().trailing_zeros()
}

/// Keys and their values.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Pairs<K, V> {
    /// The keys.
    pub keys: Ptr<K>,
    /// A value for each; nobody reads the address if values are `()`.
    pub values: Ptr<V>,
}

impl<K, V> Pairs<K, V> {
    /// Those from `i` on.
    #[inline(always)]
    pub fn skip(self, i: u32) -> Self {
        Self { keys: self.keys.skip(i), values: self.values.skip(i) }
    }
}

/// Sorts `from` into `to`, by merging runs of 1, 2, 4 … elements.
///
/// # Safety
/// All three have `n` keys and values, and nobody else uses them.
pub unsafe fn twin<O: Order, V: Payload>(
    from: Pairs<O::Key, V>,
    to: Pairs<O::Key, V>,
    room: Pairs<O::Key, V>,
    n: u32,
) {
    let passes = passes(n, 1);
    let (mut here, mut there) = if passes.is_multiple_of(2) { (to, room) } else { (room, to) };
    // SAFETY: as the caller promised.
    unsafe {
        here.keys.slice_mut(n).copy_from_slice(from.keys.slice(n));
        here.values.slice_mut(n).copy_from_slice(from.values.slice(n));
    }
    for pass in 0..passes {
        // SAFETY: as the caller promised; `here` and `there` are two.
        unsafe { merge_all::<O, V>(here, there, n as usize, 1 << pass) };
        core::mem::swap(&mut here, &mut there);
    }
}

/// Merges runs of `width` elements two by two.
unsafe fn merge_all<O: Order, V: Payload>(
    from: Pairs<O::Key, V>,
    to: Pairs<O::Key, V>,
    n: usize,
    width: usize,
) {
    // SAFETY: as the caller promised.
    let (keys, values) = unsafe { (from.keys.slice(n as u32), from.values.slice(n as u32)) };
    // SAFETY: as the caller promised.
    let (keys_out, values_out) = unsafe { (to.keys.slice_mut(n as u32), to.values.slice_mut(n as u32)) };
    for begin in (0..n).step_by(2 * width) {
        let (middle, end) = ((begin + width).min(n), (begin + 2 * width).min(n));
        let (mut a, mut b) = (begin, middle);
        for (key, value) in keys_out[begin..end].iter_mut().zip(&mut values_out[begin..end]) {
            let next = if b < end && (a == middle || O::less(O::rank(keys[b]), O::rank(keys[a]))) {
                &mut b
            } else {
                &mut a
            };
            (*key, *value) = (keys[*next], values[*next]);
            *next += 1;
        }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use cuda_std::thread;

    use super::{ITEMS, Order, Payload};

    /// Number of elements of the first run among the first `d` of two merged runs. Equal ones of the first run come first.
    /// Both are asked for keys within their `lengths` alone, if `d` is at most the sum of these.
    #[inline(always)]
    pub(super) fn split<O: Order>(
        first: impl Fn(u32) -> O::Rank,
        second: impl Fn(u32) -> O::Rank,
        lengths: (u32, u32),
        d: u32,
    ) -> u32 {
        let mut low = d.saturating_sub(lengths.1);
        let mut high = d.min(lengths.0);
        while low < high {
            let middle = (low + high) / 2;
            if O::less(second(d - 1 - middle), first(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// Keys and their payloads, of a tile in shared memory.
    pub(super) struct Tile<K, X> {
        pub(super) keys: *mut K,
        pub(super) extras: *mut X,
    }

    /// Elements of a thread.
    pub(super) struct Items<K, X> {
        pub(super) keys: [K; ITEMS],
        pub(super) extras: [X; ITEMS],
    }

    impl<K: Copy, X: Copy> Tile<K, X> {
        /// Element `i`, and so for each of a thread's.
        ///
        /// # Safety
        /// They are there, and nobody writes them.
        #[inline(always)]
        pub(super) unsafe fn read(&self, i: impl Fn(u32) -> u32) -> Items<K, X> {
            // SAFETY: as the caller promised.
            unsafe {
                Items {
                    keys: core::array::from_fn(|j| self.keys.add(i(j as u32) as usize).read()),
                    extras: core::array::from_fn(|j| self.extras.add(i(j as u32) as usize).read()),
                }
            }
        }

        /// Writes elements as [`Tile::read`] reads them.
        ///
        /// # Safety
        /// There is room, and nobody else uses it.
        #[inline(always)]
        pub(super) unsafe fn write(&self, items: &Items<K, X>, i: impl Fn(u32) -> u32) {
            for j in 0..ITEMS {
                let at = i(j as u32) as usize;
                // SAFETY: as the caller promised.
                unsafe {
                    self.keys.add(at).write(items.keys[j]);
                    self.extras.add(at).write(items.extras[j]);
                }
            }
        }

        /// Of the runs `first..middle` and `middle..end`, the merged elements from the `d`-th one on. Elements behind the
        /// last one are undefined.
        ///
        /// # Safety
        /// The runs are there, with room for `ITEMS` elements behind them, and nobody writes them.
        #[inline(always)]
        pub(super) unsafe fn merged<O: Order<Rank = K>>(
            &self,
            (first, middle, end): (u32, u32, u32),
            d: u32,
        ) -> Items<K, X> {
            let at = |i: u32| self.keys.wrapping_add(i as usize);
            // SAFETY: as the caller promised; an index is at most ITEMS beyond the end.
            unsafe {
                let key = |begin| move |i| at(begin).wrapping_add(i as usize).read();
                let of_first = split::<O>(key(first), key(middle), (middle - first, end - middle), d);
                let (mut a, mut b) = (first + of_first, middle + (d - of_first));
                let (mut key_a, mut key_b) = (at(a).read(), at(b).read());
                let mut items =
                    Items { keys: [key_a; ITEMS], extras: [self.extras.add(a as usize).read(); ITEMS] };
                for j in 0..ITEMS {
                    let is_b = b < end && (a >= middle || O::less(key_b, key_a));
                    let i = if is_b { b } else { a };
                    items.keys[j] = if is_b { key_b } else { key_a };
                    items.extras[j] = self.extras.add(i as usize).read();
                    let next = at(i).add(1).read();
                    (a, key_a) = if is_b { (a, key_a) } else { (i + 1, next) };
                    (b, key_b) = if is_b { (i + 1, next) } else { (b, key_b) };
                }
                items
            }
        }
    }

    /// The place of this thread's element `j`, if a thread's are neighbours.
    #[inline(always)]
    pub(super) fn blocked(j: u32) -> u32 {
        thread::thread_idx_x() * ITEMS as u32 + j
    }

    /// The place of this thread's element `j`, if those of the `threads` are neighbours.
    #[inline(always)]
    pub(super) fn striped(threads: u32) -> impl Fn(u32) -> u32 {
        move |j| thread::thread_idx_x() + j * threads
    }

    /// Whether there are values.
    pub(super) const fn has_values<V: Payload>() -> bool {
        size_of::<V>() != 0
    }
}
