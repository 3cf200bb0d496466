//! Surfaces with holes.

use std::sync::Arc;

use glam::{Affine2, Affine3A, DVec3, Vec2, Vec3};
use torrance_scene::{
    Bitmap, Channel, Description, Direct, Format, FovAxis, Geometry, Image, Material, MaterialKind,
    Projection, Scalar, Shape, TexelFilter, Texture, ThinDielectricMaterial, Wrap,
};
use torrance_tests::closed::{
    below_a_rectangle, below_a_sphere, for_each_estimator, furnace, is_everywhere, is_within, lit_floor,
    pixel_means, shape,
};
use torrance_tests::compare::{Reference, compare};
use torrance_tests::{Machine, assembled, oracle};

use super::{
    SIDE, behind_sheets, closed_surfaces, is_black, is_rejected, level, pane, pattern, patterned, sheet,
};

/// Closed convex surfaces of which a part is there. Radiance is the same everywhere inside, I = T + R·I with T = 1 − a
/// and R = a·ρ, so what leaves is R + T·I.
fn sieve(geometry: Geometry, opacity: f32, reflectance: f32) -> (Description, f64) {
    let mut scene = furnace(reflectance, geometry);
    scene.camera.projection = Projection::pinhole(16.0, FovAxis::Y);
    scene.materials[0].opacity = Scalar::new(opacity);
    let (t, r) = (f64::from(1.0 - opacity), f64::from(opacity * reflectance));
    (scene, r + t * t / (1.0 - r))
}

#[test]
fn sieves_in_a_furnace() {
    for geometry in closed_surfaces() {
        let (scene, expected) = sieve(geometry.clone(), 0.7, 0.8);
        for_each_estimator(&scene, |name, scene| {
            is_within(0.005, &format!("sieve, {name}"), scene, 1024, &|_| expected);
        });
        let (white, expected) = sieve(geometry, 0.4, 1.0);
        assert!((expected - 1.0).abs() < 1e-6);
        is_everywhere("white sieve", &white, 4096, &|_| expected);
    }
}

#[test]
fn control_sieve_rejects_another_opacity() {
    for geometry in closed_surfaces() {
        let (_, expected) = sieve(geometry.clone(), 0.7, 0.8);
        let (wrong, _) = sieve(geometry, 0.6, 0.8);
        is_rejected("sieve", &wrong, 2048, &|_| expected);
    }
}

#[test]
fn sheets_multiply_and_are_no_bounces() {
    for count in 1..=3 {
        let (mut scene, expected) = behind_sheets(count, 0.3);
        for max_depth in [1, 8] {
            scene.render.max_depth = max_depth;
            for_each_estimator(&scene, |name, scene| {
                let name = format!("{count} sheets, depth {max_depth}, {name}");
                is_within(0.006, &name, scene, 1024, &|_| expected);
            });
        }
        let (wrong, _) = behind_sheets(count, 0.3 * 1.02);
        is_rejected("sheets", &wrong, 4096, &|_| expected);
    }
}

#[test]
fn sheets_that_are_there_or_not() {
    let (scene, expected) = behind_sheets(3, 0.0);
    is_everywhere("no sheets", &scene, 16, &|_| expected);
    assert!(is_black(&behind_sheets(1, 1.0).0));
}

/// Paths end in front of the 256th hole in a row, where few can be in doubt of what they miss.
#[test]
fn sheets_beyond_number_end_paths() {
    let (scene, expected) = behind_sheets(255, 1e-6);
    is_everywhere("255 sheets", &scene, 64, &|_| expected);
    for count in [256, 300] {
        assert!(is_black(&behind_sheets(count, 1e-6).0), "{count} sheets");
    }
}

#[test]
fn opacity_from_a_texture() {
    let mut scene = pane(vec![sheet(Scalar::new(0.0))], true);
    scene.materials[0].opacity = patterned(&mut scene);
    let expected = |i| 1.0 - f64::from(pattern(i));
    for_each_estimator(&scene, |name, scene| {
        is_within(0.005, &format!("textured opacity, {name}"), scene, 2048, &expected);
    });
    let image_from_uv = Affine2::from_scale(Vec2::NEG_ONE);
    scene.textures[0] = Texture::Bitmap(Bitmap {
        image_from_uv,
        channel: Channel::R,
        filter: TexelFilter::Nearest,
        ..Bitmap::new(0)
    });
    let reference = Reference::exact(SIDE, (0..SIDE * SIDE).map(|i| [expected(i); 3]).collect());
    let turned = compare(&Machine::Cpu.render(&assembled(&scene), 256), &reference, false);
    assert!(turned.z_rms > 5.0, "{turned:?}");
}

