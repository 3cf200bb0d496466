//! Structural similarity (Wang, Bovik, Sheikh and Simoncelli 2004).

use rayon::prelude::*;

use super::{Kind, Pair, luminance};
use crate::film::develop::srgb_encode;

/// Half of a window of 11 × 11 pixels.
const RADIUS: usize = 5;
/// Standard deviation of the window's weights, pixels.
const SIGMA: f64 = 1.5;
/// (K₁ L)², where the range L of the values is 1.
const C1: f64 = 0.01 * 0.01;
/// (K₂ L)².
const C2: f64 = 0.03 * 0.03;

/// Mean of the similarity over all windows that lie within the image and have no pixel that is left out: 1 for equal
/// images. `None` if there is no such window.
///
/// It is taken of luma (Rec. 601). Radiance is first brought to a display by the photographic operator (Reinhard,
/// Stark, Shirley and Ferwerda 2002, eqs. 1 to 3), with the reference's log-average luminance at 0.18 for both images,
/// and encoded as sRGB: its luminance alone.
pub fn mean(pair: &Pair) -> Option<f64> {
    let (width, height) = (pair.width as usize, pair.height as usize);
    if width.min(height) <= 2 * RADIUS {
        return None;
    }
    let (a, b) = lumas(pair);
    let weights = weights();
    let rows = (0..height - 2 * RADIUS).into_par_iter().map(|top| {
        let mut row = Row::new(width);
        for (dy, weight) in weights.iter().enumerate() {
            let line = (top + dy) * width..(top + dy + 1) * width;
            row.add(&a[line.clone()], &b[line], *weight);
        }
        row.similarities(&weights).filter(|s| !s.is_nan()).fold((0.0, 0_u64), |(sum, n), s| (sum + s, n + 1))
    });
    // In order, so that the same images always have the same similarity.
    let (sum, n) = rows.collect::<Vec<_>>().into_iter().fold((0.0, 0), |(s, n), (t, m)| (s + t, n + m));
    (n > 0).then(|| sum / n as f64)
}

/// A Gaussian that adds up to 1.
fn weights() -> [f64; 2 * RADIUS + 1] {
    let gaussian = std::array::from_fn(|i| {
        let x = i as f64 - RADIUS as f64;
        (-x * x / (2.0 * SIGMA * SIGMA)).exp()
    });
    let sum: f64 = gaussian.iter().sum();
    gaussian.map(|g| g / sum)
}

/// Weighted sums down the columns of a window's rows: of a, b, a², b² and ab.
struct Row(Vec<[f64; 5]>);

impl Row {
    fn new(width: usize) -> Self {
        Self(vec![[0.0; 5]; width])
    }

    fn add(&mut self, a: &[f32], b: &[f32], weight: f64) {
        for (sums, (a, b)) in self.0.iter_mut().zip(a.iter().zip(b)) {
            let (a, b) = (f64::from(*a), f64::from(*b));
            for (sum, x) in sums.iter_mut().zip([a, b, a * a, b * b, a * b]) {
                *sum += weight * x;
            }
        }
    }

    /// One similarity for each window.
    fn similarities(&self, weights: &[f64]) -> impl Iterator<Item = f64> {
        self.0.windows(weights.len()).map(move |columns| {
            let mut moments = [0.0; 5];
            for (column, weight) in columns.iter().zip(weights) {
                (0..5).for_each(|k| moments[k] += weight * column[k]);
            }
            similarity(moments)
        })
    }
}

/// (2 μₐ μ_b + C₁)(2 σₐ_b + C₂) / ((μₐ² + μ_b² + C₁)(σₐ² + σ_b² + C₂)): Wang et al., eq. 13.
fn similarity([a, b, aa, bb, ab]: [f64; 5]) -> f64 {
    let (variance_a, variance_b, covariance) = (aa - a * a, bb - b * b, ab - a * b);
    (2.0 * a * b + C1) * (2.0 * covariance + C2) / ((a * a + b * b + C1) * (variance_a + variance_b + C2))
}

/// The luma of each image; NaN where a pixel is left out.
fn lumas(pair: &Pair) -> (Vec<f32>, Vec<f32>) {
    match pair.kind {
        Kind::Display => {
            let luma = |[r, g, b]: &[f32; 3]| 0.299 * r + 0.587 * g + 0.114 * b;
            (pair.a.iter().map(luma).collect(), pair.b.iter().map(luma).collect())
        }
        Kind::Radiance => {
            let scale = 0.18 / log_average(&pair.b);
            let shown = |p: &[f32; 3]| {
                let l = scale * f64::from(luminance(*p));
                // `max` would take 0 for what is not a number.
                let l = if l < 0.0 { 0.0 } else { l };
                srgb_encode(l / (1.0 + l)) as f32
            };
            (pair.a.par_iter().map(shown).collect(), pair.b.par_iter().map(shown).collect())
        }
    }
}

/// Geometric mean of the luminances above 0; 1 if there are none.
fn log_average(pixels: &[[f32; 3]]) -> f64 {
    let bright = pixels.iter().map(|p| f64::from(luminance(*p))).filter(|l| *l > 0.0);
    let (sum, n) = bright.fold((0.0, 0_u64), |(sum, n), l| (sum + l.ln(), n + 1));
    if n == 0 { 1.0 } else { (sum / n as f64).exp() }
}
