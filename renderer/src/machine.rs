//! The machines that render, behind one type. The render loop, sweeps and benchmarks are generic over back ends; they are
//! compiled here, for each, so that no caller has to compile them again.

use std::str::FromStr;
use std::time::Duration;

use torrance_gpu::backend::cpu::{Cpu, InstructionSet};
use torrance_gpu::backend::cuda::driver::{self, DriverError};
use torrance_gpu::backend::cuda::{Cuda, devices};
use torrance_gpu::backend::{Backend, Error};
use torrance_image::film::Image;

use crate::assemble::SceneData;
use crate::bench::{self, Baseline, MeasureError, Observer, RayTiming, Results, Watch};
use crate::defocus::{self, Blur, Defocused};
use crate::denoise::{self, Halves};
use crate::render::{self, Budget, Control, Job, Options, Progress, Rendered, Request};

/// The user's choice of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// On the first GPU, or else on the CPU.
    #[default]
    Auto,
    /// On the CPU.
    Cpu,
    /// On the GPU of this index.
    Cuda(u32),
}

/// A device that is there, but not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// The GPU; the CPU if `None`.
    gpu: Option<u32>,
    /// Whether the CPU will do if the GPU does not start.
    may_fall_back: bool,
    /// Why it is the CPU, where a GPU would be expected.
    pub surprise: Option<String>,
    /// Most bytes of a GPU's memory that machines may take; as many as there are if `None`.
    pub memory: Option<u64>,
}

/// A device that is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// No GPU can be used at all.
    #[error(transparent)]
    NoCuda(#[from] DriverError),
    /// There are GPUs, but not the one of this index.
    #[error("there is no cuda:{index}; there is {}", there.join(", "))]
    NoSuchGpu {
        /// The index.
        index: u32,
        /// Names of those that there are.
        there: Vec<String>,
    },
}

/// A machine that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{machine}: {error}")]
pub struct MachineError {
    /// Its name.
    pub machine: String,
    /// The failure.
    pub error: Error,
}

/// A machine that renders.
pub enum Machine {
    /// The CPU.
    Cpu(Cpu),
    /// A GPU.
    Cuda(Box<Cuda>),
}

/// The index of a GPU, in digits.
pub(crate) fn gpu_index(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

impl FromStr for DeviceChoice {
    type Err = String;

    /// Reads `auto`, `cpu`, `cuda` or `cuda:N`.
    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.to_ascii_lowercase();
        let choice = match lower.as_str() {
            "auto" => Some(Self::Auto),
            "cpu" => Some(Self::Cpu),
            "cuda" => Some(Self::Cuda(0)),
            other => other.strip_prefix("cuda:").and_then(gpu_index).map(Self::Cuda),
        };
        choice.ok_or_else(|| {
            "expected auto, cpu, cuda, or cuda:N as in cuda:1 (`torrance info` lists the devices)".to_owned()
        })
    }
}

impl DeviceChoice {
    /// Finds the device, which takes no time: to be done before all that does.
    ///
    /// # Errors
    /// There is no such device.
    pub fn find(self) -> Result<Device, DeviceError> {
        let cpu = Device { gpu: None, may_fall_back: false, surprise: None, memory: None };
        match self {
            Self::Cpu => Ok(cpu),
            Self::Cuda(index) => {
                check_gpu(index)?;
                Ok(Device { gpu: Some(index), ..cpu })
            }
            Self::Auto => Ok(match driver::load() {
                Ok(()) => Device { gpu: Some(0), may_fall_back: true, ..cpu },
                Err(reason) => Device { surprise: is_gpu_expected().then(|| reason.to_string()), ..cpu },
            }),
        }
    }
}

