//! Comparing variants with those of another scene, or with one another.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use image::RgbImage;
use rayon::prelude::*;
use serde::Serialize;

use super::super::failure::Failure;
use super::super::notes::Notes;
use super::super::progress::Display;
use super::super::signals;
use super::super::terminal::{count, say};
use super::super::values;
use super::table::Results;
use super::{Args, Plan};
use crate::compare::Judgement;
use crate::compare::comparison::{Comparison, Settings, compare};
use crate::compare::maps::{self, Differences, Map};
use crate::compare::source::Images;
use crate::compare::words::percent;
use crate::metrics::Kind;
use crate::metrics::flip::PIXELS_PER_DEGREE;
use crate::report::sheet::{Picture, Sheet};
use crate::scene::SceneValues;
use crate::sweep::Grid;

/// What variants are compared with.
#[derive(Debug, clap::Args)]
pub(super) struct AgainstArgs {
    /// Render the variants of this scene, too, and compare those with the same values; --set is not for it
    #[arg(long, value_name = "SCENE", group = "comparison")]
    against: Option<PathBuf>,

    /// Compare variants with the one that has this value of a parameter, and of the others the same; repeat it for others
    #[arg(long, value_name = "[PARAMETER=]VALUE", group = "comparison")]
    baseline: Vec<String>,

    /// What the sheet of differences shows
    #[arg(long, value_name = "NAME", default_value = "difference", value_parser = values::named(Map::ALL),
          requires = "comparison")]
    map: Map,

    /// How often, at most, any of the verdicts on images that do not differ is that they do
    #[arg(long, value_name = "P", default_value = "0.01", value_parser = values::level, allow_hyphen_values = true,
          requires = "comparison")]
    level: f64,
}

impl AgainstArgs {
    /// Whether variants are compared with anything.
    pub(super) fn compares(&self) -> bool {
        self.against.is_some() || !self.baseline.is_empty()
    }

    /// The other scene.
    pub(super) fn other(&self) -> Option<&Path> {
        self.against.as_deref()
    }

    /// The other scene, as messages name it.
    pub(super) fn shown(&self) -> String {
        self.against.as_deref().unwrap_or(Path::new("")).display().to_string()
    }

    /// The title of the sheet of the other scene.
    pub(super) fn title(&self, own: &str) -> String {
        let name = self.name();
        if own == name { format!("against {name}") } else { name }
    }

    /// The name of the file of the other scene.
    fn name(&self) -> String {
        let name = self.against.as_deref().and_then(Path::file_name).unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Reads the other scene, and prepares it for the preset. `read` are the files that scenes are read from.
    pub(super) fn open(
        &self,
        args: &Args,
        read: &mut BTreeSet<PathBuf>,
        notes: &mut Notes,
    ) -> Result<Option<SceneValues>, Failure> {
        let Some(path) = &self.against else { return Ok(None) };
        notes.display.phase(format!("reading {}", path.display()));
        let scene = args.scene.of_other(path);
        let (mut values, loaded) = scene.open(args.settings.overrides(), notes)?;
        read.extend(loaded.files);
        args.vary.apply_preset(&mut values, notes)?;
        Ok(Some(values))
    }

    /// Which variants are compared.
    pub(super) fn pairs(&self, grid: &Grid) -> Result<Option<Pairs>, Failure> {
        if !self.compares() {
            return Ok(None);
        }
        let n = grid.variants();
        let mut baseline = vec![None; grid.axes().len()];
        let with: Vec<_> = match &self.against {
            Some(_) => (0..n).map(|i| Some(n + i)).collect(),
            None => {
                for text in &self.baseline {
                    let named = |e| Failure::input(format_args!("--baseline {text}: {e}"));
                    let (axis, value) = grid.find_value(text).map_err(named)?;
                    if baseline[axis].replace(value).is_some() {
                        return Err(named(format!("{} has a baseline already", grid.axes()[axis].label)));
                    }
                }
                let of = |i: usize| grid.with_values(i, &baseline);
                (0..n).map(|i| Some(of(i)).filter(|other| *other != i)).collect()
            }
        };
        // They have images in common, so that none of them is independent of the others (Bonferroni).
        let cases = with.iter().flatten().count();
        Ok(Some(Pairs { with, baseline, map: self.map, level: self.level / cases.max(1) as f64 }))
    }
}

/// Which variants are compared, and how.
pub(super) struct Pairs {
    /// With which one each is; `None` of those that others are compared with.
    with: Vec<Option<usize>>,
    baseline: Vec<Option<usize>>,
    map: Map,
    /// Of one verdict.
    level: f64,
}

/// How a variant differs from the one that it is compared with.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Compared {
    /// `same`, `different`, or `no verdict`.
    verdict: &'static str,
    /// The probability, at most, of evidence as strong as this where the expectations are equal.
    p: f64,
    /// Of the mean luminance, relative to the other's.
    difference: f64,
    /// The smallest relative difference of the whole image that would have been found with 95 % probability.
    detectable: f64,
    /// Mean of ꟻLIP.
    flip: f64,
    #[serde(skip)]
    shown: Shows,
}

