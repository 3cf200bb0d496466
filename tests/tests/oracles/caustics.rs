//! Caustics that manifold walks find: against closed forms, light traced in `f64`, and paths.

use std::f32::consts::FRAC_PI_2;
use std::f64::consts::PI;

use glam::{Affine3A, DVec3, Vec3};
use torrance_image::compare::judge;
use torrance_image::film::ImageEstimate;
use torrance_scene::{
    Blend, Caustics, Color, ConductorMaterial, Description, DielectricMaterial, Environment, Facets,
    Geometry, Group, Guiding, Instance, Material, MaterialKind, PlasticMaterial, PunctualKind, PunctualLight,
    Scalar, Shape,
};
use torrance_tests::closed::{is_within, lit_floor, shape};
use torrance_tests::compare::{Reference, compare};
use torrance_tests::{Machine, assembled, machines};

const IRRADIANCE: f64 = 2.0;

/// A floor in light from a direction, with something of a material above it. Yields the scene, and half the width of what is seen of
/// the floor, which is white.
fn scene(direction: Vec3, diameter: f32, kind: MaterialKind, above: Vec<Shape>) -> (Description, f64) {
    let (mut scene, point) = lit_floor(shape(Geometry::Quad, 0.0));
    scene.shapes.pop();
    scene.materials.push(Material::new("smooth", kind));
    scene.shapes.extend(above.into_iter().map(|shape| Shape { material: 1, ..shape }));
    let irradiance = Vec3::splat(IRRADIANCE as f32);
    let kind = PunctualKind::Directional { direction, irradiance, diameter };
    scene.lights.push(PunctualLight { name: "sun".to_owned(), kind });
    scene.render.caustics = Caustics::Walks;
    (scene, point(16.0, 16.0).x)
}

/// A level quad that faces up or down, at a height.
fn level(y: f32, up: f32) -> Shape {
    let world_from_object = Affine3A::from_translation(y * Vec3::Y)
        * Affine3A::from_rotation_x(-up * FRAC_PI_2)
        * Affine3A::from_scale(Vec3::splat(20.0));
    Shape { world_from_object, ..shape(Geometry::Quad, 0.0) }
}

fn glass() -> MaterialKind {
    MaterialKind::Dielectric(DielectricMaterial::new(1.5, Facets::SMOOTH))
}

/// Fresnel's reflectance of unpolarized light.
fn reflectance(cos_i: f64, eta: f64) -> f64 {
    let cos_t = (1.0 - (1.0 - cos_i * cos_i) / (eta * eta)).sqrt();
    let s = (cos_i - eta * cos_t) / (cos_i + eta * cos_t);
    let p = (eta * cos_i - cos_t) / (eta * cos_i + cos_t);
    0.5 * (s * s + p * p)
}

/// Light of a direction comes through a pane: through its two sides, and with a longer path also after it went back and forth between
/// them.
#[test]
fn light_below_a_pane() {
    let direction = Vec3::new(0.5, -0.7, 0.3);
    let (mut scene, _) = scene(direction, 0.0, glass(), vec![level(1.0, 1.0), level(0.8, -1.0)]);
    let cos = -f64::from(direction.normalize().y);
    let r = reflectance(cos, 1.5);
    let expected = |factor: f64| IRRADIANCE * cos * (1.0 - r) * (1.0 - r) * factor / PI;
    scene.render.max_depth = 4;
    is_within(0.003, "pane", &scene, tier::choose(512, 2048), &|_| expected(1.0));
    let difference = compare(
        &Machine::Cpu.render(&assembled(&scene), 512),
        &Reference::exact(16, vec![[expected(1.0 + r * r); 3]; 256]),
        false,
    );
    assert!(difference.mean > 0.001, "control: {difference:?}");

    // So dark that nothing comes back from the pane.
    scene.render.max_depth = 6;
    scene.materials[0].kind = MaterialKind::diffuse(Vec3::splat(1e-4));
    is_within(0.003, "thick pane", &scene, tier::choose(4096, 16_384), &|_| 1e-4 * expected(1.0 + r * r));
    scene.render.caustics = Caustics::Paths;
    assert!(Machine::Cpu.render(&assembled(&scene), 16).pixels.iter().all(|pixel| pixel.mean() == [0.0; 3]));
}

