//! Shapes to primitives at the end of transforms.

use std::ops::Range;

use device::material::texture::NO_TEXTURE;
use device::sampling::Frame;
use device::shape::triangle::{TriangleColors, TriangleNormals, TriangleUvs, area_normal, dp_du};
use device::shape::{Kind, Primitive};
use glam::{Affine3A, Mat3, Vec2, Vec3};
use torrance_scene::{Geometry, Shape, TriangleMesh};

use super::materials::VertexAttributes;

/// Primitives of shapes, in their order.
#[derive(Debug, Default)]
pub(super) struct Flat {
    /// The primitives; `light` is still to be set.
    pub(super) prims: Vec<Primitive>,
    /// Index of the shape of each, in the order of [`torrance_scene::Description::all_shapes`].
    pub(super) shape_of: ShapeOf,
    /// Vertex normals and tangents of the triangles that have them.
    pub(super) normals: Vec<TriangleNormals>,
    /// Texture coordinates of the same triangles, if any material asks for them.
    pub(super) uvs: Vec<TriangleUvs>,
    /// Colours at the vertices of the same triangles, if any texture asks for them.
    pub(super) colors: Vec<TriangleColors>,
}

/// Which shape each primitive is of: primitives of one follow one another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShapeOf {
    runs: Vec<Run>,
}

/// Primitives of one shape in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// The primitive after its last one.
    pub(crate) end: u32,
    /// Index of the shape.
    pub(crate) shape: u32,
    /// Index of the instance that they are copies for, if they are.
    pub(crate) instance: Option<u32>,
}

impl ShapeOf {
    /// The shape of primitive `prim`, if there is such a primitive.
    pub fn get(&self, prim: u32) -> Option<u32> {
        let run = self.runs.partition_point(|run| run.end <= prim);
        self.runs.get(run).map(|run| run.shape)
    }

    /// All runs, in the order of the primitives.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The primitives of one shape after another.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (Range<u32>, u32)> {
        let starts = std::iter::once(0).chain(self.runs.iter().map(|run| run.end));
        starts.zip(&self.runs).map(|(start, run)| (start..run.end, run.shape))
    }

    /// Adds what another says of primitives from `from` on, of which there are none here yet, as of those from `to` on.
    pub(super) fn append(&mut self, other: &Self, from: u32, to: u32) {
        let later = other.runs.iter().filter(|run| run.end > from);
        self.runs.extend(later.map(|run| Run { end: run.end - from + to, ..*run }));
    }

    /// Says that primitives up to `end`, of which nothing has been said yet, are of this shape, as copied for an instance.
    fn extend(&mut self, end: usize, shape: u32, instance: Option<u32>) {
        let end = end as u32;
        if self.runs.last().is_none_or(|last| last.end < end) {
            self.runs.push(Run { end, shape, instance });
        }
    }
}

fn material_flags(shape: &Shape) -> u32 {
    shape.material as u32 | if shape.flip_normals { Primitive::FLIPPED } else { 0 }
}

impl Flat {
    /// Number of primitives.
    pub(super) const fn len(&self) -> usize {
        self.prims.len()
    }

    /// Adds a shape, whose index in the scene is `index`, at the end of a transform, as a copy for an instance if it is one;
    /// `wants` says of every material what it needs.
    pub(super) fn add(
        &mut self,
        shape: &Shape,
        (index, instance): (u32, Option<u32>),
        to_world: &Affine3A,
        wants: &[VertexAttributes],
    ) {
        let mut wants = wants[shape.material];
        wants.uvs |= shape.emission.texture != NO_TEXTURE;
        match &shape.geometry {
            Geometry::Sphere { center, radius } => self.add_sphere(shape, to_world, *center, *radius),
            Geometry::Quad => self.add_mesh(shape, to_world, &quad(), wants),
            Geometry::Box => self.add_mesh(shape, to_world, &cube(), wants),
            Geometry::Mesh(mesh) => self.add_mesh(shape, to_world, mesh, wants),
            Geometry::Disk => self.add_disk(shape, to_world),
            Geometry::Cylinder { from, to, radius } => {
                self.add_cylinder(shape, to_world, [*from, *to], *radius);
            }
        }
        self.shape_of.extend(self.prims.len(), index, instance);
    }

