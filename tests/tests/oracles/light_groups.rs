//! Light groups against the image that they add up to, and against renders of the lights alone.

use std::collections::BTreeSet;

use glam::{Affine3A, Vec3};
use renderer::render::Options;
use renderer::render::aov::{Aov, AovPlan};
use renderer::render::light_groups::LightChoice;
use torrance_image::film::Layers;
use torrance_image::film::mix::{Gains, groups, mix};
use torrance_scene::{Description, Environment, Geometry, PunctualKind, PunctualLight};
use torrance_tests::closed::{camera, description, shape};
use torrance_tests::{assembled, gallery_scene, machines};

/// Renders a scene on every machine with an image of each light, which does not change the image of all.
fn rendered(scene: &Description, spp: u32, lights: &[LightChoice]) -> Vec<Layers> {
    let data = assembled(scene);
    let lights: BTreeSet<_> = lights.iter().cloned().collect();
    let mut plan = AovPlan::new([Aov::Stderr, Aov::Samples].into()).with_lights(lights);
    plan.describe(scene).expect("there are such lights, and there is memory");
    let of = |machine: torrance_tests::Machine| {
        let rendered = machine.render_with(&data, spp, plan.options());
        let plain = machine.render_with(&data, spp, Options::default());
        assert!(rendered.film == plain.film, "the image has the bits that it has without groups");
        plan.layers(&rendered, &data)
    };
    machines().into_iter().map(of).collect()
}

/// By how much a mix with gains of 1 misses the image, at the worst pixel, relative to that pixel.
fn miss(layers: &Layers) -> f64 {
    let mixed = mix(layers, &Gains::new()).expect("there are groups").layers;
    let (image, mixed) = (layers.rgb("").expect("an image"), mixed.rgb("").expect("an image"));
    let pairs = image.iter().flatten().zip(mixed.iter().flatten());
    pairs.map(|(a, b)| f64::from((a - b).abs()) / f64::from(a.abs()).max(1e-6)).fold(0.0, f64::max)
}

#[test]
fn groups_add_up_to_the_image() {
    for (name, least) in [("cornell", 1), ("materials", 4), ("glass", 2), ("still-life", 2), ("temple", 2)] {
        let mut scene = gallery_scene(name);
        (scene.render.width, scene.render.height) = (48, 32);
        for layers in rendered(&scene, 16, &[LightChoice::Each]) {
            let found = groups(&layers);
            assert!(found.len() >= least, "{name}: {found:?}");
            assert!(miss(&layers) < 2e-6, "{name}: {}", miss(&layers));
            let mut control = layers.clone();
            let dark = |name: &String| {
                layers.rgb(&format!("light.{name}")).is_some_and(|light| light.iter().all(|x| *x == [0.0; 3]))
            };
            let bright = found.iter().find(|name| !dark(name)).expect("some light shows");
            control.channels.retain(|channel| !channel.name.starts_with(&format!("light.{bright}.")));
            control.push_floats("light.none", ["R", "G", "B"], &vec![[0.0; 3]; layers.pixels()]);
            assert!(miss(&control) > 1e-2, "control: {name} without {bright}");
        }
    }
}

/// A floor under a ball and a point that shine, and a sky.
fn floor([ball, point, sky]: [f32; 3]) -> Description {
    let eye = camera(Vec3::new(0.0, 2.0, 3.0), Vec3::ZERO, Vec3::Y, 50.0);
    let mut ground = shape(Geometry::Quad, 0.0);
    ground.name = "ground".to_owned();
    ground.world_from_object = Affine3A::from_rotation_x(-std::f32::consts::FRAC_PI_2);
    let mut lamp = shape(Geometry::Sphere { center: Vec3::new(-0.5, 0.8, 0.0), radius: 0.2 }, ball);
    lamp.name = "ball".to_owned();
    let mut scene = description(24, eye, 0.6, vec![ground, lamp]);
    scene.lights.push(PunctualLight {
        name: "spark".to_owned(),
        kind: PunctualKind::Point { position: Vec3::new(0.6, 0.5, 0.2), intensity: Vec3::splat(point) },
    });
    scene.environment = (sky > 0.0).then(|| Environment::Constant(Vec3::splat(sky)));
    scene
}

