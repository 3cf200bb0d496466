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
        let outcome = encoded.map_err(|e| WriteError::new(&target.path, &e)).and_then(|encoded| {
            Ok(WrittenFile { clamped_pixels: encoded.clamped, ..target.write(&encoded.bytes)? })
        });
        match outcome {
            Ok(file) => written.push(file),
            Err(error) => failed.push(error),
        }
    }
    (written, failed)
}
