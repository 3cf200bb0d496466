//! `torrance sweep`: a scene with parameters that vary, side by side.

mod against;
mod outputs;
mod table;
mod vary;
mod work;

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use super::device::{self, Found, Machine, MachineArgs};
use super::failure::{Failure, INTERRUPTED};
use super::integrator::{IntegratorArgs, StageArgs};
use super::notes::Notes;
use super::render::{ImageArgs, SettingArgs, limit_threads};
use super::source::SceneArgs;
use super::summary::{Laps, print_json};
use super::terminal::{clock, count, say};
use super::{EXIT_CODES, signals};
use crate::assemble::{SceneData, share_kernels};
use crate::backend::cpu::Cpu;
use crate::backend::{self, Backend};
use crate::sweep::{Grid, Parts};

use against::{AgainstArgs, Pairs};
use outputs::{FileArgs, Outputs, SheetArgs};
use table::{Results, Seconds, Summary};
use vary::{Variant, VaryArgs};
use work::{Done, Show, Shown, Work, filling};

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
as far as it is; the same command then goes on where it was.
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

    /// Print warnings and errors only
    #[arg(short, long)]
    quiet: bool,

    /// Print a summary for programs to stdout, as one JSON object
    #[arg(long)]
    json: bool,
}

/// How many of what is wrong are told.
const MOST_TOLD: usize = 10;

/// What is rendered, and how it is arranged.
struct Plan<'a> {
    args: &'a Args,
    grid: Grid,
    /// The variants of the grid, and then, if there is one, those of the scene that they are compared with.
    variants: Vec<Variant>,
    /// Of their renders.
    keys: Vec<u64>,
    pairs: Option<Pairs>,
    parts: Parts,
}

/// The machines that render, started while scenes are read.
struct Machines {
    found: Found,
    /// One, or two of the same GPU: while one waits for its film, the other has work.
    started: Result<Vec<Machine>, Failure>,
}

impl Machines {
    fn start(args: &MachineArgs) -> Result<Self, Failure> {
        let mut found = device::find(args.device)?;
        let mut started = Vec::new();
        let mut start = || {
            started.push(found.start(args.threads)?);
            if started[0].is_gpu() {
                // One alone is not as fast, but will do.
                started.extend(found.clone().start(args.threads).ok().filter(Machine::is_gpu));
            }
            Ok(())
        };
        let outcome = start();
        Ok(Self { found, started: outcome.map(|()| started) })
    }

    fn is_gpu(&self) -> bool {
        self.started.as_ref().map_or(self.found.is_gpu(), |machines| machines[0].is_gpu())
    }

    fn name(&self) -> String {
        match self.started.as_ref().map(|machines| &machines[0]) {
            Ok(Machine::Cpu(cpu)) => cpu.name(),
            Ok(Machine::Cuda(cuda)) => cuda.name(),
            Err(_) => self.found.name(),
        }
    }
}

