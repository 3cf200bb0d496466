//! Takes the place of the crate of this name in the build scripts of `cust` and `cust_raw`, by `[patch.crates-io]` of the
//! workspace: the published one wants a CUDA installation, and has programs linked with its `libcuda`. Here there is nothing
//! to find, since `torrance-gpu` defines the driver's functions itself (`src/backend/cuda/driver`).

/// Leaves the linker's arguments as they are.
pub fn include_cuda() {}
