//! Base of the principled model: diffuse reflection, stronger or weaker at grazing angles, and sheen.

use core::f32::consts::FRAC_1_PI;

use glam::{Vec2, Vec3};

use super::fresnel::schlick_weight;
use crate::sampling::{sample_cosine_hemisphere, sample_uniform_sphere};

/// Diffuse reflection and sheen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    /// Approximate albedo.
    pub(super) diffuse: Vec3,
    /// Strength of the sheen.
    pub(super) sheen: Vec3,
    /// In [0, 1].
    pub(super) roughness: f32,
    /// From diffuse reflection (0) to that of a flat scattering medium (1).
    pub(super) flatness: f32,
}

impl Base {
    /// f for the cosines of `wo` and `wi`, and of either to the half vector.
    #[inline(always)]
    pub(super) fn f(&self, cos_o: f32, cos_i: f32, cos_d: f32) -> Vec3 {
        let (o, i) = (schlick_weight(cos_o), schlick_weight(cos_i));
        let rough = self.roughness * cos_d * cos_d;
        let diffuse = both_ways(0.5 + 2.0 * rough, o, i);
        // After Hanrahan & Krueger 1993 (Burley 2012, §5.3).
        let flat = 1.25 * (both_ways(rough, o, i) * (1.0 / (cos_o + cos_i) - 0.5) + 0.5);
        let part = diffuse + self.flatness * (flat - diffuse);
        self.diffuse * (FRAC_1_PI * part) + self.sheen * schlick_weight(cos_d)
    }

    /// Draws a direction with the density of [`Base::pdf`].
    #[inline(always)]
    pub(super) fn sample_wi(&self, uc: f32, u: Vec2) -> Vec3 {
        if uc < self.p_uniform() {
            let wi = sample_uniform_sphere(u);
            return Vec3::new(wi.x, wi.y, wi.z.abs());
        }
        sample_cosine_hemisphere(u)
    }

    /// Density over solid angle, above the surface.
    #[inline(always)]
    pub(super) fn pdf(&self, wi: Vec3) -> f32 {
        let uniform = self.p_uniform();
        FRAC_1_PI * (wi.z + uniform * (0.5 - wi.z))
    }

    /// Part of the directions that is drawn uniformly rather than by cosine: seen along the surface, a flat medium is
    /// equally bright from everywhere, as 1/(cos θo + cos θi) cancels the cosine.
    #[inline(always)]
    fn p_uniform(&self) -> f32 {
        0.5 * self.flatness
    }
}

/// Transmittance of the surface both ways, in and out, relative to normal incidence: `f90` at grazing angles, after
/// Schlick's approximation with the weights `o` and `i` (Burley 2012, §5.3).
#[inline(always)]
fn both_ways(f90: f32, o: f32, i: f32) -> f32 {
    (1.0 + (f90 - 1.0) * o) * (1.0 + (f90 - 1.0) * i)
}
