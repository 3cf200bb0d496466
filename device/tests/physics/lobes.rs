//! Every lobe: its value, density, samples and energy against closed forms and quadrature in f64.

use std::f64::consts::{FRAC_1_PI, TAU};

use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::{Bsdf, BsdfSample, Conductor, Diffuse, Lobe, SmoothConductor};
use device::features::Full;
use device::material::{At, Color, ConductorMaterial, DiffuseMaterial, Facets, Parameters};
use glam::{Vec2, Vec3};

use crate::common::ggx::{self, Cells, G2, METALS};
use crate::common::lobes::samples;
use crate::common::statistics::{Grid, Verdicts, chi2_test, chi2_uniform};
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, adversarial_u, in_plane, polar, turn};

const ALPHAS: [f32; 6] = [1e-4, 1e-3, 0.02, 0.1, 0.5, 1.0];
const COSINES: [f64; 5] = [1.0, 0.7, 0.2, 0.03, 1e-3];
const KINDS: [(Masking, G2); 2] =
    [(Masking::Correlated, G2::Correlated), (Masking::Separable, G2::Separable)];

fn wo(z: f64) -> Vec3 {
    polar(z, 0.9).to_f32()
}

fn conductor(alpha: f32, masking: Masking, eta: Vec3, k: Vec3) -> Conductor {
    let (alpha, distribution) = (Vec2::splat(alpha), Distribution::Ggx);
    Conductor { microfacet: Microfacet { alpha, distribution, masking }, eta, k }
}

/// A conductor that reflects everything.
fn white(alpha: f32, masking: Masking) -> Conductor {
    conductor(alpha, masking, Vec3::ZERO, Vec3::ONE)
}

const PAINT: Diffuse = Diffuse { reflectance: Vec3::new(0.9, 0.5, 0.1) };

/// All lobes, as the renderer makes them from materials.
fn lobes() -> Vec<(String, Bsdf)> {
    let scene = crate::common::empty_scene();
    let at = At::new(&scene, Vec2::ZERO);
    let paint = DiffuseMaterial::new(Color::new(PAINT.reflectance));
    let mut lobes = vec![("diffuse".to_owned(), paint.bsdf::<Full>(&at))];
    for alpha in ALPHAS {
        for (i, (metal, eta, k)) in METALS.into_iter().enumerate() {
            let distribution = if i % 3 == 2 { Distribution::Beckmann } else { Distribution::Ggx };
            let alpha = Vec2::new(alpha, alpha * [1.0, 1.0, 1.0, 0.5, 2.0, 1.0][i]);
            let mut facets = Facets::new(alpha, distribution);
            facets.masking = KINDS[i % 2].0 as u32;
            let metal = format!("{metal}, alpha {alpha:?}, {distribution:?}");
            let material = ConductorMaterial::new(eta, k, facets);
            lobes.push((metal, material.bsdf::<Full>(&at)));
        }
    }
    lobes
}

/// Largest relative error of `weight` against f·cos/pdf, over samples of all lobes.
fn worst_weight(weight: impl Fn(&Bsdf, Vec3, &BsdfSample) -> Vec3) -> f64 {
    let mut worst: f64 = 0.0;
    for (_, lobe) in lobes() {
        for wo in COSINES.map(wo) {
            for s in samples(&lobe, wo, 500, 5).flatten() {
                let (f, pdf) = lobe.eval_pdf(wo, s.wi);
                let error = weight(&lobe, wo, &s) * pdf / (f * s.wi.z) - 1.0;
                // At grazing angles the half vector of wo and wi cancels, and with it the cosine that reflectance
                // depends on.
                let half = 0.5 * (wide(wo) + wide(s.wi)).length();
                worst = worst.max(f64::from(error.abs().max_element()) * (half / 0.03).min(1.0));
                assert!(pdf > 0.0 && !error.is_nan());
            }
        }
    }
    worst
}

/// The peak of a small alpha is so narrow that the half vector of wo and wi misses the normal that wi was drawn by; the
/// same half vector is in f and in pdf, and cancels.
#[test]
fn weights_are_f_cos_over_pdf() {
    let worst = worst_weight(|_, _, s| s.weight);
    assert!(worst < 1e-4, "{worst:e}");
}

#[test]
fn control_wrong_weights_are_rejected() {
    assert!(worst_weight(|_, _, s| s.weight * 1.001) > 5e-4);
    let forgotten = |lobe: &Bsdf, wo: Vec3, s: &BsdfSample| match lobe {
        Bsdf::Conductor(c) => s.weight * c.microfacet.g1(wo),
        _ => s.weight,
    };
    assert!(worst_weight(forgotten) > 0.1);
}

