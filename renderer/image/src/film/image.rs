//! Images in memory, and reading them from files.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::Path;
use std::str::FromStr;

use ::image::{ImageDecoder, ImageError, ImageResult};
use image::codecs::hdr::HdrDecoder;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use jxl_oxide::integration::JxlDecoder;
use rayon::prelude::*;

use super::develop::srgb_decode;
use super::estimate::EstimateError;
use super::format::{Format, UnknownExtension};
use super::layers::Layers;
use super::{Film, PIXELS_PER_TASK, openexr};

pub use super::exr_header::check_exr_headers;

/// Linear Rec. 709 values, row by row from the top left.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// `width · height` pixels, red, green, blue.
    pub pixels: Vec<[f32; 3]>,
}

/// Whether all channels of a pixel are finite.
pub fn is_finite(pixel: &[f32; 3]) -> bool {
    pixel.iter().all(|x| x.is_finite())
}

impl Image {
    /// Number of pixels with a NaN or infinite channel.
    pub fn non_finite(&self) -> usize {
        self.pixels.iter().filter(|p| !is_finite(p)).count()
    }
}

impl From<&Film> for Image {
    /// The mean of every pixel.
    fn from(film: &Film) -> Self {
        let pixels = film.pixels.par_iter().with_min_len(PIXELS_PER_TASK);
        let pixels = pixels.map(|p| p.mean().map(|x| x as f32)).collect();
        Self { width: film.width, height: film.height, pixels }
    }
}

/// Why an image could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The format is not one that is read.
    #[error(transparent)]
    Format(#[from] UnknownExtension),
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not what its extension says, or is damaged.
    #[error("not a valid .{} file: {reason}", .format.extension())]
    Invalid {
        /// The format implied by the extension.
        format: Format,
        /// Why its contents cannot be decoded.
        reason: DecodeError,
    },
}

/// Why the contents of an image file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Its contents are damaged, or not supported: the rest of a sentence.
    #[error("{0}")]
    Contents(String),
    /// It has no such layer, or its standard errors are invalid.
    #[error(transparent)]
    Layer(#[from] EstimateError),
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The decoder of PNG or HDR fails.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The decoder of OpenEXR fails.
    #[error(transparent)]
    Exr(#[from] exr::error::Error),
}

/// Largest number of pixels: 2²⁸, 3 GiB in memory. A damaged header may claim any size.
const MAX_PIXELS: u64 = 1 << 28;

/// Opens an image file. Its header is read before its pixels, and what is no regular file, such as a pipe into which nobody
/// writes, would wait for ever.
pub(super) fn open(path: &Path) -> io::Result<BufReader<File>> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path).map(BufReader::new)
}

/// Reads an image. EXR, HDR and PFM hold radiance; the other formats are decoded from sRGB to linear, but their exposure and tone
/// mapping are not undone.
pub fn read(path: &Path) -> Result<Image, ReadError> {
    let format = Format::from_path(path)?;
    let mut file = open(path)?;
    let image = match format {
        Format::Exr => openexr::decode(file),
        Format::Pfm => decode_pfm(&mut file),
        Format::Hdr => decode_hdr(file),
        Format::Png | Format::Jpeg | Format::WebP | Format::Jxl => {
            display_decoder(format, file).and_then(decode_display)
        }
    };
    image.map_err(|reason| ReadError::Invalid { format, reason })
}

/// Width and height of an image, from the header of its file. Pixels are not read, so the rest of the file may be
/// damaged.
pub fn size(path: &Path) -> Result<(u32, u32), ReadError> {
    let format = Format::from_path(path)?;
    let mut file = open(path)?;
    let size = match format {
        Format::Exr => openexr::extent(file).map(|extent| (extent.width, extent.height)),
        Format::Pfm => pfm_header(&mut file).and_then(|h| checked((h.width, h.height))),
        Format::Hdr => hdr_decoder(file).map_err(DecodeError::from).and_then(|d| checked(d.dimensions())),
        Format::Png | Format::Jpeg | Format::WebP | Format::Jxl => {
            display_decoder(format, file).and_then(|decoder| checked(decoder.dimensions()))
        }
    };
    size.map_err(|reason| ReadError::Invalid { format, reason })
}

/// Reads all channels of a file: any number in EXR, three in the other formats.
pub fn read_layers(path: &Path) -> Result<Layers, ReadError> {
    let format = Format::from_path(path)?;
    if format != Format::Exr {
        return read(path).map(|image| Layers::from(&image));
    }
    let file = open(path)?;
    openexr::decode_layers(file).map_err(|reason| ReadError::Invalid { format, reason })
}

