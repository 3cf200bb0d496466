//! Compensated dielectrics: energy, densities, reciprocity and bounds.

use std::f64::consts::PI;

use device::bsdf::microfacet::Distribution;
use device::bsdf::{CompensatedDielectric, Dielectric, Lobe};
use glam::Vec3;

use crate::common::statistics::Verdicts;
use crate::common::{Random, adversarial_u, albedo, integrate, polar};

use super::{compensated_glass, dielectric_walk, in_parallel, is_its_density, name, samples, surface, wo};

const ETAS: [f32; 6] = [1.5, 1.0 / 1.5, 1.33, 1.0 / 1.33, 2.4, 1.0 / 2.4];

fn rough_glass() -> Vec<(CompensatedDielectric, f64)> {
    let surfaces = [[0.25; 2], [0.5; 2], [1.0; 2], [0.3, 0.9]].map(|a| surface(a, Distribution::Ggx));
    let lobes = surfaces.into_iter().flat_map(|m| ETAS.map(|eta| compensated_glass(m, eta)));
    lobes.flat_map(|lobe| [1.0, 0.7, 0.3, 0.05].map(|z| (lobe, z))).collect()
}

#[test]
fn compensated_dielectrics_draw_directions_with_their_density() {
    let mut verdicts = Verdicts::default();
    // Quadrature does not resolve grazing light that is refracted into a thin fan.
    let all: Vec<_> = rough_glass().into_iter().filter(|(lobe, z)| *z > 0.1 && lobe.eta != 2.4).collect();
    let p = in_parallel(&all, |(lobe, z)| is_its_density(lobe, lobe, wo(*z)));
    all.iter().zip(p).for_each(|((lobe, z), p)| {
        verdicts.add(p, format!("{}, {}", name(&lobe.microfacet, *z), lobe.eta));
    });
    verdicts.report("compensated dielectrics");
    verdicts.assert_none_rejected();
}

/// All that arrives leaves, reflected or, before the scaling of radiance, transmitted; as much across as by walks,
/// roughly.
#[test]
fn dielectrics_pass_all_light() {
    let all: Vec<_> = [0.05_f32, 0.1, 0.3, 0.6, 1.0]
        .into_iter()
        .flat_map(|alpha| ETAS.map(|eta| (alpha, eta)))
        .flat_map(|(alpha, eta)| [1.0, 0.7, 0.3, 0.1].map(|z| (alpha, eta, z)))
        .collect();
    let rows = in_parallel(&all, |&(alpha, eta, z)| {
        let m = surface([alpha; 2], Distribution::Ggx);
        let o = polar(f64::min(z, 1.0 - 1e-9), 0.9).to_f32();
        let lobe = compensated_glass(m, eta);
        let single = albedo::dielectric(m.distribution, alpha.into(), eta.into(), o.z.into());
        // Of what is added, f less that of single scattering, which does not depend on the azimuth.
        let across = |side: f32| {
            integrate(0.0, 1.0, 2, |t| {
                let wi = polar(t * t, 2.0).to_f32() * Vec3::new(1.0, 1.0, side);
                let plain = Dielectric { microfacet: m, eta };
                let scale = if side > 0.0 { 1.0 } else { eta * eta };
                let f = scale * (lobe.eval(o, wi).x - plain.eval(o, wi).x);
                4.0 * PI * t.powi(3) * f64::from(f)
            })
        };
        let added = [across(1.0), across(-1.0)];
        let walks = samples(|seed| dielectric_walk(m, eta, seed), o, 20_000, 4).flatten();
        let up = walks.filter(|s| s.wi.z > 0.0).count() as f64 / 20_000.0;
        let ours = samples(|_| lobe, o, 20_000, 4).flatten().filter(|s| s.wi.z > 0.0);
        let ours = ours.map(|s| f64::from(s.weight.x)).sum::<f64>() / 20_000.0;
        (single + added[0] + added[1], ours - up, single)
    });
    let (mut worst, mut off, mut lost) = ([0.0_f64; 2], 0.0_f64, 0.0_f64);
    for (total, more, single) in rows {
        lost = lost.max(1.0 - single);
        worst = [worst[0].max((total - 1.0).abs()), worst[1] + (total - 1.0).powi(2) / 120.0];
        off = off.max(more.abs());
    }
    println!("compensated dielectrics: within {:.4}, {:.4} rms, of 1", worst[0], worst[1].sqrt());
    println!("they reflect as much as walks within {off:.3}");
    assert!(worst[0] < 2e-3 && worst[1].sqrt() < 5e-4);
    assert!(lost > 0.5, "control, single scattering alone: {lost}");
}

