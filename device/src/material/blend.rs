//! Blends of two materials.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use super::{At, Kind, Parameters, Scalar};
use crate::arch::{max, min};
use crate::bsdf::{Diffuse, Visitor};
use crate::features::{Compiled, Features};

/// A mixture of two materials: each path meets one of them, chosen at random, as on a surface with grains of both.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Blend {
    /// Indices of the materials.
    pub materials: [u32; 2],
    /// Weight of the second one, in [0, 1].
    pub weight: Scalar,
}

impl Blend {
    /// The index of the material for a uniform `u`, which is uniform again afterwards.
    #[inline(always)]
    pub(super) fn choose<C: Compiled>(&self, at: &At<'_>, u: &mut f32) -> u32 {
        let weight = min(max(self.weight.at::<C>(at), 0.0), 1.0);
        if *u < weight {
            *u /= weight;
            self.materials[1]
        } else {
            *u = (*u - weight) / (1.0 - weight);
            self.materials[0]
        }
    }
}

impl Parameters for Blend {
    const KIND: Kind = Kind::Blend;
    const LOBES: Features = Features::NONE;

    fn features(&self) -> Features {
        Features::BLENDS.and(self.weight.features())
    }

    #[inline(always)]
    fn with_lobe<C: Compiled, V: Visitor>(&self, _at: &At<'_>, visitor: V) -> V::Output {
        visitor.visit(Diffuse { reflectance: Vec3::ZERO })
    }
}
