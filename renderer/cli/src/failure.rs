//! How a command ends when it does not end well.

use crate::ExitCode;
use std::fmt::Display;
use std::path::Path;

use super::{say, say_text};

/// The compared images differ; nothing failed.
pub(super) const DIFFERENT: u8 = 1;
/// Bad usage or bad input: nothing was done.
pub(super) const BAD_INPUT: u8 = 2;
/// A failure while running.
pub(super) const FAILED: u8 = 3;
/// Interrupted by a signal; what is written is complete as a file, but has fewer samples than asked for.
pub(super) const INTERRUPTED: u8 = 130;

/// Reason why a command could not do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    code: u8,
    /// Text for people: begins with `error: ` and ends in a newline.
    report: String,
}

impl Failure {
    /// The user asked for something that cannot be.
    pub(super) fn input(message: impl Display) -> Self {
        Self { code: BAD_INPUT, report: format!("error: {message}\n") }
    }

    /// The user asked for a file or a folder that cannot be written.
    pub(super) fn output(path: &Path, reason: impl Display) -> Self {
        Self::input(format_args!("output \"{}\": {reason}", path.display()))
    }

    /// The scene is wrong; `report` says so at length, and begins with `error: `.
    pub(super) fn input_report(report: String) -> Self {
        Self { code: BAD_INPUT, report }
    }

    /// A failure that was not the user's fault.
    pub(super) fn running(message: impl Display) -> Self {
        Self { code: FAILED, report: format!("error: {message}\n") }
    }

    /// Reports the failure to the user, and returns the exit code.
    pub(super) fn end(self) -> ExitCode {
        say_text(&self.report);
        ExitCode::from(self.code)
    }
}

/// Prints a line that begins with `warning: `.
pub(super) fn warn(message: impl Display) {
    say(format_args!("warning: {message}"));
}
