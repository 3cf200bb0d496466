//! Microfacet reflection from a conductor.

use glam::{Vec2, Vec3};

use super::microfacet::Microfacet;
use super::{BsdfSample, Lobe, MIN_COS, fresnel, mirrored, reflected};
use crate::arch::{max, min};

/// f = F·D·G2 / (4 cos θo cos θi) (Torrance & Sparrow 1967; Walter et al. 2007, eq. 20).
#[derive(Clone, Copy, Debug)]
pub struct Conductor {
    /// Distribution of microfacets.
    pub microfacet: Microfacet,
    /// Real part of the index of refraction per channel, relative to the outside.
    pub eta: Vec3,
    /// Imaginary part per channel.
    pub k: Vec3,
}

impl Lobe for Conductor {
    #[inline(always)]
    fn is_vectorizable(&self) -> bool {
        self.microfacet.is_ggx()
    }

    #[inline(always)]
    fn vectorizable(self) -> Self {
        Self { microfacet: self.microfacet.as_ggx(), ..self }
    }

    #[inline(always)]
    fn sample(&self, wo: Vec3, _uc: f32, u: Vec2) -> Option<BsdfSample> {
        if wo.z < MIN_COS {
            return None;
        }
        let wm = self.microfacet.sample_wm_reflecting(wo, u);
        let cos_om = wo.dot(wm);
        let wi = reflected(wo, wm, cos_om);
        if wi.z <= 0.0 || cos_om <= 0.0 {
            return None;
        }
        let visible = self.microfacet.g2_over_g1(wo, wi) * self.microfacet.visible_over_reflected(wo);
        let weight = fresnel::conductor(cos_om, self.eta, self.k) * visible;
        Some(BsdfSample { wi, pdf: self.microfacet.pdf_reflected(wo, wm), weight, eta: 1.0 })
    }

    #[inline(always)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        if wo.z < MIN_COS || wi.z <= 0.0 {
            return (Vec3::ZERO, 0.0);
        }
        let wm = (wo + wi).normalize();
        let d = self.microfacet.d(wm);
        // Where directions along the surface all but cancel, so does the half vector.
        let f = fresnel::conductor(min(max(wo.dot(wm), 0.0), 1.0), self.eta, self.k);
        let value = f * (d * self.microfacet.g2(wo, wi) / (4.0 * wo.z * wi.z));
        (value, d * self.microfacet.reflected_over_d(wo))
    }
}

/// A mirror.
#[derive(Clone, Copy, Debug)]
pub struct SmoothConductor {
    /// Real part of the index of refraction per channel, relative to the outside.
    pub eta: Vec3,
    /// Imaginary part per channel.
    pub k: Vec3,
}

impl Lobe for SmoothConductor {
    const DELTA: bool = true;

    #[inline(always)]
    fn eval_pdf(&self, _wo: Vec3, _wi: Vec3) -> (Vec3, f32) {
        (Vec3::ZERO, 0.0)
    }

    #[inline(always)]
    fn sample(&self, wo: Vec3, _uc: f32, _u: Vec2) -> Option<BsdfSample> {
        let weight = fresnel::conductor(wo.z, self.eta, self.k);
        Some(BsdfSample { wi: mirrored(wo), pdf: 0.0, weight, eta: 1.0 })
    }
}
