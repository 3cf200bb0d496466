//! `torrance bench traversal`: how fast the rays of a scene are traced.

use std::fmt;
use std::process::ExitCode;
use std::time::Instant;

use renderer::assemble::{Flattened, SceneData};
use renderer::bench::{Observer, RayKind, RayTiming};
use renderer::{DeviceChoice, Machine};
use serde::Serialize;
use torrance_gpu::backend::Error;
use torrance_scene::Overrides;

use super::super::device;
use super::super::failure::{Failure, INTERRUPTED};
use super::super::notes::Notes;
use super::super::source::SceneArgs;
use super::super::summary::{print, print_json};
use super::super::values;
use super::super::{EXIT_CODES, signals};

const EXAMPLES: &str = "\
Examples:
  torrance bench traversal scene.toml
  torrance bench traversal scene.xml --size 1920x1080 --rays 8 --device cuda
  torrance bench traversal scene.toml --csv > rays.csv";

const MEANING: &str = "\
Camera rays are traced, then rays from where they end: to a light each, as a path would draw it, and into directions with \
the density of what a diffuse surface reflects; then the same of where these end. Only what is a ray is traced and \
counted: what left the scene has no next ray. Times are the least and the median of up to ten, of tracing alone. Rays of \
8 by 4 pixels are neighbours.";

/// Measure how fast the rays of a scene are traced
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n\n{MEANING}\n\n{EXIT_CODES}"))]
pub(crate) struct Args {
    #[command(flatten)]
    scene: SceneArgs,

    /// Image size, pixels [default: the scene's]
    #[arg(long, value_name = "WxH", value_parser = values::size)]
    size: Option<(u32, u32)>,

    /// Camera rays a pixel [default: 8, on a CPU 1]
    #[arg(long, value_name = "N", value_parser = values::spp, allow_negative_numbers = true)]
    rays: Option<u32>,

    /// Where to trace: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::device)]
    device: DeviceChoice,

    /// CPU threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = values::threads, allow_negative_numbers = true)]
    threads: Option<usize>,

    /// Print the results as comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Print the results for programs, as one JSON object
    #[arg(long)]
    json: bool,

    /// Show no progress
    #[arg(short, long)]
    quiet: bool,
}

/// Measurements, and the machine they were taken on.
#[derive(Debug)]
struct Report {
    machine: String,
    scene: String,
    size: [u32; 2],
    rays: u32,
    traced: Vec<RayTiming>,
    /// Whether all of it was traced.
    complete: bool,
}

/// Measures what `args` say.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut found = device::find(args.device)?;
    signals::catch(args.quiet);
    let mut notes = Notes::new(args.quiet);
    let shown = args.scene.path.display();
    notes.display.phase(format!("reading {shown}"));
    let loaded = args.scene.load(Overrides { size: args.size, ..Overrides::default() }, &mut notes)?;
    notes.display.phase("building the scene");
    let wrong = |e| Failure::input(format_args!("{shown}: {e}"));
    let flattened = Flattened::new(&loaded.description).map_err(wrong)?;
    // As in a render: a large mesh is not there twice.
    drop(loaded);
    let scene = flattened.build().map_err(wrong)?;
    notes.display.phase(format!("starting {}", found.name()));
    let mut machine = found.start(args.threads)?;
    if let Some(surprise) = &found.surprise {
        notes.warn(format!("measuring on the CPU: {surprise}"));
    }
    let report = measure(args, &mut machine, &scene, &mut notes).map_err(|e| machine.failed(e))?;
    notes.end();
    if args.json {
        print_json(&report.json())?;
    } else if args.csv {
        print(report.csv())?;
    } else {
        print(&report)?;
    }
    Ok(if report.complete { ExitCode::SUCCESS } else { ExitCode::from(INTERRUPTED) })
}

fn measure(
    args: &Args,
    machine: &mut Machine,
    scene: &SceneData,
    notes: &mut Notes,
) -> Result<Report, Error> {
    signals::begin_render();
    notes.display.begin_steps();
    let rays = args.rays.unwrap_or(if machine.is_gpu() { 8 } else { 1 });
    let mut progress = Progress { notes, start: Instant::now() };
    let (traced, complete) = machine
        .trace(scene, rays, &mut progress)
        .map_err(|e| e.into_error("measuring traversal".to_owned()))?;
    Ok(Report {
        machine: machine.name(),
        scene: args.scene.path.to_string_lossy().into_owned(),
        size: [scene.width, scene.height],
        rays,
        traced,
        complete,
    })
}

