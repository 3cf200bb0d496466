//! Plastics against the definitions in f64, and against numbers of Mitsuba 3.

mod albedo;
mod coats;
mod densities;
mod mitsuba;

use std::f64::consts::{FRAC_1_PI, TAU};

use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::plastic::{Coat, coated, smooth_internal};
use device::bsdf::{Bsdf, Lobe, Plastic, SmoothPlastic};
use glam::{Vec2, Vec3};
use statrs::function::beta::beta;

use crate::common::vector::{DVec3, wide};
use crate::common::{Random, adversarial_u, ggx, integrate, polar, turn};

const MASKINGS: [Masking; 2] = [Masking::Separable, Masking::Correlated];
const COLOR: Vec3 = Vec3::new(0.8, 0.5, 0.1);

fn surface(alpha: f32, masking: Masking) -> Microfacet {
    Microfacet { alpha: Vec2::splat(alpha), distribution: Distribution::Ggx, masking }
}

/// Colours linear.
fn rough(alpha: f32, eta: f32, masking: Masking, reflectance: Vec3) -> Plastic {
    let microfacet = surface(alpha, masking);
    let coat = Coat::new(&microfacet, eta);
    let base = coated(reflectance, eta, coat.internal, false);
    Plastic { microfacet, eta, coat, base, specular: Vec3::ONE }
}

/// Colours not linear.
fn smooth(eta: f32, reflectance: Vec3) -> SmoothPlastic {
    let base = coated(reflectance, eta, smooth_internal(eta), true);
    SmoothPlastic { eta, base, specular: Vec3::ONE }
}

fn wo(z: f64) -> Vec3 {
    polar(z, 0.4).to_f32()
}

/// Reflectance of a smooth boundary to index `eta`, and the cosine of refraction, from Snell's law.
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

/// A rough boundary of GGX in f64.
#[derive(Clone, Copy, Debug)]
struct Boundary {
    alpha: f64,
    eta: f64,
    masking: Masking,
}

impl Boundary {
    fn new(alpha: f32, eta: f32, masking: Masking) -> Self {
        Self { alpha: alpha.into(), eta: eta.into(), masking }
    }

    /// Mean over the normals visible from `wo` of the part that goes to the direction `scatter` says, and is not hidden
    /// there; `sub`² points in each of 512 cells.
    fn mean(
        &self,
        wo: DVec3,
        sub: usize,
        g2: fn(f64, f64) -> f64,
        scatter: impl Fn(f64, DVec3) -> (f64, DVec3),
    ) -> f64 {
        let (cells, lo) = (ggx::Cells { alpha: self.alpha, size: [16, 32] }, ggx::lambda(wo, self.alpha));
        let part = |wm: DVec3| {
            let (part, wi) = scatter(wo.dot(wm).clamp(0.0, 1.0), wm);
            if part == 0.0 {
                return 0.0;
            }
            let li = ggx::lambda(wi, self.alpha);
            part * if self.masking == Masking::Separable { 1.0 / (1.0 + li) } else { g2(lo, li) * (1.0 + lo) }
        };
        cells.visible(wo, sub, part).iter().sum()
    }

    /// The part of light from `cos` that is reflected.
    fn reflected(&self, cos: f64, sub: usize) -> f64 {
        let wo = polar(cos, 0.0);
        self.mean(
            wo,
            sub,
            |o, i| 1.0 / (1.0 + o + i),
            |c, wm| {
                let wi = 2.0 * c * wm - wo;
                (if wi.z > 0.0 { fresnel(c, self.eta).0 } else { 0.0 }, wi)
            },
        )
    }

    /// The part of light from `cos` that is refracted.
    fn transmitted(&self, cos: f64) -> f64 {
        let wo = polar(cos, 0.0);
        let g2 = |o: f64, i: f64| beta(1.0 + o, 1.0 + i);
        self.mean(wo, 10, g2, |c, wm| {
            let (r, cos_t) = fresnel(c, self.eta);
            let wi = (c / self.eta - cos_t) * wm - wo / self.eta;
            (if wi.z < 0.0 { 1.0 - r } else { 0.0 }, wi)
        })
    }

    /// The part of light from all directions outside that passes.
    fn all_transmitted(&self) -> f64 {
        integrate(0.0, 1.0, 1, |s| 4.0 * s.powi(3) * self.transmitted(s * s))
    }

