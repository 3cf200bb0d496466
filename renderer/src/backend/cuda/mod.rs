//! Stages on an NVIDIA GPU, through the CUDA driver. All `unsafe` of the host side that is about GPUs is here.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use bytemuck::Pod;
use cust::event::Event;
use device::bsdf::Features;
use device::path::stage::{LAYOUT, Launch, ProbeArgs, Stage, stages};
use device::primitives::{self, Ptr};

use super::{Backend, Buffer, Error};

mod buffer;
pub mod driver;
mod gpu;
mod info;
mod launch;
mod module;
mod occupancy;
mod spills;
mod words;

pub use buffer::CudaBuffer;
pub use gpu::{DeviceInfo, devices};
pub use info::KernelInfo;
pub use launch::StageTime;
pub use module::{Entry, Ptx, primitives_ptx, ptx, unpacked};
pub use occupancy::{Demand, Limit, Multiprocessor};
pub use spills::Spills;

use driver::{Code, call};
use gpu::Held;
use launch::Queue;
use module::{Compile, Kernel, Module};

/// Threads of a block where neither the caller nor the kernel says.
const DEFAULT_BLOCK: u32 = 128;

/// What is being done while times are taken.
const TIMING: &str = "timing the GPU";

/// Bytes that the parameters of a kernel may have on every GPU and driver.
const MOST_ARG_BYTES: usize = 4096;

/// One GPU, with the kernels compiled for it. There may be several, of the same or of different GPUs.
#[derive(Debug)]
pub struct Cuda {
    queue: Queue,
    module: Module,
    /// The kernels of the primitives, once one of them has been wanted.
    primitives: Option<Module>,
    gpu: Arc<Held>,
    parallelism: usize,
    /// Whether kernels are only compiled where they would be launched.
    is_compiling_only: bool,
    /// The error after which everything in the context fails.
    lost: Option<String>,
}

impl Cuda {
    /// The GPUs of this machine.
    ///
    /// # Errors
    /// Why there is none, in words for the user.
    pub fn devices() -> Result<Vec<DeviceInfo>, String> {
        devices()
    }

    /// Opens `cuda:index`. The program's kernels are compiled for it when they are first wanted.
    ///
    /// # Errors
    /// No driver, no such GPU, one that is too old or in use, or kernels that the driver does not take or that
    /// are not this program's.
    pub fn new(index: u32) -> Result<Self, Error> {
        let mut cuda = Self::compiling(index, ptx(), Compile::EachKernel)?;
        cuda.verify_layout()?;
        Ok(cuda)
    }

    /// As [`Cuda::new`], with other kernels, which are all compiled at once.
    ///
    /// # Errors
    /// As [`Cuda::new`].
    pub fn with_ptx(index: u32, ptx: &str) -> Result<Self, Error> {
        Self::compiling(index, ptx, Compile::Whole)
    }

    /// As [`Cuda::with_ptx`], but each kernel is compiled when it is first wanted.
    ///
    /// # Errors
    /// As [`Cuda::new`].
    pub fn with_ptx_on_demand(index: u32, ptx: &str) -> Result<Self, Error> {
        Self::compiling(index, ptx, Compile::EachKernel)
    }

    fn compiling(index: u32, ptx: &str, compile: Compile) -> Result<Self, Error> {
        let gpu = Arc::new(Held::new(index)?);
        let opening = |code| Error { doing: format!("opening cuda:{index}"), reason: words::of(code) };
        let module = Module::load(ptx, &gpu.info, compile)
            .map_err(|reason| Error { doing: format!("compiling the kernels for cuda:{index}"), reason })?;
        let queue = Queue::new().map_err(opening)?;
        let parallelism = (gpu.info.multiprocessors * gpu.info.multiprocessor.threads) as usize;
        Ok(Self { queue, module, primitives: None, gpu, parallelism, is_compiling_only: false, lost: None })
    }

