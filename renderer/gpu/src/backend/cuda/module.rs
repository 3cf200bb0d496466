//! PTX modules, and the kernels that the driver has compiled of them.

use std::ffi::CString;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cust::sys::{CUfunction, CUmodule};
use device::features::Features;

use super::cache::{self, Cache, Key};
use super::code;
use super::compile::{self, Handle, Manner, Piece};
use super::driver::{self, Version, call};
use super::gpu::DeviceInfo;
use super::ptx::{Ptx, PtxError};
use super::source::Source;
use super::spills::Spills;

/// Kernels that are kept for sets of features: for all families of materials that a scene may have, 256, and for its other
/// stages. Those of a scene are launched in turns, so that fewer would be compiled again and again.
const MOST_SPECIALIZED: usize = 320;

/// Reason why kernels cannot be loaded, or one of them cannot be launched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ModuleError {
    #[error(transparent)]
    Ptx(#[from] PtxError),
    #[error(
        "{name} has compute capability {}.{}, the kernels need {}.{} or newer",
        .capability.0, .capability.1, .target / 10, .target % 10
    )]
    OldGpu { name: String, capability: (u32, u32), target: u32 },
    #[error("the kernels contain a zero byte")]
    ZeroByte,
    #[error("its name contains a zero byte")]
    ZeroByteInName,
    #[error("it is not among the kernels: `cargo ptx` builds them anew")]
    NoSuchKernel,
    #[error("it takes {0} arguments instead of one struct")]
    ArgumentCount(usize),
    /// The driver's reason.
    #[error("{0}")]
    Driver(String),
}

impl ModuleError {
    pub(super) fn driver(code: code::Code) -> Self {
        Self::Driver(code::describe(code))
    }
}

/// How much of a PTX module the driver compiles at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compile {
    /// The whole module when it is loaded.
    Whole,
    /// Each kernel when it is wanted. They share no memory then.
    EachKernel,
}

/// What kernels are compiled for.
#[derive(Debug, Clone)]
struct Target {
    context: Handle,
    /// The CUDA of the driver.
    cuda: Version,
    /// What machine code depends on beside the text.
    compiler: String,
    cache: Option<Cache>,
    capability: (u32, u32),
    shipped: Option<Cache>,
}

/// A PTX module for one GPU, and the kernels that the driver has compiled of it.
#[derive(Debug)]
pub(super) struct Module {
    source: Arc<Source>,
    target: Target,
    /// How long was waited for the driver's compiler so far, caches of earlier results included.
    pub(super) jit_time: Duration,
    /// All kernels in one, with [`Compile::Whole`].
    whole: Option<Piece>,
    /// All features that scenes ask for.
    pub(super) features: Features,
    kernels: Vec<CompiledKernel>,
    /// Kernels that are being compiled.
    jobs: Vec<Job>,
    /// Counts uses of kernels.
    uses: u64,
}

/// A kernel that has been compiled.
#[derive(Debug)]
struct CompiledKernel {
    name: String,
    /// Features that it depends on.
    depends_on: Features,
    /// For which of those.
    features: Features,
    kernel: Kernel,
    /// Registers that the compiler reported as spilled.
    spills: Option<Spills>,
    /// When it was last wanted, by [`Module::uses`].
    last_use: u64,
    /// The module of the driver that it is in; `None` if that is [`Module::whole`].
    _piece: Option<Piece>,
}

/// A kernel that can be launched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel {
    pub(super) function: CUfunction,
    /// Bytes of its one argument.
    pub(super) arg_bytes: usize,
}

/// A kernel that is to be compiled.
#[derive(Debug, Clone)]
struct Order {
    source: Arc<Source>,
    target: Target,
    name: String,
    features: Features,
    manner: Manner,
}

/// A kernel that is being compiled on a thread of its own.
#[derive(Debug)]
struct Job {
    order: Order,
    thread: JoinHandle<Result<Code, ModuleError>>,
}

/// The machine code of a kernel.
#[derive(Debug)]
struct Code {
    cubin: Vec<u8>,
    log: String,
    /// Features that it depends on.
    depends_on: Features,
    is_cached: bool,
}

impl Order {
    fn run(&self) -> Result<Code, ModuleError> {
        let Self { source, target, name, features, manner } = self;
        let (depends_on, text) = (source.depends_on(name), source.special(name, *features));
        let key = Key::of([&target.compiler, &text]);
        let shipped = || target.shipped.as_ref()?.get_for(target.capability, &text);
        let kept = || target.cache.as_ref()?.get(&key);
        if !manner.anew
            && let Some(cubin) = shipped().or_else(kept)
        {
            return Ok(Code { cubin, log: String::new(), depends_on, is_cached: true });
        }
        let (cubin, log) = target.compile(&text, &source.ptx, *manner)?;
        if let Some(cache) = &target.cache {
            cache.put(&key, &cubin);
        }
        Ok(Code { cubin, log, depends_on, is_cached: false })
    }

