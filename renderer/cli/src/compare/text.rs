//! A comparison for people: a table of the metrics, and the verdict in words.

use std::fmt::Write;

use torrance_image::compare::comparison::NoVerdict;
use torrance_image::compare::words::{self, number, percent};
use torrance_image::metrics::{Bias, Kind, Metric, Origin};

use super::ComparisonReport;

/// Names of the two images in sentences.
pub(super) const NAMES: [&str; 2] = ["A", "B"];

impl ComparisonReport<'_> {
    /// The table and the verdict, with a newline at the end of each line.
    pub(super) fn text(&self) -> String {
        let mut out = self.title();
        for metric in [Metric::Rmse, Metric::Mae, Metric::RelMse, Metric::Psnr, Metric::Ssim, Metric::Flip] {
            out += &row(metric.name(), &self.value(metric));
        }
        out += &self.bias();
        for (threshold, value, holds) in &self.thresholds {
            let most = if threshold.metric.is_similarity() { "at least" } else { "at most" };
            let holds = if *holds { "holds" } else { "does not hold" };
            let name = threshold.metric.name();
            let value = value.map_or("not defined".into(), number);
            let _ = writeln!(out, "{name} {value}, {most} {}: {holds}", threshold.bound);
        }
        for sentence in self.sentences() {
            let _ = writeln!(out, "{sentence}");
        }
        out
    }

    /// The verdict, or why there is none.
    pub(super) fn sentences(&self) -> Vec<String> {
        self.comparison.sentences(NAMES, no_verdict)
    }

    fn title(&self) -> String {
        let (a, b) = (self.args.a.display(), self.args.b.display());
        let metrics = &self.comparison.metrics;
        let kind = match self.comparison.pair.kind {
            Kind::Display => "as a display shows them",
            Kind::Radiance => "of radiance",
        };
        let left_out = match metrics.left_out {
            0 => String::new(),
            n => format!(", {n} of them left out as NaN or infinite"),
        };
        let region = self.comparison.region.to_string();
        format!("A {a}, B {b}: {region} {kind}{left_out}\n")
    }

    fn value(&self, metric: Metric) -> String {
        let Some(value) = metric.value(&self.comparison.metrics, &self.comparison.bias) else {
            return "not defined: no window of 11 x 11 pixels".into();
        };
        match metric {
            Metric::Psnr => format!("{} dB", number(value)),
            // Near 1 the digits that count are those of what is missing.
            Metric::Ssim => format!("{value:.5}"),
            Metric::Flip => {
                let flip = &self.comparison.metrics.flip;
                let [median, p95, max] = [flip.median, flip.p95, flip.max].map(number);
                let exposures = flip.exposures.map_or(String::new(), |e| {
                    format!("; {} exposures from {:.1} to {:.1}", e.count, e.start, e.stop)
                });
                format!("{:<9}  median {median}, 95 % {p95}, max {max}{exposures}", number(value))
            }
            _ => number(value),
        }
    }

    /// Relative to the reference where that is not black.
    fn bias(&self) -> String {
        let Bias { mean, stderr, reference, origin } = self.comparison.bias;
        let source = match origin {
            Origin::Pixels => "",
            Origin::Blocks => ", by the spread of 8 x 8 blocks",
        };
        let mut out = String::new();
        for (c, name) in ["bias red", "bias green", "bias blue"].into_iter().enumerate() {
            let sign = if mean[c] < 0.0 { "" } else { "+" };
            let base = reference[c].abs();
            let [value, error] = match base {
                0.0 => [mean[c], stderr[c]].map(number),
                _ => [mean[c] / base, stderr[c] / base].map(percent),
            };
            let error = if stderr[c].is_finite() { error } else { "unknown".into() };
            let value = format!("{sign}{value} ± {error}");
            out += &row(name, &format!("{value:<22} of {}{source}", number(reference[c])));
        }
        out
    }
}

fn row(name: &str, value: &str) -> String {
    format!("  {name:<11} {value}\n")
}

/// Says why there is no verdict, and what to do.
pub(super) fn no_verdict(why: NoVerdict) -> String {
    let sentence = words::no_verdict(why, NAMES);
    let one = match why {
        NoVerdict::Display => return sentence,
        NoVerdict::Unknown { a: true, b: true } => {
            let all =
                "Standard errors come from a layer stderr of the files, or from --stderr-a and --stderr-b.";
            return format!("{sentence} {all}");
        }
        NoVerdict::Unknown { a, .. } => {
            if a {
                "a"
            } else {
                "b"
            }
        }
    };
    format!(
        "{sentence} Standard errors come from a layer stderr of the file, or from --stderr-{one}; --exact-{one} says that \
         there are none."
    )
}
