//! An image and its noise estimate.

use std::path::Path;
use std::str::FromStr;

use rayon::prelude::*;

use super::format::Format;
use super::image::{Image, ReadError};
use super::layers::{self, Layers, SAMPLES, STDERR, Samples};
use super::{Film, PIXELS_PER_TASK, Pixel, read_layers};

/// An image and its noise estimate, the input of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageEstimate {
    /// The image: per pixel and channel, the mean of its samples.
    pub image: Image,
    /// The uncertainty of the means, if known.
    pub noise: Option<Noise>,
    /// How the means were rounded when they were stored.
    pub rounding: Rounding,
    /// The radiance that indirect light was clamped to, if it was: the means then lack light.
    pub clamped: Option<f32>,
}

/// The noise of an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// Standard errors of the means, ≥ 0; infinite where unknown.
    pub stderr: Vec<[f32; 3]>,
    /// Number of independent samples per pixel from which means and standard errors are estimated (or number of renders,
    /// if the standard errors come from the spread of several); `None` if unknown.
    pub samples: Option<Vec<f32>>,
    /// Whether no two pixels share samples, as with a reconstruction filter no wider than a pixel, so that the noise of
    /// neighbours is independent. Otherwise pixels may share samples, or `samples` counts renders.
    pub is_independent: bool,
}

/// How numbers were rounded when they were stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rounding {
    /// Negligibly: 32-bit floats.
    #[default]
    Float,
    /// To 16-bit floats, 11 bits of precision.
    Half,
    /// To the shared exponents of Radiance files, 8 bits of the brightest channel.
    Rgbe,
    /// To the 8 or 16 bits of display values: undefined for radiance.
    Display,
}

/// The attribute of EXR files that names the reconstruction filter. Ours is "box": each sample counts only for the pixel
/// that contains it.
pub const PIXEL_FILTER: &str = "pixelFilter";

impl From<&Film> for ImageEstimate {
    fn from(film: &Film) -> Self {
        Self::of_pixels([film.width, film.height], |i| film.pixels[i])
    }
}

impl From<&ImageEstimate> for Layers {
    /// The image and its noise estimate, as [`ImageEstimate::from_layer`] reads them.
    fn from(measured: &ImageEstimate) -> Self {
        let mut layers = Self::from(&measured.image);
        if let Some(Noise { stderr, samples, .. }) = &measured.noise {
            layers.push_floats(STDERR, ["R", "G", "B"], stderr);
            if let Some(samples) = samples {
                layers.push(SAMPLES, Samples::Uint(samples.iter().map(|n| *n as u32).collect()));
            }
        }
        layers
    }
}

/// Why a layer of an image file cannot be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EstimateError {
    /// There is no such layer: a sentence that lists those that exist.
    #[error("{0}")]
    NoLayer(String),
    /// A standard error is negative.
    #[error("standard errors are negative: {stderr} in pixel {pixel}, counted row by row")]
    Negative {
        /// The standard error.
        stderr: f32,
        /// The pixel, counted row by row.
        pixel: usize,
    },
    /// A sample count is negative or not finite.
    #[error("{0} is no number of samples")]
    SampleCount(f32),
}

impl Noise {
    /// Standard errors as stored in a file, where NaN means unknown.
    ///
    /// # Errors
    /// A standard error is negative, or a sample count is not a finite number ≥ 0.
    pub fn new(
        mut stderr: Vec<[f32; 3]>,
        samples: Option<Vec<f32>>,
        is_independent: bool,
    ) -> Result<Self, EstimateError> {
        for (i, pixel) in stderr.iter_mut().enumerate() {
            if let Some(x) = pixel.iter().find(|x| **x < 0.0) {
                return Err(EstimateError::Negative { stderr: *x, pixel: i });
            }
            *pixel = pixel.map(|x| if x.is_nan() { f32::INFINITY } else { x });
        }
        if let Some(x) = samples.iter().flatten().find(|n| !(n.is_finite() && **n >= 0.0)) {
            return Err(EstimateError::SampleCount(*x));
        }
        Ok(Self { stderr, samples, is_independent })
    }
}

impl ImageEstimate {
    /// The estimate of an image from the samples of its pixels, row by row.
    pub fn of_pixels([width, height]: [u32; 2], pixel: impl Fn(usize) -> Pixel + Sync) -> Self {
        let n = width as usize * height as usize;
        let (mut pixels, mut stderr, mut samples) = (vec![[0.0; 3]; n], vec![[0.0; 3]; n], vec![0.0; n]);
        let places = pixels.par_iter_mut().zip(&mut stderr).zip(&mut samples).enumerate();
        places.with_min_len(PIXELS_PER_TASK).for_each(|(i, ((mean, stderr), samples))| {
            let pixel = pixel(i);
            *mean = pixel.mean().map(|x| x as f32);
            *stderr = pixel.stderr().map(|x| x as f32);
            *samples = pixel.count as f32;
        });
        Self {
            image: Image { width, height, pixels },
            noise: Some(Noise { stderr, samples: Some(samples), is_independent: true }),
            rounding: Rounding::Float,
            clamped: None,
        }
    }

    /// Drops noise about which nothing is known: all standard errors are infinite, as with a single sample.
    pub fn with_known_noise(mut self) -> Self {
        self.noise = self.noise.filter(|noise| noise.stderr.iter().flatten().any(|x| x.is_finite()));
        self
    }