#[test]
fn density_of_a_sample_is_that_of_its_direction() {
    for (name, lobe) in lobes() {
        // How steep the logarithm of the density is, against the width of the peak; tails of Beckmann's are e^(−s²).
        let (alpha, steepness) = match &lobe {
            Bsdf::Conductor(Conductor { microfacet: m, .. }) => {
                (m.alpha.min_element(), if m.distribution == Distribution::Beckmann { 8.0 } else { 1.0 })
            }
            _ => (1.0, 1.0),
        };
        for wo in COSINES.map(wo) {
            for s in samples(&lobe, wo, 2000, 5).flatten() {
                let relative = (s.pdf / lobe.pdf(wo, s.wi) - 1.0).abs();
                // The half vector of wo and wi is off by an ulp or two, of a peak as wide as alpha; more where it cancels.
                let half = 0.5 * (wo + s.wi).length();
                assert!(
                    relative < 2e-5 + steepness * 1e-6 / (alpha * half),
                    "{name}, {wo}: {relative} at {}",
                    s.wi
                );
                assert!(s.pdf > 0.0 && (wide(s.wi).length() - 1.0).abs() < 3e-7 && s.wi.z > 0.0, "{name}");
            }
        }
    }
}

#[test]
fn eval_pdf_is_eval_and_pdf_and_reciprocal_and_nothing_below() {
    let mut random = Random::new(6);
    for (name, lobe) in lobes() {
        for _ in 0..2000 {
            let (a, b) = (random.direction().to_f32(), random.direction().to_f32());
            let (f, pdf) = lobe.eval_pdf(a, b);
            assert_eq!((f, pdf), (lobe.eval(a, b), lobe.pdf(a, b)), "{name}");
            assert!(f.is_finite() && pdf.is_finite() && f.min_element() >= 0.0 && pdf >= 0.0, "{name}");
            if a.z <= 0.0 || b.z <= 0.0 {
                assert_eq!((f, pdf), (Vec3::ZERO, 0.0), "{name}: {a} {b}");
            }
            if a.z <= 0.0 {
                assert!(lobe.sample(a, 0.5, random.vec2()).is_none(), "{name}: {a}");
            }
            let reverse = lobe.eval(b, a);
            assert!((f - reverse).abs().max_element() <= 1e-5 * f.max_element(), "{name}: {f} {reverse}");
        }
    }
}

/// f and pdf of conductors against the definitions in f64, around the peak and off it.
#[test]
fn conductors_agree_with_torrance_and_sparrow() {
    let mut random = Random::new(7);
    for alpha in [0.02, 0.1, 0.5, 1.0] {
        for (metal, eta, k) in METALS {
            for (masking, kind) in KINDS {
                let lobe = conductor(alpha, masking, eta, k);
                for _ in 0..500 {
                    let wo = polar(random.power_of_ten(-3.0, 0.0), random.within(0.0, TAU)).to_f32();
                    let elsewhere = polar(random.within(0.01, 1.0), random.within(0.0, TAU)).to_f32();
                    let wi = lobe.sample(wo, 0.0, random.vec2()).map_or(elsewhere, |s| s.wi);
                    let (f, pdf) = lobe.eval_pdf(wo, wi);
                    let (o, i, a) = (wide(wo), wide(wi), f64::from(alpha));
                    let wm = (o + i).normalize();
                    let expected_pdf =
                        ggx::bounded(o, a) * ggx::visible_normals(o, wm, a) / (4.0 * o.dot(wm));
                    let expected = ggx::conductor(o, i, a, kind, eta, k);
                    // At grazing angles wo·wm, on which all reflectances depend, is small and cancels.
                    let tolerance = 2e-5 + 1e-6 / a + 1e-6 / o.dot(wm);
                    let relative = (wide(f) - expected).length() / expected.length();
                    assert!(relative < tolerance, "{metal}, alpha {alpha}: f off by {relative} at {wo} {wi}");
                    let relative = (f64::from(pdf) / expected_pdf - 1.0).abs();
                    assert!(
                        relative < tolerance,
                        "{metal}, alpha {alpha}: pdf off by {relative} at {wo} {wi}"
                    );
                }
            }
        }
    }
}

/// P-value of the directions drawn from a conductor, looked at as normals; the part that misses the hemisphere is
/// compared with quadrature by itself, as it may be the thinnest of slivers.
fn is_its_density(lobe: &Conductor, drawn_by: &Conductor, wo: Vec3) -> f64 {
    const N: usize = 100_000;
    let cells = Cells { alpha: lobe.microfacet.alpha.x.into(), size: [16, 32] };
    let reflected = |wm: DVec3| 2.0 * wide(wo).dot(wm) * wm - wide(wo);
    let more = ggx::bounded(wide(wo), cells.alpha);
    let mut expected = cells.visible(wide(wo), 20, |wm| if reflected(wm).z > 0.0 { more } else { 0.0 });
    let mut grid = Grid::new(cells.size);
    for s in samples(drawn_by, wo, N, 5).flatten() {
        let [v, turn] = cells.place((wide(wo) + wide(s.wi)).normalize());
        grid.add(v, turn);
    }
    let (drawn, sum) = (grid.counts.iter().sum::<u64>() as f64, expected.iter().sum::<f64>());
    if (drawn / N as f64 - sum).abs() > 0.007 {
        return 0.0;
    }
    expected.iter_mut().for_each(|p| *p *= drawn / sum);
    chi2_test(&grid.counts, &expected)
}

