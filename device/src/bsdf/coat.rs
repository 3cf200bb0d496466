//! Clear coats: thin varnish over another material.

use glam::{Vec2, Vec3};

use super::microfacet::Microfacet;
use super::reflection::{self, Reflection};
use super::{BsdfSample, Lobe, MIN_COS, fresnel};

/// A layer of a dielectric that reflects at its upper side only and does not absorb. As a lobe it is the reflection;
/// what lies below, seen through it, is to be multiplied by [`ClearCoat::attenuation`].
///
/// Light passes it twice, and each time what its facets would reflect on average is taken as what the surface itself
/// would, F(cos θ): so the layers stay reciprocal. With `eta` of 1.1 and more, coat and base together reflect no more
/// than arrives, whatever the roughness of either. What is reflected back and forth between the two is left out.
#[derive(Clone, Copy, Debug)]
pub struct ClearCoat {
    /// Distribution of microfacets.
    pub microfacet: Microfacet,
    /// Index of refraction relative to the outside, > 1.
    pub eta: f32,
    /// The part of the surface that is coated, in [0, 1].
    pub factor: f32,
}

impl ClearCoat {
    /// The part of light at the cosine `cos` to the normal that is reflected where the coat is smooth. Light emitted below
    /// is multiplied by one minus this.
    #[inline(always)]
    pub fn reflectance(&self, cos: f32) -> f32 {
        if self.factor == 0.0 { 0.0 } else { self.factor * fresnel::dielectric(cos.abs(), self.eta).0 }
    }

    /// The part of light that is left below the coat after passing it along `wi` and along `wo`, from either side.
    #[inline(always)]
    pub fn attenuation(&self, wo: Vec3, wi: Vec3) -> f32 {
        (1.0 - self.reflectance(wo.z)) * (1.0 - self.reflectance(wi.z))
    }
}

impl Lobe for ClearCoat {
    #[inline(always)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        if wo.z < MIN_COS || wi.z < MIN_COS {
            return (Vec3::ZERO, 0.0);
        }
        let facets = Reflection::new(&self.microfacet, wo, wi);
        (Vec3::splat(self.reflectance(facets.cos_om) * facets.f), facets.pdf)
    }

    #[inline(always)]
    fn sample(&self, wo: Vec3, _uc: f32, u: Vec2) -> Option<BsdfSample> {
        if wo.z < MIN_COS {
            return None;
        }
        let wi = reflection::sample(&self.microfacet, wo, u);
        let (f, pdf) = self.eval_pdf(wo, wi);
        (pdf > 0.0).then(|| BsdfSample { wi, pdf, weight: f * (wi.z / pdf), eta: 1.0 })
    }
}

/// A lobe, other than of finitely many directions, under a clear coat.
#[derive(Clone, Copy, Debug)]
pub struct Coated<B> {
    /// The coat.
    pub coat: ClearCoat,
    /// Lobe below the coat.
    pub base: B,
}

impl<B> Coated<B> {
    /// Probability of sampling the coat: its share of the reflected light if the base reflects half of its incident light.
    #[inline(always)]
    fn share(&self, wo: Vec3) -> f32 {
        let coat = self.coat.reflectance(wo.z);
        coat / (coat + 0.5 * (1.0 - coat))
    }
}

impl<B: Lobe> Lobe for Coated<B> {
    #[inline(always)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        let (coat, coat_pdf) = self.coat.eval_pdf(wo, wi);
        let (base, base_pdf) = self.base.eval_pdf(wo, wi);
        let share = self.share(wo);
        (coat + self.coat.attenuation(wo, wi) * base, share * coat_pdf + (1.0 - share) * base_pdf)
    }

    #[inline(always)]
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
        let share = self.share(wo);
        let drawn = if uc < share {
            self.coat.sample(wo, uc / share, u)
        } else {
            self.base.sample(wo, (uc - share) / (1.0 - share), u)
        }?;
        let (f, pdf) = self.eval_pdf(wo, drawn.wi);
        (pdf > 0.0).then(|| BsdfSample { pdf, weight: f * (drawn.wi.z.abs() / pdf), ..drawn })
    }
}
