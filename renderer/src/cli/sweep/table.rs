//! What a sweep has found, in numbers.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;

use super::super::progress::Display;
use super::super::summary::Output;
use super::Plan;
use super::against::Compared;
use super::outputs::title;
use super::work::Shown;
use crate::compare::comparison::crop;
use crate::film::{Measured, Statistics};
use crate::report::plot::Drawing;
use crate::report::sheet::{Picture, Side};
use crate::report::sweep_page::{self, Page};
use crate::report::sweep_plot::SweepPlot;
use crate::scene::{hint, quoted};

/// What a sweep has found.
pub(super) struct Results<'a> {
    pub(super) plan: &'a Plan<'a>,
    /// Of every variant that is there.
    pub(super) shown: &'a [Option<Shown>],
    pub(super) device: &'a str,
    /// Of every variant of the grid, or empty.
    pub(super) compared: Vec<Option<Compared>>,
}

/// What `--json` prints. Fields are added, never renamed.
#[derive(Serialize)]
pub(super) struct Summary {
    pub(super) version: &'static str,
    pub(super) scene: String,
    pub(super) device: String,
    /// Rendered by this run, and found.
    pub(super) rendered: usize,
    pub(super) found: usize,
    pub(super) interrupted: bool,
    pub(super) seconds: Seconds,
    pub(super) variants: Vec<Row>,
    pub(super) outputs: Vec<Output>,
    pub(super) warnings: Vec<String>,
}

/// Where the time went.
#[derive(Debug, Default, Serialize)]
pub(super) struct Seconds {
    /// Reading the scenes.
    pub(super) load: f64,
    /// Building the variants.
    pub(super) build: f64,
    /// Waiting for the machine, which starts meanwhile.
    pub(super) start: f64,
    /// Rendering, and what is done with each image meanwhile.
    pub(super) render: f64,
    /// Comparing.
    pub(super) compare: f64,
    /// Encoding and writing.
    pub(super) write: f64,
    /// All of it.
    pub(super) total: f64,
}

/// A variant, for programs.
#[derive(Serialize)]
pub(super) struct Row {
    parameters: BTreeMap<String, String>,
    /// Whether it is of the scene that the other's variants are compared with.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_against: bool,
    seed: u32,
    scene_hash: String,
    #[serde(flatten)]
    result: Option<RowResult>,
    #[serde(flatten)]
    compared: Option<Compared>,
}

#[derive(Serialize)]
struct RowResult {
    statistics: Statistics,
    spp: u32,
    paths: u64,
    seconds: f64,
    mpaths_per_s: f64,
    rejected_samples: u64,
}

/// The columns after the statistics of the image.
const OF_RENDER: [&str; 6] = ["loss", "spp", "paths", "seconds", "mpaths_per_s", "rejected_samples"];

impl Shown {
    /// [`OF_RENDER`].
    fn of_render(&self) -> [f64; 6] {
        let Self { told, statistics, .. } = self;
        let rate = told.paths as f64 / told.seconds.max(1e-9) / 1e6;
        let [spp, paths, rejected] = [u64::from(told.spp), told.paths, told.rejected].map(|n| n as f64);
        [1.0 - statistics.mean, spp, paths, told.seconds, rate, rejected]
    }
}

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Statistic(usize);

impl Statistic {
    /// The columns that there are.
    fn columns(compares: bool) -> impl Iterator<Item = &'static str> + Clone {
        let compared: &[&str] = if compares { &Compared::COLUMNS } else { &[] };
        Statistics::COLUMNS.into_iter().chain(OF_RENDER).chain(compared.iter().copied())
    }

    /// The column of a name.
    pub(super) fn named(name: &str, compares: bool) -> Result<Self, String> {
        let found = Self::columns(compares).position(|column| column == name);
        found.map(Self).ok_or_else(|| {
            format!("there is no column {}{}", quoted(name), hint(name, "there are", Self::columns(compares)))
        })
    }

    fn name(self, compares: bool) -> &'static str {
        Self::columns(compares).nth(self.0).unwrap_or_default()
    }
}

