//! Holes, blends and the two sides of materials, in scenes with closed forms.

use std::sync::Arc;

use glam::{Affine2, Affine3A, DVec3, Vec2, Vec3};
use torrance_scene::{
    Bitmap, Blend, Channel, Color, ConductorMaterial, Description, DiffuseMaterial, Direct, Distribution,
    Environment, Facets, Format, FovAxis, Geometry, Image, Masking, Material, MaterialKind, PlasticMaterial,
    PrincipledMaterial, Projection, Scalar, Shape, SheenMaterial, TexelFilter, Texture,
    ThinDielectricMaterial, Tints, Wrap,
};
use torrance_tests::closed::{
    below_a_rectangle, below_a_sphere, camera, closed_surface, for_each_estimator, furnace, is_everywhere,
    is_within, lit_floor, octahedron_sphere, pixel_means, shape,
};
use torrance_tests::compare::{Reference, compare};
use torrance_tests::oracle::{self, G2};
use torrance_tests::{Machine, assembled, machines};

/// Pixels along a side of every image here.
const SIDE: usize = 16;

fn diffuse(reflectance: f32) -> Material {
    Material::new("diffuse", MaterialKind::diffuse(Vec3::splat(reflectance)))
}

/// A black sheet of which a part is there.
fn sheet(opacity: Scalar) -> Material {
    Material { opacity, ..diffuse(0.0) }
}

fn blend(materials: [u32; 2], weight: Scalar) -> Material {
    Material::new("blend", MaterialKind::Blend(Blend { materials, weight }))
}

/// A quad that faces up at a height, and reaches as far as counts.
fn level(y: f32, material: usize) -> Shape {
    let world_from_object = Affine3A::from_translation(y * Vec3::Y)
        * Affine3A::from_rotation_x(-std::f32::consts::FRAC_PI_2)
        * Affine3A::from_scale(Vec3::splat(40.0));
    Shape { material, world_from_object, ..shape(Geometry::Quad, 0.0) }
}

/// A square that fills the image, its front to the camera or its back, in a white furnace.
fn pane(materials: Vec<Material>, front: bool) -> Description {
    let mut scene = furnace(0.0, Geometry::Quad);
    let side = if front { 1.0 } else { -1.0 };
    let fov = 2.0 * 0.25_f32.atan().to_degrees();
    scene.camera = camera(4.0 * side * Vec3::Z, Vec3::ZERO, Vec3::Y, fov);
    scene.materials = materials;
    scene
}

/// A number in [0, 1] for every pixel, 0 and 1 among them.
fn pattern(pixel: usize) -> f32 {
    (pixel * 37 % 256) as f32 / 255.0
}

/// Adds a texture that has the [`pattern`] where [`pane`] fills the image.
fn patterned(scene: &mut Description) -> Scalar {
    // The v of a quad grows upwards, and the first row of an image is at v = 0.
    let texel = |i| pattern((SIDE - 1 - i / SIDE) * SIDE + i % SIDE).to_bits();
    let texels: Arc<[u32]> = (0..SIDE * SIDE).flat_map(|i| [texel(i); 3]).collect();
    let (width, height) = (SIDE as u32, SIDE as u32);
    scene.images.push(Image::new(width, height, Format::RgbF32, texels));
    scene.textures.push(Texture::Bitmap(Bitmap {
        image: scene.images.len() - 1,
        image_from_uv: Affine2::IDENTITY,
        wrap: [Wrap::Clamp; 2],
        channel: Channel::R,
        filter: TexelFilter::Nearest,
    }));
    Scalar { value: 1.0, texture: scene.textures.len() as u32 - 1 }
}

/// Whether an image is all black.
fn is_black(scene: &Description) -> bool {
    let black =
        |machine: Machine| machine.render(&assembled(scene), 64).pixels.iter().all(|p| p.mean() == [0.0; 3]);
    machines().into_iter().all(black)
}

/// Asserts that an image is not what is expected of every pixel.
fn is_rejected(name: &str, scene: &Description, spp: u32, expected: &dyn Fn(usize) -> f64) {
    let reference = Reference::exact(SIDE, (0..SIDE * SIDE).map(|i| [expected(i); 3]).collect());
    let difference = compare(&Machine::Cpu.render(&assembled(scene), spp), &reference, false);
    assert!(difference.mean > 0.005, "{name}: {difference:?}");
}

