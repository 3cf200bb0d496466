//! Scattering between microfacets: random walks against walks in f64 that are made of the definitions, and compensated
//! lobes against them.

mod compensation;
mod dielectrics;
mod walks;

use std::f64::consts::TAU;
use std::thread;

use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::{
    BsdfSample, CompensatedConductor, CompensatedDielectric, Lobe, RandomWalkConductor, RandomWalkDielectric,
};
use glam::{Vec2, Vec3};

use crate::common::facets::Facets;
use crate::common::statistics::{Grid, chi2_test};
use crate::common::{Random, polar, turn};

const DISTRIBUTIONS: [Distribution; 2] = [Distribution::Ggx, Distribution::Beckmann];

fn surface(alpha: [f32; 2], distribution: Distribution) -> Microfacet {
    Microfacet { alpha: Vec2::from_array(alpha), distribution, masking: Masking::Correlated }
}

/// Isotropic and anisotropic surfaces of both kinds, (αx, αy).
fn surfaces() -> Vec<Microfacet> {
    let alphas = [[0.1; 2], [0.4; 2], [1.0; 2], [0.2, 0.8]];
    DISTRIBUTIONS.into_iter().flat_map(|d| alphas.map(|alpha| surface(alpha, d))).collect()
}

fn oracle(m: &Microfacet) -> Facets {
    Facets { alpha: m.alpha.to_array().map(f64::from), distribution: m.distribution }
}

fn wo(z: f64) -> Vec3 {
    polar(z, 0.9).to_f32()
}

fn name(m: &Microfacet, z: f64) -> String {
    format!("{:?} {} at {z}", m.distribution, m.alpha)
}

/// That reflects everything.
fn white_walk(microfacet: Microfacet, seed: u32) -> RandomWalkConductor {
    RandomWalkConductor { microfacet, eta: Vec3::ZERO, k: Vec3::ONE, seed }
}

fn white(microfacet: Microfacet) -> CompensatedConductor {
    CompensatedConductor::new(microfacet, Vec3::ZERO, Vec3::ONE)
}

/// Samples, `None` where nothing was scattered; every one has its seed.
fn samples<L: Lobe>(
    lobe: impl Fn(u32) -> L,
    wo: Vec3,
    n: u32,
    seed: u64,
) -> impl Iterator<Item = Option<BsdfSample>> {
    let mut random = Random::new(seed);
    (0..n).map(move |i| lobe(i).sample(wo, random.f32(), random.vec2()))
}

/// Runs `f` on all items, on two threads.
fn in_parallel<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let (first, second) = items.split_at(items.len() / 2);
        let other = scope.spawn(|| second.iter().map(&f).collect::<Vec<_>>());
        let mut results: Vec<R> = first.iter().map(&f).collect();
        results.extend(other.join().expect("no panic"));
        results
    })
}

fn dielectric_walk(microfacet: Microfacet, eta: f32, seed: u32) -> RandomWalkDielectric {
    RandomWalkDielectric { microfacet, eta, seed }
}

/// Means and standard errors.
#[derive(Default, Clone, Copy)]
struct Mean {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Mean {
    fn add(&mut self, x: f64) {
        (self.n, self.sum, self.squares) = (self.n + 1.0, self.sum + x, self.squares + x * x);
    }

    fn mean(&self) -> f64 {
        self.sum / self.n
    }

    fn error(&self) -> f64 {
        ((self.squares / self.n - self.mean().powi(2)).max(0.0) / self.n).sqrt()
    }
}

/// ∫ f(wi) dωi over the hemisphere by the midpoint rule in (cos θ, φ).
fn over_hemisphere(mut f: impl FnMut(Vec3) -> f64) -> f64 {
    const N: usize = 256;
    let at = |i: usize| (i as f64 + 0.5) / N as f64;
    (0..N * N).map(|k| f(polar(at(k / N), TAU * at(k % N)).to_f32())).sum::<f64>() * TAU / (N * N) as f64
}

/// P-value of directions drawn from `drawn_by` under the density of `lobe`.
fn is_its_density(lobe: &impl Lobe, drawn_by: &impl Lobe, wo: Vec3) -> f64 {
    const N: u32 = 30_000;
    const SIZE: [usize; 2] = [16, 24];
    const SUB: usize = 12;
    let (mut grids, mut random) = ([Grid::new(SIZE), Grid::new(SIZE)], Random::new(11));
    for _ in 0..N {
        if let Some(s) = drawn_by.sample(wo, random.f32(), random.vec2()) {
            let grid = &mut grids[usize::from(s.wi.z < 0.0)];
            grid.add((1.0 - f64::from(s.wi.z.abs())).max(0.0).sqrt(), turn(s.wi.x.into(), s.wi.y.into()));
        }
    }
    let at = |i: usize, s: usize, n: usize| (i as f64 + (s as f64 + 0.5) / SUB as f64) / n as f64;
    let cell = |side: f64, k: usize| {
        let points = (0..SUB * SUB).map(|s| {
            // Cells are even in √(1 − |z|): as narrow around the normal as what is refracted there.
            let v = at(k / SIZE[1], s / SUB, SIZE[0]);
            let z = side * (1.0 - v * v);
            let wi = polar(z, TAU * at(k % SIZE[1], s % SUB, SIZE[1])).to_f32();
            f64::from(lobe.pdf(wo, wi)) * 2.0 * v * TAU
        });
        points.sum::<f64>() / (SUB * SUB * SIZE[0] * SIZE[1]) as f64 * f64::from(N)
    };
    let half = |side| (0..SIZE[0] * SIZE[1]).map(move |k| (side, k));
    let mut expected: Vec<f64> = half(1.0).chain(half(-1.0)).map(|(side, k)| cell(side, k)).collect();
    let [above, below] = grids.map(|grid| grid.counts);
    let mut counts = [above, below].concat();
    // What went nowhere is a cell as well.
    counts.push(u64::from(N) - counts.iter().sum::<u64>());
    expected.push((f64::from(N) - expected.iter().sum::<f64>()).max(0.0));
    // Where that is a matter of the error of quadrature, it only has to be small.
    let lost = expected.len() - 1;
    if (expected[lost] - counts[lost] as f64).abs() < 60.0 {
        expected[lost] = counts[lost] as f64;
    }
    let (drawn, sum) = (f64::from(N), expected.iter().sum::<f64>());
    expected.iter_mut().for_each(|e| *e *= drawn / sum);
    chi2_test(&counts, &expected)
}

fn compensated_glass(m: Microfacet, eta: f32) -> CompensatedDielectric {
    CompensatedDielectric { microfacet: m, eta }
}
