//! Files that users write: TOML read key by key, and everything wrong with it reported at once, with its place.

mod document;
pub mod file;
mod mistakes;
mod problem;

pub(crate) use document::NOT_TOML;
pub use document::{Field, Section, Source, parse, parse_hex, read_plain, sorted};
pub(crate) use mistakes::{Mistakes, and_others};
pub use problem::{Error, Problem, Severity};
pub use problem::{Index, MOST_PROBLEMS, io_reason};
