//! The principled model against the formulas of Burley 2012 and 2015 in f64, in the form that Mitsuba gives them, and
//! against numbers that Mitsuba computed; its densities, energy and limits.

mod densities;
mod energy;
mod half_vectors;
mod mitsuba;

use std::f64::consts::{FRAC_1_PI, PI, TAU};

use device::bsdf::Lobe;
use device::bsdf::microfacet::Masking;
use device::bsdf::principled::{Parameters, eta_from_specular};
use glam::{Vec2, Vec3};
use statrs::function::beta::beta;

use crate::common::lobes::samples;
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, adversarial_u, polar};

/// Where the oracle goes wrong on purpose.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Mistake {
    None,
    /// Facets of the coat reflect with the 1/(4 cos θo cos θi) of Burley's clear coat.
    BurleysCoat,
    /// Retro-reflection by α in place of roughness.
    RetroByAlpha,
    /// Transmitted light is scaled by the base colour itself.
    Color,
    /// Transmitted radiance is not scaled by 1/η².
    Unscaled,
    /// Metals reflect as dielectrics where Schlick's approximation should tell.
    Schlick,
    /// α is the roughness.
    Alpha,
    /// Anisotropy along the other axis.
    Axes,
    /// Sheen dims by what is transmitted, as paint does.
    Sheen,
}

const MISTAKES: [Mistake; 8] = [
    Mistake::BurleysCoat,
    Mistake::RetroByAlpha,
    Mistake::Color,
    Mistake::Unscaled,
    Mistake::Schlick,
    Mistake::Alpha,
    Mistake::Axes,
    Mistake::Sheen,
];

/// (1 − cos)⁵
fn weight(cos: f64) -> f64 {
    (1.0 - cos).clamp(0.0, 1.0).powi(5)
}

/// Reflectance and cosine of refraction, by Fresnel's amplitudes and Snell's law.
fn fresnel(cos_i: f64, eta: f64) -> (f64, f64) {
    let sin_t = (1.0 - cos_i * cos_i).max(0.0).sqrt() / eta;
    if sin_t >= 1.0 {
        return (1.0, 0.0);
    }
    let cos_t = (1.0 - sin_t * sin_t).sqrt();
    let s = (cos_i - eta * cos_t) / (cos_i + eta * cos_t);
    let p = (eta * cos_i - cos_t) / (eta * cos_i + cos_t);
    (0.5 * (s * s + p * p), cos_t)
}

/// Λ of GGX by the slope of a direction in units of α.
fn lambda(w: DVec3, [x, y]: [f64; 2]) -> f64 {
    let tan2 = ((x * w.x).powi(2) + (y * w.y).powi(2)) / (w.z * w.z);
    0.5 * ((1.0 + tan2).sqrt() - 1.0)
}

fn g2(wo: DVec3, wi: DVec3, alpha: [f64; 2], masking: Masking) -> f64 {
    let (o, i) = (1.0 + lambda(wo, alpha), 1.0 + lambda(wi, alpha));
    match masking {
        Masking::Separable => 1.0 / (o * i),
        Masking::Correlated if wi.z > 0.0 => 1.0 / (o + i - 1.0),
        Masking::Correlated => beta(o, i),
    }
}

/// Parameters in f64.
struct Oracle {
    color: [f64; 3],
    p: Parameters,
    masking: Masking,
    front: bool,
    mistake: Mistake,
}

impl Oracle {
    fn new(p: Parameters, masking: Masking, front: bool, mistake: Mistake) -> Self {
        Self { color: wide(p.base_color).to_array(), p, masking, front, mistake }
    }

    fn alpha(&self) -> [f64; 2] {
        let (r, a) = (f64::from(self.p.roughness), f64::from(self.p.anisotropic));
        let (aspect, alpha) =
            ((1.0 - 0.9 * a).sqrt(), if self.mistake == Mistake::Alpha { r } else { r * r });
        let [x, y] = [(alpha / aspect).max(1e-3), (alpha * aspect).max(1e-3)];
        if self.mistake == Mistake::Axes { [y, x] } else { [x, y] }
    }

