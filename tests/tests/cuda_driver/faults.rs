//! Renders on several machines of which some fail: whatever call of the driver it is, the image has each of its samples once, or
//! there is an error that says what happened, and what was kept can be gone on with.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

use renderer::assemble::{SceneData, assemble};
use renderer::render::{
    Budget, Checkpoints, Control, Identity, Integrator, Observer, Options, Progress, Rendered, Request,
    Resumed,
};
use renderer::{Fleet, FleetChoice, Integrators, Machine, MachineError};
use torrance_gpu::backend::cuda::driver::LIBRARY_VARIABLE;
use torrance_image::film::ranges::{fingerprint, parts};
use torrance_image::film::{Film, Pixel};

use super::children::{contains, fake, run_by, scratch};
use super::fake::{DRIVER_VARIABLE, Fake, Fault};

/// Small GPUs, which fill themselves with a part of an image.
const SMALL: [(&str, &str); 2] = [("FAKE_MULTIPROCESSORS", "1"), ("FAKE_THREADS", "128")];

/// Runs a case on GPUs of the fake driver, small ones unless told otherwise, in a program that `shell` may limit.
fn on_fakes(case: &str, gpus: &[(&str, &str)], program: Command) -> Option<String> {
    let fake = fake()?;
    let variables = [&[(LIBRARY_VARIABLE, fake), (DRIVER_VARIABLE, fake)], gpus].concat();
    let child = run_by(program, case, &variables);
    println!("{case}: {}", child.answer);
    contains(&child.left, &["contexts=0 modules=0 streams=0 events=0 allocations=0 pinned=0 "]);
    Some(child.answer)
}

fn this_program() -> Command {
    Command::new(std::env::current_exe().unwrap())
}

#[test]
fn machines_share_a_render() {
    on_fakes("no faults", &SMALL, this_program());
}

#[test]
fn any_call_may_fail() {
    on_fakes("faults of calls", &SMALL, this_program());
    on_fakes("faults of memory", &SMALL, this_program());
    // Large ones spread the samples of a pixel over several films.
    if tier::is_deep() {
        on_fakes("faults of calls", &[], this_program());
    }
}

#[test]
fn the_others_render_what_one_has_not_published() {
    for case in ["faults of places", "faults of launches", "faults of all"] {
        on_fakes(case, &SMALL, this_program());
    }
}

#[test]
fn what_is_kept_can_be_gone_on_with() {
    for case in ["kept", "stopped"] {
        on_fakes(case, &SMALL, this_program());
    }
}

#[test]
#[cfg(unix)]
fn a_render_that_no_machine_can_do_ends() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v 8000000; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    if let Some(answer) = on_fakes("hopeless", &SMALL, shell) {
        contains(&answer, &["CPU, "]);
    }
}

const SPP: u32 = 6;

/// By how much a mean may differ for the order of a pixel's sums.
const ROUNDING: f64 = 1e-9;

const SCENE: &str = r#"
    [render]
    size = [48, 40]
    [camera]
    position = [0, 1, 4]
    target = [0, 0.4, 0]
    fov = 40
    [environment]
    radiance = [0.3, 0.4, 0.6]
    [materials.grey]
    type = "diffuse"
    reflectance = [0.6, 0.5, 0.4]
    [[shapes]]
    type = "sphere"
    material = "grey"
    center = [0, 0.5, 0]
    radius = 0.5
    [[shapes]]
    type = "quad"
    material = "grey"
    transform = [{ scale = 4 }, { rotate = { axis = "x", degrees = -90 } }]
    [[shapes]]
    type = "quad"
    emission = 5
    transform = [{ scale = 0.5 }, { rotate = { axis = "x", degrees = 90 } }, { translate = [0.4, 2, 0.5] }]
"#;

fn scene() -> SceneData {
    let files = torrance_scene::Files::new(".", false);
    let loaded = torrance_scene::load_bytes("scene.toml", SCENE.as_bytes(), &files);
    assemble(&loaded.unwrap_or_else(|e| panic!("{e}")).description).unwrap()
}

