//! Dielectrics: values, densities, samples and energy against Walter et al. 2007 in f64, from both sides.

use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::{Bsdf, BsdfSample, Dielectric, Lobe, SmoothDielectric, ThinDielectric};
use device::features::Full;
use device::material::{At, DielectricMaterial, Facets, Parameters};
use glam::{Vec2, Vec3};
use statrs::function::beta::beta;

use crate::common::ggx::{self, Cells};
use crate::common::lobes::samples;
use crate::common::statistics::{Grid, Verdicts, chi2_test};
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, adversarial_u, polar};

/// Glass and water from outside and from inside, diamond, and what hardly differs from air.
const ETAS: [f32; 7] = [1.5, 1.0 / 1.5, 1.33, 1.0 / 1.33, 2.4, 1.0 / 2.4, 1.01];
const ALPHAS: [f32; 5] = [1e-3, 0.02, 0.1, 0.4, 1.0];
const COSINES: [f64; 5] = [1.0, 0.7, 0.3, 0.05, 0.01];

fn wo(z: f64) -> Vec3 {
    polar(z, 0.9).to_f32()
}

fn rough(alpha: f32, eta: f32) -> Dielectric {
    let (alpha, distribution) = (Vec2::splat(alpha), Distribution::Ggx);
    Dielectric { microfacet: Microfacet { alpha, distribution, masking: Masking::Correlated }, eta }
}

/// The same with the masking of Walter et al.
fn separable(alpha: f32, eta: f32) -> Dielectric {
    let mut lobe = rough(alpha, eta);
    lobe.microfacet.masking = Masking::Separable;
    lobe
}

/// Reflectance by Fresnel's amplitudes, from Snell's law.
fn reflectance(cos_i: f64, eta: f64) -> f64 {
    let sin_t = (1.0 - cos_i * cos_i).max(0.0).sqrt() / eta;
    if sin_t >= 1.0 {
        return 1.0;
    }
    let cos_t = (1.0 - sin_t * sin_t).sqrt();
    let s = (cos_i - eta * cos_t) / (cos_i + eta * cos_t);
    let p = (eta * cos_i - cos_t) / (eta * cos_i + cos_t);
    0.5 * (s * s + p * p)
}

/// The direction into which `wo` is refracted by a facet, if any, by Snell's law along the facet's tangent.
fn refracted(wo: DVec3, wm: DVec3, eta: f64) -> Option<DVec3> {
    let cos = wo.dot(wm);
    let tangential = (cos * wm - wo) / eta;
    let sin2 = tangential.dot(tangential);
    (sin2 < 1.0).then(|| tangential - (1.0 - sin2).sqrt() * wm)
}

/// Deliberate mistakes in an oracle.
#[derive(Clone, Copy, PartialEq)]
enum Mistake {
    None,
    /// Transmitted radiance is not scaled by 1/η².
    Unscaled,
    /// The Jacobian of refraction is that of reflection.
    Jacobian,
    /// η upside down.
    Inside,
    /// Masking correlated as for reflection.
    Masking,
}

/// (f, pdf) by eq. 14, 17, 20 and 21, with masking by correlated heights.
fn walter(wo: DVec3, wi: DVec3, alpha: f64, eta: f64, mistake: Mistake) -> (f64, f64) {
    let eta = if mistake == Mistake::Inside { 1.0 / eta } else { eta };
    let wm = if wi.z > 0.0 { wo + wi } else { wo + eta * wi }.normalize();
    let wm = if wm.z < 0.0 { -1.0 * wm } else { wm };
    let (o, i) = (wo.dot(wm), wi.dot(wm));
    if o <= 0.0 || i * wi.z <= 0.0 {
        return (0.0, 0.0);
    }
    let (r, d) = (reflectance(o, eta), ggx::visible_normals(wo, wm, alpha));
    let reflection = 1.0 / (4.0 * o);
    let refraction = eta * eta * i.abs() / (o + eta * i).powi(2);
    let (share, jacobian, scale) = match (wi.z > 0.0, mistake) {
        (true, _) => (r, reflection, 1.0),
        (false, Mistake::Unscaled) => (1.0 - r, refraction, 1.0),
        (false, Mistake::Jacobian) => (1.0 - r, reflection, 1.0 / (eta * eta)),
        (false, _) => (1.0 - r, refraction, 1.0 / (eta * eta)),
    };
    let pdf = share * d * jacobian;
    let lambda = |w| ggx::lambda(w, alpha);
    let (x, y) = (1.0 + lambda(wo), 1.0 + lambda(wi));
    let g2 = if wi.z > 0.0 || mistake == Mistake::Masking { 1.0 / (x + y - 1.0) } else { beta(x, y) };
    let g2_over_g1 = g2 * x;
    (pdf * g2_over_g1 * scale / wi.z.abs(), pdf)
}

