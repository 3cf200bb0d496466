//! The errors of pixels, as their standard errors tell them.

use rayon::prelude::*;

use super::develop::Develop;
use super::develop::luminance;
use super::exposure::{Exposure, metered};
use super::order::nth;
use super::statistics::mean_luminance;
use super::tone::Tonemap;
use super::white_balance::WhiteBalance;
use super::{ImageEstimate, PIXELS_PER_TASK};

/// What the standard error of a pixel is measured by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ErrorMeasure {
    /// The pixel's luminance, or [`DARK`] of the image's mean if that is more.
    Relative,
    /// What a display shows, from black, 0, to white, 1: noise counts where it is to be seen, and not in what is clipped.
    Displayed {
        /// Exposure.
        exposure: Exposure,
        /// Which light looks white.
        white_balance: WhiteBalance,
        /// The tone curve.
        tonemap: Tonemap,
    },
}

/// Pixels that are darker than this part of an image's mean luminance have errors relative to that: nobody sees more.
pub const DARK: f64 = 0.1;

impl ErrorMeasure {
    /// The error of every pixel, row by row; infinite where it is not known.
    ///
    /// The channels of a sample vary together, so the standard error of luminance is taken to be the luminance of the standard errors, as in
    /// [`super::Statistics`].
    pub fn errors(&self, measured: &ImageEstimate) -> Vec<f32> {
        let Some(noise) = &measured.noise else { return vec![f32::INFINITY; measured.image.pixels.len()] };
        let of: Box<dyn Fn([f64; 3], [f64; 3]) -> f64 + Sync> = match *self {
            Self::Relative => {
                let dark = DARK * mean_luminance(&measured.image);
                Box::new(move |mean, stderr| relative(mean, stderr, dark))
            }
            Self::Displayed { exposure, white_balance, tonemap } => {
                let exposure = match exposure {
                    Exposure::Stops(stops) => stops,
                    Exposure::Auto => metered(&measured.image).unwrap_or(0.0),
                };
                let develop = Develop { exposure, white_balance, tonemap };
                Box::new(move |mean, stderr| displayed(mean, stderr, &develop))
            }
        };
        let pixels = measured.image.pixels.par_iter().with_min_len(PIXELS_PER_TASK).zip(&noise.stderr);
        pixels.map(|(mean, stderr)| of(mean.map(f64::from), stderr.map(f64::from)) as f32).collect()
    }
}

fn relative(mean: [f64; 3], stderr: [f64; 3], dark: f64) -> f64 {
    let error = luminance(stderr);
    if error == 0.0 { 0.0 } else { error / luminance(mean).max(dark) }
}

/// Half of what lies between the mean plus and minus a standard error.
fn displayed(mean: [f64; 3], stderr: [f64; 3], develop: &Develop) -> f64 {
    if stderr.iter().any(|e| e.is_infinite()) {
        return f64::INFINITY;
    }
    let shown =
        |sign: f64| luminance(develop.apply(std::array::from_fn(|c| (mean[c] + sign * stderr[c]) as f32)));
    0.5 * (shown(1.0) - shown(-1.0)).abs()
}

/// The part of pixels, of those whose error is a number, whose error is at most `bound`; 1 of none.
pub fn part_within(errors: &[f32], bound: f64) -> f64 {
    let known = || errors.par_iter().with_min_len(PIXELS_PER_TASK).filter(|e| !e.is_nan());
    let n = known().count();
    let within = known().filter(|e| f64::from(**e) <= bound).count();
    if n == 0 { 1.0 } else { within as f64 / n as f64 }
}

/// The error that `percentile` percent of pixels do not exceed, of those whose error is a number; 0 of none.
pub fn error_at(errors: &[f32], percentile: f64) -> f64 {
    let known = || errors.par_iter().with_min_len(PIXELS_PER_TASK).copied().filter(|e| !e.is_nan());
    let n = known().count();
    let at = ((percentile / 100.0 * n as f64).ceil() as usize).min(n).saturating_sub(1);
    nth(known, at).map_or(0.0, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::{Film, Pixel};

    /// A pixel of 100 samples.
    fn pixel(mean: f32, stderr: f32) -> Pixel {
        Pixel::of_moments(100, [mean; 3], [stderr; 3])
    }

    fn film(pixels: Vec<Pixel>) -> ImageEstimate {
        (&Film { width: pixels.len() as u32, height: 1, pixels }).into()
    }

    fn close(found: &[f32], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        let is_close = |(f, e): (&f32, &f64)| (f64::from(*f) - e).abs() <= 1e-4 * e.abs();
        assert!(found.iter().zip(expected).all(is_close), "{found:?}, not {expected:?}");
    }

    #[test]
    fn dark_pixels_are_measured_by_the_mean() {
        let film = film(vec![pixel(2.0, 0.02), pixel(1.99, 0.04), pixel(0.01, 0.01), pixel(0.0, 0.0)]);
        close(&ErrorMeasure::Relative.errors(&film), &[0.01, 0.04 / 1.99, 0.1, 0.0]);
    }

    /// What is clipped has no error, and what is dark has a larger one than relative to white.
    #[test]
    fn displayed_errors_are_those_that_show() {
        let (white_balance, tonemap) = (WhiteBalance::default(), Tonemap::Clip);
        let measure = ErrorMeasure::Displayed { exposure: Exposure::Stops(1.0), white_balance, tonemap };
        // 2 · 0.1 and 2 · 0.02, encoded: d/dx 1.055 x^(1/2.4) = 0.4396 x^(-1.4/2.4).
        let slope = |x: f64| 1.055 / 2.4 * x.powf(-1.4 / 2.4);
        let film = film(vec![pixel(0.1, 1e-4), pixel(0.02, 1e-4), pixel(7.0, 1.0), Pixel::default()]);
        close(&measure.errors(&film)[..3], &[slope(0.2) * 2e-4, slope(0.04) * 2e-4, 0.0]);
        assert_eq!(measure.errors(&film)[3], f32::INFINITY);
    }

    #[test]
    fn errors_are_counted() {
        let errors: Vec<f32> = (1..=100).map(|i| i as f32).chain([f32::NAN]).collect();
        assert_eq!((part_within(&errors, 99.0), part_within(&errors, 98.5)), (0.99, 0.98));
        assert_eq!((error_at(&errors, 99.0), error_at(&errors, 100.0)), (99.0, 100.0));
        assert_eq!((error_at(&errors, 0.0), error_at(&errors, 50.0)), (1.0, 50.0));
        assert_eq!((part_within(&[], 0.1), error_at(&[], 50.0)), (1.0, 0.0));
    }
}
