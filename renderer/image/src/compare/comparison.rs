//! The comparison of two images: the metrics, and the verdict where their noise is known.

use super::maps::{self, Map, Picture};
use super::source::Images;
use super::{Judgement, Region, judge, words};
use crate::film::estimate::{ImageEstimate, Noise};
use crate::film::image::{Image, is_finite};
use crate::metrics::{Bias, Kind, Metrics, Pair};

/// Comparison settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The part to compare; all of it if `None`.
    pub crop: Option<Region>,
    /// Upper bound on the probability that images of equal expectations are called different.
    pub level: f64,
    /// For ꟻLIP, within [`crate::metrics::flip::PIXELS_PER_DEGREE_RANGE`].
    pub pixels_per_degree: f32,
}

/// The result of comparing two images.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The part of the images that was compared.
    pub region: Region,
    /// The compared values.
    pub pair: Pair,
    /// Their metrics.
    pub metrics: Metrics,
    /// Their mean difference.
    pub bias: Bias,
    /// Number of pixels that are not finite in the first image but are in the second, and vice versa. Noise does not
    /// explain those.
    pub only_one_finite: [usize; 2],
    /// The verdict, in coordinates of the whole images.
    pub judgement: Result<Judgement, NoVerdict>,
    /// The radiances that indirect light of the images was clamped to.
    pub clamped: [Option<f32>; 2],
}

/// Why there is no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoVerdict {
    /// Display values have no standard errors.
    Display,
    /// The noise of these images is not known.
    Unknown {
        /// Whether that of the first is unknown.
        a: bool,
        /// Whether that of the second is unknown.
        b: bool,
    },
}

/// Images that cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// The part to compare is not all within them.
    #[error("{region} are not all within the image of {} x {} pixels", whole.width, whole.height)]
    Outside {
        /// The part.
        region: Region,
        /// The whole image.
        whole: Region,
    },
    /// Each pixel is NaN or infinite in one of them.
    #[error("no pixel can be compared: in one of the images or the other, all are NaN or infinite")]
    NothingFinite,
}

/// Compares two images.
///
/// # Errors
/// Nothing can be compared.
///
/// # Panics
/// If the images differ in size.
pub fn compare(images: Images, settings: &Settings) -> Result<Comparison, CompareError> {
    let Images { mut a, mut b, kind, exact } = images;
    let whole = Region { x: 0, y: 0, width: a.image.width, height: a.image.height };
    let region = settings.crop.unwrap_or(whole);
    if !whole.contains(&region) {
        return Err(CompareError::Outside { region, whole });
    }
    if region != whole {
        (a, b) = (crop(&a, region), crop(&b, region));
    }
    let only_one_finite = only_one_finite(&a.image, &b.image);
    let pair = Pair::new(&a.image, &b.image, kind);
    let metrics = Metrics::new(&pair, settings.pixels_per_degree).ok_or(CompareError::NothingFinite)?;
    let [unknown_a, unknown_b] = [&a.noise, &b.noise].map(Option::is_none);
    let unknown = NoVerdict::Unknown { a: unknown_a && !exact[0], b: unknown_b && !exact[1] };
    let judgement = match (kind, unknown) {
        (Kind::Display, _) => Err(NoVerdict::Display),
        (_, NoVerdict::Unknown { a: false, b: false }) => {
            let mut judgement = judge(&a, &b, settings.level);
            judgement.worst.region.x += region.x;
            judgement.worst.region.y += region.y;
            Ok(judgement)
        }
        _ => Err(unknown),
    };
    let noise = judgement.is_ok().then_some([a.noise.as_ref(), b.noise.as_ref()]);
    let bias = Bias::new(&pair, noise).ok_or(CompareError::NothingFinite)?;
    let clamped = [a.clamped, b.clamped];
    Ok(Comparison { region, pair, metrics, bias, only_one_finite, judgement, clamped })
}

impl Comparison {
    /// Whether the images are known to differ.
    pub fn is_different(&self) -> bool {
        self.only_one_finite != [0, 0] || self.judgement.as_ref().is_ok_and(Judgement::is_different)
    }

    /// The verdict in sentences that call the images by their names; or why there is none, of which `no_verdict` tells.
    pub fn sentences(&self, names: [&str; 2], no_verdict: impl FnOnce(NoVerdict) -> String) -> Vec<String> {
        let are_equal = self.metrics.pointwise.mae == 0.0;
        let equal = are_equal.then(|| "All values that were compared are equal.".to_owned());
        let verdict = match &self.judgement {
            Ok(judgement) => words::describe(judgement, self.region, names),
            Err(why) => {
                let mut out = words::only_one_finite(self.only_one_finite, names);
                out.push(no_verdict(*why));
                out
            }
        };
        equal.into_iter().chain(verdict).chain(words::clamping(self.clamped, names)).collect()
    }

    /// A difference map in false colours, that of the evidence if there is a verdict and no other is asked for. Where images
    /// differ, the place of the strongest evidence is framed.
    ///
    /// # Errors
    /// A map of the evidence needs a verdict.
    pub fn picture(&self, map: Option<Map>) -> Result<Picture, NoVerdict> {
        let map = map.unwrap_or(if self.judgement.is_ok() { Map::Z } else { Map::Flip });
        let mut picture = match map {
            Map::Flip => maps::flip(&self.pair, &self.metrics.flip),
            Map::Difference => maps::difference(&self.pair, false),
            Map::Relative => maps::difference(&self.pair, true),
            Map::Z => maps::z(&self.pair, self.judgement.as_ref().map_err(|why| *why)?),
        };
        if let Ok(judgement) = &self.judgement
            && judgement.is_different()
        {
            let (whole, worst) = (self.region, judgement.worst.region);
            picture.outline(Region { x: worst.x - whole.x, y: worst.y - whole.y, ..worst });
        }
        Ok(picture)
    }
}

