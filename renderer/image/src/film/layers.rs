//! The contents of an image file: named channels and metadata attributes.

use std::collections::BTreeMap;

use half::f16;
use rayon::prelude::*;
use torrance_text::{hint, quoted};

use super::image::Image;
use super::{Film, Wide, cryptomatte};

/// The layer of standard errors of the image's channels: `stderr.R`, `stderr.G`, `stderr.B`.
pub const STDERR: &str = "stderr";

/// The channel of sample counts.
pub const SAMPLES: &str = "samples";
/// The attribute that says to what indirect light has been clamped, if it has.
pub const CLAMP_INDIRECT: &str = "clampIndirect";
/// The attribute that says what has denoised an image.
pub const DENOISER: &str = "denoiser";

/// What the names of layers begin with that hold the light of a group of lights: `light.sun.R`, and so on. They add up to the image.
pub const LIGHT: &str = "light.";

/// The layer of sums over samples: bits of `sums.xR.0`, …. Of each sum, the words 0 and 1 are a 64-bit float, and 2 is what is left
/// to add to it.
pub const SUMS: &str = "sums";

/// The sums over the samples x of a pixel, by their names in files.
const SUMMED: [&str; 6] = ["xR", "xG", "xB", "xxR", "xxG", "xxB"];

/// The words of a sum.
const WORDS: [&str; 3] = ["0", "1", "2"];

/// What indirect light of an image with such attributes has been clamped to, if it has.
pub fn clamped(attributes: &BTreeMap<String, String>) -> Option<f32> {
    attributes.get(CLAMP_INDIRECT)?.parse().ok()
}

fn words(sum: Wide) -> [u32; 3] {
    let (hi, lo) = sum.parts();
    let bits = hi.to_bits();
    [(bits >> 32) as u32, bits as u32, lo.to_bits()]
}

fn sum_of([high, low, rest]: [u32; 3]) -> Wide {
    Wide::new(f64::from_bits(u64::from(high) << 32 | u64::from(low)), f32::from_bits(rest))
}

/// The channels of an image file and its metadata.
///
/// Names follow OpenEXR: `R`, `G` and `B` are the image; a channel of a layer is named after the layer, a dot and the
/// component, as in `stderr.R` or `N.X`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layers {
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// The channels, each of `width · height` samples, row by row from the top left.
    pub channels: Vec<Channel>,
    /// Metadata attributes of the file, by name, as text.
    pub attributes: BTreeMap<String, String>,
}

/// One number per pixel.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// Full name, including the layer.
    pub name: String,
    /// Its samples.
    pub samples: Samples,
}

/// The samples of a channel, in their storage type.
#[derive(Debug, Clone, PartialEq)]
pub enum Samples {
    /// 16-bit floats.
    Half(Vec<f16>),
    /// 32-bit floats.
    Float(Vec<f32>),
    /// Integers.
    Uint(Vec<u32>),
}

impl Samples {
    /// Sample `i` as a float.
    ///
    /// # Panics
    /// If `i` is out of range.
    pub fn get(&self, i: usize) -> f32 {
        match self {
            Self::Half(x) => x[i].to_f32(),
            Self::Float(x) => x[i],
            Self::Uint(x) => x[i] as f32,
        }
    }

    /// All samples as floats.
    pub fn floats(&self) -> Vec<f32> {
        (0..self.len()).map(|i| self.get(i)).collect()
    }

    /// Sample `i` exactly.
    ///
    /// # Panics
    /// If `i` is out of range.
    pub fn get_f64(&self, i: usize) -> f64 {
        match self {
            Self::Uint(x) => x[i].into(),
            _ => self.get(i).into(),
        }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        match self {
            Self::Half(x) => x.len(),
            Self::Float(x) => x.len(),
            Self::Uint(x) => x.len(),
        }
    }