    /// f·|cos θi|, for `wo` above and on the side that it is seen from.
    fn f_cos(&self, wo: DVec3, wi: DVec3) -> [f64; 3] {
        let [metallic, spec_trans] = [self.p.metallic, self.p.spec_trans].map(f64::from);
        let eta = if self.front { f64::from(self.p.eta) } else { 1.0 / f64::from(self.p.eta) };
        let clear = (1.0 - metallic) * spec_trans;
        let half = if wi.z > 0.0 { wo + wi } else { wo + eta * wi }.normalize();
        let wm = if half.z < 0.0 { -half } else { half };
        let (o, i) = (wo.dot(wm), wi.dot(wm));
        if o <= 0.0 || i * wi.z <= 0.0 {
            return [0.0; 3];
        }
        let (reflectance, cos_t) = fresnel(o, eta);
        let [x, y] = self.alpha();
        let d = 1.0 / (PI * x * y * ((wm.x / x).powi(2) + (wm.y / y).powi(2) + wm.z * wm.z).powi(2));
        let facets = d * g2(wo, wi, [x, y], self.masking);
        if wi.z < 0.0 {
            let scale = if self.mistake == Mistake::Unscaled { eta * eta } else { 1.0 };
            let refraction =
                facets * scale * (1.0 - reflectance) * (o * i).abs() / (wo.z * (o + eta * i).powi(2));
            let root = if self.mistake == Mistake::Color { 1.0 } else { 0.5 };
            return self.color.map(|c| clear * c.powf(root) * refraction);
        }
        let facets = facets / (4.0 * wo.z);
        if !self.front {
            return [clear * reflectance * facets; 3];
        }
        let schlick = weight(if eta > 1.0 { o } else { cos_t });
        std::array::from_fn(|k| {
            let reflected = self.fresnel(k, reflectance, schlick);
            reflected * facets + (self.base(k, wo.z, wi.z, i) + self.coat(wo, wi, wm, schlick)) * wi.z
        })
    }

    /// The hue of the base colour, or white where it is black.
    fn tint(&self, k: usize) -> f64 {
        let luminance = 0.2126 * self.color[0] + 0.7152 * self.color[1] + 0.0722 * self.color[2];
        if luminance > 0.0 { self.color[k] / luminance } else { 1.0 }
    }

    fn fresnel(&self, k: usize, dielectric: f64, schlick: f64) -> f64 {
        let [metallic, tint, eta] = [self.p.metallic, self.p.spec_tint, self.p.eta].map(f64::from);
        let towards_one = |f0: f64| f0 + (1.0 - f0) * schlick;
        let metal = if self.mistake == Mistake::Schlick { dielectric } else { towards_one(self.color[k]) };
        let tinted = towards_one(self.tint(k) * ((eta - 1.0) / (eta + 1.0)).powi(2));
        (1.0 - metallic) * ((1.0 - tint) * dielectric + tint * tinted) + metallic * metal
    }

    /// Burley 2015: diffuse reflection and retro-reflection, or a flat medium; and sheen.
    fn base(&self, k: usize, cos_o: f64, cos_i: f64, cos_d: f64) -> f64 {
        let [metallic, spec_trans, flatness] =
            [self.p.metallic, self.p.spec_trans, self.p.flatness].map(f64::from);
        let roughness = f64::from(self.p.roughness);
        let roughness = if self.mistake == Mistake::RetroByAlpha { roughness.powi(2) } else { roughness };
        let (o, i) = (weight(cos_o), weight(cos_i));
        let lambert = (1.0 - 0.5 * o) * (1.0 - 0.5 * i);
        let rr = 2.0 * roughness * cos_d * cos_d;
        let retro = rr * (o + i + o * i * (rr - 1.0));
        let ss90 = roughness * cos_d * cos_d;
        let ss = (1.0 + (ss90 - 1.0) * o) * (1.0 + (ss90 - 1.0) * i);
        let flat = 1.25 * (ss * (1.0 / (cos_o + cos_i) - 0.5) + 0.5);
        let paint = (1.0 - metallic) * (1.0 - spec_trans) * self.color[k] * FRAC_1_PI;
        let tint = 1.0 + (self.tint(k) - 1.0) * f64::from(self.p.sheen_tint);
        let dimmed = if self.mistake == Mistake::Sheen { 1.0 - spec_trans } else { 1.0 };
        let sheen = dimmed * (1.0 - metallic) * f64::from(self.p.sheen) * tint * weight(cos_d);
        paint * ((1.0 - flatness) * (lambert + retro) + flatness * flat) + sheen
    }

