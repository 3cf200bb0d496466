//! The wavefront on the side of the host: rounds of stages over a pool of paths, as [`device::path::wavefront`] describes
//! them. A pass is queued as a whole; how far it is, the host looks up when it should be over.

use device::path::stage::stages;
use device::path::wavefront::{ALIGNMENT, Counters, Pool};
use device::path::{MegakernelArgs, WavefrontArgs};
use device::primitives::{Ptr, Quad};

use super::Kernel;
use crate::backend::{Buffer, Error};
use crate::primitives::{Length, Primitives, Select, Temp};

/// Paths under way together, and what a pass needs beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paths {
    /// Number of slots.
    pub pool: u32,
}

impl Paths {
    /// The most slots that a pool may have.
    pub const MOST: u32 = 1 << 26;

    /// Bytes of memory for each slot of the pool.
    pub const BYTES_PER_SLOT: usize = Pool::ROW_BYTES + 2 * size_of::<u8>() + 2 * size_of::<u32>();

    /// Bytes of memory for each path of a pass, whether or not it is under way.
    pub const BYTES_PER_PATH: usize = size_of::<Quad<f32>>();
}

/// Most paths of a pass: what they gather takes up to 256 MiB.
const MOST_PATHS: u32 = 1 << 24;

/// The pool, and all that rounds need, in the memory of a back end.
pub(super) struct Wavefront<B: Primitives> {
    paths: Paths,
    kernel: Kernel,
    pool: B::Buf<u64>,
    gathered: B::Buf<u64>,
    alive: B::Buf<u8>,
    shadow: B::Buf<u8>,
    queue: B::Buf<u32>,
    alive_count: B::Buf<u32>,
    shadow_queue: B::Buf<u32>,
    shadow_count: B::Buf<u32>,
    counters: B::Buf<Counters>,
    temp: Temp<B>,
    /// Rounds that the last pass had for each time that the pool could be filled with its paths.
    rounds: f64,
}

/// Words of a buffer that has room for so many bytes from where it is aligned.
const fn aligned_words(bytes: usize) -> usize {
    (bytes + ALIGNMENT).div_ceil(8)
}

/// The first address of a buffer that is a multiple of [`ALIGNMENT`].
fn aligned<T>(buffer: &impl Buffer<u64>) -> Ptr<T> {
    let start = buffer.ptr().cast::<u8>();
    Ptr::new(start.wrapping_add(start.addr().next_multiple_of(ALIGNMENT) - start.addr())).cast()
}

impl<B: Primitives> Wavefront<B> {
    /// Takes the memory for paths of scenes that `kernel` knows.
    pub(super) fn new(backend: &mut B, kernel: Kernel, paths: Paths) -> Result<Self, Error> {
        let slots = paths.pool as usize;
        let bytes = Pool::offsets(slots)[Pool::COLUMNS.len()];
        Ok(Self {
            paths,
            kernel,
            pool: backend.zeroed("paths under way", aligned_words(bytes))?,
            gathered: backend.zeroed("what paths gather", 0)?,
            alive: backend.zeroed("which paths are alive", slots)?,
            shadow: backend.zeroed("which paths wait for light", slots)?,
            queue: backend.zeroed("queue of paths", slots)?,
            alive_count: backend.zeroed("number of paths", 1)?,
            shadow_queue: backend.zeroed("queue of shadow rays", slots)?,
            shadow_count: backend.zeroed("number of shadow rays", 1)?,
            counters: backend.zeroed("counters of paths", 1)?,
            temp: Temp::new(backend, Select::partition().temp_bytes(paths.pool))?,
            rounds: 8.0,
        })
    }

    /// Most paths that a pass may have.
    pub(super) fn most_paths(&self) -> u32 {
        MOST_PATHS.max(self.paths.pool)
    }

