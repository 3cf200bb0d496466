//! Reflection from and refraction into a dielectric.
//!
//! `eta` is the index of refraction on the far side relative to that on the side of `wo`. Transmitted radiance is
//! scaled by 1/`eta`², since refraction widens or narrows the cone that carries it (Veach 1997, §5.2): f is not
//! reciprocal there.

use glam::{Vec2, Vec3};

use super::microfacet::Microfacet;
use super::{BsdfSample, Lobe, MIN_COS, fresnel, mirrored, reflected};
use crate::arch::{max, min};

/// A smooth interface: reflects and refracts in one direction each.
#[derive(Clone, Copy, Debug)]
pub struct SmoothDielectric {
    /// Relative index of refraction, > 0.
    pub eta: f32,
}

impl Lobe for SmoothDielectric {
    const DELTA: bool = true;

    #[inline(always)]
    fn eval_pdf(&self, _wo: Vec3, _wi: Vec3) -> (Vec3, f32) {
        (Vec3::ZERO, 0.0)
    }

    #[inline(always)]
    fn sample(&self, wo: Vec3, uc: f32, _u: Vec2) -> Option<BsdfSample> {
        let (reflectance, cos_t) = fresnel::dielectric(wo.z, self.eta);
        if uc < reflectance {
            let wi = mirrored(wo);
            return Some(BsdfSample { wi, pdf: 0.0, weight: Vec3::ONE, eta: 1.0 });
        }
        let wi = Vec3::new(-wo.x / self.eta, -wo.y / self.eta, -cos_t);
        let weight = Vec3::splat(1.0 / (self.eta * self.eta));
        Some(BsdfSample { wi, pdf: 0.0, weight, eta: self.eta })
    }
}

/// A rough interface of microfacets that each reflect and refract as a smooth one: Walter, Marschner, Li & Torrance
/// 2007, "Microfacet Models for Refraction through Rough Surfaces", whose equation numbers stand below.
#[derive(Clone, Copy, Debug)]
pub struct Dielectric {
    /// Distribution of microfacets.
    pub microfacet: Microfacet,
    /// Relative index of refraction, > 0; far enough from 1 for [`Dielectric::is_smooth`].
    pub eta: f32,
}

impl Dielectric {
    /// Whether an interface of roughness `alpha` and relative index of refraction `eta`, or 1/`eta`, is to be taken for a
    /// smooth one. Facets tilted by α turn what they refract by α·|η − 1| only: where that nears the distance between
    /// directions in f32, two directions no longer tell the facet between them, nor f and pdf, to some 10⁻⁸ / (α·|η − 1|).
    #[inline(always)]
    pub fn is_smooth(alpha: Vec2, eta: f32) -> bool {
        min(alpha.x, alpha.y) * (eta - 1.0 / eta).abs() < 8e-6
    }

    /// The half vector on the side of `wo` of which `wi` is the reflection (eq. 13) or the refraction (eq. 16).
    #[inline(always)]
    pub(super) fn half_vector(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let wm = if wi.z > 0.0 { wo + wi } else { wo + self.eta * wi };
        let wm = wm.normalize();
        wm * 1.0_f32.copysign(wm.z)
    }

    /// The direction into which a facet at cosine `cos_om` refracts `wo`; `cos_t` is the cosine of refraction.
    #[inline(always)]
    pub(super) fn refracted(&self, wo: Vec3, wm: Vec3, cos_om: f32, cos_t: f32) -> Vec3 {
        ((cos_om / self.eta - cos_t) * wm - wo / self.eta).normalize()
    }