/// Radiance of the floor in the light that a mirror ball sends there and in what comes past it, by tracing light from `n`² points across
/// it.
fn beside_a_ball(direction: DVec3, center: DVec3, radius: f64, half: f64, n: usize) -> Vec<f64> {
    let d = direction.normalize();
    let (across, up) = (d.any_orthonormal_pair().0, d.any_orthonormal_pair().1);
    let area_of_pixel = (half / 8.0).powi(2);
    let mut flux = vec![0.0; 256];
    let step = 2.0 * radius / n as f64;
    for i in 0..n * n {
        let at = |i: usize| (i as f64 + 0.5) * step - radius;
        let (x, y) = (at(i % n), at(i / n));
        let height2 = radius * radius - x * x - y * y;
        if height2 <= 0.0 {
            continue;
        }
        let normal = (x * across + y * up - height2.sqrt() * d) / radius;
        let p = center + radius * normal;
        let r = d - 2.0 * d.dot(normal) * normal;
        if r.y >= 0.0 {
            continue;
        }
        let q = p - p.y / r.y * r;
        let [column, row] = [q.x, q.z].map(|c| ((c + half) * 8.0 / half).floor());
        if (0.0..16.0).contains(&column) && (0.0..16.0).contains(&row) {
            flux[row as usize * 16 + column as usize] += IRRADIANCE * step * step;
        }
    }
    flux.iter().map(|flux| (IRRADIANCE * -d.y + flux / area_of_pixel) / PI).collect()
}

#[test]
fn light_beside_a_mirror_ball() {
    let (direction, center, radius) = (Vec3::new(0.6, -0.75, 0.1), Vec3::new(0.9, 0.5, 0.1), 0.35);
    let mirror = MaterialKind::Conductor(ConductorMaterial::new(Vec3::ZERO, Vec3::ONE, Facets::SMOOTH));
    let ball = shape(Geometry::Sphere { center, radius }, 0.0);
    let (mut scene, half) = scene(direction, 0.0, mirror, vec![ball]);
    scene.render.max_depth = 3;
    let expected = |n| beside_a_ball(direction.as_dvec3(), center.as_dvec3(), f64::from(radius), half, n);
    let exact = expected(tier::choose(3000, 6000));
    let alone = IRRADIANCE * -f64::from(direction.normalize().y) / PI;
    let brightest = exact.iter().copied().fold(0.0, f64::max);
    assert!(brightest > 1.05 * alone, "what the ball brings is seen: {brightest}, {alone}");
    is_within(0.002, "mirror ball", &scene, tier::choose(512, 2048), &|i| exact[i]);
    let without = Reference::exact(16, vec![[alone; 3]; 256]);
    let difference = compare(&Machine::Cpu.render(&assembled(&scene), 256), &without, false);
    assert!(difference.mean > 0.01, "control: {difference:?}");
}

/// What walks find below a glass ball, paths find as well if the sun is wide.
#[test]
fn walks_and_paths_find_the_same() {
    let ball = shape(Geometry::Sphere { center: Vec3::new(0.1, 0.18, 0.05), radius: 0.12 }, 0.0);
    let (mut scene, _) = scene(Vec3::new(0.2, -0.9, 0.3), 20.0, glass(), vec![ball]);
    scene.environment = Some(Environment::Constant(Vec3::splat(0.1)));
    scene.render.max_depth = 8;
    let spp = tier::choose(512, 4096);
    let paths = {
        let mut scene = scene.clone();
        (scene.render.caustics, scene.render.seed) = (Caustics::Paths, 1);
        ImageEstimate::from(&Machine::Cpu.render(&assembled(&scene), 16 * spp))
    };
    for machine in machines() {
        for guiding in [Guiding::Off, Guiding::On] {
            scene.render.guiding = guiding;
            let film = machine.render(&assembled(&scene), spp);
            let verdict = judge(&ImageEstimate::from(&film), &paths, 0.01);
            assert!(!verdict.is_different(), "{machine:?}, {guiding:?}: {:?}", verdict.worst);
        }
    }
    scene.render.guiding = Guiding::Off;
    // Of another ball, which changes little but the caustic.
    scene.materials[1].kind = MaterialKind::Dielectric(DielectricMaterial::new(1.6, Facets::SMOOTH));
    let film = Machine::Cpu.render(&assembled(&scene), spp);
    assert!(judge(&ImageEstimate::from(&film), &paths, 0.01).is_different(), "control: another glass");
    scene.materials[1].kind = glass();
    let PunctualKind::Directional { irradiance, .. } = &mut scene.lights[0].kind else { panic!("a sun") };
    *irradiance *= 1.05;
    let film = Machine::Cpu.render(&assembled(&scene), spp);
    assert!(judge(&ImageEstimate::from(&film), &paths, 0.01).is_different(), "control");
}