/// Sweeps as `args` say.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut laps = Laps::new();
    let outputs = Outputs::check(args)?;
    args.integrator.check(&StageArgs::default())?;
    signals::catch(args.quiet);
    limit_threads(args.machine.threads);
    let mut notes = Notes::new(args.quiet);
    let mut seconds = Seconds::default();
    let (plan, machines) = thread::scope(|threads| {
        let machines = threads.spawn(|| Machines::start(&args.machine));
        let plan = prepare(args, &outputs, (&mut laps, &mut seconds), &mut notes);
        let machines = machines.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok::<_, Failure>((plan?, machines))
    })?;
    let plan = plan.on(machines.is_gpu());
    let name = machines.name();
    seconds.start = laps.lap();

    let lock = plan.parts.lock();
    let _lock =
        lock.map_err(|e| Failure::input(format_args!("\"{}\": {e}", plan.parts.folder().display())))?;
    signals::begin_render();
    let show = Show { plan: &plan, folder: outputs.variants() };
    let mut shown: Vec<Option<Shown>> = show.found(&name);
    let missing: Vec<usize> = (0..shown.len()).filter(|i| shown[*i].is_none()).collect();
    let found_before = shown.len() - missing.len();
    let (mut outcome, mut leaving) = (Ok(()), None);
    if !missing.is_empty() {
        if let Some(surprise) = &machines.found.surprise {
            notes.warn(format!("rendering on the CPU: {surprise}"));
        }
        let mut started = machines.started?;
        let done = render(&show, &missing, &mut started, &name, &mut notes)?;
        // What takes a while.
        leaving = Some(thread::spawn(move || drop(started)));
        for (i, one) in missing.iter().zip(done.shown) {
            shown[*i] = one;
        }
        outcome = done.outcome;
    }
    seconds.render = laps.lap();
    warn_of(&plan, &shown, &mut notes);

    let mut results = Results { plan: &plan, shown: &shown, device: &name, compared: Vec::new() };
    let mut failures: Vec<String> = shown.iter().flatten().flat_map(|one| one.failures.clone()).collect();
    if let Some(pairs) = &plan.pairs {
        notes.display.phase("comparing");
        results.compared = pairs.compare(&results, &mut notes.display, &mut failures);
        seconds.compare = laps.lap();
    }
    let interrupted = outcome.is_ok() && (signals::is_stopping() || shown.iter().any(Option::is_none));
    notes.display.phase("writing");
    let written = outputs.write(&results, &mut notes.display, &mut failures);
    failures.sort_unstable();
    failures.dedup();
    let failures = first_of(failures, "more like these");
    if !interrupted && outcome.is_ok() && failures.is_empty() {
        plan.parts.remove(&plan.keys);
        if !plan.parts.is_empty() {
            let folder = plan.parts.folder().display();
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
        rendered: shown.iter().flatten().count() - found_before,
        found: found_before,
        interrupted,
        seconds,
        variants: results.rows(),
        outputs: written,
        warnings: notes.end(),
    };
    if !args.quiet {
        summary.tell(shown.len(), &results);
    }
    outcome.map_err(|e: backend::Error| device::failed(&e, &name))?;
    if !failures.is_empty() {
        return Err(Failure::running(failures.join("\nerror: ")));
    }
    if args.json {
        print_json(&summary)?;
    }
    Ok(if interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// Reads the scenes and builds all variants.
fn prepare<'a>(
    args: &'a Args,
    outputs: &Outputs,
    (laps, seconds): (&mut Laps, &mut Seconds),
    notes: &mut Notes,
) -> Result<Plan<'a>, Failure> {
    notes.display.phase(format!("reading {}", args.scene.path.display()));
    let (mut values, loaded) = args.scene.open(args.settings.overrides(), notes)?;
    let mut read = loaded.files;
    read.extend(args.vary.files());
    let grid =
        args.vary.grid(&args.settings, args.sheet.columns(), (&mut values, args.scene.set()), notes)?;
    let other = args.against.open(args, &mut read, notes)?;
    seconds.load = laps.lap();
    let pairs = args.against.pairs(&grid)?;
    let variants = grid.variants() * if other.is_some() { 2 } else { 1 };
    notes.display.phase(format!("building {}", count(variants as u64, "variant")));
    let mut variants = vary::build(args, &grid, &values, (0, ""), &mut read)?;
    if let Some(other) = &other {
        let what = format!("--against {}: ", args.against.shown());
        variants.extend(vary::build(args, &grid, other, (grid.variants(), &what), &mut read)?);
    }
    let cell = args.sheet.cell(vary::common_size(&variants)?)?;
    outputs.check_sheets(args, &grid, cell)?;
    let plan = Plan { args, grid, variants, keys: Vec::new(), pairs, parts: Parts::of(&args.output) };
    outputs.check_files(&plan, &read)?;
    seconds.build = laps.lap();
    Ok(plan)
}

