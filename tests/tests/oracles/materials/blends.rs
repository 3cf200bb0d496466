//! Blends of materials, and tints.

use glam::{Affine2, Vec2, Vec3};
use torrance_scene::{
    Color, ConductorMaterial, Description, Direct, Distribution, Environment, Facets, FovAxis, Geometry,
    Masking, Material, MaterialKind, Projection, Scalar, Texture, ThinDielectricMaterial, Tints,
};
use torrance_tests::closed::{camera, closed_surface, for_each_estimator, furnace, is_everywhere, is_within};
use torrance_tests::oracle;
use torrance_tests::oracle::G2;

use super::{behind_sheets, blend, closed_surfaces, diffuse, is_rejected, metal, pane, pattern, patterned};

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
