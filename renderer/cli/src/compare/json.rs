//! A comparison for programs.

use std::collections::BTreeMap;

use serde::Serialize;
use torrance_image::compare::words::CHANNELS;
use torrance_image::compare::{DetectableDifference, Feature, Judgement, Region};
use torrance_image::metrics::flip::Exposures;
use torrance_image::metrics::{Bias, Kind, Metric, Threshold};

use super::ComparisonReport;

/// The object that `--json` prints. Fields are added, never renamed. Numbers that are not finite are null.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    version: &'static str,
    a: String,
    b: String,
    kind: Kind,
    region: Region,
    pixels: Pixels,
    /// Metrics by name; of equal images `psnr` is null, which stands for infinity.
    metrics: BTreeMap<&'static str, Option<f64>>,
    /// How ꟻLIP was seen.
    flip: FlipSettings,
    bias: Bias,
    thresholds: Vec<ThresholdSummary>,
    /// Null where the noise is not known.
    verdict: Option<Verdict>,
    /// The verdict in sentences, or why there is none.
    words: Vec<String>,
    /// Whether the images are different, or a threshold does not hold: exit code 1.
    different: bool,
}

#[derive(Debug, Serialize)]
struct Pixels {
    measured: usize,
    /// Not finite in one of the images or both.
    left_out: usize,
    only_a_not_finite: usize,
    only_b_not_finite: usize,
}

#[derive(Debug, Serialize)]
struct FlipSettings {
    pixels_per_degree: f32,
    /// Stops; null for a display's values.
    exposures: Option<Exposures>,
}

#[derive(Debug, Serialize)]
struct ThresholdSummary {
    metric: &'static str,
    bound: f64,
    value: Option<f64>,
    holds: bool,
}

#[derive(Debug, Serialize)]
struct Verdict {
    different: bool,
    p: f64,
    level: f64,
    worst: Worst,
    /// Differences that would have been detected with a probability of 95 %.
    detectable: Vec<DetectableDifference>,
    /// Factor by which correlation of neighbouring pixels increases the variance of large blocks.
    correlation: f64,
}

#[derive(Debug, Serialize)]
struct Worst {
    region: Region,
    channel: &'static str,
    feature: &'static str,
    a: f64,
    b: f64,
    z: f64,
    p: f64,
}

impl Summary {
    pub(super) fn new(told: &ComparisonReport<'_>) -> Self {
        let comparison = told.comparison;
        let metrics = &comparison.metrics;
        let value =
            |(name, metric): &(&'static str, Metric)| (*name, metric.value(metrics, &comparison.bias));
        let threshold = |(threshold, value, holds): &(Threshold, Option<f64>, bool)| {
            let (metric, bound) = (threshold.metric.name(), threshold.bound);
            ThresholdSummary { metric, bound, value: *value, holds: *holds }
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            a: told.args.a.display().to_string(),
            b: told.args.b.display().to_string(),
            kind: comparison.pair.kind,
            region: comparison.region,
            pixels: Pixels {
                measured: metrics.measured,
                left_out: metrics.left_out,
                only_a_not_finite: comparison.only_one_finite[0],
                only_b_not_finite: comparison.only_one_finite[1],
            },
            metrics: Metric::ALL.iter().map(value).collect(),
            flip: FlipSettings { pixels_per_degree: told.args.ppd, exposures: metrics.flip.exposures },
            bias: comparison.bias,
            thresholds: told.thresholds.iter().map(threshold).collect(),
            verdict: comparison.judgement.as_ref().ok().map(Verdict::from),
            words: told.sentences(),
            different: told.is_different(),
        }
    }
}

impl From<&Judgement> for Verdict {
    fn from(judgement: &Judgement) -> Self {
        let worst = judgement.worst;
        Self {
            different: judgement.is_different(),
            p: judgement.p,
            level: judgement.level,
            worst: Worst {
                region: worst.region,
                channel: CHANNELS[worst.channel],
                feature: match worst.feature {
                    Feature::Mean => "mean",
                    Feature::Brightness => "brightness",
                    Feature::ShiftX => "shift-x",
                    Feature::ShiftY => "shift-y",
                    Feature::Sharpness => "sharpness",
                    Feature::Pattern(_) => "pattern",
                    Feature::Finite => "finite",
                },
                a: worst.a,
                b: worst.b,
                z: worst.z,
                p: worst.p,
            },
            detectable: judgement.detectable.clone(),
            correlation: judgement.correlation,
        }
    }
}
