//! One case: its reference, looks at its image, a verdict.

use std::path::Path;
use std::time::Instant;

use torrance_image::compare::comparison::only_one_finite;
use torrance_image::compare::words::number;
use torrance_image::compare::{Judgement, Region, judge};
use torrance_image::film::estimate::Rounding;
use torrance_image::film::write::Destination;
use torrance_image::film::{Format, Image, ImageEstimate};
use torrance_image::metrics::flip::PIXELS_PER_DEGREE;
use torrance_image::metrics::{Flip, Kind, Pair, Pointwise};

use super::images::{self, Conditions, Stop};
use super::machine::SceneRenderer;
use super::report::{Images, Measurement, Report, Status};
use super::sequential::{Plan, Verdict};
use super::suite::{Case, Expect, Thresholds};
use super::{Options, reference, words};

/// Runs a case. `level` is the probability of a false alarm that it may have.
pub(super) fn run(
    case: &Case,
    level: f64,
    machine: Option<&mut (dyn SceneRenderer + 'static)>,
    options: &Options<'_>,
    observe: &dyn Fn(f64, u32),
) -> Report {
    if let Some(reason) = &case.skip {
        return Report::new(&case.name, Status::Skipped, format!("skipped: {reason}"));
    }
    let start = Instant::now();
    let mut report = match examine(case, level, machine, options, observe) {
        Ok(report) => report,
        Err(Stop::Interrupted) => Report::new(&case.name, Status::NotRun, "not run to its end: interrupted"),
        Err(Stop::Error(message, log)) => {
            Report { log, ..Report::new(&case.name, Status::Error, format!("error: {message}")) }
        }
    };
    report.seconds = start.elapsed().as_secs_f64();
    report
}

/// Images that cannot be compared, or not be written: a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct CaseError(String);

/// Advice to a suite whose command makes an image of unknown noise.
const NO_STDERR: &str = "the reference has standard errors, and the command's image has none: have it write them as \
                         layer \"stderr\", say passes = 8 and put {seed} into the command, or give thresholds \
                         \"flip\" and \"relmse\"";

/// Findings of the last look.
pub(super) struct Examination {
    /// The verdict of statistics.
    verdict: Verdict,
    /// Thresholds that are exceeded, in words.
    pub(super) exceeded: Vec<String>,
    /// The radiances that indirect light is clamped to, of the image and the reference.
    pub(super) clamped: [Option<f32>; 2],
    pub(super) measured: Measurement,
}

impl Examination {
    /// The verdict, thresholds included.
    pub(super) fn verdict(&self) -> Verdict {
        if self.exceeded.is_empty() { self.verdict } else { Verdict::Different }
    }
}

/// Looks at the image until the verdict is clear, or the budget is spent.
fn examine(
    case: &Case,
    level: f64,
    machine: Option<&mut (dyn SceneRenderer + 'static)>,
    options: &Options<'_>,
    observe: &dyn Fn(f64, u32),
) -> Result<Report, Stop> {
    let start = Instant::now();
    let reference = reference::read(case)?;
    let mut source = images::source(case, reference.seeds, machine, options.kept)?;
    let size = (reference.measured.image.width, reference.measured.image.height);
    check_size(source.size().unwrap_or(size), size).map_err(Stop::error)?;
    let totals = source.totals().to_vec();
    let conditions = Conditions {
        deadline: start + case.effort.timeout,
        timeout: case.effort.timeout,
        is_stopping: &|| (options.is_stopping)(),
        observe: &|samples| observe(samples, totals[totals.len() - 1]),
        taken: reference.seeds,
        size: Some(size),
    };
    let plan = Plan { level, looks: totals.len(), resolve: case.resolve };
    let mut rounds = source.first_round();
    loop {
        let total = totals[rounds];
        rounds += 1;
        let result = source.until(total, &conditions)?;
        check(&result, &reference.measured).map_err(Stop::error)?;
        let whole = whole(&result.image);
        let is_last = rounds == totals.len() || case.effort.time.is_some_and(|t| start.elapsed() >= t);
        let mut seen = look(case, &plan, &reference.measured, &result, options).map_err(Stop::error)?;
        // More samples may find the difference that a negative control has.
        let is_clear = match seen.verdict {
            Verdict::Different => true,
            Verdict::Same => case.expect == Expect::Same,
            Verdict::Open => false,
        };
        if is_last || is_clear {
            let unit = case.source.unit();
            seen.measured = Measurement { rounds, samples: total, unit, ..seen.measured };
            if let Some(folder) = options.output {
                save(case, &result, &seen.measured, folder).map_err(Stop::error)?;
            }
            if options.keep_images {
                let reference = reference.measured.image;
                seen.measured.images = Some(Images { reference, result: result.image });
            } else if let Some(judgement) = &mut seen.measured.judgement {
                judgement.z = Vec::new();
            }
            return Ok(conclude(case, seen, whole, source.log().to_owned()));
        }
    }
}

/// Writes the image to a folder.
fn save(case: &Case, result: &ImageEstimate, measured: &Measurement, folder: &Path) -> Result<(), CaseError> {
    let path = folder.join(format!("{}.exr", case.name));
    let attributes = reference::attributes(case, measured.samples);
    let encoded = reference::encode(result, Format::Exr, attributes).map_err(|e| e.to_string());
    let written = encoded.and_then(|bytes| {
        let place = Destination::check(&path).map_err(|e| e.to_string())?;
        place.replace(&bytes).map_err(|e| e.to_string())
    });
    written
        .map_err(|reason| CaseError(format!("its image cannot be written to {}: {reason}", path.display())))
}

/// Compares the image of one round.
pub(super) fn look(
    case: &Case,
    plan: &Plan,
    reference: &ImageEstimate,
    result: &ImageEstimate,
    options: &Options<'_>,
) -> Result<Examination, CaseError> {
    let is_display = |m: &ImageEstimate| m.rounding == Rounding::Display;
    let judgement = match (&result.noise, &reference.noise) {
        // Standard errors of what a display shows mean nothing.
        _ if is_display(result) => None,
        (Some(_), Some(_)) => Some(judge(result, reference, plan.look_level())),
        (None, Some(_)) if !case.thresholds.are_given() => {
            return Err(CaseError(NO_STDERR.to_owned()));
        }
        _ => None,
    };
    // What the suite says holds in any case; without statistics, something has to.
    let thresholds = match (&judgement, case.thresholds.are_given()) {
        (None, false) => Thresholds::DEFAULT,
        _ => case.thresholds,
    };
    let (relmse, flip) = metrics(result, reference, options.keep_images || thresholds.flip.is_some())?;
    let mut exceeded = exceeded(thresholds, relmse, flip.as_ref());
    if judgement.is_none() {
        exceeded.extend(odd_pixels(&result.image, &reference.image));
    }
    let detectable = judgement.as_ref().map_or(f64::INFINITY, Judgement::resolution);
    let verdict = match &judgement {
        Some(judgement) => plan.verdict(judgement.p, detectable),
        None => Verdict::Same,
    };
    // More samples may bring the metrics down: noise only adds to them.
    let is_beyond = verdict == Verdict::Same && !exceeded.is_empty();
    let verdict = if is_beyond { Verdict::Open } else { verdict };
    let measured = Measurement {
        rounds: 0,
        looks: plan.looks,
        samples: 0,
        unit: "",
        level: plan.look_level(),
        judgement,
        detectable,
        relmse,
        flip,
        images: None,
    };
    Ok(Examination { verdict, exceeded, clamped: [result.clamped, reference.clamped], measured })
}

fn metrics(
    result: &ImageEstimate,
    reference: &ImageEstimate,
    with_flip: bool,
) -> Result<(f64, Option<Flip>), CaseError> {
    let kind = if result.rounding == Rounding::Display { Kind::Display } else { Kind::Radiance };
    let pair = Pair::new(&result.image, &reference.image, kind);
    let pointwise = Pointwise::new(&pair)
        .ok_or_else(|| CaseError("no pixel of the images can be compared".to_owned()))?;
    let flip = if with_flip { Flip::new(&pair, PIXELS_PER_DEGREE) } else { None };
    Ok((pointwise.relmse, flip))
}

fn exceeded(thresholds: Thresholds, relmse: f64, flip: Option<&Flip>) -> Vec<String> {
    let flip = flip.map_or(0.0, |f| f.mean);
    let bounds = [("ꟻLIP", flip, thresholds.flip), ("relMSE", relmse, thresholds.relmse)];
    let beyond = bounds.into_iter().filter_map(|(name, value, bound)| {
        let bound = bound?;
        (value > bound).then(|| format!("{name} is {}, above {}", number(value), number(bound)))
    });
    beyond.collect()
}

/// A fault that statistics do not see: pixels that are finite in one of the images only.
fn odd_pixels(result: &Image, reference: &Image) -> Option<String> {
    let odd: usize = only_one_finite(result, reference).iter().sum();
    (odd > 0).then(|| format!("{odd} of {} pixels are finite in one image only", result.pixels.len()))
}

/// The verdict on what was seen last.
fn conclude(case: &Case, seen: Examination, whole: Region, log: String) -> Report {
    let verdict = seen.verdict();
    let status = match (case.expect, verdict) {
        (Expect::Same, Verdict::Same) | (Expect::Different, Verdict::Different) => Status::Passed,
        (Expect::Same, Verdict::Open) => Status::Unresolved,
        (Expect::Same, Verdict::Different) | (Expect::Different, _) => Status::Failed,
    };
    let words = words::describe(case, &seen, whole);
    Report { name: case.name.clone(), status, words, seconds: 0.0, log, measured: Some(seen.measured) }
}

/// The region of a whole image.
pub(super) fn whole(image: &Image) -> Region {
    Region { x: 0, y: 0, width: image.width, height: image.height }
}

/// Refuses an image that has another size than its reference.
fn check_size(image: (u32, u32), reference: (u32, u32)) -> Result<(), CaseError> {
    if image == reference {
        return Ok(());
    }
    let [image, reference] = [image, reference].map(|(width, height)| format!("{width}×{height}"));
    Err(CaseError(format!("the image has {image} pixels, and the reference {reference}")))
}

/// Refuses images that cannot be compared.
pub(super) fn check(result: &ImageEstimate, reference: &ImageEstimate) -> Result<(), CaseError> {
    let [image, other] = [result, reference].map(|m| (m.image.width, m.image.height));
    check_size(image, other)?;
    let kind =
        |m: &ImageEstimate| if m.rounding == Rounding::Display { "what a display shows" } else { "radiance" };
    let [image, other] = [result, reference].map(kind);
    if image != other {
        return Err(CaseError(format!("the image holds {image}, and the reference {other}")));
    }
    Ok(())
}
