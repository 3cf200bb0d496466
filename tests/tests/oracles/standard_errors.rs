//! Standard errors of a million samples, and of merged renders, against closed forms.

use glam::{Affine3A, Vec3};
use torrance_image::film::layers::Layers;
use torrance_image::film::merge::{Merge, Weight};
use torrance_scene::{Description, Environment, Geometry};
use torrance_tests::closed::{camera, description, shape};
use torrance_tests::{assembled, machines};

/// The part of the pixel that the light covers.
const COVERED: f64 = 0.3;

/// One pixel that sees a light of radiance `light` over a part of it, and `sky` elsewhere.
fn half_covered(light: f32, sky: f32) -> Description {
    // At distance 1 the pixel is 2 by 2, from −1 to 1. The light stands at its left edge, and beyond that and the others.
    let eye = camera(Vec3::Z, Vec3::ZERO, Vec3::Y, 90.0);
    let mut quad = shape(Geometry::Quad, light);
    let right = 2.0 * COVERED as f32 - 1.0;
    quad.world_from_object =
        Affine3A::from_translation(Vec3::new(right - 2.0, 0.0, 0.0)) * Affine3A::from_scale(Vec3::splat(2.0));
    let mut scene = description(1, eye, 0.0, vec![quad]);
    scene.environment = Some(Environment::Constant(Vec3::splat(sky)));
    scene.render.max_depth = 1;
    scene
}

/// Mean and standard error of `n` samples of which a part `q` is `light` and the rest `sky`.
fn bernoulli(q: f64, n: f64, light: f32, sky: f32) -> (f64, f64) {
    let (a, b) = (f64::from(light), f64::from(sky));
    (b + q * (a - b), (a - b).abs() * (q * (1.0 - q) / (n - 1.0)).sqrt())
}

/// Radiances of light and sky: far apart, and close together far from zero.
const CASES: [(f32, f32); 3] = [(5.0, 0.0), (0.0, 0.3), (1000.7, 1000.0)];

/// Whether mean and standard error are those of the light's part, which follows from the mean and is about the
/// area's.
fn agrees(mean: f64, stderr: f64, n: f64, (light, sky): (f32, f32)) -> bool {
    let q = (mean - f64::from(sky)) / (f64::from(light) - f64::from(sky));
    let expected = bernoulli(q, n, light, sky).1;
    (q - COVERED).abs() < 5.0 * (COVERED * (1.0 - COVERED) / n).sqrt()
        && (stderr / expected - 1.0).abs() < 2e-3
}

#[test]
fn a_million_samples() {
    let n = 1 << 20;
    for case @ (light, sky) in CASES {
        let scene = assembled(&half_covered(light, sky));
        for machine in machines() {
            let film = machine.render(&scene, n);
            let (mean, stderr) = (film.pixels[0].mean()[1], film.pixels[0].stderr()[1]);
            println!("{case:?} on {machine:?}: {mean} ± {stderr}");
            assert!(agrees(mean, stderr, n.into(), case), "{case:?} on {machine:?}: {mean} ± {stderr}");
        }
    }
}

#[test]
fn merged_renders() {
    let (n, renders) = (1 << 16, 5);
    for case @ (light, sky) in CASES {
        let image = |seed: u32| {
            let mut scene = half_covered(light, sky);
            scene.render.seed = seed;
            Layers::from(&torrance_tests::Machine::Cpu.render(&assembled(&scene), n))
        };
        let mut merge = Merge::new(Weight::Samples, "0", &image(0)).unwrap();
        for seed in 1..renders {
            merge.add(&seed.to_string(), &image(seed)).unwrap();
        }
        let layers = merge.finish().unwrap().layers;
        let at = |name: &str| layers.channel(name).unwrap().samples.get_f64(0);
        let (mean, stderr) = (at("G"), at("stderr.G"));
        assert_eq!(at("samples"), f64::from(n * renders));
        // As a float, the mean is a multiple of 6·10⁻⁵ in the last case: 10⁻⁴ of the light's part.
        assert!(agrees(mean, stderr, (n * renders).into(), case), "{case:?}: {mean} ± {stderr}");
        let one = image(0);
        let alone = one.channel("stderr.G").unwrap().samples.get_f64(0);
        assert!(!agrees(mean, alone, (n * renders).into(), case), "control: that of one render alone");
    }
}

/// Standard errors from a film of plain sums.
#[test]
fn control_plain_sums_are_rejected() {
    let n = 1 << 20;
    let (light, sky) = CASES[2];
    let (mut sum, mut sum_sq) = (0.0_f32, 0.0_f32);
    for i in 0..n {
        let x = if f64::from(i % 10) < 10.0 * COVERED { light } else { sky };
        (sum, sum_sq) = (sum + x, sum_sq + x * x);
    }
    let (mean, mean_sq) = (f64::from(sum) / f64::from(n), f64::from(sum_sq) / f64::from(n));
    let stderr = ((mean_sq - mean * mean).abs() / f64::from(n - 1)).sqrt();
    assert!(!agrees(mean, stderr, n.into(), CASES[2]), "{mean} ± {stderr}");
    let right = bernoulli(COVERED, n.into(), light, sky);
    assert!(agrees(right.0, right.1, n.into(), CASES[2]));
}
