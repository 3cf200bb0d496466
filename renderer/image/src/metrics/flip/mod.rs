//! ꟻLIP: how visible differences are to somebody who flips between two images (Andersson, Nilsson,
//! Akenine-Möller, Oskarsson, Åström and Fairchild 2020), and its extension to radiance (Andersson, Nilsson, Shirley and
//! Akenine-Möller 2021).
//!
//! Written out here, since `nv-flip`, the crate that wraps the authors' C++, takes 8 bits a channel: radiance that is
//! tone-mapped and rounded to these shows differences of 0.2 % three times as large as they are.

use std::ops::RangeInclusive;

use rayon::prelude::*;

use super::{Kind, Pair};
use crate::film::develop::srgb_decode;

mod color;
mod exposures;
mod filters;

pub use exposures::Exposures;
use filters::Filters;

/// Pixels per degree of a display 0.7 m wide with 3840 pixels across, from 0.7 m: the papers' default.
pub const PIXELS_PER_DEGREE: f32 = 67.020_65;

/// Supported pixels per degree: below, the features of 0.08° that the filters detect are narrower than a pixel.
pub const PIXELS_PER_DEGREE_RANGE: RangeInclusive<f32> = 5.0..=1000.0;

/// ꟻLIP of two images.
#[derive(Debug, Clone, PartialEq)]
pub struct Flip {
    /// Per pixel, from 0 (not visible) to 1 (as visible as can be); NaN where a pixel is left out.
    pub map: Vec<f32>,
    /// Mean of the map: the usual single-number summary.
    pub mean: f64,
    /// The value that half of the pixels do not exceed.
    pub median: f64,
    /// The value that 95 % of the pixels do not exceed.
    pub p95: f64,
    /// The largest value.
    pub max: f64,
    /// The exposures at which radiance was compared; each pixel has its largest value over all of them.
    pub exposures: Option<Exposures>,
}

impl Flip {
    /// ꟻLIP of `pair` seen at so many pixels per degree; `None` if all pixels are left out.
    ///
    /// # Panics
    /// If `pixels_per_degree` is not in [`PIXELS_PER_DEGREE_RANGE`].
    pub fn new(pair: &Pair, pixels_per_degree: f32) -> Option<Self> {
        assert!(
            PIXELS_PER_DEGREE_RANGE.contains(&pixels_per_degree),
            "{pixels_per_degree} pixels per degree"
        );
        let exposures = (pair.kind == Kind::Radiance).then(|| Exposures::new(&pair.b));
        let filters = Filters::new(pixels_per_degree);
        // Bands of rows bound the memory, and give every thread something to do.
        let rows = (4 * filters.radius).max(64);
        let width = pair.width as usize;
        let mut map = vec![0.0; pair.a.len()];
        map.par_chunks_mut(rows * width).enumerate().for_each(|(band, out)| {
            let band = Band { pair, filters: &filters, top: band * rows };
            match &exposures {
                None => band.add(out, |p| p.map(|x| srgb_decode(f64::from(x).clamp(0.0, 1.0)) as f32)),
                Some(range) => range.gains().for_each(|gain| band.add(out, |p| exposures::shown(p, gain))),
            }
        });
        let left_out = map.iter_mut().zip(&pair.a).filter(|(_, a)| a[0].is_nan());
        left_out.for_each(|(m, _)| *m = f32::NAN);
        Self::pool(map, exposures)
    }

    fn pool(map: Vec<f32>, exposures: Option<Exposures>) -> Option<Self> {
        let mut values: Vec<f32> = map.iter().copied().filter(|x| !x.is_nan()).collect();
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().map(|x| f64::from(*x)).sum::<f64>() / values.len() as f64;
        let mut quantile = |q: f64| {
            let rank = (q * values.len() as f64).ceil() as usize;
            f64::from(*values.select_nth_unstable_by(rank.max(1) - 1, f32::total_cmp).1)
        };
        let (median, p95, max) = (quantile(0.5), quantile(0.95), quantile(1.0));
        Some(Self { map, mean, median, p95, max, exposures })
    }
}

/// Some rows of two images.
struct Band<'a> {
    pair: &'a Pair,
    filters: &'a Filters,
    /// The first row.
    top: usize,
}

