//! Small images to choose variants by.

use base64::prelude::{BASE64_STANDARD, Engine};
use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, ImageEncoder};
use torrance_image::film::Image;
use torrance_image::film::develop::Develop;

/// Longer side, pixels: some hundreds of them make a megabyte or two.
const SIDE: u32 = 128;

/// Of 100: what is lost does not show at this size.
const QUALITY: u8 = 85;

/// A JPEG file in base64: means of pixels, developed. Smaller images stay as they are.
pub(super) fn thumbnail(image: &Image, develop: Develop) -> String {
    let Image { width, height, .. } = *image;
    let longer = width.max(height);
    let small = |x: u32| match longer {
        0..=SIDE => x,
        _ => (u64::from(x) * u64::from(SIDE) / u64::from(longer)).max(1) as u32,
    };
    let (w, h) = (small(width), small(height));
    let squares = (0..h).flat_map(|y| (0..w).map(move |x| [x, y]));
    let bytes: Vec<u8> = squares
        .flat_map(|[x, y]| develop.to_bytes(mean(image, from_to(x, w, width), from_to(y, h, height))))
        .collect();
    let mut file = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut file, QUALITY);
    // Without it the variant has its name only, and is as useful.
    match encoder.write_image(&bytes, w, h, ExtendedColorType::Rgb8) {
        Ok(()) => BASE64_STANDARD.encode(file),
        Err(_) => String::new(),
    }
}

/// The pixels of a side of length `to` that the pixel `i` of one of length `from` stands for; at least one.
fn from_to(i: u32, from: u32, to: u32) -> std::ops::Range<u32> {
    let at = |i: u32| (u64::from(i) * u64::from(to) / u64::from(from)) as u32;
    at(i)..at(i + 1)
}

/// The mean of a rectangle of pixels.
fn mean(image: &Image, columns: std::ops::Range<u32>, rows: std::ops::Range<u32>) -> [f32; 3] {
    let n = (columns.len() * rows.len()) as f32;
    let mut sum = [0.0; 3];
    for y in rows {
        for x in columns.clone() {
            let pixel = image.pixels[y as usize * image.width as usize + x as usize];
            sum.iter_mut().zip(pixel).for_each(|(sum, x)| *sum += x);
        }
    }
    sum.map(|sum| sum / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_become_means() {
        let image = |width: u32, height: u32| Image {
            width,
            height,
            pixels: (0..width * height).map(|i| [(i % 2) as f32 * 0.4, 0.0, 1.0]).collect(),
        };
        for (width, height, small) in [(256, 512, (64, 128)), (100, 30, (100, 30)), (4096, 1, (128, 1))] {
            let file = thumbnail(&image(width, height), Develop::default());
            let file = BASE64_STANDARD.decode(file).expect("base64");
            let read = image::load_from_memory(&file).expect("an image").to_rgb8();
            assert_eq!(read.dimensions(), small);
            if width > 128 {
                let [r, g, b] = read.get_pixel(small.0 / 2, small.1 / 2).0;
                // 0.2 in sRGB is 124 of 255.
                assert!(r.abs_diff(124) < 4 && g < 4 && b > 251, "{r} {g} {b}");
            }
        }
    }
}
