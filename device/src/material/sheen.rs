//! Cloth.

use bytemuck::{Pod, Zeroable};

use super::{At, Color, Kind, Parameters, Scalar};
use crate::bsdf::{Sheen, Visitor};
use crate::features::{Compiled, Features};

/// Parameters of the sheen of cloth, over black.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct SheenMaterial {
    /// Colour, in [0, 1].
    pub color: Color,
    /// Roughness, in [0, 1].
    pub roughness: Scalar,
    /// Unused.
    pub reserved: [u32; 2],
}

impl Parameters for SheenMaterial {
    const KIND: Kind = Kind::Sheen;
    const LOBES: Features = Sheen::FEATURE;

    fn features(&self) -> Features {
        Self::LOBES.and(self.color.features()).and(self.roughness.features())
    }

    #[inline(always)]
    fn with_lobe<C: Compiled, V: Visitor>(&self, at: &At<'_>, visitor: V) -> V::Output {
        let roughness = self.roughness.at::<C>(at);
        visitor.visit(Sheen { color: self.color.at::<C>(at), alpha: roughness * roughness })
    }
}
