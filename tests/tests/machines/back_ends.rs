//! Back ends against each other: what that proves is that each does what the shared code says.

use std::sync::Arc;

use glam::{Affine2, Vec2};
use renderer::assemble::SceneData;
use renderer::bench::{Observer, RayKind};
use renderer::render::{Budget, Control, Options};
use torrance_gpu::backend::cpu::InstructionSet;
use torrance_image::film::Film;
use torrance_scene::{
    Bitmap, Channel, Description, Distribution, Format, Image, Masking, MaterialKind, Scalar, TexelFilter,
    Texture, Wrap,
};
use torrance_tests::closed::SAMPLERS;
use torrance_tests::compare::{Difference, Reference, compare};
use torrance_tests::{Machine, assembled, gallery_scene, machines, reference_scene};

/// A reference scene. That of frosted glass has Beckmann's statistics here, and all masking is correlated: what takes most
/// functions to compute.
fn scene(name: &str) -> Description {
    let mut scene = reference_scene(name);
    scene.render.masking = Masking::Correlated;
    for material in &mut scene.materials {
        if let Some(facets) = material.kind.facets_mut() {
            facets.distribution = Distribution::Beckmann as u32;
        }
    }
    scene
}

/// The gallery's scene of materials, small, with a texture where there are holes and where there is a blend.
fn materials() -> Description {
    let mut scene = gallery_scene("materials");
    (scene.render.width, scene.render.height) = (96, 40);
    let texels: Arc<[u32]> = (0..64_u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    scene.images.push(Image::new(8, 8, Format::Rgba8, texels));
    let texture = scene.textures.len() as u32;
    scene.textures.push(Texture::Bitmap(Bitmap {
        image: scene.images.len() - 1,
        image_from_uv: Affine2::from_scale(Vec2::new(3.0, 2.0)),
        wrap: [Wrap::Repeat, Wrap::Mirror],
        channel: Channel::G,
        filter: TexelFilter::Linear,
    }));
    let (mut holes, mut blends) = (0, 0);
    for material in &mut scene.materials {
        if !material.opacity.is(1.0) {
            material.opacity = Scalar { value: 1.0, texture };
            holes += 1;
        }
        if let MaterialKind::Blend(blend) = &mut material.kind {
            blend.weight = Scalar { value: 1.0, texture };
            blends += 1;
        }
    }
    assert!(holes > 0 && blends > 0);
    scene
}

fn on_cpu(scene: &SceneData, threads: usize, isa: InstructionSet) -> Film {
    let mut cpu = renderer::Machine::cpu_with(Some(threads), isa).expect("threads start");
    let (budget, go_on) = (Budget::of_samples(4), &mut |_: &_| Control::Continue);
    cpu.render(scene, budget, Options::default(), go_on).expect("rendering succeeds").film
}

#[test]
fn instruction_sets_and_threads_change_no_bit() {
    let references =
        ["cornell-ggx", "roughness-row", "anisotropic", "glass-rough"].map(|name| (name, scene(name)));
    for (name, scene) in references.into_iter().chain([("materials", materials())]) {
        let scene = assembled(&scene);
        let film = on_cpu(&scene, 1, InstructionSet::Portable);
        assert_eq!(film, on_cpu(&scene, 3, InstructionSet::Portable), "{name}: threads");
        for isa in [InstructionSet::Avx2, InstructionSet::Avx512] {
            assert_eq!(film, on_cpu(&scene, 2, isa), "{name}: {isa:?}");
        }
    }
}

/// Films of the same scene are told apart by what is in a hole, or in a blend.
#[test]
fn control_films_tell_materials_apart() {
    let film = |scene: &Description| on_cpu(&assembled(scene), 2, InstructionSet::Portable);
    let right = film(&materials());
    for i in 0..2 {
        let mut scene = materials();
        for material in &mut scene.materials {
            if i == 0 && !material.opacity.is(1.0) {
                material.opacity.value = 0.99;
            }
            if let (1, MaterialKind::Blend(blend)) = (i, &mut material.kind) {
                blend.weight.value = 0.99;
            }
        }
        assert_ne!(right, film(&scene), "{i}");
    }
}

#[test]
fn seeds_change_the_noise_and_nothing_else() {
    let mut scene = reference_scene("cornell-ggx");
    let first = Machine::Cpu.render(&assembled(&scene), tier::choose(64, 256));
    scene.render.seed = 1;
    let second = Machine::Cpu.render(&assembled(&scene), tier::choose(64, 256));
    assert_ne!(first, second);
    let difference = compare(&first, &Reference::film(&second), false);
    assert!(difference.mean < tier::choose(0.01, 0.005) && difference.block_z_rms < 1.2, "{difference:?}");
}

/// The same with what is rough rougher by 0.3 %.
fn rougher(mut scene: Description) -> Description {
    for material in &mut scene.materials {
        if let Some(facets) = material.kind.facets_mut() {
            facets.alpha.iter_mut().for_each(|a| a.value *= 1.003);
        }
    }
    scene
}

/// Whether two renders with the same seed took the same paths, but for the few that rounding sends another way.
/// Noise cancels then, so the bounds are far below those of independent renders.
fn takes_the_same_paths(difference: &Difference) -> bool {
    difference.z_rms <= 0.05 && difference.block_z_rms <= 0.05 && difference.mean <= 1e-4
}

/// Scenes in which every kind of random number is used, and samples a pixel.
const SCENES: [(&str, u32); 3] = [("cornell-ggx", 512), ("anisotropic", 128), ("glass-rough", 128)];

#[test]
fn gpu_and_cpu_agree() {
    if !machines().contains(&Machine::Cuda) {
        return;
    }
    for (name, spp) in SCENES {
        for sampler in SAMPLERS {
            let mut scene = scene(name);
            scene.render.sampler = sampler;
            let scene = assembled(&scene);
            let (gpu, cpu) = (Machine::Cuda.render(&scene, spp), Machine::Cpu.render(&scene, spp));
            let difference = compare(&gpu, &Reference::film(&cpu), false);
            println!("{name}, {sampler:?}: {difference:?}");
            assert!(takes_the_same_paths(&difference), "{name}, {sampler:?}: {difference:?}");
        }
    }
}

#[test]
fn control_roughness_off_by_3_in_1000_takes_other_paths() {
    for (name, spp) in SCENES.map(|(name, spp)| (name, spp / tier::choose(8, 1))) {
        let right = Machine::Cpu.render(&assembled(&scene(name)), spp);
        for machine in machines() {
            let wrong = machine.render(&assembled(&rougher(scene(name))), spp);
            let difference = compare(&wrong, &Reference::film(&right), false);
            println!("control of {name} on {machine:?}: {difference:?}");
            assert!(!takes_the_same_paths(&difference), "{name} on {machine:?}: {difference:?} passes");
        }
    }
}

struct Patient;

impl Observer for Patient {
    fn begin(&mut self, _: RayKind, _: f64) {}

    fn is_stopping(&self) -> bool {
        false
    }
}

/// Rays of each kind, and hits, that are measured.
fn counts(machine: Machine, scene: &SceneData) -> Vec<[u64; 2]> {
    let traced = machine.start().trace(scene, 4, &mut Patient);
    let (traced, complete) = traced.expect("measuring succeeds");
    assert!(complete);
    traced.iter().map(|t| [t.rays, t.hits]).collect()
}

/// Traversal statistics are the same everywhere, but for rays that rounding makes hit or miss.
#[test]
fn gpu_and_cpu_trace_the_same_rays() {
    if !machines().contains(&Machine::Cuda) {
        return;
    }
    for scene in [reference_scene("cornell-diffuse"), reference_scene("instanced"), materials()] {
        let scene = assembled(&scene);
        let [cpu, gpu] = [Machine::Cpu, Machine::Cuda].map(|machine| counts(machine, &scene));
        println!("{cpu:?} on the CPU, {gpu:?} on the GPU");
        for (cpu, gpu) in cpu.as_flattened().iter().zip(gpu.as_flattened()) {
            assert!(cpu.abs_diff(*gpu) <= cpu / 1000 + 2, "{cpu} and {gpu}");
        }
    }
}
