//! Instances against brute force, against the same shapes copied into the world, and against closed forms.

mod copies;

use device::bvh::packet::{HitColumns, MOST_STRAYS, RayColumns, STRAYS_AMONG_INSTANCES};
use device::bvh::{Arch, Hit, Instance as Placed, Portable, closest_hit, occluded, packet};
use device::features::Full;
use device::ray::{Ray, TraversalRay, offset_ray_origin};
use device::rng::{pcg4d, uniform};
use device::sampling::sample_uniform_sphere;
use device::scene::SceneView;
use device::shape::{self, Primitive, triangle};
use glam::{Affine3A, DAffine3, DMat3, DVec3, Mat3A, Quat, Vec2, Vec3, Vec3A};
use renderer::assemble::SceneData;
use renderer::render::Uploaded;
use torrance_gpu::backend::cpu::{Cpu, InstructionSet};
use torrance_scene::{Description, Geometry, Group, Instance, TriangleMesh};
use torrance_tests::assembled;
use torrance_tests::closed::{camera, description, shape};

fn random(i: u32, j: u32) -> [f32; 4] {
    pcg4d([i, j, 23, 5]).map(uniform)
}

fn in_cube([x, y, z, _]: [f32; 4]) -> Vec3 {
    2.0 * Vec3::new(x, y, z) - 1.0
}

fn direction([x, y, ..]: [f32; 4]) -> Vec3 {
    sample_uniform_sphere(Vec2::new(x, y)).normalize()
}

/// A linear map that turns, and stretches, shears and mirrors as `i` says.
fn linear(i: u32) -> Mat3A {
    let [a, b, c, d] = random(i, 1);
    let turn =
        |j: u32, angle: f32| Mat3A::from_quat(Quat::from_axis_angle(direction(random(i, j)), 7.0 * angle));
    let stretch = match i % 4 {
        0 => Vec3::ONE,
        1 => Vec3::new(1.0, 0.2 + a, 3.0 * b + 0.3),
        _ => Vec3::new(0.05 + a, 0.2 + b, 0.5 + c),
    };
    let mirror = if i.is_multiple_of(3) { Vec3::new(-1.0, 1.0, 1.0) } else { Vec3::ONE };
    let m = turn(2, d) * Mat3A::from_diagonal(mirror * stretch) * turn(3, a);
    let shear = Mat3A::from_cols(Vec3A::X, Vec3A::new(b, 1.0, 0.0), Vec3A::new(0.0, -c, 1.0));
    if i % 4 == 3 { m * shear } else { m }
}

/// Maps of all kinds: of sizes from `smallest` to 1, within `reach` of `middle`.
fn maps(count: u32, smallest: f32, middle: Vec3, reach: f32) -> Vec<Affine3A> {
    let size = |i: u32| smallest.powf(random(i, 4)[0]);
    let at = |i: u32| middle + reach * in_cube(random(i, 5));
    (0..count).map(|i| Affine3A { matrix3: size(i) * linear(i), translation: at(i).into() }).collect()
}

/// Triangles of all sizes.
fn soup(triangles: u32, seed: u32) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for i in 0..triangles {
        let size = 2.0_f32.powf(-6.0 * random(i, seed)[0]);
        let corner = in_cube(random(i, seed + 1));
        let n = mesh.positions.len() as u32;
        let other = |j: u32| corner + size * in_cube(random(i, seed + j));
        mesh.positions.extend([corner, other(2), other(3)]);
        mesh.triangles.push([n, n + 1, n + 2]);
    }
    mesh
}

fn group(geometries: Vec<Geometry>) -> Group {
    Group { name: String::new(), shapes: geometries.into_iter().map(|g| shape(g, 0.0)).collect() }
}

