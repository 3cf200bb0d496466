//! Traversal against brute force, and watertightness.

use device::arch::{Arch, Portable};
use device::bvh::{TraversalRay, closest_hit, occluded};
use device::ray::Ray;
use device::rng::{pcg4d, uniform};
use device::sampling::sample_uniform_sphere;
use device::scene::SceneView;
use device::shape::{self, Primitive};
use glam::{Affine3A, Vec2, Vec3};
use renderer::assemble::SceneData;
use renderer::backend::cpu::Cpu;
use renderer::render::Uploaded;
use renderer::scene::{
    Camera, Description, Direct, FovAxis, Geometry, Masking, Material, MaterialKind, RenderSettings, Sampler,
    Shape, TriangleMesh,
};
use torrance_tests::assembled;

fn random(i: u32, j: u32) -> [f32; 4] {
    pcg4d([i, j, 17, 4]).map(uniform)
}

fn in_cube([x, y, z, _]: [f32; 4]) -> Vec3 {
    2.0 * Vec3::new(x, y, z) - 1.0
}

fn direction([x, y, ..]: [f32; 4]) -> Vec3 {
    sample_uniform_sphere(Vec2::new(x, y)).normalize()
}

fn scene(shapes: Vec<Geometry>) -> SceneData {
    let shape = |geometry| Shape {
        name: String::new(),
        geometry,
        material: 0,
        emission: Vec3::ZERO,
        emission_two_sided: false,
        flip_normals: false,
        world_from_object: Affine3A::IDENTITY,
    };
    assembled(&Description {
        render: RenderSettings {
            width: 1,
            height: 1,
            spp: 1,
            seed: 0,
            max_depth: 1,
            rr_depth: None,
            sampler: Sampler::Independent,
            direct: Direct::Mis,
            masking: Masking::Correlated,
        },
        camera: Camera {
            position: Vec3::Z,
            target: Vec3::ZERO,
            up: Vec3::Y,
            fov: 45.0,
            fov_axis: FovAxis::X,
        },
        environment: Vec3::ZERO,
        materials: vec![Material {
            name: String::new(),
            two_sided: true,
            kind: MaterialKind::Diffuse { reflectance: Vec3::ONE },
        }],
        shapes: shapes.into_iter().map(shape).collect(),
    })
}

/// Triangles of all sizes, needles among them, and spheres, from a large floor down to grains.
fn soup(triangles: u32, spheres: u32) -> SceneData {
    let mut mesh = TriangleMesh::default();
    for i in 0..triangles {
        let size = 2.0_f32.powf(-12.0 * random(i, 0)[0]);
        let corner = in_cube(random(i, 1));
        let n = mesh.positions.len() as u32;
        let needle = if i % 5 == 0 { 1e-3 } else { 1.0 };
        let far = corner + size * needle * in_cube(random(i, 3));
        mesh.positions.extend([corner, corner + size * in_cube(random(i, 2)), far]);
        mesh.triangles.push([n, n + 1, n + 2]);
    }
    let mut shapes = vec![Geometry::Mesh(mesh)];
    for i in 0..spheres {
        let radius = 0.5 * 2.0_f32.powf(-8.0 * random(i, 4)[0]);
        shapes.push(Geometry::Sphere { center: in_cube(random(i, 5)), radius });
    }
    scene(shapes)
}

/// Runs `test` with the scene uploaded to the host.
fn with_view(scene: &SceneData, test: impl FnOnce(&SceneView)) {
    let uploaded = Uploaded::new(&mut Cpu::new(Some(1)).unwrap(), scene).unwrap();
    test(&uploaded.view(scene));
}

fn brute_force(prims: &[Primitive], ray: Ray, t_max: f32) -> Option<f32> {
    let ray = TraversalRay::new(ray);
    prims.iter().filter_map(|p| shape::intersect(p, &ray, t_max)).map(|(t, _)| t).min_by(f32::total_cmp)
}

/// Random rays, axis-parallel rays, and rays within axis-parallel planes.
fn rays() -> impl Iterator<Item = Ray> {
    (0..30_000).map(|i| {
        let o = 1.5 * in_cube(random(i, 10));
        let mut d = direction(random(i, 11));
        match i % 8 {
            0 => d = Vec3::AXES[i as usize / 8 % 3] * if i % 16 == 0 { 1.0 } else { -1.0 },
            1 => d = Vec3::new(0.0, d.y, d.z).normalize(),
            2 => d = Vec3::new(d.x, -0.0, d.z).normalize(),
            _ => {}
        }
        Ray { o, d }
    })
}

fn agrees_with_brute_force<A: Arch>(scene: &SceneData, hits_at_least: usize) {
    with_view(scene, |view| {
        let mut hits = 0;
        for (i, ray) in rays().enumerate() {
            let t_max = if i % 3 == 0 { 0.7 } else { f32::INFINITY };
            let expected = brute_force(&scene.prims, ray, t_max);
            // SAFETY: the view is of an uploaded scene, and the caller has checked the machine.
            let (hit, blocked) =
                unsafe { (closest_hit::<A>(view, ray, t_max), occluded::<A>(view, ray, t_max)) };
            assert_eq!(hit.is_hit().then_some(hit.t), expected, "ray {i}: {ray:?}");
            assert_eq!(blocked, expected.is_some(), "ray {i}: {ray:?}");
            hits += usize::from(hit.is_hit());
        }
        assert!(hits >= hits_at_least, "{hits} hits are too few to prove anything");
    });
}