/// Machines that render, and what happens to them.
#[derive(Default)]
struct Setup<'a> {
    gpus: &'a [u32],
    cpu: bool,
    faults: &'a [Fault],
    checkpoints: Option<&'a Checkpoints>,
    resumed: Option<Resumed>,
    /// Paths after which the observer stops it.
    stops_after: Option<u64>,
    /// Whether the observer wants to see the image all the time.
    is_watched: bool,
}

/// What an observer does, and has seen.
#[derive(Default)]
struct Onlooker {
    stops_after: Option<u64>,
    is_watching: bool,
    /// Paths when it was last told.
    paths: u64,
    /// Numbers of pixels that were not black in the images that it was shown.
    seen: Vec<usize>,
}

impl Observer for Onlooker {
    fn observe(&mut self, progress: &Progress) -> Control {
        self.paths = progress.paths;
        match self.stops_after {
            Some(most) if self.paths >= most => Control::Stop,
            _ if self.is_watching => Control::Show,
            _ => Control::Continue,
        }
    }

    fn show(&mut self, _: &Progress, radiance: Vec<[f32; 3]>) {
        self.seen.push(radiance.iter().filter(|pixel| **pixel != [0.0; 3]).count());
    }
}

/// How a render went.
struct Outcome {
    rendered: Result<Rendered, MachineError>,
    left_out: Vec<String>,
    /// Calls that each fault is about.
    counted: Vec<i32>,
    onlooker: Onlooker,
}

/// A scene, its image by a CPU alone, and that of one sample less.
struct Subject {
    fake: Fake,
    scene: SceneData,
    whole: Film,
    lacking: Film,
}

impl Subject {
    fn new() -> Self {
        let scene = scene();
        let mut cpu = Machine::cpu(Some(1)).unwrap();
        let mut film = |spp| {
            let budget = Budget::of_samples(spp);
            cpu.render(&scene, budget, Options::default(), &mut |_| Control::Continue).unwrap().film
        };
        let (whole, lacking) = (film(SPP), film(SPP - 1));
        Self { fake: Fake::start(), scene, whole, lacking }
    }

    fn render(&self, setup: Setup<'_>) -> Outcome {
        let which = Some(setup.gpus.iter().copied().collect::<BTreeSet<_>>());
        let mut devices = FleetChoice::Gpus { which, cpu: setup.cpu }.find().unwrap();
        let faults: Vec<_> = setup.faults.iter().map(|fault| self.fake.fail(*fault)).collect();
        let integrators = Integrators { gpu: Integrator::Megakernel, cpu: Integrator::Megakernel };
        let Setup { stops_after, is_watched: is_watching, .. } = setup;
        let mut onlooker = Onlooker { stops_after, is_watching, ..Onlooker::default() };
        let (failing, left_out) = channel();
        let fleet = Fleet::start(&mut devices, Some(1), integrators, failing);
        let rendered = fleet.and_then(|mut fleet| self.render_on(&mut fleet, setup, &mut onlooker));
        let left_out = left_out.iter().map(|error: MachineError| error.to_string()).collect();
        assert_eq!(self.fake.ask::<i32>("fake_left"), 0, "all is freed");
        let counted = faults.iter().map(|fault| self.fake.counted(*fault)).collect();
        self.fake.ask::<()>("fake_heal");
        Outcome { rendered, left_out, counted, onlooker }
    }

    fn render_on(
        &self,
        fleet: &mut Fleet,
        setup: Setup<'_>,
        onlooker: &mut Onlooker,
    ) -> Result<Rendered, MachineError> {
        let mut scene = self.scene.clone();
        let Setup { checkpoints, resumed, .. } = setup;
        let request =
            Request { checkpoints, resumed, ..Request::new(Budget::of_samples(SPP), Options::default()) };
        fleet.prepare(&scene, Options::default(), SPP)?;
        fleet.render_last(&mut scene, request, onlooker)
    }

