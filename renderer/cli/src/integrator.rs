//! How paths are traced.

use std::path::PathBuf;

use clap::ValueEnum;
use renderer::render::{Integrator, Paths, When};
use torrance_image::film::write::Target;

use super::{ChartFile, Failure, values};

/// How paths are traced.
#[derive(Debug, Default, clap::Args)]
pub(super) struct IntegratorArgs {
    /// How paths are traced: all of a path in one kernel, or many paths together in stages; the image is the same
    #[arg(long, value_name = "NAME", default_value = "auto")]
    integrator: Choice,

    /// Paths under way together in the wavefront [default: 8Mi on a GPU, 32Ki on a CPU]
    #[arg(long, value_name = "N", value_parser = values::pool, allow_negative_numbers = true)]
    pool: Option<u32>,
}

/// Options for stages and their statistics.
#[derive(Debug, Default, clap::Args)]
pub(super) struct StageArgs {
    /// Tell where the time of the wavefront went, stage by stage, and how many paths were under way
    #[arg(long)]
    pub(super) stage_times: bool,

    /// Draw that: .png or .svg
    #[arg(long, value_name = "FILE")]
    stage_plot: Option<PathBuf>,

    /// For comparison: stages of the wavefront go over the whole pool, instead of over queues; they have no order then
    #[arg(long)]
    no_compact: bool,

    /// For comparison: paths of the wavefront are not ordered by material
    #[arg(long)]
    no_sort: bool,

    /// Order rays of the wavefront by where they begin and which way they go [default: in scenes with instances]
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_default_value = true, value_parser = values::choice(values::ORDER_RAYS))]
    order_rays: When,

    /// For comparison: paths of the wavefront only begin when all others have ended
    #[arg(long)]
    no_regenerate: bool,
}

/// Names of integrators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Choice {
    /// The one that is faster: on a GPU, long renders try both
    #[default]
    Auto,
    /// All of a path in one kernel; on a CPU, hundreds of paths of a thread side by side
    Megakernel,
    /// Many paths together, in stages
    Wavefront,
}

impl StageArgs {
    /// The options of these that were given.
    fn given(&self) -> Vec<&'static str> {
        let options = [
            (self.stage_times, "--stage-times"),
            (self.stage_plot.is_some(), "--stage-plot"),
            (self.no_compact, "--no-compact"),
            (self.no_sort, "--no-sort"),
            (self.order_rays != When::Auto, "--order-rays"),
            (self.no_regenerate, "--no-regenerate"),
        ];
        options.into_iter().filter_map(|(is_given, name)| is_given.then_some(name)).collect()
    }

    /// Checks that the chart can be written, which is to be none of `outputs`.
    pub(super) fn chart(&self, outputs: &[Target]) -> Result<Option<ChartFile>, Failure> {
        let Some(path) = &self.stage_plot else { return Ok(None) };
        let chart = ChartFile::check("--stage-plot", path)?;
        if outputs.iter().any(|output| output.destination.is_same_file(&chart.destination)) {
            return Err(Failure::output(path, "given twice"));
        }
        Ok(Some(chart))
    }

    /// Whether the times of stages are to be taken.
    pub(super) fn takes_times(&self) -> bool {
        self.stage_times || self.stage_plot.is_some()
    }
}

impl IntegratorArgs {
    /// Checks that there are stages and a pool, if options want them.
    pub(super) fn check(&self, stages: &StageArgs) -> Result<(), Failure> {
        let pool = self.pool.map(|_| "--pool");
        let options: Vec<_> = pool.into_iter().chain(stages.given()).collect();
        if self.integrator == Choice::Megakernel && !options.is_empty() {
            return Err(Failure::input(format_args!(
                "{}: the megakernel has neither stages nor a pool; --integrator wavefront has",
                options.join(", ")
            )));
        }
        Ok(())
    }

    /// The integrator on a GPU or a CPU, and why it was chosen, if it was.
    pub(super) fn chosen(&self, stages: &StageArgs, is_gpu: bool) -> (Integrator, Option<&'static str>) {
        let paths = Paths {
            pool: self.pool.unwrap_or(if is_gpu { Paths::ON_GPU } else { Paths::ON_CPU }),
            sort: !stages.no_sort,
            order_rays: stages.order_rays,
            compact: !stages.no_compact,
            regenerate: !stages.no_regenerate,
        };
        match self.integrator {
            Choice::Megakernel => (Integrator::Megakernel, None),
            Choice::Wavefront => (Integrator::Wavefront(paths), None),
            Choice::Auto if !stages.given().is_empty() => {
                (Integrator::Wavefront(paths), Some("the one that has stages"))
            }
            Choice::Auto if !is_gpu && self.pool.is_some() => {
                (Integrator::Wavefront(paths), Some("the one that has a pool"))
            }
            Choice::Auto if !is_gpu => (Integrator::Megakernel, Some("the faster one on CPUs")),
            Choice::Auto => {
                (Integrator::Fastest(paths), Some("probably the faster one; too short a render to try both"))
            }
        }
    }
}
