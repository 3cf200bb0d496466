//! The bandwidth of memory.

use torrance_gpu::backend::cuda::Cuda;
use torrance_gpu::backend::{Backend, Error};

use super::common;

/// Gigabytes per second that the driver's copy of so many bytes reads and writes: what memory can do.
pub(crate) fn of_copy(gpu: &mut Cuda, bytes: usize) -> Result<f64, Error> {
    let from = gpu.zeroed::<u32>("source", bytes.div_ceil(4))?;
    let mut to = gpu.zeroed::<u32>("target", bytes.div_ceil(4))?;
    let took = common::best(gpu, |gpu| gpu.copy(&from, &mut to))?;
    Ok(common::giga(2.0 * bytes as f64, took))
}
