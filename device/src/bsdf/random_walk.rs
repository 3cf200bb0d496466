//! Scattering of all orders between microfacets, without bias, by walks from facet to facet.
//!
//! Heitz, Hanika, d'Eon & Dachsbacher 2016, "Multiple-Scattering Microfacet BSDFs with the Smith Model", ACM TOG 35(4).
//! Facets are met as particles of a medium are: the height at which a ray meets the next depends on its direction and
//! height only, the normal there is one of those visible from where the ray comes. Heights are told by the part c of
//! the surface that lies below them, so that their distribution drops out: a ray at c gets to c′ with the probability
//! (c/c′)^Λ.
//!
//! The f of these lobes is an estimate, of which single scattering is exact and the rest the mean over walks. Their
//! pdf is that of single scattering, and as if diffuse for the rest, so that it adds up to about one, and serves to
//! weigh strategies against each other: since all of them use the same, whatever it is, the combination stays
//! unbiased. The weight of a sample is that of its walk; f·|cos θi|/pdf is no substitute for it.

use core::f32::consts::FRAC_1_PI;

use glam::{Vec2, Vec3};

use super::microfacet::Microfacet;
use super::{BsdfSample, Conductor, Dielectric, Lobe, MIN_COS, albedo, fresnel, reflected};
use crate::arch::{max, min};
use crate::math::{exp, ln};
use crate::rng::{pcg4d, uniform};

/// Longest walk; longer ones contribute nothing.
const MAX_ORDER: u32 = 64;

/// Smallest height, whose logarithm is finite.
const LOWEST: f32 = 1e-30;

/// The height of the facet that a ray from height `c` along `w` meets; `None` when it leaves.
#[inline(always)]
fn travel(microfacet: &Microfacet, w: Vec3, c: f32, u: f32) -> Option<f32> {
    const HALF_ULP: f32 = 0.5 / 16_777_216.0;
    let lambda = microfacet.lambda(w);
    let exponent = if w.z > 0.0 { -lambda } else { 1.0 + lambda };
    // Not zero where u is, so that nothing is met along directions that meet nothing.
    let next = c * exp((ln(1.0 - u) - HALF_ULP) / exponent);
    (w.z <= 0.0 || next < 1.0).then_some(min(max(next, LOWEST), 1.0))
}

/// Part of the surface's heights from which a ray leaves along `w`.
#[inline(always)]
fn leaves(microfacet: &Microfacet, w: Vec3, c: f32) -> f32 {
    exp(microfacet.lambda(w) * ln(max(c, LOWEST)))
}

/// Four uniforms a step.
struct Uniforms([u32; 4]);

impl Uniforms {
    #[inline(always)]
    fn next(&mut self) -> [f32; 4] {
        self.0 = pcg4d(self.0);
        let [a, b, c, d] = self.0;
        [uniform(a), uniform(b), uniform(c), uniform(d)]
    }

    /// Seeded by two directions and the lobe's seed, which distinguishes walks with the same directions.
    #[inline(always)]
    fn from_directions(a: Vec3, b: Vec3, seed: u32) -> Self {
        let [x, y, z, w] = pcg4d([a.x.to_bits(), a.y.to_bits(), a.z.to_bits(), seed]);
        Self([x ^ b.x.to_bits(), y ^ b.y.to_bits(), z ^ b.z.to_bits(), w])
    }
}

/// Cosine with which a ray along `w` meets a facet; what rounding left of facets seen from behind is edge on.
#[inline(always)]
fn cosine(w: Vec3, wm: Vec3) -> f32 {
    min(max(-w.dot(wm), 0.0), 1.0)
}

/// Smallest part of the directions that is taken to be diffuse, so that improbable walks have a density.
const LEAST: f32 = 1e-3;

/// A conductor with scattering of all orders between its facets.
#[derive(Clone, Copy, Debug)]
pub struct RandomWalkConductor {
    /// Distribution of microfacets; heights are correlated, whatever the masking.
    pub microfacet: Microfacet,
    /// Real part of the index of refraction per channel, relative to the outside.
    pub eta: Vec3,
    /// Imaginary part per channel.
    pub k: Vec3,
    /// Tells walks with the same directions apart.
    pub seed: u32,
}

impl RandomWalkConductor {
    /// The pdf of [`Lobe::eval_pdf`]: D·G2 / (4 cos θo), and what is left.
    #[inline(always)]
    fn density(&self, wo: Vec3, wi: Vec3) -> f32 {
        let m = self.microfacet.correlated();
        let single = m.d((wo + wi).normalize()) * m.g2(wo, wi) / (4.0 * wo.z);
        let loss = albedo::loss(m.distribution, albedo::isotropic(&m), wo.z);
        single + max(loss, LEAST) * wi.z * FRAC_1_PI
    }

