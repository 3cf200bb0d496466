//! Results of a sweep: as a table, as curves, as a page.

use std::io;
use std::time::{Duration, Instant};

use torrance_image::film::{ImageEstimate, Statistics};
use torrance_plot::chart::Drawing;
use torrance_plot::sheet::Side;
use torrance_plot::sweep_page::{self, BUDGET, Page};
use torrance_plot::sweep_plot::SweepPlot;
use torrance_text::{hint, quoted};

use super::SweepError;
use super::verdict::VariantComparison;
use super::work::{Sweep, VariantResult};
use crate::render::RenderRecord;

/// Results of a sweep.
pub struct Results<'a> {
    /// The sweep.
    pub sweep: &'a Sweep<'a>,
    /// Result of every variant that has been rendered.
    pub variants: &'a [Option<VariantResult>],
    /// Comparison of every variant of the grid; empty if there are none.
    pub(super) compared: Vec<Option<VariantComparison>>,
}

/// The columns after the statistics of the image.
const OF_RENDER: [&str; 7] =
    ["loss", "spp", "mean_spp", "paths", "seconds", "mpaths_per_s", "rejected_samples"];

impl VariantResult {
    /// [`OF_RENDER`].
    fn of_render(&self) -> [f64; 7] {
        let Self { record, statistics, .. } = self;
        let [spp, paths, rejected] = [u64::from(record.spp), record.paths, record.rejected].map(|n| n as f64);
        let RenderRecord { mean_spp, seconds, .. } = *record;
        [1.0 - statistics.mean, spp, mean_spp, paths, seconds, record.mpaths_per_s(), rejected]
    }

    /// The standard error of the mean luminance, of pixels that are independent.
    fn error_of_mean(&self) -> f64 {
        let pixels = f64::from(self.cell.width()) * f64::from(self.cell.height());
        self.statistics.stderr / (pixels - self.statistics.non_finite as f64).sqrt()
    }
}

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column(usize);

impl Column {
    /// The names of all columns, where variants are compared and where they are not.
    fn names(compares: bool) -> impl Iterator<Item = &'static str> + Clone {
        let compared: &[&str] = if compares { &VariantComparison::COLUMNS } else { &[] };
        Statistics::COLUMNS.into_iter().chain(OF_RENDER).chain(compared.iter().copied())
    }

    /// The column of a name.
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str, compares: bool) -> Result<Self, SweepError> {
        let found = Self::names(compares).position(|column| column == name);
        let hint = || hint(name, "there are", Self::names(compares));
        let unknown = || SweepError(format!("there is no column {}{}", quoted(name), hint()));
        found.map(Self).ok_or_else(unknown)
    }

    fn name(self, compares: bool) -> &'static str {
        Self::names(compares).nth(self.0).unwrap_or_default()
    }
}

impl<'a> Results<'a> {
    /// Results of variants that are not compared yet.
    pub const fn new(sweep: &'a Sweep<'a>, variants: &'a [Option<VariantResult>]) -> Self {
        Self { sweep, variants, compared: Vec::new() }
    }

    /// Whether variants are compared.
    fn compares(&self) -> bool {
        self.sweep.plan.pairs.is_some()
    }

    /// The stored image of a variant, cropped as sheets show it.
    pub(super) fn measured(&self, i: usize) -> Option<ImageEstimate> {
        let stored = self.sweep.plan.store.find(self.sweep.keys[i])?;
        Some(self.sweep.plan.cropped(&stored.measured).into_owned())
    }

    /// The numbers of a variant, in the order of the columns; `None` if it is not there.
    fn numbers(&self, i: usize) -> Option<Vec<f64>> {
        let result = self.variants[i].as_ref()?;
        let mut numbers = [&result.statistics.values()[..], &result.of_render()].concat();
        if self.compares() {
            let compared = self.compared.get(i).and_then(Option::as_ref);
            numbers.extend(compared.map_or([f64::NAN; 4], VariantComparison::values));
        }
        Some(numbers)
    }

