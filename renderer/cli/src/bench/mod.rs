//! `torrance bench`: measures what the program is made of.

use crate::ExitCode;
use clap::Subcommand;

use renderer::{Device, DeviceChoice, Machine};

use super::values::{self, Written};
use super::{Failure, Notes, device};

mod build;
mod primitives;
mod scenes;
mod table;
mod traversal;

/// Measure what the program is made of, on this machine
#[derive(Debug, clap::Args)]
#[command(after_help = super::EXIT_CODES)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Measure how fast the trees that rays go through are built
    Build(build::Args),
    /// Measure the parallel primitives: reduce, scan, compact, sort and the others
    Primitives(primitives::Args),
    /// Measure how fast scenes are rendered, beside another program if it is asked for
    Scenes(scenes::Args),
    /// Measure how fast the rays of a scene are traced
    Traversal(traversal::Args),
}

/// The one machine that is measured.
#[derive(Debug, clap::Args)]
struct MeasuredArgs {
    /// What to measure: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::written(values::device))]
    device: Written<DeviceChoice>,

    /// CPU threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = values::threads, allow_negative_numbers = true)]
    threads: Option<usize>,
}

impl MeasuredArgs {
    fn find(&self) -> Result<Device, Failure> {
        device::find(&self.device)
    }

    /// Starts the machine that was found, and warns if it is not the one that would be expected.
    fn start(&self, found: &mut Device, notes: &mut Notes) -> Result<Machine, Failure> {
        notes.display.phase(format!("starting {}", found.name()));
        let machine = found.start(self.threads)?;
        if let Some(surprise) = &found.surprise {
            notes.warn(format!("measuring on the CPU: {surprise}"));
        }
        Ok(machine)
    }
}

/// Measures.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    match &args.what {
        What::Build(args) => build::run(args),
        What::Primitives(args) => primitives::run(args),
        What::Scenes(args) => scenes::run(args),
        What::Traversal(args) => traversal::run(args),
    }
}
