//! Images against closed forms, quadrature in `f64` and another renderer.

mod aov;
mod backfaces;
mod cameras;
mod caustics;
mod closed_forms;
mod defocus;
mod furnace_sweep;
mod hidden_normals;
mod instances;
mod light_groups;
mod lights;
mod many_instances;
mod materials;
mod mattes;
mod references;
mod standard_errors;
mod verdicts;
