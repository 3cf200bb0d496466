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
pub use results::{Column, Results, UnknownColumn};
pub use run::{Failures, render_all};
pub use sheets::{NoPicture, SheetKind};
pub use spec::{Axis, MOST_VARIANTS, SpecError, SweptValue};
pub use store::{StoredVariant, VariantStore};
pub use summary::{Seconds, Summary, VariantSummary};
pub use variant::{BadVariants, SizesDiffer, Variant, VariantError, build_variants, common_size};
pub use verdict::{BadBaseline, Pairs, VariantComparison, Verdict};
pub use work::{Failure, Progress, Sweep, VariantResult};
