//! Which machine renders.

use std::fmt::Display;

use renderer::{Device, DeviceChoice, DeviceError, FleetChoice, MachineError};

use super::Failure;
use super::values::{self, Written};

/// Where to render.
#[derive(Debug, clap::Args)]
pub(super) struct MachineArgs {
    /// Where to render: auto, cpu, cuda, cuda:N, or on several devices: cuda:all, cuda:0,2, cuda:all+cpu; auto takes the first
    /// GPU, or else the CPU. In a sweep or a suite, the CPU takes no part beside GPUs
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::written(values::devices), hide_default_value = true)]
    pub(super) device: Written<FleetChoice>,

    /// Most memory of a GPU that a render may take, as in 800MiB or 2GiB; what does not fit is read from the host's
    #[arg(long, value_name = "SIZE", value_parser = values::memory, allow_negative_numbers = true)]
    pub(super) device_memory: Option<u64>,

    /// CPU threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = values::threads, allow_negative_numbers = true)]
    pub(super) threads: Option<usize>,

    /// Take no compiled kernels from the user's folder of caches, and keep none there
    #[arg(long)]
    pub(super) no_cache: bool,
}

/// Finds the device that the user asked for, so that what is not there is known before all else.
pub(super) fn find(choice: &Written<DeviceChoice>) -> Result<Device, Failure> {
    choice.value.find().map_err(|error| not_there(choice, error))
}

/// Finds the devices that the user asked for, with the most memory that a render may take of each.
pub(super) fn find_all(args: &MachineArgs) -> Result<Vec<Device>, Failure> {
    if args.no_cache {
        torrance_gpu::backend::cuda::keep_kernels_in(None);
    }
    let choice = &args.device;
    let mut devices = choice.value.find().map_err(|error| not_there(choice, error))?;
    devices.iter_mut().for_each(|device| device.memory = args.device_memory);
    Ok(devices)
}

/// As [`find_all`], for scenes of which each device takes whole ones: a CPU beside GPUs would be the last to be done with one.
pub(super) fn find_for_many(args: &MachineArgs) -> Result<Vec<Device>, Failure> {
    let mut devices = find_all(args)?;
    if devices.iter().any(Device::is_gpu) {
        devices.retain(Device::is_gpu);
    }
    Ok(devices)
}

/// Says why, if the CPU renders where a GPU would be expected.
pub(super) fn surprise(devices: &[Device]) -> Option<String> {
    devices
        .iter()
        .find_map(|device| device.surprise.as_ref())
        .map(|reason| format!("rendering on the CPU: {reason}"))
}

fn not_there(choice: &impl Display, error: DeviceError) -> Failure {
    let instead = match error {
        DeviceError::NoCuda(_) => "; use --device cpu, or leave it out to let torrance choose",
        DeviceError::NoSuchGpu { .. } => "",
    };
    Failure::input(format_args!("--device {choice}: {error}{instead}"))
}

impl From<MachineError> for Failure {
    fn from(error: MachineError) -> Self {
        Self::running(error)
    }
}
