//! Compensated conductors: furnaces, colours against those of walks, densities and bounds.

use std::f64::consts::{FRAC_1_PI, PI};

use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::{BsdfSample, CompensatedConductor, Conductor, Lobe};
use glam::{Vec2, Vec3};

use crate::common::facets::Facets;
use crate::common::ggx::{METALS, fresnel};
use crate::common::statistics::Verdicts;
use crate::common::vector::{DVec3, wide};
use crate::common::walk::{LONGEST, Walk};
use crate::common::{Random, adversarial_u, albedo, integrate, polar};

use super::{
    DISTRIBUTIONS, Mean, compensated_glass, in_parallel, is_its_density, name, surface, white, white_walk, wo,
};

/// Mean weight over a regular grid of uniforms.
fn mean_weight<L: Lobe>(lobe: impl Fn(u32) -> L, wo: Vec3, n: u32) -> f64 {
    let at = |i: u32| (i as f32 + 0.5) / n as f32;
    let mut random = Random::new(9);
    let draw = |i: u32| {
        // Three-dimensional strata by a lattice would do as well.
        lobe(i).sample(wo, random.f32(), Vec2::new(at(i / n), at(i % n)))
    };
    (0..n * n).filter_map(draw).map(|s| f64::from(s.weight.x)).sum::<f64>() / f64::from(n * n)
}

/// Albedo of the compensation alone.
fn added(lobe: &CompensatedConductor, wo: Vec3) -> DVec3 {
    let channel = |c: usize| {
        integrate(0.0, 1.0, 2, |t| 4.0 * PI * t.powi(3) * f64::from(lobe.multiple(wo.z, (t * t) as f32)[c]))
    };
    DVec3::new(channel(0), channel(1), channel(2))
}

/// Prints how much of what arrives a white conductor reflects.
#[test]
fn white_furnace() {
    for d in DISTRIBUTIONS {
        println!("{d:?}: alpha, angle: separable, correlated, compensated, random walk");
        let all: Vec<_> =
            (1..=10).flat_map(|a| [0.0, 45.0, 75.0, 87.0].map(|angle| (0.1 * f64::from(a), angle))).collect();
        let rows = in_parallel(&all, |&(alpha, angle): &(f64, f64)| {
            let m = surface([alpha as f32; 2], d);
            let o = polar(angle.to_radians().cos().min(1.0 - 1e-9), 0.9).to_f32();
            let plain = |masking| {
                let microfacet = Microfacet { masking, ..m };
                mean_weight(|_| Conductor { microfacet, eta: Vec3::ZERO, k: Vec3::ONE }, o, 100)
            };
            let single = albedo::conductor(d, alpha, o.z.into());
            let compensated = single + added(&white(m), o).x;
            let walk = mean_weight(|seed| white_walk(m, seed), o, 100);
            (plain(Masking::Separable), plain(Masking::Correlated), compensated, walk, single)
        });
        let mut worst = [0.0_f64; 2];
        for ((alpha, angle), (separable, correlated, compensated, walk, single)) in all.into_iter().zip(rows)
        {
            println!("{alpha:.1} {angle:>3}: {separable:.4} {correlated:.4} {compensated:.4} {walk:.4}");
            assert!((correlated - single).abs() < 5e-3, "{alpha} {angle}: {correlated} {single}");
            assert!((compensated - 1.0).abs() < 5e-3, "{alpha} {angle}: {compensated}");
            assert!((walk - 1.0).abs() < 1e-3, "{alpha} {angle}: {walk}");
            worst = [worst[0].max((compensated - 1.0).abs()), worst[1].max((walk - 1.0).abs())];
        }
        println!("{d:?}: compensated within {:.2e}, random walk within {:.2e}", worst[0], worst[1]);
    }
}

