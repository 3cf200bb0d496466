//! What a lobe costs: time of `eval_pdf` and of `sample` for every lobe, and of every way to draw facets, each for 1024
//! random directions. A run is all of them: a time of 1 µs is 0.98 ns each.

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::Duration;

use common::Random;
use criterion::{BenchmarkId, Criterion, Throughput};
use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::{Conductor, Dielectric, Diffuse, Lobe, SmoothConductor, SmoothDielectric, ThinDielectric};
use glam::{Vec2, Vec3};

/// Every lobe, once for each way in which it computes.
fn lobes(c: &mut Criterion) {
    lobe(c, "Diffuse", Diffuse { reflectance: Vec3::splat(0.8) });
    lobe(c, "SmoothConductor", SmoothConductor { eta: ETA, k: K });
    lobe(c, "SmoothDielectric", SmoothDielectric { eta: 1.5 });
    lobe(c, "ThinDielectric", ThinDielectric { eta: 1.5 });
    for (surface, microfacet) in surfaces() {
        lobe(c, &format!("Conductor, {surface}"), Conductor { microfacet, eta: ETA, k: K });
        lobe(c, &format!("Dielectric, {surface}"), Dielectric { microfacet, eta: 1.5 });
    }
}

/// Copper.
const ETA: Vec3 = Vec3::new(0.18, 1.04, 1.29);
const K: Vec3 = Vec3::new(2.96, 2.63, 2.36);

/// Rough surfaces of all kinds.
fn surfaces() -> impl Iterator<Item = (String, Microfacet)> {
    let masking = [Masking::Correlated, Masking::Separable];
    let kinds = [Distribution::Ggx, Distribution::Beckmann].map(|d| masking.map(|m| (d, m)));
    kinds.into_iter().flatten().map(|(distribution, masking)| {
        let microfacet = Microfacet { alpha: Vec2::new(0.3, 0.2), distribution, masking };
        (format!("{distribution:?}, {masking:?}"), microfacet)
    })
}

/// What is asked of lobes in one run.
const BATCH: usize = 1024;

/// Directions above the surface, and uniforms.
fn inputs() -> Vec<(Vec3, f32, Vec2)> {
    let mut random = Random::new(1);
    let mut input = || {
        let wo = random.direction().to_f32();
        (Vec3::new(wo.x, wo.y, wo.z.abs()), random.f32(), random.vec2())
    };
    (0..BATCH).map(|_| input()).collect()
}

fn lobe<L: Lobe + Copy>(c: &mut Criterion, name: &str, lobe: L) {
    let inputs = inputs();
    run(c, "sample", name, &inputs, |&(wo, uc, u)| lobe.sample(wo, uc, u));
    if L::DELTA {
        return;
    }
    // Directions as paths ask for: half of them the lobe's own, half of them wherever a light may be.
    let mut random = Random::new(2);
    let mut pair = |(i, &(wo, uc, u)): (usize, &(Vec3, f32, Vec2))| {
        let anywhere = random.direction().to_f32();
        let own = lobe.sample(wo, uc, u).map(|s| s.wi).filter(|_| i % 2 == 0);
        (wo, own.unwrap_or(anywhere))
    };
    let pairs: Vec<_> = inputs.iter().enumerate().map(&mut pair).collect();
    run(c, "eval_pdf", name, &pairs, |&(wo, wi)| lobe.eval_pdf(wo, wi));
}

/// Every way to draw facets.
fn facets(c: &mut Criterion) {
    let inputs = inputs();
    for (name, m) in surfaces().filter(|(_, m)| m.masking == Masking::Correlated) {
        let name = name.split(',').next().unwrap_or_default();
        run(c, "sample_wm", name, &inputs, |&(wo, _, u)| m.sample_wm(wo, u));
        run(c, "sample_wm_reflecting", name, &inputs, |&(wo, _, u)| m.sample_wm_reflecting(wo, u));
        run(c, "sample_wm_all", name, &inputs, |&(_, _, u)| m.sample_wm_all(u));
    }
}

/// Times `f` on all inputs, one after the other.
fn run<T, R>(c: &mut Criterion, group: &str, name: &str, inputs: &[T], f: impl Fn(&T) -> R) {
    let mut group = c.benchmark_group(group);
    group.throughput(Throughput::Elements(inputs.len() as u64));
    group.bench_with_input(BenchmarkId::from_parameter(name), inputs, |b, inputs| {
        b.iter(|| {
            for input in inputs {
                black_box(f(black_box(input)));
            }
        });
    });
    group.finish();
}

fn main() {
    let short = Criterion::default().warm_up_time(Duration::from_millis(200)).sample_size(50);
    let mut c = short.measurement_time(Duration::from_secs(1)).configure_from_args();
    lobes(&mut c);
    facets(&mut c);
    c.final_summary();
}
