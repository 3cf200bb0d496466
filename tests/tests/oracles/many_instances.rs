//! A forest: more triangles than memory could hold one by one.

use device::shape::Kind;
use glam::{Affine3A, Quat, Vec3};
use torrance_scene::{Description, Environment, Geometry, Group, Instance, TriangleMesh};
use torrance_tests::closed::{camera, description, octahedron_sphere, shape};
use torrance_tests::{assembled, machines};

/// `side`² instances of a bumpy ball of 4ⁿ·8 triangles, on a plain.
fn plain(side: u32, subdivisions: usize) -> Description {
    let eye = camera(Vec3::new(0.0, 0.2 * side as f32, side as f32), Vec3::ZERO, Vec3::Y, 60.0);
    let mut scene = description(48, eye, 0.5, Vec::new());
    scene.environment = Some(Environment::Constant(Vec3::ONE));
    scene.render.max_depth = 4;
    let ball: TriangleMesh = octahedron_sphere(subdivisions);
    let shapes = vec![shape(Geometry::Mesh(ball.into()), 0.0)];
    scene.groups = vec![Group { name: String::new(), shapes }];
    let place = |i: u32| {
        let (x, z) = ((i % side) as f32, (i / side) as f32);
        let at = 2.0 * Vec3::new(x, 0.0, z) - Vec3::new(side as f32, 0.0, side as f32);
        let size = Vec3::new(0.5, 0.3 + 0.2 * (x + 0.7 * z).sin(), 0.5);
        let turned = Quat::from_rotation_y(x * 1.3 + z);
        Instance { group: 0, world_from_group: Affine3A::from_scale_rotation_translation(size, turned, at) }
    };
    scene.instances = (0..side * side).map(place).collect();
    scene
}

/// 10⁵ instances of 32 768 triangles: 3·10⁹ of them are seen, and 128 bytes an instance are enough.
#[test]
fn a_hundred_thousand_instances_cost_little() {
    let one = assembled(&plain(1, 6)).stats;
    let many = assembled(&plain(320, 6));
    assert_eq!((many.stats.instances, many.stats.primitives[Kind::Triangle]), (102_400, 32_768));
    assert_eq!(many.stats.seen, 102_400 * 32_768);
    let each = (many.stats.bytes - one.bytes) as f64 / 102_400.0;
    println!("{} bytes for one, {each:.1} for each instance, trees in {:?}", one.bytes, many.stats.bvh_time);
    assert!(each <= 128.0, "{each} bytes an instance");
    for machine in machines() {
        let film = machine.render(&many, 4);
        assert_eq!(film.rejected(), 0);
        let mean: f64 = film.pixels.iter().map(|p| p.mean()[0]).sum::<f64>() / film.pixels.len() as f64;
        // The sky above, and below it what hides most of it from itself.
        assert!(mean > 0.4 && mean < 0.9, "{mean}");
    }
}
