//! Shapes as described.

use std::path::Path;
use std::sync::Arc;

use glam::{Affine3A, Vec2, Vec3};

use super::Color;

/// Geometry with a material and a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Its name in the scene file, or what stands in for one in messages (`shapes[3]`).
    pub name: String,
    /// Its geometry, in object space.
    pub geometry: Geometry,
    /// Index into [`super::Description::materials`].
    pub material: usize,
    /// Radiance emitted from the front, W·sr⁻¹·m⁻² per channel; zero for most.
    pub emission: Color,
    /// Whether the back emits as well.
    pub emission_two_sided: bool,
    /// Whether the other side is the front.
    pub flip_normals: bool,
    /// Object to world.
    pub world_from_object: Affine3A,
}

impl Shape {
    /// Whether it is a light.
    pub fn emits(&self) -> bool {
        self.emission.value != Vec3::ZERO
    }
}

/// Geometry in object space. The front is the side the normal points to. Texture coordinates (u, v) are those of
/// Mitsuba's `rectangle`, `cube` and `sphere`; v = 0 is the top row of an image, as in glTF.
#[derive(Debug, Clone, PartialEq)]
pub enum Geometry {
    /// The square [-1, 1]² in the plane z = 0, normal +z. (u, v) = ((x + 1)/2, (y + 1)/2).
    Quad,
    /// The cube [-1, 1]³, normals outward. Each face has u and v from 0 to 1, growing along
    ///
    /// | face | −x | +x | −y | +y | −z | +z |
    /// |---|---|---|---|---|---|---|
    /// | u | +y | +y | +z | −x | −y | +y |
    /// | v | +z | −z | +x | −z | +x | +x |
    Box,
    /// An analytic sphere, normals outward; its transform must be a similarity. (u, v) = (φ/2π, θ/π): azimuth around
    /// the z axis of object space, from x towards y, and angle to that axis.
    Sphere {
        /// Centre, object space.
        center: Vec3,
        /// Radius, > 0, object space.
        radius: f32,
    },
    /// The unit disk in the plane z = 0, normal +z; its transform may make an ellipse of it. (u, v) = (r, φ/2π): distance
    /// from the middle, and azimuth from x towards y.
    Disk,
    /// The side of an analytic cylinder around a segment, normals outward; its transform must be a similarity.
    /// (u, v) = (φ/2π, z/length): azimuth around the axis from `from` to `to`, starting at the x axis of
    /// [`device::sampling::Frame::from_z`] of that axis, and distance along it.
    Cylinder {
        /// Where the axis starts, object space.
        from: Vec3,
        /// Where the axis ends, object space.
        to: Vec3,
        /// Radius, > 0, object space.
        radius: f32,
    },
    /// Triangles; the normal follows from counter-clockwise winding.
    Mesh(Arc<TriangleMesh>),
}

/// Shapes that may be in many places. They emit nothing that is sampled: instances of what does are copied.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name in the scene file, or what stands in for one in messages.
    pub name: String,
    /// Its shapes.
    pub shapes: Vec<Shape>,
}

/// A place of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instance {
    /// Index into [`super::Description::groups`].
    pub group: u32,
    /// From the group to the world: any affine map that can be inverted.
    pub world_from_group: Affine3A,
}

/// An indexed triangle mesh.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TriangleMesh {
    /// Vertex positions, finite.
    pub positions: Vec<Vec3>,
    /// Unit vertex normals, one a position, or empty for flat shading.
    pub normals: Vec<Vec3>,
    /// Texture coordinates, finite, one pair a position, or empty.
    pub uvs: Vec<Vec2>,
    /// Linear colours, one a position, or empty.
    pub colors: Vec<Vec3>,
    /// Vertex indices of each triangle, all in range.
    pub triangles: Vec<[u32; 3]>,
    /// The file that it was read from, if a scene file can name it.
    pub source: Option<MeshSource>,
}

/// Where a mesh comes from: reading the file again in this way gives the same mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshSource {
    /// An OBJ or PLY file.
    pub file: Arc<Path>,
    /// Where its vertex normals come from.
    pub normals: Normals,
    /// Whether v is turned around, beyond what the format asks for.
    pub flip_v: bool,
}

/// Where vertex normals of a mesh come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Normals {
    /// From the file where it has them; flat shading otherwise.
    #[default]
    File,
    /// From the faces around each vertex, weighted by their angle there.
    Smooth,
    /// None: flat shading.
    Flat,
}