/// Reads all channels of an EXR file in memory.
///
/// # Errors
/// It is none.
pub fn decode_layers(bytes: &[u8]) -> Result<Layers, DecodeError> {
    openexr::decode_layers(Cursor::new(bytes))
}

impl From<&Image> for Layers {
    fn from(image: &Image) -> Self {
        let mut layers = Self::new(image.width, image.height);
        layers.push_floats("", ["R", "G", "B"], &image.pixels);
        layers
    }
}

/// Rejects images without pixels and implausibly large ones.
pub(super) fn check_pixels(width: u64, height: u64) -> Result<(), DecodeError> {
    match width.checked_mul(height) {
        Some(1..=MAX_PIXELS) => Ok(()),
        _ => Err(DecodeError::Contents(format!("{width} by {height} pixels"))),
    }
}

fn checked((width, height): (u32, u32)) -> Result<(u32, u32), DecodeError> {
    check_pixels(width.into(), height.into()).map(|()| (width, height))
}

/// A decoder of a Radiance picture. The format allows any program name in the first line, such as `#?RGBE` (Ward 1994,
/// "The RADIANCE Lighting Simulation and Rendering System"); the library accepts only one.
pub fn hdr_decoder(mut file: impl BufRead) -> ImageResult<HdrDecoder<impl Read>> {
    const FIRST: &[u8] = b"#?RADIANCE\n";
    // No name is as long.
    const MAX_LINE: u64 = 1 << 10;
    let mut line = Vec::new();
    file.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
    let line = if line.starts_with(b"#?") && line.ends_with(b"\n") { FIRST.to_vec() } else { line };
    HdrDecoder::new(Cursor::new(line).chain(file))
}

fn decode_hdr(file: BufReader<File>) -> Result<Image, DecodeError> {
    let decoder = hdr_decoder(file)?;
    checked(decoder.dimensions())?;
    let decoded = ::image::DynamicImage::from_decoder(decoder)?;
    Ok(from_linear(&decoded.into_rgb32f()))
}

fn length(file: &BufReader<File>) -> Result<u64, DecodeError> {
    Ok(file.get_ref().metadata()?.len())
}

/// A decoder of a PNG file of so many bytes. What is in it besides the image, such as a profile of colours, may be no larger
/// than the file and 16 MiB, and is otherwise passed over.
pub fn png_decoder<R: BufRead + Seek>(file: R, bytes: u64) -> ImageResult<PngDecoder<R>> {
    const MORE: u64 = 16 << 20;
    let mut limits = ::image::Limits::no_limits();
    limits.max_alloc = Some(bytes.saturating_add(MORE));
    PngDecoder::with_limits(file, limits)
}

/// A decoder of a file for displays.
fn display_decoder(format: Format, file: BufReader<File>) -> Result<Box<dyn ImageDecoder>, DecodeError> {
    Ok(match format {
        Format::Jpeg => Box::new(JpegDecoder::new(file)?),
        Format::WebP => Box::new(WebPDecoder::new(file)?),
        Format::Jxl => Box::new(JxlDecoder::new(file)?),
        _ => {
            let bytes = length(&file)?;
            Box::new(png_decoder(file, bytes)?)
        }
    })
}

/// An image in sRGB.
fn decode_display(decoder: impl ImageDecoder) -> Result<Image, DecodeError> {
    checked(decoder.dimensions())?;
    let mut encoded = ::image::DynamicImage::from_decoder(decoder)?.into_rgb32f();
    for x in encoded.iter_mut() {
        *x = srgb_decode(f64::from(*x)) as f32;
    }
    Ok(from_linear(&encoded))
}

fn from_linear(linear: &::image::Rgb32FImage) -> Image {
    let pixels = linear.pixels().map(|p| p.0).collect();
    Image { width: linear.width(), height: linear.height(), pixels }
}

/// The header of a portable float map.
pub struct PfmHeader {
    /// Values per pixel.
    channels: usize,
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    little_endian: bool,
    /// Factor applied to all values.
    scale: f32,
}

/// `PF` or `Pf`, width and height of any size, a scale whose sign is the byte order (negative is little-endian).
pub fn pfm_header(file: &mut impl BufRead) -> Result<PfmHeader, DecodeError> {
    let magic = token(file)?;
    let channels = match magic.as_str() {
        "PF" => 3,
        "Pf" => 1,
        _ => return Err(DecodeError::Contents(format!("starts with {magic:?} instead of PF or Pf"))),
    };
    let (width, height) = (field("width", &token(file)?)?, field("height", &token(file)?)?);
    let text = token(file)?;
    let scale: f32 = field("scale", &text)?;
    if scale == 0.0 || !scale.is_finite() {
        return Err(DecodeError::Contents(format!("scale is {text}")));
    }
    Ok(PfmHeader { channels, width, height, little_endian: scale < 0.0, scale: scale.abs() })
}

