//! Materials as described.
//!
//! A kind of material is a line in [`kinds`] and a file with the list of its parameters. Keys of scene files, their reader,
//! their writer, the schema of editors, the reference page and charts of materials follow from the list.

mod blend;
mod conductor;
mod dielectric;
mod diffuse;
mod facets;
mod gltf;
mod kinds;
mod parameters;
mod plastic;
mod principled;
mod sheen;

pub use device::bsdf::microfacet::{Distribution, Masking};
pub use device::features::Features;
use device::material::texture::NO_TEXTURE;
pub use device::material::{
    Blend, Color, ConductorMaterial, DielectricMaterial, DiffuseMaterial, Facets, GltfMaterial, Header,
    Parameters, PlasticMaterial, PrincipledMaterial, Scalar, Scattering, SheenMaterial,
    ThinDielectricMaterial, Tints,
};
pub use kinds::MaterialKind;
pub(crate) use kinds::TYPES as MATERIAL_TYPES;
pub(crate) use parameters::Parameter;

use super::{Image, Texture};

/// A named material.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Its name in the scene file.
    pub name: String,
    /// Whether the back side scatters as the front does; otherwise it is black, unless light passes.
    pub two_sided: bool,
    /// Whether nothing is there for rays that come from behind, of the camera, of light, or of any other.
    pub cull_backfaces: bool,
    /// Index of the material that the back side has instead.
    pub back: Option<usize>,
    /// The part of the surface that is there, in [0, 1]; the rest are holes.
    pub opacity: Scalar,
    /// Whether shapes emit where there are holes as well, as in Mitsuba.
    pub holes_emit: bool,
    /// The map that perturbs its normals.
    pub normal_map: Option<NormalMap>,
    /// Its kind, with the parameters.
    pub kind: MaterialKind,
}

impl Material {
    /// A material without holes or maps, the same on both sides.
    pub fn new(name: impl Into<String>, kind: MaterialKind) -> Self {
        Self {
            name: name.into(),
            two_sided: true,
            cull_backfaces: false,
            back: None,
            opacity: Scalar::new(1.0),
            holes_emit: false,
            normal_map: None,
            kind,
        }
    }

    /// Whether nothing may be there from behind: not where light leaves what the surface encloses, nor where another material
    /// is.
    pub(crate) fn can_cull_backfaces(&self) -> bool {
        self.back.is_none() && !self.kind.is_solid()
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

    /// Indices of the materials that it refers to: the parts of a blend, and its back.
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
pub struct StandaloneMaterial {
    /// The material.
    pub material: Material,
    /// As [`super::Description::images`].
    pub images: Vec<Image>,
    /// As [`super::Description::textures`].
    pub textures: Vec<Texture>,
}

/// A map that perturbs normals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalMap {
    /// Index of the texture: of normals, or of heights.
    pub texture: usize,
    /// Its kind.
    pub kind: NormalMapKind,
    /// Scales the slopes of normals; heights are metres times this.
    pub scale: f32,
    /// Treatment of invalid normals.
    pub invalid: InvalidNormals,
    /// Whether the edges of its shadows stay hard.
    pub hard_terminator: bool,
}

/// Treatment of perturbed normals that no surface could show to the viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidNormals {
    /// Normals that would send reflections into the surface are turned to the nearest that do not.
    Bend,
    /// Normals that face away from the viewer are turned by half a turn around the unperturbed normal, as in Mitsuba.
    Flip,
    /// None: surfaces whose normals face away from the viewer are black.
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
