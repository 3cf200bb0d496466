//! Stages of the wavefront on several back ends, each from the same data, column by column.

use std::collections::BTreeSet;

use device::features::Features;
use renderer::assemble::SceneData;
use renderer::render::{Dump, Paths, Step};
use torrance_gpu::backend::cpu::{Cpu, InstructionSet};
use torrance_gpu::backend::cuda::Cuda;
use torrance_tests::replay::{Report, Tolerance, replay};
use torrance_tests::{Machine, assembled, gallery_scene, machines, reference_scene};

const fn close(
    column: &'static str,
    words: &'static str,
    [relative, absolute]: [f32; 2],
    outliers: f64,
) -> Tolerance {
    Tolerance { column, words, relative, absolute, outliers }
}

/// Between a CPU and a GPU: a GPU fuses multiplications with additions, and has its own sines, roots and powers. Where a
/// ray passes an edge, or a random number is at the border between lobes, that sends a path another way: these are the
/// outliers. What is only moved or counted is the same to the bit.
const TOLERANCES: &[Tolerance] = &[
    //    column             words             relative absolute  outliers
    close("origin", "ffff", [1e-4, 1e-4], 5e-3),
    close("direction", "ffff", [2e-3, 1e-4], 5e-3),
    close("throughput", "ffff", [2e-3, 1e-6], 5e-3),
    close("identity", "uuuu", [0.0, 0.0], 5e-3),
    close("cone", "ff", [2e-3, 1e-6], 5e-3),
    // Barycentric coordinates of triangles as small as those of the knot are known less well than where they are; distances
    // are mostly some units, of which the relative bound is as large.
    close("hit", "fuff", [1e-4, 5e-4], 5e-3),
    close("instance", "u", [0.0, 0.0], 5e-3),
    close("shadow_origin", "ffff", [1e-4, 1e-4], 5e-3),
    close("shadow_direction", "fffu", [1e-4, 1e-4], 5e-3),
    close("shadow_light", "fffu", [5e-3, 1e-6], 5e-3),
    close("gathered", "ffff", [5e-3, 1e-6], 5e-3),
    close("alive", "u", [0.0, 0.0], 5e-3),
    close("shadow", "u", [0.0, 0.0], 5e-3),
    close("keys", "u", [0.0, 0.0], 5e-3),
    Tolerance::exact("queue", "u"),
    Tolerance::exact("alive_count", "u"),
    Tolerance::exact("live_count", "u"),
    Tolerance::exact("ray_keys", "u"),
    Tolerance::exact("sorted_ray_keys", "u"),
    Tolerance::exact("ray_queue", "u"),
    Tolerance::exact("shadow_queue", "u"),
    Tolerance::exact("shadow_count", "u"),
    Tolerance::exact("sorted_keys", "u"),
    Tolerance::exact("shade_queue", "u"),
    Tolerance::exact("starts", "u"),
    Tolerance::exact("counters", "uuuuuuuu"),
    close("film", "ffffffffffffuu", [1e-5, 1e-6], 0.0),
];

/// Between instruction sets of a CPU.
fn exact() -> Vec<Tolerance> {
    TOLERANCES.iter().map(|t| Tolerance::exact(t.column, t.words)).collect()
}

/// A GPU's kernels keep nothing that the scene does not ask for.
fn of_gpu(scene: &SceneData) -> Vec<Tolerance> {
    let is_kept = |t: &&Tolerance| t.column != "cone" || scene.features.intersects(Features::TEXTURES);
    TOLERANCES.iter().filter(is_kept).copied().collect()
}

/// Scenes that take every stage in each of its kinds, small.
fn scenes() -> Vec<(&'static str, SceneData)> {
    let references =
        ["cornell-ggx", "glass-rough", "principled-sweep", "instanced", "many-lights", "textured"];
    let described = references.map(|name| (name, reference_scene(name)));
    let holes_and_blends = [("materials", gallery_scene("materials"))];
    let small = |(name, mut scene): (&'static str, torrance_scene::Description)| {
        (scene.render.width, scene.render.height) = (32, 24);
        (name, assembled(&scene))
    };
    described.into_iter().chain(holes_and_blends).map(small).collect()
}

fn cpu(isa: InstructionSet) -> Cpu {
    Cpu::with_instruction_set(Some(2), isa).expect("threads start")
}

const PASS: (Paths, u32) = (Paths::new(900), 3);

/// The best instruction set against none.
fn between_instruction_sets(
    [scene, its]: [&SceneData; 2],
    tolerances: &[Tolerance],
    tamper: impl FnMut(Step, &Dump, &mut Dump),
) -> Report {
    let (mut best, mut portable) = (cpu(InstructionSet::Avx512), cpu(InstructionSet::Portable));
    replay((&mut best, scene), (&mut portable, its), PASS, tolerances, tamper)
}

fn untouched(_: Step, _: &Dump, _: &mut Dump) {}

#[test]
fn stages_have_the_same_bits_with_every_instruction_set() {
    let mut written = BTreeSet::new();
    for (name, scene) in scenes() {
        let report = between_instruction_sets([&scene, &scene], &exact(), untouched);
        assert!(report.misses().is_empty(), "{name}:\n{report}");
        assert!(report.rounds > 4, "{name}: {} rounds", report.rounds);
        written.extend(report.findings.keys().copied());
    }
    let columns: BTreeSet<_> = written.iter().map(|(_, column)| *column).collect();
    for tolerance in TOLERANCES {
        assert!(columns.contains(tolerance.column), "nothing writes {}: {written:?}", tolerance.column);
    }
    let parts: BTreeSet<_> = written.iter().map(|(part, _)| *part).collect();
    assert_eq!(parts.len(), Step::all().count(), "{parts:?}");
}

