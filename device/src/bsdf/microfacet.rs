//! Microfacet distributions.
//!
//! Heitz 2014, "Understanding the Masking-Shadowing Function in Microfacet-Based BRDFs", JCGT 3(2), whose
//! equation numbers stand below.

use core::f32::consts::PI;

use glam::{Vec2, Vec3};

use crate::arch::{max, sqrt};
use crate::math::sin_cos_turn;

/// How masking and shadowing combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Masking {
    /// G2 of facets of correlated height: 1 / (1 + Λ(wo) + Λ(wi)) (eq. 99).
    Correlated,
    /// G1(wo)·G1(wi) (eq. 98), darker; what Mitsuba computes.
    Separable,
}

impl Masking {
    #[inline(always)]
    pub(crate) const fn from_u32(x: u32) -> Self {
        if x == Self::Separable as u32 { Self::Separable } else { Self::Correlated }
    }
}

/// The isotropic GGX (Trowbridge–Reitz) distribution.
#[derive(Clone, Copy, Debug)]
pub struct Ggx {
    /// Roughness parameter α, > 0.
    pub alpha: f32,
    /// How masking and shadowing combine.
    pub masking: Masking,
}

impl Ggx {
    /// D(wm), per steradian of microfacet normals (eq. 71). Written with the sine, which keeps its precision
    /// around the peak that small α concentrate at, where 1 − cos² loses it.
    #[inline(always)]
    pub fn d(&self, wm: Vec3) -> f32 {
        if wm.z <= 0.0 {
            return 0.0;
        }
        let a2 = self.alpha * self.alpha;
        let s = (wm.x * wm.x + wm.y * wm.y) / a2 + wm.z * wm.z;
        1.0 / (PI * a2 * s * s)
    }

    /// Λ(w) (eq. 72): masked over visible area of facets. Infinite at grazing angles.
    #[inline(always)]
    pub fn lambda(&self, w: Vec3) -> f32 {
        let tan2 = (w.x * w.x + w.y * w.y) / (w.z * w.z);
        0.5 * (sqrt(1.0 + self.alpha * self.alpha * tan2) - 1.0)
    }

    /// Masking G1(w) (eq. 43).
    #[inline(always)]
    pub fn g1(&self, w: Vec3) -> f32 {
        1.0 / (1.0 + self.lambda(w))
    }

    /// Masking and shadowing G2(wo, wi).
    #[inline(always)]
    pub fn g2(&self, wo: Vec3, wi: Vec3) -> f32 {
        match self.masking {
            Masking::Correlated => 1.0 / (1.0 + self.lambda(wo) + self.lambda(wi)),
            Masking::Separable => self.g1(wo) * self.g1(wi),
        }
    }

    /// G2(wo, wi) / G1(wo).
    #[inline(always)]
    pub fn g2_over_g1(&self, wo: Vec3, wi: Vec3) -> f32 {
        match self.masking {
            Masking::Correlated => {
                let visible = 1.0 + self.lambda(wo);
                visible / (visible + self.lambda(wi))
            }
            Masking::Separable => self.g1(wi),
        }
    }

    /// Density with which [`Ggx::sample_wm`] returns `wm`: the distribution of the normals visible from `wo`,
    /// D_wo(wm) = G1(wo)·max(0, wo·wm)·D(wm) / cos θo (eq. 3).
    #[inline(always)]
    pub fn pdf_wm(&self, wo: Vec3, wm: Vec3) -> f32 {
        self.g1(wo) * max(wo.dot(wm), 0.0) * self.d(wm) / wo.z
    }

    /// Draws a normal visible from `wo`, `wo.z` > 0.
    ///
    /// Dupuy & Benyoub 2023, "Sampling Visible GGX Normals with Spherical Caps", CGF 42(8), listing 3: the
    /// reflections of `wo` off a hemisphere fill a spherical cap uniformly, so draw one and take the half vector.
    #[inline(always)]
    pub fn sample_wm(&self, wo: Vec3, u: Vec2) -> Vec3 {
        let stretch = Vec3::new(self.alpha, self.alpha, 1.0);
        let wo_std = (wo * stretch).normalize();
        let z = 1.0 - u.y * (1.0 + wo_std.z);
        let (s, c) = sin_cos_turn(u.x);
        let sin_theta = sqrt(max(1.0 - z * z, 0.0));
        let h = Vec3::new(sin_theta * c, sin_theta * s, z) + wo_std;
        let wm = h * stretch;
        let len2 = wm.length_squared();
        // The cap's rim meets −wo: the half vector of the two is no direction; any visible normal will do.
        if len2 > 0.0 { wm / sqrt(len2) } else { Vec3::Z }
    }
}
