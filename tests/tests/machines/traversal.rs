//! Traversal against brute force, and watertightness.

mod stages;

use device::bvh::packet::{FEWEST_STRAYS, HitColumns, MOST_STRAYS, RayColumns};
use device::bvh::{Arch, Hit, Portable, closest_hit, occluded, packet};
use device::features::Full;
use device::ray::{Ray, TraversalRay};
use device::rng::{pcg4d, uniform};
use device::sampling::sample_uniform_sphere;
use device::scene::SceneView;
use device::shape::{self, Kind, Primitive};
use glam::{Affine3A, Mat3A, Vec2, Vec3};
use renderer::assemble::SceneData;
use renderer::render::Uploaded;
use torrance_gpu::backend::cpu::{Cpu, InstructionSet};
use torrance_scene::{Geometry, Shape, TriangleMesh};
use torrance_tests::closed::{camera, description, shape};
use torrance_tests::{assembled, gallery_scene};

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
    scene_of(shapes.into_iter().map(|geometry| shape(geometry, 0.0)).collect())
}

fn scene_of(shapes: Vec<Shape>) -> SceneData {
    let camera = camera(Vec3::Z, Vec3::ZERO, Vec3::Y, 45.0);
    assembled(&description(1, camera, 1.0, shapes))
}

/// Triangles of all sizes, needles among them, from a large floor down to grains.
fn soup_mesh(triangles: u32) -> TriangleMesh {
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
    mesh
}

/// Such triangles, and spheres.
fn soup(triangles: u32, spheres: u32) -> SceneData {
    let mut shapes = vec![Geometry::Mesh(soup_mesh(triangles).into())];
    for i in 0..spheres {
        let radius = 0.5 * 2.0_f32.powf(-8.0 * random(i, 4)[0]);
        shapes.push(Geometry::Sphere { center: in_cube(random(i, 5)), radius });
    }
    scene(shapes)
}

/// Triangles, disks that are stretched to ellipses, and cylinders.
fn soup_of_all(count: u32) -> SceneData {
    let mut shapes = vec![shape(Geometry::Mesh(soup_mesh(count).into()), 0.0)];
    for i in 0..count {
        let [size, radius, ..] = random(i, 4).map(|u| 0.5 * 2.0_f32.powf(-8.0 * u));
        let [from, b, c] = [5, 6, 7].map(|j| in_cube(random(i, j)));
        shapes.push(shape(Geometry::Cylinder { from, to: from + size * b, radius }, 0.0));
        let matrix3 = size * Mat3A::from_cols(b.into(), c.into(), b.cross(c).into());
        let world_from_object = Affine3A { matrix3, translation: in_cube(random(i, 8)).into() };
        shapes.push(Shape { world_from_object, ..shape(Geometry::Disk, 0.0) });
    }
    scene_of(shapes)
}

/// Runs `test` with the scene uploaded to the host.
fn with_view(scene: &SceneData, test: impl FnOnce(&SceneView)) {
    let uploaded = Uploaded::new(&mut Cpu::new(Some(1)).unwrap(), scene).unwrap();
    test(&uploaded.view(scene));
}

