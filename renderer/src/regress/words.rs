//! Verdicts in sentences.

use torrance_image::compare::Region;
use torrance_image::compare::words::{self as verdict, percent};

use super::case::Examination;
use super::report::Measurement;
use super::sequential::Verdict;
use super::suite::{Case, Expect};

/// Names of the two images in sentences.
const NAMES: [&str; 2] = ["the image", "the reference"];

/// Describes the findings, the headline first. `whole` is the image.
pub(super) fn describe(case: &Case, seen: &Examination, whole: Region) -> Vec<String> {
    let measured = &seen.measured;
    let statistics = measured.judgement.as_ref().map(|judgement| verdict::describe(judgement, whole, NAMES));
    let mut sentences = vec![headline(case, seen, statistics.as_deref())];
    match statistics {
        Some(statistics) => {
            // The headline says the first already, where it says what differs.
            let said = usize::from(seen.verdict() == Verdict::Different && seen.exceeded.is_empty());
            sentences.extend(statistics.into_iter().skip(said));
            let Measurement { rounds, looks, .. } = measured;
            let so_far = samples(measured.samples, measured.unit);
            sentences.push(format!("This was look {rounds} of {looks} at most, at {so_far}."));
        }
        None => sentences.push("Nothing is known of noise: judged by bounds of metrics.".to_owned()),
    }
    sentences.extend(verdict::clamping(seen.clamped, NAMES));
    sentences
}

fn headline(case: &Case, seen: &Examination, statistics: Option<&[String]>) -> String {
    let (verdict, Examination { exceeded, measured, .. }) = (seen.verdict(), seen);
    let found = match (verdict, statistics) {
        (Verdict::Different, _) if !exceeded.is_empty() => format!("different: {}", exceeded.join(", ")),
        (Verdict::Different, statistics) => {
            let first = statistics.and_then(|s| s.first());
            let what = first.map_or("", |s| s.trim_start_matches("Different: ").trim_end_matches('.'));
            format!("different: {what}")
        }
        (Verdict::Same, Some(_)) => {
            format!("same: a difference of {} would have been found", percent(measured.detectable))
        }
        (Verdict::Same, None) => "same within bounds of metrics".to_owned(),
        (Verdict::Open, _) => format!(
            "same as far as {} can tell: {} could hide, more than {}",
            samples(measured.samples, measured.unit),
            match measured.detectable.is_finite() {
                true => format!("differences up to {}", percent(measured.detectable)),
                false => "differences of any size".to_owned(),
            },
            percent(case.resolve)
        ),
    };
    match (case.expect, verdict) {
        (Expect::Same, _) => found,
        (Expect::Different, Verdict::Different) => format!("as expected, {found}"),
        (Expect::Different, _) => format!("expected different, but {found}"),
    }
}

/// `64 spp`, `1 pass`.
pub(super) fn samples(n: u32, unit: &str) -> String {
    match (n, unit) {
        (1, "passes") => "1 pass".to_owned(),
        _ => format!("{n} {unit}"),
    }
}
