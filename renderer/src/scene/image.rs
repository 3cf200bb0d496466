//! Image files for textures.

use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

use image::{DynamicImage, ImageReader};

use super::error::io_reason;
use super::limits::{MAX_IMAGE_BYTES, MAX_IMAGE_SIDE, human_bytes};
use super::{Format, Image};

/// Reads a PNG, JPEG, HDR or EXR file. Bytes are taken as sRGB or as they are; floats are linear.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn read(path: &Path, is_srgb: bool) -> Result<Image, String> {
    let file = File::open(path).map_err(|e| super::load::unreadable(path, &e))?;
    let mut bytes = Vec::new();
    let mut limited = BufReader::new(file).take(MAX_IMAGE_BYTES + 1);
    limited.read_to_end(&mut bytes).map_err(|e| io_reason(&e))?;
    if bytes.len() as u64 > MAX_IMAGE_BYTES {
        return Err(format!("it is larger than {}", human_bytes(MAX_IMAGE_BYTES.into())));
    }
    let mut reader =
        ImageReader::new(Cursor::new(&bytes)).with_guessed_format().map_err(|e| io_reason(&e))?;
    if reader.format().is_none() {
        return Err("it is not an image that is known: PNG, JPEG, HDR or OpenEXR".to_owned());
    }
    let mut limits = image::Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(MAX_IMAGE_SIDE), Some(MAX_IMAGE_SIDE));
    reader.limits(limits);
    let decoded = reader.decode().map_err(|e| e.to_string())?;
    from_decoded(&decoded, is_srgb)
}

fn from_decoded(decoded: &DynamicImage, is_srgb: bool) -> Result<Image, String> {
    let (width, height) = (decoded.width(), decoded.height());
    if width == 0 || height == 0 {
        return Err("it has no pixels".to_owned());
    }
    let is_float = matches!(decoded, DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_));
    let is_16_bit = matches!(
        decoded,
        DynamicImage::ImageLuma16(_)
            | DynamicImage::ImageLumaA16(_)
            | DynamicImage::ImageRgb16(_)
            | DynamicImage::ImageRgba16(_)
    );
    if is_float || (is_16_bit && !is_srgb) {
        let rgb = decoded.to_rgb32f();
        if rgb.iter().any(|x| !x.is_finite()) {
            return Err("it has pixels that are not finite".to_owned());
        }
        let texels = rgb.iter().map(|x| x.to_bits()).collect();
        return Ok(Image { width, height, format: Format::RgbF32, texels });
    }
    let texels = decoded.to_rgba8().pixels().map(|p| u32::from_le_bytes(p.0)).collect();
    let format = if is_srgb { Format::Srgb8 } else { Format::Rgba8 };
    Ok(Image { width, height, format, texels })
}
