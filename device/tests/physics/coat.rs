//! The clear coat by itself and over another lobe: values in f64, densities, energy.

use device::bsdf::{Coated, Conductor, Lobe};
use glam::{Vec2, Vec3};

use crate::common::layers::{albedo, any_wo, coat, dielectric, ggx, is_its_density, specular_brdf};
use crate::common::statistics::Verdicts;
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, polar};

#[test]
fn coats_reflect_fresnel_and_darken_along_both_directions() {
    let mut random = Random::new(45);
    for (alpha, eta, factor) in [(0.05, 1.5, 1.0), (0.3, 1.33, 0.6), (1.0, 2.0, 1.0)] {
        let lobe = coat(alpha, eta, factor);
        let t = DVec3::new(1.0, 0.0, 0.0);
        for _ in 0..500 {
            let wo = any_wo(&mut random);
            let Some(s) = lobe.sample(wo, 0.5, random.vec2()) else { continue };
            let (o, i) = (wide(wo), wide(s.wi));
            let cos = o.dot((o + i).normalize()).min(1.0);
            let facets = specular_brdf(Vec2::splat(alpha), t, o, i, false);
            let e = f64::from(factor) * dielectric(cos, eta.into()) * facets;
            let (f, pdf) = lobe.eval_pdf(wo, s.wi);
            let conditioned = (o + i).length().min(20.0 * o.z).min(20.0 * i.z).min(1.0);
            let error = (f64::from(f.x) / e - 1.0).abs() * conditioned;
            assert!(error < 1e-4 && f.x == f.y && f.y == f.z, "{alpha} {wo} {}: {error}", s.wi);
            assert_eq!((s.pdf, s.weight), (pdf, f * (s.wi.z / pdf)));
            assert!((lobe.eval(s.wi, wo).x / f.x - 1.0).abs() < 1e-5 || e < 1e-6);

            let left = |cos: f64| 1.0 - f64::from(factor) * dielectric(cos, eta.into());
            let e = left(o.z) * left(i.z);
            let below = Vec3::new(s.wi.x, s.wi.y, -s.wi.z);
            assert!((f64::from(lobe.attenuation(wo, s.wi)) - e).abs() < 1e-5);
            assert_eq!(lobe.attenuation(wo, below), lobe.attenuation(wo, s.wi));
            assert_eq!(lobe.eval_pdf(wo, below), (Vec3::ZERO, 0.0));
        }
    }
}

#[test]
fn coats_draw_directions_with_their_density() {
    let mut verdicts = Verdicts::default();
    for alpha in [0.05, 0.2, 1.0] {
        for z in [1.0, 0.6, 0.1] {
            let (lobe, wo) = (coat(alpha, 1.5, 1.0), polar(z, 0.9).to_f32());
            verdicts.add(is_its_density(&lobe, &lobe, wo), format!("alpha {alpha}, cos {z}"));
        }
    }
    verdicts.report("coats");
    verdicts.assert_none_rejected();
    let (lobe, wo) = (coat(0.2, 1.5, 1.0), polar(0.6, 0.9).to_f32());
    assert!(is_its_density(&lobe, &coat(0.21, 1.5, 1.0), wo) < 1e-4, "control");
}

/// Over whatever is below: the worst base turns all light to the normal, where the coat lets most of it out.
#[test]
fn coats_and_what_is_below_reflect_no_more_than_arrives() {
    let mut most: f64 = 0.0;
    for eta in [1.1, 1.33, 1.5, 2.0, 2.5] {
        for alpha in [1e-3, 0.1, 0.3, 0.5, 1.0] {
            for z in [1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.01] {
                for factor in [0.5, 1.0] {
                    let (lobe, wo) = (coat(alpha, eta, factor), polar(z, 0.2).to_f32());
                    let (reflected, error) = albedo(&lobe, wo, 2000, 46, |_, s| s.weight);
                    let total = reflected - 3.0 * error + f64::from(lobe.attenuation(wo, Vec3::Z));
                    most = most.max(total);
                    assert!(total <= 1.0 + 1e-4, "{eta} {alpha} {z} {factor}: {total} ± {error}");
                }
            }
        }
    }
    println!("coats and what is below reflect up to {most}");
}

fn coated(alpha: f32, factor: f32) -> Coated<Conductor> {
    let (eta, k) = (Vec3::new(0.143, 0.375, 1.442), Vec3::new(3.983, 2.386, 1.603));
    Coated {
        coat: coat(alpha, 1.5, factor),
        base: Conductor { microfacet: ggx(Vec2::new(0.4, 0.1)), eta, k },
    }
}

#[test]
fn what_is_coated_is_the_coat_and_what_it_lets_through() {
    let mut random = Random::new(47);
    for lobe in [coated(0.01, 1.0), coated(0.3, 0.5), coated(1.0, 1.0)] {
        for _ in 0..2000 {
            let (wo, uc) = (any_wo(&mut random), random.f32());
            let Some(s) = lobe.sample(wo, uc, random.vec2()) else { continue };
            let (f, pdf) = lobe.eval_pdf(wo, s.wi);
            assert_eq!((s.pdf, s.weight), (pdf, f * (s.wi.z / pdf)));
            let left = f - lobe.coat.attenuation(wo, s.wi) * lobe.base.eval(wo, s.wi);
            let e = lobe.coat.eval(wo, s.wi);
            assert!((left - e).abs().max_element() <= 1e-6 * f.max_element(), "{lobe:?} {wo} {}", s.wi);
            assert!(s.pdf > 0.0 && s.weight.is_finite() && s.wi.z > 0.0);
        }
        let (a, b) = (polar(0.9, 0.3).to_f32(), polar(0.2, 2.0).to_f32());
        assert!((lobe.eval(a, b) / lobe.eval(b, a) - 1.0).abs().max_element() < 1e-5);
    }
}

#[test]
fn what_is_coated_is_drawn_with_its_density() {
    let mut verdicts = Verdicts::default();
    for (alpha, z) in [(0.05, 0.9), (0.3, 0.5), (1.0, 0.1)] {
        let (lobe, wo) = (coated(alpha, 1.0), polar(z, 0.9).to_f32());
        verdicts.add(is_its_density(&lobe, &lobe, wo), format!("alpha {alpha}, cos {z}"));
        let (mean, error) = albedo(&lobe, wo, 2000, 48, |_, s| s.weight);
        assert!(mean - 4.0 * error <= 1.0, "{mean} ± {error}");
    }
    verdicts.assert_none_rejected();
    let (lobe, wo) = (coated(0.3, 1.0), polar(0.5, 0.9).to_f32());
    assert!(is_its_density(&lobe, &coated(0.3, 0.7), wo) < 1e-4, "control");
}
