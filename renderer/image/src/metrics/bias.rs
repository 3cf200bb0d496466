//! The mean difference of two images and its standard error.

use serde::Serialize;

use super::Pair;
use crate::film::estimate::Noise;

/// Side of the blocks whose spread gives the standard error of the mean where the noise is unknown, pixels.
pub const BLOCK: usize = 8;

/// The mean of the first image minus that of the second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bias {
    /// Per channel.
    pub mean: [f64; 3],
    /// Standard errors of `mean`; infinite if there is too little data.
    pub stderr: [f64; 3],
    /// Mean of the second image, to relate `mean` to.
    #[serde(rename = "reference_mean")]
    pub reference: [f64; 3],
    /// Where the standard errors come from.
    pub origin: Origin,
}

/// Where the standard errors of a mean come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The standard errors of the pixels.
    Pixels,
    /// The spread of the mean differences of blocks of 8 × 8 pixels, which counts differences that come and go over
    /// the image as noise.
    Blocks,
}

impl Bias {
    /// The bias of `pair`; `None` if all pixels are left out. `noise` is that of both images, if known; that of an exact
    /// image is `None`.
    pub fn new(pair: &Pair, noise: Option<[Option<&Noise>; 2]>) -> Option<Self> {
        let n = pair.pixels().count();
        if n == 0 {
            return None;
        }
        let (mut difference, mut reference) = ([0.0; 3], [0.0; 3]);
        for (a, b) in pair.pixels() {
            for c in 0..3 {
                difference[c] += a[c] - b[c];
                reference[c] += b[c];
            }
        }
        let mean = difference.map(|x| x / n as f64);
        let (stderr, origin) = match noise {
            Some(noise) => (from_pixels(pair, noise, n), Origin::Pixels),
            None => (from_blocks(pair, mean, n), Origin::Blocks),
        };
        Some(Self { mean, stderr, reference: reference.map(|x| x / n as f64), origin })
    }

    /// The largest |mean| of the channels, relative to the reference's mean; 0 where both are 0.
    pub fn largest_relative(&self) -> f64 {
        let relative = |c: usize| match self.mean[c] {
            0.0 => 0.0,
            mean => (mean / self.reference[c]).abs(),
        };
        (0..3).map(relative).fold(0.0, f64::max)
    }
}

/// √(Σ σ²) / n, pixels being independent.
fn from_pixels(pair: &Pair, noise: [Option<&Noise>; 2], n: usize) -> [f64; 3] {
    let mut variance = [0.0; 3];
    for noise in noise.into_iter().flatten() {
        for (_, stderr) in pair.a.iter().zip(&noise.stderr).filter(|(a, _)| !a[0].is_nan()) {
            (0..3).for_each(|c| variance[c] += f64::from(stderr[c]).powi(2));
        }
    }
    variance.map(|v| v.sqrt() / n as f64)
}

/// The standard error of a ratio of totals, of differences to pixels, over blocks as clusters (Cochran 1977, § 9A.1):
/// √(m / (m − 1) Σ (dᵢ − nᵢ·mean)²) / n for m blocks with differences dᵢ of nᵢ pixels.
fn from_blocks(pair: &Pair, mean: [f64; 3], n: usize) -> [f64; 3] {
    let width = pair.width as usize;
    let across = width.div_ceil(BLOCK);
    let mut blocks = vec![([0.0; 3], 0_u32); across * (pair.height as usize).div_ceil(BLOCK)];
    for (i, (a, b)) in pair.a.iter().zip(&pair.b).enumerate().filter(|(_, (a, _))| !a[0].is_nan()) {
        let (sum, count) = &mut blocks[i / width / BLOCK * across + i % width / BLOCK];
        (0..3).for_each(|c| sum[c] += f64::from(a[c]) - f64::from(b[c]));
        *count += 1;
    }
    blocks.retain(|(_, count)| *count > 0);
    let m = blocks.len() as f64;
    if m < 2.0 {
        return [f64::INFINITY; 3];
    }
    std::array::from_fn(|c| {
        let squares = blocks.iter().map(|(sum, count)| (sum[c] - f64::from(*count) * mean[c]).powi(2));
        (m / (m - 1.0) * squares.sum::<f64>()).sqrt() / n as f64
    })
}
