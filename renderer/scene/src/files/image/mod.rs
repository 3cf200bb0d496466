//! Image files for textures.

mod decode;
mod ktx2;
#[cfg(test)]
mod tests;
mod texels;

use std::path::Path;

use super::FileError;
use crate::description::Image;
use crate::description::limits::MAX_IMAGE_BYTES;
use crate::input::file::read_regular;

/// The interpretation of an image's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Meaning {
    /// Whether whole numbers are encoded as sRGB. Floats never are.
    pub(crate) is_srgb: bool,
    /// Whether only alpha is used; the other channels may then be set to it.
    pub(crate) is_alpha: bool,
    /// Their range.
    pub(crate) range: Range,
}

/// The allowed range of an image's numbers, each within the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Range {
    /// Parts of a whole, from 0 to 1.
    Unit,
    /// Not negative.
    Radiance,
    /// Any.
    Height,
}

/// Why a file cannot be read as an image, to follow "cannot read image …:".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// The file is empty.
    #[error("it is empty")]
    Empty,
    /// The file cannot be read.
    #[error("{0}")]
    Io(String),
    /// The file is in no known format.
    #[error("it is no image that is read; {READ}")]
    NoImage,
    /// An unsupported format, by its name.
    #[error("it is in the format {0}, which is not read; {READ}")]
    Format(String),
    /// The size is not allowed: the size and the violated rule.
    #[error("it has {0}")]
    Size(String),
    /// The decoder fails: the format, and how.
    #[error("the {0} file {1}")]
    Broken(&'static str, String),
    /// Alpha is required but missing.
    #[error("it has no alpha")]
    NoAlpha,
    /// A pixel is out of range: which, and how.
    #[error("the {0}")]
    Pixel(String),
}

/// The supported formats, as the end of a message.
const READ: &str = "PNG, JPEG, WebP, KTX2, BMP, PNM, HDR, PFM, OpenEXR and TGA files are";

/// A decoded image, with a warning if it is suspicious.
#[derive(Debug, Clone)]
pub(crate) struct DecodedImage {
    pub(crate) image: Image,
    pub(crate) warning: Option<String>,
}

/// Reads a PNG, JPEG, WebP, KTX2, BMP, PNM, HDR, PFM, OpenEXR or, by the name, TGA file.
///
/// Channels of 8 bits stay bytes, with alpha. Finer ones become halves, with alpha, if these represent them exactly, as for
/// most HDR and OpenEXR files; otherwise floats, without alpha. Nothing is allocated for an image before its header is
/// known to have an allowed size for which enough memory is left.
///
/// # Errors
/// Why it cannot be read.
pub(crate) fn read(path: &Path, meaning: Meaning) -> Result<DecodedImage, FileError> {
    let bytes = read_regular(path, MAX_IMAGE_BYTES)?;
    let is_tga = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("tga"));
    let mut found = parse(&bytes, is_tga, meaning)?;
    found.image.file = Some(path.into());
    Ok(found)
}

/// Parses the bytes of a file. TGA files cannot be recognized by their contents.
///
/// # Errors
/// As [`read`].
pub(crate) fn parse(bytes: &[u8], is_tga: bool, meaning: Meaning) -> Result<DecodedImage, ImageError> {
    texels::from_decoded(decode::decode(bytes, is_tga)?, meaning)
}
