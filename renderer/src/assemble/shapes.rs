//! Shapes to primitives in world space.

use device::sampling::Frame;
use device::shape::Primitive;
use device::shape::triangle::{TriangleNormals, TriangleUvs, area_normal, dp_du};
use glam::{Affine3A, Mat3, Vec2, Vec3};

use super::materials::Wants;
use crate::scene::{Geometry, Shape, TriangleMesh};

/// All primitives of a scene, in the order of its shapes.
#[derive(Debug, Default)]
pub(super) struct Flat {
    /// The primitives; `light` is still to be set.
    pub(super) prims: Vec<Primitive>,
    /// Index of the shape of each.
    pub(super) shape_of: Vec<u32>,
    /// Vertex normals and tangents of the triangles that have them.
    pub(super) normals: Vec<TriangleNormals>,
    /// Texture coordinates of the same triangles, if any material asks for them.
    pub(super) uvs: Vec<TriangleUvs>,
}

/// Flattens shapes; `wants` says of every material what it needs.
pub(super) fn flatten(shapes: &[Shape], wants: &[Wants]) -> Flat {
    let mut flat = Flat::default();
    for (i, shape) in shapes.iter().enumerate() {
        let wants = wants[shape.material];
        match &shape.geometry {
            Geometry::Sphere { center, radius } => flat.add_sphere(shape, *center, *radius),
            Geometry::Quad => flat.add_mesh(shape, &quad(), wants),
            Geometry::Box => flat.add_mesh(shape, &cube(), wants),
            Geometry::Mesh(mesh) => flat.add_mesh(shape, mesh, wants),
            Geometry::Disk | Geometry::Cylinder { .. } => unimplemented!(),
        }
        flat.shape_of.resize(flat.prims.len(), i as u32);
    }
    if !wants.iter().any(|w| w.uvs) {
        flat.uvs = Vec::new();
    }
    flat
}

fn material_flags(shape: &Shape) -> u32 {
    shape.material as u32 | if shape.flip_normals { Primitive::FLIPPED } else { 0 }
}

impl Flat {
    fn add_sphere(&mut self, shape: &Shape, center: Vec3, radius: f32) {
        let to_world = &shape.world_from_object;
        let determinant = to_world.matrix3.determinant();
        let scale = determinant.abs().cbrt();
        let axis = to_world.transform_vector3(Vec3::Z).normalize();
        self.prims.push(Primitive {
            a: to_world.transform_point3(center),
            material_flags: material_flags(shape) | Primitive::SPHERE,
            b: Vec3::new(radius * scale, 1.0_f32.copysign(determinant), seam(axis, to_world)),
            light: Primitive::NO_LIGHT,
            c: axis,
            normals: Primitive::FLAT,
        });
    }

