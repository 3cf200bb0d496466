//! The whole renderer against closed forms and quadrature.

use std::f64::consts::PI;

use glam::{Affine3A, DVec3, Vec2, Vec3};
use renderer::scene::{
    Camera, ConductorMaterial, Description, DielectricMaterial, Direct, Distribution, Facets, FovAxis,
    Geometry, Masking, Material, MaterialKind, RenderSettings, Sampler, Shape, TriangleMesh,
};
use torrance_tests::compare::{Reference, compare};
use torrance_tests::oracle::{self, G2};
use torrance_tests::tampered::{self, Mistake};
use torrance_tests::{assembled, machines};

const SAMPLERS: [Sampler; 2] = [Sampler::Independent, Sampler::Sobol];
const STRATEGIES: [Direct; 3] = [Direct::Mis, Direct::Nee, Direct::Bsdf];

fn description(size: u32, camera: Camera, reflectance: f32, shapes: Vec<Shape>) -> Description {
    Description {
        render: RenderSettings {
            width: size,
            height: size,
            spp: 1,
            seed: 7,
            max_depth: 8,
            rr_depth: None,
            sampler: Sampler::Independent,
            direct: Direct::Mis,
            masking: Masking::Correlated,
        },
        camera,
        environment: Vec3::ZERO,
        images: Vec::new(),
        textures: Vec::new(),
        materials: vec![Material::new("diffuse", MaterialKind::diffuse(Vec3::splat(reflectance)))],
        shapes,
    }
}

fn camera(position: Vec3, target: Vec3, up: Vec3, fov: f32) -> Camera {
    Camera { position, target, up, fov, fov_axis: FovAxis::Y }
}

fn frosted(ior: f32, alpha: f32) -> DielectricMaterial {
    let facets = Facets::new(Vec2::splat(alpha), Distribution::Ggx);
    DielectricMaterial { facets, ior, reserved: [0; 3] }
}

fn shape(geometry: Geometry, emission: f32) -> Shape {
    Shape {
        name: String::new(),
        geometry,
        material: 0,
        emission: Vec3::splat(emission),
        emission_two_sided: false,
        flip_normals: false,
        world_from_object: Affine3A::IDENTITY,
    }
}

/// A sphere of triangles around the origin, of radius about 1.
fn octahedron_sphere(subdivisions: usize) -> TriangleMesh {
    let mut mesh = TriangleMesh {
        positions: vec![Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z],
        normals: Vec::new(),
        uvs: Vec::new(),
        triangles: vec![
            [0, 1, 2],
            [1, 3, 2],
            [3, 4, 2],
            [4, 0, 2],
            [1, 0, 5],
            [3, 1, 5],
            [4, 3, 5],
            [0, 4, 5],
        ],
    };
    for _ in 0..subdivisions {
        let mut next = TriangleMesh::default();
        for t in &mesh.triangles {
            let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
            let (ab, bc, ca) = ((a + b).normalize(), (b + c).normalize(), (c + a).normalize());
            let i = next.positions.len() as u32;
            next.positions.extend([a, b, c, ab, bc, ca]);
            next.triangles.extend([
                [i, i + 3, i + 5],
                [i + 3, i + 1, i + 4],
                [i + 5, i + 4, i + 2],
                [i + 3, i + 4, i + 5],
            ]);
        }
        mesh = next;
    }
    mesh
}

/// Inside a closed surface with Kd = ½ and Le = ½, radiance is 1 everywhere: L = Le + Kd·L.
fn closed_surface(geometry: Geometry) -> Description {
    let inside = camera(Vec3::new(0.2, 0.1, 0.3), Vec3::new(-0.5, 0.3, -1.0), Vec3::Y, 90.0);
    let mut shell = shape(geometry, 0.5);
    shell.flip_normals = true;
    let mut scene = description(16, inside, 0.5, vec![shell]);
    scene.render.max_depth = 40; // what is cut off is 2⁻⁴⁰
    scene
}

/// Asserts that every pixel's expectation is `expected`, and the mean within 0.1 %.
fn is_everywhere(name: &str, scene: &Description, spp: u32, expected: &dyn Fn(usize) -> f64) {
    let n = (scene.render.width * scene.render.height) as usize;
    let mean = (0..n).map(|i| [expected(i); 3]).collect();
    let reference = Reference::exact(scene.render.width as usize, mean);
    for machine in machines() {
        let film = machine.render(&assembled(scene), spp);
        assert_eq!(film.rejected(), 0, "{name}");
        let difference = compare(&film, &reference, false);
        println!("{name} on {machine:?}: {difference:?}");
        assert!(difference.mean < 0.001, "{name} on {machine:?}: {difference:?}");
        // Sobol' points have less variance than their standard errors say, so this bound holds for both.
        for (i, pixel) in film.pixels.iter().enumerate() {
            let (mean, stderr) = (pixel.mean()[0], pixel.stderr()[0]);
            let bound = 5.0 * stderr + 0.001 * expected(i);
            assert!(
                (mean - expected(i)).abs() < bound,
                "{name} on {machine:?}: pixel {i} is {mean} ± {stderr}"
            );
        }
    }
}

fn for_each_estimator(scene: &Description, mut test: impl FnMut(&str, &Description)) {
    for sampler in SAMPLERS {
        for direct in STRATEGIES {
            let mut scene = scene.clone();
            (scene.render.sampler, scene.render.direct) = (sampler, direct);
            test(&format!("{sampler:?}, {direct:?}"), &scene);
        }
    }
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
    let scene = closed_surface(Geometry::Mesh(octahedron_sphere(3)));
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

#[test]
fn control_closed_sphere_rejects_pdf_off_by_2_percent() {
    let scene = assembled(&closed_surface(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 }));
    let reference = Reference::exact(16, vec![[1.0; 3]; 256]);
    let right = compare(&tampered::render(&scene, 1024, Mistake::BsdfPdf(1.0)), &reference, false);
    let wrong = compare(&tampered::render(&scene, 1024, Mistake::BsdfPdf(1.02)), &reference, false);
    assert!(right.mean < 0.001 && wrong.mean > 0.001, "{right:?} {wrong:?}");
}

