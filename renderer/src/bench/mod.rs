//! How fast trees are built, how fast rays are traced, and how fast primitives are: beside the machine's own copy of memory, and
//! beside another library of the same algorithms.
//!
//! Each primitive is measured as a stream of work, calls back to back for some milliseconds, again and again, in turns with what it
//! is compared with, so that a clock that drifts is the same for all of them.

mod baseline;
mod build;
mod case;
mod chart;
mod list;
mod machine;
mod measure;
mod memory;
mod survey;
mod traversal;

pub use baseline::{Baseline, BaselineError};
pub use build::{BuildTiming, Layout, build_threads, slope, time_build};
pub use chart::{Family, chart};
pub(crate) use list::{Benchmark, named};
pub use list::{catalogue, names};
pub(crate) use machine::TimedBackend;
pub(crate) use measure::check_all;
pub use measure::{PrimitiveTiming, Times};
pub use memory::MeasureError;
pub(crate) use survey::measure_all;
pub use survey::{End, Results, Skipped, Watch};
pub(crate) use traversal::trace;
pub use traversal::{Observer, RayKind, RayTiming};
