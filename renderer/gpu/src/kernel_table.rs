//! The resources that every kernel takes of a GPU, how far it fills it, and what keeps it from filling more: as the driver
//! compiles it, or as recorded for a generation of GPUs.

use std::collections::BTreeMap;
use std::fmt;

use device::path::stage::{LAUNCHES, Launch};
use serde::{Deserialize, Serialize};
use torrance_text::{hint, quoted};

use crate::backend::Error;
use crate::backend::cuda::{Cuda, Demand, DeviceInfo, KernelInfo, Limit, Multiprocessor, driver, unpacked};

/// The record of the kernels that `cargo ptx --check --bless` writes.
const RECORD: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../device/ptx-builder/budgets.toml"));
/// The kernels of `renderer/gpu/examples`, as those launch them.
const EXAMPLES: &[Launch] = &[
    example("circles_bin", 256),
    example("circles_draw", 64),
    example("heat_naive", 256),
    example("heat_shared", 256),
    example("heat_steps", 256),
    example("matmul_blocked", 256),
    example("matmul_naive", 256),
    example("matmul_tiled", 256),
    example("saxpy", 256),
    example("saxpy_wide", 256),
    example("sum_add_on_load", 256),
    example("sum_interleaved", 256),
    example("sum_last_warp", 256),
    example("sum_many", 256),
    example("sum_sequential", 256),
    example("sum_shuffle", 256),
    example("sum_strided", 256),
];

const fn example(stage: &'static str, block: u32) -> Launch {
    Launch { stage, block, blocks: 1, shared: 0 }
}

/// The kernels on a GPU, or on a generation of GPUs. Fields are added, never renamed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelTable {
    /// The GPU, or the generation.
    pub device: String,
    /// The driver that compiled the kernels, or the assembler whose results are on record.
    pub compiler: String,
    /// Seconds that the driver took; it caches what it has compiled before.
    pub jit_seconds: Option<f64>,
    /// 32-bit registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_bytes_per_multiprocessor: u32,
    /// Threads that a multiprocessor holds at most.
    pub threads_per_multiprocessor: u32,
    /// Blocks that a multiprocessor holds at most.
    pub most_blocks_per_multiprocessor: u32,
    /// A row for each kernel.
    pub kernels: Vec<KernelRow>,
    /// Kernels without a record.
    pub missing: Vec<&'static str>,
}

/// A kernel's use of a GPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelRow {
    /// Its name.
    pub name: &'static str,
    /// Threads of a block.
    pub block: u32,
    /// Registers of each thread.
    pub registers: u32,
    /// Bytes of shared memory of each block.
    pub shared_bytes: u32,
    /// Bytes of shared memory that a launch gives each block beside these.
    pub dynamic_shared_bytes: u32,
    /// Bytes of local memory of each thread, spilled registers among them.
    pub local_bytes: u32,
    /// Bytes of registers that instructions store to local memory; unknown if the driver does not say.
    pub spill_stores: Option<u32>,
    /// Bytes of registers that instructions load from there.
    pub spill_loads: Option<u32>,
    /// Blocks that a multiprocessor holds at a time.
    pub blocks_per_multiprocessor: u32,
    /// Threads that a multiprocessor holds at a time, of all that it could: 0 to 1.
    pub occupancy: f32,
    /// The resources that run out first.
    pub limited_by: Vec<&'static str>,
}

/// Reason why there is no table from the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordError {
    /// The generation is not in it.
    UnknownGeneration {
        /// The generation, as it was asked for.
        name: String,
        /// The recorded generations.
        known: Vec<String>,
    },
    /// The record cannot be read.
    Unreadable(String),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownGeneration { name, known } => {
                let hint = hint(name, "there are", known.iter().map(String::as_str));
                write!(f, "unknown generation {}{hint}", quoted(name))
            }
            Self::Unreadable(reason) => write!(f, "the record of the kernels: {reason}"),
        }
    }
}

impl std::error::Error for RecordError {}

/// All kernels, as they are launched.
fn launches() -> impl Iterator<Item = &'static Launch> {
    LAUNCHES.iter().chain(primitives::KERNELS).chain(EXAMPLES)
}

fn is_one_of(launch: &Launch, launches: &[Launch]) -> bool {
    launches.iter().any(|l| l.stage == launch.stage)
}

impl KernelTable {
    fn new(device: String, compiler: String, multiprocessor: &Multiprocessor) -> Self {
        Self {
            device,
            compiler,
            jit_seconds: None,
            registers_per_multiprocessor: multiprocessor.registers,
            shared_bytes_per_multiprocessor: multiprocessor.shared_bytes,
            threads_per_multiprocessor: multiprocessor.threads,
            most_blocks_per_multiprocessor: multiprocessor.blocks,
            kernels: Vec::new(),
            missing: Vec::new(),
        }
    }
}

/// The kernels as the driver compiles them for a GPU. `progress` is called before each, with its name and the fraction
/// of the work that is done.
///
/// # Errors
/// The GPU cannot be used, or the driver reports an error.
pub fn compiled(device: &DeviceInfo, mut progress: impl FnMut(&str, f64)) -> Result<KernelTable, Error> {
    let mut cuda = Cuda::new(device.index)?;
    let mut examples = Cuda::with_ptx_on_demand(device.index, &unpacked(::ptx::EXAMPLES))?;
    let compiler = match driver::release() {
        Some(release) => format!("the driver {release}"),
        None => format!("the driver for CUDA {}", device.driver),
    };
    let (major, minor) = device.capability;
    let title = format!("cuda:{} {}, sm_{major}{minor}", device.index, device.name);
    let mut table = KernelTable::new(title, compiler, &device.multiprocessor);
    // A stage takes seconds, a primitive less than a tenth of one.
    let cost = |launch: &Launch| if is_one_of(launch, LAUNCHES) { 60.0 } else { 1.0 };
    let all: f64 = launches().map(cost).sum();
    let mut done = 0.0;
    for launch in launches() {
        progress(launch.stage, done / all);
        done += cost(launch);
        let holder = if is_one_of(launch, EXAMPLES) { &mut examples } else { &mut cuda };
        table.kernels.push(KernelRow::new(launch.stage, &holder.describe(launch)?));
    }
    table.jit_seconds = Some((cuda.jit_time() + examples.jit_time()).as_secs_f64());
    Ok(table)
}

