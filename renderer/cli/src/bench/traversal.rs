//! `torrance bench traversal`: how fast the rays of a scene are traced.

use crate::ExitCode;
use std::fmt;
use std::time::Instant;

use renderer::bench::{Observer, RayKind, RayTiming};
use serde::Serialize;
use torrance_scene::Overrides;

use super::MeasuredArgs;

use crate::{EXIT_CODES, Failure, INTERRUPTED, Notes, SceneArgs, print, print_json, signals, source, values};

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

    #[command(flatten)]
    machine: MeasuredArgs,

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

/// Measurements, and the machine they were taken on. Fields are added, never renamed.
#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    device: String,
    scene: String,
    width: u32,
    height: u32,
    rays_per_pixel: u32,
    interrupted: bool,
    results: Vec<Row>,
}

/// Measures what `args` say.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut found = args.machine.find()?;
    signals::catch(args.quiet);
    let mut notes = Notes::new(args.quiet);
    let shown = args.scene.path.display();
    notes.display.phase(format!("reading {shown}"));
    let loaded = args.scene.load(Overrides { size: args.size, ..Overrides::default() }, &mut notes)?;
    notes.display.phase("building the scene");
    let scene = source::built(loaded, &args.scene.path)?;
    let mut machine = args.machine.start(&mut found, &mut notes)?;
    signals::begin_render();
    notes.display.begin_steps();
    let rays = args.rays.unwrap_or(if machine.is_gpu() { 8 } else { 1 });
    let mut progress = Progress { notes: &mut notes, start: Instant::now() };
    let traced = machine.trace(&scene, rays, &mut progress);
    let (traced, complete) =
        traced.map_err(|e| machine.failed(e.into_error("measuring traversal".to_owned())))?;
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        device: machine.name(),
        scene: args.scene.path.to_string_lossy().into_owned(),
        width: scene.width,
        height: scene.height,
        rays_per_pixel: rays,
        interrupted: !complete,
        results: traced.iter().map(Row::from).collect(),
    };
    notes.end();
    if args.json {
        print_json(&report)?;
    } else if args.csv {
        print(report.csv())?;
    } else {
        print(&report)?;
    }
    Ok(if report.interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
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

/// A result. Its fields are also the columns of `--csv`.
#[derive(Debug, Serialize)]
struct Row {
    kind: &'static str,
    #[serde(skip)]
    title: &'static str,
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
            title: title(t.kind),
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
    /// A line of names, and one for each result.
    fn csv(&self) -> String {
        let mut text = "kind,camera_rays,rays,seconds,median_seconds,mrays_per_s,hits,hit_share\n".to_owned();
        for row in &self.results {
            let Row {
                kind, camera_rays, rays, seconds, median_seconds, mrays_per_s, hits, hit_share, ..
            } = row;
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
        let Self { device, scene, width, height, rays_per_pixel, .. } = self;
        writeln!(f, "{device}: {scene}, {width}×{height}, {rays_per_pixel} rays a pixel")?;
        write!(f, "{:<14}{:>13}{:>13}{:>14}", "kind", "camera rays", "rays", "time")?;
        writeln!(f, "{:>14}{:>11}{:>9}", "median", "Mrays/s", "hits")?;
        for row in &self.results {
            write!(f, "{:<14}{:>13}{:>13}", row.title, row.camera_rays, row.rays)?;
            let [least, median] = [row.seconds, row.median_seconds].map(|s| format!("{:.3} ms", s * 1e3));
            write!(f, "{least:>14}{median:>14}")?;
            writeln!(f, "{:>11.1}{:>8.1}%", row.mrays_per_s, 100.0 * row.hit_share)?;
        }
        if self.interrupted {
            writeln!(f, "interrupted: there is more to measure")?;
        }
        Ok(())
    }
}
