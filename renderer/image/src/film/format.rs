//! Image file formats, told apart by file extension.

use std::fmt;
use std::path::Path;

/// An image file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// PNG, display-referred: exposed, tone-mapped, sRGB-encoded, 8 or 16 bits a channel.
    Png,
    /// JPEG, display-referred, 8 bits a channel, lossy.
    Jpeg,
    /// WebP, display-referred, 8 bits a channel, lossless.
    WebP,
    /// JPEG XL, display-referred, 8 or 16 bits a channel, lossless.
    Jxl,
    /// OpenEXR, scene-linear, half or float.
    Exr,
    /// Radiance RGBE, scene-linear, 8 bits of mantissa and a shared exponent.
    Hdr,
    /// Portable float map, scene-linear, float.
    Pfm,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 7] =
        [Self::Png, Self::Exr, Self::Hdr, Self::Pfm, Self::Jpeg, Self::WebP, Self::Jxl];

    /// The file extension, lower case, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::WebP => "webp",
            Self::Jxl => "jxl",
            Self::Exr => "exr",
            Self::Hdr => "hdr",
            Self::Pfm => "pfm",
        }
    }

    /// Whether the format holds display values rather than radiance.
    pub fn is_display_referred(self) -> bool {
        matches!(self, Self::Png | Self::Jpeg | Self::WebP | Self::Jxl)
    }

    /// Whether it can have 16 bits a channel.
    pub fn has_16_bits(self) -> bool {
        matches!(self, Self::Png | Self::Jxl)
    }

    /// The largest width and height, pixels, that its files can say; `None` if images are never as large.
    pub fn largest(self) -> Option<u32> {
        match self {
            Self::Jpeg => Some(65_535),
            Self::WebP => Some(16_384),
            Self::Png | Self::Jxl | Self::Exr | Self::Hdr | Self::Pfm => None,
        }
    }

    /// The format implied by the extension of `path`, in upper or lower case.
    pub fn from_path(path: &Path) -> Result<Self, UnknownExtension> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let named = |e: &str| match e {
            "jpeg" => Some(Self::Jpeg),
            _ => Self::ALL.into_iter().find(|f| f.extension() == e),
        };
        extension.as_deref().and_then(named).ok_or(UnknownExtension { extension })
    }
}

/// A path whose extension belongs to no [`Format`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownExtension {
    /// The extension, lower case, without the dot; `None` where there is none.
    pub extension: Option<String>,
}

impl UnknownExtension {
    /// The format probably meant.
    fn nearest(&self) -> Option<Format> {
        let extension = self.extension.as_deref()?;
        match extension {
            "bmp" | "tga" | "gif" | "avif" | "ppm" => return Some(Format::Png),
            "tif" | "tiff" => return Some(Format::Exr),
            "rgbe" | "pic" => return Some(Format::Hdr),
            _ => {}
        }
        let distance = |f: &Format| strsim::osa_distance(f.extension(), extension);
        Format::ALL.into_iter().min_by_key(distance).filter(|f| distance(f) <= 1)
    }
}

impl fmt::Display for UnknownExtension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ALL: &str = ".png, .exr, .hdr, .pfm, .jpg, .webp or .jxl";
        match (&self.extension, self.nearest()) {
            (None, _) => write!(f, "the file name needs an extension: {ALL}"),
            (Some(e), Some(n)) => {
                write!(f, "unknown file extension .{e}; did you mean .{}? (it may be {ALL})", n.extension())
            }
            (Some(e), None) => write!(f, "unknown file extension .{e}; use {ALL}"),
        }
    }
}

impl std::error::Error for UnknownExtension {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_recognised_in_either_case() {
        for format in Format::ALL {
            let lower = format!("a.b/x.{}", format.extension());
            assert_eq!(Format::from_path(Path::new(&lower)), Ok(format));
            assert_eq!(Format::from_path(Path::new(&lower.to_uppercase())), Ok(format));
        }
        assert_eq!(Format::from_path(Path::new("x.JPEG")), Ok(Format::Jpeg));
    }

    #[test]
    fn unknown_extensions_suggest_what_was_meant() {
        let message = |p: &str| Format::from_path(Path::new(p)).unwrap_err().to_string();
        assert!(message("x.pgn").contains("did you mean .png?"), "{}", message("x.pgn"));
        assert!(message("x.ext").contains("did you mean .exr?"), "{}", message("x.ext"));
        assert!(message("x.tga").contains("did you mean .png?"));
        assert!(message("x.zebra").contains("use .png, .exr, .hdr, .pfm, .jpg, .webp or .jxl"));
        for none in ["x", ".png", "out/", "", "-"] {
            assert!(message(none).contains("needs an extension"), "{none}: {}", message(none));
        }
    }
}
