//! Glass, water, and the like.

use bytemuck::{Pod, Zeroable};

use super::{At, Facets, Kind, Parameters};
use crate::bsdf::{Bsdf, Compiled, Dielectric, Features, SmoothDielectric, ThinDielectric};

/// Parameters of a dielectric that fills what lies behind the surface.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct DielectricMaterial {
    /// Its microfacets.
    pub facets: Facets,
    /// Index of refraction behind the surface relative to that in front of it, > 0.
    pub ior: f32,
    /// Unused.
    pub reserved: [u32; 3],
}

impl Parameters for DielectricMaterial {
    const KIND: Kind = Kind::Dielectric;
    const LOBES: Features = SmoothDielectric::FEATURE.and(Dielectric::FEATURE);

    fn features(&self) -> Features {
        Self::LOBES.and(self.facets.features())
    }

    fn is_transmissive(&self) -> bool {
        true
    }

    fn is_anisotropic(&self) -> bool {
        self.facets.is_anisotropic()
    }

    #[inline(always)]
    fn bsdf<C: Compiled>(&self, at: &At<'_>) -> Bsdf {
        let eta = if at.front { self.ior } else { 1.0 / self.ior };
        if self.facets.is_smooth() {
            return Bsdf::SmoothDielectric(SmoothDielectric { eta });
        }
        let microfacet = self.facets.at::<C>(at);
        // By the material's own index, so that both sides decide alike.
        if Dielectric::is_smooth(microfacet.alpha, self.ior) {
            return Bsdf::SmoothDielectric(SmoothDielectric { eta });
        }
        Bsdf::Dielectric(Dielectric { microfacet, eta })
    }
}

/// Parameters of a thin pane of a dielectric.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct ThinDielectricMaterial {
    /// Index of refraction of the pane relative to both sides, > 0.
    pub ior: f32,
    /// Unused.
    pub reserved: [u32; 3],
}

impl Parameters for ThinDielectricMaterial {
    const KIND: Kind = Kind::ThinDielectric;
    const LOBES: Features = ThinDielectric::FEATURE;

    fn features(&self) -> Features {
        Self::LOBES
    }

    fn is_transmissive(&self) -> bool {
        true
    }

    #[inline(always)]
    fn bsdf<C: Compiled>(&self, _at: &At<'_>) -> Bsdf {
        Bsdf::ThinDielectric(ThinDielectric { eta: self.ior })
    }
}
