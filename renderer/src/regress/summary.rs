//! Results for other programs: one JSON object.

use std::path::Path;

use serde::Serialize;
use torrance_image::compare::words::CHANNELS;
use torrance_image::compare::{Feature, Finding};

use super::report::{Report, Status};
use super::suite::{Case, Suite};

/// The object that `--json` writes. Fields are added, never renamed.
#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    version: &'static str,
    suite: &'a Path,
    device: &'a str,
    /// The probability, at most, that any case of the suite fails by chance.
    level: f64,
    interrupted: bool,
    passed: usize,
    unresolved: usize,
    failed: usize,
    errors: usize,
    skipped: usize,
    not_run: usize,
    seconds: f64,
    cases: Vec<CaseSummary<'a>>,
}

#[derive(Debug, Serialize)]
struct CaseSummary<'a> {
    name: &'a str,
    status: &'static str,
    words: &'a [String],
    source: String,
    reference: &'a Path,
    seconds: f64,
    log: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<MeasuredSummary>,
}

#[derive(Debug, Serialize)]
struct MeasuredSummary {
    unit: &'static str,
    samples: u32,
    looks: usize,
    looks_at_most: usize,
    relmse: f64,
    /// Mean ꟻLIP, where it was measured.
    flip: Option<f64>,
    /// Results of the statistics, where the noise is known.
    statistics: Option<Statistics>,
}

#[derive(Debug, Serialize)]
struct Statistics {
    p: f64,
    /// The level of this look.
    level: f64,
    /// The relative difference of the whole image found with 95 % probability; `null` if none is.
    detectable: Option<f64>,
    worst: Worst,
}

#[derive(Debug, Serialize)]
struct Worst {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    channel: &'static str,
    feature: String,
    mean: f64,
    reference_mean: f64,
    z: f64,
}

impl<'a> Summary<'a> {
    /// Summary of the reports of these cases, in the same order.
    pub fn new(
        suite: &'a Suite,
        cases: &[&'a Case],
        reports: &'a [Report],
        device: &'a str,
        interrupted: bool,
        seconds: f64,
    ) -> Self {
        let count = |status| reports.iter().filter(|r| r.status == status).count();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            suite: &suite.path,
            device,
            level: suite.level,
            interrupted,
            passed: count(Status::Passed),
            unresolved: count(Status::Unresolved),
            failed: count(Status::Failed),
            errors: count(Status::Error),
            skipped: count(Status::Skipped),
            not_run: count(Status::NotRun),
            seconds,
            cases: cases.iter().zip(reports).map(|(case, report)| case_summary(case, report)).collect(),
        }
    }
}

fn case_summary<'a>(case: &'a Case, report: &'a Report) -> CaseSummary<'a> {
    CaseSummary {
        name: &report.name,
        status: report.status.label(),
        words: &report.words,
        source: case.source.describe(),
        reference: &case.reference.path,
        seconds: report.seconds,
        log: &report.log,
        measured: report.measured.as_ref().map(|m| MeasuredSummary {
            unit: m.unit,
            samples: m.samples,
            looks: m.rounds,
            looks_at_most: m.looks,
            relmse: m.relmse,
            flip: m.flip.as_ref().map(|f| f.mean),
            statistics: m.judgement.as_ref().map(|j| Statistics {
                p: j.p,
                level: m.level,
                detectable: Some(m.detectable).filter(|d| d.is_finite()),
                worst: worst(&j.worst),
            }),
        }),
    }
}

fn worst(finding: &Finding) -> Worst {
    let Finding { region: r, channel, feature, a, b, z, p: _ } = *finding;
    Worst {
        x: r.x,
        y: r.y,
        width: r.width,
        height: r.height,
        channel: CHANNELS[channel],
        feature: match feature {
            Feature::Mean => "mean".into(),
            Feature::Brightness => "brightness".into(),
            Feature::ShiftX => "shift_x".into(),
            Feature::ShiftY => "shift_y".into(),
            Feature::Sharpness => "sharpness".into(),
            Feature::Finite => "finite".into(),
            Feature::Pattern(side) => format!("pattern_{side}"),
        },
        mean: a,
        reference_mean: b,
        z,
    }
}