    /// By how much the means of a render differ, if it has each sample of each pixel once; what is wrong with it otherwise.
    fn check(&self, rendered: &Rendered) -> Result<f64, String> {
        let taken = &rendered.taken;
        if !taken.complete.iter().eq(std::iter::once(0..SPP)) || !taken.partial.is_empty() {
            return Err(format!("{taken:?}"));
        }
        if taken.fingerprint != fingerprint(&(0..SPP), &(0..parts(rendered.film.width, rendered.film.height)))
        {
            return Err("the fingerprint".to_owned());
        }
        self.check_film(&rendered.film)
    }

    fn check_film(&self, film: &Film) -> Result<f64, String> {
        let mut largest = 0.0_f64;
        for (i, (found, expected)) in film.pixels.iter().zip(&self.whole.pixels).enumerate() {
            if found.count != u64::from(SPP) || found.rejected > 0 {
                return Err(format!("pixel {i} has {} samples", found.count));
            }
            let sums = |pixel: &Pixel| [pixel.sum, pixel.sum_sq].concat();
            for (a, b) in sums(found).into_iter().zip(sums(expected)) {
                let difference = (a.get() - b.get()).abs() / b.get().abs().max(1e-3);
                if difference > ROUNDING {
                    return Err(format!("pixel {i}: {} instead of {}", a.get(), b.get()));
                }
                largest = largest.max(difference);
            }
        }
        Ok(largest)
    }

    /// An image as it has to be: the machines that it was rendered without, and the calls that each fault is about.
    #[track_caller]
    fn checked(&self, setup: Setup<'_>) -> (Vec<String>, Vec<i32>) {
        let faults = setup.faults;
        let Outcome { rendered, left_out, counted, .. } = self.render(setup);
        let rendered = rendered.unwrap_or_else(|e| panic!("{faults:?}: {e}"));
        self.check(&rendered).unwrap_or_else(|e| panic!("{faults:?}: {e}"));
        (left_out, counted)
    }

    /// As [`Subject::checked`], of faults after which a machine is left out, unless another leaves it too little to come so far.
    #[track_caller]
    fn complete(&self, setup: Setup<'_>) -> Vec<String> {
        let faults = setup.faults;
        let (left_out, counted) = self.checked(setup);
        let failed = faults.iter().zip(counted).filter(|(fault, calls)| *calls >= fault.nth);
        assert_eq!(left_out.len(), failed.count(), "{faults:?}: {left_out:?}");
        left_out
    }
}

const ANY: &CStr = c"";

const fn fault(device: i32, function: &'static CStr, nth: i32, code: i32) -> Fault {
    Fault { device, function, nth, code, lasts: false }
}

/// Fleets: GPUs, and whether the CPU is one of them.
const FLEETS: [(&[u32], bool); 4] = [(&[0], false), (&[0, 1], false), (&[0], true), (&[0, 1], true)];

/// What is the same on all machines, and that the check would see it if it were not.
pub(super) fn none() -> String {
    let subject = Subject::new();
    subject.fake.delay([60_000, 60_000]);
    let mut largest = 0.0_f64;
    for (gpus, cpu) in FLEETS {
        let launches = [0, 1].map(|device| fault(device, c"cuLaunchKernel", 0, 0));
        let outcome =
            subject.render(Setup { gpus, cpu, faults: &launches, is_watched: true, ..Setup::default() });
        assert_eq!(outcome.left_out, [""; 0]);
        let seen = &outcome.onlooker.seen;
        assert!(seen.len() > 1 && seen.is_sorted() && seen.last() > Some(&0), "{gpus:?}, {cpu}: {seen:?}");
        largest = largest.max(subject.check(&outcome.rendered.unwrap()).unwrap());
        // One is for the layout of structures.
        let has_rendered = |device: u32| outcome.counted[device as usize] > 1;
        assert!(cpu || gpus.iter().all(|device| has_rendered(*device)), "{:?}", outcome.counted);
    }
    let Subject { whole, lacking, .. } = &subject;
    assert_eq!(subject.check_film(whole), Ok(0.0));
    assert!(subject.check_film(lacking).is_err());
    // A tile that lacks a sample, or has one twice, and says that it does not.
    for twice in [false, true] {
        let mut film = whole.clone();
        for x in 16..24 {
            let i = 20 * film.width as usize + x;
            let (pixel, lacking) = (&mut film.pixels[i], &lacking.pixels[i]);
            let last = |c: usize| pixel.sum[c].get() - lacking.sum[c].get();
            let doubled = [0, 1, 2].map(|c| (pixel.sum[c].get() + last(c)).into());
            pixel.sum = if twice { doubled } else { lacking.sum };
        }
        let error = subject.check_film(&film).unwrap_err();
        contains(&error, &["pixel 976", "instead of"]);
    }
    format!("differences of at most {largest:e}")
}

