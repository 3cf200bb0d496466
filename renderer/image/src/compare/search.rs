//! The search of all blocks, at all scales, for evidence of a difference.

use super::blocks::{Block, Grid};
use super::correlation::Correlation;
use super::feature::{Feature, Weights};
use super::noise::{Null, median};
use super::{DetectableDifference, Finding, Region, tail};

/// Tests of one feature in blocks of one size, over all channels.
pub(super) struct Family {
    feature: Feature,
    side: usize,
    /// Number of informative blocks.
    pub(super) tests: usize,
    /// The strongest evidence.
    pub(super) best: Finding,
}

/// The state of the search.
pub(super) struct Search {
    size: [usize; 2],
    families: Vec<Family>,
    sensitivities: Vec<Sensitivity>,
    /// Per pixel, the largest z of a channel.
    pub(super) z: Vec<f32>,
    /// The largest inflation of a channel's variance by correlation.
    pub(super) correlation: f64,
}

/// The sensitivity of one family of tests.
struct Sensitivity {
    feature: Feature,
    side: usize,
    /// One entry for each channel and block.
    blocks: Vec<RelativeNoise>,
}

/// The noise of a block, relative to its signal.
#[derive(Clone, Copy)]
struct RelativeNoise {
    /// Variance where nothing differs.
    variance: f64,
    /// Largest error by rounding.
    rounding: f64,
    /// Growth of the variance with the square of a difference, since the variance is taken about 0.
    own: f64,
}

impl RelativeNoise {
    fn new(block: &Block, inflation: f64) -> Self {
        let signal = block.signal.abs();
        let over = inflation / signal.powi(2);
        let (variance, own) = (block.variance() * over, block.own * over);
        Self { variance, rounding: block.rounding / signal, own }
    }

    /// The difference r at which (r − rounding) / √(variance + r² own) is `z`: infinite if none is that large, as where
    /// samples are few.
    fn seen_at(&self, z: f64) -> f64 {
        let Self { variance, rounding, own } = *self;
        let (a, z2) = (1.0 - z * z * own, z * z);
        if a <= 0.0 {
            return f64::INFINITY;
        }
        // a r² − 2 rounding r + rounding² − z² variance = 0.
        (rounding + (rounding.powi(2) - a * (rounding.powi(2) - z2 * variance)).max(0.0).sqrt()) / a
    }
}

/// Sides of the blocks for which the smallest detectable difference is stated, pixels, besides the whole image.
const STATED: [usize; 2] = [8, 32];

/// Smallest number of blocks whose squares are added up; with fewer, their means are as informative.
const FEWEST_BLOCKS: usize = 4;

/// A difference that exceeds the threshold by so many standard deviations is detected with 95 % probability.
const POWER_95: f64 = 1.645;

impl Search {
    pub(super) fn new(size: [usize; 2]) -> Self {
        let z = vec![0.0; size[0] * size[1]];
        Self { size, families: Vec::new(), sensitivities: Vec::new(), z, correlation: 1.0 }
    }

    /// Tests one channel for all features.
    pub(super) fn look_at(&mut self, null: &Null, channel: usize) {
        let correlation =
            if null.is_independent { Correlation::NONE } else { Correlation::new(null, self.size) };
        self.correlation = self.correlation.max(correlation.inflation(usize::MAX));
        for feature in Feature::TESTED {
            let weights = Weights { null, size: self.size };
            let width = self.size[0];
            let block =
                |x: usize, y: usize| null.pixels[y * width + x].alone.weighted(weights.at(feature, x, y));
            let mut grid = Grid::new(self.size, feature.smallest_block(), block);
            loop {
                self.look_in(&grid, &correlation, feature, channel);
                match grid.coarser() {
                    Some(coarser) => grid = coarser,
                    None => break,
                }
            }
        }
    }

    /// Tests all blocks of one size for a feature.
    fn look_in(&mut self, grid: &Grid, correlation: &Correlation, feature: Feature, channel: usize) {
        let inflation = correlation.inflation(grid.side);
        let mut energy = (0.0, 0);
        let family = self.family(feature, grid.side);
        for (i, block) in grid.blocks.iter().enumerate() {
            let z = block.z(inflation);
            let tests = usize::from(block.is_informative());
            family.tests += tests;
            energy = (energy.0 + z * z, energy.1 + tests);
            if z.abs() > family.best.z.abs() {
                let p = tail::p_self_normalized(z);
                let region = grid.region(i);
                family.best = Finding { region, channel, feature, z, p, ..Finding::NOTHING };
            }
        }
        if feature == Feature::Mean && grid.side == 1 {
            for (most, block) in self.z.iter_mut().zip(&grid.blocks) {
                let z = block.z(inflation) as f32;
                if z.abs() > most.abs() {
                    *most = z;
                }
            }
        }
        self.note_sensitivity(grid, inflation, feature);
        if feature == Feature::Mean && correlation.is_none() && energy.1 >= FEWEST_BLOCKS {
            self.look_at_energy(energy, grid.side, channel);
        }
    }

