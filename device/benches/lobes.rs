//! CPU time of `eval_pdf` and `sample` for every lobe, and of every way to sample microfacet normals, each for 1024 random
//! directions: a reported time of 1 µs is 0.98 ns per call.

#[path = "../tests/physics/common/mod.rs"]
#[expect(dead_code, reason = "tests use the rest of it")]
mod common;

use std::hint::black_box;
use std::time::Duration;

use common::Random;
use criterion::{BenchmarkId, Criterion, Throughput};
use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::plastic::{Coat, coated, smooth_internal};
use device::bsdf::principled::{self, eta_from_specular};
use device::bsdf::{
    Bsdf, ClearCoat, CompensatedConductor, CompensatedDielectric, Conductor, Dielectric, Diffuse, Film, Gltf,
    Lobe, OrenNayar, Plastic, RandomWalkConductor, RandomWalkDielectric, Sheen, SmoothConductor,
    SmoothDielectric, SmoothPlastic, ThinDielectric,
};
use glam::{Vec2, Vec3};

/// Every lobe, once for each way in which it computes.
fn lobes(c: &mut Criterion) {
    let c = &mut Lobes { criterion: c, timed: Vec::new() };
    c.time("Diffuse", Diffuse { reflectance: GREY });
    c.time("OrenNayar", OrenNayar { reflectance: GREY, roughness: 0.5 });
    c.time("Sheen", Sheen { color: GREY, alpha: 0.3 });
    c.time("SmoothConductor", SmoothConductor { eta: ETA, k: K });
    c.time("SmoothDielectric", SmoothDielectric { eta: GLASS });
    c.time("ThinDielectric", ThinDielectric { eta: GLASS });
    for (surface, microfacet) in surfaces() {
        c.time(&format!("Conductor, {surface}"), Conductor { microfacet, eta: ETA, k: K });
        c.time(&format!("Dielectric, {surface}"), Dielectric { microfacet, eta: GLASS });
    }
    for (surface, microfacet) in surfaces().filter(|(_, m)| m.masking == Masking::Correlated) {
        let d = surface.split(',').next().unwrap_or_default();
        let metal = CompensatedConductor::new(microfacet, ETA, K);
        c.time(&format!("CompensatedConductor, {d}"), metal);
        c.time(&format!("CompensatedDielectric, {d}"), CompensatedDielectric { microfacet, eta: GLASS });
        let metal = RandomWalkConductor { microfacet, eta: ETA, k: K, seed: 0 };
        c.time(&format!("RandomWalkConductor, {d}"), metal);
        let glass = RandomWalkDielectric { microfacet, eta: GLASS, seed: 0 };
        c.time(&format!("RandomWalkDielectric, {d}"), glass);
    }
    plastics(c);
    for (name, paint) in paints() {
        c.time(&format!("Principled, {name}"), paint.lobe(Masking::Correlated, true));
    }
    for (name, lobe) in gltfs() {
        c.time(&format!("Gltf, {name}"), lobe);
    }
    c.assert_none_is_forgotten();
}

fn plastics(c: &mut Lobes<'_>) {
    let base = coated(GREY, GLASS, smooth_internal(GLASS), false);
    c.time("SmoothPlastic", SmoothPlastic { eta: GLASS, base, specular: Vec3::ONE });
    let microfacet = ggx(Vec2::splat(0.3));
    let coat = Coat::new(&microfacet, GLASS);
    let base = coated(GREY, GLASS, coat.internal, false);
    c.time("Plastic", Plastic { microfacet, eta: GLASS, coat, base, specular: Vec3::ONE });
}

/// The principled model as one thing, and as a bit of everything.
fn paints() -> [(&'static str, principled::Parameters); 3] {
    let plastic = principled::Parameters {
        base_color: GREY,
        roughness: 0.5,
        anisotropic: 0.0,
        metallic: 0.0,
        eta: eta_from_specular(0.5),
        spec_tint: 0.0,
        spec_trans: 0.0,
        flatness: 0.0,
        sheen: 0.0,
        sheen_tint: 0.0,
        clearcoat: 0.0,
        clearcoat_gloss: 0.0,
    };
    let everything = principled::Parameters {
        metallic: 0.3,
        spec_trans: 0.4,
        anisotropic: 0.5,
        flatness: 0.5,
        sheen: 0.5,
        clearcoat: 0.5,
        ..plastic
    };
    let metal = principled::Parameters { metallic: 1.0, ..plastic };
    [("plastic", plastic), ("metal", metal), ("everything", everything)]
}

/// The material of glTF as metal, as plastic, and with all of its layers.
fn gltfs() -> [(&'static str, Gltf); 3] {
    let metal = Gltf {
        base_color: GREY,
        metallic: 1.0,
        microfacet: ggx(Gltf::alpha(0.5, 0.0)),
        rotation: Vec2::X,
        f0: Gltf::dielectric_f0(GLASS, 1.0, Vec3::ONE),
        f90: 1.0,
        transmission: 0.0,
        film: Film { factor: 0.0, eta: 1.3, thickness: 400.0 },
        sheen: Sheen { color: Vec3::ZERO, alpha: 0.3 },
        coat: ClearCoat { microfacet: ggx(Gltf::alpha(0.2, 0.0)), eta: GLASS, factor: 0.0 },
    };
    let everything = Gltf {
        metallic: 0.3,
        microfacet: ggx(Gltf::alpha(0.5, 0.5)),
        transmission: 0.4,
        film: Film { factor: 0.5, ..metal.film },
        sheen: Sheen { color: Vec3::splat(0.5), ..metal.sheen },
        coat: ClearCoat { factor: 0.5, ..metal.coat },
        ..metal
    };
    [("metal", metal), ("plastic", Gltf { metallic: 0.0, ..metal }), ("everything", everything)]
}

const GREY: Vec3 = Vec3::splat(0.8);
const GLASS: f32 = 1.5;
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

fn ggx(alpha: Vec2) -> Microfacet {
    Microfacet { alpha, distribution: Distribution::Ggx, masking: Masking::Correlated }
}

/// Directions per run.
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

/// Times lobes, and remembers which.
struct Lobes<'a> {
    criterion: &'a mut Criterion,
    timed: Vec<String>,
}

impl Lobes<'_> {
    /// The name begins with that of the lobe.
    fn time<L: Lobe + Copy>(&mut self, name: &str, lobe: L) {
        self.timed.push(name.to_owned());
        let inputs = inputs();
        run(self.criterion, "sample", name, &inputs, |&(wo, uc, u)| lobe.sample(wo, uc, u));
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
        run(self.criterion, "eval_pdf", name, &pairs, |&(wo, wi)| lobe.eval_pdf(wo, wi));
    }

    fn assert_none_is_forgotten(&self) {
        let is_timed = |lobe: &str| self.timed.iter().any(|name| name.split(',').next() == Some(lobe));
        let forgotten: Vec<_> = Bsdf::NAMES.iter().filter(|name| !is_timed(name)).collect();
        assert!(forgotten.is_empty(), "not timed: {forgotten:?}");
    }
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