    /// Whether the channel is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Channel {
    /// Whether the channel is part of a colour, of the image or of a layer. Colours are for viewing and may be rounded to
    /// half floats; standard errors, and the ids of a Cryptomatte, are for computing and may not.
    pub fn is_color(&self) -> bool {
        let (layer, name) = self.name.rsplit_once('.').unwrap_or(("", &self.name));
        match name {
            "R" | "G" | "B" => layer != STDERR && !cryptomatte::is_of_ranks(layer),
            // Alone it is grey; in a layer it is the second axis.
            "Y" => layer.is_empty(),
            _ => false,
        }
    }
}

/// The nearest half; finite values stay finite.
fn to_half(x: f32) -> f16 {
    f16::from_f32(if x.is_finite() { x.clamp(f16::MIN.to_f32(), f16::MAX.to_f32()) } else { x })
}

impl From<&Film> for Layers {
    /// The image, its standard errors and its sample counts: the layers that a comparison needs.
    fn from(film: &Film) -> Self {
        let mut layers = Self::from(&Image::from(film));
        layers.push_stderr(film);
        layers.push_samples(film);
        layers
    }
}

impl Layers {
    /// Adds the standard errors of the film's pixels, as [`STDERR`].
    pub fn push_stderr(&mut self, film: &Film) {
        let stderr: Vec<_> = film.pixels.iter().map(|p| p.stderr().map(|x| x as f32)).collect();
        self.push_floats(STDERR, ["R", "G", "B"], &stderr);
    }

    /// Adds the sample counts of the film's pixels, as [`SAMPLES`].
    pub fn push_samples(&mut self, film: &Film) {
        let samples = film.pixels.iter().map(|p| u32::try_from(p.count).unwrap_or(u32::MAX));
        self.push(SAMPLES, Samples::Uint(samples.collect()));
    }

    /// Adds the sums of the film's pixels, as [`SUMS`], for films to be put together without loss.
    pub fn push_sums(&mut self, film: &Film) {
        for (i, name) in SUMMED.into_iter().enumerate() {
            let sums: Vec<_> = film.pixels.par_iter().map(|pixel| words(pixel.sums()[i])).collect();
            for (at, word) in WORDS.into_iter().enumerate() {
                let samples = sums.iter().map(|words| words[at]).collect();
                self.push(format!("{SUMS}.{name}.{word}"), Samples::Uint(samples));
            }
        }
        let rejected = film.pixels.iter().map(|p| u32::try_from(p.rejected).unwrap_or(u32::MAX));
        self.push(format!("{SUMS}.rejected"), Samples::Uint(rejected.collect()));
    }

    /// Whether there are sums.
    pub fn has_sums(&self) -> bool {
        self.channel(&format!("{SUMS}.rejected")).is_some()
    }

    /// The film whose sums and sample counts these are, if they are here.
    pub fn film(&self) -> Option<Film> {
        let uint = |name: &str| match &self.channel(name)?.samples {
            Samples::Uint(words) => Some(words),
            _ => None,
        };
        let rejected = uint(&format!("{SUMS}.rejected"))?;
        let mut film = Film::new(self.width, self.height);
        for (i, name) in SUMMED.into_iter().enumerate() {
            let [high, low, rest] = WORDS.map(|word| uint(&format!("{SUMS}.{name}.{word}")));
            let words = high?.par_iter().zip(low?).zip(rest?);
            film.pixels.par_iter_mut().zip(words).for_each(|(pixel, ((high, low), rest))| {
                pixel.set_sum(i, sum_of([*high, *low, *rest]));
            });
        }
        let counts = uint(SAMPLES)?.iter().zip(rejected);
        for (pixel, (count, rejected)) in film.pixels.iter_mut().zip(counts) {
            (pixel.count, pixel.rejected) = ((*count).into(), (*rejected).into());
        }
        Some(film)
    }

    /// An image without channels.
    pub fn new(width: u32, height: u32) -> Self {
        Self { width, height, ..Self::default() }
    }

    /// The same image with more metadata attributes.
    pub fn saying(mut self, attributes: impl IntoIterator<Item = (String, String)>) -> Self {
        self.attributes.extend(attributes);
        self
    }

    /// Number of pixels.
    pub fn pixels(&self) -> usize {
        self.width as usize * self.height as usize
    }