/// The filter responses of one image, one value per pixel.
struct FilterResponses {
    /// Y, Cx, Cz as the eye's contrast sensitivity leaves them.
    color: [Vec<f32>; 3],
    /// First derivatives along x and y, then second derivatives.
    features: [Vec<f32>; 4],
}

impl Band<'_> {
    /// Raises `out` to the ꟻLIP of these rows, where `shown` tells what linear light a display emits for a pixel.
    fn add(&self, out: &mut [f32], shown: impl Fn([f32; 3]) -> [f32; 3]) {
        let rows = out.len() / self.pair.width as usize;
        let a = self.filtered(&self.pair.a, rows, &shown);
        let b = self.filtered(&self.pair.b, rows, &shown);
        for (i, out) in out.iter_mut().enumerate() {
            let color = color::difference(a.color_at(i), b.color_at(i));
            // More visible where edges or points come or go: eq. 15 of the paper.
            *out = out.max(color.powf(1.0 - feature_difference(a.features_at(i), b.features_at(i))));
        }
    }

    /// Filters `rows` rows of an image, across and then down. At its edges an image is continued with its last pixels.
    fn filtered(
        &self,
        pixels: &[[f32; 3]],
        rows: usize,
        shown: impl Fn([f32; 3]) -> [f32; 3],
    ) -> FilterResponses {
        let Filters { radius, luminance, red_green, blue_yellow, gaussian, first, second } = self.filters;
        let (width, height) = (self.pair.width as usize, self.pair.height as usize);
        let clamped = |i: usize, n: usize| i.saturating_sub(*radius).min(n - 1);
        // Across: seven values for each pixel of each row that the rows of the band see.
        let mut across: [Vec<f32>; 7] = std::array::from_fn(|_| Vec::new());
        for y in 0..rows + 2 * radius {
            let row = &pixels[clamped(self.top + y, height) * width..][..width];
            let opponent: Vec<_> = row.iter().map(|p| color::ycxcz(shown(black_if_left_out(*p)))).collect();
            let wide = |c: usize| -> Vec<f32> {
                (0..width + 2 * radius).map(|x| opponent[clamped(x, width)][c]).collect()
            };
            let [y, cx, cz] = [0, 1, 2].map(wide);
            let gray: Vec<_> = y.iter().map(|y| (y + 16.0) / 116.0).collect();
            let [narrow, broad] = blue_yellow;
            let taps = [luminance, red_green, narrow, broad, gaussian, first, second];
            for ((out, taps), row) in
                across.iter_mut().zip(taps).zip([&y, &cx, &cz, &cz, &gray, &gray, &gray])
            {
                let begin = out.len();
                out.resize(begin + width, 0.0);
                filters::convolve(row, 1, taps, &mut out[begin..]);
            }
        }
        let down = |sums: &[(usize, &[f32])]| {
            let mut out = vec![0.0; rows * width];
            sums.iter().for_each(|(k, taps)| filters::convolve(&across[*k], width, taps, &mut out));
            out
        };
        let [narrow, broad] = blue_yellow;
        FilterResponses {
            color: [down(&[(0, luminance)]), down(&[(1, red_green)]), down(&[(2, narrow), (3, broad)])],
            features: [(5, gaussian), (4, first), (6, gaussian), (4, second)].map(|(k, t)| down(&[(k, t)])),
        }
    }
}

impl FilterResponses {
    fn color_at(&self, i: usize) -> [f32; 3] {
        [self.color[0][i], self.color[1][i], self.color[2][i]]
    }

    /// Strength of the edge and of the point at a pixel.
    fn features_at(&self, i: usize) -> [f32; 2] {
        let [x, y, xx, yy] = &self.features;
        [x[i].hypot(y[i]), xx[i].hypot(yy[i])]
    }
}

/// (max(|Δ edge|, |Δ point|) / √2)^½: eq. 14 of the paper.
fn feature_difference(a: [f32; 2], b: [f32; 2]) -> f32 {
    let largest = (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
    (largest * std::f32::consts::FRAC_1_SQRT_2).sqrt()
}

fn black_if_left_out(p: [f32; 3]) -> [f32; 3] {
    if p[0].is_nan() { [0.0; 3] } else { p }
}
