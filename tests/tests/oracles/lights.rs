//! Light of every kind on a floor, against closed forms and quadrature in f64, by all ways to find it.

use std::f64::consts::PI;

use glam::{Affine3A, DMat3, DVec3, Mat3, Vec3};
use torrance_scene::{
    Bitmap, Description, Direct, Environment, Format, Geometry, Holes, Image, Material, MaterialKind, Portal,
    PunctualKind, PunctualLight, Scalar, Shape, SpotFalloff, TexelFilter, Texture, Wrap,
};
use torrance_tests::closed::{
    below_a_rectangle, camera, description, furnace, is_everywhere, is_within, lit_floor, pixel_means, shape,
};
use torrance_tests::{Machine, assembled, oracle};

const BOTH: [Direct; 2] = [Direct::Mis, Direct::Nee];
const ALL: [Direct; 3] = [Direct::Mis, Direct::Nee, Direct::Bsdf];

/// The floor of [`lit_floor`] in the dark, and its points.
fn floor() -> (Description, impl Fn(f64, f64) -> DVec3) {
    let (mut scene, point) = lit_floor(shape(Geometry::Quad, 0.0));
    scene.shapes.pop();
    (scene, point)
}

fn punctual(scene: &mut Description, kind: PunctualKind) {
    scene.lights.push(PunctualLight { name: "light".to_owned(), kind });
}

/// Tests a scene with each of some ways to find light.
fn with(name: &str, scene: &Description, ways: &[Direct], spp: u32, expected: &[f64]) {
    for direct in ways {
        let mut scene = scene.clone();
        scene.render.direct = *direct;
        let spp = if *direct == Direct::Bsdf { 16 * spp } else { spp };
        is_within(0.003, &format!("{name}, {direct:?}"), &scene, spp, &|i| expected[i]);
    }
}

const POSITION: Vec3 = Vec3::new(0.3, 1.2, -0.2);

/// cos θ / r² at a point of the floor below `POSITION`, and the direction from there.
fn from_above(p: DVec3) -> (f64, DVec3) {
    let d = p - POSITION.as_dvec3();
    (-d.y / d.length().powi(3), d.normalize())
}

#[test]
fn irradiance_from_a_point() {
    let (mut scene, point) = floor();
    punctual(&mut scene, PunctualKind::Point { position: POSITION, intensity: Vec3::splat(3.0) });
    let expected = pixel_means(&|x, y| 3.0 * from_above(point(x, y)).0);
    with("point", &scene, &BOTH, 256, &expected);
    // BSDF sampling never finds it.
    scene.render.direct = Direct::Bsdf;
    let film = Machine::Cpu.render(&assembled(&scene), 16);
    assert!(film.pixels.iter().all(|pixel| pixel.mean() == [0.0; 3]));
}

#[test]
fn irradiance_from_spots() {
    let direction = Vec3::new(-0.2, -1.0, 0.1).normalize();
    for falloff in [SpotFalloff::Smooth, SpotFalloff::Linear] {
        let (mut scene, point) = floor();
        let (inner, outer) = (5.0_f32, 25.0_f32);
        let intensity = Vec3::splat(3.0);
        punctual(
            &mut scene,
            PunctualKind::Spot { position: POSITION, direction, intensity, inner, outer, falloff },
        );
        let part = |w: DVec3| {
            let cos = w.dot(direction.as_dvec3());
            let [inner, outer] = [inner, outer].map(|a| f64::from(a).to_radians());
            match falloff {
                // KHR_lights_punctual, "Inner and Outer Cone Angles"; and Mitsuba's `spot`.
                SpotFalloff::Smooth => {
                    ((cos - outer.cos()) / (inner.cos() - outer.cos())).clamp(0.0, 1.0).powi(2)
                }
                SpotFalloff::Linear => ((outer - cos.acos()) / (outer - inner)).clamp(0.0, 1.0),
            }
        };
        let expected = pixel_means(&|x, y| {
            let (geometry, w) = from_above(point(x, y));
            3.0 * geometry * part(w)
        });
        with(&format!("spot, {falloff:?}"), &scene, &BOTH, 1024, &expected);
    }
}

