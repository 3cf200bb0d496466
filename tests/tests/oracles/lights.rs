//! Light of every kind on a floor, against closed forms and quadrature in f64, by all ways to find it.

mod environment;

use std::f64::consts::PI;

use device::material::texture::NO_TEXTURE;
use glam::{Affine3A, DVec3, Mat3, Vec3};
use torrance_scene::{
    Bitmap, Clip, Description, Direct, Environment, Format, Geometry, Holes, Image, Material, MaterialKind,
    PunctualKind, PunctualLight, Scalar, Shape, Slide, SpotFalloff, TexelFilter, Texture, Wrap,
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
        let (factor, tolerance) = match direct {
            Direct::Bsdf => (tier::choose(4, 16), tier::choose(0.006, 0.003)),
            _ => (1, 0.003),
        };
        is_within(tolerance, &format!("{name}, {direct:?}"), &scene, factor * spp, &|i| expected[i]);
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

/// A screen across the axis gets the same irradiance everywhere.
#[test]
fn irradiance_from_a_projector() {
    let direction = Vec3::new(-0.2, -1.0, 0.1).normalize();
    let (mut scene, point) = floor();
    let slide = Slide { texture: NO_TEXTURE, up: Vec3::Z };
    let (intensity, fov, aspect) = (Vec3::splat(3.0), 150.0, 1.25);
    punctual(
        &mut scene,
        PunctualKind::Projector { position: POSITION, direction, intensity, fov, aspect, slide },
    );
    let by_cosines = |power: i32| {
        let point = &point;
        pixel_means(&move |x, y| {
            let (geometry, w) = from_above(point(x, y));
            3.0 * geometry / w.dot(direction.as_dvec3()).powi(power)
        })
    };
    let expected = by_cosines(3);
    with("projector", &scene, &BOTH, 256, &expected);
    let differs = |other: Vec<f64>| other.iter().zip(&expected).any(|(a, b)| (a / b - 1.0).abs() > 0.01);
    assert!(differs(by_cosines(2)), "control: another power");
}

/// What is nearer or farther than the camera sees is there for light, but not for the eye.
#[test]
fn clipped_walls_are_not_seen() {
    let wall = |z: f32, emission: f32| {
        let mut wall: Shape = shape(Geometry::Quad, emission);
        wall.emission_two_sided = true;
        wall.world_from_object =
            Affine3A::from_translation(Vec3::Z * z) * Affine3A::from_scale(Vec3::splat(9.0));
        wall
    };
    let walls = vec![wall(2.0, 1.0), wall(0.0, 2.0)];
    let mut scene = description(8, camera(Vec3::Z * 4.0, Vec3::ZERO, Vec3::Y, 60.0), 0.0, walls);
    scene.environment = Some(Environment::Constant(Vec3::splat(4.0)));
    for ([near, far], expected) in [
        ([0.0, 1e10], 1.0),
        ([1.9, 4.1], 1.0),
        ([2.1, 1e10], 2.0),
        ([2.1, 3.9], 4.0),
        ([0.0, 1.9], 4.0),
        ([4.1, 1e4], 4.0),
    ] {
        scene.camera.clip = Clip { near, far };
        is_within(1e-6, &format!("{near} to {far}"), &scene, 16, &|_| expected);
    }
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
            PunctualKind::Spot {
                position: POSITION,
                direction,
                intensity,
                inner,
                outer,
                falloff,
                slide: None,
            },
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
        slide: None,
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
            unsafe { data.lights.all[0].sample::<device::features::Full>(&view, 0, Vec3::from(p), [0; 3]) };
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