    /// Estimate of the part of f of second and higher orders, the same if the directions are swapped: a walk from the one
    /// closer to the surface, which is the less noisy, that looks out along the other from every facet.
    #[inline(never)]
    pub fn multiple(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let (wo, wi) = if wi.z < wo.z { (wi, wo) } else { (wo, wi) };
        let m = &self.microfacet;
        let mut uniforms = Uniforms::from_directions(wo, wi, self.seed);
        let (mut w, mut c, mut weight, mut sum) = (-wo, 1.0, Vec3::ONE, Vec3::ZERO);
        for order in 1..=MAX_ORDER {
            let [height, x, y, _] = uniforms.next();
            let Some(met) = travel(m, w, c, height) else { break };
            c = met;
            if order > 1 {
                sum += weight * self.phase(w, wi) * leaves(m, wi, c);
            }
            let wm = m.sample_wm_from_anywhere(-w, Vec2::new(x, y));
            let cos = cosine(w, wm);
            weight *= fresnel::conductor(cos, self.eta, self.k);
            w = reflected(-w, wm, cos);
        }
        sum / wi.z
    }

    /// The phase function from along `w` to `wi`, F·D_w(wm) / (4 w·wm).
    #[inline(always)]
    fn phase(&self, w: Vec3, wi: Vec3) -> Vec3 {
        let m = &self.microfacet;
        let wm = (wi - w).normalize_or_zero();
        let cos = cosine(w, wm);
        fresnel::conductor(cos, self.eta, self.k) * (m.d(wm) / (4.0 * m.projected(-w)))
    }
}

impl Lobe for RandomWalkConductor {
    /// The length of a walk is random.
    #[inline(always)]
    fn is_vectorizable(&self) -> bool {
        false
    }

    #[inline(never)]
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
        if wo.z < MIN_COS {
            return None;
        }
        let m = &self.microfacet;
        let mut uniforms = Uniforms::from_directions(wo, Vec3::new(u.x, u.y, uc), self.seed);
        let (mut w, mut weight, mut u) = (-wo, Vec3::ONE, u);
        let mut c = travel(m, w, 1.0, uc)?;
        for _ in 0..MAX_ORDER {
            let wm = m.sample_wm_from_anywhere(-w, u);
            let cos = cosine(w, wm);
            weight *= fresnel::conductor(cos, self.eta, self.k);
            w = reflected(-w, wm, cos);
            let [height, x, y, _] = uniforms.next();
            match travel(m, w, c, height) {
                Some(met) => c = met,
                None if w.z < MIN_COS => return None,
                None => return Some(BsdfSample { wi: w, pdf: self.density(wo, w), weight, eta: 1.0 }),
            }
            u = Vec2::new(x, y);
        }
        None
    }

    #[inline(never)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        if wo.z < MIN_COS || wi.z < MIN_COS {
            return (Vec3::ZERO, 0.0);
        }
        let single = Conductor { microfacet: self.microfacet.correlated(), eta: self.eta, k: self.k };
        (single.eval(wo, wi) + self.multiple(wo, wi), self.density(wo, wi))
    }
}

/// A dielectric with scattering of all orders between its facets, on both sides.
#[derive(Clone, Copy, Debug)]
pub struct RandomWalkDielectric {
    /// Distribution of microfacets; heights are correlated, whatever the masking.
    pub microfacet: Microfacet,
    /// Relative index of refraction, > 0; not 1.
    pub eta: f32,
    /// Tells walks with the same directions apart.
    pub seed: u32,
}

/// A ray on one side of a dielectric: on the far side all is seen upside down, directions turned around and heights
/// counted from the other end, so that every side is the upper one.
#[derive(Clone, Copy)]
struct Ray {
    w: Vec3,
    c: f32,
    /// Index of refraction on the other side relative to this one.
    eta: f32,
    /// Whether it is on the side of `wo`.
    near: bool,
}

impl Ray {
    /// Reflected or refracted by the facet that `u` tells, as `choice` tells.
    #[inline(always)]
    fn scattered(self, microfacet: &Microfacet, u: Vec2, choice: f32) -> Self {
        let wm = microfacet.sample_wm_from_anywhere(-self.w, u);
        let cos = cosine(self.w, wm);
        let (reflectance, cos_t) = fresnel::dielectric(cos, self.eta);
        if choice < reflectance {
            return Self { w: reflected(-self.w, wm, cos), ..self };
        }
        let w = (self.w / self.eta + (cos / self.eta - cos_t) * wm).normalize();
        Self { w: -w, c: 1.0 - self.c, eta: 1.0 / self.eta, near: !self.near }
    }

