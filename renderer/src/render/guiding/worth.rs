//! Whether guiding pays.

use device::guiding::Trial;
use device::path::pixel_of;

/// Parts of the image along each side.
const PARTS: u32 = 8;

/// The most of all that one path may make up: it may have been luck.
const MOST_PART: f64 = 0.02;

/// Of parts of the image that are dark, noise counts as if they were so bright, relative to the whole image.
const DARK: f64 = 0.1;

/// What paths have brought, part by part of the image.
pub(super) struct Worth {
    size: [u32; 2],
    seed: u32,
    /// Of each path the part, the luminance, and the square without a guide.
    trials: Vec<(u32, f32, f32)>,
}

impl Worth {
    pub(super) const fn new(size: [u32; 2], seed: u32) -> Self {
        Self { size, seed, trials: Vec::new() }
    }

    /// Adds the paths from number `first` on.
    pub(super) fn add(&mut self, first: u32, trials: &[Trial]) {
        let of = |(trial, number): (&Trial, u32)| {
            let [x, y] = pixel_of(number, self.seed, self.size);
            let [across, down] = [(x, self.size[0]), (y, self.size[1])]
                .map(|(i, n)| (u64::from(i) * u64::from(PARTS) / u64::from(n)) as u32);
            (down * PARTS + across, trial.luminance, trial.unguided_square)
        };
        let paths = trials.iter().zip(first..).map(of);
        self.trials.extend(paths.filter(|(_, l, square)| l.is_finite() && square.is_finite()));
    }

    /// How many times as much variance there is without a guide, relative to the brightness: at least as far as these paths can tell.
    pub(super) fn gain(&self) -> f64 {
        let [guided, alone] =
            [|l: f64, _: f64| l * l, |_: f64, square: f64| square].map(|square| self.noise(square));
        if guided > 0.0 { alone / guided } else { 1.0 }
    }

    /// The sum of the variances of all parts, relative to the brightness, by squares of paths.
    fn noise(&self, square: impl Fn(f64, f64) -> f64) -> f64 {
        let squares = || {
            self.trials.iter().map(|&(part, l, s)| (part as usize, f64::from(l), square(l.into(), s.into())))
        };
        let most = MOST_PART * squares().map(|(_, _, square)| square).sum::<f64>();
        let mut parts = [[0.0; 3]; (PARTS * PARTS) as usize];
        for (part, l, square) in squares() {
            let [count, sum, sum_of_squares] = &mut parts[part];
            (*count, *sum, *sum_of_squares) = (*count + 1.0, *sum + l, *sum_of_squares + square.min(most));
        }
        let all = parts.iter().map(|part| part[1]).sum::<f64>() / self.trials.len().max(1) as f64;
        let variance = |[count, sum, squares]: [f64; 3]| {
            let mean = sum / count.max(1.0);
            let variance = (squares / count.max(1.0) - mean * mean).max(0.0);
            count * variance / (mean * mean + (DARK * all).powi(2)).max(f64::MIN_POSITIVE)
        };
        parts.into_iter().map(variance).sum()
    }
}
