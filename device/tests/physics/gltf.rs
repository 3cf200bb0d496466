//! The layered material of glTF: values against the formulas of the specification in f64, densities, energy, and the
//! limits in which it is something simpler.

mod formulas;

use std::f64::consts::TAU;

use device::bsdf::microfacet::Distribution;
use device::bsdf::{Bsdf, BsdfSample, Diffuse, Film, Gltf, Lobe, Sheen, fresnel};
use device::features::Full;
use device::material::{At, GltfMaterial, Parameters, Scalar};
use glam::{Vec2, Vec3};

use crate::common::facets::Facets;
use crate::common::layers::{albedo, any_wo, coat, ggx, is_its_density, samples, specular_brdf};
use crate::common::statistics::Verdicts;
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, adversarial_u, integrate, polar};

use formulas::{Mistake, any, expected, plain, rotation, schlick, splat};

/// Largest relative error of f, of directions of which f32 tells the half vector.
fn worst_f(mistake: Mistake) -> f64 {
    let mut random = Random::new(31);
    let mut worst: f64 = 0.0;
    for _ in 0..4000 {
        let (g, wo) = (any(&mut random, 0.05), any_wo(&mut random));
        for s in samples(&g, wo, 8, random.bits()).flatten() {
            let (f, e) = (wide(g.eval(wo, s.wi)), expected(&g, wide(wo), wide(s.wi), mistake));
            let up = Vec3::new(s.wi.x, s.wi.y, s.wi.z.abs());
            let conditioned = f64::from((wo + up).length().min(20.0 * wo.z).min(20.0 * up.z)).min(1.0);
            // Of a film that reflects next to nothing, that is what rounding left of 1 − T.
            let specular = specular_brdf(g.microfacet.alpha, rotation(&g, 1.0), wide(wo), wide(up), false);
            let of = if g.film.factor > 0.0 { 1e-2 * specular } else { 0.0 };
            let error = (f - e).length() / e.length().max(f.length()).max(of).max(1e-4);
            worst = worst.max(error * conditioned);
        }
    }
    worst
}

#[test]
fn values_are_those_of_the_specification() {
    let worst = worst_f(Mistake::None);
    println!("f is off by up to {worst:e}");
    assert!(worst < 3e-4, "{worst:e}");
}

#[test]
fn control_mistakes_are_rejected() {
    use Mistake::{CoatFree, CoatOnce, F90, HalfVector, Masking, Metal, Rotation, SheenFree};
    for mistake in [Rotation, HalfVector, CoatOnce, CoatFree, Masking, Metal, F90, SheenFree] {
        let worst = worst_f(mistake);
        assert!(worst > 1e-2, "{mistake:?}: {worst}");
    }
}

#[test]
fn parameters_are_those_of_the_extensions() {
    assert!((Gltf::dielectric_f0(1.5, 1.0, Vec3::ONE) - 0.04).abs().max_element() < 1e-8);
    assert_eq!(Gltf::dielectric_f0(0.0, 0.5, Vec3::new(0.5, 1.0, 2.0)), Vec3::new(0.25, 0.5, 0.5));
    assert_eq!(Gltf::dielectric_f0(1.0, 1.0, Vec3::ONE), Vec3::ZERO);
    assert_eq!(Gltf::alpha(0.5, 0.0), Vec2::splat(0.25));
    assert_eq!(Gltf::alpha(0.5, 1.0), Vec2::new(1.0, 0.25));
    assert_eq!(Gltf::alpha(0.5, 0.5), Vec2::new(0.4375, 0.25));
    assert!(Gltf::alpha(0.0, 0.0).min_element() > 0.0);
}

/// Largest relative error of `weight` against f·|cos|/pdf.
fn worst_weight(weight: impl Fn(&Gltf, Vec3, &BsdfSample) -> Vec3) -> f64 {
    let mut random = Random::new(32);
    let mut worst: f64 = 0.0;
    for _ in 0..20_000 {
        let (g, wo) = (any(&mut random, 1e-4), any_wo(&mut random));
        for s in samples(&g, wo, 4, random.bits()).flatten() {
            let (f, pdf) = g.eval_pdf(wo, s.wi);
            let of = weight(&g, wo, &s);
            let error = (f * s.wi.z.abs() / pdf - of).abs().max_element() / of.max_element().max(1e-3);
            worst = worst.max(f64::from(error));
            assert!(pdf == s.pdf && pdf > 0.0 && s.eta == 1.0, "{g:?} {wo}: {s:?}, {pdf}");
        }
    }
    worst
}

