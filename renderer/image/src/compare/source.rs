//! What is compared: an image or a layer of one, and what is known of its noise.

use std::path::{Path, PathBuf};

use crate::film::format::Format;
use crate::film::measured::{Measured, Noise};
use crate::film::{self, Layers, read_layers};
use crate::metrics::Kind;

/// Most pixels that are compared, a little more than 7680 × 4320: a verdict on them takes 7 GB of memory, 200 bytes a
/// pixel, and the metrics alone 70 bytes.
pub const MAX_PIXELS: u64 = 1 << 25;

/// Where one of two images comes from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Source {
    /// Its file.
    pub path: PathBuf,
    /// The layer to compare; the image itself if empty.
    pub layer: String,
    /// What is known of its noise beyond what its file says.
    pub noise: Knowledge,
}

/// What is known of the noise of an image beyond what its file says.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Knowledge {
    /// Nothing.
    #[default]
    File,
    /// It has none.
    Exact,
    /// Standard errors, samples that these come from, or both.
    Given {
        /// An image of standard errors, of the same size: its layer `stderr` if it has one, or its channels R, G and B.
        stderr: Option<PathBuf>,
        /// Samples per pixel, or renders, that means and standard errors are estimated from.
        samples: Option<f32>,
    },
}

/// Two images of one size and kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Images {
    /// The image under test.
    pub a: Measured,
    /// The reference.
    pub b: Measured,
    /// What their values mean.
    pub kind: Kind,
    /// Whether they are said to have no noise.
    pub exact: [bool; 2],
}

/// Reads two images. Sizes and formats are looked at before anything large is read.
///
/// # Errors
/// A sentence that names the file and says what is wrong with it.
pub fn read(a: &Source, b: &Source) -> Result<Images, String> {
    let kind = kind(&a.path)?;
    let others = self::kind(&b.path)?;
    let size = size(&a.path)?;
    for path in [a.stderr(), Some(b.path.as_path()), b.stderr()].into_iter().flatten() {
        let other = self::size(path)?;
        if other != size {
            let ((w, h), (x, y)) = (size, other);
            let (first, other) = (a.path.display(), path.display());
            return Err(format!("sizes differ: {first} has {w} x {h} pixels, {other} {x} x {y}"));
        }
    }
    if kind != others {
        let is = |kind| if kind == Kind::Display { "values of a display" } else { "radiance" };
        let (a, b) = (a.path.display(), b.path.display());
        return Err(format!(
            "{a} holds {}, {b} {}: compare PNG with PNG, and EXR, HDR and PFM with each other",
            is(kind),
            is(others)
        ));
    }
    let exact = [a, b].map(|source| source.noise == Knowledge::Exact);
    Ok(Images { a: a.read(kind)?, b: b.read(kind)?, kind, exact })
}

/// What the values of an image file mean.
pub fn kind(path: &Path) -> Result<Kind, String> {
    let format = Format::of(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(if format.is_display_referred() { Kind::Display } else { Kind::Radiance })
}

fn size(path: &Path) -> Result<(u32, u32), String> {
    let (width, height) = film::size(path).map_err(|e| format!("{}: {e}", path.display()))?;
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        let path = path.display();
        return Err(format!(
            "{path}: {width} x {height} pixels are too many; images of up to {MAX_PIXELS}, as of 7680 x 4320, are compared"
        ));
    }
    Ok((width, height))
}

impl Source {
    /// An image of which only its file tells.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), ..Self::default() }
    }

    fn stderr(&self) -> Option<&Path> {
        match &self.noise {
            Knowledge::Given { stderr, .. } => stderr.as_deref(),
            _ => None,
        }
    }

    /// The image alone, and what is known of its noise.
    fn read(&self, kind: Kind) -> Result<Measured, String> {
        self.of(&self.layers()?, kind)
    }

    /// All that its file holds.
    pub fn layers(&self) -> Result<Layers, String> {
        read_layers(&self.path).map_err(|e| format!("{}: {e}", self.path.display()))
    }

    /// The image alone, of what its file holds, and what is known of its noise.
    pub fn of(&self, layers: &Layers, kind: Kind) -> Result<Measured, String> {
        let named = |e: String| format!("{}: {e}", self.path.display());
        let format = Format::of(&self.path).map_err(|e| named(e.to_string()))?;
        let mut measured = Measured::of_layer(layers, &self.layer, format).map_err(named)?;
        let all = |x: f32| vec![x; measured.image.pixels.len()];
        match &self.noise {
            Knowledge::File => {}
            Knowledge::Exact => measured.noise = None,
            Knowledge::Given { stderr, samples } => {
                let samples = samples.map(all);
                if let Some(path) = stderr {
                    measured.noise = Some(read_noise(path)?);
                }
                if let (Some(noise), Some(samples)) = (&mut measured.noise, samples) {
                    noise.samples = Some(samples);
                }
            }
        }
        // That of a display's values means nothing.
        measured.noise = measured.noise.filter(|_| kind == Kind::Radiance);
        Ok(measured.with_known_noise())
    }
}

/// The standard errors that a file of their own holds.
fn read_noise(path: &Path) -> Result<Noise, String> {
    let named = |e: String| format!("{}: {e}", path.display());
    if kind(path)? == Kind::Display {
        return Err(named("holds values of a display, not standard errors of radiance".into()));
    }
    let layers = read_layers(path).map_err(|e| named(e.to_string()))?;
    let stderr = layers.rgb("stderr").or_else(|| layers.rgb(""));
    let stderr = stderr.ok_or_else(|| named(layers.missing("")))?;
    Noise::new(stderr, None, false).map_err(named)
}
