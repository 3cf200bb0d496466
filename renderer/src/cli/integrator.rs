//! How paths are traced.

use clap::ValueEnum;

use super::values;
use crate::render::{Integrator, Paths};

/// Slots of the pool on a GPU: see `docs/wavefront.md` for what others cost.
const GPU_POOL: u32 = 1 << 21;

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
    /// The one that is faster
    Auto,
    /// All of a path in one kernel; on a CPU, a plain loop
    Megakernel,
    /// Many paths together, in stages
    Wavefront,
}

impl IntegratorArgs {
    /// The integrator, on a GPU or a CPU.
    pub(super) fn chosen(&self, is_gpu: bool) -> Integrator {
        let pool = self.pool.unwrap_or(if is_gpu { GPU_POOL } else { CPU_POOL });
        match self.integrator {
            Choice::Auto | Choice::Megakernel => Integrator::Megakernel,
            Choice::Wavefront => Integrator::Wavefront(Paths::new(pool)),
        }
    }
}