fn brute_force(prims: &[Primitive], ray: Ray, t_max: f32) -> Option<f32> {
    let ray = TraversalRay::new(ray);
    prims
        .iter()
        .filter_map(|p| shape::intersect::<Full>(p, &ray, t_max))
        .map(|(t, _)| t)
        .min_by(f32::total_cmp)
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

/// Rays, and where they end.
type Rays = [(Ray, f32)];

/// A way to trace rays: the nearest hits, and whether there is any.
struct Tracer {
    name: &'static str,
    nearest: fn(&SceneView, &Rays) -> Vec<Hit>,
    occluded: fn(&SceneView, &Rays) -> Vec<bool>,
}

impl Tracer {
    /// Rays one by one.
    const fn single<A: Arch>(name: &'static str) -> Self {
        // SAFETY: views are of uploaded scenes, and `tracers` has checked the machine.
        let nearest = |view: &SceneView, rays: &Rays| unsafe {
            rays.iter().map(|&(ray, t_max)| closest_hit::<A, Full>(view, ray, t_max)).collect()
        };
        // SAFETY: as above.
        let occluded = |view: &SceneView, rays: &Rays| unsafe {
            rays.iter().map(|&(ray, t_max)| occluded::<A, Full>(view, ray, t_max)).collect()
        };
        Self { name, nearest, occluded }
    }

    /// Packets, of rays that have nothing to do with each other and of which so many go on alone.
    const fn packets<A: Arch, const STRAYS: u32>(name: &'static str) -> Self {
        Self {
            name,
            nearest: in_packets::<A, false, STRAYS>,
            occluded: |view, rays| {
                in_packets::<A, true, STRAYS>(view, rays).iter().map(Hit::is_hit).collect()
            },
        }
    }
}

/// Traces columns of rays, the last of them not full.
fn in_packets<A: Arch, const ANY: bool, const STRAYS: u32>(view: &SceneView, rays: &Rays) -> Vec<Hit> {
    const N: usize = 64;
    let (mut columns, mut hits) = (RayColumns::<N>::zeroed(), HitColumns::<N>::zeroed());
    let mut found = Vec::new();
    for rays in rays.chunks(N - 3) {
        for (i, &(ray, t_max)) in rays.iter().enumerate() {
            columns.set(i, ray, t_max);
        }
        // SAFETY: the view is of an uploaded scene, and `tracers` has checked the machine.
        unsafe { packet::intersect::<A, Full, ANY, N>(view, &mut columns, rays.len(), &mut hits, STRAYS) };
        found.extend((0..rays.len()).map(|i| hits.get(i)));
    }
    found
}

/// All that this machine can run.
fn tracers() -> Vec<Tracer> {
    let mut tracers = vec![
        Tracer::single::<Portable>("portable"),
        Tracer::packets::<Portable, 0>("packets of one"),
        Tracer::packets::<Portable, 1>("one after the other"),
    ];
    #[cfg(target_arch = "x86_64")]
    {
        use device::bvh::{Avx2, Avx512};
        let isa = InstructionSet::detect();
        if isa >= InstructionSet::Avx2 {
            tracers.extend([
                Tracer::single::<Avx2>("AVX2"),
                Tracer::packets::<Avx2, 0>("packets of eight"),
                Tracer::packets::<Avx2, 3>("packets of eight, three alone"),
                Tracer::packets::<Avx2, MOST_STRAYS>("AVX2, in turn"),
            ]);
        }
        if isa >= InstructionSet::Avx512 {
            tracers.extend([
                Tracer::single::<Avx512>("AVX-512"),
                Tracer::packets::<Avx512, 0>("packets of sixteen"),
                Tracer::packets::<Avx512, FEWEST_STRAYS>("packets of sixteen, two alone"),
                Tracer::packets::<Avx512, MOST_STRAYS>("AVX-512, in turn"),
            ]);
        }
    }
    tracers
}

fn agrees_with_brute_force(tracer: &Tracer, scene: &SceneData, hits_at_least: usize) {
    let rays: Vec<_> =
        rays().enumerate().map(|(i, ray)| (ray, if i % 3 == 0 { 0.7 } else { f32::INFINITY })).collect();
    with_view(scene, |view| {
        let (hits, blocked) = ((tracer.nearest)(view, &rays), (tracer.occluded)(view, &rays));
        for (i, (&(ray, t_max), hit)) in rays.iter().zip(&hits).enumerate() {
            let expected = brute_force(&scene.geometry.prims, ray, t_max);
            assert_eq!(hit.is_hit().then_some(hit.t), expected, "{}: ray {i}: {ray:?}", tracer.name);
            assert_eq!(blocked[i], expected.is_some(), "{}: ray {i}: {ray:?}", tracer.name);
        }
        let count = hits.iter().filter(|hit| hit.is_hit()).count();
        assert!(count >= hits_at_least, "{count} hits are too few to prove anything");
    });
}

#[test]
fn traversal_of_disks_and_cylinders_agrees_with_brute_force() {
    let scene = soup_of_all(100);
    let counts = [Kind::Disk, Kind::Cylinder, Kind::Sphere].map(|kind| scene.stats.primitives[kind]);
    assert_eq!(counts, [100, 100, 0]);
    for tracer in tracers() {
        agrees_with_brute_force(&tracer, &scene, 1000);
    }
    assert!(same_bits(&scene, &rays().map(|ray| (ray, f32::INFINITY)).collect::<Vec<_>>()) > 1000);
}

#[test]
fn traversal_agrees_with_brute_force() {
    for (triangles, spheres, hits) in [(2000, 50, 3000), (3, 0, 0), (1, 1, 10), (0, 7, 100), (0, 200, 3000)] {
        let scene = soup(triangles, spheres);
        for tracer in tracers() {
            agrees_with_brute_force(&tracer, &scene, hits);
        }
    }
}

/// Spheres in the same place, one around another, and between triangles and disks; rays that start within them, on them, and touch
/// them, and that end where they meet them.
#[test]
fn company_and_instruction_sets_change_no_bit_of_spheres() {
    let spheres = || {
        (0..60).flat_map(|i| {
            let (center, radius) = (0.9 * in_cube(random(i, 40)), 0.2 * random(i, 41)[0] + 0.01);
            [1.0, 1.0, 0.5].map(|by| Geometry::Sphere { center, radius: by * radius })
        })
    };
    let round = scene(spheres().collect());
    let mut shapes: Vec<_> = spheres().map(|geometry| shape(geometry, 0.0)).collect();
    shapes.push(shape(Geometry::Mesh(soup_mesh(300).into()), 0.0));
    for i in 0..60 {
        let matrix3 = Mat3A::from_diagonal(Vec3::splat(0.1));
        let world_from_object = Affine3A { matrix3, translation: in_cube(random(i, 42)).into() };
        shapes.push(Shape { world_from_object, ..shape(Geometry::Disk, 0.0) });
    }
    for scene in [round, scene_of(shapes)] {
        let prims = &scene.geometry.prims;
        let sphere = |i: u32| {
            let prim = prims[i as usize * 7 % prims.len()];
            (prim.a, if prim.is_sphere() { prim.b.x } else { 0.1 })
        };
        let mut rays: Vec<_> = rays()
            .take(12_000)
            .zip(0..)
            .map(|(ray, i)| {
                let ((center, radius), out) = (sphere(i), direction(random(i, 43)));
                let (o, d) = match i % 6 {
                    0 => (center, out),
                    1 => (center + radius * out, direction(random(i, 44))),
                    // Across the radius, where it ends.
                    2 => {
                        let d = out.any_orthonormal_vector();
                        (center + radius * out - 2.0 * d, d)
                    }
                    _ => (ray.o, ray.d),
                };
                (Ray { o, d }, f32::INFINITY)
            })
            .collect();
        assert!(same_bits(&scene, &rays) > 5000);
        with_view(&scene, |view| {
            let hits = (tracers()[0].nearest)(view, &rays);
            rays.iter_mut().zip(hits).filter(|(_, hit)| hit.is_hit()).for_each(|(ray, hit)| ray.1 = hit.t);
        });
        same_bits(&scene, &rays);
    }
}

/// Rays through the edges and vertices that triangles share, where several are hit at the same distance.
#[test]
fn company_and_instruction_sets_change_no_bit_even_of_ties() {
    let corner = |i: u32, j: u32| Vec3::new(i as f32 - 8.0, j as f32 - 8.0, 0.0);
    let mut grid = TriangleMesh::default();
    for (i, j) in (0..16).flat_map(|i| (0..16).map(move |j| (i, j))) {
        let n = grid.positions.len() as u32;
        grid.positions.extend([corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)]);
        grid.triangles.extend([[n, n + 1, n + 2], [n, n + 2, n + 3]]);
    }
    let rays: Vec<_> = (0..4000)
        .map(|i| {
            let [x, y, z, _] = random(i, 30).map(|u| (16.0 * u).floor() - 8.0);
            // Along z, but into all octants: zeros have signs.
            let sign = |bit: u32| if (i >> bit) & 1 == 0 { 1.0 } else { -1.0 };
            let d = Vec3::new(0.0_f32.copysign(sign(0)), 0.0_f32.copysign(sign(1)), sign(2));
            let o = Vec3::new(x, y + 0.5 * (i % 3 % 2) as f32, -d.z * (1.0 + z.abs()));
            (Ray { o, d }, if i % 5 == 0 { o.z.abs() } else { f32::INFINITY })
        })
        .collect();
    assert!(
        same_bits(&scene(vec![Geometry::Mesh(grid.clone().into()), Geometry::Mesh(grid.into())]), &rays)
            > 3000
    );
}

