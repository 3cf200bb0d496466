//! `torrance bench build`: how fast trees are built, and what they cost rays.

use crate::ExitCode;
use std::fmt;
use std::time::Instant;

use renderer::bench::{BuildTiming, Layout, build_threads, slope, time_build};
use serde::Serialize;
use torrance_text::{nearest, quoted};

use crate::{EXIT_CODES, Failure, INTERRUPTED, Notes, print, print_json, signals, values};

const EXAMPLES: &str = "\
Examples:
  torrance bench build
  torrance bench build --only row,star --size 2^12,2^16,2^20
  torrance bench build --csv > trees.csv";

const MEANING: &str = "\
A tree is built of so many primitives, on all threads, up to five times. The slope is the exponent k of the power nᵏ \
that fits the least times best: 1 where time is in proportion to the number of primitives. The cost is how many nodes and \
primitives a line through all meets on average, a primitive counting as 0.3 nodes. From a million primitives on trees are built \
in another way, in less memory.";

/// Text below the long help: the list of layouts.
fn after_long_help() -> String {
    let width = Layout::ALL.iter().map(|layout| layout.name().len()).max().unwrap_or(0);
    let row = |layout: &Layout| format!("  {:<width$}  {}\n", layout.name(), layout.means());
    let list: String = Layout::ALL.iter().map(row).collect();
    format!("{EXAMPLES}\n\nLayouts:\n{list}\n{MEANING}\n\n{EXIT_CODES}")
}

/// Measure how fast the trees that rays go through are built
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = after_long_help())]
pub(crate) struct Args {
    /// Numbers of primitives, separated by commas: 2000000, 128Ki or 2^17
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = values::length,
          default_value = "2^12,2^14,2^16,2^18")]
    size: Vec<u32>,

    /// Measure these layouts alone, separated by commas: row, star. `--help` lists them all
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = layout)]
    only: Vec<Layout>,

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

fn layout(name: &str) -> Result<Layout, String> {
    let names = Layout::ALL.map(Layout::name);
    let found = Layout::ALL.into_iter().find(|layout| layout.name() == name);
    found.ok_or_else(|| match nearest(name, names) {
        Some(near) => format!("did you mean {}?", quoted(near)),
        None => format!("expected {}", names.join(", ")),
    })
}

/// Measurements. Fields are added, never renamed.
#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    threads: usize,
    interrupted: bool,
    results: Vec<Row>,
    slopes: Vec<Slope>,
}

/// A result. Its fields are also the columns of `--csv`.
#[derive(Debug, Serialize)]
struct Row {
    layout: &'static str,
    primitives: u32,
    /// The least.
    seconds: f64,
    median_seconds: f64,
    ns_per_primitive: f64,
    /// By the surface-area heuristic.
    cost: f64,
    depth: usize,
    bytes_per_primitive: f64,
}

impl From<&BuildTiming> for Row {
    fn from(t: &BuildTiming) -> Self {
        let n = f64::from(t.primitives);
        Self {
            layout: t.layout.name(),
            primitives: t.primitives,
            seconds: t.times.least,
            median_seconds: t.times.median,
            ns_per_primitive: 1e9 * t.times.least / n,
            cost: t.cost,
            depth: t.depth,
            bytes_per_primitive: t.bytes as f64 / n,
        }
    }
}

/// How time grows with the number of primitives.
#[derive(Debug, Serialize)]
struct Slope {
    layout: &'static str,
    /// Of the logarithm of time over that of the number; null if there is one number alone.
    slope: Option<f64>,
}

