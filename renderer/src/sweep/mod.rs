//! Sweeps: parameters that vary, the arrangement of the variants, and the results of rendering them.
//!
//! [`spec::parse`] reads parameters and their values, which a [`Grid`] arranges; [`build_variants`] makes the scenes. With what
//! is shown of them that is a [`Plan`]; a [`Sweep`] renders it, and [`Results`] are tables, plots, sheets and pages.

pub mod grid;
mod label;
mod plan;
pub mod preset;
mod range;
mod results;
mod run;
mod scan;
mod sheets;
pub mod spec;
mod store;
mod summary;
mod variant;
mod verdict;
mod work;

pub use grid::Grid;
pub use plan::{Plan, SheetStyle};
pub use results::{Column, Results};
pub use run::{Failures, Scene, render_all};
pub use sheets::SheetKind;
pub use spec::{Axis, MOST_VARIANTS};
pub use store::{StoredVariant, VariantStore};
pub use summary::{Seconds, Summary, VariantSummary};
pub use variant::{BadVariants, Variant, build_variants, common_size};
pub use verdict::{Pairs, VariantComparison, Verdict};
pub use work::{Cleaner, Failure, Progress, Sweep, VariantResult};

/// A fault of what is to vary, to be arranged or to be compared: a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SweepError(String);

impl From<torrance_scene::PathError> for SweepError {
    fn from(error: torrance_scene::PathError) -> Self {
        Self(error.to_string())
    }
}