/// Meshes in the same place, with triangles that are split, so that each is found by several of its pieces.
#[test]
fn company_changes_no_bit_of_ties_between_split_triangles() {
    let mesh = soup_mesh(5000);
    let rays: Vec<_> = rays().map(|ray| (ray, f32::INFINITY)).collect();
    let scene = scene(vec![Geometry::Mesh(mesh.clone().into()), Geometry::Mesh(mesh.into())]);
    assert!(scene.geometry.prims.len() > 10_000, "nothing was split");
    assert!(same_bits(&scene, &rays) > 10_000);
}

/// Asserts that all tracers meet the same points of the same primitives; returns at how many.
fn same_bits(scene: &SceneData, rays: &Rays) -> usize {
    let mut hits = 0;
    with_view(scene, |view| {
        let bits = |hit: &Hit| {
            let source = hit.is_hit().then(|| scene.geometry.sources[hit.prim as usize]);
            source.map(|source| (source, hit.t.to_bits(), hit.b.map(f32::to_bits)))
        };
        let first = (tracers()[0].nearest)(view, rays);
        // What lies at the very end of a ray does not stop it.
        assert!(rays.iter().zip(&first).all(|((_, t_max), hit)| !hit.is_hit() || hit.t < *t_max));
        for tracer in tracers() {
            for (a, b) in first.iter().zip((tracer.nearest)(view, rays)) {
                assert_eq!(bits(a), bits(&b), "{}: {a:?} {b:?}", tracer.name);
            }
        }
        hits = first.iter().filter(|hit| hit.is_hit()).count();
    });
    hits
}

