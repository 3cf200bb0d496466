//! Encoding of images as the bytes of a file.

use std::collections::BTreeMap;

use super::develop::Develop;
use super::display;
use super::estimate::PIXEL_FILTER;
use super::format::Format;
use super::image::Image;
use super::interrupted::{RELATIVE_STDERR, SPP, is_compared};
use super::layers::Layers;
use super::openexr;
use super::shards::Shard;

pub(crate) use super::display::png_of;
pub use super::display::png_rgb8;

/// Encoding settings.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Settings {
    /// Exposure and tone mapping of display-referred formats.
    pub develop: Develop,
    /// Bits of a channel of PNG and JPEG XL.
    pub bits: DisplayDepth,
    /// How EXR files are written.
    pub exr: Exr,
}

/// How EXR files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exr {
    /// Type of the colours.
    pub depth: ExrDepth,
    /// How pixels are compressed.
    pub compression: ExrCompression,
    /// Whether each layer is a part of its own, which readers can skip, or all are in one part.
    pub is_multipart: bool,
}

/// How pixels of EXR files are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExrCompression {
    /// Not at all.
    None,
    /// Runs of equal bytes.
    Rle,
    /// Deflate, a row at a time.
    Zips,
    /// Deflate, 16 rows at a time.
    #[default]
    Zip,
    /// Wavelets, lossless: small where there is noise.
    Piz,
    /// Deflate of floats rounded to 24 bits.
    Pxr24,
    /// Blocks of 4 × 4 half floats in a fixed size, lossy; other types are not compressed.
    B44,
    /// As [`Self::B44`], smaller where a block has one colour.
    B44a,
}

/// Bits of a channel of an image for a display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DisplayDepth {
    /// 8 bits a channel.
    #[default]
    Eight,
    /// 16 bits a channel.
    Sixteen,
}

/// Type of the colours in an EXR file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExrDepth {
    /// 16-bit floats: half the size, 11 bits of precision, at most 65504.
    Half,
    /// 32-bit floats: the image as it was computed.
    #[default]
    Float,
}

/// Program and version, as recorded in files.
pub const SOFTWARE: &str = concat!("torrance ", env!("CARGO_PKG_VERSION"));

/// How an image was rendered, as recorded in EXR files. PNG files record its noise alone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Provenance {
    /// Program and version.
    pub software: String,
    /// Scene file.
    pub scene: String,
    /// `renderer::assemble::SceneData::fingerprint`: renders with equal fingerprints have equal expectations.
    pub scene_hash: u64,
    /// Machine.
    pub device: String,
    /// Samples taken per pixel.
    pub spp: u32,
    /// Seed of the sampler.
    pub seed: u32,
    /// Light transport settings, by attribute name.
    pub settings: Vec<(&'static str, String)>,
    /// Render time, seconds.
    pub seconds: f64,
    /// Relative standard error of the image, if it is known.
    pub relative_stderr: Option<f64>,
    /// Which samples it has, if that is known.
    pub samples: Option<Shard>,
}

impl Provenance {
    /// The metadata attributes of the EXR file.
    pub fn attributes(&self) -> BTreeMap<String, String> {
        let own = [
            ("software", self.software.clone()),
            ("scene", self.scene.clone()),
            ("sceneHash", format!("{:016x}", self.scene_hash)),
            ("device", self.device.clone()),
            (SPP, self.spp.to_string()),
            ("seed", self.seed.to_string()),
            ("renderTime", self.seconds.to_string()),
            (PIXEL_FILTER, "box".into()),
        ];
        let noise = self.noise().map(|noise| (RELATIVE_STDERR, noise));
        let all = own.into_iter().chain(noise).chain(self.settings.iter().cloned());
        let samples = self.samples.iter().flat_map(Shard::attributes);
        all.map(|(k, v)| (k.into(), v)).chain(samples).collect()
    }

    /// The noise in digits, if it is a number.
    fn noise(&self) -> Option<String> {
        self.relative_stderr.filter(|noise| noise.is_finite()).map(|noise| format!("{noise:.3e}"))
    }
}