// Holes.

/// Closed convex surfaces of which a part is there. Radiance is the same everywhere inside, I = T + R·I with T = 1 − a
/// and R = a·ρ, so what leaves is R + T·I.
fn sieve(geometry: Geometry, opacity: f32, reflectance: f32) -> (Description, f64) {
    let mut scene = furnace(reflectance, geometry);
    scene.camera.projection = Projection::pinhole(16.0, FovAxis::Y);
    scene.materials[0].opacity = Scalar::new(opacity);
    let (t, r) = (f64::from(1.0 - opacity), f64::from(opacity * reflectance));
    (scene, r + t * t / (1.0 - r))
}

fn closed_surfaces() -> [Geometry; 3] {
    let sphere = Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 };
    [sphere, Geometry::Mesh(octahedron_sphere(2).into()), Geometry::Box]
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

/// A light behind `count` sheets, and what the camera sees of it.
fn behind_sheets(count: usize, opacity: f32) -> (Description, f64) {
    let mut scene = pane(vec![sheet(Scalar::new(opacity))], true);
    let at = |z: f32, scale: f32| {
        Affine3A::from_translation(Vec3::new(0.0, 0.0, z)) * Affine3A::from_scale(Vec3::splat(scale))
    };
    scene.environment = None;
    scene.materials.push(diffuse(0.0));
    let sheets = (0..count)
        .map(|i| Shape { world_from_object: at(-0.01 * i as f32, 8.0), ..shape(Geometry::Quad, 0.0) });
    scene.shapes = sheets.collect();
    scene.shapes.push(Shape { world_from_object: at(-5.0, 8.0), material: 1, ..shape(Geometry::Quad, 2.0) });
    (scene, 2.0 * f64::from(1.0 - opacity).powi(count as i32))
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
            let name = format!("{name} through sheets, {estimator}");
            is_within(0.006, &name, scene, spp, &|i| expected[i]);
        });
        let mut wrong = scene.clone();
        wrong.materials[1].opacity.value *= 1.02;
        is_rejected(name, &wrong, 4096, &|i| expected[i]);
    }
}

// Blends.

#[test]
fn blend_in_a_furnace() {
    let expected = 0.7 * 0.2 + 0.3 * 0.9;
    for geometry in closed_surfaces() {
        let mut scene = furnace(0.0, geometry);
        scene.camera.projection = Projection::pinhole(16.0, FovAxis::Y);
        scene.materials = vec![blend([1, 2], Scalar::new(0.3)), diffuse(0.2), diffuse(0.9)];
        for_each_estimator(&scene, |name, scene| {
            is_within(0.005, &format!("blend, {name}"), scene, 1024, &|_| expected);
        });
        let MaterialKind::Blend(parts) = &mut scene.materials[0].kind else { unreachable!() };
        parts.weight.value = 0.315;
        is_rejected("blend", &scene, 4096, &|_| expected);
    }
}

#[test]
fn blend_of_0_and_of_1() {
    for (weight, expected) in [(0.0, 0.2), (1.0, 0.9)] {
        let materials = vec![blend([1, 2], Scalar::new(weight)), diffuse(0.2), diffuse(0.9)];
        is_everywhere("blend of one", &pane(materials, true), 256, &|_| expected);
    }
}

