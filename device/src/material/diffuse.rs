//! Diffuse surfaces.

use bytemuck::{Pod, Zeroable};

use super::{At, Color, Kind, Parameters, Scalar};
use crate::bsdf::{Diffuse, OrenNayar, Visitor};
use crate::features::{Compiled, Features};

/// Parameters of a diffuse surface.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct DiffuseMaterial {
    /// Albedo, in [0, 1].
    pub reflectance: Color,
    /// Roughness of [`OrenNayar`], in [0, 1]; 0 is Lambertian.
    pub roughness: Scalar,
    /// Unused.
    pub reserved: [u32; 2],
}

impl DiffuseMaterial {
    /// A Lambertian surface.
    pub const fn new(reflectance: Color) -> Self {
        Self { reflectance, roughness: Scalar::new(0.0), reserved: [0; 2] }
    }
}

impl Parameters for DiffuseMaterial {
    const KIND: Kind = Kind::Diffuse;
    const LOBES: Features = Diffuse::FEATURE.and(OrenNayar::FEATURE);

    fn features(&self) -> Features {
        let lobe = if self.roughness.is(0.0) { Diffuse::FEATURE } else { OrenNayar::FEATURE };
        lobe.and(self.reflectance.features()).and(self.roughness.features())
    }

    #[inline(always)]
    fn with_lobe<C: Compiled, V: Visitor>(&self, at: &At<'_>, visitor: V) -> V::Output {
        let reflectance = self.reflectance.at::<C>(at);
        if !C::sees(OrenNayar::FEATURE) || self.roughness.is(0.0) {
            return visitor.visit(Diffuse { reflectance });
        }
        visitor.visit(OrenNayar { reflectance, roughness: self.roughness.at::<C>(at) })
    }
}
