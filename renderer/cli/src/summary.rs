//! Summary of a finished render: a few lines for people, one object for programs.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::Instant;

use renderer::render::{Progress, Seconds, Summary};
use serde::Serialize;
use torrance_image::film::write::WrittenFile;

use super::progress::spp_of;
use super::{Failure, clock, say};
use crate::ExitCode;

/// Stopwatch that gives the time since it was last read.
pub(super) struct Laps {
    begin: Instant,
    last: Instant,
}

impl Laps {
    /// Begins now.
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { begin: now, last: now }
    }

    /// Seconds since the last lap.
    pub(super) fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let seconds = (now - self.last).as_secs_f64();
        self.last = now;
        seconds
    }

    /// Seconds since the beginning.
    pub(super) fn total(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }
}

/// Says which files were written.
pub(super) fn wrote(files: &[WrittenFile]) -> String {
    let files: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
    if files.is_empty() { "wrote nothing".into() } else { format!("wrote {}", files.join(", ")) }
}

/// Reports a finished render to people.
pub(super) fn tell(summary: &Summary, progress: &Progress) {
    let Summary { width, height, device, .. } = summary;
    let wrote = wrote(&summary.outputs);
    if summary.interrupted {
        say(format_args!("interrupted at {} spp, {wrote}", spp_of(progress)));
    }
    say(format_args!(
        "{width}x{height}, {} in {} on {device}: {:.1} Mpaths/s, {}",
        samples_of(summary, progress),
        clock(summary.seconds.render),
        summary.mpaths_per_s,
        summary.integrator
    ));
    let Seconds { load, build, bvh, upload, denoise, .. } = summary.seconds;
    if let Some(denoiser) = &summary.denoiser {
        say(format_args!("denoised in {} by {denoiser}", clock(denoise)));
    }
    // Worth a line where it is felt.
    if load + build + upload >= 1.0 {
        say(format_args!(
            "before that: reading {load:.2} s, building {build:.2} s, of which the BVH {bvh:.2} s, uploading {upload:.2} s"
        ));
    }
    if !summary.interrupted {
        say(wrote);
    }
}

/// `64 spp`, or how far pixels differ in it.
fn samples_of(summary: &Summary, progress: &Progress) -> String {
    let Summary { spp, mean_spp, most_spp, interrupted, .. } = summary;
    // Where all are to get as many, some have a sample more than others when the render is interrupted.
    match (*interrupted && !progress.has_rounds) || *most_spp <= u64::from(*spp) {
        true => format!("{spp} spp"),
        false => format!("{spp} to {most_spp} spp, {mean_spp:.0} on average,"),
    }
}

/// What a command has come to, for programs as JSON, and for people in its own words.
pub(super) trait Outcome: Serialize {
    /// Tells people.
    fn tell(&self);
}

/// Reports the outcome of a command: to people unless `quiet`, and to programs if `json`.
pub(super) fn report(outcome: &impl Outcome, quiet: bool, json: bool) -> Result<ExitCode, Failure> {
    if !quiet {
        outcome.tell();
    }
    if json {
        print_json(outcome)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints `value` for programs if `json`, or else for people.
pub(super) fn print_either(json: bool, value: &(impl Serialize + Display)) -> Result<(), Failure> {
    if json { print_json(value) } else { print(value) }
}

/// Prints `value` as one JSON object on stdout.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = json_text(value).map_err(|e| Failure::running(format_args!("--json: {e}")))?;
    print(text)
}

/// `value` as one JSON object on lines of its own. The error is a sentence.
pub(super) fn json_text(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|e| e.to_string())
}

/// Prints to stdout what a command was asked for. Unlike `print!`, does not panic when nobody reads it.
pub(super) fn print(text: impl Display) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match write!(stdout, "{text}").and_then(|()| stdout.flush()) {
        // The reader, `head` say, has seen enough.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|e| Failure::running(format_args!("writing to standard output: {e}"))),
    }
}
