//! `torrance bench primitives`: how fast the primitives are, on arrays of several lengths.

use crate::ExitCode;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use renderer::bench::{Baseline, End, Skipped, Watch, catalogue, chart, names};
use renderer::{DeviceChoice, Machine};
use torrance_gpu::backend::Error;
use torrance_gpu::backend::cuda::driver::{self, DriverError};
use torrance_plot::chart::ThemeName;
use torrance_text::{nearest, quoted};

use super::table::Report;
use crate::{ChartFile, EXIT_CODES, Failure, INTERRUPTED, Notes, device, print, print_json, signals, values};

const EXAMPLES: &str = "\
Examples:
  torrance bench primitives
  torrance bench primitives --only scan --size 2^20,2^27
  torrance bench primitives --only sort,compact --csv > times.csv
  torrance bench primitives --plot throughput.png
  torrance bench primitives --baseline ./libcub_baseline.so";

const MEANING: &str = "\
Times are those of one call, the least and the median of up to 25 batches of calls back to back, and include its \
launches. Bandwidth counts the bytes that the primitive must at least read and write, once; \"of copy\" compares it with a \
copy of as many 32-bit numbers, which is measured in turns with it. On a CPU the kernels' twins are measured, on all threads. \
What does not fit into memory is skipped.";

/// Text below the long help: the list of primitives.
fn after_long_help() -> String {
    let width = names().into_iter().map(str::len).max().unwrap_or(0);
    let row = |(name, does)| format!("  {name:<width$}  {does}\n");
    let list: String = catalogue().into_iter().map(row).collect();
    format!("{EXAMPLES}\n\nPrimitives:\n{list}\n{MEANING}\n\n{EXIT_CODES}")
}

/// Measure the parallel primitives: reduce, scan, compact, sort and the others
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = after_long_help())]
pub(crate) struct Args {
    /// Lengths of the arrays, separated by commas: 2000000, 128Mi, 2^27 or 2^27-1 [default: 2000000,2^24,2^27, for a
    /// plot each power of two from 2^10 on; on a CPU up to 2^20]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = values::length)]
    size: Vec<u32>,

    /// Measure these primitives alone, by their names or words of them, separated by commas: scan_look_back, or scan, or
    /// sort. `--help` lists them all
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<String>,

    /// Where to measure: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::written(values::device))]
    device: values::Written<DeviceChoice>,

    /// Measure beside it this library, built from renderer/gpu/benches/cub/baseline.cu. It is run: name one that you trust
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

/// Elements of the longest array that is measured on a CPU, where the user does not say.
const LONGEST_ON_CPU: u32 = 1 << 20;

/// Measures what `args` say.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let plot = args.plot.as_deref().map(|path| ChartFile::check("--plot", path)).transpose()?;
    let chosen = chosen(&args.only).map_err(Failure::input)?;
    let baseline = args.baseline.as_deref().map(load).transpose()?;
    let mut found = device::find(&args.device)?;
    if baseline.is_some() && !found.is_gpu() {
        return Err(Failure::input(without_gpu(args.device.value, driver::load())));
    }
    signals::catch(args.quiet);
    let mut notes = Notes::new(args.quiet);
    notes.display.phase(format!("starting {}", found.name()));
    let mut machine = found.start(None)?;
    if let Some(surprise) = &found.surprise {
        if baseline.is_some() {
            return Err(Failure::running(format_args!("--baseline: it runs on GPUs alone, and {surprise}")));
        }
        notes.warn(format!("measuring on the CPU: {surprise}"));
    }
    let plan = Plan { args, chosen, baseline: baseline.as_ref() };
    let report = plan.measure(&mut machine, &mut notes).map_err(|e| machine.failed(e))?;
    notes.end();
    let has_failed = matches!(report.results.end, End::Failed(_));
    // A chart that is there already is not replaced by a part of one.
    let told = tell(args, plot.filter(|_| !has_failed), &report);
    match &report.results.end {
        End::Failed(e) => Err(machine.failed(e.clone()).into()),
        End::Stopped => told.map(|()| ExitCode::from(INTERRUPTED)),
        End::Complete if report.results.measured.is_empty() => {
            Err(Failure::running(format_args!("{}: nothing of this fits", machine.name())))
        }
        End::Complete => told.map(|()| ExitCode::SUCCESS),
    }
}

/// Says why there is nothing to run a baseline on.
fn without_gpu(choice: DeviceChoice, driver: Result<(), DriverError>) -> String {
    let reason = match driver {
        Err(reason) if choice == DeviceChoice::Auto => reason.to_string(),
        _ => "--device chooses the CPU".to_owned(),
    };
    format!("--baseline: it runs on GPUs alone, and {reason}")
}