    /// Asks the kernels for the layout of their structures, which must be the program's.
    fn verify_layout(&mut self) -> Result<(), Error> {
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

    /// What the driver tells of the GPU.
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
    /// What the driver says.
    pub fn free_memory(&self) -> Result<u64, Error> {
        let doing = || "asking for the free memory".to_owned();
        self.gpu
            .memory()
            .map(|(free, _)| free)
            .map_err(|code| Error { doing: doing(), reason: words::of(code) })
    }

    /// What the compiler made of every kernel. `block` tells the threads of a block by a kernel's name; where
    /// it does not, the kernel's own limit counts.
    ///
    /// # Errors
    /// A kernel that this back end could not launch, or what the driver says.
    pub fn kernel_info(&mut self, block: impl Fn(&str) -> Option<u32>) -> Result<Vec<KernelInfo>, Error> {
        self.enter("describing the kernels")?;
        let entries = self.module.ptx.entries.clone();
        let mut describe = |entry: &Entry| {
            let kernel = self.module.kernel(&entry.name)?;
            let block = block(&entry.name).or(entry.max_block).unwrap_or(DEFAULT_BLOCK);
            KernelInfo::of(&entry.name, kernel, (block, 0), &self.gpu.info.multiprocessor).map_err(words::of)
        };
        let fail = |name: &str, reason| Error { doing: format!("describing kernel {name}"), reason };
        entries.iter().map(|e| describe(e).map_err(|reason| fail(&e.name, reason))).collect()
    }

    /// What the compiler made of a stage's kernel or a primitive's, launched so; also what it spilled, if it says. To
    /// learn that, kernels that may have spilled are compiled even if the driver has them in its cache.
    ///
    /// # Errors
    /// There is no such kernel, or what the driver says.
    pub fn describe(&mut self, launch: &Launch) -> Result<KernelInfo, Error> {
        let name = launch.stage;
        let doing = format!("describing kernel {name}");
        self.enter(&doing)?;
        let gpu = Arc::clone(&self.gpu);
        let is_primitive = primitives::KERNELS.iter().any(|k| k.stage == name);
        let module = if is_primitive { self.primitives() } else { Ok(&mut self.module) };
        let describe = |module: &mut Module| {
            let (kernel, spills) = module.described(name, false)?;
            let grid = (launch.block, launch.shared);
            let info = KernelInfo::of(name, kernel, grid, &gpu.info.multiprocessor).map_err(words::of)?;
            let spills = match info.local_bytes {
                0 => Some(Spills { stores: 0, loads: 0 }),
                _ if spills.is_none() => module.described(name, true)?.1,
                _ => spills,
            };
            Ok(KernelInfo { spills, ..info })
        };
        module.and_then(describe).map_err(|reason| Error { doing, reason })
    }

    /// From here on, [`Backend::parallelism`] is the number of threads of stage `S` that the GPU holds at a
    /// time. Before, it is the number that the GPU could hold at best.
    ///
    /// # Errors
    /// There is no such kernel, or what the driver says.
    pub fn fit<S: Stage>(&mut self) -> Result<(), Error> {
        self.fit_kernel(S::NAME, S::BLOCK)
    }

    /// As [`Cuda::fit`], for a kernel by its name and the threads of its blocks.
    ///
    /// # Errors
    /// As [`Cuda::fit`].
    pub fn fit_kernel(&mut self, name: &str, block: u32) -> Result<(), Error> {
        let blocks = self.blocks_per_multiprocessor(name, block)?;
        self.parallelism = (self.gpu.info.multiprocessors * blocks.max(1) * block) as usize;
        Ok(())
    }

    /// How many blocks of a kernel a multiprocessor holds.
    fn blocks_per_multiprocessor(&mut self, name: &str, block: u32) -> Result<u32, Error> {
        let doing = format!("measuring the occupancy of {name}");
        self.enter(&doing)?;
        self.module
            .kernel(name)
            .and_then(|kernel| info::blocks_per_multiprocessor(kernel, block, 0).map_err(words::of))
            .map_err(|reason| Error { doing, reason })
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
    /// There is no such kernel, its argument is not of that size, or what the driver says.
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
        self.enter_then(|| format!("launching {name}"))?;
        let kernel = self.module.kernel(name);
        // SAFETY: the context was made current above; the rest is the caller's promise.
        unsafe { self.enqueue(name, kernel, grid, &args) }
    }

    /// Queues blocks of a primitive's kernel.
    ///
    /// # Errors
    /// What the driver says.
    ///
    /// # Safety
    /// The pointers in `args` are as the kernel documents, and so is the number of blocks.
    pub unsafe fn launch_primitive<K: primitives::Kernel + primitives::Entry>(
        &mut self,
        blocks: u32,
        args: K::Args,
    ) -> Result<(), Error> {
        self.enter_then(|| format!("launching {}", K::NAME))?;
        let kernel = self.primitives().and_then(|module| module.kernel(K::NAME));
        // SAFETY: the context was made current above; a kernel in the list takes its `Args`.
        unsafe { self.enqueue(K::NAME, kernel, (blocks, K::BLOCK, K::SHARED), &args) }
    }

    fn primitives(&mut self) -> Result<&mut Module, String> {
        let module = match self.primitives.take() {
            Some(module) => module,
            None => Module::load(primitives_ptx(), &self.gpu.info, Compile::EachKernel)?,
        };
        Ok(self.primitives.insert(module))
    }

    /// # Safety
    /// The context is current; the kernel is of a module in it, takes one `A`, which is as it documents, and is for such a
    /// grid.
    unsafe fn enqueue<A: Copy>(
        &mut self,
        name: &'static str,
        kernel: Result<Kernel, String>,
        grid: (u32, u32, u32),
        args: &A,
    ) -> Result<(), Error> {
        const { assert!(size_of::<A>() != 0 && size_of::<A>() <= MOST_ARG_BYTES, "no kernel takes this") };
        let doing = || format!("launching {name}");
        let kernel = kernel.map_err(|reason| Error { doing: doing(), reason })?;
        if kernel.arg_bytes != size_of::<A>() {
            let reason = format!(
                "the kernel takes {} bytes of arguments and the program has {}: `cargo ptx` builds the kernels anew",
                kernel.arg_bytes,
                size_of::<A>()
            );
            return Err(Error { doing: doing(), reason });
        }
        if grid.0 == 0 || self.is_compiling_only {
            return Ok(());
        }
        // SAFETY: by this function's contract.
        let result = unsafe { self.queue.launch(name, kernel, grid, args) };
        result.map_err(|code| self.failed(doing(), code))
    }

    /// Queues that `bytes` bytes from `at` on become zero.
    ///
    /// # Errors
    /// What the driver says.
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
        match unsafe { call::cuMemsetD8Async(address, 0, bytes, self.queue.raw()) } {
            words::SUCCESS => Ok(()),
            code => Err(self.failed(format!("clearing {}", words::size(bytes as u64)), code)),
        }
    }

