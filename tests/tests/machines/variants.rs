//! Variants of a scene, one after another with what they share kept in the memory of machines, against each alone.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use renderer::assemble::{Original, SceneData, share_kernels};
use renderer::render::{Budget, Control, Identity, Integrator, Options, Paths, Rendered};
use renderer::sweep::{Scene, render_all};
use torrance_image::film::Film;
use torrance_scene::{self as scene, SceneValues};
use torrance_tests::compare::{Reference, compare};
use torrance_tests::{Machine, assembled, machines, references};

/// Samples a pixel.
fn spp() -> u32 {
    tier::choose(24, 64)
}

/// Settings of a variant.
type Settings = [(&'static str, &'static str)];

/// Scenes and their variants: between them, all that machines keep of a scene differs.
const SWEEPS: [(&str, &[&Settings]); 3] = [
    (
        "../../scenes/preview.toml",
        &[
            &[],
            &[("materials.ball.roughness", "0.05")],
            &[("materials.ball", "{ type = \"principled\", base_color = [0.9, 0.4, 0.1] }")],
            &[("materials.ball.metal", "copper"), ("shapes.core.center", "[0, 0.08, 0.01]")],
            &[("shapes.key.emission", "20")],
            &[("shapes.shell.transform", "[{ translate = [0.02, 0.07, 0] }]")],
            &[("camera.position", "[0.1, 0.2, 0.5]"), ("render.filter.type", "box")],
            &[("environment.radiance", "0.8")],
            &[],
        ],
    ),
    (
        "textured/scene.toml",
        &[
            &[],
            &[("textures.albedo.scale", "1"), ("textures.rough.offset", "0.3")],
            &[("textures.albedo.file", "rough.png")],
            &[("shapes.torus.file", "torus.ply"), ("shapes.wall.transform.1.translate", "[0, 1.5, -1]")],
            &[],
        ],
    ),
    (
        "../../scenes/temple.toml",
        &[
            &[],
            &[("instances.0.transform", "[{ translate = [1, 0, 6] }]")],
            &[("groups.column.shapes.1.radius", "1")],
            &[("environment.sun_direction", "[0.1, 0.9, 0.4]")],
            &[("environment", "{ radiance = 0.3 }")],
            &[],
        ],
    ),
];

/// A sweep's variants, each as it is built from the first and as it is built alone.
fn variants(file: &str, settings: &[&Settings]) -> (Vec<SceneData>, Vec<SceneData>) {
    let values = SceneValues::open(&references().join(file), &scene::Options::default()).expect("it loads");
    let described = |settings: &&Settings| {
        let mut values = values.clone();
        for (path, value) in [("render.size", "[48, 36]")].iter().chain(*settings) {
            values.set(path, value).expect("there is such a parameter");
        }
        values.load().expect("it is a scene").description
    };
    let descriptions: Vec<_> = settings.iter().map(described).collect();
    let original = Original::new(descriptions[0].clone()).expect("it is assembled");
    let variant = |description| original.variant(description).expect("it is assembled");
    (descriptions.iter().map(variant).collect(), descriptions.iter().map(assembled).collect())
}

/// Renders all, on several machines of a kind at once.
fn together(mut machines: Vec<renderer::Machine>, scenes: &[SceneData], integrator: Integrator) -> Vec<Film> {
    let budget = Budget::of_samples(spp());
    let scenes: Vec<_> = scenes.iter().map(|data| Scene { data, budget, checkpoint: None }).collect();
    let films = Mutex::new(vec![None; scenes.len()]);
    let options = Options { integrator, ..Options::default() };
    let take = |i: usize, rendered: Rendered| {
        films.lock().expect("nobody panics")[i] = Some(rendered.film);
    };
    let failures = render_all(&mut machines, &scenes, options, &|_, _| Control::Continue, &take);
    assert!(failures.survived.is_empty() && failures.fatal.is_none(), "{failures:?}");
    films
        .into_inner()
        .expect("nobody panics")
        .into_iter()
        .map(|film| film.expect("it was rendered"))
        .collect()
}

/// How far two films are apart, in standard deviations of their noise: nothing but rounding, or more.
fn distance(a: &Film, b: &Film) -> f64 {
    compare(a, &Reference::film(b), false).z_rms
}

#[test]
fn variants_are_images_of_their_scenes() {
    for (file, settings) in SWEEPS {
        let (variants, alone) = variants(file, settings);
        for machine in machines() {
            // One takes all in their order; of two, which takes which is chance.
            for (integrator, count) in
                [(Integrator::Megakernel, 1), (Integrator::Wavefront(Paths::new(1 << 14)), 2)]
            {
                let options = Options { integrator, ..Options::default() };
                let alone: Vec<_> =
                    alone.iter().map(|scene| machine.render_with(scene, spp(), options).film).collect();
                let films = match machine {
                    Machine::Cpu => {
                        let cpus = (0..count).map(|_| renderer::Machine::cpu(Some(1)).expect("it starts"));
                        together(cpus.collect(), &variants, integrator)
                    }
                    Machine::Cuda => {
                        let mut variants = variants.clone();
                        share_kernels(&mut variants);
                        let gpus = (0..count).map(|_| machine.start());
                        together(gpus.collect(), &variants, integrator)
                    }
                };
                for i in 0..films.len() {
                    let is = distance(&films[i], &alone[i]);
                    let other = distance(&films[i], &alone[(i + 1) % alone.len()]);
                    println!(
                        "{file} {:?} on {machine:?}: {is:.1e}; from the next one {other:.1e}",
                        settings[i]
                    );
                    match machine {
                        Machine::Cpu => assert_eq!(films[i], alone[i], "{file} {:?}", settings[i]),
                        Machine::Cuda => assert!(is < 0.05, "{file} {:?}: {is}", settings[i]),
                    }
                    assert!(
                        i + 1 == films.len() || other > tier::choose(0.3, 0.5),
                        "{file} {:?}: {other}",
                        settings[i]
                    );
                }
            }
        }
    }
}

#[test]
fn checkpoints_that_cannot_be_written_are_told() {
    let scene = references().join("../../scenes/preview.toml");
    let data = &variants("../../scenes/preview.toml", &[&[]]).0[0];
    for (path, is_told) in [
        (scene.join("no folder.checkpoint"), true),
        (Path::new(env!("CARGO_TARGET_TMPDIR")).join("one.checkpoint"), false),
    ] {
        let checkpoint = Some((path, Identity::default(), Duration::ZERO));
        let scenes = [Scene { data, budget: Budget::of_samples(256), checkpoint }];
        let taken = AtomicUsize::new(0);
        let take = |_, _| _ = taken.fetch_add(1, Ordering::Relaxed);
        let mut machines = [renderer::Machine::cpu(None).expect("threads start")];
        let options = Options::default();
        let failures = render_all(&mut machines, &scenes, options, &|_, _| Control::Continue, &take);
        let found = (failures.checkpoint.is_some(), failures.fatal.is_some());
        assert_eq!(found, (is_told, false), "{failures:?}");
        assert_eq!(taken.into_inner(), 1);
    }
}
