//! Images of instances against those of copies in the world.

use glam::{Affine3A, Mat3A, Vec2, Vec3, Vec3A};
use renderer::assemble::texture_coordinates;
use renderer::render::{FirstHit, Options};
use torrance_scene::{Description, Direct, Geometry, Group, Instance, Shape};
use torrance_tests::closed::{camera, description, octahedron_sphere, shape};
use torrance_tests::{Machine, assembled};

use super::{group, linear, maps};

/// The same scene with every shape of every instance on its own in the world; what a transform makes of spheres and
/// cylinders is left out.
fn copied(scene: &Description) -> Description {
    let mut copied = scene.clone();
    for instance in &scene.instances {
        let places = |shape: &Shape| Shape {
            world_from_object: instance.world_from_group * shape.world_from_object,
            ..shape.clone()
        };
        copied.shapes.extend(scene.groups[instance.group as usize].shapes.iter().map(places));
    }
    copied.groups.clear();
    copied.instances.clear();
    copied
}

/// A smooth, textured and a flat mesh, disks and boxes, and what emits, in all places; rays meet them once.
fn gallery(maps: &[Affine3A]) -> Description {
    let mut smooth = octahedron_sphere(2);
    smooth.normals = smooth.positions.iter().map(|p| (*p + 0.1 * Vec3::X).normalize()).collect();
    smooth.uvs = smooth.positions.iter().map(|p| Vec2::new(p.x, 0.5 * p.y + 0.1 * p.z)).collect();
    let eye = camera(Vec3::new(1.0, 2.0, 9.0), Vec3::ZERO, Vec3::Y, 50.0);
    let floor = Shape {
        world_from_object: Affine3A::from_translation(Vec3::new(0.0, -5.0, 0.0))
            * Affine3A::from_rotation_x(-1.5)
            * Affine3A::from_scale(Vec3::splat(9.0)),
        ..shape(Geometry::Quad, 0.0)
    };
    let mut scene = description(64, eye, 0.6, vec![floor]);
    scene.environment = Some(torrance_scene::Environment::Constant(Vec3::splat(0.3)));
    let mut lamp = group(vec![Geometry::Box, Geometry::Quad]);
    lamp.shapes[1].emission = torrance_scene::Color::new(Vec3::splat(2.0));
    lamp.shapes[1].world_from_object = Affine3A::from_translation(1.5 * Vec3::Z);
    let flipped = Shape { flip_normals: true, ..shape(Geometry::Disk, 0.0) };
    let disk = Group { name: String::new(), shapes: vec![flipped] };
    scene.groups = vec![group(vec![Geometry::Mesh(smooth.into())]), disk, lamp];
    let place = |(i, map): (usize, &Affine3A)| Instance { group: i as u32 % 3, world_from_group: *map };
    scene.instances = maps.iter().enumerate().map(place).collect();
    for instance in scene.instances.iter_mut().filter(|instance| instance.group == 0) {
        // Interpolated before or after a stretch, normals would differ.
        instance.world_from_group.matrix3 = linear(0);
    }
    scene
}

fn first_hits(scene: &Description) -> Vec<FirstHit> {
    let uvs = texture_coordinates(scene);
    let options = Options { first_hits: Some(&uvs), ..Options::default() };
    let rendered = Machine::Cpu.render_with(&assembled(scene), 1, options);
    rendered.first_hits.expect("they were asked for").pixels
}

/// Part of the pixels in which something else is seen, and the largest difference in the others.
fn differences(a: &[FirstHit], b: &[FirstHit]) -> (f64, f32) {
    let distance = |a: [f32; 3], b: [f32; 3]| (Vec3::from(a) - Vec3::from(b)).abs().max_element();
    let difference = |(a, b): (&FirstHit, &FirstHit)| {
        let uv = distance([a.uv[0], a.uv[1], 0.0], [b.uv[0], b.uv[1], 0.0]);
        let p = distance(a.p.unwrap_or([-9.0; 3]), b.p.unwrap_or([-9.0; 3]));
        p.max(uv).max(distance(a.ng, b.ng)).max(distance(a.ns, b.ns)).max(distance(a.albedo, b.albedo))
    };
    let all: Vec<f32> = a.iter().zip(b).map(difference).collect();
    let same: Vec<f32> = all.iter().copied().filter(|x| *x < 1e-3).collect();
    (1.0 - same.len() as f64 / all.len() as f64, same.into_iter().fold(0.0, f32::max))
}

