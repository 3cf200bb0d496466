//! From Rust to PTX: `cargo build` → [`linker`] (one module) → [`shared`] (shared memory) → `opt` → `llc` → [`canonical`]
//! (numbers and blanks) → [`bounds`] (launches).
//!
//! Everything here can change the PTX, so its source is part of the stamp; nothing outside can.

pub mod bounds;
pub mod canonical;
pub mod ir;
pub mod linker;
pub mod llvm;
pub mod rustc;
pub mod shared;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::artifact::Artifact;
use crate::dep_info;
use crate::error::{Error, Result, capture};
use crate::toolchain::Toolchain;

/// Counts incompatible changes of the stamp or of how PTX is made.
pub const FORMAT: u32 = 2;

/// The oldest GPU generation that is supported; the driver compiles its PTX for every newer one.
pub const TARGET_CPU: &str = "sm_75";

/// PTX ISA 7.0: the oldest with everything sm_75 has that is wanted (`tanh.approx` came last). Drivers since
/// CUDA 11.0 (450.36, June 2020) load it.
pub const PTX_ISA: &str = "ptx70";

/// Result of a build, and the sources that it was built from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// PTX without a stamp.
    pub ptx: String,
    /// Names of the sources, relative to the repository root.
    pub sources: BTreeSet<String>,
}

/// Compiles one PTX file.
pub fn build(root: &Path, artifact: &Artifact, toolchain: &Toolchain) -> Result<Built> {
    let folder = tempfile::tempdir().map_err(Error::io("create", &std::env::temp_dir()))?;
    let path = |name| folder.path().join(name);
    let [linked, placed, optimised, ptx] = ["linked.ll", "placed.ll", "optimised.bc", "out.ptx"].map(path);
    let messages = rustc::build(root, artifact.feature, toolchain, &linked)?;
    let sources = dep_info::sources(root, &messages)?;
    let text = fs::read_to_string(&linked).map_err(Error::io("read", &linked))?;
    let (kernels, module) = linker::split_header(&text)?;
    let module = shared::place(module).map_err(|error| Error::Rejected(error.to_string()))?;
    fs::write(&placed, module).map_err(Error::io("write", &placed))?;
    let arguments = llvm::opt_arguments(&kernels, artifact.unroll);
    capture(toolchain.llvm.opt().args(arguments).arg(&placed).arg("-o").arg(&optimised))?;
    capture(toolchain.llvm.llc().args(llvm::llc_arguments()).arg(&optimised).arg("-o").arg(&ptx))?;
    let text = fs::read_to_string(&ptx).map_err(Error::io("read", &ptx))?;
    let canonical = canonical::canonical(&text).map_err(|error| Error::Rejected(error.to_string()))?;
    Ok(Built { ptx: bounds::place(&canonical), sources })
}
