//! Microfacet distributions: GGX and Beckmann, anisotropic.
//!
//! Heitz 2014, "Understanding the Masking-Shadowing Function in Microfacet-Based BRDFs", JCGT 3(2), whose
//! equation numbers stand below. Both shapes are stretched copies of the one with α = 1, so visibility and sampling
//! are written for that one, of directions stretched by α; normals are covectors and shrink instead.

mod beckmann;
mod ggx;

use glam::{Vec2, Vec3};

use crate::arch::{max, sqrt};
use crate::math::sin_cos_turn;
use crate::special;

/// The statistics of slopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Distribution {
    /// Trowbridge & Reitz 1975; Walter et al. 2007: heavy tails.
    Ggx,
    /// Beckmann & Spizzichino 1963: normally distributed slopes.
    Beckmann,
}

impl Distribution {
    #[inline(always)]
    pub(crate) const fn from_u32(x: u32) -> Self {
        if x == Self::Beckmann as u32 { Self::Beckmann } else { Self::Ggx }
    }
}

/// How masking and shadowing combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Masking {
    /// G2 of facets of correlated height: 1 / (1 + Λ(wo) + Λ(wi)) (eq. 99), or what
    /// [`Microfacet::g2_transmitted`] says.
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

/// A surface of microfacets.
#[derive(Clone, Copy, Debug)]
pub struct Microfacet {
    /// Roughness parameters α along x and y, > 0.
    pub alpha: Vec2,
    /// The statistics of slopes.
    pub distribution: Distribution,
    /// How masking and shadowing combine.
    pub masking: Masking,
}

impl Microfacet {
    /// The same of facets of correlated height.
    #[inline(always)]
    pub const fn correlated(self) -> Self {
        Self { masking: Masking::Correlated, ..self }
    }

    /// Whether it is GGX.
    #[inline(always)]
    pub(super) const fn is_ggx(&self) -> bool {
        matches!(self.distribution, Distribution::Ggx)
    }

    /// The same with GGX, whatever it was: then the compiler knows it.
    #[inline(always)]
    pub(super) const fn as_ggx(self) -> Self {
        Self { distribution: Distribution::Ggx, ..self }
    }

    /// A direction where the stretched surface has α = 1.
    #[inline(always)]
    fn stretched(&self, w: Vec3) -> Vec3 {
        Vec3::new(w.x * self.alpha.x, w.y * self.alpha.y, w.z)
    }

    /// D(wm), per steradian of microfacet normals.
    #[inline(always)]
    pub fn d(&self, wm: Vec3) -> f32 {
        if wm.z <= 0.0 {
            return 0.0;
        }
        let inv = 1.0 / (self.alpha.x * self.alpha.y);
        let scaled = Vec3::new(wm.x * (self.alpha.y * inv), wm.y * (self.alpha.x * inv), wm.z);
        inv * match self.distribution {
            Distribution::Ggx => ggx::d(scaled),
            Distribution::Beckmann => beckmann::d(scaled),
        }
    }

    /// Λ(w): masked over visible area of facets. Infinite, or large, at grazing angles; the same for w and −w, seen
    /// from its side of the surface.
    #[inline(always)]
    pub fn lambda(&self, w: Vec3) -> f32 {
        match self.distribution {
            Distribution::Ggx => ggx::lambda(self.stretched(w)),
            Distribution::Beckmann => beckmann::lambda(self.stretched(w)),
        }
    }

    /// Masking G1(w) (eq. 43).
    #[inline(always)]
    pub fn g1(&self, w: Vec3) -> f32 {
        1.0 / (1.0 + self.lambda(w))
    }

    /// Masking and shadowing G2(wo, wi) of directions on the same side.
    #[inline(always)]
    pub fn g2(&self, wo: Vec3, wi: Vec3) -> f32 {
        match self.masking {
            Masking::Correlated => 1.0 / (1.0 + self.lambda(wo) + self.lambda(wi)),
            Masking::Separable => self.g1(wo) * self.g1(wi),
        }
    }

    /// G2(wo, wi) / G1(wo) of directions on the same side.
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

    /// Masking and shadowing G2(wo, wi) of directions on opposite sides.
    ///
    /// Correlated: B(1 + Λ(wo), 1 + Λ(wi)) (Heitz, Hanika, d'Eon & Dachsbacher 2016, "Multiple-Scattering
    /// Microfacet BSDFs with the Smith Model", in the single scattering of dielectrics). A facet above a part c of
    /// all heights is seen from above with probability c^Λ(wo) and from below with (1 − c)^Λ(wi); ∫ over c in [0, 1]
    /// is the beta function. High facets are hidden from below, so it is less than the product. pbrt-v4 takes
    /// 1 / (1 + Λ(wo) + Λ(wi)) here too, which is more than the product. Separable: the product (Walter et al. 2007,
    /// eq. 23; Mitsuba).
    #[inline(always)]
    pub fn g2_transmitted(&self, wo: Vec3, wi: Vec3) -> f32 {
        match self.masking {
            Masking::Correlated => special::beta(1.0 + self.lambda(wo), 1.0 + self.lambda(wi)),
            Masking::Separable => self.g1(wo) * self.g1(wi),
        }
    }

    /// G2(wo, wi) / G1(wo) of directions on opposite sides.
    #[inline(always)]
    pub fn g2_transmitted_over_g1(&self, wo: Vec3, wi: Vec3) -> f32 {
        match self.masking {
            Masking::Correlated => {
                let visible = 1.0 + self.lambda(wo);
                visible * special::beta(visible, 1.0 + self.lambda(wi))
            }
            Masking::Separable => self.g1(wi),
        }
    }

