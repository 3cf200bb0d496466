//! Whether the noise of neighbouring pixels is correlated, as reconstruction filters wider than a pixel make it.

use super::noise::Null;

/// Farthest neighbours that are looked at, pixels.
const REACH: isize = 4;

/// Correlation of the noise of pixels, by distance.
pub(super) struct Correlation {
    /// Offset along x and y, and the correlation at it; one of each pair of opposite ones, and only those that are
    /// more than chance.
    lags: Vec<([isize; 2], f64)>,
}

impl Correlation {
    /// What is known of images whose pixels are independent.
    pub(super) const NONE: Self = Self { lags: Vec::new() };

    /// Of the residuals of one channel: z of each pixel, clipped to ±3 and less the mean of its neighbourhood, so that
    /// a difference of the expectations is not taken for correlated noise.
    pub(super) fn of(null: &Null, size: [usize; 2]) -> Self {
        let residuals = residuals(null, size);
        let power: f64 = residuals.iter().map(|r| r * r).sum();
        let used = residuals.iter().filter(|r| **r != 0.0).count() as f64;
        let chance = 5.0 / used.max(1.0).sqrt();
        let mut lags = Vec::new();
        for dy in 0..=REACH {
            for dx in -REACH..=REACH {
                if dy == 0 && dx <= 0 {
                    continue;
                }
                let rho = sum_of_products(&residuals, size, [dx, dy]) / power.max(f64::MIN_POSITIVE);
                if rho > chance {
                    lags.push(([dx, dy], rho));
                }
            }
        }
        Self { lags }
    }

    /// Whether there is none.
    pub(super) fn is_none(&self) -> bool {
        self.lags.is_empty()
    }

    /// Variance of the mean of a square block of pixels, over what it would be without correlation.
    pub(super) fn inflation(&self, side: usize) -> f64 {
        let inside = |lag: isize| (1.0 - lag.unsigned_abs() as f64 / side as f64).max(0.0);
        let pairs = self.lags.iter().map(|([dx, dy], rho)| 2.0 * rho * inside(*dx) * inside(*dy));
        1.0 + pairs.sum::<f64>()
    }
}

/// Side of the neighbourhoods, pixels: larger than filters reach, smaller than most of what images show.
const NEIGHBOURHOOD: usize = 16;

fn residuals(null: &Null, [width, height]: [usize; 2]) -> Vec<f64> {
    let z = |i: usize| {
        let variance = null.noisy[i].max(null.expected[i]) + null.clean[i];
        if variance > 0.0 { (null.d[i] / variance.sqrt()).clamp(-3.0, 3.0) } else { 0.0 }
    };
    let mut residuals: Vec<f64> = (0..width * height).map(z).collect();
    for y0 in (0..height).step_by(NEIGHBOURHOOD) {
        for x0 in (0..width).step_by(NEIGHBOURHOOD) {
            let rows = y0..height.min(y0 + NEIGHBOURHOOD);
            let columns = x0..width.min(x0 + NEIGHBOURHOOD);
            let pixels = || rows.clone().flat_map(|y| columns.clone().map(move |x| y * width + x));
            let used = pixels().filter(|i| residuals[*i] != 0.0).count().max(1);
            let mean = pixels().map(|i| residuals[i]).sum::<f64>() / used as f64;
            for i in pixels() {
                if residuals[i] != 0.0 {
                    residuals[i] -= mean;
                }
            }
        }
    }
    residuals
}

fn sum_of_products(x: &[f64], [width, height]: [usize; 2], [dx, dy]: [isize; 2]) -> f64 {
    let dy = dy.unsigned_abs();
    let columns = dx.min(0).unsigned_abs()..width.saturating_sub(dx.max(0).unsigned_abs());
    let mut sum = 0.0;
    for y in 0..height.saturating_sub(dy) {
        for u in columns.clone() {
            sum += x[y * width + u] * x[(y + dy) * width + u.wrapping_add_signed(dx)];
        }
    }
    sum
}