    /// Leaves out what no material asks for; `varies` tells whether emission does.
    pub(super) fn finish(&mut self, wants: &[VertexAttributes], varies: bool) {
        if !varies && !wants.iter().any(|w| w.uvs) {
            self.uvs = Vec::new();
        }
        if wants.iter().any(|w| w.colors) {
            self.colors.resize(self.normals.len(), TriangleColors::WHITE);
        }
    }

    fn add_sphere(&mut self, shape: &Shape, to_world: &Affine3A, center: Vec3, radius: f32) {
        let determinant = to_world.matrix3.determinant();
        let scale = determinant.abs().cbrt();
        let axis = to_world.transform_vector3(Vec3::Z).normalize();
        self.prims.push(Primitive {
            a: to_world.transform_point3(center),
            material_flags: material_flags(shape) | Kind::Sphere.flag(),
            b: Vec3::new(radius * scale, 1.0_f32.copysign(determinant), seam(axis, Vec3::X, to_world)),
            light: Primitive::NO_LIGHT,
            c: axis,
            normals: Primitive::FLAT,
        });
    }

    fn add_disk(&mut self, shape: &Shape, to_world: &Affine3A) {
        let [b, c] = [Vec3::X, Vec3::Y].map(|axis| to_world.transform_vector3(axis));
        if b.cross(c).length_squared() == 0.0 {
            return; // no area: cannot be hit
        }
        // A reflection turns b × c around, but not the front.
        let mirrored = to_world.matrix3.determinant() < 0.0;
        self.prims.push(Primitive {
            a: to_world.translation.into(),
            material_flags: material_flags(shape)
                | Kind::Disk.flag()
                | if mirrored { Primitive::MIRRORED } else { 0 },
            b,
            light: Primitive::NO_LIGHT,
            c: if mirrored { -c } else { c },
            normals: Primitive::FLAT,
        });
    }

    fn add_cylinder(&mut self, shape: &Shape, to_world: &Affine3A, [from, to]: [Vec3; 2], radius: f32) {
        let determinant = to_world.matrix3.determinant();
        let axis = to_world.transform_vector3(to - from);
        let start = Frame::from_z((to - from).normalize()).x;
        let turning = 1.0_f32.copysign(determinant);
        self.prims.push(Primitive {
            a: to_world.transform_point3(from),
            material_flags: material_flags(shape) | Kind::Cylinder.flag(),
            b: Vec3::new(radius * determinant.abs().cbrt(), turning, seam(axis.normalize(), start, to_world)),
            light: Primitive::NO_LIGHT,
            c: axis,
            normals: Primitive::FLAT,
        });
    }

    fn add_mesh(&mut self, shape: &Shape, to_world: &Affine3A, mesh: &TriangleMesh, wants: VertexAttributes) {
        // Of the triangles that are left out there are few.
        self.prims.reserve(mesh.triangles.len());
        let normals = world_normals(to_world, &mesh.normals);
        let uvs = if wants.tangents || wants.uvs { mesh.uvs.as_slice() } else { &[] };
        let colors = if wants.colors { mesh.colors.as_slice() } else { &[] };
        let mirrored = to_world.matrix3.determinant() < 0.0;
        for triangle in &mesh.triangles {
            // A reflection turns the winding around; undone, the front stays the front.
            let [i, j, k] = triangle.map(|i| i as usize);
            let [i, j, k] = if mirrored { [i, k, j] } else { [i, j, k] };
            let vertices = [i, j, k].map(|i| to_world.transform_point3(mesh.positions[i]));
            let area_normal = area_normal(vertices);
            if area_normal.length_squared() == 0.0 {
                continue; // no area: cannot be hit
            }
            let n = match normals.as_slice() {
                [] => [area_normal.normalize(); 3],
                normals => [normals[i], normals[j], normals[k]],
            };
            let uv = match uvs {
                [] => [Vec2::ZERO; 3],
                uvs => [uvs[i], uvs[j], uvs[k]],
            };
            let dp_du = if wants.tangents { dp_du(vertices, uv) } else { Vec3::ZERO };
            let keep = !normals.is_empty() || (wants.uvs && !uvs.is_empty()) || !colors.is_empty();
            let index = self.add_normals(TriangleNormals { n, dp_du }, uv, keep);
            if !colors.is_empty() {
                self.colors.resize(index as usize, TriangleColors::WHITE);
                self.colors.push(TriangleColors::new([colors[i], colors[j], colors[k]]));
            }
            self.prims.push(Primitive {
                a: vertices[0],
                material_flags: material_flags(shape),
                b: vertices[1],
                light: Primitive::NO_LIGHT,
                c: vertices[2],
                normals: index,
            });
        }
    }

