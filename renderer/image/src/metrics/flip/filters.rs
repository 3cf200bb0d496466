//! Separable filters for the eye's contrast sensitivity, and for the detection of edges and points.

use std::f32::consts::PI;

/// Width of the edge and point detectors, degrees.
const FEATURE_WIDTH: f32 = 0.082;

/// Taps of the filters, all of `2 · radius + 1` pixels.
#[derive(Debug)]
pub(super) struct Filters {
    pub(super) radius: usize,
    /// Contrast sensitivity to Y, Cx and Cz; that to Cz is the sum of two Gaussians, which are applied apart.
    pub(super) luminance: Vec<f32>,
    pub(super) red_green: Vec<f32>,
    pub(super) blue_yellow: [Vec<f32>; 2],
    /// A Gaussian as wide as features, and its derivatives.
    pub(super) gaussian: Vec<f32>,
    pub(super) first: Vec<f32>,
    pub(super) second: Vec<f32>,
}

impl Filters {
    /// Filters for so many pixels per degree of the visual field.
    pub(super) fn new(ppd: f32) -> Self {
        // Table 1 of the paper: contrast sensitivity is a sum of a √(π/b) exp(−π² x²/b) for x in degrees.
        const LUMINANCE: f32 = 0.0047;
        const RED_GREEN: f32 = 0.0053;
        const BLUE_YELLOW: [(f32, f32); 2] = [(34.1, 0.04), (13.5, 0.025)];
        // All have the radius of the widest, 3 σ for σ² = b / 2π².
        let sensitivity = (3.0 * (0.04 / (2.0 * PI * PI)).sqrt() * ppd).ceil() as i32;
        let feature_sigma = 0.5 * FEATURE_WIDTH * ppd;
        let feature = (3.0 * feature_sigma).ceil() as i32;
        let radius = sensitivity.max(feature);
        let taps = |reach: i32, f: &dyn Fn(f32) -> f32| -> Vec<f32> {
            (-radius..=radius).map(|x| if x.abs() > reach { 0.0 } else { f(x as f32) }).collect()
        };
        let spread = |b: f32| taps(sensitivity, &|x| (-(PI * x / ppd).powi(2) / b).exp());
        // In two dimensions the sum of all weights is 1. A weight is the product of one tap across and one down, so
        // each has the root of its Gaussian's share.
        let volume = |(a, b): (f32, f32)| a * (PI / b).sqrt() * sum(&spread(b)).powi(2);
        let total: f32 = BLUE_YELLOW.into_iter().map(volume).sum();
        let part = |(a, b): (f32, f32)| scaled(spread(b), (a * (PI / b).sqrt() / total).sqrt());
        let bell = |x: f32| (-(x / feature_sigma).powi(2) / 2.0).exp();
        Self {
            radius: radius as usize,
            luminance: normalized(spread(LUMINANCE)),
            red_green: normalized(spread(RED_GREEN)),
            blue_yellow: BLUE_YELLOW.map(part),
            gaussian: normalized(taps(feature, &bell)),
            first: balanced(taps(feature, &|x| -x * bell(x))),
            second: balanced(taps(feature, &|x| ((x / feature_sigma).powi(2) - 1.0) * bell(x))),
        }
    }
}

fn sum(taps: &[f32]) -> f32 {
    taps.iter().sum()
}

fn scaled(taps: Vec<f32>, scale: f32) -> Vec<f32> {
    taps.into_iter().map(|t| scale * t).collect()
}

fn normalized(taps: Vec<f32>) -> Vec<f32> {
    let scale = 1.0 / sum(&taps);
    scaled(taps, scale)
}

/// Positive taps that add up to 1, negative ones to −1: a flat image has no features.
fn balanced(taps: Vec<f32>) -> Vec<f32> {
    let positive: f32 = taps.iter().filter(|t| **t > 0.0).sum();
    let negative: f32 = taps.iter().filter(|t| **t < 0.0).sum();
    taps.into_iter().map(|t| if t > 0.0 { t / positive } else { -t / negative }).collect()
}

/// Adds to `out[i]` the sum of `tap[k] · values[i + k · stride]`.
pub(super) fn convolve(values: &[f32], stride: usize, taps: &[f32], out: &mut [f32]) {
    for (k, tap) in taps.iter().enumerate() {
        let shifted = &values[k * stride..];
        out.iter_mut().zip(shifted).for_each(|(out, x)| *out += tap * x);
    }
}

#[cfg(test)]
mod tests {
    use super::super::PIXELS_PER_DEGREE_RANGE;
    use super::*;

    #[test]
    fn flat_images_stay_and_have_no_features() {
        for ppd in [PIXELS_PER_DEGREE_RANGE.start(), &20.0, &67.02, PIXELS_PER_DEGREE_RANGE.end()] {
            let f = Filters::new(*ppd);
            let n = 2 * f.radius + 1;
            for taps in [&f.luminance, &f.red_green, &f.gaussian] {
                assert!(taps.len() == n && (sum(taps) - 1.0).abs() < 1e-5, "{ppd}");
            }
            let both: f32 = f.blue_yellow.iter().map(|taps| sum(taps).powi(2)).sum();
            assert!((both - 1.0).abs() < 1e-5, "{ppd}: {both}");
            assert!(sum(&f.first).abs() < 1e-5 && sum(&f.second).abs() < 1e-5, "{ppd}");
            assert!(f.first.iter().map(|t| t.abs()).sum::<f32>() > 1.99, "{ppd}");
        }
    }
}