    fn is_of(&self, name: &str, features: Features) -> bool {
        self.name == name && self.features == features
    }
}

impl Target {
    /// Has the driver compile `text`, which is of a module that `ptx` tells of.
    fn compile(&self, text: &str, ptx: &Ptx, manner: Manner) -> Result<(Vec<u8>, String), ModuleError> {
        if text.contains('\0') {
            return Err(ModuleError::ZeroByte);
        }
        self.context.make_current().map_err(ModuleError::driver)?;
        let rejected =
            |(code, log): (code::Code, String)| ModuleError::Driver(rejection(code, ptx, self.cuda, &log));
        compile::compile(text, manner).map_err(rejected)
    }
}

impl Module {
    /// Loads kernels for the GPU that `gpu` describes, into a context of it, which must live as long as the module.
    pub(super) fn load(
        source: Arc<Source>,
        gpu: &DeviceInfo,
        context: Handle,
        compile: Compile,
    ) -> Result<Self, ModuleError> {
        gpu.check(&source.ptx)?;
        let (major, minor) = gpu.capability;
        let release = driver::release().unwrap_or_default();
        let compiler = format!("{major}.{minor}, CUDA {}, driver {release}", gpu.driver);
        let cache = cache::kernel_folder().map(Cache::new);
        let mut module = Self {
            source,
            target: Target {
                context,
                cuda: gpu.driver,
                compiler,
                cache,
                capability: gpu.capability,
                shipped: Cache::shipped(),
            },
            jit_time: Duration::ZERO,
            whole: None,
            features: Features::ALL,
            kernels: Vec::new(),
            jobs: Vec::new(),
            uses: 0,
        };
        if compile == Compile::Whole {
            let start = Instant::now();
            let (cubin, _) =
                module.target.compile(&module.source.text, &module.source.ptx, Manner::default())?;
            module.whole = Some(Piece::load(&cubin)?);
            module.jit_time += start.elapsed();
        }
        Ok(module)
    }

    /// The kernel called `name`, and its spills if the compiler reports them. It reports nothing of kernels that are in a
    /// cache; with `anew`, the kernel is compiled though it is there.
    pub(super) fn described(
        &mut self,
        name: &str,
        anew: bool,
    ) -> Result<(Kernel, Option<Spills>), ModuleError> {
        self.unload(|l| l.name == name);
        let kernel = self.kernel_in(name, Manner { verbose: true, anew })?;
        Ok((kernel, self.kernels.last().and_then(|l| l.spills)))
    }

    /// The kernel called `name`.
    pub(super) fn kernel(&mut self, name: &str) -> Result<Kernel, ModuleError> {
        self.kernel_in(name, Manner::default())
    }

    /// Has the kernel called `name` compiled on another thread, if it is not yet there.
    pub(super) fn begin(&mut self, name: &str) {
        let features = self.features;
        let is_under_way = self.jobs.iter().any(|job| job.order.is_of(name, features));
        if self.whole.is_some() || is_under_way || self.loaded(name).is_some() {
            return;
        }
        let order = self.order(name, Manner::default());
        let own = order.clone();
        // Where no thread can be had, the kernel is compiled when it is wanted.
        if let Ok(thread) = thread::Builder::new().name(name.to_owned()).spawn(move || own.run()) {
            self.jobs.push(Job { order, thread });
        }
    }

    /// Whether the kernel called `name` is there, or as good as there.
    pub(super) fn is_ready(&mut self, name: &str) -> bool {
        let features = self.features;
        let is_compiled = |job: &Job| job.order.is_of(name, features) && job.thread.is_finished();
        self.whole.is_some() || self.jobs.iter().any(is_compiled) || self.loaded(name).is_some()
    }

    fn order(&self, name: &str, manner: Manner) -> Order {
        let (source, target) = (Arc::clone(&self.source), self.target.clone());
        Order { source, target, name: name.to_owned(), features: self.features, manner }
    }

    fn loaded(&mut self, name: &str) -> Option<&mut CompiledKernel> {
        let features = self.features;
        self.kernels.iter_mut().find(|l| l.name == name && l.features == features.common(l.depends_on))
    }

