//! A sweep in numbers, for programs.

use std::collections::BTreeMap;

use serde::Serialize;
use torrance_image::film::Statistics;
use torrance_image::film::write::WrittenFile;

use super::results::Results;
use super::verdict::VariantComparison;
use super::work::VariantResult;

/// Summary of a sweep. Fields are added, never renamed.
#[derive(Serialize)]
pub struct Summary {
    /// Version of the program.
    pub version: &'static str,
    /// The scene's file.
    pub scene: String,
    /// The machine.
    pub device: String,
    /// Variants that this sweep rendered.
    pub rendered: usize,
    /// Variants that one before it had.
    pub found: usize,
    /// Whether it ended early.
    pub interrupted: bool,
    /// The name of what denoised the images that are shown.
    pub denoiser: Option<&'static str>,
    /// Times of the phases.
    pub seconds: Seconds,
    /// All variants.
    pub variants: Vec<VariantSummary>,
    /// Files that were written.
    pub outputs: Vec<WrittenFile>,
    /// Warnings, as printed.
    pub warnings: Vec<String>,
}

/// Times of the phases, seconds.
#[derive(Debug, Default, Serialize)]
pub struct Seconds {
    /// Reading the scenes.
    pub load: f64,
    /// Building the variants.
    pub build: f64,
    /// Waiting for the machine, which starts meanwhile.
    pub start: f64,
    /// Rendering, and processing each image meanwhile.
    pub render: f64,
    /// Comparing.
    pub compare: f64,
    /// Encoding and writing.
    pub write: f64,
    /// The whole sweep.
    pub total: f64,
}

/// One variant.
#[derive(Serialize)]
pub struct VariantSummary {
    parameters: BTreeMap<String, String>,
    /// Whether it is of the scene that the other's variants are compared with.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_against: bool,
    seed: u32,
    scene_hash: String,
    #[serde(flatten)]
    result: Option<ResultSummary>,
    #[serde(flatten)]
    compared: Option<VariantComparison>,
}

#[derive(Serialize)]
struct ResultSummary {
    statistics: Statistics,
    spp: u32,
    mean_spp: f64,
    paths: u64,
    seconds: f64,
    mpaths_per_s: f64,
    rejected_samples: u64,
}

impl From<&VariantResult> for ResultSummary {
    fn from(VariantResult { statistics, record, .. }: &VariantResult) -> Self {
        Self {
            statistics: *statistics,
            spp: record.spp,
            mean_spp: record.mean_spp,
            paths: record.paths,
            seconds: record.seconds,
            mpaths_per_s: record.mpaths_per_s(),
            rejected_samples: record.rejected,
        }
    }
}

impl Results<'_> {
    /// All variants, for a summary.
    pub fn summaries(&self) -> Vec<VariantSummary> {
        let plan = self.sweep.plan;
        let n = plan.grid.variants();
        let summary = |(i, result): (usize, &Option<VariantResult>)| {
            let variant = &plan.variants[i];
            let settings = plan.grid.settings(i % n);
            VariantSummary {
                parameters: settings.map(|(path, value)| (path.to_owned(), value.to_owned())).collect(),
                is_against: i >= n,
                seed: variant.scene.settings.seed,
                scene_hash: format!("{:016x}", variant.fingerprint),
                result: result.as_ref().map(ResultSummary::from),
                compared: self.compared.get(i).cloned().flatten(),
            }
        };
        self.variants.iter().enumerate().map(summary).collect()
    }
}
