//! The program `torrance`: parses, calls, prints. One file a subcommand. As a library, for other programs to run it.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

mod aov;
mod bench;
mod bsdf;
mod chart;
mod compare;
mod convert;
mod defocus;
mod denoise;
mod device;
mod exhaustion;
mod exr;
mod failure;
mod heatmap;
mod info;
mod inspect;
mod integrator;
mod live;
mod merge;
mod mix;
mod noise;
mod notes;
mod precompile;
mod progress;
mod regress;
mod render;
mod resume;
mod schema;
mod shard;
mod sharp;
mod signals;
mod source;
mod stage_times;
mod summary;
mod sweep;
mod terminal;
mod threads;
mod values;
mod view;

pub use exhaustion::Allocator;

// What most commands need.
use chart::ChartFile;
use failure::{DIFFERENT, Failure, INTERRUPTED, warn};
use notes::Notes;
use progress::Display;
use source::SceneArgs;
use summary::{Laps, print, print_either, print_json};
use terminal::{clock, color, count, say, say_text};

/// Shown below every `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    done
  2    bad usage or bad input; nothing was done
  3    failed while running; images that were there before are as they were
  130  interrupted; an interrupted render writes what it has";

/// A physically based path tracer for NVIDIA GPUs and CPUs
#[derive(Debug, Parser)]
#[command(name = "torrance", version, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Render a scene to images
    Render(Box<render::Args>),
    /// Look at a scene in the browser, and change it
    View(Box<view::Args>),
    /// Render a scene again and again with other parameters, and show the images side by side
    Sweep(Box<sweep::Args>),
    /// Merge renders of one scene into one, with its standard errors
    Merge(merge::Args),
    /// Give lights other powers, after rendering
    Mix(mix::Args),
    /// Blur an image as a lens would have, by its depths, or evenly
    Defocus(defocus::Args),
    /// Remove noise from an image
    Denoise(denoise::Args),
    /// Chart how a material scatters light
    Bsdf(bsdf::Args),
    /// Compare two images, and say whether noise explains the difference
    Compare(compare::Args),
    /// Run a suite of regression tests: images against their references
    Regress(regress::Args),
    /// Write a scene of any format as a TOML scene
    Convert(convert::Args),
    /// Tell what a scene is made of
    Inspect(inspect::Args),
    /// Print what scene files may say, as JSON Schema, for editors
    Schema(schema::Args),
    /// Measure what the program is made of, on this machine
    Bench(bench::Args),
    /// Compile the kernels of scenes for GPUs that are not here, so that renders start at once there
    Precompile(precompile::Args),
    /// Show the version, the CPU, the NVIDIA driver, its devices, and with --kernels what the kernels use of them
    Info(info::Args),
}

/// How the program ended: as [`std::process::ExitCode`], for programs that want to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode(pub u8);

impl ExitCode {
    const SUCCESS: Self = Self(0);
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> Self {
        Self(code)
    }
}

/// Runs the program with arguments, of which the first is its name. It takes signals and standard streams as its own, and reports on
/// its panics.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    signals::survive_file_size_limit();
    exhaustion::guard(|| obey(arguments))
}

/// Does what the command line says.
fn obey(arguments: Vec<OsString>) -> ExitCode {
    threads::warn_of_limit();
    let mut program = Cli::command();
    let parsed = program.try_get_matches_from_mut(arguments);
    let parsed = parsed.and_then(|given| Ok((Cli::from_arg_matches(&given)?, given)));
    let (command, given) = match parsed {
        Ok((Cli { command }, given)) => (command, given),
        Err(e) => {
            // Help and version go to stdout and are no error.
            let _ = e.print();
            return ExitCode::from(if e.use_stderr() { failure::BAD_INPUT } else { 0 });
        }
    };
    if command.has_default_threads() {
        renderer::limit_threads(None);
    }
    let result = match command {
        Command::Render(args) => render::run(&args, shard::common_arguments(&program, &given)),
        Command::View(args) => view::run(&args, source::scene_arguments(&given)),
        Command::Sweep(args) => sweep::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Mix(args) => mix::run(&args),
        Command::Defocus(args) => defocus::run(&args),
        Command::Denoise(args) => denoise::run(&args),
        Command::Bsdf(args) => bsdf::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Regress(args) => regress::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Precompile(args) => precompile::run(&args),
        Command::Info(args) => info::run(&args),
    };
    result.unwrap_or_else(Failure::end)
}

impl Command {
    /// Whether it needs threads, and has no option for their number.
    const fn has_default_threads(&self) -> bool {
        matches!(
            self,
            Self::Merge(_)
                | Self::Bsdf(_)
                | Self::Compare(_)
                | Self::Convert(_)
                | Self::Inspect(_)
                | Self::Bench(_)
                | Self::Precompile(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
