//! The PTX files that are built from the kernels crate, and where things are in the repository.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::stamp::Sources;

/// One PTX module: the kernels crate with one feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The feature of the kernels crate.
    pub feature: &'static str,
    /// The head of the module (see [`ptx_text`]), relative to the repository root.
    pub path: &'static str,
    /// Whether users run it: then its kernels have budgets and may carry no formatting code.
    pub product: bool,
    /// Whether loops are unrolled that would otherwise be too large: right for kernels whose arrays are small and meant to
    /// be in registers, not for those of the stages.
    pub unroll: bool,
}

/// The stages of the renderer.
pub const PRODUCT: Artifact =
    Artifact { feature: "product", path: "device/ptx/modules/kernels.rptx", product: true, unroll: false };

/// The primitives.
pub const PRIMITIVES: Artifact = Artifact {
    feature: "primitives",
    path: "device/ptx/modules/primitives.rptx",
    product: true,
    unroll: true,
};

/// Kernels that the examples launch.
pub const EXAMPLES: Artifact =
    Artifact { feature: "examples", path: "device/ptx/modules/examples.rptx", product: true, unroll: true };

/// Kernels that the GPU tests of `cuda_std` and `libm` launch.
pub const SELFTEST: Artifact =
    Artifact { feature: "selftest", path: "device/ptx/modules/selftest.rptx", product: false, unroll: false };

/// All of them.
pub const ARTIFACTS: [Artifact; 4] = [PRODUCT, PRIMITIVES, EXAMPLES, SELFTEST];

impl Artifact {
    /// The whole PTX.
    pub fn read(&self, root: &Path) -> Result<String> {
        Ok(ptx_text::read(&root.join(self.path))?)
    }

    /// The file beside the head that lists the sources, as `sha256sum` does.
    pub fn sources(&self, root: &Path) -> PathBuf {
        root.join(self.path).with_extension("sources")
    }

    /// Replaces PTX and list of sources. The head, which has the stamp, is written last: an interrupted write leaves it
    /// stale.
    pub fn write(&self, root: &Path, ptx: &str, sources: &Sources) -> Result<()> {
        let list = self.sources(root);
        fs::write(&list, sources.to_string()).map_err(Error::io("write", &list))?;
        Ok(ptx_text::write(&root.join(self.path), ptx)?)
    }

    /// Writes the PTX for other programs into `folder`.
    pub fn unpack(&self, root: &Path, folder: &Path) -> Result<PathBuf> {
        let path = folder.join(self.feature).with_extension("ptx");
        fs::write(&path, self.read(root)?).map_err(Error::io("write", &path))?;
        Ok(path)
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