/// Prints what was measured, and draws it.
fn tell(args: &Args, plot: Option<ChartFile>, report: &Report) -> Result<(), Failure> {
    if args.json {
        print_json(&report.json())?;
    } else if args.csv {
        print(report.csv())?;
    } else if !report.results.measured.is_empty() {
        print(report)?;
    }
    match plot {
        Some(plot) if !report.results.measured.is_empty() => {
            let Report { machine, baseline, results, .. } = report;
            let theme = ThemeName::Light.theme();
            let drawing = chart(&results.measured, machine, baseline.as_deref(), theme);
            plot.draw(&drawing).map(drop).map_err(Failure::running)
        }
        _ => Ok(()),
    }
}

fn load(path: &Path) -> Result<Baseline, Failure> {
    Baseline::load(path)
        .map_err(|e| Failure::input(format_args!("--baseline {}: it {e}", quoted(&path.to_string_lossy()))))
}

/// The names that `only` stands for, in the order of the list; all if it is empty.
fn chosen(only: &[String]) -> Result<Vec<&'static str>, String> {
    let names = names();
    let wanted: Vec<_> =
        only.iter().map(|name| name.trim().to_lowercase().replace(['-', ' '], "_")).collect();
    for (wanted, written) in wanted.iter().zip(only) {
        if !names.iter().any(|name| has_words(name, wanted)) {
            let hint = match nearest(wanted, shorter(&names)) {
                Some(near) => format!("did you mean {}?", quoted(near)),
                None => "`torrance bench primitives --help` lists them".to_owned(),
            };
            return Err(format!("--only: unknown primitive {}; {hint}", quoted(written)));
        }
    }
    let is_wanted = |name: &&str| only.is_empty() || wanted.iter().any(|wanted| has_words(name, wanted));
    Ok(names.into_iter().filter(is_wanted).collect())
}

/// Whether `wanted` is a word of the name, or several that follow each other.
fn has_words(name: &str, wanted: &str) -> bool {
    format!("_{name}_").contains(&format!("_{wanted}_"))
}

/// Names, and all that [`has_words`] takes for one of them.
fn shorter<'a>(names: &[&'a str]) -> impl Iterator<Item = &'a str> + Clone {
    let parts = |name: &'a str| {
        let ends = name.match_indices('_').map(|(at, _)| at).chain([name.len()]);
        let starts = name.match_indices('_').map(|(at, _)| at + 1).chain([0]);
        starts.flat_map(move |start| ends.clone().filter_map(move |end| name.get(start..end)))
    };
    let mut all: Vec<_> = names.to_vec();
    all.extend(names.iter().flat_map(|name| parts(name)));
    let mut known = BTreeSet::new();
    all.retain(|words| known.insert(*words));
    all.into_iter()
}

/// The chosen benchmarks and options.
struct Plan<'a> {
    args: &'a Args,
    chosen: Vec<&'static str>,
    baseline: Option<&'a Baseline>,
}

impl Plan<'_> {
    fn measure(&self, machine: &mut Machine, notes: &mut Notes) -> Result<Report, Error> {
        let is_cpu = !machine.is_gpu();
        let lengths = self.lengths(is_cpu);
        if let Some(baseline) = self.baseline {
            machine.check_primitives(&self.chosen, baseline, &mut |name| {
                notes.display.phase(format!("comparing the results of {name}"));
            })?;
        }
        signals::begin_render();
        notes.display.begin_steps();
        let all = lengths.iter().map(|n| cost(*n)).sum::<f64>() * self.chosen.len() as f64;
        let mut progress = Progress { notes, start: Instant::now(), begun: 0.0, all };
        let results = machine.measure_primitives(&self.chosen, &lengths, self.baseline, &mut progress);
        let baseline = self.baseline.map(|b| b.title().to_owned());
        Ok(Report { machine: machine.name(), is_cpu, baseline, results })
    }

    /// Lengths to measure, each once, the shortest first.
    fn lengths(&self, is_cpu: bool) -> Vec<u32> {
        let mut lengths = self.args.size.clone();
        if lengths.is_empty() {
            lengths = match self.args.plot {
                Some(_) => (10..=27).map(|e| 1 << e).collect(),
                None if is_cpu => vec![LONGEST_ON_CPU],
                None => vec![2_000_000, 1 << 24, 1 << 27],
            };
            lengths.retain(|n| !is_cpu || *n <= LONGEST_ON_CPU);
        }
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    }
}

