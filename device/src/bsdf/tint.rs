//! Factors on reflected and transmitted light: not physical, but expected by artists and supported by other programs.

use glam::{Vec2, Vec3};

use super::{Bsdf, BsdfSample, Lobe};
use crate::features::{Compiled, Features, Full};

/// Artistic factors on scattered light, in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tint {
    /// Factor on light that stays on its side of the surface.
    pub reflection: Vec3,
    /// Factor on light that passes to the other side.
    pub transmission: Vec3,
}

impl Tint {
    /// No tint: physically based scattering.
    pub const NONE: Self = Self { reflection: Vec3::ONE, transmission: Vec3::ONE };

    /// The factor for a pair of directions.
    #[inline(always)]
    pub(crate) fn factor(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        if wo.z * wi.z > 0.0 { self.reflection } else { self.transmission }
    }
}

/// A tinted lobe. Sampling ignores the tint.
#[derive(Clone, Copy, Debug)]
pub struct Tinted {
    /// The lobe.
    pub lobe: Bsdf,
    /// Its tint, which kernels without [`Features::TINTS`] do not look at.
    pub tint: Tint,
}

impl From<Bsdf> for Tinted {
    fn from(lobe: Bsdf) -> Self {
        Self { lobe, tint: Tint::NONE }
    }
}

impl Tinted {
    /// As [`Bsdf::is_delta`].
    #[inline(always)]
    pub fn is_delta<C: Compiled>(&self) -> bool {
        self.lobe.is_delta::<C>()
    }

    /// As [`Bsdf::sample_as`].
    #[inline(always)]
    pub fn sample_as<C: Compiled>(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
        let mut sample = self.lobe.sample_as::<C>(wo, uc, u)?;
        if C::sees(Features::TINTS) {
            sample.weight *= self.tint.factor(wo, sample.wi);
        }
        Some(sample)
    }

    /// As [`Bsdf::eval_pdf_as`].
    #[inline(always)]
    pub fn eval_pdf_as<C: Compiled>(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        let (f, pdf) = self.lobe.eval_pdf_as::<C>(wo, wi);
        (if C::sees(Features::TINTS) { f * self.tint.factor(wo, wi) } else { f }, pdf)
    }
}

impl Lobe for Tinted {
    #[inline(always)]
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
        self.sample_as::<Full>(wo, uc, u)
    }

    #[inline(always)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        self.eval_pdf_as::<Full>(wo, wi)
    }
}
