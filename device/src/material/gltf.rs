//! The material of glTF.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::{At, Color, Kind, Parameters, Scalar};
use crate::arch::max;
use crate::bsdf::microfacet::{Distribution, Masking, Microfacet};
use crate::bsdf::{ClearCoat, Film, Gltf, Sheen, Visitor};
use crate::features::{Compiled, Features};

/// Parameters of glTF 2.0's metallic-roughness material and of its extensions, by their names there.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct GltfMaterial {
    /// Base colour, in [0, 1].
    pub base_color: Color,
    /// KHR_materials_specular: colour of reflection at normal incidence, ≥ 0.
    pub specular_color: Color,
    /// KHR_materials_sheen: colour, in [0, 1].
    pub sheen_color: Color,
    /// In [0, 1].
    pub metallic: Scalar,
    /// In [0, 1].
    pub roughness: Scalar,
    /// KHR_materials_specular: strength, in [0, 1].
    pub specular: Scalar,
    /// KHR_materials_transmission, in [0, 1].
    pub transmission: Scalar,
    /// KHR_materials_anisotropy: strength, in [0, 1].
    pub anisotropy: Scalar,
    /// KHR_materials_clearcoat: the part that is coated, in [0, 1].
    pub clearcoat: Scalar,
    /// KHR_materials_clearcoat: roughness, in [0, 1].
    pub clearcoat_roughness: Scalar,
    /// KHR_materials_sheen: roughness, in [0, 1].
    pub sheen_roughness: Scalar,
    /// KHR_materials_iridescence: strength, in [0, 1].
    pub iridescence: Scalar,
    /// KHR_materials_iridescence: thickness of the film, nanometres.
    pub iridescence_thickness: Scalar,
    /// KHR_materials_anisotropy: cosine and sine of the rotation.
    pub rotation: [f32; 2],
    /// KHR_materials_ior, ≥ 1.
    pub ior: f32,
    /// KHR_materials_iridescence: index of refraction of the film, ≥ 1.
    pub iridescence_ior: f32,
    /// [`Masking`] as a number.
    pub masking: u32,
    /// Unused.
    pub reserved: [u32; 3],
}

impl GltfMaterial {
    /// Defaults of the glTF specification.
    pub const DEFAULT: Self = Self {
        base_color: Color::new(Vec3::ONE),
        specular_color: Color::new(Vec3::ONE),
        sheen_color: Color::new(Vec3::ZERO),
        metallic: Scalar::new(1.0),
        roughness: Scalar::new(1.0),
        specular: Scalar::new(1.0),
        transmission: Scalar::new(0.0),
        anisotropy: Scalar::new(0.0),
        clearcoat: Scalar::new(0.0),
        clearcoat_roughness: Scalar::new(0.0),
        sheen_roughness: Scalar::new(0.0),
        iridescence: Scalar::new(0.0),
        iridescence_thickness: Scalar::new(400.0),
        rotation: [1.0, 0.0],
        ior: 1.5,
        iridescence_ior: 1.3,
        masking: Masking::Correlated as u32,
        reserved: [0; 3],
    };

    /// Index of refraction of the clear coat, which the extension fixes.
    const COAT_IOR: f32 = 1.5;

    /// Facets of GGX.
    #[inline(always)]
    const fn microfacet(&self, alpha: Vec2) -> Microfacet {
        Microfacet { alpha, distribution: Distribution::Ggx, masking: Masking::from_u32(self.masking) }
    }
}

impl Parameters for GltfMaterial {
    const KIND: Kind = Kind::Gltf;
    const LOBES: Features = Gltf::FEATURE;

    fn features(&self) -> Features {
        let scalars = [
            self.metallic,
            self.roughness,
            self.specular,
            self.transmission,
            self.anisotropy,
            self.clearcoat,
            self.clearcoat_roughness,
            self.sheen_roughness,
            self.iridescence,
            self.iridescence_thickness,
        ];
        let colors = [self.base_color, self.specular_color, self.sheen_color];
        let textured = scalars.iter().map(Scalar::features).chain(colors.iter().map(Color::features));
        textured.fold(Self::LOBES, Features::and)
    }

    fn is_transmissive(&self) -> bool {
        !self.transmission.is(0.0)
    }

    fn is_anisotropic(&self) -> bool {
        !self.anisotropy.is(0.0)
    }

    #[inline(always)]
    fn with_lobe<C: Compiled, V: Visitor>(&self, at: &At<'_>, visitor: V) -> V::Output {
        let specular = self.specular.at::<C>(at);
        let alpha = Gltf::alpha(self.roughness.at::<C>(at), self.anisotropy.at::<C>(at));
        let sheen_roughness = self.sheen_roughness.at::<C>(at);
        // Around the normal on the side of the viewer; seen from behind, it goes the other way.
        let turn = if at.front { self.rotation[1] } else { -self.rotation[1] };
        visitor.visit(Gltf {
            base_color: self.base_color.at::<C>(at),
            metallic: self.metallic.at::<C>(at),
            microfacet: self.microfacet(alpha),
            rotation: Vec2::new(self.rotation[0], turn),
            f0: Gltf::dielectric_f0(self.ior, specular, self.specular_color.at::<C>(at)),
            f90: specular,
            transmission: self.transmission.at::<C>(at),
            film: Film {
                factor: self.iridescence.at::<C>(at),
                eta: self.iridescence_ior,
                thickness: max(self.iridescence_thickness.at::<C>(at), 0.0),
            },
            sheen: Sheen { color: self.sheen_color.at::<C>(at), alpha: sheen_roughness * sheen_roughness },
            coat: ClearCoat {
                microfacet: self.microfacet(Gltf::alpha(self.clearcoat_roughness.at::<C>(at), 0.0)),
                eta: Self::COAT_IOR,
                factor: self.clearcoat.at::<C>(at),
            },
        })
    }
}