impl Results<'_> {
    /// Whether variants are compared.
    fn compares(&self) -> bool {
        self.plan.pairs.is_some()
    }

    /// Width and height of cells, if there are any.
    pub(super) fn cell(&self) -> Option<[u32; 2]> {
        self.shown.iter().flatten().next().map(|shown| shown.cell.dimensions().into())
    }

    /// What is seen of a variant.
    pub(super) fn picture(&self, i: usize) -> Picture<'_> {
        self.shown[i].as_ref().map_or(Picture::Missing("not rendered"), |shown| Picture::Image(&shown.cell))
    }

    /// The numbers of a variant, in the order of the columns; `None` if it is not there.
    fn numbers(&self, i: usize) -> Option<Vec<f64>> {
        let shown = self.shown[i].as_ref()?;
        let mut numbers = [&shown.statistics.values()[..], &shown.of_render()].concat();
        if self.compares() {
            let compared = self.compared.get(i).and_then(Option::as_ref);
            numbers.extend(compared.map_or([f64::NAN; 4], Compared::values));
        }
        Some(numbers)
    }

    /// A row for each variant that is there.
    pub(super) fn table(&self) -> String {
        let grid = &self.plan.grid;
        let mut heads: Vec<String> = grid.axes().iter().map(|axis| cell_of_csv(&axis.path)).collect();
        let scenes = self.plan.args.against.other().map(|_| self.plan.scenes());
        heads.extend(scenes.iter().map(|_| "scene".to_owned()));
        heads.extend(Statistic::columns(self.compares()).map(str::to_owned));
        let mut table = heads.join(",") + "\n";
        for i in 0..self.shown.len() {
            let Some(numbers) = self.numbers(i) else { continue };
            let (scene, i) = (i / grid.variants(), i % grid.variants());
            let mut row: Vec<String> = grid.settings(i).map(|(_, value)| cell_of_csv(value)).collect();
            row.extend(scenes.iter().map(|scenes| cell_of_csv(&scenes[scene])));
            row.extend(numbers.iter().map(|x| number(*x)));
            table += &(row.join(",") + "\n");
        }
        table
    }

    /// A plot of a column.
    pub(super) fn plot(&self, statistic: &Statistic) -> Drawing {
        let grid = &self.plan.grid;
        let value = |i| self.numbers(i).map_or(f64::NAN, |numbers| numbers[statistic.0]);
        let values: Vec<f64> = (0..grid.variants()).map(value).collect();
        let name = statistic.name(self.compares());
        let errors: Option<Vec<f64>> = matches!(name, "mean" | "loss").then(|| {
            let error = |i: usize| self.shown[i].as_ref().map_or(f64::NAN, Shown::error_of_mean);
            (0..grid.variants()).map(error).collect()
        });
        let positions = grid.positions();
        let title = title(self.plan.args);
        SweepPlot {
            title: &title,
            axes: &grid.sides(),
            positions: positions.as_deref(),
            statistic: if name == "loss" { "loss: 1 − mean" } else { name },
            values: &values,
            errors: errors.as_deref(),
            theme: self.plan.args.sheet.theme,
        }
        .draw()
    }

    /// The page to look at in a browser.
    pub(super) fn page(&self, display: &mut Display) -> Result<Vec<u8>, String> {
        let grid = &self.plan.grid;
        let columns: Vec<&str> = Statistic::columns(self.compares()).collect();
        let variant = |i: usize| sweep_page::Variant {
            name: self.plan.name(i),
            statistics: self.numbers(i).unwrap_or_default(),
        };
        let variants: Vec<_> = (0..self.shown.len()).map(variant).collect();
        let mut axes = grid.sides();
        let mut baseline = self.plan.pairs.as_ref().map_or(Vec::new(), |pairs| pairs.baseline().to_vec());
        if self.plan.args.against.other().is_some() {
            // Another scene is one more parameter.
            axes.push(Side { name: "scene".to_owned(), labels: self.plan.scenes() });
            baseline.push(Some(1));
        }
        let title = title(self.plan.args);
        let page = Page {
            title: &title,
            facts: &self.facts(),
            axes: &axes,
            columns: &columns,
            variants: &variants,
            baseline: &baseline,
            develop: self.plan.args.image.settings().develop,
        };
        let mut bytes = Vec::new();
        display.begin_steps();
        let begin = Instant::now();
        let mut image = |i: usize| {
            display.step(i as f64 / variants.len() as f64, begin.elapsed(), "writing the page");
            self.measured(i).map(|measured| measured.image)
        };
        sweep_page::write(&page, &mut image, &mut bytes).map_err(|e| e.to_string())?;
        Ok(bytes)
    }

    /// What is shown of a variant, as it was kept.
    pub(super) fn measured(&self, i: usize) -> Option<Measured> {
        let part = self.plan.parts.find(self.plan.keys[i])?;
        Some(match self.plan.args.sheet.crop {
            Some(region) => crop(&part.measured, region),
            None => part.measured,
        })
    }

    /// What the page says of all variants.
    fn facts(&self) -> Vec<(String, String)> {
        let Plan { args, variants, .. } = self.plan;
        let mut facts = vec![
            ("scene", args.scene.file_name()),
            ("device", self.device.to_owned()),
            ("size", format!("{} × {}", variants[0].scene.width, variants[0].scene.height)),
        ];
        let spp: Vec<u32> = self.shown.iter().flatten().map(|shown| shown.told.spp).collect();
        if let (Some(least), Some(most)) = (spp.iter().min(), spp.iter().max()) {
            let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
            facts.push(("samples per pixel", range));
        }
        facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
    }

    /// What `--json` says of each variant.
    pub(super) fn rows(&self) -> Vec<Row> {
        let n = self.plan.grid.variants();
        let row = |(i, shown): (usize, &Option<Shown>)| {
            let result = shown.as_ref().map(|shown| RowResult {
                statistics: shown.statistics,
                spp: shown.told.spp,
                paths: shown.told.paths,
                seconds: shown.told.seconds,
                mpaths_per_s: shown.of_render()[4],
                rejected_samples: shown.told.rejected,
            });
            let variant = &self.plan.variants[i];
            let settings = self.plan.grid.settings(i % n);
            Row {
                parameters: settings.map(|(path, value)| (path.to_owned(), value.to_owned())).collect(),
                is_against: i >= n,
                seed: variant.scene.settings.seed,
                scene_hash: format!("{:016x}", variant.fingerprint),
                result,
                compared: self.compared.get(i).cloned().flatten(),
            }
        };
        self.shown.iter().enumerate().map(row).collect()
    }
}

impl Shown {
    /// The standard error of the mean luminance, of pixels that are independent.
    fn error_of_mean(&self) -> f64 {
        let pixels = f64::from(self.cell.width()) * f64::from(self.cell.height());
        self.statistics.stderr / (pixels - self.statistics.non_finite as f64).sqrt()
    }
}

/// A number that reads back as it is, of small ones with an exponent.
fn number(x: f64) -> String {
    if x != 0.0 && x.abs() < 1e-4 { format!("{x:e}") } else { x.to_string() }
}

/// A cell of a table, in quotes if it has to be (RFC 4180).
fn cell_of_csv(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
