//! A tile that a block scans in registers.

use core::array;

use super::{BLOCK, Bounds};
use crate::block::{load_rows, scan_warp, scan_warps, store_rows};
use crate::{Operator, Ptr, WARP};

/// A thread's part of a tile.
pub(super) struct Tile<O: Operator, const ROWS: usize> {
    rows: [[O::Value; 4]; ROWS],
    /// Prefix within the tile of each of this thread's quads.
    before: [O::Value; ROWS],
    /// All of the tile.
    pub(super) sum: O::Value,
}

impl<O: Operator, const ROWS: usize> Tile<O, ROWS> {
    /// Reads the tile that begins at `begin`, of `n` elements, and sums it up.
    ///
    /// # Safety
    /// All threads of the block call this together, once; `input` is as [`load_rows`] has it; `totals` is shared memory
    /// for a value a warp.
    #[inline(always)]
    pub(super) unsafe fn load(input: Ptr<O::Value>, begin: u32, n: u32, totals: *mut O::Value) -> Self {
        // SAFETY: as the caller promised.
        unsafe {
            let rows: [_; ROWS] = load_rows(input, begin, n, O::IDENTITY);
            let sums: [_; ROWS] = array::from_fn(|k| {
                let [a, b, c, d] = rows[k];
                scan_warp::<O>(O::combine(O::combine(a, b), O::combine(c, d)))
            });
            let mut of_warp = O::IDENTITY;
            let in_warp: [_; ROWS] = array::from_fn(|k| {
                let (before, total) = sums[k];
                let before = O::combine(of_warp, before);
                of_warp = O::combine(of_warp, total);
                before
            });
            let (before_warp, sum) = scan_warps::<O>(of_warp, totals, BLOCK / WARP);
            Self { rows, before: array::from_fn(|k| O::combine(before_warp, in_warp[k])), sum }
        }
    }

    /// Writes the results of the tile, given its prefix.
    ///
    /// # Safety
    /// As [`store_rows`].
    #[inline(always)]
    pub(super) unsafe fn store(
        mut self,
        output: Ptr<O::Value>,
        begin: u32,
        n: u32,
        before: O::Value,
        bounds: Bounds,
    ) {
        for k in 0..ROWS {
            let mut sum = O::combine(before, self.before[k]);
            for j in 0..4 {
                let next = O::combine(sum, self.rows[k][j]);
                self.rows[k][j] = if matches!(bounds, Bounds::Inclusive) { next } else { sum };
                sum = next;
            }
        }
        // SAFETY: as the caller promised.
        unsafe { store_rows(output, begin, n, &self.rows) }
    }
}