/// Number of pixels that are not finite in `a` but are in `b`, and the other way round.
pub fn only_one_finite(a: &Image, b: &Image) -> [usize; 2] {
    let mut counts = [0, 0];
    for (a, b) in a.pixels.iter().zip(&b.pixels) {
        counts[0] += usize::from(!is_finite(a) && is_finite(b));
        counts[1] += usize::from(is_finite(a) && !is_finite(b));
    }
    counts
}

/// Crops an image and its noise to a region.
///
/// # Panics
/// If the region is not all within the image.
pub fn crop(measured: &ImageEstimate, region: Region) -> ImageEstimate {
    let width = measured.image.width;
    let noise = measured.noise.as_ref().map(|noise| Noise {
        stderr: cut(&noise.stderr, width, region),
        samples: noise.samples.as_ref().map(|s| cut(s, width, region)),
        is_independent: noise.is_independent,
    });
    let &ImageEstimate { rounding, clamped, .. } = measured;
    ImageEstimate { image: crop_image(&measured.image, region), noise, rounding, clamped }
}

/// Crops an image to a region.
///
/// # Panics
/// If the region is not all within the image.
pub fn crop_image(image: &Image, region: Region) -> Image {
    let pixels = cut(&image.pixels, image.width, region);
    Image { width: region.width, height: region.height, pixels }
}

/// The values of a region, of as many columns as `width` says.
fn cut<T: Copy>(values: &[T], width: u32, region: Region) -> Vec<T> {
    let [x, y, w, h] = [region.x, region.y, region.width, region.height].map(|n| n as usize);
    let rows = values.chunks_exact(width as usize).skip(y).take(h);
    rows.flat_map(|row| &row[x..x + w]).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::estimate::Rounding;

    const SETTINGS: Settings = Settings { crop: None, level: 0.01, pixels_per_degree: 67.0 };

    fn measured(pixels: impl Fn(u32, u32) -> f32) -> ImageEstimate {
        let (width, height) = (12, 9);
        let pixels = (0..width * height).map(|i| [pixels(i % width, i / width); 3]).collect();
        let image = Image { width, height, pixels };
        ImageEstimate { image, noise: None, rounding: Rounding::Float, clamped: None }
    }

    fn images(a: impl Fn(u32, u32) -> f32, b: impl Fn(u32, u32) -> f32) -> Images {
        Images { a: measured(a), b: measured(b), kind: Kind::Radiance, exact: [false; 2] }
    }

    #[test]
    fn a_crop_sees_what_is_in_it_and_nothing_else() {
        let spot = |x, y| if (x, y) == (7, 4) { 2.0 } else { 1.0 };
        let rmse = |crop| {
            let settings = Settings { crop, ..SETTINGS };
            compare(images(spot, |_, _| 1.0), &settings).unwrap().metrics.pointwise.rmse
        };
        assert!((rmse(None) - (1.0 / 108.0_f64).sqrt()).abs() < 1e-9);
        assert_eq!(rmse(Some(Region { x: 7, y: 4, width: 1, height: 1 })), 1.0);
        assert_eq!(rmse(Some(Region { x: 7, y: 3, width: 2, height: 2 })), 0.5);
        for (x, y, width, height) in [(8, 0, 4, 9), (0, 0, 7, 9), (0, 5, 12, 4), (0, 0, 12, 4)] {
            assert_eq!(rmse(Some(Region { x, y, width, height })), 0.0, "{x} {y}");
        }
        for (x, y, width, height) in [(8, 0, 5, 9), (0, 9, 1, 1), (u32::MAX, 0, 2, 1)] {
            let crop = Some(Region { x, y, width, height });
            let error = compare(images(spot, spot), &Settings { crop, ..SETTINGS }).unwrap_err().to_string();
            assert!(error.ends_with("are not all within the image of 12 x 9 pixels"), "{error}");
        }
    }

    /// A NaN that both have is a matter of the scene; one that is new is a difference.
    #[test]
    fn pixels_that_only_one_has_are_a_difference() {
        let hole = |x, y| if (x, y) == (7, 4) { f32::NAN } else { 1.0 };
        let whole = |_, _| 1.0;
        let made = |images| {
            let made = compare(images, &SETTINGS).unwrap();
            assert_eq!(made.metrics.pointwise.rmse, 0.0);
            (made.only_one_finite, made.metrics.left_out, made.is_different())
        };
        assert_eq!(made(images(whole, whole)), ([0, 0], 0, false));
        assert_eq!(made(images(hole, hole)), ([0, 0], 1, false));
        assert_eq!(made(images(hole, whole)), ([1, 0], 1, true));
        assert_eq!(made(images(whole, hole)), ([0, 1], 1, true));
        let nothing = compare(images(whole, |_, _| f32::INFINITY), &SETTINGS).unwrap_err();
        assert_eq!(nothing, CompareError::NothingFinite);
    }
}
