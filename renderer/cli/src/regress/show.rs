//! Progress of a suite in the terminal: a row for every case that has ended, and how far the others are.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use indicatif::ProgressBar;
use renderer::regress::{Case, Event, Report, Status, Suite};
use torrance_image::compare::words::percent;

use crate::progress::{self, BAR, Lines, STEPS};
use crate::terminal::may_color;
use crate::{clock, color, count, say_text};

/// Lines shown of the output of a failed case.
const LOG_LINES: usize = 20;
/// Widest column of names.
const WIDEST: usize = 40;

/// Shows a suite.
pub(super) struct Show {
    bar: ProgressBar,
    inner: Mutex<Inner>,
    start: Instant,
    cases: usize,
    name_width: usize,
    quiet: bool,
    /// Whether rows go to stdout, rather than to stderr.
    to_stdout: bool,
    is_coloured: bool,
}

struct Inner {
    done: usize,
    /// Cases under way, and which part of each is done.
    under_way: Vec<(String, f64)>,
    lines: Lines,
}

impl Show {
    pub(super) fn new(cases: &[&Case], quiet: bool, to_stdout: bool) -> Self {
        let bar = progress::bar(cases.len() as u64 * STEPS, quiet);
        bar.set_style(progress::style(BAR));
        let is_coloured = if to_stdout { may_color(&io::stdout()) } else { color() };
        Self {
            bar,
            inner: Mutex::new(Inner { done: 0, under_way: Vec::new(), lines: Lines::new(quiet) }),
            start: Instant::now(),
            cases: cases.len(),
            name_width: cases.iter().map(|c| c.name.len()).max().unwrap_or(0).min(WIDEST),
            quiet,
            to_stdout,
            is_coloured,
        }
    }

    /// Shows what happened.
    pub(super) fn event(&self, event: Event<'_>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Started(case) => inner.under_way.push((case.name.clone(), 0.0)),
            Event::Sampled(case, samples, of) => {
                let part = samples / f64::from(of.max(1));
                if let Some((_, p)) = inner.under_way.iter_mut().find(|(name, _)| *name == case.name) {
                    *p = part.min(1.0);
                }
                let message = format!("{}: {} of {of} {}", case.name, samples.floor(), case.source.unit());
                self.progress(&mut inner, &message);
            }
            Event::Finished(case, report) => {
                self.row(report);
                self.finished(&mut inner, case);
            }
        }
    }

    /// A case has ended that has no row.
    pub(super) fn ended(&self, case: &Case) {
        self.finished(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner), case);
    }

    fn finished(&self, inner: &mut Inner, case: &Case) {
        inner.done += 1;
        inner.under_way.retain(|(name, _)| *name != case.name);
        self.progress(inner, "");
    }

    fn progress(&self, inner: &mut Inner, message: &str) {
        let done = inner.done as f64 + inner.under_way.iter().map(|(_, part)| part).sum::<f64>();
        self.bar.set_position((done * STEPS as f64) as u64);
        if !self.bar.is_hidden() {
            let left = match done {
                0.0 => String::new(),
                _ => {
                    let elapsed = self.start.elapsed().as_secs_f64();
                    format!(", about {} left", clock(elapsed / done * (self.cases as f64 - done)))
                }
            };
            self.bar.set_message(format!("{} of {}{left}  {message}", inner.done, self.cases));
        }
        if !message.is_empty() {
            inner.lines.say(|| message.to_owned());
        }
    }

    /// The row of a case that has ended; with all that there is to say if it failed.
    fn row(&self, report: &Report) {
        let failed = matches!(report.status, Status::Failed | Status::Error);
        if self.quiet && !failed {
            return;
        }
        let Report { name, seconds, words, log, .. } = report;
        let status = self.coloured(report.status);
        let mut text = format!(
            "{status} {name:<width$} {:>7}  {}\n",
            clock(*seconds),
            report.headline(),
            width = self.name_width
        );
        if failed {
            let indented = |line: &str| format!("    {line}\n");
            text.extend(words.iter().skip(1).map(|w| indented(w)));
            let lines: Vec<_> = log.lines().collect();
            text.extend(
                lines.iter().skip(lines.len().saturating_sub(LOG_LINES)).map(|l| indented(&plain(l))),
            );
        }
        self.print(&text);
    }

    /// Prints text that ends in a newline, above the bar.
    pub(super) fn print(&self, text: &str) {
        self.suspended(|| self.put(text));
    }

    /// Does something while there is no bar.
    pub(super) fn suspended<T>(&self, what: impl FnOnce() -> T) -> T {
        self.bar.suspend(what)
    }

    fn put(&self, text: &str) {
        // A closed stdout is no reason to lose the rest.
        match self.to_stdout {
            true => drop(io::stdout().lock().write_all(text.as_bytes())),
            false => say_text(text),
        }
    }

    fn coloured(&self, status: Status) -> String {
        let padded = format!("{:<10}", status.label());
        let color = match status {
            Status::Passed => 32,
            Status::Unresolved => 33,
            Status::Failed | Status::Error => 31,
            Status::Skipped | Status::NotRun => 2,
        };
        if self.is_coloured { format!("\x1b[{color}m{padded}\x1b[0m") } else { padded }
    }

    /// Removes the bar.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Removes the bar, and says how many cases ended how.
    pub(super) fn end(&self, suite: &Suite, reports: &[Report], device: &str, seconds: f64) {
        self.clear();
        if self.quiet {
            return;
        }
        use Status::{Error, Failed, NotRun, Passed, Skipped, Unresolved};
        let order = [Passed, Unresolved, Failed, Error, Skipped, NotRun];
        let counts = order.into_iter().filter_map(|status| {
            let n = reports.iter().filter(|r| r.status == status).count() as u64;
            (n > 0).then(|| match status {
                Error => count(n, "error"),
                _ => format!("{n} {}", status.label()),
            })
        });
        let counts: Vec<_> = counts.collect();
        self.put(&format!(
            "{} in {} on {device}; false alarms in the whole suite: {} at most\n",
            counts.join(", "),
            clock(seconds),
            percent(suite.level)
        ));
    }
}

/// A line without what a terminal would obey.
fn plain(line: &str) -> String {
    line.chars().map(|c| if c.is_control() && c != '\t' { '?' } else { c }).collect()
}