    /// Reads an image, and its standard errors and sample counts where the file has them: layer `stderr` and channel
    /// `samples`, as [`crate::film::encode`] writes them.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let format = Format::from_path(path)?;
        let layers = read_layers(path)?;
        Self::from_layer(&layers, "", format)
            .map_err(|reason| ReadError::Invalid { format, reason: reason.into() })
    }

    /// The layer of this name, or the image itself if the name is empty. Only the image itself has standard errors in the
    /// file.
    ///
    /// # Errors
    /// There is no such layer, or the noise estimate of the file is invalid.
    pub fn from_layer(layers: &Layers, layer: &str, format: Format) -> Result<Self, EstimateError> {
        let channels =
            layers.rgb_channels(layer).ok_or_else(|| EstimateError::NoLayer(layers.missing(layer)))?;
        let rounding = match format {
            Format::Png | Format::Jpeg | Format::WebP | Format::Jxl => Rounding::Display,
            Format::Hdr => Rounding::Rgbe,
            Format::Exr if channels.iter().any(|c| matches!(c.samples, Samples::Half(_))) => Rounding::Half,
            Format::Exr | Format::Pfm => Rounding::Float,
        };
        let pixels = layers.rgb(layer).unwrap_or_default();
        let is_independent = layers.attributes.get(PIXEL_FILTER).is_some_and(|filter| filter == "box");
        let stderr = layers.rgb(STDERR).filter(|_| layer.is_empty());
        let samples = || samples(layers, Samples::get);
        let noise = stderr.map(|stderr| Noise::new(stderr, samples(), is_independent)).transpose()?;
        let clamped = layers::clamped(&layers.attributes);
        let image = Image { width: layers.width, height: layers.height, pixels };
        Ok(Self { image, noise, rounding, clamped })
    }
}

/// Sample counts: a channel, of which `get` takes numbers, or one number for all pixels.
pub(super) fn samples<T: Clone + FromStr>(layers: &Layers, get: fn(&Samples, usize) -> T) -> Option<Vec<T>> {
    match layers.channel(SAMPLES) {
        Some(channel) => Some((0..layers.pixels()).map(|i| get(&channel.samples, i)).collect()),
        None => Some(vec![layers.attributes.get("spp")?.parse().ok()?; layers.pixels()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::Pixel;
    use crate::film::encode::{Exr, ExrDepth, encode_layers};

    fn film() -> Film {
        let pixel = |mean: f64, count: u64| {
            let n = count as f64;
            Pixel {
                sum: [(mean * n).into(); 3],
                sum_sq: [(n * (mean * mean + 0.25)).into(); 3],
                count,
                rejected: 0,
            }
        };
        let pixels = vec![pixel(0.1, 16), pixel(2.0, 1), Pixel::default(), pixel(0.7, 100_000_001)];
        Film { width: 2, height: 2, pixels }
    }

    /// The layers of a film as a file stores them.
    fn file_of(film: &Film) -> Layers {
        let mut layers = Layers::from(film);
        layers.attributes.insert(PIXEL_FILTER.into(), "box".into());
        layers
    }

    fn through_file(layers: Layers, depth: ExrDepth) -> Result<ImageEstimate, ReadError> {
        let file = tempfile::Builder::new().suffix(".exr").tempfile().unwrap();
        std::fs::write(file.path(), encode_layers(layers, Exr { depth, ..Exr::default() }).unwrap().bytes)
            .unwrap();
        ImageEstimate::read(file.path())
    }

    #[test]
    fn a_film_is_measured_alike_in_memory_and_in_a_file() {
        let measured = ImageEstimate::from(&film());
        assert_eq!(through_file(file_of(&film()), ExrDepth::Float).unwrap(), measured);
        let half = through_file(file_of(&film()), ExrDepth::Half).unwrap();
        assert_eq!((half.rounding, &half.noise), (Rounding::Half, &measured.noise));
        assert_eq!(half.image.pixels[1], [2.0; 3]);
        let Noise { stderr, samples, .. } = measured.noise.unwrap();
        assert!((stderr[0][0] - (0.25_f32 / 15.0).sqrt()).abs() < 1e-6);
        assert_eq!(stderr[1..3], [[f32::INFINITY; 3]; 2]);
        assert_eq!(samples.unwrap()[..3], [16.0, 1.0, 0.0]);
    }

    #[test]
    fn standard_errors_are_not_negative_and_those_that_are_no_numbers_say_nothing() {
        let through_file = |g| {
            let mut layers = file_of(&film());
            let stderr = layers.channels.iter_mut().find(|c| c.name == "stderr.G").unwrap();
            stderr.samples = Samples::Float(vec![0.1, 0.1, g, 0.1]);
            through_file(layers, ExrDepth::Float)
        };
        let message = through_file(-1e-3).unwrap_err().to_string();
        assert!(message.contains("standard errors are negative: -0.001 in pixel 2"), "{message}");
        assert_eq!(through_file(f32::NAN).unwrap().noise.unwrap().stderr[2][1], f32::INFINITY);
        for wrong in [f32::NAN, -1.0, f32::INFINITY] {
            let message =
                Noise::new(vec![[0.1; 3]; 2], Some(vec![4.0, wrong]), true).unwrap_err().to_string();
            assert!(message.ends_with("is no number of samples"), "{message}");
        }
    }
}
