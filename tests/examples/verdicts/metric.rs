//! Image metrics, and the best that a threshold can do with them.

use rayon::prelude::*;
use torrance_image::film::{Image, ImageEstimate};
use torrance_image::metrics::{Kind, Metrics, Pair, flip};

/// The metrics.
pub(crate) const METRICS: [&str; 3] = ["relMSE", "SSIM", "ꟻLIP"];

/// The thresholds that the metrics of 1 % of equal images exceed: the lowest that have no more false alarms than the
/// statistical test.
pub(crate) struct Thresholds([f64; METRICS.len()]);

impl Thresholds {
    /// From images that are as they should be.
    pub(crate) fn from_images(images: &[ImageEstimate], references: &[ImageEstimate]) -> Self {
        let all: Vec<_> = images
            .par_iter()
            .enumerate()
            .map(|(k, image)| errors(&image.image, &references[k % references.len()].image))
            .collect();
        Self(std::array::from_fn(|m| {
            let mut errors: Vec<f64> = all.iter().map(|e| e[m]).collect();
            errors.sort_by(f64::total_cmp);
            errors[errors.len() - 1 - errors.len() / 100]
        }))
    }

    /// Which of the metrics call an image different.
    pub(crate) fn exceeded(&self, image: &Image, reference: &Image) -> impl Iterator<Item = bool> {
        errors(image, reference).into_iter().zip(self.0).map(|(error, threshold)| error > threshold)
    }
}

/// The metrics of an image, so that more is worse.
fn errors(image: &Image, reference: &Image) -> [f64; METRICS.len()] {
    let metrics = Metrics::new(&Pair::new(image, reference, Kind::Radiance), flip::PIXELS_PER_DEGREE)
        .expect("pixels are finite");
    [metrics.pointwise.relmse, 1.0 - metrics.ssim.expect("the image is large enough"), metrics.flip.mean]
}
