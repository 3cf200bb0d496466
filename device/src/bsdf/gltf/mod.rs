//! The material of glTF 2.0 in layers: metallic–roughness (appendix B of the specification) with the extensions
//! KHR_materials_ior, _specular, _anisotropy, _iridescence, _transmission, _sheen and _clearcoat, whose names
//! stand below.
//!
//! From the top: a clear coat; sheen; facets of a metal, or of a dielectric over a Lambertian base or one that
//! lets light through. Where the specification leaves a choice, or would make light out of nothing:
//! - The Lambertian base is weighted by what the facets let through at θo and θi (file underlay.rs). The
//!   specification's 1 − F(wo·wm), with the half vector of both, adds up to almost twice the light that arrives at
//!   grazing angles, where F is 1 for what is mirrored but small for the half vectors of everything else.
//! - The surface is thin without KHR_materials_volume: light passes it straight on, blurred as a reflection is, by
//!   facets that reflect F(wo·wm) and let pass the rest. An index of refraction of 1 still blurs.
//! - The coat's facets reflect F(wo·wm); what is below is darkened along wo and wi ([`ClearCoat`]). The
//!   specification has F(wo·n) in both places, which is not reciprocal.
//! - Films have the reflectances of thin films, not their approximation by Schlick's; metals have the real index
//!   of refraction of their colour, as the specification says. The Lambertian base gets what passes a film of the
//!   thickness at which it reflects the most.
//!
//! So the material is reciprocal and never reflects more than arrives.

mod film;

use core::f32::consts::FRAC_1_PI;

use glam::{Vec2, Vec3};

pub use film::Film;

use super::microfacet::Microfacet;
use super::reflection::{self, Reflection};
use super::underlay::Underlay;
use super::{BsdfSample, ClearCoat, Lobe, MIN_COS, Sheen, fresnel, sheen_albedo};
use crate::arch::{max, min, sqrt};
use crate::sampling::sample_cosine_hemisphere;

/// See [the module](self).
#[derive(Clone, Copy, Debug)]
pub struct Gltf {
    /// Albedo of what is not metal, reflectance at normal incidence of what is; in [0, 1].
    pub base_color: Vec3,
    /// How much of the material is a metal, in [0, 1].
    pub metallic: f32,
    /// The facets of metal and dielectric, of GGX; [`Gltf::alpha`] is along x and y.
    pub microfacet: Microfacet,
    /// Cosine and sine of the angle from the local x axis to the direction of the first alpha.
    pub rotation: Vec2,
    /// Reflectance of the dielectric at normal incidence, [`Gltf::dielectric_f0`].
    pub f0: Vec3,
    /// And at grazing incidence: the specular factor, in [0, 1].
    pub f90: f32,
    /// The part of the light let in by the dielectric that leaves at the other side, in [0, 1].
    pub transmission: f32,
    /// The film on top of metal and dielectric.
    pub film: Film,
    /// Sheen on top of them; black for none.
    pub sheen: Sheen,
    /// The coat on top of all.
    pub coat: ClearCoat,
}

impl Gltf {
    /// Roughness parameters along and across the direction of highlights (KHR_materials_anisotropy). Roughness and
    /// strength are in [0, 1]; what is smooth is taken to be slightly rough.
    #[inline(always)]
    pub fn alpha(roughness: f32, strength: f32) -> Vec2 {
        let alpha = max(roughness * roughness, 1e-4);
        Vec2::new(alpha + (1.0 - alpha) * strength * strength, alpha)
    }

    /// Reflectance of a dielectric at normal incidence (KHR_materials_specular); `ior` as KHR_materials_ior says,
    /// so that 0 stands for infinity.
    #[inline(always)]
    pub fn dielectric_f0(ior: f32, specular: f32, specular_color: Vec3) -> Vec3 {
        let r = (ior - 1.0) / (ior + 1.0);
        (r * r * specular_color).min(Vec3::ONE) * specular
    }

    /// Reflectances of facets of the dielectric and of the metal.
    #[inline(always)]
    fn reflectances(&self, cos: f32) -> (Vec3, Vec3) {
        let dielectric = fresnel::schlick(cos, self.f0, Vec3::splat(self.f90));
        let metal = fresnel::schlick(cos, self.base_color, Vec3::ONE);
        if self.film.factor == 0.0 {
            return (dielectric, metal);
        }
        let (mut this, mut other) = ((dielectric, self.f0), (metal, self.base_color));
        // In turns, since a film takes much code.
        for _ in 0..2 {
            let (bare, f0) = this;
            (this, other) = (other, (self.film.over(cos, bare, f0), f0));
        }
        (this.0, other.0)
    }

