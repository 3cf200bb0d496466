//! Sorting tiles in shared memory.

use core::marker::PhantomData;

use super::{ITEMS, Order, Pairs, Payload};
use crate::{Kernel, Length};

/// Sorts each tile by itself: threads sort their elements in registers, and merge those of ever more threads in shared
/// memory. Values stay where they are meanwhile: keys take along the place they came from. One block per tile.
pub struct SortTiles<O, V>(PhantomData<(O, V)>);

/// Arguments of [`SortTiles`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct SortTilesArgs<K, V> {
    /// Pairs to sort.
    pub from: Pairs<K, V>,
    /// Output, not overlapping the input.
    pub to: Pairs<K, V>,
    /// Number of elements.
    pub length: Length,
}

impl<O: Order, V: Payload> SortTiles<O, V> {
    /// Elements of a tile.
    pub const TILE: u32 = Self::BLOCK * ITEMS as u32;
}

impl<O: Order, V: Payload> Kernel for SortTiles<O, V> {
    type Args = SortTilesArgs<O::Key, V>;
    const BLOCK: u32 = if size_of::<O::Key>() == 4 { 512 } else { 256 };
    const BLOCKS: u32 = if size_of::<O::Key>() == 4 { 2 } else { 3 };
    const SHARED: u32 = (Self::TILE + ITEMS as u32) * (size_of::<O::Rank>() + size_of::<V::Place>()) as u32;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::run::<O, V>(args) }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use core::array;

    use cuda_std::shared::dynamic_shared_mem;
    use cuda_std::thread;

    use super::super::gpu::{Items, Tile, blocked, has_values, striped};
    use super::*;

    #[inline(always)]
    pub(super) unsafe fn run<O: Order, V: Payload>(args: &SortTilesArgs<O::Key, V>) {
        const { assert!(size_of::<V>() <= size_of::<O::Rank>(), "values go where the keys were") };
        let keys = dynamic_shared_mem::<O::Rank>();
        let room = SortTiles::<O, V>::TILE as usize + ITEMS;
        let tile = Tile::<_, V::Place> { keys, extras: keys.wrapping_add(room).cast() };
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let n = args.length.get();
            let begin = thread::block_idx_x() * SortTiles::<O, V>::TILE;
            if begin >= n {
                return;
            }
            let count = (n - begin).min(SortTiles::<O, V>::TILE);
            let place = striped(SortTiles::<O, V>::BLOCK);
            let filled = (count, count == SortTiles::<O, V>::TILE);
            let (from, to) = (args.from.skip(begin), args.to.skip(begin));
            bring(filled, &place, |i| O::rank(from.keys.load_constant(i)), keys);
            thread::sync_threads();
            let mut items = tile.read_places::<V>();
            fill_up::<O, _>(&mut items.keys, count);
            sort_items::<O, _>(&mut items);
            let mut threads = 1;
            while threads < SortTiles::<O, V>::BLOCK {
                thread::sync_threads();
                tile.write(&items, blocked);
                thread::sync_threads();
                items = merge_threads::<O, V>(&tile, threads, count);
                threads *= 2;
            }
            thread::sync_threads();
            tile.write(&items, blocked);
            thread::sync_threads();
            let items = tile.read(&place);
            for j in 0..ITEMS {
                let i = place(j as u32);
                if i < count {
                    to.keys.store(i, O::key(items.keys[j]));
                }
            }
            if has_values::<V>() {
                let values = keys.cast::<V>();
                thread::sync_threads();
                bring(filled, &place, |i| V::load(from.values, i), values);
                thread::sync_threads();
                for j in 0..ITEMS {
                    let i = place(j as u32);
                    if i < count {
                        let value = values.add(V::index(items.extras[j]) as usize).read();
                        value.store(to.values, i);
                    }
                }
            }
        }
    }

    /// Brings elements of the tile into shared memory; behind its end the last one.
    #[inline(always)]
    unsafe fn bring<T: Copy>(
        (count, is_full): (u32, bool),
        place: impl Fn(u32) -> u32,
        from: impl Fn(u32) -> T,
        to: *mut T,
    ) {
        let items: [T; ITEMS] = if is_full {
            array::from_fn(|j| from(place(j as u32)))
        } else {
            array::from_fn(|j| from(place(j as u32).min(count - 1)))
        };
        for j in 0..ITEMS {
            // SAFETY: as the caller promised.
            unsafe { to.add(place(j as u32) as usize).write(items[j]) };
        }
    }

    impl<K: Copy, P: Copy> Tile<K, P> {
        /// This thread's keys, and their places.
        #[inline(always)]
        unsafe fn read_places<V: Payload<Place = P>>(&self) -> Items<K, P> {
            Items {
                // SAFETY: as the caller promised.
                keys: array::from_fn(|j| unsafe { self.keys.add(blocked(j as u32) as usize).read() }),
                extras: array::from_fn(|j| V::place(blocked(j as u32))),
            }
        }
    }

    /// Makes keys behind the end of the tile no less than this thread's others, behind which they stay.
    #[inline(always)]
    fn fill_up<O: Order<Rank = K>, K: Copy>(keys: &mut [K; ITEMS], count: u32) {
        let mut last = keys[0];
        for j in 0..ITEMS {
            if blocked(j as u32) >= count {
                keys[j] = last;
            } else if O::less(last, keys[j]) {
                last = keys[j];
            }
        }
    }

    /// Sorts a thread's elements by exchanges of neighbours, which keep the order of equal ones: odd-even transposition.
    #[inline(always)]
    fn sort_items<O: Order, P: Copy>(items: &mut Items<O::Rank, P>) {
        for _ in 0..ITEMS.div_ceil(2) {
            for parity in [0, 1] {
                for i in 0..(ITEMS - parity) / 2 {
                    let (a, b) = (2 * i + parity, 2 * i + parity + 1);
                    if O::less(items.keys[b], items.keys[a]) {
                        items.keys.swap(a, b);
                        items.extras.swap(a, b);
                    }
                }
            }
        }
    }

    /// This thread's elements, once the runs of `threads` threads are merged two by two.
    #[inline(always)]
    unsafe fn merge_threads<O: Order, V: Payload>(
        tile: &Tile<O::Rank, V::Place>,
        threads: u32,
        count: u32,
    ) -> Items<O::Rank, V::Place> {
        let thread = thread::thread_idx_x();
        let first_thread = thread & !(2 * threads - 1);
        let [first, middle, end] =
            [0, threads, 2 * threads].map(|t| ((first_thread + t) * ITEMS as u32).min(count));
        let d = ((thread - first_thread) * ITEMS as u32).min(end - first);
        // SAFETY: as the caller promised.
        unsafe { tile.merged::<O>((first, middle, end), d) }
    }
}
