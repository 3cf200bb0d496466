//! Sweeps: what is varied, and how the variants are arranged.

pub mod grid;
mod label;
mod parts;
pub mod preset;
mod range;
mod run;
mod scan;
pub mod spec;

pub use grid::Grid;
pub use parts::{Part, Parts, Told, write};
pub use run::render_all;
pub use spec::{Axis, MOST_VARIANTS, SweptValue};