#[test]
fn nothing_is_hit_in_an_empty_scene() {
    let rays: Vec<_> = rays().take(100).map(|ray| (ray, f32::INFINITY)).collect();
    with_view(&scene(Vec::new()), |view| {
        for tracer in tracers() {
            assert!(!(tracer.nearest)(view, &rays).iter().any(Hit::is_hit), "{}", tracer.name);
        }
    });
}

#[test]
fn rays_with_nan_end_and_leave_others_alone() {
    let good = Ray { o: Vec3::new(0.0, 0.0, 3.0), d: Vec3::NEG_Z };
    let mut rays = vec![(good, f32::INFINITY); 7];
    for (k, (ray, _)) in rays.iter_mut().enumerate().take(6) {
        *(if k < 3 { &mut ray.o[k] } else { &mut ray.d[k - 3] }) = f32::NAN;
    }
    with_view(&scene(vec![Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 }]), |view| {
        for tracer in tracers() {
            let hits = (tracer.nearest)(view, &rays);
            assert_eq!(hits.iter().position(Hit::is_hit), Some(6), "{}: {hits:?}", tracer.name);
            assert_eq!(hits[6].t, 2.0);
        }
    });
    with_view(&soup(500, 5), |view| {
        for tracer in tracers() {
            assert!(!(tracer.nearest)(view, &rays[..6]).iter().any(Hit::is_hit), "{}", tracer.name);
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
fn leaks(mesh: &TriangleMesh, scene: &SceneData, hits: impl Fn(&SceneView, &Rays) -> Vec<bool>) -> usize {
    let mut rays = Vec::new();
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
            rays.push((Ray { o, d: (target - o).normalize() }, f32::INFINITY));
        }
    }
    let mut leaks = 0;
    with_view(scene, |view| leaks = hits(view, &rays).iter().filter(|hit| !**hit).count());
    leaks
}

#[test]
fn edges_and_vertices_do_not_leak() {
    let mesh = closed_ball();
    let scene = scene(vec![Geometry::Mesh(mesh.clone().into())]);
    for tracer in tracers() {
        let nearest =
            |view: &SceneView, rays: &[_]| (tracer.nearest)(view, rays).iter().map(Hit::is_hit).collect();
        assert_eq!(leaks(&mesh, &scene, nearest), 0, "{}", tracer.name);
        assert_eq!(leaks(&mesh, &scene, tracer.occluded), 0, "{}", tracer.name);
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
    let scene = scene(vec![Geometry::Mesh(mesh.clone().into())]);
    let leaky = |_: &SceneView, rays: &Rays| {
        let hit = |ray| scene.geometry.prims.iter().any(|p| moller_trumbore([p.a, p.b, p.c], ray));
        rays.iter().map(|&(ray, _)| hit(ray)).collect()
    };
    assert!(leaks(&mesh, &scene, leaky) > 0, "the rays do not find the leaks of a test that has them");
}

/// Rays that begin at crossing needles, of which it is hardly known how far they are: alone they miss their boxes.
#[test]
fn company_changes_no_bit_beside_needles() {
    let scene = assembled(&gallery_scene("preview"));
    let from_ground = |i: u32| {
        let [x, z, ..] = random(i, 50);
        let above = [1e-7, 5.01e-5, 1.001e-4][i as usize % 3];
        let d = direction(random(i, 51));
        let o = Vec3::new(0.6 * x - 0.3, above, 0.6 * z - 0.3);
        (Ray { o, d: Vec3::new(d.x, d.y.abs(), d.z) }, f32::INFINITY)
    };
    let rays: Vec<_> = (0..100_000).map(from_ground).collect();
    assert!(same_bits(&scene, &rays) > 10_000);
}