/// A kind of failure: its code, and whether it lasts.
const KINDS: [(i32, bool); 4] = [(2, false), (999, false), (700, false), (999, true)];

/// Each call of the driver fails in turn, whatever it is.
pub(super) fn each_call() -> String {
    let subject = Subject::new();
    let (mut renders, mut without) = (0, 0);
    for (gpus, cpu) in FLEETS {
        let count = [fault(0, ANY, 0, 0)];
        let calls = subject.render(Setup { gpus, cpu, faults: &count, ..Setup::default() }).counted[0];
        for (code, lasts) in KINDS {
            let mut stages = Vec::new();
            for nth in (1..=calls).filter(|nth| tier::takes((nth + code) as usize, 7)) {
                let faults = [Fault { device: 0, function: ANY, nth, code, lasts }];
                let outcome = subject.render(Setup { gpus, cpu, faults: &faults, ..Setup::default() });
                renders += 1;
                without += outcome.left_out.len();
                stages.push(subject.stage(outcome, &faults[0], gpus.len() == 1 && !cpu));
            }
            let started = stages.iter().position(|stage| *stage > Stage::Starting).unwrap();
            let has_started = stages[started..].iter().all(|stage| *stage > Stage::Starting);
            assert!(has_started || !lasts, "{stages:?}");
            assert!(stages.contains(&Stage::Rendering), "{stages:?}");
        }
    }
    format!("{renders} renders, {without} of them without a GPU that failed")
}

/// When a machine failed, if it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Starting,
    Rendering,
    Done,
}

impl Subject {
    /// When the first GPU of a fleet failed, which may be its only machine. The image is right nevertheless.
    fn stage(&self, outcome: Outcome, fault: &Fault, is_alone: bool) -> Stage {
        let Outcome { rendered, left_out, .. } = outcome;
        let reason = match (fault.code, fault.lasts) {
            (2, _) => "out of memory",
            (700, _) => "used an address that is not its own",
            _ => "does not tell",
        };
        match rendered {
            Ok(rendered) => {
                self.check(&rendered).unwrap_or_else(|e| panic!("{fault:?}: {e}"));
                let [error] = &left_out[..] else {
                    assert_eq!(left_out, [""; 0], "{fault:?}");
                    return Stage::Done;
                };
                assert!(error.contains("cuda:0") && error.contains(reason), "{fault:?}: {error}");
                Stage::Rendering
            }
            Err(error) => {
                let error = error.to_string();
                assert!(is_alone && error.contains("cuda:0") && error.contains(reason), "{fault:?}: {error}");
                Stage::Starting
            }
        }
    }
}

