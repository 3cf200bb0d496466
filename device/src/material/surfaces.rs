//! The scene as materials see it.

use super::Material;
use super::texture::Texture;
use crate::bsdf::plastic::Coat;
use crate::bvh::Geometry;
use crate::shape::triangle::{TriangleColors, TriangleNormals, TriangleUvs};
use crate::view::extends;

/// Shapes and their materials.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Surfaces {
    /// The shapes.
    pub geometry: Geometry,
    /// Vertex normals and tangents of the triangles that have them.
    pub normals: *const TriangleNormals,
    /// Texture coordinates at the vertices of the triangles that have `normals`; null if no material asks for them.
    pub uvs: *const TriangleUvs,
    /// Colours at the vertices of the same triangles; null if no texture asks for them.
    pub colors: *const TriangleColors,
    /// Materials.
    pub materials: *const Material,
    /// Coats of the plastics.
    pub coats: *const Coat,
    /// Textures; null if there are none.
    pub textures: *const Texture,
    /// The texels of all textures.
    pub texels: *const u32,
    /// Non-zero if any texture is mipmapped.
    pub has_mipmaps: u32,
    /// Non-zero if shading normals that face away from the viewer shade all the same, and decide which side is seen.
    pub keeps_hidden_normals: u32,
}

extends!(Surfaces with geometry: Geometry);
