//! A self-contained HTML page of image comparisons: it opens from disk, loads nothing from the network, and shows every
//! case's images down to the pixel.
//!
//! The page is `page.html` with `page.css` and the scripts beside it. A case is a row of HTML (`markup.rs`). Its pixels
//! (`encoded.rs`) are at the end of the file, so that the rows are shown before the pixels are parsed, and are decoded
//! when the row is opened.

use std::io;

use rayon::prelude::*;
use torrance_image::compare::Region;
use torrance_image::film::Image;

mod encoded;
mod markup;

use encoded::EncodedImages;

/// The contents of a page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// The heading.
    pub title: String,
    /// A line below the title, such as date, machine and settings.
    pub subtitle: String,
    /// The cases, in any order; the page sorts them by status.
    pub entries: Vec<Entry>,
}

/// One case.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its outcome.
    pub status: Status,
    /// The verdict in sentences; the first is the headline.
    pub verdict: Vec<String>,
    /// Metrics, by name and value. The first three names of the first case that has any become columns.
    pub numbers: Vec<(String, String)>,
    /// Its duration.
    pub seconds: f64,
    /// Its output, or the reason for its failure; may be empty.
    pub log: String,
    /// The compared images, if any.
    pub images: Option<Images>,
}

/// The outcome of a case, in order of urgency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The images differ.
    Failed,
    /// There was nothing to compare.
    Error,
    /// It is undecided whether they differ.
    Unresolved,
    /// No evidence of a difference.
    Passed,
    /// Left out on purpose.
    Skipped,
    /// The run ended before it.
    NotRun,
}

impl Status {
    /// All outcomes, in order.
    pub const ALL: [Self; 6] =
        [Self::Failed, Self::Error, Self::Unresolved, Self::Passed, Self::Skipped, Self::NotRun];

    /// Its name on the page.
    pub fn label(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Unresolved => "unresolved",
            Self::Passed => "passed",
            Self::Skipped => "skipped",
            Self::NotRun => "not run",
        }
    }

    /// Whether the images of such a case stay exact while those of others are reduced.
    fn is_notable(self) -> bool {
        matches!(self, Self::Failed | Self::Error | Self::Unresolved)
    }
}

/// The images of a case, linear, of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Images {
    /// The expected image.
    pub reference: Image,
    /// The actual image.
    pub result: Image,
    /// Per pixel, the difference in standard deviations, signed: result minus reference.
    pub z: Option<Vec<f32>>,
    /// Per pixel, the ꟻLIP error in [0, 1].
    pub flip: Option<Vec<f32>>,
    /// Region of the largest difference.
    pub worst: Option<Region>,
}

/// Target size of a page's pixels, bytes: small enough for a browser to open at once.
pub const BUDGET: usize = 64 << 20;

/// Writes the page. If its pixels would take more than a budget, in bytes, such as [`BUDGET`], images are reduced, which
/// the page states; those of passed and skipped cases first, those of failed and undecided ones only above three times the
/// budget.
///
/// # Errors
/// Writing to `out` fails.
///
/// # Panics
/// If a case's images or maps differ in size.
pub fn write(page: &Page, budget: usize, out: &mut impl io::Write) -> io::Result<()> {
    let mut entries: Vec<&Entry> = page.entries.iter().collect();
    entries.sort_by_key(|e| e.status);
    markup::write(page, &entries, &encode(&entries, budget), out)
}

/// The pixels of every case, within a budget.
fn encode(entries: &[&Entry], budget: usize) -> Vec<Option<EncodedImages>> {
    let notable = encode_within(3 * budget, entries, true);
    // Something is left for the others: a page that fails as a whole shows what passes, if small.
    let left = budget.saturating_sub(bytes(&notable)).max(budget / 4);
    let others = encode_within(left, entries, false);
    notable.into_iter().zip(others).map(|(a, b)| a.or(b)).collect()
}

/// The pixels of the notable cases, or of the others, reduced as little as a budget allows, at most 8 times.
fn encode_within(budget: usize, entries: &[&Entry], notable: bool) -> Vec<Option<EncodedImages>> {
    let at = |reduction: u32| -> Vec<_> {
        let of_kind =
            entries.par_iter().map(|e| e.images.as_ref().filter(|_| e.status.is_notable() == notable));
        of_kind.map(|images| images.map(|i| EncodedImages::new(i, reduction))).collect()
    };
    // From the smallest, and as far as it looks as if the next would fit: what is encoded in vain takes about half
    // as much time as what is used, at most.
    let mut encoded = at(8);
    for [coarser, finer] in [[8, 6], [6, 4], [4, 3], [3, 2], [2, 1]] {
        let predicted = bytes(&encoded) * coarser * coarser / (finer * finer);
        let next = if predicted > budget { break } else { at(finer as u32) };
        if bytes(&next) > budget {
            break;
        }
        encoded = next;
    }
    encoded
}

/// Bytes of pixels in the page.
fn bytes(encoded: &[Option<EncodedImages>]) -> usize {
    encoded.iter().flatten().flat_map(|images| &images.parts).map(|part| part.base64.len()).sum()
}
