//! How paths are traced.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

use super::values;
use crate::assemble::SceneData;
use crate::render::{Budget, Contestant, Integrator, Paths, Traced};

/// Slots of the pool on a GPU: see `docs/wavefront.md` for what others cost.
const GPU_POOL: u32 = 1 << 22;

/// Slots of the pool on a CPU: few, so that paths stay in the caches.
const CPU_POOL: u32 = 1 << 15;

/// How paths are traced.
#[derive(Debug, clap::Args)]
pub(super) struct IntegratorArgs {
    /// How paths are traced: all of a path in one kernel, or many paths together in stages; the image is the same
    #[arg(long, value_name = "NAME", default_value = "auto")]
    integrator: Choice,

    /// Paths under way together in the wavefront
    #[arg(long, value_name = "N", value_parser = values::pool, allow_negative_numbers = true)]
    pool: Option<u32>,
}

/// Names of integrators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// The one that is faster: on a GPU, long renders try both
    Auto,
    /// All of a path in one kernel; on a CPU, a plain loop
    Megakernel,
    /// Many paths together, in stages
    Wavefront,
}

/// Renders of fewer paths are over before it is known what is faster.
const WORTH_A_RACE: u64 = 1 << 28;

impl IntegratorArgs {
    /// The integrator for a scene, on a GPU or a CPU, and why it was chosen, if it was.
    pub(super) fn chosen(
        &self,
        is_gpu: bool,
        scene: &SceneData,
        budget: &Budget,
    ) -> (Integrator, Option<&'static str>) {
        let paths = Paths::new(self.pool.unwrap_or(if is_gpu { GPU_POOL } else { CPU_POOL }));
        let most = u64::from(scene.width) * u64::from(scene.height) * u64::from(budget.spp);
        match self.integrator {
            Choice::Megakernel => (Integrator::Megakernel, None),
            Choice::Wavefront => (Integrator::Wavefront(paths), None),
            Choice::Auto if !is_gpu => (Integrator::Megakernel, Some("the faster one on CPUs")),
            Choice::Auto if most >= WORTH_A_RACE => (Integrator::Fastest(paths), None),
            Choice::Auto => (Integrator::Megakernel, Some("a short render")),
        }
    }
}

/// What traced the paths.
#[derive(Debug, Serialize)]
pub(super) struct Chosen {
    name: &'static str,
    /// Why, if it was not the user's choice.
    why: Option<String>,
    /// Millions of paths per second of the megakernel, if both were tried.
    megakernel_mpaths_per_s: Option<f64>,
    /// Of the wavefront.
    wavefront_mpaths_per_s: Option<f64>,
}

impl Chosen {
    pub(super) fn new(traced: Traced, why: Option<&str>) -> Self {
        let name = match traced.by {
            Contestant::Megakernel => "megakernel",
            Contestant::Wavefront => "wavefront",
        };
        let [megakernel, wavefront] = match traced.rates {
            Some(rates) => rates.map(|rate| Some(rate / 1e6)),
            None => [None; 2],
        };
        let measured = megakernel.zip(wavefront).map(|(megakernel, wavefront)| {
            format!("{megakernel:.0} Mpaths/s by the megakernel, {wavefront:.0} by the wavefront")
        });
        Self {
            name,
            why: measured.or(why.map(str::to_owned)),
            megakernel_mpaths_per_s: megakernel,
            wavefront_mpaths_per_s: wavefront,
        }
    }
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            Some(why) => write!(f, "{} ({why})", self.name),
            None => f.write_str(self.name),
        }
    }
}
