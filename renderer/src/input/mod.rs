//! Files that users write: TOML read key by key, and everything wrong with it reported at once, with its place.

mod document;
mod duration;
pub(crate) mod file;
mod problem;
mod suggest;

pub(crate) use document::{Field, Section, Source, parse, parse_hex, sorted};
pub(crate) use duration::duration;
pub use problem::{Error, Problem, Severity};
pub(crate) use problem::{Index, MOST_PROBLEMS, io_reason};
pub use suggest::nearest;
pub(crate) use suggest::{hint, list, quoted, quoted_path};