    /// Keeps what shading wants of a triangle, if it is smooth or has a tangent or is to be kept anyway, and yields its
    /// index.
    fn add_normals(&mut self, normals: TriangleNormals, uv: [Vec2; 3], keep: bool) -> u32 {
        if !keep && normals.dp_du == Vec3::ZERO {
            return Primitive::FLAT;
        }
        self.normals.push(normals);
        self.uvs.push(TriangleUvs::new(uv));
        self.normals.len() as u32 - 1
    }
}

/// Where u is 0 around an axis, as [`Primitive::b`] wants it: the azimuth of a direction of object space.
fn seam(axis: Vec3, direction: Vec3, to_world: &Affine3A) -> f32 {
    let x = Frame::from_z(axis).to_local(to_world.transform_vector3(direction));
    (x.y.atan2(x.x) / std::f32::consts::TAU).rem_euclid(1.0)
}

/// Normals transform by the inverse transpose.
fn world_normals(to_world: &Affine3A, normals: &[Vec3]) -> Vec<Vec3> {
    let m = Mat3::from(to_world.matrix3).inverse().transpose();
    normals.iter().map(|n| (m * *n).normalize_or_zero()).collect()
}

/// The square that [`Geometry::Quad`] describes.
fn quad() -> TriangleMesh {
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(Vec2::from);
    TriangleMesh {
        positions: corners.map(|p| p.extend(0.0)).into(),
        uvs: corners.map(|p| 0.5 * p + 0.5).into(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        ..TriangleMesh::default()
    }
}

/// The cube that [`Geometry::Box`] describes. Of each face: its corners, at (−1 or 1) by their bits: x, y, z; and the
/// directions in which u and v grow.
fn cube() -> TriangleMesh {
    let faces = [
        ([0, 2, 3, 1], Vec3::NEG_Y, Vec3::X),
        ([4, 5, 7, 6], Vec3::Y, Vec3::X),
        ([0, 1, 5, 4], Vec3::Z, Vec3::X),
        ([2, 6, 7, 3], Vec3::NEG_X, Vec3::NEG_Z),
        ([0, 4, 6, 2], Vec3::Y, Vec3::Z),
        ([1, 3, 7, 5], Vec3::Y, Vec3::NEG_Z),
    ];
    let sign = |i: u32, bit: u32| if (i >> bit) & 1 == 1 { 1.0 } else { -1.0 };
    let mut mesh = TriangleMesh::default();
    for (corners, u, v) in faces {
        let first = mesh.positions.len() as u32;
        for p in corners.map(|i| Vec3::new(sign(i, 0), sign(i, 1), sign(i, 2))) {
            mesh.positions.push(p);
            mesh.uvs.push(0.5 * Vec2::new(p.dot(u), p.dot(v)) + 0.5);
        }
        mesh.triangles.extend([[0, 1, 2], [0, 2, 3]].map(|t| t.map(|i: u32| first + i)));
    }
    mesh
}

#[cfg(test)]
mod tests;
