//! The GPUs of this machine, and the one that a back end uses.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cust::context::{Context, ContextFlags};
use cust::device::{Device, DeviceAttribute};
use cust::error::{CudaError, CudaResult};
use cust::sys::CUdevice_attribute as Newer;

use super::code::{self, Code};
use super::compile::Handle;
use super::driver::{self, DriverError, Version, call};
use super::memory::Account;
use super::module::ModuleError;
use super::occupancy::Multiprocessor;
use super::ptx::Ptx;
use crate::backend::Error;

/// A GPU, as the driver describes it before anything runs on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The N of `cuda:N`.
    pub index: u32,
    /// Its product name.
    pub name: String,
    /// Compute capability: major, minor.
    pub capability: (u32, u32),
    /// Bytes of memory. [`super::Cuda::free_memory`] tells how much of it is free.
    pub memory: u64,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// The resources of one multiprocessor.
    pub multiprocessor: Multiprocessor,
    /// Bytes of second-level cache.
    pub l2_cache: u64,
    /// Highest clock of the multiprocessors, in MHz.
    pub clock_mhz: u32,
    /// PCI address, as `nvidia-smi` writes it.
    pub pci: String,
    /// Whether a watchdog stops kernels that run for seconds, because a display hangs on this GPU.
    pub watchdog: bool,
    /// The newest CUDA that the driver supports.
    pub driver: Version,
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.capability;
        write!(
            f,
            "cuda:{} {}, compute capability {major}.{minor}, {} multiprocessors, {}",
            self.index,
            self.name,
            self.multiprocessors,
            code::size(self.memory)
        )
    }
}

/// An attribute that `cust` has no name for.
fn newer(device: Device, name: Newer) -> CudaResult<u32> {
    let mut value = 0;
    // SAFETY: the pointer is valid for the call, and the driver gave the device.
    code::check(unsafe { call::cuDeviceGetAttribute(&raw mut value, name, device.as_raw()) })
        .map_err(|_| CudaError::InvalidValue)?;
    Ok(u32::try_from(value).unwrap_or(0))
}

impl DeviceInfo {
    /// Whether the GPU is new enough for the kernels.
    ///
    /// # Errors
    /// [`ModuleError::OldGpu`] if it is not.
    pub(super) fn check(&self, ptx: &Ptx) -> Result<(), ModuleError> {
        let (major, minor) = self.capability;
        if major * 10 + minor >= ptx.target {
            return Ok(());
        }
        Err(ModuleError::OldGpu { name: self.name.clone(), capability: (major, minor), target: ptx.target })
    }

    fn new(index: u32, device: Device, driver: Version) -> CudaResult<Self> {
        let get = |attribute| device.get_attribute(attribute).map(|v| u32::try_from(v).unwrap_or(0));
        let major = get(DeviceAttribute::ComputeCapabilityMajor)?;
        let minor = get(DeviceAttribute::ComputeCapabilityMinor)?;
        let multiprocessor = Multiprocessor {
            threads: get(DeviceAttribute::MaxThreadsPerMultiprocessor)?,
            blocks: newer(device, Newer::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)?,
            registers: get(DeviceAttribute::MaxRegistersPerMultiprocessor)?,
            shared_bytes: get(DeviceAttribute::MaxSharedMemoryPerMultiprocessor)?,
            reserved_bytes: newer(device, Newer::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK)?,
            shared_at_a_time: Multiprocessor::shared_at_a_time(10 * major + minor),
        };
        Ok(Self {
            index,
            name: device.name()?,
            capability: (major, minor),
            memory: device.total_memory()? as u64,
            multiprocessors: get(DeviceAttribute::MultiprocessorCount)?,
            multiprocessor,
            l2_cache: u64::from(get(DeviceAttribute::L2CacheSize)?),
            clock_mhz: get(DeviceAttribute::ClockRate)? / 1000,
            pci: format!(
                "{:08X}:{:02X}:{:02X}.0",
                get(DeviceAttribute::PciDomainId)?,
                get(DeviceAttribute::PciBusId)?,
                get(DeviceAttribute::PciDeviceId)?
            ),
            watchdog: get(DeviceAttribute::KernelExecTimeout)? != 0,
            driver,
        })
    }
}

