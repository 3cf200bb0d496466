//! Decoupled look-back (Merrill & Garland, "Single-pass parallel prefix scan with decoupled look-back", NVIDIA 2016): the
//! prefix of a tile, found while the tiles before it are still at work.
//!
//! A tile publishes its own sum as soon as it has it, then adds up what the tiles before it have published, from the
//! nearest to the first that has published the sum of everything up to itself, and publishes that sum of its own.
//!
//! A word of state and 32 bits of a value are one word of 64 bits, so that they are read and written together and need no
//! fence. A value of 64 bits takes two such words, valid together once both are in the same state: each state is written
//! once.

use cuda_std::{atomic, shared_array, thread, warp};

use super::block::warp_id;
use super::{Length, Operator, Ptr, WARP};

/// States of a tile.
const AGGREGATE: u32 = 1;
const PREFIX: u32 = 2;

/// How long a tile waits before it looks, and looks again, in nanoseconds as [`thread::nanosleep`] takes them. Hundreds of
/// tiles that look at the same few words all the time keep others from publishing theirs: without the waits a scan of 2²⁷
/// elements takes 1.3 times as long on an H200.
const FIRST_LOOK: u32 = 1200;
const LOOK_AGAIN: u32 = 200;

/// Words that tiles publish: for each, a word of 64 bits for every 32 bits of a value. Zeros at the start.
#[derive(Clone, Copy)]
pub(super) struct Tiles {
    words: Ptr<u64>,
}

impl Tiles {
    pub(super) fn new(words: Ptr<u64>) -> Self {
        Self { words }
    }

    #[inline(always)]
    unsafe fn publish<O: Operator>(self, tile: u32, value: O::Value, state: u32) {
        let per_value = size_of::<O::Value>() as u32 / 4;
        let words = (&raw const value).cast::<u32>();
        let mut i = 0;
        while i < per_value {
            // SAFETY: a value has so many words of 32 bits; the tile is the caller's.
            unsafe {
                let word = u64::from(words.add(i as usize).read()) | u64::from(state) << 32;
                atomic::device::store_relaxed_u64(self.words.at(tile * per_value + i), word);
            }
            i += 1;
        }
    }

    /// Waits until the tile has published, and reads its value and state.
    #[inline(always)]
    unsafe fn wait<O: Operator>(self, tile: u32) -> (O::Value, u32) {
        let per_value = size_of::<O::Value>() as u32 / 4;
        loop {
            let mut value = O::IDENTITY;
            let words = (&raw mut value).cast::<u32>();
            let (mut all, mut any) = (AGGREGATE | PREFIX, 0);
            let mut i = 0;
            while i < per_value {
                // SAFETY: as in `publish`; every access to the words is atomic.
                let word = unsafe { atomic::device::load_relaxed_u64(self.words.at(tile * per_value + i)) };
                // SAFETY: as in `publish`.
                unsafe { words.add(i as usize).write(word as u32) };
                let state = (word >> 32) as u32;
                all &= state;
                any |= state;
                i += 1;
            }
            if all != 0 && all == any {
                return (value, all);
            }
            thread::nanosleep(LOOK_AGAIN);
        }
    }

    /// Publishes the sum of a tile, and finds its prefix, which is returned in lane 0.
    ///
    /// # Safety
    /// The first warp of a block calls this together, one block per tile, and all tiles before it have begun or will without
    /// waiting for this one. The words are zeros at the start.
    #[inline(always)]
    unsafe fn look_back_warp<O: Operator>(self, tile: u32, sum: O::Value) -> O::Value {
        let lane = warp::lane_id();
        // SAFETY: as the caller promised.
        unsafe {
            if lane == 0 {
                self.publish::<O>(tile, sum, if tile == 0 { PREFIX } else { AGGREGATE });
            }
            if tile == 0 {
                return O::IDENTITY;
            }
            thread::nanosleep(FIRST_LOOK);
            let mut before = O::IDENTITY;
            let mut end = tile;
            loop {
                // Lane i looks at the i-th tile before `end`; before the first one there is nothing.
                let (value, state) =
                    if lane < end { self.wait::<O>(end - 1 - lane) } else { (O::IDENTITY, PREFIX) };
                let complete = warp::ballot(warp::FULL_MASK, state == PREFIX);
                let value = if lane <= complete.trailing_zeros() { value } else { O::IDENTITY };
                before = O::combine(fold_back::<O>(value), before);
                if complete != 0 {
                    break;
                }
                end -= WARP;
            }
            if lane == 0 {
                self.publish::<O>(tile, O::combine(before, sum), PREFIX);
            }
            before
        }
    }

    /// Publishes the sum of a tile, and finds its prefix. Synchronises the block.
    ///
    /// # Safety
    /// All threads of the block call this together; the rest as for its first warp above.
    #[inline(always)]
    pub(super) unsafe fn look_back<O: Operator>(self, tile: u32, sum: O::Value) -> O::Value {
        let shared = shared_array![u64; 1].cast::<O::Value>();
        // SAFETY: as the caller promised.
        unsafe {
            if warp_id() == 0 {
                let before = self.look_back_warp::<O>(tile, sum);
                if warp::lane_id() == 0 {
                    shared.write(before);
                }
            }
            thread::sync_threads();
            shared.read()
        }
    }
}

/// v₃₁ ∘ … ∘ v₁ ∘ v₀ of the lanes' values, in lane 0.
///
/// # Safety
/// All 32 lanes call this together.
#[inline(always)]
unsafe fn fold_back<O: Operator>(value: O::Value) -> O::Value {
    let lane = warp::lane_id();
    let mut value = value;
    let mut distance = 1;
    while distance < WARP {
        // SAFETY: all lanes are here.
        let earlier = unsafe { warp::shuffle_down(warp::FULL_MASK, value, distance) };
        if lane + distance < WARP {
            value = O::combine(earlier, value);
        }
        distance *= 2;
    }
    value
}

/// The tile of so many elements that this block takes, if there are any left: its number, where it begins, and how many
/// elements there are in all. If there are none at all, the first block writes to `count` that none were found.
///
/// # Safety
/// As [`take_tile`]; `count` is in global memory.
#[inline(always)]
pub(super) unsafe fn take_tile_of(
    size: u32,
    length: Length,
    ticket: Ptr<u32>,
    count: Ptr<u32>,
) -> Option<(u32, u32, u32)> {
    // SAFETY: as the caller promised.
    unsafe {
        let n = length.get();
        let index = take_tile(ticket, shared_array![u32; 1]);
        let begin = index * size;
        if n == 0 && index == 0 && thread::thread_idx_x() == 0 {
            count.store(0, 0);
        }
        (begin < n).then_some((index, begin, n))
    }
}

/// The number of the tile that this block takes: tiles are taken in their order, so that each tile only waits for tiles
/// that have begun.
///
/// # Safety
/// All threads of the block call this together, once; the counter begins at zero; `shared` is shared memory.
#[inline(always)]
pub(super) unsafe fn take_tile(counter: Ptr<u32>, shared: *mut u32) -> u32 {
    // SAFETY: as the caller promised.
    unsafe {
        if thread::thread_idx_x() == 0 {
            shared.write(atomic::device::add_u32(counter.at(0), 1));
        }
        thread::sync_threads();
        shared.read()
    }
}
