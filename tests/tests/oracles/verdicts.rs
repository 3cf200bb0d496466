//! Verdicts on renders: what is wrong is called different, what only looks different is not.

use device::light::Light;
use device::shape::Primitive;
use glam::Vec3;
use renderer::assemble::SceneData;
use renderer::render::{Budget, Control, Options};
use torrance_gpu::backend::cpu::InstructionSet;
use torrance_image::compare::{Judgement, judge};
use torrance_image::film::{Film, ImageEstimate};
use torrance_scene::{Description, Direct, MaterialKind, Sampler};
use torrance_tests::tampered::{self, Mistake};
use torrance_tests::{Machine, assembled, machines, reference_scene};

const LEVEL: f64 = 0.01;
/// Samples a pixel of what is judged, and of what it is held against.
const SPP: [u32; 2] = [64, 512];

/// A Cornell box with blocks of rough metal, at a quarter of its size.
fn scene() -> Description {
    let mut scene = reference_scene("cornell-ggx");
    (scene.render.width, scene.render.height) = (80, 80);
    scene.render.sampler = Sampler::Independent;
    scene
}

fn film(scene: &Description, spp: u32, seed: u32) -> Film {
    let mut scene = scene.clone();
    scene.render.seed = seed;
    Machine::Cpu.render(&assembled(&scene), spp)
}

/// The verdict on a film against the scene as it should be.
fn verdict(of: &Film) -> Judgement {
    static REFERENCE: std::sync::OnceLock<ImageEstimate> = std::sync::OnceLock::new();
    let reference = REFERENCE.get_or_init(|| ImageEstimate::from(&film(&scene(), SPP[1], 1000)));
    judge(&ImageEstimate::from(of), reference, LEVEL)
}

fn accepted(what: &str, film: &Film) {
    let verdict = verdict(film);
    println!("{what}: p = {:.2e}", verdict.p);
    assert!(!verdict.is_different(), "{what}: {:?}", verdict.worst);
}

fn rejected(what: &str, film: &Film) {
    let verdict = verdict(film);
    println!("{what}: p = {:.2e}, {:?}", verdict.p, verdict.worst);
    assert!(verdict.is_different(), "{what} passes: p = {}", verdict.p);
}

#[test]
fn other_seeds_are_accepted() {
    for seed in 1..=6 {
        accepted("another seed", &film(&scene(), SPP[0], seed));
    }
}

#[test]
fn other_machines_threads_and_instruction_sets_are_accepted() {
    let mut seeded = scene();
    seeded.render.seed = 7;
    let data = assembled(&seeded);
    for machine in machines() {
        accepted(&format!("{machine:?}"), &machine.render(&data, SPP[0]));
    }
    let with = |threads, instructions| {
        let mut cpu = renderer::Machine::cpu_with(Some(threads), instructions).expect("threads start");
        let (budget, go_on) = (Budget::of_samples(SPP[0]), &mut |_: &_| Control::Continue);
        cpu.render(&data, budget, Options::default(), go_on).expect("rendering succeeds").film
    };
    accepted("one thread", &with(1, InstructionSet::detect()));
    accepted("three threads, portable instructions", &with(3, InstructionSet::Portable));
}

/// They converge to the same image, with other noise.
#[test]
fn other_estimators_are_accepted() {
    // The light is rarely found by chance: few samples do not know their own noise.
    for (direct, spp) in [(Direct::Nee, SPP[0]), (Direct::Bsdf, 16 * SPP[0])] {
        let mut scene = scene();
        scene.render.direct = direct;
        accepted(&format!("{direct:?}"), &film(&scene, spp, 8));
    }
    for sampler in [Sampler::Sobol, Sampler::BlueNoise] {
        let mut scene = scene();
        scene.render.sampler = sampler;
        accepted(&format!("{sampler:?}"), &film(&scene, SPP[0], 9));
    }
    let mut roulette = scene();
    roulette.render.rr_depth = Some(2);
    accepted("Russian roulette", &film(&roulette, SPP[0], 10));
}

