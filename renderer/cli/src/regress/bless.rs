//! `torrance regress --bless`: new references.

use crate::ExitCode;
use std::collections::HashSet;
use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use renderer::regress::suite::{Expect, Source};
use renderer::regress::{self, Case, Event, LazyMachine, NewReference, Options, Stop};
use torrance_image::film::rescue::rescue;
use torrance_image::film::write::Destination;

use super::show::Show;
use crate::render::kept_elsewhere;
use crate::{Failure, INTERRUPTED, count, say, signals};

/// Whether references may be replaced where nobody looks on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum BlessMode {
    /// Only by a person
    Here,
    /// In continuous integration, too
    Ci,
}

/// Refuses what would replace references by accident.
pub(super) fn check(place: BlessMode, yes: bool) -> Result<(), Failure> {
    let is_ci = std::env::var_os("CI").is_some_and(|v| !v.is_empty() && v != "false" && v != "0");
    if is_ci && place != BlessMode::Ci {
        return Err(Failure::input(
            "--bless: the environment says CI, where tests are to find differences rather than to accept them; \
             --bless=ci insists",
        ));
    }
    if !yes && !io::stdin().is_terminal() {
        return Err(Failure::input(
            "--bless asks before it replaces a reference, and there is no terminal to ask on; --yes answers",
        ));
    }
    Ok(())
}

/// Renders new references for the cases, shows how they differ from the old ones, and asks.
pub(super) fn run(
    cases: &[&Case],
    yes: bool,
    machine: &mut LazyMachine,
    options: &Options<'_>,
    show: &Show,
) -> Result<ExitCode, Failure> {
    // Nothing is rendered that could not be written, and no image is replaced that lights a scene.
    let lights = cases.iter().filter_map(|case| match &case.source {
        Source::Scene { options, .. } => options.surroundings_file()?.canonicalize().ok(),
        Source::Command { .. } => None,
    });
    let lights = lights.collect();
    for case in cases.iter().filter(|case| leave_out(case, false).is_none()) {
        place(&case.reference.path)?.spare(&lights, "the suite").map_err(Failure::input)?;
    }
    let mut seen: HashSet<&Path> = HashSet::new();
    let (mut written, mut kept, mut failed) = (0, 0, Vec::new());
    for case in cases {
        let path = case.reference.path.as_path();
        if let Some(reason) = leave_out(case, seen.contains(path)) {
            show.print(&format!("{}: left out: {reason}\n", case.name));
            continue;
        }
        seen.insert(path);
        let place = place(path)?;
        (options.observe)(Event::Started(case));
        let observe = |samples, total| (options.observe)(Event::Sampled(case, samples, total));
        match regress::bless(case, machine, options, &observe) {
            Ok(blessed) => {
                tell(case, &blessed, show);
                if yes || ask(path, show)? {
                    place.replace(&blessed.bytes).map_err(|e| {
                        let kept = kept_elsewhere(rescue(path, &blessed.bytes));
                        Failure::running(format_args!(
                            "\"{}\": cannot be written: {e}\n{kept}",
                            path.display()
                        ))
                    })?;
                    written += 1;
                } else {
                    kept += 1;
                }
            }
            Err(Stop::Interrupted) => {
                show.clear();
                say(format_args!("interrupted: wrote {}", count(written, "reference")));
                return Ok(ExitCode::from(INTERRUPTED));
            }
            Err(Stop::Error(message, log)) => {
                failed.push(format!("{}: {message}\n{log}", case.name).trim_end().to_owned())
            }
        }
        show.ended(case);
    }
    show.clear();
    show.print(&format!("wrote {}, kept {kept}\n", count(written, "reference")));
    if failed.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Failure::running(failed.join("\nerror: "))) }
}

/// Says why a case makes no reference.
fn leave_out(case: &Case, is_done: bool) -> Option<String> {
    match (&case.skip, case.expect) {
        (Some(reason), _) => Some(reason.clone()),
        (None, Expect::Different) => Some("it is to differ from its reference".to_owned()),
        (None, Expect::Same) => is_done.then(|| "another case made its reference".to_owned()),
    }
}

/// Where a reference goes, in a folder that is made if it is not there.
fn place(path: &Path) -> Result<Destination, Failure> {
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        fs::create_dir_all(folder)
            .map_err(|e| Failure::input(format_args!("\"{}\": cannot be made: {e}", folder.display())))?;
    }
    Destination::check(path).map_err(Failure::input)
}

fn tell(case: &Case, blessed: &NewReference, show: &Show) {
    let mut text = format!("{}: {}\n", case.name, blessed.quality);
    if blessed.change.is_empty() {
        text += "    there is no reference yet\n";
    } else {
        text += "  against the old reference:\n";
        text.extend(blessed.change.iter().map(|w| format!("    {w}\n")));
    }
    show.print(&text);
}

/// Whether the user agrees. Nothing but a yes is one.
fn ask(path: &Path, show: &Show) -> Result<bool, Failure> {
    signals::begin_question();
    let answer = show.suspended(|| {
        let mut stderr = io::stderr().lock();
        write!(stderr, "write {}? [y/N] ", path.display())?;
        stderr.flush()?;
        drop(stderr);
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer).map(|_| answer)
    });
    signals::begin_render();
    let answer = answer.map_err(|e| Failure::running(format_args!("the question cannot be asked: {e}")))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
