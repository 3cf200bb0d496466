//! What an EXR file holds beside the image.

use super::layers::{Layers, SAMPLES, STDERR, Samples};
use super::{Film, Image};

/// The image, standard errors of its pixels, and how many samples these are made of: what comparing images takes.
pub fn layers(film: &Film) -> Layers {
    let mut layers = Layers::from(&Image::from(film));
    let stderr: Vec<_> = film.pixels.iter().map(|p| p.stderr().map(|x| x as f32)).collect();
    layers.push_floats(STDERR, ["R", "G", "B"], &stderr);
    let samples = film.pixels.iter().map(|p| u32::try_from(p.count).unwrap_or(u32::MAX));
    layers.push(SAMPLES, Samples::Uint(samples.collect()));
    layers
}
