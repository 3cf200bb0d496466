//! Standard image difference metrics.
//!
//! The first image is the one under test, the second the reference. These metrics ignore noise: two
//! renders of the same scene differ by them as any two images do. [`crate::compare`] accounts for noise.
//!
//! Display images are measured as encoded, in [0, 1]; radiance as it is. SSIM and ꟻLIP, which need a display's range, each
//! map radiance into it in their own way. A pixel that is not finite in either image is left out of all metrics, and
//! counted.

use crate::film::develop::srgb_encode;
use crate::film::image::{Image, is_finite};

pub mod bias;
pub mod flip;
pub mod pointwise;
pub mod ssim;
pub mod threshold;

pub use bias::{Bias, Origin};
pub use flip::Flip;
pub use pointwise::Pointwise;
pub use threshold::{Metric, Threshold};

/// The meaning of pixel values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Display values, from 0 to 1.
    Display,
    /// Linear radiance, unbounded above.
    Radiance,
}

/// Two images of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// The meaning of the values.
    pub kind: Kind,
    /// The image under test; NaN where a pixel is left out.
    pub a: Vec<[f32; 3]>,
    /// The reference; NaN where a pixel is left out.
    pub b: Vec<[f32; 3]>,
}

/// All metrics of a pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Metrics {
    /// Errors of pixels, pooled.
    pub pointwise: Pointwise,
    /// Mean structural similarity; `None` if no window of 11 × 11 pixels fits.
    pub ssim: Option<f64>,
    /// ꟻLIP.
    pub flip: Flip,
    /// Pixels that were measured.
    pub measured: usize,
    /// Pixels left out because they are not finite in one of the images.
    pub left_out: usize,
}

impl Pair {
    /// Two images as [`crate::film::read`] returns them.
    ///
    /// # Panics
    /// If they differ in size.
    pub fn new(a: &Image, b: &Image, kind: Kind) -> Self {
        assert_eq!((a.width, a.height), (b.width, b.height), "images of different sizes");
        let encode = |p: [f32; 3]| match kind {
            Kind::Radiance => p,
            Kind::Display => p.map(|x| srgb_encode(f64::from(x)) as f32),
        };
        let both = a.pixels.iter().zip(&b.pixels);
        let kept = both.map(|(a, b)| match is_finite(a) && is_finite(b) {
            true => (encode(*a), encode(*b)),
            false => ([f32::NAN; 3], [f32::NAN; 3]),
        });
        let (a_pixels, b_pixels) = kept.unzip();
        Self { width: a.width, height: a.height, kind, a: a_pixels, b: b_pixels }
    }

    /// Pixels of both that are not left out.
    pub fn pixels(&self) -> impl Iterator<Item = ([f64; 3], [f64; 3])> + '_ {
        let both = self.a.iter().zip(&self.b).filter(|(a, _)| !a[0].is_nan());
        both.map(|(a, b)| (a.map(f64::from), b.map(f64::from)))
    }
}

impl Metrics {
    /// The metrics of two images viewed at so many pixels per degree; `None` if all pixels are left out.
    pub fn new(pair: &Pair, pixels_per_degree: f32) -> Option<Self> {
        let left_out = pair.a.iter().filter(|p| p[0].is_nan()).count();
        let measured = pair.a.len() - left_out;
        let pointwise = Pointwise::new(pair)?;
        let flip = Flip::new(pair, pixels_per_degree)?;
        Some(Self { pointwise, ssim: ssim::mean(pair), flip, measured, left_out })
    }
}

/// Luminance of linear Rec. 709: the middle row of its matrix to XYZ.
fn luminance([r, g, b]: [f32; 3]) -> f32 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[cfg(test)]
mod pictures;
