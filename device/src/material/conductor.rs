//! Metals.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use super::{At, Color, Facets, Kind, Parameters, Scattering, Tints};
use crate::bsdf::{CompensatedConductor, Conductor, RandomWalkConductor, SmoothConductor, Visitor, fresnel};
use crate::features::{Compiled, Features};

/// Parameters of a metal.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct ConductorMaterial {
    /// Real part of the index of refraction, relative to the outside.
    eta: Color,
    /// Imaginary part (extinction), ≥ 0.
    k: Color,
    /// Its microfacets.
    pub facets: Facets,
    /// Reflectance of light from all directions.
    average: Color,
    /// Factors on reflected light; it transmits none.
    pub tints: Tints,
}

impl ConductorMaterial {
    /// A metal with the index of refraction `eta` + i·`k`.
    pub fn new(eta: Vec3, k: Vec3, facets: Facets) -> Self {
        let average = Color::new(fresnel::conductor_average(eta, k));
        Self { eta: Color::new(eta), k: Color::new(k), facets, average, tints: Tints::NONE }
    }

    /// The same with `tints`.
    pub const fn tinted(self, tints: Tints) -> Self {
        Self { tints, ..self }
    }

    /// Real and imaginary part of the index of refraction, relative to the outside.
    pub const fn index(&self) -> (Vec3, Vec3) {
        (self.eta.value, self.k.value)
    }
}

impl Parameters for ConductorMaterial {
    const KIND: Kind = Kind::Conductor;
    const LOBES: Features = SmoothConductor::FEATURE
        .and(Conductor::FEATURE)
        .and(CompensatedConductor::FEATURE)
        .and(RandomWalkConductor::FEATURE);

    fn features(&self) -> Features {
        let lobe = match self.facets.scattering() {
            _ if self.facets.is_smooth() => SmoothConductor::FEATURE,
            Scattering::None => Conductor::FEATURE,
            Scattering::Compensated => CompensatedConductor::FEATURE,
            Scattering::RandomWalk => RandomWalkConductor::FEATURE,
        };
        lobe.and(self.facets.features()).and(self.tints.features())
    }

    fn is_anisotropic(&self) -> bool {
        self.facets.is_anisotropic()
    }

    #[inline(always)]
    fn with_lobe<C: Compiled, V: Visitor>(&self, at: &At<'_>, visitor: V) -> V::Output {
        let (eta, k) = self.index();
        if self.facets.is_smooth() {
            return visitor.visit(SmoothConductor { eta, k });
        }
        let microfacet = self.facets.at::<C>(at);
        match self.facets.scattering() {
            Scattering::Compensated if C::sees(CompensatedConductor::FEATURE) => {
                let average = self.average.value;
                visitor.visit(CompensatedConductor { microfacet, eta, k, average })
            }
            Scattering::RandomWalk if C::sees(RandomWalkConductor::FEATURE) => {
                visitor.visit(RandomWalkConductor { microfacet, eta, k, seed: at.seed })
            }
            _ => visitor.visit(Conductor { microfacet, eta, k }),
        }
    }

    #[inline(always)]
    fn tints(&self) -> &Tints {
        &self.tints
    }
}
