//! Where buffers are: in the memory of a GPU, of which the program may take no more than it is told, or in the host's, page-locked,
//! which kernels reach over the bus.

use std::collections::BTreeMap;
use std::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cust::sys::CUdeviceptr;
use torrance_system::available_memory;

use super::code::{self, Code};
use super::driver::call;
use super::gpu::GpuContext;
use crate::backend::Place;

/// Bytes of a GPU's memory that are left to the driver, for what kernels need; less where little is free.
const FOR_THE_DRIVER: u64 = 256 << 20;

/// Memory of the host that every context of the process may use, and that has an address on GPUs.
const PORTABLE_AND_MAPPED: c_uint = 1 | 2;

/// Bytes of a GPU's memory that this process has allocated, by whatever back end.
#[derive(Debug, Default)]
pub(super) struct Account {
    used: AtomicU64,
}

impl Account {
    /// That of a GPU.
    pub(super) fn of(index: u32) -> Arc<Self> {
        static ALL: Mutex<BTreeMap<u32, Arc<Account>>> = Mutex::new(BTreeMap::new());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(index).or_default())
    }

    /// Bytes up to `limit` that are left.
    pub(super) fn left(&self, limit: u64) -> u64 {
        limit.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Takes so many bytes, unless that makes them more than `limit`.
    fn take(&self, bytes: u64, limit: u64) -> Result<(), Code> {
        let more = |used: u64| used.checked_add(bytes).filter(|all| *all <= limit);
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.map(drop).map_err(|_| code::OUT_OF_MEMORY)
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Bytes that may be allocated where so many are free, and so many left within a limit.
pub(super) fn room(free: u64, left: u64) -> u64 {
    free.saturating_sub(FOR_THE_DRIVER.min(free / 8)).min(left)
}

/// Memory that kernels use, freed on drop. Zero bytes are none, and a null pointer.
#[derive(Debug)]
pub(super) struct Memory {
    /// As kernels know it.
    pub(super) address: CUdeviceptr,
    bytes: usize,
    /// As the host knows it, if it is the host's.
    pinned: Option<Pinned>,
    pub(super) gpu: Arc<GpuContext>,
}

/// Page-locked memory of the host that small downloads go through: a GPU writes it several times faster than memory that the driver
/// has to lock first.
#[derive(Debug)]
pub(super) struct Staging(Memory);

impl Staging {
    /// Bytes of it.
    pub(super) const BYTES: usize = 4 << 20;

    /// `None` if the system does not give it.
    pub(super) fn new(gpu: &Arc<GpuContext>) -> Option<Self> {
        gpu.make_current().ok()?;
        Memory::on_host(gpu, Self::BYTES).ok().map(Self)
    }

    /// Its first bytes, to be written by a copy, and read once that is done.
    pub(super) fn start(&mut self) -> Option<*mut u8> {
        self.0.pinned.as_ref().map(|Pinned(start)| start.cast())
    }
}

/// Address of page-locked memory of the host.
#[derive(Debug)]
struct Pinned(*mut c_void);

// SAFETY: an address, which nothing follows on the host: it is what the memory is freed by.
unsafe impl Send for Pinned {}
// SAFETY: as above.
unsafe impl Sync for Pinned {}

impl Memory {
    /// Allocates without writing.
    pub(super) fn new(gpu: &Arc<GpuContext>, bytes: usize, place: Place) -> Result<Self, Code> {
        if bytes == 0 {
            return Ok(Self { address: 0, bytes, pinned: None, gpu: Arc::clone(gpu) });
        }
        gpu.make_current()?;
        match place {
            Place::Machine => Self::on_gpu(gpu, bytes),
            Place::Anywhere => Self::on_gpu(gpu, bytes).or_else(|code| match code {
                code::OUT_OF_MEMORY => Self::on_host(gpu, bytes).map_err(|_| code),
                code => Err(code),
            }),
            Place::Host => Self::on_host(gpu, bytes).or_else(|_| Self::on_gpu(gpu, bytes)),
        }
    }

    fn on_gpu(gpu: &Arc<GpuContext>, bytes: usize) -> Result<Self, Code> {
        gpu.account.take(bytes as u64, gpu.limit())?;
        let mut address = 0;
        // SAFETY: the pointer is valid for the call, and the GPU's context is current.
        let allocated = code::check(unsafe { call::cuMemAlloc_v2(&raw mut address, bytes) });
        if let Err(code) = allocated {
            gpu.account.give_back(bytes as u64);
            return Err(code);
        }
        Ok(Self { address, bytes, pinned: None, gpu: Arc::clone(gpu) })
    }

    fn on_host(gpu: &Arc<GpuContext>, bytes: usize) -> Result<Self, Code> {
        // A system may end programs that lock more than it has, where it should refuse.
        if available_memory().is_some_and(|available| bytes as u128 > available - available / 16) {
            return Err(code::OUT_OF_MEMORY);
        }
        let mut start = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the call, and the GPU's context is current.
        code::check(unsafe { call::cuMemHostAlloc(&raw mut start, bytes, PORTABLE_AND_MAPPED) })?;
        let mut memory = Self { address: 0, bytes, pinned: Some(Pinned(start)), gpu: Arc::clone(gpu) };
        // SAFETY: the pointer is valid for the call, and `start` is of mapped memory, by the call above.
        code::check(unsafe { call::cuMemHostGetDevicePointer_v2(&raw mut memory.address, start, 0) })?;
        Ok(memory)
    }

    /// Whether it is the host's.
    pub(super) const fn is_on_host(&self) -> bool {
        self.pinned.is_some()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        // After a fatal error, freeing returns that error: the context's end frees.
        let is_current = self.gpu.make_current().is_ok();
        match &self.pinned {
            Some(Pinned(start)) if is_current => {
                // The stream may be at work with it. Its errors are told where it is waited for.
                // SAFETY: the GPU's context is current.
                let _ = unsafe { call::cuCtxSynchronize() };
                // SAFETY: `cuMemHostAlloc` gave the address, it is freed once, and nothing uses it any more.
                unsafe { call::cuMemFreeHost(*start) };
            }
            Some(_) => {}
            None => {
                if is_current {
                    // SAFETY: `cuMemAlloc` gave the address in this context, and it is freed once. The call waits for
                    // kernels that use the memory.
                    unsafe { call::cuMemFree_v2(self.address) };
                }
                self.gpu.account.give_back(self.bytes as u64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_keep_to_their_limits() {
        let account = Account::default();
        assert_eq!((account.take(60, 100), account.take(41, 100)), (Ok(()), Err(code::OUT_OF_MEMORY)));
        assert_eq!((account.left(100), account.left(10)), (40, 0));
        assert_eq!((account.take(40, 100), account.left(100)), (Ok(()), 0));
        account.give_back(60);
        assert_eq!(account.left(100), 60);
        assert_eq!(account.take(u64::MAX, u64::MAX), Err(code::OUT_OF_MEMORY));
    }

    #[test]
    fn back_ends_of_a_gpu_have_one_account() {
        const UNUSED: u32 = 1 << 20;
        assert!(Arc::ptr_eq(&Account::of(UNUSED), &Account::of(UNUSED)));
        assert!(!Arc::ptr_eq(&Account::of(UNUSED), &Account::of(UNUSED + 1)));
    }

    #[test]
    fn the_driver_gets_its_part_of_what_is_free() {
        assert_eq!(room(8 << 30, u64::MAX), (8 << 30) - (256 << 20));
        assert_eq!(room(80 << 20, u64::MAX), 70 << 20);
        assert_eq!(room(8 << 30, 1 << 30), 1 << 30);
        assert_eq!(room(0, 1 << 30), 0);
    }
}