/// What the sheet of differences shows of a variant.
#[derive(Debug, Clone)]
enum Shows {
    /// Painted when it is known how large the differences of the others are.
    Differences(Differences),
    Picture(maps::Picture),
}

impl Compared {
    /// Names of [`Compared::values`], as columns of a table.
    pub(super) const COLUMNS: [&'static str; 4] = ["difference", "p", "is_different", "flip"];

    pub(super) fn values(&self) -> [f64; 4] {
        let is_different = match self.verdict {
            NO_VERDICT => f64::NAN,
            verdict => f64::from(u8::from(verdict == DIFFERENT)),
        };
        [self.difference, self.p, is_different, self.flip]
    }

    fn new(comparison: &Comparison, means: [f64; 2], map: Map) -> Self {
        let Comparison { pair, metrics, judgement, .. } = comparison;
        let verdict = match judgement {
            _ if comparison.is_different() => DIFFERENT,
            Ok(_) => "same",
            Err(_) => NO_VERDICT,
        };
        let z = |judgement| Shows::Picture(maps::z(pair, judgement));
        let shown = match map {
            Map::Flip => Shows::Picture(maps::flip(pair, &metrics.flip)),
            Map::Z => judgement.as_ref().map_or_else(|_| Shows::Differences(Differences::of(pair, false)), z),
            Map::Difference => Shows::Differences(Differences::of(pair, false)),
            Map::Relative => Shows::Differences(Differences::of(pair, true)),
        };
        Self {
            verdict,
            p: judgement.as_ref().map_or(f64::NAN, |judgement| judgement.p),
            difference: means[0] / means[1] - 1.0,
            detectable: judgement.as_ref().map_or(f64::INFINITY, Judgement::resolution),
            flip: metrics.flip.mean,
            shown,
        }
    }
}

const DIFFERENT: &str = "different";
const NO_VERDICT: &str = "no verdict";

impl Pairs {
    /// Which value each parameter has in what a variant is compared with; `None` is the variant's own.
    pub(super) fn baseline(&self) -> &[Option<usize>] {
        &self.baseline
    }

    /// Compares all variants that are there.
    pub(super) fn compare(
        &self,
        results: &Results<'_>,
        display: &mut Display,
        failures: &mut Vec<String>,
    ) -> Vec<Option<Compared>> {
        display.begin_steps();
        let begin = Instant::now();
        let progress = Mutex::new((display, 0));
        let one = |(i, with): (usize, &Option<usize>)| {
            let with = with.filter(|_| !signals::is_stopping());
            let compared = with.map(|with| self.compare_two(results, i, with)).transpose();
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            progress.1 += 1;
            let done = f64::from(progress.1) / self.with.len() as f64;
            progress.0.step(done, begin.elapsed(), "comparing");
            compared.map(Option::flatten)
        };
        let compared: Vec<_> = self.with.par_iter().enumerate().map(one).collect();
        let keep = |compared: Result<_, String>| match compared {
            Ok(compared) => compared,
            Err(failure) => {
                failures.push(failure);
                None
            }
        };
        compared.into_iter().map(keep).collect()
    }

    /// Compares two variants, if both are there.
    fn compare_two(&self, results: &Results<'_>, i: usize, with: usize) -> Result<Option<Compared>, String> {
        let (Some(own), Some(other)) = (&results.shown[i], &results.shown[with]) else { return Ok(None) };
        let failed = |e: String| format!("{}: cannot be compared: {e}", results.plan.name(i));
        let lost = || failed("what was kept of it cannot be read".to_owned());
        let [a, b] = [i, with].map(|i| results.measured(i));
        let images = Images {
            a: a.ok_or_else(lost)?.with_known_noise(),
            b: b.ok_or_else(lost)?.with_known_noise(),
            kind: Kind::Radiance,
            exact: [false; 2],
        };
        let settings = Settings { crop: None, level: self.level, pixels_per_degree: PIXELS_PER_DEGREE };
        let comparison = compare(images, &settings).map_err(failed)?;
        let means = [own, other].map(|shown| shown.statistics.mean);
        Ok(Some(Compared::new(&comparison, means, self.map)))
    }
}

/// The sheet of differences.
pub(super) struct DifferenceSheet<'a> {
    results: &'a Results<'a>,
    /// Of the variants of the grid that are compared.
    pictures: Vec<Option<RgbImage>>,
    scale: String,
}

