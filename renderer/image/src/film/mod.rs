//! The film: sums over every pixel's samples, and the images made from them.

pub mod cryptomatte;
pub mod develop;
mod display;
pub mod encode;
pub mod error;
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
pub mod mix;
mod openexr;
pub mod order;
mod output;
pub mod ranges;
pub mod rescue;
pub mod shards;
pub mod statistics;
pub mod tone;
pub mod white_balance;
mod wide;
pub mod write;

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

pub use estimate::{ImageEstimate, PIXEL_FILTER};
pub use extent::Extent;
pub use format::Format;
pub use image::{Image, ReadError, decode_layers, read, read_layers, size};
pub use layers::Layers;
pub use output::write_images;
pub use ranges::SampleRanges;
pub use shards::Shard;
pub use statistics::Statistics;
pub use wide::Wide;

/// Pixels that it takes a thread longer to go through than to be woken.
pub const PIXELS_PER_TASK: usize = 1 << 11;

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

/// Sums over the samples of one pixel, 88 bytes. They hold 77 bits, so that images of merged films are the same whatever the
/// order in which they were merged.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Pixel {
    /// Σ x per channel.
    pub sum: [Wide; 3],
    /// Σ x² per channel.
    pub sum_sq: [Wide; 3],
    /// Number of samples in the sums.
    pub count: u64,
    /// Number of samples left out because they were NaN or infinite.
    pub rejected: u64,
}

impl Pixel {
    /// Mean per channel; zero without samples.
    pub fn mean(&self) -> [f64; 3] {
        let n = (self.count.max(1)) as f64;
        self.sum.map(|s| s.get() / n)
    }

    /// Standard error of the mean per channel, from the unbiased sample variance; infinite for fewer than
    /// two samples, which do not determine it.
    pub fn stderr(&self) -> [f64; 3] {
        if self.count < 2 {
            return [f64::INFINITY; 3];
        }
        let n = self.count as f64;
        std::array::from_fn(|c| {
            let mean = self.sum[c].get() / n;
            ((self.sum_sq[c].get() / n - mean * mean).max(0.0) / (n - 1.0)).sqrt()
        })
    }

    /// `count` samples of a mean and its standard error: se² = (Σx² − n·mean²) / (n (n − 1)).
    pub fn of_moments(count: u64, mean: [f32; 3], stderr: [f32; 3]) -> Self {
        let n = count as f64;
        let [mean, stderr] = [mean, stderr].map(|rgb| rgb.map(f64::from));
        let scatter = |c: usize| if stderr[c].is_finite() { stderr[c].powi(2) * n * (n - 1.0) } else { 0.0 };
        Self {
            sum: mean.map(|mean| (n * mean).into()),
            sum_sq: std::array::from_fn(|c| (n * mean[c] * mean[c] + scatter(c)).into()),
            count,
            rejected: 0,
        }
    }

    /// All sums: of the channels, and of their squares.
    fn sums(&self) -> [Wide; 6] {
        let ([r, g, b], [rr, gg, bb]) = (self.sum, self.sum_sq);
        [r, g, b, rr, gg, bb]
    }

    /// Sets one of [`Pixel::sums`].
    fn set_sum(&mut self, i: usize, sum: Wide) {
        if i < 3 {
            self.sum[i] = sum;
        } else {
            self.sum_sq[i - 3] = sum;
        }
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
    /// A film without samples.
    pub fn new(width: u32, height: u32) -> Self {
        Self { width, height, pixels: vec![Pixel::default(); width as usize * height as usize] }
    }

    /// Adds the samples of another film.
    ///
    /// # Panics
    /// It differs in size.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!((self.width, self.height), (other.width, other.height), "films of one size");
        self.merge_pixels(&other.pixels);
    }

    /// As [`Film::merge`], of the pixels of a film.
    ///
    /// # Panics
    /// There are not as many.
    pub fn merge_pixels(&mut self, more: &[Pixel]) {
        assert_eq!(self.pixels.len(), more.len(), "films of one size");
        let pixels = self.pixels.par_iter_mut().with_min_len(PIXELS_PER_TASK);
        pixels.zip(more).for_each(|(pixel, more)| pixel.merge(more));
    }

    /// Number of samples that were NaN or infinite and were left out.
    pub fn rejected(&self) -> u64 {
        self.pixels.par_iter().with_min_len(PIXELS_PER_TASK).map(|p| p.rejected).sum()
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

    /// Number of samples in the sums of a pixel, on average.
    pub fn mean_spp(&self) -> f64 {
        self.samples() as f64 / self.pixels.len().max(1) as f64
    }

    /// Number of samples in the sums of the pixel that has fewest.
    pub fn fewest_spp(&self) -> u64 {
        self.pixels.iter().map(|p| p.count).min().unwrap_or(0)
    }

    /// Number of samples in the sums of the pixel that has most.
    pub fn most_spp(&self) -> u64 {
        self.pixels.iter().map(|p| p.count).max().unwrap_or(0)
    }
}
