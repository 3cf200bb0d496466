//! Difference maps: false-colour pictures of where two images differ.

use super::words::{number, percent};
use super::{Judgement, Region};
use crate::color_map::{Color, ColorMap};
use crate::film::Film;
use crate::film::encode::{EncodeError, png_of};
use crate::metrics::flip::Flip;
use crate::metrics::{Kind, Pair};

/// The kinds of difference map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Map {
    /// Visibility of the difference (ꟻLIP).
    Flip,
    /// The difference in standard deviations.
    Z,
    /// The difference, mean of the channels.
    Difference,
    /// The difference relative to the second image.
    Relative,
}

impl Map {
    /// All kinds, with the names that users write.
    pub const ALL: &[(&str, Self)] = &[
        ("flip", Self::Flip),
        ("z", Self::Z),
        ("difference", Self::Difference),
        ("relative", Self::Relative),
    ];
}

/// A rendered map.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// sRGB, row by row from the top left.
    pub pixels: Vec<[u8; 3]>,
    /// Legend of the colours, in a line.
    pub scale: String,
}

/// Number of standard deviations shown in the deepest colours; fixed, so that maps of different images are comparable.
const MOST_Z: f32 = 6.0;

/// The colour of pixels that are left out: absent from all colour maps, and distinguishable from their colours.
const LEFT_OUT: [u8; 3] = [128; 3];

/// Fraction of the differences that lie below the deepest colours.
const WITHIN: f64 = 0.99;

/// Added to the denominator of relative differences, as a fraction of the image's mean; otherwise noise in black areas
/// would dominate.
const FLOOR: f32 = 0.01;

/// The ꟻLIP map, from dark violet through green to yellow.
pub fn flip(pair: &Pair, flip: &Flip) -> Picture {
    let scale = "ꟻLIP: dark violet is 0 (nothing to be seen), green 0.5, yellow 1".into();
    let known = flip.map.iter().zip(&pair.a).map(|(x, a)| if a[0].is_nan() { f32::NAN } else { *x });
    picture([pair.width, pair.height], known, |x| ColorMap::Viridis.at(f64::from(x)), scale)
}

/// Differences in standard deviations: blue where the first image is darker, red where it is brighter.
pub fn z(pair: &Pair, judgement: &Judgement) -> Picture {
    let scale = format!(
        "z: blue is darker in the first image, red is brighter, white equal; deepest from {MOST_Z} standard deviations"
    );
    let known = judgement.z.iter().zip(&pair.a).map(|(z, a)| if a[0].is_nan() { f32::NAN } else { *z });
    signed([pair.width, pair.height], &known.collect::<Vec<_>>(), MOST_Z, scale)
}

/// Differences, absolute or relative.
pub fn difference(pair: &Pair, relative: bool) -> Picture {
    let differences = Differences::new(pair, relative);
    differences.paint(differences.deepest())
}

/// Differences of the channel means, before they are mapped to colours.
#[derive(Debug, Clone, PartialEq)]
pub struct Differences {
    size: [u32; 2],
    /// First minus second; NaN for pixels that are left out.
    values: Vec<f32>,
    is_relative: bool,
}

impl Differences {
    /// The differences, absolute or relative to the second image.
    pub fn new(pair: &Pair, is_relative: bool) -> Self {
        let mean = |p: &[f32; 3]| (p[0] + p[1] + p[2]) / 3.0;
        let floor = match pair.kind {
            Kind::Display => FLOOR,
            Kind::Radiance => FLOOR * mean_of(pair.b.iter().map(mean).filter(|x| !x.is_nan())),
        };
        let value = |(a, b): (&[f32; 3], &[f32; 3])| {
            let (a, b) = (mean(a), mean(b));
            if is_relative { (a - b) / (b.abs() + floor).max(f32::MIN_POSITIVE) } else { a - b }
        };
        let values = pair.a.iter().zip(&pair.b).map(value).collect();
        Self { size: [pair.width, pair.height], values, is_relative }
    }

    /// The magnitude that 99 % of the differences do not exceed: the scale of a map that stands alone.
    pub fn deepest(&self) -> f32 {
        most(&self.values)
    }

    /// Paints pixels blue where the first image is darker, red where it is brighter, in the deepest colours from
    /// `deepest` on.
    pub fn paint(&self, deepest: f32) -> Picture {
        signed(self.size, &self.values, deepest, self.scale(deepest, " in the first image"))
    }

    /// The legend of the colours, in a line. `darker_where` follows the word "darker".
    pub fn scale(&self, deepest: f32, darker_where: &str) -> String {
        let (name, most) = if self.is_relative {
            ("relative difference", percent(deepest.into()))
        } else {
            ("difference", number(deepest.into()))
        };
        format!("{name}: blue is darker{darker_where}, red is brighter, white equal; deepest from {most}")
    }
}

