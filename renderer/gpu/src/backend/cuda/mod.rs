//! Stages on an NVIDIA GPU, through the CUDA driver. All `unsafe` of the host side that is about GPUs is here.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use device::path::layout::{LAYOUT, ProbeArgs};
use device::path::stage::stages;
use primitives::{self, Ptr};

use super::{Backend, Buffer, Error, Place};

mod buffer;
mod cache;
mod code;
mod compile;
pub mod driver;
mod gpu;
mod info;
mod launch;
mod memory;
mod module;
mod occupancy;
mod prune;
mod ptx;
mod run;
mod source;
mod spills;

pub use buffer::CudaBuffer;
pub use cache::{CACHE_VARIABLE, SHIPPED, keep_kernels_in, kept_bytes, kernel_folder, ship};
pub use gpu::{DeviceInfo, devices};
pub use info::KernelInfo;
pub use launch::StageTime;
pub use occupancy::{Demand, Multiprocessor};
pub use ptx::{Entry, Ptx, PtxError, stamp};
pub use source::{kernel_text, primitive_names, primitives_ptx, ptx, unpacked};
pub use spills::Spills;

use code::Code;
use driver::call;
use gpu::GpuContext;
use launch::{Argument, Queue};
use memory::Staging;
use module::{Compile, Module, ModuleError};
use source::Source;

/// One GPU, with the kernels compiled for it. There may be several, of the same or of different GPUs.
#[derive(Debug)]
pub struct Cuda {
    queue: Queue,
    module: Module,
    /// The kernels of the primitives, once one of them has been wanted.
    primitives: Option<Module>,
    gpu: Arc<GpuContext>,
    parallelism: usize,
    /// Whether kernels are only compiled where they would be launched.
    is_compiling_only: bool,
    /// Whether kernels that are prepared are not waited for.
    is_ahead: bool,
    /// Whether the kernels are known to be this program's, or need not be.
    is_verified: bool,
    /// Where buffers are allocated.
    place: Place,
    /// What small downloads go through, once there has been one; `None` within if the system does not give it.
    staging: Option<Option<Staging>>,
    /// The error after which everything in the context fails.
    lost: Option<String>,
}

impl Cuda {
    /// Opens `cuda:index`, but loads no kernels, to see whether it can be used. Returns how many bytes of its memory are free.
    ///
    /// # Errors
    /// No driver, no such GPU, or one that is too old or in use.
    pub fn check(index: u32) -> Result<u64, Error> {
        let gpu = GpuContext::new(index)?;
        let source = Source::of_stages().map_err(ModuleError::from);
        let checked = source.and_then(|source| gpu.info.check(&source.ptx));
        checked.map_err(|e| Error { doing: compiling(index), reason: e.to_string() })?;
        gpu.free_memory()
    }

    /// Opens `cuda:index`. The program's kernels are compiled for it when they are first wanted; whether they are this program's, the
    /// first call that prepares or launches a stage tells.
    ///
    /// # Errors
    /// No driver, no such GPU, or one that is too old or in use.
    pub fn new(index: u32) -> Result<Self, Error> {
        let mut cuda = Self::open(index, Source::of_stages(), Compile::EachKernel)?;
        cuda.is_verified = false;
        Ok(cuda)
    }

    /// As [`Cuda::new`], with other kernels, which are all compiled at once.
    ///
    /// # Errors
    /// As [`Cuda::new`].
    pub fn with_ptx(index: u32, ptx: &str) -> Result<Self, Error> {
        Self::open(index, Source::new(ptx.to_owned().into()).map(Arc::new), Compile::Whole)
    }

    /// As [`Cuda::with_ptx`], but each kernel is compiled when it is first wanted.
    ///
    /// # Errors
    /// As [`Cuda::new`].
    pub fn with_ptx_on_demand(index: u32, ptx: &str) -> Result<Self, Error> {
        Self::open(index, Source::new(ptx.to_owned().into()).map(Arc::new), Compile::EachKernel)
    }

    fn open(index: u32, source: Result<Arc<Source>, PtxError>, compile: Compile) -> Result<Self, Error> {
        let gpu = Arc::new(GpuContext::new(index)?);
        let opening = |code| Error { doing: format!("opening cuda:{index}"), reason: code::describe(code) };
        let module = source
            .map_err(ModuleError::from)
            .and_then(|source| Module::load(source, &gpu.info, gpu.handle(), compile))
            .map_err(|e| Error { doing: compiling(index), reason: e.to_string() })?;
        let queue = Queue::new().map_err(opening)?;
        let parallelism = (gpu.info.multiprocessors * gpu.info.multiprocessor.threads) as usize;
        Ok(Self {
            queue,
            module,
            primitives: None,
            gpu,
            parallelism,
            is_compiling_only: false,
            is_ahead: false,
            is_verified: true,
            place: Place::Machine,
            staging: None,
            lost: None,
        })
    }