    /// Takes the samples of `take` into its film: a pass.
    ///
    /// # Safety
    /// As [`crate::backend::Backend::launch`] of the megakernel.
    pub(super) unsafe fn run(&mut self, backend: &mut B, take: MegakernelArgs) -> Result<(), Error> {
        let paths = WavefrontArgs::paths(&take);
        let words = aligned_words(paths as usize * Paths::BYTES_PER_PATH);
        if self.gathered.len() < words {
            self.gathered = backend.zeroed("what paths gather", words)?;
        }
        let fillings = f64::from(paths) / f64::from(self.paths.pool);
        let mut args = self.args(take);
        let mut more = (fillings * self.rounds * 1.02) as u32 + take.settings.max_depth.min(16) + 1;
        loop {
            for _ in 0..more {
                // SAFETY: as the caller promised.
                unsafe { self.round(backend, args)? };
                args.round += 1;
            }
            let counters = backend.download(&self.counters)?[0];
            if counters.live == 0 {
                self.rounds = f64::from(counters.rounds) / fillings.max(1.0);
                break;
            }
            more = (more / 16).max(4);
        }
        args.invocations = take.invocations;
        // SAFETY: as the caller promised.
        unsafe { backend.launch::<stages::accumulate>(args) }
    }

    fn args(&self, take: MegakernelArgs) -> WavefrontArgs {
        WavefrontArgs {
            take,
            pool: Pool::new(aligned(&self.pool), self.paths.pool as usize),
            invocations: self.paths.pool,
            capacity: self.paths.pool,
            round: 0,
            gathered: aligned(&self.gathered),
            alive: Ptr::new(self.alive.ptr()),
            shadow: Ptr::new(self.shadow.ptr()),
            queue: Ptr::new(self.queue.ptr()),
            alive_count: Ptr::new(self.alive_count.ptr()),
            shadow_queue: Ptr::new(self.shadow_queue.ptr()),
            shadow_count: Ptr::new(self.shadow_count.ptr()),
            counters: Ptr::new(self.counters.ptr()),
            curve: Ptr::NULL,
        }
    }

    /// Takes all paths one segment further.
    ///
    /// # Safety
    /// As [`Wavefront::run`].
    unsafe fn round(&mut self, backend: &mut B, args: WavefrontArgs) -> Result<(), Error> {
        let slots = Length::Host(self.paths.pool);
        let Self { alive, shadow, queue, alive_count, shadow_queue, shadow_count, temp, .. } = self;
        Select::partition().indices(backend, alive, queue, alive_count, slots, temp)?;
        // SAFETY: as the caller promised; the buffers are those of `self`, which outlives the pass.
        unsafe {
            backend.launch::<stages::generate>(args)?;
            match self.kernel {
                Kernel::Basic | Kernel::Glass => backend.launch::<stages::extend_basic>(args)?,
                Kernel::Full => backend.launch::<stages::extend>(args)?,
            }
            match self.kernel {
                Kernel::Basic => backend.launch::<stages::shade_basic>(args)?,
                Kernel::Glass => backend.launch::<stages::shade_glass>(args)?,
                Kernel::Full => backend.launch::<stages::shade>(args)?,
            }
            Select::compact().indices(backend, shadow, shadow_queue, shadow_count, slots, temp)?;
            match self.kernel {
                Kernel::Basic | Kernel::Glass => backend.launch::<stages::connect_basic>(args),
                Kernel::Full => backend.launch::<stages::connect>(args),
            }
        }
    }
}

/// Makes the stages ready.
pub(super) fn prepare<B: Primitives>(backend: &mut B, kernel: Kernel) -> Result<(), Error> {
    backend.prepare::<stages::generate>()?;
    match kernel {
        Kernel::Basic => backend.prepare::<stages::shade_basic>()?,
        Kernel::Glass => backend.prepare::<stages::shade_glass>()?,
        Kernel::Full => backend.prepare::<stages::shade>()?,
    }
    match kernel {
        Kernel::Basic | Kernel::Glass => {
            backend.prepare::<stages::connect_basic>()?;
            backend.prepare::<stages::extend_basic>()?;
        }
        Kernel::Full => {
            backend.prepare::<stages::connect>()?;
            backend.prepare::<stages::extend>()?;
        }
    }
    backend.prepare::<stages::accumulate>()
}
