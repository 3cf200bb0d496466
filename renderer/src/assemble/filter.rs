//! Pixel filters to records of the device.

use std::f64::consts::TAU;

use device::filter::{FilterEdge, FilterPart};
use torrance_scene::{PixelFilter, RenderSettings};

/// Number of parts that a filter is cut into on each side. Within them, it is taken as linear.
const PARTS: usize = 256;

/// Number of steps of the integrals.
const STEPS: usize = 1 << 16;

/// A pixel filter in the device's form.
#[derive(Debug, Clone)]
pub struct Filter {
    /// Its parts; none if it is the pixel itself.
    pub parts: Vec<FilterPart>,
    /// The part of it beyond the image's edge, by the pixels between; none if samples may lie there.
    pub edges: Vec<FilterEdge>,
}

impl Filter {
    /// That of a scene. It depends on nothing that [`Filter::inputs`] leaves out.
    pub(super) fn new(render: &RenderSettings) -> Self {
        let (filter, sample_border) = Self::inputs(render);
        let parts = parts(&filter);
        Self { edges: if sample_border { Vec::new() } else { edges(&parts) }, parts }
    }

    /// The settings that it depends on.
    pub(super) const fn inputs(render: &RenderSettings) -> (PixelFilter, bool) {
        (render.filter, render.sample_border)
    }
}

/// The parts of a filter; none for the pixel itself.
fn parts(filter: &PixelFilter) -> Vec<FilterPart> {
    match *filter {
        PixelFilter::PIXEL => Vec::new(),
        PixelFilter::Box { radius } => {
            vec![FilterPart { start: 0.0, width: radius, density: 1.0, weight: 1.0 }]
        }
        _ => {
            let sums = Sums::new(filter);
            let bounds = sums.bounds();
            (0..PARTS).map(|k| sums.part(filter, k, &bounds)).collect()
        }
    }
}