    /// Runs `work`, and tells how long the GPU took for what it queued, to half a microsecond.
    ///
    /// # Errors
    /// Those of `work`, or what the driver says.
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
        self.enter_then(|| doing.to_owned())
    }

    fn enter_then(&mut self, doing: impl Fn() -> String) -> Result<(), Error> {
        if let Some(earlier) = &self.lost {
            let reason = format!("the GPU was lost to an earlier error: {earlier}");
            return Err(Error { doing: doing(), reason });
        }
        self.gpu.make_current().map_err(|code| self.failed(doing(), code))
    }

    /// An error from a code; remembers it if nothing can work after it.
    fn failed(&mut self, doing: String, code: Code) -> Error {
        let error = Error { doing, reason: words::of(code) };
        if words::is_fatal(code) && self.lost.is_none() {
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

impl Backend for Cuda {
    type Buf<T: Pod + Send + Sync> = CudaBuffer<T>;
    type Moment = Event;

    fn name(&self) -> String {
        format!("cuda:{} {}", self.gpu.info.index, self.gpu.info.name)
    }

    fn prepare<S: Stage>(&mut self) -> Result<(), Error> {
        self.fit::<S>()
    }

    fn specialize(&mut self, features: Features) {
        self.module.features = features;
    }

    fn parallelism(&self) -> usize {
        self.parallelism
    }

    fn zeroed<T: Pod + Send + Sync>(
        &mut self,
        label: &'static str,
        len: usize,
    ) -> Result<CudaBuffer<T>, Error> {
        self.enter_then(|| format!("allocating \"{label}\""))?;
        let buffer = CudaBuffer::uninitialized(&self.gpu, label, len)?;
        if buffer.bytes() != 0 {
            // SAFETY: the buffer has that many bytes, and frees them only after the stream has used them.
            let code =
                unsafe { call::cuMemsetD8Async(buffer.address(), 0, buffer.bytes(), self.queue.raw()) };
            if code != words::SUCCESS {
                return Err(self.failed(format!("clearing {}", buffer.shown()), code));
            }
        }
        Ok(buffer)
    }

    fn upload<T: Pod + Send + Sync>(
        &mut self,
        label: &'static str,
        data: &[T],
    ) -> Result<CudaBuffer<T>, Error> {
        self.enter_then(|| format!("allocating \"{label}\""))?;
        let buffer = CudaBuffer::uninitialized(&self.gpu, label, data.len())?;
        if buffer.bytes() != 0 {
            // SAFETY: the buffer and the data have that many bytes, and the data is borrowed until the stream
            // has been waited for below.
            let code = unsafe {
                call::cuMemcpyHtoDAsync_v2(
                    buffer.address(),
                    data.as_ptr().cast::<c_void>(),
                    buffer.bytes(),
                    self.queue.raw(),
                )
            };
            let finished = self.finish();
            if code != words::SUCCESS {
                return Err(self.failed(format!("uploading {}", buffer.shown()), code));
            }
            finished?;
        }
        Ok(buffer)
    }

    fn download<T: Pod + Send + Sync>(&mut self, buffer: &CudaBuffer<T>) -> Result<Vec<T>, Error> {
        let doing = || format!("downloading {}", buffer.shown());
        self.enter_then(doing)?;
        if !self.owns(buffer) {
            return Err(Error { doing: doing(), reason: "it belongs to another back end".to_owned() });
        }
        self.finish()?;
        let mut data = vec![T::zeroed(); buffer.len()];
        if buffer.bytes() != 0 {
            // SAFETY: buffer and vector have that many bytes; every pattern of bits is a `T`; the vector is
            // kept until the stream has been waited for below.
            let code = unsafe {
                call::cuMemcpyDtoHAsync_v2(
                    data.as_mut_ptr().cast::<c_void>(),
                    buffer.address(),
                    buffer.bytes(),
                    self.queue.raw(),
                )
            };
            let finished = self.finish();
            if code != words::SUCCESS {
                return Err(self.failed(doing(), code));
            }
            finished?;
        }
        Ok(data)
    }

    /// By the driver: what the machine's memory can do at best.
    fn copy<T: Pod + Send + Sync>(
        &mut self,
        from: &CudaBuffer<T>,
        to: &mut CudaBuffer<T>,
    ) -> Result<(), Error> {
        let doing = || format!("copying {} to {}", from.shown(), to.shown());
        self.enter_then(doing)?;
        if from.bytes() != to.bytes() || !self.owns(from) || !self.owns(to) {
            return Err(Error {
                doing: doing(),
                reason: "they differ in size or in where they are".to_owned(),
            });
        }
        if from.bytes() == 0 {
            return Ok(());
        }
        // SAFETY: both have that many bytes, and free them only after the stream has used them.
        let code = unsafe {
            call::cuMemcpyDtoDAsync_v2(to.address(), from.address(), from.bytes(), self.queue.raw())
        };
        if code == words::SUCCESS { Ok(()) } else { Err(self.failed(doing(), code)) }
    }

    /// Two back ends of one GPU share its memory, but neither waits for what the other has queued.
    fn owns<T: Pod + Send + Sync>(&self, buf: &CudaBuffer<T>) -> bool {
        buf.is_on(&self.gpu)
    }

    unsafe fn launch<S: Stage>(&mut self, args: S::Args) -> Result<(), Error> {
        // SAFETY: the kernel called `S::NAME` is made from `S` and takes `S::Args`; the rest is the caller's.
        unsafe { self.launch_kernel(S::NAME, S::BLOCK, S::threads(&args), args) }
    }

    fn synchronize(&mut self) -> Result<(), Error> {
        self.enter("waiting for the GPU")?;
        self.finish()
    }

    fn moment(&mut self) -> Result<Event, Error> {
        self.enter(TIMING)?;
        self.queue.mark().map_err(|code| self.failed(TIMING.to_owned(), code))
    }

    /// To half a microsecond.
    fn between(&mut self, from: &Event, to: &Event) -> Result<Duration, Error> {
        self.enter(TIMING)?;
        to.elapsed(from).map_err(|e| self.failed(TIMING.to_owned(), words::code_of(e)))
    }

    fn occupancy<S: Stage>(&mut self) -> Result<Option<f32>, Error> {
        let held = self.blocks_per_multiprocessor(S::NAME, S::BLOCK)? * S::BLOCK;
        Ok(Some(held as f32 / self.gpu.info.multiprocessor.threads.max(1) as f32))
    }
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