/// Shows what is measured.
struct Progress<'a> {
    notes: &'a mut Notes,
    start: Instant,
    /// The cost of what has begun, and of all.
    begun: f64,
    all: f64,
}

impl Watch for Progress<'_> {
    fn begin(&mut self, name: &str, n: u32) {
        let Self { start, begun, all, .. } = *self;
        self.notes.display.step(begun / all, start.elapsed(), &format!("{name} of {n}"));
        self.begun += cost(n);
    }

    fn skipped(&mut self, skipped: &Skipped) {
        self.notes.warn(skipped.to_string());
    }

    fn is_stopping(&self) -> bool {
        signals::is_stopping()
    }
}

/// How long measuring an array takes, against others: some of it is the same for all.
fn cost(n: u32) -> f64 {
    1e7 + f64::from(n)
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

    fn args(line: &str) -> Args {
        Line::try_parse_from(format!("primitives {line}").split_whitespace()).unwrap().args
    }

    fn lengths(line: &str, is_cpu: bool) -> Vec<u32> {
        let plan = Plan { args: &args(line), chosen: Vec::new(), baseline: None };
        plan.lengths(is_cpu)
    }

    #[test]
    fn lengths_are_those_asked_for_or_usual() {
        assert_eq!(lengths("--size 2^10,7 --size 2^10", false), [7, 1024]);
        assert_eq!(lengths("", false), [2_000_000, 1 << 24, 1 << 27]);
        assert_eq!(lengths("", true), [1 << 20]);
        let plotted = lengths("--plot a.png", false);
        assert_eq!((plotted.len(), plotted[0], plotted[17]), (18, 1 << 10, 1 << 27));
        assert_eq!(lengths("--plot a.png", true).last(), Some(&(1 << 20)));
    }

    fn chosen_by(only: &[&str]) -> Result<Vec<&'static str>, String> {
        chosen(&only.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn primitives_are_chosen_by_names_and_their_words() {
        assert_eq!(chosen_by(&[]).unwrap(), names());
        assert_eq!(chosen_by(&["scan_look_back", "memcpy"]).unwrap(), ["memcpy", "scan_look_back"]);
        assert_eq!(chosen_by(&[" Look-Back "]).unwrap(), ["scan_look_back"]);
        assert_eq!(chosen_by(&["copy"]).unwrap(), ["copy"]);
        let reductions = chosen_by(&["reduce"]).unwrap();
        assert!(reductions.contains(&"reduce_sum_f32") && reductions.iter().all(|n| n.starts_with("reduce")));
        let sorts = chosen_by(&["sort"]).unwrap();
        assert_eq!(sorts.len(), 5);
        assert!(sorts.contains(&"merge_sort_pairs") && sorts.contains(&"radix_sort_keys"), "{sorts:?}");
    }

    #[test]
    fn unknown_primitives_are_likened_to_known_ones() {
        let hint = |name: &str| chosen_by(&["reduce", name]).unwrap_err();
        for (name, near) in [
            ("memcopy", "memcpy"),
            ("scn", "scan"),
            ("redix", "radix"),
            ("radix_srot", "radix_sort"),
            ("look_bcak", "look_back"),
            ("mergesort", "merge_sort"),
            ("scan_lookback", "scan_look_back"),
        ] {
            let expected = format!("--only: unknown primitive \"{name}\"; did you mean \"{near}\"?");
            assert_eq!(hint(name), expected);
        }
        assert!(shorter(&names()).count() < 200, "`nearest` looks at no more than 256");
        for name in ["", "_", "quicksort"] {
            let expected = "; `torrance bench primitives --help` lists them";
            assert!(hint(name).ends_with(expected), "{name}");
        }
    }

    #[test]
    fn who_has_no_gpu_for_the_baseline_learns_why() {
        let absent = || Err(DriverError::NotInstalled("libcuda.so.1".to_owned()));
        let expected = "--baseline: it runs on GPUs alone, and no NVIDIA driver is installed (libcuda.so.1 was not found)";
        assert_eq!(without_gpu(DeviceChoice::Auto, absent()), expected);
        let expected = "--baseline: it runs on GPUs alone, and --device chooses the CPU";
        assert_eq!(without_gpu(DeviceChoice::Cpu, Ok(())), expected);
        assert_eq!(without_gpu(DeviceChoice::Cpu, absent()), expected);
    }

    #[test]
    fn the_long_help_lists_all() {
        let help = Line::command().render_long_help().to_string();
        for name in names() {
            assert!(help.lines().any(|line| line.trim_start().starts_with(&format!("{name} "))), "{help}");
        }
    }
}