/// A GPU runs out of memory at each allocation in turn; alone, from there on, or together with the host.
pub(super) fn memory() -> String {
    let subject = Subject::new();
    let allocate = c"cuMemAlloc_v2";
    let count = [fault(0, allocate, 0, 0)];
    let mut all = 0;
    for (gpus, cpu) in FLEETS {
        let allocations = subject.render(Setup { gpus, cpu, faults: &count, ..Setup::default() }).counted[0];
        for nth in 1..=allocations {
            let once = fault(0, allocate, nth, 2);
            let lasting = Fault { lasts: true, ..once };
            let of_host = Fault { function: c"cuMemHostAlloc", nth: 1, ..lasting };
            for faults in [&[once][..], &[lasting], &[lasting, of_host]] {
                let outcome = subject.render(Setup { gpus, cpu, faults, ..Setup::default() });
                let has_failed = outcome.counted[0] >= nth;
                let stage = subject.stage(outcome, &once, gpus.len() == 1 && !cpu);
                // Only the memory that layouts are compared in has to be the GPU's.
                let is_needed = nth == 1 || faults.len() == 2 && has_failed;
                assert_eq!(stage == Stage::Done, !is_needed, "{gpus:?}, {cpu}: {faults:?}, {stage:?}");
            }
        }
        all += allocations;
    }
    format!("{all} allocations")
}

/// Failures where they matter, on slow GPUs that publish what they have after each launch; with the beginning of what is said.
const PLACES: [(Fault, &str); 12] = [
    (
        fault(1, c"cuDevicePrimaryCtxRetain", 1, 46),
        "cuda:1: opening cuda:1: the device is busy or unavailable",
    ),
    (fault(1, c"cuStreamCreateWithPriority", 1, 2), "cuda:1: opening cuda:1: out of memory"),
    (
        fault(1, c"cuModuleLoadDataEx", 1, 218),
        "cuda:1 Fake 1: launching probe: the driver's compiler rejected",
    ),
    (fault(1, c"cuModuleLoadDataEx", 2, 218), "cuda:1 Fake 1: measuring the occupancy of megakernel_"),
    (fault(0, c"cuMemcpyHtoDAsync_v2", 1, 719), "cuda:0 Fake 0: uploading "),
    (fault(0, c"cuLaunchKernel", 2, 701), "cuda:0 Fake 0: launching megakernel_"),
    (fault(0, c"cuLaunchKernel", 4, 719), "cuda:0 Fake 0: launching megakernel_"),
    (fault(0, c"cuLaunchKernel", 5, 700), "cuda:0 Fake 0: launching megakernel_"),
    (fault(1, c"cuCtxSetCurrent", 30, 214), "cuda:1 Fake 1: "),
    (fault(0, c"cuMemcpyDtoHAsync_v2", 2, 999), "cuda:0 Fake 0: downloading \"film\""),
    (fault(0, c"cuMemcpyDtoHAsync_v2", 4, 700), "cuda:0 Fake 0: downloading \"film\""),
    (fault(1, c"cuMemcpyDtoHAsync_v2", 3, 214), "cuda:1 Fake 1: downloading \"film\""),
];

pub(super) fn places() -> String {
    let subject = Subject::new();
    subject.fake.delay([20_000, 30_000]);
    let path = scratch("places.checkpoint");
    let mut told = 0;
    for (fault, expected) in PLACES {
        for cpu in [false, true] {
            let (checkpoints, faults) = (checkpoints(&path), [fault]);
            let checkpoints = Some(&checkpoints);
            let setup = Setup { gpus: &[0, 1], cpu, faults: &faults, checkpoints, ..Setup::default() };
            let left_out = subject.complete(setup);
            println!("{fault:?}: {left_out:?}");
            assert!(left_out.iter().all(|one| one.starts_with(expected)), "{fault:?}: {left_out:?}");
            told += left_out.len();
        }
    }
    assert!(told > PLACES.len(), "{told}");
    format!("{told} times, {} places", PLACES.len())
}

/// A checkpoint after each launch.
fn checkpoints(path: &Path) -> Checkpoints {
    Checkpoints::new(path.to_owned(), Duration::ZERO, identity())
}

fn identity() -> Identity {
    [("scene".to_owned(), "that of the test".to_owned())].into()
}

