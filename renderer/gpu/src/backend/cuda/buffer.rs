//! Memory of a GPU.

use std::marker::PhantomData;
use std::sync::Arc;

use cust::sys::CUdeviceptr;

use super::code;
use super::gpu::GpuContext;
use super::memory::Memory;
use crate::backend::{Buffer, Error, Place};

/// `len` elements of `T` in the memory of one GPU, or in the host's for it to use, freed on drop.
#[derive(Debug)]
pub struct CudaBuffer<T> {
    memory: Memory,
    len: usize,
    label: &'static str,
    elements: PhantomData<T>,
}

impl<T> CudaBuffer<T> {
    /// Allocates without writing. Zero bytes are no allocation, and a null pointer.
    pub(super) fn uninitialized(
        gpu: &Arc<GpuContext>,
        label: &'static str,
        len: usize,
        place: Place,
    ) -> Result<Self, Error> {
        const { assert!(align_of::<T>() <= 256, "cuMemAlloc aligns to 256 bytes") };
        let Some(bytes) = len.checked_mul(size_of::<T>()) else {
            let doing = format!("allocating {len} elements of {} bytes for \"{label}\"", size_of::<T>());
            return Err(Error { doing, reason: "that is more than can be addressed".to_owned() });
        };
        let memory = Memory::new(gpu, bytes, place).map_err(|code| Error {
            doing: format!("allocating {} for \"{label}\"", code::size(bytes as u64)),
            reason: if code == code::OUT_OF_MEMORY { shortage(gpu, place) } else { code::describe(code) },
        })?;
        Ok(Self { memory, len, label, elements: PhantomData })
    }

    pub(super) const fn address(&self) -> CUdeviceptr {
        self.memory.address
    }

    pub(super) const fn gpu(&self) -> &Arc<GpuContext> {
        &self.memory.gpu
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
        std::ptr::without_provenance_mut(self.address() as usize)
    }

    fn len(&self) -> usize {
        self.len
    }

    fn is_remote(&self) -> bool {
        self.memory.is_on_host()
    }
}

fn shortage(gpu: &GpuContext, place: Place) -> String {
    let whole = format!("cuda:{} {}", gpu.info.index, gpu.info.name);
    let limited = match gpu.limit() {
        u64::MAX => String::new(),
        limit => {
            let left = gpu.account.left(limit);
            format!(", of which {} of {} may still be used", code::size(left), code::size(limit))
        }
    };
    let host = if place == Place::Machine { "" } else { "; nor does the host have memory to lend" };
    match gpu.memory() {
        Ok((free, total)) => format!(
            "out of memory: {} of {} are free on {whole}{limited}{host}",
            code::size(free),
            code::size(total)
        ),
        Err(_) => format!("out of memory on {whole}{limited}{host}"),
    }
}