#[test]
fn conductors_draw_directions_with_their_density() {
    let mut verdicts = Verdicts::default();
    for alpha in ALPHAS {
        for z in COSINES {
            let lobe = white(alpha, Masking::Correlated);
            // Directions in f32 do not tell the normal they were drawn by where peak and cosine are both this small.
            if f64::from(alpha) * z > 2e-5 || z > 0.1 {
                verdicts.add(is_its_density(&lobe, &lobe, wo(z)), format!("alpha {alpha}, cos {z}"));
            }
        }
    }
    verdicts.assert_none_rejected();
}

#[test]
fn mirrors_reflect_the_fresnel_term_in_one_direction() {
    for (metal, eta, k) in METALS {
        let lobe = SmoothConductor { eta, k };
        for z in COSINES {
            let wo = wo(z);
            let s = lobe.sample(wo, 0.5, Vec2::ZERO).expect("a mirror reflects");
            assert_eq!((s.wi, s.pdf, s.eta), (Vec3::new(-wo.x, -wo.y, wo.z), 0.0, 1.0));
            for channel in 0..3 {
                let expected = ggx::fresnel(f64::from(wo.z), eta[channel].into(), k[channel].into());
                assert!((f64::from(s.weight[channel]) - expected).abs() < 2e-6, "{metal}, {z}");
            }
            assert_eq!(lobe.eval_pdf(wo, s.wi), (Vec3::ZERO, 0.0));
        }
    }
}

#[test]
fn diffuse_draws_directions_with_its_density() {
    let mut grid = Grid::new([16, 32]);
    for s in samples(&PAINT, wo(0.3), 200_000, 5).flatten() {
        let w = wide(s.wi);
        assert!((f64::from(s.pdf) - w.z * FRAC_1_PI).abs() < 1e-7);
        grid.add(w.z * w.z, turn(w.x, w.y));
    }
    assert!(chi2_uniform(&grid.counts) > 0.001);
}

#[test]
fn control_another_roughness_is_rejected() {
    let mut verdicts = Verdicts::default();
    for alpha in [1e-3, 0.1, 0.5] {
        let (lobe, other) = (white(alpha, Masking::Correlated), white(alpha * 1.05, Masking::Correlated));
        verdicts.add(is_its_density(&lobe, &other, wo(0.7)), format!("alpha {alpha}"));
    }
    verdicts.assert_all_rejected();
}

/// ∫ f(wi) dωi over the hemisphere by the midpoint rule in (cos θ, φ).
fn over_hemisphere(mut f: impl FnMut(Vec3) -> f64) -> f64 {
    const N: usize = 512;
    let at = |i: usize| (i as f64 + 0.5) / N as f64;
    (0..N * N).map(|k| f(polar(at(k / N), TAU * at(k % N)).to_f32())).sum::<f64>() * TAU / (N * N) as f64
}

/// Uniforms on a regular grid.
fn grid(n: usize) -> impl Iterator<Item = Vec2> {
    let at = move |i: usize| (i as f32 + 0.5) / n as f32;
    (0..n * n).map(move |k| Vec2::new(at(k / n), at(k % n)))
}

#[test]
fn densities_integrate_to_the_part_of_samples_that_is_valid() {
    let diffuse = over_hemisphere(|wi| PAINT.pdf(wo(0.5), wi).into());
    assert!((diffuse - 1.0).abs() < 1e-5, "{diffuse}");
    for alpha in [0.2, 0.5, 1.0] {
        for z in [1.0, 0.7, 0.2, 0.03] {
            let (lobe, wo) = (white(alpha, Masking::Correlated), wo(z));
            let total = over_hemisphere(|wi| lobe.pdf(wo, wi).into());
            let valid =
                grid(1024).filter(|&u| lobe.sample(wo, 0.5, u).is_some()).count() as f64 / 1_048_576.0;
            assert!(
                total <= 1.0 + 1e-4 && (total - valid).abs() < 2e-3,
                "alpha {alpha}, cos {z}: {total} {valid}"
            );
        }
    }
}

