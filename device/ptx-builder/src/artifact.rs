//! The PTX files that are built from the kernels crate, and where things are in the repository.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// One PTX file: the kernels crate with one feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The feature of the kernels crate.
    pub feature: &'static str,
    /// The file, relative to the repository root.
    pub path: &'static str,
    /// Whether users run it: then its kernels have budgets and may carry no formatting code.
    pub product: bool,
}

/// What the renderer embeds.
pub const PRODUCT: Artifact = Artifact { feature: "product", path: "device/kernels.ptx", product: true };

/// What the GPU tests of `cuda_std` and `libm` launch.
pub const SELFTEST: Artifact = Artifact { feature: "selftest", path: "device/selftest.ptx", product: false };

/// All of them.
pub const ARTIFACTS: [Artifact; 2] = [PRODUCT, SELFTEST];

impl Artifact {
    /// Its name in messages.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// The whole file.
    pub fn read(&self, root: &Path) -> Result<String> {
        let path = root.join(self.path);
        std::fs::read_to_string(&path).map_err(Error::io("read", &path))
    }
}

/// The repository root: the nearest folder at or above `start` that has the kernels crate.
pub fn find_root(start: &Path) -> Result<PathBuf> {
    let is_root = |folder: &&Path| folder.join("device/kernels/Cargo.toml").is_file();
    start.ancestors().find(is_root).map(Path::to_owned).ok_or_else(|| {
        let start = start.display();
        Error::Rejected(format!(
            "no device/kernels/Cargo.toml at or above {start}: run inside the repository"
        ))
    })
}
