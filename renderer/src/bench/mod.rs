//! How fast rays are traced, and how fast primitives are: beside the machine's own copy of memory, and beside another
//! library of the same algorithms.
//!
//! Each primitive is measured as a stream of work, calls back to back for some milliseconds, again and again, in turns with what it
//! is compared with, so that a clock that drifts is the same for all of them.

mod baseline;
mod case;
mod chart;
mod list;
mod machine;
mod measure;
mod memory;
mod survey;
mod traversal;

pub use baseline::Baseline;
pub use chart::{Family, chart};
pub use list::{Benchmark, benchmarks, names};
pub use machine::Machine;
pub use measure::{Measured, Times, check};
pub use memory::Unmeasured;
pub use survey::{End, Results, Skipped, Watch, measure_all};
pub use traversal::{Observer, RayKind, Traced, trace};
