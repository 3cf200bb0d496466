//! `torrance info --kernels`: the resources that every kernel takes of a GPU, and how far it fills it.

use crate::ExitCode;
use std::fmt;
use std::time::Instant;

use renderer::MachineError;
use serde::Serialize;
use torrance_gpu::backend::cuda::{DeviceInfo, devices};
use torrance_gpu::kernel_table::{KernelTable, RecordError, compiled, recorded};

use crate::{Display, Failure, count, print, print_json};

/// The generation that is shown where there is no GPU and the user names none.
const USUAL: &str = "sm_90";

/// Kernels without a record that are named, at most.
const MOST_MISSING: usize = 6;

/// The output with `--json`. Fields are added, never renamed.
#[derive(Debug, Serialize)]
struct Json {
    version: &'static str,
    /// Reason why the tables are from the record rather than from a GPU.
    reason: Option<String>,
    tables: Vec<KernelTable>,
}

/// Shows the kernels on each GPU, or those on record for `generation`.
pub(super) fn run(generation: &str, quiet: bool, json: bool) -> Result<ExitCode, Failure> {
    let (tables, reason) = match generation {
        "" => match devices() {
            Ok(devices) => (devices.iter().map(|d| compile(d, quiet)).collect::<Result<_, _>>()?, None),
            Err(reason) => (vec![recorded(USUAL).map_err(failure)?], Some(reason.to_string())),
        },
        _ => (vec![recorded(generation).map_err(failure)?], None),
    };
    if json {
        print_json(&Json { version: env!("CARGO_PKG_VERSION"), reason, tables })?;
    } else {
        let note = reason.map(|reason| format!("no GPU: {reason}; this is on record:\n"));
        let texts = tables.iter().map(|table| Text(table).to_string());
        print(note.into_iter().chain(texts).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Compiles the kernels for a GPU, and shows how far that is.
fn compile(device: &DeviceInfo, quiet: bool) -> Result<KernelTable, Failure> {
    let name = format!("cuda:{}", device.index);
    let mut display = Display::new(quiet);
    display.phase(format!("starting {name}"));
    let mut start = None;
    let table = compiled(device, |kernel, done| {
        let start = *start.get_or_insert_with(|| {
            display.begin_steps();
            Instant::now()
        });
        display.step(done, start.elapsed(), &format!("compiling {kernel}"));
    });
    display.end();
    table.map_err(|error| MachineError { machine: name, error }.into())
}

fn failure(error: RecordError) -> Failure {
    match error {
        RecordError::UnknownGeneration { .. } => Failure::input(format_args!("--kernels: {error}")),
        RecordError::Unreadable(_) => Failure::running(error),
    }
}

/// A table as people read it.
struct Text<'a>(&'a KernelTable);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(table) = self;
        writeln!(f, "{}; compiled by {}", table.device, table.compiler)?;
        writeln!(
            f,
            "a multiprocessor holds {} threads, {} blocks, {} registers, {} KiB of shared memory",
            table.threads_per_multiprocessor,
            table.most_blocks_per_multiprocessor,
            table.registers_per_multiprocessor,
            table.shared_bytes_per_multiprocessor >> 10
        )?;
        let width = table.kernels.iter().map(|k| k.name.len()).max().unwrap_or(0).max("kernel".len());
        writeln!(
            f,
            "{:<width$}  threads  registers  shared B  + launch B  local B  spilled B  blocks/SM  occupancy  limit",
            "kernel"
        )?;
        for k in &table.kernels {
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
        if table.missing.is_empty() {
            return Ok(());
        }
        let kernels = count(table.missing.len() as u64, "kernel");
        let some = table.missing[..table.missing.len().min(MOST_MISSING)].join(", ");
        let more = if table.missing.len() > MOST_MISSING { ", …" } else { "" };
        writeln!(
            f,
            "nothing is on record of {kernels}: {some}{more}; `cargo ptx --check --bless` records all"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_with_what_limits_a_kernel() {
        let text = Text(&recorded(USUAL).unwrap()).to_string();
        let row = text.lines().find(|l| l.starts_with("megakernel ")).unwrap();
        assert!(row.ends_with(" %  registers"), "{row}");
    }

    #[test]
    fn an_unknown_generation_is_the_users_mistake() {
        let error = failure(recorded("sm_91").unwrap_err());
        let message = "--kernels: unknown generation \"sm_91\"; did you mean \"sm_90\"?";
        assert_eq!(error, Failure::input(message));
    }
}
