//! `torrance bench primitives`: how fast the primitives are, on arrays of several lengths.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use super::super::device::{self, Machine as Started};
use super::super::failure::{Failure, INTERRUPTED};
use super::super::notes::Notes;
use super::super::summary::{print, print_json};
use super::super::values::{self, DeviceChoice};
use super::super::{EXIT_CODES, signals};
use super::table::Report;
use crate::backend::Error;
use crate::bench::{Baseline, Benchmark, Machine, benchmarks, chart, check, measure, names};
use crate::film::write::Destination;
use crate::report::plot::ThemeName;
use crate::scene::{hint, quoted};

const EXAMPLES: &str = "\
Examples:
  torrance bench primitives
  torrance bench primitives --only scan --size 2^20,2^27
  torrance bench primitives --plot throughput.png --csv > throughput.csv
  torrance bench primitives --baseline ./libcub_baseline.so

Times are those of one call, the least and the median of up to 25 batches of calls back to back, and include its \
launches. Bandwidth counts the bytes that the primitive must at least read and write, once; \"of copy\" compares it with a \
copy of as many 32-bit numbers, which is measured in turns with it. On a CPU the kernels' sequential twins are measured.
";

/// Measure the parallel primitives: reduce, scan, sort and the others
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(in crate::cli) struct Args {
    /// Lengths of the arrays, separated by commas: 2000000, 128Mi or 2^27 [default: 2000000,2^24,2^27, for a plot each
    /// power of two from 2^10 on; on a CPU up to 2^20]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = values::length)]
    size: Vec<u32>,

    /// Measure these primitives alone, e.g. scan_look_back, or scan for all whose names begin so; separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<String>,

    /// Where to measure: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::device)]
    device: DeviceChoice,

    /// Measure beside it this library, built from renderer/benches/cub/baseline.cu. It is run: name one that you trust
    #[arg(long, value_name = "LIBRARY")]
    baseline: Option<PathBuf>,

    /// Draw throughput against length into this file, .png or .svg
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

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

/// Elements of the longest array that a sequential twin is measured on, where the user does not say.
const LONGEST_ON_CPU: u32 = 1 << 20;
/// Bytes that measuring may need an element, the baseline's temporary memory and the copy's buffers included.
const BYTES_AN_ELEMENT: u64 = 64;

/// Measures what `args` say.
pub(in crate::cli) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let plot = args.plot.as_deref().map(Plot::check).transpose()?;
    let chosen = chosen(&args.only).map_err(Failure::input)?;
    let baseline = args.baseline.as_deref().map(load).transpose()?;
    let mut found = device::find(args.device)?;
    if baseline.is_some() && !found.is_gpu() {
        return Err(Failure::input("--baseline: it runs on a GPU, and there is none to measure on"));
    }
    signals::catch(args.quiet);
    let mut notes = Notes::new(args.quiet);
    notes.display.phase(format!("starting {}", found.name()));
    let name = found.name();
    let machine = found.start(None)?;
    if let Some(surprise) = found.surprise {
        notes.warn(format!("measuring on the CPU: {surprise}"));
    }
    let plan = Plan { args, chosen, baseline: baseline.as_ref() };
    let report = match machine {
        Started::Cpu(mut cpu) => plan.measure(&mut cpu, true, &mut notes),
        Started::Cuda(mut cuda) => plan.measure(&mut *cuda, false, &mut notes),
    };
    let report = report.map_err(|e| device::failed(&e, &name))?;
    notes.end();
    if let Some(plot) = plot {
        plot.draw(&report)?;
    }
    if args.json {
        print_json(&report.json())?;
    } else if args.csv {
        print(report.csv())?;
    } else {
        print(&report)?;
    }
    Ok(if report.interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

fn load(path: &Path) -> Result<Baseline, Failure> {
    Baseline::load(path)
        .map_err(|e| Failure::input(format_args!("--baseline {}: it {e}", quoted(&path.to_string_lossy()))))
}

/// The names that `only` stands for, in the order of the list; all if it is empty.
fn chosen(only: &[String]) -> Result<Vec<&'static str>, String> {
    let names = names();
    let is = |name: &str, wanted: &str| {
        name.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    for wanted in only {
        if !names.iter().any(|name| is(name, wanted)) {
            let hint = hint(wanted, "there are", names.iter().copied());
            return Err(format!("--only: unknown primitive {}{hint}", quoted(wanted)));
        }
    }
    let is_wanted = |name: &&str| only.is_empty() || only.iter().any(|wanted| is(name, wanted));
    Ok(names.into_iter().filter(is_wanted).collect())
}

/// What is to be measured.
struct Plan<'a> {
    args: &'a Args,
    chosen: Vec<&'static str>,
    baseline: Option<&'a Baseline>,
}

impl Plan<'_> {
    fn measure<B: Machine>(&self, backend: &mut B, is_cpu: bool, notes: &mut Notes) -> Result<Report, Error> {
        let lengths = self.lengths(is_cpu, backend.free_bytes());
        let benchmarks: Vec<Benchmark<B>> =
            benchmarks().into_iter().filter(|b| self.chosen.contains(&b.name)).collect();
        if let Some(baseline) = self.baseline {
            for benchmark in &benchmarks {
                notes.display.phase(format!("comparing the results of {}", benchmark.name));
                check(backend, benchmark, baseline)?;
            }
        }
        let baseline = self.baseline.map(|b| b.title().to_owned());
        let mut report =
            Report { machine: backend.name(), is_cpu, baseline, measured: Vec::new(), interrupted: false };
        signals::begin_render();
        notes.display.begin_steps();
        let (start, mut done) = (Instant::now(), 0.0);
        let all = lengths.iter().map(|n| cost(*n)).sum::<f64>() * benchmarks.len() as f64;
        for n in lengths {
            for benchmark in &benchmarks {
                notes.display.step(done / all, start.elapsed(), &format!("{} of {n}", benchmark.name));
                match measure(backend, benchmark, n, self.baseline, &signals::is_stopping)? {
                    Some(measured) => report.measured.push(measured),
                    None => return Ok(Report { interrupted: true, ..report }),
                }
                done += cost(n);
            }
        }
        Ok(report)
    }

    /// Lengths to measure, each once, the shortest first.
    fn lengths(&self, is_cpu: bool, free: Option<u64>) -> Vec<u32> {
        let mut lengths = self.args.size.clone();
        if lengths.is_empty() {
            lengths = match self.args.plot {
                Some(_) => (10..=27).map(|e| 1 << e).collect(),
                None if is_cpu => vec![LONGEST_ON_CPU],
                None => vec![2_000_000, 1 << 24, 1 << 27],
            };
            let most = if is_cpu { LONGEST_ON_CPU } else { u32::MAX };
            let fits = |n: u32| free.is_none_or(|free| u64::from(n) * BYTES_AN_ELEMENT <= free);
            lengths.retain(|n| *n <= most && fits(*n));
        }
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    }
}

