//! Interrupted renders: where their images go, so that no better one is lost.
//!
//! Files say how noisy their image is, and of which samples of which render: in the attributes of EXR, and in texts of the
//! same names of PNG.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use super::encode::Provenance;
use super::layers::CLAMP_INDIRECT;
use super::ranges::SAMPLE_RANGES;
use super::shards::PARTIAL_SAMPLES;
use super::write::{Target, TargetError};
use super::{Format, Shard, image, openexr};

/// The attribute for the relative standard error of an image ([`super::Statistics::relative_stderr`]).
pub const RELATIVE_STDERR: &str = "relativeStderr";

/// The attribute for the number of samples of a pixel.
pub const SPP: &str = "spp";

/// The attributes in which images of one render agree.
const OF_RENDER: [&str; 7] = ["software", "sceneHash", "sampler", "direct", "masking", "maxDepth", "rrDepth"];

/// The attributes of its samples.
const OF_SAMPLES: [&str; 4] = [RELATIVE_STDERR, SPP, SAMPLE_RANGES, PARTIAL_SAMPLES];

/// Whether images are compared by an attribute, to see which of them is better.
pub(super) fn is_compared(name: &str) -> bool {
    OF_RENDER.contains(&name) || name == CLAMP_INDIRECT || OF_SAMPLES.contains(&name)
}

/// Most bytes of a PNG file's header that are read for its text.
const MOST_BYTES: usize = 1 << 20;

/// What an image file says, by name.
type Attributes = BTreeMap<String, String>;

/// The image of a render that ended before it was done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InterruptedImage<'a> {
    /// Whether there is a sample of every pixel.
    pub is_complete: bool,
    /// Whether it may replace better images.
    pub is_forced: bool,
    /// Whether it went on with a checkpoint, so that it has all samples of the image that the interrupted render left.
    pub is_resumed: bool,
    /// What its files say.
    pub about: &'a Provenance,
}

impl InterruptedImage<'_> {
    /// Where it goes: the target itself if that is free, or holds an image that has no other samples than this one, or that is
    /// known to be at least as noisy and of no more samples, or, if it is forced and complete, any. Otherwise
    /// [beside](super::write::Destination::beside) it.
    ///
    /// # Errors
    /// No file can be written beside it.
    pub fn target(&self, target: Target) -> Result<Target, TargetError> {
        let may_replace = |path: &Path| self.may_replace(path, target.format);
        let may_replace_target = self.is_forced && self.is_complete;
        if may_replace_target || may_replace(&target.destination.path) {
            return Ok(target);
        }
        // Of what files of these formats say nothing about, the checkpoint tells.
        let is_mute = matches!(target.format, Format::Hdr | Format::Pfm);
        let is_earlier = self.is_resumed && self.is_complete && is_mute;
        let beside = target.destination.beside(|path| is_earlier || may_replace(path))?;
        Ok(Target { destination: beside, ..target })
    }

    /// Whether nothing better is lost if it goes to `path`.
    fn may_replace(&self, path: &Path, format: Format) -> bool {
        let is_better = || {
            let there = said(path, format).unwrap_or_default();
            self.is_complete && (self.has_samples_of(&there) || self.is_less_noisy(&there))
        };
        path.symlink_metadata().is_err() || is_better()
    }

    /// Whether it has all samples of an image of the same render, as one has that went on with it.
    fn has_samples_of(&self, there: &Attributes) -> bool {
        let own = self.about.attributes();
        let is_same = |name: &&str| own.get(*name).is_some_and(|own| there.get(*name) == Some(own));
        let samples = Shard::read(there).ok().flatten();
        let includes = |own: &Shard| samples.is_some_and(|there| own.includes(&there));
        // Images that are not clamped say nothing of it.
        let is_clamped_alike = own.get(CLAMP_INDIRECT) == there.get(CLAMP_INDIRECT);
        OF_RENDER.iter().all(is_same) && is_clamped_alike && self.about.samples.as_ref().is_some_and(includes)
    }

    /// Whether it is known to be less noisy. An estimate of few samples may be too low, so that noise alone does not tell: rare
    /// light may not have been met yet.
    fn is_less_noisy(&self, there: &Attributes) -> bool {
        let Provenance { relative_stderr, spp, .. } = self.about;
        let noise = relative_stderr.zip(number(there, RELATIVE_STDERR));
        noise.is_some_and(|(own, there)| own <= there)
            && number(there, SPP).is_some_and(|there: u32| there <= *spp)
    }
}

fn number<T: FromStr>(said: &Attributes, name: &str) -> Option<T> {
    said.get(name)?.parse().ok()
}