#[test]
fn traversal_agrees_with_brute_force() {
    for (triangles, spheres, hits) in [(2000, 50, 3000), (3, 0, 0), (1, 1, 10), (0, 7, 100), (0, 200, 3000)] {
        let scene = soup(triangles, spheres);
        agrees_with_brute_force::<Portable>(&scene, hits);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            agrees_with_brute_force::<device::arch::Avx2>(&scene, hits);
        }
    }
}

#[test]
fn nothing_is_hit_in_an_empty_scene() {
    let scene = scene(Vec::new());
    with_view(&scene, |view| {
        for ray in rays().take(100) {
            // SAFETY: the view is of an uploaded scene, and any machine is portable.
            assert!(unsafe { !closest_hit::<Portable>(view, ray, f32::INFINITY).is_hit() });
        }
    });
}

#[test]
fn rays_with_nan_end() {
    let scene = soup(500, 5);
    with_view(&scene, |view| {
        for k in 0..6 {
            let mut ray = Ray { o: Vec3::ZERO, d: Vec3::X };
            if k < 3 {
                ray.o[k] = f32::NAN
            } else {
                ray.d[k - 3] = f32::NAN
            }
            // SAFETY: the view is of an uploaded scene, and any machine is portable.
            assert!(unsafe { !closest_hit::<Portable>(view, ray, f32::INFINITY).is_hit() }, "{ray:?}");
        }
    });
}

/// A closed bumpy ball of many triangles around the origin: no ray from inside may escape.
fn closed_ball() -> TriangleMesh {
    const N: u32 = 48;
    let mut mesh = TriangleMesh::default();
    let at = |i: u32, j: u32| {
        let (s, c) = (std::f32::consts::PI * i as f32 / N as f32).sin_cos();
        let (sp, cp) = (std::f32::consts::TAU * (j % N) as f32 / N as f32).sin_cos();
        let radius = 1.0 + 0.3 * random(if i == 0 || i == N { i } else { i * N + j % N }, 20)[0];
        radius * if i == 0 || i == N { Vec3::new(0.0, c, 0.0) } else { Vec3::new(s * cp, c, s * sp) }
    };
    for i in 0..=N {
        mesh.positions.extend((0..N).map(|j| at(i, j)));
    }
    let vertex = |i: u32, j: u32| i * N + j % N;
    for i in 0..N {
        for j in 0..N {
            if i > 0 {
                mesh.triangles.push([vertex(i, j), vertex(i + 1, j), vertex(i, j + 1)]);
            }
            if i + 1 < N {
                mesh.triangles.push([vertex(i, j + 1), vertex(i + 1, j), vertex(i + 1, j + 1)]);
            }
        }
    }
    mesh
}

/// Rays aimed at edges and vertices, where leaks would be.
fn leaks(mesh: &TriangleMesh, scene: &SceneData, hit: impl Fn(&SceneView, Ray) -> bool) -> usize {
    let mut leaks = 0;
    with_view(scene, |view| {
        for (i, t) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = t.map(|k| mesh.positions[k as usize]);
            for k in 0..40 {
                let [u, v, ..] = random(i as u32, 100 + k);
                let target = match k % 4 {
                    0 => a,
                    1 => a.lerp(b, u),
                    2 => b.lerp(c, u),
                    _ => c.lerp(a, v),
                };
                let o = 0.4 * in_cube(random(i as u32, 200 + k));
                leaks += usize::from(!hit(view, Ray { o, d: (target - o).normalize() }));
            }
        }
    });
    leaks
}

#[test]
fn edges_and_vertices_do_not_leak() {
    let mesh = closed_ball();
    let scene = scene(vec![Geometry::Mesh(mesh.clone())]);
    // SAFETY: the view is of an uploaded scene, and any machine is portable.
    let portable =
        |view: &SceneView, ray| unsafe { closest_hit::<Portable>(view, ray, f32::INFINITY).is_hit() };
    assert_eq!(leaks(&mesh, &scene, portable), 0);
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the view is of an uploaded scene, and the machine has been checked.
        let avx2 = |view: &SceneView, ray| unsafe {
            closest_hit::<device::arch::Avx2>(view, ray, f32::INFINITY).is_hit()
        };
        assert_eq!(leaks(&mesh, &scene, avx2), 0);
    }
}

/// Möller & Trumbore 1997, which is not watertight.
fn moller_trumbore([a, b, c]: [Vec3; 3], ray: Ray) -> bool {
    let (e1, e2) = (b - a, c - a);
    let p = ray.d.cross(e2);
    let inv_det = 1.0 / e1.dot(p);
    let s = ray.o - a;
    let u = s.dot(p) * inv_det;
    let q = s.cross(e1);
    let v = ray.d.dot(q) * inv_det;
    u >= 0.0 && v >= 0.0 && u + v <= 1.0 && e2.dot(q) * inv_det > 0.0
}

#[test]
fn control_leaks_are_found() {
    let mesh = closed_ball();
    let scene = scene(vec![Geometry::Mesh(mesh.clone())]);
    let leaky = |_: &SceneView, ray| scene.prims.iter().any(|p| moller_trumbore([p.a, p.b, p.c], ray));
    assert!(leaks(&mesh, &scene, leaky) > 0, "the rays do not find the leaks of a test that has them");
}