/// Texels beyond [0, 1], as files of floats can hold, count as 0 and 1.
#[test]
fn opacity_beyond_its_range() {
    let (lit, expected) = under_sheets(small_light());
    for (factor, transmitted) in [(-3.0, 1.0), (500.0, 0.0)] {
        let mut scene = lit.clone();
        let texels = Arc::from([1.0_f32.to_bits(); 3]);
        scene.images.push(Image::new(1, 1, Format::RgbF32, texels));
        scene.textures.push(Texture::Bitmap(Bitmap {
            image: 0,
            image_from_uv: Affine2::IDENTITY,
            wrap: [Wrap::Clamp; 2],
            channel: Channel::R,
            filter: TexelFilter::Nearest,
        }));
        // The last sheet alone, which is between the floor and the light.
        scene.shapes[2].material = 2;
        scene.materials.push(sheet(Scalar { value: factor, texture: 0 }));
        if transmitted == 0.0 {
            assert!(is_black(&scene));
        } else {
            let expected = |i: usize| expected[i] * transmitted / (1.0 - f64::from(OPACITY));
            is_within(0.005, "opacity below 0", &scene, 2048, &expected);
        }
    }
}

/// Opacity of the sheets over a lit floor.
const OPACITY: f32 = 0.4;

/// The floor and its light with black sheets between camera and floor, two, of which one is also below the light's
/// sphere or plane, and one around the light if it is small.
fn under_sheets((mut scene, expected): (Description, Vec<f64>)) -> (Description, Vec<f64>) {
    scene.materials.push(sheet(Scalar::new(OPACITY)));
    scene.shapes.insert(1, level(0.25, 1));
    scene.shapes.insert(2, level(0.65, 1));
    // The camera at 0.5 sees the floor through one, the light shines through both.
    let transmitted = f64::from(1.0 - OPACITY).powi(3);
    (scene, expected.into_iter().map(|x| x * transmitted).collect())
}

/// A floor below a small square that shines.
fn small_light() -> (Description, Vec<f64>) {
    let mut light = shape(Geometry::Quad, 50.0);
    light.world_from_object = Affine3A::from_translation(Vec3::new(0.2, 1.6, -0.1))
        * Affine3A::from_rotation_x(std::f32::consts::FRAC_PI_2)
        * Affine3A::from_scale(Vec3::splat(0.2));
    let corner = |x, z| DVec3::new(0.2 + 0.2 * x, 1.6, -0.1 + 0.2 * z);
    let polygon = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    let (scene, point) = lit_floor(light);
    let expected =
        pixel_means(&|x, y| 50.0 * oracle::irradiance_from_polygon(point(x, y), DVec3::Y, &polygon));
    (scene, expected)
}

/// The same in a bulb of frosted glass, as it were: a sphere of which a part is there.
fn bulb() -> (Description, Vec<f64>) {
    let (mut scene, expected) = small_light();
    let sphere = Geometry::Sphere { center: Vec3::new(0.2, 1.6, -0.1), radius: 0.5 };
    scene.shapes.push(Shape { material: 1, ..shape(sphere, 0.0) });
    let transmitted = f64::from(1.0 - OPACITY);
    (scene, expected.into_iter().map(|x| x * transmitted).collect())
}

#[test]
fn light_through_sheets() {
    for (name, lit) in [
        ("rectangle", below_a_rectangle()),
        ("sphere", below_a_sphere()),
        ("small light", small_light()),
        ("bulb", bulb()),
    ] {
        let is_small = name == "small light" || name == "bulb";
        let (scene, expected) = under_sheets(lit);
        for_each_estimator(&scene, |estimator, scene| {
            // What few paths find takes others long.
            if is_small && scene.render.direct == Direct::Bsdf {
                return;
            }
            let spp = if scene.render.direct == Direct::Bsdf { 8192 } else { 2048 };
            let (most, spp) = tier::choose((0.012, spp / 4), (0.006, spp));
            let name = format!("{name} through sheets, {estimator}");
            is_within(most, &name, scene, spp, &|i| expected[i]);
        });
        let mut wrong = scene.clone();
        wrong.materials[1].opacity.value *= 1.02;
        is_rejected(name, &wrong, 4096, &|i| expected[i]);
    }
}

/// A bubble of glass with holes.
#[test]
fn glass_with_holes_conserves_light() {
    let glass = MaterialKind::ThinDielectric(ThinDielectricMaterial::new(1.5));
    let glass = Material { opacity: Scalar::new(0.6), ..Material::new("glass", glass) };
    let mut scene = furnace(0.0, Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    scene.materials = vec![glass];
    for_each_estimator(&scene, |name, scene| {
        is_everywhere(&format!("glass with holes, {name}"), scene, 256, &|_| 1.0);
    });
}