/// As [`walks_and_paths_find_the_same`], of surfaces that walks and paths treat in ways of their own: a coat over something that
/// scatters, a blend of which a part is glass, one of which a part is not there, and an instance.
#[test]
fn walks_and_paths_find_the_same_of_other_surfaces() {
    let center = Vec3::new(0.1, 0.18, 0.05);
    let ball = || shape(Geometry::Sphere { center, radius: 0.12 }, 0.0);
    let plastic = MaterialKind::Plastic(PlasticMaterial {
        reflectance: Color::new(Vec3::new(0.2, 0.4, 0.6)),
        specular: Color::new(Vec3::ONE),
        facets: Facets::SMOOTH,
        ior: 2.4,
        nonlinear: 0,
        coat: 0,
        internal_reflectance: PlasticMaterial::COMPUTED,
    });
    let blend = MaterialKind::Blend(Blend { materials: [2, 0], weight: Scalar::new(0.3) });
    let kinds = [
        ("plastic", plastic, 1.0),
        ("blend", blend, 1.0),
        ("holes", glass(), 0.6),
        ("instance", glass(), 1.0),
    ];
    for (name, kind, opacity) in kinds {
        let (mut scene, _) = scene(Vec3::new(0.2, -0.9, 0.3), 20.0, kind, vec![ball()]);
        scene.materials.push(Material::new("glass", glass()));
        scene.materials[1].opacity = Scalar::new(opacity);
        if name == "instance" {
            let shapes = vec![scene.shapes.pop().unwrap()];
            scene.groups.push(Group { name: name.to_owned(), shapes });
            let around = Affine3A::from_translation(center);
            let turned = Affine3A::from_rotation_x(1.0);
            scene.instances.push(Instance { group: 0, world_from_group: around * turned * around.inverse() });
        }
        scene.environment = Some(Environment::Constant(Vec3::splat(0.1)));
        scene.render.max_depth = 8;
        let spp = tier::choose(512, 4096);
        let mut by_paths = scene.clone();
        (by_paths.render.caustics, by_paths.render.seed) = (Caustics::Paths, 1);
        let paths = ImageEstimate::from(&Machine::Cpu.render(&assembled(&by_paths), 16 * spp));
        let guidings: &[_] = if name == "instance" { &[Guiding::Off, Guiding::On] } else { &[Guiding::Off] };
        for machine in machines() {
            for &guiding in guidings {
                scene.render.guiding = guiding;
                let film = machine.render(&assembled(&scene), spp);
                let verdict = judge(&ImageEstimate::from(&film), &paths, 0.01);
                assert!(!verdict.is_different(), "{name}, {machine:?}, {guiding:?}: {:?}", verdict.worst);
            }
        }
        let PunctualKind::Directional { irradiance, .. } = &mut scene.lights[0].kind else { unreachable!() };
        *irradiance *= 1.2;
        scene.render.guiding = Guiding::Off;
        let film = Machine::Cpu.render(&assembled(&scene), spp);
        assert!(judge(&ImageEstimate::from(&film), &paths, 0.01).is_different(), "{name}: control");
    }
}
