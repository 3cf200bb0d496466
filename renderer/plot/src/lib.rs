//! Charts, contact sheets, animations and pages in one file.
//!
//! Numbers, names and images come in; out come SVG and PNG ([`chart`], [`sweep_plot`], [`sheet`], [`animation`]) and pages
//! that need no other file ([`html`] of comparisons, [`sweep_page`] of sweeps).
//!
//! ```
//! use torrance_plot::chart::ThemeName;
//! use torrance_plot::sheet::Side;
//! use torrance_plot::sweep_plot::SweepPlot;
//!
//! let chart = SweepPlot {
//!     title: "A sphere of gold",
//!     axes: &[Side { name: "roughness".into(), labels: ["0", "0.5", "1"].map(Into::into).into() }],
//!     positions: Some(&[0.0, 0.5, 1.0]),
//!     statistic: "mean",
//!     values: &[0.81, 0.74, 0.62],
//!     errors: Some(&[0.01, 0.01, 0.02]),
//!     theme: ThemeName::Light,
//! };
//! let svg = chart.draw().svg(700, 450)?;
//! assert!(svg.starts_with("<svg") && svg.contains("A sphere of gold") && svg.contains("roughness"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod animation;
pub mod chart;
mod error;
pub mod html;
pub mod sheet;
pub mod sweep_page;
pub mod sweep_plot;
mod web;

pub use error::DrawError;
pub use web::COLORS;
