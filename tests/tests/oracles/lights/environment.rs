//! Environment maps and portals.

use std::f64::consts::PI;

use glam::{Affine3A, DMat3, DVec3, Mat3, Vec3};
use torrance_scene::{
    Description, Environment, Format, Geometry, Holes, Image, Material, MaterialKind, Portal, Scalar, Shape,
};
use torrance_tests::closed::{camera, description, furnace, shape};
use torrance_tests::{Machine, assembled};

use super::{ALL, BOTH, floor, with};

/// An image of 8 by 5 texels with a brighter one, its values, and how it is turned.
fn sky(sun: f32) -> (Image, Vec<f64>, Mat3) {
    let values: Vec<f32> =
        (0..40).map(|i| if i == 11 { sun } else { 0.5 + (i * 7 % 5) as f32 * 0.2 }).collect();
    let texels = values.iter().flat_map(|x| [x.to_bits(); 3]).collect();
    let turn = Mat3::from_axis_angle(Vec3::new(2.0, 3.0, 6.0) / 7.0, 0.7);
    (Image::new(8, 5, Format::RgbF32, texels), values.into_iter().map(f64::from).collect(), turn)
}

/// Irradiance of a floor from that image, by midpoints.
fn irradiance_from_sky(values: &[f64], turn: DMat3) -> f64 {
    const N: usize = 800;
    let mut sum = 0.0;
    for j in 0..N {
        let v = (j as f64 + 0.5) / N as f64;
        for i in 0..2 * N {
            let u = (i as f64 + 0.5) / (2 * N) as f64;
            let (phi, theta) = (2.0 * PI * (u - 0.5), PI * v);
            let local = DVec3::new(theta.sin() * phi.sin(), theta.cos(), -theta.sin() * phi.cos());
            let cos = (turn * local).y;
            if cos <= 0.0 {
                continue;
            }
            let (x, y) = (u * 8.0 - 0.5, v * 4.0);
            let (x0, y0) = (x.floor(), y.floor());
            let texel =
                |dx: f64, dy: f64| values[(y0 + dy) as usize * 8 + (x0 + dx).rem_euclid(8.0) as usize];
            let row = |dy: f64| texel(0.0, dy) + (texel(1.0, dy) - texel(0.0, dy)) * (x - x0);
            sum += cos * theta.sin() * (row(0.0) + (row(1.0) - row(0.0)) * (y - y0));
        }
    }
    sum * 2.0 * PI * PI / (N * 2 * N) as f64
}

#[test]
fn irradiance_from_an_image() {
    let (image, values, turn) = sky(20.0);
    let (mut scene, _) = floor();
    scene.images.push(image);
    scene.environment =
        Some(Environment::Image { image: 0, scale: Vec3::splat(0.5), world_from_image: turn });
    let expected = 0.5 * irradiance_from_sky(&values, turn.as_dmat3());
    with("image", &scene, &ALL, 4096, &vec![expected / PI; 256]);
    // The other way round it is another.
    let other = 0.5 * irradiance_from_sky(&values, turn.transpose().as_dmat3());
    assert!((other / expected - 1.0).abs() > 0.05, "control: {other} {expected}");
}

/// A room of five walls, a floor, and a window in the wall towards +z.
fn room() -> (Description, Portal) {
    let wall = |transform: Affine3A| {
        let mut wall = shape(Geometry::Quad, 0.0);
        wall.world_from_object = transform;
        wall
    };
    let half = PI as f32 / 2.0;
    let at = |p: Vec3| Affine3A::from_translation(p);
    let front = |x: f32, y: f32, w: f32, h: f32| {
        wall(at(Vec3::new(x, y, 1.0)) * Affine3A::from_scale(Vec3::new(w, h, 1.0)))
    };
    let shapes = vec![
        wall(at(-Vec3::Y) * Affine3A::from_rotation_x(-half)),
        wall(at(Vec3::Y) * Affine3A::from_rotation_x(half)),
        wall(at(-Vec3::X) * Affine3A::from_rotation_y(half)),
        wall(at(Vec3::X) * Affine3A::from_rotation_y(-half)),
        wall(at(-Vec3::Z)),
        // Around a window of 0.6 by 0.5 in the middle.
        front(-0.65, 0.0, 0.35, 1.0),
        front(0.65, 0.0, 0.35, 1.0),
        front(0.0, -0.625, 0.3, 0.375),
        front(0.0, 0.625, 0.3, 0.375),
    ];
    let within = camera(Vec3::new(0.2, 0.3, 0.9), Vec3::new(-0.2, -0.5, -0.9), Vec3::Y, 70.0);
    let mut scene = description(16, within, 0.5, shapes);
    scene.render.max_depth = 4;
    // x × y of the edges points to −z, into the room.
    let portal = Portal {
        corner: Vec3::new(0.3, -0.25, 1.0),
        edges: [Vec3::new(-0.6, 0.0, 0.0), Vec3::new(0.0, 0.5, 0.0)],
    };
    (scene, portal)
}