    /// Adds a channel.
    ///
    /// # Panics
    /// If it does not have exactly one sample per pixel.
    pub fn push(&mut self, name: impl Into<String>, samples: Samples) {
        assert_eq!(samples.len(), self.pixels(), "samples of a channel");
        self.channels.push(Channel { name: name.into(), samples });
    }

    /// Adds a channel of floats for every component of a layer. An empty layer name stands for the image itself.
    ///
    /// # Panics
    /// If there is not exactly one value per pixel.
    pub fn push_floats<const N: usize>(&mut self, layer: &str, components: [&str; N], values: &[[f32; N]]) {
        for (c, component) in components.into_iter().enumerate() {
            let name = if layer.is_empty() { component.to_owned() } else { format!("{layer}.{component}") };
            self.push(name, Samples::Float(values.iter().map(|v| v[c]).collect()));
        }
    }

    /// Rounds colours to half floats and returns the number of pixels clamped to their range.
    pub fn round_colors_to_half(&mut self) -> usize {
        let colors = || self.channels.iter().filter(|c| c.is_color());
        let exceeds = |x: f32| x.is_finite() && x.abs() > f16::MAX.to_f32();
        let clamped = (0..self.pixels()).filter(|&i| colors().any(|c| exceeds(c.samples.get(i)))).count();
        for channel in self.channels.iter_mut().filter(|c| c.is_color()) {
            if let Samples::Float(x) = &channel.samples {
                channel.samples = Samples::Half(x.iter().map(|x| to_half(*x)).collect());
            }
        }
        clamped
    }

    /// The channel of this name.
    pub fn channel(&self, name: &str) -> Option<&Channel> {
        self.channels.iter().find(|c| c.name == name)
    }

    /// Three channels of a layer, or of the image itself if `layer` is empty: `R`, `G` and `B`, or for a layer such as the
    /// normals `X`, `Y` and `Z`. A single channel `Y`, or one named like the layer, is grey.
    pub fn rgb(&self, layer: &str) -> Option<Vec<[f32; 3]>> {
        let [r, g, b] = self.rgb_channels(layer)?;
        Some((0..self.pixels()).map(|i| [r.samples.get(i), g.samples.get(i), b.samples.get(i)]).collect())
    }

    /// The channels that [`Layers::rgb`] reads.
    pub fn rgb_channels(&self, layer: &str) -> Option<[&Channel; 3]> {
        let named = |name: &str| {
            let full = if layer.is_empty() { name.to_owned() } else { format!("{layer}.{name}") };
            self.channel(&full)
        };
        let three = |[a, b, c]: [&str; 3]| Some([named(a)?, named(b)?, named(c)?]);
        let vector = || if layer.is_empty() { None } else { three(["X", "Y", "Z"]) };
        let grey = || Some([named("Y").or_else(|| self.channel(layer))?; 3]);
        three(["R", "G", "B"]).or_else(vector).or_else(grey)
    }

    /// Explains why [`Layers::rgb_channels`] finds nothing, by listing the layers that the file has.
    pub fn missing(&self, layer: &str) -> String {
        if layer.is_empty() {
            return self.no_image();
        }
        let names = self.channels.iter().map(|c| c.name.as_str());
        let mut layers: Vec<_> = names.map(|n| n.rsplit_once('.').map_or(n, |(layer, _)| layer)).collect();
        layers.dedup();
        layers.retain(|name| self.rgb_channels(name).is_some() && !matches!(*name, "R" | "G" | "B" | "Y"));
        format!("it has no layer {}{}", quoted(layer), hint(layer, "it has", layers))
    }

    /// Explains that no image is among the channels, by listing those that are.
    pub fn no_image(&self) -> String {
        const MOST: usize = 8;
        let mut names: Vec<_> = self.channels.iter().take(MOST).map(|c| format!("{:?}", c.name)).collect();
        if self.channels.len() > MOST {
            names.push(format!("{} more", self.channels.len() - MOST));
        }
        format!("it has neither channels R, G and B nor Y, but {}", names.join(", "))
    }

    /// The image itself.
    pub fn image(&self) -> Option<Image> {
        Some(Image { width: self.width, height: self.height, pixels: self.rgb("")? })
    }
}