    /// (f, pdf) of facets with normal `wm`, the half vector, that reflect all light, or refract all light, as `wi` is above
    /// or below the surface: eq. 20, and eq. 21 times 1/η², with F and 1 − F left out.
    #[inline(always)]
    pub(super) fn facets(&self, wo: Vec3, wi: Vec3, wm: Vec3) -> (f32, f32) {
        let (cos_om, cos_im) = (wo.dot(wm), wi.dot(wm));
        // A facet seen from behind on either side takes no part.
        if cos_om <= 0.0 || cos_im * wi.z <= 0.0 {
            return (0.0, 0.0);
        }
        let (jacobian, g2) = if wi.z > 0.0 {
            (1.0 / (4.0 * cos_om), self.microfacet.g2(wo, wi))
        } else {
            let scale = 1.0 / (self.eta * self.eta);
            (jacobian(self.eta, cos_om, cos_im), self.microfacet.g2_transmitted(wo, wi) * scale)
        };
        // Both equations are D·G2·(wo·wm)·|∂ωm/∂ωi| / (cos θo cos θi).
        let density = self.microfacet.d(wm) * cos_om * jacobian / wo.z;
        (density * g2 / wi.z.abs(), density * self.microfacet.g1(wo))
    }
}

/// Density of refracted directions over that of facets: |∂ωm/∂ωi| (eq. 17).
#[inline(always)]
pub(super) fn jacobian(eta: f32, cos_om: f32, cos_im: f32) -> f32 {
    let denominator = cos_om + eta * cos_im;
    eta * eta * cos_im.abs() / (denominator * denominator)
}

impl Lobe for Dielectric {
    #[inline(always)]
    fn is_vectorizable(&self) -> bool {
        self.microfacet.is_ggx()
    }

    #[inline(always)]
    fn vectorizable(self) -> Self {
        Self { microfacet: self.microfacet.as_ggx(), ..self }
    }

    #[inline(always)]
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
        if wo.z < MIN_COS {
            return None;
        }
        let wm = self.microfacet.sample_wm(wo, u);
        let cos_om = wo.dot(wm);
        let (reflectance, cos_t) = fresnel::dielectric(cos_om, self.eta);
        let pdf_wm = self.microfacet.pdf_wm(wo, wm);
        let reflects = uc < reflectance;
        let (wi, pdf, eta) = if reflects {
            (reflected(wo, wm, cos_om), reflectance * pdf_wm / (4.0 * cos_om), 1.0)
        } else {
            let wi = self.refracted(wo, wm, cos_om, cos_t);
            (wi, (1.0 - reflectance) * pdf_wm * jacobian(self.eta, cos_om, -cos_t), self.eta)
        };
        if cos_om <= 0.0 || (wi.z > 0.0) != reflects || wi.z.abs() < MIN_COS || pdf <= 0.0 {
            return None;
        }
        let visible = if reflects {
            self.microfacet.g2_over_g1(wo, wi)
        } else {
            self.microfacet.g2_transmitted_over_g1(wo, wi)
        };
        let weight = Vec3::splat(visible / (eta * eta));
        Some(BsdfSample { wi, pdf, weight, eta })
    }

    #[inline(always)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        if wo.z < MIN_COS || wi.z.abs() < MIN_COS {
            return (Vec3::ZERO, 0.0);
        }
        let wm = self.half_vector(wo, wi);
        let (f, pdf) = self.facets(wo, wi, wm);
        let (reflectance, _) = fresnel::dielectric(max(wo.dot(wm), 0.0), self.eta);
        let share = if wi.z > 0.0 { reflectance } else { 1.0 - reflectance };
        (Vec3::splat(share * f), share * pdf)
    }
}

/// A thin pane with two parallel smooth faces: transmitted light keeps its direction.
#[derive(Clone, Copy, Debug)]
pub struct ThinDielectric {
    /// Index of refraction of the pane relative to both sides, > 0.
    pub eta: f32,
}

impl Lobe for ThinDielectric {
    const DELTA: bool = true;

    #[inline(always)]
    fn eval_pdf(&self, _wo: Vec3, _wi: Vec3) -> (Vec3, f32) {
        (Vec3::ZERO, 0.0)
    }

    /// All orders of reflection between the faces together: R + T²R + T²R³ + … = 2R/(1 + R) (pbrt 4th ed. §9.5.1).
    #[inline(always)]
    fn sample(&self, wo: Vec3, uc: f32, _u: Vec2) -> Option<BsdfSample> {
        let (r, _) = fresnel::dielectric(wo.z, self.eta);
        let wi = if uc < 2.0 * r / (1.0 + r) { mirrored(wo) } else { -wo };
        Some(BsdfSample { wi, pdf: 0.0, weight: Vec3::ONE, eta: 1.0 })
    }
}
