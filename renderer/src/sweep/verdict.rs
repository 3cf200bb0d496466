//! Comparing variants with those of another scene, or with one another.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;
use torrance_image::compare::Judgement;
use torrance_image::compare::comparison::{Comparison, Settings, compare};
use torrance_image::compare::maps::{self, Differences, Map};
use torrance_image::compare::source::Images;
use torrance_image::metrics::Kind;
use torrance_image::metrics::flip::PIXELS_PER_DEGREE;

use super::work::{Failure, Progress};
use super::{Grid, Results, SweepError};

/// Which variants are compared, and how.
pub struct Pairs {
    /// The counterpart of each; `None` for variants that others are compared with.
    pub(super) with: Vec<Option<usize>>,
    /// Which value each parameter has in what a variant is compared with; `None` is the variant's own.
    pub(super) baseline: Vec<Option<usize>>,
    map: Map,
    /// Level of a single verdict.
    level: f64,
}

impl Pairs {
    /// Each variant with that of another scene that has the same values.
    pub fn of_two_scenes(grid: &Grid, map: Map, level: f64) -> Self {
        let n = grid.variants();
        Self::new((0..n).map(|i| Some(n + i)).collect(), vec![None; grid.axes().len()], map, level)
    }

    /// Each variant with the one that has the values of baselines, such as `roughness=0.5`, and of other parameters the same.
    ///
    /// # Errors
    /// There is no such value, or two of one parameter.
    pub fn with_baseline(
        grid: &Grid,
        baselines: &[String],
        map: Map,
        level: f64,
    ) -> Result<Self, SweepError> {
        let mut baseline = vec![None; grid.axes().len()];
        for text in baselines {
            let named = |reason: String| SweepError(format!("--baseline {text}: {reason}"));
            let (axis, value) = grid.find_value(text).map_err(|e| named(e.to_string()))?;
            if baseline[axis].replace(value).is_some() {
                return Err(named(format!("{} has a baseline already", grid.axes()[axis].label)));
            }
        }
        let of = |i: usize| grid.with_values(i, &baseline);
        let with = (0..grid.variants()).map(|i| Some(of(i)).filter(|other| *other != i)).collect();
        Ok(Self::new(with, baseline, map, level))
    }

    /// `level` is that of all verdicts together.
    fn new(with: Vec<Option<usize>>, baseline: Vec<Option<usize>>, map: Map, level: f64) -> Self {
        // They have images in common, so that none of them is independent of the others (Bonferroni).
        let cases = with.iter().flatten().count();
        Self { with, baseline, map, level: level / cases.max(1) as f64 }
    }
}

/// A verdict on a variant and the one that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Noise explains their difference.
    Same,
    /// It does not.
    Different,
    /// Their noise is not known.
    #[serde(rename = "no verdict")]
    Unknown,
}

impl Verdict {
    /// The verdict in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Different => "different",
            Self::Unknown => "no verdict",
        }
    }
}

/// How a variant differs from the one that it is compared with.
#[derive(Debug, Clone, Serialize)]
pub struct VariantComparison {
    /// Whether it does.
    pub verdict: Verdict,
    /// The probability, at most, of evidence as strong as this where the expectations are equal.
    pub p: f64,
    /// Difference of the mean luminance, relative to the other's.
    pub difference: f64,
    /// The smallest relative difference of the whole image that would have been found with 95 % probability.
    pub detectable: f64,
    /// Mean of ꟻLIP.
    pub flip: f64,
    #[serde(skip)]
    pub(super) map: ComparisonMap,
}

/// A variant's cell in the sheet of differences.
#[derive(Debug, Clone)]
pub(super) enum ComparisonMap {
    /// Painted when it is known how large the differences of the others are.
    Differences(Differences),
    Picture(maps::Picture),
}