    /// Tests the sum of z² over so many blocks.
    fn look_at_energy(&mut self, (sum, blocks): (f64, usize), side: usize, channel: usize) {
        let [width, height] = self.size.map(|n| n as u32);
        let feature = Feature::Pattern(side as u32);
        let family = self.family(feature, side);
        family.tests += 1;
        let p = tail::p_sum_of_squares(sum, blocks);
        if p < family.best.p {
            let z = (sum - blocks as f64) / (2.0 * blocks as f64).sqrt();
            let region = Region { x: 0, y: 0, width, height };
            family.best = Finding { region, channel, feature, z, p, ..Finding::NOTHING };
        }
    }

    /// The family of a feature and block size.
    fn family(&mut self, feature: Feature, side: usize) -> &mut Family {
        let known = self.families.iter().position(|f| f.feature == feature && f.side == side);
        let at = known.unwrap_or_else(|| {
            self.families.push(Family { feature, side, tests: 0, best: Finding::NOTHING });
            self.families.len() - 1
        });
        &mut self.families[at]
    }

    fn note_sensitivity(&mut self, grid: &Grid, inflation: f64, feature: Feature) {
        let stated = feature == Feature::Mean && STATED.contains(&grid.side);
        let whole = grid.is_whole() && matches!(feature, Feature::Mean | Feature::Brightness);
        if !stated && !whole {
            return;
        }
        let lit = grid.blocks.iter().filter(|block| block.signal != 0.0);
        let lit = lit.map(|block| RelativeNoise::new(block, inflation));
        let side = grid.side;
        match self.sensitivities.iter_mut().find(|s| s.feature == feature && s.side == side) {
            Some(known) => known.blocks.extend(lit),
            None => self.sensitivities.push(Sensitivity { feature, side, blocks: lit.collect() }),
        }
    }

    /// An upper bound on the probability of evidence as strong as was found, and the finding to report.
    ///
    /// Within a family tests are many and correlated, and Šidák's bound is close; among the families, which are few, the
    /// level is divided evenly, so that the search of a million pixels costs the test of the whole image nothing.
    pub(super) fn verdict(&self, level: f64) -> (f64, Finding) {
        let strongest = |kind: fn(Feature) -> bool| {
            let families = self.families.iter().filter(|f| f.tests > 0 && kind(f.feature));
            let all = families.map(|f| (self.among_all(f), f.best));
            all.min_by(|f, g| f.0.total_cmp(&g.0).then(g.1.z.abs().total_cmp(&f.1.z.abs())))
        };
        let nothing = (1.0, Finding::NOTHING);
        let sum = strongest(|feature| !matches!(feature, Feature::Pattern(_))).unwrap_or(nothing);
        let pattern = strongest(|feature| matches!(feature, Feature::Pattern(_))).unwrap_or(nothing);
        // A sum says where and by how much, so it takes precedence over a pattern.
        // p belongs to the reported finding; being the larger of the two, it is still valid.
        if sum.0 <= level || sum.0 <= pattern.0 { sum } else { pattern }
    }

    /// The probability, at most, of evidence in any family as strong as the strongest in this one.
    fn among_all(&self, family: &Family) -> f64 {
        (self.tested() * tail::among(family.best.p, family.tests)).min(1.0)
    }

    /// Number of families with informative blocks.
    fn tested(&self) -> f64 {
        self.families.iter().filter(|f| f.tests > 0).count().max(1) as f64
    }

    /// The differences that would have been detected at a level with 95 % probability.
    pub(super) fn detectable(&self, level: f64) -> Vec<DetectableDifference> {
        let whole_side =
            |feature| self.families.iter().filter(|f| f.feature == feature).map(|f| f.side).max();
        let whole_of = |feature| self.seen(feature, whole_side(feature)?, level);
        let blocks = STATED.into_iter().filter(|side| Some(*side) < whole_side(Feature::Mean));
        let mut out: Vec<_> = blocks
            .filter_map(|side| {
                let mut seen = self.seen(Feature::Mean, side, level)?;
                let most = quantile(&mut seen, 0.95)?;
                Some(DetectableDifference { block: Some(side as u32), median: median(&mut seen)?, most })
            })
            .collect();
        let mean = whole_of(Feature::Mean).unwrap_or_default();
        let brightness = whole_of(Feature::Brightness).unwrap_or_default();
        let mut whole: Vec<f64> = if brightness.len() == mean.len() {
            mean.iter().zip(brightness).map(|(a, b)| a.min(b)).collect()
        } else {
            mean
        };
        if let (Some(most), Some(median)) = (quantile(&mut whole, 1.0), median(&mut whole)) {
            out.push(DetectableDifference { block: None, median, most });
        }
        out
    }

    /// The smallest difference that a family of tests would have detected in each of its blocks.
    fn seen(&self, feature: Feature, side: usize, level: f64) -> Option<Vec<f64>> {
        let sensitivity = self.sensitivities.iter().find(|s| s.feature == feature && s.side == side)?;
        let tests = self.families.iter().find(|f| f.feature == feature && f.side == side)?.tests.max(1);
        let p = tail::of_each(level / self.tested(), tests);
        let needed = tail::z_self_normalized(p) + POWER_95;
        Some(sensitivity.blocks.iter().map(|block| block.seen_at(needed)).collect())
    }
}

fn quantile(x: &mut [f64], q: f64) -> Option<f64> {
    let at = ((x.len() as f64 * q).ceil() as usize).saturating_sub(1);
    (!x.is_empty()).then(|| *x.select_nth_unstable_by(at, f64::total_cmp).1)
}