/// Launches that fail while they run, which is told when they are waited for.
pub(super) fn launches() -> String {
    let subject = Subject::new();
    let path = scratch("launches.checkpoint");
    let left_out = |nth| {
        let (checkpoints, faults) = (checkpoints(&path), [fault(0, c"cuStreamSynchronize", nth, 700)]);
        let checkpoints = Some(&checkpoints);
        subject.checked(Setup { gpus: &[0, 1], faults: &faults, checkpoints, ..Setup::default() }).0
    };
    let is_running = |nth: &i32| matches!(&left_out(*nth)[..], [one] if one.starts_with("cuda:0 Fake 0: running megakernel_"));
    let first = (1..100).find(is_running).unwrap();
    subject.fake.delay([20_000, 30_000]);
    // Each launch is waited for, and then copied, before which and after which it is waited again.
    let later = (first + 1..first + 10).filter(is_running).count();
    assert!((1..=4).contains(&later), "{later}");
    format!("{} launches", later + 1)
}

/// All fail, one after the other or at once: the CPU renders what they have not published.
pub(super) fn all() -> String {
    let subject = Subject::new();
    subject.fake.delay([20_000, 30_000]);
    let path = scratch("all.checkpoint");
    let launch = c"cuLaunchKernel";
    let mut rendered_by_cpu = 0;
    for (first, second) in [(2, 2), (2, 4), (4, 3), (5, 4)] {
        let faults = [fault(0, launch, first, 700), fault(1, launch, second, 719)];
        let checkpoints = checkpoints(&path);
        for checkpoints in [None, Some(&checkpoints)] {
            let setup = Setup { gpus: &[0, 1], faults: &faults, checkpoints, ..Setup::default() };
            let left_out = subject.complete(setup);
            assert!(left_out.iter().all(|one| one.contains("launching megakernel_")), "{left_out:?}");
            rendered_by_cpu += i32::from(left_out.len() == 2);
        }
    }
    assert!(rendered_by_cpu > 4, "{rendered_by_cpu}");
    let retain = c"cuDevicePrimaryCtxRetain";
    let faults = [fault(0, retain, 1, 46), fault(1, retain, 1, 2)];
    let refused =
        subject.render(Setup { gpus: &[0, 1], faults: &faults, ..Setup::default() }).rendered.unwrap_err();
    contains(&refused.to_string(), &["cuda:0: opening cuda:0: the device is busy or unavailable"]);
    let left_out = subject.complete(Setup { gpus: &[0, 1], cpu: true, faults: &faults, ..Setup::default() });
    contains(
        &left_out.join("; "),
        &["cuda:0: opening cuda:0: the device is busy", "cuda:1: opening cuda:1: out of memory"],
    );
    let faults = [0, 1].map(|device| fault(device, c"cuMemcpyHtoDAsync_v2", 1, 999));
    assert_eq!(subject.complete(Setup { gpus: &[0, 1], faults: &faults, ..Setup::default() }).len(), 2);
    format!("{rendered_by_cpu} of 8 times, the CPU rendered the rest")
}

