//! Shapes to primitives in world space.

use device::shape::Primitive;
use device::shape::triangle::TriangleNormals;
use glam::{Affine3A, Mat3, Vec3};

use crate::scene::{Geometry, Shape, TriangleMesh};

/// All primitives of a scene, in the order of its shapes.
#[derive(Debug, Default)]
pub(super) struct Flat {
    /// The primitives; `light` is still to be set.
    pub(super) prims: Vec<Primitive>,
    /// Index of the shape of each.
    pub(super) shape_of: Vec<u32>,
    /// Vertex normals of smooth triangles.
    pub(super) normals: Vec<TriangleNormals>,
}

pub(super) fn flatten(shapes: &[Shape]) -> Flat {
    let mut flat = Flat::default();
    for (i, shape) in shapes.iter().enumerate() {
        match &shape.geometry {
            Geometry::Sphere { center, radius } => flat.add_sphere(shape, *center, *radius),
            Geometry::Quad => flat.add_mesh(shape, &quad()),
            Geometry::Box => flat.add_mesh(shape, &cube()),
            Geometry::Mesh(mesh) => flat.add_mesh(shape, mesh),
        }
        flat.shape_of.resize(flat.prims.len(), i as u32);
    }
    flat
}

fn material_flags(shape: &Shape) -> u32 {
    shape.material as u32 | if shape.flip_normals { Primitive::FLIPPED } else { 0 }
}

impl Flat {
    fn add_sphere(&mut self, shape: &Shape, center: Vec3, radius: f32) {
        let scale = shape.world_from_object.matrix3.determinant().abs().cbrt();
        self.prims.push(Primitive {
            a: shape.world_from_object.transform_point3(center),
            material_flags: material_flags(shape) | Primitive::SPHERE,
            b: Vec3::new(radius * scale, 0.0, 0.0),
            light: Primitive::NO_LIGHT,
            c: Vec3::ZERO,
            normals: Primitive::FLAT,
        });
    }

    fn add_mesh(&mut self, shape: &Shape, mesh: &TriangleMesh) {
        let to_world = &shape.world_from_object;
        let points: Vec<Vec3> = mesh.positions.iter().map(|p| to_world.transform_point3(*p)).collect();
        let normals = world_normals(to_world, &mesh.normals);
        let mirrored = to_world.matrix3.determinant() < 0.0;
        for triangle in &mesh.triangles {
            // A reflection turns the winding around; undone, the front stays the front.
            let [i, j, k] = triangle.map(|i| i as usize);
            let [i, j, k] = if mirrored { [i, k, j] } else { [i, j, k] };
            if (points[j] - points[i]).cross(points[k] - points[i]).length_squared() == 0.0 {
                continue; // no area: cannot be hit
            }
            let smooth = if normals.is_empty() {
                Primitive::FLAT
            } else {
                self.normals
                    .push(TriangleNormals { n: [normals[i], normals[j], normals[k]], reserved: [0.0; 3] });
                self.normals.len() as u32 - 1
            };
            self.prims.push(Primitive {
                a: points[i],
                material_flags: material_flags(shape),
                b: points[j],
                light: Primitive::NO_LIGHT,
                c: points[k],
                normals: smooth,
            });
        }
    }
}

/// Normals transform by the inverse transpose.
fn world_normals(to_world: &Affine3A, normals: &[Vec3]) -> Vec<Vec3> {
    let m = Mat3::from(to_world.matrix3).inverse().transpose();
    normals.iter().map(|n| (m * *n).normalize_or_zero()).collect()
}

fn quad() -> TriangleMesh {
    TriangleMesh {
        positions: [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(x, y)| Vec3::new(x, y, 0.0))
            .into(),
        normals: Vec::new(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    }
}

/// Vertex i is at (−1 or 1) by the bits of i: x, y, z.
fn cube() -> TriangleMesh {
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let sign = |i: u32, bit: u32| if (i >> bit) & 1 == 1 { 1.0 } else { -1.0 };
    TriangleMesh {
        positions: (0..8).map(|i| Vec3::new(sign(i, 0), sign(i, 1), sign(i, 2))).collect(),
        normals: Vec::new(),
        triangles: faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_faces_outward_and_close() {
        let mesh = cube();
        let mut area = 0.0;
        for [i, j, k] in mesh.triangles.iter().map(|t| t.map(|i| mesh.positions[i as usize])) {
            let n = (j - i).cross(k - i);
            assert!(n.dot(i + j + k) > 0.0, "{i} {j} {k} faces inward");
            area += 0.5 * n.length();
        }
        assert_eq!(area, 24.0);
    }
}