/// The GPUs of this machine, in the driver's order; `CUDA_VISIBLE_DEVICES` restricts and reorders them.
///
/// # Errors
/// As [`driver::load`], or the driver reports an error.
pub fn devices() -> Result<Vec<DeviceInfo>, DriverError> {
    let driver = driver::version()?;
    let all = || -> CudaResult<Vec<DeviceInfo>> {
        let count = Device::num_devices()?;
        (0..count).map(|index| DeviceInfo::new(index, Device::get_device(index)?, driver)).collect()
    };
    all().map_err(|e| DriverError::NoList(code::describe(code::from_cust(e))))
}

/// A GPU that is in use: its primary context, held until the last buffer on it is gone.
#[derive(Debug)]
pub(super) struct GpuContext {
    pub(super) info: DeviceInfo,
    /// What this process has of its memory.
    pub(super) account: Arc<Account>,
    /// Most that it may have.
    limit: AtomicU64,
    context: Context,
}

impl GpuContext {
    /// Takes the GPU and makes its context current on this thread.
    pub(super) fn new(index: u32) -> Result<Self, Error> {
        let doing = format!("opening cuda:{index}");
        let fail = |reason: String| Error { doing: doing.clone(), reason };
        let failed = |code| fail(code::describe(code));
        let mut all = devices().map_err(|e| fail(e.to_string()))?;
        if index as usize >= all.len() {
            let names: Vec<_> = all.iter().map(|d| format!("cuda:{} ({})", d.index, d.name)).collect();
            return Err(fail(format!("there is no such GPU; this machine has {}", names.join(", "))));
        }
        let info = all.swap_remove(index as usize);
        let device = Device::get_device(index).map_err(|e| failed(code::from_cust(e)))?;

        // First without `cust`, which knows no code for a GPU that another process holds exclusively.
        let mut context = std::ptr::null_mut();
        // SAFETY: `context` is valid for the call, and the driver gave the device.
        code::check(unsafe { call::cuDevicePrimaryCtxRetain(&raw mut context, device.as_raw()) })
            .map_err(failed)?;
        let context = Context::new(device);
        // SAFETY: pairs with the call above; `context` holds the primary context from here on.
        unsafe { call::cuDevicePrimaryCtxRelease_v2(device.as_raw()) };
        let context = context.map_err(|e| failed(code::from_cust(e)))?;
        // Waiting threads sleep instead of keeping a core busy. Nothing depends on whether the driver obeys.
        let _ = context.set_flags(ContextFlags::SCHED_BLOCKING_SYNC);
        let held = Self { info, account: Account::of(index), limit: AtomicU64::new(u64::MAX), context };
        held.make_current().map_err(failed)?;
        Ok(held)
    }

    /// Directs this thread's driver calls to this GPU. Threads have a context each and several GPUs may be in
    /// use, so every operation begins with it; it costs a fraction of a microsecond.
    pub(super) fn make_current(&self) -> Result<(), Code> {
        self.handle().make_current()
    }

    /// The context, which is there as long as this.
    pub(super) fn handle(&self) -> Handle {
        Handle::new(self.context.as_raw())
    }

    /// Most bytes of memory that this process may have; `u64::MAX` if nobody has set a limit.
    pub(super) fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Sets that limit.
    pub(super) fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Bytes of memory that are free now, whoever uses the rest.
    pub(super) fn free_memory(&self) -> Result<u64, Error> {
        let doing = "asking for the free memory".to_owned();
        self.memory().map(|(free, _)| free).map_err(|code| Error { doing, reason: code::describe(code) })
    }

    /// Bytes of memory that are free, of all.
    pub(super) fn memory(&self) -> Result<(u64, u64), Code> {
        self.make_current()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both pointers are valid for the call, and a context is current.
        code::check(unsafe { call::cuMemGetInfo_v2(&raw mut free, &raw mut total) })?;
        Ok((free as u64, total as u64))
    }
}