/// A portal changes nothing but the noise: less of it than with the image alone.
#[test]
fn portals_find_the_window_of_a_room() {
    let (mut scene, portal) = room();
    let (image, _, turn) = sky(200.0);
    scene.images.push(image);
    scene.environment = Some(Environment::Image { image: 0, scale: Vec3::ONE, world_from_image: turn });
    for direct in BOTH {
        scene.render.direct = direct;
        let render = |portals: Vec<Portal>| {
            let scene = Description { portals, ..scene.clone() };
            let film = Machine::Cpu.render(&assembled(&scene), 2048);
            let pixels = film.pixels.iter();
            let (mean, variance) = pixels.fold((0.0, 0.0), |(mean, variance), pixel| {
                (mean + pixel.mean()[0] / 256.0, variance + pixel.stderr()[0].powi(2) / 256.0)
            });
            (mean, variance)
        };
        let ((plain, noisy), (through, quiet)) = (render(vec![]), render(vec![portal]));
        println!(
            "{direct:?}: {plain:.5} and {through:.5}, variances {noisy:.3e} and {quiet:.3e}: {:.1}",
            noisy / quiet
        );
        let error = ((noisy + quiet) / 256.0).sqrt();
        assert!((plain - through).abs() < 5.0 * error, "{plain} {through} ± {error}");
        assert!(noisy > 2.0 * quiet, "{noisy} {quiet}");
    }
}

/// Uniform light from an image is what it is from a constant.
#[test]
fn a_white_image_is_a_constant() {
    let (mut scene, _) = floor();
    scene.images.push(Image::new(3, 4, Format::RgbF32, vec![1.0_f32.to_bits(); 36].into()));
    scene.environment =
        Some(Environment::Image { image: 0, scale: Vec3::ONE, world_from_image: Mat3::IDENTITY });
    with("white image", &scene, &ALL, 512, &vec![1.0; 256]);
}

/// A sphere in the sky, and before it a lamp that shines on it as the sky does: where neither is seen, the sphere is as bright
/// as its paint, and beyond it all is black.
#[test]
fn hidden_lights_shine() {
    let mut scene = furnace(0.4, Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    scene.render.max_depth = 2;
    scene.render.hide_emitters = true;
    scene.camera = camera(Vec3::new(0.0, 0.0, 40.0), Vec3::ZERO, Vec3::Y, 1.0);
    let black = Material::new("black", MaterialKind::diffuse(Vec3::ZERO));
    let hole = Material { opacity: Scalar::new(0.0), ..black.clone() };
    scene.materials.extend([black, hole]);
    let before = |z: f32| Affine3A::from_translation(Vec3::new(0.0, 0.0, z));
    let turned = before(4.0) * Affine3A::from_rotation_y(std::f32::consts::PI);
    scene.shapes.push(Shape { world_from_object: turned, material: 1, ..shape(Geometry::Quad, 1.0) });
    // Samples of lights, most of which choose the lamp, are noisy.
    with("behind a lamp", &scene, &ALL, 16_384, &[0.4; 256]);
    // Behind a hole as well, but where that counts as scattering: there the black back of the lamp is seen.
    let mut sheet = Shape { world_from_object: before(8.0), material: 2, ..shape(Geometry::Quad, 0.0) };
    scene.shapes.push(sheet.clone());
    with("behind a hole", &scene, &ALL, 16_384, &[0.4; 256]);
    let mean = |scene: &Description| {
        let film = Machine::Cpu.render(&assembled(scene), 16);
        film.pixels.iter().map(|pixel| pixel.mean()[0]).sum::<f64>() / film.pixels.len() as f64
    };
    let mut shown = scene.clone();
    shown.render.holes = Holes::Scatter;
    assert_eq!(mean(&shown), 0.0);
    scene.render.hide_emitters = false;
    assert_eq!(mean(&scene), 0.0);
    // Beyond the scene, behind holes of both kinds, and in front of none.
    scene.shapes.clear();
    assert_eq!(mean(&scene), 1.0);
    sheet.world_from_object = before(30.0);
    scene.shapes.push(sheet);
    for holes in [Holes::Pass, Holes::Scatter] {
        (scene.render.hide_emitters, scene.render.holes) = (false, holes);
        assert_eq!(mean(&scene), 1.0);
        scene.render.hide_emitters = true;
        assert_eq!(mean(&scene), 0.0);
    }
}
