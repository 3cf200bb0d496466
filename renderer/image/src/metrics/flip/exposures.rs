//! The exposures at which radiance is compared.

use crate::metrics::luminance;

/// A range of exposures, in stops, evenly divided.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Exposures {
    /// The darkest: the brightest pixel is nearly white.
    pub start: f32,
    /// The brightest: half of the pixels are nearly white or brighter.
    pub stop: f32,
    /// How many there are, ends included.
    pub count: u32,
}

/// The tone-mapped value that counts as nearly white.
const NEARLY_WHITE: f32 = 0.85;

/// Narkowicz's fit of the ACES curve (2016), (c₀x² + c₁x + c₂) / (c₃x² + c₄x + c₅), with his exposure of 0.6 within.
const CURVE: [f32; 6] = [0.36 * 2.51, 0.6 * 0.03, 0.0, 0.36 * 2.43, 0.6 * 0.59, 0.14];

impl Exposures {
    /// The exposures of a reference image: section 3 of the paper of 2021. If more than half of it is black, the median
    /// is taken over the rest. NaN pixels are ignored.
    pub(super) fn new(reference: &[[f32; 3]]) -> Self {
        let mut bright: Vec<f32> = reference.iter().map(|p| luminance(*p)).filter(|l| !l.is_nan()).collect();
        if bright.iter().filter(|l| **l > 0.0).count() <= bright.len() / 2 + 1 {
            bright.retain(|l| *l > 0.0);
        }
        if bright.is_empty() {
            return Self { start: 0.0, stop: 0.0, count: 1 };
        }
        // Of an even number the upper one, as the authors' program has it.
        let middle = bright.len() / 2;
        let median = *bright.select_nth_unstable_by(middle, f32::total_cmp).1;
        let largest = bright.iter().copied().fold(0.0, f32::max);
        let white = inverse_curve(NEARLY_WHITE);
        let (start, stop) = (white.log2() - largest.log2(), white.log2() - median.log2());
        Self { start, stop, count: ((stop - start).ceil() as u32).max(2) }
    }

    /// The factors by which radiance is multiplied.
    pub(super) fn gains(&self) -> impl Iterator<Item = f64> + use<> {
        let Self { start, stop, count } = *self;
        let step = (stop - start) / (count.max(2) - 1) as f32;
        (0..count).map(move |i| f64::from(start + i as f32 * step).exp2())
    }
}

/// The radiance that the curve takes to `y`: the larger root of a quadratic equation.
fn inverse_curve(y: f32) -> f32 {
    let [a, b, c] = [0, 1, 2].map(|i| CURVE[i] - y * CURVE[i + 3]);
    (-b + (b * b - 4.0 * a * c).sqrt()) / (2.0 * a)
}

/// The linear light of a display that shows radiance.
pub(super) fn shown(radiance: [f32; 3], gain: f64) -> [f32; 3] {
    radiance.map(|x| {
        // The curve has long reached white at the bound, which keeps its squares finite.
        let x = (f64::from(x) * gain).clamp(0.0, 1e6) as f32;
        let [c0, c1, c2, c3, c4, c5] = CURVE;
        (((c0 * x + c1) * x + c2) / ((c3 * x + c4) * x + c5)).clamp(0.0, 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exposures(values: &[f32]) -> Exposures {
        Exposures::new(&values.iter().map(|x| [*x; 3]).collect::<Vec<_>>())
    }

    /// At the ends of the range, the brightest pixel and the median are nearly white.
    #[test]
    fn the_range_is_that_of_the_brighter_half() {
        let white = |x: f32, exposure: f32| shown([x; 3], f64::from(exposure).exp2())[0];
        let range = exposures(&[0.1, 0.2, 0.4, 3.0, 50.0]);
        assert!(
            (white(50.0, range.start) - 0.85).abs() < 1e-4 && (white(0.4, range.stop) - 0.85).abs() < 1e-4
        );
        assert_eq!(range.count, 7, "log₂(50 / 0.4) is 6.97");
        assert_eq!(
            exposures(&[0.0, 0.0, 0.0, f32::NAN, 0.4, 50.0, 3.0]),
            exposures(&[0.4, 3.0, 50.0]),
            "half of it is black"
        );
        assert_eq!(exposures(&[0.0; 4]), Exposures { start: 0.0, stop: 0.0, count: 1 });
        let gains: Vec<_> = range.gains().collect();
        assert_eq!(gains.len(), 7);
        assert!((gains[0].log2() - f64::from(range.start)).abs() < 1e-6);
        assert!((gains[6].log2() - f64::from(range.stop)).abs() < 1e-6);
    }

    #[test]
    fn the_curve_saturates() {
        assert_eq!(shown([f32::MAX, 0.0, -1.0], 1e30), [1.0, 0.0, 0.0]);
    }
}
