//! Assembling PTX for real GPUs, to see that they take it and what each kernel uses.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, capture};
use crate::tools;

/// The GPU generations that are checked: Turing, Ampere (A100; consumer), Hopper, Blackwell (data centre;
/// consumer). Ada runs sm_86 code.
pub const ARCHITECTURES: [&str; 6] = ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"];

/// Resource usage of a kernel on one architecture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread, spills included.
    pub stack: u32,
    /// Bytes written by spills.
    pub spill_stores: u32,
    /// Bytes read by spills.
    pub spill_loads: u32,
    /// Bytes of shared memory of a block, without the dynamic part.
    pub shared: u32,
}

/// Usage of each kernel of one file on one architecture.
pub type Kernels = BTreeMap<String, Usage>;

/// The assembler.
#[derive(Clone, Debug)]
pub struct Ptxas {
    program: PathBuf,
    /// Such as `13.0.88`.
    pub version: String,
}

impl Ptxas {
    /// Finds it (see [`tools::find`]).
    pub fn find(given: Option<&Path>) -> Result<Self> {
        let program = tools::find("ptxas", given)?;
        let about = capture(Command::new(&program).arg("--version"))?;
        let version = version(&about).ok_or_else(|| {
            let (program, first) = (program.display(), about.lines().next().unwrap_or_default());
            Error::Rejected(format!("{program} is not NVIDIA's assembler: `--version` prints \"{first}\""))
        })?;
        Ok(Self { program, version })
    }

    /// Assembles a file for one architecture. `None`: this assembler does not know the architecture.
    pub fn assemble(&self, ptx: &Path, architecture: &str, output: &Path) -> Result<Option<Kernels>> {
        let mut command = Command::new(&self.program);
        command.args(["-v", "-O3", "-arch", architecture, "-o"]).arg(output).arg(ptx);
        match capture(&mut command) {
            Ok(text) => parse(&text).map(Some),
            Err(Error::Command { output, .. }) if output.contains("is not defined for option") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Assembles a file for several architectures at a time.
    pub fn assemble_all(&self, ptx: &Path, architectures: &[&str]) -> Result<Vec<Option<Kernels>>> {
        let folder = tempfile::tempdir().map_err(Error::io("create", &std::env::temp_dir()))?;
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            while let Some(architecture) = architectures.get(next.fetch_add(1, Ordering::Relaxed)) {
                let output = folder.path().join(format!("{architecture}.cubin"));
                done.push((*architecture, self.assemble(ptx, architecture, &output)));
            }
            done
        };
        let workers = thread::available_parallelism().map_or(1, usize::from).min(architectures.len());
        let mut done: BTreeMap<_, _> = thread::scope(|scope| {
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect()
        });
        let lost = || Error::Rejected("a worker thread stopped".into());
        architectures.iter().map(|name| done.remove(name).ok_or_else(lost)?).collect()
    }
}

/// Reads `Cuda compilation tools, release 13.0, V13.0.88`.
fn version(about: &str) -> Option<String> {
    let (_, rest) = about.split_once(", V")?;
    let version = rest.split_whitespace().next()?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    version.split('.').all(is_number).then(|| version.to_owned())
}

/// Reads what `ptxas -v` prints: for each kernel two lines of properties and use, after one with its name.
fn parse(text: &str) -> Result<Kernels> {
    let mut kernels = Kernels::new();
    let mut framed = BTreeSet::new();
    let mut current: Option<String> = None;
    let mut properties = false;
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            current = rest.split('\'').next().map(str::to_owned);
        } else if let Some((_, name)) = line.split_once("Function properties for ") {
            // Functions that are not kernels follow with theirs.
            properties = current.as_deref() == Some(name.trim());
        } else if let Some(usage) = current.as_ref().map(|name| kernels.entry(name.clone()).or_default()) {
            if properties && line.contains("bytes stack frame") {
                framed.extend(current.clone());
                usage.stack = number_before(line, " bytes stack frame");
                usage.spill_stores = number_before(line, " bytes spill stores");
                usage.spill_loads = number_before(line, " bytes spill loads");
            } else if line.contains(" registers") && line.contains("Used ") {
                usage.registers = number_before(line, " registers");
                usage.shared = number_before(line, " bytes smem");
            }
        }
    }
    match kernels.iter().find(|(name, usage)| usage.registers == 0 || !framed.contains(*name)) {
        Some((name, _)) => Err(Error::Rejected(format!("cannot read what ptxas says of {name}:\n{text}"))),
        None => Ok(kernels),
    }
}

/// The number that ends right before `unit`, or 0.
fn number_before(line: &str, unit: &str) -> u32 {
    let Some((before, _)) = line.split_once(unit) else { return 0 };
    let digits = before.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    before[digits..].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k2' for 'sm_90'
ptxas info    : Function properties for k2
    24 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 25 registers, used 0 barriers, 24 bytes cumulative stack size
ptxas info    : Compile time = 4.584 ms
ptxas info    : Function properties for panic
    96 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'k1' for 'sm_90'
ptxas info    : Function properties for k1
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 1 barriers, 128 bytes smem, 376 bytes cmem[0]
";

    #[test]
    fn usage_is_read_per_kernel() {
        let kernels = parse(OUTPUT).unwrap();
        let k2 = Usage { registers: 25, stack: 24, spill_stores: 8, spill_loads: 12, shared: 0 };
        let k1 = Usage { registers: 12, shared: 128, ..Usage::default() };
        assert_eq!(kernels, Kernels::from([("k1".into(), k1), ("k2".into(), k2)]));
    }

    #[test]
    fn output_of_an_unknown_shape_is_an_error_not_a_zero() {
        assert!(parse("ptxas info    : Compiling entry function 'k' for 'sm_90'\nnew style\n").is_err());
        assert!(parse(&OUTPUT.replace("stack frame", "frame")).is_err());
        assert!(parse(&OUTPUT.replace("Used", "Uses")).is_err());
        assert_eq!(parse("").unwrap(), Kernels::new());
    }

    #[test]
    fn versions_are_numbers() {
        let about =
            "ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 13.0, V13.0.88\n";
        assert_eq!(version(about).as_deref(), Some("13.0.88"));
        for other in ["", "ptxas", "release 13.0, V", "release 13.0, Vnext", "1.0, V13..88"] {
            assert_eq!(version(other), None, "{other}");
        }
    }
}