/// A GPU whose scene the host has no room for fails, and no CPU can take its place: what was kept can be gone on with, on whatever
/// machines, of which some fail, too.
pub(super) fn kept() -> String {
    let mut subject = Subject::new();
    subject.fake.delay([20_000, 30_000]);
    let path = scratch("kept.checkpoint");
    let bytes = std::mem::replace(&mut subject.scene.stats.bytes, 1 << 50);
    let mut kept = Vec::new();
    for (function, nth, expected) in [
        (c"cuLaunchKernel", 4, "launching megakernel_"),
        (c"cuMemcpyDtoHAsync_v2", 4, "downloading \"film\""),
    ] {
        let checkpoints = checkpoints(&path);
        let faults = [fault(0, function, nth, 700)];
        let outcome = subject.render(Setup {
            gpus: &[0],
            faults: &faults,
            checkpoints: Some(&checkpoints),
            ..Setup::default()
        });
        contains(
            &outcome.rendered.unwrap_err().to_string(),
            &["cuda:0 Fake 0: ", expected, "an address that is not its own"],
        );
        assert_eq!((outcome.left_out.len(), checkpoints.end()), (0, None));
        let resumed = Resumed::read(&path, &identity()).unwrap();
        let paths = resumed.mean_spp() * subject.whole.pixels.len() as f64;
        let traced = outcome.onlooker.paths;
        assert!(paths > 0.0 && paths <= traced as f64, "{faults:?}: {paths} of {traced}");
        kept.push(resumed);
    }
    subject.scene.stats.bytes = bytes;
    for resumed in &kept {
        for (gpus, cpu) in FLEETS {
            for faults in
                [&[][..], &[fault(0, c"cuLaunchKernel", 3, 700)], &[fault(0, c"cuMemcpyHtoDAsync_v2", 4, 2)]]
            {
                let resumed = Some(resumed.clone());
                subject.complete(Setup { gpus, cpu, faults, resumed, ..Setup::default() });
            }
        }
    }
    format!("{:.2?} samples of {SPP}", kept.iter().map(Resumed::mean_spp).collect::<Vec<_>>())
}

/// Two machines are stopped: what they have is counted, and the rest can be rendered later.
pub(super) fn stopped() -> String {
    let subject = Subject::new();
    subject.fake.delay([100_000, 150_000]);
    let path = scratch("stopped.checkpoint");
    let all = subject.whole.pixels.len() as u64 * u64::from(SPP);
    let mut told = Vec::new();
    for part in [0.05, 0.3, 0.6] {
        let checkpoints = checkpoints(&path);
        let checkpoints = Some(&checkpoints);
        let stops_after = Some((part * all as f64) as u64);
        let outcome = subject.render(Setup { gpus: &[0, 1], checkpoints, stops_after, ..Setup::default() });
        let rendered = outcome.rendered.unwrap();
        assert!(rendered.interrupted && subject.check(&rendered).is_err());
        let Rendered { film, taken, progress, .. } = &rendered;
        let (least, most) = (taken.complete.len(), taken.complete.len() + taken.partial.len());
        assert!(film.pixels.iter().all(|pixel| (least..=most).contains(&pixel.count)), "{taken:?}");
        assert!(taken.complete.overlap(&taken.partial).is_none() && most <= u64::from(SPP), "{taken:?}");
        assert_eq!(film.samples(), progress.paths);
        let counts: BTreeSet<u64> = film.pixels.iter().map(|pixel| pixel.count).collect();
        assert!(counts.len() > 1 || taken.partial.is_empty(), "{taken:?}, {counts:?}");
        told.push(format!(
            "{} paths of {all}: {} and {} in part",
            progress.paths, taken.complete, taken.partial
        ));
        let resumed = Resumed::read(&path, &identity()).ok();
        assert_eq!(
            resumed.as_ref().map(|resumed| (resumed.mean_spp() * film.pixels.len() as f64).round() as u64),
            Some(progress.paths)
        );
        let faults = [fault(1, c"cuLaunchKernel", 3, 719)];
        subject.complete(Setup { gpus: &[0, 1], faults: &faults, resumed, ..Setup::default() });
    }
    told.join("; ")
}

/// An image that no machine has memory for: each fails, the CPU, too, and there is an end to it.
pub(super) fn hopeless() -> String {
    let mut subject = Subject::new();
    (subject.scene.width, subject.scene.height) = (1 << 15, 1 << 14);
    let mut errors = Vec::new();
    for (gpus, cpu) in FLEETS {
        let outcome = subject.render(Setup { gpus, cpu, ..Setup::default() });
        let error = outcome.rendered.unwrap_err().to_string();
        contains(&error, &["\"film\": ", "memory"]);
        // Those that share the render; a CPU that stands in for them is the end of it.
        assert_eq!(outcome.left_out.len(), gpus.len() + usize::from(cpu), "{:?}", outcome.left_out);
        errors.push(error);
    }
    errors.join(" | ")
}