/// Samples of a lobe, `None` where nothing was scattered.
/// Largest relative error of f and pdf against the definitions, where the numbers of f32 tell the half vector.
fn worst_against_walter(mistake: Mistake) -> f64 {
    let mut worst: f64 = 0.0;
    for eta in ETAS {
        for alpha in [0.1, 0.4, 1.0] {
            let lobe = rough(alpha, eta);
            for wo in COSINES.map(wo) {
                for s in samples(&lobe, wo, 300, 11).flatten() {
                    let (f, pdf) = lobe.eval_pdf(wo, s.wi);
                    let (o, i) = (wide(wo), wide(s.wi));
                    let expected = walter(o, i, alpha.into(), eta.into(), mistake);
                    // Where the half vector, or wo·wm + η wi·wm, cancels, rounding of the directions tells.
                    let half = if s.wi.z > 0.0 { o + i } else { o + f64::from(eta) * i };
                    let (length, wm) = (half.length(), half.normalize());
                    let conditioned = length.min(o.dot(wm).abs()).min(i.dot(wm).abs()).min(i.z.abs());
                    // Of directions that all but hide each other, the part that is left need only be small.
                    let of = expected.0.max(1e-3 * expected.1 / i.z.abs());
                    let error = ((f64::from(f.x) - expected.0).abs() / of)
                        .max((f64::from(pdf) / expected.1 - 1.0).abs());
                    worst = worst.max(error * (conditioned / 0.1).min(1.0).powi(2));
                }
            }
        }
    }
    worst
}

#[test]
fn values_and_densities_are_those_of_walter() {
    let worst = worst_against_walter(Mistake::None);
    assert!(worst < 3e-4, "{worst:e}");
}

#[test]
fn control_mistakes_are_rejected() {
    for mistake in [Mistake::Unscaled, Mistake::Jacobian, Mistake::Inside, Mistake::Masking] {
        assert!(worst_against_walter(mistake) > 1e-2);
    }
}

#[test]
fn weights_are_f_cos_over_pdf() {
    for eta in ETAS {
        for alpha in ALPHAS {
            let lobe = rough(alpha, eta);
            for wo in COSINES.map(wo) {
                for s in samples(&lobe, wo, 500, 11).flatten() {
                    let (f, pdf) = lobe.eval_pdf(wo, s.wi);
                    // The density of what a grazing or a narrow lobe drew may round to nothing.
                    if pdf > 0.0 {
                        let (expected, weight) = (f64::from(f.x * s.wi.z.abs() / pdf), f64::from(s.weight.x));
                        let error = (weight - expected).abs() / expected.max(1e-6);
                        assert!(error < 1e-4, "eta {eta}, alpha {alpha}: {error:e} at {wo} {}", s.wi);
                    }
                }
            }
        }
    }
}

