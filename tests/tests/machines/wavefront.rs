//! The wavefront against the plain loop: what a path computes does not depend on which paths are under way with it.

use renderer::assemble::SceneData;
use renderer::render::{
    Budget, Contestant, Control, Integrator, Options, Paths, Progress, Rendered, StageTimes, Step, When,
};
use torrance_gpu::backend::cpu::InstructionSet;
use torrance_image::film::Film;
use torrance_scene::Description;
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
    let mut cpu = renderer::Machine::cpu_with(Some(threads), isa).expect("threads start");
    rendered(&mut cpu, scene, 6, options).film
}

fn rendered(cpu: &mut renderer::Machine, scene: &SceneData, spp: u32, options: Options<'_>) -> Rendered {
    let budget = Budget::of_samples(spp);
    let rendered = cpu.render(scene, budget, options, &mut |_| Control::Continue);
    rendered.expect("rendering succeeds")
}

/// Renders in stages, and takes their times.
fn timed(scene: &SceneData, spp: u32, paths: Paths) -> StageTimes {
    let mut cpu = renderer::Machine::cpu(Some(2)).expect("threads start");
    let options = Options { stage_times: true, ..of_paths(paths) };
    rendered(&mut cpu, scene, spp, options).stage_times.expect("it has stages")
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

/// The settings that exist for comparing times trace the same paths.
#[test]
fn queues_orders_and_full_pools_change_no_bit() {
    let all = Paths::new(1000);
    let mut sorted = 0;
    for (name, scene) in scenes() {
        let has = |part, paths| timed(&scene, 1, paths).steps.iter().any(|time| time.step == part);
        sorted += u32::from(has(Step::Sort, all));
        assert!(!has(Step::Sort, Paths { sort: false, ..all }), "{name}");
        let unordered = Paths { order_rays: When::Never, ..all };
        let ordered = Paths { order_rays: When::Always, ..all };
        for part in [Step::OrderRays, Step::OrderLight] {
            assert!(has(part, ordered) && !has(part, unordered), "{name}: {part:?}");
            assert_eq!(has(part, all), scene.stats.instances > 0, "{name}: {part:?}");
        }
        for part in [Step::Sort, Step::OrderRays, Step::OrderLight, Step::Compact] {
            assert!(!has(part, Paths { compact: false, ..ordered }), "{name}: {part:?}");
        }
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
    assert!(sorted > 0, "no scene has families enough to be sorted");
}

/// A scene of glossy balls, small.
fn sweep(width: u32, height: u32) -> SceneData {
    let mut scene = reference_scene("principled-sweep");
    (scene.render.width, scene.render.height) = (width, height);
    assembled(&scene)
}

/// How often a part ran, and how much it worked on.
fn work(times: &StageTimes, part: Step) -> (u64, Option<u64>) {
    let time = times.steps.iter().find(|time| time.step == part).expect("the part is there");
    assert!(time.runs > 0 && !time.time.is_zero() && time.occupancy.is_none(), "{time:?}");
    (time.runs, time.items)
}

/// The times are of the work that was done, whatever its order, and in whatever passes: how many there are is a matter of
/// the machine's speed.
#[test]
fn work_is_counted() {
    let (scene, spp) = (sweep(64, 36), 4);
    let all = Paths::new(700);
    let items = |times: &StageTimes, part| work(times, part).1;
    let runs = |times: &StageTimes, part| work(times, part).0;
    let times = timed(&scene, spp, all);
    let paths = u64::from(scene.width * scene.height * spp);
    assert_eq!(items(&times, Step::Generate), Some(paths));
    assert_eq!(items(&times, Step::Accumulate), Some(paths));
    let segments = items(&times, Step::Extend).expect("segments are counted");
    assert!((paths..paths * 20).contains(&segments), "{segments} segments of {paths} paths");
    let shadow_rays = items(&times, Step::Connect).expect("shadow rays are counted");
    assert!((1..segments).contains(&shadow_rays), "{shadow_rays} shadow rays of {segments} segments");
    assert_eq!(items(&times, Step::Cull), Some(700 * runs(&times, Step::Cull)));
    assert!(times.rounds <= runs(&times, Step::Shade) && times.passes == runs(&times, Step::Accumulate));
    let shares: f64 = times.steps.iter().map(|part| times.share(part)).sum();
    assert!((shares - 1.0).abs() < 1e-9 && (0.0..1.0).contains(&times.bookkeeping()));

    for paths in [
        Paths { sort: false, ..all },
        Paths { order_rays: When::Always, ..all },
        Paths { compact: false, ..all },
        Paths { regenerate: false, ..all },
        Paths::new(33),
    ] {
        let times = timed(&scene, spp, paths);
        assert_eq!(items(&times, Step::Shade), Some(segments), "{paths:?}");
        assert_eq!(items(&times, Step::Connect), paths.compact.then_some(shadow_rays), "{paths:?}");
    }
}

/// As long as there are paths to begin, less than a quarter of the pool is free. The image is so small that all of it is in
/// the first launch, of which nothing depends on how fast the machine is.
#[test]
fn pools_stay_full() {
    let scene = sweep(16, 8);
    let all = Paths::new(20);
    for paths in [
        all,
        Paths::new(7),
        Paths { sort: false, ..all },
        Paths { compact: false, ..all },
        Paths { regenerate: false, ..all },
    ] {
        let times = timed(&scene, 1, paths);
        let StageTimes { curve, rounds, .. } = &times;
        assert_eq!((times.passes, times.paths, *rounds), (1, 16 * 8, curve.len() as u64), "{paths:?}");
        assert_eq!(
            curve.iter().map(|live| u64::from(*live)).sum::<u64>(),
            work(&times, Step::Extend).1.unwrap()
        );
        let last = curve.len() - 1;
        let is_full = curve[..last / 2].iter().all(|live| *live > paths.pool - paths.pool.div_ceil(4));
        assert_eq!(is_full, paths.regenerate, "{paths:?}: {curve:?}");
        assert!(curve[0] == paths.pool && curve[last] < paths.pool, "{paths:?}: {curve:?}");
    }
}

#[test]
fn what_is_chosen_changes_no_bit() {
    let mut chosen = Vec::new();
    for (name, scene) in scenes() {
        let film = on_cpu(&scene, Options::default(), 2, InstructionSet::Avx512);
        let mut cpu = renderer::Machine::cpu(Some(2)).expect("threads start");
        let Rendered { film: other, integrator, .. } = rendered(&mut cpu, &scene, 6, fastest(1000));
        assert_eq!(film, other, "{name}");
        assert_eq!(integrator.rates, None, "{name} is over too soon to be raced for");
        chosen.push(integrator.integrator);
    }
    assert!(
        chosen.contains(&Contestant::Megakernel) && chosen.contains(&Contestant::Wavefront),
        "{chosen:?}"
    );
}

fn fastest(pool: u32) -> Options<'static> {
    Options { integrator: Integrator::Fastest(Paths::new(pool)), ..Options::default() }
}

/// Both take samples of the same film, in passes of one launch and of several, and the faster one goes on.
#[test]
fn a_race_changes_no_bit() {
    let mut scene = reference_scene("cornell-ggx");
    (scene.render.width, scene.render.height) = (96, 64);
    for scene in [assembled(&scene), sweep(400, 300)] {
        let mut cpu = renderer::Machine::cpu(Some(2)).expect("threads start");
        let mut passes = 0;
        let mut stop = |progress: &Progress| {
            passes += u32::from(progress.paths == u64::from(progress.spp) * progress.pixels);
            // Passes become four times as long each until they have their size, of which each of the two runs one.
            if passes < 12 { Control::Continue } else { Control::Stop }
        };
        let budget = Budget::of_samples(1 << 16);
        let raced = cpu.render(&scene, budget, fastest(1000), &mut stop).expect("it renders");
        let rates = raced.integrator.rates.expect("both were tried");
        assert!(rates.iter().all(|rate| rate.is_finite() && *rate > 0.0), "{rates:?}");
        let winner = if rates[1] > rates[0] { Contestant::Wavefront } else { Contestant::Megakernel };
        assert_eq!(raced.integrator.integrator, winner, "{rates:?}");
        let plain = rendered(&mut cpu, &scene, raced.progress.spp, Options::default());
        assert_eq!(plain.film, raced.film, "{rates:?}, {} spp", raced.progress.spp);
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
    let mut cpu = renderer::Machine::cpu(Some(2)).expect("threads start");
    let budget = Budget::of_samples(1 << 20);
    let mut launches = 0;
    let mut stop = |_: &_| {
        launches += 1;
        if launches < 7 { Control::Continue } else { Control::Stop }
    };
    let rendered = cpu.render(&scene, budget, wavefront(500), &mut stop).expect("it renders");
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
