//! The resources that each compiled kernel takes.

use std::sync::Arc;

use cust::sys::CUfunction_attribute as Attribute;
use device::path::stage::{Launch, Stage};
use primitives;
use serde::Serialize;

use super::Cuda;
use super::code::{self, Code};
use super::driver::call;
use super::launch::SHARED_WITHOUT_ASKING;
use super::module::{Kernel, Module, ModuleError};
use super::occupancy::{Demand, Multiprocessor};
use super::spills::Spills;
use crate::backend::Error;

/// The resources of a kernel, and how much of the GPU it can therefore fill. Fields are added, never renamed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelInfo {
    /// Its name: a stage's.
    pub name: &'static str,
    /// Threads of a block.
    pub block: u32,
    /// Registers of each thread.
    pub registers: u32,
    /// Bytes of shared memory of each block.
    pub shared_bytes: u32,
    /// Bytes of shared memory that a launch gives each block beside these.
    pub dynamic_shared_bytes: u32,
    /// Bytes of local memory of each thread: its stack and spilled registers.
    pub local_bytes: u32,
    /// Bytes of registers that instructions store to local memory; unknown if the driver does not say.
    pub spill_stores: Option<u32>,
    /// Bytes of registers that instructions load from there.
    pub spill_loads: Option<u32>,
    /// Blocks that one multiprocessor holds at a time.
    pub blocks_per_multiprocessor: u32,
    /// Threads that one multiprocessor holds at a time, of all that it could: 0 to 1.
    pub occupancy: f32,
    /// The resources that keep it from holding more.
    pub limited_by: Vec<&'static str>,
    /// Threads that a block may have at most, if the driver was asked.
    #[serde(skip)]
    pub max_block: Option<u32>,
}

impl Cuda {
    /// The resources of a stage's kernel or a primitive's, launched so, and its spills if the compiler reports them. For
    /// these, kernels that may have spilled are compiled even if the driver has them in its cache.
    ///
    /// # Errors
    /// There is no such kernel, or the driver reports an error.
    pub fn describe(&mut self, launch: &Launch) -> Result<KernelInfo, Error> {
        let name = launch.stage;
        let doing = format!("describing kernel {name}");
        self.enter(&doing)?;
        let gpu = Arc::clone(&self.gpu);
        let is_primitive = primitives::KERNELS.iter().any(|k| k.stage == name);
        let module = if is_primitive { self.primitives() } else { Ok(&mut self.module) };
        let describe = |module: &mut Module| {
            let (kernel, spills) = module.described(name, false)?;
            let info =
                KernelInfo::query(launch, kernel, &gpu.info.multiprocessor).map_err(ModuleError::driver)?;
            let spills = match info.local_bytes {
                0 => Some(Spills { stores: 0, loads: 0 }),
                _ if spills.is_none() => module.described(name, true)?.1,
                _ => spills,
            };
            let (spill_stores, spill_loads) = (spills.map(|s| s.stores), spills.map(|s| s.loads));
            Ok(KernelInfo { spill_stores, spill_loads, ..info })
        };
        module.and_then(describe).map_err(|e| Error { doing, reason: e.to_string() })
    }

    /// From here on, [`parallelism`](crate::backend::Backend::parallelism) is the number of threads of stage `S` that the GPU holds at a
    /// time. Before, it is the number that the GPU could hold at best.
    ///
    /// # Errors
    /// There is no such kernel, or the driver reports an error.
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
    pub(super) fn blocks_per_multiprocessor(&mut self, name: &str, block: u32) -> Result<u32, Error> {
        let doing = format!("measuring the occupancy of {name}");
        self.enter(&doing)?;
        let held = |kernel| blocks_per_multiprocessor(kernel, block, 0).map_err(ModuleError::driver);
        self.module.kernel(name).and_then(held).map_err(|e| Error { doing, reason: e.to_string() })
    }
}

impl KernelInfo {
    /// A kernel that takes so many registers and bytes of shared memory, and of which a multiprocessor holds so many
    /// `blocks`, or as many as follow from that.
    pub(crate) fn new(
        launch: &Launch,
        registers: u32,
        shared_bytes: u32,
        multiprocessor: &Multiprocessor,
        blocks: Option<u32>,
    ) -> Self {
        let &Launch { stage: name, block, shared, .. } = launch;
        let demand = Demand { threads: block, registers, shared_bytes: shared_bytes + shared };
        let (held, limited_by) = multiprocessor.hold(demand);
        let blocks = blocks.unwrap_or(held);
        Self {
            name,
            block,
            registers,
            shared_bytes,
            dynamic_shared_bytes: shared,
            local_bytes: 0,
            spill_stores: None,
            spill_loads: None,
            blocks_per_multiprocessor: blocks,
            occupancy: (blocks * block) as f32 / multiprocessor.threads.max(1) as f32,
            limited_by,
            max_block: None,
        }
    }

    /// Asks the driver for them. The context of the kernel's module must be current.
    fn query(launch: &Launch, kernel: Kernel, multiprocessor: &Multiprocessor) -> Result<Self, Code> {
        let max_block = attribute(kernel, Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        if launch.shared > SHARED_WITHOUT_ASKING {
            allow_shared(kernel, launch.shared)?;
        }
        let blocks = blocks_per_multiprocessor(kernel, launch.block, launch.shared)?;
        let registers = attribute(kernel, Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?;
        let shared_bytes = attribute(kernel, Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let local_bytes = attribute(kernel, Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?;
        let info = Self::new(launch, registers, shared_bytes, multiprocessor, Some(blocks));
        Ok(Self { local_bytes, max_block: Some(max_block), ..info })
    }
}

/// How many blocks of `block` threads, with `shared` bytes of shared memory from the launch, one multiprocessor holds at a
/// time.
pub(super) fn blocks_per_multiprocessor(kernel: Kernel, block: u32, shared: u32) -> Result<u32, Code> {
    let mut blocks = 0;
    // SAFETY: the pointer is valid for the call, and the kernel's module is loaded.
    code::check(unsafe {
        call::cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &raw mut blocks,
            kernel.function,
            i32::try_from(block).unwrap_or(i32::MAX),
            shared as usize,
        )
    })?;
    Ok(u32::try_from(blocks).unwrap_or(0))
}

/// Lets launches of a kernel give each block up to `bytes` bytes of shared memory.
pub(super) fn allow_shared(kernel: Kernel, bytes: u32) -> Result<(), Code> {
    const MOST: Attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
    // SAFETY: the kernel's module is loaded.
    code::check(unsafe { call::cuFuncSetAttribute(kernel.function, MOST, bytes) })
}

fn attribute(kernel: Kernel, name: Attribute) -> Result<u32, Code> {
    let mut value = 0;
    // SAFETY: the pointer is valid for the call, and the kernel's module is loaded.
    code::check(unsafe { call::cuFuncGetAttribute(&raw mut value, name, kernel.function) })?;
    Ok(u32::try_from(value).unwrap_or(0))
}
