//! `torrance bench scenes`: how fast scenes are rendered, beside another program.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use renderer::Machine;
use renderer::assemble::SceneData;
use renderer::render::{Budget, Control, Integrator, Options, Paths};
use serde::{Deserialize, Serialize};
use torrance_scene::Overrides;
use torrance_scene::limits::MAX_SPP;

use super::MeasuredArgs;

use crate::{EXIT_CODES, ExitCode, Failure, INTERRUPTED, Notes, print, print_json, signals, source, values};

const EXAMPLES: &str = "\
Examples:
  torrance bench scenes scenes/cornell.toml scenes/temple.toml --size 1024x1024
  torrance bench scenes references/*/scene.xml --size 1024x1024 --max-depth 8,2 --against mitsuba.json
  python3 tests/performance.py mitsuba references/*/scene.xml --size 1024x1024 --max-depth 8,2 > mitsuba.json";

const MEANING: &str = "\
Rates are of tracing alone, by each of the integrators that the device has: the best of several renders, after one that compiles \
and warms up. The file of --against is what this command prints with --json, or what tests/performance.py makes of Mitsuba; \
scenes are compared by their names, the longest paths and the size of the image.";

/// Renders of which the fastest counts.
const RENDERS: u32 = 3;

/// Measure how fast scenes are rendered
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n\n{MEANING}\n\n{EXIT_CODES}"))]
pub(crate) struct Args {
    /// Scene files
    #[arg(value_name = "SCENE", required = true)]
    scenes: Vec<PathBuf>,

    /// Image size, pixels [default: the scene's]
    #[arg(long, value_name = "WxH", value_parser = values::size)]
    size: Option<(u32, u32)>,

    /// Longest paths, segments; each scene is measured with all of them [default: the scene's]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = values::max_depth)]
    max_depth: Vec<u32>,

    /// Time of a measurement
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = values::time)]
    time: Duration,

    /// Rates of another program, to compare with
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,

    #[command(flatten)]
    machine: MeasuredArgs,

    /// Print a table in Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,

    /// Print the results for programs, as one JSON object
    #[arg(long)]
    json: bool,

    /// Show no progress
    #[arg(short, long)]
    quiet: bool,
}

/// Rates, and the machine and program that they are of. Fields are added, never renamed.
#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    program: String,
    device: String,
    interrupted: bool,
    /// What [`Row::against`] is of.
    against: Option<String>,
    results: Vec<Row>,
    #[serde(skip)]
    is_markdown: bool,
}

/// A scene with paths of some length.
#[derive(Debug, Serialize)]
struct Row {
    scene: String,
    max_depth: u32,
    width: u32,
    height: u32,
    /// Millions of paths a second, by the better integrator.
    mpaths_per_s: f64,
    megakernel: f64,
    /// Null where there is no wavefront to be measured.
    wavefront: Option<f64>,
    /// Millions of paths a second of the other program.
    against: Option<f64>,
    ratio: Option<f64>,
}

/// What `--against` reads.
#[derive(Debug, Deserialize)]
struct Other {
    program: String,
    #[serde(default)]
    device: String,
    results: Vec<OtherRow>,
}

#[derive(Debug, Deserialize)]
struct OtherRow {
    scene: String,
    max_depth: u32,
    width: u32,
    height: u32,
    mpaths_per_s: f64,
}