/// Shows what is measured.
struct Progress<'a> {
    notes: &'a mut Notes,
    start: Instant,
}

impl Observer for Progress<'_> {
    fn begin(&mut self, kind: RayKind, done: f64) {
        self.notes.display.step(done, self.start.elapsed(), title(kind));
    }

    fn is_stopping(&self) -> bool {
        signals::is_stopping()
    }
}

/// Name in tables.
const fn title(kind: RayKind) -> &'static str {
    match kind {
        RayKind::Primary => "primary rays",
        RayKind::Shadow => "shadow rays",
        RayKind::FirstBounce => "first bounce",
        RayKind::SecondBounce => "second bounce",
    }
}

/// The object that `--json` prints. Fields are added, never renamed.
#[derive(Debug, Serialize)]
struct Json<'a> {
    version: &'static str,
    device: &'a str,
    scene: &'a str,
    width: u32,
    height: u32,
    rays_per_pixel: u32,
    interrupted: bool,
    results: Vec<Row>,
}

/// A result. Its fields are also the columns of `--csv`.
#[derive(Debug, Serialize)]
struct Row {
    kind: &'static str,
    /// Camera rays.
    camera_rays: u64,
    /// Rays of this kind that came of them.
    rays: u64,
    /// To trace all of them, the least.
    seconds: f64,
    /// To trace all of them, the median.
    median_seconds: f64,
    mrays_per_s: f64,
    /// Rays that met something.
    hits: u64,
    hit_share: f64,
}

impl From<&RayTiming> for Row {
    fn from(t: &RayTiming) -> Self {
        Self {
            kind: t.kind.name(),
            camera_rays: t.camera_rays,
            rays: t.rays,
            seconds: t.times.least,
            median_seconds: t.times.median,
            mrays_per_s: t.rays_per_second() * 1e-6,
            hits: t.hits,
            hit_share: t.hit_share(),
        }
    }
}

impl Report {
    fn json(&self) -> Json<'_> {
        Json {
            version: env!("CARGO_PKG_VERSION"),
            device: &self.machine,
            scene: &self.scene,
            width: self.size[0],
            height: self.size[1],
            rays_per_pixel: self.rays,
            interrupted: !self.complete,
            results: self.traced.iter().map(Row::from).collect(),
        }
    }

    /// A line of names, and one for each result.
    fn csv(&self) -> String {
        let mut text = "kind,camera_rays,rays,seconds,median_seconds,mrays_per_s,hits,hit_share\n".to_owned();
        for row in self.traced.iter().map(Row::from) {
            let Row { kind, camera_rays, rays, seconds, median_seconds, mrays_per_s, hits, hit_share } = row;
            text += &format!(
                "{kind},{camera_rays},{rays},{seconds:.6e},{median_seconds:.6e},{mrays_per_s:.3},{hits},\
                 {hit_share:.6}\n"
            );
        }
        text
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [width, height] = self.size;
        writeln!(f, "{}: {}, {width}×{height}, {} rays a pixel", self.machine, self.scene, self.rays)?;
        write!(f, "{:<14}{:>13}{:>13}{:>14}", "kind", "camera rays", "rays", "time")?;
        writeln!(f, "{:>14}{:>11}{:>9}", "median", "Mrays/s", "hits")?;
        for t in &self.traced {
            write!(f, "{:<14}{:>13}{:>13}", title(t.kind), t.camera_rays, t.rays)?;
            let [least, median] = [t.times.least, t.times.median].map(|s| format!("{:.3} ms", s * 1e3));
            write!(f, "{least:>14}{median:>14}")?;
            writeln!(f, "{:>11.1}{:>8.1}%", t.rays_per_second() * 1e-6, 100.0 * t.hit_share())?;
        }
        if !self.complete {
            writeln!(f, "interrupted: there is more to measure")?;
        }
        Ok(())
    }
}