/// Mean over the image of a layer.
fn mean(layers: &Layers, layer: &str) -> f64 {
    let pixels = layers.rgb(layer).expect(layer);
    pixels.iter().flatten().map(|x| f64::from(*x)).sum::<f64>() / (3 * pixels.len()) as f64
}

/// Standard error of the mean over the image.
fn error(layers: &Layers) -> f64 {
    let pixels = layers.rgb("stderr").expect("standard errors");
    pixels.iter().map(|x| f64::from(x[0]).powi(2)).sum::<f64>().sqrt() / pixels.len() as f64
}

#[test]
fn a_group_is_what_its_light_brings_alone() {
    let named = |name: &str| LightChoice::Named(name.to_owned());
    for layers in rendered(&floor([4.0, 0.5, 0.3]), 1024, &[named("ball"), named("spark")]) {
        assert_eq!(groups(&layers), ["ball", "rest", "spark"], "what is not asked for is the rest");
        let alone = [[4.0, 0.0, 0.0], [0.0, 0.0, 0.3], [0.0, 0.5, 0.0]].map(floor);
        for (name, scene) in ["ball", "rest", "spark"].into_iter().zip(alone) {
            let alone = machines()[0].render(&assembled(&scene), 1024);
            let alone = Layers::from(&alone);
            let (found, expected) = (mean(&layers, &format!("light.{name}")), mean(&alone, ""));
            // Of the group, which shares its samples with others, more than of the light alone.
            let bound = 6.0 * (error(&alone) + error(&layers));
            assert!((found - expected).abs() < bound, "{name}: {found}, alone {expected}, bound {bound}");
            assert!((1.5 * found - expected).abs() > bound, "control: half more of {name}");
        }
    }
}

#[test]
fn a_mix_is_what_lights_of_those_powers_give() {
    let gains = |all: [f64; 3]| -> Gains {
        let names = ["ball", "spark", "environment"];
        names.into_iter().zip(all).map(|(name, gain)| (name.to_owned(), [gain; 3])).collect()
    };
    for layers in rendered(&floor([4.0, 0.5, 0.25]), 256, &[LightChoice::Each]) {
        let of = |all| mix(&layers, &gains(all)).expect("there are such groups").layers;
        // With all light twice as bright, the same lights are drawn: the very samples, times 2.
        let doubled = Layers::from(&machines()[0].render(&assembled(&floor([8.0, 1.0, 0.5])), 256));
        let pairs =
            of([2.0; 3]).rgb("").expect("an image").into_iter().zip(doubled.rgb("").expect("an image"));
        for (a, b) in pairs {
            assert!((0..3).all(|c| (a[c] - b[c]).abs() <= 2e-6 * b[c].abs()), "{a:?}, not {b:?}");
        }
        // With other ratios, others are.
        let other = Layers::from(&machines()[0].render(&assembled(&floor([1.0, 1.5, 0.5])), 256));
        let bound = 6.0 * (error(&layers) + error(&other));
        assert!((mean(&of([0.25, 3.0, 2.0]), "") - mean(&other, "")).abs() < bound);
        assert!((mean(&of([0.25, 2.0, 2.0]), "") - mean(&other, "")).abs() > bound, "control: another gain");
    }
}

#[test]
fn lights_that_are_not_there_are_named() {
    let mut plan = AovPlan::new(BTreeSet::new()).with_lights([LightChoice::Named("bal".to_owned())].into());
    let wrong = plan.describe(&floor([1.0, 1.0, 1.0])).unwrap_err().to_string();
    assert_eq!(wrong, "light:bal: the scene has no such light; did you mean \"ball\"?");
}
