//! torrance for Python: what `import torrance` calls. The classes that users see are Python's, in `python/torrance`; here is what
//! they are made of.

mod asset;
mod dlpack;
mod errors;
mod image;
mod judge;
mod laboratory;
mod pool;
mod scene;
mod source;
mod values;

use mimalloc::MiMalloc;
use pyo3::prelude::*;

/// Memory of films and images is kept for the next render: a system takes as long to give it as a small image takes to render.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// torrance, compiled.
#[pymodule]
mod _torrance {
    use std::ffi::OsString;

    use pyo3::prelude::*;
    use torrance_gpu::backend::cuda::{devices, driver};

    #[pymodule_export]
    use super::asset::Asset;
    #[pymodule_export]
    use super::image::{Image, Sum};
    #[pymodule_export]
    use super::judge::Verdict;
    #[pymodule_export]
    use super::laboratory::{Bsdf, conformance_of, not_unit};
    #[pymodule_export]
    use super::scene::Scene;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::pool::remember_process();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// The GPUs that there are: the names by which renders take them, and what they are.
    #[pyfunction]
    fn gpus() -> PyResult<Vec<(String, String)>> {
        let found = driver::load().and_then(|()| devices());
        let found = found.map_err(|e| super::errors::of_device("cuda:all", &e.into()))?;
        Ok(found.into_iter().map(|gpu| (format!("cuda:{}", gpu.index), gpu.name)).collect())
    }

    /// Runs the program `torrance` with arguments, of which the first is its name. Returns its exit code.
    #[pyfunction]
    fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| torrance::run(arguments).0)
    }
}
