//! Charts of what was measured, for people to look at, and tables of the same numbers.

pub mod animation;
pub mod bsdf;
pub mod html;
pub mod plot;
pub mod sheet;
pub mod stages;
pub mod sweep_page;
pub mod sweep_plot;
mod web;
