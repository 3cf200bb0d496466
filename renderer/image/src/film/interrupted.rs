//! Interrupted renders: where their images go, so that no better one is lost.
//!
//! Files say how noisy their image is, and of how many samples: in the attributes [`RELATIVE_STDERR`] and [`SPP`] of EXR and
//! the texts of these names of PNG.

use std::path::Path;
use std::str::FromStr;

use super::write::{Target, TargetError};
use super::{Format, image, openexr};

/// The attribute for the relative standard error of an image ([`super::Statistics::relative_stderr`]).
pub const RELATIVE_STDERR: &str = "relativeStderr";

/// The attribute for the number of samples of a pixel.
pub const SPP: &str = "spp";

/// Most bytes of a PNG file's header that are read for its text.
const MOST_BYTES: usize = 1 << 20;

/// The image of a render that ended before it was done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InterruptedImage {
    /// Whether there is a sample of every pixel.
    pub is_complete: bool,
    /// Relative standard error, NaN if it is unknown.
    pub relative_stderr: f64,
    /// Samples of a pixel.
    pub spp: u32,
    /// Whether it may replace better images.
    pub is_forced: bool,
}

impl InterruptedImage {
    /// Where it goes: the target itself if that is free, or holds an image that is known to be at least as noisy and of no
    /// more samples, or, if it is forced and complete, any. Otherwise [beside](super::write::Destination::beside) it.
    ///
    /// # Errors
    /// No file can be written beside it.
    pub fn target(&self, target: Target) -> Result<Target, TargetError> {
        let may_replace = |path: &Path| self.may_replace(path, target.format);
        let may_replace_target = self.is_forced && self.is_complete;
        if may_replace_target || may_replace(&target.destination.path) {
            return Ok(target);
        }
        Ok(Target { destination: target.destination.beside(may_replace)?, ..target })
    }

    /// Whether nothing better is lost if it goes to `path`. An estimate of few samples may be too low, so that noise alone does
    /// not tell: rare light may not have been met yet.
    fn may_replace(&self, path: &Path, format: Format) -> bool {
        let says = |name| said(path, format, name);
        let is_better = || {
            self.is_complete
                && number(says(RELATIVE_STDERR)).is_some_and(|there: f64| self.relative_stderr <= there)
                && number(says(SPP)).is_some_and(|there: u32| there <= self.spp)
        };
        path.symlink_metadata().is_err() || is_better()
    }
}

fn number<T: FromStr>(text: Option<String>) -> Option<T> {
    text?.parse().ok()
}

/// What an image file says under a name.
fn said(path: &Path, format: Format, name: &str) -> Option<String> {
    let file = image::open(path).ok()?;
    match format {
        Format::Exr => openexr::attribute(file, name),
        Format::Png => {
            let limits = png::Limits { bytes: MOST_BYTES };
            let mut decoder = png::Decoder::new_with_limits(file, limits);
            decoder.set_ignore_iccp_chunk(true);
            let reader = decoder.read_info().ok()?;
            let texts = &reader.info().uncompressed_latin1_text;
            texts.iter().find(|text| text.keyword == name).map(|text| text.text.clone())
        }
        Format::Hdr | Format::Pfm => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::Image;
    use crate::film::encode::{Provenance, Settings, encode};

    fn interrupted(relative_stderr: f64) -> InterruptedImage {
        InterruptedImage { is_complete: true, relative_stderr, spp: 64, is_forced: false }
    }

    /// Writes an image that says how noisy it is, and gives its target.
    fn written(folder: &Path, name: &str, relative_stderr: Option<f64>) -> Target {
        let target = Target::check(&folder.join(name)).unwrap();
        let image = Image { width: 2, height: 1, pixels: vec![[0.5; 3]; 2] };
        let about = Provenance { relative_stderr, spp: 64, ..Provenance::default() };
        let bytes = encode(&image, target.format, &Settings::default(), &about).unwrap().bytes;
        target.destination.write(&bytes).unwrap();
        target
    }

    fn name(target: &Target) -> &str {
        target.destination.path.file_name().unwrap().to_str().unwrap()
    }

    #[test]
    fn what_is_better_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        for extension in ["png", "exr"] {
            let [there, beside] = ["a", "a.interrupted"].map(|stem| format!("{stem}.{extension}"));
            let target = written(folder.path(), &there, Some(0.125));
            for (one, expected) in [
                (interrupted(0.125), &there),
                (interrupted(0.25), &beside),
                (interrupted(f64::NAN), &beside),
                (InterruptedImage { is_complete: false, ..interrupted(0.1) }, &beside),
                (InterruptedImage { is_complete: false, is_forced: true, ..interrupted(0.1) }, &beside),
                (InterruptedImage { is_forced: true, ..interrupted(0.5) }, &there),
                // No noise yet, after few samples.
                (InterruptedImage { spp: 63, ..interrupted(0.0) }, &beside),
                (InterruptedImage { spp: 65, ..interrupted(0.0) }, &there),
            ] {
                assert_eq!(name(&one.target(target.clone()).unwrap()), expected, "{one:?}");
            }
            // Nor is one that an earlier interruption left.
            written(folder.path(), &beside, Some(0.5));
            assert_eq!(name(&interrupted(0.25).target(target.clone()).unwrap()), beside);
            let second = format!("a.interrupted-2.{extension}");
            assert_eq!(name(&interrupted(1.0).target(target).unwrap()), second);
        }
    }

    #[test]
    fn what_does_not_say_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        for name_of in ["a.pfm", "a.hdr", "a.png", "a.exr"] {
            let target = written(folder.path(), name_of, None);
            let (stem, extension) = name_of.split_once('.').unwrap();
            let beside = interrupted(0.0).target(target).unwrap();
            assert_eq!(name(&beside), format!("{stem}.interrupted.{extension}"));
        }
        std::fs::write(folder.path().join("b.png"), "no image").unwrap();
        let target = Target::check(&folder.path().join("b.png")).unwrap();
        assert_eq!(name(&interrupted(0.0).target(target).unwrap()), "b.interrupted.png");
    }

    #[test]
    fn a_free_place_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::check(&folder.path().join("a.png")).unwrap();
        let nothing = InterruptedImage { is_complete: false, ..interrupted(f64::NAN) };
        assert_eq!(nothing.target(target.clone()), Ok(target));
    }
}
