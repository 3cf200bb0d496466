//! Image file formats, told apart by file extension.

use std::fmt;
use std::path::Path;

/// An image file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// PNG, display-referred: exposed, tone-mapped, sRGB-encoded, 8 or 16 bits a channel.
    Png,
    /// OpenEXR, scene-linear, half or float.
    Exr,
    /// Radiance RGBE, scene-linear, 8 bits of mantissa and a shared exponent.
    Hdr,
    /// Portable float map, scene-linear, float.
    Pfm,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Png, Self::Exr, Self::Hdr, Self::Pfm];

    /// The file extension, lower case, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Exr => "exr",
            Self::Hdr => "hdr",
            Self::Pfm => "pfm",
        }
    }

    /// Whether the format holds display values rather than radiance.
    pub fn is_display_referred(self) -> bool {
        self == Self::Png
    }

    /// The format implied by the extension of `path`, in upper or lower case.
    pub fn from_path(path: &Path) -> Result<Self, UnknownExtension> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let known = extension.as_deref().and_then(|e| Self::ALL.into_iter().find(|f| f.extension() == e));
        known.ok_or(UnknownExtension { extension })
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
            "jpg" | "jpeg" | "bmp" | "tga" | "gif" | "webp" | "avif" | "jxl" | "ppm" => {
                return Some(Format::Png);
            }
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
        match (&self.extension, self.nearest()) {
            (None, _) => write!(f, "the file name needs an extension: .png, .exr, .hdr or .pfm"),
            (Some(e), Some(n)) => write!(
                f,
                "unknown file extension .{e}; did you mean .{}? (there are .png, .exr, .hdr and .pfm)",
                n.extension()
            ),
            (Some(e), None) => {
                write!(f, "unknown file extension .{e}; use .png, .exr, .hdr or .pfm")
            }
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
    }

    #[test]
    fn unknown_extensions_suggest_what_was_meant() {
        let message = |p: &str| Format::from_path(Path::new(p)).unwrap_err().to_string();
        assert!(message("x.pgn").contains("did you mean .png?"), "{}", message("x.pgn"));
        assert!(message("x.ext").contains("did you mean .exr?"), "{}", message("x.ext"));
        assert!(message("x.jpeg").contains("did you mean .png?"));
        assert!(message("x.zebra").contains("use .png, .exr, .hdr or .pfm"));
        for none in ["x", ".png", "out/", "", "-"] {
            assert!(message(none).contains("needs an extension"), "{none}: {}", message(none));
        }
    }
}