#[test]
fn weights_are_f_cos_over_pdf() {
    let worst = worst_weight(|_, _, s| s.weight);
    println!("weights are off by up to {worst:e}");
    assert!(worst < 1e-4, "{worst:e}");
}

#[test]
fn control_wrong_weights_are_rejected() {
    assert!(worst_weight(|_, _, s| s.weight * 1.001) > 5e-4);
    assert!(worst_weight(|g, wo, s| s.weight * g.coat.attenuation(wo, s.wi)) > 0.1);
}

#[test]
fn directions_are_drawn_with_their_density() {
    let (mut verdicts, mut random) = (Verdicts::default(), Random::new(34));
    for k in 0..tier::choose(10, 60_usize) {
        let mut g = any(&mut random, 0.03);
        // Where all layers are at work.
        if k % 2 == 0 {
            g.base_color = g.base_color.max(Vec3::splat(0.3));
            g.metallic *= 0.5;
            g.transmission = 0.5;
            g.coat.factor = 0.7;
            g.sheen.color = if k.is_multiple_of(4) { Vec3::splat(0.5) } else { Vec3::ZERO };
        }
        let wo = polar([1.0, 0.8, 0.5, 0.2, 0.06][k % 5], random.within(0.0, TAU)).to_f32();
        if luminance(&g, wo) > 1e-3 {
            verdicts.add(is_its_density(&g, &g, wo), format!("{g:?} {wo}"));
        }
    }
    verdicts.report("densities");
    verdicts.assert_none_rejected();
}

fn luminance(g: &Gltf, wo: Vec3) -> f64 {
    albedo(g, wo, 64, 1, |_, s| s.weight).0
}

#[test]
fn control_other_densities_are_rejected() {
    let mut verdicts = Verdicts::default();
    let wo = polar(0.7, 0.4).to_f32();
    let g = Gltf {
        transmission: 0.4,
        coat: coat(0.2, 1.5, 1.0),
        rotation: Vec2::new(0.8, 0.6),
        microfacet: ggx(Vec2::new(0.5, 0.15)),
        ..plain(Vec3::splat(0.5), 0.2, 0.3)
    };
    let others = [
        Gltf { transmission: 0.45, ..g },
        Gltf { rotation: Vec2::new(0.8, -0.6), ..g },
        Gltf { microfacet: ggx(Vec2::new(0.5, 0.18)), ..g },
        Gltf { coat: coat(0.4, 1.5, 1.0), ..g },
        Gltf { coat: coat(0.2, 1.5, 0.5), ..g },
        Gltf { base_color: Vec3::splat(0.3), ..g },
        Gltf { sheen: Sheen { color: Vec3::splat(0.2), alpha: 0.3 }, ..g },
    ];
    for other in others {
        verdicts.add(is_its_density(&g, &other, wo), format!("{other:?}"));
    }
    verdicts.report_largest("controls");
    verdicts.assert_all_rejected();
}

/// Materials that may reflect more than arrives, of many: those of which a look does not tell that they do not are
/// looked at ever closer.
fn suspects(number: usize) -> Vec<(f64, f64, Gltf, Vec3)> {
    let mut random = Random::new(35);
    let white = |k: usize, g: Gltf| if k.is_multiple_of(2) { Gltf { base_color: Vec3::ONE, ..g } } else { g };
    let mut all: Vec<_> =
        (0..number).map(|k| (0.0, 0.0, white(k, any(&mut random, 1e-4)), any_wo(&mut random))).collect();
    for (n, keep) in [(128, number / 40), (2000, number / 400), (20_000, 12), (200_000, 12)] {
        for (mean, error, g, wo) in &mut all {
            (*mean, *error) = albedo(g, *wo, n, 36, |_, s| s.weight);
        }
        all.retain(|(mean, error, ..)| mean + 3.0 * error > 1.0 + 1e-4);
        all.sort_by(|a, b| (b.0 + b.1).total_cmp(&(a.0 + a.1)));
        all.truncate(keep);
    }
    all
}

