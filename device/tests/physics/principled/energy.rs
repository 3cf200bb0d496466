//! Integrals of samples against quadrature of the formulas, albedos, and bounds of energy.

use device::bsdf::microfacet::Masking;
use device::bsdf::principled::Parameters;
use device::bsdf::{Lobe, Principled};
use glam::{Vec2, Vec3};

use crate::common::lobes::samples;
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, choices, points, polar};

use super::half_vectors::{HalfVectors, reflected, refracted};
use super::{Mistake, Oracle, corners, materials};

/// ∫ f·|cos|·light over all directions, by the formulas.
fn quadrature(oracle: &Oracle, wo: DVec3, light: impl Fn(DVec3) -> f64) -> DVec3 {
    quadrature_on(&HalfVectors::new(&oracle.p), oracle, wo, light)
}

fn quadrature_on(cells: &HalfVectors, oracle: &Oracle, wo: DVec3, light: impl Fn(DVec3) -> f64) -> DVec3 {
    let p = &oracle.p;
    let eta = if oracle.front { f64::from(p.eta) } else { 1.0 / f64::from(p.eta) };
    let mut sum = DVec3::ZERO;
    cells.for_each_point(|_, wm, area| {
        for (wi, jacobian) in [reflected(wo, wm), refracted(wo, wm, eta)].into_iter().flatten() {
            let [r, g, b] = oracle.f_cos(wo, wi);
            sum = sum + area * jacobian * light(wi) * DVec3::new(r, g, b);
        }
    });
    sum
}

/// Mean of weight·light over samples, and its standard error.
fn sampled(lobe: &Principled, wo: Vec3, light: impl Fn(DVec3) -> f64) -> (DVec3, DVec3) {
    const N: usize = 50_000;
    let (mut sum, mut sum2) = (DVec3::ZERO, DVec3::ZERO);
    for s in samples(lobe, wo, N, 6).flatten() {
        let x = light(wide(s.wi)) * wide(s.weight);
        sum = sum + x;
        sum2 = sum2 + DVec3::new(x.x * x.x, x.y * x.y, x.z * x.z);
    }
    let (mean, square) = (sum / N as f64, sum2 / N as f64);
    let error = |mean: f64, square: f64| ((square - mean * mean).max(0.0) / N as f64).sqrt();
    (mean, DVec3::new(error(mean.x, square.x), error(mean.y, square.y), error(mean.z, square.z)))
}

/// Most standard errors by which samples differ from the formulas, under uneven light.
fn worst_integral(mistake: Mistake) -> f64 {
    let light = |wi: DVec3| 1.0 + 0.5 * wi.x + wi.z * wi.z;
    let mut worst = 0.0_f64;
    for (k, (_, p)) in materials().into_iter().enumerate() {
        let views = [(1.0, true), (0.6, true), (0.15, true), (0.9, false), (0.5, false)];
        for (_, (z, front)) in views.into_iter().enumerate().filter(|(j, _)| tier::takes(j + k, 2)) {
            let (wo, masking) = (polar(z, 0.9).to_f32(), Masking::Separable);
            let (mean, error) = sampled(&p.lobe(masking, front), wo, light);
            let expected = quadrature(&Oracle::new(p, masking, front, mistake), wide(wo), light);
            let difference = (mean - expected).to_array();
            for (d, (error, expected)) in
                difference.into_iter().zip(error.to_array().into_iter().zip(expected.to_array()))
            {
                // What quadrature misses by itself.
                worst = worst.max(d.abs() / (error + 3e-4 * expected + 1e-7));
            }
        }
    }
    worst
}

#[test]
fn samples_add_up_to_what_the_formulas_integrate_to() {
    let worst = worst_integral(Mistake::None);
    println!("within {worst:.2} standard errors");
    // Of 225 normal variables, one in 3000 times.
    assert!(worst < 4.8, "{worst}");
    assert!(worst_integral(Mistake::RetroByAlpha) > 8.0, "control");
    assert!(worst_integral(Mistake::Unscaled) > 8.0, "control");
}

/// Albedo under uniform light, by samples.
fn albedo(lobe: &Principled, wo: Vec3) -> DVec3 {
    const N: u32 = 1 << 12;
    let weights = points(N).flat_map(|(uc, u)| choices(uc).filter_map(move |uc| lobe.sample(wo, uc, u)));
    weights.fold(DVec3::ZERO, |sum, s| sum + wide(s.weight)) / f64::from(8 * N)
}