/// An encoded image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedImage {
    /// The file.
    pub bytes: Vec<u8>,
    /// Number of pixels clamped because the format cannot represent their radiance. Clamping to a display's range does
    /// not count.
    pub clamped: usize,
}

/// An image that cannot be encoded: why, as the encoding library says it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EncodeError(String);

impl EncodeError {
    pub(crate) fn refused(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// Encodes `image`.
///
/// # Errors
/// The encoder fails.
pub fn encode(
    image: &Image,
    format: Format,
    settings: &Settings,
    about: &Provenance,
) -> Result<EncodedImage, EncodeError> {
    let mut clamped = 0;
    let bytes = match format {
        Format::Png if about.noise().is_none() => display::png(image, settings)?,
        Format::Png => {
            let told = about.attributes().into_iter().filter(|(name, _)| is_compared(name));
            told.fold(display::png(image, settings)?, |png, (name, text)| {
                display::with_text(png, &name, &text)
            })
        }
        Format::Jpeg => display::jpeg(image, settings)?,
        Format::WebP => display::webp(image, settings)?,
        Format::Jxl => display::jxl(image, settings)?,
        Format::Pfm => pfm(image),
        Format::Exr => {
            return encode_layers(Layers::from(image).saying(about.attributes()), settings.exr);
        }
        Format::Hdr => {
            let exact: Vec<_> = image.pixels.iter().map(|p| nearest_rgbe(*p)).collect();
            clamped = exact.iter().filter(|(_, outside)| *outside).count();
            hdr(image, exact.into_iter().map(|(rgb, _)| ::image::Rgb(rgb)).collect())?
        }
    };
    Ok(EncodedImage { bytes, clamped })
}

/// Encodes all channels as OpenEXR. The depth applies to colours; other channels keep their type.
///
/// # Errors
/// The encoder fails.
pub fn encode_layers(mut layers: Layers, how: Exr) -> Result<EncodedImage, EncodeError> {
    let clamped = if how.depth == ExrDepth::Half { layers.round_colors_to_half() } else { 0 };
    Ok(EncodedImage { bytes: openexr::encode(layers, how)?, clamped })
}

/// Encodes all channels as a temporary OpenEXR file: 32-bit floats, uncompressed, which is large but fast.
///
/// # Errors
/// The encoder fails.
pub fn encode_at_once(layers: Layers) -> Result<Vec<u8>, EncodeError> {
    openexr::encode(layers, Exr { compression: ExrCompression::None, ..Exr::default() })
}

/// Little-endian (a negative scale says so), rows from the bottom.
fn pfm(image: &Image) -> Vec<u8> {
    let mut bytes = format!("PF\n{} {}\n-1.0\n", image.width, image.height).into_bytes();
    for row in image.pixels.chunks_exact(image.width as usize).rev() {
        bytes.extend(row.iter().flatten().flat_map(|x| x.to_le_bytes()));
    }
    bytes
}

fn hdr(image: &Image, pixels: Vec<::image::Rgb<f32>>) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    ::image::codecs::hdr::HdrEncoder::new(&mut bytes)
        .encode(&pixels, image.width as usize, image.height as usize)
        .map_err(EncodeError::refused)?;
    Ok(bytes)
}

/// The nearest value that RGBE holds exactly, and whether the value lies outside what it holds: negative, NaN
/// or above 255/256·2¹²⁷. The encoder would truncate, darkening the image by a quarter of a per cent, and
/// wraps the exponents of the largest and smallest floats around.
fn nearest_rgbe(rgb: [f32; 3]) -> ([f32; 3], bool) {
    const MAX: f64 = 255.0 / 256.0 * (1_u128 << 127) as f64;
    let inside = rgb.map(|x| if x.is_nan() { 0.0 } else { f64::from(x).clamp(0.0, MAX) });
    let outside = (0..3).any(|c| f64::from(rgb[c]) != inside[c]);
    // Twice, because rounding up to the next power of two coarsens the steps of the other channels.
    (round_mantissas(round_mantissas(inside)).map(|x| x as f32), outside)
}

/// Rounds to multiples of 2⁻⁸ of the power of two above the largest value.
fn round_mantissas(rgb: [f64; 3]) -> [f64; 3] {
    let max = rgb[0].max(rgb[1]).max(rgb[2]);
    // Below, the exponent does not fit: radiance 10⁻³⁷ is black.
    if max < f64::from(f32::MIN_POSITIVE) {
        return [0.0; 3];
    }
    let step = (max.log2().floor() - 7.0).exp2();
    rgb.map(|x| (x / step).round() * step)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::film::read;
    use crate::film::tone::Tonemap;

    /// A ramp over many magnitudes, of odd sizes so that rows and columns cannot be mistaken.
    fn ramp() -> Image {
        let pixels = (0..7 * 5).map(|i| {
            let x = (i as f32 - 20.0).exp2();
            [x, 0.37 * x, i as f32 / 35.0]
        });
        Image { width: 7, height: 5, pixels: pixels.collect() }
    }

    fn through_file(image: &Image, format: Format, settings: &Settings) -> Image {
        let suffix = format!(".{}", format.extension());
        let mut file = tempfile::Builder::new().suffix(&suffix).tempfile().unwrap();
        let about =
            Provenance { scene: "Küche-台所.toml".into(), device: String::new(), ..Provenance::default() };
        file.write_all(&encode(image, format, settings, &about).unwrap().bytes).unwrap();
        read(file.path()).unwrap()
    }

    fn half() -> Exr {
        Exr { depth: ExrDepth::Half, ..Exr::default() }
    }

    #[test]
    fn float_formats_keep_every_bit() {
        for format in [Format::Exr, Format::Pfm] {
            assert_eq!(through_file(&ramp(), format, &Settings::default()), ramp(), "{format:?}");
        }
    }

    #[test]
    fn half_and_rgbe_keep_their_precision() {
        let half = Settings { exr: half(), ..Settings::default() };
        let halves = through_file(&ramp(), Format::Exr, &half);
        let rgbe = through_file(&ramp(), Format::Hdr, &Settings::default());
        for ((x, h), r) in ramp().pixels.iter().zip(&halves.pixels).zip(&rgbe.pixels) {
            let max = x[0].max(x[1]).max(x[2]);
            for ((x, h), r) in x.iter().zip(h).zip(r) {
                let half_ulp = (x / 2048.0).max(f32::from(half::f16::from_bits(1)) / 2.0);
                assert!((h - x).abs() <= half_ulp, "{x} became {h}");
                assert!((r - x).abs() <= max / 256.0, "{x} became {r}");
            }
        }
    }

    #[test]
    fn lossless_formats_have_the_nearest_code() {
        let image = ramp();
        for (format, bits, steps) in [
            (Format::Png, DisplayDepth::Eight, 255.0),
            (Format::Png, DisplayDepth::Sixteen, 65535.0),
            (Format::Jxl, DisplayDepth::Eight, 255.0),
            (Format::Jxl, DisplayDepth::Sixteen, 65535.0),
            (Format::WebP, DisplayDepth::Eight, 255.0),
            // There is no room for more.
            (Format::WebP, DisplayDepth::Sixteen, 255.0),
        ] {
            let settings = Settings { bits, ..Settings::default() };
            let got = through_file(&image, format, &settings);
            assert_eq!((got.width, got.height), (7, 5));
            for (x, y) in image.pixels.iter().flatten().zip(got.pixels.iter().flatten()) {
                let encoded = |x: f32| crate::film::develop::srgb_encode(f64::from(x).min(1.0));
                assert!((encoded(*x) - encoded(*y)).abs() * steps < 0.51, "{format:?}: {x} became {y}");
            }
        }
    }

    /// A smooth image survives JPEG but for a few codes, and a step has the artefacts that it has there.
    #[test]
    fn jpeg_is_near() {
        let pixels = (0..64 * 48).map(|i| [(i % 64) as f32 / 64.0, (i / 64) as f32 / 48.0, 0.25]).collect();
        let image = Image { width: 64, height: 48, pixels };
        let got = through_file(&image, Format::Jpeg, &Settings::default());
        let encoded = |x: f32| crate::film::develop::srgb_encode(f64::from(x)) * 255.0;
        let errors = image.pixels.iter().flatten().zip(got.pixels.iter().flatten());
        let errors: Vec<_> = errors.map(|(x, y)| (encoded(*x) - encoded(*y)).abs()).collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        assert!((0.05..2.0).contains(&mean), "{mean}");
    }

    #[test]
    fn png_is_tagged() {
        let image = ramp();
        let bytes = encode(&image, Format::Png, &Settings::default(), &Provenance::default()).unwrap().bytes;
        assert_eq!(&bytes[37..41], b"sRGB");
        assert_eq!(&bytes[50..54], b"gAMA");
    }

    #[test]
    fn pixels_of_a_display_are_kept() {
        let pixels: Vec<u8> = (0..7 * 5 * 3).map(|i| (i * 83 % 256) as u8).collect();
        let bytes = png_rgb8(7, 5, &pixels).unwrap();
        assert_eq!((&bytes[37..41], &bytes[50..54]), (&b"sRGB"[..], &b"gAMA"[..]));
        let image = ::image::load_from_memory(&bytes).unwrap().into_rgb8();
        assert_eq!((image.dimensions(), image.as_raw()), ((7, 5), &pixels));
        assert_eq!(
            png_rgb8(7, 4, &pixels).unwrap_err().to_string(),
            "105 bytes are no image of 7 × 4 pixels"
        );
        assert!(png_rgb8(0, 5, &[]).is_err());
    }

    #[test]
    fn development_changes_images_for_displays_only() {
        let settings = Settings {
            develop: Develop { exposure: 2.0, tonemap: Tonemap::Aces, ..Develop::default() },
            ..Settings::default()
        };
        for format in Format::ALL {
            let plain = through_file(&ramp(), format, &Settings::default());
            let developed = through_file(&ramp(), format, &settings);
            assert_eq!(plain != developed, format.is_display_referred(), "{format:?}");
        }
    }

    #[test]
    fn rgbe_rounds_without_bias_and_never_wraps() {
        let mut error = 0.0;
        for i in 1..4000 {
            let x = i as f32 * 0.001;
            error += f64::from(nearest_rgbe([x; 3]).0[0] / x - 1.0);
        }
        assert!(error.abs() / 4000.0 < 1e-4, "mean relative error {}", error / 4000.0);

        let max = 255.0 / 256.0 * 127_f32.exp2();
        let extremes = [1e-40, f32::MIN_POSITIVE, max, f32::MAX, f32::INFINITY, -1.0, f32::NAN, 0.999_999_9];
        let expected = [0.0, f32::MIN_POSITIVE, max, max, max, 0.0, 0.0, 1.0];
        let outside = [false, false, false, true, true, true, true, false];
        let image = Image { width: 8, height: 1, pixels: extremes.map(|x| [x; 3]).into() };
        let got = through_file(&image, Format::Hdr, &Settings::default());
        for i in 0..8 {
            assert_eq!(got.pixels[i], [expected[i]; 3], "{}", extremes[i]);
            assert_eq!(nearest_rgbe([extremes[i]; 3]).1, outside[i], "{}", extremes[i]);
        }
    }

    #[test]
    fn what_a_format_cannot_hold_is_counted() {
        let image =
            Image { width: 3, height: 1, pixels: vec![[1.0; 3], [70_000.0, 0.0, 0.0], [f32::NAN; 3]] };
        let clamped = |format, depth| {
            let settings = Settings { exr: Exr { depth, ..Exr::default() }, ..Settings::default() };
            encode(&image, format, &settings, &Provenance::default()).unwrap().clamped
        };
        assert_eq!(clamped(Format::Exr, ExrDepth::Half), 1);
        assert_eq!(clamped(Format::Exr, ExrDepth::Float), 0);
        assert_eq!(clamped(Format::Hdr, ExrDepth::Float), 1);
        assert_eq!(image.non_finite(), 1);
        let half = Settings { exr: half(), ..Settings::default() };
        assert_eq!(through_file(&image, Format::Exr, &half).pixels[1][0], 65504.0);
    }
}