#[test]
fn changed_scenes_are_rejected() {
    let changes: [(&str, Change); 6] = [
        ("roughness 10 % more", |scene| alphas(scene, 1.1)),
        ("roughness 10 % less", |scene| alphas(scene, 0.9)),
        ("albedo 2 % less", |scene| {
            for material in &mut scene.materials {
                if let MaterialKind::Diffuse(diffuse) = &mut material.kind {
                    diffuse.reflectance.value *= 0.98;
                }
            }
        }),
        ("light 2 % brighter", |scene| scene.shapes.iter_mut().for_each(|s| s.emission.value *= 1.02)),
        ("light 2 % redder", |scene| {
            scene.shapes.iter_mut().for_each(|s| s.emission.value *= Vec3::new(1.02, 1.0, 1.0));
        }),
        ("camera 1 cm to the side", |scene| {
            scene.camera.position.x += 0.01;
            scene.camera.target.x += 0.01;
        }),
    ];
    for (what, change) in changes {
        let mut scene = scene();
        change(&mut scene);
        rejected(what, &film(&scene, SPP[0] * 2, 20));
    }
}

type Change = fn(&mut Description);

fn alphas(scene: &mut Description, factor: f32) {
    for facets in scene.materials.iter_mut().filter_map(|m| m.kind.facets_mut()) {
        facets.alpha.iter_mut().for_each(|a| a.value *= factor);
    }
}

#[test]
fn mistakes_of_the_physics_are_rejected() {
    let mut seeded = scene();
    seeded.render.seed = 30;
    let data = assembled(&seeded);
    for mistake in [
        Mistake::NoCosineInDirectLight,
        Mistake::NoCosineOn { share: 0.01, patch: 0.05 },
        Mistake::BsdfPdf(1.02),
        Mistake::BsdfPdf(0.98),
    ] {
        rejected(&format!("{mistake:?}"), &tampered::render(&data, tier::choose(2, 4) * SPP[0], mistake));
    }
    accepted("no mistake", &tampered::render(&data, SPP[0], Mistake::None));
}

/// Images that a bug in the film or in the launches would produce.
#[test]
fn damaged_films_are_rejected() {
    let intact = film(&scene(), SPP[0], 40);
    accepted("intact", &intact);
    let width = intact.width as usize;

    let mut shifted = intact.clone();
    shifted.pixels.rotate_right(1);
    rejected("a shift of a pixel", &shifted);

    let mut flipped = intact.clone();
    flipped.pixels.chunks_exact_mut(width).for_each(<[_]>::reverse);
    rejected("a mirror", &flipped);

    let mut swapped = intact.clone();
    swapped.pixels.iter_mut().for_each(|p| (p.sum.swap(0, 2), p.sum_sq.swap(0, 2)).0);
    rejected("red and blue swapped", &swapped);

    let mut tile = intact.clone();
    for pixel in tile.pixels.chunks_exact_mut(width).skip(40).take(4).flat_map(|row| &mut row[24..32]) {
        pixel.sum = pixel.sum.map(|x| (0.8 * x.get()).into());
    }
    rejected("a tile a fifth too dark", &tile);

    let mut nan = intact.clone();
    nan.pixels[1234].sum[1] = f64::NAN.into();
    rejected("a NaN", &nan);
}

/// A light that the scene has and the render leaves out now and then.
#[test]
fn a_lost_light_is_rejected() {
    let mut data: SceneData = assembled(&scene());
    data.lights.all.iter_mut().for_each(|light: &mut Light| light.le *= 0.99);
    assert!(data.geometry.prims.iter().any(|p| p.light != Primitive::NO_LIGHT));
    rejected("1 % of the light", &Machine::Cpu.render(&data, 4 * SPP[0]));
}