    /// Density with which [`Microfacet::sample_wm`] returns `wm`: the distribution of the normals visible from `wo`,
    /// D_wo(wm) = G1(wo)·max(0, wo·wm)·D(wm) / cos θo (eq. 3).
    #[inline(always)]
    pub fn pdf_wm(&self, wo: Vec3, wm: Vec3) -> f32 {
        self.g1(wo) * max(wo.dot(wm), 0.0) * self.d(wm) / wo.z
    }

    /// Draws a normal visible from `wo`, `wo.z` > 0: by spherical caps for GGX (Dupuy & Benyoub 2023), by slopes for
    /// Beckmann (Heitz & d'Eon 2014).
    #[inline(always)]
    pub fn sample_wm(&self, wo: Vec3, u: Vec2) -> Vec3 {
        let wo = self.stretched(wo);
        self.normal(match self.distribution {
            Distribution::Ggx => {
                let wo = wo.normalize();
                ggx::sample_cap(wo, wo.z, u)
            }
            Distribution::Beckmann => beckmann::sample_visible(wo, u),
        })
    }

    /// Area of the facets that face `w`, projected along it, over that of the surface; `w` may point below, from where
    /// rays on their way out see the facets that they strike (Heitz et al. 2016).
    #[inline(always)]
    pub fn projected(&self, w: Vec3) -> f32 {
        match self.distribution {
            Distribution::Ggx => ggx::projected(self.stretched(w)),
            Distribution::Beckmann => beckmann::projected(self.stretched(w)),
        }
    }

    /// As [`Microfacet::sample_wm`], of a `w` that may point below; density max(0, w·wm)·D(wm) /
    /// [`Microfacet::projected`].
    #[inline(always)]
    pub fn sample_wm_from_anywhere(&self, w: Vec3, u: Vec2) -> Vec3 {
        let w = self.stretched(w);
        self.normal(match self.distribution {
            Distribution::Ggx => ggx::sample_cap_below(w.normalize(), u),
            Distribution::Beckmann if w.z > 0.0 => beckmann::sample_visible(w, u),
            Distribution::Beckmann => beckmann::sample_visible_below(w, u),
        })
    }

    /// Density over solid angle with which the reflection of `wo` off a normal of [`Microfacet::sample_wm_reflecting`]
    /// is the direction above the surface whose half vector with `wo` is `wm`. Over all of these it adds up to one
    /// less the probability that the reflection ends below the surface.
    ///
    /// GGX: D(wm) / (2 (k·cos θo + |wo|)), the length being that of the stretched `wo` (Eto & Tokuyoshi 2023); with
    /// k = 1 these are visible normals over their Jacobian, 4 wo·wm.
    #[inline(always)]
    pub fn pdf_reflected(&self, wo: Vec3, wm: Vec3) -> f32 {
        self.d(wm) * self.reflected_over_d(wo)
    }

    /// [`Microfacet::pdf_reflected`] over D(wm), which does not depend on `wm`.
    #[inline(always)]
    pub fn reflected_over_d(&self, wo: Vec3) -> f32 {
        match self.distribution {
            Distribution::Ggx => 0.5 / (ggx::bound(self.alpha, wo) * wo.z + self.stretched(wo).length()),
            Distribution::Beckmann => self.g1(wo) / (4.0 * wo.z),
        }
    }

    /// Density of reflections off visible normals over [`Microfacet::pdf_reflected`], at most 1: the part of the cap
    /// that is left, (k·cos θo + |wo|) / (cos θo + |wo|).
    #[inline(always)]
    pub fn visible_over_reflected(&self, wo: Vec3) -> f32 {
        match self.distribution {
            Distribution::Ggx => {
                let length = self.stretched(wo).length();
                (ggx::bound(self.alpha, wo) * wo.z + length) / (wo.z + length)
            }
            Distribution::Beckmann => 1.0,
        }
    }

    /// Draws a normal visible from `wo`, `wo.z` > 0, to reflect at: fewer than of [`Microfacet::sample_wm`] send
    /// light below the surface. Bounded spherical caps for GGX (Eto & Tokuyoshi 2023, "Bounded VNDF Sampling for
    /// Smith–GGX Reflections"); visible normals for Beckmann.
    #[inline(always)]
    pub fn sample_wm_reflecting(&self, wo: Vec3, u: Vec2) -> Vec3 {
        match self.distribution {
            Distribution::Ggx => {
                let std = self.stretched(wo).normalize();
                self.normal(ggx::sample_cap(std, ggx::bound(self.alpha, wo) * std.z, u))
            }
            Distribution::Beckmann => self.sample_wm(wo, u),
        }
    }

    /// Density with which [`Microfacet::sample_wm_all`] returns `wm`: D(wm) cos θm.
    #[inline(always)]
    pub fn pdf_wm_all(&self, wm: Vec3) -> f32 {
        self.d(wm) * max(wm.z, 0.0)
    }

    /// Draws a normal by projected area, wherever it is seen from (Walter et al. 2007, eq. 28 and 35).
    #[inline(always)]
    pub fn sample_wm_all(&self, u: Vec2) -> Vec3 {
        let slope = match self.distribution {
            Distribution::Ggx => ggx::sample_slope(u.x),
            Distribution::Beckmann => beckmann::sample_slope(u.x),
        };
        let (s, c) = sin_cos_turn(u.y);
        self.normal(Vec3::new(slope * c, slope * s, 1.0))
    }

    /// The unit normal for one, of any length, of the stretched surface.
    #[inline(always)]
    fn normal(&self, stretched: Vec3) -> Vec3 {
        let wm = self.stretched(stretched);
        let len2 = wm.length_squared();
        // The rim of a cap meets −wo: the half vector of the two is no direction; any visible normal will do.
        if len2 > 0.0 { wm / sqrt(len2) } else { Vec3::Z }
    }
}
