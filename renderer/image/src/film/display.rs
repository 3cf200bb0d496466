//! Files for displays: developed images in sRGB.

use rayon::prelude::*;
use zune_core::bit_depth::BitDepth;
use zune_core::colorspace::ColorSpace;
use zune_core::options::EncoderOptions;
use zune_jpegxl::JxlSimpleEncoder;

use super::PIXELS_PER_TASK;
use super::develop::Develop;
use super::encode::{DisplayDepth, EncodeError, Settings};
use super::image::Image;

/// Quality of JPEG, from 1 to 100: artefacts are below what eyes see at a normal distance.
const JPEG_QUALITY: u8 = 95;

/// The samples of a developed image, in the machine's byte order.
fn samples(image: &Image, develop: &Develop, bits: DisplayDepth) -> Vec<u8> {
    let tasks = image.pixels.par_chunks(PIXELS_PER_TASK);
    match bits {
        DisplayDepth::Eight => {
            tasks.flat_map_iter(|pixels| pixels.iter().flat_map(|pixel| develop.to_bytes(*pixel))).collect()
        }
        DisplayDepth::Sixteen => {
            let word = |x: f64| ((x * 65535.0).round() as u16).to_ne_bytes();
            let words = |pixel: &[f32; 3]| develop.apply(*pixel).into_iter().flat_map(word);
            tasks.flat_map_iter(|pixels| pixels.iter().flat_map(words)).collect()
        }
    }
}

/// JPEG has no room for more than 8 bits.
pub(super) fn jpeg(image: &Image, settings: &Settings) -> Result<Vec<u8>, EncodeError> {
    let samples = samples(image, &settings.develop, DisplayDepth::Eight);
    let mut bytes = Vec::new();
    ::image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY)
        .encode(&samples, image.width, image.height, ::image::ExtendedColorType::Rgb8)
        .map_err(EncodeError::refused)?;
    Ok(bytes)
}

/// WebP has no room for more than 8 bits.
pub(super) fn webp(image: &Image, settings: &Settings) -> Result<Vec<u8>, EncodeError> {
    let samples = samples(image, &settings.develop, DisplayDepth::Eight);
    let mut bytes = Vec::new();
    ::image::codecs::webp::WebPEncoder::new_lossless(&mut bytes)
        .encode(&samples, image.width, image.height, ::image::ExtendedColorType::Rgb8)
        .map_err(EncodeError::refused)?;
    Ok(bytes)
}

pub(super) fn jxl(image: &Image, settings: &Settings) -> Result<Vec<u8>, EncodeError> {
    let depth = match settings.bits {
        DisplayDepth::Eight => BitDepth::Eight,
        DisplayDepth::Sixteen => BitDepth::Sixteen,
    };
    let [width, height] = [image.width, image.height].map(|n| n as usize);
    let options = EncoderOptions::new(width, height, ColorSpace::RGB, depth);
    let samples = samples(image, &settings.develop, settings.bits);
    let mut bytes = Vec::new();
    JxlSimpleEncoder::new(&samples, options)
        .encode(&mut bytes)
        .map_err(|error| EncodeError::refused(format!("{error:?}")))?;
    Ok(bytes)
}

pub(super) fn png(image: &Image, settings: &Settings) -> Result<Vec<u8>, EncodeError> {
    use ::image::ExtendedColorType::{Rgb8, Rgb16};
    let color = match settings.bits {
        DisplayDepth::Eight => Rgb8,
        DisplayDepth::Sixteen => Rgb16,
    };
    png_of([image.width, image.height], &samples(image, &settings.develop, settings.bits), color)
        .map(tag_srgb)
}

/// A PNG file of pixels that are sRGB-encoded already: red, green and blue of 8 bits each, row by row.
///
/// # Errors
/// There are no pixels, or not `width · height` of them, or the encoder fails.
pub fn png_rgb8(width: u32, height: u32, pixels: &[u8]) -> Result<Vec<u8>, EncodeError> {
    let expected = u64::from(width) * u64::from(height) * 3;
    if expected == 0 || pixels.len() as u64 != expected {
        let bytes = pixels.len();
        return Err(EncodeError::refused(format!("{bytes} bytes are no image of {width} × {height} pixels")));
    }
    png_of([width, height], pixels, ::image::ExtendedColorType::Rgb8).map(tag_srgb)
}

/// A PNG file that does not say what colours its samples are.
pub(crate) fn png_of(
    [width, height]: [u32; 2],
    samples: &[u8],
    color: ::image::ExtendedColorType,
) -> Result<Vec<u8>, EncodeError> {
    use image::ImageEncoder;
    use image::codecs::png::PngEncoder;
    let mut bytes = Vec::new();
    PngEncoder::new(&mut bytes).write_image(samples, width, height, color).map_err(EncodeError::refused)?;
    Ok(bytes)
}

/// Inserts chunks after the header of a PNG file that declare the sRGB colour space and, for simpler readers, its gamma.
/// The `image` crate has no option for them.
fn tag_srgb(png: Vec<u8>) -> Vec<u8> {
    /// Rendering intent 0, perceptual.
    const SRGB: &[u8] = b"\x00\x00\x00\x01sRGB\x00\xAE\xCE\x1C\xE9";
    /// 1/2.2 in units of 1/100000: the value that the PNG specification gives for sRGB.
    const GAMA: &[u8] = b"\x00\x00\x00\x04gAMA\x00\x00\xB1\x8F\x0B\xFC\x61\x05";
    with_chunks(png, &[SRGB, GAMA].concat())
}

/// Inserts a chunk of text into a PNG file: a keyword and what it stands for, both Latin-1.
pub(super) fn with_text(png: Vec<u8>, keyword: &str, text: &str) -> Vec<u8> {
    let data = ["tEXt", keyword, "\0", text].concat();
    let mut checksum = flate2::Crc::new();
    checksum.update(data.as_bytes());
    // The length is of what follows the name of the chunk.
    let length = (data.len() as u32 - 4).to_be_bytes();
    with_chunks(png, &[&length[..], data.as_bytes(), &checksum.sum().to_be_bytes()].concat())
}

/// Inserts chunks after the header of a PNG file.
fn with_chunks(mut png: Vec<u8>, chunks: &[u8]) -> Vec<u8> {
    /// Signature, and a chunk of 13 bytes with length, name and checksum: always the first.
    const HEADER: usize = 8 + 4 + 4 + 13 + 4;
    if png.get(12..16) == Some(b"IHDR") {
        png.splice(HEADER..HEADER, chunks.iter().copied());
    }
    png
}
