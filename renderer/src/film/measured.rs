//! An image, and what is known of its noise.

use std::path::Path;

use super::format::Format;
use super::image::{Image, ReadError};
use super::layers::{Channel, Layers, SAMPLES, STDERR, Samples};
use super::{Film, read_layers};

/// An image, and what is known of its noise: what is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The image: per pixel and channel, the mean of its samples.
    pub image: Image,
    /// How far the means may be off, if that is known.
    pub noise: Option<Noise>,
    /// How the means were rounded when they were stored.
    pub rounding: Rounding,
}

/// The noise of an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// Standard errors of the means, ≥ 0; infinite where nothing is known.
    pub stderr: Vec<[f32; 3]>,
    /// Number of independent samples per pixel (or of renders, where the standard errors come from the spread of
    /// these) that means and standard errors are estimated from; `None` if unknown.
    pub samples: Option<Vec<f32>>,
    /// Whether the noise of each pixel is known to be independent of its neighbours', as with a reconstruction filter
    /// that is no wider than a pixel.
    pub is_independent: bool,
}

/// How numbers were rounded when they were stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rounding {
    /// Not to speak of: 32-bit floats.
    #[default]
    Float,
    /// To 16-bit floats, 11 bits of precision.
    Half,
    /// To the shared exponents of Radiance files, 8 bits of the brightest channel.
    Rgbe,
    /// To the 8 or 16 bits of a display's values: means nothing for radiance.
    Display,
}

/// The attribute of EXR files that names the reconstruction filter. Ours is "box": samples count for the pixel that
/// they are in, and for no other.
pub const PIXEL_FILTER: &str = "pixelFilter";

impl From<&Film> for Measured {
    fn from(film: &Film) -> Self {
        let stderr = film.pixels.iter().map(|p| p.stderr().map(|x| x as f32)).collect();
        let samples = film.pixels.iter().map(|p| p.count as f32).collect();
        Self {
            image: Image::from(film),
            noise: Some(Noise { stderr, samples: Some(samples), is_independent: true }),
            rounding: Rounding::Float,
        }
    }
}

impl Measured {
    /// Reads an image, and its standard errors and sample counts where the file has them: layer `stderr` and channel
    /// `samples`, as [`crate::film::encode`] writes them.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let format = Format::of(path)?;
        let layers = read_layers(path)?;
        let image = layers.image().ok_or_else(|| ReadError::Invalid {
            format,
            reason: "it has neither channels R, G and B nor Y".into(),
        })?;
        let is_independent = layers.attributes.get(PIXEL_FILTER).is_some_and(|filter| filter == "box");
        let noise = layers.rgb(STDERR);
        let noise = noise.map(|stderr| Noise { stderr, samples: samples(&layers), is_independent });
        if let Some(noise) = &noise {
            noise.check(layers.width).map_err(|reason| ReadError::Invalid { format, reason })?;
        }
        let rounding = match format {
            Format::Png => Rounding::Display,
            Format::Hdr => Rounding::Rgbe,
            Format::Pfm => Rounding::Float,
            Format::Exr => exr_rounding(&layers),
        };
        Ok(Self { image, noise, rounding })
    }
}

impl Noise {
    /// Refuses standard errors that are none: NaN or negative.
    fn check(&self, width: u32) -> Result<(), String> {
        let is_valid = |e: &f32| *e >= 0.0;
        match self.stderr.iter().position(|e| !e.iter().all(is_valid)) {
            None => Ok(()),
            Some(i) => {
                let (x, y) = (i % width as usize, i / width as usize);
                Err(format!("layer \"{STDERR}\" is NaN or negative at pixel ({x}, {y})"))
            }
        }
    }
}

/// Samples per pixel: a channel, or one number for all.
fn samples(layers: &Layers) -> Option<Vec<f32>> {
    if let Some(channel) = layers.channel(SAMPLES) {
        return Some((0..channel.samples.len()).map(|i| channel.samples.get(i)).collect());
    }
    let all: f32 = layers.attributes.get("spp")?.parse().ok()?;
    Some(vec![all; layers.width as usize * layers.height as usize])
}

fn exr_rounding(layers: &Layers) -> Rounding {
    let is_half = |c: &&Channel| matches!(c.samples, Samples::Half(_));
    let halves = layers.rgb_channels("").is_some_and(|rgb| rgb.iter().any(is_half));
    if halves { Rounding::Half } else { Rounding::Float }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::Pixel;
    use crate::film::encode::{ExrDepth, encode_layers};

    fn film() -> Film {
        let pixel = |mean: f64, count: u64| {
            let n = count as f64;
            Pixel { sum: [mean * n; 3], sum_sq: [n * (mean * mean + 0.25); 3], count, rejected: 0 }
        };
        let pixels = vec![pixel(0.1, 16), pixel(2.0, 1), Pixel::default(), pixel(0.7, 100_000_001)];
        Film { width: 2, height: 2, pixels }
    }

    fn through_file(layers: Layers, depth: ExrDepth) -> Result<Measured, ReadError> {
        let file = tempfile::Builder::new().suffix(".exr").tempfile().unwrap();
        std::fs::write(file.path(), encode_layers(layers, depth).unwrap().bytes).unwrap();
        Measured::read(file.path())
    }

    #[test]
    fn a_film_is_measured_alike_in_memory_and_in_a_file() {
        let measured = Measured::from(&film());
        assert_eq!(through_file(Layers::from(&film()), ExrDepth::Float).unwrap(), measured);
        let half = through_file(Layers::from(&film()), ExrDepth::Half).unwrap();
        assert_eq!((half.rounding, &half.noise), (Rounding::Half, &measured.noise));
        assert_eq!(half.image.pixels[1], [2.0; 3]);
        let Noise { stderr, samples } = measured.noise.unwrap();
        assert!((stderr[0][0] - (0.25_f32 / 15.0).sqrt()).abs() < 1e-6);
        assert_eq!(stderr[1..3], [[f32::INFINITY; 3]; 2]);
        assert_eq!(samples.unwrap()[..3], [16.0, 1.0, 0.0]);
    }

    #[test]
    fn standard_errors_that_are_none_are_refused() {
        for wrong in [f32::NAN, -1e-3] {
            let mut layers = Layers::from(&film());
            let stderr = layers.channels.iter_mut().find(|c| c.name == "stderr.G").unwrap();
            stderr.samples = Samples::Float(vec![0.1, 0.1, wrong, 0.1]);
            let message = through_file(layers, ExrDepth::Float).unwrap_err().to_string();
            assert!(message.contains("pixel (0, 1)") && message.contains("stderr"), "{message}");
        }
    }
}
