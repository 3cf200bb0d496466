//! Which machine renders.

use super::failure::Failure;
use super::values::{self, DeviceChoice};
use crate::assemble::SceneData;
use crate::backend::Error;
use crate::backend::cpu::Cpu;
use crate::backend::cuda::{Cuda, driver};
use crate::render::{self, Options};

/// Where to render.
#[derive(Debug, clap::Args)]
pub(super) struct MachineArgs {
    /// Where to render: auto, cpu, cuda or cuda:N; auto takes the first GPU, or else the CPU
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::device, hide_default_value = true)]
    pub(super) device: DeviceChoice,

    /// CPU threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = values::threads, allow_negative_numbers = true)]
    pub(super) threads: Option<usize>,
}

/// A machine that renders.
pub(super) enum Machine {
    /// The CPU.
    Cpu(Cpu),
    /// A GPU.
    Cuda(Box<Cuda>),
}

/// A machine that was found, but not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The GPU; the CPU if `None`.
    gpu: Option<u32>,
    /// Whether the CPU will do if the GPU does not start.
    any: bool,
    /// Why there is no GPU though one would be expected.
    pub(super) surprise: Option<String>,
}

/// Finds what the user asked for, which takes no time, so that what is not there is known before all else.
pub(super) fn find(choice: DeviceChoice) -> Result<Found, Failure> {
    match choice {
        DeviceChoice::Cpu => Ok(Found { gpu: None, any: false, surprise: None }),
        DeviceChoice::Cuda(index) => {
            cuda_device(index).map_err(Failure::input)?;
            Ok(Found { gpu: Some(index), any: false, surprise: None })
        }
        DeviceChoice::Auto => match driver::load() {
            Ok(()) => Ok(Found { gpu: Some(0), any: true, surprise: None }),
            Err(reason) => Ok(Found { gpu: None, any: true, surprise: is_gpu_expected().then_some(reason) }),
        },
    }
}

/// Checks that the driver has a device of this index.
fn cuda_device(index: u32) -> Result<(), String> {
    let hint = "use --device cpu, or leave it out to let torrance choose";
    driver::load().map_err(|reason| format!("--device cuda: {reason}; {hint}"))?;
    let devices = Cuda::devices().map_err(|reason| format!("--device cuda: {reason}; {hint}"))?;
    if devices.iter().any(|d| d.index == index) {
        return Ok(());
    }
    let there: Vec<_> = devices.iter().map(|d| format!("cuda:{} ({})", d.index, d.name)).collect();
    Err(format!("--device cuda:{index}: there is no such device; there is {}", there.join(", ")))
}

/// Whether a machine without CUDA is news to its user: not where no driver is installed, or where the driver or
/// its devices were hidden on purpose.
fn is_gpu_expected() -> bool {
    if std::env::var_os("CUDA_VISIBLE_DEVICES").is_some_and(|visible| visible.is_empty() || visible == "-1") {
        return false;
    }
    match std::env::var_os(driver::LIBRARY_VARIABLE) {
        Some(library) => !library.is_empty(),
        None => driver::release().is_some(),
    }
}

impl Machine {
    /// Compiles what renders the scene.
    pub(super) fn prepare(&mut self, scene: &SceneData, options: Options<'_>) -> Result<(), Error> {
        match self {
            Self::Cpu(cpu) => render::prepare(cpu, scene, options),
            Self::Cuda(cuda) => render::prepare(&mut **cuda, scene, options),
        }
    }

    /// Whether it is a GPU.
    pub(super) fn is_gpu(&self) -> bool {
        matches!(self, Self::Cuda(_))
    }

    /// Seconds that it took to compile the kernels.
    pub(super) fn jit_seconds(&self) -> f64 {
        match self {
            Self::Cpu(_) => 0.0,
            Self::Cuda(cuda) => cuda.jit_time().as_secs_f64(),
        }
    }
}

impl Found {
    /// Whether it is a GPU that is about to be started.
    pub(super) fn is_gpu(&self) -> bool {
        self.gpu.is_some()
    }

    /// What is about to be started.
    pub(super) fn name(&self) -> String {
        match self.gpu {
            Some(index) => format!("cuda:{index}"),
            None => "CPU".into(),
        }
    }

    /// Starts the machine. If the CPU stands in for a GPU that does not start, `surprise` will say why.
    pub(super) fn start(&mut self, threads: Option<usize>) -> Result<Machine, Failure> {
        if let Some(index) = self.gpu {
            match Cuda::new(index) {
                Ok(cuda) => return Ok(Machine::Cuda(Box::new(cuda))),
                Err(e) if self.any => self.surprise = Some(format!("cuda:{index} does not start: {e}")),
                Err(e) => return Err(failed(&e, &format!("cuda:{index}"))),
            }
        }
        Cpu::new(threads).map(Machine::Cpu).map_err(|e| failed(&e, "CPU"))
    }
}

/// A failure of a machine while running.
pub(super) fn failed(error: &Error, machine: &str) -> Failure {
    Failure::running(format_args!("{machine}: {error}"))
}
