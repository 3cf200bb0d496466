//! Glass, water, and the like.

use bytemuck::{Pod, Zeroable};

use super::{At, Facets, Kind, Parameters, Scattering, Tints};
use crate::bsdf::{
    CompensatedDielectric, Dielectric, RandomWalkDielectric, SmoothDielectric, ThinDielectric, Visitor,
};
use crate::features::{Compiled, Features};

/// Parameters of a dielectric that fills what lies behind the surface.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct DielectricMaterial {
    /// Its microfacets.
    pub facets: Facets,
    /// Index of refraction behind the surface relative to that in front of it, > 0.
    pub ior: f32,
    /// Unused.
    reserved: [u32; 3],
    /// Factors on reflected and transmitted light.
    pub tints: Tints,
}

impl DielectricMaterial {
    /// Without tints.
    pub const fn new(ior: f32, facets: Facets) -> Self {
        Self { facets, ior, reserved: [0; 3], tints: Tints::NONE }
    }

    /// The same with `tints`.
    pub const fn tinted(self, tints: Tints) -> Self {
        Self { tints, ..self }
    }
}

impl Parameters for DielectricMaterial {
    const KIND: Kind = Kind::Dielectric;
    const LOBES: Features = SmoothDielectric::FEATURE
        .and(Dielectric::FEATURE)
        .and(CompensatedDielectric::FEATURE)
        .and(RandomWalkDielectric::FEATURE);

    fn features(&self) -> Features {
        let lobe = match self.facets.scattering() {
            _ if self.facets.is_smooth() => Features::NONE,
            Scattering::None => Dielectric::FEATURE,
            Scattering::Compensated => CompensatedDielectric::FEATURE,
            Scattering::RandomWalk => RandomWalkDielectric::FEATURE,
        };
        // An interface that all but vanishes is smooth, whatever its facets.
        SmoothDielectric::FEATURE.and(lobe).and(self.facets.features()).and(self.tints.features())
    }

    fn is_transmissive(&self) -> bool {
        true
    }

    fn is_anisotropic(&self) -> bool {
        self.facets.is_anisotropic()
    }

    #[inline(always)]
    fn with_lobe<C: Compiled, V: Visitor>(&self, at: &At<'_>, visitor: V) -> V::Output {
        let eta = if at.front { self.ior } else { 1.0 / self.ior };
        if self.facets.is_smooth() {
            return visitor.visit(SmoothDielectric { eta });
        }
        let microfacet = self.facets.at::<C>(at);
        // By the material's own index, so that both sides decide alike.
        if Dielectric::is_smooth(microfacet.alpha, self.ior) {
            return visitor.visit(SmoothDielectric { eta });
        }
        match self.facets.scattering() {
            Scattering::Compensated if C::sees(CompensatedDielectric::FEATURE) => {
                visitor.visit(CompensatedDielectric { microfacet, eta })
            }
            Scattering::RandomWalk if C::sees(RandomWalkDielectric::FEATURE) => {
                visitor.visit(RandomWalkDielectric { microfacet, eta, seed: at.seed })
            }
            _ => visitor.visit(Dielectric { microfacet, eta }),
        }
    }

    #[inline(always)]
    fn tints(&self) -> &Tints {
        &self.tints
    }
}

/// Parameters of a thin pane of a dielectric.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct ThinDielectricMaterial {
    /// Index of refraction of the pane relative to both sides, > 0.
    pub ior: f32,
    /// Unused.
    reserved: [u32; 3],
    /// Factors of what is reflected and transmitted.
    pub tints: Tints,
}

impl ThinDielectricMaterial {
    /// Without tints.
    pub const fn new(ior: f32) -> Self {
        Self { ior, reserved: [0; 3], tints: Tints::NONE }
    }

    /// The same with `tints`.
    pub const fn tinted(self, tints: Tints) -> Self {
        Self { tints, ..self }
    }
}

impl Parameters for ThinDielectricMaterial {
    const KIND: Kind = Kind::ThinDielectric;
    const LOBES: Features = ThinDielectric::FEATURE;

    fn features(&self) -> Features {
        Self::LOBES.and(self.tints.features())
    }

    fn is_transmissive(&self) -> bool {
        true
    }

    #[inline(always)]
    fn with_lobe<C: Compiled, V: Visitor>(&self, _at: &At<'_>, visitor: V) -> V::Output {
        visitor.visit(ThinDielectric { eta: self.ior })
    }

    #[inline(always)]
    fn tints(&self) -> &Tints {
        &self.tints
    }
}