/// Points, both normals, texture coordinates and albedos of first hits, and the images.
#[test]
fn instances_look_like_copies() {
    let instanced = gallery(&maps(30, 0.3, Vec3::ZERO, 4.0));
    let copied = copied(&instanced);
    assert_eq!(assembled(&instanced).stats.instances, 30, "boxes of lamps are instanced, quads are copied");
    assert_eq!(assembled(&instanced).stats.lights, assembled(&copied).stats.lights);
    let hits = [&instanced, &copied].map(first_hits);
    let seen = hits[0].iter().filter(|hit| hit.p.is_some()).count();
    let (elsewhere, most) = differences(&hits[0], &hits[1]);
    println!("{seen} of 4096 pixels, {elsewhere} of them elsewhere, the others off by {most}");
    assert!(seen > 2000 && elsewhere < 2e-3 && most < 2e-4, "{elsewhere} {most}");
    let mut moved = instanced.clone();
    for instance in &mut moved.instances {
        instance.world_from_group.matrix3 *= Mat3A::from_diagonal(Vec3::new(1.0, 1.0, -1.0));
    }
    assert!(differences(&first_hits(&moved), &hits[1]).0 > 0.05, "control: mirrored");
    let render = |scene: &Description| Machine::Cpu.render(&assembled(scene), 64);
    use torrance_tests::compare::{Reference, compare};
    let mut other = instanced.clone();
    other.render.seed += 1;
    let difference = compare(&render(&other), &Reference::film(&render(&copied)), false);
    assert!(difference.agrees(), "{difference:?}");
    let control = compare(&render(&moved), &Reference::film(&render(&copied)), false);
    assert!(!control.agrees(), "{control:?}");
}

/// Convex shapes that reflect half of a uniform sky are half as bright everywhere: less where they shade themselves.
#[test]
fn instances_do_not_shade_themselves() {
    let ball = Geometry::Mesh(octahedron_sphere(3).into());
    let sphere = Geometry::Sphere { center: Vec3::ONE, radius: 0.5 };
    for (kind, geometry) in [Geometry::Box, ball, sphere, Geometry::Disk].into_iter().enumerate() {
        for (i, size) in [1e-6, 1e-3, 1.0, 1e4].into_iter().enumerate() {
            for middle in [Vec3::ZERO, Vec3::new(3e3, 0.0, 2e3) * size] {
                let matrix3 = size * linear(3 + 12 * i as u32);
                let map = Affine3A { matrix3, translation: middle.into() };
                let center = map.transform_point3(if matches!(geometry, Geometry::Sphere { .. }) {
                    Vec3::ONE
                } else {
                    Vec3::ZERO
                });
                let eye = camera(center + 4.0 * size * Vec3::new(0.3, 0.5, 0.8), center, Vec3::Y, 30.0);
                let mut scene = description(24, eye, 0.5, Vec::new());
                scene.environment = Some(torrance_scene::Environment::Constant(Vec3::ONE));
                (scene.render.max_depth, scene.render.direct) = (2, Direct::Bsdf);
                scene.groups = vec![group(vec![geometry.clone()])];
                scene.instances = vec![Instance { group: 0, world_from_group: map }; 2];
                scene.instances[1].world_from_group.translation += Vec3A::splat(1e3 * size);
                let film = Machine::Cpu.render(&assembled(&scene), 16);
                let dark = film.pixels.iter().filter(|p| p.mean()[0] < 0.5 * (1.0 - 1e-6)).count();
                let seen = film.pixels.iter().filter(|p| p.mean()[0] < 0.9).count();
                assert!(seen >= 3, "{kind}: {seen} pixels see it, size {size}");
                assert_eq!(dark, 0, "{kind} of size {size} at {middle} shades itself");
            }
        }
    }
}