impl KernelRow {
    fn new(name: &'static str, info: &KernelInfo) -> Self {
        Self {
            name,
            block: info.block,
            registers: info.registers,
            shared_bytes: info.shared_bytes,
            dynamic_shared_bytes: info.dynamic_shared_bytes,
            local_bytes: info.local_bytes,
            spill_stores: info.spills.map(|s| s.stores),
            spill_loads: info.spills.map(|s| s.loads),
            blocks_per_multiprocessor: info.blocks_per_multiprocessor,
            occupancy: info.occupancy,
            limited_by: info.limits.iter().map(|l| l.name()).collect(),
        }
    }

    fn on_record(launch: &Launch, usage: &Usage, multiprocessor: &Multiprocessor) -> Self {
        let shared_bytes = usage.shared + launch.shared;
        let demand = Demand { threads: launch.block, registers: usage.registers, shared_bytes };
        let (blocks, limits) = multiprocessor.hold(demand);
        Self {
            name: launch.stage,
            block: launch.block,
            registers: usage.registers,
            shared_bytes: usage.shared,
            dynamic_shared_bytes: launch.shared,
            local_bytes: usage.stack,
            spill_stores: Some(usage.spill_stores),
            spill_loads: Some(usage.spill_loads),
            blocks_per_multiprocessor: blocks,
            occupancy: (blocks * launch.block) as f32 / multiprocessor.threads as f32,
            limited_by: limits.into_iter().map(Limit::name).collect(),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Record {
    ptxas: String,
    /// By name; of each its [`Usage`] by generation, and more.
    kernels: BTreeMap<String, toml::Table>,
}

/// The resources of a kernel.
#[derive(Debug, Deserialize)]
struct Usage {
    registers: u32,
    /// Bytes of local memory.
    stack: u32,
    spill_stores: u32,
    spill_loads: u32,
    /// Bytes.
    shared: u32,
}

impl Record {
    fn usage(&self, kernel: &str, generation: &str) -> Option<Usage> {
        self.kernels.get(kernel)?.get(generation)?.clone().try_into().ok()
    }
}

/// The kernels on record for a generation of GPUs, such as `sm_90`.
///
/// # Errors
/// There is no such generation on record.
pub fn recorded(generation: &str) -> Result<KernelTable, RecordError> {
    let record: Record = toml::from_str(RECORD).map_err(|e| RecordError::Unreadable(e.to_string()))?;
    let mut known: Vec<_> =
        record.kernels.values().flat_map(|k| k.keys()).filter(|key| key.starts_with("sm_")).collect();
    known.sort_by_key(|name| (name.len(), *name));
    known.dedup();
    let unknown = || RecordError::UnknownGeneration {
        name: generation.to_owned(),
        known: known.iter().map(|name| (*name).clone()).collect(),
    };
    let capability = generation.strip_prefix("sm_").and_then(|digits| digits.parse().ok());
    let multiprocessor = capability
        .filter(|_| known.iter().any(|name| *name == generation))
        .and_then(Multiprocessor::of_generation)
        .ok_or_else(unknown)?;
    let compiler = format!("ptxas {}, on record", record.ptxas);
    let mut table = KernelTable::new(generation.to_owned(), compiler, &multiprocessor);
    for launch in launches() {
        match record.usage(launch.stage, generation) {
            Some(usage) => table.kernels.push(KernelRow::on_record(launch, &usage, &multiprocessor)),
            None => table.missing.push(launch.stage),
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::{Ptx, primitives_ptx, ptx};

    /// The names of a file's kernels, sorted.
    fn entries(ptx: &str) -> Vec<String> {
        let mut names: Vec<_> = Ptx::parse(ptx).unwrap().entries.into_iter().map(|e| e.name).collect();
        names.sort_unstable();
        names
    }

    fn names(launches: &[Launch]) -> Vec<&str> {
        let mut names: Vec<_> = launches.iter().map(|l| l.stage).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn the_kernels_shown_are_those_that_there_are() {
        assert_eq!(entries(&unpacked(::ptx::EXAMPLES)), names(EXAMPLES));
        assert_eq!(entries(primitives_ptx()), names(primitives::KERNELS));
        assert_eq!(entries(ptx()), names(LAUNCHES));
    }

    #[test]
    fn kernels_on_record_are_shown_for_every_generation() {
        for generation in ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"] {
            let table = recorded(generation).unwrap();
            let megakernel = table.kernels.iter().find(|k| k.name == "megakernel").unwrap();
            assert_eq!(megakernel.limited_by, ["registers"], "{generation}");
            assert!(megakernel.registers > 100 && megakernel.spill_stores > Some(0), "{megakernel:?}");
            assert!(table.kernels.iter().all(|k| k.occupancy > 0.0 && k.occupancy <= 1.0), "{table:?}");
            assert_eq!(table.kernels.len() + table.missing.len(), launches().count());
        }
        let error = recorded("sm_91").unwrap_err();
        assert_eq!(error.to_string(), "unknown generation \"sm_91\"; did you mean \"sm_90\"?");
        assert!(recorded("panics").is_err() && recorded("sm_").is_err());
    }
}
