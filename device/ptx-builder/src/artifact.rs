//! The PTX files that are built from the kernels crate, and where things are in the repository.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};

use crate::error::{Error, Result};

/// One PTX file: the kernels crate with one feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The feature of the kernels crate.
    pub feature: &'static str,
    /// The file, compressed by gzip, relative to the repository root.
    pub path: &'static str,
    /// Whether users run it: then its kernels have budgets and may carry no formatting code.
    pub product: bool,
    /// Whether loops are unrolled that would otherwise be too large: right for kernels whose arrays are small and meant to
    /// be in registers, not for those of the stages.
    pub unroll: bool,
}

/// What the renderer embeds.
pub const PRODUCT: Artifact =
    Artifact { feature: "product", path: "device/kernels.ptx.gz", product: true, unroll: false };

/// The primitives, which the renderer embeds as well.
pub const PRIMITIVES: Artifact =
    Artifact { feature: "primitives", path: "device/primitives.ptx.gz", product: true, unroll: true };

/// What the examples launch.
pub const EXAMPLES: Artifact =
    Artifact { feature: "examples", path: "device/examples.ptx.gz", product: true, unroll: true };

/// What the GPU tests of `cuda_std` and `libm` launch.
pub const SELFTEST: Artifact =
    Artifact { feature: "selftest", path: "device/selftest.ptx.gz", product: false, unroll: false };

/// All of them.
pub const ARTIFACTS: [Artifact; 4] = [PRODUCT, PRIMITIVES, EXAMPLES, SELFTEST];

impl Artifact {
    /// Its name in messages.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// The whole PTX.
    pub fn read(&self, root: &Path) -> Result<String> {
        let path = root.join(self.path);
        let file = fs::File::open(&path).map_err(Error::io("read", &path))?;
        let mut ptx = String::new();
        GzDecoder::new(file).read_to_string(&mut ptx).map_err(Error::io("read", &path))?;
        Ok(ptx)
    }

    /// Replaces the file; never leaves half of one. The same PTX always makes the same bytes.
    pub fn write(&self, root: &Path, ptx: &str) -> Result<()> {
        let path = root.join(self.path);
        let partial = path.with_extension("part");
        let write = || {
            let mut packed = GzBuilder::new().write(fs::File::create(&partial)?, Compression::best());
            packed.write_all(ptx.as_bytes())?;
            packed.finish()?.sync_all()?;
            fs::rename(&partial, &path)
        };
        write().map_err(Error::io("write", &path))
    }

    /// Writes the PTX, for programs that read no compressed files, into `folder`.
    pub fn unpack(&self, root: &Path, folder: &Path) -> Result<PathBuf> {
        let path = folder.join(self.name()).with_extension("");
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
