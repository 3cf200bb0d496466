//! Images to be denoised, as files.

use std::path::Path;

use renderer::denoise::{DENOISER, Noisy};
use torrance_image::film::{Extent, read_layers};

use super::super::{Notes, count};
use super::BYTES;

/// Reads an image. The error is the end of a sentence about the file.
pub(super) fn read(path: &Path) -> Result<Noisy, String> {
    let extent = Extent::of(path).map_err(|e| e.to_string())?;
    extent.check_memory("denoising it", BYTES + extent.bytes_per_pixel).map_err(|e| e.to_string())?;
    let file = read_layers(path).map_err(|e| e.to_string())?;
    match file.rgb("") {
        Some(_) => Ok(Noisy::new(file)),
        None => Err(file.no_image()),
    }
}

/// Warns of what the file called `name` lacks or would lose.
pub(super) fn warn(noisy: &Noisy, name: &str, notes: &mut Notes) {
    if noisy.missing > 0 {
        let pixels = count(noisy.missing as u64, "pixel");
        notes.warn(format!("\"{name}\": {pixels} NaN or infinite, taken as black"));
    }
    if noisy.file.attributes.contains_key(DENOISER) {
        notes.warn(format!("\"{name}\": has a denoised image already, which is replaced"));
    }
    if noisy.albedo.is_none() {
        notes.warn(format!(
            "\"{name}\": without a layer of albedo, detail is lost; torrance render --aov albedo,N writes one"
        ));
    }
}
