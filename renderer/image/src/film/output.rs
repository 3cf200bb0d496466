//! One image to files of several formats.

use super::encode::{Provenance, Settings, encode, encode_layers};
use super::write::{Target, WriteError, WrittenFile};
use super::{Format, Image, Layers};

/// Writes an image to every target that it can be written to; those that are EXR get `layers`, which hold the image.
pub fn write_images(
    targets: &[Target],
    image: &Image,
    layers: &dyn Fn() -> Layers,
    settings: &Settings,
    about: &Provenance,
) -> (Vec<WrittenFile>, Vec<WriteError>) {
    let (mut written, mut failed) = (Vec::new(), Vec::new());
    for target in targets {
        let encoded = match target.format {
            Format::Exr => encode_layers(layers(), settings.exr),
            format => encode(image, format, settings, about),
        };
        let clamped_pixels = encoded.as_ref().map_or(0, |encoded| encoded.clamped);
        match target.destination.write_encoded(encoded.map(|encoded| encoded.bytes)) {
            Ok(file) => written.push(WrittenFile { clamped_pixels, ..file }),
            Err(error) => failed.push(error),
        }
    }
    (written, failed)
}