/// Where tables are coarse and losses are along the surface only, at cosines about as small as α.
#[test]
fn white_furnace_of_smoother_surfaces() {
    let mut range = (1.0_f64, 1.0_f64);
    for d in DISTRIBUTIONS {
        for alpha in [0.005, 0.01, 0.02, 0.03, 0.05, 0.08] {
            let lobe = white(surface([alpha as f32; 2], d));
            for mu in [0.003, 0.01, 0.03, 0.1, 0.5] {
                let added = integrate(0.0, 1.0, 8, |t| {
                    6.0 * PI * t.powi(5) * f64::from(lobe.multiple(mu as f32, t.powi(3) as f32).x)
                });
                let total = albedo::conductor(d, alpha, mu) + added;
                range = (range.0.min(total), range.1.max(total));
            }
        }
    }
    println!("smoother surfaces reflect between {:.4} and {:.4}", range.0, range.1);
    assert!(range.0 > 0.98 && range.1 < 1.002, "{range:?}");
}

/// The losses of another roughness do not close the furnace.
#[test]
fn control_wrong_losses_open_the_furnace() {
    for d in DISTRIBUTIONS {
        for (alpha, wrong) in [(0.5_f32, 0.45), (0.5, 0.55), (1.0, 0.9)] {
            let other = surface([wrong; 2], d);
            let total = albedo::conductor(d, alpha.into(), 0.6) + added(&white(other), wo(0.6)).x;
            assert!((total - 1.0).abs() > 5e-3, "{d:?} {alpha} {wrong}: {total}");
        }
    }
}

/// Metals, and what is more colourful: (eta, k).
fn colours() -> Vec<(Vec3, Vec3)> {
    let mut all: Vec<_> = METALS.iter().map(|(_, eta, k)| (*eta, *k)).collect();
    all.push((Vec3::new(0.05, 1.2, 1.5), Vec3::new(4.0, 0.5, 0.05)));
    all.push((Vec3::new(1.0, 0.4, 1.3), Vec3::new(0.3, 2.0, 1.0)));
    all
}

/// Albedos of the second and higher orders by walks, for all of `colours`.
fn colours_by_walks(d: Distribution, alpha: f64, z: f64) -> Vec<DVec3> {
    const N: u32 = 30_000;
    let colours = colours();
    let (mut sums, mut random) = (vec![[0.0; 3]; colours.len()], Random::new(10));
    let facets = Facets { alpha: [alpha; 2], distribution: d };
    for _ in 0..N {
        let mut walk = Walk { facets, eta: None, longest: LONGEST, random: &mut random };
        let Some(end) = walk.run(wide(wo(z))).filter(|end| end.cosines.len() > 1) else { continue };
        for ((eta, k), sum) in colours.iter().zip(&mut sums) {
            for c in 0..3 {
                let f = |cos: &f64| fresnel(cos.clamp(0.0, 1.0), eta[c].into(), k[c].into());
                sum[c] += end.cosines.iter().map(f).product::<f64>() / f64::from(N);
            }
        }
    }
    sums.into_iter().map(|[x, y, z]| DVec3::new(x, y, z)).collect()
}

/// Kulla and Conty's colour: F̄² Ē / (1 − F̄ (1 − Ē)).
fn kulla_conty(lobe: &CompensatedConductor, d: Distribution, z: f64) -> DVec3 {
    let alpha = lobe.microfacet.alpha.x;
    let lost = f64::from(device::bsdf::albedo::loss(d, alpha, z as f32));
    let mean = f64::from(device::bsdf::albedo::loss_average(d, alpha));
    let channel = |c: usize| {
        let f = f64::from(lobe.average[c]);
        lost * f * f * (1.0 - mean) / (1.0 - f * mean)
    };
    DVec3::new(channel(0), channel(1), channel(2))
}