/// Largest difference of the albedo to quadrature of the formulas, of paint or of metal, on 16 cosines and as many
/// roughnesses; relative where the albedo is less than 1.
fn worst_albedo(metallic: f32, mistake: Mistake, stride: usize) -> f64 {
    let at = |k: usize| k as f64 / 15.0;
    let mut worst = 0.0_f64;
    for (cos, roughness) in
        (0..256).step_by(stride).map(|k| (0.05 + 0.95 * at(k / 16), 0.15 + 0.85 * at(k % 16)))
    {
        let color = Vec3::new(0.8, 0.5, 0.2);
        let p =
            Parameters { base_color: color, metallic, roughness: roughness as f32, ..Parameters::DEFAULT };
        let (wo, masking) = (polar(cos, 0.9).to_f32(), Masking::Correlated);
        let found = albedo(&p.lobe(masking, true), wo).to_array();
        // Half as many points each way as elsewhere.
        let cells = HalfVectors { sub: [12, 6], ..HalfVectors::new(&p) };
        let oracle = Oracle::new(p, masking, true, mistake);
        let expected = quadrature_on(&cells, &oracle, wide(wo), |_| 1.0).to_array();
        for (found, expected) in found.into_iter().zip(expected) {
            worst = worst.max((found - expected).abs() / expected.min(1.0));
        }
    }
    worst
}

#[test]
fn paint_and_metal_have_the_albedo_of_the_formulas() {
    for (metallic, mistake) in [(0.0, Mistake::RetroByAlpha), (1.0, Mistake::Schlick)] {
        let (worst, control) =
            (worst_albedo(metallic, Mistake::None, tier::choose(7, 1)), worst_albedo(metallic, mistake, 13));
        println!("metallic {metallic}: albedo to {worst:.1e}, of another {control:.1e}");
        assert!(worst < 2e-3 && control > 1e-2, "{worst:e} {control:e}");
    }
}

/// Part of the light that leaves, of that which arrives from all directions alike, in the largest channel.
fn energy(lobe: &Principled, wo: Vec3) -> f64 {
    const N: usize = 48;
    let at = |i: usize| (i as f32 + 0.5) / N as f32;
    let mut random = Random::new(4);
    let sum = (0..N * N)
        .filter_map(|k| lobe.sample(wo, random.f32(), Vec2::new(at(k / N), at(k % N))))
        .map(|s| f64::from(s.eta).powi(2) * wide(s.weight))
        .fold(DVec3::ZERO, |a, b| a + b);
    sum.to_array().into_iter().fold(0.0, f64::max) / (N * N) as f64
}

/// Most energy over materials and directions.
fn most_energy(materials: impl Iterator<Item = Parameters>, front: bool) -> f64 {
    let all = materials.flat_map(|p| [1.0, 0.5, 0.2, 0.05, 0.01].map(|z| (p, z)));
    all.map(|(p, z)| energy(&p.lobe(Masking::Correlated, front), polar(z, 0.9).to_f32())).fold(0.0, f64::max)
}

fn white_corners() -> impl Iterator<Item = Parameters> {
    corners().map(|p| Parameters { base_color: Vec3::ONE, sheen_tint: 0.0, ..p })
}

#[test]
fn interfaces_make_no_light() {
    let bare = |p: &Parameters| p.clearcoat + p.sheen + p.flatness == 0.0;
    let metals = white_corners().filter(|p| p.metallic == 1.0 && bare(p));
    let glasses = || white_corners().filter(|p| p.spec_trans * (1.0 - p.spec_tint) == 1.0 && bare(p));
    for most in [most_energy(metals, true), most_energy(glasses(), true), most_energy(glasses(), false)] {
        println!("interfaces reflect and refract at most {most}");
        assert!(most <= 1.0 + 1e-4, "{most}");
    }
    let behind = most_energy(white_corners().step_by(16), false);
    assert!(behind <= 1.0 + 1e-4, "{behind}");
}

/// Energy gain as the model's documentation states it.
#[test]
fn paint_makes_as_much_light_as_documented() {
    let white = Parameters { base_color: Vec3::ONE, ..Parameters::DEFAULT };
    let paint = |flatness| (0..=10).map(move |k| Parameters { roughness: 0.1 * k as f32, flatness, ..white });
    let above = paint(0.0).map(|p| energy(&p.lobe(Masking::Correlated, true), Vec3::Z)).fold(0.0, f64::max);
    let coated = Parameters { clearcoat: 1.0, metallic: 1.0, ..white };
    let coated = most_energy((0..2).map(|k| Parameters { clearcoat_gloss: k as f32, ..coated }), true);
    let along = [most_energy(paint(0.0), true), most_energy(paint(1.0), true)];
    let all = most_energy(white_corners().filter(|p| p.eta >= 1.0).step_by(5), true);
    println!("from above {above:.3}, along {along:.3?}, coated metal {coated:.3}, with everything {all:.3}");
    assert!(above < 1.065 && along[0].max(along[1]) < 1.7 && coated < 1.05 && all < 2.0);
}
