//! `torrance regress`: a suite of images against their references.

use crate::ExitCode;
use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use renderer::regress::suite::{Source, matches};
use renderer::regress::{
    self, Case, Kept, LazyMachine, Options, Report, SceneRenderer, Status, Suite, Summary,
};
use torrance_image::film::write::Destination;
use torrance_text::{nearest, quoted_path};

use super::device::{self, MachineArgs};
use super::resume::CheckpointTime;
use super::summary::json_text;
use super::{DIFFERENT, Failure, INTERRUPTED, Laps, color, print, say, signals, values, warn};

mod bless;
mod show;

use bless::BlessMode;
use show::Show;

const EXIT_CODES: &str = "\
Exit codes:
  0    every case passed, or was skipped on purpose
  1    a case failed, or came to no verdict; with --strict, also where differences could hide
  2    bad usage or a broken suite; nothing was run
  3    a report could not be written
  130  interrupted; reports are written, the rest of the cases is in them as not run";

const EXAMPLES: &str = "\
Examples:
  torrance regress suite.toml
  torrance regress suite.toml --filter cornell --filter 'glass-*' --device cpu
  torrance regress suite.toml --full --html report.html --junit junit.xml
  torrance regress suite.toml --bless --filter cornell

docs/regress.md lists the keys of suites and says what verdicts mean.
";

/// Run a suite of regression tests: images against their references
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(super) struct Args {
    /// Suite file
    #[arg(value_name = "SUITE")]
    suite: PathBuf,

    /// Run the cases whose names have this part, or match it if it has * or ?; repeat it for more
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,

    /// Run with what the suite says under "full"
    #[arg(long)]
    full: bool,

    /// List the cases and run none
    #[arg(long)]
    list: bool,

    /// Cases to run at a time; scenes are rendered one after the other all the same
    #[arg(long, value_name = "N", default_value = "1", value_parser = values::threads, allow_negative_numbers = true)]
    jobs: usize,

    /// Fail where differences larger than the suite asks for could hide
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    machine: MachineArgs,

    /// How often to keep what is rendered, in the folder SUITE.parts, which is removed when all cases have ended; or off
    #[arg(long, value_name = "TIME|off", default_value = "10s", value_parser = values::checkpoint)]
    checkpoint: CheckpointTime,

    /// Go on with what an earlier run has kept that did not come to its end
    #[arg(long)]
    resume: bool,

    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write the results as JSON, to stdout if it is -
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write a page that shows every case's images, in one file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write the image of every case to this folder, as NAME.exr with its standard errors
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,

    /// Render new references, to the noise that the suite says, and ask before each is written; where the
    /// environment says CI, only with --bless=ci
    #[arg(long, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_missing_value = "here",
          hide_possible_values = true, conflicts_with_all = ["list", "junit", "json", "html", "output"])]
    bless: Option<BlessMode>,

    /// Write new references without asking
    #[arg(long, requires = "bless")]
    yes: bool,

    /// Print only what fails
    #[arg(short, long)]
    quiet: bool,
}

/// Runs what `args` say.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let laps = Laps::new();
    let suite =
        regress::read(&args.suite, args.full).map_err(|e| Failure::input_report(e.report(color())))?;
    let cases = choose(&suite, &args.filter)?;
    if args.list {
        // Name, what makes it, reference.
        let line =
            |c: &&Case| format!("{}\t{}\t{}\n", c.name, c.source.describe(), c.reference.path.display());
        return print(cases.iter().map(line).collect::<String>()).map(|()| ExitCode::SUCCESS);
    }
    if let Some(place) = args.bless {
        bless::check(place, args.yes)?;
    }
    let files = Files::check(args, &suite)?;
    let devices = device::find_for_many(&args.machine)?;
    signals::catch(args.quiet);
    renderer::limit_threads(args.machine.threads);
    let lazy = |device| LazyMachine::new(device, args.machine.threads, |note| warn(note));
    let mut machines: Vec<_> = devices.into_iter().map(lazy).collect();
    let kept = args.checkpoint.0.map(|every| Kept::beside(&args.suite, every, args.resume));
    if let Some(kept) = kept.as_ref().filter(|kept| !args.resume && kept.folder().exists()) {
        let folder = quoted_path(kept.folder());
        warn(format_args!(
            "{folder} has what an earlier run rendered that did not end: --resume goes on with it"
        ));
    }
    let show = Show::new(&cases, args.quiet, !files.prints_json);
    let options = Options {
        jobs: args.jobs,
        keep_images: files.html.is_some(),
        kept: kept.as_ref(),
        is_stopping: &signals::is_stopping,
        output: args.output.as_deref(),
        observe: &|event| show.event(event),
    };
    signals::begin_render();
    if args.bless.is_some() {
        let code = bless::run(&cases, args.yes, &mut machines[0], &options, &show)?;
        end(kept.as_ref(), args.quiet);
        return Ok(code);
    }
    let mut renderers: Vec<_> =
        machines.iter_mut().map(|m| m as &mut (dyn SceneRenderer + 'static)).collect();
    let reports = regress::run(&suite, &cases, &mut renderers, &options);
    let interrupted = signals::is_stopping();
    let device = machines.iter().map(SceneRenderer::name).collect::<Vec<_>>().join(" + ");
    end(kept.as_ref(), args.quiet);
    show.end(&suite, &reports, &device, laps.total());
    let code = exit_code(&reports, args.strict, interrupted);
    let summary = Summary::new(&suite, &cases, &reports, &device, interrupted, laps.total());
    let mut failures = files.write(&suite, &reports, &summary, args.strict)?;
    if let Some(place) = &files.html {
        let when = chrono::Utc::now().format("%Y-%m-%d %H:%M UTC").to_string();
        failures.extend(put(place, regress::page(&suite, reports, &device, &when)));
    }
    if failures.is_empty() { Ok(code) } else { Err(Failure::running(failures.join("\nerror: "))) }
}

/// Removes what was kept, unless the run was interrupted.
fn end(kept: Option<&Kept>, quiet: bool) {
    let Some(kept) = kept else { return };
    if !signals::is_stopping() {
        kept.remove();
    } else if kept.folder().exists() && !quiet {
        say(format_args!("{} is kept: --resume goes on with it", quoted_path(kept.folder())));
    }
}

fn exit_code(reports: &[Report], strict: bool, interrupted: bool) -> ExitCode {
    let fails = |r: &Report| match r.status {
        Status::Failed | Status::Error => true,
        Status::Unresolved => strict,
        Status::Passed | Status::Skipped | Status::NotRun => false,
    };
    match () {
        () if interrupted => ExitCode::from(INTERRUPTED),
        () if reports.iter().any(fails) => ExitCode::from(DIFFERENT),
        () => ExitCode::SUCCESS,
    }
}

/// The cases that any of the filters chooses; all without one.
fn choose<'a>(suite: &'a Suite, filters: &[String]) -> Result<Vec<&'a Case>, Failure> {
    let names = || suite.cases.iter().map(|c| c.name.as_str());
    for filter in filters {
        if !names().any(|name| matches(filter, name)) {
            let hint = match nearest(filter, names()) {
                Some(near) => format!("; did you mean {near:?}?"),
                None => "; --list shows their names".to_owned(),
            };
            let shown = suite.path.display();
            return Err(Failure::input(format_args!("--filter {filter:?}: {shown} has no such case{hint}")));
        }
    }
    let is_chosen = |case: &&Case| filters.is_empty() || filters.iter().any(|f| matches(f, &case.name));
    Ok(suite.cases.iter().filter(is_chosen).collect())
}

