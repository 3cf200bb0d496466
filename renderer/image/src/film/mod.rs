//! The film: sums over every pixel's samples, and the images made from them.

pub mod develop;
pub mod encode;
pub mod estimate;
pub mod exposure;
mod exr_header;
pub mod extent;
#[cfg(test)]
mod foreign;
pub mod format;
pub mod image;
pub mod interrupted;
pub mod layers;
pub mod merge;
mod openexr;
mod output;
pub mod rescue;
pub mod statistics;
pub mod write;

pub use estimate::{ImageEstimate, PIXEL_FILTER};
pub use extent::Extent;
pub use format::Format;
pub use image::{Image, ReadError, read, read_layers, size};
pub use layers::Layers;
pub use output::write_images;
pub use statistics::Statistics;

/// Sums over the samples of every pixel, in f64, row by row from the top left.
#[derive(Debug, Clone, PartialEq)]
pub struct Film {
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// `width · height` pixels.
    pub pixels: Vec<Pixel>,
}

/// Sums over the samples of one pixel.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pixel {
    /// Σ x per channel.
    pub sum: [f64; 3],
    /// Σ x² per channel.
    pub sum_sq: [f64; 3],
    /// Number of samples in the sums.
    pub count: u64,
    /// Number of samples left out because they were NaN or infinite.
    pub rejected: u64,
}

impl Pixel {
    /// Mean per channel; zero without samples.
    pub fn mean(&self) -> [f64; 3] {
        let n = (self.count.max(1)) as f64;
        self.sum.map(|s| s / n)
    }

    /// Standard error of the mean per channel, from the unbiased sample variance; infinite for fewer than
    /// two samples, which do not determine it.
    pub fn stderr(&self) -> [f64; 3] {
        if self.count < 2 {
            return [f64::INFINITY; 3];
        }
        let n = self.count as f64;
        std::array::from_fn(|c| {
            let mean = self.sum[c] / n;
            ((self.sum_sq[c] / n - mean * mean).max(0.0) / (n - 1.0)).sqrt()
        })
    }

    /// Adds the samples of `other`.
    pub fn merge(&mut self, other: &Self) {
        for c in 0..3 {
            self.sum[c] += other.sum[c];
            self.sum_sq[c] += other.sum_sq[c];
        }
        self.count += other.count;
        self.rejected += other.rejected;
    }
}

impl Film {
    /// Number of samples that were NaN or infinite and were left out.
    pub fn rejected(&self) -> u64 {
        self.pixels.iter().map(|p| p.rejected).sum()
    }

    /// Number of pixels without a valid sample: all were rejected, or none were taken.
    pub fn empty_pixels(&self) -> usize {
        self.pixels.iter().filter(|p| p.count == 0).count()
    }

    /// Whether a sample was taken of every pixel, valid or not.
    pub fn is_complete(&self) -> bool {
        self.pixels.iter().all(|p| p.count + p.rejected > 0)
    }

    /// Number of samples in the sums.
    pub fn samples(&self) -> u64 {
        self.pixels.iter().map(|p| p.count).sum()
    }
}