    fn add_mesh(&mut self, shape: &Shape, mesh: &TriangleMesh, wants: Wants) {
        let to_world = &shape.world_from_object;
        let points: Vec<Vec3> = mesh.positions.iter().map(|p| to_world.transform_point3(*p)).collect();
        let normals = world_normals(to_world, &mesh.normals);
        let uvs = if wants.tangents || wants.uvs { mesh.uvs.as_slice() } else { &[] };
        let mirrored = to_world.matrix3.determinant() < 0.0;
        for triangle in &mesh.triangles {
            // A reflection turns the winding around; undone, the front stays the front.
            let [i, j, k] = triangle.map(|i| i as usize);
            let [i, j, k] = if mirrored { [i, k, j] } else { [i, j, k] };
            let vertices = [points[i], points[j], points[k]];
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
            let keep = !normals.is_empty() || (wants.uvs && !uvs.is_empty());
            let index = self.add_normals(TriangleNormals { n, dp_du }, uv, keep);
            self.prims.push(Primitive {
                a: points[i],
                material_flags: material_flags(shape),
                b: points[j],
                light: Primitive::NO_LIGHT,
                c: points[k],
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

/// Where u is 0 on a sphere, as [`Primitive::b`] wants it: the azimuth of object space's x axis.
fn seam(axis: Vec3, to_world: &Affine3A) -> f32 {
    let x = Frame::from_z(axis).to_local(to_world.transform_vector3(Vec3::X));
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
mod tests {
    use super::*;
    use device::shape::sphere;
    use std::f32::consts::PI;

    /// A shape that needs tangents, at the end of a transform that turns, and mirrors if told to.
    fn flattened(geometry: Geometry, mirrored: bool, tangents: bool) -> (Affine3A, Flat) {
        let scale = if mirrored { Vec3::new(-2.0, 2.0, 2.0) } else { Vec3::splat(2.0) };
        let turned = Affine3A::from_rotation_x(0.7) * Affine3A::from_rotation_z(-1.1);
        let world_from_object = turned * Affine3A::from_scale(scale);
        let shape = Shape {
            name: String::new(),
            geometry,
            material: 0,
            emission: crate::scene::Color::new(Vec3::ZERO),
            emission_two_sided: false,
            flip_normals: false,
            world_from_object,
        };
        (world_from_object, flatten(&[shape], &[Wants { tangents, uvs: false }]))
    }

    /// Tangents of flat shapes as normal and dp/du in object space, without repetitions, and each the direction in which
    /// u grows there; after a transform to the world and back.
    fn object_tangents(geometry: Geometry, mirrored: bool) -> Vec<[Vec3; 2]> {
        let (to_world, flat) = flattened(geometry, mirrored, true);
        let back = |v: Vec3| to_world.inverse().transform_vector3(v).normalize().round();
        let mut found: Vec<_> = flat
            .prims
            .iter()
            .map(|p| [p.a, p.b, p.c].map(|v| to_world.inverse().transform_point3(v)))
            .zip(flat.prims.iter().map(|p| &flat.normals[p.normals as usize]))
            .map(|([a, b, c], normals)| {
                assert!((normals.n[0].length() - 1.0).abs() < 1e-6 && normals.n == [normals.n[0]; 3]);
                assert!(normals.n[0].dot(normals.dp_du).abs() < 1e-6);
                let outward = (b - a).cross(c - a).normalize().round() * if mirrored { -1.0 } else { 1.0 };
                assert_eq!(back(normals.n[0]), outward);
                [outward, back(normals.dp_du)]
            })
            .collect();
        found.dedup();
        found
    }

    /// As Mitsuba 3.9.1 has them in `dp_du` and `dp_dv` of a hit on its `cube` and `rectangle`.
    #[test]
    fn tangents_of_quads_and_boxes_are_those_of_the_field() {
        let along_v = |mut mesh: TriangleMesh| {
            mesh.uvs = mesh.uvs.iter().map(|uv| Vec2::new(uv.y, uv.x)).collect();
            Geometry::Mesh(mesh.into())
        };
        let [x, y, z] = Vec3::AXES;
        for mirrored in [false, true] {
            assert_eq!(object_tangents(Geometry::Quad, mirrored), [[z, x]]);
            let faces = [[-z, -y], [z, y], [-y, z], [y, -x], [-x, y], [x, y]];
            assert_eq!(object_tangents(Geometry::Box, mirrored), faces);
            assert_eq!(object_tangents(along_v(quad()), mirrored), [[z, y]]);
            let faces = [[-z, x], [z, x], [-y, x], [y, -z], [-x, z], [x, -z]];
            assert_eq!(object_tangents(along_v(cube()), mirrored), faces);
        }
    }

    #[test]
    fn tangents_follow_spheres_through_transforms() {
        for mirrored in [false, true] {
            let sphere = Geometry::Sphere { center: Vec3::ONE, radius: 0.5 };
            let (to_world, flat) = flattened(sphere, mirrored, true);
            let prim = &flat.prims[0];
            for (phi, theta) in [(0.3, 0.1_f32), (2.0, 1.0), (4.0, 2.0), (6.0, 3.0)] {
                let point = |phi: f32| {
                    let n = Vec3::new(theta.sin() * phi.cos(), theta.sin() * phi.sin(), theta.cos());
                    to_world.transform_point3(Vec3::ONE + 0.5 * n)
                };
                let n = (point(phi) - prim.a).normalize();
                let moved = (point(phi + 1e-2) - point(phi - 1e-2)).normalize();
                let found = (prim.b.y * sphere::dp_dphi(prim.c, n)).normalize();
                assert!(found.dot(moved) > 0.9999, "{found}, not {moved}, mirrored: {mirrored}");
            }
        }
    }

    /// As Mitsuba 3.9.1 has them in `uv`, `dp_du` and `dp_dv` of hits on its `sphere` with the same transform.
    #[test]
    fn texture_coordinates_of_spheres_are_those_of_the_field() {
        type Hit = ([f32; 3], [f32; 2], [f32; 3], [f32; 3]);
        const HITS: [&[Hit]; 2] = [
            &[
                ([1.0, 0.0, 0.0], [0.17507, 0.5], [0.0, 4.80564, 4.04774], [0.0, 2.02387, -2.40282]),
                ([0.0, 1.0, 0.0], [0.42507, 0.722817], [-4.80564, 0.0, 0.0], [0.0, 0.0, -PI]),
                (
                    [-0.48, 0.6, -0.64],
                    [0.659665, 0.839817],
                    [-0.292836, -2.30671, -1.94292],
                    [2.73925, 0.772601, -1.33012],
                ),
            ],
            &[
                ([1.0, 0.0, 0.0], [0.32493, 0.5], [0.0, -4.80564, -4.04774], [0.0, 2.02387, -2.40282]),
                ([0.0, 1.0, 0.0], [0.0749295, 0.722817], [4.80564, 0.0, 0.0], [0.0, 0.0, -PI]),
                (
                    [-0.48, 0.6, -0.64],
                    [0.840334, 0.839817],
                    [0.292827, 2.30671, 1.94291],
                    [2.73925, 0.772606, -1.33012],
                ),
            ],
        ];
        for (mirrored, hits) in [false, true].into_iter().zip(HITS) {
            let geometry = Geometry::Sphere { center: Vec3::ONE, radius: 0.5 };
            let prim = flattened(geometry, mirrored, false).1.prims[0];
            for (n, uv, du, dv) in hits {
                let n = Vec3::from(*n);
                let found = sphere::uv(&prim, n);
                assert!(
                    (found - Vec2::from(*uv)).length() < 1e-5,
                    "{found}, not {uv:?}, mirrored: {mirrored}"
                );
                let (dp_du, dp_dv) = sphere::derivatives(&prim, n);
                assert!(
                    (dp_du - Vec3::from(*du)).length() < 1e-4,
                    "{dp_du}, not {du:?}, mirrored: {mirrored}"
                );
                assert!(
                    (dp_dv - Vec3::from(*dv)).length() < 1e-4,
                    "{dp_dv}, not {dv:?}, mirrored: {mirrored}"
                );
            }
        }
    }

    #[test]
    fn tangents_follow_meshes_through_reflections() {
        let (to_world, flat) = flattened(Geometry::Mesh(quad().into()), true, true);
        let expected = to_world.transform_vector3(Vec3::X).normalize();
        assert!(flat.normals.iter().all(|n| (n.dp_du - expected).length() < 1e-6));
        let mut bare = quad();
        bare.uvs.clear();
        assert_eq!(flattened(Geometry::Mesh(bare.clone().into()), true, true).1.normals, []);
        let smooth = TriangleMesh { normals: vec![Vec3::Z; 4], ..quad() };
        for (tangents, expected) in [(true, expected), (false, Vec3::ZERO)] {
            let normals = flattened(Geometry::Mesh(smooth.clone().into()), true, tangents).1.normals;
            assert_eq!(normals.len(), 2);
            assert!(normals.iter().all(|n| (n.dp_du - expected).length() < 1e-6));
        }
        bare.uvs = vec![Vec2::ONE; 4];
        assert_eq!(flattened(Geometry::Mesh(bare.into()), true, true).1.normals, []);
    }

    #[test]
    fn triangles_pay_nothing_for_tangents_that_no_material_needs() {
        for geometry in [Geometry::Quad, Geometry::Box, Geometry::Mesh(quad().into())] {
            let (_, flat) = flattened(geometry, false, false);
            assert_eq!(flat.normals, []);
            assert!(flat.prims.iter().all(|p| p.normals == Primitive::FLAT));
        }
    }

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
