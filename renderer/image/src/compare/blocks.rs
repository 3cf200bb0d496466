//! Sums over square blocks of pixels, at all scales.

use std::ops::AddAssign;

use rayon::prelude::*;

use super::Region;

/// Sums over a block of pixels, each weighted for the feature that is looked for.
#[derive(Clone, Copy, Default)]
pub(super) struct Block {
    /// Σ w d.
    pub(super) d: f64,
    /// Σ w² of the variance of the noisier image.
    pub(super) noisy: f64,
    /// Σ w² of the variance of the other.
    pub(super) clean: f64,
    /// Σ w² of the variance that the noisier image should have.
    pub(super) expected: f64,
    /// Σ |w| of what rounding may have done.
    pub(super) rounding: f64,
    /// Σ w x of the guide x, where there is noise.
    pub(super) signal: f64,
    /// Σ w² x² / n: what a difference as large as the guide adds to the variance seen from 0.
    pub(super) own: f64,
}

impl Block {
    /// The variance of `d`.
    ///
    /// Where the noisier image has missed rare events its own variance is too small, where it has caught one more than
    /// is usual the expected one is.
    pub(super) fn variance(&self) -> f64 {
        self.noisy.max(self.expected) + self.clean
    }

    /// The sums of the same pixels, each with this weight.
    pub(super) fn weighted(&self, w: f64) -> Self {
        let w2 = w * w;
        Self {
            d: w * self.d,
            noisy: w2 * self.noisy,
            clean: w2 * self.clean,
            expected: w2 * self.expected,
            rounding: w.abs() * self.rounding,
            signal: w * self.signal,
            own: w2 * self.own,
        }
    }

    /// Whether there is anything to test: noise, or a difference.
    pub(super) fn is_informative(&self) -> bool {
        self.d != 0.0 || self.variance() > 0.0
    }

    /// `d` in standard deviations, less the part that rounding may explain. `inflation` is the factor by which correlation
    /// increases the variance.
    pub(super) fn z(&self, inflation: f64) -> f64 {
        let d = self.d.abs() - self.rounding;
        if d <= 0.0 {
            return 0.0;
        }
        (d / (self.variance() * inflation).sqrt()).copysign(self.d)
    }
}

impl AddAssign for Block {
    fn add_assign(&mut self, other: Self) {
        self.d += other.d;
        self.noisy += other.noisy;
        self.clean += other.clean;
        self.expected += other.expected;
        self.rounding += other.rounding;
        self.signal += other.signal;
        self.own += other.own;
    }
}

/// An image cut into blocks.
pub(super) struct Grid {
    /// Side of a block, pixels. Those at the right and lower edges may be cut off.
    pub(super) side: usize,
    /// Width and height of the image, pixels.
    size: [usize; 2],
    /// Blocks in a row.
    columns: usize,
    /// Row by row.
    pub(super) blocks: Vec<Block>,
}

impl Grid {
    /// Sums what `of` says of pixel (x, y) over blocks of side `side`.
    pub(super) fn new(size: [usize; 2], side: usize, of: impl Fn(usize, usize) -> Block + Sync) -> Self {
        let columns = size[0].div_ceil(side);
        let mut blocks = vec![Block::default(); columns * size[1].div_ceil(side)];
        blocks.par_chunks_mut(columns).enumerate().for_each(|(row, blocks)| {
            for y in row * side..size[1].min((row + 1) * side) {
                for x in 0..size[0] {
                    blocks[x / side] += of(x, y);
                }
            }
        });
        Self { side, size, columns, blocks }
    }

    /// Blocks of twice the side; `None` of a single one.
    pub(super) fn coarser(&self) -> Option<Self> {
        if self.blocks.len() == 1 {
            return None;
        }
        let columns = self.columns.div_ceil(2);
        let rows = (self.blocks.len() / self.columns).div_ceil(2);
        let mut blocks = vec![Block::default(); columns * rows];
        for (i, block) in self.blocks.iter().enumerate() {
            blocks[i / self.columns / 2 * columns + i % self.columns / 2] += *block;
        }
        Some(Self { side: 2 * self.side, size: self.size, columns, blocks })
    }

    /// The pixels of block `i`.
    pub(super) fn region(&self, i: usize) -> Region {
        let (x, y) = (i % self.columns * self.side, i / self.columns * self.side);
        let end = |at: usize, of: usize| of.min(at + self.side) - at;
        Region {
            x: x as u32,
            y: y as u32,
            width: end(x, self.size[0]) as u32,
            height: end(y, self.size[1]) as u32,
        }
    }

    /// Whether the whole image is a single block.
    pub(super) fn is_whole(&self) -> bool {
        self.blocks.len() == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_add_up_at_every_scale() {
        for size in [[1, 1], [7, 5], [64, 33], [130, 2]] {
            let of = |x: usize, y: usize| Block { d: (x * 1000 + y) as f64, ..Block::default() };
            let total = Grid::new(size, 1, of).blocks.iter().map(|b| b.d).sum::<f64>();
            let mut grid = Grid::new(size, 1, of);
            while let Some(coarser) = grid.coarser() {
                grid = coarser;
                assert_eq!(grid.blocks.iter().map(|b| b.d).sum::<f64>(), total, "{size:?} {}", grid.side);
                let direct = Grid::new(size, grid.side, of);
                assert!(direct.blocks.iter().zip(&grid.blocks).all(|(a, b)| a.d == b.d));
            }
            assert_eq!(grid.region(0), Region { x: 0, y: 0, width: size[0] as u32, height: size[1] as u32 });
        }
    }

    #[test]
    fn regions_end_at_the_edges() {
        let grid = Grid::new([10, 6], 4, |_, _| Block::default());
        assert_eq!(grid.region(2), Region { x: 8, y: 0, width: 2, height: 4 });
        assert_eq!(grid.region(3), Region { x: 0, y: 4, width: 4, height: 2 });
    }
}
