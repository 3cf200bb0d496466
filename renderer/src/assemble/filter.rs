//! Pixel filters to records of the device.

use std::f64::consts::TAU;

use device::filter::FilterPart;

use crate::scene::PixelFilter;

/// Number of parts that a filter is cut into on each side. Within them, it is taken as linear.
const PARTS: usize = 256;

/// Number of steps of the integrals.
const STEPS: usize = 1 << 16;

/// The parts of a filter; none for the pixel itself.
pub(super) fn parts(filter: &PixelFilter) -> Vec<FilterPart> {
    match *filter {
        PixelFilter::PIXEL => Vec::new(),
        PixelFilter::Box { radius } => {
            vec![FilterPart { start: 0.0, width: radius, density: 1.0, weight: 1.0 }]
        }
        _ => {
            let sums = Sums::new(filter);
            (0..PARTS).map(|k| sums.part(filter, k)).collect()
        }
    }
}

/// ∫f and ∫|f| from the centre on.
struct Sums {
    /// Width of a step, pixels.
    step: f64,
    signed: Vec<f64>,
    absolute: Vec<f64>,
}

impl Sums {
    /// By the midpoint rule.
    fn new(filter: &PixelFilter) -> Self {
        let step = radius(filter) / STEPS as f64;
        let (mut signed, mut absolute) = (vec![0.0], vec![0.0]);
        for i in 0..STEPS {
            let f = step * value(filter, (i as f64 + 0.5) * step);
            signed.push(signed[i] + f);
            absolute.push(absolute[i] + f.abs());
        }
        Self { step, signed, absolute }
    }

    /// Distance at which ∫|f| has come to a part of the whole, and ∫f there.
    fn reach(&self, part: f64) -> (f64, f64) {
        let wanted = part * self.absolute[STEPS];
        let i = self.absolute.partition_point(|sum| *sum < wanted).clamp(1, STEPS) - 1;
        let (before, after) = (self.absolute[i], self.absolute[i + 1]);
        let t = if after > before { ((wanted - before) / (after - before)).clamp(0.0, 1.0) } else { 0.0 };
        ((i as f64 + t) * self.step, self.signed[i] + t * (self.signed[i + 1] - self.signed[i]))
    }

    /// Part `k`: all have the same ∫|f|.
    fn part(&self, filter: &PixelFilter, k: usize) -> FilterPart {
        let [(start, sum), (end, next_sum)] = [k, k + 1].map(|k| self.reach(k as f64 / PARTS as f64));
        let [a, b] = [start, end].map(|x| value(filter, x).abs());
        FilterPart {
            start: start as f32,
            width: (end - start) as f32,
            density: if a + b > 0.0 { (2.0 * a / (a + b)) as f32 } else { 1.0 },
            weight: (PARTS as f64 * (next_sum - sum) / self.signed[STEPS]) as f32,
        }
    }
}

/// Where the filter ends, pixels.
pub(super) fn radius(filter: &PixelFilter) -> f64 {
    match *filter {
        PixelFilter::Box { radius }
        | PixelFilter::Tent { radius }
        | PixelFilter::Gaussian { radius, .. }
        | PixelFilter::Mitchell { radius, .. }
        | PixelFilter::BlackmanHarris { radius } => f64::from(radius),
    }
}

/// f at `x` ≥ 0 pixels from the centre along an axis, up to a factor.
pub(super) fn value(filter: &PixelFilter, x: f64) -> f64 {
    let part = x / radius(filter);
    if part > 1.0 {
        return 0.0;
    }
    match *filter {
        PixelFilter::Box { .. } => 1.0,
        PixelFilter::Tent { .. } => 1.0 - part,
        PixelFilter::Gaussian { radius, sigma } => {
            let gaussian = |x: f64| (-0.5 * (x / f64::from(sigma)).powi(2)).exp();
            gaussian(x) - gaussian(radius.into())
        }
        PixelFilter::Mitchell { b, c, .. } => mitchell(2.0 * part, b.into(), c.into()),
        PixelFilter::BlackmanHarris { .. } => blackman_harris(0.5 + 0.5 * part),
    }
}

/// Mitchell & Netravali 1988, eq. 8, times 6.
fn mitchell(x: f64, b: f64, c: f64) -> f64 {
    if x < 1.0 {
        ((12.0 - 9.0 * b - 6.0 * c) * x + (-18.0 + 12.0 * b + 6.0 * c)) * x * x + (6.0 - 2.0 * b)
    } else {
        (((-b - 6.0 * c) * x + (6.0 * b + 30.0 * c)) * x + (-12.0 * b - 48.0 * c)) * x + (8.0 * b + 24.0 * c)
    }
}

/// Harris 1978, "On the Use of Windows for Harmonic Analysis with the Discrete Fourier Transform", eq. 33: the four terms
/// with the lowest side lobes, at a part of the window.
fn blackman_harris(part: f64) -> f64 {
    let cos = |k: f64| (k * TAU * part).cos();
    0.35875 - 0.48829 * cos(1.0) + 0.14128 * cos(2.0) - 0.01168 * cos(3.0)
}
