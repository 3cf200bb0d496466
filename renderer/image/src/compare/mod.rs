//! Whether two images have the same expectation, and how large a difference could still hide.
//!
//! The difference of two images is summed over blocks of all sizes, from pixels to the whole, with weights that look for
//! one [`Feature`] or another, and divided by its standard deviation: a self-normalised sum, for which heavy tails and
//! few samples are no harm. `docs/statistics.md` derives it.

mod blocks;
pub mod comparison;
mod correlation;
mod feature;
pub mod maps;
mod noise;
mod search;
pub mod source;
mod tail;
#[cfg(test)]
mod tests;
pub mod words;

use std::fmt;

use serde::Serialize;

use crate::film::estimate::ImageEstimate;
use crate::film::image::is_finite;
pub use feature::Feature;
use noise::Null;
use search::Search;

/// The result of the statistical test of two images.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Upper bound on the probability of evidence this strong if the expectations are equal.
    pub p: f64,
    /// Significance level: the images are called different if `p` is at or below it.
    pub level: f64,
    /// Where the evidence is strongest.
    pub worst: Finding,
    /// The smallest differences that would have been detected with 95 % probability, in blocks and the whole image.
    pub detectable: Vec<DetectableDifference>,
    /// Per pixel, the z of the channel in which it is largest, signed: first minus second.
    pub z: Vec<f32>,
    /// Factor by which correlation of neighbouring pixels increases the variance of large blocks; 1 without.
    pub correlation: f64,
    /// Number of pixels left out because an image has NaN or infinity there.
    pub left_out: usize,
}

impl Judgement {
    /// Whether there is evidence of a difference.
    pub fn is_different(&self) -> bool {
        self.p <= self.level
    }

    /// The smallest relative difference of the whole image that would have been detected with 95 % probability, in the
    /// least sensitive channel.
    pub fn resolution(&self) -> f64 {
        self.detectable.iter().find(|d| d.block.is_none()).map_or(f64::INFINITY, |d| d.most)
    }
}

/// A rectangle of pixels, from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Region {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Region {
    /// Whether all of `other` lies within this.
    pub fn contains(&self, other: &Self) -> bool {
        let within = |start: u32, length: u32, at: u32, part: u32| {
            at >= start && u64::from(at) + u64::from(part) <= u64::from(start) + u64::from(length)
        };
        within(self.x, self.width, other.x, other.width) && within(self.y, self.height, other.y, other.height)
    }

    /// The smallest that encloses both.
    fn union(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = (self.x + self.width).max(other.x + other.width);
        let bottom = (self.y + self.height).max(other.y + other.height);
        Self { x, y, width: right - x, height: bottom - y }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { x, y, width, height } = self;
        match (width, height) {
            (1, 1) => write!(f, "the pixel ({x}, {y})"),
            _ => write!(f, "the {width} x {height} pixels from ({x}, {y})"),
        }
    }
}

/// One place where two images differ, or seem to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    /// The place.
    pub region: Region,
    /// Red, green or blue: 0, 1, 2.
    pub channel: usize,
    /// The feature in which they differ.
    pub feature: Feature,
    /// Mean of the first image there.
    pub a: f64,
    /// Mean of the second.
    pub b: f64,
    /// Difference in standard deviations; positive if the first image is brighter, moved to the right or down, or
    /// sharper.
    pub z: f64,
    /// Upper bound on its probability if nothing differs, before correction for multiple tests.
    pub p: f64,
}

/// The smallest difference that would have been detected with 95 % probability, relative to the image.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DetectableDifference {
    /// Side of the square blocks, pixels; the whole image if `None`.
    pub block: Option<u32>,
    /// Detected in half of the blocks and channels.
    pub median: f64,
    /// Detected in 95 % of them; for the whole image, in all channels.
    pub most: f64,
}

/// Tests whether the expectations of two images of one size are equal.
///
/// `level`, such as 0.01, is the accepted rate of false alarms. An image without [`ImageEstimate::noise`] counts as exact.
///
/// # Panics
/// If the sizes differ, or the images have no pixels.
pub fn judge(a: &ImageEstimate, b: &ImageEstimate, level: f64) -> Judgement {
    let size = [a.image.width as usize, a.image.height as usize];
    assert_eq!(size, [b.image.width as usize, b.image.height as usize], "images of one size");
    let usable = UsablePixels::new(a, b);
    let mut search = Search::new(size);
    for channel in 0..3 {
        search.look_at(&Null::new(a, b, channel, &usable.pixels), channel);
    }
    let (mut p, mut worst) = search.verdict(level);
    if let Some(region) = usable.odd {
        (p, worst) = (0.0, Finding { region, feature: Feature::Finite, p: 0.0, ..Finding::NOTHING });
    }
    if worst.region.width > 0 {
        let mean = |of: &ImageEstimate| mean_over(of, worst.region, worst.channel);
        (worst.a, worst.b) = (mean(a), mean(b));
    }
    let detectable = search.detectable(level);
    let (z, correlation) = (search.z, search.correlation);
    Judgement { p, level, worst, detectable, z, correlation, left_out: usable.left_out }
}

impl Finding {
    /// No evidence.
    const NOTHING: Self = Self {
        region: Region { x: 0, y: 0, width: 0, height: 0 },
        channel: 0,
        feature: Feature::Mean,
        a: 0.0,
        b: 0.0,
        z: 0.0,
        p: 1.0,
    };
}

/// The pixels that can be compared.
struct UsablePixels {
    /// Whether a pixel is finite in both images.
    pixels: Vec<bool>,
    /// Number of pixels that are not finite in both.
    left_out: usize,
    /// Bounds of the pixels that are finite in one image only.
    odd: Option<Region>,
}

impl UsablePixels {
    fn new(a: &ImageEstimate, b: &ImageEstimate) -> Self {
        let mut usable = Self { pixels: Vec::with_capacity(a.image.pixels.len()), left_out: 0, odd: None };
        for (i, (p, q)) in a.image.pixels.iter().zip(&b.image.pixels).enumerate() {
            let [p, q] = [p, q].map(is_finite);
            usable.pixels.push(p && q);
            usable.left_out += usize::from(!(p && q));
            if p != q {
                let (x, y) = (i as u32 % a.image.width, i as u32 / a.image.width);
                let pixel = Region { x, y, width: 1, height: 1 };
                usable.odd = Some(usable.odd.map_or(pixel, |odd| odd.union(pixel)));
            }
        }
        usable
    }
}

/// Mean of a channel over the finite values of a region.
fn mean_over(of: &ImageEstimate, region: Region, channel: usize) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0);
    for y in region.y..region.y + region.height {
        let row = y as usize * of.image.width as usize;
        for pixel in &of.image.pixels[row + region.x as usize..][..region.width as usize] {
            if pixel[channel].is_finite() {
                sum += f64::from(pixel[channel]);
                n += 1.0;
            }
        }
    }
    sum / f64::max(n, 1.0)
}