    fn kernel_in(&mut self, name: &str, manner: Manner) -> Result<Kernel, ModuleError> {
        self.uses += 1;
        let uses = self.uses;
        if let Some(loaded) = self.loaded(name) {
            loaded.last_use = uses;
            return Ok(loaded.kernel);
        }
        let Some(entry) = self.source.ptx.entries.iter().find(|e| e.name == name) else {
            return Err(ModuleError::NoSuchKernel);
        };
        let [arg_bytes] = entry.params[..] else {
            return Err(ModuleError::ArgumentCount(entry.params.len()));
        };
        let start = Instant::now();
        let (module, piece, log, depends_on) = match &self.whole {
            Some(Piece(whole)) => (*whole, None, String::new(), Features::NONE),
            None => {
                let (piece, log, depends_on) = self.compiled(name, manner)?;
                (piece.0, Some(piece), log, depends_on)
            }
        };
        self.jit_time += start.elapsed();
        let kernel = Kernel { function: function(module, name)?, arg_bytes };
        if depends_on != Features::NONE {
            self.make_room();
        }
        self.kernels.push(CompiledKernel {
            name: name.to_owned(),
            depends_on,
            features: self.features.common(depends_on),
            kernel,
            spills: Spills::read(&log, name),
            last_use: uses,
            _piece: piece,
        });
        Ok(kernel)
    }

    /// Waits for the kernel called `name`, or compiles it, and loads it.
    fn compiled(&mut self, name: &str, manner: Manner) -> Result<(Piece, String, Features), ModuleError> {
        let order = self.order(name, manner);
        let job = self.jobs.iter().position(|job| job.order.is_of(name, order.features));
        let code = match job.map(|at| self.jobs.swap_remove(at)) {
            Some(job) => job.thread.join().map_err(|_| ModuleError::Driver("a thread stopped".to_owned()))?,
            None => order.run(),
        };
        let code = code?;
        match Piece::load(&code.cubin) {
            Ok(piece) => Ok((piece, code.log, code.depends_on)),
            // The driver knows better what it can run than the name of a file.
            Err(_) if code.is_cached => {
                let code = Order { manner: Manner { anew: true, ..manner }, ..order }.run()?;
                Ok((Piece::load(&code.cubin)?, code.log, code.depends_on))
            }
            Err(error) => Err(error),
        }
    }

    /// Unloads the kernel for a set of features that has not been wanted for the longest time, if there are many.
    fn make_room(&mut self) {
        let special = || self.kernels.iter().filter(|l| l.depends_on != Features::NONE);
        if special().count() >= MOST_SPECIALIZED
            && let Some(oldest) = special().map(|l| l.last_use).min()
        {
            self.unload(|l| l.last_use == oldest);
        }
    }

    /// Unloads kernels, once none of them runs any more.
    fn unload(&mut self, which: impl Fn(&CompiledKernel) -> bool) {
        if !self.kernels.iter().any(&which) {
            return;
        }
        // SAFETY: the function takes nothing. An error of a kernel is reported by whoever waits for that kernel.
        unsafe { call::cuCtxSynchronize() };
        self.kernels.retain(|l| !which(l));
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // The context is there for as long as the module.
        for job in self.jobs.drain(..) {
            let _ = job.thread.join();
        }
    }
}

/// The function called `name` of a module that is loaded in the current context.
fn function(module: CUmodule, name: &str) -> Result<CUfunction, ModuleError> {
    let name = CString::new(name).map_err(|_| ModuleError::ZeroByteInName)?;
    let mut function = std::ptr::null_mut();
    // SAFETY: the module is loaded, the name ends in a zero byte, and both pointers outlive the call.
    code::check(unsafe { call::cuModuleGetFunction(&raw mut function, module, name.as_ptr()) })
        .map_err(ModuleError::driver)?;
    Ok(function)
}

// SAFETY: the driver's handles may be used from every thread whose current context is theirs, and the fields
// are reached through `&mut` alone.
unsafe impl Send for Module {}

/// Says why the driver rejected the kernels.
fn rejection(code: code::Code, ptx: &Ptx, driver: Version, log: &str) -> String {
    let mut reason = code::describe(code);
    if let Some(needed) = ptx.needs_cuda().filter(|needed| *needed > driver) {
        let (major, minor) = ptx.version;
        reason = format!(
            "the NVIDIA driver is too old for the kernels: they are written in PTX {major}.{minor}, which \
             needs CUDA {needed}, and it supports CUDA {driver}"
        );
    }
    if !log.is_empty() {
        reason = format!("{reason}\n{log}");
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_that_is_too_old_is_named() {
        let ptx = Ptx { version: (8, 7), target: 75, entries: Vec::new() };
        let old = rejection(222, &ptx, Version { major: 12, minor: 2 }, "");
        assert!(old.contains("PTX 8.7") && old.contains("CUDA 12.8") && old.contains("CUDA 12.2"), "{old}");
        let new = rejection(218, &ptx, Version { major: 13, minor: 0 }, "ptxas: line 3: oops");
        assert!(!new.contains("too old") && new.contains("rejected") && new.ends_with("oops"), "{new}");
    }
}
