//! New references.

use std::time::{Duration, Instant};

use torrance_image::compare::words::{number, percent};
use torrance_image::film::{Format, ImageEstimate};

use super::case::{check, look, whole};
use super::images::{self, Conditions, Stop};
use super::machine::SceneRenderer;
use super::report::Measurement;
use super::sequential::Plan;
use super::suite::{Case, Source, has_placeholder};
use super::words;
use super::{Options, reference};

/// The first seed of a case's first reference; tests count from 1, unless the suite says otherwise.
const FIRST_SEED: u32 = 1 << 31;
/// A time so long that it is no timeout.
const YEAR: Duration = Duration::from_secs(365 * 86_400);
/// The level at which a new reference is held against the old one.
const LEVEL: f64 = 0.01;

/// A new reference that only has to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct NewReference {
    /// The file.
    pub bytes: Vec<u8>,
    /// How good it is, in a sentence.
    pub quality: String,
    /// How it differs from the old one, in sentences; nothing if there is none.
    pub change: Vec<String>,
}

/// Renders a new reference, as far as the case says.
///
/// # Errors
/// It cannot be rendered or encoded, or we were asked to stop.
pub fn bless(
    case: &Case,
    machine: &mut (dyn SceneRenderer + 'static),
    options: &Options<'_>,
    observe: &dyn Fn(f64, u32),
) -> Result<NewReference, Stop> {
    let old = reference::read(case);
    // Other seeds than the old one's, so that the two can be compared.
    let taken = old.as_ref().ok().and_then(|old| old.seeds);
    let seed = taken.map_or(FIRST_SEED, |taken| taken.end());
    let (new, samples) = render(case, seed, machine, options, observe)?;
    let format = Format::from_path(&case.reference.path).map_err(Stop::error)?;
    let mut attributes = reference::attributes(case, samples);
    attributes.insert("seed".to_owned(), seed.to_string());
    let bytes = reference::encode(&new, format, attributes).map_err(Stop::error)?;
    let quality = quality(case, &new, samples, format);
    let change = match old {
        Ok(old) => change(case, &new, &old.measured, samples, options),
        Err(_) if !case.reference.path.exists() => Vec::new(),
        Err(Stop::Error(message, _)) => vec![message],
        Err(Stop::Interrupted) => return Err(Stop::Interrupted),
    };
    Ok(NewReference { bytes, quality, change })
}

/// Renders until the noise is as low as the case says, or samples are as many.
fn render(
    case: &Case,
    seed: u32,
    machine: &mut (dyn SceneRenderer + 'static),
    options: &Options<'_>,
    observe: &dyn Fn(f64, u32),
) -> Result<(ImageEstimate, u32), Stop> {
    let mut case = case.clone();
    case.effort.seed = seed;
    let varies = match &case.source {
        Source::Scene { .. } => true,
        Source::Command { words, .. } => has_placeholder(words, "seed") || has_placeholder(words, "pass"),
    };
    if varies {
        case.effort.first = case.effort.first.map(|first| first.min(case.bless.most));
        case.effort.most = Some(case.bless.most);
    }
    let mut source = images::source(&case, None, Some(machine), options.kept)?;
    let mut before = 0;
    let totals = source.totals()[source.first_round()..].to_vec();
    for total in totals {
        let timeout = match &case.source {
            Source::Scene { .. } => YEAR,
            Source::Command { .. } => case.effort.timeout.saturating_mul(total - before).min(YEAR),
        };
        let conditions = Conditions {
            deadline: Instant::now() + timeout,
            timeout,
            is_stopping: &|| (options.is_stopping)(),
            observe: &|samples| observe(samples, case.bless.most),
            taken: None,
            size: None,
        };
        let image = source.until(total, &conditions)?;
        let is_enough = noise(&image).is_some_and(|noise| noise <= case.bless.noise);
        if is_enough || source.totals().last() == Some(&total) {
            return Ok((image, total));
        }
        before = total;
    }
    Err(Stop::error("no samples were asked for"))
}

/// The median of the pixels' standard errors, relative to what is there. Pixels without noise, such as those of the sky,
/// and black ones do not count.
fn noise(image: &ImageEstimate) -> Option<f64> {
    /// Of a pixel whose samples are alike, but for rounding.
    const NONE: f64 = 1e-6;
    let sum = |p: &[f32; 3]| p.iter().map(|x| f64::from(*x)).sum::<f64>();
    let noise = image.noise.as_ref()?;
    let both = image.image.pixels.iter().zip(&noise.stderr);
    let relative = both.map(|(x, s)| sum(s) / sum(x)).filter(|r| r.is_finite() && *r > NONE);
    let mut relative: Vec<_> = relative.collect();
    if relative.is_empty() {
        return Some(0.0);
    }
    let middle = relative.len() / 2;
    Some(*relative.select_nth_unstable_by(middle, f64::total_cmp).1)
}

fn quality(case: &Case, new: &ImageEstimate, samples: u32, format: Format) -> String {
    let samples = words::samples(samples, case.source.unit());
    match noise(new) {
        Some(_) if format != Format::Exr => {
            format!("{samples}; .{} files hold no standard errors", format.extension())
        }
        Some(0.0) => format!("{samples}; without noise"),
        Some(noise) if noise > case.bless.noise => format!(
            "{samples}, the most; half of the noisy pixels have standard errors below {}, more than {}",
            percent(noise),
            percent(case.bless.noise)
        ),
        Some(noise) => {
            format!("{samples}; half of the noisy pixels have standard errors below {}", percent(noise))
        }
        None => format!("{samples}; nothing is known of its noise"),
    }
}

/// The new reference, held against the old one.
fn change(
    case: &Case,
    new: &ImageEstimate,
    old: &ImageEstimate,
    samples: u32,
    options: &Options<'_>,
) -> Vec<String> {
    let plan = Plan { level: LEVEL, looks: 1, resolve: case.resolve };
    let seen = check(new, old).and_then(|()| look(case, &plan, old, new, options));
    match seen {
        Ok(mut seen) => {
            seen.measured = Measurement { rounds: 1, samples, unit: case.source.unit(), ..seen.measured };
            let mut words = words::describe(case, &seen, whole(&new.image));
            words.push(format!("relMSE {}", number(seen.measured.relmse)));
            words
        }
        Err(error) => vec![error.to_string()],
    }
}
