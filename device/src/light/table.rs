//! Piecewise constant distributions over a rectangle, of which any window can be sampled.

use bytemuck::{Pod, Zeroable};

use super::guide::BELOW_ONE;
use crate::arch::{load, min};

/// A summed-area table (Crow 1984, "Summed-Area Tables for Texture Mapping") of weights of cells, 16 bytes.
///
/// The weights are whole numbers: their sums and differences are exact, however many cells there are and in whatever
/// order they are added, and a window of little weight beside much has the weight it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Table {
    /// Index of its first entry in [`super::Lighting::tables`]. Rows of `width` + 1 entries, `height` + 1 of
    /// them: entry (x, y) is the sum over all cells to the left of x and above y. The whole is below 2⁵⁴.
    pub first: u32,
    /// Number of columns of cells, ≥ 1.
    pub width: u32,
    /// Number of rows of cells, ≥ 1.
    pub height: u32,
    /// Unused.
    pub reserved: u32,
}

/// Parts of a cell that the edges of windows are rounded to.
pub const PARTS: u32 = 256;

/// A part of a [`Table`]: from the first to the second column and row, in units of 1/[`PARTS`] of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Columns, within 0 ..= `width`·`PARTS`, increasing.
    pub x: [u32; 2],
    /// Rows, within 0 ..= `height`·`PARTS`, increasing.
    pub y: [u32; 2],
}

/// A sample of a [`Table`].
#[derive(Clone, Copy, Debug)]
pub struct TableSample {
    /// Column and row of the cell.
    pub cell: [u32; 2],
    /// Position in the cell, in (0, 1); uniform.
    pub within: [f32; 2],
}

/// Entries of a [`Table`].
#[derive(Clone, Copy)]
pub struct Entries {
    first: *const u64,
    table: Table,
}

impl Table {
    /// # Safety
    /// `tables` has the entries of this table, as long as the result is used.
    #[inline(always)]
    pub const unsafe fn entries(self, tables: *const u64) -> Entries {
        Entries { first: tables.wrapping_add(self.first as usize), table: self }
    }
}

impl Entries {
    /// Sum over all cells to the left of `x` and above `y`.
    #[inline(always)]
    fn sum(&self, x: u32, y: u32) -> u64 {
        debug_assert!(x <= self.table.width && y <= self.table.height);
        let index = y as usize * (self.table.width as usize + 1) + x as usize;
        // SAFETY: column and row are within the table.
        unsafe { load(self.first.add(index)) }
    }

    /// Weight of a cell.
    #[inline(always)]
    pub fn weight(&self, [x, y]: [u32; 2]) -> u64 {
        (self.sum(x + 1, y + 1) - self.sum(x, y + 1)) - (self.sum(x + 1, y) - self.sum(x, y))
    }

    /// [`PARTS`] times the sum over cells above row `y` within columns of a window.
    #[inline(always)]
    fn above(&self, [x0, x1]: [u32; 2], y: u32) -> u64 {
        self.above_left(x1, y) - self.above_left(x0, y)
    }

    /// [`PARTS`] times the sum over cells above row `y` to the left of `x`, which is in parts.
    #[inline(always)]
    fn above_left(&self, x: u32, y: u32) -> u64 {
        let (i, part) = (x / PARTS, x % PARTS);
        let whole = self.sum(i, y);
        let rest = if part == 0 { 0 } else { (self.sum(i + 1, y) - whole) * u64::from(part) };
        whole * u64::from(PARTS) + rest
    }

    /// [`PARTS`] times the sum over cells of a row to the left of column `i`.
    #[inline(always)]
    fn left(&self, row: u32, i: u32) -> u64 {
        (self.sum(i, row + 1) - self.sum(i, row)) * u64::from(PARTS)
    }

    /// As `left`, where `x` is in parts too.
    #[inline(always)]
    fn left_part(&self, row: u32, x: u32) -> u64 {
        let (i, part) = (x / PARTS, x % PARTS);
        let whole = self.left(row, i);
        let rest =
            if part == 0 { 0 } else { (self.left(row, i + 1) - whole) / u64::from(PARTS) * u64::from(part) };
        whole + rest
    }

    /// As `above`, where `y` is in parts too.
    #[inline(always)]
    fn above_part(&self, x: [u32; 2], y: u32) -> u64 {
        let (j, part) = (y / PARTS, y % PARTS);
        let whole = self.above(x, j);
        let rest = if part == 0 { 0 } else { scaled(self.above(x, j + 1) - whole, part << 24) };
        whole + rest
    }

    /// [`PARTS`] times the sum over a window: a cell of weight w has the density `PARTS`·w / this, where cells have an
    /// area of 1.
    #[inline(always)]
    pub fn mass(&self, window: Window) -> u64 {
        self.above_part(window.x, window.y[1]) - self.above_part(window.x, window.y[0])
    }

    /// Draws a place in a window by two words of random bits: the row by all weights in the window, then the column by
    /// those in the row. `None` if there is nothing in the window.
    #[inline(always)]
    pub fn sample(&self, Window { x, y }: Window, bits: [u32; 2]) -> Option<TableSample> {
        let (y_min, y_max) = (self.above_part(x, y[0]), self.above_part(x, y[1]));
        if y_max <= y_min {
            return None;
        }
        let target = y_min + scaled(y_max - y_min, bits[1]);
        let row = last(y[0] / PARTS, y[1].div_ceil(PARTS), |j| self.above(x, j) <= target);
        let within_y = part_of(target, self.above(x, row), self.above(x, row + 1));
        let (x_min, x_max) = (self.left_part(row, x[0]), self.left_part(row, x[1]));
        let target = x_min + scaled(x_max - x_min, bits[0]);
        let column = last(x[0] / PARTS, x[1].div_ceil(PARTS), |i| self.left(row, i) <= target);
        let within_x = part_of(target, self.left(row, column), self.left(row, column + 1));
        Some(TableSample { cell: [column, row], within: [within_x, within_y] })
    }
}

/// ⌊n · bits / 2³²⌋, for n below 2⁶³.
#[inline(always)]
fn scaled(n: u64, bits: u32) -> u64 {
    (n >> 32) * u64::from(bits) + (((n & 0xffff_ffff) * u64::from(bits)) >> 32)
}

/// How far `x` is from `a` to `b`, as a number in (0, 1). `a` ≤ `x` < `b`.
#[inline(always)]
fn part_of(x: u64, a: u64, b: u64) -> f32 {
    min(((x - a) as f32 + 0.5) / (b - a) as f32, BELOW_ONE)
}

/// The last index in `low` .. `high` for which a condition holds that holds up to some index, and not beyond; or `low` if there
/// is none.
#[inline(always)]
fn last(mut low: u32, mut high: u32, holds: impl Fn(u32) -> bool) -> u32 {
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
