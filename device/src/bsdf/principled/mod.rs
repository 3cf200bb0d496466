//! The principled model: one surface for plastic, metal and glass, by a dozen numbers made for artists.
//!
//! Burley 2012, "Physically Based Shading at Disney", and 2015, "Extending the Disney BRDF to a BSDF with Integrated
//! Subsurface Scattering", in the parameters and with the definitions of Mitsuba 3, so that images are the same. It
//! follows Mitsuba where that departs from Burley:
//! - The interface reflects as a dielectric does (Fresnel's equations); Schlick's approximation serves metals and tints.
//! - The clear coat lacks the 1/(4 cos θo cos θi) of microfacet reflection.
//! - From behind there is the interface only, which reflects without tint and refracts by √`base_color`; if nothing is
//!   transmitted, the back is black.
//!
//! It departs from Mitsuba where a metal has a `specular` of 0, which Mitsuba renders black, and where `spec_trans` is 1,
//! where Mitsuba keeps or drops the sheen depending on its variant; here both reflect as the formulas say.
//!
//! The model is not careful about energy: its parts are added, not layered. A bare interface, metal or clear, never
//! scatters more light than arrives unless it is tinted. White paint does: 1.06 times as much seen from above, up to 1.7
//! times along the surface; with sheen, a coat and tints up to 1.9 times, or 2.1 times where the index of refraction is
//! below 1. Tints keep luminance, of which this is said, not single channels.

mod base;
mod gtr1;
mod parameters;

use glam::{Vec2, Vec3};

use super::microfacet::{Distribution, Microfacet};
use super::{BsdfSample, Dielectric, Lobe, MIN_COS, fresnel, reflected};
use crate::arch::{max, min};
use base::Base;
use gtr1::Gtr1;

pub use parameters::{Parameters, eta_from_specular};

/// The sum of a base, an interface and a clear coat, made by [`Parameters::lobe`].
#[derive(Clone, Copy, Debug)]
pub struct Principled {
    base: Base,
    /// Dielectric interface, which reflects and refracts.
    interface: Dielectric,
    /// Fraction of the facets that reflect like a dielectric.
    specular: f32,
    /// Reflectance of the other facets at normal and at grazing incidence, times their part.
    f0: Vec3,
    f90: f32,
    /// Factor on refracted light.
    transmission: Vec3,
    coat: Coat,
    /// Probabilities with which the base and the coat are chosen; else it is the interface.
    p_base: f32,
    p_coat: f32,
}

/// A thin glossy layer on top.
#[derive(Clone, Copy, Debug)]
struct Coat {
    /// In [0, 1].
    strength: f32,
    facets: Gtr1,
}

impl Coat {
    /// ¼·F·D·G (Burley 2012, §5.4 to §5.6, as Mitsuba computes it) at the half vector `wm`; `masks` says how masking and
    /// shadowing combine.
    #[inline(always)]
    fn f(&self, wo: Vec3, wi: Vec3, wm: Vec3, schlick_weight: f32, masks: &Microfacet) -> f32 {
        const F0: f32 = 0.04;
        const ALPHA: Vec2 = Vec2::splat(0.25);
        let fresnel = F0 + (1.0 - F0) * schlick_weight;
        let masks = Microfacet { alpha: ALPHA, distribution: Distribution::Ggx, masking: masks.masking };
        0.25 * self.strength * fresnel * self.facets.d(wm) * masks.g2(wo, wi)
    }
}

/// Shares of light that facets met at one angle by `wo` reflect and refract.
struct Shares {
    reflected: Vec3,
    refracted: Vec3,
    /// (1 − cos θ)⁵, as Schlick's approximation takes it.
    schlick_weight: f32,
    cos_t: f32,
}

impl Shares {
    /// Probabilities of reflection and refraction: by what either yields.
    #[inline(always)]
    fn probabilities(&self) -> [f32; 2] {
        let (r, t) = (mean(self.reflected), mean(self.refracted));
        let total = max(r + t, f32::MIN_POSITIVE);
        [r / total, t / total]
    }
}