/// Measures what `args` say.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let other = args.against.as_deref().map(read).transpose()?;
    let mut found = args.machine.find()?;
    signals::catch(args.quiet);
    let mut notes = Notes::new(args.quiet);
    let mut machine = args.machine.start(&mut found, &mut notes)?;
    signals::begin_render();
    notes.display.begin_steps();
    let depths = if args.max_depth.is_empty() {
        vec![None]
    } else {
        args.max_depth.iter().copied().map(Some).collect()
    };
    let all = args.scenes.len() * depths.len();
    let (start, mut results) = (Instant::now(), Vec::new());
    'all: for path in &args.scenes {
        for max_depth in &depths {
            let name = name_of(path);
            notes.display.step(results.len() as f64 / all as f64, start.elapsed(), &name);
            let scene = source::build(
                path,
                Overrides { size: args.size, max_depth: *max_depth, ..Overrides::default() },
                &mut notes,
            )?;
            let Some(rates) = rates(&mut machine, &scene, args.time)? else { break 'all };
            results.push(Row::new(name, &scene, rates, other.as_ref()));
        }
    }
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        program: concat!("torrance ", env!("CARGO_PKG_VERSION")).to_owned(),
        device: machine.name(),
        interrupted: results.len() < all,
        against: other.map(|other| match other.device.as_str() {
            "" => other.program,
            device => format!("{}, {device}", other.program),
        }),
        results,
        is_markdown: args.markdown,
    };
    notes.end();
    if args.json {
        print_json(&report)?
    } else {
        print(&report)?
    }
    Ok(if report.interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// Reads the rates of another program.
fn read(path: &Path) -> Result<Other, Failure> {
    let wrong = |e: &dyn fmt::Display| Failure::input(format_args!("--against {}: {e}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| wrong(&e))?;
    serde_json::from_str(&text).map_err(|e| wrong(&e))
}

/// The name of a scene: that of its file, or of its folder if all are called so.
fn name_of(path: &Path) -> String {
    let named = match path.file_stem().is_some_and(|stem| stem == "scene") {
        true => path.parent().and_then(Path::file_name),
        false => path.file_stem(),
    };
    named.or(path.file_name()).unwrap_or_default().to_string_lossy().into_owned()
}

/// Millions of paths a second by the megakernel, and by the wavefront where that is worth it; `None` once the user has had enough.
fn rates(
    machine: &mut Machine,
    scene: &SceneData,
    time: Duration,
) -> Result<Option<(f64, Option<f64>)>, Failure> {
    let Some(megakernel) = rate(machine, scene, time, Integrator::Megakernel)? else { return Ok(None) };
    if !machine.is_gpu() || scene.settings.walks != 0 {
        return Ok(Some((megakernel, None)));
    }
    let wavefront = rate(machine, scene, time, Integrator::Wavefront(Paths::new(Paths::ON_GPU)))?;
    Ok(wavefront.map(|wavefront| (megakernel, Some(wavefront))))
}

fn rate(
    machine: &mut Machine,
    scene: &SceneData,
    time: Duration,
    integrator: Integrator,
) -> Result<Option<f64>, Failure> {
    let options = Options { integrator, ..Options::default() };
    let mut observe = |_: &_| if signals::is_stopping() { Control::Stop } else { Control::Continue };
    let warm_up = Budget { spp: 1, time: None, noise: None };
    let measured = Budget { spp: MAX_SPP, time: Some(time / RENDERS), noise: None };
    let mut best: f64 = 0.0;
    for budget in std::iter::once(warm_up).chain((0..RENDERS).map(|_| measured)) {
        let rendered = machine.render(scene, budget, options, &mut observe);
        let rendered = rendered.map_err(|error| machine.failed(error))?;
        if signals::is_stopping() {
            return Ok(None);
        }
        if budget.time.is_some() {
            best = best.max(rendered.progress.mpaths_per_s());
        }
    }
    Ok(Some(best))
}

impl Row {
    fn new(
        scene: String,
        data: &SceneData,
        (megakernel, wavefront): (f64, Option<f64>),
        other: Option<&Other>,
    ) -> Self {
        let (width, height, max_depth) = (data.width, data.height, data.settings.max_depth);
        let is_same = |row: &&OtherRow| {
            (&row.scene, row.max_depth, row.width, row.height) == (&scene, max_depth, width, height)
        };
        let against = other.and_then(|other| other.results.iter().find(is_same)).map(|row| row.mpaths_per_s);
        let mpaths_per_s = megakernel.max(wavefront.unwrap_or(0.0));
        let ratio = against.map(|against| mpaths_per_s / against);
        Self { scene, max_depth, width, height, mpaths_per_s, megakernel, wavefront, against, ratio }
    }
}

/// The geometric mean, if there is anything.
fn mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Vec<f64> = ratios.map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// A rate in four digits or so.
fn number(rate: f64) -> String {
    let decimals = if rate >= 100.0 {
        0
    } else if rate >= 10.0 {
        1
    } else {
        2
    };
    format!("{rate:.decimals$}")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, device, against, results, .. } = self;
        let of_other = against.as_ref().map(|against| format!("; against {against}")).unwrap_or_default();
        writeln!(f, "{program} on {device}, {}, millions of paths a second{of_other}\n", today())?;
        let has_wavefront = results.iter().any(|row| row.wavefront.is_some());
        let mut titles = vec!["scene", "depth", "megakernel"];
        titles.extend(has_wavefront.then_some("wavefront"));
        titles.extend(against.iter().flat_map(|_| ["against", "ratio"]));
        let cells = |row: &Row| {
            let missing = || "–".to_owned();
            let mut cells = vec![row.scene.clone(), row.max_depth.to_string(), number(row.megakernel)];
            cells.extend(has_wavefront.then(|| row.wavefront.map_or_else(missing, number)));
            cells.extend(against.iter().flat_map(|_| {
                [
                    row.against.map_or_else(missing, number),
                    row.ratio.map_or_else(missing, |r| format!("{r:.2}")),
                ]
            }));
            cells
        };
        let mut rows: Vec<Vec<String>> = results.iter().map(cells).collect();
        if let Some(mean) = mean(results.iter().filter_map(|row| row.ratio)) {
            let mut last = vec![String::new(); titles.len()];
            (last[0], *last.last_mut().ok_or(fmt::Error)?) =
                ("geometric mean".to_owned(), format!("{mean:.2}"));
            rows.push(last);
        }
        let titles: Vec<String> = titles.into_iter().map(str::to_owned).collect();
        let width = |column: usize| {
            rows.iter().chain([&titles]).map(|row| row[column].chars().count()).max().unwrap_or(0)
        };
        let line = |row: &[String]| -> String {
            let cells = row.iter().enumerate().map(|(column, cell)| match column {
                0 => format!("{cell:<w$}", w = width(column)),
                _ => format!("{cell:>w$}", w = width(column)),
            });
            match self.is_markdown {
                true => format!("| {} |", cells.collect::<Vec<_>>().join(" | ")),
                false => cells.collect::<Vec<_>>().join("  "),
            }
        };
        writeln!(f, "{}", line(&titles).trim_end())?;
        if self.is_markdown {
            let rules = (0..titles.len()).map(|column| if column == 0 { "---" } else { "--:" });
            writeln!(f, "|{}|", rules.collect::<Vec<_>>().join("|"))?;
        }
        for row in &rows {
            writeln!(f, "{}", line(row).trim_end())?;
        }
        if self.interrupted {
            writeln!(f, "interrupted: there is more to measure")?;
        }
        Ok(())
    }
}

/// The date, as in 2026-01-31.
fn today() -> String {
    chrono::Utc::now().format("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_are_called_as_people_call_them() {
        for (path, name) in [
            ("a/scene.xml", "a"),
            ("scenes/cornell.toml", "cornell"),
            ("scene.toml", "scene.toml"),
            ("x.glb", "x"),
        ] {
            assert_eq!(name_of(Path::new(path)), name);
        }
    }

    #[test]
    fn means_are_geometric() {
        assert_eq!(mean(std::iter::empty()), None);
        assert!((mean([2.0, 8.0].into_iter()).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!([1234.5, 56.78, 1.234].map(number), ["1234", "56.8", "1.23"]);
    }
}
