//! Back ends against each other: what that proves is that each does what the shared code says.

use renderer::backend::cpu::{Cpu, InstructionSet};
use renderer::film::Film;
use renderer::render::{Budget, Control, render};
use renderer::scene::{Description, Masking, Sampler};
use torrance_tests::compare::{Difference, Reference, compare};
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
        for isa in [InstructionSet::Avx2, InstructionSet::Avx512] {
            assert_eq!(film, on_cpu(scene, 2, isa), "{scene}: {isa:?}");
        }
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

/// A scene in which every kind of random number is used, and the same with metals rougher by 0.3 %.
fn scene_and_control(sampler: Sampler) -> (Description, Description) {
    let mut scene = reference_scene("cornell-ggx");
    (scene.render.sampler, scene.render.masking) = (sampler, Masking::Correlated);
    let mut control = scene.clone();
    for material in &mut control.materials {
        if let Some(facets) = material.kind.facets_mut() {
            facets.alpha.iter_mut().for_each(|a| a.value *= 1.003);
        }
    }
    (scene, control)
}

/// Whether two renders with the same seed took the same paths, but for the few that rounding sends another way.
/// Noise cancels then, so the bounds are far below those of independent renders.
fn takes_the_same_paths(difference: &Difference) -> bool {
    difference.z_rms <= 0.05 && difference.block_z_rms <= 0.05 && difference.mean <= 1e-4
}

const SPP: u32 = 1024;

#[test]
fn gpu_and_cpu_agree() {
    if !machines().contains(&Machine::Cuda) {
        return;
    }
    for sampler in [Sampler::Independent, Sampler::Sobol] {
        let scene = assembled(&scene_and_control(sampler).0);
        let (gpu, cpu) = (Machine::Cuda.render(&scene, SPP), Machine::Cpu.render(&scene, SPP));
        let difference = compare(&gpu, &Reference::film(&cpu), false);
        println!("{sampler:?}: {difference:?}");
        assert!(takes_the_same_paths(&difference), "{sampler:?}: {difference:?}");
    }
}

#[test]
fn control_roughness_off_by_3_in_1000_takes_other_paths() {
    let (scene, control) = scene_and_control(Sampler::Independent);
    let right = Machine::Cpu.render(&assembled(&scene), SPP);
    for machine in machines() {
        let wrong = machine.render(&assembled(&control), SPP);
        let difference = compare(&wrong, &Reference::film(&right), false);
        println!("control on {machine:?}: {difference:?}");
        assert!(!takes_the_same_paths(&difference), "{machine:?}: {difference:?} passes");
    }
}
