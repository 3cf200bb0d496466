//! `torrance info --kernels`: what every kernel takes of a GPU, and how far it fills it.

use std::collections::BTreeMap;
use std::fmt;
use std::process::ExitCode;
use std::time::Instant;

use device::path::stage::{LAUNCHES, Launch};
use device::primitives;
use serde::{Deserialize, Serialize};

use super::super::device::failed;
use super::super::failure::Failure;
use super::super::progress::Display;
use super::super::summary::{print, print_json};
use super::super::terminal::count;
use crate::backend::cuda::{Cuda, Demand, DeviceInfo, KernelInfo, Limit, Multiprocessor, driver, unpacked};
use crate::scene::{hint, quoted};

/// What `cargo ptx --check --bless` recorded of the kernels.
const RECORD: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../device/ptx-builder/budgets.toml"));
/// The kernels of `renderer/examples`, as `cargo ptx` built them.
const EXAMPLES_PTX: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../device/examples.ptx.gz"));
/// As the examples launch them.
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

/// The generation that is shown where there is no GPU and the user names none.
const USUAL: &str = "sm_90";

/// Kernels without a record that are named, at most.
const MOST_MISSING: usize = 6;

/// What `--json` prints. Fields are added, never renamed.
#[derive(Debug, Serialize)]
struct Json {
    version: &'static str,
    /// Why no GPU was asked, where one would have been.
    reason: Option<String>,
    tables: Vec<Table>,
}

/// The kernels on a GPU, or on a generation of GPUs.
#[derive(Debug, Serialize)]
struct Table {
    /// Of the GPU, or of the generation.
    device: String,
    /// What compiled them: the driver, or the assembler whose results are on record.
    compiler: String,
    registers_per_multiprocessor: u32,
    shared_bytes_per_multiprocessor: u32,
    threads_per_multiprocessor: u32,
    most_blocks_per_multiprocessor: u32,
    kernels: Vec<Row>,
    /// Those of which nothing is on record.
    missing: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    block: u32,
    registers: u32,
    shared_bytes: u32,
    dynamic_shared_bytes: u32,
    /// Bytes of local memory of each thread, spilled registers among them.
    local_bytes: u32,
    /// Bytes of registers that instructions store to local memory, and load; unknown if the driver does not say.
    spill_stores: Option<u32>,
    spill_loads: Option<u32>,
    blocks_per_multiprocessor: u32,
    occupancy: f32,
    /// What keeps a multiprocessor from holding more blocks.
    limited_by: Vec<&'static str>,
}

