//! Pixels as text in a page: floats of fewer bits, predicted, deflated, in base64. `pixels.js` is the inverse.
//!
//! A number keeps its sign, its exponent and the upper bits of its significand: the upper half of a float's bits,
//! read as an integer. Of positive numbers this is nearly a logarithm, and rises with them, so what distinguishes
//! neighbours, or channels, is a small integer.

use std::io::Write;

use base64::prelude::{BASE64_STANDARD, Engine};
use flate2::{Compression, write::DeflateEncoder};

use super::Images;
use crate::compare::Region;
use crate::film::Image;
use crate::film::develop::srgb_encode;

/// Bits of the significand of radiance, without the leading one: those of half floats, which therefore stay exact.
const RADIANCE_BITS: u32 = 10;

/// The same where images are reduced: steps of 1.6 %, those of a display's 8 bits.
const REDUCED_BITS: u32 = 6;

/// Bits of the significand of z and of ꟻLIP: two digits.
const MAP_BITS: u32 = 5;

/// Pixels an image of a page has at most: a browser holds some forty bytes of each.
const MAX_PIXELS: u64 = 1 << 22;

/// Side of the small image of a row, pixels.
const THUMBNAIL: u32 = 64;

/// The pixels of a case.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Encoded {
    /// Size of the images as they came.
    pub(super) size: [u32; 2],
    /// Side of the squares of pixels that became one.
    pub(super) reduction: u32,
    /// Where they differ most, in pixels as they came.
    pub(super) worst: Option<Region>,
    /// What there is, by the name the page knows it by.
    pub(super) parts: Vec<Part>,
    /// The result, small: a PNG file in base64.
    pub(super) thumbnail: String,
}

/// One image or map.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    /// What it is.
    pub(super) name: &'static str,
    /// Bits of the significands.
    pub(super) bits: u32,
    /// Number of channels.
    pub(super) channels: usize,
    /// The pixels.
    pub(super) base64: String,
}

impl Encoded {
    /// Encodes images, reduced by a factor or as much more as large ones need.
    ///
    /// # Panics
    /// If they are not of one size.
    pub(super) fn new(images: &Images, reduction: u32) -> Self {
        let Images { reference, result, z, flip, worst } = images;
        assert_eq!((reference.width, reference.height), (result.width, result.height), "images of two sizes");
        let size = [reference.width, reference.height];
        let bits = if reduction > 1 { REDUCED_BITS } else { RADIANCE_BITS };
        let reduction = reduction.max(least_reduction(size));
        let grid = Grid { size, reduction };
        let mut parts = vec![grid.image("reference", reference, bits), grid.image("result", result, bits)];
        let maps = [("z", z), ("flip", flip)];
        parts.extend(maps.into_iter().filter_map(|(name, map)| Some(grid.map(name, map.as_ref()?))));
        Self { size, reduction, worst: *worst, parts, thumbnail: thumbnail(result) }
    }

    /// Size of the images as they are stored.
    pub(super) fn reduced_size(&self) -> [u32; 2] {
        self.size.map(|x| x.div_ceil(self.reduction))
    }

    /// Bytes its pixels take in the page.
    pub(super) fn bytes(&self) -> usize {
        self.parts.iter().map(|p| p.base64.len()).sum::<usize>()
    }
}

/// The reduction that an image of this size needs in any case.
fn least_reduction(size: [u32; 2]) -> u32 {
    let pixels = |reduction: u32| size.iter().map(|x| u64::from(x.div_ceil(reduction))).product::<u64>();
    (1..u32::MAX).find(|r| pixels(*r) <= MAX_PIXELS).unwrap_or(u32::MAX)
}

/// The pixels of an image, and the squares of them that become one.
#[derive(Debug, Clone, Copy)]
struct Grid {
    size: [u32; 2],
    reduction: u32,
}

