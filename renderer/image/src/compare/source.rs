//! The inputs of a comparison: an image or a layer of one, and its noise.

use std::path::{Path, PathBuf};

use crate::film::estimate::{EstimateError, ImageEstimate, Noise};
use crate::film::extent::{Extent, TooLittleMemory};
use crate::film::{self, Format, Layers, ReadError, read_layers};
use crate::metrics::Kind;

/// Largest number of pixels, a little more than 7680 × 4320.
pub const MAX_PIXELS: u64 = 1 << 25;

/// Memory that a verdict takes, bytes a pixel.
const VERDICT_BYTES: u64 = 260;
/// Memory that the metrics take, bytes a pixel.
const METRICS_BYTES: u64 = 72;
/// Memory that the image which is read first takes while the other one is read, bytes a pixel.
const KEPT_BYTES: u64 = 40;

/// The source of one of the two images.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Source {
    /// Its file.
    pub path: PathBuf,
    /// The layer to compare; the image itself if empty.
    pub layer: String,
    /// Knowledge of its noise beyond its file.
    pub noise: Knowledge,
}

/// Knowledge of the noise of an image beyond its file.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Knowledge {
    /// None: the file's own noise estimate is used, if it has one.
    #[default]
    File,
    /// The image is free of noise.
    Exact,
    /// Standard errors, the number of samples behind them, or both.
    Estimate {
        /// An image of standard errors, of the same size: its layer `stderr` if it has one, or its channels R, G and B.
        stderr: Option<PathBuf>,
        /// Number of samples per pixel, or of renders, from which means and standard errors are estimated.
        samples: Option<f32>,
    },
}

/// Two images of one size and kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Images {
    /// The image under test.
    pub a: ImageEstimate,
    /// The reference.
    pub b: ImageEstimate,
    /// The meaning of their values.
    pub kind: Kind,
    /// Whether each is declared free of noise.
    pub exact: [bool; 2],
}

/// Why images cannot be read for a comparison. Its message is a sentence that names the file.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The images, or their standard errors, differ in size.
    #[error(
        "sizes differ: {} has {} x {} pixels, {} {} x {}",
        first.display(), size.0, size.1, other.display(), other_size.0, other_size.1
    )]
    Sizes {
        /// The first image.
        first: PathBuf,
        /// Width and height of the first image, pixels.
        size: (u32, u32),
        /// The other image.
        other: PathBuf,
        /// Width and height of the other image, pixels.
        other_size: (u32, u32),
    },
    /// One image has display values, the other radiance.
    #[error(
        "{} holds {}, {} {}: compare PNG with PNG, and EXR, HDR and PFM with each other",
        a.display(), describe(kinds[0]), b.display(), describe(kinds[1])
    )]
    Kinds {
        /// The image under test.
        a: PathBuf,
        /// The reference.
        b: PathBuf,
        /// The kinds of both.
        kinds: [Kind; 2],
    },
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: ReadError,
    },
    /// An image is too large.
    #[error(
        "{}: {width} x {height} pixels are too many; images of up to {MAX_PIXELS}, as of 7680 x 4320, are compared",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Width, pixels.
        width: u32,
        /// Height, pixels.
        height: u32,
    },
    /// There is not enough memory to compare the images.
    #[error("{}: {error}", path.display())]
    Memory {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: TooLittleMemory,
    },
    /// A file has no such layer, or its standard errors are invalid.
    #[error("{}: {error}", path.display())]
    Layer {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: EstimateError,
    },
    /// A file of standard errors has display values.
    #[error("{}: holds values of a display, not standard errors of radiance", .0.display())]
    DisplayNoise(PathBuf),
}

fn describe(kind: Kind) -> &'static str {
    match kind {
        Kind::Display => "values of a display",
        Kind::Radiance => "radiance",
    }
}

