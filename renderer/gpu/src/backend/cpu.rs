//! All cores of the host.

use std::any::TypeId;
use std::cell::UnsafeCell;
use std::ops::Range;
use std::time::{Duration, Instant};

use bytemuck::Pod;
pub use cpu::InstructionSet;
use cpu::runner;
use device::bvh::{Node, WideNode};
use device::features::Features;
use device::path::stage::Stage;
use rayon::prelude::*;

use super::{Backend, Buffer, COPY, Error, NODES, Shared, check_room, reserve, reserve_in};

/// The name of an instruction set for people.
pub fn name_of(isa: InstructionSet) -> &'static str {
    match isa {
        InstructionSet::Portable => "portable",
        InstructionSet::Avx2 => "AVX2",
        InstructionSet::Avx512 => "AVX-512",
    }
}

/// Bytes that are copied by several threads: to wake them takes as long as to copy fewer.
const WORTH_THREADS: usize = 1 << 17;

/// A pool of threads that run stages.
pub struct Cpu {
    pool: rayon::ThreadPool,
    isa: InstructionSet,
    /// Features that scenes ask for, and the stages that were prepared for them, if that is recorded.
    recorded: Option<(Features, Vec<(&'static str, Features)>)>,
}

impl Cpu {
    /// The stages that `calls` prepares, and the features of scenes for which it does.
    ///
    /// # Errors
    /// Those of `calls`.
    pub fn record(
        &mut self,
        calls: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<Vec<(&'static str, Features)>, Error> {
        self.recorded = Some((Features::ALL, Vec::new()));
        let done = calls(self);
        let (_, stages) = self.recorded.take().unwrap_or((Features::NONE, Vec::new()));
        done.map(|()| stages)
    }

    /// A pool of `threads` threads, or one for every core.
    pub fn new(threads: Option<usize>) -> Result<Self, Error> {
        Self::with_instruction_set(threads, InstructionSet::detect())
    }

    /// As [`Cpu::new`], with at most the given instruction set.
    pub fn with_instruction_set(threads: Option<usize>, isa: InstructionSet) -> Result<Self, Error> {
        let pool = torrance_system::thread_pool(threads, |i| format!("render-{i}"))
            .map_err(|e| Error { doing: "starting threads".into(), reason: e.to_string() })?;
        Ok(Self { pool, isa: isa.min(InstructionSet::detect()), recorded: None })
    }

    /// Calls `run` with ranges that are all indices below `n`, on the threads of the pool, and waits for them. Not generic,
    /// so that the threads' machinery is compiled once, and not for every stage.
    fn run(&self, n: u32, run: &(dyn Fn(Range<u32>) + Sync)) {
        let chunk = chunk(n, self.pool.current_num_threads());
        // Waking a thread of the pool takes longer than a task.
        if n <= chunk {
            return run(0..n);
        }
        self.pool.install(|| {
            (0..n.div_ceil(chunk)).into_par_iter().for_each(|i| run(i * chunk..n.min((i + 1) * chunk)));
        });
    }

    /// What is in a buffer.
    fn elements<'a, T>(&'a self, buf: &'a CpuBuf<T>) -> &'a [T] {
        match buf {
            // SAFETY: `UnsafeCell<T>` has the layout of `T`, and no stage runs, as launches end before they return, and
            // `self` is borrowed.
            CpuBuf::Own(cells) => unsafe {
                std::slice::from_raw_parts(cells.as_ptr().cast::<T>(), cells.len())
            },
            CpuBuf::Shared(elements) => elements,
        }
    }

    /// Runs `work` on the threads of the pool, and waits for it.
    pub(crate) fn install(&self, work: &(dyn Fn() + Sync)) {
        self.pool.install(work)
    }
}

/// Memory that stages use through raw pointers.
pub enum CpuBuf<T> {
    /// They may write it.
    Own(Box<[UnsafeCell<T>]>),
    /// They only read it.
    Shared(Shared<T>),
}

// SAFETY: access through `ptr` is by stages, which promise not to race; other access takes `&Cpu` after they end.
unsafe impl<T: Send> Send for CpuBuf<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for CpuBuf<T> {}

impl<T> Buffer<T> for CpuBuf<T> {
    fn ptr(&self) -> *mut T {
        match self {
            Self::Own(cells) => UnsafeCell::raw_get(cells.as_ptr()),
            Self::Shared(elements) => elements.as_ptr().cast_mut(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Own(cells) => cells.len(),
            Self::Shared(elements) => elements.len(),
        }
    }

    fn is_writable(&self) -> bool {
        matches!(self, Self::Own(_))
    }
}

/// Invocations a task: as many as give every thread some tasks to balance the load with, in tiles of 32; but enough
/// to amortise the scheduling, and no more than run side by side.
fn chunk(invocations: u32, threads: usize) -> u32 {
    const TASKS_PER_THREAD: usize = 16;
    let tasks = u32::try_from(threads * TASKS_PER_THREAD).unwrap_or(u32::MAX);
    invocations.div_ceil(tasks).next_multiple_of(32).clamp(64, 512)
}

impl Backend for Cpu {
    type Buf<T: Pod + Send + Sync> = CpuBuf<T>;
    type Node = WideNode;
    type Moment = Instant;

    const SIDE_BY_SIDE: u32 = 16;
    const FOLDS_FILMS: bool = true;

    fn name(&self) -> String {
        let threads = self.pool.current_num_threads();
        let isa = name_of(self.isa);
        format!("CPU, {threads} thread{}, {isa}", if threads == 1 { "" } else { "s" })
    }

    fn prepare<S: Stage>(&mut self) -> Result<(), Error> {
        if let Some((features, stages)) = &mut self.recorded {
            stages.push((S::NAME, *features));
        }
        Ok(())
    }

    /// The CPU's stages know all features: what is not there costs a branch that is foreseen.
    fn specialize(&mut self, features: Features) {
        if let Some((current, _)) = &mut self.recorded {
            *current = features;
        }
    }

    fn parallelism(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn zeroed<T: Pod + Send + Sync>(&mut self, label: &'static str, len: usize) -> Result<CpuBuf<T>, Error> {
        allocate(label, len, std::iter::repeat_n(T::zeroed(), len))
    }

    fn upload<T: Pod + Send + Sync>(&mut self, label: &'static str, data: &[T]) -> Result<CpuBuf<T>, Error> {
        allocate(label, data.len(), data.iter().copied())
    }

    fn share<T: Pod + Send + Sync>(&mut self, _: &'static str, data: &Shared<T>) -> Result<CpuBuf<T>, Error> {
        Ok(CpuBuf::Shared(data.clone()))
    }

    /// Decoded, by all threads.
    fn share_nodes(&mut self, nodes: &Shared<Node>) -> Result<CpuBuf<WideNode>, Error> {
        let mut wide: Vec<WideNode> = reserve(NODES, nodes.len())?;
        self.pool.install(|| wide.par_extend(nodes.par_iter().map(WideNode::from)));
        Ok(CpuBuf::Shared(wide.into()))
    }

    fn clear<T: Pod + Send + Sync>(&mut self, buf: &mut CpuBuf<T>) -> Result<(), Error> {
        let CpuBuf::Own(cells) = buf else {
            return Err(Error { doing: "clearing".into(), reason: "others read the memory".into() });
        };
        self.pool.install(|| cells.par_iter_mut().for_each(|cell| *cell.get_mut() = T::zeroed()));
        Ok(())
    }

    /// By all threads: a film may be large.
    fn download_into<T: Pod + Send + Sync>(
        &mut self,
        buf: &CpuBuf<T>,
        room: Vec<T>,
    ) -> Result<Vec<T>, Error> {
        let mut data = reserve_in(room, COPY, buf.len())?;
        let elements = self.elements(buf);
        self.pool.install(|| data.par_extend(elements.par_iter().copied()));
        Ok(data)
    }

    fn write<T: Pod + Send + Sync>(&mut self, data: &[T], buf: &mut CpuBuf<T>) -> Result<(), Error> {
        check_room(data.len(), buf.len())?;
        let CpuBuf::Own(cells) = buf else {
            return Err(Error { doing: "writing".into(), reason: "others read the memory".into() });
        };
        let put = |(cell, element): (&mut UnsafeCell<T>, &T)| *cell.get_mut() = *element;
        if size_of_val(data) < WORTH_THREADS {
            cells.iter_mut().zip(data).for_each(put);
        } else {
            self.pool.install(|| cells.par_iter_mut().zip(data).for_each(put));
        }
        Ok(())
    }

    fn read<T: Pod + Send + Sync>(&mut self, buf: &CpuBuf<T>, data: &mut [T]) -> Result<(), Error> {
        check_room(data.len(), buf.len())?;
        let elements = self.elements(buf);
        self.pool.install(|| data.par_iter_mut().zip(elements).for_each(|(to, element)| *to = *element));
        Ok(())
    }

    fn copy<T: Pod + Send + Sync>(&mut self, from: &CpuBuf<T>, to: &mut CpuBuf<T>) -> Result<(), Error> {
        let CpuBuf::Own(cells) = to else {
            return Err(Error { doing: "copying".into(), reason: "others read the memory".into() });
        };
        if cells.len() != from.len() {
            return Err(Error { doing: "copying".into(), reason: "the buffers differ in size".into() });
        }
        // SAFETY: both have that many elements, and differ, since one is borrowed to be written; no stage runs:
        // launches end before they return, and `self` is borrowed.
        unsafe { from.ptr().copy_to_nonoverlapping(UnsafeCell::raw_get(cells.as_ptr()), cells.len()) };
        Ok(())
    }

    /// There is one memory, and nothing is queued: a launch ends before it returns.
    fn owns<T: Pod + Send + Sync>(&self, _: &CpuBuf<T>) -> bool {
        true
    }

    unsafe fn launch<S: Stage>(&mut self, args: S::Args) -> Result<(), Error> {
        let n = S::count(&args);
        let runner = runner(TypeId::of::<S>(), self.isa);
        // SAFETY: the arguments are those of this stage and valid as the caller promised; every index runs once; the
        // instruction set was detected.
        self.run(n, &|range| unsafe { runner(range, (&raw const args).cast()) });
        Ok(())
    }

    fn synchronize(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn moment(&mut self) -> Result<Instant, Error> {
        Ok(Instant::now())
    }

    fn between(&mut self, from: &Instant, to: &Instant) -> Result<Duration, Error> {
        Ok(to.duration_since(*from))
    }

    fn occupancy<S: Stage>(&mut self) -> Result<Option<f32>, Error> {
        Ok(None)
    }
}

fn allocate<T>(label: &'static str, len: usize, data: impl Iterator<Item = T>) -> Result<CpuBuf<T>, Error> {
    let mut cells = reserve(label, len)?;
    cells.extend(data.map(UnsafeCell::new));
    Ok(CpuBuf::Own(cells.into_boxed_slice()))
}
