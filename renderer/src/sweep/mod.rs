//! Sweeps: what is varied, and how the variants are arranged.

pub mod grid;
mod label;
mod range;
mod scan;
pub mod spec;

pub use grid::{Cell, Grid};
pub use spec::{Axis, MOST_VARIANTS, SweptValue};