/// Median relative error of f and pdf of refracted directions.
fn error_of_refraction(alpha: f32, eta: f32, wo: Vec3) -> f64 {
    let (lobe, mut random) = (rough(alpha, eta), Random::new(14));
    let refracted = (0..400).filter_map(|_| lobe.sample(wo, 0.999_999, random.vec2()));
    let error = |s: BsdfSample| {
        let (f, pdf) = lobe.eval_pdf(wo, s.wi);
        let expected = walter(wide(wo), wide(s.wi), alpha.into(), eta.into(), Mistake::None);
        (f64::from(f.x) / expected.0 - 1.0).abs().max((f64::from(pdf) / expected.1 - 1.0).abs())
    };
    let mut errors: Vec<_> = refracted.filter(|s| s.wi.z < 0.0).map(error).collect();
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

/// The index of refraction down to which an interface is rough is where f32 ceases to tell its directions: to 2 % at the
/// limit, and no more to 10 % at a hundredth of it.
#[test]
fn interfaces_are_smooth_where_f32_does_not_tell_directions() {
    for alpha in [1e-4, 1e-3, 0.01, 0.1, 1.0_f32] {
        let limit = 4e-6 / alpha;
        for (from_one, is_smooth) in [(1.05 * limit, false), (0.95 * limit, true), (0.01 * limit, true)] {
            for eta in [1.0 + from_one, 1.0 / (1.0 + from_one)] {
                assert_eq!(Dielectric::is_smooth(Vec2::splat(alpha), eta), is_smooth, "{alpha}, {eta}");
            }
        }
        let worst = |from_one: f32| {
            let of = |eta| {
                [0.9, 0.7, 0.4]
                    .map(|z| error_of_refraction(alpha, eta, wo(z)))
                    .into_iter()
                    .fold(0.0, f64::max)
            };
            of(1.0 + from_one).max(of(1.0 / (1.0 + from_one)))
        };
        let (at_limit, beyond) = (worst(1.05 * limit), worst(0.01 * limit));
        println!("alpha {alpha}: off by {at_limit:.4} at the limit, by {beyond:.2} beyond");
        assert!(at_limit < 0.02 && beyond > 0.1, "alpha {alpha}: {at_limit} {beyond}");
    }
}

#[test]
fn materials_are_as_smooth_from_behind_as_from_in_front() {
    let mut random = Random::new(15);
    let (mut smooth, mut disagreed) = (0, 0);
    let scene = crate::common::empty_scene();
    for _ in 0..10_000 {
        // Around the limit, by ulps and by parts.
        let alpha = random.power_of_ten(-4.0, 0.0) as f32;
        let from_one =
            f64::from(4e-6 / alpha) * (1.0 + random.power_of_ten(-7.0, 0.0) * random.within(-1.0, 1.0));
        let eta = (1.0 + from_one) as f32;
        let facets = Facets::new(Vec2::splat(alpha), Distribution::Ggx);
        let material = DielectricMaterial::new(eta, facets);
        let is_smooth = |front| {
            let at = At { front, ..At::new(&scene, Vec2::ZERO) };
            matches!(material.bsdf::<Full>(&at), Bsdf::SmoothDielectric(_))
        };
        assert_eq!(is_smooth(true), is_smooth(false), "alpha {alpha}, eta {eta}");
        smooth += u32::from(is_smooth(true));
        // Control: by the index seen from each side, the two do disagree.
        let by_side = |eta: f32| (eta - 1.0).abs() * alpha < 4e-6;
        disagreed += u32::from(by_side(eta) != by_side(1.0 / eta));
    }
    assert!((3000..7000).contains(&smooth) && disagreed > 10, "{smooth} {disagreed}");
}

/// P-values of reflected and refracted directions, each looked at as the facet that sent it there.
fn densities(lobe: &Dielectric, drawn_by: &Dielectric, wo: Vec3) -> f64 {
    const N: usize = 100_000;
    let (o, eta) = (wide(wo), f64::from(lobe.eta));
    let cells = Cells { alpha: lobe.microfacet.alpha.x.into(), size: [16, 32] };
    let mut reflected = Grid::new(cells.size);
    let mut transmitted = Grid::new(cells.size);
    for s in samples(drawn_by, wo, N, 11).flatten() {
        let i = wide(s.wi);
        let (grid, half) = if i.z > 0.0 {
            (&mut reflected, o + i)
        } else {
            (&mut transmitted, o + f64::from(drawn_by.eta) * i)
        };
        let half = half.normalize();
        let [v, turn] = cells.place(if half.z < 0.0 { -1.0 * half } else { half });
        grid.add(v, turn);
    }
    // Where a facet sends light: the parts that are reflected, refracted, and lost below or above the horizon.
    let parts = |wm: DVec3| {
        let cos = o.dot(wm).clamp(0.0, 1.0);
        let r = reflectance(cos, eta);
        let up = if 2.0 * cos * wm.z > o.z { r } else { 0.0 };
        let down = if refracted(o, wm, eta).is_some_and(|wi| wi.z < 0.0) { 1.0 - r } else { 0.0 };
        [up, down, 1.0 - up - down]
    };
    let part = |k: usize| cells.visible(o, 40, |wm| parts(wm)[k]);
    // One table: how much goes each way is tested as well.
    let mut counts = [reflected.counts, transmitted.counts].concat();
    counts.push(N as u64 - counts.iter().sum::<u64>());
    let mut expected = [part(0), part(1), vec![part(2).iter().sum()]].concat();
    expected.iter_mut().for_each(|p| *p *= N as f64);
    chi2_test(&counts, &expected)
}

#[test]
fn directions_are_drawn_with_their_density() {
    let mut verdicts = Verdicts::default();
    let etas = [1.5, 1.0 / 1.5, 1.33, 1.0 / 1.33];
    for [i, j, k] in tier::combinations([etas.len(), ALPHAS.len(), COSINES.len()]) {
        let (eta, alpha, z) = (etas[i], ALPHAS[j], COSINES[k]);
        // From within, grazing light leaves by facets that stand upright, which quadrature does not resolve where alpha is
        // small.
        if eta < 1.0 && alpha < 0.1 && z < 0.02 {
            continue;
        }
        let lobe = rough(alpha, eta);
        verdicts.add(densities(&lobe, &lobe, wo(z)), format!("eta {eta}, alpha {alpha}, cos {z}"));
    }
    verdicts.assert_none_rejected();
}

#[test]
fn control_other_densities_are_rejected() {
    let mut verdicts = Verdicts::default();
    for (alpha, eta) in [(0.1, 1.5), (0.4, 1.0 / 1.5), (0.4, 1.33)] {
        let lobe = rough(alpha, eta);
        verdicts.add(densities(&lobe, &rough(alpha * 1.05, eta), wo(0.7)), format!("{alpha}: rougher"));
        verdicts.add(densities(&lobe, &rough(alpha, eta * 1.05), wo(0.3)), format!("{eta}: denser"));
    }
    verdicts.assert_all_rejected();
}

/// n_i² f(wo, wi) = n_o² f(wi, wo): reversed paths carry radiance over n² alike (Veach 1997, eq. 5.14).
#[test]
fn reciprocity_holds_for_radiance_over_eta_squared() {
    let mut random = Random::new(12);
    for eta in ETAS {
        for alpha in [0.1, 0.4, 1.0] {
            let (forth, back) = (rough(alpha, eta), rough(alpha, 1.0 / eta));
            for _ in 0..1000 {
                let (a, b) = (random.direction().to_f32(), random.direction().to_f32());
                let (a, below) = (Vec3::new(a.x, a.y, a.z.abs()), Vec3::new(b.x, b.y, -b.z.abs()));
                let flip = |w: Vec3| Vec3::new(w.x, w.y, -w.z);
                // Where the half vector, or its cosine, cancels, rounding of the directions tells.
                let half = a + eta * below;
                let wm = half.normalize();
                if half.length().min(a.dot(wm).abs()).min(below.dot(wm).abs()) < 0.1 {
                    continue;
                }
                let there = f64::from(forth.eval(a, below).x) * f64::from(eta).powi(2);
                let again = f64::from(back.eval(flip(below), flip(a)).x);
                assert!((there - again).abs() <= 1e-3 * there + 1e-6, "{eta} {alpha}: {there} {again}");
                let above = flip(below);
                let (there, again) = (forth.eval(a, above).x, forth.eval(above, a).x);
                assert!((there - again).abs() <= 1e-3 * there + 1e-6, "{eta} {alpha}: {there} {again}");
            }
        }
    }
}

/// Energy that leaves, with the scale of radiance undone, is what quadrature over visible normals says, and no more
/// than arrives.
#[test]
fn energy_is_that_of_quadrature_and_never_more_than_arrives() {
    let alphas = [0.02, 0.1, 0.4, 1.0];
    for [i, j, k] in tier::combinations([ETAS.len(), alphas.len(), COSINES.len()]) {
        let (eta, alpha, z) = (ETAS[i], alphas[j], COSINES[k]);
        let lobe = separable(alpha, eta);
        let n = 100_000;
        let energy = |s: &BsdfSample| f64::from(s.weight.x) * f64::from(s.eta).powi(2);
        let sampled = samples(&lobe, wo(z), n, 11).flatten().map(|s| energy(&s)).sum::<f64>() / n as f64;
        let (o, a, e) = (wide(wo(z)), f64::from(alpha), f64::from(eta));
        let cells = Cells { alpha: a, size: [32, 64] };
        let ratio = |wi: DVec3| 1.0 / (1.0 + ggx::lambda(wi, a));
        let expected: f64 = cells
            .visible(o, 8, |wm| {
                let wm = wm.normalize();
                let cos = o.dot(wm).clamp(0.0, 1.0);
                let (r, up) = (reflectance(cos, e), 2.0 * cos * wm - o);
                let up = if up.z > 0.0 { r * ratio(up) } else { 0.0 };
                let down = refracted(o, wm, e).filter(|wi| wi.z < 0.0);
                up + down.map_or(0.0, |wi| (1.0 - r) * ratio(wi))
            })
            .iter()
            .sum();
        // Four standard deviations of numbers in [0, 1].
        let noise = 4.0 * (expected * (1.0 - expected).max(1e-3) / n as f64).sqrt() + 1e-4;
        assert!((sampled - expected).abs() < noise, "{eta} {alpha} {z}: {sampled} {expected}");
        assert!(sampled <= 1.0 + 1e-6, "{eta} {alpha} {z}: {sampled}");
    }
}

#[test]
fn smooth_interfaces_obey_snell_and_fresnel() {
    for eta in ETAS {
        for z in COSINES {
            let (lobe, o, e) = (SmoothDielectric { eta }, wo(z), f64::from(eta));
            let r = reflectance(wide(o).z, e);
            let up = lobe.sample(o, 0.0, Vec2::ZERO).filter(|_| r > 0.0);
            if let Some(s) = up {
                assert_eq!((s.wi, s.eta, s.weight), (Vec3::new(-o.x, -o.y, o.z), 1.0, Vec3::ONE));
            }
            // The part of uc that reflects is the reflectance.
            let n = 4096;
            let is_up = |k: usize| {
                let uc = (k as f32 + 0.5) / n as f32;
                lobe.sample(o, uc, Vec2::ZERO).is_some_and(|s| s.wi.z > 0.0)
            };
            let part = (0..n).filter(|&k| is_up(k)).count() as f64 / n as f64;
            assert!((part - r).abs() < 1.0 / n as f64 + 1e-5, "{eta} {z}: {part} {r}");
            if r < 1.0 {
                let s = lobe.sample(o, 0.999_999, Vec2::ZERO).expect("it refracts");
                let expected = refracted(wide(o), DVec3::new(0.0, 0.0, 1.0), e).expect("it refracts");
                assert!((wide(s.wi) - expected).length() < 1e-6, "{eta} {z}");
                assert!((f64::from(s.weight.x) * e * e - 1.0).abs() < 1e-6 && s.pdf == 0.0 && s.eta == eta);
            }
        }
    }
}

/// R + T²R + T²R³ + …, summed.
#[test]
fn thin_panes_reflect_all_orders() {
    for eta in [1.33, 1.5, 2.4] {
        for z in COSINES {
            let (lobe, o) = (ThinDielectric { eta }, wo(z));
            let r = reflectance(wide(o).z, eta.into());
            let sum: f64 = r + (0..200).map(|k| (1.0 - r).powi(2) * r.powi(2 * k + 1)).sum::<f64>();
            let n = 4096;
            let reflected = |k: usize| {
                let s = lobe.sample(o, (k as f32 + 0.5) / n as f32, Vec2::ZERO).expect("it goes somewhere");
                assert!(s.weight == Vec3::ONE && s.pdf == 0.0 && s.eta == 1.0);
                assert!(s.wi == -o || s.wi == Vec3::new(-o.x, -o.y, o.z));
                s.wi.z > 0.0
            };
            let part = (0..n).filter(|&k| reflected(k)).count() as f64 / n as f64;
            // At 0.01 the series has not converged after 200 terms, but it is all reflected nearly.
            assert!((part - sum).abs() < 1.0 / n as f64 + 2e-5, "{eta} {z}: {part} {sum}");
        }
    }
}

#[test]
fn samples_are_finite_for_all_uniforms_and_directions() {
    let cosines = COSINES.iter().chain(&[1e-5, 1e-6, 1e-8, 1e-12]);
    for (eta, &z) in ETAS.iter().flat_map(|&eta| cosines.clone().map(move |z| (eta, z))) {
        for alpha in [1e-4, 1e-3, 0.1, 1.0] {
            let (lobe, wo) = (rough(alpha, eta), wo(z));
            for (u, uc) in adversarial_u().into_iter().flat_map(|u| [0.0, 0.5, 0.999_999].map(|uc| (u, uc))) {
                let Some(s) = lobe.sample(wo, uc, u) else { continue };
                let bound = 1.000_01 / (s.eta * s.eta);
                assert!(s.wi.is_finite() && s.pdf.is_finite() && s.pdf > 0.0, "{lobe:?} {wo}: {s:?}");
                assert!(
                    s.weight.min_element() >= 0.0 && s.weight.max_element() <= bound,
                    "{lobe:?} {wo}: {s:?}"
                );
                let (f, pdf) = lobe.eval_pdf(wo, s.wi);
                assert!(f.is_finite() && pdf.is_finite() && pdf >= 0.0, "{lobe:?} {wo} {}: {f} {pdf}", s.wi);
            }
        }
    }
}
