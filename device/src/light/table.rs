//! Piecewise constant distributions over a rectangle, of which any window can be sampled.

use bytemuck::{Pod, Zeroable};

use crate::arch::load;

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
    /// All of it.
    #[inline(always)]
    pub const fn all(&self) -> Window {
        Window { x: [0, self.width * PARTS], y: [0, self.height * PARTS] }
    }

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
    pub fn sample(&self, window: Window, bits: [u32; 2]) -> Option<TableSample> {
        let Window { x, y } = window;
        let range = [self.above_part(x, y[0]), self.above_part(x, y[1])];
        if range[1] <= range[0] {
            return None;
        }
        Some(self.sample_between::<Bisection>(window, range, bits))
    }

    /// As [`Entries::sample`], where the sums of cells above the window's first and its last row are given.
    #[inline(always)]
    fn sample_between<S: Search>(
        &self,
        Window { x, y }: Window,
        [y_min, y_max]: [u64; 2],
        bits: [u32; 2],
    ) -> TableSample {
        let target = y_min + scaled(y_max - y_min, bits[1]);
        let row = S::last(y[0] / PARTS, y[1].div_ceil(PARTS), Rows { entries: self, x, target });
        let within_y = part_of(target, self.above(x, row), self.above(x, row + 1));
        let (x_min, x_max) = (self.left_part(row, x[0]), self.left_part(row, x[1]));
        let target = x_min + scaled(x_max - x_min, bits[0]);
        let columns = Columns { entries: self, row, target };
        let column = S::last(x[0] / PARTS, x[1].div_ceil(PARTS), columns);
        let within_x = part_of(target, self.left(row, column), self.left(row, column + 1));
        TableSample { cell: [column, row], within: [within_x, within_y] }
    }

    /// As [`Entries::sample`] from all of a table with at most 2 to the power of `STEPS` rows, and as many columns, without
    /// branches. The table is not empty.
    #[inline(always)]
    pub(super) fn sample_all<const STEPS: usize>(&self, bits: [u32; 2]) -> TableSample {
        let whole = self.table.all();
        self.sample_between::<Steps<STEPS>>(whole, [0, self.mass(whole)], bits)
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
    const BELOW_ONE: f32 = 1.0 - f32::EPSILON / 2.0;
    crate::arch::min(((x - a) as f32 + 0.5) / (b - a) as f32, BELOW_ONE)
}

/// What holds up to some index, and not beyond. No closure: the compiler would not inline one that it finds many times.
trait Condition {
    fn holds(&self, i: u32) -> bool;
}

/// That cells of a window above a row sum up to no more than a target.
struct Rows<'a> {
    entries: &'a Entries,
    x: [u32; 2],
    target: u64,
}

impl Condition for Rows<'_> {
    #[inline(always)]
    fn holds(&self, j: u32) -> bool {
        self.entries.above(self.x, j) <= self.target
    }
}

/// That cells of a row to the left of a column sum up to no more than a target.
struct Columns<'a> {
    entries: &'a Entries,
    row: u32,
    target: u64,
}

impl Condition for Columns<'_> {
    #[inline(always)]
    fn holds(&self, i: u32) -> bool {
        self.entries.left(self.row, i) <= self.target
    }
}

/// A way to find the last index in `low` .. `high` for which a condition holds, or `low` if there is none.
trait Search {
    fn last(low: u32, high: u32, condition: impl Condition) -> u32;
}

/// In as few steps as it takes.
struct Bisection;

impl Search for Bisection {
    #[inline(always)]
    fn last(mut low: u32, mut high: u32, condition: impl Condition) -> u32 {
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if condition.holds(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// In `N` steps, which suffice for 2 to the power of `N` indices: a loop that the compiler unrolls.
struct Steps<const N: usize>;

impl<const N: usize> Search for Steps<N> {
    #[inline(always)]
    fn last(mut low: u32, mut high: u32, condition: impl Condition) -> u32 {
        for _ in 0..N {
            // The last of one index is itself, or less: then `high` falls onto `low`.
            let middle = low + (high - low) / 2;
            let beyond = !condition.holds(middle);
            low = if beyond { low } else { middle };
            high = if beyond { middle } else { high };
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::pcg4d;
    use std::vec;

    /// In a fixed number of steps, the same cells and places are found as by bisection; in too few, others.
    #[test]
    fn steps_find_what_bisection_finds() {
        for (width, height) in [(1, 1), (1, 7), (5, 1), (16, 16), (100, 37), (256, 255)] {
            let table = Table { first: 0, width, height, reserved: 0 };
            let row = width as usize + 1;
            let mut sums = vec![0_u64; row * (height as usize + 1)];
            for y in 1..=height as usize {
                for x in 1..row {
                    let [a, b, ..] = pcg4d([x as u32, y as u32, width, height]);
                    // Every third cell is black.
                    let weight = if a % 3 == 0 { 0 } else { u64::from(b >> 8) };
                    sums[y * row + x] = weight + sums[(y - 1) * row + x] + sums[y * row + x - 1]
                        - sums[(y - 1) * row + x - 1];
                }
            }
            // SAFETY: the entries are those of the table.
            let entries = unsafe { table.entries(sums.as_ptr()) };
            let mut too_few_differ = false;
            for i in 0..4096 {
                let [u, v, ..] = pcg4d([i, 1, 2, 3]);
                for bits in [[u, v], [0, v], [u32::MAX, v], [u, 0], [u, u32::MAX]] {
                    let Some(by_bisection) = entries.sample(table.all(), bits) else {
                        assert_eq!(entries.mass(table.all()), 0);
                        continue;
                    };
                    let by_steps = entries.sample_all::<8>(bits);
                    assert_eq!((by_steps.cell, by_steps.within), (by_bisection.cell, by_bisection.within));
                    too_few_differ |= width > 16 && entries.sample_all::<4>(bits).cell != by_bisection.cell;
                }
            }
            assert!(too_few_differ || width <= 16, "control");
        }
    }
}