/// How long measuring an array takes, against others: some of it is the same for all.
fn cost(n: u32) -> f64 {
    1e7 + f64::from(n)
}

/// A file to draw to.
struct Plot {
    destination: Destination,
    is_svg: bool,
}

impl Plot {
    fn check(path: &Path) -> Result<Self, Failure> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        let is_svg = extension == "svg";
        if !is_svg && extension != "png" {
            let shown = quoted(&path.to_string_lossy());
            return Err(Failure::input(format_args!("--plot {shown}: expected a file .png or .svg")));
        }
        Ok(Self { destination: Destination::check(path).map_err(Failure::input)?, is_svg })
    }

    fn draw(&self, report: &Report) -> Result<(), Failure> {
        const PIXELS_PER_UNIT: f64 = 1.6;
        let drawing =
            chart(&report.measured, &report.machine, report.baseline.as_deref(), ThemeName::Light.theme());
        let [width, height] =
            [drawing.width, drawing.height].map(|side| (side * PIXELS_PER_UNIT).round() as u32);
        let bytes = match self.is_svg {
            true => drawing.svg(width, height).map(String::into_bytes),
            false => drawing.png(width, height),
        };
        let shown = self.destination.path.display();
        let failed = |e: String| Failure::running(format_args!("output \"{shown}\": cannot be written: {e}"));
        self.destination.replace(&bytes.map_err(failed)?).map_err(|e| failed(e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn args(line: &str) -> Args {
        Line::try_parse_from(format!("primitives {line}").split_whitespace()).unwrap().args
    }

    fn lengths(line: &str, is_cpu: bool, free: Option<u64>) -> Vec<u32> {
        let plan = Plan { args: &args(line), chosen: Vec::new(), baseline: None };
        plan.lengths(is_cpu, free)
    }

    #[test]
    fn lengths_are_those_asked_for_or_fit() {
        assert_eq!(lengths("--size 2^10,7 --size 2^10", false, Some(0)), [7, 1024]);
        assert_eq!(lengths("", false, None), [2_000_000, 1 << 24, 1 << 27]);
        assert_eq!(lengths("", false, Some(2 << 30)), [2_000_000, 1 << 24]);
        assert_eq!(lengths("", true, None), [1 << 20]);
        let plotted = lengths("--plot a.png", false, None);
        assert_eq!((plotted.len(), plotted[0], plotted[17]), (18, 1 << 10, 1 << 27));
        assert_eq!(lengths("--plot a.png", true, None).last(), Some(&(1 << 20)));
    }

    #[test]
    fn primitives_are_chosen_by_name_or_its_beginning() {
        let chosen = |only: &[&str]| chosen(&only.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
        assert_eq!(chosen(&[]).unwrap(), names());
        assert_eq!(chosen(&["scan_look_back", "memcpy"]).unwrap(), ["memcpy", "scan_look_back"]);
        let reductions = chosen(&["reduce"]).unwrap();
        assert!(reductions.contains(&"reduce_sum_f32") && reductions.iter().all(|n| n.starts_with("reduce")));
        let error = chosen(&["reduce", "memcopy"]).unwrap_err();
        assert_eq!(error, "--only: unknown primitive \"memcopy\"; did you mean \"memcpy\"?");
        assert!(chosen(&["red"]).is_err() && chosen(&[""]).is_err());
    }
}