    /// Transmittance of the dielectric's facets, without a film.
    #[inline(always)]
    fn underlay(&self, alpha: Vec2) -> Underlay {
        Underlay::new(self.f0.max_element(), self.f90, alpha)
    }

    /// Parts of the light at the cosine `cos` that pass a film on the facets of the dielectric: the least, as a
    /// channel of a colour, whatever the thickness; and about how much.
    #[inline(always)]
    fn passes_film(&self, cos: f32, underlay: &Underlay) -> (f32, f32) {
        let (grazing, cos) = underlay.blurred(cos);
        let [in_phase, opposite] = self.film.transmittances(cos, self.f0);
        // Rec. 709's red is negative for some wavelengths: it swings 1.6 times as far as any of them.
        let least = max(in_phase - 0.3 * (opposite - in_phase), 0.0);
        // The rise of a film's reflectance towards grazing incidence is steeper than Schlick's if the film hardly
        // reflects otherwise; that leaves nothing over for what the effective cosine is off.
        let least = 0.998 * min(least, 1.0 - grazing);
        // Of all phases alike their geometric mean passes, which is little where only a narrow range of phases does.
        (least, min(0.5 * (in_phase + opposite), 3.0 * sqrt(in_phase * opposite)))
    }

    /// f of a white Lambertian base below the facets of the dielectric.
    #[inline(always)]
    fn base(&self, cos_o: f32, cos_i: f32) -> f32 {
        let underlay = self.underlay(self.microfacet.alpha);
        let bare = underlay.coupling(cos_o, cos_i) * FRAC_1_PI;
        if self.film.factor == 0.0 {
            return bare;
        }
        let film = self.passes_film(cos_o, &underlay).0 * self.passes_film(cos_i, &underlay).0 * FRAC_1_PI;
        bare + (film - bare) * self.film.factor
    }

    /// From the local frame to that of the facets.
    #[inline(always)]
    fn turned(&self, w: Vec3) -> Vec3 {
        let r = self.rotation;
        Vec3::new(r.x * w.x + r.y * w.y, r.x * w.y - r.y * w.x, w.z)
    }

    /// And back.
    #[inline(always)]
    fn turned_back(&self, w: Vec3) -> Vec3 {
        let r = self.rotation;
        Vec3::new(r.x * w.x - r.y * w.y, r.x * w.y + r.y * w.x, w.z)
    }

    /// Transmittance of the sheen layer at the cosine `cos`.
    #[inline(always)]
    fn below_sheen(&self, cos: f32) -> f32 {
        /// Error of the albedo.
        const ERROR: f32 = 0.002;
        let color = self.sheen.color.max_element();
        if color == 0.0 { 1.0 } else { 1.0 - color * min(sheen_albedo(cos, self.sheen.alpha) + ERROR, 1.0) }
    }

    /// The layers by about how much light each of them scatters towards `wo`, of the colour that it scatters the
    /// most.
    #[inline(never)]
    fn shares(&self, wo: Vec3) -> Shares {
        // The facets, as rough as they are along the azimuth of wo.
        let (alpha, x2, y2) = (self.microfacet.alpha, wo.x * wo.x + 1e-12, wo.y * wo.y + 1e-12);
        let along = sqrt((alpha.x * alpha.x * x2 + alpha.y * alpha.y * y2) / (x2 + y2));
        let underlay = self.underlay(Vec2::splat(along));
        let coat = self.coat.reflectance(wo.z);
        let below_coat = 1.0 - coat;
        let below_sheen = self.below_sheen(wo.z);
        let sheen = below_coat * (1.0 - below_sheen);
        let below = below_coat * below_sheen;
        let bare = underlay.transmittance(wo.z);
        let (mut to_base, mut passed) = (bare, bare);
        if self.film.factor > 0.0 {
            let (least, about) = self.passes_film(wo.z, &underlay);
            to_base += (least - bare) * self.film.factor;
            passed += (about - bare) * self.film.factor;
        }
        // Under a film a metal reflects something however black it is.
        let metal = max(fresnel::schlick(wo.z, self.base_color, Vec3::ONE).max_element(), 0.02);
        let rest = 1.0 - self.metallic;
        let specular = below * (rest * (1.0 - passed) + self.metallic * metal);
        let inside = below * rest * self.base_color.max_element();
        let diffuse = inside * to_base * (1.0 - self.transmission);
        let transmission = inside * passed * self.transmission;
        let sum = coat + sheen + specular + diffuse + transmission;
        let inv = if sum > 1e-9 { 1.0 / sum } else { 0.0 };
        Shares {
            coat: coat * inv,
            sheen: sheen * inv,
            specular: specular * inv,
            diffuse: diffuse * inv,
            transmission: transmission * inv,
        }
    }

