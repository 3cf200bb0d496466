//! The whole renderer against closed forms and quadrature.

use glam::{Affine3A, Vec2, Vec3};
use torrance_scene::{
    Bitmap, Color, ConductorMaterial, Description, DielectricMaterial, DiffuseMaterial, Direct, Distribution,
    Environment, Facets, Format, Geometry, Image, InvalidNormals, Masking, MaterialKind, NormalMap,
    NormalMapKind, Sampler, Shape, TexelFilter, Texture,
};
use torrance_tests::closed::{
    self, below_a_rectangle, below_a_sphere, camera, closed_surface, description, for_each_estimator,
    furnace, is_everywhere, octahedron_sphere, shape,
};
use torrance_tests::compare::{Reference, compare};
use torrance_tests::oracle::{self, G2};
use torrance_tests::tampered::{self, Mistake};
use torrance_tests::{assembled, machines};

fn frosted(ior: f32, alpha: f32) -> DielectricMaterial {
    let facets = Facets::new(Vec2::splat(alpha), Distribution::Ggx);
    DielectricMaterial::new(ior, facets)
}

#[test]
fn closed_sphere() {
    let scene = closed_surface(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    for_each_estimator(&scene, |name, scene| {
        is_everywhere(&format!("closed sphere, {name}"), scene, 2048, &|_| 1.0);
    });
}

#[test]
fn closed_sphere_of_triangles() {
    let scene = closed_surface(Geometry::Mesh(octahedron_sphere(3).into()));
    for_each_estimator(&scene, |name, scene| {
        is_everywhere(&format!("closed mesh, {name}"), scene, 2048, &|_| 1.0);
    });
}

#[test]
fn closed_sphere_with_russian_roulette() {
    let mut scene = closed_surface(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    scene.render.rr_depth = Some(1);
    is_everywhere("closed sphere, roulette", &scene, 4096, &|_| 1.0);
}

#[test]
fn closed_sphere_cut_off() {
    let mut scene = closed_surface(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    for max_depth in 1..6 {
        scene.render.max_depth = max_depth;
        let expected = 1.0 - 0.5_f64.powi(max_depth as i32);
        is_everywhere(&format!("closed sphere, depth {max_depth}"), &scene, 1024, &|_| expected);
    }
}

/// What light brings that has scattered n times is 2⁻ⁿ⁻¹, of which the camera sees all for n < 2, and no more than the limit beyond.
#[test]
fn closed_sphere_with_clamped_light() {
    let mut scene = closed_surface(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    (scene.render.direct, scene.render.rr_depth) = (Direct::Bsdf, None);
    for most in [1.0, 0.1, 0.05, 0.001] {
        scene.render.clamp_indirect = Some(most);
        let brought = |n: u32| 0.5_f64.powi(n as i32 + 1);
        let most = f64::from(most);
        let expected =
            (0..scene.render.max_depth).map(|n| if n < 2 { brought(n) } else { brought(n).min(most) }).sum();
        is_everywhere(&format!("closed sphere, clamped to {most}"), &scene, 64, &|_| expected);
    }
}

/// Whatever the estimator, next to nothing is left of indirect light.
#[test]
fn closed_sphere_without_indirect_light() {
    let mut scene = closed_surface(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    scene.render.clamp_indirect = Some(1e-6);
    for_each_estimator(&scene, |name, scene| {
        is_everywhere(&format!("closed sphere, clamped, {name}"), scene, 2048, &|_| 0.75);
    });
}

#[test]
fn control_closed_sphere_rejects_pdf_off_by_2_percent() {
    let scene = assembled(&closed_surface(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 }));
    let reference = Reference::exact(16, vec![[1.0; 3]; 256]);
    let right = compare(&tampered::render(&scene, 1024, Mistake::BsdfPdf(1.0)), &reference, false);
    let wrong = compare(&tampered::render(&scene, 1024, Mistake::BsdfPdf(1.02)), &reference, false);
    assert!(right.mean < closed::tolerance() && wrong.mean > closed::tolerance(), "{right:?} {wrong:?}");
}

#[test]
fn irradiance_from_a_rectangle() {
    let (scene, expected) = below_a_rectangle();
    for_each_estimator(&scene, |name, scene| {
        let spp = if scene.render.direct == Direct::Bsdf { 65536 } else { 8192 };
        is_everywhere(&format!("rectangle, {name}"), scene, spp, &|i| expected[i]);
    });
}

#[test]
fn irradiance_from_a_sphere() {
    let (scene, expected) = below_a_sphere();
    for_each_estimator(&scene, |name, scene| {
        let spp = if scene.render.direct == Direct::Bsdf { 65536 } else { 4096 };
        is_everywhere(&format!("sphere light, {name}"), scene, spp, &|i| expected[i]);
    });
}

/// The scene with all lengths multiplied. Radiance does not change by that.
fn scaled(mut scene: Description, factor: f32) -> Description {
    scene.camera.position *= factor;
    scene.camera.target *= factor;
    for shape in &mut scene.shapes {
        shape.world_from_object = Affine3A::from_scale(Vec3::splat(factor)) * shape.world_from_object;
    }
    scene
}

#[test]
fn scale_changes_nothing() {
    for factor in [1e-4, 1e4] {
        for geometry in [
            Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 },
            Geometry::Mesh(octahedron_sphere(3).into()),
            Geometry::Box,
        ] {
            let scene = scaled(closed_surface(geometry), factor);
            is_everywhere(&format!("closed surface scaled by {factor}"), &scene, 2048, &|_| 1.0);
        }
        for (scene, expected) in [below_a_rectangle(), below_a_sphere()] {
            let name = format!("lit floor scaled by {factor}");
            is_everywhere(&name, &scaled(scene, factor), 8192, &|i| expected[i]);
        }
    }
}

#[test]
fn control_irradiance_rejects_a_light_1_percent_too_large() {
    for factor in [1e-4, 1.0, 1e4] {
        for (scene, expected) in [below_a_rectangle(), below_a_sphere()] {
            let mut scene = scaled(scene, factor);
            match &mut scene.shapes[1] {
                Shape { geometry: Geometry::Sphere { radius, .. }, .. } => *radius *= 1.01,
                light => light.world_from_object *= Affine3A::from_scale(Vec3::splat(1.01)),
            }
            let film = torrance_tests::Machine::Cpu.render(&assembled(&scene), 2048);
            let reference = Reference::exact(16, expected.into_iter().map(|x| [x; 3]).collect());
            let difference = compare(&film, &reference, false);
            assert!(difference.mean > closed::tolerance(), "{factor}: {difference:?}");
        }
    }
}

#[test]
fn white_furnace() {
    for geometry in [
        Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 },
        Geometry::Mesh(octahedron_sphere(4).into()),
        Geometry::Box,
    ] {
        for_each_estimator(&furnace(1.0, geometry), |name, scene| {
            is_everywhere(&format!("white furnace, {name}"), scene, 4096, &|_| 1.0);
        });
    }
}

#[test]
fn control_white_furnace_rejects_a_grey_wall() {
    let scene = assembled(&furnace(0.98, Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 }));
    let film = torrance_tests::Machine::Cpu.render(&scene, 256);
    assert!(compare(&film, &Reference::exact(16, vec![[1.0; 3]; 256]), false).mean > closed::tolerance());
}

/// Radiance of a mirror-like rough sphere in a white furnace is its directional albedo.
fn conductor_furnace(alpha: f32, masking: Masking) -> Description {
    let mut scene = furnace(1.0, Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    // From afar through a small window, so that the cosine is nearly one number: at 0.6 of the radius, 0.8.
    scene.camera = camera(Vec3::new(0.6, 0.0, 1000.0), Vec3::new(0.6, 0.0, 0.0), Vec3::Y, 1e-4);
    let facets = Facets::new(Vec2::splat(alpha), Distribution::Ggx);
    scene.materials[0].kind = MaterialKind::Conductor(ConductorMaterial::new(Vec3::ZERO, Vec3::ONE, facets));
    scene.render.masking = masking;
    // The noise of light sampling would need a hundred times the samples for 0.1 %.
    scene.render.direct = Direct::Bsdf;
    scene
}

#[test]
fn conductor_furnace_is_the_directional_albedo() {
    for alpha in [0.1, 0.5, 1.0] {
        for (masking, g2) in [(Masking::Correlated, G2::Correlated), (Masking::Separable, G2::Separable)] {
            let expected = oracle::ggx_albedo(0.8, f64::from(alpha), g2);
            let scene = conductor_furnace(alpha, masking);
            is_everywhere(&format!("conductor furnace, alpha {alpha}, {masking:?}"), &scene, 8192, &|_| {
                expected
            });
        }
    }
}

#[test]
fn control_conductor_furnace_rejects_separable_masking() {
    let expected = oracle::ggx_albedo(0.8, 0.5, G2::Correlated);
    let film =
        torrance_tests::Machine::Cpu.render(&assembled(&conductor_furnace(0.5, Masking::Separable)), 8192);
    let difference = compare(&film, &Reference::exact(16, vec![[expected; 3]; 256]), false);
    assert!(difference.mean > closed::tolerance(), "{difference:?}");
}

/// A rough dielectric sphere that shines inwards, seen from outside by light that was scattered once: what it transmits.
/// `bubble` has glass around it and air within, and shines inwards only; otherwise it is the other way around, and shines
/// with radiance 1 to both sides.
fn glass_that_shines(bubble: bool) -> (Description, f64) {
    const ALPHA: f64 = 0.5;
    let mut scene = conductor_furnace(ALPHA as f32, Masking::Separable);
    scene.environment = None;
    scene.render.max_depth = 2;
    scene.materials[0].kind = MaterialKind::Dielectric(frosted(1.5, ALPHA as f32));
    let light = &mut scene.shapes[0];
    (light.emission, light.emission_two_sided, light.flip_normals) = (Color::new(Vec3::ONE), !bubble, bubble);
    if bubble {
        (scene, oracle::ggx_transmission(0.8, ALPHA, 1.0 / 1.5))
    } else {
        (scene, 1.0 + oracle::ggx_transmission(0.8, ALPHA, 1.5))
    }
}

#[test]
fn rough_glass_that_shines_inwards_transmits_it() {
    for bubble in [false, true] {
        let (scene, expected) = glass_that_shines(bubble);
        for_each_estimator(&scene, |name, scene| {
            let spp = if scene.render.sampler == Sampler::Independent { 16384 } else { 2048 };
            let name = format!("glass that shines, bubble {bubble}, {name}");
            is_everywhere(&name, scene, spp, &|_| expected);
        });
    }
}

#[test]
fn control_glass_that_shines_rejects_an_index_off_by_2_percent() {
    let (mut scene, expected) = glass_that_shines(true);
    scene.materials[0].kind = MaterialKind::Dielectric(frosted(1.53, 0.5));
    let film = torrance_tests::Machine::Cpu.render(&assembled(&scene), 4096);
    let difference = compare(&film, &Reference::exact(16, vec![[expected; 3]; 256]), false);
    assert!(difference.mean > closed::tolerance(), "{difference:?}");
}

/// Texels of three floats by chance.
fn chance_image(side: u32) -> Image {
    let mut state = 1_u32;
    let mut next = |_| {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        ((state ^ (state >> 16)) as f32 / 4.3e9).to_bits()
    };
    let texels = (0..3 * side * side).map(&mut next).collect();
    Image::new(side, side, Format::RgbF32, texels)
}

fn texture(filter: TexelFilter) -> Texture {
    Texture::Bitmap(Bitmap { filter, ..Bitmap::new(0) })
}

/// A square and a sphere with normals or heights by chance, in a sky of radiance 1.
fn bumpy_furnace(kind: MaterialKind, map: NormalMap) -> Description {
    let camera = camera(Vec3::new(0.0, 1.5, 6.0), Vec3::ZERO, Vec3::Y, 35.0);
    let turned = |x: f32| Affine3A::from_translation(x * Vec3::X) * Affine3A::from_rotation_x(-1.2);
    let (mut square, mut sphere) =
        (shape(Geometry::Quad, 0.0), shape(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 }, 0.0));
    (square.world_from_object, sphere.world_from_object) = (turned(-1.3), turned(1.3));
    let mut scene = description(32, camera, 1.0, vec![square, sphere]);
    scene.environment = Some(Environment::Constant(Vec3::ONE));
    scene.images.push(chance_image(24));
    scene.textures.push(texture(TexelFilter::Linear));
    (scene.materials[0].kind, scene.materials[0].normal_map) = (kind, Some(map));
    scene
}

/// By how many standard errors the worst pixel is above 1, and a thousandth; and the mean of all.
fn excess(scene: &Description, spp: u32) -> (f64, f64) {
    let mut worst = (f64::MIN, 0.0);
    for machine in machines() {
        let film = machine.render(&assembled(scene), spp);
        assert_eq!(film.rejected(), 0, "samples that are not finite");
        let over = film.pixels.iter().map(|p| (p.mean()[0] - 1.001) / p.stderr()[0].max(1e-5));
        let mean = film.pixels.iter().map(|p| p.mean()[0]).sum::<f64>() / film.pixels.len() as f64;
        worst = (over.fold(worst.0, f64::max), mean);
    }
    worst
}

#[test]
fn mapped_normals_make_no_light() {
    let white = MaterialKind::diffuse(Vec3::ONE);
    let facets = Facets::new(Vec2::splat(0.3), Distribution::Ggx);
    let (eta, k) = (Vec3::ZERO, Vec3::ONE);
    let metal = MaterialKind::Conductor(ConductorMaterial::new(eta, k, facets));
    for (name, kind) in [("diffuse", white), ("metal", metal)] {
        for (map, scale) in
            [(NormalMapKind::Up, 1.0), (NormalMapKind::Bump, 0.2), (NormalMapKind::Bump, -2.0)]
        {
            for (invalid, hard_terminator) in [
                (InvalidNormals::Bend, false),
                (InvalidNormals::Keep, true),
                (InvalidNormals::Bend, true),
                (InvalidNormals::Flip, false),
            ] {
                let map = NormalMap { texture: 0, kind: map, scale, invalid, hard_terminator };
                let (over, mean) = excess(&bumpy_furnace(kind, map), 64);
                println!("{name} {map:?}: {over} {mean}");
                assert!(over < 5.0, "{name} {map:?}: a pixel is {over} standard errors above 1");
                assert!(mean > 0.3, "{name} {map:?}: {mean} is black");
            }
        }
    }
}

#[test]
fn flat_maps_lose_nothing_and_control_more_light_is_rejected() {
    let map = NormalMap {
        texture: 0,
        kind: NormalMapKind::Bump,
        scale: 0.0,
        invalid: InvalidNormals::Bend,
        hard_terminator: false,
    };
    let scene = |white| bumpy_furnace(MaterialKind::diffuse(Vec3::splat(white)), map);
    let (over, mean) = excess(&scene(1.0), 64);
    println!("{over} {mean}, {:?}", excess(&scene(1.2), 64));
    assert!(over < 5.0 && (mean - 1.0).abs() < 2e-3, "{over} {mean}");
    assert!(excess(&scene(1.2), 64).0 > 5.0);
}

/// With no triangle that has texture coordinates near.
#[test]
fn spheres_alone_are_textured() {
    // Up is z, where θ is 0, and the right is y, where u is ¼: there the image is black, and white at the left.
    let camera = camera(4.0 * Vec3::X, Vec3::ZERO, Vec3::Z, 20.0);
    let sphere = shape(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 }, 0.0);
    let mut scene = description(8, camera, 1.0, vec![sphere]);
    scene.environment = Some(Environment::Constant(Vec3::ONE));
    let texels = [0xff00_0000, 0xffff_ffff].into();
    scene.images.push(Image::new(2, 1, Format::Rgba8, texels));
    scene.textures.push(texture(TexelFilter::Nearest));
    let reflectance = Color { value: Vec3::ONE, texture: 0 };
    scene.materials[0].kind = MaterialKind::Diffuse(DiffuseMaterial::new(reflectance));
    for machine in machines() {
        let film = machine.render(&assembled(&scene), 64);
        for (i, pixel) in film.pixels.iter().enumerate() {
            let (mean, expected) = (pixel.mean()[0], if i % 8 < 4 { 1.0 } else { 0.0 });
            assert!((mean - expected).abs() < 0.2, "{mean} in column {}", i % 8);
        }
    }
}