#[test]
fn no_more_light_leaves_than_arrives() {
    for (mean, error, g, wo) in suspects(tier::choose(1_000, 4_000)) {
        println!("albedo {mean} ± {error} of {g:?} {wo}");
        assert!(mean - 4.0 * error <= 1.0 + 1e-4 && error < 3e-3, "{mean} ± {error}: {g:?} {wo}");
    }
}

/// A closer look, at a million.
#[test]
#[ignore = "takes minutes"]
fn no_more_light_leaves_than_arrives_from_a_million() {
    for (mean, error, g, wo) in suspects(1_000_000) {
        println!("albedo {mean} ± {error} of {g:?} {wo}");
        assert!(mean - 4.0 * error <= 1.0 + 1e-4 && error < 3e-3, "{mean} ± {error}: {g:?} {wo}");
    }
}

#[test]
fn control_light_from_nowhere_is_seen() {
    for mistake in [Mistake::HalfVector, Mistake::CoatFree, Mistake::SheenFree] {
        let wrong = |g: &Gltf, wo: Vec3, s: &BsdfSample| {
            let f = expected(g, wide(wo), wide(s.wi), mistake).to_f32();
            f * (s.wi.z.abs() / g.pdf(wo, s.wi).max(f32::MIN_POSITIVE))
        };
        let (mut random, mut most) = (Random::new(38), 0.0_f64);
        for _ in 0..tier::choose(100, 300) {
            let g = Gltf { base_color: Vec3::ONE, ..any(&mut random, 0.05) };
            let wo = polar(0.1, random.within(0.0, TAU)).to_f32();
            let (mean, error) = albedo(&g, wo, 300, 39, |wo, s| wrong(&g, wo, s));
            most = most.max(mean - 5.0 * error);
        }
        assert!(most > 1.05, "{mistake:?}: {most}");
    }
}

/// White plastic: what its facets reflect, by quadrature over visible normals in f64, and what its base adds,
/// by quadrature of f.
#[test]
fn white_plastic_loses_little_and_gains_nothing() {
    for alpha in [1e-3_f32, 0.03, 0.1, 0.3, 0.6, 1.0] {
        let (white, black) = (plain(Vec3::ONE, 0.0, alpha), plain(Vec3::ZERO, 0.0, alpha));
        let facets = Facets { alpha: [alpha.into(); 2], distribution: Distribution::Ggx };
        let total = |cos: f64| {
            let wo = polar(cos, 0.3);
            let reflected = |wm: DVec3| {
                let c = wo.dot(wm);
                let wi = 2.0 * c * wm - wo;
                let seen = c.max(0.0) * facets.d(wm) / wo.z;
                let lambda = |w: DVec3| {
                    let a = f64::from(alpha);
                    0.5 * ((1.0 + a * a * (w.x * w.x + w.y * w.y) / (w.z * w.z)).sqrt() - 1.0)
                };
                if wi.z <= 0.0 {
                    0.0
                } else {
                    seen * schlick(c, splat(0.04), 1.0).x / (1.0 + lambda(wo) + lambda(wi))
                }
            };
            let specular = facets.integral(Some(wo), reflected);
            let base = integrate(0.0, 1.0, 4, |z| {
                let wi = polar(z, 2.0).to_f32();
                TAU * z * f64::from(white.eval(wo.to_f32(), wi).x - black.eval(wo.to_f32(), wi).x)
            });
            specular + base
        };
        for cos in [1e-3, 4e-3, 0.01] {
            assert!(total(cos) <= 1.0 + 1e-4, "alpha {alpha}, cos {cos}: {}", total(cos));
        }
        let mut lost = 0.0;
        for k in 0..24 {
            let cos = (f64::from(k) + 0.5) / 24.0;
            let total = total(cos);
            assert!(total <= 1.0 + 1e-4, "alpha {alpha}, cos {cos}: {total}");
            lost += 2.0 * cos * (1.0 - total) / 24.0;
        }
        println!("white plastic of alpha {alpha} loses {lost:.4}");
        assert!(lost < 0.006 + 0.03 * f64::from(alpha), "alpha {alpha} loses {lost}");
    }
}

