//! The null hypothesis: the noise of the difference of two images whose expectations are equal.

use super::blocks::Block;
use crate::film::estimate::{ImageEstimate, Rounding};

/// One channel of the difference of two images, and its noise.
pub(super) struct Null {
    /// Row by row.
    pub(super) pixels: Vec<Pixel>,
    /// Whether the noise of each pixel is known to be independent of its neighbours'.
    pub(super) is_independent: bool,
}

/// One pixel of the difference.
#[derive(Clone, Copy, Default)]
pub(super) struct Pixel {
    /// The sums over the pixel alone, with weight 1.
    pub(super) alone: Block,
    /// An image from which the weights of features are made. A pixel's weight must not depend on the pixel itself.
    pub(super) guide: f64,
    /// Variance of `guide`.
    pub(super) guide_variance: f64,
}

/// Assumed number of samples behind standard errors if the file does not tell.
const SAMPLES_UNKNOWN: f64 = 64.0;

/// Images whose variances differ by more than this factor are not exchangeable: the noise of their difference is as
/// skewed as that of the noisier.
const LOPSIDED: f64 = 1.5;

/// Side of the blocks whose variances are compared, pixels: so large that rare events occur in most of them.
const BLOCK: usize = 16;

/// Relative differences smaller than this are ignored: instruction sets round differently.
const FLOAT_ROUNDING: f64 = 1e-5;

impl Null {
    /// The null hypothesis for channel `c` of two images of one size. Pixels that are not `usable` are zero.
    pub(super) fn new(a: &ImageEstimate, b: &ImageEstimate, c: usize, usable: &[bool]) -> Self {
        let sides = [Side { of: a, c }, Side { of: b, c }];
        let roles = Roles::new(sides, [a.image.width as usize, a.image.height as usize]);
        let pixel = |(i, usable): (usize, &bool)| if *usable { roles.pixel(i) } else { Pixel::default() };
        let is_independent = |of: &ImageEstimate| of.noise.as_ref().is_none_or(|noise| noise.is_independent);
        Self {
            pixels: usable.iter().enumerate().map(pixel).collect(),
            is_independent: is_independent(a) && is_independent(b),
        }
    }
}

/// Which image is noisier, and by how much.
struct Roles<'a> {
    sides: [Side<'a>; 2],
    /// Index of the noisier.
    noisy: usize,
    /// Its variance over that of the other, if the two differ much; then the difference is as skewed as the noisier.
    factor: Option<f64>,
}

impl<'a> Roles<'a> {
    fn new(sides: [Side<'a>; 2], size: [usize; 2]) -> Self {
        let [a, b] = sides;
        let ratio = middle(&mut variance_ratios(a, b, size));
        let counts = counts_ratio(a, b, size[0] * size[1]);
        // Where tails are heavy, variances are no measure of which image is noisier: few samples say that they are small.
        let is_lopsided = |r: &f64| r.max(r.recip()) >= LOPSIDED;
        let Some(first) = counts.filter(is_lopsided).or(ratio).or(counts) else {
            return Self { sides, noisy: 0, factor: None };
        };
        let noisy = usize::from(first < 1.0);
        let of_noisy = |r: f64| if noisy == 0 { r } else { r.recip() };
        // With the same estimator variances are as the numbers of samples, and a noisy image may have missed the samples
        // that make up most of its own.
        let factor = [ratio, counts].into_iter().flatten().map(of_noisy).fold(0.0, f64::max);
        let factor = is_lopsided(&first).then_some(factor);
        Self { sides, noisy, factor }
    }

    fn pixel(&self, i: usize) -> Pixel {
        let (noisy, clean) = (self.sides[self.noisy], self.sides[1 - self.noisy]);
        let [a, b] = self.sides.map(|side| side.value(i));
        let [of_noisy, of_clean] = [noisy, clean].map(|side| side.rounding(i));
        // If the expectations are equal, samples of the two make pairs whose differences have none, so that their
        // spread is to be seen from 0, not from the mean difference.
        let is_lopsided = self.factor.is_some() && clean.samples(i) > 1.0;
        let pairs = if is_lopsided { noisy.samples(i) } else { noisy.samples(i).min(clean.samples(i)) };
        let seen_from_0 = (a - b).powi(2) / pairs;
        let variance = noisy.variance(i) + of_noisy.variance + seen_from_0;
        let clean_variance = clean.variance(i) + of_clean.variance;
        let (guide, guide_variance) = match self.factor {
            Some(_) => (clean.value(i), clean_variance),
            None => (0.5 * (a + b), variance + clean_variance),
        };
        let is_noisy = noisy.variance(i) + clean.variance(i) > (FLOAT_ROUNDING * guide).powi(2);
        let alone = Block {
            d: a - b,
            noisy: variance,
            clean: clean_variance,
            expected: self.factor.map_or(0.0, |factor| factor * clean.variance(i)),
            rounding: of_noisy.bias + of_clean.bias + FLOAT_ROUNDING * a.abs().max(b.abs()),
            signal: if is_noisy { guide } else { 0.0 },
            own: if is_noisy { guide.powi(2) / pairs } else { 0.0 },
        };
        Pixel { alone, guide, guide_variance }
    }
}

/// One channel of one image.
#[derive(Clone, Copy)]
struct Side<'a> {
    of: &'a ImageEstimate,
    c: usize,
}

