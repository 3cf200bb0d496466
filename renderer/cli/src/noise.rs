//! `--noise`: the noise that ends a render.

use renderer::render::{ErrorGoal, NoiseGoal, Shortfall};
use torrance_image::film::ImageEstimate;
use torrance_image::film::error::ErrorMeasure;

use super::render::ImageArgs;
use super::values;
use super::{Failure, Notes};

/// When noise ends a render.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct NoiseArgs {
    /// Stop when noise is as low, as in 1% or 0.01, and take samples where it is not; without --spp, as many as it takes
    #[arg(long, value_name = "ERROR", value_parser = values::noise, allow_negative_numbers = true)]
    noise: Option<f64>,

    /// What the bound of --noise is for
    #[arg(long, value_name = "WHAT", default_value = "pixels", value_parser = values::choice(KINDS), requires = "noise")]
    noise_of: Kind,

    /// Percentage of the pixels whose errors are to be within the bound of --noise [default: 99]
    #[arg(long, value_name = "PERCENT", value_parser = values::percentile, requires = "noise")]
    percentile: Option<f64>,

    /// Take as many samples of every pixel, however noisy some are
    #[arg(long, requires = "noise")]
    uniform: bool,
}

/// What a bound is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pixels,
    Display,
    Image,
}

const KINDS: &[(&str, &str, Kind)] = &[
    (
        "pixels",
        "Standard errors of the pixels, relative to their luminance, or to a tenth of the image's mean where it is darker",
        Kind::Pixels,
    ),
    (
        "display",
        "Standard errors of the pixels as a display shows them, by --exposure and --tonemap; white is 100%",
        Kind::Display,
    ),
    (
        "image",
        "The root mean square of all standard errors, relative to the image's mean; implies --uniform",
        Kind::Image,
    ),
];

impl NoiseArgs {
    /// Whether noise ends the render.
    pub(super) const fn is_given(&self) -> bool {
        self.noise.is_some()
    }

    /// Checks that options go together.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match (self.noise_of, self.percentile) {
            (Kind::Image, Some(_)) => Err(Failure::input(
                "--percentile: --noise-of image bounds one number, not pixels; leave one of them out",
            )),
            _ => Ok(()),
        }
    }

    /// Whether it is what displays show that is bounded.
    pub(super) fn is_of_display(&self) -> bool {
        self.is_given() && self.noise_of == Kind::Display
    }

    /// The noise to reach, of images that are developed by `image`, if each is one of so many parts: that of their mean is the bound.
    pub(super) fn goal(&self, image: &ImageArgs, parts: u32) -> Option<NoiseGoal> {
        let bound = self.noise? * f64::from(parts).sqrt();
        let measure = match self.noise_of {
            Kind::Image => return Some(NoiseGoal::Image(bound)),
            Kind::Pixels => ErrorMeasure::Relative,
            Kind::Display => image.displayed(),
        };
        let (percentile, is_uniform) = (self.percentile.unwrap_or(99.0), self.uniform);
        Some(NoiseGoal::Pixels(ErrorGoal { bound, measure, percentile, is_uniform }))
    }
}

impl Notes {
    /// Warns of an image that did not reach the noise that was wanted, or ended because it had none.
    /// `noise` is its relative standard error as a whole.
    pub(super) fn warn_of_noise(
        &mut self,
        name: &str,
        (measured, noise): (&ImageEstimate, f64),
        goal: &NoiseGoal,
    ) {
        if noise == 0.0 {
            return self.warn(format!("{name} showed no noise at all at the first look, and ended"));
        }
        match goal {
            NoiseGoal::Image(wanted) => self.warn_of_image_noise(name, noise, *wanted),
            NoiseGoal::Pixels(goal) => self.warn_of_shortfall(name, goal, goal.shortfall(measured)),
        }
    }

    /// As [`Notes::warn_of_noise`], of the noise of pixels.
    pub(super) fn warn_of_shortfall(&mut self, name: &str, goal: &ErrorGoal, shortfall: Option<Shortfall>) {
        let Some(Shortfall { within, error }) = shortfall else { return };
        let percentile = goal.percentile;
        let [bound, error] = [goal.bound, error].map(|x| 100.0 * x);
        self.warn(format!(
            "{name} ended with {within:.2} % of its pixels within {bound:.3} %, and {percentile} % within {error:.3} %"
        ));
    }

    /// As [`Notes::warn_of_noise`], of the noise of an image as a whole.
    pub(super) fn warn_of_image_noise(&mut self, name: &str, noise: f64, wanted: f64) {
        if noise.is_nan() || noise > wanted * 1.001 {
            let [noise, wanted] = [noise, wanted].map(|x| 100.0 * x);
            self.warn(format!("{name} ended at a noise of {noise:.3} %, not {wanted:.3} %"));
        }
    }
}
