//! One pass over memory, which moves everything into the order of one digit.

use core::marker::PhantomData;

use bytemuck::Pod;

use super::{BINS, Digit, Direction, Key};
use crate::{Kernel, Length, Ptr, WARP};

/// Moves keys, and a value with each, into the order of one digit; those with the same digit keep their order. `V` is a word
/// of 4 or 8 bytes, or `()` if there are only keys. One block per tile.
pub struct Pass<K, V>(PhantomData<(K, V)>);

/// Arguments of [`Pass`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PassArgs<K, V> {
    /// The keys.
    pub keys: Ptr<K>,
    /// Output, not overlapping the input.
    pub keys_out: Ptr<K>,
    /// A value for each key.
    pub values: Ptr<V>,
    /// Output, not overlapping the input.
    pub values_out: Ptr<V>,
    /// Number of elements.
    pub length: Length,
    /// Number of keys with a smaller digit, for each of its [`BINS`] values.
    pub starts: Ptr<u32>,
    /// Words that tiles publish: [`BINS`] for each. Zeros at the start.
    pub tiles: Ptr<u32>,
    /// Counter of tiles. Zero at the start.
    pub ticket: Ptr<u32>,
    /// The digit.
    pub digit: Digit,
    /// Direction of the sort.
    pub order: Direction,
}

/// Threads of a block: one for each value of a digit, which it counts over tiles.
const BLOCK: u32 = BINS;

/// Warps of a block.
const WARPS: usize = (BLOCK / WARP) as usize;

impl<K: Key, V: Pod + Send + Sync> Pass<K, V> {
    /// Keys of a thread, and blocks of a multiprocessor. The more keys, the longer are the runs in which they are written.
    /// Registers and shared memory, of which every GPU has 64 KiB, have room for so many.
    const SHAPE: (usize, u32) = match (size_of::<K>(), size_of::<V>()) {
        (4, 0) => (28, 4),
        (4, 4) => (30, 2),
        (8, 0) => (26, 2),
        (_, 8) if size_of::<K>() == 8 => (15, 2),
        _ => (20, 2),
    };

    /// Keys of a thread.
    const ITEMS: usize = Self::SHAPE.0;

    /// Keys of a tile.
    pub const TILE: u32 = BLOCK * Self::ITEMS as u32;

    /// Bytes of the ordered keys in shared memory, after which come values.
    const KEYS_BYTES: u32 = Self::TILE * size_of::<K>() as u32;

    /// Bytes of the ordered values, or before they are there of the counts of digits of the warps.
    const VALUES_BYTES: u32 = {
        let (values, counts) = (Self::TILE * size_of::<V>() as u32, WARPS as u32 * BINS * 4);
        if values > counts { values } else { counts }
    };
}

