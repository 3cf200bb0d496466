//! The program: command lines, files, exit codes and messages.

mod adaptive;
mod attacks;
mod bad_input;
mod bad_suite;
mod bench;
mod bsdf;
mod caustics;
mod cli;
mod compare;
mod convert;
mod damaged;
mod defocus;
mod denoise;
mod editor;
mod exhaustion;
mod guiding;
mod interrupt;
mod live;
mod merge;
mod metals;
mod mix;
mod names;
mod pages;
mod paths;
mod program;
mod references;
mod regress;
mod resume;
mod sweep;
#[cfg(target_os = "linux")]
mod view;
