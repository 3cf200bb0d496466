//! Materials as described.

pub use device::bsdf::Features;
pub use device::bsdf::microfacet::{Distribution, Masking};
use device::material::Material as DeviceMaterial;
use device::material::texture::NO_TEXTURE;
pub use device::material::{
    Blend, Color, ConductorMaterial, DielectricMaterial, DiffuseMaterial, Facets, GltfMaterial, Header,
    Parameters, PlasticMaterial, PrincipledMaterial, Scalar, Scattering, SheenMaterial,
    ThinDielectricMaterial, Tints,
};
use glam::Vec3;

use super::{Image, Texture};

/// A named material.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Its name in the scene file.
    pub name: String,
    /// Whether the back side scatters as the front does; otherwise it is black, unless light passes.
    pub two_sided: bool,
    /// Index of the material that the back side has instead.
    pub back: Option<usize>,
    /// The part of the surface that is there, in [0, 1]; the rest are holes.
    pub opacity: Scalar,
    /// Whether shapes emit where there are holes as well, as in Mitsuba.
    pub holes_emit: bool,
    /// What the normal follows, if not the shape alone.
    pub normal_map: Option<NormalMap>,
    /// What it does to light.
    pub kind: MaterialKind,
}

impl Material {
    /// A material without holes or maps, the same on both sides.
    pub fn new(name: impl Into<String>, kind: MaterialKind) -> Self {
        Self {
            name: name.into(),
            two_sided: true,
            back: None,
            opacity: Scalar::new(1.0),
            holes_emit: false,
            normal_map: None,
            kind,
        }
    }

    /// Indices of the textures that it refers to, those in other textures apart.
    pub fn textures(&self) -> Vec<u32> {
        let mut found = Vec::new();
        self.clone().for_each_texture(|i| found.push(*i));
        found
    }

    /// Calls `f` with the index of each texture that it refers to.
    pub fn for_each_texture(&mut self, mut f: impl FnMut(&mut u32)) {
        if let Some(map) = &mut self.normal_map {
            let mut index = map.texture as u32;
            f(&mut index);
            map.texture = index as usize;
        }
        let mut f = |index: &mut u32| {
            if *index != NO_TEXTURE {
                f(index);
            }
        };
        f(&mut self.opacity.texture);
        self.kind.for_each_texture(&mut f);
    }

    /// Indices of the materials that it may turn out to be: the parts of a blend, and its back.
    pub fn references(&self) -> impl Iterator<Item = usize> + use<> {
        let parts = match self.kind {
            MaterialKind::Blend(blend) => blend.materials.map(|i| Some(i as usize)),
            _ => [None; 2],
        };
        parts.into_iter().chain([self.back]).flatten()
    }
}

/// A material without a scene, and the textures that it refers to.
#[derive(Debug, Clone, PartialEq)]
pub struct MaterialAlone {
    /// The material.
    pub material: Material,
    /// As [`super::Description::images`].
    pub images: Vec<Image>,
    /// As [`super::Description::textures`].
    pub textures: Vec<Texture>,
}

/// What perturbs normals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalMap {
    /// Index of the texture: of normals, or of heights.
    pub texture: usize,
    /// What it is.
    pub kind: NormalMapKind,
    /// What scales the slopes of normals; heights are metres times this.
    pub scale: f32,
    /// What is done to normals that cannot be.
    pub invalid: InvalidNormals,
    /// Whether the edges of its shadows stay hard.
    pub hard_terminator: bool,
}

/// What is done to perturbed normals that no surface could show to the viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidNormals {
    /// Those that would send reflections into the surface are turned to the nearest that do not.
    Bend,
    /// Those that face away from the viewer are turned by half a turn around the normal below the map, as in Mitsuba.
    Flip,
    /// Nothing: what sees them from behind is black.
    Keep,
}

/// Kinds of normal map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormalMapKind {
    /// Normals in tangent space, green upwards in the image.
    Up,
    /// Normals in tangent space, green downwards in the image.
    Down,
    /// Normals in tangent space, green along n × ∂p/∂u, as Mitsuba has it.
    Across,
    /// Normals in tangent space, green against n × ∂p/∂u: as Mitsuba's map has it from behind.
    Against,
    /// Heights.
    Bump,
}

