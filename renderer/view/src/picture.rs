//! Pictures, as they are sent to pages.

use std::sync::OnceLock;

use axum::body::Bytes;
use image::ExtendedColorType::Rgb8;
use image::codecs::jpeg::JpegEncoder;
use rayon::prelude::*;

/// Layers of which pages can have pictures.
pub(crate) const LAYERS: [&str; 12] =
    [RADIANCE, NOISE, "emission", "direct", "indirect", "albedo", "N", "Ng", "Z", "uv", "shape", "material"];
pub(crate) const RADIANCE: &str = "radiance";
pub(crate) const NOISE: &str = "noise";
/// The picture that was kept, which is none of the layers.
pub(crate) const SNAPSHOT: &str = "snapshot";

/// The version of the header.
const VERSION: u32 = 1;

/// A picture, and what it is one of.
#[derive(Debug)]
pub(crate) struct Picture {
    /// Which scene it shows.
    pub(crate) revision: u32,
    /// One of [`LAYERS`], or [`SNAPSHOT`].
    pub(crate) layer: &'static str,
    pub(crate) size: [u32; 2],
    /// Samples per pixel.
    pub(crate) spp: u32,
    /// Row by row from the top left, linear Rec. 709.
    pub(crate) pixels: Vec<[f32; 3]>,
    /// Whether others follow at once, so that there is no time for this one to be exact.
    pub(crate) is_fleeting: bool,
    exact: OnceLock<Bytes>,
    small: OnceLock<Bytes>,
}

/// How pixels are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// 4 bytes a pixel: three mantissas of 9 bits with one exponent.
    Rgb9e5 = 0,
    /// A JPEG of the logarithm of radiance.
    LogJpeg = 1,
}

impl Picture {
    pub(crate) const fn new(
        revision: u32,
        layer: &'static str,
        (size, spp): ([u32; 2], u32),
        pixels: Vec<[f32; 3]>,
        is_fleeting: bool,
    ) -> Self {
        Self {
            revision,
            layer,
            size,
            spp,
            pixels,
            is_fleeting,
            exact: OnceLock::new(),
            small: OnceLock::new(),
        }
    }

    /// Bytes of it where they are exact.
    pub(crate) const fn exact_bytes(&self) -> usize {
        self.pixels.len() * 4
    }

    /// A message of it, of this number. The pixels are encoded once for all pages.
    pub(crate) fn message(&self, encoding: Encoding, number: u32) -> Vec<u8> {
        let pixels = match encoding {
            Encoding::Rgb9e5 => {
                self.exact.get_or_init(|| encoded(&self.pixels, |pixel| rgb9e5(pixel).to_le_bytes()).into())
            }
            Encoding::LogJpeg => self.small.get_or_init(|| log_jpeg_of(&self.pixels, self.size).into()),
        };
        let layer = LAYERS.iter().position(|layer| *layer == self.layer).map_or(u32::MAX, |i| i as u32);
        let [width, height] = self.size;
        let header = [VERSION, encoding as u32, number, self.revision, width, height, self.spp, layer];
        let mut message = Vec::with_capacity(size_of_val(&header) + pixels.len());
        header.iter().for_each(|word| message.extend(word.to_le_bytes()));
        message.extend_from_slice(pixels);
        message
    }
}

/// Pixels that a task encodes, so that it is worth the while.
const PIXELS_PER_TASK: usize = 1 << 16;

/// The codes of all pixels.
fn encoded<const BYTES: usize>(
    pixels: &[[f32; 3]],
    code: impl Fn([f32; 3]) -> [u8; BYTES] + Sync,
) -> Vec<u8> {
    let mut codes = vec![[0; BYTES]; pixels.len()];
    let tasks = codes.par_chunks_mut(PIXELS_PER_TASK).zip(pixels.par_chunks(PIXELS_PER_TASK));
    tasks.for_each(|(codes, pixels)| {
        codes.iter_mut().zip(pixels).for_each(|(to, pixel)| *to = code(*pixel));
    });
    codes.into_flattened()
}