/// Groups of all shapes in all places, and some in the world.
fn scene(smallest: f32, middle: Vec3, reach: f32) -> Description {
    let camera = camera(middle + Vec3::Z, middle, Vec3::Y, 45.0);
    let world = vec![shape(Geometry::Mesh(soup(40, 70).into()), 0.0)];
    let mut scene = description(1, camera, 1.0, world);
    scene.shapes[0].world_from_object = Affine3A::from_translation(middle);
    let cylinder = Geometry::Cylinder { from: -0.5 * Vec3::ONE, to: Vec3::new(0.2, 0.5, 0.9), radius: 0.3 };
    let sphere = Geometry::Sphere { center: Vec3::new(0.1, 0.2, 0.3), radius: 0.6 };
    scene.groups = vec![
        group(vec![Geometry::Mesh(soup(100, 30).into())]),
        group(vec![sphere, Geometry::Disk]),
        group(vec![cylinder, Geometry::Mesh(soup(5, 50).into()), Geometry::Box]),
        group(vec![Geometry::Quad]), // of which there are none
    ];
    let place = |(i, world_from_group)| Instance { group: i as u32 % 3, world_from_group };
    scene.instances = maps(90, smallest, middle, reach).into_iter().enumerate().map(place).collect();
    scene
}

fn with_view(scene: &SceneData, test: impl FnOnce(&SceneView)) {
    let uploaded = Uploaded::new(&mut Cpu::new(Some(1)).unwrap(), scene).unwrap();
    test(&uploaded.view(scene));
}

/// Rays from around `middle` and from far away to all sides, and at the middles of instances.
fn rays(scene: &Description, middle: Vec3, reach: f32) -> Vec<(Ray, f32)> {
    (0..8_000)
        .map(|i| {
            let aside = in_cube(random(i, 10));
            let target = match i % 2 {
                0 => middle + reach * aside,
                _ => scene.instances[i as usize % scene.instances.len()]
                    .world_from_group
                    .transform_point3(0.5 * aside),
            };
            let o = middle + if i % 3 == 0 { 8.0 * reach } else { 1.5 * reach } * in_cube(random(i, 11));
            let axis = Vec3::AXES[i as usize % 3];
            let d = if i % 8 == 0 { axis } else { (target - o).normalize() };
            (Ray { o, d }, if i % 5 == 0 { reach } else { f32::INFINITY })
        })
        .collect()
}

/// The primitives of every tree: those of the world, and those of each group.
fn primitives_of(scene: &SceneData, group: Option<u32>) -> Vec<usize> {
    let shapes = |group: Option<u32>| match group {
        None => 0..1_u32,
        Some(0) => 1..2,
        Some(1) => 2..4,
        _ => 4..7,
    };
    let (shape_of, sources) = (&scene.geometry.shape_of, &scene.geometry.sources);
    let in_group = |i: &usize| shapes(group).contains(&shape_of.get(sources[*i]).expect("it is of a shape"));
    (0..scene.geometry.prims.len()).filter(in_group).collect()
}

/// The nearest hit among all primitives of all instances, one after another.
fn brute_force(scene: &SceneData, of: &[Vec<usize>; 4], ray: &Ray, t_max: f32) -> Option<f32> {
    let nearest = |prims: &[usize], ray: &Ray| {
        let ray = TraversalRay::new(*ray);
        let all = &scene.geometry.prims;
        let t = |i: &usize| shape::intersect::<Full>(&all[*i], &ray, f32::INFINITY).map(|(t, _)| t);
        prims.iter().filter_map(t).min_by(f32::total_cmp)
    };
    let on_instance = |instance: &Placed| {
        let (local, stretch) = instance.enter(ray);
        nearest(&of[1 + instance.group as usize], &local).map(|t| t / stretch)
    };
    let hits = scene.geometry.instances.iter().filter_map(on_instance).chain(nearest(&of[0], ray));
    hits.min_by(f32::total_cmp).filter(|t| *t < t_max)
}

/// How many hits there are, and how often traversal finds others than brute force.
fn wrong_hits(scene: &SceneData, rays: &[(Ray, f32)], found: &[Hit]) -> (usize, usize) {
    let of = [None, Some(0), Some(1), Some(2)].map(|group| primitives_of(scene, group));
    let expected: Vec<_> = rays.iter().map(|(ray, t_max)| brute_force(scene, &of, ray, *t_max)).collect();
    let differs = |(hit, expected): &(&Hit, &Option<f32>)| match (hit.is_hit(), expected) {
        (true, Some(t)) => (hit.t - t).abs() > 1e-6 * t,
        (hit, expected) => hit != expected.is_some(),
    };
    let wrong = found.iter().zip(&expected).filter(differs).count();
    (expected.iter().flatten().count(), wrong)
}