impl Grid {
    /// Each channel by itself, the mean of a square: green, and red and blue relative to it, because light that is
    /// brighter or darker is so in all of them.
    fn image(self, name: &'static str, image: &Image, bits: u32) -> Part {
        let mean = |values: &mut dyn Iterator<Item = f32>| {
            let (sum, n) = values.fold((0.0, 0.0), |(sum, n), x| (sum + f64::from(x), n + 1.0));
            (sum / n) as f32
        };
        let channel = |c: usize| self.reduce(|i| image.pixels[i][c], mean);
        let [red, green, blue] = [0, 1, 2].map(|c| codes(&channel(c), bits));
        let relative = |x: &[i32]| x.iter().zip(&green).map(|(x, g)| x - g).collect::<Vec<_>>();
        let width = self.size[0].div_ceil(self.reduction) as usize;
        let planes = [&green, &relative(&red), &relative(&blue)].map(|plane| unpredictable(plane, width));
        Part { name, bits, channels: 3, base64: pack(&planes.concat()) }
    }

    /// Of every square the value farthest from zero, or NaN if there is one. These are noise: nothing to predict.
    fn map(self, name: &'static str, map: &[f32]) -> Part {
        let [width, height] = self.size;
        assert_eq!(map.len(), width as usize * height as usize, "{name} of another size than the images");
        let extreme = |values: &mut dyn Iterator<Item = f32>| {
            values.fold(0.0, |most: f32, x| if x.is_nan() || x.abs() > most.abs() { x } else { most })
        };
        let values = self.reduce(|i| map[i], extreme);
        Part { name, bits: MAP_BITS, channels: 1, base64: pack(&codes(&values, MAP_BITS)) }
    }

    /// One value for every square of pixels, row by row.
    fn reduce(
        self,
        value: impl Fn(usize) -> f32,
        combine: impl Fn(&mut dyn Iterator<Item = f32>) -> f32,
    ) -> Vec<f32> {
        let ([width, height], k) = (self.size, self.reduction);
        let squares =
            (0..height.div_ceil(k)).flat_map(|y| (0..width.div_ceil(k)).map(move |x| [x * k, y * k]));
        let index = |x: u32, y: u32| y as usize * width as usize + x as usize;
        let square = |[x, y]: [u32; 2]| {
            let rows = y..(y + k).min(height);
            combine(
                &mut rows
                    .flat_map(|y| (x..(x + k).min(width)).map(move |x| (x, y)))
                    .map(|(x, y)| value(index(x, y))),
            )
        };
        squares.map(square).collect()
    }
}

/// Floats as integers: sign, exponent and `bits` of the significand, rounded.
fn codes(values: &[f32], bits: u32) -> Vec<i32> {
    let dropped = 23 - bits;
    let code = |x: &f32| {
        // Rounding would carry the largest NaN into the sign, and the smallest into infinity.
        let x = if x.is_nan() { f32::NAN } else { *x };
        let rounded = if x.is_finite() { x.to_bits() + (1 << (dropped - 1)) } else { x.to_bits() };
        (rounded >> dropped) as i32
    };
    values.iter().map(code).collect()
}

/// What is left of a plane after every value is predicted from its neighbours, the mean of left and above, as
/// integers without sign: 0, −1, 1, −2 … become 0, 1, 2, 3 …
fn unpredictable(plane: &[i32], width: usize) -> Vec<i32> {
    let predicted = |i: usize| match (i % width, i / width) {
        (0, 0) => 0,
        (0, _) => plane[i - width],
        (_, 0) => plane[i - 1],
        _ => (plane[i - 1] + plane[i - width]) >> 1,
    };
    let residual = |i: usize| plane[i] - predicted(i);
    (0..plane.len()).map(residual).map(|r| (r << 1) ^ (r >> 31)).collect()
}