/// Makes the kinds of material, each with its parameters.
macro_rules! material_kinds {
    ($($(#[$meta:meta])* $name:ident($Parameters:ty)),* $(,)?) => {
        /// What a material does to light: the parameters as the device has them.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum MaterialKind { $($(#[$meta])* $name($Parameters)),* }

        impl MaterialKind {
            /// The record of the device.
            pub fn record(&self, header: Header) -> DeviceMaterial {
                match self { $(Self::$name(parameters) => DeviceMaterial::new(header, parameters)),* }
            }

            /// What the lobes of the material ask of a kernel.
            pub fn features(&self) -> Features {
                match self { $(Self::$name(parameters) => parameters.features()),* }
            }
        }
    };
}

material_kinds! {
    /// Diffuse reflection.
    Diffuse(DiffuseMaterial),
    /// A conductor, such as a metal.
    Conductor(ConductorMaterial),
    /// A dielectric, such as glass or water, that fills what lies behind the surface.
    Dielectric(DielectricMaterial),
    /// A thin smooth pane of a dielectric.
    ThinDielectric(ThinDielectricMaterial),
    /// A dielectric coat over a diffuse base.
    Plastic(PlasticMaterial),
    /// The sheen of cloth.
    Sheen(SheenMaterial),
    /// The principled model.
    Principled(PrincipledMaterial),
    /// The material of glTF.
    Gltf(GltfMaterial),
    /// A mixture of two others.
    Blend(Blend),
}

impl MaterialKind {
    /// Diffuse reflection of one colour.
    pub fn diffuse(reflectance: Vec3) -> Self {
        Self::Diffuse(DiffuseMaterial::new(Color::new(reflectance)))
    }

    /// Calls `f` with the index of every texture that a parameter has, or [`NO_TEXTURE`].
    fn for_each_texture(&mut self, f: &mut impl FnMut(&mut u32)) {
        match self {
            Self::Diffuse(p) => {
                f(&mut p.reflectance.texture);
                f(&mut p.roughness.texture);
            }
            Self::Plastic(p) => {
                f(&mut p.reflectance.texture);
                f(&mut p.specular.texture);
            }
            Self::Sheen(p) => {
                f(&mut p.color.texture);
                f(&mut p.roughness.texture);
            }
            Self::Principled(p) => {
                f(&mut p.base_color.texture);
                let scalars = [
                    &mut p.roughness,
                    &mut p.anisotropic,
                    &mut p.metallic,
                    &mut p.spec_tint,
                    &mut p.spec_trans,
                    &mut p.flatness,
                    &mut p.sheen,
                    &mut p.sheen_tint,
                    &mut p.clearcoat,
                    &mut p.clearcoat_gloss,
                ];
                scalars.into_iter().for_each(|s| f(&mut s.texture));
            }
            Self::Gltf(p) => {
                [&mut p.base_color, &mut p.specular_color, &mut p.sheen_color]
                    .into_iter()
                    .for_each(|c| f(&mut c.texture));
                let scalars = [
                    &mut p.metallic,
                    &mut p.roughness,
                    &mut p.specular,
                    &mut p.transmission,
                    &mut p.anisotropy,
                    &mut p.clearcoat,
                    &mut p.clearcoat_roughness,
                    &mut p.sheen_roughness,
                    &mut p.iridescence,
                    &mut p.iridescence_thickness,
                ];
                scalars.into_iter().for_each(|s| f(&mut s.texture));
            }
            Self::Blend(p) => f(&mut p.weight.texture),
            Self::Conductor(ConductorMaterial { tints, .. })
            | Self::Dielectric(DielectricMaterial { tints, .. })
            | Self::ThinDielectric(ThinDielectricMaterial { tints, .. }) => {
                f(&mut tints.reflection.texture);
                f(&mut tints.transmission.texture);
            }
        }
        if let Some(facets) = self.facets_mut() {
            facets.alpha.iter_mut().for_each(|alpha| f(&mut alpha.texture));
        }
    }

    /// The microfacets, where there are any.
    pub fn facets_mut(&mut self) -> Option<&mut Facets> {
        match self {
            Self::Conductor(p) => Some(&mut p.facets),
            Self::Dielectric(p) => Some(&mut p.facets),
            Self::Plastic(p) => Some(&mut p.facets),
            _ => None,
        }
    }

    /// Says how masking and shadowing combine, where there are microfacets.
    pub fn set_masking(&mut self, masking: Masking) {
        match self {
            Self::Principled(p) => p.masking = masking as u32,
            Self::Gltf(p) => p.masking = masking as u32,
            _ => {}
        }
        if let Some(facets) = self.facets_mut() {
            facets.masking = masking as u32;
        }
    }
}