#[test]
fn colours_are_those_of_walks_within_a_percent() {
    for d in DISTRIBUTIONS {
        let all: Vec<_> = [0.1, 0.25, 0.5, 0.75, 1.0]
            .into_iter()
            .flat_map(|alpha| [1.0, 0.7, 0.4, 0.15].map(|z| (alpha, z)))
            .collect();
        let (mut worst, mut plain) = (0.0_f64, 0.0_f64);
        for ((alpha, z), walks) in all.iter().zip(in_parallel(&all, |&(a, z)| colours_by_walks(d, a, z))) {
            for ((eta, k), expected) in colours().into_iter().zip(walks) {
                let lobe = CompensatedConductor::new(surface([*alpha as f32; 2], d), eta, k);
                let error =
                    |a: DVec3| (a - expected).to_array().into_iter().map(f64::abs).fold(0.0, f64::max);
                let off = error(added(&lobe, wo(*z)));
                // Three standard deviations of walks are 0.003.
                assert!(off < 0.012, "{d:?} {alpha} {z}, {eta} {k}: off by {off}");
                worst = worst.max(off);
                plain = plain.max(error(kulla_conty(&lobe, d, *z)));
            }
        }
        println!("{d:?}: colours differ by {worst:.4} at most; Kulla and Conty's by {plain:.4}");
        assert!(plain > 0.02, "control: {plain}");
    }
}

fn compensated_surfaces() -> Vec<Microfacet> {
    let alphas = [[0.25; 2], [0.5; 2], [1.0; 2], [0.3, 0.9]];
    DISTRIBUTIONS.into_iter().flat_map(|d| alphas.map(|alpha| surface(alpha, d))).collect()
}

#[test]
fn compensated_conductors_draw_directions_with_their_density() {
    let mut verdicts = Verdicts::default();
    for m in compensated_surfaces() {
        for z in [1.0, 0.7, 0.3, 0.05] {
            let lobe = CompensatedConductor::new(m, METALS[1].1, METALS[1].2);
            verdicts.add(is_its_density(&lobe, &lobe, wo(z)), name(&m, z));
        }
    }
    verdicts.report("compensated conductors");
    verdicts.assert_none_rejected();
}

#[test]
fn control_other_densities_are_rejected() {
    let mut verdicts = Verdicts::default();
    for d in DISTRIBUTIONS {
        let lobe = white(surface([0.5; 2], d));
        verdicts.add(is_its_density(&lobe, &white(surface([0.55; 2], d)), wo(0.7)), "rougher");
        let less = CompensatedConductor { average: Vec3::splat(0.5), ..lobe };
        verdicts.add(is_its_density(&lobe, &less, wo(0.7)), "less diffuse");
    }
    verdicts.report_largest("other densities");
    verdicts.assert_all_rejected();
}

/// Weights are f·cos/pdf, and f is the same both ways.
#[test]
fn compensated_conductors_are_what_they_say() {
    let mut random = Random::new(12);
    for m in compensated_surfaces() {
        for (eta, k) in colours() {
            let lobe = CompensatedConductor::new(m, eta, k);
            for _ in 0..300 {
                let (a, b) = (random.direction().to_f32(), random.direction().to_f32());
                let a = Vec3::new(a.x, a.y, a.z.abs());
                let (f, pdf) = lobe.eval_pdf(a, b);
                if b.z <= 0.0 {
                    assert_eq!((f, pdf), (Vec3::ZERO, 0.0));
                    continue;
                }
                let back = lobe.eval(b, a);
                assert!((f - back).abs().max_element() <= 1e-5 * f.max_element(), "{f} {back}");
                if let Some(s) = lobe.sample(a, random.f32(), random.vec2()) {
                    let (f, pdf) = lobe.eval_pdf(a, s.wi);
                    let expected = f * s.wi.z / pdf;
                    let error = (s.weight - expected).abs().max_element();
                    assert!((s.pdf / pdf - 1.0).abs() < 1e-4 && error <= 1e-4 * expected.max_element());
                }
            }
        }
    }
}