/// Sizes of instances, where they are, and how far apart.
const PLACES: [(f32, Vec3, f32); 4] = [
    (0.1, Vec3::ZERO, 3.0),
    (1e-4, Vec3::ZERO, 1.0),
    (0.1, Vec3::new(1e4, -2e4, 5e3), 3.0),
    (1e-3, Vec3::ZERO, 100.0),
];

#[test]
fn traversal_of_instances_agrees_with_brute_force() {
    for (smallest, middle, reach) in PLACES {
        let described = scene(smallest, middle, reach);
        let (scene, rays) = (assembled(&described), rays(&described, middle, reach));
        assert_eq!((scene.stats.instances, scene.stats.groups), (90, 3));
        with_view(&scene, |view| {
            // SAFETY: the view is of an uploaded scene, and any machine is portable.
            let trace = |(ray, t_max): &(Ray, f32)| unsafe {
                let hit = closest_hit::<Portable, Full>(view, *ray, *t_max);
                assert_eq!(occluded::<Portable, Full>(view, *ray, *t_max), hit.is_hit());
                hit
            };
            let mut hits: Vec<Hit> = rays.iter().map(trace).collect();
            let (count, wrong) = wrong_hits(&scene, &rays, &hits);
            let on_instances = hits.iter().filter(|hit| hit.instance != Hit::WORLD).count();
            println!("{smallest} {reach}: {count} hits, {on_instances} on instances, {wrong} wrong");
            assert!(on_instances > 150, "{on_instances} hits prove nothing");
            assert_eq!(wrong, 0, "of {count}, size {smallest}, around {middle}");
            hits.rotate_left(1);
            let some = rays.len() / 4;
            assert!(wrong_hits(&scene, &rays[..some], &hits[..some]).1 > 25, "control: hits of other rays");
        });
    }
}

/// All rays by packets, the last of them not full.
fn in_packets<A: Arch>(view: &SceneView, rays: &[(Ray, f32)], strays: u32) -> Vec<(Hit, bool)> {
    const N: usize = 64;
    let (mut columns, mut hits) = (RayColumns::<N>::zeroed(), HitColumns::<N>::zeroed());
    let mut found = Vec::new();
    for rays in rays.chunks(N - 3) {
        for (i, &(ray, t_max)) in rays.iter().enumerate() {
            columns.set(i, ray, t_max);
        }
        // SAFETY: the view is of an uploaded scene, and the caller has checked the machine.
        let mut trace = |any: bool| unsafe {
            match any {
                true => {
                    packet::intersect::<A, Full, true, N>(view, &mut columns, rays.len(), &mut hits, strays)
                }
                false => {
                    packet::intersect::<A, Full, false, N>(view, &mut columns, rays.len(), &mut hits, strays)
                }
            }
            (0..rays.len()).map(|i| hits.get(i)).collect::<Vec<_>>()
        };
        let (nearest, any) = (trace(false), trace(true));
        found.extend(nearest.into_iter().zip(any.iter().map(Hit::is_hit)));
    }
    found
}

/// Asserts that rays meet the same in all kinds of company as alone; returns what that is.
fn hits_in_any_company(scene: &SceneData, rays: &[(Ray, f32)]) -> Vec<Hit> {
    let mut all = Vec::new();
    with_view(scene, |view| {
        let bits = |hit: &Hit| {
            let source = hit.is_hit().then(|| scene.geometry.sources[hit.prim as usize]);
            (source, hit.t.to_bits(), hit.instance, hit.b.map(f32::to_bits))
        };
        let mut packets = Vec::new();
        for strays in [0, STRAYS_AMONG_INSTANCES, MOST_STRAYS] {
            packets.push(in_packets::<Portable>(view, rays, strays));
            #[cfg(target_arch = "x86_64")]
            {
                use device::bvh::{Avx2, Avx512};
                if InstructionSet::detect() >= InstructionSet::Avx2 {
                    packets.push(in_packets::<Avx2>(view, rays, strays));
                }
                if InstructionSet::detect() >= InstructionSet::Avx512 {
                    packets.push(in_packets::<Avx512>(view, rays, strays));
                }
            }
        }
        for (i, &(ray, t_max)) in rays.iter().enumerate() {
            // SAFETY: the view is of an uploaded scene, and any machine is portable.
            let alone = unsafe { closest_hit::<Portable, Full>(view, ray, t_max) };
            for found in &packets {
                assert_eq!(bits(&found[i].0), bits(&alone), "ray {i}: {ray:?}");
                assert_eq!(found[i].1, alone.is_hit(), "ray {i}: {ray:?}");
            }
            all.push(alone);
        }
    });
    all
}

