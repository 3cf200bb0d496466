//! Metals.

use bytemuck::{Pod, Zeroable};

use super::{At, Color, Facets, Kind, Parameters};
use crate::bsdf::{Bsdf, Compiled, Conductor, Features, SmoothConductor};

/// Parameters of a metal.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct ConductorMaterial {
    /// Real part of the index of refraction, relative to the outside.
    pub eta: Color,
    /// Imaginary part (extinction), ≥ 0.
    pub k: Color,
    /// Its microfacets.
    pub facets: Facets,
}

impl Parameters for ConductorMaterial {
    const KIND: Kind = Kind::Conductor;
    const LOBES: Features = SmoothConductor::FEATURE.and(Conductor::FEATURE);

    fn features(&self) -> Features {
        let lobe = if self.facets.is_smooth() { SmoothConductor::FEATURE } else { Conductor::FEATURE };
        lobe.and(self.eta.features()).and(self.k.features()).and(self.facets.features())
    }

    fn is_anisotropic(&self) -> bool {
        self.facets.is_anisotropic()
    }

    #[inline(always)]
    fn bsdf<C: Compiled>(&self, at: &At<'_>) -> Bsdf {
        let (eta, k) = (self.eta.at::<C>(at), self.k.at::<C>(at));
        if self.facets.is_smooth() {
            return Bsdf::SmoothConductor(SmoothConductor { eta, k });
        }
        Bsdf::Conductor(Conductor { microfacet: self.facets.at::<C>(at), eta, k })
    }
}