/// Checks that the driver has a device of this index.
fn check_gpu(index: u32) -> Result<(), DeviceError> {
    driver::load()?;
    let devices = devices()?;
    if devices.iter().any(|device| device.index == index) {
        return Ok(());
    }
    let there = devices.iter().map(|device| format!("cuda:{} ({})", device.index, device.name));
    Err(DeviceError::NoSuchGpu { index, there: there.collect() })
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

/// A GPU that has begun to start.
#[derive(Debug)]
pub struct WarmUp(Option<std::thread::JoinHandle<Option<Cuda>>>);

impl Drop for WarmUp {
    fn drop(&mut self) {
        // Whoever starts the machine is told why that fails.
        let _ = self.0.take().map(std::thread::JoinHandle::join);
    }
}

impl Device {
    /// Whether it is a GPU.
    pub const fn is_gpu(&self) -> bool {
        self.gpu.is_some()
    }

    /// `CPU`, `cuda:0`, ….
    pub fn name(&self) -> String {
        self.gpu.map_or_else(|| "CPU".to_owned(), |index| format!("cuda:{index}"))
    }

    /// Begins to start a GPU on another thread, so that [`Device::start`] takes less time. It takes some memory of the GPU until the
    /// result is dropped, which waits for the start.
    pub fn warm_up(&self) -> WarmUp {
        let start = |index| std::thread::Builder::new().spawn(move || Cuda::new(index).ok()).ok();
        WarmUp(self.gpu.and_then(start))
    }

    /// Starts the machine, a CPU with so many threads or one for every core. If the CPU stands in for a GPU that does not
    /// start, `surprise` will say why.
    ///
    /// # Errors
    /// The machine does not start.
    pub fn start(&mut self, threads: Option<usize>) -> Result<Machine, MachineError> {
        if let Some(index) = self.gpu {
            match Machine::cuda(index) {
                Ok(mut machine) => {
                    machine.limit_memory(self.memory);
                    return Ok(machine);
                }
                Err(e) if self.may_fall_back => {
                    self.surprise = Some(format!("cuda:{index} does not start: {e}"));
                }
                Err(error) => return Err(MachineError { machine: self.name(), error }),
            }
        }
        Machine::cpu(threads).map_err(|error| MachineError { machine: "CPU".to_owned(), error })
    }
}

/// Evaluates an expression with the back end of a machine.
macro_rules! on {
    ($machine:expr, $backend:ident => $body:expr) => {
        match $machine {
            $crate::Machine::Cpu($backend) => $body,
            $crate::Machine::Cuda(cuda) => {
                let $backend: &mut torrance_gpu::backend::cuda::Cuda = cuda;
                $body
            }
        }
    };
}

pub(crate) use on;

impl Machine {
    /// The CPU, with so many threads or one for every core.
    ///
    /// # Errors
    /// Threads do not start.
    pub fn cpu(threads: Option<usize>) -> Result<Self, Error> {
        Cpu::new(threads).map(Self::Cpu)
    }

    /// As [`Machine::cpu`], with at most an instruction set.
    ///
    /// # Errors
    /// Threads do not start.
    pub fn cpu_with(threads: Option<usize>, isa: InstructionSet) -> Result<Self, Error> {
        Cpu::with_instruction_set(threads, isa).map(Self::Cpu)
    }

    /// The GPU of an index.
    ///
    /// # Errors
    /// The machine does not start.
    pub fn cuda(index: u32) -> Result<Self, Error> {
        Cuda::new(index).map(|cuda| Self::Cuda(Box::new(cuda)))
    }

    /// From here on, renders take at most so many bytes of a GPU's memory, and put into the host's what does not fit.
    pub fn limit_memory(&mut self, bytes: Option<u64>) {
        if let Self::Cuda(cuda) = self {
            cuda.limit_memory(bytes.unwrap_or(u64::MAX));
        }
    }

    /// Its name, as a person would say it: `CPU, 16 threads, AVX2`.
    pub fn name(&self) -> String {
        match self {
            Self::Cpu(cpu) => cpu.name(),
            Self::Cuda(cuda) => cuda.name(),
        }
    }

    /// Whether it is a GPU.
    pub const fn is_gpu(&self) -> bool {
        matches!(self, Self::Cuda(_))
    }

    /// How long compiling kernels has taken so far.
    pub fn jit_time(&self) -> Duration {
        match self {
            Self::Cpu(_) => Duration::ZERO,
            Self::Cuda(cuda) => cuda.jit_time(),
        }
    }

    /// The failure of this machine.
    pub fn failed(&self, error: Error) -> MachineError {
        MachineError { machine: self.name(), error }
    }

    /// Compiles the kernels of [`Machine::render`] of at most `spp` samples per pixel, which would otherwise take its time then.
    ///
    /// # Errors
    /// They cannot be compiled, or there is not enough memory.
    pub fn prepare(&mut self, scene: &SceneData, options: Options<'_>, spp: u32) -> Result<(), Error> {
        on!(self, backend => render::prepare(backend, scene, options, spp))
    }

    /// Renders until the budget is spent or `observe`, called after every launch, says to stop.
    ///
    /// The work of a pass (some samples of every pixel) is cut into launches of a tenth or a fifth of a second, so that cancellation is
    /// prompt; where paths make walks, of which some take long, into those of about a second. Watchdogs of displays, which wait for two,
    /// see no long one. However the render ends, all that is kept is of the same samples.
    ///
    /// # Errors
    /// There is not enough memory, or the machine fails.
    pub fn render(
        &mut self,
        scene: &SceneData,
        budget: Budget,
        options: Options<'_>,
        observe: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Rendered, Error> {
        self.take(scene, Request::new(budget, options), observe)
    }

    /// As [`Machine::render`], of what a request says.
    ///
    /// # Errors
    /// There is not enough memory, or the machine fails.
    pub fn take(
        &mut self,
        scene: &SceneData,
        request: Request<'_>,
        observe: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Rendered, Error> {
        on!(self, backend => render::render_with(backend, Job { scene, request, observer: &mut { observe } }))
    }

    /// Blurs an image ([`defocus::defocus`]).
    ///
    /// # Errors
    /// The image is too large, or the machine fails.
    pub fn defocus(
        &mut self,
        image: &Image,
        blur: Blur<'_>,
        observe: &mut dyn FnMut(f64),
    ) -> Result<Defocused, Error> {
        on!(self, backend => defocus::defocus(backend, image, blur, observe))
    }

    /// Removes noise from an image ([`denoise::denoise`]).
    ///
    /// # Errors
    /// The image is too large, or the machine fails.
    pub fn denoise(
        &mut self,
        noisy: &Halves,
        observe: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Image>, Error> {
        on!(self, backend => denoise::denoise(backend, noisy, observe))
    }

    /// Makes and traces the rays of a scene, of so many camera rays a pixel. If the observer ends it early, the results are of
    /// the batches that were complete by then, and the second value is false.
    ///
    /// # Errors
    /// There are too many rays, they do not fit into memory, or the machine fails.
    pub fn trace(
        &mut self,
        scene: &SceneData,
        rays: u32,
        observer: &mut dyn Observer,
    ) -> Result<(Vec<RayTiming>, bool), MeasureError> {
        on!(self, backend => bench::trace(backend, scene, rays, observer))
    }

    /// Holds the results of primitives against a baseline's; `begin` is told the name of each before.
    ///
    /// # Errors
    /// They differ, or the machine fails.
    pub fn check_primitives(
        &mut self,
        names: &[&str],
        baseline: &Baseline,
        begin: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        on!(self, backend => bench::check_all(backend, names, baseline, begin))
    }

    /// Measures primitives on arrays of some lengths, beside a baseline if there is one.
    pub fn measure_primitives(
        &mut self,
        names: &[&str],
        lengths: &[u32],
        baseline: Option<&Baseline>,
        watch: &mut dyn Watch,
    ) -> Results {
        on!(self, backend => bench::measure_all(backend, &bench::named(names), lengths, baseline, watch))
    }
}

/// Starts the threads of work beside a machine: building hierarchies, compressing images. So many or one for each core, but
/// fewer where no more can be started. To be called before any of that, once.
pub fn limit_threads(threads: Option<usize>) {
    torrance_system::start_pool(threads);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_always_there() {
        let mut device = DeviceChoice::Cpu.find().unwrap();
        assert_eq!((device.name().as_str(), device.is_gpu(), device.surprise.clone()), ("CPU", false, None));
        let machine = device.start(Some(1)).unwrap();
        assert!(machine.name().starts_with("CPU, 1 thread") && !machine.is_gpu(), "{}", machine.name());
        assert_eq!(machine.jit_time(), Duration::ZERO);
    }

    #[test]
    fn failures_name_the_machine() {
        let error = Error { doing: "allocating 3 GiB for \"film\"".into(), reason: "out of memory".into() };
        let machine = Machine::cpu(Some(1)).unwrap();
        let message = machine.failed(error).to_string();
        assert_eq!(message, format!("{}: allocating 3 GiB for \"film\": out of memory", machine.name()));
        let there = vec!["cuda:0 (A)".to_owned(), "cuda:1 (B)".to_owned()];
        let error = DeviceError::NoSuchGpu { index: 7, there };
        assert_eq!(error.to_string(), "there is no cuda:7; there is cuda:0 (A), cuda:1 (B)");
    }
}