    /// The part of light from all directions within that is sent back, split at the critical angle.
    fn internal(&self) -> f64 {
        let within = Self { eta: 1.0 / self.eta, ..*self };
        let critical = (1.0 - self.eta.powi(-2)).sqrt();
        let at = |c: f64| 2.0 * c * within.reflected(c, 6);
        integrate(0.0, critical, 1, at) + integrate(critical, 1.0, 1, at)
    }

    /// Mitsuba 3's approximation of it: twice the mean of cos θ R(θ) at 64 cosines from 0 to 1, both included, which is less
    /// by about 1/64.
    fn internal_of_mitsuba(&self) -> f64 {
        let within = Self { eta: 1.0 / self.eta, ..*self };
        let cosines = (0..64).map(|k| (f64::from(k) / 63.0).max(1e-6));
        cosines.map(|c| 2.0 * c * within.reflected(c, 6)).sum::<f64>() / 64.0
    }
}

/// ρ / (η² (1 − F ρ)), as the series that it is: light that enters, is scattered, is sent back, and scattered again.
fn left_of(reflectance: f64, eta: f64, internal: f64, nonlinear: bool) -> f64 {
    let again = if nonlinear { reflectance * internal } else { internal };
    (0..4000).map(|k| reflectance * again.powi(k)).sum::<f64>() / (eta * eta)
}

#[test]
fn what_is_left_under_a_coat_is_the_series_of_all_orders() {
    for (rho, eta, internal) in [(0.0, 1.5, 0.6), (0.3, 1.5, 0.59), (0.9, 1.8, 0.7), (1.0, 1.33, 0.45)] {
        for nonlinear in [false, true] {
            let base = f64::from(coated(Vec3::splat(rho), eta, internal, nonlinear).y);
            let expected = left_of(rho.into(), eta.into(), internal.into(), nonlinear);
            assert!((base - expected).abs() < 1e-6 * expected.max(0.1), "{rho}: {base} {expected}");
            let other = left_of(rho.into(), eta.into(), internal.into(), !nonlinear);
            assert!(rho == 0.0 || rho == 1.0 || (base - other).abs() > 0.01, "a control");
        }
    }
}

#[test]
fn rough_plastics_reflect_by_torrance_and_sparrow_and_the_base() {
    let mut worst: f64 = 0.0;
    for (alpha, eta, masking) in
        [(0.03, 1.5, Masking::Separable), (0.1, 1.8, Masking::Correlated), (0.5, 1.3, Masking::Correlated)]
    {
        let (lobe, boundary) = (rough(alpha, eta, masking, COLOR), Boundary::new(alpha, eta, masking));
        let (internal, a) = (boundary.internal(), boundary.alpha);
        let cosines = [0.97, 0.7, 0.35, 0.12];
        let t = cosines.map(|c| boundary.transmitted(c));
        for (o, i) in (0..16).map(|k| (k / 4, k % 4)) {
            for azimuth in [0.3, 2.0, 3.0, 3.13] {
                let (wo, wi) = (polar(cosines[o], 0.0).to_f32(), polar(cosines[i], azimuth).to_f32());
                let (f, wo, wi) = (lobe.eval(wo, wi), wide(wo), wide(wi));
                let wm = (wo + wi).normalize();
                let kind =
                    if masking == Masking::Separable { ggx::G2::Separable } else { ggx::G2::Correlated };
                let facets = ggx::d(wm, a) * ggx::g2(wo, wi, a, kind) / (4.0 * wo.z * wi.z);
                let specular = fresnel(wo.dot(wm), boundary.eta).0 * facets;
                for channel in 0..3 {
                    let base = left_of(COLOR[channel].into(), boundary.eta, internal, false);
                    let expected = specular + base * t[o] * t[i] * FRAC_1_PI;
                    let error = (f64::from(f[channel]) / expected - 1.0).abs();
                    worst = worst.max(error);
                    assert!(error < 1.5e-3, "alpha {alpha}: {error:e} at {wo:?} {wi:?}");
                }
            }
        }
    }
    println!("f of rough plastics to {worst:.1e}");
}