    fn coat(&self, wo: DVec3, wi: DVec3, wm: DVec3, schlick: f64) -> f64 {
        let a2 = (0.1 - 0.099 * f64::from(self.p.clearcoat_gloss)).powi(2);
        let d = (a2 - 1.0) / (PI * a2.ln() * (1.0 + (a2 - 1.0) * wm.z * wm.z));
        let g = g2(wo, wi, [0.25; 2], self.masking);
        let jacobian = if self.mistake == Mistake::BurleysCoat { 0.25 / (wo.z * wi.z) } else { 1.0 };
        0.25 * f64::from(self.p.clearcoat) * (0.04 + 0.96 * schlick) * d * g * jacobian
    }
}

/// Anything, with the ends of the ranges as likely as all between.
fn any_parameters(random: &mut Random) -> Parameters {
    let eta = [1.5, 1.33, 2.4, 1.05, 0.7][(random.bits() % 5) as usize];
    let mut unit = || match random.bits() % 4 {
        0 => 0.0,
        1 => 1.0,
        _ => random.f32(),
    };
    Parameters {
        base_color: Vec3::new(unit(), unit(), unit()),
        roughness: unit(),
        anisotropic: unit(),
        metallic: unit(),
        eta,
        spec_tint: unit(),
        spec_trans: unit(),
        flatness: unit(),
        sheen: unit(),
        sheen_tint: unit(),
        clearcoat: unit(),
        clearcoat_gloss: unit(),
    }
}

fn coin(random: &mut Random) -> bool {
    random.f64() < 0.5
}

fn any_side(random: &mut Random) -> (Masking, bool) {
    let masking = if coin(random) { Masking::Separable } else { Masking::Correlated };
    (masking, coin(random) || coin(random))
}

/// A direction above the surface, grazing ones included.
fn above(random: &mut Random) -> Vec3 {
    let z = if coin(random) { random.f64() } else { random.power_of_ten(-3.0, 0.0) };
    polar(z.max(1e-3), random.within(0.0, TAU)).to_f32()
}

fn flipped(w: Vec3) -> Vec3 {
    Vec3::new(w.x, w.y, -w.z)
}

/// How well the half vector and its cosines are told in f32, from 0 to 1: they cancel where light hardly turns, and along
/// the surface.
fn conditioned(wo: DVec3, wi: DVec3, eta: f64) -> f64 {
    let half = if wi.z > 0.0 { wo + wi } else { wo + eta * wi };
    let wm = half.normalize();
    (half.length().min(wo.dot(wm).abs()).min(wi.dot(wm).abs()) / 0.1).min(1.0)
}

/// Largest error of f·|cos| relative to its largest channel, over parameters and directions of all kinds.
fn worst_against_formulas(mistake: Mistake) -> f64 {
    let (mut random, mut worst) = (Random::new(1), 0.0_f64);
    for k in 0..4000 {
        let p = any_parameters(&mut random);
        let (masking, front) = any_side(&mut random);
        let lobe = p.lobe(masking, front);
        let oracle = Oracle::new(p, masking, front, mistake);
        let eta = if front { f64::from(p.eta) } else { 1.0 / f64::from(p.eta) };
        let wo = above(&mut random);
        let anywhere: Vec<Vec3> = (0..8).map(|_| random.direction().to_f32()).collect();
        for wi in samples(&lobe, wo, 12, k).flatten().map(|s| s.wi).chain(anywhere) {
            let (o, i) = (wide(wo), wide(wi));
            let expected = oracle.f_cos(o, i);
            let f = (wide(lobe.eval(wo, wi))).to_array().map(|f| f * i.z.abs());
            let largest = expected.into_iter().fold(0.0, f64::max);
            // A peak as narrow as α moves by the rounding of directions.
            let [x, y] = oracle.alpha();
            let narrow = (x.min(y).min(1.1e-3 + 0.1 * f64::from(1.0 - p.clearcoat_gloss)) / 0.02).min(1.0);
            let trust = conditioned(o, i, eta).powi(2) * narrow * (i.z.abs() / 1e-3).min(1.0);
            let error = (0..3).map(|k| (f[k] - expected[k]).abs()).fold(0.0, f64::max);
            worst = worst.max(error / (largest + 1e-5) * trust);
        }
    }
    worst
}

