//! The wavefront against the plain loop: what a path computes does not depend on which paths are under way with it.

use renderer::assemble::SceneData;
use renderer::backend::cpu::{Cpu, InstructionSet};
use renderer::film::Film;
use renderer::render::{Budget, Control, Integrator, Options, Part, Paths, StageTimes, When, render_with};
use renderer::scene::Description;
use torrance_tests::compare::{Difference, Reference, compare};
use torrance_tests::{Machine, assembled, gallery_scene, machines, reference_scene};

/// Scenes that take every stage in each of its kinds, small.
fn scenes() -> Vec<(&'static str, SceneData)> {
    let small = |mut scene: Description, width, height| {
        (scene.render.width, scene.render.height) = (width, height);
        assembled(&scene)
    };
    let references = [
        "cornell-ggx",      // basic stages
        "glass-rough",      // those of glass
        "principled-sweep", // all others in full
        "instanced",
        "many-lights",
        "textured",
        "envmap-sun",
        "thinlens",
        "punctual",
    ];
    let mut scenes: Vec<_> =
        references.map(|name| (name, small(reference_scene(name), 50, 37))).into_iter().collect();
    // Holes and blends.
    scenes.push(("materials", small(gallery_scene("materials"), 96, 40)));
    scenes
}

fn wavefront(pool: u32) -> Options<'static> {
    of_paths(Paths::new(pool))
}

fn of_paths(paths: Paths) -> Options<'static> {
    Options { integrator: Integrator::Wavefront(paths), ..Options::default() }
}

fn on_cpu(scene: &SceneData, options: Options<'_>, threads: usize, isa: InstructionSet) -> Film {
    let mut cpu = Cpu::with_instruction_set(Some(threads), isa).expect("threads start");
    let budget = Budget { spp: 6, time: None };
    let rendered = render_with(&mut cpu, scene, budget, options, &mut |_| Control::Continue);
    rendered.expect("rendering succeeds").film
}

#[test]
fn pools_threads_and_instruction_sets_change_no_bit() {
    for (name, scene) in scenes() {
        let film = on_cpu(&scene, Options::default(), 2, InstructionSet::Avx512);
        for (pool, threads, isa) in [
            (1, 1, InstructionSet::Portable),
            (33, 3, InstructionSet::Avx2),
            (1000, 1, InstructionSet::Avx512),
            (1 << 13, 2, InstructionSet::Avx512),
            (1 << 16, 3, InstructionSet::Portable),
        ] {
            // One path at a time takes long.
            if pool > 1 || name == "cornell-ggx" {
                assert_eq!(film, on_cpu(&scene, wavefront(pool), threads, isa), "{name}: a pool of {pool}");
            }
        }
    }
}

/// What is there to compare times with takes the same paths.
#[test]
fn queues_orders_and_full_pools_change_no_bit() {
    let all = Paths::new(1000);
    for (name, scene) in scenes() {
        let film = on_cpu(&scene, Options::default(), 2, InstructionSet::Avx512);
        for (paths, isa) in [
            (Paths { sort: false, ..all }, InstructionSet::Avx512),
            (Paths { order_rays: When::Always, ..all }, InstructionSet::Avx512),
            (Paths { order_rays: When::Never, ..all }, InstructionSet::Portable),
            (Paths { compact: false, ..all }, InstructionSet::Avx512),
            (Paths { compact: false, ..all }, InstructionSet::Portable),
            (Paths { regenerate: false, ..all }, InstructionSet::Avx2),
            (Paths { compact: false, regenerate: false, ..all }, InstructionSet::Avx2),
        ] {
            assert_eq!(film, on_cpu(&scene, of_paths(paths), 2, isa), "{name}: {paths:?}");
        }
    }
}

/// The times are of the work that was done, whatever its order.
#[test]
fn work_is_counted() {
    let mut scene = reference_scene("principled-sweep");
    (scene.render.width, scene.render.height) = (64, 36);
    let scene = assembled(&scene);
    let spp = 4;
    let all = Paths::new(700);
    let measured = |paths| {
        let mut cpu = Cpu::new(Some(2)).expect("threads start");
        let options = Options { stage_times: true, ..of_paths(paths) };
        let go_on = &mut |_: &_| Control::Continue;
        let rendered = render_with(&mut cpu, &scene, Budget { spp, time: None }, options, go_on);
        rendered.expect("rendering succeeds").stage_times.expect("it has stages")
    };
    let items = |times: &StageTimes, part| {
        let time = times.parts.iter().find(|time| time.part == part).expect("the part is there");
        assert!(time.runs > 0 && !time.time.is_zero() && time.occupancy.is_none(), "{time:?}");
        time.items
    };
    let times = measured(all);
    let paths = u64::from(scene.width * scene.height * spp);
    assert_eq!(items(&times, Part::Generate), Some(paths));
    assert_eq!(items(&times, Part::Accumulate), Some(paths));
    let segments = items(&times, Part::Extend).expect("segments are counted");
    assert!((paths..paths * 20).contains(&segments), "{segments} segments of {paths} paths");
    let shadow_rays = items(&times, Part::Connect).expect("shadow rays are counted");
    assert!((1..segments).contains(&shadow_rays), "{shadow_rays} shadow rays of {segments} segments");
    let runs = |times: &StageTimes, part| {
        times.parts.iter().find(|time| time.part == part).map_or(0, |time| time.runs)
    };
    assert_eq!(items(&times, Part::Cull), Some(700 * runs(&times, Part::Cull)));
    assert!(times.rounds <= runs(&times, Part::Shade) && times.passes == runs(&times, Part::Accumulate));
    let shares: f64 = times.parts.iter().map(|part| times.share(part)).sum();
    assert!((shares - 1.0).abs() < 1e-9 && (0.0..1.0).contains(&times.bookkeeping()));

    // As long as there are paths to begin, the pool is full.
    let last = times.curve.len() - 1;
    assert!(times.curve[..last / 2].iter().all(|live| *live == 700), "{:?}", times.curve);
    assert!(times.curve[last] < 700);

    for paths in [
        Paths { sort: false, ..all },
        Paths { order_rays: When::Always, ..all },
        Paths { compact: false, ..all },
        Paths { regenerate: false, ..all },
        Paths::new(33),
    ] {
        let times = measured(paths);
        assert_eq!(items(&times, Part::Shade), Some(segments), "{paths:?}");
        assert_eq!(items(&times, Part::Connect), paths.compact.then_some(shadow_rays), "{paths:?}");
        let refilled = times.curve.windows(2).take(times.curve.len() / 2).all(|pair| pair[1] >= pair[0]);
        assert_eq!(refilled, paths.regenerate, "{paths:?}: {:?}", times.curve);
    }
}