/// Renders what is missing.
fn render(
    show: &Show<'_>,
    missing: &[usize],
    machines: &mut [Machine],
    name: &str,
    notes: &mut Notes,
) -> Result<Done, Failure> {
    let is_gpu = machines.iter().any(Machine::is_gpu);
    let mut scenes: Vec<SceneData> = show.plan.variants.iter().map(|variant| variant.scene.clone()).collect();
    if is_gpu {
        // Of all, so that those that are missing are rendered by the same kernels as those that are there.
        share_kernels(&mut scenes);
    }
    let (integrator, _) = show.plan.args.integrator.chosen(&StageArgs::default(), is_gpu);
    let work = Work { show, missing, scenes: &scenes, integrator };
    let (mut cpus, mut gpus) = (Vec::new(), Vec::new());
    for machine in machines {
        match machine {
            Machine::Cpu(cpu) => cpus.push(cpu),
            Machine::Cuda(cuda) => gpus.push(&mut **cuda),
        }
    }
    match &mut cpus[..] {
        [] => Ok(work.on(&mut gpus, name, &mut notes.display)),
        [whole, ..] => {
            let missing: Vec<_> = missing.iter().map(|i| &scenes[*i]).collect();
            let mut small = filling(whole, &missing).map_err(|e| device::failed(&e, name))?;
            let mut all: Vec<&mut Cpu> = if small.is_empty() { cpus } else { small.iter_mut().collect() };
            Ok(work.on(&mut all, name, &mut notes.display))
        }
    }
}

/// The first of what is wrong, and how many more there are.
fn first_of(mut all: Vec<String>, more: &str) -> Vec<String> {
    let rest = all.len().saturating_sub(MOST_TOLD);
    all.truncate(MOST_TOLD);
    all.extend((rest > 0).then(|| format!("and {rest} {more}")));
    all
}

/// Tells of samples that were no numbers, and of noise.
fn warn_of(plan: &Plan<'_>, shown: &[Option<Shown>], notes: &mut Notes) {
    let is_wrong = |one: &Shown| one.told.rejected > 0 || one.statistics.non_finite > 0;
    let wrong =
        shown.iter().enumerate().filter_map(|(i, one)| Some((i, one.as_ref().filter(|s| is_wrong(s))?)));
    let wrong: Vec<_> = wrong.collect();
    for (i, one) in wrong.iter().take(MOST_TOLD) {
        let (rejected, pixels) = (one.told.rejected, one.statistics.non_finite as u64);
        let name = plan.name(*i);
        if rejected > 0 {
            notes.warn(format!("{name}: {rejected} samples were NaN or infinite and were left out"));
        }
        if pixels > 0 {
            notes.warn(format!("{name}: {} NaN or infinite", count(pixels, "pixel")));
        }
    }
    if let (Some(wanted), None) = (plan.args.settings.noise, plan.args.sheet.crop) {
        for (i, one) in shown.iter().enumerate().filter_map(|(i, one)| Some((i, one.as_ref()?))) {
            notes.warn_of_noise(&plan.name(i), one.statistics.relative_stderr, wanted);
        }
    }
    if wrong.len() > MOST_TOLD {
        notes.warn(format!("and {} more variants with such samples", wrong.len() - MOST_TOLD));
    }
}

impl Plan<'_> {
    /// With the keys of renders on a GPU, or on a CPU.
    fn on(mut self, is_gpu: bool) -> Self {
        let kind = if is_gpu { "gpu" } else { "cpu" };
        let SettingArgs { time, noise, .. } = self.args.settings;
        let said = format!("{kind} {} {time:?} {noise:?}", env!("CARGO_PKG_VERSION"));
        let key =
            |variant: &Variant| variant.scene.key_of_render(variant.fingerprint, variant.settings.spp, &said);
        self.keys = self.variants.iter().map(key).collect();
        self
    }

    /// What a variant is called.
    fn name(&self, i: usize) -> String {
        let n = self.grid.variants();
        let of = if i < n { "" } else { "against: " };
        format!("{of}{}", self.grid.name(i % n))
    }

    /// What the scene and the other one are called.
    fn scenes(&self) -> Vec<String> {
        let own = self.args.scene.file_name();
        let other = self.args.against.title(&own);
        vec![own, other]
    }
}

impl Summary {
    /// Tells people what happened.
    fn tell(&self, variants: usize, results: &Results<'_>) {
        let of = if self.interrupted { format!(" of {variants}") } else { String::new() };
        let again = if self.found > 0 { format!(", {} more were there", self.found) } else { String::new() };
        say(format_args!(
            "{}{of} in {}{again}, on {}",
            count(self.rendered as u64, "variant"),
            clock(self.seconds.total),
            self.device
        ));
        if self.interrupted && results.cell().is_none() {
            say("interrupted: nothing was written");
        } else if self.interrupted {
            say("interrupted: the same command goes on where this one was");
        }
        results.tell_verdicts();
        for output in &self.outputs {
            say(format_args!("wrote {}", output.path));
        }
    }
}
