//! Parameters of the principled model, and the lobe that they yield.

use glam::{Vec2, Vec3};

use super::{Base, Coat, Gtr1, Principled, mean};
use crate::arch::{max, min, sqrt};
use crate::bsdf::microfacet::{Distribution, Masking, Microfacet};
use crate::bsdf::{Dielectric, fresnel};
use crate::color::luminance;

/// Index of refraction of a `specular` in [0, 1]: reflectance at normal incidence is 0.08 of it.
#[inline(always)]
pub fn eta_from_specular(specular: f32) -> f32 {
    2.0 / (1.0 - sqrt(0.08 * specular)) - 1.0
}

/// The parameters of the model, named as in Mitsuba; all but `eta` in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Colour of diffuse reflection and of metal, and that of light that enters glass and leaves it again.
    pub base_color: Vec3,
    /// Square root of α.
    pub roughness: f32,
    /// From equal α along x and y (0) to a tenth along y (1).
    pub anisotropic: f32,
    /// From a dielectric (0) to a metal (1).
    pub metallic: f32,
    /// Index of refraction behind the surface over that in front of it, > 0.
    pub eta: f32,
    /// How much of `base_color` there is in the highlight of a dielectric.
    pub spec_tint: f32,
    /// From opaque (0) to clear as glass (1).
    pub spec_trans: f32,
    /// From diffuse (0) to an approximation of subsurface scattering (1).
    pub flatness: f32,
    /// Strength of what reflects at grazing angles.
    pub sheen: f32,
    /// How much of `base_color` there is in the sheen.
    pub sheen_tint: f32,
    /// Strength of the clear coat.
    pub clearcoat: f32,
    /// From satin (0) to gloss (1).
    pub clearcoat_gloss: f32,
}

impl Parameters {
    /// Default values of all parameters.
    pub const DEFAULT: Self = Self {
        base_color: Vec3::splat(0.5),
        roughness: 0.5,
        anisotropic: 0.0,
        metallic: 0.0,
        eta: 1.5,
        spec_tint: 0.0,
        spec_trans: 0.0,
        flatness: 0.0,
        sheen: 0.0,
        sheen_tint: 0.0,
        clearcoat: 0.0,
        clearcoat_gloss: 0.0,
    };

    /// α along x and y.
    #[inline(always)]
    pub fn alpha(&self) -> Vec2 {
        /// Smoother surfaces are not told from this one, nor in f32 from mirrors.
        const LEAST: f32 = 1e-3;
        let aspect = sqrt(1.0 - 0.9 * self.anisotropic);
        let alpha = self.roughness * self.roughness;
        Vec2::new(max(alpha / aspect, LEAST), max(alpha * aspect, LEAST))
    }

    /// The lobe, seen from the front or from behind.
    #[inline(always)]
    pub fn lobe(&self, masking: Masking, front: bool) -> Principled {
        let on_front = if front { 1.0 } else { 0.0 };
        let dielectric = 1.0 - self.metallic;
        let clear = dielectric * self.spec_trans;
        let tinted = on_front * dielectric * self.spec_tint;
        let metal = on_front * self.metallic;
        let microfacet = Microfacet { alpha: self.alpha(), distribution: Distribution::Ggx, masking };
        let f0 = fresnel_at_normal_incidence(self.eta);
        Principled {
            base: Base {
                diffuse: on_front * (dielectric - clear) * self.base_color,
                sheen: on_front * dielectric * self.sheen * self.tint(self.sheen_tint),
                roughness: self.roughness,
                flatness: self.flatness,
            },
            interface: Dielectric { microfacet, eta: self.eta_from(front) },
            specular: if front { dielectric - tinted } else { clear },
            f0: metal * self.base_color + tinted * f0 * self.tint(1.0),
            f90: metal + tinted,
            transmission: clear * square_root(self.base_color),
            coat: Coat {
                strength: on_front * self.clearcoat,
                facets: Gtr1 { alpha: 0.1 + (0.001 - 0.1) * self.clearcoat_gloss },
            },
            p_base: 0.0,
            p_coat: 0.0,
        }
        .with_probabilities()
    }

    /// From white (0) to the hue of `base_color` with a luminance of 1 (1).
    #[inline(always)]
    fn tint(&self, amount: f32) -> Vec3 {
        let luminance = luminance(self.base_color);
        if luminance > 0.0 {
            Vec3::ONE + amount * (self.base_color / luminance - Vec3::ONE)
        } else {
            Vec3::ONE
        }
    }

    /// Index of refraction seen from one side. What is clear refracts: an interface that all but vanishes would have half
    /// vectors of rounding errors.
    #[inline(always)]
    fn eta_from(&self, front: bool) -> f32 {
        const LEAST: f32 = 1.001;
        let vanishes = self.eta < LEAST && self.eta * LEAST > 1.0;
        let eta = if self.spec_trans > 0.0 && vanishes { LEAST } else { self.eta };
        if front { eta } else { 1.0 / eta }
    }
}

/// Of every channel.
#[inline(always)]
fn square_root(color: Vec3) -> Vec3 {
    Vec3::new(sqrt(color.x), sqrt(color.y), sqrt(color.z))
}

/// ((η − 1)/(η + 1))².
#[inline(always)]
fn fresnel_at_normal_incidence(eta: f32) -> f32 {
    let r = (eta - 1.0) / (eta + 1.0);
    r * r
}

impl Principled {
    /// Chooses parts by the square root of what they scatter of light from all directions: a compromise between drawing
    /// in proportion to that, which suits an even sky, and drawing evenly, which finds the lamp in a faint highlight.
    #[inline(always)]
    fn with_probabilities(self) -> Self {
        /// Albedo of the sheen of strength 1, and of the coat.
        const SHEEN: f32 = 0.012;
        const COAT: f32 = 0.02;
        let reflectance = fresnel::dielectric_average(self.interface.eta);
        let schlick = fresnel::schlick_average(self.f0, Vec3::splat(self.f90));
        let reflected = self.specular * reflectance + mean(schlick);
        let refracted = mean(self.transmission) * (1.0 - reflectance);
        let interface = sqrt(reflected + refracted);
        let base = sqrt(mean(self.base.diffuse) + SHEEN * mean(self.base.sheen));
        let coat = sqrt(COAT * self.coat.strength);
        let total = max(interface + base + coat, f32::MIN_POSITIVE);
        Self { p_base: min(base / total, 1.0), p_coat: coat / total, ..self }
    }
}
