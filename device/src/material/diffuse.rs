//! Diffuse surfaces.

use bytemuck::{Pod, Zeroable};

use super::{At, Color, Kind, Parameters};
use crate::bsdf::{Bsdf, Compiled, Diffuse, Features};

/// Parameters of a diffuse surface.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct DiffuseMaterial {
    /// Albedo, in [0, 1].
    pub reflectance: Color,
}

impl Parameters for DiffuseMaterial {
    const KIND: Kind = Kind::Diffuse;
    const LOBES: Features = Diffuse::FEATURE;

    fn features(&self) -> Features {
        Self::LOBES.and(self.reflectance.features())
    }

    #[inline(always)]
    fn bsdf<C: Compiled>(&self, at: &At<'_>) -> Bsdf {
        Bsdf::Diffuse(Diffuse { reflectance: self.reflectance.at::<C>(at) })
    }
}
