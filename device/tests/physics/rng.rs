//! Uniforms of the samplers where they should be independent: over pixels, samples, dimensions and seeds.

use std::collections::HashSet;

use device::rng::{Dim, Sampler, SamplerKind, uniform};

use crate::common::Random;
use crate::common::statistics::{Grid, Verdicts, chi2_uniform};

const KINDS: [SamplerKind; 3] = [SamplerKind::Independent, SamplerKind::Sobol, SamplerKind::BlueNoise];
const DIMS: [Dim; 4] = [Dim::Film, Dim::Light, Dim::Bsdf, Dim::Material];

/// A draw: its sampler, and the pixel, sample and dimension that it is for.
#[derive(Clone, Copy, Debug)]
struct Draw {
    kind: SamplerKind,
    seed: u32,
    pixel: u32,
    sample: u32,
    dim: Dim,
    depth: u32,
}

impl Draw {
    const fn new(kind: SamplerKind) -> Self {
        Self { kind, seed: 0, pixel: 0, sample: 0, dim: Dim::Film, depth: 0 }
    }

    fn run(self) -> [f32; 4] {
        let Self { kind, seed, pixel, sample, dim, depth } = self;
        Sampler { kind, seed, pixel, width: 1920, sample }.draw(dim, depth)
    }
}

/// Sobol' points of one pixel are stratified, not independent: they may vary in all but `sample`. With blue noise those
/// of the pixels of a tile of 8 × 8 are as well.
type Vary = fn(Draw, u32) -> Draw;

fn variations(kind: SamplerKind) -> Vec<(&'static str, Vary)> {
    let mut vary: Vec<(&'static str, Vary)> = vec![
        ("columns of tiles", |d, i| Draw { pixel: 8 * (i % 240) + 1920 * 11 * (i / 240), ..d }),
        ("rows of tiles", |d, i| Draw { pixel: 8 * 1920 * i, ..d }),
        ("seeds", |d, i| Draw { seed: i, ..d }),
        ("depths", |d, i| Draw { depth: i, dim: if d.dim == Dim::Film { Dim::Light } else { d.dim }, ..d }),
    ];
    if kind != SamplerKind::BlueNoise {
        vary.push(("pixels", |d, i| Draw { pixel: i, ..d }));
        vary.push(("rows", |d, i| Draw { pixel: i * 1920, ..d }));
    }
    if kind == SamplerKind::Independent {
        vary.push(("samples", |d, i| Draw { sample: i, ..d }));
    }
    vary
}

#[test]
fn uniforms_lie_below_one() {
    assert_eq!(uniform(0), 0.0);
    assert_eq!(uniform(u32::MAX), 1.0 - 1.0 / 16_777_216.0);
    for kind in KINDS {
        let mut random = Random::new(1);
        for i in 0..200_000 {
            let mut word = || if i % 7 == 0 { u32::MAX } else { random.bits() as u32 };
            let [seed, pixel, sample, depth] = [word(), word(), word(), word() % 0x1000_0000];
            let u = Draw { kind, seed, pixel, sample, dim: DIMS[i % 4], depth }.run();
            assert!(u.iter().all(|u| (0.0..1.0).contains(u)), "{u:?}");
        }
    }
}

#[test]
fn control_the_usual_conversion_reaches_one() {
    let usual = |x: u32| x as f32 * (1.0 / 4_294_967_296.0);
    assert!(!(0.0..1.0).contains(&usual(u32::MAX)));
}

/// P-values of every component alone, in 256 cells.
fn one_dimensional(draw: impl Fn(u32) -> [f32; 4]) -> [f64; 4] {
    let mut counts = [[0; 256]; 4];
    for i in 0..65_536 {
        for (counts, u) in counts.iter_mut().zip(draw(i)) {
            counts[(u * 256.0) as usize] += 1;
        }
    }
    counts.map(|c| chi2_uniform(&c))
}

#[test]
fn every_dimension_is_uniform() {
    let mut verdicts = Verdicts::default();
    for kind in KINDS {
        for (name, vary) in variations(kind) {
            for dim in DIMS {
                for (sample, seed) in [(0, 0), (1, 0), (1000, 12345)] {
                    let start = Draw { dim, sample, seed, ..Draw::new(kind) };
                    for p in one_dimensional(|i| vary(start, i).run()) {
                        verdicts.add(p, format!("{kind:?} {dim:?} {name} {sample}"));
                    }
                }
            }
        }
    }
    verdicts.assert_none_rejected();
}

#[test]
fn control_a_slight_slope_is_rejected() {
    let mut verdicts = Verdicts::default();
    let start = Draw::new(SamplerKind::Independent);
    let sloped = |i| Draw { pixel: i, ..start }.run().map(|u| (u * (0.9 + 0.1 * u)).min(0.999));
    for p in one_dimensional(sloped) {
        verdicts.add(p, "sloped");
    }
    verdicts.assert_all_rejected();
}

/// P-values of all pairs of a component of `a` and one of `b`, in 32 × 32 cells.
fn two_dimensional(a: impl Fn(u32) -> [f32; 4], b: impl Fn(u32) -> [f32; 4]) -> Vec<f64> {
    let mut grids: Vec<Grid> = (0..16).map(|_| Grid::new([32, 32])).collect();
    for i in 0..65_536 {
        let (a, b) = (a(i), b(i));
        for (k, grid) in grids.iter_mut().enumerate() {
            grid.add(a[k / 4].into(), b[k % 4].into());
        }
    }
    grids.iter().map(|g| chi2_uniform(&g.counts)).collect()
}