/// Red light at points below Mitsuba 3.9.1's `spot` of 22° and 14°, from (3.5, 5, 4) towards (1.6, 0.3, 0) with 18.
#[test]
fn spots_are_those_of_the_field() {
    let position = Vec3::new(3.5, 5.0, 4.0);
    let direction = (Vec3::new(1.6, 0.3, 0.0) - position).normalize();
    let (mut scene, _) = floor();
    let kind = PunctualKind::Spot {
        position,
        direction,
        intensity: Vec3::splat(18.0),
        inner: 14.0,
        outer: 22.0,
        falloff: SpotFalloff::Linear,
    };
    punctual(&mut scene, kind);
    let data = assembled(&scene);
    // SAFETY: it is made of pointers, which may be null, and numbers.
    let view: device::scene::SceneView = unsafe { std::mem::zeroed() };
    for (p, expected) in [
        ([1.6, 0.3, 0.0], 0.431_655),
        ([1.2, 0.1, 0.2], 0.411_523),
        ([2.6, 0.3, 0.0], 0.462_725),
        ([3.3, 0.3, 0.0], 0.397_999),
        ([4.0, 0.3, 2.0], 0.0),
    ] {
        // SAFETY: a spot reads nothing of the scene.
        let sample =
            unsafe { data.lights[0].sample::<device::features::Full>(&view, 0, Vec3::from(p), [0; 3]) };
        let found = sample.map_or(0.0, |s| s.li.x);
        assert!((found - expected).abs() < 1e-4, "{p:?}: {found}, not {expected}");
    }
}

#[test]
fn irradiance_from_directions() {
    let direction = Vec3::new(0.3, -0.8, 0.4);
    let cos = -f64::from(direction.normalize().y);
    for (diameter, ways) in [(0.0, &BOTH[..]), (0.5, &BOTH[..]), (40.0, &ALL[..])] {
        let (mut scene, _) = floor();
        let irradiance = Vec3::splat(2.0);
        punctual(&mut scene, PunctualKind::Directional { direction, irradiance, diameter });
        // All of the disk is above the horizon.
        let expected = vec![2.0 * cos / PI; 256];
        with(&format!("directional of {diameter}°"), &scene, ways, 2048, &expected);
    }
}

/// A disk of light in the sky is seen, as bright as its irradiance says.
#[test]
fn suns_are_seen() {
    let up = camera(Vec3::ZERO, Vec3::Y, Vec3::Z, 30.0);
    let mut scene = description(16, up, 0.5, vec![]);
    let (direction, irradiance, diameter) = (-Vec3::Y, Vec3::splat(2.0), 60.0);
    punctual(&mut scene, PunctualKind::Directional { direction, irradiance, diameter });
    is_everywhere("a sun overhead", &scene, 4, &|_| 2.0 / (PI * 0.25));
}

/// Irradiance of the floor by midpoints over a surface: position and normal, with radiance 1 and an area of `da`.
fn by_quadrature(points: &[(DVec3, DVec3)], da: f64) -> impl Fn(DVec3) -> f64 {
    move |p| {
        let of = |(q, n): &(DVec3, DVec3)| {
            let d = q - p;
            let (r2, w) = (d.length_squared(), d.normalize());
            (-n.dot(w)).max(0.0) * w.y.max(0.0) / r2
        };
        da * points.iter().map(of).sum::<f64>()
    }
}

#[test]
fn irradiance_from_a_disk() {
    let mut light = shape(Geometry::Disk, 3.0);
    // An ellipse, tilted, and in one of the two a mirror image.
    for mirror in [1.0, -1.0] {
        light.world_from_object = Affine3A::from_translation(Vec3::new(0.4, 1.5, -0.3))
            * Affine3A::from_rotation_x(1.9)
            * Affine3A::from_scale(Vec3::new(mirror * 0.8, 0.5, 1.0));
        let m = light.world_from_object;
        const N: usize = 48;
        let mut points = Vec::new();
        for i in 0..N {
            for j in 0..2 * N {
                let (r, phi) = (((i as f64 + 0.5) / N as f64).sqrt(), PI * (j as f64 + 0.5) / N as f64);
                let p = Vec3::new((r * phi.cos()) as f32, (r * phi.sin()) as f32, 0.0);
                let n = Mat3::from(m.matrix3).inverse().transpose() * Vec3::Z;
                points.push((m.transform_point3(p).as_dvec3(), n.as_dvec3().normalize()));
            }
        }
        let irradiance = by_quadrature(&points, PI * 0.8 * 0.5 / points.len() as f64);
        let (scene, point) = lit_floor(light.clone());
        let expected = pixel_means(&|x, y| 3.0 * irradiance(point(x, y)));
        with(&format!("disk, mirrored {mirror}"), &scene, &ALL, 4096, &expected);
    }
}