#[test]
fn smooth_plastics_reflect_by_fresnel_and_the_base() {
    let mut random = Random::new(21);
    for (eta, _) in [1.33, 1.5, 1.8].into_iter().flat_map(|eta| (0..300).map(move |k| (eta, k))) {
        let (lobe, n) = (smooth(eta, COLOR), f64::from(eta));
        let (wo, wi) =
            (polar(random.within(0.01, 1.0), 0.0).to_f32(), polar(random.within(0.01, 1.0), 2.0).to_f32());
        let passes = integrate(0.0, 1.0, 4, |c| 2.0 * c * (1.0 - fresnel(c, n).0));
        let (r_o, r_i) = (fresnel(wo.z.into(), n).0, fresnel(wi.z.into(), n).0);
        for channel in 0..3 {
            let base = left_of(COLOR[channel].into(), n, 1.0 - passes / (n * n), true);
            let (f, expected) = (lobe.eval(wo, wi)[channel], base * (1.0 - r_o) * (1.0 - r_i) * FRAC_1_PI);
            assert!((f64::from(f) / expected - 1.0).abs() < 3e-4, "{eta} {wo} {wi}: {f} {expected}");
        }
    }
}

/// Samples of a lobe, `None` where nothing was scattered.
/// Cells of directions: rings around the normal for those whose half vector has a slope below 10 α, if α is small, and
/// parts of the hemisphere for others.
struct Partition {
    wo: DVec3,
    alpha: f64,
}

impl Partition {
    /// Edges of rings in units of α.
    const RINGS: [f64; 9] = [0.0, 0.3, 0.6, 0.9, 1.3, 2.0, 3.0, 5.0, 10.0];
    const SECTORS: usize = 12;
    const CORE: usize = (Self::RINGS.len() - 1) * Self::SECTORS;
    const OUTER: [usize; 2] = [12, 24];
    const CELLS: usize = Self::CORE + Self::OUTER[0] * Self::OUTER[1];

    /// The cell of a direction.
    fn place(&self, wi: DVec3) -> usize {
        let wm = self.wo + wi;
        let r = wm.x.hypot(wm.y) / (wm.z * self.alpha);
        let part = |x: f64, n: usize| ((x * n as f64) as usize).min(n - 1);
        if self.alpha < 0.2 && r < 10.0 {
            let ring = Self::RINGS.iter().rposition(|&edge| edge <= r).expect("0 is an edge");
            ring * Self::SECTORS + part(turn(wm.x, wm.y), Self::SECTORS)
        } else {
            let [nz, nt] = Self::OUTER;
            Self::CORE + part(wi.z, nz) * nt + part(turn(wi.x, wi.y), nt)
        }
    }

    /// ∫ `pdf` over every cell.
    fn integrals(&self, pdf: impl Fn(Vec3) -> f32) -> Vec<f64> {
        let mut cells = vec![0.0; Self::CELLS];
        let pdf = |wi: DVec3| f64::from(pdf(wi.to_f32()));
        let core = if self.alpha < 0.2 { Self::CORE } else { 0 };
        for (k, cell) in cells.iter_mut().enumerate().take(core) {
            let (ring, sector) = (k / Self::SECTORS, (k % Self::SECTORS) as f64);
            let step = TAU / Self::SECTORS as f64;
            *cell = integrate(step * sector, step * (sector + 1.0), 1, |phi| {
                integrate(Self::RINGS[ring], Self::RINGS[ring + 1], 1, |r| {
                    let slope = self.alpha * r;
                    let wm = DVec3::new(slope * phi.cos(), slope * phi.sin(), 1.0).normalize();
                    let cos = self.wo.dot(wm);
                    let wi = 2.0 * cos * wm - self.wo;
                    // dωi = 4 wo·wm dωm, and dωm = cos³ θm dslopes.
                    if cos > 0.0 && wi.z > 0.0 {
                        4.0 * cos * wm.z.powi(3) * self.alpha * slope * pdf(wi)
                    } else {
                        0.0
                    }
                })
            });
        }
        // Points next to each other in azimuth differ in height, so that no edge passes between all of them.
        const SUB: usize = 20;
        let [nz, nt] = Self::OUTER.map(|n| n * SUB);
        for (i, j) in (0..nz * nt).map(|k| (k / nt, k % nt)) {
            let height = i as f64 + [0.125, 0.625, 0.375, 0.875][j % 4];
            let wi = polar(height / nz as f64, TAU * (j as f64 + 0.5) / nt as f64);
            let cell = self.place(wi);
            if cell >= Self::CORE {
                cells[cell] += TAU / (nz * nt) as f64 * pdf(wi);
            }
        }
        cells
    }
}