/// Where results go.
struct Files {
    junit: Option<Destination>,
    json: Option<Destination>,
    prints_json: bool,
    html: Option<Destination>,
}

/// Refuses to write one file twice, or what the suite reads: a result must not become its own reference.
fn refuse_to_replace(written: &[Destination], suite: &Suite) -> Result<(), Failure> {
    let mut read = vec![suite.path.as_path()];
    for case in &suite.cases {
        read.push(&case.reference.path);
        read.extend(case.reference.stderr.as_deref());
        if let Source::Scene { path, options } = &case.source {
            read.push(path);
            read.extend(options.surroundings_file());
        }
    }
    let read = read.into_iter().filter_map(|path| path.canonicalize().ok()).collect();
    for (i, file) in written.iter().enumerate() {
        if written[..i].iter().any(|other| other.is_same_file(file)) {
            return Err(Failure::output(&file.path, "given twice"));
        }
        file.spare(&read, "the suite").map_err(Failure::input)?;
    }
    Ok(())
}

/// Refuses to replace a file that is no result of a suite: scenes read many files, which are not known before they are read.
fn refuse_to_replace_others(path: &Path) -> Result<(), Failure> {
    const BEGINNINGS: [&[u8]; 3] = [b"{", b"<!doctype html", b"<?xml"];
    let mut found = [0; 16];
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let read = if is_file { File::open(path).and_then(|mut file| file.read(&mut found)) } else { Ok(0) };
    let found = &found[..read.map_err(|e| Failure::output(path, e))?].to_ascii_lowercase();
    if found.is_empty() || BEGINNINGS.iter().any(|beginning| found.starts_with(beginning)) {
        return Ok(());
    }
    Err(Failure::output(path, "is there already, and no JSON, XML or page that it could take the place of"))
}

impl Files {
    /// Checks where results are to go, before anything is run.
    fn check(args: &Args, suite: &Suite) -> Result<Self, Failure> {
        let check = |path: &Option<PathBuf>| {
            path.as_deref().map(Destination::check).transpose().map_err(Failure::input)
        };
        let prints_json = args.json.as_deref() == Some(Path::new("-"));
        let json = if prints_json { None } else { check(&args.json)? };
        let (junit, html) = (check(&args.junit)?, check(&args.html)?);
        let mut written: Vec<Destination> = [&json, &junit, &html].into_iter().flatten().cloned().collect();
        if let Some(folder) = &args.output {
            std::fs::create_dir_all(folder)
                .map_err(|e| Failure::output(folder, format_args!("cannot be made: {e}")))?;
            for case in &suite.cases {
                let image = folder.join(format!("{}.exr", case.name));
                written.push(Destination::check(&image).map_err(Failure::input)?);
            }
        }
        refuse_to_replace(&written, suite)?;
        for place in [&json, &junit, &html].into_iter().flatten() {
            refuse_to_replace_others(&place.path)?;
        }
        Ok(Self { junit, json, prints_json, html })
    }

    /// Writes the results as text; what could not be written is said in sentences.
    fn write(
        &self,
        suite: &Suite,
        reports: &[Report],
        summary: &Summary<'_>,
        strict: bool,
    ) -> Result<Vec<String>, Failure> {
        let mut failures = Vec::new();
        if let Some(place) = &self.junit {
            let xml = regress::junit(suite, reports, strict);
            failures.extend(put(place, xml));
        }
        if let Some(place) = &self.json {
            let json = json_text(summary).map(String::into_bytes);
            failures.extend(put(place, json));
        }
        if self.prints_json {
            match json_text(summary) {
                Ok(text) => print(text)?,
                Err(reason) => failures.push(format!("--json: {reason}")),
            }
        }
        Ok(failures)
    }
}

/// Writes a file; says what went wrong.
fn put(place: &Destination, encoded: Result<Vec<u8>, impl Display>) -> Option<String> {
    place.write_encoded(encoded).err().map(|e| e.to_string())
}
