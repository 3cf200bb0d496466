//! `torrance sweep`: a scene with parameters that vary, side by side.

mod against;
mod outputs;
mod vary;

use crate::ExitCode;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;

use renderer::denoise::{DenoiserChoice, Denoising};
use renderer::render::NoiseGoal;
use renderer::sweep::{
    Cleaner, Failures, Plan, Progress, Results, Seconds, Summary, Sweep, VariantResult, VariantStore,
    common_size,
};
use renderer::{Device, Machine, MachineError};

use super::denoise::{DENOISERS, check_noise_is_known, find_denoising};
use super::device::{self, MachineArgs};
use super::integrator::{IntegratorArgs, StageArgs};
use super::render::{ImageArgs, SettingArgs};
use super::resume::CheckpointTime;
use super::source::file_name;
use super::{
    EXIT_CODES, Failure, INTERRUPTED, Laps, Notes, SceneArgs, clock, count, print_json, say, signals, values,
};

use against::AgainstArgs;
use outputs::{FileArgs, Outputs, SheetArgs};
use vary::VaryArgs;

const EXAMPLES: &str = "\
Examples:
  torrance sweep scenes/preview.toml --preset roughness --size 256x256 -o roughness.png
  torrance sweep scene.toml --param materials.ball.roughness=0:1:9 -o sweep.png
  torrance sweep scene.toml --param materials.ball.roughness=0:1:5 --param materials.ball.metallic=0,0.5,1 -o grid.png
  torrance sweep scene.toml --param 'materials.ball.ior=log(1.1:2.4:8)' -o ior.png --csv ior.csv --variants ior/
  torrance sweep scene.toml --preset roughness -o rough.png --html rough.html --plot mean=rough.svg
  torrance sweep scene.toml --preset masking -o masking.png --baseline separable

VALUES are a:b:n, n numbers from a to b; log(a:b:n), the same by equal factors; a list a,b,c; @FILE, one a line; or *, \
all words that there are. Paths are those that `torrance inspect --paths` lists. One parameter makes a row, two a grid, \
more make pages. All variants have the same random numbers unless --independent says otherwise. Ctrl-C writes the sheet \
as far as it is, beside one that is there, as NAME.interrupted.png; the same command then goes on where it was.
";

/// Render a scene again and again with other parameters, and show the images side by side
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{}\n{EXIT_CODES}", vary::presets()))]
pub(super) struct Args {
    #[command(flatten)]
    scene: SceneArgs,

    #[command(flatten)]
    vary: VaryArgs,

    /// Contact sheet to write: .png
    #[arg(short, long, value_name = "FILE", required = true)]
    output: PathBuf,

    #[command(flatten)]
    sheet: SheetArgs,

    #[command(flatten)]
    files: FileArgs,

    #[command(flatten)]
    against: AgainstArgs,

    #[command(flatten)]
    settings: SettingArgs,

    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    integrator: IntegratorArgs,

    #[command(flatten)]
    image: ImageArgs,

    /// Remove noise from what is shown, as torrance render --denoise does; numbers and verdicts stay those of the images with noise
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "auto",
          value_parser = values::choice(DENOISERS))]
    denoise: Option<DenoiserChoice>,

    /// How often to keep variants under way, in the folder beside the sheet in which finished ones are kept, too; or off
    #[arg(long, value_name = "TIME|off", default_value = "10s", value_parser = values::checkpoint)]
    checkpoint: CheckpointTime,

    /// Replace files that are there even if the sweep is interrupted and variants are missing
    #[arg(long)]
    force: bool,

    /// Print warnings and errors only
    #[arg(short, long)]
    quiet: bool,

    /// Print a summary for programs to stdout, as one JSON object
    #[arg(long)]
    json: bool,
}

/// Most faults that are reported.
const MOST_TOLD: usize = 10;

/// The machines that render, started while scenes are read.
struct Machines {
    devices: Vec<Device>,
    /// One of each device, but two of a GPU: while one waits for its film, the other has work.
    started: Result<Vec<Machine>, Failure>,
    /// Devices that did not start, while others did.
    left_out: Vec<MachineError>,
}

