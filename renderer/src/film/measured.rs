//! An image, and what is known of its noise.

use std::path::Path;

use super::format::Format;
use super::image::{Image, ReadError};
use super::layers::{Channel, Layers, Samples};
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
        let noise = layers.rgb("stderr");
        let noise = noise.map(|stderr| Noise { stderr, samples: samples(&layers), is_independent });
        let rounding = match format {
            Format::Png => Rounding::Display,
            Format::Hdr => Rounding::Rgbe,
            Format::Pfm => Rounding::Float,
            Format::Exr => exr_rounding(&layers),
        };
        Ok(Self { image, noise, rounding })
    }
}

/// Samples per pixel: a channel, or one number for all.
fn samples(layers: &Layers) -> Option<Vec<f32>> {
    if let Some(channel) = layers.channel("samples") {
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
