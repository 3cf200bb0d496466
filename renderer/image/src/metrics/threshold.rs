//! Metrics by name, and bounds on them.

use super::{Bias, Metrics};

/// A metric by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Root-mean-square error.
    Rmse,
    /// Mean absolute error.
    Mae,
    /// Mean relative squared error.
    RelMse,
    /// Peak signal-to-noise ratio, dB.
    Psnr,
    /// Mean structural similarity.
    Ssim,
    /// Mean of ꟻLIP.
    Flip,
    /// Median of ꟻLIP.
    FlipMedian,
    /// 95th percentile of ꟻLIP.
    FlipP95,
    /// Maximum of ꟻLIP.
    FlipMax,
    /// The largest |mean difference| of the channels, relative to the reference's mean of the channel.
    Bias,
}

impl Metric {
    /// All of them, with the names that users write.
    pub const ALL: [(&str, Self); 10] = [
        ("rmse", Self::Rmse),
        ("mae", Self::Mae),
        ("relmse", Self::RelMse),
        ("psnr", Self::Psnr),
        ("ssim", Self::Ssim),
        ("flip", Self::Flip),
        ("flip-median", Self::FlipMedian),
        ("flip-p95", Self::FlipP95),
        ("flip-max", Self::FlipMax),
        ("bias", Self::Bias),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, metric)| *metric == self).map_or("", |(name, _)| name)
    }

    /// Whether higher is better.
    pub fn is_similarity(self) -> bool {
        matches!(self, Self::Psnr | Self::Ssim)
    }

    /// Its value; `None` where it is not defined.
    pub fn value(self, metrics: &Metrics, bias: &Bias) -> Option<f64> {
        let Metrics { pointwise, ssim, flip, .. } = metrics;
        Some(match self {
            Self::Rmse => pointwise.rmse,
            Self::Mae => pointwise.mae,
            Self::RelMse => pointwise.relmse,
            Self::Psnr => pointwise.psnr,
            Self::Ssim => return *ssim,
            Self::Flip => flip.mean,
            Self::FlipMedian => flip.median,
            Self::FlipP95 => flip.p95,
            Self::FlipMax => flip.max,
            Self::Bias => bias.largest_relative(),
        })
    }
}

/// A bound on a metric: an upper bound on a difference, a lower bound on a similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// The metric.
    pub metric: Metric,
    /// The bound, inclusive.
    pub bound: f64,
}

impl Threshold {
    /// Whether a value is within the bound. An undefined value or NaN is not.
    pub fn holds(&self, value: Option<f64>) -> bool {
        match value {
            Some(value) if self.metric.is_similarity() => value >= self.bound,
            Some(value) => value <= self.bound,
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_inclusive_and_know_their_side() {
        let at = |metric, value: f64| Threshold { metric, bound: 0.5 }.holds(Some(value));
        assert!(at(Metric::Rmse, 0.5) && at(Metric::Rmse, 0.4) && !at(Metric::Rmse, 0.6));
        assert!(at(Metric::Ssim, 0.5) && at(Metric::Ssim, 0.6) && !at(Metric::Ssim, 0.4));
        assert!(
            at(Metric::Psnr, f64::INFINITY) && !at(Metric::Flip, f64::NAN) && !at(Metric::Ssim, f64::NAN)
        );
        assert!(!Threshold { metric: Metric::Ssim, bound: 0.0 }.holds(None));
    }

    #[test]
    fn names_are_their_own() {
        for (name, metric) in Metric::ALL {
            assert_eq!(metric.name(), name);
        }
    }
}
