//! Denoising, as people see it.

use std::time::Instant;

use renderer::denoise::{DenoiseError, Denoised, DenoiserChoice, Denoising, Kind, Noisy};
use renderer::{DeviceChoice, FleetChoice};

use super::super::device::MachineArgs;
use super::super::{Failure, Notes};

pub(crate) const DENOISERS: &[(&str, &str, DenoiserChoice)] = &[
    ("auto", "Open Image Denoise where its library is found, or else NFOR", DenoiserChoice::Auto),
    ("oidn", "Open Image Denoise, trained on renders", DenoiserChoice::Oidn),
    ("nfor", "Torrance's own: regression on features, by the noise of the samples", DenoiserChoice::Nfor),
];

/// What `--denoise` of a command that renders asks for.
pub(crate) fn find_denoising(choice: DenoiserChoice, machine: &MachineArgs) -> Result<Denoising, Failure> {
    let is_cpu = matches!(machine.device.value, FleetChoice::One(DeviceChoice::Cpu));
    let found = Denoising::find(choice, None, is_cpu.then_some(Kind::Cpu), machine.threads);
    let found = match (found, machine.device.value.clone()) {
        // On the GPU that renders.
        (Ok(Denoising::Nfor { threads, instead, .. }), FleetChoice::One(gpu @ DeviceChoice::Cuda(_))) => {
            gpu.find().map(|device| Denoising::Nfor { device, threads, instead }).map_err(DenoiseError::from)
        }
        (found, _) => found,
    };
    found.map_err(|error| Failure::input(format_args!("--denoise: {error}")))
}

/// Checks that a render of so many samples per pixel tells what its noise is, if that has to be known.
pub(crate) fn check_noise_is_known(denoising: &Denoising, spp: u32) -> Result<(), Failure> {
    match denoising.takes_halves() && spp < 2 {
        true => Err(Failure::input(
            "--denoise: NFOR tells noise by how samples of a pixel differ; take at least two (--spp 2)",
        )),
        false => Ok(()),
    }
}

/// The image without its noise, unless somebody `wants_end` on the way; with how long the denoiser took to start, seconds.
pub(crate) fn denoised(
    denoising: &Denoising,
    noisy: &Noisy,
    notes: &mut Notes,
    wants_end: &dyn Fn() -> bool,
) -> Result<(Denoised, f64), DenoiseError> {
    notes.display.phase("preparing to denoise");
    let begin = Instant::now();
    let (mut denoiser, surprise) = denoising.start()?;
    if let Some(surprise) = surprise {
        notes.warn(surprise);
    }
    let start = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    notes.display.begin_steps();
    let mut go_on = |part| {
        notes.display.step(part, begin.elapsed(), "denoising");
        !wants_end()
    };
    Ok((denoiser.denoise(noisy, &mut go_on)?, start))
}