#[test]
fn values_are_those_of_the_formulas() {
    let worst = worst_against_formulas(Mistake::None);
    println!("f within {worst:.1e} of the formulas");
    assert!(worst < 2e-4, "{worst:e}");
}

#[test]
fn control_mistakes_are_rejected() {
    for mistake in MISTAKES {
        let worst = worst_against_formulas(mistake);
        println!("{mistake:?}: {worst:.1e}");
        assert!(worst > 2e-2, "{mistake:?}: {worst:e}");
    }
}

#[test]
fn specular_names_the_index_of_refraction() {
    for (specular, eta) in [(0.0_f32, 1.0), (0.5, 1.5), (1.0, 1.788_788_5)] {
        let (computed, f0) = (f64::from(eta_from_specular(specular)), 0.08 * f64::from(specular));
        assert!((computed - eta).abs() < 1e-6, "{specular}: {computed}");
        assert!((((computed - 1.0) / (computed + 1.0)).powi(2) - f0).abs() < 1e-7, "{specular}");
    }
}

#[test]
fn weights_are_f_cos_over_pdf() {
    let mut random = Random::new(2);
    for k in 0..3000 {
        let (p, (masking, front)) = (any_parameters(&mut random), any_side(&mut random));
        let (lobe, wo) = (p.lobe(masking, front), above(&mut random));
        for s in samples(&lobe, wo, 30, k).flatten() {
            let (f, pdf) = lobe.eval_pdf(wo, s.wi);
            assert_eq!((f, pdf), (lobe.eval(wo, s.wi), lobe.pdf(wo, s.wi)));
            let expected = f64::from(s.wi.z.abs()) / f64::from(pdf) * wide(f);
            let error = (wide(s.weight) - expected).length();
            assert!(error <= 1e-6 * expected.length(), "{p:?}, {wo}: {s:?}, {expected:?}");
            assert!((s.pdf / pdf - 1.0).abs() < 1e-6, "{p:?}, {wo}: {s:?}, {pdf}");
            let eta = if front { p.eta } else { 1.0 / p.eta };
            assert_eq!(s.eta, if s.wi.z > 0.0 { 1.0 } else { eta });
        }
    }
}

/// Kinds of material, each with all that it is known for: (name, parameters).
fn materials() -> Vec<(&'static str, Parameters)> {
    let base_color = Vec3::new(0.8, 0.35, 0.15);
    let plain = Parameters { base_color, ..Parameters::DEFAULT };
    vec![
        ("paint", plain),
        ("dark gloss", Parameters { base_color: Vec3::splat(0.02), roughness: 0.1, ..plain }),
        ("mirror finish", Parameters { roughness: 0.0, ..plain }),
        ("chalk", Parameters { roughness: 1.0, eta: 1.0, ..plain }),
        ("metal", Parameters { metallic: 1.0, roughness: 0.3, ..plain }),
        ("brushed metal", Parameters { metallic: 0.7, roughness: 0.4, anisotropic: 1.0, ..plain }),
        ("cloth", Parameters { sheen: 1.0, sheen_tint: 0.5, roughness: 0.9, ..plain }),
        ("black velvet", Parameters { base_color: Vec3::ZERO, sheen: 1.0, eta: 1.0, ..plain }),
        ("skin", Parameters { flatness: 1.0, spec_tint: 1.0, roughness: 0.6, ..plain }),
        ("lacquer", Parameters { clearcoat: 1.0, roughness: 0.8, ..plain }),
        ("car", Parameters { clearcoat: 1.0, clearcoat_gloss: 1.0, metallic: 0.5, ..plain }),
        ("frosted glass", Parameters { spec_trans: 1.0, ..plain }),
        ("glass", Parameters { spec_trans: 1.0, roughness: 0.15, eta: 2.4, ..plain }),
        ("bubble", Parameters { spec_trans: 0.8, roughness: 0.4, eta: 0.75, ..plain }),
        (
            "everything",
            Parameters {
                metallic: 0.3,
                anisotropic: 0.7,
                spec_tint: 0.4,
                spec_trans: 0.6,
                flatness: 0.5,
                sheen: 0.6,
                sheen_tint: 0.5,
                clearcoat: 0.8,
                clearcoat_gloss: 0.3,
                ..plain
            },
        ),
    ]
}