/// The error of a stored value by rounding.
struct RoundingError {
    /// Upper bound on the expectation of the error.
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

    /// Σ (x − mean)² / n² over the samples x, seen from their own mean: the variance of the image's value, but for a
    /// factor of 1 − 1/n.
    fn variance(&self, i: usize) -> f64 {
        let n = self.samples(i);
        if n > 1.0 { self.stderr(i).powi(2) * (1.0 - 1.0 / n) } else { 0.0 }
    }

    /// A value with noise σ that is rounded to multiples of q is off by up to q/2 without noise, and by q/√12 at random,
    /// but for q/π·exp(−2π²σ²/q²), with noise (Widrow and Kollár 2008, "Quantization Noise", ch. 5).
    fn rounding(&self, i: usize) -> RoundingError {
        let q = self.step(i);
        if q == 0.0 {
            return RoundingError { bias: 0.0, variance: 0.0 };
        }
        let sigma = self.stderr(i) / q;
        let phase = (-2.0 * (std::f64::consts::PI * sigma).powi(2)).exp();
        RoundingError { bias: 0.5 * q * phase, variance: q * q / 12.0 }
    }

    /// Distance between adjacent representable numbers around this value.
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

/// Ratios of the variance of `x` to that of `y`, over all blocks where both exceed rounding.
fn variance_ratios(x: Side<'_>, y: Side<'_>, size: [usize; 2]) -> Vec<f64> {
    let columns = size[0].div_ceil(BLOCK);
    let mut sums = vec![[0.0; 3]; columns * size[1].div_ceil(BLOCK)];
    for i in 0..size[0] * size[1] {
        let [of_x, of_y, rounding] = &mut sums[i / size[0] / BLOCK * columns + i % size[0] / BLOCK];
        let (v_x, v_y) = (x.variance(i), y.variance(i));
        if v_x.is_finite() && v_y.is_finite() {
            *of_x += v_x;
            *of_y += v_y;
            *rounding += (FLOAT_ROUNDING * y.value(i)).powi(2);
        }
    }
    let known = sums.into_iter().filter(|[x, y, rounding]| x > rounding && y > rounding);
    known.map(|[x, y, _]| x / y).collect()
}

/// The median number of samples of `y` over that of `x`, if both images count samples: some count passes.
fn counts_ratio(x: Side<'_>, y: Side<'_>, n: usize) -> Option<f64> {
    let counts = |side: Side<'_>| {
        side.of.noise.as_ref().is_some_and(|noise| noise.is_independent && noise.samples.is_some())
    };
    let ratio = |i| y.samples(i) / x.samples(i);
    (counts(x) && counts(y)).then(|| middle(&mut (0..n).map(ratio).collect::<Vec<_>>()))?
}

/// The median of ratios; of an even number, the geometric mean of the middle two, so that exchanging the images gives the
/// reciprocal. `None` if empty.
fn middle(x: &mut [f64]) -> Option<f64> {
    let below = *x.select_nth_unstable_by(x.len().checked_sub(1)? / 2, f64::total_cmp).1;
    Some((below * median(x)?).sqrt())
}

/// The median; `None` if empty.
pub(super) fn median(x: &mut [f64]) -> Option<f64> {
    let middle = x.len() / 2;
    (!x.is_empty()).then(|| *x.select_nth_unstable_by(middle, f64::total_cmp).1)
}
