//! What the driver's compiler made of each kernel.

use cust::sys::CUfunction_attribute as Attribute;

use super::driver::{Code, call};
use super::launch::SHARED_WITHOUT_ASKING;
use super::module::Kernel;
use super::occupancy::{Demand, Limit, Multiprocessor};
use super::spills::Spills;
use super::words;

/// What a kernel needs, and how much of the GPU it can therefore fill.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelInfo {
    /// Its name: a stage's.
    pub name: String,
    /// Registers of each thread.
    pub registers: u32,
    /// Bytes of local memory of each thread: its stack and what did not fit into registers.
    pub local_bytes: u32,
    /// Bytes of shared memory of each block.
    pub shared_bytes: u32,
    /// Bytes of shared memory that a launch gives each block beside these.
    pub dynamic_shared_bytes: u32,
    /// Threads that a block may have at most.
    pub max_block: u32,
    /// Threads that a block has.
    pub block: u32,
    /// Blocks that one multiprocessor holds at a time.
    pub blocks_per_multiprocessor: u32,
    /// Threads that one multiprocessor holds at a time, of all that it could: 0 to 1.
    pub occupancy: f32,
    /// What keeps it from holding more.
    pub limits: Vec<Limit>,
    /// What the compiler spilled, where it was asked and says.
    pub spills: Option<Spills>,
}

impl KernelInfo {
    /// Asks the driver. The context of the kernel's module must be current.
    pub(super) fn of(
        name: &str,
        kernel: Kernel,
        (block, shared): (u32, u32),
        multiprocessor: &Multiprocessor,
    ) -> Result<Self, Code> {
        let max_block = attribute(kernel, Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        if shared > SHARED_WITHOUT_ASKING {
            allow_shared(kernel, shared)?;
        }
        let blocks = blocks_per_multiprocessor(kernel, block, shared)?;
        let registers = attribute(kernel, Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?;
        let shared_bytes = attribute(kernel, Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let demand = Demand { threads: block, registers, shared_bytes: shared_bytes + shared };
        Ok(Self {
            name: name.to_owned(),
            registers,
            local_bytes: attribute(kernel, Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            shared_bytes,
            dynamic_shared_bytes: shared,
            max_block,
            block,
            blocks_per_multiprocessor: blocks,
            occupancy: (blocks * block) as f32 / multiprocessor.threads.max(1) as f32,
            limits: multiprocessor.hold(demand).1,
            spills: None,
        })
    }
}

/// How many blocks of `block` threads, with `shared` bytes of shared memory from the launch, one multiprocessor holds at a
/// time.
pub(super) fn blocks_per_multiprocessor(kernel: Kernel, block: u32, shared: u32) -> Result<u32, Code> {
    let mut blocks = 0;
    // SAFETY: the pointer is valid for the call, and the kernel's module is loaded.
    let code = unsafe {
        call::cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &raw mut blocks,
            kernel.function,
            i32::try_from(block).unwrap_or(i32::MAX),
            shared as usize,
        )
    };
    if code == words::SUCCESS { Ok(u32::try_from(blocks).unwrap_or(0)) } else { Err(code) }
}

/// Lets launches of a kernel give each block up to `bytes` bytes of shared memory.
pub(super) fn allow_shared(kernel: Kernel, bytes: u32) -> Result<(), Code> {
    const MOST: Attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: the kernel's module is loaded.
    let code =
        unsafe { call::cuFuncSetAttribute(kernel.function, MOST, i32::try_from(bytes).unwrap_or(i32::MAX)) };
    if code == words::SUCCESS { Ok(()) } else { Err(code) }
}

fn attribute(kernel: Kernel, name: Attribute) -> Result<u32, Code> {
    let mut value = 0;
    // SAFETY: the pointer is valid for the call, and the kernel's module is loaded.
    let code = unsafe { call::cuFuncGetAttribute(&raw mut value, name, kernel.function) };
    if code == words::SUCCESS { Ok(u32::try_from(value).unwrap_or(0)) } else { Err(code) }
}
