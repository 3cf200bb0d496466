//! What noise would do to the difference of two images whose expectations are equal.

use super::blocks::Block;
use crate::film::measured::{Measured, Rounding};

/// One channel of the difference of two images, and what is known of its noise, per pixel.
pub(super) struct Null {
    /// First image minus second.
    pub(super) d: Vec<f64>,
    /// Variance of the noisier image, seen from the expectation that both would have.
    pub(super) noisy: Vec<f64>,
    /// The same of the other.
    pub(super) clean: Vec<f64>,
    /// What the other image says that the variance of the noisier should be; 0 where it has nothing to say.
    pub(super) expected: Vec<f64>,
    /// How far rounding alone may have moved the difference.
    pub(super) rounding: Vec<f64>,
    /// An image to weight with, for whatever features are looked for. The pixel itself must have no say in its weight.
    pub(super) guide: Vec<f64>,
    /// Its variance.
    pub(super) guide_variance: Vec<f64>,
    /// Whether the noise of each pixel is known to be independent of its neighbours'.
    pub(super) is_independent: bool,
}

/// Where a file does not say from how many samples its standard errors come.
const SAMPLES_UNKNOWN: f64 = 64.0;

/// Images whose variances differ by more than this factor are not exchangeable: the noise of their difference is as
/// skewed as that of the noisier.
const LOPSIDED: f64 = 1.5;

/// Differences smaller than this part of a value are nobody's business: other instruction sets round otherwise.
const FLOAT_ROUNDING: f64 = 1e-5;

impl Null {
    /// Of channel `c` of two images of one size; nothing where a pixel is not `usable`.
    pub(super) fn new(a: &Measured, b: &Measured, c: usize, usable: &[bool]) -> Self {
        let n = usable.len();
        let sides = [Side { of: a, c }, Side { of: b, c }];
        let mut null = Self {
            d: Vec::with_capacity(n),
            noisy: Vec::with_capacity(n),
            clean: Vec::with_capacity(n),
            expected: vec![0.0; n],
            rounding: Vec::with_capacity(n),
            guide: Vec::with_capacity(n),
            guide_variance: Vec::with_capacity(n),
            is_independent: [a, b]
                .iter()
                .all(|of| of.noise.as_ref().is_none_or(|noise| noise.is_independent)),
        };
        for (i, usable) in usable.iter().enumerate() {
            if !usable {
                for nothing in [&mut null.d, &mut null.noisy, &mut null.clean, &mut null.rounding] {
                    nothing.push(0.0);
                }
                continue;
            }
            let ([a, b], [n_a, n_b]) = (sides.map(|s| s.value(i)), sides.map(|s| s.samples(i)));
            let [r_a, r_b] = sides.map(|s| s.rounding(i));
            let mut variance_a = sides[0].variance(i) + r_a.variance;
            let mut variance_b = sides[1].variance(i) + r_b.variance;
            // If the expectations are equal, samples of the two make pairs whose differences have none, so that their
            // spread is to be seen from 0, not from the mean difference.
            let seen_from_0 = (a - b).powi(2) / n_a.min(n_b);
            *(if n_a <= n_b { &mut variance_a } else { &mut variance_b }) += seen_from_0;
            null.d.push(a - b);
            null.noisy.push(variance_a);
            null.clean.push(variance_b);
            null.rounding.push(r_a.bias + r_b.bias + FLOAT_ROUNDING * a.abs().max(b.abs()));
        }
        null.orient(&sides);
        for (guide, _) in null.guide.iter_mut().zip(usable).filter(|(_, usable)| !**usable) {
            *guide = 0.0;
        }
        null
    }

    /// The sums of pixel `i` alone, with a weight.
    pub(super) fn weighted(&self, w: f64, i: usize) -> Block {
        let w2 = w * w;
        Block {
            d: w * self.d[i],
            noisy: w2 * self.noisy[i],
            clean: w2 * self.clean[i],
            expected: w2 * self.expected[i],
            rounding: w.abs() * self.rounding[i],
            signal: w * self.guide[i],
        }
    }