/// What an image file says.
fn said(path: &Path, format: Format) -> Option<Attributes> {
    let file = image::open(path).ok()?;
    match format {
        Format::Exr => openexr::texts(file),
        Format::Png => {
            let limits = png::Limits { bytes: MOST_BYTES };
            let mut decoder = png::Decoder::new_with_limits(file, limits);
            decoder.set_ignore_iccp_chunk(true);
            let reader = decoder.read_info().ok()?;
            let texts = reader.info().uncompressed_latin1_text.iter();
            Some(texts.map(|text| (text.keyword.clone(), text.text.clone())).collect())
        }
        Format::Hdr | Format::Pfm | Format::Jpeg | Format::WebP | Format::Jxl => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::Image;
    use crate::film::encode::{Provenance, Settings, encode};

    fn about(relative_stderr: Option<f64>, spp: u32) -> Provenance {
        Provenance { relative_stderr, spp, ..Provenance::default() }
    }

    /// An image of a sample of each pixel, at least.
    fn interrupted(about: &Provenance) -> InterruptedImage<'_> {
        InterruptedImage { is_complete: true, is_forced: false, is_resumed: false, about }
    }

    /// Writes an image that says this, and gives its target.
    fn written(folder: &Path, name: &str, about: &Provenance) -> Target {
        let target = Target::check(&folder.join(name)).unwrap();
        let image = Image { width: 2, height: 1, pixels: vec![[0.5; 3]; 2] };
        let bytes = encode(&image, target.format, &Settings::default(), about).unwrap().bytes;
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
            let target = written(folder.path(), &there, &about(Some(0.125), 64));
            for (noise, spp, is_complete, is_forced, expected) in [
                (0.125, 64, true, false, &there),
                (0.25, 64, true, false, &beside),
                (f64::NAN, 64, true, false, &beside),
                (0.1, 64, false, false, &beside),
                (0.1, 64, false, true, &beside),
                (0.5, 64, true, true, &there),
                // No noise yet, after few samples.
                (0.0, 63, true, false, &beside),
                (0.0, 65, true, false, &there),
            ] {
                let about = about(Some(noise), spp);
                let one = InterruptedImage { is_complete, is_forced, ..interrupted(&about) };
                assert_eq!(name(&one.target(target.clone()).unwrap()), expected, "{one:?}");
            }
            // Nor is one that an earlier interruption left.
            written(folder.path(), &beside, &about(Some(0.5), 64));
            let target_of = |noise| interrupted(&about(Some(noise), 64)).target(target.clone()).unwrap();
            assert_eq!(name(&target_of(0.25)), beside);
            assert_eq!(name(&target_of(1.0)), format!("a.interrupted-2.{extension}"));
        }
    }

    /// However noisy they seem: rare light that an image has met may be what another has not.
    #[test]
    fn an_image_with_all_samples_of_another_replaces_it() {
        let folder = tempfile::tempdir().unwrap();
        let of = |noise, samples: &str, partial: &str, direct: &str| {
            let parse = |text: &str| text.parse().unwrap_or_default();
            let samples = Shard { ranges: parse(samples), partial: parse(partial), ..Shard::default() };
            let settings = OF_RENDER.into_iter().skip(2).map(|name| (name, direct.to_owned())).collect();
            Provenance { samples: Some(samples), settings, ..about(Some(noise), 8) }
        };
        let mut clamped = of(0.5, "seed 0: 0..80", "", "mis");
        clamped.settings.push((CLAMP_INDIRECT, "3".to_owned()));
        for extension in ["png", "exr"] {
            let [there, beside] = ["a", "a.interrupted"].map(|stem| format!("{stem}.{extension}"));
            let target = written(folder.path(), &there, &of(0.1, "seed 0: 0..64", "seed 0: 60..64", "mis"));
            for (own, is_complete, expected) in [
                (of(0.5, "seed 0: 0..64", "", "mis"), true, &there),
                (of(0.5, "seed 0: 0..80; seed 1: 0..4", "seed 0: 64..80", "mis"), true, &there),
                (of(0.5, "seed 0: 0..80", "seed 0: 63..80", "mis"), true, &beside),
                (of(0.5, "seed 0: 4..80", "", "mis"), true, &beside),
                (of(0.5, "seed 1: 0..80", "", "mis"), true, &beside),
                (of(0.5, "seed 0: 0..80", "", "bsdf"), true, &beside),
                (clamped.clone(), true, &beside),
                (Provenance { scene_hash: 1, ..of(0.5, "seed 0: 0..80", "", "mis") }, true, &beside),
                (of(0.5, "seed 0: 0..80", "", "mis"), false, &beside),
            ] {
                let one = InterruptedImage { is_complete, ..interrupted(&own) };
                assert_eq!(name(&one.target(target.clone()).unwrap()), expected, "{one:?}");
            }
        }
    }

    #[test]
    fn what_does_not_say_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        for name_of in ["a.pfm", "a.hdr", "a.png", "a.exr"] {
            let target = written(folder.path(), name_of, &about(None, 64));
            let (stem, extension) = name_of.split_once('.').unwrap();
            let beside = interrupted(&about(Some(0.0), 64)).target(target).unwrap();
            assert_eq!(name(&beside), format!("{stem}.interrupted.{extension}"));
        }
        std::fs::write(folder.path().join("b.png"), "no image").unwrap();
        let target = Target::check(&folder.path().join("b.png")).unwrap();
        assert_eq!(name(&interrupted(&about(Some(0.0), 64)).target(target).unwrap()), "b.interrupted.png");
    }

    #[test]
    fn what_does_not_say_is_replaced_by_what_went_on_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let about = about(Some(0.5), 64);
        for (extension, expected) in [("pfm", "a.interrupted.pfm"), ("png", "a.interrupted-2.png")] {
            let [target, _] = ["a", "a.interrupted"]
                .map(|stem| written(folder.path(), &format!("{stem}.{extension}"), &Provenance::default()));
            let image = InterruptedImage { is_resumed: true, ..interrupted(&about) };
            assert_eq!(name(&image.target(target.clone()).unwrap()), expected);
            let of_another = interrupted(&about).target(target).unwrap();
            assert_eq!(name(&of_another), format!("a.interrupted-2.{extension}"), "control");
        }
    }

    #[test]
    fn a_free_place_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::check(&folder.path().join("a.png")).unwrap();
        let about = about(Some(f64::NAN), 64);
        let nothing = InterruptedImage { is_complete: false, ..interrupted(&about) };
        assert_eq!(nothing.target(target.clone()), Ok(target));
    }
}