#[test]
fn irradiance_from_a_cylinder() {
    let (from, to, radius) = (Vec3::new(-0.6, 0.9, 0.2), Vec3::new(0.5, 1.3, -0.4), 0.15);
    const N: usize = 48;
    let axis = (to - from).as_dvec3();
    let x = axis.normalize().any_orthonormal_vector();
    let y = axis.normalize().cross(x);
    let mut points = Vec::new();
    for i in 0..2 * N {
        for j in 0..N {
            let phi = 2.0 * PI * (j as f64 + 0.5) / N as f64;
            let n = phi.cos() * x + phi.sin() * y;
            let along = (i as f64 + 0.5) / (2 * N) as f64;
            points.push((from.as_dvec3() + along * axis + f64::from(radius) * n, n));
        }
    }
    let area = 2.0 * PI * f64::from(radius) * axis.length();
    let irradiance = by_quadrature(&points, area / points.len() as f64);
    let (scene, point) = lit_floor(shape(Geometry::Cylinder { from, to, radius }, 3.0));
    let expected = pixel_means(&|x, y| 3.0 * irradiance(point(x, y)));
    with("cylinder", &scene, &ALL, 4096, &expected);
}

/// A rectangle above the floor, and its corners by x and z in [−1, 1].
fn rectangle() -> (Shape, impl Fn(f64, f64) -> DVec3) {
    let mut light = shape(Geometry::Quad, 3.0);
    light.world_from_object = Affine3A::from_translation(Vec3::new(0.3, 1.0, -0.2))
        * Affine3A::from_rotation_x(PI as f32 / 2.0)
        * Affine3A::from_scale(Vec3::new(0.8, 0.5, 1.0));
    (light, |x: f64, z: f64| DVec3::new(0.3 + 0.8 * x, 1.0, -0.2 + 0.5 * z))
}

#[test]
fn irradiance_from_a_texture() {
    let (mut light, corner) = rectangle();
    light.emission.texture = 0;
    let (mut scene, point) = lit_floor(light);
    // The left half of the rectangle shines with 0.2 of the right half.
    let texels = [0.2_f32, 1.0].into_iter().flat_map(|x| [x.to_bits(); 3]).collect();
    scene.images.push(Image::new(2, 1, Format::RgbF32, texels));
    let bitmap = Bitmap { filter: TexelFilter::Nearest, wrap: [Wrap::Clamp; 2], ..Bitmap::new(0) };
    scene.textures.push(Texture::Bitmap(bitmap));
    let half =
        |from: f64, to: f64| [corner(from, -1.0), corner(to, -1.0), corner(to, 1.0), corner(from, 1.0)];
    let (left, right) = (half(-1.0, 0.0), half(0.0, 1.0));
    let expected = |bright: f64| {
        pixel_means(&|x, y| {
            let from = |polygon: &[DVec3]| oracle::irradiance_from_polygon(point(x, y), DVec3::Y, polygon);
            3.0 * (0.2 * from(&left) + bright * from(&right))
        })
    };
    with("textured", &scene, &ALL, 8192, &expected(1.0));
    let film = Machine::Cpu.render(&assembled(&scene), 4096);
    let mean = film.pixels.iter().map(|pixel| pixel.mean()[0]).sum::<f64>() / 256.0;
    let wrong = expected(0.97).iter().sum::<f64>() / 256.0;
    assert!((mean / wrong - 1.0).abs() > 0.01, "control: the right half 3 % darker");
}