/// Changes one row in `every` of those that a stage has written of a column: floats by a factor, others by a bit, which is
/// also what a factor of 1 changes. Returns whether there was one.
fn tamper(before: &Dump, after: &mut Dump, tolerance: &Tolerance, every: usize, factor: f32) -> bool {
    let column = after.columns.iter_mut().find(|c| c.name == tolerance.column);
    let (Some(column), Some(old)) = (column, before.column(tolerance.column)) else { return false };
    let bytes = column.bytes;
    let rows = column.data.chunks_exact_mut(bytes).zip(old.data.chunks_exact(bytes));
    let mut is_changed = false;
    for (row, _) in rows.filter(|(new, old)| new != old).step_by(every) {
        match tolerance.words.find('f') {
            Some(_) if factor != 1.0 => {
                for (word, kind) in row.chunks_exact_mut(4).zip(tolerance.words.chars()) {
                    let x = f32::from_ne_bytes((&*word).try_into().expect("four bytes"));
                    if kind == 'f' {
                        word.copy_from_slice(&(x * factor).to_ne_bytes());
                    }
                }
            }
            _ => row[0] ^= 1,
        }
        is_changed = true;
    }
    is_changed
}

#[test]
fn control_a_bit_in_any_column_is_found() {
    let (_, scene) = scenes().swap_remove(2);
    let plain = between_instruction_sets([&scene, &scene], &exact(), untouched);
    for ((part, column), finding) in &plain.findings {
        let mut is_left = true;
        let report = between_instruction_sets([&scene, &scene], &exact(), |its_part, before, after| {
            if is_left && its_part == *part {
                is_left = !tamper(before, after, &finding.tolerance, usize::MAX, 1.0);
            }
        });
        assert!(!is_left, "{part:?} writes {column}");
        assert_eq!(report.misses(), [(*part, *column)]);
        let found = &report.findings[&(*part, *column)];
        assert_eq!((found.off, found.first.is_some()), (1, true));
    }
}

#[test]
fn control_another_seed_is_found() {
    for (name, mut reseeded) in scenes() {
        let (_, scene) = scenes().into_iter().find(|(other, _)| *other == name).expect("the same scene");
        reseeded.settings.seed ^= 1;
        for tolerances in [exact(), of_gpu(&scene)] {
            let report = between_instruction_sets([&scene, &reseeded], &tolerances, untouched);
            let misses = report.misses();
            for miss in [(Step::Generate, "direction"), (Step::Shade, "direction")] {
                assert!(misses.contains(&miss), "{name}, {miss:?}:\n{report}");
            }
            assert!(!misses.iter().any(|(part, _)| *part == Step::Cull || *part == Step::Accumulate));
        }
    }
}

/// The tolerances of GPUs let through what rounding may do, and no more.
#[test]
fn control_tolerances_let_little_through() {
    let (_, scene) = scenes().swap_remove(2);
    let tolerances = of_gpu(&scene);
    let plain = between_instruction_sets([&scene, &scene], &tolerances, untouched);
    for ((part, column), finding) in &plain.findings {
        let with = |every: usize, factor: f32| {
            between_instruction_sets([&scene, &scene], &tolerances, |its_part, before, after| {
                if its_part == *part {
                    tamper(before, after, &finding.tolerance, every, factor);
                }
            })
        };
        let report = with(20, 1.02);
        assert_eq!(report.misses(), [(*part, *column)], "{report}");
        if finding.tolerance.words.contains('f') {
            let report = with(1, 1.0 + 1e-6);
            assert!(report.misses().is_empty(), "{report}");
            let distance = report.findings[&(*part, *column)].distance;
            assert!(distance > 0.0 && distance < 0.2, "{part:?}, {column}: {distance}");
        }
    }
}

#[test]
fn stages_of_a_gpu_make_what_those_of_a_cpu_do() {
    if !machines().contains(&Machine::Cuda) {
        return;
    }
    let mut gpu = Cuda::new(0).expect("the device opens");
    let mut cpu = cpu(InstructionSet::Avx512);
    let mut misses = Vec::new();
    for (name, scene) in scenes() {
        for paths in [PASS.0, Paths { compact: false, regenerate: false, ..PASS.0 }] {
            let pass = (paths, PASS.1);
            let report = replay((&mut cpu, &scene), (&mut gpu, &scene), pass, &of_gpu(&scene), untouched);
            println!("{name}, {paths:?}\n{report}");
            misses.extend(report.misses().into_iter().map(|miss| (name, miss)));
        }
    }
    assert!(misses.is_empty(), "{misses:?}");

    let (_, scene) = scenes().swap_remove(0);
    let (_, mut reseeded) = scenes().swap_remove(0);
    reseeded.settings.seed ^= 1;
    let tolerances = of_gpu(&scene);
    let report = replay((&mut cpu, &scene), (&mut gpu, &reseeded), PASS, &tolerances, untouched);
    assert!(report.misses().contains(&(Step::Shade, "direction")), "another seed passes:\n{report}");
}