impl<K: Key, V: Pod + Send + Sync> Kernel for Pass<K, V> {
    type Args = PassArgs<K, V>;
    const BLOCK: u32 = BLOCK;
    const BLOCKS: u32 = Self::SHAPE.1;
    const SHARED: u32 = Self::KEYS_BYTES + Self::VALUES_BYTES;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::run::<K, V>(args) }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use cuda_std::shared::dynamic_shared_mem;
    use cuda_std::{atomic, shared_array, thread, warp};

    use super::*;
    use crate::block::{again, load_word, scan_warp, scan_warps, store_word, unrolled, warp_id};
    use crate::look_back::take_tile;
    use crate::radix_sort::{DIGIT_BITS, Rank};
    use crate::{Element, Quad, Sum};

    /// Keys of a thread, at most: arrays have that size in all instances, and beyond `ITEMS` nothing is used.
    const MOST_ITEMS: usize = 32;

    #[inline(always)]
    pub(super) unsafe fn run<K: Key, V: Pod + Send + Sync>(args: &PassArgs<K, V>) {
        let ordered_keys = dynamic_shared_mem::<K::Rank>();
        let beyond_keys = dynamic_shared_mem::<u8>().wrapping_add(Pass::<K, V>::KEYS_BYTES as usize);
        let (counts, ordered_values) = (beyond_keys.cast::<u32>(), beyond_keys.cast::<V>());
        let moves = shared_array![u32; BINS as usize];
        let thread = thread::thread_idx_x();
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let n = args.length.get();
            let of_warp = counts.add((warp_id() * BINS) as usize);
            for k in 0..BINS / 128 {
                of_warp.add((warp::lane_id() * 4 + k * 128) as usize).cast::<Quad<u32>>().write(Quad([0; 4]));
            }
            let tile = take_tile(args.ticket, shared_array![u32; 1]);
            let begin = tile * Pass::<K, V>::TILE;
            if begin >= n {
                return;
            }
            let here = (n - begin).min(Pass::<K, V>::TILE);
            let is_full = here == Pass::<K, V>::TILE;

            let mut ranks = [!K::Rank::ZERO; MOST_ITEMS];
            let mut values = [V::zeroed(); MOST_ITEMS];
            if is_full {
                read_tile::<K, V, true>(args, begin, here, &mut ranks, &mut values);
            } else {
                read_tile::<K, V, false>(args, begin, here, &mut ranks, &mut values);
            }
            unrolled!(k < Pass::<K, V>::ITEMS, {
                atomic::block::add_u32(of_warp.add(ranks[k].digit(args.digit) as usize), 1);
            });
            thread::sync_threads();

            // A thread looks after a value of the digit: it adds up the counts of the warps, which become the places in the
            // tile where each warp's keys begin.
            let of_bin = counts.add(thread as usize);
            let mut count = 0;
            for w in 0..WARPS {
                count += of_bin.add(w * BINS as usize).read();
            }
            let bin = Bin { words: args.tiles, starts: args.starts, tile, value: thread };
            bin.publish(count | OF_TILE);
            let (before_lane, of_lanes) = scan_warp::<Sum<u32>>(count);
            let (before_warp, _) = scan_warps::<Sum<u32>>(of_lanes, shared_array![u32; 32], WARPS as u32);
            let before = before_warp + before_lane;
            let mut next = before;
            for w in 0..WARPS {
                let of_warp = of_bin.add(w * BINS as usize);
                let end = next + of_warp.read();
                of_warp.write(next);
                next = end;
            }
            thread::sync_threads();

            let digit = Digit { shift: again(args.digit.shift), ..args.digit };
            let mut places = [0; MOST_ITEMS];
            unrolled!(k < Pass::<K, V>::ITEMS, {
                places[k] = place(of_warp, ranks[k].digit(digit));
                ordered_keys.add(places[k] as usize).write(ranks[k]);
            });
            moves.add(thread as usize).write(bin.look_back(count) - before);
            thread::sync_threads();
            if size_of::<V>() != 0 {
                // Values come where counts were.
                unrolled!(k < Pass::<K, V>::ITEMS, {
                    ordered_values.add(places[k] as usize).write(values[k])
                });
                thread::sync_threads();
            }

            if is_full {
                write_tile::<K, V, true>(args, here, ordered_keys, ordered_values, moves);
            } else {
                write_tile::<K, V, false>(args, here, ordered_keys, ordered_values, moves);
            }
        }
    }

    /// Reads the keys and values of a tile: a warp has rows of 32 one after the other. Keys beyond the end get the greatest
    /// rank, and so come last.
    #[inline(always)]
    unsafe fn read_tile<K: Key, V: Pod + Send + Sync, const FULL: bool>(
        args: &PassArgs<K, V>,
        begin: u32,
        here: u32,
        ranks: &mut [K::Rank; MOST_ITEMS],
        values: &mut [V; MOST_ITEMS],
    ) {
        let first = warp_id() * (WARP * Pass::<K, V>::ITEMS as u32) + warp::lane_id();
        // SAFETY: the tile has so many.
        unsafe {
            unrolled!(k < Pass::<K, V>::ITEMS, {
                let i = first + 32 * k as u32;
                if FULL || i < here {
                    ranks[k] = load_word(args.keys, begin + i).rank(args.order);
                }
            });
            unrolled!(k < Pass::<K, V>::ITEMS, {
                let i = first + 32 * k as u32;
                if FULL || i < here {
                    values[k] = load_word(args.values, begin + i);
                }
            });
        }
    }

    /// Writes keys and values in the order of the tile, neighbours by neighbours.
    #[inline(always)]
    unsafe fn write_tile<K: Key, V: Pod + Send + Sync, const FULL: bool>(
        args: &PassArgs<K, V>,
        here: u32,
        ranks: *const K::Rank,
        values: *const V,
        moves: *const u32,
    ) {
        // SAFETY: the tile has so many.
        unsafe {
            unrolled!(k < Pass::<K, V>::ITEMS, {
                let i = thread::thread_idx_x() + k as u32 * Pass::<K, V>::BLOCK;
                if FULL || i < here {
                    let rank = ranks.add(i as usize).read();
                    let to = i + moves.add(rank.digit(args.digit) as usize).read();
                    store_word(args.keys_out, to, K::ranked(rank, args.order));
                    store_word(args.values_out, to, values.add(i as usize).read());
                }
            });
        }
    }

    /// The next place of keys with this digit, by the order of lanes.
    ///
    /// # Safety
    /// All lanes call this together; `next` has the next place of each digit, and is this warp's own.
    #[inline(always)]
    unsafe fn place(next: *mut u32, digit: u32) -> u32 {
        // SAFETY: as the caller promised; all have read before the last one of each digit writes.
        unsafe {
            let same = warp::match_bits(digit, DIGIT_BITS);
            let next = next.add(digit as usize);
            let place = next.read() + (same & warp::lane_mask_lt()).count_ones();
            warp::sync_warp(warp::FULL_MASK);
            if same & warp::lane_mask_gt() == 0 {
                next.write(place + 1);
            }
            warp::sync_warp(warp::FULL_MASK);
            place
        }
    }

    /// One value of the digit, of one tile.
    #[derive(Clone, Copy)]
    struct Bin {
        /// Words that tiles publish.
        words: Ptr<u32>,
        starts: Ptr<u32>,
        tile: u32,
        value: u32,
    }

    /// With this bit, a word is the number of a tile's keys: fewer than the bit.
    const OF_TILE: u32 = 1 << 30;

    /// With this bit, a word is the place after the last key up to a tile's end.
    const END: u32 = 1 << 31;

    /// Tiles that are looked at together.
    const AT_ONCE: u32 = 4;

    impl Bin {
        /// # Safety
        /// As the kernel.
        #[inline(always)]
        unsafe fn publish(self, word: u32) {
            // SAFETY: as the caller promised.
            unsafe { atomic::device::store_relaxed_u32(self.words.at(self.tile * BINS + self.value), word) };
        }

        /// The place of the tile's first key, after it has published how many it has. Publishes where they end.
        ///
        /// # Safety
        /// As the kernel.
        #[inline(always)]
        unsafe fn look_back(self, count: u32) -> u32 {
            // SAFETY: as the caller promised.
            unsafe {
                let begin = self.begin();
                self.publish((begin + count) | END);
                begin
            }
        }

        #[inline(always)]
        unsafe fn begin(self) -> u32 {
            let (mut begin, mut tile) = (0, self.tile);
            while tile != 0 {
                let mut words = [0; AT_ONCE as usize];
                for k in 0..AT_ONCE {
                    let at = self.words.at(tile.saturating_sub(1 + k) * BINS + self.value);
                    // SAFETY: as the caller promised.
                    words[k as usize] = unsafe { atomic::device::load_relaxed_u32(at) };
                }
                for word in words {
                    // It is not there yet, or the first tile has been read once more.
                    if word == 0 || tile == 0 {
                        break;
                    }
                    if word & END != 0 {
                        return begin + (word & !END);
                    }
                    begin += word & !OF_TILE;
                    tile -= 1;
                }
            }
            // SAFETY: as the caller promised.
            begin + unsafe { self.starts.load_constant(self.value) }
        }
    }
}