/// A colour in 32 bits: OpenGL 3.0, section 3.8.1, "Encoding of Special Internal Formats". What is negative or no number is 0, and
/// what is too bright the brightest.
fn rgb9e5(color: [f32; 3]) -> u32 {
    const BIAS: i32 = 15;
    const MANTISSA: i32 = 9;
    /// (2⁹ − 1) / 2⁹ · 2¹⁶
    const BRIGHTEST: f32 = 65408.0;
    // NaN is less than nothing.
    let [r, g, b] = color.map(|c| if c > 0.0 { c.min(BRIGHTEST) } else { 0.0 });
    let most = r.max(g).max(b);
    let floor_log2 = (most.to_bits() >> 23) as i32 - 127;
    let mut exponent = floor_log2.max(-BIAS - 1) + 1 + BIAS;
    let scale = |exponent: i32| f32::from_bits(((127 - (exponent - BIAS - MANTISSA)) as u32) << 23);
    if most * scale(exponent) + 0.5 >= 512.0 {
        exponent += 1;
    }
    let scale = scale(exponent);
    let [r, g, b] = [r, g, b].map(|c| (c * scale + 0.5) as u32);
    r | g << 9 | b << 18 | (exponent as u32) << 27
}

/// Stops that a JPEG spans, and the first of them.
const STOPS: f32 = 20.0;
const FIRST_STOP: f32 = -12.0;

fn log_jpeg_of(pixels: &[[f32; 3]], [width, height]: [u32; 2]) -> Vec<u8> {
    const QUALITY: u8 = 85;
    let codes = encoded(pixels, |pixel| pixel.map(log_code));
    let mut bytes = Vec::new();
    // Images that JPEG has no room for are shown when there is time for them.
    match JpegEncoder::new_with_quality(&mut bytes, QUALITY).encode(&codes, width, height, Rgb8) {
        Ok(()) => bytes,
        Err(_) => Vec::new(),
    }
}

/// 255/20 · (log₂ x + 12), in 0 to 255.
fn log_code(x: f32) -> u8 {
    (((x.log2() - FIRST_STOP) * (255.0 / STOPS)) + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(code: u32) -> [f32; 3] {
        let exponent = (code >> 27) as i32 - 15 - 9;
        [0, 9, 18].map(|shift| ((code >> shift) & 511) as f32 * (exponent as f32).exp2())
    }

    #[test]
    fn colors_are_the_nearest_of_nine_bits() {
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            f32::from(((state >> 16) as u16) | 1) / 65536.0
        };
        for _ in 0..100_000 {
            let scale = (random() * 30.0 - 14.0).exp2();
            let color = [(); 3].map(|()| random() * scale);
            let most = color.into_iter().fold(0.0, f32::max);
            for (found, expected) in decoded(rgb9e5(color)).into_iter().zip(color) {
                // Half of the last bit of a mantissa between 256 and 512.
                assert!((found - expected).abs() <= most / 512.0 + 0.5_f32.powi(25), "{color:?}");
            }
        }
        assert_eq!(decoded(rgb9e5([1.0, 0.5, 0.25])), [1.0, 0.5, 0.25]);
        assert_eq!(decoded(rgb9e5([0.0; 3])), [0.0; 3]);
        assert_eq!(decoded(rgb9e5([f32::NAN, -1.0, f32::INFINITY])), [0.0, 0.0, 65408.0]);
        assert_eq!(decoded(rgb9e5([511.9; 3])), [512.0; 3], "it rounds to the next exponent");
    }

    #[test]
    fn codes_of_logarithms() {
        for (x, code) in [(0.0, 0), (-1.0, 0), (f32::NAN, 0), (1.0, 153), (256.0, 255), (1e9, 255)] {
            assert_eq!(log_code(x), code, "{x}");
        }
        let pixels = [[0.5, 0.5, 0.5]; 64];
        assert_eq!(log_jpeg_of(&pixels, [8, 8])[..2], [0xff, 0xd8]);
    }
}
