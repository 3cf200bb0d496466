//! Decoding of image files, with limits on what a header may claim.

use std::io::{Cursor, ErrorKind};

use image::codecs::webp::WebPDecoder;
use image::error::ImageError as LibraryError;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Rgb32FImage};
use torrance_image::film::image::{
    DecodeError, check_exr_headers, decode_pfm, hdr_decoder, pfm_header, png_decoder,
};
use torrance_text::{human_bytes, quoted};

use super::{ImageError, ktx2};
use crate::description::limits::{
    MAX_BLANK_TEXELS, MAX_IMAGE_SIDE, MAX_IMAGE_TEXELS, MAX_TEXELS_PER_BYTE, available_memory,
};
use crate::input::io_reason;

/// Decodes the bytes of a file, if the image is not too large.
pub(super) fn decode(bytes: &[u8], is_tga: bool) -> Result<DynamicImage, ImageError> {
    if bytes.is_empty() {
        return Err(ImageError::Empty);
    }
    if bytes.starts_with(b"PF") || bytes.starts_with(b"Pf") {
        return pfm(bytes);
    }
    if ktx2::is_ktx2(bytes) {
        return ktx2::decode(bytes);
    }
    if bytes.starts_with(b"#?") {
        let format = ImageFormat::Hdr;
        return decode_with(hdr_decoder(bytes).map_err(|e| reason(format, &e))?, format, bytes.len());
    }
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|e| ImageError::Io(io_reason(&e)))?;
    if reader.format().is_none() && is_tga {
        reader.set_format(ImageFormat::Tga);
    }
    let format = reader.format().ok_or(ImageError::NoImage)?;
    if !format.reading_enabled() {
        return Err(ImageError::Format(format!("{format:?}")));
    }
    // The decoder that the library would choose has no limit of its own for what is in the file besides the image.
    if format == ImageFormat::Png {
        let decoder = png_decoder(Cursor::new(bytes), bytes.len() as u64).map_err(|e| reason(format, &e))?;
        return decode_with(decoder, format, bytes.len());
    }
    if format == ImageFormat::WebP {
        let decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(|e| reason(format, &e))?;
        // No texture moves, and the library does not stand damaged animations.
        if decoder.has_animation() {
            return Err(ImageError::Format("animated WebP".to_owned()));
        }
        return decode_with(decoder, format, bytes.len());
    }
    if format == ImageFormat::OpenExr {
        check_exr_headers(bytes).map_err(|e| undecodable("OpenEXR", &e.to_string()))?;
    }
    // Only as much is read as says how large the image is.
    decode_with(reader.into_decoder().map_err(|e| reason(format, &e))?, format, bytes.len())
}

/// The image in a file of so many bytes.
fn decode_with(
    decoder: impl ImageDecoder,
    format: ImageFormat,
    bytes: usize,
) -> Result<DynamicImage, ImageError> {
    let (width, height) = decoder.dimensions();
    check_size(width, height, decoder.total_bytes())?;
    check_ratio(u64::from(width) * u64::from(height), bytes)?;
    DynamicImage::from_decoder(decoder).map_err(|e| reason(format, &e))
}

/// Refuses what is much larger than its file of so many bytes: a decompression bomb.
pub(super) fn check_ratio(texels: u64, bytes: usize) -> Result<(), ImageError> {
    let bytes = bytes as u64;
    let most = MAX_BLANK_TEXELS.max(MAX_TEXELS_PER_BYTE * bytes);
    if texels > most {
        let size = human_bytes(bytes.into());
        let rule = format!("{texels} pixels in {size}; the most in a file of that size is {most}");
        return Err(ImageError::Size(rule));
    }
    Ok(())
}

/// Decodes a portable float map, which the library does not support.
fn pfm(mut bytes: &[u8]) -> Result<DynamicImage, ImageError> {
    let wrong = |reason: DecodeError| undecodable("PFM", &reason.to_string());
    let header = pfm_header(&mut &*bytes).map_err(wrong)?;
    check_size(header.width, header.height, bytes.len() as u64)?;
    let image = decode_pfm(&mut bytes).map_err(wrong)?;
    let floats = image.pixels.into_iter().flatten().collect();
    let decoded = Rgb32FImage::from_raw(image.width, image.height, floats);
    decoded.map(Into::into).ok_or_else(|| undecodable("PFM", "pixels are missing"))
}

/// Checks the size of an image before anything is allocated for it; `bytes` is what it takes when decoded.
pub(super) fn check_size(width: u32, height: u32, bytes: u64) -> Result<(), ImageError> {
    let texels = u64::from(width) * u64::from(height);
    let wrong = |rule: &str| Err(ImageError::Size(format!("{width}×{height} pixels{rule}")));
    if texels == 0 {
        return wrong("");
    }
    if width > MAX_IMAGE_SIDE || height > MAX_IMAGE_SIDE {
        return wrong(&format!("; the most is {MAX_IMAGE_SIDE} along a side"));
    }
    if texels > MAX_IMAGE_TEXELS {
        return wrong(&format!("; the most is {MAX_IMAGE_TEXELS} in all"));
    }
    // Decoded, as four floats, and once more as texels.
    let needed = u128::from(bytes) + u128::from(texels) * (16 + 12);
    match available_memory() {
        Some(available) if needed > available => {
            let (needed, available) = (human_bytes(needed), human_bytes(available));
            wrong(&format!(
                ", for which {needed} of memory are needed; this machine has {available} available"
            ))
        }
        _ => Ok(()),
    }
}

/// Why an image cannot be decoded, in the words of this program where the library's would not help.
fn reason(format: ImageFormat, error: &LibraryError) -> ImageError {
    let name = match format {
        ImageFormat::Png => "PNG",
        ImageFormat::Jpeg => "JPEG",
        ImageFormat::WebP => "WebP",
        ImageFormat::Hdr => "HDR",
        ImageFormat::Tga => "TGA",
        ImageFormat::Bmp => "BMP",
        ImageFormat::Pnm => "PNM",
        _ => "OpenEXR",
    };
    // What the decoders call it when there are bytes missing.
    const MISSING: [&str; 6] =
        ["unexpected end", "EOF", "Not enough bytes", "Not enough data", "InsufficientInput", "Premature"];
    let words = innermost(error);
    match error {
        LibraryError::Limits(_) => ImageError::Broken(name, "needs too much memory to be decoded".into()),
        error if is_eof(error) || MISSING.iter().any(|m| words.contains(m)) => {
            ImageError::Broken(name, "ends too early".into())
        }
        _ => undecodable(name, &words),
    }
}

fn is_eof(error: &LibraryError) -> bool {
    matches!(error, LibraryError::IoError(e) if e.kind() == ErrorKind::UnexpectedEof)
}

pub(super) fn undecodable(format: &'static str, words: &str) -> ImageError {
    ImageError::Broken(format, format!("cannot be decoded: {}", quoted(words)))
}

/// The innermost message of the decoder, in one line.
fn innermost(error: &LibraryError) -> String {
    let words = match error {
        LibraryError::Decoding(e) => std::error::Error::source(e).map(ToString::to_string),
        _ => None,
    };
    let words = words.unwrap_or_else(|| error.to_string());
    words.lines().next().unwrap_or_default().trim_matches(['"', '.', ' ']).to_owned()
}
