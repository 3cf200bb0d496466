//! Data model of a suite: its cases, their images and thresholds.

use std::path::PathBuf;
use std::time::Duration;

use torrance_image::film::Format;
use torrance_scene::Options;

use crate::glob::is_like;

/// A suite of regression tests, complete: every default is filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// The file, as the user wrote its path.
    pub path: PathBuf,
    /// The probability, at most, that any case fails by chance where nothing has changed.
    pub level: f64,
    /// The cases, in the order of the file.
    pub cases: Vec<Case>,
}

/// One image that is held against its reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its name, unique, fit for a file name.
    pub name: String,
    /// The source of the image.
    pub source: Source,
    /// The reference that it is compared with.
    pub reference: Reference,
    /// The outcome that passes.
    pub expect: Expect,
    /// Reason to skip it.
    pub skip: Option<String>,
    /// How long and how far to sample.
    pub effort: Effort,
    /// The change of the image's brightness, relative, that must be detectable with 95 % probability before the images
    /// are called the same.
    pub resolve: f64,
    /// Bounds of image metrics.
    pub thresholds: Thresholds,
    /// How far a new reference is rendered.
    pub bless: Bless,
}

/// The source of an image.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A scene of ours.
    Scene {
        /// The scene file.
        path: PathBuf,
        /// How it is read: among others the settings that replace those of the scene, but for samples and seed.
        options: Box<Options>,
    },
    /// A program.
    Command {
        /// The program and its arguments, with placeholders; see [`expand`].
        words: Vec<String>,
        /// Working directory: the folder of the suite.
        folder: PathBuf,
        /// The format of the file that it writes.
        format: Format,
        /// The value of `{spp}`.
        spp: Option<u32>,
    },
}

impl Source {
    /// The unit of its rounds: `spp` or `passes`.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Scene { .. } => "spp",
            Self::Command { .. } => "passes",
        }
    }

    /// A description in a few words.
    pub fn describe(&self) -> String {
        match self {
            Self::Scene { path, .. } => path.display().to_string(),
            Self::Command { words, .. } => words.join(" "),
        }
    }
}

/// The reference that an image is compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// The image.
    pub path: PathBuf,
    /// An image of its standard errors, where they are not in its own file.
    pub stderr: Option<PathBuf>,
    /// Number of its samples, where it does not say itself.
    pub samples: Option<f32>,
}

/// The outcome that passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// The same image as the reference.
    Same,
    /// A different image: a negative control.
    Different,
}

/// How long and how far to sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Effort {
    /// Seed of the first round.
    pub seed: u32,
    /// Samples per pixel, or passes, of the first round; `None` for what the scene says.
    pub first: Option<u32>,
    /// At most so many; `None` for a multiple of the first, [`Effort::GROWTH`].
    pub most: Option<u32>,
    /// No round begins after this time.
    pub time: Option<Duration>,
    /// A case that takes longer has failed.
    pub timeout: Duration,
}

impl Effort {
    /// How far samples grow where the suite does not say.
    pub const GROWTH: u32 = 16;
    /// Passes of the first round where the suite says only how many there are at most.
    pub const PASSES: u32 = 8;
    /// How long a case may take where the suite does not say.
    pub const TIMEOUT: Duration = Duration::from_secs(600);
}

/// How far a new reference is rendered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bless {
    /// The median relative standard error of its pixels that is enough.
    pub noise: f64,
    /// Samples per pixel, or passes, at most.
    pub most: u32,
}

impl Bless {
    /// Samples per pixel at most where the suite does not say.
    pub const SPP: u32 = 1 << 16;
    /// Passes of a command at most where the suite does not say.
    pub const PASSES: u32 = 64;
}

/// Bounds of image metrics. What the suite says is held in any case; the defaults only where nothing is known of
/// noise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Thresholds {
    /// Mean ꟻLIP at most.
    pub flip: Option<f64>,
    /// relMSE at most.
    pub relmse: Option<f64>,
}

impl Thresholds {
    /// Where the suite says none: a mean ꟻLIP that is hard to see when images are flipped, and a relative error of
    /// a tenth.
    pub const DEFAULT: Self = Self { flip: Some(0.05), relmse: Some(0.01) };

    /// Whether the suite says any.
    pub fn are_given(&self) -> bool {
        self.flip.is_some() || self.relmse.is_some()
    }
}

/// Names of the placeholders of commands.
pub const PLACEHOLDERS: &[&str] = &["output", "seed", "spp", "pass"];

/// A placeholder of this name, which has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("placeholder {0:?} has no value")]
pub struct UnknownPlaceholder(pub String);

/// Replaces each placeholder, `{name}` of lower-case letters, by its `value`. All other braces stay.
///
/// # Errors
/// A placeholder has no value.
pub fn expand(
    word: &str,
    mut value: impl FnMut(&str) -> Option<String>,
) -> Result<String, UnknownPlaceholder> {
    let mut out = String::new();
    let mut rest = word;
    while let Some(open) = rest.find('{') {
        let (before, after) = rest.split_at(open);
        out.push_str(before);
        let name = after[1..].split('}').next().unwrap_or_default();
        let is_name = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
            && after.len() > name.len() + 1;
        if is_name {
            out.push_str(&value(name).ok_or_else(|| UnknownPlaceholder(name.to_owned()))?);
            rest = &after[name.len() + 2..];
        } else {
            out.push('{');
            rest = &after[1..];
        }
    }
    Ok(out + rest)
}

/// Whether any of the words has a placeholder.
pub fn has_placeholder(words: &[String], name: &str) -> bool {
    words.iter().any(|w| w.contains(&format!("{{{name}}}")))
}

/// A name that a person chooses cases by: all of it with `*` for anything and `?` for one character, or a part.
pub fn matches(filter: &str, name: &str) -> bool {
    if filter.contains(['*', '?']) { is_like(name, filter) } else { name.contains(filter) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced_and_other_braces_stay() {
        let value = |name: &str| (name == "seed").then(|| "7".to_owned());
        for (word, expected) in [
            ("--seed={seed}", "--seed=7"),
            ("{seed}{seed}x", "77x"),
            ("{\"a\": {}, \"b\": {seed}}", "{\"a\": {}, \"b\": 7}"),
            ("${HOME}/{seed", "${HOME}/{seed"),
            ("{{seed}}", "{7}"),
        ] {
            assert_eq!(expand(word, value).as_deref(), Ok(expected), "{word}");
        }
        assert_eq!(expand("a {sede} b", value), Err(UnknownPlaceholder("sede".into())));
    }

    #[test]
    fn filters() {
        for (filter, name, expected) in [
            ("cor", "the-cornell-box", true),
            ("cor", "knot", false),
            ("cor*", "the-cornell-box", false),
            ("*cor*box", "the-cornell-box", true),
            ("kno?", "knot", true),
            ("kno?", "knots", false),
            ("", "knot", true),
        ] {
            assert_eq!(matches(filter, name), expected, "{filter} {name}");
        }
    }
}