impl Machines {
    fn start(args: &MachineArgs) -> Result<Self, Failure> {
        let mut devices = device::find_for_many(args)?;
        let (mut started, mut left_out) = (Vec::new(), Vec::new());
        for device in &mut devices {
            match device.start(args.threads) {
                Ok(machine) if machine.is_gpu() => {
                    started.push(machine);
                    // One alone is not as fast, but will do.
                    started.extend(device.clone().start(args.threads).ok().filter(Machine::is_gpu));
                }
                Ok(machine) => started.push(machine),
                Err(error) => left_out.push(error),
            }
        }
        let started = match started.is_empty() {
            false => Ok(started),
            true => Err(left_out.swap_remove(0).into()),
        };
        Ok(Self { devices, started, left_out })
    }

    fn is_gpu(&self) -> bool {
        self.started.as_ref().map_or(self.devices[0].is_gpu(), |machines| machines[0].is_gpu())
    }

    fn name(&self) -> String {
        let mut names: Vec<_> = match &self.started {
            Ok(machines) => machines.iter().map(Machine::name).collect(),
            Err(_) => self.devices.iter().map(Device::name).collect(),
        };
        names.dedup();
        names.join(" + ")
    }
}

/// Sweeps as `args` say.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut laps = Laps::new();
    let outputs = Outputs::check(args)?;
    args.integrator.check(&StageArgs::default())?;
    args.settings.noise.check()?;
    signals::catch(args.quiet);
    renderer::limit_threads(args.machine.threads);
    let mut notes = Notes::new(args.quiet);
    let mut seconds = Seconds::default();
    let find = |choice| find_denoising(choice, &args.machine);
    let denoising = args.denoise.map(find).transpose()?;
    let (plan, machines) = thread::scope(|threads| {
        let machines = threads.spawn(|| Machines::start(&args.machine));
        let plan = prepare(args, &outputs, (&mut laps, &mut seconds), &mut notes);
        let denoiser = denoising.as_ref().map(Denoising::name);
        let plan = plan.and_then(|plan| match &denoising {
            Some(denoising) => {
                let few = plan.variants.iter().map(|variant| variant.settings.spp).min().unwrap_or(u32::MAX);
                check_noise_is_known(denoising, few).map(|()| Plan { denoiser, ..plan })
            }
            None => Ok(plan),
        });
        let machines = machines.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok::<_, Failure>((plan?, machines))
    })?;
    let (keys, name) = (plan.keys(machines.is_gpu()), machines.name());
    seconds.start = laps.lap();

    let lock = plan.store.lock();
    let _lock =
        lock.map_err(|e| Failure::input(format_args!("\"{}\": {e}", plan.store.folder().display())))?;
    signals::begin_render();
    let folder = outputs.variants.as_deref();
    let mut sweep = Sweep { plan: &plan, keys: &keys, device: &name, folder, cleaner: None };
    let mut variants = sweep.find(&signals::is_stopping);
    let found = variants.iter().flatten().count();
    if let (Some(denoising), true) = (&denoising, found < variants.len()) {
        let (denoiser, surprise) = denoising.start().map_err(Failure::running)?;
        surprise.into_iter().for_each(|surprise| notes.warn(surprise));
        sweep.cleaner = Some(Cleaner::new(denoiser, denoising.takes_halves()));
    }
    let (mut ended, mut leaving) = (Failures::default(), None);
    if found < variants.len() {
        if let Some(surprise) = device::surprise(&machines.devices) {
            notes.warn(surprise);
        }
        for error in &machines.left_out {
            notes.warn(format!("{error}; it is left out"));
        }
        let mut started = machines.started?;
        let (integrator, _) = args.integrator.chosen(&StageArgs::default(), started[0].is_gpu());
        notes.display.begin_steps();
        let mut step = |done, elapsed, what: &str| notes.display.step(done, elapsed, what);
        let progress = Progress { step: &mut step, is_stopping: &signals::is_stopping };
        ended = sweep.render(&mut variants, &mut started, integrator, progress);
        if ended.fatal.is_some() && machines.devices.iter().any(Device::is_gpu) {
            let (integrator, _) = args.integrator.chosen(&StageArgs::default(), false);
            let progress = Progress { step: &mut step, is_stopping: &signals::is_stopping };
            ended = sweep.stand_in(&mut variants, args.machine.threads, ended, integrator, progress);
        }
        // What takes a while.
        leaving = thread::Builder::new().spawn(move || drop(started)).ok();
    }
    seconds.render = laps.lap();
    warn_of(&plan, &variants, &ended, &mut notes);
    warn_of_memory(&plan, &variants, &name, &mut notes);

    let mut results = Results::new(&sweep, &variants);
    let mut failures: Vec<_> = variants.iter().flatten().flat_map(|one| one.failures.clone()).collect();
    if plan.pairs.is_some() {
        notes.display.phase("comparing");
        notes.display.begin_steps();
        let mut step = |done, elapsed, what: &str| notes.display.step(done, elapsed, what);
        let progress = Progress { step: &mut step, is_stopping: &signals::is_stopping };
        failures.extend(results.compare(progress));
        seconds.compare = laps.lap();
    }
    let interrupted =
        ended.fatal.is_none() && (signals::is_stopping() || variants.iter().any(Option::is_none));
    notes.display.phase("writing");
    let (written, unwritten) = outputs.write(&results, interrupted && !args.force, &mut notes.display);
    let mut failures: Vec<_> = failures.iter().chain(&unwritten).map(ToString::to_string).collect();
    failures.sort_unstable();
    failures.dedup();
    let failures = first_of(failures, "more like these");
    if !interrupted && ended.fatal.is_none() && failures.is_empty() {
        plan.store.remove(&keys);
        if !plan.store.is_empty() {
            let folder = plan.store.folder().display();
            notes.warn(format!(
                "\"{folder}\" keeps images of another sweep to this sheet that was interrupted"
            ));
        }
    }
    if let Some(leaving) = leaving {
        leaving.join().unwrap_or_else(|panic| resume_unwind(panic));
    }
    seconds.write = laps.lap();
    seconds.total = laps.total();
    let summary = Summary {
        version: env!("CARGO_PKG_VERSION"),
        scene: args.scene.path.to_string_lossy().into_owned(),
        device: name.clone(),
        rendered: variants.iter().flatten().count() - found,
        found,
        interrupted,
        denoiser: plan.denoiser,
        seconds,
        variants: results.summaries(),
        outputs: written,
        warnings: notes.end(),
    };
    if !args.quiet {
        tell(&summary, &results);
    }
    if let Some(error) = ended.fatal {
        return Err(error.into());
    }
    if !failures.is_empty() {
        return Err(Failure::running(failures.join("\nerror: ")));
    }
    if args.json {
        print_json(&summary)?;
    }
    Ok(if interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// Reads the scenes and builds all variants.
fn prepare(
    args: &Args,
    outputs: &Outputs,
    (laps, seconds): (&mut Laps, &mut Seconds),
    notes: &mut Notes,
) -> Result<Plan, Failure> {
    notes.display.phase(format!("reading {}", args.scene.path.display()));
    let (mut values, loaded) = args.scene.open(args.settings.overrides(), notes)?;
    let mut read = loaded.files;
    read.extend(args.vary.files());
    let columns = args.sheet.cols.map(usize::from);
    let grid = args.vary.grid(&args.settings, columns, (&mut values, &args.scene.set), notes)?;
    let other = args.against.open(args, &mut read, notes)?;
    seconds.load = laps.lap();
    let pairs = args.against.pairs(&grid)?;
    let variants = grid.variants() * if other.is_some() { 2 } else { 1 };
    notes.display.phase(format!("building {}", count(variants as u64, "variant")));
    let mut variants = args.vary.build(&grid, &values, (0, ""), &mut read)?;
    if let (Some(other), Some(path)) = (&other, &args.against.scene) {
        let what = format!("--against {}: ", path.display());
        variants.extend(args.vary.build(&grid, other, (grid.variants(), &what), &mut read)?);
    }
    let noise = args.settings.noise.goal(&args.image, 1);
    for variant in &variants {
        noise.as_ref().map_or(Ok(()), |goal| goal.check(&variant.scene)).map_err(Failure::input)?;
    }
    let cell = args.sheet.cell(common_size(&variants).map_err(Failure::input)?)?;
    let scene = args.scene.file_name();
    let plan = Plan {
        against: args.against.scene.as_deref().map(file_name),
        grid,
        variants,
        pairs,
        store: VariantStore::beside(&args.output),
        checkpoint: args.checkpoint.0,
        time: args.settings.time,
        noise,
        denoiser: None,
        images: args.image.settings_of_all()?,
        style: args.sheet.style(&scene),
        scene,
    };
    plan.check_sheets(cell).map_err(|e| Failure::input(format_args!("{e}; --cols N wraps a row")))?;
    outputs.check_files(&plan, &read)?;
    seconds.build = laps.lap();
    Ok(plan)
}

/// The first faults, and how many more there are.
fn first_of(mut all: Vec<String>, more: &str) -> Vec<String> {
    let rest = all.len().saturating_sub(MOST_TOLD);
    all.truncate(MOST_TOLD);
    all.extend((rest > 0).then(|| format!("and {rest} {more}")));
    all
}

/// Warns of samples that were no numbers, of noise, and of machines whose work others had to do.
fn warn_of(plan: &Plan, variants: &[Option<VariantResult>], ended: &Failures, notes: &mut Notes) {
    for error in &ended.survived {
        notes.warn(format!("{error}; it was left out"));
    }
    if let Some(reason) = &ended.checkpoint {
        notes.warn(format!("variants cannot be kept while they are rendered: {reason}"));
    }
    let there = || variants.iter().enumerate().filter_map(|(i, one)| Some((i, one.as_ref()?)));
    let is_wrong = |one: &VariantResult| one.record.rejected > 0 || one.statistics.non_finite > 0;
    let wrong: Vec<_> = there().filter(|(_, one)| is_wrong(one)).collect();
    for (i, one) in wrong.iter().take(MOST_TOLD) {
        let (rejected, pixels) = (one.record.rejected, one.statistics.non_finite as u64);
        let name = plan.name(*i);
        if rejected > 0 {
            notes.warn(format!("{name}: {rejected} samples were NaN or infinite and were left out"));
        }
        if pixels > 0 {
            notes.warn(format!("{name}: {} NaN or infinite", count(pixels, "pixel")));
        }
    }
    for (i, one) in there() {
        match (plan.noise, plan.style.crop) {
            (Some(NoiseGoal::Image(wanted)), None) => {
                notes.warn_of_image_noise(&plan.name(i), one.statistics.relative_stderr, wanted);
            }
            (Some(NoiseGoal::Pixels(goal)), _) => {
                notes.warn_of_shortfall(&plan.name(i), &goal, one.shortfall)
            }
            _ => {}
        }
    }
    if wrong.len() > MOST_TOLD {
        notes.warn(format!("and {} more variants with such samples", wrong.len() - MOST_TOLD));
    }
}

/// Warns of variants that did not fit into the machine's memory.
fn warn_of_memory(plan: &Plan, variants: &[Option<VariantResult>], machine: &str, notes: &mut Notes) {
    let note = |(i, one): (usize, &Option<VariantResult>)| Some((i, one.as_ref()?.shortage.note(machine)?));
    let mut short = variants.iter().enumerate().filter_map(note);
    if let Some((i, note)) = short.next() {
        let more = match short.count() {
            0 => String::new(),
            more => format!("; and so on for {}", count(more as u64, "more variant")),
        };
        notes.warn(format!("{}: {note}{more}", plan.name(i)));
    }
}

/// Reports the outcome to people.
fn tell(summary: &Summary, results: &Results<'_>) {
    let variants = results.variants.len();
    let of = if summary.interrupted { format!(" of {variants}") } else { String::new() };
    let again =
        if summary.found > 0 { format!(", {} more were there", summary.found) } else { String::new() };
    let denoised = summary.denoiser.map_or(String::new(), |name| format!(", denoised by {name}"));
    say(format_args!(
        "{}{of} in {}{again}, on {}{denoised}",
        count(summary.rendered as u64, "variant"),
        clock(summary.seconds.total),
        summary.device
    ));
    if summary.interrupted && results.is_empty() {
        say("interrupted: nothing was written");
    } else if summary.interrupted {
        say("interrupted: the same command goes on where this one was");
    }
    let [all, different, unknown] = results.verdicts();
    if all > 0 {
        let of = count(all as u64, "variant");
        say(format_args!("{different} of {of} differ from what they are compared with"));
    }
    if all > 0 && unknown > 0 {
        say(format_args!("no verdict on {unknown}: their noise is not known"));
    }
    for output in &summary.outputs {
        say(format_args!("wrote {}", output.path));
    }
}