    /// (f, pdf) in the frame of the facets.
    #[inline(never)]
    fn turned_eval_pdf(&self, wo: Vec3, wi: Vec3, shares: &Shares) -> (Vec3, f32) {
        if wo.z < MIN_COS || wi.z.abs() < MIN_COS {
            return (Vec3::ZERO, 0.0);
        }
        // Light that passes is as if it were reflected to the other side.
        let facets = Reflection::new(&self.microfacet, wo, Vec3::new(wi.x, wi.y, wi.z.abs()));
        let below_coat = self.coat.attenuation(wo, wi);
        let below = below_coat * min(self.below_sheen(wo.z), self.below_sheen(wi.z.abs()));
        let rest = 1.0 - self.metallic;
        let (dielectric, metal) = self.reflectances(facets.cos_om);
        if wi.z < 0.0 {
            let passed = max(1.0 - dielectric.max_element(), 0.0);
            let scale = below * rest * self.transmission * passed * facets.f;
            return (scale * self.base_color, shares.transmission * facets.pdf);
        }
        let black = (Vec3::ZERO, 0.0);
        let (coat, coat_pdf) = if shares.coat > 0.0 { self.coat.eval_pdf(wo, wi) } else { black };
        let specular = dielectric.lerp(metal, self.metallic) * facets.f;
        let base = rest * (1.0 - self.transmission) * self.base(wo.z, wi.z);
        let (sheen, sheen_pdf) = if shares.sheen > 0.0 { self.sheen.eval_pdf(wo, wi) } else { black };
        let f = coat + below_coat * sheen + below * (specular + base * self.base_color);
        let pdf = shares.coat * coat_pdf
            + shares.sheen * sheen_pdf
            + shares.specular * facets.pdf
            + shares.diffuse * (wi.z * FRAC_1_PI);
        (f, pdf)
    }
}

impl Lobe for Gltf {
    /// It is too large to be inlined.
    #[inline(always)]
    fn is_vectorizable(&self) -> bool {
        false
    }

    #[inline(never)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        let (wo, wi) = (self.turned(wo), self.turned(wi));
        self.turned_eval_pdf(wo, wi, &self.shares(wo))
    }

    #[inline(never)]
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
        if wo.z < MIN_COS {
            return None;
        }
        let wo = self.turned(wo);
        let shares = self.shares(wo);
        let coat = shares.coat;
        let sheen = coat + shares.sheen;
        let diffuse = sheen + shares.diffuse;
        let transmission = diffuse + shares.transmission;
        let wi = if uc < coat {
            reflection::sample(&self.coat.microfacet, wo, u)
        } else if uc < sheen {
            self.sheen.sample(wo, (uc - coat) / shares.sheen, u)?.wi
        } else if uc < diffuse {
            sample_cosine_hemisphere(u)
        } else {
            reflection::sample(&self.microfacet, wo, u)
        };
        if wi.z < MIN_COS {
            return None;
        }
        let passes = uc >= diffuse && uc < transmission;
        let wi = self.turned_back(if passes { Vec3::new(wi.x, wi.y, -wi.z) } else { wi });
        // Where peaks are narrow, what turning it back rounded tells.
        let (f, pdf) = self.turned_eval_pdf(wo, self.turned(wi), &shares);
        let weight = f * (wi.z.abs() / pdf);
        (pdf > 0.0).then_some(BsdfSample { wi, pdf, weight, eta: 1.0 })
    }
}

/// Probability of sampling each layer; the sum is 1, or 0 if all is black.
struct Shares {
    coat: f32,
    sheen: f32,
    specular: f32,
    diffuse: f32,
    transmission: f32,
}
