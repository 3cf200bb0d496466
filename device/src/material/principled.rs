//! The principled model.

use bytemuck::{Pod, Zeroable};

use super::{At, Color, Kind, Parameters, Scalar};
use crate::bsdf::microfacet::Masking;
use crate::bsdf::{Principled, Visitor, principled};
use crate::features::{Compiled, Features};

/// Parameters of the principled model, as [`principled::Parameters`] describes them.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct PrincipledMaterial {
    /// Base colour, in [0, 1].
    pub base_color: Color,
    /// Square root of α, in [0, 1].
    pub roughness: Scalar,
    /// In [0, 1].
    pub anisotropic: Scalar,
    /// In [0, 1].
    pub metallic: Scalar,
    /// In [0, 1].
    pub spec_tint: Scalar,
    /// In [0, 1].
    pub spec_trans: Scalar,
    /// In [0, 1].
    pub flatness: Scalar,
    /// In [0, 1].
    pub sheen: Scalar,
    /// In [0, 1].
    pub sheen_tint: Scalar,
    /// In [0, 1].
    pub clearcoat: Scalar,
    /// In [0, 1].
    pub clearcoat_gloss: Scalar,
    /// Index of refraction behind the surface over that in front of it, > 0.
    pub eta: f32,
    /// [`Masking`] as a number.
    pub masking: u32,
    /// Unused.
    pub reserved: [u32; 2],
}

impl PrincipledMaterial {
    const fn scalars(&self) -> [Scalar; 10] {
        [
            self.roughness,
            self.anisotropic,
            self.metallic,
            self.spec_tint,
            self.spec_trans,
            self.flatness,
            self.sheen,
            self.sheen_tint,
            self.clearcoat,
            self.clearcoat_gloss,
        ]
    }
}

impl Parameters for PrincipledMaterial {
    const KIND: Kind = Kind::Principled;
    const LOBES: Features = Principled::FEATURE;

    fn features(&self) -> Features {
        let textured =
            self.scalars().iter().map(Scalar::features).fold(self.base_color.features(), Features::and);
        Self::LOBES.and(textured)
    }

    fn is_transmissive(&self) -> bool {
        !self.spec_trans.is(0.0)
    }

    fn is_anisotropic(&self) -> bool {
        !self.anisotropic.is(0.0)
    }

    #[inline(always)]
    fn with_lobe<C: Compiled, V: Visitor>(&self, at: &At<'_>, visitor: V) -> V::Output {
        let parameters = principled::Parameters {
            base_color: self.base_color.at::<C>(at),
            roughness: self.roughness.at::<C>(at),
            anisotropic: self.anisotropic.at::<C>(at),
            metallic: self.metallic.at::<C>(at),
            eta: self.eta,
            spec_tint: self.spec_tint.at::<C>(at),
            spec_trans: self.spec_trans.at::<C>(at),
            flatness: self.flatness.at::<C>(at),
            sheen: self.sheen.at::<C>(at),
            sheen_tint: self.sheen_tint.at::<C>(at),
            clearcoat: self.clearcoat.at::<C>(at),
            clearcoat_gloss: self.clearcoat_gloss.at::<C>(at),
        };
        // From behind an opaque material looks as from the front.
        let front = at.front || !self.is_transmissive();
        visitor.visit(parameters.lobe(Masking::from_u32(self.masking), front))
    }
}
