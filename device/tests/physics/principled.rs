//! The principled model against the formulas of Burley 2012 and 2015 in f64, in the form that Mitsuba gives them, and
//! against numbers that Mitsuba computed; its densities, energy and limits.

use std::f64::consts::{FRAC_1_PI, FRAC_PI_2, PI, TAU};

use device::bsdf::microfacet::Masking;
use device::bsdf::principled::{Parameters, eta_from_specular};
use device::bsdf::{Lobe, Principled};
use glam::{Vec2, Vec3};
use statrs::function::beta::beta;

use crate::common::lobes::samples;
use crate::common::statistics::{Verdicts, chi2_test};
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, adversarial_u, choices, points, polar};

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

/// `base_color`; `roughness`, `anisotropic`, `metallic`, `eta`, `spec_tint`, `spec_trans`, `flatness`, `sheen`,
/// `sheen_tint`, `clearcoat`, `clearcoat_gloss`; the directions to the viewer and to the light; f·|cos|.
type Row = ([f32; 3], [f32; 11], [f64; 3], [f64; 3], [f64; 3]);

/// Values from Mitsuba 3.9.1 (`scalar_rgb`).
#[rustfmt::skip]
const MITSUBA: [Row; 44] = [
    ([0.64, 0.9, 0.79], [0.34, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.463095, 0.015003, 0.886182], [0.159032, -0.520104, 0.839167], [0.172311, 0.241762, 0.212378]),
    ([0.49, 0.34, 0.31], [0.37, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [-0.865064, -0.025002, 0.501037], [0.801107, -0.023003, 0.59808], [0.473503, 0.445271, 0.439625]),
    ([0.8, 0.64, 0.99], [0.33, 0.0, 0.0, 1.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.730164, 0.207047, 0.651147], [-0.986881, -0.092989, 0.131984], [0.0409219, 0.0354887, 0.0473738]),
    ([0.49, 0.92, 0.65], [0.59, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.013, 0.837022, 0.547014], [0.352129, 0.929341, 0.111041], [0.0236111, 0.0439924, 0.0311949]),
    ([0.71, 0.24, 0.4], [0.15, 0.0, 0.24, 1.33, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.686858, -0.641867, 0.340929], [0.47488, -0.679828, 0.558859], [0.0932296, 0.0315161, 0.052525]),
    ([0.66, 0.75, 0.14], [0.61, 0.0, 0.88, 1.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [-0.738057, -0.524041, 0.425033], [-0.752077, 0.641066, 0.153016], [0.0138945, 0.015766, 0.00308152]),
    ([0.36, 0.19, 0.83], [0.47, 0.0, 0.63, 1.33, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [-0.494768, -0.582726, 0.644697], [0.411845, 0.572784, 0.708733], [0.539903, 0.298242, 1.20803]),
    ([0.47, 0.28, 0.43], [0.23, 0.0, 0.29, 1.33, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [-0.220984, 0.673952, 0.70495], [-0.241931, -0.393888, 0.886748], [0.0984072, 0.0588001, 0.0900689]),
    ([0.18, 0.85, 0.95], [0.92, 0.0, 0.12, 1.8, 0.23, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [-0.335093, -0.114032, 0.935259], [0.720285, -0.642254, 0.262104], [0.0183478, 0.0768706, 0.0856053]),
    ([0.66, 0.59, 0.41], [0.5, 0.0, 0.02, 1.33, 0.32, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [-0.448913, 0.091982, 0.888828], [-0.352923, 0.723843, 0.592871], [0.12365, 0.110581, 0.0769756]),
    ([0.76, 0.07, 0.4], [0.18, 0.0, 0.39, 1.8, 0.97, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [-0.864849, -0.129977, 0.484915], [-0.258861, 0.385793, 0.885525], [0.130124, 0.0119865, 0.0684869]),
    ([0.61, 0.7, 0.39], [0.59, 0.79, 0.92, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.887882, -0.394948, 0.235969], [0.019005, -0.994287, 0.10503], [0.00355765, 0.00408126, 0.0022777]),
    ([0.82, 0.18, 0.45], [0.84, 0.67, 0.81, 1.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [-0.124963, -0.817758, 0.561833], [0.303055, 0.903165, 0.304056], [0.128007, 0.0372635, 0.0755461]),
    ([0.39, 0.22, 0.38], [0.96, 0.62, 0.41, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.896648, -0.27889, 0.343865], [0.859379, -0.106047, 0.500221], [0.06937, 0.0405145, 0.0676726]),
    ([0.54, 0.55, 0.9], [0.78, 0.0, 0.0, 1.33, 0.0, 0.0, 0.0, 0.48, 0.89, 0.0, 0.0], [0.780764, -0.411875, 0.469858], [-0.892958, 0.41998, 0.161992], [0.054465, 0.0550764, 0.0764763]),
    ([0.54, 0.95, 0.29], [0.84, 0.0, 0.0, 1.8, 0.0, 0.0, 0.0, 0.75, 0.67, 0.0, 0.0], [-0.112042, 0.195074, 0.974368], [0.259085, 0.850279, 0.45815], [0.087264, 0.149376, 0.0493912]),
    ([0.1, 0.25, 0.92], [0.86, 0.0, 0.0, 1.33, 0.0, 0.0, 0.0, 0.64, 0.0, 0.0, 0.0], [-0.417081, -0.650125, 0.635123], [0.899312, -0.223077, 0.376131], [0.014657, 0.033284, 0.116485]),
    ([0.49, 0.65, 0.65], [0.31, 0.0, 0.0, 1.8, 0.0, 0.0, 0.0, 0.47, 0.0, 0.0, 0.0], [-0.068979, -0.54783, 0.833741], [0.837959, -0.506975, 0.20199], [0.0309931, 0.0410485, 0.0410485]),
    ([0.81, 0.88, 0.55], [0.93, 0.0, 0.0, 1.5, 0.0, 0.0, 0.13, 0.0, 0.0, 0.0, 0.0], [-0.016998, 0.99287, 0.117985], [0.362019, 0.874045, 0.324017], [0.17515, 0.190055, 0.119787]),
    ([0.59, 0.09, 0.61], [0.29, 0.0, 0.0, 1.5, 0.0, 0.0, 0.71, 0.0, 0.0, 0.0, 0.0], [-0.368925, 0.921813, 0.118976], [-0.318861, -0.077966, 0.944589], [0.165119, 0.025814, 0.170692]),
    ([0.82, 0.68, 0.63], [0.31, 0.0, 0.0, 1.8, 0.0, 0.0, 0.14, 0.0, 0.0, 0.0, 0.0], [0.552301, -0.142078, 0.821448], [0.470758, 0.15492, 0.868554], [0.21941, 0.182114, 0.168794]),
    ([0.37, 0.35, 0.16], [0.68, 0.0, 0.0, 1.33, 0.0, 0.0, 0.82, 0.0, 0.0, 0.0, 0.0], [0.601443, -0.701517, 0.382282], [0.397035, 0.418037, 0.817073], [0.10106, 0.0957398, 0.0452002]),
    ([0.78, 0.89, 0.24], [0.64, 0.0, 0.0, 1.33, 0.0, 0.0, 0.0, 0.0, 0.0, 0.65, 0.06], [-0.485971, -0.529968, 0.694958], [0.41702, 0.478023, 0.773038], [0.235343, 0.262427, 0.102384]),
    ([0.2, 0.08, 0.67], [0.33, 0.0, 0.0, 1.33, 0.0, 0.0, 0.0, 0.0, 0.0, 0.61, 0.57], [-0.016005, 0.897293, 0.441144], [0.008, -0.907021, 0.42101], [1.34249, 1.32713, 1.40267]),
    ([0.84, 0.41, 0.4], [0.61, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.32, 0.2], [0.748855, 0.420919, 0.511901], [-0.69573, -0.443828, 0.564781], [0.239448, 0.16263, 0.160844]),
    ([0.18, 0.17, 0.13], [0.92, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.34, 0.18], [-0.384799, -0.360811, 0.849556], [-0.883675, 0.383859, 0.267901], [0.0197126, 0.0187137, 0.0147179]),
    ([0.41, 0.73, 0.14], [0.77, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.84, 0.4], [0.828622, 0.353839, 0.433802], [-0.788894, -0.342954, 0.509931], [0.176521, 0.227762, 0.133287]),
    ([0.9, 0.17, 0.23], [0.83, 0.0, 0.47, 1.8, 0.8, 0.68, 0.0, 0.0, 0.0, 0.86, 0.0], [0.057016, -0.962265, 0.266073], [-0.112009, -0.61305, 0.782064], [0.100321, 0.0201208, 0.0267126]),
    ([0.47, 0.41, 0.45], [0.18, 0.45, 0.27, 1.33, 0.0, 0.59, 0.0, 0.0, 0.0, 0.75, 0.0], [0.062972, -0.972575, 0.223902], [0.066979, 0.089972, 0.99369], [0.0421411, 0.0369148, 0.040399]),
    ([0.73, 0.83, 0.92], [0.25, 0.0, 0.09, 1.33, 0.5, 0.18, 0.0, 0.27, 0.0, 0.0, 0.0], [0.078988, 0.376944, 0.922862], [0.556167, 0.251075, 0.792237], [0.137962, 0.156852, 0.173853]),
    ([0.5, 0.08, 0.35], [0.42, 0.15, 0.5, 1.33, 0.32, 0.51, 0.0, 0.45, 0.0, 0.0, 0.0], [0.956344, 0.201072, 0.212076], [0.596075, 0.582073, 0.553069], [0.0276754, 0.0045218, 0.0194062]),
    ([0.22, 0.87, 0.51], [0.31, 0.0, 0.14, 1.5, 0.0, 0.7, 0.0, 0.46, 0.0, 0.56, 0.0], [0.408895, -0.416893, 0.811791], [-0.430192, 0.232104, -0.872389], [0.0604892, 0.120289, 0.0920982]),
    ([0.27, 0.97, 0.25], [0.58, 0.0, 0.16, 1.33, 0.0, 0.92, 0.0, 0.52, 0.0, 0.64, 0.0], [0.294959, -0.544925, 0.784892], [0.060997, 0.738969, -0.670972], [0.0122465, 0.0232123, 0.0117842]),
    ([0.34, 0.21, 0.77], [0.29, 0.64, 0.47, 1.8, 0.0, 0.93, 0.0, 0.0, 0.0, 0.0, 0.0], [0.259989, -0.741967, 0.617973], [0.087022, 0.359091, -0.929237], [0.0379306, 0.0298099, 0.0570816]),
    ([0.46, 0.44, 0.71], [0.86, 0.0, 0.28, 1.8, 0.0, 0.7, 0.0, 0.11, 0.0, 0.0, 0.0], [-0.71781, 0.460878, 0.521862], [0.610926, -0.538935, -0.57993], [0.137649, 0.134623, 0.171011]),
    ([0.58, 0.94, 0.09], [0.53, 0.6, 0.3, 1.8, 0.0, 0.67, 0.0, 0.28, 0.0, 0.0, 0.0], [0.002, -0.860825, 0.508897], [0.327876, 0.537796, -0.776706], [0.122096, 0.155436, 0.0480961]),
    ([0.83, 0.69, 0.66], [0.5, 0.77, 0.19, 1.5, 0.55, 0.46, 0.0, 0.0, 0.0, 0.0, 0.0], [0.503045, -0.742066, 0.443039], [-0.741704, 0.452819, -0.494803], [0.152552, 0.139092, 0.136035]),
    ([0.6, 0.58, 0.68], [0.73, 0.0, 0.15, 1.8, 0.49, 0.63, 0.0, 0.42, 0.0, 0.0, 0.0], [-0.598003, 0.624003, -0.503003], [0.74047, -0.25116, -0.623396], [0.140067, 0.140067, 0.140067]),
    ([0.3, 0.5, 0.55], [0.69, 0.0, 0.15, 1.5, 0.0, 0.97, 0.0, 0.0, 0.0, 0.0, 0.0], [0.626766, 0.728728, -0.275897], [0.105023, -0.915196, -0.389083], [0.066779, 0.066779, 0.066779]),
    ([0.5, 0.81, 0.11], [0.66, 0.0, 0.26, 1.33, 0.78, 0.88, 0.0, 0.0, 0.0, 0.0, 0.0], [-0.546024, 0.106005, -0.831036], [0.751853, -0.277946, 0.597883], [1.03845, 1.32173, 0.487074]),
    ([0.83, 0.18, 0.57], [0.77, 0.34, 0.27, 1.5, 0.0, 0.46, 0.0, 0.0, 0.0, 0.0, 0.0], [0.293108, 0.216079, -0.931342], [-0.322881, -0.430841, 0.842689], [1.01685, 0.473537, 0.842665]),
    ([0.63, 0.61, 0.2], [0.75, 0.0, 0.13, 1.5, 0.99, 0.17, 0.0, 0.0, 0.0, 0.0, 0.0], [0.122951, -0.039984, -0.991607], [-0.625907, -0.055992, 0.777885], [0.0269258, 0.0264949, 0.0151709]),
    ([0.35, 0.32, 0.94], [0.58, 0.0, 0.29, 1.5, 0.55, 0.14, 0.0, 0.49, 0.0, 0.15, 0.0], [0.212, 0.212, -0.953998], [-0.023994, -0.744818, 0.666837], [0.00410957, 0.0039295, 0.00673483]),
    ([0.1, 0.82, 0.56], [0.47, 0.16, 0.31, 1.5, 0.0, 0.42, 0.0, 0.98, 0.0, 0.0, 0.0], [0.152033, -0.408088, -0.900194], [-0.496959, 0.23998, 0.833931], [0.0129838, 0.0371799, 0.0307252]),
];

/// Largest relative error against Mitsuba's numbers, of lobes made with `masking`.
fn worst_against_mitsuba(masking: Masking) -> f64 {
    let mut worst = 0.0_f64;
    for (base_color, p, wo, wi, expected) in MITSUBA {
        let [roughness, anisotropic, metallic, eta, spec_tint, spec_trans, flatness, sheen, sheen_tint, ..] =
            p;
        let [.., clearcoat, clearcoat_gloss] = p;
        let parameters = Parameters {
            base_color: Vec3::from_array(base_color),
            roughness,
            anisotropic,
            metallic,
            eta,
            spec_tint,
            spec_trans,
            flatness,
            sheen,
            sheen_tint,
            clearcoat,
            clearcoat_gloss,
        };
        let [wo, wi] = [wo, wi].map(|[x, y, z]| DVec3::new(x, y, z).to_f32());
        let front = wo.z > 0.0;
        let (wo, wi) = if front { (wo, wi) } else { (flipped(wo), flipped(wi)) };
        let f = wide(parameters.lobe(masking, front).eval(wo, wi)).to_array();
        for (f, expected) in f.into_iter().zip(expected) {
            worst = worst.max((f * f64::from(wi.z.abs()) / expected - 1.0).abs());
        }
    }
    worst
}

#[test]
fn values_are_those_of_mitsuba() {
    let worst = worst_against_mitsuba(Masking::Separable);
    println!("f within {worst:.1e} of Mitsuba");
    assert!(worst < 1e-3, "{worst:e}");
}

#[test]
fn control_other_masking_is_not_mitsubas() {
    assert!(worst_against_mitsuba(Masking::Correlated) > 1e-2);
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

/// Cells around the normal over half vectors, as wide as the narrowest peak at its top and by equal ratios further out:
/// uniform in asinh(θ/α) and azimuth.
struct HalfVectors {
    alpha: f64,
    size: [usize; 2],
    /// Points of the midpoint rule in every cell.
    sub: [usize; 2],
}

impl HalfVectors {
    fn new(p: &Parameters) -> Self {
        let alpha = p.alpha().min_element();
        let coat = if p.clearcoat > 0.0 { 0.1 - 0.099 * p.clearcoat_gloss } else { 1.0 };
        Self { alpha: alpha.min(coat).into(), size: [14, 16], sub: [24, 12] }
    }

    fn end(&self) -> f64 {
        (FRAC_PI_2 / self.alpha).asinh()
    }

    fn cell(&self, wm: DVec3) -> usize {
        let theta = wm.x.hypot(wm.y).atan2(wm.z);
        let x = (theta / self.alpha).asinh() / self.end();
        let [nx, nt] = self.size;
        let turn = crate::common::turn(wm.x, wm.y);
        ((x * nx as f64) as usize).min(nx - 1) * nt + ((turn * nt as f64) as usize).min(nt - 1)
    }

    /// Calls `f` for the points of the midpoint rule: the cell, the normal, and its solid angle.
    fn for_each_point(&self, mut f: impl FnMut(usize, DVec3, f64)) {
        let sub = self.sub;
        let [nx, nt] = self.size;
        let (dx, dt) = (self.end() / (nx * sub[0]) as f64, TAU / (nt * sub[1]) as f64);
        for i in 0..nx * sub[0] {
            let x = (i as f64 + 0.5) * dx;
            let theta = self.alpha * x.sinh();
            // dωm = sin θ dθ dφ with dθ = α cosh x dx.
            let area = theta.sin() * self.alpha * x.cosh() * dx * dt;
            for t in 0..nt * sub[1] {
                // Points of neighbouring rings are turned, so that no edge along the cells passes between all of them.
                let turn = (t as f64 + [0.125, 0.625, 0.375, 0.875][i % 4]) * dt;
                f(i / sub[0] * nt + t / sub[1], polar(theta.cos(), turn), area);
            }
        }
    }
}

/// The direction into which `wo` is reflected by a facet, if that is above the surface, and |∂ωi/∂ωm|.
fn reflected(wo: DVec3, wm: DVec3) -> Option<(DVec3, f64)> {
    let cos = wo.dot(wm);
    let wi = 2.0 * cos * wm - wo;
    (cos > 0.0 && wi.z > 0.0).then_some((wi, 4.0 * cos))
}

/// The direction into which `wo` is refracted by a facet, if that is below the surface, and |∂ωi/∂ωm|.
fn refracted(wo: DVec3, wm: DVec3, eta: f64) -> Option<(DVec3, f64)> {
    let cos = wo.dot(wm);
    let tangential = (cos * wm - wo) / eta;
    let sin2 = tangential.dot(tangential);
    let wi = tangential - (1.0 - sin2).max(0.0).sqrt() * wm;
    let i = wi.dot(wm);
    (cos > 0.0 && sin2 < 1.0 && wi.z < 0.0).then(|| (wi, (cos + eta * i).powi(2) / (eta * eta * i.abs())))
}

/// P-value of the directions that `drawn_by` draws, and of how often it draws none, under the density of `p`.
fn densities(p: &Parameters, drawn_by: &Parameters, masking: Masking, front: bool, wo: Vec3) -> f64 {
    const N: usize = 40_000;
    let (lobe, cells, o) = (p.lobe(masking, front), HalfVectors::new(p), wide(wo));
    let eta = if front { f64::from(p.eta) } else { 1.0 / f64::from(p.eta) };
    let n = cells.size[0] * cells.size[1];
    let mut counts = vec![0; 2 * n + 1];
    for s in samples(&drawn_by.lobe(masking, front), wo, N, u64::from(wo.z.to_bits())) {
        let cell = s.map_or(2 * n, |s| {
            let i = wide(s.wi);
            let (side, half) = if i.z > 0.0 { (0, o + i) } else { (n, o + eta * i) };
            side + cells.cell(if half.z < 0.0 { -half } else { half })
        });
        counts[cell] += 1;
    }
    let pdf = |(wi, area): (DVec3, f64)| N as f64 * area * f64::from(lobe.pdf(wo, wi.to_f32()));
    let mut expected = vec![0.0; 2 * n];
    cells.for_each_point(|cell, wm, area| {
        expected[cell] += area * reflected(o, wm).map_or(0.0, pdf);
        expected[n + cell] += area * refracted(o, wm, eta).map_or(0.0, pdf);
    });
    // What leads nowhere is a cell too, unless it is so rare that the error of quadrature hides it.
    let (none, in_vain) = (N as f64 - expected.iter().sum::<f64>(), counts[2 * n]);
    if none.abs() < 2e-3 * N as f64 && in_vain < 4 * N as u64 / 1000 {
        counts.pop();
        let scale = (N as u64 - in_vain) as f64 / (N as f64 - none);
        expected.iter_mut().for_each(|e| *e *= scale);
    } else {
        expected.push(none.max(0.0));
    }
    chi2_test(&counts, &expected)
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

const COSINES: [f64; 5] = [1.0, 0.8, 0.5, 0.2, 0.05];

#[test]
fn directions_are_drawn_with_their_density() {
    let mut verdicts = Verdicts::default();
    for (k, (name, p)) in materials().into_iter().enumerate() {
        for (_, z) in COSINES.into_iter().enumerate().filter(|(j, _)| tier::takes(j + k, 2)) {
            let wo = polar(z, 0.9).to_f32();
            for masking in [Masking::Separable, Masking::Correlated] {
                verdicts.add(densities(&p, &p, masking, true, wo), format!("{name}, cos {z}"));
            }
            if p.spec_trans > 0.0 {
                let p_value = densities(&p, &p, Masking::Separable, false, wo);
                verdicts.add(p_value, format!("{name}, cos {z} from behind"));
            }
        }
    }
    verdicts.report("principled");
    verdicts.assert_none_rejected();
}

#[test]
fn control_other_densities_are_rejected() {
    let mut verdicts = Verdicts::default();
    let wo = polar(0.7, 0.9).to_f32();
    for (name, p) in materials() {
        let gloss = 1.0 - p.clearcoat_gloss;
        let others = [
            ("rougher", Parameters { roughness: p.roughness * 1.1 + 0.05, ..p }, p.eta != 1.0),
            (
                "less metallic",
                Parameters { metallic: p.metallic * 0.5, ..p },
                p.metallic * p.spec_trans > 0.0,
            ),
            ("less clear", Parameters { spec_trans: p.spec_trans * 0.8, ..p }, p.spec_trans > 0.0),
            ("less coated", Parameters { clearcoat: p.clearcoat * 0.1, ..p }, p.clearcoat > 0.0),
            ("other gloss", Parameters { clearcoat_gloss: gloss, ..p }, p.clearcoat > 0.0),
            ("denser", Parameters { eta: p.eta * 1.1, ..p }, p.spec_trans > 0.0),
        ];
        for (what, other, tells) in others {
            if tells {
                let p_value = densities(&p, &other, Masking::Separable, true, wo);
                verdicts.add(p_value, format!("{name}, {what}"));
            }
        }
    }
    verdicts.report_largest("controls");
    verdicts.assert_all_rejected();
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
