//! Which machine renders.

use renderer::{Device, DeviceChoice, DeviceError, MachineError};

use super::{Failure, values};

/// Where to render.
#[derive(Debug, clap::Args)]
pub(super) struct MachineArgs {
    /// Where to render: auto, cpu, cuda or cuda:N; auto takes the first GPU, or else the CPU
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::device, hide_default_value = true)]
    pub(super) device: DeviceChoice,

    /// Most memory of a GPU that a render may take, as in 800MiB or 2GiB; what does not fit is read from the host's
    #[arg(long, value_name = "SIZE", value_parser = values::memory, allow_negative_numbers = true)]
    pub(super) device_memory: Option<u64>,

    /// CPU threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = values::threads, allow_negative_numbers = true)]
    pub(super) threads: Option<usize>,
}

/// Finds what the user asked for, so that what is not there is known before all else.
pub(super) fn find(choice: DeviceChoice) -> Result<Device, Failure> {
    choice.find().map_err(|error| match error {
        DeviceError::NoCuda(reason) => Failure::input(format_args!(
            "--device cuda: {reason}; use --device cpu, or leave it out to let torrance choose"
        )),
        DeviceError::NoSuchGpu { index, there } => Failure::input(format_args!(
            "--device cuda:{index}: there is no such device; there is {}",
            there.join(", ")
        )),
    })
}

impl From<MachineError> for Failure {
    fn from(error: MachineError) -> Self {
        Self::running(error)
    }
}