    /// Finds out which image is noisier, and what the other says of it.
    fn orient(&mut self, [a, b]: &[Side<'_>; 2]) {
        let n = self.d.len();
        let (mut noisy, mut clean) = (a, b);
        let mut counts = median_of((0..n).filter_map(|i| Some(b.told_samples(i)? / a.told_samples(i)?)));
        let mut ratio = median_of((0..n).filter_map(|i| Some(a.told_variance(i)? / b.told_variance(i)?)));
        if counts.or(ratio).is_some_and(|r| r < 1.0) {
            std::mem::swap(&mut self.noisy, &mut self.clean);
            std::mem::swap(&mut noisy, &mut clean);
            (counts, ratio) = (counts.map(f64::recip), ratio.map(f64::recip));
        }
        if counts.or(ratio).is_none_or(|r| r < LOPSIDED) {
            self.guide = (0..n).map(|i| 0.5 * (noisy.value(i) + clean.value(i))).collect();
            self.guide_variance = self.noisy.iter().zip(&self.clean).map(|(x, y)| x + y).collect();
            return;
        }
        // With the same estimator, variances are as the numbers of samples; another may have more.
        let factor = f64::max(counts.unwrap_or(0.0), ratio.unwrap_or(0.0));
        self.expected = (0..n).map(|i| factor * clean.variance(i)).collect();
        self.guide = (0..n).map(|i| clean.value(i)).collect();
        self.guide_variance.clone_from(&self.clean);
    }
}

/// One channel of one image.
#[derive(Clone, Copy)]
struct Side<'a> {
    of: &'a Measured,
    c: usize,
}

/// What rounding does to a stored value.
struct Rounded {
    /// Expectation of the error, at most.
    bias: f64,
    /// Its variance.
    variance: f64,
}

impl Side<'_> {
    fn value(&self, i: usize) -> f64 {
        self.of.image.pixels[i][self.c].into()
    }

    /// Standard error; 0 for an image that is exact, infinite where unknown.
    fn stderr(&self, i: usize) -> f64 {
        self.of.noise.as_ref().map_or(0.0, |noise| noise.stderr[i][self.c].into())
    }

    fn samples(&self, i: usize) -> f64 {
        let Some(noise) = &self.of.noise else { return f64::INFINITY };
        let n = noise.samples.as_ref().map_or(SAMPLES_UNKNOWN, |n| n[i].into());
        // A single sample has no standard error.
        if noise.stderr[i][self.c].is_finite() { n.max(2.0) } else { 1.0 }
    }

    /// Number of samples, if the image tells it.
    fn told_samples(&self, i: usize) -> Option<f64> {
        self.of.noise.as_ref()?.samples.as_ref().map(|_| self.samples(i))
    }

    /// The variance, if it is known and there is any.
    fn told_variance(&self, i: usize) -> Option<f64> {
        Some(self.variance(i)).filter(|v| *v > 0.0 && v.is_finite())
    }

    /// Σ (x − mean)² / n² over the samples x, seen from their own mean: the variance of the image's value, but for a
    /// factor of 1 − 1/n.
    fn variance(&self, i: usize) -> f64 {
        let n = self.samples(i);
        if n > 1.0 { self.stderr(i).powi(2) * (1.0 - 1.0 / n) } else { 0.0 }
    }

    /// A value with noise σ that is rounded to multiples of q is off by up to q/2 without noise, and by q/√12 at random,
    /// but for q/π·exp(−2π²σ²/q²), with noise (Widrow and Kollár 2008, "Quantization Noise", ch. 5).
    fn rounding(&self, i: usize) -> Rounded {
        let q = self.step(i);
        if q == 0.0 {
            return Rounded { bias: 0.0, variance: 0.0 };
        }
        let sigma = self.stderr(i) / q;
        let phase = (-2.0 * (std::f64::consts::PI * sigma).powi(2)).exp();
        Rounded { bias: 0.5 * q * phase, variance: q * q / 12.0 }
    }

    /// Distance between the numbers that the format has about this value.
    fn step(&self, i: usize) -> f64 {
        match self.of.rounding {
            Rounding::Float | Rounding::Display => 0.0,
            Rounding::Half => power_below(self.value(i).abs()).max(2.0_f64.powi(-14)) * 2.0_f64.powi(-10),
            Rounding::Rgbe => {
                let max = self.of.image.pixels[i].into_iter().fold(0.0_f32, |m, x| m.max(x.abs()));
                power_below(max.into()) * 2.0_f64.powi(-7)
            }
        }
    }
}

/// The power of two at or below `x`; 0 for 0.
fn power_below(x: f64) -> f64 {
    if x > 0.0 { x.log2().floor().exp2() } else { 0.0 }
}

/// The median of what there is.
fn median_of(x: impl Iterator<Item = f64>) -> Option<f64> {
    median(&mut x.collect::<Vec<_>>())
}

/// The median; `None` of nothing.
pub(super) fn median(x: &mut [f64]) -> Option<f64> {
    let middle = x.len() / 2;
    (!x.is_empty()).then(|| *x.select_nth_unstable_by(middle, f64::total_cmp).1)
}
