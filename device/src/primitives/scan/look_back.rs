//! The scan in a single pass over memory.

use core::marker::PhantomData;

use super::Bounds;
use crate::primitives::{Kernel, Length, Operator, Ptr};

/// Rows of a tile: 4 × 32 elements of a warp each.
const ROWS: usize = 4;

/// The scan in a single pass over memory, by decoupled look-back: a block a tile.
pub struct LookBack<O>(PhantomData<O>);

/// Arguments of [`LookBack`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct LookBackArgs<T> {
    /// What is scanned.
    pub input: Ptr<T>,
    /// The results: elsewhere.
    pub output: Ptr<T>,
    /// How many.
    pub length: Length,
    /// What tiles publish: [`LookBack::WORDS`] for each. Zeros at the start.
    pub tiles: Ptr<u64>,
    /// Counts tiles. Zero at the start.
    pub ticket: Ptr<u32>,
    /// Which elements a result combines.
    pub bounds: Bounds,
}

impl<O: Operator> LookBack<O> {
    /// Elements of a tile.
    pub const TILE: u32 = Self::BLOCK * 4 * ROWS as u32;
    /// Words that a tile publishes.
    pub const WORDS: usize = size_of::<O::Value>() / 4;
}

impl<O: Operator> Kernel for LookBack<O> {
    type Args = LookBackArgs<O::Value>;
    const BLOCK: u32 = 256;
    const BLOCKS: u32 = if size_of::<O::Value>() == 4 { 5 } else { 3 };

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::run::<O>(args) }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use core::array;

    use cuda_std::{shared_array, thread};

    use super::*;
    use crate::primitives::block::{load_rows, scan_warp, scan_warps, store_rows, warp_id};
    use crate::primitives::look_back::{Tiles, take_tile};

    #[inline(always)]
    pub(super) unsafe fn run<O: Operator>(args: &LookBackArgs<O::Value>) {
        let totals = shared_array![u64; 32].cast::<O::Value>();
        let before_tile = shared_array![u64; 1].cast::<O::Value>();
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let n = args.length.get();
            let tile = take_tile(args.ticket, shared_array![u32; 1]);
            let begin = tile * LookBack::<O>::TILE;
            if begin >= n {
                return;
            }
            let mut rows: [_; ROWS] = load_rows(args.input, begin, n, O::IDENTITY);

            // What is before each quad in the warp's rows.
            let sums: [_; ROWS] =
                array::from_fn(|k| scan_warp::<O>(rows[k].into_iter().fold(O::IDENTITY, O::combine)));
            let mut of_warp = O::IDENTITY;
            let before_quads: [_; ROWS] = array::from_fn(|k| {
                let (before, total) = sums[k];
                let before = O::combine(of_warp, before);
                of_warp = O::combine(of_warp, total);
                before
            });
            let (before_warp, of_tile) = scan_warps::<O>(of_warp, totals, LookBack::<O>::BLOCK / 32);

            if warp_id() == 0 {
                let before = Tiles::new(args.tiles).look_back::<O>(tile, of_tile);
                if thread::thread_idx_x() == 0 {
                    before_tile.write(before);
                }
            }
            thread::sync_threads();
            let before_warp = O::combine(before_tile.read(), before_warp);
            for (row, before) in rows.iter_mut().zip(before_quads) {
                let mut sum = O::combine(before_warp, before);
                for x in row {
                    let next = O::combine(sum, *x);
                    *x = if matches!(args.bounds, Bounds::Inclusive) { next } else { sum };
                    sum = next;
                }
            }
            store_rows(args.output, begin, n, &rows);
        }
    }
}