/// The light that leaves compensated dielectrics, on a grid of roughnesses and angles: single scattering by quadrature,
/// and what the lobe adds to its own.
#[test]
fn dielectrics_lose_and_gain_less_than_a_fifth_of_a_percent() {
    let alpha = |k: usize| 0.02 + 0.98 * (k / 16) as f64 / 15.0;
    let mu = |k: usize| ((k % 16) as f64 + 0.5) / 16.0;
    let (mut worst, mut lost) = (0.0_f64, 0.0_f64);
    for eta in ETAS {
        let rows = in_parallel(&(0..256).step_by(tier::choose(7, 1)).collect::<Vec<usize>>(), |&k| {
            let m = surface([alpha(k) as f32; 2], Distribution::Ggx);
            let (lobe, plain) = (compensated_glass(m, eta), Dielectric { microfacet: m, eta });
            let o = polar(mu(k), 0.9).to_f32();
            let added = |side: f32| {
                let scale = if side > 0.0 { 1.0 } else { f64::from(eta).powi(2) };
                let along = |t: f64| {
                    let wi = polar(t * t, 0.4).to_f32() * Vec3::new(1.0, 1.0, side);
                    let f = f64::from(lobe.eval(o, wi).x) - f64::from(plain.eval(o, wi).x);
                    4.0 * PI * t.powi(3) * f
                };
                scale * integrate(0.0, 1.0, 8, along)
            };
            let single = albedo::dielectric(m.distribution, alpha(k), eta.into(), mu(k));
            (single + added(1.0) + added(-1.0), single, alpha(k), mu(k))
        });
        let of_all = rows.into_iter().max_by(|a, b| (a.0 - 1.0).abs().total_cmp(&(b.0 - 1.0).abs()));
        let (total, single, alpha, mu) = of_all.expect("there are rows");
        println!("eta {eta:.3}: all but {:.5}, at alpha {alpha:.3} and cosine {mu:.3}", 1.0 - total);
        worst = worst.max((total - 1.0).abs());
        lost = lost.max(1.0 - single);
    }
    assert!(worst < 2e-3, "{worst}");
    assert!(lost > 0.3, "control, single scattering alone: {lost}");
}

#[test]
fn compensated_dielectrics_are_reciprocal_and_their_weights_right() {
    let mut random = Random::new(13);
    for (lobe, _) in rough_glass() {
        for _ in 0..100 {
            let (a, b) = (random.direction().to_f32(), random.direction().to_f32());
            let a = Vec3::new(a.x, a.y, a.z.abs());
            let plain = |eta| Dielectric { microfacet: lobe.microfacet, eta };
            let added = |eta, o, i| {
                f64::from((compensated_glass(lobe.microfacet, eta).eval(o, i) - plain(eta).eval(o, i)).x)
            };
            let eta2 = f64::from(lobe.eta).powi(2);
            let (there, back, of) = if b.z > 0.0 {
                (added(lobe.eta, a, b), added(lobe.eta, b, a), plain(lobe.eta).eval(a, b).x)
            } else {
                (added(lobe.eta, a, b) * eta2, added(1.0 / lobe.eta, -b, -a), plain(lobe.eta).eval(a, b).x)
            };
            // The difference of f and single scattering, which rounds.
            assert!(
                (there - back).abs() < 2e-5 * there + 1e-6 * f64::from(of),
                "{lobe:?} {a} {b}: {there} {back}"
            );
            if let Some(s) = lobe.sample(a, random.f32(), random.vec2()) {
                let (f, pdf) = lobe.eval_pdf(a, s.wi);
                let expected = f.x * s.wi.z.abs() / pdf;
                let same_density = (s.pdf / pdf - 1.0).abs() < 1e-4;
                assert!(same_density && (s.weight.x - expected).abs() <= 1e-4 * expected);
            }
        }
    }
}

#[test]
fn compensated_dielectrics_are_finite_for_all_uniforms_and_directions() {
    let extremes =
        [[1e-4; 2], [1e-3; 2], [0.05; 2], [3.0; 2], [1.0, 0.01]].map(|a| surface(a, Distribution::Ggx));
    let lobes = extremes
        .into_iter()
        .flat_map(|m| [1.5, 1.0 / 1.5, 1.01, 5.0, 0.2].map(|eta| compensated_glass(m, eta)));
    for lobe in lobes.chain(rough_glass().into_iter().map(|(lobe, _)| lobe)) {
        for z in [1.0, 0.5, 0.03, 1e-3, 1e-6, 1e-12] {
            for (u, uc) in
                adversarial_u().into_iter().flat_map(|u| [0.0, 0.5, 0.999_999_94].map(|uc| (u, uc)))
            {
                let Some(s) = lobe.sample(wo(z), uc, u) else { continue };
                let finite = s.wi.is_finite() && s.weight.is_finite() && s.pdf.is_finite();
                assert!(finite && s.pdf > 0.0 && s.weight.min_element() >= 0.0, "{lobe:?} {z}: {s:?}");
            }
        }
    }
}