impl Principled {
    /// Shares for facets at the cosine `cos_om` to `wo`.
    #[inline(always)]
    fn shares(&self, cos_om: f32) -> Shares {
        let eta = self.interface.eta;
        let cos_om = min(max(cos_om, 0.0), 1.0);
        let (reflectance, cos_t) = fresnel::dielectric(cos_om, eta);
        // Schlick's approximation knows no total reflection: towards the thinner medium it takes the larger angle.
        let schlick_weight = fresnel::schlick_weight(if eta < 1.0 { cos_t } else { cos_om });
        Shares {
            reflected: self.f0 + (self.f90 - self.f0) * schlick_weight + self.specular * reflectance,
            refracted: self.transmission * (1.0 - reflectance),
            schlick_weight,
            cos_t,
        }
    }

    /// Draws a direction from one of the parts; zero if it is not on the side that it was meant for.
    #[inline(always)]
    fn sample_wi(&self, wo: Vec3, uc: f32, u: Vec2) -> Vec3 {
        if uc < self.p_base {
            return self.base.sample_wi(uc / self.p_base, u);
        }
        if uc < self.p_base + self.p_coat {
            return reflected_above(wo, self.coat.facets.sample_wm(u));
        }
        let uc = (uc - self.p_base - self.p_coat) / self.p_interface();
        let wm = self.interface.microfacet.sample_wm(wo, u);
        let cos_om = wo.dot(wm);
        let shares = self.shares(cos_om);
        if uc < shares.probabilities()[0] {
            return reflected_above(wo, wm);
        }
        let wi = self.interface.refracted(wo, wm, cos_om, shares.cos_t);
        if wi.z < 0.0 { wi } else { Vec3::ZERO }
    }

    #[inline(always)]
    fn p_interface(&self) -> f32 {
        max(1.0 - self.p_base - self.p_coat, 0.0)
    }
}

impl Lobe for Principled {
    #[inline(always)]
    fn vectorizable(self) -> Self {
        Self { interface: self.interface.vectorizable(), ..self }
    }

    #[inline(always)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        let opaque = self.transmission == Vec3::ZERO;
        if wo.z < MIN_COS || wi.z.abs() < MIN_COS || (wi.z < 0.0 && opaque) {
            return (Vec3::ZERO, 0.0);
        }
        let wm = self.interface.half_vector(wo, wi);
        let shares = self.shares(wo.dot(wm));
        let [p_reflected, p_refracted] = shares.probabilities();
        let (f, pdf) = self.interface.facets(wo, wi, wm);
        let pdf = self.p_interface() * pdf;
        if wi.z < 0.0 {
            return (shares.refracted * f, p_refracted * pdf);
        }
        let coat = self.coat.f(wo, wi, wm, shares.schlick_weight, &self.interface.microfacet);
        (
            self.base.f(wo.z, wi.z, min(wi.dot(wm), 1.0)) + shares.reflected * f + coat,
            self.p_base * self.base.pdf(wi)
                + p_reflected * pdf
                + self.p_coat * self.coat.facets.pdf_reflected(wo, wm),
        )
    }

    #[inline(always)]
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
        if wo.z < MIN_COS {
            return None;
        }
        let wi = self.sample_wi(wo, uc, u);
        let (f, pdf) = self.eval_pdf(wo, wi);
        let eta = if wi.z > 0.0 { 1.0 } else { self.interface.eta };
        (pdf > 0.0).then_some(BsdfSample { wi, pdf, weight: f * (wi.z.abs() / pdf), eta })
    }
}

/// The reflection of `wo` off a facet; zero if it is not above the surface.
#[inline(always)]
fn reflected_above(wo: Vec3, wm: Vec3) -> Vec3 {
    let wi = reflected(wo, wm, wo.dot(wm));
    if wi.z > 0.0 { wi } else { Vec3::ZERO }
}

/// Mean of the channels.
#[inline(always)]
fn mean(color: Vec3) -> f32 {
    color.element_sum() * (1.0 / 3.0)
}