/// The compensation of white facets, from losses by quadrature: within the error of interpolation.
#[test]
fn compensation_is_what_was_lost() {
    for d in DISTRIBUTIONS {
        for alpha in [0.3, 0.8] {
            let loss = |mu: f64| 1.0 - albedo::conductor(d, alpha, mu);
            let mean = integrate(0.0, 1.0, 1, |t| 4.0 * t.powi(3) * loss((t * t).min(1.0 - 1e-9)));
            for (o, i) in [(0.9, 0.4), (0.2, 0.6), (0.7, 0.7)] {
                let expected = loss(o) * loss(i) / mean * FRAC_1_PI;
                let f = white(surface([alpha as f32; 2], d)).multiple(o as f32, i as f32).x;
                assert!((f64::from(f) - expected).abs() < 2e-3, "{d:?} {alpha} {o} {i}: {f} {expected}");
            }
        }
    }
}

#[test]
fn compensated_samples_are_finite_for_all_uniforms_and_directions() {
    let extremes = DISTRIBUTIONS.into_iter().flat_map(|d| {
        [[1e-4; 2], [1e-3; 2], [0.05; 2], [3.0; 2], [1.0, 0.01]].map(|alpha| surface(alpha, d))
    });
    for m in compensated_surfaces().into_iter().chain(extremes) {
        for (eta, k) in colours().into_iter().chain([(Vec3::ZERO, Vec3::ONE)]) {
            let lobe = CompensatedConductor::new(m, eta, k);
            for z in [1.0, 0.5, 0.03, 1e-3, 1e-6, 1e-12] {
                for u in adversarial_u() {
                    for uc in [0.0, 0.5, 0.999_999_94] {
                        let Some(s) = lobe.sample(wo(z), uc, u) else { continue };
                        let finite = s.wi.is_finite() && s.weight.is_finite() && s.pdf.is_finite();
                        assert!(
                            finite && s.pdf > 0.0 && s.weight.min_element() >= 0.0,
                            "{lobe:?} {z}: {s:?}"
                        );
                    }
                }
            }
        }
    }
}

/// Mean of what samples carry, by their weights and by f·cos/pdf of their directions, and the standard error of the
/// first.
fn carried(lobe: &impl Lobe, wo: Vec3) -> (f64, f64, f64) {
    let (mut random, mut weights, mut ratios) = (Random::new(14), Mean::default(), Mean::default());
    for _ in 0..4000 {
        let s = lobe.sample(wo, random.f32(), random.vec2());
        let carried = |weight: fn(&BsdfSample, Vec3, f32) -> Vec3| {
            s.as_ref().map_or(0.0, |s| {
                let (f, pdf) = lobe.eval_pdf(wo, s.wi);
                f64::from((weight(s, f, pdf) * s.eta * s.eta).max_element())
            })
        };
        weights.add(carried(|s, _, _| s.weight));
        ratios.add(carried(|s, f, pdf| f * (s.wi.z.abs() / pdf.max(f32::MIN_POSITIVE))));
    }
    (weights.mean(), ratios.mean(), weights.error())
}

/// Along the surface a peak may be so narrow that f of a direction in f32 says that it is not there; as a control, that
/// ratios of f and pdf then make light.
#[test]
fn compensation_makes_no_light_where_peaks_are_narrower_than_f32() {
    let mut control = [0.0_f64; 2];
    for (d, alpha) in DISTRIBUTIONS.into_iter().flat_map(|d| [1e-4, 3e-4, 1e-3].map(|alpha| (d, alpha))) {
        let m = surface([alpha; 2], d);
        for z in [1e-6, 1e-5, 5e-5, 2e-4] {
            let o = polar(z, 0.9).to_f32();
            let metal = CompensatedConductor::new(m, METALS[0].1, METALS[0].2);
            let all = [carried(&metal, o), carried(&compensated_glass(m, 1.0 / 1.5), o)];
            for (k, (weight, ratio, error)) in all.into_iter().enumerate() {
                let limit = 1.002 + 5.0 * error;
                assert!(weight <= limit, "{}: {weight} ± {error}", name(&m, z));
                control[k] = control[k].max(ratio);
            }
        }
    }
    assert!(control[0] > 10.0 && control[1] > 10.0, "control: {control:?}");
}
