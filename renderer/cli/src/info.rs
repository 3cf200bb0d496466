//! `torrance info`: the machines that there are to render with.

use crate::ExitCode;
use std::fmt;
use std::path::PathBuf;
use std::thread::available_parallelism;

use serde::Serialize;
use torrance_gpu::backend::cpu::{InstructionSet, name_of};
use torrance_gpu::backend::cuda::{
    Cuda, DeviceInfo, Ptx, devices, driver, kept_bytes, kernel_folder, ptx, stamp,
};
use torrance_text::human_bytes;

use super::{Failure, count, print_either};

mod kernels;

/// Show the version, the CPU, the NVIDIA driver, its devices, and with --kernels what the kernels use of them
#[derive(Debug, clap::Args)]
#[command(after_help = super::EXIT_CODES)]
pub(super) struct Args {
    /// Show of every kernel its registers, shared memory and spills, how far it fills the GPU, and what keeps it from
    /// filling more. The driver compiles them for that, which the first time takes half a minute; with a generation, as in
    /// --kernels=sm_86, shows what is on record for it, which needs no GPU
    #[arg(long, value_name = "GENERATION", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    kernels: Option<String>,

    /// Show no progress
    #[arg(short, long)]
    quiet: bool,

    /// Print it for programs, as one JSON object
    #[arg(long)]
    json: bool,
}

/// The output with `--json`. Fields are added, never renamed.
#[derive(Debug, Serialize)]
struct Info {
    version: &'static str,
    kernels: Kernels,
    cpu: CpuInfo,
    cuda: CudaInfo,
}

/// The kernels in the program, as far as they can be read.
#[derive(Debug, Serialize)]
struct Kernels {
    /// Version of the PTX language.
    ptx: Option<String>,
    /// The oldest compute capability that they run on.
    compute_capability: Option<String>,
    /// Hash of their sources.
    sources: Option<String>,
    /// Toolchain that compiled them.
    toolchain: Option<String>,
    /// Folder of those that drivers have compiled, if any are kept.
    cache: Option<PathBuf>,
    /// Bytes of these.
    cache_bytes: u64,
}

#[derive(Debug, Serialize)]
struct CpuInfo {
    model: String,
    threads: usize,
    architecture: &'static str,
    /// CPU features that matter here and that it has.
    features: Vec<&'static str>,
    /// The instruction set that stages are compiled for and run with.
    code: &'static str,
}

#[derive(Debug, Serialize)]
struct CudaInfo {
    available: bool,
    /// Reason why it is not available.
    reason: Option<String>,
    /// The newest CUDA that the driver supports.
    version: Option<String>,
    /// The driver's release.
    driver: Option<String>,
    devices: Vec<Gpu>,
}

#[derive(Debug, Serialize)]
struct Gpu {
    index: u32,
    name: String,
    compute_capability: String,
    memory_bytes: u64,
    free_bytes: Option<u64>,
    multiprocessors: u32,
    threads_per_multiprocessor: u32,
    l2_bytes: u64,
    clock_mhz: u32,
    pci: String,
    /// Whether the driver stops kernels that run for seconds.
    watchdog: bool,
    /// Reason why it cannot be used.
    error: Option<String>,
}

/// Prints it.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(generation) = &args.kernels {
        return kernels::run(generation, args.quiet, args.json);
    }
    let info = Info {
        version: env!("CARGO_PKG_VERSION"),
        kernels: Kernels::embedded(),
        cpu: CpuInfo::of_this_machine(),
        cuda: CudaInfo::of_this_machine(),
    };
    print_either(args.json, &info).map(|()| ExitCode::SUCCESS)
}

impl Kernels {
    fn embedded() -> Self {
        let header = Ptx::parse(ptx()).ok();
        let stamp = |key| stamp(ptx(), key).map(str::to_owned);
        Self {
            ptx: header.as_ref().map(|h| format!("{}.{}", h.version.0, h.version.1)),
            compute_capability: header.map(|h| format!("{}.{}", h.target / 10, h.target % 10)),
            sources: stamp("sources"),
            toolchain: stamp("toolchain"),
            cache: kernel_folder(),
            cache_bytes: kept_bytes(),
        }
    }
}

