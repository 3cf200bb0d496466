//! Scenes simple enough for closed forms, and the comparison with these.

use std::f64::consts::PI;

use glam::{Affine3A, DVec3, Vec3};
use torrance_scene::{
    Camera, Clip, Color, Description, Direct, Environment, FovAxis, Geometry, Masking, Material,
    MaterialKind, Projection, RenderSettings, Sampler, Shape, TriangleMesh,
};

use crate::compare::{Reference, compare};
use crate::{assembled, machines, oracle};

/// Samplers.
pub const SAMPLERS: [Sampler; 3] = [Sampler::Independent, Sampler::Sobol, Sampler::BlueNoise];
/// Ways to find direct light.
pub const STRATEGIES: [Direct; 3] = [Direct::Mis, Direct::Nee, Direct::Bsdf];

/// A scene of diffuse shapes in the dark, `size` pixels wide and high.
pub fn description(size: u32, camera: Camera, reflectance: f32, shapes: Vec<Shape>) -> Description {
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
            ..RenderSettings::default()
        },
        camera,
        environment: None,
        portals: Vec::new(),
        lights: Vec::new(),
        images: Vec::new(),
        textures: Vec::new(),
        materials: vec![Material::new("diffuse", MaterialKind::diffuse(Vec3::splat(reflectance)))],
        shapes,
        texture_names: Default::default(),
        groups: Vec::new(),
        instances: Vec::new(),
    }
}

/// A camera whose field of view is `fov` degrees high.
pub fn camera(position: Vec3, target: Vec3, up: Vec3, fov: f32) -> Camera {
    Camera {
        position,
        target,
        up,
        mirrored: false,
        projection: Projection::pinhole(fov, FovAxis::Y),
        clip: Clip::DEFAULT,
    }
}

/// A shape of the first material that shines from its front, grey.
pub fn shape(geometry: Geometry, emission: f32) -> Shape {
    Shape {
        name: String::new(),
        geometry,
        material: 0,
        emission: Color::new(Vec3::splat(emission)),
        emission_two_sided: false,
        flip_normals: false,
        world_from_object: Affine3A::IDENTITY,
    }
}

/// A sphere of triangles around the origin, of radius about 1.
pub fn octahedron_sphere(subdivisions: usize) -> TriangleMesh {
    let mut mesh = TriangleMesh {
        positions: vec![Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z],
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
        ..TriangleMesh::default()
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
pub fn closed_surface(geometry: Geometry) -> Description {
    let inside = camera(Vec3::new(0.2, 0.1, 0.3), Vec3::new(-0.5, 0.3, -1.0), Vec3::Y, 90.0);
    let mut shell = shape(geometry, 0.5);
    shell.flip_normals = true;
    let mut scene = description(16, inside, 0.5, vec![shell]);
    scene.render.max_depth = tier::choose(16, 40); // 2⁻¹⁶ or 2⁻⁴⁰ is cut off
    scene
}

/// By how much the mean of an image may be off from a closed form, relatively: so little that controls are beyond it, and
/// so much that noise is not. The fast tier takes a quarter of the samples, which doubles the noise.
pub fn tolerance() -> f64 {
    0.001 * tier::choose(2.5, 1.0)
}

/// Asserts that every pixel's expectation is `expected`, and the mean within [`tolerance`]. The fast tier takes a quarter of
/// the samples.
///
/// # Panics
/// If it is not.
pub fn is_everywhere(name: &str, scene: &Description, spp: u32, expected: &dyn Fn(usize) -> f64) {
    is_within(tolerance(), name, scene, spp / tier::choose(4, 1), expected);
}

/// Asserts that every pixel's expectation is `expected`, and the mean within `most` of it.
///
/// # Panics
/// If it is not.
pub fn is_within(most: f64, name: &str, scene: &Description, spp: u32, expected: &dyn Fn(usize) -> f64) {
    let n = (scene.render.width * scene.render.height) as usize;
    let mean = (0..n).map(|i| [expected(i); 3]).collect();
    let reference = Reference::exact(scene.render.width as usize, mean);
    for machine in machines() {
        let film = machine.render(&assembled(scene), spp);
        assert_eq!(film.rejected(), 0, "{name}");
        let difference = compare(&film, &reference, false);
        println!("{name} on {machine:?}: {difference:?}");
        assert!(difference.mean < most, "{name} on {machine:?}: {difference:?}");
        // Sobol' points have less variance than their standard errors say, so this bound holds for both.
        for (i, pixel) in film.pixels.iter().enumerate() {
            let (mean, stderr) = (pixel.mean()[0], pixel.stderr()[0]);
            let bound = 5.0 * stderr + 0.001 * expected(i);
            assert!(
                (mean - expected(i)).abs() <= bound,
                "{name} on {machine:?}: pixel {i} is {mean} ± {stderr}"
            );
        }
    }
}

/// Runs a test with every sampler and every way to find direct light.
pub fn for_each_estimator(scene: &Description, mut test: impl FnMut(&str, &Description)) {
    for sampler in SAMPLERS {
        for direct in STRATEGIES {
            let mut scene = scene.clone();
            (scene.render.sampler, scene.render.direct) = (sampler, direct);
            test(&format!("{sampler:?}, {direct:?}"), &scene);
        }
    }
}

/// A floor seen from above, lit from higher up. Yields the scene, and the point of the floor at pixel (x, y).
pub fn lit_floor(light: Shape) -> (Description, impl Fn(f64, f64) -> DVec3) {
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
pub fn pixel_means(irradiance: &dyn Fn(f64, f64) -> f64) -> Vec<f64> {
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
pub fn below_a_rectangle() -> (Description, Vec<f64>) {
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

/// A floor below a sphere that shines, and what is expected of it.
pub fn below_a_sphere() -> (Description, Vec<f64>) {
    let (center, radius) = (Vec3::new(-0.5, 3.0, 0.3), 2.2);
    let (scene, point) = lit_floor(shape(Geometry::Sphere { center, radius }, 3.0));
    let expected = pixel_means(&|x, y| {
        3.0 * oracle::irradiance_from_sphere(point(x, y), DVec3::Y, center.as_dvec3(), f64::from(radius))
    });
    (scene, expected)
}

/// A diffuse shape around the origin, of radius about 1, lit from everywhere by 1.
pub fn furnace(reflectance: f32, geometry: Geometry) -> Description {
    let outside = camera(Vec3::new(0.0, 0.0, 4.0), Vec3::ZERO, Vec3::Y, 40.0);
    let mut scene = description(16, outside, reflectance, vec![shape(geometry, 0.0)]);
    scene.environment = Some(Environment::Constant(Vec3::ONE));
    scene.render.max_depth = 64;
    scene
}