/// Directional albedo by the definition, ∫ f cos θi dωi, of a white conductor in f64: over visible normals, the mean
/// of G2/G1.
fn albedo(wo: Vec3, alpha: f32, kind: G2) -> f64 {
    let (o, a) = (wide(wo), f64::from(alpha));
    let g1 = 1.0 / (1.0 + ggx::lambda(o, a));
    let cells = Cells { alpha: a, size: [32, 64] };
    let reflected = |wm: DVec3| 2.0 * o.dot(wm) * wm - o;
    let ratio = |wi: DVec3| if wi.z > 0.0 { ggx::g2(o, wi, a, kind) / g1 } else { 0.0 };
    cells.visible(o, 10, |wm| ratio(reflected(wm))).iter().sum()
}

/// Mean weight over a regular grid of uniforms.
fn mean_weight(lobe: &impl Lobe, wo: Vec3) -> DVec3 {
    const N: usize = 300;
    let weights = grid(N).filter_map(|u| lobe.sample(wo, 0.5, u)).map(|s| wide(s.weight));
    weights.fold(DVec3::ZERO, |a, b| a + b) / (N * N) as f64
}

#[test]
fn white_conductors_reflect_their_albedo_and_never_more_than_arrives() {
    for alpha in ALPHAS {
        for z in COSINES {
            for (masking, kind) in KINDS {
                let reflected = mean_weight(&white(alpha, masking), wo(z));
                let expected = albedo(wo(z), alpha, kind);
                assert_eq!((reflected.x, reflected.x), (reflected.y, reflected.z));
                assert!(
                    (reflected.x - expected).abs() < 1e-3,
                    "{alpha} {z} {masking:?}: {reflected:?} {expected}"
                );
                assert!(reflected.x <= 1.0 + 1e-6, "{alpha} {z} {masking:?}: {reflected:?}");
            }
        }
        let mirror = albedo(wo(0.7), 1e-4, G2::Correlated);
        assert!((mirror - 1.0).abs() < 1e-4, "a smooth mirror loses nothing: {mirror}");
    }
}

#[test]
fn control_the_albedo_tells_how_masking_combines() {
    for (alpha, z) in [(0.5, 0.2), (1.0, 0.2), (1.0, 0.7)] {
        let reflected = mean_weight(&white(alpha, Masking::Separable), wo(z)).x;
        assert!((reflected - albedo(wo(z), alpha, G2::Correlated)).abs() > 0.01, "{alpha} {z}");
    }
}

/// Sampling and quadrature of `eval` agree under uneven light, too: 1 + wi·x + wi.z².
#[test]
fn importance_sampled_integrals_equal_quadrature_of_f() {
    let light = |wi: Vec3| 1.0 + f64::from(wi.x) + f64::from(wi.z * wi.z);
    let mut lobes: Vec<(String, Bsdf)> = vec![("diffuse".to_owned(), Bsdf::Diffuse(PAINT))];
    for (alpha, (metal, eta, k)) in [0.2, 0.5, 1.0].into_iter().cycle().zip(METALS) {
        lobes.push((
            format!("{metal}, {alpha}"),
            Bsdf::Conductor(conductor(alpha, Masking::Correlated, eta, k)),
        ));
    }
    for (name, lobe) in lobes {
        for z in [1.0, 0.7, 0.2] {
            let wo = wo(z);
            for channel in 0..3 {
                let quadrature =
                    over_hemisphere(|wi| light(wi) * f64::from(lobe.eval(wo, wi)[channel] * wi.z));
                let sampled = grid(400).filter_map(|u| lobe.sample(wo, 0.5, u));
                let sampled: f64 =
                    sampled.map(|s| light(s.wi) * f64::from(s.weight[channel])).sum::<f64>() / 160_000.0;
                assert!(
                    (sampled - quadrature).abs() < 2e-3 * quadrature,
                    "{name}, {z}: {sampled} {quadrature}"
                );
            }
        }
    }
}

#[test]
fn samples_are_finite_for_all_uniforms_and_directions() {
    let mut wos: Vec<Vec3> = COSINES.iter().chain(&[1e-6, 1e-12]).map(|&z| wo(z)).collect();
    wos.extend([Vec3::Z, in_plane(1e-3, -1.0), in_plane(1e-9, 1.0)]);
    for (name, lobe) in lobes() {
        for &wo in &wos {
            for s in adversarial_u().into_iter().filter_map(|u| lobe.sample(wo, 0.5, u)) {
                let finite = s.wi.is_finite() && s.weight.is_finite() && s.pdf.is_finite();
                assert!(
                    finite && s.weight.min_element() >= 0.0 && s.weight.max_element() <= 1.000_001,
                    "{name}: {s:?}"
                );
                // A density of zero would be taken for that of a mirror.
                assert!(s.pdf > 0.0, "{name}, {wo}: {s:?}");
            }
        }
    }
}
