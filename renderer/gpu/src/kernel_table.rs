//! The resources that every kernel takes of a GPU, how far it fills it, and what keeps it from filling more: as the driver
//! compiles it, or as recorded for a generation of GPUs.

use std::collections::BTreeMap;

use device::path::stage::{LAUNCHES, Launch};
use serde::{Deserialize, Serialize};
use torrance_text::{hint, quoted};

use crate::backend::Error;
use crate::backend::cuda::{Cuda, DeviceInfo, KernelInfo, Multiprocessor, driver, unpacked};

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
    pub kernels: Vec<KernelInfo>,
    /// Kernels without a record.
    pub missing: Vec<&'static str>,
}

/// Reason why there is no table from the record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The generation is not in it.
    #[error("unknown generation {}{}", quoted(name), hint(name, "there are", known.iter().map(String::as_str)))]
    UnknownGeneration {
        /// The generation, as it was asked for.
        name: String,
        /// The recorded generations.
        known: Vec<String>,
    },
    /// The record cannot be read.
    #[error("the record of the kernels: {0}")]
    Unreadable(String),
}

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
        table.kernels.push(holder.describe(launch)?);
    }
    table.jit_seconds = Some((cuda.jit_time() + examples.jit_time()).as_secs_f64());
    Ok(table)
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

impl Usage {
    /// The kernel on record, launched so.
    fn kernel_info(&self, launch: &Launch, multiprocessor: &Multiprocessor) -> KernelInfo {
        KernelInfo {
            local_bytes: self.stack,
            spill_stores: Some(self.spill_stores),
            spill_loads: Some(self.spill_loads),
            ..KernelInfo::new(launch, self.registers, self.shared, multiprocessor, None)
        }
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
    let usage = |kernel| record.kernels.get(kernel)?.get(generation)?.clone().try_into::<Usage>().ok();
    for launch in launches() {
        match usage(launch.stage) {
            Some(usage) => table.kernels.push(usage.kernel_info(launch, &multiprocessor)),
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
