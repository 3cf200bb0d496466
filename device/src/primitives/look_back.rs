//! Decoupled look-back (Merrill & Garland, "Single-pass parallel prefix scan with decoupled look-back", NVIDIA 2016): what
//! lies before a tile, found out while the tiles before it are still at work.
//!
//! A tile publishes its own sum as soon as it has it, then adds up what the tiles before it have published, from the
//! nearest to the first that has published the sum of everything up to itself, and publishes that sum of its own.
//!
//! A word of state and 32 bits of a value are one word of 64 bits, so that they are read and written together and need no
//! fence. A value of 64 bits takes two such words, valid together once both are in the same state: each state is written
//! once.

use cuda_std::{atomic, shared_array, thread, warp};

use super::block::warp_id;
use super::{Operator, Ptr, WARP};

/// States of a tile.
const AGGREGATE: u32 = 1;
const PREFIX: u32 = 2;

/// What tiles publish: for each, a word of 64 bits for every 32 bits of a value. Zeros at the start.
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
        }
    }

    /// Publishes the sum of a tile, and finds out what is before it. Synchronises the block.
    ///
    /// Each thread looks at one tile: with a window as wide as tiles are in flight, one look is nearly always enough, where
    /// that of a single warp takes several, one after the other.
    ///
    /// # Safety
    /// All threads of the block call this together, a block a tile, and all tiles before it have begun or will without
    /// waiting for this one. The words are zeros at the start.
    #[inline(always)]
    pub(super) unsafe fn look_back<O: Operator>(self, tile: u32, sum: O::Value) -> O::Value {
        let values = shared_array![u64; 32].cast::<O::Value>();
        let completes = shared_array![bool; 32];
        let (thread, lane, block) = (thread::thread_idx_x(), warp::lane_id(), thread::block_dim_x());
        // SAFETY: as the caller promised.
        unsafe {
            if thread == 0 {
                self.publish::<O>(tile, sum, if tile == 0 { PREFIX } else { AGGREGATE });
            }
            let mut before = O::IDENTITY;
            let mut end = tile;
            loop {
                // Thread i looks at the i-th tile before `end`; before the first one there is nothing.
                let (value, state) =
                    if thread < end { self.wait::<O>(end - 1 - thread) } else { (O::IDENTITY, PREFIX) };
                let (value, complete) = back_to_prefix::<O>(value, state == PREFIX);
                if lane == 0 {
                    values.add(warp_id() as usize).write(value);
                    completes.add(warp_id() as usize).write(complete);
                }
                thread::sync_threads();
                let (value, complete) = if lane < block / WARP {
                    (values.add(lane as usize).read(), completes.add(lane as usize).read())
                } else {
                    (O::IDENTITY, false)
                };
                let (value, complete) = back_to_prefix::<O>(value, complete);
                before = O::combine(value, before);
                if complete {
                    break;
                }
                end -= block;
                thread::sync_threads();
            }
            if thread == 0 && tile != 0 {
                self.publish::<O>(tile, O::combine(before, sum), PREFIX);
            }
            before
        }
    }
}

/// v_p ∘ … ∘ v₁ ∘ v₀ of the lanes' values, up to the first lane p that is complete, or of all if none is; and whether one
/// is. The same in all lanes.
///
/// # Safety
/// All 32 lanes call this together.
#[inline(always)]
unsafe fn back_to_prefix<O: Operator>(value: O::Value, complete: bool) -> (O::Value, bool) {
    let lane = warp::lane_id();
    // SAFETY: as the caller promised.
    unsafe {
        let complete = warp::ballot(warp::FULL_MASK, complete);
        let mut value = if lane <= complete.trailing_zeros() { value } else { O::IDENTITY };
        let mut distance = 1;
        while distance < WARP {
            let earlier = warp::shuffle_down(warp::FULL_MASK, value, distance);
            if lane + distance < WARP {
                value = O::combine(earlier, value);
            }
            distance *= 2;
        }
        (warp::shuffle_idx(warp::FULL_MASK, value, 0), complete != 0)
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