impl CpuInfo {
    fn of_this_machine() -> Self {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':'));
        Self {
            model: model.map_or("unknown model", |(_, name)| name.trim()).to_owned(),
            threads: available_parallelism().map_or(1, Into::into),
            architecture: std::env::consts::ARCH,
            features: features(),
            code: name_of(InstructionSet::detect()),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn features() -> Vec<&'static str> {
    macro_rules! detected {
        ($($name:tt)*) => { [$(($name, is_x86_feature_detected!($name))),*] };
    }
    let all = detected!["sse4.2" "popcnt" "avx" "avx2" "fma" "bmi1" "bmi2" "lzcnt" "f16c" "avx512f"];
    all.into_iter().filter_map(|(name, has)| has.then_some(name)).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn features() -> Vec<&'static str> {
    Vec::new()
}

impl CudaInfo {
    fn of_this_machine() -> Self {
        let devices = devices();
        Self {
            available: devices.is_ok(),
            reason: devices.as_ref().err().map(ToString::to_string),
            version: driver::version().ok().map(|v| v.to_string()),
            driver: driver::release(),
            devices: Gpu::all(devices.unwrap_or_default()),
        }
    }
}

impl Gpu {
    /// Opening a GPU takes the driver a moment, so all are opened at once.
    fn all(devices: Vec<DeviceInfo>) -> Vec<Self> {
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                devices.into_iter().map(|info| scope.spawn(move || Self::new(info))).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        })
    }

    fn new(info: DeviceInfo) -> Self {
        let free = Cuda::check(info.index);
        Self {
            index: info.index,
            name: info.name,
            compute_capability: format!("{}.{}", info.capability.0, info.capability.1),
            memory_bytes: info.memory,
            free_bytes: free.as_ref().ok().copied(),
            multiprocessors: info.multiprocessors,
            threads_per_multiprocessor: info.multiprocessor.threads,
            l2_bytes: info.l2_cache,
            clock_mhz: info.clock_mhz,
            pci: info.pci,
            watchdog: info.watchdog,
            error: free.err().map(|e| e.to_string()),
        }
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Kernels { ptx, compute_capability, sources, toolchain, cache, cache_bytes } = &self.kernels;
        let [ptx, capability, toolchain] = [ptx, compute_capability, toolchain].map(or_unknown);
        let sources: String = or_unknown(sources).chars().take(12).collect();
        writeln!(f, "torrance {}", self.version)?;
        write!(f, "kernels  PTX {ptx} for compute capability {capability} and newer; ")?;
        writeln!(f, "sources {sources}; built by {toolchain}")?;
        match cache {
            Some(folder) => {
                let (folder, kept) = (folder.display(), human_bytes((*cache_bytes).into()));
                writeln!(f, "         those compiled for GPUs of this machine are kept in {folder}: {kept}")?;
            }
            None => writeln!(f, "         those compiled for GPUs are not kept")?,
        }
        let CpuInfo { model, threads, architecture, features, code } = &self.cpu;
        writeln!(f, "CPU      {model}, {}, {architecture}", count(*threads as u64, "thread"))?;
        writeln!(f, "         {} code runs; the CPU has {}", code, or_nothing(&features.join(" ")))?;
        match &self.cuda.reason {
            Some(reason) => writeln!(f, "CUDA     none: {reason}; torrance renders on the CPU"),
            None => self.cuda.fmt(f),
        }
    }
}

fn or_unknown(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or("unknown")
}

fn or_nothing(list: &str) -> &str {
    if list.is_empty() { "nothing that matters here" } else { list }
}

impl fmt::Display for CudaInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [version, driver] = [&self.version, &self.driver].map(or_unknown);
        let devices = count(self.devices.len() as u64, "device");
        writeln!(f, "CUDA     {version}, driver {driver}, {devices}")?;
        self.devices.iter().try_for_each(|gpu| gpu.fmt(f))
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, name, compute_capability, multiprocessors, clock_mhz, pci, .. } = self;
        writeln!(f, "cuda:{index:<3} {name}, compute capability {compute_capability}, PCI {pci}")?;
        let threads = self.threads_per_multiprocessor;
        let l2 = human_bytes(self.l2_bytes.into());
        writeln!(
            f,
            "         {multiprocessors} multiprocessors of {threads} threads, {clock_mhz} MHz, {l2} L2 cache"
        )?;
        let free = match self.free_bytes {
            Some(free) => format!(", {} of it free", human_bytes(free.into())),
            None => String::new(),
        };
        let watchdog =
            if self.watchdog { "; a display hangs on it, and a watchdog limits kernels" } else { "" };
        writeln!(f, "         {} of memory{free}{watchdog}", human_bytes(self.memory_bytes.into()))?;
        if let Some(error) = &self.error {
            writeln!(f, "         cannot be used: {error}")?;
        }
        Ok(())
    }
}
