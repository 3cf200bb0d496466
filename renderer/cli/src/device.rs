//! Which machine renders.

use renderer::{Device, DeviceChoice, DeviceError, FleetChoice, MachineError};

use super::{Failure, values};

/// Where to render.
#[derive(Debug, clap::Args)]
pub(super) struct MachineArgs {
    /// Where to render: auto, cpu, cuda, cuda:N, or on several devices: cuda:all, cuda:0,2, cuda:all+cpu; auto takes the first
    /// GPU, or else the CPU
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::devices, hide_default_value = true)]
    pub(super) device: FleetChoice,

    /// Most memory of a GPU that a render may take, as in 800MiB or 2GiB; what does not fit is read from the host's
    #[arg(long, value_name = "SIZE", value_parser = values::memory, allow_negative_numbers = true)]
    pub(super) device_memory: Option<u64>,

    /// CPU threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = values::threads, allow_negative_numbers = true)]
    pub(super) threads: Option<usize>,
}

/// Finds the device that the user asked for, so that what is not there is known before all else.
pub(super) fn find(choice: DeviceChoice) -> Result<Device, Failure> {
    choice.find().map_err(not_there)
}

/// Finds the devices that the user asked for, of which a render takes at most so much memory.
pub(super) fn find_all(choice: &FleetChoice, memory: Option<u64>) -> Result<Vec<Device>, Failure> {
    let mut devices = choice.find().map_err(not_there)?;
    devices.iter_mut().for_each(|device| device.memory = memory);
    Ok(devices)
}

/// As [`find_all`], for scenes of which each device takes whole ones: a CPU beside GPUs would be the last to be done with one.
pub(super) fn find_for_many(choice: &FleetChoice, memory: Option<u64>) -> Result<Vec<Device>, Failure> {
    let mut devices = find_all(choice, memory)?;
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

fn not_there(error: DeviceError) -> Failure {
    match error {
        DeviceError::NoCuda(reason) => Failure::input(format_args!(
            "--device cuda: {reason}; use --device cpu, or leave it out to let torrance choose"
        )),
        DeviceError::NoSuchGpu { index, there } => Failure::input(format_args!(
            "--device cuda:{index}: there is no such device; there is {}",
            there.join(", ")
        )),
    }
}

impl From<MachineError> for Failure {
    fn from(error: MachineError) -> Self {
        Self::running(error)
    }
}
