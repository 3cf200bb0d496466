//! Building blocks and oracles of layered lobes: facets in f64, densities over both hemispheres, albedos.

use std::f64::consts::{PI, TAU};

use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::{BsdfSample, ClearCoat, Lobe};
use glam::{Vec2, Vec3};

use super::optics::{self, C};
use super::statistics::chi2_test;
use super::vector::{DVec3, wide};
use super::{Random, polar, turn};

pub(crate) fn ggx(alpha: Vec2) -> Microfacet {
    Microfacet { alpha, distribution: Distribution::Ggx, masking: Masking::Correlated }
}

pub(crate) fn coat(alpha: f32, eta: f32, factor: f32) -> ClearCoat {
    ClearCoat { microfacet: ggx(Vec2::splat(alpha)), eta, factor }
}

/// Once in `n` times.
pub(crate) fn one_in(n: u64, random: &mut Random) -> bool {
    random.bits().is_multiple_of(n)
}

/// A direction above the surface, down to grazing.
pub(crate) fn any_wo(random: &mut Random) -> Vec3 {
    let z = if one_in(3, random) { random.power_of_ten(-3.0, 0.0) } else { random.within(0.0, 1.0) };
    polar(z, random.within(0.0, TAU)).to_f32()
}

pub(crate) fn samples(
    lobe: &impl Lobe,
    wo: Vec3,
    n: usize,
    seed: u64,
) -> impl Iterator<Item = Option<BsdfSample>> {
    let mut random = Random::new(seed);
    (0..n).map(move |k| {
        let uc = (k as f64 + random.f64()) / n as f64;
        lobe.sample(wo, (uc as f32).min(1.0 - f32::EPSILON / 2.0), random.vec2())
    })
}

/// D·G2 / (4 |n·v| |n·l|) along the tangent `t`; D as KHR_materials_anisotropy has it.
pub(crate) fn specular_brdf(alpha: Vec2, t: DVec3, v: DVec3, l: DVec3, separable: bool) -> f64 {
    let b = DVec3::Z.cross(t);
    let (at, ab) = (f64::from(alpha.x), f64::from(alpha.y));
    let h = (v + l).normalize();
    let d = 1.0 / (PI * at * ab * ((h.dot(t) / at).powi(2) + (h.dot(b) / ab).powi(2) + h.z * h.z).powi(2));
    let lambda = |w: DVec3| {
        0.5 * ((1.0 + ((at * w.dot(t)).powi(2) + (ab * w.dot(b)).powi(2)) / (w.z * w.z)).sqrt() - 1.0)
    };
    let g2 = if separable {
        1.0 / ((1.0 + lambda(v)) * (1.0 + lambda(l)))
    } else {
        1.0 / (1.0 + lambda(v) + lambda(l))
    };
    d * g2 / (4.0 * v.z * l.z)
}

/// Reflectance of a dielectric.
pub(crate) fn dielectric(cos: f64, eta: f64) -> f64 {
    0.5 * optics::boundary(cos, C(eta, 0.0)).iter().sum::<f64>()
}

/// ∫∫ f over a rectangle by Gauss–Legendre quadrature, halved until the parts agree with the whole.
fn adaptive(f: &impl Fn(f64, f64) -> f64, [x, y]: [[f64; 2]; 2], depth: u32, tolerance: f64) -> f64 {
    let gauss = |[a, b]: [f64; 2], [c, d]: [f64; 2]| {
        let nodes = [0.112_701_665_379_258_3, 0.5, 0.887_298_334_620_741_7];
        let weights = [5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0];
        let mut sum = 0.0;
        for (u, wu) in nodes.iter().zip(weights) {
            for (v, wv) in nodes.iter().zip(weights) {
                sum += wu * wv * f(a + (b - a) * u, c + (d - c) * v);
            }
        }
        sum * (b - a) * (d - c)
    };
    let (xm, ym) = (0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1]));
    let parts = [
        [[x[0], xm], [y[0], ym]],
        [[x[0], xm], [ym, y[1]]],
        [[xm, x[1]], [y[0], ym]],
        [[xm, x[1]], [ym, y[1]]],
    ];
    let fine: f64 = parts.iter().map(|&[x, y]| gauss(x, y)).sum();
    if depth == 0 || (depth < 8 && (fine - gauss(x, y)).abs() < tolerance) {
        return fine;
    }
    parts.iter().map(|&part| adaptive(f, part, depth - 1, tolerance)).sum()
}

/// Cells in (cos θ, φ), over both hemispheres.
const CELLS: [usize; 2] = [20, 24];

/// The place of a direction as a part of all cosines, which are spread where they graze, and of a turn.
fn place(w: DVec3) -> [f64; 2] {
    [0.5 + 0.5 * w.z, turn(w.x, w.y)]
}

/// P-value of directions drawn from `drawn_by` under the density of `lobe`.
pub(crate) fn is_its_density(lobe: &impl Lobe, drawn_by: &impl Lobe, wo: Vec3) -> f64 {
    const N: usize = 60_000;
    let mut counts = vec![0; CELLS[0] * CELLS[1] + 1];
    for s in samples(drawn_by, wo, N, 33) {
        let cell = s.map_or(CELLS[0] * CELLS[1], |s| {
            let [x, y] = place(wide(s.wi));
            let at = |x: f64, n: usize| ((x * n as f64) as usize).min(n - 1);
            at(x, CELLS[0]) * CELLS[1] + at(y, CELLS[1])
        });
        counts[cell] += 1;
    }
    // dω = 4π dx dy.
    let density = |x: f64, y: f64| {
        let w = polar(2.0 * x - 1.0, TAU * y).to_f32();
        2.0 * TAU * f64::from(lobe.pdf(wo, w))
    };
    let edges = |k: usize, n: usize| [k as f64 / n as f64, (k + 1) as f64 / n as f64];
    let mut expected: Vec<f64> = (0..CELLS[0] * CELLS[1])
        .map(|k| {
            let cell = [edges(k / CELLS[1], CELLS[0]), edges(k % CELLS[1], CELLS[1])];
            N as f64 * adaptive(&density, cell, 10, 5e-7)
        })
        .collect();
    let lost = N as f64 - expected.iter().sum::<f64>();
    assert!(lost > -1e-3 * N as f64, "the density adds up to more than one: {lost}");
    expected.push(lost.max(0.0));
    chi2_test(&counts, &expected)
}

/// Mean of the channel that has the largest, and its standard error.
pub(crate) fn albedo(
    lobe: &impl Lobe,
    wo: Vec3,
    n: usize,
    seed: u64,
    weight: impl Fn(Vec3, &BsdfSample) -> Vec3,
) -> (f64, f64) {
    let (mut sum, mut sum2) = (DVec3::ZERO, DVec3::ZERO);
    for s in samples(lobe, wo, n, seed).flatten() {
        let w = wide(weight(wo, &s));
        sum = sum + w;
        sum2 = sum2 + DVec3::new(w.x * w.x, w.y * w.y, w.z * w.z);
    }
    let (mean, square) = ((sum / n as f64).to_array(), (sum2 / n as f64).to_array());
    let k = (0..3).fold(0, |k, i| if mean[i] > mean[k] { i } else { k });
    (mean[k], ((square[k] - mean[k] * mean[k]).max(0.0) / n as f64).sqrt())
}
