//! y ← a·x + y, beside the driver's copy, which moves two numbers where this moves three:
//!
//! ```sh
//! cargo run --release --example saxpy
//! ```

use std::process::ExitCode;

use clap::Parser;
use primitives::Ptr;
use torrance_gpu::backend::{Backend, Buffer, Error};

#[path = "common/bandwidth.rs"]
mod bandwidth;
#[path = "common/mod.rs"]
pub(crate) mod common;
#[path = "../../../device/kernels/src/examples/saxpy.rs"]
mod kernel;

use kernel::SaxpyArgs;

/// y = a x + y, on the GPU if there is one
#[derive(Debug, Parser)]
#[command(after_help = common::EXIT_CODES)]
pub(crate) struct Options {
    /// Numbers in each array
    #[arg(short = 'n', long, default_value_t = 1 << 26, value_parser = clap::value_parser!(u32).range(..1 << 30))]
    pub(crate) size: u32,
    /// The factor, a whole number so that results are exact
    #[arg(short, long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(..1000))]
    pub(crate) a: u16,
}

/// Threads of a block.
pub(crate) const BLOCK: u32 = 256;

fn main() -> ExitCode {
    common::end(run(&Options::parse()))
}

/// Small whole numbers: sums and products of them are exact.
fn numbers(n: u32) -> (Vec<f32>, Vec<f32>) {
    ((0..n).map(|i| (i % 1009) as f32).collect(), (0..n).map(|i| (i % 31) as f32).collect())
}

/// The first number that is not what whole numbers give.
pub(crate) fn mistake(a: u16, y: &[f32]) -> Option<usize> {
    (0..y.len()).find(|i| f64::from(y[*i]) != f64::from(a) * (i % 1009) as f64 + (i % 31) as f64)
}

/// Whether every result was right.
pub(crate) fn run(options: &Options) -> Result<bool, Error> {
    let &Options { size: n, a } = options;
    let bytes = 3.0 * 4.0 * f64::from(n);
    let (mut x, y) = numbers(n);
    let mut expected = y.clone();
    let args = SaxpyArgs { x: Ptr::new(x.as_mut_ptr()), y: Ptr::new(expected.as_mut_ptr()), a: a.into(), n };
    // SAFETY: both arrays have `n` numbers.
    let ((), took) = common::on_cpu(|| unsafe { kernel::twin(&args) });
    println!("{n} numbers");
    println!("CPU, one thread: {:9.3} ms, {:6.1} GB/s", common::ms(took), common::giga(bytes, took));
    let right = common::verdict("CPU, against whole numbers", mistake(a, &expected).is_none());
    let Some(mut gpu) = common::gpu()? else { return Ok(right) };

    let copy = bandwidth::of_copy(&mut gpu, 4 * n as usize)?;
    println!("{}; a copy: {copy:.1} GB/s", gpu.name());
    let (x, y_before) = (gpu.upload("x", &x)?, gpu.upload("y", &y)?);
    let mut right = right;
    for (name, threads) in [("saxpy", n), ("saxpy_wide", (n / 4).max(4))] {
        let mut y = gpu.zeroed("result", n as usize)?;
        gpu.copy(&y_before, &mut y)?;
        let args = SaxpyArgs { x: Ptr::new(x.ptr()), y: Ptr::new(y.ptr()), a: a.into(), n };
        // SAFETY: the kernel takes these arguments and this grid, and both arrays have `n` numbers.
        unsafe { gpu.launch_kernel(name, BLOCK, threads, args) }?;
        let found = gpu.download(&y)?;
        // SAFETY: as above.
        let took = common::best(&mut gpu, |gpu| unsafe { gpu.launch_kernel(name, BLOCK, threads, args) })?;
        println!("{name:10} {:9.4} ms, {:6.1} GB/s", common::ms(took), common::giga(bytes, took));
        right &= common::verdict(&format!("{name}, against the CPU"), found == expected);
    }
    Ok(right)
}