/// Measures what `args` say.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    signals::catch(args.quiet);
    let mut notes = Notes::new(args.quiet);
    let (sizes, layouts) = chosen(args);
    signals::begin_render();
    notes.display.begin_steps();
    let all = sizes.iter().map(|n| f64::from(*n)).sum::<f64>() * layouts.len() as f64;
    let (start, mut done, mut interrupted) = (Instant::now(), 0.0, false);
    let (mut results, mut slopes) = (Vec::new(), Vec::new());
    for layout in layouts {
        let mut timings = Vec::new();
        for &n in &sizes {
            interrupted |= signals::is_stopping();
            if interrupted {
                break;
            }
            notes.display.step(done / all, start.elapsed(), &format!("{} of {n}", layout.name()));
            timings.push(time_build(layout, n).map_err(Failure::running)?);
            done += f64::from(n);
        }
        results.extend(timings.iter().map(Row::from));
        if !timings.is_empty() {
            slopes.push(Slope { layout: layout.name(), slope: slope(&timings) });
        }
    }
    notes.end();
    let (version, threads) = (env!("CARGO_PKG_VERSION"), build_threads());
    let report = Report { version, threads, interrupted, results, slopes };
    if args.json {
        print_json(&report)?;
    } else if args.csv {
        print(report.csv())?;
    } else {
        print(&report)?;
    }
    Ok(if report.interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// Numbers of primitives and layouts, each once, in order.
fn chosen(args: &Args) -> (Vec<u32>, Vec<Layout>) {
    let mut sizes = args.size.clone();
    sizes.sort_unstable();
    sizes.dedup();
    let is_wanted = |layout: &Layout| args.only.is_empty() || args.only.contains(layout);
    (sizes, Layout::ALL.into_iter().filter(is_wanted).collect())
}

impl Report {
    /// A line of names, and one for each result.
    fn csv(&self) -> String {
        let mut text =
            "layout,primitives,seconds,median_seconds,ns_per_primitive,cost,depth,bytes_per_primitive\n"
                .to_owned();
        for row in &self.results {
            let Row { layout, primitives, seconds, median_seconds, ns_per_primitive, .. } = row;
            let Row { cost, depth, bytes_per_primitive, .. } = row;
            text += &format!(
                "{layout},{primitives},{seconds:.6e},{median_seconds:.6e},{ns_per_primitive:.1},{cost:.4},{depth},\
                 {bytes_per_primitive:.1}\n"
            );
        }
        text
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "trees on {}", crate::count(self.threads as u64, "thread"))?;
        write!(f, "{:<12}{:>11}{:>13}{:>13}", "layout", "primitives", "time", "median")?;
        writeln!(f, "{:>9}{:>12}{:>7}{:>9}{:>8}", "ns each", "cost", "depth", "B each", "slope")?;
        for row in &self.results {
            let [least, median] = [row.seconds, row.median_seconds].map(|s| format!("{:.3} ms", s * 1e3));
            write!(f, "{:<12}{:>11}{least:>13}{median:>13}", row.layout, row.primitives)?;
            write!(f, "{:>9.0}{:>12.2}{:>7}", row.ns_per_primitive, row.cost, row.depth)?;
            write!(f, "{:>9.0}", row.bytes_per_primitive)?;
            let is_last =
                self.results.iter().rfind(|r| r.layout == row.layout).is_some_and(|r| std::ptr::eq(r, row));
            let slope = self.slopes.iter().find(|s| s.layout == row.layout).and_then(|s| s.slope);
            match slope.filter(|_| is_last) {
                Some(slope) => writeln!(f, "{slope:>8.2}")?,
                None => writeln!(f)?,
            }
        }
        if self.interrupted {
            writeln!(f, "interrupted: there is more to measure")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn what_is_measured_is_what_was_asked_for_or_usual() {
        let of = |line: &str| {
            chosen(&Line::try_parse_from(format!("build {line}").split_whitespace()).unwrap().args)
        };
        assert_eq!(of(""), (vec![1 << 12, 1 << 14, 1 << 16, 1 << 18], Layout::ALL.to_vec()));
        let (sizes, layouts) = of("--size 70,2^3 --size 8 --only star,row");
        assert_eq!((sizes, layouts), (vec![8, 70], vec![Layout::Row, Layout::Star]));
    }

    #[test]
    fn unknown_layouts_are_likened_to_known_ones() {
        assert_eq!(layout("rwo").unwrap_err(), "did you mean \"row\"?");
        assert!(layout("tetrahedra").unwrap_err().starts_with("expected row, growing, "));
    }

    #[test]
    fn the_long_help_lists_all() {
        let help = Line::command().render_long_help().to_string();
        for layout in Layout::ALL {
            assert!(help.contains(&format!("  {} ", layout.name())), "{help}");
        }
    }
}
