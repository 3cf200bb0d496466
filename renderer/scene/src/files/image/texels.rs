//! Conversion of decoded images to texels.

use std::sync::Arc;

use half::f16;
use image::DynamicImage;
use torrance_image::film::develop::srgb_decode;

use super::{DecodedImage, ImageError, Meaning, Range};
use crate::description::limits::{MAX_COORDINATE, MAX_RADIANCE};
use crate::description::{Format, Image, half_words};

/// Converts a decoded image to texels and checks their range.
pub(super) fn from_decoded(decoded: DynamicImage, meaning: Meaning) -> Result<DecodedImage, ImageError> {
    let (width, height) = (decoded.width(), decoded.height());
    if meaning.is_alpha && !decoded.color().has_alpha() {
        return Err(ImageError::NoAlpha);
    }
    let is_float = matches!(decoded, DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_));
    let is_8_bit = decoded.color().bytes_per_pixel() == decoded.color().channel_count();
    if is_8_bit {
        let texels = decoded.into_rgba8().pixels().map(|p| u32::from_le_bytes(p.0)).collect();
        let format = if meaning.is_srgb { Format::Srgb8 } else { Format::Rgba8 };
        return Ok(DecodedImage { image: Image::new(width, height, format, texels), warning: None });
    }
    let decode = |x: f32| if meaning.is_srgb && !is_float { srgb_decode(x.into()) as f32 } else { x };
    let rgba = decoded.into_rgba32f();
    let mut texels: Vec<[f32; 4]> = if meaning.is_alpha {
        rgba.pixels().map(|p| [p.0[3]; 4]).collect()
    } else {
        rgba.pixels().map(|p| [decode(p.0[0]), decode(p.0[1]), decode(p.0[2]), p.0[3]]).collect()
    };
    drop(rgba);
    let warning = check_range(&mut texels, meaning, width)?;
    let (format, words) = pack_texels(&texels);
    Ok(DecodedImage { image: Image::new(width, height, format, words), warning })
}

/// Packs texels as halves if these represent them exactly, as floats otherwise.
fn pack_texels(texels: &[[f32; 4]]) -> (Format, Arc<[u32]>) {
    let is_half = |x: &f32| f16::from_f32(*x).to_f32() == *x;
    if texels.iter().flatten().all(is_half) {
        return (Format::RgbaF16, texels.iter().flat_map(|texel| half_words(*texel)).collect());
    }
    (Format::RgbF32, texels.iter().flat_map(|[r, g, b, _]| [*r, *g, *b].map(f32::to_bits)).collect())
}

/// Checks that all numbers are finite and heights plausible, and clamps radiance to the range that can be summed, all
/// other numbers and alpha to 0 to 1. Returns a warning if anything but alpha is clamped.
fn check_range(texels: &mut [[f32; 4]], meaning: Meaning, width: u32) -> Result<Option<String>, ImageError> {
    let place = |i: usize| format!("in column {} of row {}", i % width as usize, i / width as usize);
    let find = |is_wrong: &dyn Fn(f32) -> bool| {
        let wrong = |(i, [r, g, b, _]): (usize, &[f32; 4])| {
            [*r, *g, *b].into_iter().find(|x| is_wrong(*x)).map(|x| (i, x))
        };
        texels.iter().enumerate().find_map(wrong)
    };
    if let Some((i, x)) = find(&|x| !x.is_finite()) {
        let what = if x.is_nan() { "not a number (NaN)" } else { "infinite" };
        return Err(ImageError::Pixel(format!("pixel {} is {what}", place(i))));
    }
    let (low, high) = match meaning.range {
        Range::Unit => (0.0, 1.0),
        Range::Radiance => (0.0, MAX_RADIANCE),
        Range::Height => {
            return match find(&|x| x.abs() > MAX_COORDINATE) {
                Some((i, x)) => {
                    let message = format!("height {} is {x:e}; the most is {MAX_COORDINATE:e}", place(i));
                    Err(ImageError::Pixel(message))
                }
                None => Ok(None),
            };
        }
    };
    let outside = find(&|x| !(low..=high).contains(&x));
    let warning = outside.map(|(i, _)| {
        format!("has pixels outside {low} to {high}, which are brought there; the first is {}", place(i))
    });
    for [r, g, b, a] in texels {
        *a = if a.is_nan() { 1.0 } else { a.clamp(0.0, 1.0) };
        if warning.is_some() {
            [r, g, b].into_iter().for_each(|x| *x = x.clamp(low, high));
        }
    }
    Ok(warning)
}
