//! Shapes against what other renderers make of them.

use super::*;
use device::features::Full;
use device::ray::{Ray, TraversalRay};
use device::shape::{analytic_derivatives, analytic_point, analytic_uv, intersect, sphere};
use std::f32::consts::{FRAC_1_SQRT_2, PI};

/// A shape that needs tangents, at the end of a transform that turns, and mirrors if told to.
fn flattened(geometry: Geometry, mirrored: bool, tangents: bool) -> (Affine3A, Flat) {
    let scale = if mirrored { Vec3::new(-2.0, 2.0, 2.0) } else { Vec3::splat(2.0) };
    let turned = Affine3A::from_rotation_x(0.7) * Affine3A::from_rotation_z(-1.1);
    let world_from_object = turned * Affine3A::from_scale(scale);
    let shape = placed(geometry, world_from_object);
    (world_from_object, flatten(&[shape], VertexAttributes { tangents, ..VertexAttributes::default() }))
}

/// Shapes of the first material, which wants this.
fn flatten(shapes: &[Shape], wants: VertexAttributes) -> Flat {
    let mut flat = Flat::default();
    for (i, shape) in shapes.iter().enumerate() {
        flat.add(shape, (i as u32, None), &shape.world_from_object, &[wants]);
    }
    flat
}

/// A shape at the end of a transform.
fn placed(geometry: Geometry, world_from_object: Affine3A) -> Shape {
    Shape {
        name: String::new(),
        geometry,
        material: 0,
        emission: torrance_scene::Color::new(Vec3::ZERO),
        emission_two_sided: false,
        flip_normals: false,
        world_from_object,
    }
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
            assert!((found - Vec2::from(*uv)).length() < 1e-5, "{found}, not {uv:?}, mirrored: {mirrored}");
            let (dp_du, dp_dv) = sphere::derivatives(&prim, n);
            assert!((dp_du - Vec3::from(*du)).length() < 1e-4, "{dp_du}, not {du:?}, mirrored: {mirrored}");
            assert!((dp_dv - Vec3::from(*dv)).length() < 1e-4, "{dp_dv}, not {dv:?}, mirrored: {mirrored}");
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

/// A point of a shape, and what Mitsuba 3.9.1 has there: the normal, (u, v), and the derivatives by both.
type FieldHit = ([f32; 3], [f32; 3], [f32; 2], [f32; 3], [f32; 3]);

/// The largest difference from what a shape is at hits along their normals.
fn differs_from_the_field(geometry: Geometry, last: Affine3A, hits: &[FieldHit]) -> f32 {
    let turned = Affine3A::from_rotation_x(0.7) * Affine3A::from_rotation_z(-1.1);
    let shape = placed(geometry, turned * last);
    let prim =
        flatten(&[shape], VertexAttributes { tangents: true, uvs: true, ..VertexAttributes::default() })
            .prims[0];
    let mut worst = 0.0_f32;
    for (p, n, uv, du, dv) in hits {
        let (p, n) = (Vec3::from(*p), Vec3::from(*n));
        let ray = Ray { o: p + 0.1 * n, d: -n };
        let (t, b) = intersect::<Full>(&prim, &TraversalRay::new(ray), 1.0).expect("it is hit");
        let found = analytic_point::<Full>(&prim, &ray, t, b);
        let (dp_du, dp_dv) = analytic_derivatives::<Full>(&prim, found.n, found.b);
        let differences = [
            found.p - p,
            found.n - n,
            (analytic_uv::<Full>(&prim, found.n, found.b) - Vec2::from(*uv)).extend(0.0),
            0.1 * (dp_du - Vec3::from(*du)),
            0.1 * (dp_dv - Vec3::from(*dv)),
        ];
        worst = differences.iter().map(|x| x.length()).fold(worst, f32::max);
    }
    worst
}

const DISK: [&[FieldHit]; 2] = [
    &[
        (
            [2.68641, -2.26002, 2.01879],
            [0.0, -0.644218, 0.764842],
            [0.5, 0.147584],
            [0.900798, -0.679188, -0.572072],
            [-1.44008, 3.75323, 3.1613],
        ),
        (
            [1.82697, -1.22145, 2.89357],
            [0.0, -0.644218, 0.764842],
            [0.509902, 0.468584],
            [-0.802186, 1.37081, 1.15462],
            [-1.96991, 0.311607, 0.262463],
        ),
        (
            [2.01481, -2.17818, 2.08772],
            [0.0, -0.644218, 0.764842],
            [FRAC_1_SQRT_2, 0.772584],
            [-0.312829, -0.364516, -0.307027],
            [4.27002, -5.88696, -4.95852],
        ),
    ],
    &[
        (
            [2.14209, -1.44206, 2.70775],
            [0.0, -0.644218, 0.764842],
            [0.5, 0.147584],
            [-0.187833, 0.956732, 0.805844],
            [3.11997, -3.09929, -2.61049],
        ),
        (
            [2.73417, -2.58471, 1.7453],
            [0.0, -0.644218, 0.764842],
            [0.509902, 0.468584],
            [0.976965, -1.30277, -1.09731],
            [-0.829899, -1.40152, -1.18048],
        ),
        (
            [1.83337, -1.90553, 2.31738],
            [0.0, -0.644218, 0.764842],
            [FRAC_1_SQRT_2, 0.772584],
            [-0.569421, 0.0210736, 0.0177501],
            [-3.71006, 6.10495, 5.14213],
        ),
    ],
];

const CYLINDER: [&[FieldHit]; 2] = [
    &[
        (
            [-0.359874, -3.61087, -0.537333],
            [-0.266187, -0.589597, -0.762574],
            [0.129071, 0.3],
            [-6.65294, 5.43812, -1.88228],
            [4.47202, 3.88976, -4.56846],
        ),
        (
            [-1.51838, -2.37786, 1.83004],
            [-0.45483, 0.846805, 0.275772],
            [0.479212, 0.1],
            [5.80836, 0.992823, 6.53108],
            [4.47202, 3.88976, -4.56846],
        ),
        (
            [3.32944, -1.0743, -0.895139],
            [0.77189, -0.166958, 0.613442],
            [0.781606, 0.8],
            [1.90827, -7.36985, -4.40698],
            [4.47202, 3.88976, -4.56846],
        ),
    ],
    &[
        (
            [-2.72452, -0.0574487, 2.45567],
            [-0.918427, 0.390543, 0.0629871],
            [0.129071, 0.3],
            [-1.53286, -2.25598, -8.36293],
            [2.65764, 6.61629, -2.27193],
        ),
        (
            [-1.4108, -2.53953, 1.69387],
            [0.399608, -0.437186, -0.805718],
            [0.479212, 0.1],
            [7.43386, -1.44986, 4.47363],
            [2.65764, 6.61629, -2.27193],
        ),
        (
            [0.828835, 2.68345, 2.26996],
            [0.670526, -0.0146348, 0.741742],
            [0.781606, 0.8],
            [-5.72966, 4.1079, 5.26059],
            [2.65764, 6.61629, -2.27193],
        ),
    ],
];

/// Mitsuba's `disk` and `cylinder` with the same transforms, mirrored and not.
#[test]
fn disks_and_cylinders_are_those_of_the_field() {
    let [from, to] = [Vec3::new(0.5, -1.0, 2.0), Vec3::new(1.5, 1.0, -1.0)];
    let cylinder = Geometry::Cylinder { from, to, radius: 0.7 };
    for (i, x) in [(0, 2.0), (1, -2.0)] {
        let scaled = |y: f32, z: f32| Affine3A::from_scale(Vec3::new(x, y, z));
        let placed = Affine3A::from_translation(Vec3::new(1.0, 2.0, 3.0)) * scaled(0.5, 3.0);
        let worst = differs_from_the_field(Geometry::Disk, placed, DISK[i]);
        assert!(worst < 2e-5, "disk: {worst}, mirrored: {i}");
        let worst = differs_from_the_field(cylinder.clone(), scaled(2.0, 2.0), CYLINDER[i]);
        assert!(worst < 2e-5, "cylinder: {worst}, mirrored: {i}");
        // Controls: the mirror images.
        assert!(differs_from_the_field(Geometry::Disk, placed, &[mirror(DISK[i][0])]) > 0.1);
        assert!(differs_from_the_field(cylinder.clone(), scaled(2.0, 2.0), &[mirror(CYLINDER[i][0])]) > 0.1);
    }
}

/// The hit with v turned around.
fn mirror(hit: FieldHit) -> FieldHit {
    let (p, n, [u, v], du, dv) = hit;
    (p, n, [u, 1.0 - v], du, dv)
}
