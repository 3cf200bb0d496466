//! Back ends against each other: what that proves is that each does what the shared code says.

use renderer::backend::cpu::{Cpu, InstructionSet};
use renderer::film::Film;
use renderer::render::{Budget, Control, render};
use renderer::scene::{Masking, Sampler};
use torrance_tests::compare::{Reference, compare};
use torrance_tests::{Machine, assembled, machines, reference_scene};

fn on_cpu(scene: &str, threads: usize, isa: InstructionSet) -> Film {
    let scene = assembled(&reference_scene(scene));
    let mut cpu = Cpu::with_instruction_set(Some(threads), isa).expect("threads start");
    let budget = Budget { spp: 8, time: None };
    render(&mut cpu, &scene, budget, &mut |_| Control::Continue).expect("rendering succeeds").film
}

#[test]
fn instruction_sets_and_threads_change_no_bit() {
    for scene in ["cornell-ggx", "roughness-row"] {
        let film = on_cpu(scene, 1, InstructionSet::Portable);
        assert_eq!(film, on_cpu(scene, 3, InstructionSet::Portable), "{scene}: threads");
        assert_eq!(film, on_cpu(scene, 2, InstructionSet::Avx2), "{scene}: AVX2");
    }
}

#[test]
fn seeds_change_the_noise_and_nothing_else() {
    let mut scene = reference_scene("cornell-ggx");
    let first = Machine::Cpu.render(&assembled(&scene), 256);
    scene.render.seed = 1;
    let second = Machine::Cpu.render(&assembled(&scene), 256);
    assert_ne!(first, second);
    let difference = compare(&first, &Reference::film(&second), false);
    assert!(difference.mean < 0.005 && difference.block_z_rms < 1.2, "{difference:?}");
}

/// Two renders of one scene with the same seed, one of which may be of a changed scene.
fn gpu_against_cpu(sampler: Sampler, change: impl Fn(&mut renderer::scene::Description)) -> Option<bool> {
    if !machines().contains(&Machine::Cuda) {
        return None;
    }
    let mut scene = reference_scene("cornell-ggx");
    (scene.render.sampler, scene.render.masking) = (sampler, Masking::Correlated);
    let cpu = Machine::Cpu.render(&assembled(&scene), 256);
    change(&mut scene);
    let gpu = Machine::Cuda.render(&assembled(&scene), 256);
    let difference = compare(&gpu, &Reference::film(&cpu), false);
    println!("{sampler:?}: {difference:?}");
    Some(difference.agrees())
}

#[test]
fn gpu_and_cpu_agree() {
    for sampler in [Sampler::Independent, Sampler::Sobol] {
        assert_ne!(gpu_against_cpu(sampler, |_| ()), Some(false));
    }
}

#[test]
fn control_gpu_with_another_camera_disagrees() {
    let change = |scene: &mut renderer::scene::Description| scene.camera.fov *= 1.01;
    assert_ne!(gpu_against_cpu(Sampler::Independent, change), Some(true));
}