#[test]
fn company_changes_no_bit_of_hits_on_instances() {
    for (smallest, middle, reach) in PLACES {
        let described = scene(smallest, middle, reach);
        let rays = rays(&described, middle, reach);
        hits_in_any_company(&assembled(&described), &rays);
        // Rays side by side, as many as instances are entered with.
        let aside = |k: u32, (ray, t_max): (Ray, f32)| {
            (Ray { d: (ray.d + 1e-3 * in_cube(random(k, 12))).normalize(), ..ray }, t_max)
        };
        let bunches: Vec<_> =
            rays.iter().step_by(12).flat_map(|&ray| (0..12).map(move |k| aside(k, ray))).collect();
        hits_in_any_company(&assembled(&described), &bunches);
    }
}

/// Every instance twice, of which the first wins that a ray visits: it depends on where the ray leads.
#[test]
fn company_does_not_change_which_of_two_equal_instances_is_met() {
    let mut described = scene(0.1, Vec3::ZERO, 3.0);
    described.instances.extend_from_within(..);
    let (scene, rays) = (assembled(&described), rays(&described, Vec3::ZERO, 3.0));
    let hits = hits_in_any_company(&scene, &rays);
    let met = hits.iter().filter(|hit| hit.instance != Hit::WORLD);
    let sources: Vec<_> =
        met.map(|hit| scene.geometry.instances[hit.instance as usize].source as usize).collect();
    let first = sources.iter().filter(|source| **source < described.instances.len() / 2).count();
    let second = sources.len() - first;
    assert!(first.min(second) > 100, "{first} and {second} hits of either do not prove that order counts");
}

/// How often rays that leave squares, of all sizes and in all places, meet the same square again, where `extent` says what
/// the rounding of points is relative to. In their group they are far from its origin, and every other one is near that
/// of the world.
fn met_again(extent: impl Fn(&Placed, &Primitive, Vec3, Vec3) -> f32) -> usize {
    let eye = camera(Vec3::Z, Vec3::ZERO, Vec3::Y, 45.0);
    let mut scene = description(1, eye, 1.0, Vec::new());
    scene.groups = vec![group(vec![Geometry::Quad])];
    let far = Vec3A::new(2e3, -5e3, 3e3);
    scene.groups[0].shapes[0].world_from_object = Affine3A::from_translation(far.into());
    let place = |i: u32| {
        let matrix3 = 1e-3_f32.powf(random(i, 40)[0]) * linear(i);
        let translation = if i.is_multiple_of(2) { Vec3A::ZERO } else { -(matrix3 * far) };
        Instance { group: 0, world_from_group: Affine3A { matrix3, translation } }
    };
    scene.instances = (0..500).map(place).collect();
    let data = assembled(&scene);
    let (mut left, mut again) = (0, 0);
    with_view(&data, |view| {
        for i in 0..20_000 {
            let index = i as usize % data.geometry.instances.len();
            let placed = &data.geometry.instances[index];
            let map = scene.instances[placed.source as usize].world_from_group;
            let target = map
                .transform_point3(0.9 * in_cube(random(i, 42)) * Vec3::new(1.0, 1.0, 0.0) + Vec3::from(far));
            let ray = Ray {
                o: target + 5.0 * Vec3::from(map.matrix3.x_axis).length() * direction(random(i, 43)),
                d: Vec3::X,
            };
            let ray = Ray { d: (target - ray.o).normalize(), ..ray };
            // SAFETY: the view is of an uploaded scene, and any machine is portable.
            let hit = unsafe { closest_hit::<Portable, Full>(view, ray, f32::INFINITY) };
            if hit.instance as usize != index {
                continue;
            }
            left += 1;
            let prim = &data.geometry.prims[hit.prim as usize];
            let vertices = [prim.a, prim.b, prim.c];
            let p = placed.world_point(triangle::interpolate(vertices, hit.b), ray.at(hit.t));
            let n = triangle::area_normal(vertices).normalize();
            let out = placed.world_normal(n).normalize();
            let d = direction(random(i, 44));
            let out = out * 1.0_f32.copysign(out.dot(d));
            let o = offset_ray_origin(p, out, extent(placed, prim, p, n));
            // SAFETY: as above.
            let hit = unsafe { closest_hit::<Portable, Full>(view, Ray { o, d }, f32::INFINITY) };
            again += usize::from(hit.instance as usize == index);
        }
    });
    assert!(left > 1000, "{left} rays prove nothing");
    again
}