#[test]
fn light_takes_the_same_way_back() {
    let (mut random, mut worst) = (Random::new(40), 0.0_f32);
    for _ in 0..20_000 {
        let g = any(&mut random, 1e-3);
        let (a, b) = (any_wo(&mut random), any_wo(&mut random));
        let flip = |w: Vec3| Vec3::new(w.x, w.y, -w.z);
        for (there, back) in [(g.eval(a, b), g.eval(b, a)), (g.eval(a, flip(b)), g.eval(b, flip(a)))] {
            worst = worst.max((there - back).abs().max_element() / there.max_element().max(1e-6));
        }
    }
    println!("reciprocal but for {worst:e}");
    assert!(worst < 1e-5, "{worst:e}");
    // A coat as the specification has it: by the Fresnel term of wo alone.
    let g = Gltf { coat: coat(0.1, 1.5, 1.0), ..plain(Vec3::splat(0.5), 0.0, 0.5) };
    let (a, b) = (polar(0.9, 0.0), polar(0.1, 1.0));
    let once = |a, b| expected(&g, a, b, Mistake::CoatOnce).x;
    assert!((once(a, b) / once(b, a) - 1.0).abs() > 0.1, "control");
}

#[test]
fn samples_are_finite_for_all_uniforms_and_directions() {
    let mut random = Random::new(41);
    let us = adversarial_u();
    for k in 0..1500 {
        let g = any(&mut random, 1e-4);
        let z = [1.0, 0.5, 1e-2, 1e-4, 1e-6, 1.1e-7, 1e-8, 1e-12][k % 8];
        let wo = if k % 16 == 0 { Vec3::Z } else { polar(z, random.within(0.0, TAU)).to_f32() };
        for (i, &u) in us.iter().enumerate() {
            let uc = [0.0, 0.3, 0.6, 1.0 - f32::EPSILON / 2.0, random.f32()][i % 5];
            let Some(s) = g.sample(wo, uc, u) else { continue };
            let finite = s.wi.is_finite() && s.pdf.is_finite() && s.weight.is_finite();
            assert!(finite && s.pdf > 0.0 && s.weight.min_element() >= 0.0, "{g:?} {wo} {u}: {s:?}");
            assert!((wide(s.wi).length() - 1.0).abs() < 5e-7, "{g:?} {wo} {u}: {s:?}");
            let (f, pdf) = g.eval_pdf(wo, s.wi);
            assert!(f.is_finite() && f.min_element() >= 0.0 && pdf.is_finite() && pdf >= 0.0);
        }
        let (a, b) = (random.direction().to_f32(), random.direction().to_f32());
        let (f, pdf) = g.eval_pdf(a, b);
        assert!(f.is_finite() && f.min_element() >= 0.0 && pdf.is_finite() && pdf >= 0.0, "{g:?} {a} {b}");
        if a.z <= 0.0 || (b.z <= 0.0 && g.transmission == 0.0) {
            assert_eq!((f, pdf), (Vec3::ZERO, 0.0), "{g:?} {a} {b}");
        }
        assert!(a.z > 0.0 || g.sample(a, 0.5, random.vec2()).is_none());
        assert_eq!(Bsdf::Gltf(g).eval_pdf(a, b), (f, pdf));
    }
}

#[test]
fn metal_is_torrance_and_sparrow_under_schlick() {
    let mut random = Random::new(42);
    let gold = Vec3::new(1.0, 0.78, 0.34);
    for alpha in [0.01, 0.1, 0.5, 1.0] {
        let g = plain(gold, 1.0, alpha);
        for _ in 0..500 {
            let wo = any_wo(&mut random);
            let Some(s) = g.sample(wo, random.f32(), random.vec2()) else { continue };
            let (f, wm) = (g.eval(wo, s.wi), (wo + s.wi).normalize());
            let facets = g.microfacet.d(wm) * g.microfacet.g2(wo, s.wi) / (4.0 * wo.z * s.wi.z);
            let cos = wo.dot(wm).min(1.0);
            let e = fresnel::schlick(cos, gold, Vec3::ONE) * facets;
            let tolerance = 1e-6 + 5e-7 / (alpha * (wo + s.wi).length());
            assert!((f - e).abs().max_element() <= tolerance * e.max_element(), "{alpha} {wo} {}", s.wi);
            let pdf = g.microfacet.pdf_reflected(wo, wm);
            assert!((s.pdf / pdf - 1.0).abs() < 1e-5 + 1e-6 / alpha, "{alpha} {wo}: {} {pdf}", s.pdf);
        }
    }
}