/// The share of a filter's `parts` that lies beyond edges of the image 0, 1, … pixels away from the pixel, as far as
/// there is any.
fn edges(parts: &[FilterPart]) -> Vec<FilterEdge> {
    let n = parts.len() as f64;
    let edge = |distance: f64| {
        let (mut absolute, mut signed) = (0.0, 0.0);
        for (k, part) in parts.iter().enumerate() {
            let t = ((distance - f64::from(part.start)) / f64::from(part.width)).clamp(0.0, 1.0);
            let a = f64::from(part.density);
            let beyond = (2 * k + 1) as f64 / (n * n) * (1.0 - (a + (1.0 - a) * t) * t);
            absolute += 0.5 * beyond;
            signed += 0.5 * beyond * f64::from(part.weight);
        }
        FilterEdge { absolute: absolute as f32, signed: signed as f32 }
    };
    let radius = parts.first().map_or(0.0, |outermost| f64::from(outermost.start + outermost.width));
    (0..).map(|pixels| f64::from(pixels) + 0.5).take_while(|x| *x < radius).map(edge).collect()
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

    /// The distances at which parts begin, from the outermost, and the end of the last: the nearest of them moved to where
    /// the filter changes its sign.
    fn bounds(&self) -> Vec<f64> {
        let mut bounds: Vec<_> =
            (0..=PARTS).map(|k| self.reach(1.0 - (k as f64 / PARTS as f64).powi(2))).collect();
        let f = |i: usize| self.signed[i + 1] - self.signed[i];
        for i in (1..STEPS).filter(|i| f(i - 1) * f(*i) < 0.0) {
            let root = i as f64 * self.step;
            let k = bounds.partition_point(|x| *x > root).clamp(1, PARTS - 1);
            let nearer = if bounds[k - 1] - root < root - bounds[k] { k - 1 } else { k };
            bounds[nearer.clamp(1, PARTS - 1)] = root;
        }
        bounds
    }

    /// Distance at which ∫|f| has come to a part of the whole.
    fn reach(&self, part: f64) -> f64 {
        let wanted = part * self.absolute[STEPS];
        let i = self.absolute.partition_point(|sum| *sum < wanted).clamp(1, STEPS) - 1;
        let (before, after) = (self.absolute[i], self.absolute[i + 1]);
        let t = if after > before { ((wanted - before) / (after - before)).clamp(0.0, 1.0) } else { 0.0 };
        (i as f64 + t) * self.step
    }

    /// ∫f up to a distance.
    fn signed_to(&self, x: f64) -> f64 {
        let i = ((x / self.step) as usize).min(STEPS - 1);
        self.signed[i] + (x / self.step - i as f64) * (self.signed[i + 1] - self.signed[i])
    }

    /// Part `k`. Its weight is the ratio of what it is of ∫f to how often it is drawn.
    fn part(&self, filter: &PixelFilter, k: usize, bounds: &[f64]) -> FilterPart {
        let (start, end) = (bounds[k + 1], bounds[k]);
        let probability = (2 * k + 1) as f64 / (PARTS * PARTS) as f64;
        let [a, b] = [start, end].map(|x| value(filter, x).abs());
        let part = (self.signed_to(end) - self.signed_to(start)) / self.signed[STEPS];
        FilterPart {
            start: start as f32,
            width: (end - start) as f32,
            density: if a + b > 0.0 { (2.0 * a / (a + b)) as f32 } else { 1.0 },
            weight: (part / probability) as f32,
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

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use device::filter::FilterView;
    use glam::Vec2;

    use super::*;

    const FILTERS: [PixelFilter; 7] = [
        PixelFilter::Box { radius: 1.3 },
        PixelFilter::Tent { radius: 1.0 },
        PixelFilter::Gaussian { radius: 2.0, sigma: 0.5 },
        PixelFilter::Gaussian { radius: 1.2, sigma: 0.8 },
        PixelFilter::Mitchell { radius: 2.0, b: 1.0 / 3.0, c: 1.0 / 3.0 },
        PixelFilter::Mitchell { radius: 3.0, b: 0.0, c: 1.0 },
        PixelFilter::BlackmanHarris { radius: 1.5 },
    ];

    /// f as its authors write it, up to a factor.
    fn written_out(filter: &PixelFilter, x: f64) -> f64 {
        match *filter {
            PixelFilter::Box { radius } => f64::from(u8::from(x.abs() <= radius.into())),
            PixelFilter::Tent { radius } => (f64::from(radius) - x.abs()).max(0.0),
            PixelFilter::Gaussian { radius, sigma } => {
                let [r, s] = [radius, sigma].map(|x| f64::from(x).powi(2));
                ((-x * x / (2.0 * s)).exp() - (-r / (2.0 * s)).exp()).max(0.0)
            }
            PixelFilter::Mitchell { radius, b, c } => {
                let ([b, c], x) = ([b, c].map(f64::from), 2.0 * x.abs() / f64::from(radius));
                let terms = match x {
                    ..1.0 => [6.0 - 2.0 * b, 0.0, -18.0 + 12.0 * b + 6.0 * c, 12.0 - 9.0 * b - 6.0 * c],
                    ..2.0 => [8.0 * b + 24.0 * c, -12.0 * b - 48.0 * c, 6.0 * b + 30.0 * c, -b - 6.0 * c],
                    _ => [0.0; 4],
                };
                terms.iter().zip([1.0, x, x * x, x * x * x]).map(|(a, x)| a * x).sum()
            }
            PixelFilter::BlackmanHarris { radius } => {
                let turn = PI * x / f64::from(radius);
                let terms = [0.35875, 0.48829, 0.14128, 0.01168].into_iter().zip([0.0, 1.0, 2.0, 3.0]);
                if turn.abs() > PI { 0.0 } else { terms.map(|(a, k)| a * (k * turn).cos()).sum() }
            }
        }
    }

    /// ∫ f·g / ∫ f.
    fn quadrature(filter: &PixelFilter, g: impl Fn(f64) -> f64) -> f64 {
        let (r, n) = (radius(filter), 1_000_000);
        let (mut sum, mut of_f) = (0.0, 0.0);
        for i in 0..n {
            let x = r * ((2.0 * f64::from(i) + 1.0) / f64::from(n) - 1.0);
            let f = written_out(filter, x);
            (sum, of_f) = (sum + f * g(x), of_f + f);
        }
        sum / of_f
    }

    /// The filter as the stages see it.
    fn view(parts: &[FilterPart], edges: &[FilterEdge]) -> FilterView {
        FilterView {
            parts: parts.as_ptr(),
            edges: edges.as_ptr(),
            part_count: parts.len() as u32,
            edge_count: edges.len() as u32,
        }
    }

    /// The mean of the weight times g of the place along one axis, over uniforms at equal distances.
    fn sampled(filter: &PixelFilter, g: impl Fn(f64) -> f64) -> f64 {
        let (parts, n) = (parts(filter), tier::choose(1 << 16, 1 << 18));
        let view = view(&parts, &[]);
        // The other axis has a weight too, the same for all.
        let middle = (n / 2) as f32 / n as f32;
        // SAFETY: the parts and edges are there.
        let of = |x: f32, y: f32| unsafe { view.sample(Vec2::new(x, y), [0; 2], [1; 2]) };
        let other = f64::from(of(middle, middle).1).sqrt();
        let term = |i: i32| {
            let (p, weight) = of((i as f32 + 0.5) / n as f32, middle);
            f64::from(weight) / other * g(f64::from(p.x) - 0.5)
        };
        (0..n).map(term).sum::<f64>() / f64::from(n)
    }

    /// An edge is where the image is 0 on one side and 1 on the other: its pixels are the integral of the filter.
    fn error(drawn: &PixelFilter, expected: &PixelFilter) -> f64 {
        let r = radius(expected);
        let edges = [-0.9, -0.6, -0.3, -0.05, 0.0, 0.2, 0.45, 0.55, 0.8, 0.97].map(|e| e * r);
        let of_edges = edges.into_iter().map(|e| {
            let step = |x: f64| if x < e { 1.0 } else { 0.0 };
            (sampled(drawn, step) - quadrature(expected, step)).abs()
        });
        let moments = [0, 2, 4].map(|k| {
            let power = |x: f64| (x / r).powi(k);
            (sampled(drawn, power) - quadrature(expected, power)).abs()
        });
        of_edges.chain(moments).fold(0.0, f64::max)
    }

    #[test]
    fn edges_and_moments_are_those_of_the_filter() {
        for filter in FILTERS {
            let found = error(&filter, &filter);
            println!("{filter:?}: {found:.1e}");
            assert!(found < 1e-4, "{filter:?}: {found:e}");
        }
    }

    #[test]
    fn control_other_filters_are_rejected() {
        for (i, filter) in FILTERS.into_iter().enumerate() {
            let other = match filter {
                PixelFilter::Box { radius } => PixelFilter::Box { radius: 1.01 * radius },
                PixelFilter::Tent { radius } => PixelFilter::Tent { radius: 1.01 * radius },
                PixelFilter::Gaussian { radius, sigma } => {
                    PixelFilter::Gaussian { radius, sigma: 1.01 * sigma }
                }
                PixelFilter::Mitchell { radius, b, c } => PixelFilter::Mitchell { radius, b, c: c + 0.01 },
                PixelFilter::BlackmanHarris { radius } => {
                    PixelFilter::BlackmanHarris { radius: 1.01 * radius }
                }
            };
            assert!(error(&other, &filter) > 5e-4, "{i}: {}", error(&other, &filter));
        }
    }

    /// Only filters that are negative somewhere weigh samples, and their weights have the mean 1.
    #[test]
    fn weights_are_even_where_filters_are_positive() {
        assert_eq!(parts(&PixelFilter::PIXEL), []);
        for filter in FILTERS {
            let weights: Vec<_> = parts(&filter).iter().map(|part| f64::from(part.weight)).collect();
            let n = weights.len() as f64;
            let mean = weights.iter().zip(0..).map(|(w, k)| w * f64::from(2 * k + 1) / (n * n)).sum::<f64>();
            assert!((mean - 1.0).abs() < 1e-6, "{filter:?}: {mean}");
            let is_signed = matches!(filter, PixelFilter::Mitchell { .. });
            assert_eq!(weights.iter().any(|w| (w - 1.0).abs() > 1e-6), is_signed);
            assert_eq!(weights.iter().any(|w| *w < 0.0), is_signed);
        }
    }

    /// `eval` of Mitsuba 3.9.1's filters of these names, over that at the centre.
    #[test]
    fn values_are_those_of_another_renderer() {
        let third = 1.0 / 3.0;
        let known = [
            (
                PixelFilter::Gaussian { radius: 2.0, sigma: 0.5 },
                [0.835_677, 0.277_81, 0.033_73, 0.000_388_174],
            ),
            (
                PixelFilter::Gaussian { radius: 3.2, sigma: 0.8 },
                [0.932_324, 0.606_883, 0.266_82, 0.059_315_6],
            ),
            (
                PixelFilter::Mitchell { radius: 2.0, b: third, c: third },
                [0.832_938, 0.232, -0.033_687_5, -0.003_312_28],
            ),
            (
                PixelFilter::Mitchell { radius: 2.0, b: 0.2, c: 0.6 },
                [0.838_964, 0.232, -0.082_250_2, -0.005_750_46],
            ),
            (PixelFilter::Tent { radius: 1.5 }, [0.8, 0.466_667, 0.133_333, 0.0]),
        ];
        for (filter, expected) in known {
            for (x, expected) in [0.3, 0.8, 1.3, 1.9].into_iter().zip(expected) {
                let found = value(&filter, x) / value(&filter, 0.0);
                // Mitsuba's Gaussian is a polynomial.
                assert!((found - expected).abs() < 6e-4, "{filter:?} at {x}: {found}, not {expected}");
            }
        }
        let wider = value(&PixelFilter::Gaussian { radius: 2.0, sigma: 0.505 }, 0.8);
        assert!((wider - 0.277_81).abs() > 2e-3, "control: another width");
    }

    /// Of pixels near the edge of an image only what lies in it counts, by the filter's weight there.
    #[test]
    fn edges_cut_filters() {
        for filter in &FILTERS {
            let (parts, n) = (parts(filter), 1 << 18);
            let edges = edges(&parts);
            assert!(edges.len() as f64 + 0.5 >= radius(filter) && edges.len() as f64 - 0.5 < radius(filter));
            let view = view(&parts, &edges);
            for (size, x) in [(16, 0), (16, 1), (16, 8), (16, 14), (16, 15), (2, 0), (3, 1), (1, 0)] {
                let [low, high] = [-f64::from(x) - 0.5, f64::from(size - 1 - x) + 0.5];
                let is_in = |p: f64| f64::from(u8::from(p >= low && p <= high));
                let sum = |k: i32| {
                    let term = |i: i32| {
                        let u = Vec2::new((i as f32 + 0.5) / n as f32, 0.5);
                        // SAFETY: the parts and edges are there.
                        let (p, weight) = unsafe { view.sample(u, [x, 0], [size, 99]) };
                        let p = f64::from(p.x) - 0.5;
                        assert!(p > low - 1e-3 && p < high + 1e-3, "{filter:?}: {p} of pixel {x} of {size}");
                        f64::from(weight) * p.powi(k)
                    };
                    (0..n).map(term).sum::<f64>()
                };
                // The other axis weighs all alike.
                let count = sum(0);
                for k in [1, 2] {
                    let expected = quadrature(filter, |p| is_in(p) * p.powi(k)) / quadrature(filter, is_in);
                    let error = (sum(k) / count - expected).abs();
                    assert!(error < 2e-3, "{filter:?}, pixel {x} of {size}, moment {k}: {error}");
                }
            }
        }
    }

    /// The mean weight is 1 in the corner of an image too.
    #[test]
    fn weights_average_to_1_at_edges() {
        for filter in &FILTERS {
            let parts = parts(filter);
            let edges = edges(&parts);
            let view = view(&parts, &edges);
            let n = 1 << 10;
            let at = |i: i32| (i as f32 + 0.5) / n as f32;
            let weight = |i: i32, j: i32| {
                // SAFETY: the parts and edges are there.
                unsafe { view.sample(Vec2::new(at(i), at(j)), [0, 7], [8, 8]) }.1
            };
            let sum: f64 =
                (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| f64::from(weight(i, j))).sum();
            assert!((sum / f64::from(n * n) - 1.0).abs() < 2e-3, "{filter:?}: {sum}");
        }
    }
}