/// Integers below 2²⁴ as base64 of what `deflate` makes of their bytes: all the lowest ones first, which are mostly
/// noise, then the others, which are mostly equal.
fn pack(values: &[i32]) -> String {
    let bytes: Vec<u8> =
        [0, 8, 16].iter().flat_map(|shift| values.iter().map(move |x| (x >> shift) as u8)).collect();
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::new(LEVEL));
    let packed = deflate.write_all(&bytes).and_then(|()| deflate.finish());
    BASE64_STANDARD.encode(packed.expect("memory takes what is written to it"))
}

/// How hard `deflate` tries: more takes twice the time for little, since noise has no repetitions to find.
const LEVEL: u32 = 3;

/// A small image for a row: nearest pixels, exposed so that all but the brightest 5 % are below white.
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

/// What 95 % of the pixels are below, or 1 if that is close.
fn bright(pixels: &[[f32; 3]]) -> f32 {
    let brightest = |p: &[f32; 3]| p.iter().copied().fold(0.0, f32::max);
    let mut values: Vec<f32> = pixels.iter().map(brightest).filter(|x| x.is_finite() && *x > 0.0).collect();
    values.sort_by(f32::total_cmp);
    let Some(&value) = values.get(values.len() * 95 / 100) else { return 1.0 };
    if (0.25..=2.0).contains(&value) { 1.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the page reads.
    fn decoded(codes: &[i32], bits: u32) -> Vec<f32> {
        codes.iter().map(|c| f32::from_bits((*c as u32) << (23 - bits))).collect()
    }

    #[test]
    fn half_floats_stay_exact() {
        let halves = (0..=u16::MAX).map(half::f16::from_bits).filter(|h| h.is_normal() || h.is_infinite());
        let values: Vec<f32> = halves.map(half::f16::to_f32).collect();
        assert_eq!(decoded(&codes(&values, RADIANCE_BITS), RADIANCE_BITS), values);
    }

    #[test]
    fn others_are_rounded_to_nearest() {
        for (value, rounded) in [(1.0 + 0.4 / 32.0, 1.0), (1.0 + 0.6 / 32.0, 1.0 + 1.0 / 32.0), (-1.99, -2.0)]
        {
            assert_eq!(decoded(&codes(&[value], MAP_BITS), MAP_BITS), [rounded]);
        }
        for nan in
            [f32::NAN, f32::from_bits(0x7fff_ffff), f32::from_bits(0xffff_ffff), f32::from_bits(0x7f80_0001)]
        {
            assert!(decoded(&codes(&[nan], MAP_BITS), MAP_BITS)[0].is_nan());
        }
    }

    #[test]
    fn images_are_no_larger_than_a_browser_takes() {
        for (size, reduction) in [([1, 1], 1), ([2048, 2048], 1), ([2049, 2048], 2), ([16384, 16384], 8)] {
            assert_eq!(least_reduction(size), reduction, "{size:?}");
        }
        assert_eq!(least_reduction([u32::MAX, 1]), 1024);
    }

    #[test]
    fn a_reduction_takes_means_and_keeps_extremes() {
        let grid = Grid { size: [3, 2], reduction: 2 };
        let map = [1.0, -7.0, 2.0, 5.0, 0.0, f32::NAN];
        let reduced = grid.map("z", &map);
        let same = Grid { size: [2, 1], reduction: 1 }.map("z", &[-7.0, f32::NAN]);
        assert_eq!(reduced, same);
        let image = |width, values: &[f32]| Image {
            width,
            height: values.len() as u32 / width,
            pixels: values.iter().map(|x| [*x, 2.0 * x, 3.0 * x]).collect(),
        };
        let reduced = grid.image("result", &image(3, &[1.0, 2.0, 8.0, 3.0, 4.0, 16.0]), RADIANCE_BITS);
        let same =
            Grid { size: [2, 1], reduction: 1 }.image("result", &image(2, &[2.5, 12.0]), RADIANCE_BITS);
        assert_eq!(reduced, same);
        let other =
            Grid { size: [2, 1], reduction: 1 }.image("result", &image(2, &[2.5, 12.5]), RADIANCE_BITS);
        assert_ne!(reduced, other);
    }
}