    /// A table of comma-separated values, with a row for each variant that is there.
    pub fn csv(&self) -> String {
        let plan = self.sweep.plan;
        let grid = &plan.grid;
        let mut heads: Vec<String> = grid.axes().iter().map(|axis| cell_of_csv(&axis.path)).collect();
        let scenes = plan.against.as_ref().map(|_| plan.scene_titles());
        heads.extend(scenes.iter().map(|_| "scene".to_owned()));
        heads.extend(Column::names(self.compares()).map(str::to_owned));
        let mut table = heads.join(",") + "\n";
        for i in 0..self.variants.len() {
            let Some(numbers) = self.numbers(i) else { continue };
            let (scene, i) = (i / grid.variants(), i % grid.variants());
            let mut row: Vec<String> = grid.settings(i).map(|(_, value)| cell_of_csv(value)).collect();
            row.extend(scenes.iter().map(|scenes| cell_of_csv(&scenes[scene])));
            row.extend(numbers.iter().map(|x| number(*x)));
            table += &(row.join(",") + "\n");
        }
        table
    }

    /// A plot of a column against the first parameter.
    pub fn plot(&self, column: Column) -> Drawing {
        let plan = self.sweep.plan;
        let grid = &plan.grid;
        let value = |i| self.numbers(i).map_or(f64::NAN, |numbers| numbers[column.0]);
        let values: Vec<f64> = (0..grid.variants()).map(value).collect();
        let name = column.name(self.compares());
        let errors: Option<Vec<f64>> = matches!(name, "mean" | "loss").then(|| {
            let error = |i: usize| self.variants[i].as_ref().map_or(f64::NAN, VariantResult::error_of_mean);
            (0..grid.variants()).map(error).collect()
        });
        let positions = grid.positions();
        SweepPlot {
            title: &plan.style.title,
            axes: &grid.sides(),
            positions: positions.as_deref(),
            statistic: if name == "loss" { "loss: 1 − mean" } else { name },
            values: &values,
            errors: errors.as_deref(),
            theme: plan.style.theme,
        }
        .draw()
    }

    /// The page to look at in a browser. `step` is told which part of it is done.
    ///
    /// # Errors
    /// [`sweep_page::write`].
    pub fn page(&self, step: &mut dyn FnMut(f64, Duration, &str)) -> io::Result<Vec<u8>> {
        let plan = self.sweep.plan;
        let columns: Vec<&str> = Column::names(self.compares()).collect();
        let variant = |i: usize| sweep_page::Variant {
            name: plan.name(i),
            statistics: self.numbers(i).unwrap_or_default(),
        };
        let variants: Vec<_> = (0..self.variants.len()).map(variant).collect();
        let mut axes = plan.grid.sides();
        let mut baseline = plan.pairs.as_ref().map_or(Vec::new(), |pairs| pairs.baseline.clone());
        if plan.against.is_some() {
            // Another scene is one more parameter.
            axes.push(Side { name: "scene".to_owned(), labels: plan.scene_titles().into() });
            baseline.push(Some(1));
        }
        let page = Page {
            title: &plan.style.title,
            facts: &self.facts(),
            axes: &axes,
            columns: &columns,
            variants: &variants,
            baseline: &baseline,
            develop: plan.images.develop,
        };
        let mut bytes = Vec::new();
        let begin = Instant::now();
        let mut image = |i: usize| {
            step(i as f64 / variants.len() as f64, begin.elapsed(), "writing the page");
            plan.store.find(self.sweep.keys[i]).map(|stored| plan.shown(&stored).into_owned())
        };
        sweep_page::write(&page, BUDGET, &mut image, &mut bytes)?;
        Ok(bytes)
    }

    /// Facts that hold for all variants, for the page.
    fn facts(&self) -> Vec<(String, String)> {
        let Sweep { plan, device, .. } = self.sweep;
        let scene = &plan.variants[0].scene;
        let mut facts = vec![
            ("scene", plan.scene.clone()),
            ("device", (*device).to_owned()),
            ("size", format!("{} × {}", scene.width, scene.height)),
        ];
        facts.extend(plan.denoiser.map(|name| ("images denoised by", name.to_owned())));
        let spp: Vec<u32> = self.variants.iter().flatten().map(|result| result.record.spp).collect();
        if let (Some(least), Some(most)) = (spp.iter().min(), spp.iter().max()) {
            let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
            facts.push(("samples per pixel", range));
        }
        facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
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
