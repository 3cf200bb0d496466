//! Results for the machines that run tests: JUnit XML.

use std::io;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite};
use torrance_image::compare::words::{number, percent};

use super::report::{Report, Status};
use super::suite::Suite;

/// The file's bytes. `strict` makes unresolved cases failures.
///
/// # Errors
/// A text is none that XML can hold.
pub fn junit(suite: &Suite, reports: &[Report], strict: bool) -> io::Result<Vec<u8>> {
    let name = suite.path.display().to_string();
    let mut tests = TestSuite::new(name.as_str());
    let seconds: f64 = reports.iter().map(|r| r.seconds).sum();
    tests.set_time(Duration::from_secs_f64(seconds));
    tests.add_test_cases(reports.iter().map(|r| test_case(&name, r, strict)));
    let mut report = quick_junit::Report::new("torrance regress");
    report.set_time(Duration::from_secs_f64(seconds));
    report.add_test_suite(tests);
    let mut bytes = Vec::new();
    report.serialize(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

fn test_case(suite: &str, report: &Report, strict: bool) -> TestCase {
    let mut status = match report.status {
        Status::Passed => TestCaseStatus::success(),
        Status::Unresolved if !strict => TestCaseStatus::success(),
        Status::Unresolved | Status::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Status::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
        Status::Skipped | Status::NotRun => TestCaseStatus::skipped(),
    };
    if !matches!(status, TestCaseStatus::Success { .. }) {
        status.set_message(report.headline());
        status.set_type(report.status.label());
        status.set_description(report.words.join("\n"));
    }
    let mut case = TestCase::new(report.name.as_str(), status);
    case.set_classname(suite).set_time(Duration::from_secs_f64(report.seconds));
    case.add_properties(report.numbers().into_iter().map(|(name, value)| Property::new(name, value)));
    case.set_system_out(report.words.join("\n"));
    if !report.log.is_empty() {
        case.set_system_err(report.log.as_str());
    }
    case
}

impl Report {
    /// Measured numbers: names and values, formatted for people.
    pub fn numbers(&self) -> Vec<(String, String)> {
        let Some(m) = &self.measured else {
            return Vec::new();
        };
        let mut numbers = Vec::new();
        let mut push = |name: &str, value: String| numbers.push((name.to_owned(), value));
        push(m.unit, m.samples.to_string());
        if let Some(judgement) = &m.judgement {
            push("p", number(judgement.p));
            push("detectable", percent(m.detectable));
            push("level", number(m.level));
        }
        push("looks", format!("{} of {}", m.rounds, m.looks));
        push("relMSE", number(m.relmse));
        if let Some(flip) = &m.flip {
            push("ꟻLIP", number(flip.mean));
        }
        numbers
    }
}