    /// Asks the kernels for the layout of their structures, which must be the program's.
    fn verify_layout(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.is_verified, true) {
            return Ok(());
        }
        let verified = self.compare_layout();
        self.is_verified = verified.is_ok();
        verified
    }

    fn compare_layout(&mut self) -> Result<(), Error> {
        let out = self.zeroed::<u32>("layout", LAYOUT.len())?;
        // SAFETY: the buffer has the room that the stage writes to, and lives until after the download.
        unsafe { self.launch::<stages::probe>(ProbeArgs { out: out.ptr() }) }?;
        let found = self.download(&out)?;
        if found == LAYOUT {
            return Ok(());
        }
        let doing = "comparing the kernels with the program".to_owned();
        let reason = format!(
            "their structures differ ({found:?} and {LAYOUT:?}): `cargo ptx` builds the kernels anew"
        );
        Err(Error { doing, reason })
    }

    /// The driver's description of the GPU.
    pub fn info(&self) -> &DeviceInfo {
        &self.gpu.info
    }

    /// How long the driver took to compile the kernels. It caches what it compiled, so the first time on a
    /// machine takes longer than the next.
    pub fn jit_time(&self) -> Duration {
        self.module.jit_time + self.primitives.as_ref().map_or(Duration::ZERO, |module| module.jit_time)
    }

    /// Runs `work`, of which kernels are compiled, but neither launched nor memory cleared for them.
    pub(crate) fn compiling_only<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.is_compiling_only, true);
        let result = work(self);
        self.is_compiling_only = before;
        result
    }

    /// Bytes of the GPU's memory that are free now, whoever uses the rest.
    ///
    /// # Errors
    /// The driver reports one.
    pub fn free_memory(&self) -> Result<u64, Error> {
        self.gpu.free_memory()
    }

    /// From here on, buffers take at most so many bytes of the GPU's memory. What other back ends of this process have
    /// allocated there counts, too; what the driver takes for itself, some hundred MiB, does not.
    pub fn limit_memory(&mut self, bytes: u64) {
        self.gpu.set_limit(bytes);
    }

    /// Whether launches are timed on the GPU: two events each, a few microseconds.
    pub fn set_profiling(&mut self, on: bool) {
        self.queue.profiling = on;
    }

    /// Times of the stages that were launched while profiling was on and have been waited for.
    pub fn profile(&self) -> &BTreeMap<&'static str, StageTime> {
        &self.queue.times
    }

    /// Queues `count` threads of a kernel, which must take one argument of the size of `A`. This is
    /// [`Backend::launch`] below its types.
    ///
    /// # Errors
    /// There is no such kernel, its argument is not of that size, or the driver reports an error.
    ///
    /// # Safety
    /// As [`Backend::launch`]; and `A` is what the kernel takes.
    pub unsafe fn launch_kernel<A: Copy + Send + Sync + 'static>(
        &mut self,
        name: &'static str,
        block: u32,
        count: u32,
        args: A,
    ) -> Result<(), Error> {
        // SAFETY: as the caller promised.
        unsafe { self.launch_blocks(name, (count.div_ceil(block), block, 0), args) }
    }

    /// Queues blocks of a kernel: how many, of how many threads, with how many bytes of shared memory beside the kernel's
    /// own.
    ///
    /// # Errors
    /// As [`Cuda::launch_kernel`].
    ///
    /// # Safety
    /// As [`Cuda::launch_kernel`]; and the kernel is for such a grid.
    pub unsafe fn launch_blocks<A: Copy + Send + Sync + 'static>(
        &mut self,
        name: &'static str,
        grid: (u32, u32, u32),
        args: A,
    ) -> Result<(), Error> {
        // SAFETY: as the caller promised.
        unsafe { self.enqueue(|cuda| Ok(&mut cuda.module), name, grid, Argument::new(&args)) }
    }

    /// Queues blocks of a primitive's kernel.
    ///
    /// # Errors
    /// The driver reports one.
    ///
    /// # Safety
    /// The pointers in `args` are as the kernel documents, and so is the number of blocks.
    pub unsafe fn launch_primitive<K: primitives::Kernel + primitives::Entry>(
        &mut self,
        blocks: u32,
        args: K::Args,
    ) -> Result<(), Error> {
        // SAFETY: as the caller promised; a kernel in the list takes its `Args`.
        unsafe {
            let grid = (blocks, K::BLOCK, K::SHARED);
            self.enqueue(Self::primitives, K::NAME, grid, Argument::new(&args))
        }
    }

    fn primitives(&mut self) -> Result<&mut Module, ModuleError> {
        let module = match self.primitives.take() {
            Some(module) => module,
            None => {
                let (info, context) = (&self.gpu.info, self.gpu.handle());
                Module::load(Source::of_primitives()?, info, context, Compile::EachKernel)?
            }
        };
        Ok(self.primitives.insert(module))
    }

    /// Queues blocks of a kernel of the module.
    ///
    /// # Safety
    /// The kernel takes one argument of this type, which is as it documents, and is for such a grid.
    unsafe fn enqueue(
        &mut self,
        module: fn(&mut Self) -> Result<&mut Module, ModuleError>,
        name: &'static str,
        grid: (u32, u32, u32),
        args: Argument<'_>,
    ) -> Result<(), Error> {
        let doing = || format!("launching {name}");
        self.enter_then(&doing)?;
        if self.is_ahead {
            let begun = module(self).map(|module| module.begin(name));
            return begun.map_err(|e| Error { doing: doing(), reason: e.to_string() });
        }
        let kernel = module(self).and_then(|module| module.kernel(name));
        let kernel = kernel.map_err(|e| Error { doing: doing(), reason: e.to_string() })?;
        if kernel.arg_bytes != args.bytes {
            let reason = format!(
                "the kernel takes {} bytes of arguments and the program has {}: `cargo ptx` builds the kernels anew",
                kernel.arg_bytes, args.bytes
            );
            return Err(Error { doing: doing(), reason });
        }
        if grid.0 == 0 || self.is_compiling_only {
            return Ok(());
        }
        // SAFETY: by this function's contract; the context was made current above.
        let result = unsafe { self.queue.launch(name, kernel, grid, args) };
        result.map_err(|code| self.failed(doing(), code))
    }

    /// Queues that `bytes` bytes from `at` on become zero.
    ///
    /// # Errors
    /// The driver reports one.
    ///
    /// # Safety
    /// They are memory of this back end that nothing else uses meanwhile.
    pub unsafe fn clear<T>(&mut self, at: Ptr<T>, bytes: usize) -> Result<(), Error> {
        self.enter("clearing memory")?;
        if bytes == 0 || self.is_compiling_only {
            return Ok(());
        }
        let address = at.at(0).addr() as u64;
        // SAFETY: as the caller promised; the context is current.
        code::check(unsafe { call::cuMemsetD8Async(address, 0, bytes, self.queue.raw()) })
            .map_err(|code| self.failed(format!("clearing {}", code::size(bytes as u64)), code))
    }

    /// Runs `work`, and tells how long the GPU took for what it queued, to half a microsecond.
    ///
    /// # Errors
    /// Those of `work`, or the driver's.
    pub fn time(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<Duration, Error> {
        let start = self.moment()?;
        work(self)?;
        let end = self.moment()?;
        self.finish()?;
        self.between(&start, &end)
    }

    /// The address of the stream, for libraries that queue work of their own.
    pub fn stream(&self) -> *mut c_void {
        self.queue.raw().cast()
    }

    /// Makes the context current, unless it is lost.
    fn enter(&mut self, doing: &str) -> Result<(), Error> {
        self.enter_then(&|| doing.to_owned())
    }

    fn enter_then(&mut self, doing: &dyn Fn() -> String) -> Result<(), Error> {
        if let Some(earlier) = &self.lost {
            let reason = format!("the GPU was lost to an earlier error: {earlier}");
            return Err(Error { doing: doing(), reason });
        }
        self.gpu.make_current().map_err(|code| self.failed(doing(), code))
    }

    /// Waits for everything in the primary context of the GPU, also for what other libraries have launched there.
    ///
    /// # Errors
    /// What went wrong in it.
    pub fn synchronize_context(&mut self) -> Result<(), Error> {
        const DOING: &str = "waiting for all work on the GPU";
        self.enter(DOING)?;
        // SAFETY: the GPU's context is current.
        code::check(unsafe { call::cuCtxSynchronize() }).map_err(|code| self.failed(DOING.to_owned(), code))
    }

    /// An error from a code; remembers it if nothing can work after it.
    fn failed(&mut self, doing: String, code: Code) -> Error {
        let error = Error { doing, reason: code::describe(code) };
        if code::is_fatal(code) && self.lost.is_none() {
            self.lost = Some(error.to_string());
        }
        error
    }

    /// Waits for the stream.
    fn finish(&mut self) -> Result<(), Error> {
        self.queue.finish().map_err(|(code, stages)| {
            let doing = if stages.is_empty() {
                "waiting for the GPU".to_owned()
            } else {
                format!("running {stages}")
            };
            self.failed(doing, code)
        })
    }
}

fn compiling(index: u32) -> String {
    format!("compiling the kernels for cuda:{index}")
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // The stream and the module are about to be destroyed, which they must be in their context, when
        // nothing runs any more. Errors have been reported before, or are of no interest now.
        if self.gpu.make_current().is_ok() {
            let _ = self.queue.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn may_move_between_threads() {
        fn is_send<T: Send>() {}
        is_send::<Cuda>();
        is_send::<CudaBuffer<f32>>();
    }
}