/// Half of a light is there: half of its light is, however it is found.
#[test]
fn irradiance_through_holes() {
    let (mut light, corner) = rectangle();
    light.material = 1;
    let (mut scene, point) = lit_floor(light);
    let mut holes = scene.materials[0].clone();
    holes.opacity.value = 0.4;
    scene.materials.push(holes);
    let polygon = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    let expected =
        pixel_means(&|x, y| 0.4 * 3.0 * oracle::irradiance_from_polygon(point(x, y), DVec3::Y, &polygon));
    with("with holes", &scene, &ALL, 8192, &expected);
}

/// A sphere within two that are all hole: light from around them passes two holes to it, and takes one segment more to
/// the camera, so that where holes scatter it takes paths of four.
#[test]
fn holes_are_nothing_or_scatter() {
    let sphere =
        |radius| Shape { material: 1, ..shape(Geometry::Sphere { center: Vec3::ZERO, radius }, 0.0) };
    let mut scene = furnace(0.5, Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    scene.camera = camera(Vec3::Z * 1.5, Vec3::ZERO, Vec3::Y, 20.0);
    scene.shapes.extend([sphere(2.0), sphere(3.0)]);
    let opacity = Scalar::new(0.0);
    scene.materials.push(Material { opacity, ..scene.materials[0].clone() });
    let is_dark = |scene: &Description| {
        let film = Machine::Cpu.render(&assembled(scene), 16);
        film.pixels.iter().all(|pixel| pixel.mean() == [0.0; 3])
    };
    for (holes, max_depth) in [(Holes::Pass, 2), (Holes::Scatter, 4)] {
        (scene.render.holes, scene.render.max_depth) = (holes, max_depth);
        with(&format!("{holes:?}"), &scene, &ALL, 1024, &[0.5; 256]);
        scene.render.max_depth -= 1;
        assert!(is_dark(&scene), "{holes:?}, paths that are too short");
    }
    // From a direction, light comes through only where holes are nothing.
    scene.environment = None;
    let (direction, irradiance) = (Vec3::NEG_Z, Vec3::ONE);
    punctual(&mut scene, PunctualKind::Directional { direction, irradiance, diameter: 0.0 });
    scene.render.max_depth = 8;
    for (holes, expected) in [(Holes::Pass, false), (Holes::Scatter, true)] {
        scene.render.holes = holes;
        assert_eq!(is_dark(&scene), expected, "{holes:?}");
    }
}

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
    with("behind a lamp", &scene, &ALL, 2048, &[0.4; 256]);
    // Behind a hole as well, but where that counts as scattering: there the black back of the lamp is seen.
    let mut sheet = Shape { world_from_object: before(8.0), material: 2, ..shape(Geometry::Quad, 0.0) };
    scene.shapes.push(sheet.clone());
    with("behind a hole", &scene, &ALL, 2048, &[0.4; 256]);
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

/// A lamp of which nothing is there but its light: the floor is lit as by any, and what is behind it is seen, with what it
/// emits.
#[test]
fn lamps_of_nothing_shine() {
    let (mut scene, expected) = below_a_rectangle();
    let hole = Material { opacity: Scalar::new(0.0), ..Material::new("", MaterialKind::diffuse(Vec3::ZERO)) };
    scene.materials.push(Material { holes_emit: true, ..hole });
    scene.shapes[1].material = scene.materials.len() - 1;
    with("a lamp of nothing", &scene, &ALL, 1024, &expected);
    // Through it the sky is seen, which it adds to.
    let eye = camera(Vec3::new(0.0, 0.0, 4.0), Vec3::ZERO, Vec3::Y, 1.0);
    let mut scene = description(16, eye, 0.0, vec![shape(Geometry::Quad, 3.0)]);
    scene.environment = Some(Environment::Constant(Vec3::ONE));
    scene.materials[0].opacity = Scalar::new(0.25);
    let seen = |scene: &Description| {
        let film = Machine::Cpu.render(&assembled(scene), 4096);
        film.pixels.iter().map(|pixel| pixel.mean()[0]).sum::<f64>() / film.pixels.len() as f64
    };
    assert!((seen(&scene) - (0.25 * 3.0 + 0.75)).abs() < 0.01);
    scene.materials[0].holes_emit = true;
    assert!((seen(&scene) - (3.0 + 0.75)).abs() < 0.01);
}
