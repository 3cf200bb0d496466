//! Machines that run kernels, the CPU and CUDA GPUs, and parallel primitives on them.
//!
//! In: arrays of plain numbers, and kernels, which are functions of an index and one argument struct. Out: arrays again, or
//! an [error](backend::Error) that says what was being done and what the machine said. A [`Backend`](backend::Backend)
//! allocates, copies, launches and waits; [`primitives`] are reduce, scan, compact, sort and their like, on every back end;
//! [`kernel_table`] tells what kernels take of a GPU. Nothing here knows scenes or light.
//!
//! ```
//! use torrance_gpu::backend::{Backend, Error, cpu::Cpu};
//! use torrance_gpu::primitives::{Length, Scan, Sum, Temp};
//!
//! # fn main() -> Result<(), Error> {
//! let mut cpu = Cpu::new(None)?;
//! let numbers = cpu.upload("numbers", &[3_u32, 1, 4, 1, 5])?;
//! let mut sums = cpu.zeroed("sums", 5)?;
//! let scan = Scan::<Sum<u32>>::inclusive();
//! let mut temp = Temp::new(&mut cpu, scan.temp_bytes(5))?;
//! scan.run(&mut cpu, &numbers, &mut sums, Length::Host(5), &mut temp)?;
//! assert_eq!(cpu.download(&sums)?, [3, 4, 8, 9, 14]);
//! # Ok(())
//! # }
//! ```
//!
//! With `Cuda::new(0)` of [`backend::cuda`] in the place of `Cpu::new(None)` the same lines run on a GPU. Its driver is found
//! when it is first needed, so that programs start where there is none; the CUDA toolkit is needed neither for building nor
//! for running. A workspace of your own needs these lines for that, since the build script of `cust` looks for a toolkit:
//!
//! ```toml
//! [patch.crates-io]
//! find_cuda_helper = { git = "…" } # the repository of this crate
//! ```

pub mod backend;
pub mod kernel_table;
pub mod primitives;
