//! Lambertian reflection.

use core::f32::consts::FRAC_1_PI;

use glam::{Vec2, Vec3};

use super::{BsdfSample, Lobe};
use crate::sampling::sample_cosine_hemisphere;

/// f = ρ/π on the upper side.
#[derive(Clone, Copy, Debug)]
pub struct Diffuse {
    /// Albedo ρ per channel, in [0, 1].
    pub reflectance: Vec3,
}

impl Lobe for Diffuse {
    #[inline(always)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        if wo.z > 0.0 && wi.z > 0.0 {
            (self.reflectance * FRAC_1_PI, wi.z * FRAC_1_PI)
        } else {
            (Vec3::ZERO, 0.0)
        }
    }

    #[inline(always)]
    fn sample(&self, wo: Vec3, _uc: f32, u: Vec2) -> Option<BsdfSample> {
        let wi = sample_cosine_hemisphere(u);
        (wo.z > 0.0 && wi.z > 0.0).then_some(BsdfSample {
            wi,
            pdf: wi.z * FRAC_1_PI,
            weight: self.reflectance,
            eta: 1.0,
        })
    }
}
