//! Warnings: to people at once, to programs at the end.

use torrance_image::film::{Film, Image};

use super::{Display, count};

/// Where warnings go: to people at once, to programs at the end.
pub(super) struct Notes {
    pub(super) display: Display,
    warnings: Vec<String>,
    is_quiet: bool,
}

impl Notes {
    /// None yet; prints only these if `quiet`.
    pub(super) fn new(quiet: bool) -> Self {
        Self { display: Display::new(quiet), warnings: Vec::new(), is_quiet: quiet }
    }

    /// Says what is worth to know, though nothing is wrong.
    pub(super) fn say(&mut self, notes: &[String]) {
        for note in notes.iter().filter(|_| !self.is_quiet) {
            self.display.print(&format!("{note}\n"));
        }
    }

    /// Warns.
    pub(super) fn warn(&mut self, message: String) {
        let report = format!("warning: {message}\n");
        self.warn_with(message, &report);
    }

    /// Warns with a report that is longer than the message.
    pub(super) fn warn_with(&mut self, message: String, report: &str) {
        self.display.print(report);
        self.warnings.push(message);
    }

    pub(super) fn warn_of_samples(&mut self, film: &Film, image: &Image) {
        let rejected = film.rejected();
        if rejected > 0 {
            let all = film.samples() + rejected;
            self.warn(format!("{rejected} of {all} samples were NaN or infinite and were left out"));
        }
        let empty = film.empty_pixels() as u64;
        if empty > 0 {
            self.warn(format!("{} without a single valid sample, black", count(empty, "pixel")));
        }
        let non_finite = image.non_finite() as u64;
        if non_finite > 0 {
            self.warn(format!("{} NaN or infinite", count(non_finite, "pixel")));
        }
    }

    /// Takes the display away; what was warned of remains.
    pub(super) fn end(self) -> Vec<String> {
        self.display.end();
        self.warnings
    }
}
