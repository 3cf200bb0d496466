//! A kernel's machine code, for people who tune it.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::error::{Error, Result, capture};
use crate::ptxas::Ptxas;
use crate::tools;

/// Assembles a file and disassembles one of its kernels.
pub fn sass(ptxas: &Ptxas, ptx: &Path, kernel: &str, architecture: &str) -> Result<String> {
    let cuobjdump = tools::find("cuobjdump", None)?;
    let nvdisasm = tools::find("nvdisasm", None)?;
    let folder = tempfile::tempdir().map_err(Error::io("create", &env::temp_dir()))?;
    let cubin = folder.path().join("kernel.cubin");
    let unknown = || Error::Rejected(format!("ptxas {} does not know {architecture}", ptxas.version));
    let kernels = ptxas.assemble(ptx, architecture, &cubin)?.ok_or_else(unknown)?;
    if !kernels.contains_key(kernel) {
        let names: Vec<_> = kernels.into_keys().collect();
        return Err(Error::Rejected(format!("no kernel {kernel}; there are {}", names.join(", "))));
    }
    // cuobjdump calls nvdisasm by name.
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = nvdisasm.parent().map(Path::to_owned).into_iter().chain(env::split_paths(&path));
    let path = env::join_paths(folders).map_err(|error| Error::Rejected(error.to_string()))?;
    capture(Command::new(cuobjdump).args(["-sass", "-fun", kernel]).arg(cubin).env("PATH", path))
}