#[test]
fn without_a_specular_layer_it_is_lambertian() {
    let reflectance = Vec3::new(0.9, 0.5, 0.1);
    let g = Gltf { f0: Vec3::ZERO, f90: 0.0, ..plain(reflectance, 0.0, 0.3) };
    let mut random = Random::new(43);
    for _ in 0..2000 {
        let (a, b) = (any_wo(&mut random), any_wo(&mut random));
        assert_eq!(g.eval_pdf(a, b), Diffuse { reflectance }.eval_pdf(a, b));
        let (uc, u) = (random.f32(), random.vec2());
        let (s, e) = (g.sample(a, uc, u), Diffuse { reflectance }.sample(a, uc, u));
        let (s, e) = (s.expect("it is above"), e.expect("it is above"));
        assert_eq!((s.wi, s.pdf), (e.wi, e.pdf));
        assert!((s.weight - e.weight).abs().max_element() < 1e-6);
    }
}

/// Features that are off change no bit of the result, whatever their other parameters.
#[test]
fn what_is_off_changes_nothing() {
    let mut random = Random::new(44);
    for _ in 0..2000 {
        let mut g = any(&mut random, 1e-4);
        (g.coat.factor, g.film.factor, g.sheen.color) = (0.0, 0.0, Vec3::ZERO);
        let mut other = g;
        other.coat = coat(random.f32() + 1e-3, 1.0 + random.f32(), 0.0);
        other.film = Film { factor: 0.0, eta: 1.0 + random.f32(), thickness: random.f32() * 900.0 };
        other.sheen.alpha = random.f32();
        let (a, b) = (any_wo(&mut random), random.direction().to_f32());
        assert_eq!(g.eval_pdf(a, b), other.eval_pdf(a, b));
        let (uc, u) = (random.f32(), random.vec2());
        let all = |s: Option<BsdfSample>| s.map(|s| (s.wi, s.pdf, s.weight));
        assert_eq!(all(g.sample(a, uc, u)), all(other.sample(a, uc, u)));
    }
}

/// Grooves are where they are, whichever side they are seen from: what a sheet lets pass one way, it lets pass back.
#[test]
fn turned_grooves_are_the_same_from_both_sides() {
    let material = GltfMaterial {
        metallic: Scalar::new(0.0),
        roughness: Scalar::new(0.5),
        transmission: Scalar::new(1.0),
        anisotropy: Scalar::new(0.9),
        rotation: [0.8, 0.6],
        ..GltfMaterial::DEFAULT
    };
    let scene = crate::common::empty_scene();
    let [front, back] =
        [true, false].map(|front| material.bsdf::<Full>(&At { front, ..At::new(&scene, Vec2::ZERO) }));
    // The frame's z is on the side of the viewer, and its x along the surface.
    let from_behind = |w: Vec3| Vec3::new(w.x, -w.y, -w.z);
    let (mut random, mut control) = (Random::new(31), 0.0_f32);
    for _ in 0..1000 {
        let [wo, wi] = [(); 2].map(|()| random.direction().to_f32());
        let (wo, wi) = (Vec3::new(wo.x, wo.y, wo.z.abs()), Vec3::new(wi.x, wi.y, -wi.z.abs()));
        let there = front.eval(wo, wi).x;
        let error = |bsdf: &Bsdf| (bsdf.eval(from_behind(wi), from_behind(wo)).x / there - 1.0).abs();
        assert!(there == 0.0 || error(&back) < 1e-2, "{there} from {wo} to {wi}");
        control = control.max(if there > 0.0 { error(&front) } else { 0.0 });
    }
    assert!(control > 0.1, "grooves that mirror go unseen: {control}");
}
