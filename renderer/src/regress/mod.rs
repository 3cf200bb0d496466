//! Regression tests: images of scenes, or of any program, held against references.

use std::path::Path;

mod bless;
mod case;
mod child;
mod command;
mod images;
mod junit;
mod kept;
mod keys;
mod machine;
mod page;
mod read;
mod reading;
mod reference;
mod report;
mod run;
mod seeds;
pub mod sequential;
pub mod suite;
mod summary;
mod words;

pub use bless::{NewReference, bless};
pub use child::kill_all;
pub use images::Stop;
pub use junit::junit;
pub use kept::Kept;
pub use machine::{LazyMachine, SceneRenderer};
pub use page::page;
pub use read::read;
pub use report::{Images, Measurement, Report, Status};
pub use run::{Event, run};
pub use suite::{Case, Suite};
pub use summary::Summary;

/// How a suite is run.
pub struct Options<'a> {
    /// Cases at a time.
    pub jobs: usize,
    /// Whether reports keep the images and per-pixel data.
    pub keep_images: bool,
    /// Where what is rendered is kept until the suite has ended.
    pub kept: Option<&'a Kept>,
    /// A folder for the image of each case.
    pub output: Option<&'a Path>,
    /// Whether we were asked to stop.
    pub is_stopping: &'a (dyn Fn() -> bool + Sync),
    /// Called with every event, from any thread.
    pub observe: &'a (dyn Fn(Event<'_>) + Sync),
}
