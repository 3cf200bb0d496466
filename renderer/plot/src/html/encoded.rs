//! Encoding of the images of a case.

use base64::prelude::{BASE64_STANDARD, Engine};
use torrance_image::compare::Region;
use torrance_image::film::Image;
use torrance_image::film::develop::srgb_encode;

use super::Images;
use crate::web::{Detail, Grid, PixelData, least_reduction};

/// Side of the small image of a row, pixels.
const THUMBNAIL: u32 = 64;

/// The encoded images of a case.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EncodedImages {
    /// Original size and reduction of the images.
    pub(super) grid: Grid,
    /// Region of the largest difference, in pixels of the original size.
    pub(super) worst: Option<Region>,
    /// The images and maps, by their names in the page.
    pub(super) parts: Vec<PixelData>,
    /// Thumbnail of the result: a PNG file in base64.
    pub(super) thumbnail: String,
}

impl EncodedImages {
    /// Encodes images, reduced by a factor, or by a larger one where large images need it.
    ///
    /// # Panics
    /// If they differ in size.
    pub(super) fn new(images: &Images, reduction: u32) -> Self {
        let Images { reference, result, z, flip, worst } = images;
        assert_eq!((reference.width, reference.height), (result.width, result.height), "images of two sizes");
        let size = [reference.width, reference.height];
        let detail = if reduction > 1 { Detail::Display } else { Detail::Exact };
        let reduction = reduction.max(least_reduction(size));
        let grid = Grid { size, reduction };
        let mut parts =
            vec![grid.image("reference", reference, detail), grid.image("result", result, detail)];
        let maps = [("z", z), ("flip", flip)];
        parts.extend(maps.into_iter().filter_map(|(name, map)| Some(grid.map(name, map.as_ref()?))));
        Self { grid, worst: *worst, parts, thumbnail: thumbnail(result) }
    }
}

/// A thumbnail for a row: nearest pixels, exposed so that all but the brightest 5 % are below white.
fn thumbnail(image: &Image) -> String {
    let Image { width, height, pixels } = image;
    let longer = (*width).max(*height).max(THUMBNAIL);
    let side =
        |x: u32| (u64::from(x) * u64::from(THUMBNAIL) / u64::from(longer)).clamp(1, THUMBNAIL.into()) as u32;
    let (w, h) = (side(*width), side(*height));
    let source = |x: u32, of: u32, to: u32| (u64::from(x) * u64::from(of) / u64::from(to)) as usize;
    let samples: Vec<_> = (0..h)
        .flat_map(|y| (0..w).map(move |x| (x, y)))
        .map(|(x, y)| pixels[source(y, *height, h) * *width as usize + source(x, *width, w)])
        .collect();
    let white = bright(&samples);
    let display = |x: f32| (srgb_encode(f64::from(x / white).clamp(0.0, 1.0)) * 255.0).round() as u8;
    let bytes: Vec<u8> = samples.iter().flatten().map(|x| display(*x)).collect();
    let mut png = Vec::new();
    let encoder = ::image::codecs::png::PngEncoder::new(&mut png);
    let written = ::image::ImageEncoder::write_image(encoder, &bytes, w, h, ::image::ExtendedColorType::Rgb8);
    // Without it the row is as useful.
    if written.is_ok() { BASE64_STANDARD.encode(png) } else { String::new() }
}

/// The 95th percentile of the pixels, or 1 if it is close to that.
fn bright(pixels: &[[f32; 3]]) -> f32 {
    let brightest = |p: &[f32; 3]| p.iter().copied().fold(0.0, f32::max);
    let mut values: Vec<f32> = pixels.iter().map(brightest).filter(|x| x.is_finite() && *x > 0.0).collect();
    values.sort_by(f32::total_cmp);
    let Some(&value) = values.get(values.len() * 95 / 100) else { return 1.0 };
    if (0.25..=2.0).contains(&value) { 1.0 } else { value }
}
