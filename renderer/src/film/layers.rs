//! Everything that an image file holds: any channels, by name, and what it says of itself.

use std::collections::BTreeMap;

use half::f16;

use super::image::Image;

/// The channels of an image file, and what it says of itself.
///
/// Names are those of OpenEXR: `R`, `G` and `B` are the image; channels of a layer have its name and a dot before
/// theirs, as in `stderr.R` or `N.X`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layers {
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// The channels, each of `width · height` samples, row by row from the top left.
    pub channels: Vec<Channel>,
    /// What the file says of itself, by name, as text.
    pub attributes: BTreeMap<String, String>,
}

/// One number a pixel.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// Its name, with its layer's.
    pub name: String,
    /// Its samples.
    pub samples: Samples,
}

/// The samples of a channel, in the type in which they are stored.
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
    /// If there are not so many.
    pub fn get(&self, i: usize) -> f32 {
        match self {
            Self::Half(x) => x[i].to_f32(),
            Self::Float(x) => x[i],
            Self::Uint(x) => x[i] as f32,
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Layers {
    /// The channel of this name.
    pub fn channel(&self, name: &str) -> Option<&Channel> {
        self.channels.iter().find(|c| c.name == name)
    }

    /// Channels `R`, `G` and `B` of a layer, or of the image itself if `layer` is empty. A single channel `Y`, or
    /// one that is named as the layer, is grey.
    pub fn rgb(&self, layer: &str) -> Option<Vec<[f32; 3]>> {
        let [r, g, b] = self.rgb_channels(layer)?;
        let n = self.width as usize * self.height as usize;
        Some((0..n).map(|i| [r.samples.get(i), g.samples.get(i), b.samples.get(i)]).collect())
    }

    /// The channels that [`Layers::rgb`] reads.
    pub fn rgb_channels(&self, layer: &str) -> Option<[&Channel; 3]> {
        let named = |name: &str| {
            let full = if layer.is_empty() { name.to_owned() } else { format!("{layer}.{name}") };
            self.channel(&full)
        };
        if let (Some(r), Some(g), Some(b)) = (named("R"), named("G"), named("B")) {
            return Some([r, g, b]);
        }
        let grey = named("Y").or_else(|| self.channel(layer))?;
        Some([grey; 3])
    }

    /// The image itself.
    pub fn image(&self) -> Option<Image> {
        Some(Image { width: self.width, height: self.height, pixels: self.rgb("")? })
    }
}