    /// Density with which the ray, where it is, is scattered along `wi` and leaves.
    #[inline(always)]
    fn towards(&self, microfacet: &Microfacet, wi: Vec3) -> f32 {
        let wi = if self.near { wi } else { -wi };
        let reflects = wi.z > 0.0;
        let wm = if reflects { wi - self.w } else { self.eta * wi - self.w }.normalize_or_zero();
        let wm = if reflects { wm } else { wm * 1.0_f32.copysign(wm.z) };
        let (cos, cos_i) = (cosine(self.w, wm), wi.dot(wm));
        let (reflectance, _) = fresnel::dielectric(cos, self.eta);
        let facets = microfacet.d(wm) / microfacet.projected(-self.w);
        if reflects {
            return reflectance * facets * 0.25 * leaves(microfacet, wi, self.c);
        }
        if cos <= 0.0 || cos_i >= 0.0 {
            return 0.0;
        }
        let jacobian = super::dielectric::jacobian(self.eta, cos, cos_i);
        (1.0 - reflectance) * facets * cos * jacobian * leaves(microfacet, wi, 1.0 - self.c)
    }
}

impl RandomWalkDielectric {
    /// Estimate of the part of f of second and higher orders, before the scaling of radiance: as for conductors, a walk from
    /// the direction closer to the surface.
    #[inline(never)]
    pub fn multiple(&self, wo: Vec3, wi: Vec3) -> f32 {
        if wo.z <= wi.z.abs() {
            return self.walk(wo, wi);
        }
        if wi.z > 0.0 {
            return self.walk(wi, wo);
        }
        // From the other side, upside down; there n² f is that of the other way.
        let eta2 = self.eta * self.eta;
        eta2 * Self { eta: 1.0 / self.eta, ..*self }.walk(-wi, -wo)
    }

    /// A walk from `wo` that looks out along `wi` from every facet.
    #[inline(never)]
    fn walk(&self, wo: Vec3, wi: Vec3) -> f32 {
        let m = &self.microfacet;
        let mut uniforms = Uniforms::from_directions(wo, wi, self.seed);
        let mut ray = Ray { w: -wo, c: 1.0, eta: self.eta, near: true };
        let mut sum = 0.0;
        for order in 1..=MAX_ORDER {
            let [height, x, y, choice] = uniforms.next();
            let Some(met) = travel(m, ray.w, ray.c, height) else { break };
            ray.c = met;
            if order > 1 {
                sum += ray.towards(m, wi);
            }
            ray = ray.scattered(m, Vec2::new(x, y), choice);
        }
        sum / wi.z.abs()
    }

    /// f of single scattering, before the scaling of radiance, and the pdf of [`Lobe::eval_pdf`].
    #[inline(never)]
    fn single(&self, wo: Vec3, wi: Vec3) -> (f32, f32) {
        let m = self.microfacet.correlated();
        let scale = if wi.z > 0.0 { 1.0 } else { self.eta * self.eta };
        let single = scale * Dielectric { microfacet: m, eta: self.eta }.eval(wo, wi).x;
        // The tables are of GGX; Beckmann's facets lose less, of which no more than the noise depends.
        let loss = albedo::dielectric_loss(albedo::isotropic(&m), self.eta, wo.z);
        (single, (single + 0.5 * max(loss, LEAST) * FRAC_1_PI) * wi.z.abs())
    }
}

impl Lobe for RandomWalkDielectric {
    /// The length of a walk is random.
    #[inline(always)]
    fn is_vectorizable(&self) -> bool {
        false
    }

    #[inline(never)]
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
        if wo.z < MIN_COS {
            return None;
        }
        let m = &self.microfacet;
        let mut uniforms = Uniforms::from_directions(wo, Vec3::new(u.x, u.y, uc), self.seed);
        let mut ray = Ray { w: -wo, c: 1.0, eta: self.eta, near: true };
        let [height, ..] = uniforms.next();
        ray.c = travel(m, ray.w, ray.c, height)?;
        let (mut u, mut choice) = (u, uc);
        for _ in 0..MAX_ORDER {
            ray = ray.scattered(m, u, choice);
            let [height, x, y, next] = uniforms.next();
            match travel(m, ray.w, ray.c, height) {
                Some(met) => ray.c = met,
                None if ray.w.z < MIN_COS => return None,
                None => {
                    let (wi, eta) = if ray.near { (ray.w, 1.0) } else { (-ray.w, self.eta) };
                    let weight = Vec3::splat(1.0 / (eta * eta));
                    return Some(BsdfSample { wi, pdf: self.single(wo, wi).1, weight, eta });
                }
            }
            (u, choice) = (Vec2::new(x, y), next);
        }
        None
    }

    #[inline(never)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        if wo.z < MIN_COS || wi.z.abs() < MIN_COS {
            return (Vec3::ZERO, 0.0);
        }
        let scale = if wi.z > 0.0 { 1.0 } else { 1.0 / (self.eta * self.eta) };
        let (single, pdf) = self.single(wo, wi);
        (Vec3::splat(scale * (single + self.multiple(wo, wi))), pdf)
    }
}
