//! Triangles.

use std::path::Path;
use std::sync::Arc;

use glam::{Affine3A, Vec2, Vec3};

use super::Outline;
use crate::description::key::Key;
use crate::description::key::Value::{File, Word};

pub(super) const KEYS: [Key; 3] = [
    Key::new(
        "file",
        File("mesh"),
        "An .obj or .ply file. Polygons become fans of triangles; groups, materials, points \
        and lines are passed over.",
    )
    .required("\"tile.obj\""),
    Key::new(
        "normals",
        Word(&[
            ("file", "those of the file; flat shading if it has none"),
            ("smooth", "from the faces around each vertex"),
            ("flat", "flat shading"),
        ]),
        "Where the normals of vertices come from.",
    )
    .or("\"file\""),
    Key::flag("flip_v", "Turns v around, for files that count it from the other end."),
];

pub(super) fn outline(mesh: &TriangleMesh) -> Outline<'_> {
    Outline::Mesh(mesh)
}

pub(super) fn area(t: &Affine3A, mesh: &TriangleMesh) -> f32 {
    let doubled = mesh.triangles.iter().map(|triangle| {
        let [a, b, c] = triangle.map(|i| t.transform_point3(mesh.positions[i as usize]));
        f64::from((b - a).cross(c - a).length())
    });
    (0.5 * doubled.sum::<f64>()) as f32
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

impl TriangleMesh {
    /// The mesh with a colour for each triangle, whose vertices become its own.
    #[must_use]
    pub fn colored_by_triangle(&self, colors: &[Vec3]) -> Self {
        fn own<T: Copy>(triangles: &[[u32; 3]], of_vertices: &[T]) -> Vec<T> {
            triangles.as_flattened().iter().filter_map(|i| of_vertices.get(*i as usize).copied()).collect()
        }
        Self {
            positions: own(&self.triangles, &self.positions),
            normals: own(&self.triangles, &self.normals),
            uvs: own(&self.triangles, &self.uvs),
            colors: colors.iter().flat_map(|color| [*color; 3]).collect(),
            triangles: (0..self.triangles.len() as u32)
                .map(|i| [0, 1, 2].map(|corner| 3 * i + corner))
                .collect(),
            source: None,
        }
    }
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
