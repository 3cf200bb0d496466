//! Whether the noise of neighbouring pixels is correlated, as reconstruction filters wider than a pixel make it.

use super::noise::{Null, median};

/// Distance of the farthest neighbours considered, pixels.
const REACH: isize = 4;

/// Correlation of the noise of pixels, by distance.
pub(super) struct Correlation {
    /// Offset along x and y, and the correlation at it; one of each pair of opposite ones, and only those that are
    /// more than chance.
    lags: Vec<([isize; 2], f64)>,
}

impl Correlation {
    /// No correlation, for images whose pixels are independent.
    pub(super) const NONE: Self = Self { lags: Vec::new() };

    /// Estimates the correlation of the residuals of one channel: z of each pixel, clipped to ±3, minus the mean of its
    /// block. For each lag the median over blocks is taken: a filter correlates the noise in all blocks, whereas a
    /// difference of the expectations, which looks like correlated noise, affects only some.
    pub(super) fn new(null: &Null, size: [usize; 2]) -> Self {
        let blocks = blocks(null, size);
        let pixels: usize = blocks.iter().map(|block| block.used).sum();
        if pixels < FEWEST_IN_ALL {
            return Self::unknown();
        }
        let chance = 5.0 / (pixels as f64).max(1.0).sqrt();
        let measured = |lag| {
            let mut of_blocks: Vec<f64> = blocks.iter().map(|b| b.autocorrelation(lag)).collect();
            median(&mut of_blocks).filter(|rho| *rho > chance).map(|rho| (lag, rho))
        };
        Self { lags: offsets().filter_map(measured).collect() }
    }

    /// The worst case, for images with too few pixels to tell: neighbours may be fully correlated.
    fn unknown() -> Self {
        Self { lags: offsets().map(|lag| (lag, 1.0)).collect() }
    }

    /// Whether there is no correlation.
    pub(super) fn is_none(&self) -> bool {
        self.lags.is_empty()
    }

    /// Variance of the mean of a square block of pixels, over what it would be without correlation.
    pub(super) fn inflation(&self, side: usize) -> f64 {
        let inside = |lag: isize| (1.0 - lag.unsigned_abs() as f64 / side as f64).max(0.0);
        let pairs = self.lags.iter().map(|([dx, dy], rho)| 2.0 * rho * inside(*dx) * inside(*dy));
        1.0 + pairs.sum::<f64>()
    }
}

/// Offsets within reach, one of each pair of opposite ones.
fn offsets() -> impl Iterator<Item = [isize; 2]> {
    let all = (0..=REACH).flat_map(|dy| (-REACH..=REACH).map(move |dx| [dx, dy]));
    all.filter(|[dx, dy]| *dy > 0 || *dx > 0)
}

/// Side of the blocks, pixels: larger than filters reach, smaller than most of what images show.
const BLOCK: usize = 16;

/// Smallest number of noisy pixels of an informative block.
const FEWEST: usize = BLOCK * BLOCK / 4;

/// Smallest number of noisy pixels in all: among fewer, chance correlations are as strong as those of filters.
const FEWEST_IN_ALL: usize = BLOCK * BLOCK;

/// Residuals of a block of pixels; 0 where there is no noise.
struct Residuals {
    z: [[f64; BLOCK]; BLOCK],
    /// Number of pixels with noise.
    used: usize,
}

fn blocks(null: &Null, [width, height]: [usize; 2]) -> Vec<Residuals> {
    let corners = (0..height).step_by(BLOCK).flat_map(|y| (0..width).step_by(BLOCK).map(move |x| (x, y)));
    corners.map(|corner| Residuals::new(null, [width, height], corner)).filter(|b| b.used >= FEWEST).collect()
}

impl Residuals {
    fn new(null: &Null, [width, height]: [usize; 2], (x0, y0): (usize, usize)) -> Self {
        let mut block = Self { z: [[0.0; BLOCK]; BLOCK], used: 0 };
        for (y, row) in block.z.iter_mut().enumerate().take(height - y0) {
            for (x, z) in row.iter_mut().enumerate().take(width - x0) {
                let i = (y0 + y) * width + x0 + x;
                let alone = &null.pixels[i].alone;
                let variance = alone.variance();
                // Where there is no noise, rounding is all there is, and the same for all neighbours.
                if alone.signal != 0.0 && variance > 0.0 {
                    *z = (alone.d / variance.sqrt()).clamp(-3.0, 3.0);
                }
            }
        }
        let pixels = || block.z.iter().flatten().filter(|z| **z != 0.0);
        block.used = pixels().count();
        let mean = pixels().sum::<f64>() / block.used.max(1) as f64;
        block.z.iter_mut().flatten().filter(|z| **z != 0.0).for_each(|z| *z -= mean);
        block
    }

    /// Mean product of pixels at this distance, over the mean square.
    fn autocorrelation(&self, [dx, dy]: [isize; 2]) -> f64 {
        let (mut products, mut pairs) = (0.0, 0.0);
        for y in 0..BLOCK - dy.unsigned_abs() {
            for x in dx.min(0).unsigned_abs()..BLOCK - dx.max(0).unsigned_abs() {
                let (z, other) = (self.z[y][x], self.z[y + dy.unsigned_abs()][x.wrapping_add_signed(dx)]);
                products += z * other;
                pairs += f64::from(z != 0.0 && other != 0.0);
            }
        }
        let power: f64 = self.z.iter().flatten().map(|z| z * z).sum();
        if pairs > 0.0 && power > 0.0 { products / pairs / (power / self.used as f64) } else { 0.0 }
    }
}
