//! Interface to a back end under measurement.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use torrance_gpu::backend::cpu::Cpu;
use torrance_gpu::backend::cuda::Cuda;
use torrance_gpu::backend::{Backend, Error};
use torrance_gpu::primitives::Primitives;

use super::memory::free_on_host;

/// A back end that tells how long its work took.
pub(crate) trait TimedBackend: Primitives + Sized + 'static {
    /// How long the machine took for what `work` queued.
    ///
    /// # Errors
    /// Those of `work`, or of the back end.
    fn timed(&mut self, work: &mut dyn FnMut(&mut Self) -> Result<(), Error>) -> Result<Duration, Error>;

    /// The CUDA stream that work is queued in.
    fn cuda_stream(&self) -> Option<*mut c_void>;

    /// Bytes of memory that may be filled, where the machine tells.
    fn free_bytes(&self) -> Option<u64>;
}

impl TimedBackend for Cuda {
    fn timed(&mut self, work: &mut dyn FnMut(&mut Self) -> Result<(), Error>) -> Result<Duration, Error> {
        self.time(work)
    }

    fn cuda_stream(&self) -> Option<*mut c_void> {
        Some(self.stream())
    }

    fn free_bytes(&self) -> Option<u64> {
        self.room()
    }
}

impl TimedBackend for Cpu {
    fn timed(&mut self, work: &mut dyn FnMut(&mut Self) -> Result<(), Error>) -> Result<Duration, Error> {
        let start = Instant::now();
        work(self)?;
        Ok(start.elapsed())
    }

    fn cuda_stream(&self) -> Option<*mut c_void> {
        None
    }

    fn free_bytes(&self) -> Option<u64> {
        free_on_host()
    }
}
