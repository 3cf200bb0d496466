//! Memory of a GPU.

use std::marker::PhantomData;
use std::sync::Arc;

use cust::sys::CUdeviceptr;

use super::code;
use super::driver::call;
use super::gpu::GpuContext;
use crate::backend::{Buffer, Error};

/// `len` elements of `T` in the memory of one GPU, freed on drop.
#[derive(Debug)]
pub struct CudaBuffer<T> {
    address: CUdeviceptr,
    len: usize,
    label: &'static str,
    pub(super) gpu: Arc<GpuContext>,
    elements: PhantomData<T>,
}

impl<T> CudaBuffer<T> {
    /// Allocates without writing. Zero bytes are no allocation, and a null pointer.
    pub(super) fn uninitialized(
        gpu: &Arc<GpuContext>,
        label: &'static str,
        len: usize,
    ) -> Result<Self, Error> {
        const { assert!(align_of::<T>() <= 256, "cuMemAlloc aligns to 256 bytes") };
        let mut buffer = Self { address: 0, len, label, gpu: Arc::clone(gpu), elements: PhantomData };
        let Some(bytes) = len.checked_mul(size_of::<T>()) else {
            let doing = format!("allocating {len} elements of {} bytes for \"{label}\"", size_of::<T>());
            return Err(Error { doing, reason: "that is more than can be addressed".to_owned() });
        };
        if bytes == 0 {
            return Ok(buffer);
        }
        let fail = |code| Error {
            doing: format!("allocating {} for \"{label}\"", code::size(bytes as u64)),
            reason: if code == code::OUT_OF_MEMORY { shortage(gpu) } else { code::describe(code) },
        };
        gpu.make_current().map_err(fail)?;
        // SAFETY: the pointer is valid for the call, and the GPU's context is current.
        code::check(unsafe { call::cuMemAlloc_v2(&raw mut buffer.address, bytes) }).map_err(fail)?;
        Ok(buffer)
    }

    pub(super) fn address(&self) -> CUdeviceptr {
        self.address
    }

    /// Size in bytes. Cannot overflow: [`Self::uninitialized`] checked it.
    pub(super) fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The buffer's name and size, for errors.
    pub(super) fn description(&self) -> String {
        format!("\"{}\" ({})", self.label, code::size(self.bytes() as u64))
    }
}

impl<T> Buffer<T> for CudaBuffer<T> {
    fn ptr(&self) -> *mut T {
        // An address of the GPU: the host never follows it, so it has no provenance here.
        std::ptr::without_provenance_mut(self.address as usize)
    }

    fn len(&self) -> usize {
        self.len
    }
}

impl<T> Drop for CudaBuffer<T> {
    fn drop(&mut self) {
        if self.address != 0 && self.gpu.make_current().is_ok() {
            // SAFETY: `cuMemAlloc` gave the address in this context, and it is freed once. The call waits for
            // kernels that use the memory. After a fatal error it returns that error: the context's end frees.
            unsafe { call::cuMemFree_v2(self.address) };
        }
    }
}

fn shortage(gpu: &GpuContext) -> String {
    let whole = format!("cuda:{} {}", gpu.info.index, gpu.info.name);
    match gpu.memory() {
        Ok((free, total)) => {
            format!("out of memory: {} of {} are free on {whole}", code::size(free), code::size(total))
        }
        Err(_) => format!("out of memory on {whole}"),
    }
}
