//! Errors of pixels, pooled over the image.

use super::{Kind, Pair};

/// Regularizer that keeps the relative error of black pixels finite. Papers use different values.
pub const RELATIVE_EPSILON: f64 = 0.01;

/// Errors of pixels, pooled over pixels and channels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pointwise {
    /// √(mean (a − b)²).
    pub rmse: f64,
    /// Mean |a − b|.
    pub mae: f64,
    /// Mean (a − b)² / (b² + 0.01), as Rousselle, Knaus and Zwicker (2011) weight errors, b being the reference; not
    /// symmetric.
    pub relmse: f64,
    /// 10 log₁₀(peak² / MSE), dB; infinite for equal images. The peak of a display is 1, that of radiance the largest
    /// value of the reference.
    pub psnr: f64,
}

impl Pointwise {
    /// The errors of `pair`; `None` if all its pixels are left out.
    pub fn new(pair: &Pair) -> Option<Self> {
        let (mut squared, mut absolute, mut relative, mut largest) = (0.0, 0.0, 0.0, 0.0_f64);
        let mut n = 0_usize;
        for (a, b) in pair.pixels() {
            for (a, b) in a.into_iter().zip(b) {
                let square = (a - b) * (a - b);
                squared += square;
                absolute += (a - b).abs();
                relative += square / (b * b + RELATIVE_EPSILON);
                largest = largest.max(b);
            }
            n += 3;
        }
        if n == 0 {
            return None;
        }
        let mean = |sum: f64| sum / n as f64;
        let peak = match pair.kind {
            Kind::Display => 1.0,
            Kind::Radiance => largest,
        };
        let mse = mean(squared);
        // Not 0/0 for two black images, which are equal.
        let psnr = if mse == 0.0 { f64::INFINITY } else { 10.0 * (peak * peak / mse).log10() };
        Some(Self { rmse: mse.sqrt(), mae: mean(absolute), relmse: mean(relative), psnr })
    }
}
