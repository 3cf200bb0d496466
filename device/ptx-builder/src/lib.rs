//! `cargo ptx`: from the Rust sources of the device code to committed, stamped PTX.
//!
//! - [`toolchain`] finds a rustc with its own `core` sources, and LLVM tools of the same major version.
//! - [`codegen`] compiles, links, places shared memory, optimises and writes PTX. Whatever can change the
//!   output lives in that module, and its source is part of the stamp.
//! - [`dep_info`] asks the compiler which sources it read.
//! - [`audit`] refuses PTX that cannot load, or that carries formatting code.
//! - [`stamp`] ties the PTX to its sources, so that a test without any toolchain can tell when it is stale.
//! - [`ptxas`] and [`budget`] assemble the PTX for every supported GPU generation and hold what each kernel
//!   uses against what was recorded.

pub mod artifact;
pub mod audit;
pub mod budget;
pub mod codegen;
pub mod dep_info;
pub mod error;
pub mod ptxas;
pub mod sass;
pub mod stamp;
pub mod table;
pub mod toolchain;
pub mod tools;

pub use error::{Error, Result};
