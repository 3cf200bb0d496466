//! The features for which the difference of two images is tested, as weights of its pixels.
//!
//! A weight must not depend on the difference of its own pixel, or the weighted sum of noise would not have expectation
//! 0. It is made of the pixel's neighbours alone.

use super::noise::Null;

/// A feature tested in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// The mean.
    Mean,
    /// Brightness: the difference in proportion to the image, most weight where it is least noisy.
    Brightness,
    /// Movement along x: the difference in proportion to the image's derivative, weighted likewise.
    ShiftX,
    /// Movement along y.
    ShiftY,
    /// Sharpness: the difference in proportion to the image's curvature, weighted likewise.
    Sharpness,
    /// Differences of either sign that cancel in sums but add up as squares, over blocks of this side, pixels.
    Pattern(u32),
    /// NaN or infinity in one of the images, but not in the other.
    Finite,
}

impl Feature {
    /// The features that are tested by weighted sums.
    pub(super) const TESTED: [Self; 5] =
        [Self::Mean, Self::Brightness, Self::ShiftX, Self::ShiftY, Self::Sharpness];

    /// Side of the smallest blocks in which the feature is tested, pixels.
    pub(super) const fn smallest_block(self) -> usize {
        match self {
            Self::Mean => 1,
            _ => 8,
        }
    }
}

/// Weights for one channel.
pub(super) struct Weights<'a> {
    pub(super) null: &'a Null,
    pub(super) size: [usize; 2],
}

impl Weights<'_> {
    /// The weight of pixel (x, y).
    pub(super) fn at(&self, feature: Feature, x: usize, y: usize) -> f64 {
        let signal = match feature {
            Feature::Mean | Feature::Pattern(_) | Feature::Finite => return 1.0,
            Feature::Brightness => self.around(x, y, 1),
            Feature::ShiftX => self.slope(x, y, [1, 0]),
            Feature::ShiftY => self.slope(x, y, [0, 1]),
            Feature::Sharpness => self.curvature(x, y),
        };
        let variance = self.variance(x, y);
        if variance > 0.0 { signal / variance } else { 0.0 }
    }

    /// The guide at (x, y) + k·step, if that is in the image.
    fn guide(&self, x: usize, y: usize, step: [isize; 2], k: isize) -> Option<f64> {
        let x = x.checked_add_signed(k * step[0]).filter(|x| *x < self.size[0])?;
        let y = y.checked_add_signed(k * step[1]).filter(|y| *y < self.size[1])?;
        Some(self.null.pixels[y * self.size[0] + x].guide)
    }

    /// Mean of the four neighbours at a distance, of those that there are; 0 of none.
    fn around(&self, x: usize, y: usize, distance: isize) -> f64 {
        let around = [[1, 0], [-1, 0], [0, 1], [0, -1]];
        let (sum, n) = around
            .iter()
            .filter_map(|step| self.guide(x, y, *step, distance))
            .fold((0.0, 0.0), |(sum, n), v| (sum + v, n + 1.0));
        if n > 0.0 { sum / n } else { 0.0 }
    }

    /// Central difference, falling values positive, as a picture that moves along `step` adds where it falls; 0 at the
    /// edges.
    fn slope(&self, x: usize, y: usize, step: [isize; 2]) -> f64 {
        match (self.guide(x, y, step, 1), self.guide(x, y, step, -1)) {
            (Some(after), Some(before)) => 0.5 * (before - after),
            _ => 0.0,
        }
    }

    /// How much nearer neighbours lie above farther ones, as the pixel between them then does too; 0 at the edges.
    fn curvature(&self, x: usize, y: usize) -> f64 {
        let [width, height] = self.size;
        if x < 2 || y < 2 || x + 2 >= width || y + 2 >= height {
            return 0.0;
        }
        self.around(x, y, 1) - self.around(x, y, 2)
    }

    /// The variance around the pixel, with a floor of a thousandth of its brightness, so that noise-free pixels do not
    /// outweigh all others.
    fn variance(&self, x: usize, y: usize) -> f64 {
        let [width, height] = self.size;
        let (mut sum, mut n) = (0.0, 0.0);
        for v in y.saturating_sub(1)..(y + 2).min(height) {
            for u in x.saturating_sub(1)..(x + 2).min(width) {
                if (u, v) != (x, y) {
                    sum += self.null.pixels[v * width + u].guide_variance;
                    n += 1.0;
                }
            }
        }
        if n == 0.0 { 0.0 } else { sum / n + (1e-3 * self.around(x, y, 1)).powi(2) }
    }
}
