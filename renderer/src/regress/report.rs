//! Outcome of a case.

use torrance_image::compare::Judgement;
use torrance_image::film::Image;
use torrance_image::metrics::Flip;
pub use torrance_plot::html::Status;

/// Outcome of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Name of the case.
    pub name: String,
    /// Whether it is as it should be.
    pub status: Status,
    /// The verdict in sentences; the first is its headline.
    pub words: Vec<String>,
    /// How long it took, seconds.
    pub seconds: f64,
    /// Printed output, or the details of an error; may be empty.
    pub log: String,
    /// Measurements, if the case got as far as comparing.
    pub measured: Option<Measurement>,
}

/// Measurements of an image, at the last look.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Looks taken.
    pub rounds: usize,
    /// Looks that could have been taken.
    pub looks: usize,
    /// Samples per pixel, or passes, so far.
    pub samples: u32,
    /// Which of both: `spp` or `passes`.
    pub unit: &'static str,
    /// The level at which this look was judged.
    pub level: f64,
    /// Results of the statistics, where the noise is known.
    pub judgement: Option<Judgement>,
    /// The relative difference of the whole image that would have been found; infinite without statistics.
    pub detectable: f64,
    /// relMSE.
    pub relmse: f64,
    /// ꟻLIP, where it was asked for.
    pub flip: Option<Flip>,
    /// The compared images, where they were asked for.
    pub images: Option<Images>,
}

/// The two images of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Images {
    /// The reference.
    pub reference: Image,
    /// The image of the case.
    pub result: Image,
}

impl Report {
    /// A case that came to no measurement.
    pub(super) fn new(name: &str, status: Status, words: impl Into<String>) -> Self {
        let (words, log) = (vec![words.into()], String::new());
        Self { name: name.to_owned(), status, words, seconds: 0.0, log, measured: None }
    }

    /// The verdict in one sentence.
    pub fn headline(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}
