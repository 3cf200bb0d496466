//! Reflection off microfacets that reflect everything, which all layers of facets share.

use glam::{Vec2, Vec3};

use super::microfacet::Microfacet;
use super::reflected;
use crate::arch::min;

/// Reflection by microfacets from `wo` to `wi`, both above the surface.
pub(super) struct Reflection {
    /// Cosine of incidence on the facets that do so.
    pub(super) cos_om: f32,
    /// D·G2 / (4 cos θo cos θi).
    pub(super) f: f32,
    /// Density with which [`sample`] returns `wi`.
    pub(super) pdf: f32,
}

impl Reflection {
    #[inline(always)]
    pub(super) fn new(microfacet: &Microfacet, wo: Vec3, wi: Vec3) -> Self {
        // Of unit vectors, the half vector is as long as the cosine to both says.
        let half = wo + wi;
        let length = half.length();
        let wm = half / length;
        Self {
            cos_om: min(0.5 * length, 1.0),
            f: microfacet.d(wm) * microfacet.g2(wo, wi) / (4.0 * wo.z * wi.z),
            pdf: microfacet.pdf_reflected(wo, wm),
        }
    }
}

/// Draws a reflection of `wo`; some of them are below the surface.
#[inline(always)]
pub(super) fn sample(microfacet: &Microfacet, wo: Vec3, u: Vec2) -> Vec3 {
    let wm = microfacet.sample_wm_reflecting(wo, u);
    reflected(wo, wm, wo.dot(wm))
}