#[test]
fn rays_leave_instances() {
    assert_eq!(met_again(|placed, prim, p, n| placed.extent(p, n, prim.extent())), 0);
    let control = met_again(|_, _, _, _| 0.0);
    assert!(control > 20, "control: met again {control} times if only the coordinates of points counted");
}

/// The same triangles in f64, placed by the map itself: what instances should be, however they are traced.
#[test]
fn instances_are_where_their_maps_put_them() {
    let maps = maps(12, 0.2, Vec3::ZERO, 2.0);
    let mesh = soup(12, 90);
    let eye = camera(Vec3::Z, Vec3::ZERO, Vec3::Y, 45.0);
    let mut scene = description(1, eye, 1.0, Vec::new());
    scene.groups = vec![group(vec![Geometry::Mesh(mesh.clone().into())])];
    let place = |map: &Affine3A| Instance { group: 0, world_from_group: *map };
    scene.instances = maps.iter().map(place).collect();
    let (rays, scene) = (rays(&scene, Vec3::ZERO, 2.0), assembled(&scene));
    let wide = |v: Vec3| v.as_dvec3();
    let triangles = |maps: &[Affine3A]| -> Vec<[DVec3; 3]> {
        let place = |map: &Affine3A| {
            let columns = [map.matrix3.x_axis, map.matrix3.y_axis, map.matrix3.z_axis];
            let [x, y, z] = columns.map(|c| wide(c.into()));
            let map =
                DAffine3 { matrix3: DMat3::from_cols(x, y, z), translation: wide(map.translation.into()) };
            let at = |i: u32| map.transform_point3(wide(mesh.positions[i as usize]));
            mesh.triangles.iter().map(|t| t.map(at)).collect::<Vec<_>>()
        };
        maps.iter().flat_map(place).collect()
    };
    let wrong = |triangles: &[[DVec3; 3]]| {
        let mut wrong = (0, 0);
        with_view(&scene, |view| {
            for (ray, t_max) in &rays {
                let exact = |t: &[DVec3; 3]| moller_trumbore(t, wide(ray.o), wide(ray.d));
                let t = triangles
                    .iter()
                    .filter_map(exact)
                    .min_by(f64::total_cmp)
                    .filter(|t| *t < f64::from(*t_max));
                // SAFETY: the view is of an uploaded scene, and any machine is portable.
                let hit = unsafe { closest_hit::<Portable, Full>(view, *ray, *t_max) };
                let found = hit.is_hit().then(|| f64::from(hit.t));
                wrong.0 += usize::from(t.is_some());
                wrong.1 += usize::from(match (t, found) {
                    (Some(a), Some(b)) => (a - b).abs() > 1e-3 * a.max(1.0),
                    (a, b) => a.is_some() != b.is_some(),
                });
            }
        });
        wrong
    };
    let (hits, found) = wrong(&triangles(&maps));
    println!("{found} of {hits} differ");
    // Some rays pass an edge by less than rounding.
    assert!(hits > 500 && found * 1000 <= hits, "{found} of {hits} differ");
    let mirrored: Vec<_> =
        maps.iter().map(|m| *m * Affine3A::from_scale(Vec3::new(1.0, -1.0, 1.0))).collect();
    assert!(wrong(&triangles(&mirrored)).1 > 200, "control: mirrored");
}

/// Möller & Trumbore 1997.
fn moller_trumbore([a, b, c]: &[DVec3; 3], o: DVec3, d: DVec3) -> Option<f64> {
    let (e1, e2, s) = (*b - *a, *c - *a, o - *a);
    let p = d.cross(e2);
    let inv_det = 1.0 / e1.dot(p);
    let q = s.cross(e1);
    let (u, v, t) = (s.dot(p) * inv_det, d.dot(q) * inv_det, e2.dot(q) * inv_det);
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0).then_some(t)
}