/// A number of a header.
fn field<T: FromStr>(name: &str, text: &str) -> Result<T, DecodeError> {
    text.parse().map_err(|_| DecodeError::Contents(format!("{name} is {text:?}")))
}

/// Portable float map: a header, then rows from the bottom.
pub fn decode_pfm(file: &mut impl BufRead) -> Result<Image, DecodeError> {
    let PfmHeader { channels, width, height, little_endian, scale } = pfm_header(file)?;
    check_pixels(width.into(), height.into())?;
    let n = width as usize * height as usize;
    let mut bytes = Vec::new();
    // One more than there should be tells a file that is too long, however long it is.
    file.take((n * channels * 4 + 1) as u64).read_to_end(&mut bytes)?;
    let (found, expected) = (bytes.len(), n * channels * 4);
    if found != expected {
        let found = if found > expected { "more".to_owned() } else { found.to_string() };
        return Err(DecodeError::Contents(format!("{found} bytes of pixels instead of {expected}")));
    }
    let value = |b: [u8; 4]| if little_endian { f32::from_le_bytes(b) } else { f32::from_be_bytes(b) };
    let values: Vec<f32> = bytes.as_chunks().0.iter().map(|b| value(*b) * scale).collect();
    let rows = values.chunks_exact(width as usize * channels).rev();
    let pixels = rows.flat_map(|row| {
        row.chunks_exact(channels).map(|p| if channels == 3 { [p[0], p[1], p[2]] } else { [p[0]; 3] })
    });
    Ok(Image { width, height, pixels: pixels.collect() })
}

/// The next word of a header, and the one white-space character that ends it.
fn token(file: &mut impl BufRead) -> Result<String, DecodeError> {
    let mut word = String::new();
    for byte in file.by_ref().bytes() {
        let byte = byte?;
        if !byte.is_ascii_whitespace() {
            word.push(char::from(byte));
        } else if !word.is_empty() {
            return Ok(word);
        }
        if word.len() > 32 {
            break;
        }
    }
    Err(DecodeError::Contents("the header is damaged".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pfm(bytes: &[u8]) -> Result<Image, DecodeError> {
        decode_pfm(&mut &*bytes)
    }

    #[test]
    fn pfm_of_either_byte_order_and_of_grey() {
        let mut big = b"PF\n1 2\n1.0\n".to_vec();
        for x in [4.0_f32, 5.0, 6.0, 1.0, 2.0, 3.0] {
            big.extend(x.to_be_bytes());
        }
        assert_eq!(pfm(&big).unwrap().pixels, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        for (scale, expected) in [("-1", [[7.0; 3], [8.0; 3]]), ("-0.5", [[3.5; 3], [4.0; 3]])] {
            let mut grey = format!("Pf 2 1 {scale}\n").into_bytes();
            grey.extend([7.0_f32, 8.0].iter().flat_map(|x| x.to_le_bytes()));
            assert_eq!(pfm(&grey).unwrap().pixels, expected);
        }
    }

    /// As Mitsuba 3.9.1 writes them.
    #[test]
    fn hdr_may_name_another_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.hdr");
        let picture = b"#?RGBE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n\x80@ \x81 \x00\x80\x84";
        std::fs::write(&path, picture).unwrap();
        assert_eq!(read(&path).unwrap().pixels, [[1.0, 0.5, 0.25], [2.0, 0.0, 8.0]]);
        assert_eq!(size(&path).unwrap(), (2, 1));
        std::fs::write(&path, &picture[2..]).unwrap();
        assert!(read(&path).is_err() && size(&path).is_err(), "control: no picture");
    }

    #[test]
    fn damaged_pfm_is_refused() {
        for bytes in [
            &b""[..],
            b"PF",
            b"P6\n1 1\n-1\n",
            b"PF\n0 1\n-1\n",
            b"PF\n-1 1\n-1\n",
            b"PF\n4294967295 4294967295\n-1\n",
            b"PF\n1 1\n0\n\0\0\0\0\0\0\0\0\0\0\0\0",
            b"PF\n1 1\nnan\n\0\0\0\0\0\0\0\0\0\0\0\0",
            b"PF\n1 1\n-1\n\0\0\0",
            b"PF\n11111111111111111111111111111111111111111111111111111 1\n-1\n",
        ] {
            assert!(pfm(bytes).is_err(), "{:?}", String::from_utf8_lossy(bytes));
        }
    }
}
