//! Light transmitted to a base below microfacets that reflect by Schlick's approximation, and back out of it.

use glam::Vec2;

use crate::arch::{max, min, sqrt};
use crate::math::pow;

/// GGX facets of a reflectance from `f0` to `f90`, over a base.
///
/// The directional albedo of the facets is linear in both: f0·(E − B) + f90·B, where E(cos θ) is that of white
/// facets and B(cos θ) their mean of (1 − wo·wm)⁵. What is not reflected, 1 − F̂ with F̂ = f0 + (f90 − f0)·B̂,
/// passes; B̂ is a fit that is nowhere less than B, so that facets and base never reflect more than arrives.
///
/// A Lambertian base of albedo ρ then has f = ρ/π · (1 − F̂(θo)) (1 − F̂(θi)) / (1 − F̂ of all directions):
/// reciprocal, and if ρ is 1 what the facets let pass at θo is what comes back to them (as in Kelemen &
/// Szirmay-Kalos 2001, "A Microfacet Based Coupled Specular-Matte BRDF Model with Importance Sampling").
#[derive(Clone, Copy)]
pub(super) struct Underlay {
    f0: f32,
    /// f90 − f0.
    rise: f32,
    /// B̂ = floor + scale·(1 − cos θ)^exponent.
    floor: f32,
    scale: f32,
    exponent: f32,
}

impl Underlay {
    /// `f0` ≤ `f90`, both in [0, 1].
    #[inline(always)]
    pub(super) fn new(f0: f32, f90: f32, alpha: Vec2) -> Self {
        // At the azimuth where B is largest, it is that of isotropic facets smoother than either alpha says.
        let (smaller, larger) = (min(alpha.x, alpha.y), max(alpha.x, alpha.y));
        let ratio = smaller / larger;
        let alpha = smaller * sqrt(ratio);
        let a2 = alpha * alpha;
        // By this much the rest falls short of B, at most; for isotropic facets it is 0.003 off it for light from
        // all directions.
        let floor = 0.0012 + 0.0035 * (1.0 - ratio);
        let scale = (1.0 - floor) / (1.0 + 24.0 * a2 / (alpha + 0.17));
        let exponent = 5.0 - 2.07 * a2 / (a2 + 0.0077) + 1.28 * a2;
        Self { f0, rise: f90 - f0, floor, scale, exponent }
    }

    /// B̂ for the cosine `cos`, in [0, 1].
    #[inline(always)]
    fn b(&self, cos: f32) -> f32 {
        self.floor + self.scale * pow(max(1.0 - cos, 0.0), self.exponent)
    }

    /// The part of the light at the cosine `cos` that is not reflected.
    #[inline(always)]
    pub(super) fn transmittance(&self, cos: f32) -> f32 {
        max(1.0 - (self.f0 + self.rise * self.b(cos)), 0.0)
    }

    /// B̂ for the cosine `cos`, and the cosine at which a smooth surface has it.
    #[inline(always)]
    pub(super) fn blurred(&self, cos: f32) -> (f32, f32) {
        let b = self.b(cos);
        (b, 1.0 - pow(b, 0.2))
    }

    /// The part of light from all directions that is not reflected, ∫ 2 cos θ (1 − F̂) dcos θ.
    #[inline(always)]
    fn average(&self) -> f32 {
        let p = self.exponent;
        let b = self.floor + self.scale * 2.0 / ((p + 1.0) * (p + 2.0));
        1.0 - (self.f0 + self.rise * b)
    }

    /// Factor on the f of a Lambertian base.
    #[inline(always)]
    pub(super) fn coupling(&self, cos_o: f32, cos_i: f32) -> f32 {
        // Where nothing passes, 0/0.
        self.transmittance(cos_o) * self.transmittance(cos_i) / max(self.average(), 1e-6)
    }
}