impl VariantComparison {
    /// Names of [`VariantComparison::values`], as columns of a table.
    pub(super) const COLUMNS: [&'static str; 4] = ["difference", "p", "is_different", "flip"];

    pub(super) fn values(&self) -> [f64; 4] {
        let is_different = match self.verdict {
            Verdict::Unknown => f64::NAN,
            verdict => f64::from(u8::from(verdict == Verdict::Different)),
        };
        [self.difference, self.p, is_different, self.flip]
    }

    fn new(comparison: &Comparison, means: [f64; 2], map: Map) -> Self {
        let Comparison { pair, metrics, judgement, .. } = comparison;
        let verdict = match judgement {
            _ if comparison.is_different() => Verdict::Different,
            Ok(_) => Verdict::Same,
            Err(_) => Verdict::Unknown,
        };
        let differences = |is_relative| ComparisonMap::Differences(Differences::new(pair, is_relative));
        let map = match (map, judgement) {
            (Map::Flip, _) => ComparisonMap::Picture(maps::flip(pair, &metrics.flip)),
            (Map::Z, Ok(judgement)) => ComparisonMap::Picture(maps::z(pair, judgement)),
            (Map::Z, Err(_)) | (Map::Difference, _) => differences(false),
            (Map::Relative, _) => differences(true),
        };
        Self {
            verdict,
            p: judgement.as_ref().map_or(f64::NAN, |judgement| judgement.p),
            difference: means[0] / means[1] - 1.0,
            detectable: judgement.as_ref().map_or(f64::INFINITY, Judgement::resolution),
            flip: metrics.flip.mean,
            map,
        }
    }
}

impl Results<'_> {
    /// Compares all variants that are there and are to be compared.
    pub fn compare(&mut self, Progress { step, is_stopping }: Progress<'_>) -> Vec<Failure> {
        let Some(pairs) = &self.sweep.plan.pairs else { return Vec::new() };
        let begin = Instant::now();
        let progress = Mutex::new((step, 0));
        let one = |(i, with): (usize, &Option<usize>)| {
            let with = with.filter(|_| !is_stopping());
            let compared = with.map(|with| self.compare_two(pairs, i, with)).transpose();
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            progress.1 += 1;
            let done = f64::from(progress.1) / pairs.with.len() as f64;
            (progress.0)(done, begin.elapsed(), "comparing");
            compared.map(Option::flatten)
        };
        let compared: Vec<_> = pairs.with.par_iter().enumerate().map(one).collect();
        let mut failures = Vec::new();
        let mut keep = |failure: Failure| {
            failures.push(failure);
            None
        };
        self.compared = compared.into_iter().map(|one| one.unwrap_or_else(&mut keep)).collect();
        failures
    }

    /// Compares two variants, if both are there.
    fn compare_two(
        &self,
        pairs: &Pairs,
        i: usize,
        with: usize,
    ) -> Result<Option<VariantComparison>, Failure> {
        let (Some(own), Some(other)) = (&self.variants[i], &self.variants[with]) else { return Ok(None) };
        let failed =
            |reason| Failure::new(format!("{}: cannot be compared: {reason}", self.sweep.plan.name(i)));
        let lost = || failed("what was kept of it cannot be read".to_owned());
        let [a, b] = [i, with].map(|i| self.measured(i));
        let images = Images {
            a: a.ok_or_else(lost)?.with_known_noise(),
            b: b.ok_or_else(lost)?.with_known_noise(),
            kind: Kind::Radiance,
            exact: [false; 2],
        };
        let settings = Settings { crop: None, level: pairs.level, pixels_per_degree: PIXELS_PER_DEGREE };
        let comparison = compare(images, &settings).map_err(|e| failed(e.to_string()))?;
        let means = [own, other].map(|result| result.statistics.mean);
        Ok(Some(VariantComparison::new(&comparison, means, pairs.map)))
    }

    /// Numbers of variants that were compared, that differ, and on which there is no verdict.
    pub fn verdicts(&self) -> [usize; 3] {
        let of = |verdict| self.compared.iter().flatten().filter(|one| one.verdict == verdict).count();
        [self.compared.iter().flatten().count(), of(Verdict::Different), of(Verdict::Unknown)]
    }

    /// Whether a variant is one that others are compared with, and itself with none.
    pub(super) fn is_baseline(&self, i: usize) -> bool {
        self.sweep.plan.pairs.as_ref().is_some_and(|pairs| pairs.with[i].is_none())
    }
}