/// A floor seen from above, lit from higher up. Yields the scene, and the point of the floor at pixel (x, y).
fn lit_floor(light: Shape) -> (Description, impl Fn(f64, f64) -> DVec3) {
    const SIZE: u32 = 16;
    let above = camera(Vec3::new(0.0, 0.5, 0.0), Vec3::ZERO, -Vec3::Z, 60.0);
    let mut floor = shape(Geometry::Quad, 0.0);
    floor.world_from_object =
        Affine3A::from_rotation_x(-PI as f32 / 2.0) * Affine3A::from_scale(Vec3::splat(5.0));
    let mut scene = description(SIZE, above, 1.0, vec![floor, light]);
    scene.render.max_depth = 2;
    let half = 0.5 * (PI / 6.0).tan();
    let point = move |x: f64, y: f64| {
        let at = |t: f64| half * (2.0 * t / f64::from(SIZE) - 1.0);
        DVec3::new(at(x), 0.0, at(y))
    };
    (scene, point)
}

/// Mean over each pixel of radiance leaving a white floor, from irradiance.
fn pixel_means(irradiance: &dyn Fn(f64, f64) -> f64) -> Vec<f64> {
    const SUB: usize = 8;
    let at = |i: usize, s: usize| i as f64 + (s as f64 + 0.5) / SUB as f64;
    (0..256)
        .map(|i| {
            let points = (0..SUB * SUB).map(|s| irradiance(at(i % 16, s % SUB), at(i / 16, s / SUB)));
            points.sum::<f64>() / (SUB * SUB) as f64 / PI
        })
        .collect()
}

/// A floor below a rectangle that shines, and what is expected of it.
fn below_a_rectangle() -> (Description, Vec<f64>) {
    let mut light = shape(Geometry::Quad, 3.0);
    light.world_from_object = Affine3A::from_translation(Vec3::new(0.7, 2.0, -0.4))
        * Affine3A::from_rotation_x(PI as f32 / 2.0)
        * Affine3A::from_scale(Vec3::new(2.5, 2.0, 1.0));
    let corner = |x, z| DVec3::new(0.7 + 2.5 * x, 2.0, -0.4 + 2.0 * z);
    let polygon = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    let (scene, point) = lit_floor(light);
    let expected =
        pixel_means(&|x, y| 3.0 * oracle::irradiance_from_polygon(point(x, y), DVec3::Y, &polygon));
    (scene, expected)
}

#[test]
fn irradiance_from_a_rectangle() {
    let (scene, expected) = below_a_rectangle();
    for_each_estimator(&scene, |name, scene| {
        let spp = if scene.render.direct == Direct::Bsdf { 65536 } else { 8192 };
        is_everywhere(&format!("rectangle, {name}"), scene, spp, &|i| expected[i]);
    });
}

/// A floor below a sphere that shines, and what is expected of it.
fn below_a_sphere() -> (Description, Vec<f64>) {
    let (center, radius) = (Vec3::new(-0.5, 3.0, 0.3), 2.2);
    let (scene, point) = lit_floor(shape(Geometry::Sphere { center, radius }, 3.0));
    let expected = pixel_means(&|x, y| {
        3.0 * oracle::irradiance_from_sphere(point(x, y), DVec3::Y, center.as_dvec3(), f64::from(radius))
    });
    (scene, expected)
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
            Geometry::Mesh(octahedron_sphere(3)),
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
            assert!(difference.mean > 0.001, "{factor}: {difference:?}");
        }
    }
}

fn furnace(reflectance: f32, geometry: Geometry) -> Description {
    let outside = camera(Vec3::new(0.0, 0.0, 4.0), Vec3::ZERO, Vec3::Y, 40.0);
    let mut scene = description(16, outside, reflectance, vec![shape(geometry, 0.0)]);
    scene.environment = Vec3::ONE;
    scene.render.max_depth = 64;
    scene
}

#[test]
fn white_furnace() {
    for geometry in [
        Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 },
        Geometry::Mesh(octahedron_sphere(4)),
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
    assert!(compare(&film, &Reference::exact(16, vec![[1.0; 3]; 256]), false).mean > 0.001);
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
    assert!(difference.mean > 0.001, "{difference:?}");
}

/// A rough dielectric sphere that shines inwards, seen from outside by light that was scattered once: what it transmits.
/// `bubble` has glass around it and air within, and shines inwards only; otherwise it is the other way around, and shines
/// with radiance 1 to both sides.
fn glass_that_shines(bubble: bool) -> (Description, f64) {
    const ALPHA: f64 = 0.5;
    let mut scene = conductor_furnace(ALPHA as f32, Masking::Separable);
    scene.environment = Vec3::ZERO;
    scene.render.max_depth = 2;
    scene.materials[0].kind = MaterialKind::Dielectric(frosted(1.5, ALPHA as f32));
    let light = &mut scene.shapes[0];
    (light.emission, light.emission_two_sided, light.flip_normals) = (Vec3::ONE, !bubble, bubble);
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
            let spp = if scene.render.sampler == Sampler::Sobol { 2048 } else { 16384 };
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
    assert!(difference.mean > 0.001, "{difference:?}");
}
