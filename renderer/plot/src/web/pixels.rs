//! Pixels as text in a page: floats of fewer bits, predicted, deflated, in base64. `pixels.js` is the inverse.
//!
//! A number keeps its sign, its exponent and the upper bits of its significand: the upper half of a float's bits,
//! read as an integer. Of positive numbers this is nearly a logarithm, and rises with them, so what distinguishes
//! neighbours, or channels, is a small integer.

use std::io::Write;

use base64::prelude::{BASE64_STANDARD, Engine};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use torrance_image::film::Image;

/// Precision of stored radiance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The precision of half floats, which therefore stay exact.
    Exact,
    /// Steps of 1.6 %, as of 8-bit display values.
    Display,
}

impl Detail {
    /// Bits of the significand, without the leading one.
    fn bits(self) -> u32 {
        match self {
            Self::Exact => 10,
            Self::Display => 6,
        }
    }
}

/// Bits of the significand of z and of ꟻLIP: two digits.
const MAP_BITS: u32 = 5;

/// Largest number of pixels of an image in a page: a browser takes some forty bytes for each.
const MAX_PIXELS: u64 = 1 << 22;

/// One image or map, encoded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PixelData {
    /// Its name in the page.
    pub(crate) name: &'static str,
    /// Bits of the significands.
    pub(crate) bits: u32,
    /// Number of channels.
    pub(crate) channels: usize,
    /// The pixels.
    pub(crate) base64: String,
}

/// The smallest reduction that an image of this size needs.
pub(crate) fn least_reduction(size: [u32; 2]) -> u32 {
    let pixels = |reduction: u32| size.iter().map(|x| u64::from(x.div_ceil(reduction))).product::<u64>();
    (1..u32::MAX).find(|r| pixels(*r) <= MAX_PIXELS).unwrap_or(u32::MAX)
}

/// An image's pixels divided into squares, each of which is reduced to one pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Original size of the images.
    pub(crate) size: [u32; 2],
    /// Side of a square, pixels.
    pub(crate) reduction: u32,
}

impl Grid {
    /// Size of the images as they are stored.
    pub(crate) fn reduced_size(self) -> [u32; 2] {
        self.size.map(|x| x.div_ceil(self.reduction))
    }

    /// Encodes an image as means over squares, channel by channel: green, then red and blue relative to green, because
    /// the channels are correlated.
    pub(crate) fn image(self, name: &'static str, image: &Image, detail: Detail) -> PixelData {
        let bits = detail.bits();
        let mean = |values: &mut dyn Iterator<Item = f32>| {
            let (sum, n) = values.fold((0.0, 0.0), |(sum, n), x| (sum + f64::from(x), n + 1.0));
            (sum / n) as f32
        };
        let channel = |c: usize| self.reduce(|i| image.pixels[i][c], mean);
        let [red, green, blue] = [0, 1, 2].map(|c| codes(&channel(c), bits));
        let relative = |x: &[i32]| x.iter().zip(&green).map(|(x, g)| x - g).collect::<Vec<_>>();
        let width = self.size[0].div_ceil(self.reduction) as usize;
        let planes = [&green, &relative(&red), &relative(&blue)].map(|plane| residuals(plane, width));
        PixelData { name, bits, channels: 3, base64: pack(&planes.concat()) }
    }

    /// Encodes a map as the value farthest from zero in every square, or NaN if there is one. Maps are noise, so nothing
    /// is predicted.
    pub(crate) fn map(self, name: &'static str, map: &[f32]) -> PixelData {
        let [width, height] = self.size;
        assert_eq!(map.len(), width as usize * height as usize, "{name} of another size than the images");
        let extreme = |values: &mut dyn Iterator<Item = f32>| {
            values.fold(0.0, |most: f32, x| if x.is_nan() || x.abs() > most.abs() { x } else { most })
        };
        let values = self.reduce(|i| map[i], extreme);
        PixelData { name, bits: MAP_BITS, channels: 1, base64: pack(&codes(&values, MAP_BITS)) }
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

/// The residuals of a plane after every value is predicted as the mean of its left and upper neighbours, as unsigned
/// integers: 0, −1, 1, −2 … become 0, 1, 2, 3 …
fn residuals(plane: &[i32], width: usize) -> Vec<i32> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that the page decodes.
    fn decoded(codes: &[i32], bits: u32) -> Vec<f32> {
        codes.iter().map(|c| f32::from_bits((*c as u32) << (23 - bits))).collect()
    }

    #[test]
    fn half_floats_stay_exact() {
        let bits = Detail::Exact.bits();
        let halves = (0..=u16::MAX).map(half::f16::from_bits).filter(|h| h.is_normal() || h.is_infinite());
        let values: Vec<f32> = halves.map(half::f16::to_f32).collect();
        assert_eq!(decoded(&codes(&values, bits), bits), values);
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
        let reduced = grid.image("result", &image(3, &[1.0, 2.0, 8.0, 3.0, 4.0, 16.0]), Detail::Exact);
        let same =
            Grid { size: [2, 1], reduction: 1 }.image("result", &image(2, &[2.5, 12.0]), Detail::Exact);
        assert_eq!(reduced, same);
        let other =
            Grid { size: [2, 1], reduction: 1 }.image("result", &image(2, &[2.5, 12.5]), Detail::Exact);
        assert_ne!(reduced, other);
    }
}