impl<'a> DifferenceSheet<'a> {
    /// Paints all differences by one scale.
    pub(super) fn new(results: &'a Results<'a>) -> Self {
        let all = || results.compared.iter().flatten();
        let size = |compared: &Compared| match &compared.shown {
            Shows::Differences(differences) => differences.deepest(),
            Shows::Picture(_) => 0.0,
        };
        let deepest = all().map(size).fold(0.0, f32::max);
        let paint = |compared: &Compared| match &compared.shown {
            Shows::Differences(differences) => differences.paint(deepest),
            Shows::Picture(picture) => picture.clone(),
        };
        let pictures: Vec<_> = results.compared.par_iter().map(|one| one.as_ref().map(paint)).collect();
        let scale = all().next().map_or_else(String::new, |compared| match &compared.shown {
            Shows::Differences(differences) => {
                differences.scale(deepest, &format!(" than {}", results.with_what()))
            }
            Shows::Picture(picture) => {
                picture.scale.replace(" in the first image", &format!(" than {}", results.with_what()))
            }
        });
        let rgb = |picture: maps::Picture| {
            RgbImage::from_raw(picture.width, picture.height, picture.pixels.into_flattened())
        };
        Self { results, pictures: pictures.into_iter().map(|one| one.and_then(rgb)).collect(), scale }
    }

    /// What the sheet shows of a variant.
    pub(super) fn picture(&self, i: usize) -> Picture<'_> {
        match self.pictures.get(i).and_then(Option::as_ref) {
            Some(picture) => Picture::Image(picture),
            None if self.results.shown[i].is_none() => Picture::Missing("not rendered"),
            None if self.results.is_baseline(i) => Picture::Missing("baseline"),
            None => Picture::Missing("not compared"),
        }
    }

    /// Writes verdicts below the cells of a page.
    pub(super) fn label(&self, sheet: &mut Sheet, variants: Range<usize>) {
        let headings = &mut sheet.headings;
        let caption = |(i, name): (usize, String)| {
            let compared = self.results.compared.get(i).and_then(Option::as_ref);
            let verdict = compared.map(caption).unwrap_or_default();
            [name, verdict].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
        };
        let names = std::mem::take(&mut headings.captions);
        let names = names.into_iter().chain(std::iter::repeat(String::new()));
        headings.captions = variants.zip(names).map(caption).collect();
        let page = std::mem::take(&mut headings.page);
        headings.page = [page, self.scale.clone()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("; ");
    }
}

/// What a cell says of its verdict.
fn caption(compared: &Compared) -> String {
    let sign = if compared.difference < 0.0 { "−" } else { "+" };
    let mean = format!("mean {sign}{}", percent(compared.difference.abs()));
    let mean = if compared.difference.is_finite() { mean } else { "no mean".to_owned() };
    match compared.verdict {
        DIFFERENT => format!("different, {mean}"),
        verdict if compared.detectable.is_finite() => {
            format!("{verdict} within {}, {mean}", percent(compared.detectable))
        }
        verdict => format!("{verdict}, of unknown noise, {mean}"),
    }
}

impl Results<'_> {
    /// Whether a variant is one that others are compared with, and itself with none.
    fn is_baseline(&self, i: usize) -> bool {
        self.plan.pairs.as_ref().is_some_and(|pairs| pairs.with[i].is_none())
    }

    /// What variants are compared with, in words.
    fn with_what(&self) -> String {
        let Plan { args, grid, pairs, .. } = self.plan;
        if args.against.other().is_some() {
            let name = args.against.name();
            return if name == args.scene.file_name() { format!("the other {name}") } else { name };
        }
        let values = pairs.iter().flat_map(|pairs| &pairs.baseline).enumerate();
        let named = |(axis, value): (usize, &Option<usize>)| {
            value.map(|i| format!("{} = {}", grid.axes()[axis].label, grid.labels(axis)[i]))
        };
        values.filter_map(named).collect::<Vec<_>>().join(", ")
    }

    /// Tells people which variants differ.
    pub(super) fn tell_verdicts(&self) {
        let all: Vec<_> = self.compared.iter().flatten().collect();
        if all.is_empty() {
            return;
        }
        let different = all.iter().filter(|compared| compared.verdict == DIFFERENT).count() as u64;
        let of = count(all.len() as u64, "variant");
        say(format_args!("{different} of {of} differ from what they are compared with"));
        let unknown = all.iter().filter(|compared| compared.verdict == NO_VERDICT).count();
        if unknown > 0 {
            say(format_args!("no verdict on {unknown}: their noise is not known"));
        }
    }
}