#[test]
fn components_of_one_draw_are_uniform_in_pairs() {
    let mut verdicts = Verdicts::default();
    for kind in KINDS {
        for (name, vary) in variations(kind) {
            let draw = |i| vary(Draw { sample: 3, ..Draw::new(kind) }, i).run();
            for (k, p) in two_dimensional(draw, draw).into_iter().enumerate() {
                // The other half is the same, and the diagonal is no pair.
                if k / 4 < k % 4 {
                    verdicts.add(p, format!("{kind:?} {name}, components {} and {}", k / 4, k % 4));
                }
            }
        }
    }
    verdicts.assert_none_rejected();
}

type Neighbour = fn(Draw) -> Draw;

/// Draws that a path, or a neighbouring one, makes beside `d`.
fn neighbours(kind: SamplerKind) -> Vec<(&'static str, Neighbour)> {
    let mut all: Vec<(&'static str, Neighbour)> = vec![
        ("next tile", |d| Draw { pixel: d.pixel + 8, ..d }),
        ("next seed", |d| Draw { seed: d.seed + 1, ..d }),
        ("BSDF", |d| Draw { dim: Dim::Bsdf, ..d }),
        ("film", |d| Draw { dim: Dim::Film, ..d }),
        ("next depth", |d| Draw { depth: d.depth + 1, ..d }),
        ("BSDF of next depth", |d| Draw { dim: Dim::Bsdf, depth: d.depth + 1, ..d }),
        ("material", |d| Draw { dim: Dim::Material, depth: d.depth << 9, ..d }),
        ("next hole", |d| Draw { dim: Dim::Material, depth: d.depth << 9 | 1, ..d }),
        // The numbers of dimensions that are alike but for a high bit.
        ("some hole", |d| Draw { dim: Dim::Material, depth: 1 + 2 * d.depth, ..d }),
    ];
    if kind != SamplerKind::BlueNoise {
        all.push(("next pixel", |d| Draw { pixel: d.pixel + 1, ..d }));
        all.push(("next row", |d| Draw { pixel: d.pixel + 1920, ..d }));
    }
    if kind == SamplerKind::Independent {
        all.push(("next sample", |d| Draw { sample: d.sample + 1, ..d }));
        // Sums that a hash of a mere sum would confuse.
        all.push(("pixel for sample", |d| Draw {
            pixel: d.pixel + 1,
            sample: d.sample.wrapping_sub(1),
            ..d
        }));
    }
    all
}

#[test]
fn neighbouring_draws_are_uniform_in_pairs() {
    let mut verdicts = Verdicts::default();
    for kind in KINDS {
        // Over pixels or tiles two apart, so that no draw is in two pairs of next ones.
        let pixel = |i| match kind {
            SamplerKind::BlueNoise => 16 * (i % 120) + 8 * 1920 * (i / 120),
            _ => 2 * i,
        };
        let start = |i| Draw { pixel: pixel(i), sample: 5, dim: Dim::Light, depth: 1, seed: 9, kind };
        for (name, neighbour) in neighbours(kind) {
            for p in two_dimensional(|i| start(i).run(), |i| neighbour(start(i)).run()) {
                verdicts.add(p, format!("{kind:?}, {name}"));
            }
        }
    }
    verdicts.assert_none_rejected();
}

#[test]
fn control_shared_numbers_are_rejected() {
    // Two depths with the same numbers; and one whose numbers are rotated a little, as in Cranley–Patterson.
    let draw = |i| Draw { pixel: i, ..Draw::new(SamplerKind::Independent) }.run();
    let rotated = |i| draw(i).map(|u| (u + 0.3).fract());
    for other in [&draw as &dyn Fn(u32) -> [f32; 4], &rotated] {
        let p = two_dimensional(draw, other);
        assert!((0..4).all(|k| p[5 * k] < 1e-12), "{p:?}");
    }
}

/// Number of draws of a small render that have been made before.
fn repeats(kind: SamplerKind, draw: impl Fn(Draw) -> [f32; 4]) -> usize {
    let mut seen = HashSet::new();
    let mut n = 0;
    let bounce = |k| [(Dim::Light, k), (Dim::Bsdf, k), (Dim::Material, k << 9)];
    let dims = std::iter::once((Dim::Film, 0)).chain((0..32).flat_map(bounce));
    for (dim, depth) in dims {
        for i in 0..4096 {
            let d = Draw { pixel: i / 64, sample: i % 64, dim, depth, ..Draw::new(kind) };
            seen.insert(draw(d).map(f32::to_bits));
            n += 1;
        }
    }
    n - seen.len()
}

/// 397 312 draws of 96 bits: the odds of one repetition are 1 in 10¹⁸.
#[test]
fn no_draw_repeats_across_dimensions_depths_pixels_and_samples() {
    for kind in KINDS {
        assert_eq!(repeats(kind, Draw::run), 0, "{kind:?}");
    }
    // What Dim and depth count must not collide either: light of one depth is BSDF of none.
    let kind = SamplerKind::Independent;
    let overlapping = |d: Draw| match d.dim {
        Dim::Bsdf => Draw { dim: Dim::Light, depth: d.depth + 1, ..d }.run(),
        _ => d.run(),
    };
    assert!(repeats(kind, overlapping) > 0, "control: an overlap of dimensions is found");
}