#[test]
fn blend_within_a_closed_surface() {
    let mut scene = closed_surface(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    scene.materials = vec![blend([1, 2], Scalar::new(0.75)), diffuse(0.8), diffuse(0.4)];
    for_each_estimator(&scene, |name, scene| {
        is_within(0.004, &format!("closed sphere of a blend, {name}"), scene, 256, &|_| 1.0);
    });
    scene.materials[2] = diffuse(0.42);
    is_rejected("closed sphere of a blend", &scene, 512, &|_| 1.0);
}

/// As deep as blends may be inside one another, each with its own weight.
fn nested_blends() -> (Description, f64) {
    let mut materials = vec![blend([1, 2], Scalar::new(0.5)); 7];
    let mut expected = 0.0;
    let mut rest = 1.0;
    for i in 0..7_usize {
        let weight = [0.1, 0.35, 0.2, 0.5, 0.3, 0.25, 0.6][i];
        let (next, part) = (i as u32 + 1, i as u32 + 8);
        materials[i] = blend([next, part], Scalar::new(weight));
        expected += rest * f64::from(weight) * 0.1 * (i + 1) as f64;
        rest *= 1.0 - f64::from(weight);
    }
    materials.push(diffuse(0.95));
    materials.extend((1..=7).map(|i| diffuse(0.1 * i as f32)));
    (pane(materials, true), expected + rest * 0.95)
}

#[test]
fn blends_of_blends() {
    let (mut scene, expected) = nested_blends();
    for_each_estimator(&scene, |name, scene| {
        is_within(0.004, &format!("nested blends, {name}"), scene, 2048, &|_| expected);
    });
    scene.materials[7] = diffuse(0.85);
    is_rejected("nested blends", &scene, 4096, &|_| expected);
}

#[test]
fn blend_by_a_texture() {
    let mut scene = pane(vec![blend([1, 2], Scalar::new(0.0)), diffuse(0.2), diffuse(0.9)], true);
    let weight = patterned(&mut scene);
    scene.materials[0] = blend([1, 2], weight);
    let expected = |i| 0.2 + 0.7 * f64::from(pattern(i));
    for_each_estimator(&scene, |name, scene| {
        is_within(0.003, &format!("textured blend, {name}"), scene, 2048, &expected);
    });
    scene.materials[2] = diffuse(0.92);
    is_rejected("textured blend", &scene, 2048, &expected);
}

fn metal(alpha: f32) -> Material {
    let facets = Facets::new(Vec2::splat(alpha), Distribution::Ggx);
    let (eta, k) = (Vec3::ZERO, Vec3::ONE);
    Material::new("metal", MaterialKind::Conductor(ConductorMaterial::new(eta, k, facets)))
}

/// A thin pane of glass with a part of mirror, in front of a light: what it transmits at normal incidence, where
/// R = ((n − 1)/(n + 1))² at either face, and what is reflected to and fro between them adds up to T = (1 − R)/(1 + R).
#[test]
fn blend_of_glass_and_metal() {
    let glass = MaterialKind::ThinDielectric(ThinDielectricMaterial::new(1.5));
    let parts = [Material::new("glass", glass), metal(0.0)];
    let mut scene = behind_sheets(1, 1.0).0;
    scene.camera = camera(400.0 * Vec3::Z, Vec3::ZERO, Vec3::Y, 0.1);
    scene.materials[0] = blend([2, 3], Scalar::new(0.3));
    scene.materials.extend(parts);
    let expected = 2.0 * 0.7 * 0.96 / 1.04;
    for_each_estimator(&scene, |name, scene| {
        is_within(0.003, &format!("glass and metal, {name}"), scene, 2048, &|_| expected);
    });
    let MaterialKind::ThinDielectric(glass) = &mut scene.materials[2].kind else { unreachable!() };
    glass.ior = 1.6;
    is_rejected("glass and metal", &scene, 2048, &|_| expected);
}

/// The same pane with nothing but glass, tinted; and what it reflects of a light behind the camera, R·(1 + T²/(1 − R²)).
#[test]
fn tinted_glass() {
    const REFLECTION: f32 = 0.9;
    const TRANSMISSION: f32 = 0.3;
    let tints = Tints {
        reflection: Color::new(Vec3::splat(REFLECTION)),
        transmission: Color::new(Vec3::splat(TRANSMISSION)),
    };
    let glass = ThinDielectricMaterial::new(1.5);
    let of = |tints: Tints| {
        let mut scene = behind_sheets(1, 1.0).0;
        scene.camera = camera(400.0 * Vec3::Z, Vec3::ZERO, Vec3::Y, 0.1);
        scene.environment = Some(Environment::Constant(Vec3::ONE));
        scene.materials[0] = Material::new("glass", MaterialKind::ThinDielectric(glass.tinted(tints)));
        scene
    };
    let r = 0.04;
    let (transmitted, reflected) = (2.0 * (1.0 - r) / (1.0 + r), 2.0 * r / (1.0 + r));
    let expected = f64::from(TRANSMISSION) * transmitted + f64::from(REFLECTION) * reflected;
    for_each_estimator(&of(tints), |name, scene| {
        is_within(0.003, &format!("tinted glass, {name}"), scene, 2048, &|_| expected);
    });
    let swapped = Tints { reflection: tints.transmission, transmission: tints.reflection };
    for wrong in [Tints::NONE, swapped, Tints { reflection: Color::WHITE, ..tints }] {
        is_rejected("tinted glass", &of(wrong), 2048, &|_| expected);
    }
}

/// A mirror-like sphere in a white furnace is of its tint, also where a texture gives it.
#[test]
fn tinted_metal() {
    let facets = Facets::new(Vec2::splat(0.5), Distribution::Ggx);
    let mirror = |facets| ConductorMaterial::new(Vec3::ZERO, Vec3::ONE, facets);
    let textured = Color { value: Vec3::splat(0.8), texture: 0 };
    for (facets, tint, expected) in [
        (Facets::SMOOTH, Color::new(Vec3::splat(0.3)), 0.3),
        (Facets::SMOOTH, textured, 0.8 * 0.5),
        (facets, Color::new(Vec3::splat(0.3)), 0.3 * oracle::ggx_albedo(0.8, 0.5, G2::Correlated)),
    ] {
        let mut scene = furnace(0.0, Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
        // At 0.6 of the radius, where the cosine is 0.8.
        scene.camera = camera(Vec3::new(0.6, 0.0, 1000.0), Vec3::new(0.6, 0.0, 0.0), Vec3::Y, 1e-4);
        scene.render.direct = Direct::Bsdf;
        let colors = [Color::new(Vec3::splat(0.5)); 2];
        scene.textures = vec![Texture::Checker { squares_from_uv: Affine2::IDENTITY, colors }];
        let metal = |tints| Material::new("metal", MaterialKind::Conductor(mirror(facets).tinted(tints)));
        scene.materials[0] = metal(Tints { reflection: tint, ..Tints::NONE });
        is_within(0.003, "tinted metal", &scene, 4096, &|_| expected);
        scene.materials[0] = metal(Tints { transmission: tint, ..Tints::NONE });
        is_rejected("tinted metal", &scene, 4096, &|_| expected);
    }
}

/// Each path is weighed by the density of the lobe that it met, so that a mirror, a rough metal and paint mix.
#[test]
fn blend_of_rough_metal_and_paint() {
    let mut scene = furnace(0.0, Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    // From afar through a small window, so that the cosine is nearly one number: at 0.6 of the radius, 0.8.
    scene.camera = camera(Vec3::new(0.6, 0.0, 1000.0), Vec3::new(0.6, 0.0, 0.0), Vec3::Y, 1e-4);
    scene.materials = vec![
        blend([1, 4], Scalar::new(0.5)),
        blend([2, 3], Scalar::new(0.25)),
        diffuse(0.3),
        metal(0.0),
        metal(0.5),
    ];
    scene.render.masking = Masking::Correlated;
    let expected = 0.5 * (0.75 * 0.3 + 0.25) + 0.5 * oracle::ggx_albedo(0.8, 0.5, G2::Correlated);
    for_each_estimator(&scene, |name, scene| {
        if scene.render.direct != Direct::Nee {
            is_within(0.004, &format!("metal and paint, {name}"), scene, 4096, &|_| expected);
        }
    });
    scene.materials[4] = metal(0.6);
    is_rejected("metal and paint", &scene, 4096, &|_| expected);
}

// Fronts and backs.

#[test]
fn backs() {
    // A blend of which one part has a back, and a back that is a blend.
    let mut part = diffuse(0.2);
    part.back = Some(4);
    let mut whole = diffuse(0.6);
    whole.back = Some(0);
    let materials = vec![blend([1, 2], Scalar::new(0.25)), part, diffuse(0.9), whole, diffuse(0.5)];
    let blended = 0.75 * 0.2 + 0.25 * 0.9;
    for (material, front, expected) in [
        (0, true, blended),
        (0, false, 0.75 * 0.5 + 0.25 * 0.9),
        (1, true, 0.2),
        (1, false, 0.5),
        (3, true, 0.6),
        // What is on a back shows its own front there.
        (3, false, blended),
    ] {
        for flip_normals in [false, true] {
            let mut scene = pane(materials.clone(), front != flip_normals);
            (scene.shapes[0].material, scene.shapes[0].flip_normals) = (material, flip_normals);
            for_each_estimator(&scene, |name, scene| {
                let name = format!("material {material}, front {front}, flipped {flip_normals}, {name}");
                is_within(0.01, &name, scene, 512, &|_| expected);
            });
        }
    }
    let mut wrong = pane(materials, false);
    wrong.shapes[0].material = 3;
    is_rejected("the other side", &wrong, 1024, &|_| 0.6);
}

/// Inside of a closed surface, which has a material of its own there or is black.
#[test]
fn backs_of_a_closed_surface() {
    let mut scene = closed_surface(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    scene.shapes[0].flip_normals = false;
    scene.shapes[0].emission_two_sided = true;
    scene.materials = vec![Material { back: Some(1), two_sided: false, ..diffuse(0.9) }, diffuse(0.5)];
    is_everywhere("the back of a closed sphere", &scene, 2048, &|_| 1.0);
    scene.materials[0].back = None;
    is_everywhere("a black back", &scene, 64, &|_| 0.5);
}

/// A material of every kind that light does not pass.
fn opaque() -> Vec<Material> {
    let facets = Facets::new(Vec2::splat(0.3), Distribution::Ggx);
    let principled = PrincipledMaterial {
        base_color: Color::new(Vec3::new(0.7, 0.5, 0.2)),
        roughness: Scalar::new(0.5),
        anisotropic: Scalar::new(0.0),
        metallic: Scalar::new(0.3),
        spec_tint: Scalar::new(0.2),
        spec_trans: Scalar::new(0.0),
        flatness: Scalar::new(0.4),
        sheen: Scalar::new(0.5),
        sheen_tint: Scalar::new(0.5),
        clearcoat: Scalar::new(0.8),
        clearcoat_gloss: Scalar::new(0.7),
        eta: 1.5,
        masking: Masking::Correlated as u32,
        reserved: [0; 2],
    };
    let plastic = |facets| {
        MaterialKind::Plastic(PlasticMaterial {
            reflectance: Color::new(Vec3::new(0.1, 0.4, 0.6)),
            specular: Color::new(Vec3::ONE),
            facets,
            ior: 1.5,
            nonlinear: 1,
            coat: 0,
            internal_reflectance: PlasticMaterial::COMPUTED,
        })
    };
    let reflectance = Color::new(Vec3::splat(0.6));
    let clay = DiffuseMaterial { reflectance, roughness: Scalar::new(0.8), reserved: [0; 2] };
    let cloth =
        SheenMaterial { color: Color::new(Vec3::splat(0.9)), roughness: Scalar::new(0.4), reserved: [0; 2] };
    vec![
        diffuse(0.5),
        Material::new("clay", MaterialKind::Diffuse(clay)),
        metal(0.3),
        metal(0.0),
        Material::new("smooth plastic", plastic(Facets::SMOOTH)),
        Material::new("rough plastic", plastic(facets)),
        Material::new("cloth", MaterialKind::Sheen(cloth)),
        Material::new("principled", MaterialKind::Principled(principled)),
    ]
}

/// Seen straight on, the two sides of a square look alike, or the back is black.
#[test]
fn sides() {
    for material in opaque() {
        let seen = |two_sided, front| {
            let mut scene = pane(vec![Material { two_sided, ..material.clone() }], front);
            scene.render.seed += u32::from(!front);
            Machine::Cpu.render(&assembled(&scene), 1024)
        };
        let front = seen(true, true);
        assert_eq!(front, seen(false, true), "{}", material.name);
        assert!(front.pixels.iter().all(|p| p.mean()[1] > 0.0), "{}", material.name);
        let difference = compare(&seen(true, false), &Reference::film(&front), false);
        assert!(difference.agrees(), "{}: {difference:?}", material.name);
        assert!(is_black(&pane(vec![Material { two_sided: false, ..material.clone() }], false)));
    }
}

#[test]
fn control_sides_rejects_another_material() {
    let seen = |material, seed| {
        let mut scene = pane(vec![material], true);
        scene.render.seed = seed;
        Machine::Cpu.render(&assembled(&scene), 1024)
    };
    let front = seen(opaque().pop().unwrap(), 1);
    let mut wrong = opaque().pop().unwrap();
    let MaterialKind::Principled(PrincipledMaterial { metallic, .. }) = &mut wrong.kind else {
        unreachable!()
    };
    metallic.value = 0.4;
    let difference = compare(&seen(wrong, 2), &Reference::film(&front), false);
    assert!(!difference.agrees(), "{difference:?}");
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