#[test]
fn what_is_chosen_changes_no_bit() {
    for (name, scene) in scenes() {
        let film = on_cpu(&scene, Options::default(), 2, InstructionSet::Avx512);
        let fastest = Integrator::Fastest(Paths::new(1000));
        let options = Options { integrator: fastest, ..Options::default() };
        assert_eq!(film, on_cpu(&scene, options, 2, InstructionSet::Avx512), "{name}");
    }
}

#[test]
fn control_films_of_another_seed_differ() {
    for (name, mut scene) in scenes() {
        let film = on_cpu(&scene, wavefront(1000), 2, InstructionSet::Avx512);
        scene.settings.seed ^= 1;
        assert_ne!(film, on_cpu(&scene, wavefront(1000), 2, InstructionSet::Avx512), "{name}");
    }
}

/// Russian roulette ends paths early, and long paths go on when all others have ended.
#[test]
fn paths_of_any_length_end() {
    let mut scene = reference_scene("cornell-ggx");
    (scene.render.width, scene.render.height) = (16, 16);
    for (max_depth, rr_depth) in [(1, None), (2, None), (100, None), (1000, Some(3))] {
        (scene.render.max_depth, scene.render.rr_depth) = (max_depth, rr_depth);
        let scene = assembled(&scene);
        let film = on_cpu(&scene, Options::default(), 2, InstructionSet::Avx2);
        assert_eq!(
            film,
            on_cpu(&scene, wavefront(300), 2, InstructionSet::Avx2),
            "{max_depth}, {rr_depth:?}"
        );
    }
}

#[test]
fn a_render_that_is_stopped_has_whole_samples() {
    let mut scene = reference_scene("cornell-ggx");
    (scene.render.width, scene.render.height) = (64, 64);
    let scene = assembled(&scene);
    let mut cpu = Cpu::new(Some(2)).expect("threads start");
    let budget = Budget { spp: 1 << 20, time: None };
    let mut launches = 0;
    let mut stop = |_: &_| {
        launches += 1;
        if launches < 7 { Control::Continue } else { Control::Stop }
    };
    let rendered = render_with(&mut cpu, &scene, budget, wavefront(500), &mut stop).expect("it renders");
    assert!(rendered.interrupted);
    let samples: u64 = rendered.film.pixels.iter().map(|p| p.count).sum();
    assert_eq!(samples + rendered.film.rejected() as u64, rendered.progress.paths);
}

/// Whether two renders with the same seed took the same paths, but for the few that rounding sends another way.
fn takes_the_same_paths(difference: &Difference) -> bool {
    difference.z_rms <= 0.05 && difference.block_z_rms <= 0.05 && difference.mean <= 1e-4
}

#[test]
fn on_a_gpu_it_takes_the_paths_of_megakernel_and_cpu() {
    if !machines().contains(&Machine::Cuda) {
        return;
    }
    for (name, scene) in scenes() {
        let mega = Machine::Cuda.render(&scene, 256);
        let cpu = Machine::Cpu.render(&scene, 256);
        // The rays of 1100 slots are shared out among 5 warps, which are not whole blocks.
        for pool in [1100, 1 << 16] {
            let waves = Machine::Cuda.render_with(&scene, 256, wavefront(pool)).film;
            for (other, film) in [("megakernel", &mega), ("CPU", &cpu)] {
                let difference = compare(&waves, &Reference::film(film), false);
                println!("{name}, wavefront with {pool} slots and {other}: {difference:?}");
                assert!(takes_the_same_paths(&difference), "{name}, {pool}, {other}: {difference:?}");
            }
        }
        let mut reseeded = scene;
        reseeded.settings.seed ^= 1;
        let wrong = Machine::Cuda.render_with(&reseeded, 256, wavefront(1 << 16)).film;
        let difference = compare(&wrong, &Reference::film(&cpu), false);
        assert!(!takes_the_same_paths(&difference), "{name}: {difference:?}, another seed, passes");
    }
}