/// f is the same both ways for reflection, and over the square of the index of refraction for transmission.
fn worst_reciprocity(scale: f64) -> f64 {
    let (mut random, mut worst) = (Random::new(3), 0.0_f64);
    for _ in 0..20_000 {
        let (p, (masking, front)) = (any_parameters(&mut random), any_side(&mut random));
        let (there, back) = (p.lobe(masking, front), p.lobe(masking, !front));
        let (a, b) = (above(&mut random), above(&mut random));
        let (f, g) = (wide(there.eval(a, b)), wide(there.eval(b, a)));
        worst = worst.max((f - g).length() / (f.length() + 1e-6));
        let eta = if front { f64::from(p.eta) } else { 1.0 / f64::from(p.eta) };
        let below = flipped(b);
        let f = scale * eta * eta * wide(there.eval(a, below));
        let g = wide(back.eval(flipped(below), flipped(a)));
        let trust = conditioned(wide(a), wide(below), eta).powi(2);
        worst = worst.max((f - g).length() / (f.length() + 1e-3) * trust);
    }
    worst
}

#[test]
fn light_takes_the_same_way_back() {
    let worst = worst_reciprocity(1.0);
    println!("reciprocal within {worst:.1e}");
    assert!(worst < 1e-4, "{worst:e}");
    assert!(worst_reciprocity(1.001) > 5e-4, "control");
}

/// All corners of the ranges of the numbers between 0 and 1, in white and in red, and with indices of refraction.
fn corners() -> impl Iterator<Item = Parameters> {
    let bit = |k: u32, i: u32| (k >> i & 1) as f32;
    let colors = [Vec3::ONE, Vec3::X, Vec3::ZERO];
    (0..1 << 10).flat_map(move |k| {
        [1.0, 1.5, 3.0, 0.5].into_iter().zip(colors.into_iter().cycle()).map(move |(eta, base_color)| {
            Parameters {
                base_color,
                roughness: bit(k, 0),
                anisotropic: bit(k, 1),
                metallic: bit(k, 2),
                eta,
                spec_tint: bit(k, 3),
                spec_trans: bit(k, 4),
                flatness: bit(k, 5),
                sheen: bit(k, 6),
                sheen_tint: bit(k, 7),
                clearcoat: bit(k, 8),
                clearcoat_gloss: bit(k, 9),
            }
        })
    })
}

#[test]
fn samples_are_finite_for_all_uniforms_and_directions() {
    let wos = [Vec3::Z, polar(0.5, 0.9).to_f32(), polar(1e-3, 2.0).to_f32(), polar(1e-6, 4.0).to_f32()];
    let us: Vec<Vec2> = adversarial_u().into_iter().step_by(2).collect();
    let mut heaviest = 0.0_f32;
    let mut random = Random::new(8);
    for p in corners() {
        for (masking, front) in
            [(Masking::Separable, true), (Masking::Correlated, true), (Masking::Correlated, false)]
        {
            let lobe = p.lobe(masking, front);
            for wo in wos {
                for (u, uc) in us.iter().flat_map(|&u| [0.0, 0.5, 1.0 - f32::EPSILON / 2.0].map(|uc| (u, uc)))
                {
                    let Some(s) = lobe.sample(wo, uc, u) else { continue };
                    let finite = s.wi.is_finite() && s.weight.is_finite() && s.pdf.is_finite();
                    assert!(finite && s.weight.min_element() >= 0.0, "{p:?}, {wo}, {uc}, {u}: {s:?}");
                    assert!(s.pdf > 0.0 && (wide(s.wi).length() - 1.0).abs() < 3e-7, "{p:?}, {wo}: {s:?}");
                    heaviest = heaviest.max(s.weight.max_element());
                }
                let wis = [-wo, flipped(wo), wo, Vec3::X, Vec3::Z, -Vec3::Z, random.direction().to_f32()];
                for (a, b) in wis.into_iter().flat_map(|wi| [(wo, wi), (wi, wo), (wo, -wi)]) {
                    let (f, pdf) = lobe.eval_pdf(a, b);
                    let finite = f.is_finite() && pdf.is_finite();
                    assert!(finite && f.min_element() >= 0.0 && pdf >= 0.0, "{p:?}, {a}, {b}: {f}, {pdf}");
                }
            }
        }
    }
    // Where sheen is seen along the surface of clear glass.
    println!("heaviest sample {heaviest:.1}");
    assert!(heaviest < 25.0);
}
