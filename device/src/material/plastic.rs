//! Plastic: a coat of dielectric over a diffuse base.

use bytemuck::{Pod, Zeroable};

use super::{At, Color, Facets, Kind, Parameters};
use crate::arch::{load, max, min, sqrt};
use crate::bsdf::plastic::{Coat, coated, smooth_internal};
use crate::bsdf::{Plastic, SmoothPlastic, Visitor};
use crate::features::{Compiled, Features};

/// Parameters of a plastic.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct PlasticMaterial {
    /// Albedo of the base, in [0, 1].
    pub reflectance: Color,
    /// Factor on reflection at the coat, in [0, 1].
    pub specular: Color,
    /// Microfacets of the coat, the same along x and y.
    pub facets: Facets,
    /// Index of refraction of the coat relative to the outside, > 1.
    pub ior: f32,
    /// Non-zero if light that the coat sends back to the base takes on its colour again.
    pub nonlinear: u32,
    /// Index into [`super::Surfaces::coats`], where [`PlasticMaterial::coats_wanted`] are.
    pub coat: u32,
    /// Internal reflectance of the coat for light from all directions, in [0, 1); if negative, computed by Fresnel's
    /// equations.
    pub internal_reflectance: f32,
}

impl PlasticMaterial {
    /// [`PlasticMaterial::internal_reflectance`] by Fresnel's equations.
    pub const COMPUTED: f32 = -1.0;

    /// Coats over which textured roughness is interpolated.
    pub const COATS: u32 = 16;

    /// Roughness √α of the coats that the material is made of: one, or from 0 to 1 where a texture decides; none if smooth.
    pub fn coats_wanted(&self) -> impl Iterator<Item = f32> + use<> {
        let facets = self.facets;
        let n = match (facets.is_smooth(), facets.is_textured()) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => Self::COATS,
        };
        (0..n).map(move |i| if n == 1 { sqrt(facets.alpha[0].value) } else { i as f32 / (n - 1) as f32 })
    }

    /// Internal reflectance of the coat: the material's override, or `computed`.
    #[inline(always)]
    const fn internal(&self, computed: f32) -> f32 {
        if self.internal_reflectance >= 0.0 { self.internal_reflectance } else { computed }
    }

    /// The coat at a point where the roughness parameter is `alpha`.
    ///
    /// # Safety
    /// The scene of `at` is valid and has the material.
    #[inline(always)]
    unsafe fn coat_at<C: Compiled>(&self, at: &At<'_>, alpha: f32) -> Coat {
        // SAFETY: as the caller promised; the last index is that of the last coat but one.
        unsafe {
            let coats = at.scene.coats.add(self.coat as usize);
            if !C::sees(Features::TEXTURES) || !self.facets.is_textured() {
                return load(coats);
            }
            let last = (Self::COATS - 1) as f32;
            let position = max(min(sqrt(alpha), 1.0) * last, 0.0);
            let i = min(position, last - 1.0).to_int_unchecked::<u32>();
            let (a, b) = (load(coats.add(i as usize)), load(coats.add(i as usize + 1)));
            a.mix(&b, position - i as f32)
        }
    }
}

impl Parameters for PlasticMaterial {
    const KIND: Kind = Kind::Plastic;
    const LOBES: Features = SmoothPlastic::FEATURE.and(Plastic::FEATURE);

    fn features(&self) -> Features {
        let lobe = if self.facets.is_smooth() { SmoothPlastic::FEATURE } else { Plastic::FEATURE };
        lobe.and(self.reflectance.features()).and(self.specular.features()).and(self.facets.features())
    }

    #[inline(always)]
    fn with_lobe<C: Compiled, V: Visitor>(&self, at: &At<'_>, visitor: V) -> V::Output {
        let (eta, nonlinear) = (self.ior, self.nonlinear != 0);
        let (reflectance, specular) = (self.reflectance.at::<C>(at), self.specular.at::<C>(at));
        if self.facets.is_smooth() {
            let base = coated(reflectance, eta, self.internal(smooth_internal(eta)), nonlinear);
            return visitor.visit(SmoothPlastic { eta, base, specular });
        }
        let microfacet = self.facets.at::<C>(at);
        // SAFETY: the scene is valid, its materials' coats included.
        let coat = unsafe { self.coat_at::<C>(at, microfacet.alpha.x) };
        let base = coated(reflectance, eta, self.internal(coat.internal), nonlinear);
        visitor.visit(Plastic { microfacet, eta, coat, base, specular })
    }
}