/// Shows the kernels on each GPU, or those on record for `generation`.
pub(super) fn run(generation: &str, quiet: bool, json: bool) -> Result<ExitCode, Failure> {
    let (tables, reason) = match generation {
        "" => match driver::load().and_then(|()| Cuda::devices()) {
            Ok(devices) => (devices.iter().map(|d| compiled(d, quiet)).collect::<Result<_, _>>()?, None),
            Err(reason) => (vec![recorded(USUAL)?], Some(reason)),
        },
        _ => (vec![recorded(generation)?], None),
    };
    if json {
        print_json(&Json { version: env!("CARGO_PKG_VERSION"), reason, tables })?;
    } else {
        let told = reason.map(|reason| format!("no GPU: {reason}; this is on record:\n"));
        let shown: Vec<_> = told.into_iter().chain(tables.iter().map(Table::to_string)).collect();
        print(shown.join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// All kernels, as they are launched.
fn launches() -> impl Iterator<Item = &'static Launch> {
    LAUNCHES.iter().chain(primitives::KERNELS).chain(EXAMPLES)
}

fn is_one_of(launch: &Launch, launches: &[Launch]) -> bool {
    launches.iter().any(|l| l.stage == launch.stage)
}

impl Table {
    fn new(device: String, compiler: String, multiprocessor: &Multiprocessor) -> Self {
        Self {
            device,
            compiler,
            registers_per_multiprocessor: multiprocessor.registers,
            shared_bytes_per_multiprocessor: multiprocessor.shared_bytes,
            threads_per_multiprocessor: multiprocessor.threads,
            most_blocks_per_multiprocessor: multiprocessor.blocks,
            kernels: Vec::new(),
            missing: Vec::new(),
        }
    }
}

/// Has the driver compile the kernels for a GPU.
fn compiled(device: &DeviceInfo, quiet: bool) -> Result<Table, Failure> {
    let name = format!("cuda:{}", device.index);
    let mut display = Display::new(quiet);
    display.phase(format!("starting {name}"));
    let mut cuda = Cuda::new(device.index).map_err(|e| failed(&e, &name))?;
    let examples = Cuda::with_ptx_on_demand(device.index, &unpacked(EXAMPLES_PTX));
    let mut examples = examples.map_err(|e| failed(&e, &name))?;
    let compiler = match driver::release() {
        Some(release) => format!("the driver {release}"),
        None => format!("the driver for CUDA {}", device.driver),
    };
    let (major, minor) = device.capability;
    let title = format!("{name} {}, sm_{major}{minor}", device.name);
    let mut table = Table::new(title, compiler, &device.multiprocessor);
    display.begin_steps();
    // A stage takes seconds, a primitive less than a tenth of one.
    let cost = |launch: &Launch| if is_one_of(launch, LAUNCHES) { 60.0 } else { 1.0 };
    let (start, mut done) = (Instant::now(), 0.0);
    let all: f64 = launches().map(cost).sum();
    for launch in launches() {
        display.step(done / all, start.elapsed(), &format!("compiling {}", launch.stage));
        done += cost(launch);
        let holder = if is_one_of(launch, EXAMPLES) { &mut examples } else { &mut cuda };
        let info = holder.describe(launch).map_err(|e| failed(&e, &name))?;
        table.kernels.push(Row::of(launch.stage, &info));
    }
    display.end();
    Ok(table)
}

impl Row {
    fn of(name: &'static str, info: &KernelInfo) -> Self {
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
    /// By name; of each what it uses, by generation, and more.
    kernels: BTreeMap<String, toml::Table>,
}

/// What a kernel uses.
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

/// What is on record for a generation of GPUs.
fn recorded(generation: &str) -> Result<Table, Failure> {
    let record: Record = toml::from_str(RECORD)
        .map_err(|e| Failure::running(format_args!("the record of the kernels: {e}")))?;
    let mut known: Vec<_> =
        record.kernels.values().flat_map(|k| k.keys()).filter(|key| key.starts_with("sm_")).collect();
    known.sort_by_key(|name| (name.len(), *name));
    known.dedup();
    let unknown = || {
        let hint = hint(generation, "there are", known.iter().map(|name| name.as_str()));
        Failure::input(format_args!("--kernels: unknown generation {}{hint}", quoted(generation)))
    };
    let capability = generation.strip_prefix("sm_").and_then(|digits| digits.parse().ok());
    let multiprocessor = capability
        .filter(|_| known.iter().any(|name| *name == generation))
        .and_then(Multiprocessor::of_generation)
        .ok_or_else(unknown)?;
    let compiler = format!("ptxas {}, on record", record.ptxas);
    let mut table = Table::new(generation.to_owned(), compiler, &multiprocessor);
    for launch in launches() {
        match record.usage(launch.stage, generation) {
            Some(usage) => table.kernels.push(Row::on_record(launch, &usage, &multiprocessor)),
            None => table.missing.push(launch.stage),
        }
    }
    Ok(table)
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}; compiled by {}", self.device, self.compiler)?;
        writeln!(
            f,
            "a multiprocessor holds {} threads, {} blocks, {} registers, {} KiB of shared memory",
            self.threads_per_multiprocessor,
            self.most_blocks_per_multiprocessor,
            self.registers_per_multiprocessor,
            self.shared_bytes_per_multiprocessor >> 10
        )?;
        let width = self.kernels.iter().map(|k| k.name.len()).max().unwrap_or(0).max("kernel".len());
        writeln!(
            f,
            "{:<width$}  threads  registers  shared B  + launch B  local B  spilled B  blocks/SM  occupancy  limit",
            "kernel"
        )?;
        for k in &self.kernels {
            let spilled = match (k.spill_stores, k.spill_loads) {
                (Some(stores), Some(loads)) => (stores + loads).to_string(),
                _ => "?".to_owned(),
            };
            writeln!(
                f,
                "{:<width$} {:>8} {:>10} {:>9} {:>11} {:>8} {spilled:>10} {:>10} {:>8.0} %  {}",
                k.name,
                k.block,
                k.registers,
                k.shared_bytes,
                k.dynamic_shared_bytes,
                k.local_bytes,
                k.blocks_per_multiprocessor,
                100.0 * k.occupancy,
                k.limited_by.join(", ")
            )?;
        }
        if self.missing.is_empty() {
            return Ok(());
        }
        let kernels = count(self.missing.len() as u64, "kernel");
        let some = self.missing[..self.missing.len().min(MOST_MISSING)].join(", ");
        let more = if self.missing.len() > MOST_MISSING { ", …" } else { "" };
        writeln!(
            f,
            "nothing is on record of {kernels}: {some}{more}; `cargo ptx --check --bless` records all"
        )
    }
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
        assert_eq!(entries(&unpacked(EXAMPLES_PTX)), names(EXAMPLES));
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
            let text = table.to_string();
            let row = text.lines().find(|l| l.starts_with("megakernel ")).unwrap();
            assert!(row.ends_with(" %  registers"), "{row}");
        }
        let error = recorded("sm_91").unwrap_err();
        assert_eq!(error.message(), "--kernels: unknown generation \"sm_91\"; did you mean \"sm_90\"?");
        assert!(recorded("panics").is_err() && recorded("sm_").is_err());
    }
}