/// The mirror's weight times how often it is chosen is Fresnel's reflectance: by the part of uc that chooses it.
#[test]
fn mirrors_in_plastic_reflect_by_fresnel() {
    for eta in [1.33, 1.5, 1.8] {
        for z in [1.0, 0.6, 0.2, 0.05] {
            let (lobe, wo, n) = (smooth(eta, COLOR), wo(z), 1 << 14);
            let uc = |k: i32| (k as f32 + 0.5) / n as f32;
            let mirrored =
                (0..n).filter_map(|k| lobe.sample(wo, uc(k), Vec2::splat(0.5))).filter(|s| s.pdf == 0.0);
            let reflected = mirrored.map(|s| f64::from(s.weight.x)).sum::<f64>() / f64::from(n);
            let r = fresnel(wo.z.into(), eta.into()).0;
            assert!((reflected - r).abs() < 1e-4, "{eta} {z}: {reflected} {r}");
            assert_eq!(
                lobe.pdf(wo, Vec3::new(-wo.x, -wo.y, wo.z)),
                lobe.pdf(wo, wo),
                "no peak at the mirror"
            );
        }
    }
}

fn all_lobes() -> Vec<(String, Bsdf)> {
    let mut lobes = Vec::new();
    for (eta, color) in [(1.001, Vec3::ONE), (1.5, COLOR), (1.8, Vec3::ZERO), (3.0, Vec3::ONE)] {
        lobes.push((format!("smooth, {eta}, {color}"), Bsdf::SmoothPlastic(smooth(eta, color))));
        for alpha in [1e-4, 1e-2, 0.1, 0.5, 1.0] {
            for distribution in [Distribution::Ggx, Distribution::Beckmann] {
                let mut lobe = rough(alpha, eta, Masking::Correlated, color);
                // The coat of GGX serves: it is a number.
                lobe.microfacet.distribution = distribution;
                lobes.push((format!("{distribution:?} {alpha}, {eta}, {color}"), Bsdf::Plastic(lobe)));
            }
        }
    }
    lobes
}

#[test]
fn weights_are_f_cos_over_pdf_and_finite_for_all_uniforms() {
    let mut worst: f64 = 0.0;
    for (name, lobe) in all_lobes() {
        for z in [1.0, 0.7, 0.2, 0.03, 1e-3, 1e-5, 1e-8, 1e-12] {
            let (wo, mut random) = (wo(z), Random::new(61));
            let others = std::iter::repeat_with(|| random.vec2()).take(100);
            for u in adversarial_u().into_iter().chain(others) {
                for s in
                    [0.0, 0.03, 0.3, 0.7, 0.999_999_94].into_iter().filter_map(|uc| lobe.sample(wo, uc, u))
                {
                    assert!(
                        s.wi.is_finite() && s.pdf.is_finite() && s.weight.is_finite(),
                        "{name}, {wo}: {s:?}"
                    );
                    assert!(
                        s.wi.z > 0.0 && s.weight.min_element() >= 0.0 && s.eta == 1.0,
                        "{name}, {wo}: {s:?}"
                    );
                    let (f, pdf) = lobe.eval_pdf(wo, s.wi);
                    assert!(f.is_finite() && pdf.is_finite(), "{name}, {wo}: {f} {pdf}");
                    if s.pdf > 0.0 {
                        let expected = f * s.wi.z / pdf;
                        let error =
                            (s.weight - expected).abs().max_element() / expected.max_element().max(1e-3);
                        worst = worst.max(error.into());
                        assert!((s.pdf / pdf - 1.0).abs() < 1e-4, "{name}, {wo}: {} {pdf}", s.pdf);
                    }
                }
            }
        }
    }
    println!("weights to {worst:.1e}");
    assert!(worst < 1e-4, "{worst:e}");
}

#[test]
fn plastics_are_reciprocal_and_nothing_below() {
    let mut random = Random::new(71);
    for (name, lobe) in all_lobes() {
        for _ in 0..1000 {
            let (a, b) = (random.direction().to_f32(), random.direction().to_f32());
            let (f, pdf) = lobe.eval_pdf(a, b);
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