/// The number of samples of each pixel, on a logarithmic scale: black is fewest, yellow most.
pub fn samples(film: &Film) -> Picture {
    let counts = || film.pixels.iter().map(|pixel| pixel.count.max(1));
    let (least, most) = (counts().min().unwrap_or(1), counts().max().unwrap_or(1));
    let octaves = (most as f64 / least as f64).log2().max(f64::MIN_POSITIVE);
    let color = |x: f32| ColorMap::Magma.at(f64::from(x) / octaves);
    let above_least = counts().map(|n| (n as f64 / least as f64).log2() as f32);
    let scale = match least == most {
        true => format!("samples: {least} of each pixel"),
        false => {
            format!("samples: {least} of black pixels, {most} of bright yellow ones, on a logarithmic scale")
        }
    };
    picture([film.width, film.height], above_least, color, scale)
}

fn mean_of(values: impl Iterator<Item = f32>) -> f32 {
    let (sum, n) = values.fold((0.0, 0_u32), |(sum, n), x| (sum + f64::from(x), n + 1));
    (sum / f64::from(n.max(1))) as f32
}

/// The absolute value that 99 % of the values do not exceed; the largest if that is 0.
fn most(values: &[f32]) -> f32 {
    let mut sizes: Vec<f32> = values.iter().map(|x| x.abs()).filter(|x| !x.is_nan()).collect();
    if sizes.is_empty() {
        return 0.0;
    }
    let largest = sizes.iter().copied().fold(0.0, f32::max);
    let rank = ((sizes.len() - 1) as f64 * WITHIN) as usize;
    let within = *sizes.select_nth_unstable_by(rank, f32::total_cmp).1;
    if within > 0.0 { within } else { largest }
}

fn signed(size: [u32; 2], values: &[f32], most: f32, scale: String) -> Picture {
    let color = |x: f32| ColorMap::BlueRed.at(0.5 + 0.5 * f64::from(if most > 0.0 { x / most } else { 0.0 }));
    picture(size, values.iter().copied(), color, scale)
}

/// Values that are NaN are left out.
fn picture(
    [width, height]: [u32; 2],
    values: impl Iterator<Item = f32>,
    color: impl Fn(f32) -> Color,
    scale: String,
) -> Picture {
    let pixels = values.map(|x| if x.is_nan() { LEFT_OUT } else { color(x).0 }).collect();
    Picture { width, height, pixels, scale }
}

impl Picture {
    /// Draws a line around a part of the image, in black or white, whichever is easier to see.
    pub fn outline(&mut self, region: Region) {
        let Region { x, y, width, height } = region;
        let (left, top) = (x.saturating_sub(1), y.saturating_sub(1));
        let (right, bottom) = ((x + width).min(self.width - 1), (y + height).min(self.height - 1));
        for row in top..=bottom {
            for column in left..=right {
                if row == top || row == bottom || column == left || column == right {
                    let pixel = &mut self.pixels[(row * self.width + column) as usize];
                    *pixel = Color(*pixel).contrast().0;
                }
            }
        }
    }

    /// The bytes of a PNG file.
    pub fn png(&self) -> Result<Vec<u8>, EncodeError> {
        png_of([self.width, self.height], self.pixels.as_flattened(), image::ExtendedColorType::Rgb8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grey radiance: the first image has these values, the second 0.5 everywhere.
    fn pair(a: &[f32]) -> Pair {
        let grey = |values: &[f32]| values.iter().map(|x| [*x; 3]).collect::<Vec<_>>();
        let (a, b) = (grey(a), grey(&vec![0.5; a.len()]));
        Pair { width: a.len() as u32, height: 1, kind: Kind::Radiance, a, b }
    }

    #[test]
    fn brighter_is_red_darker_is_blue_and_equal_is_white() {
        let pair = pair(&[0.5, 0.7, 0.3, f32::NAN, 0.6, 9.0]);
        for relative in [false, true] {
            let Picture { pixels, scale, .. } = difference(&pair, relative);
            assert_eq!(pixels[0], [0xf7; 3]);
            assert!(pixels[1][0] > pixels[1][2] && pixels[4][0] > pixels[4][2], "red");
            assert!(pixels[2][2] > pixels[2][0], "blue");
            assert!(pixels[4][2] > pixels[1][2], "the smaller difference is paler");
            assert_eq!(pixels[3], LEFT_OUT);
            assert!(
                scale.ends_with(if relative { "deepest from 40 %" } else { "deepest from 0.2" }),
                "{scale}"
            );
        }
        let equal = self::pair(&[0.5; 3]);
        assert_eq!(difference(&equal, false).pixels, [[0xf7; 3]; 3]);
    }

    #[test]
    fn an_outline_is_around_its_region_and_within_the_image() {
        let mut picture = Picture { width: 6, height: 5, pixels: vec![[255; 3]; 30], scale: String::new() };
        picture.outline(Region { x: 2, y: 2, width: 2, height: 1 });
        let rows: Vec<String> = picture
            .pixels
            .chunks(6)
            .map(|row| row.iter().map(|p| if p[0] == 0 { '#' } else { '.' }).collect())
            .collect();
        assert_eq!(rows, ["......", ".####.", ".#..#.", ".####.", "......"]);
        for region in [(0, 0, 6, 5), (5, 4, 1, 1), (0, 0, 1, 1)] {
            let (x, y, width, height) = region;
            picture.outline(Region { x, y, width, height });
        }
        assert!(picture.png().unwrap().starts_with(b"\x89PNG"));
    }
}