/// Reads two images. Sizes and formats are checked before any pixels are read.
///
/// # Errors
/// A file cannot be read, or the images cannot be compared.
pub fn read(a: &Source, b: &Source) -> Result<Images, SourceError> {
    let kind = kind(&a.path)?;
    let others = self::kind(&b.path)?;
    let size = size(&a.path)?;
    for path in [a.stderr(), Some(b.path.as_path()), b.stderr()].into_iter().flatten() {
        let other = self::size(path)?;
        if other != size {
            let (first, other_size) = (a.path.clone(), other);
            return Err(SourceError::Sizes { first, size, other: path.into(), other_size });
        }
    }
    if kind != others {
        let (a, b) = (a.path.clone(), b.path.clone());
        return Err(SourceError::Kinds { a, b, kinds: [kind, others] });
    }
    [a, b].into_iter().try_for_each(Source::check_memory)?;
    let exact = [a, b].map(|source| source.noise == Knowledge::Exact);
    let read = |source: &Source| source.select(&source.layers()?, kind);
    Ok(Images { a: read(a)?, b: read(b)?, kind, exact })
}

/// The meaning of the values of an image file, by its format.
pub fn kind(path: &Path) -> Result<Kind, SourceError> {
    Ok(if format(path)?.is_display_referred() { Kind::Display } else { Kind::Radiance })
}

fn format(path: &Path) -> Result<Format, SourceError> {
    Format::from_path(path).map_err(|error| unreadable(path, error))
}

fn unreadable(path: &Path, error: impl Into<ReadError>) -> SourceError {
    SourceError::Read { path: path.into(), error: error.into() }
}

fn size(path: &Path) -> Result<(u32, u32), SourceError> {
    let (width, height) = film::size(path).map_err(|error| unreadable(path, error))?;
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(SourceError::TooLarge { path: path.into(), width, height });
    }
    Ok((width, height))
}

impl Source {
    /// The image in a file, with the noise estimate of the file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), ..Self::default() }
    }

    fn stderr(&self) -> Option<&Path> {
        match &self.noise {
            Knowledge::Estimate { stderr, .. } => stderr.as_deref(),
            _ => None,
        }
    }

    /// Checks that there is the memory to compare the image.
    fn check_memory(&self) -> Result<(), SourceError> {
        let extent = Extent::of(&self.path).map_err(|error| unreadable(&self.path, error))?;
        let has_noise = extent.bytes_per_pixel > 12 || matches!(self.noise, Knowledge::Estimate { .. });
        let compared = if has_noise { VERDICT_BYTES } else { METRICS_BYTES };
        let needed = compared.max(2 * extent.bytes_per_pixel + KEPT_BYTES);
        extent
            .check_memory("comparing it", needed)
            .map_err(|error| SourceError::Memory { path: self.path.clone(), error })
    }

    /// Reads all layers of the file.
    pub fn layers(&self) -> Result<Layers, SourceError> {
        read_layers(&self.path).map_err(|error| unreadable(&self.path, error))
    }

    /// Picks the image and its noise from the layers of its file.
    pub fn select(&self, layers: &Layers, kind: Kind) -> Result<ImageEstimate, SourceError> {
        let mut measured = ImageEstimate::from_layer(layers, &self.layer, format(&self.path)?)
            .map_err(|error| SourceError::Layer { path: self.path.clone(), error })?;
        let all = |x: f32| vec![x; measured.image.pixels.len()];
        match &self.noise {
            Knowledge::File => {}
            Knowledge::Exact => measured.noise = None,
            Knowledge::Estimate { stderr, samples } => {
                let samples = samples.map(all);
                if let Some(path) = stderr {
                    measured.noise = Some(read_noise(path)?);
                }
                if let (Some(noise), Some(samples)) = (&mut measured.noise, samples) {
                    noise.samples = Some(samples);
                }
            }
        }
        // Noise of display values is meaningless.
        measured.noise = measured.noise.filter(|_| kind == Kind::Radiance);
        Ok(measured.with_known_noise())
    }
}

/// Standard errors from a file of their own.
fn read_noise(path: &Path) -> Result<Noise, SourceError> {
    if kind(path)? == Kind::Display {
        return Err(SourceError::DisplayNoise(path.into()));
    }
    let wrong = |error| SourceError::Layer { path: path.into(), error };
    let layers = read_layers(path).map_err(|error| unreadable(path, error))?;
    let stderr = layers.rgb("stderr").or_else(|| layers.rgb(""));
    let stderr = stderr.ok_or_else(|| wrong(EstimateError::NoLayer(layers.missing(""))))?;
    Noise::new(stderr, None, false).map_err(wrong)
}
