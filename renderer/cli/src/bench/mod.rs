//! `torrance bench`: measures what the program is made of.

use crate::ExitCode;
use clap::Subcommand;

use super::Failure;

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

/// Measures.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    match &args.what {
        What::Build(args) => build::run(args),
        What::Primitives(args) => primitives::run(args),
        What::Scenes(args) => scenes::run(args),
        What::Traversal(args) => traversal::run(args),
    }
}
