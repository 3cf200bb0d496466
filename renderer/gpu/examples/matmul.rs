//! C = A·B for matrices of any size, in three ways:
//!
//! ```sh
//! cargo run --release --example matmul
//! cargo run --release --example matmul -- -m 1000 -k 37 -n 2049
//! ```

use std::process::ExitCode;

use clap::Parser;
use primitives::Ptr;
use rayon::prelude::*;
use torrance_gpu::backend::{Backend, Buffer, Error};

#[path = "common/mod.rs"]
mod common;
#[path = "../../../device/kernels/src/examples/matmul.rs"]
pub(crate) mod kernel;

use kernel::{MatmulArgs, SQUARE, THREADS, TILE};

/// The product of two matrices, on the GPU if there is one
#[derive(Debug, Parser)]
#[command(after_help = common::EXIT_CODES)]
pub(crate) struct Options {
    /// Rows of the first matrix
    #[arg(short, default_value_t = 2048, value_parser = side())]
    pub(crate) m: u32,
    /// Columns of the first matrix, rows of the second
    #[arg(short, default_value_t = 2048, value_parser = side())]
    pub(crate) k: u32,
    /// Columns of the second matrix
    #[arg(short, default_value_t = 2048, value_parser = side())]
    pub(crate) n: u32,
}

fn side() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(..=32_768)
}

fn main() -> ExitCode {
    common::end(run(&Options::parse()))
}

/// A matrix of whole numbers from −4 to 4: sums of their products are exact, whatever their order.
pub(crate) fn matrix(rows: u32, columns: u32, seed: u32) -> Vec<f32> {
    let hash = |i: u32| (i ^ seed).wrapping_mul(0x9e37_79b9).rotate_left(15).wrapping_mul(0x85eb_ca6b);
    (0..rows * columns).map(|i| (hash(i) >> 16) as f32).map(|x| x % 9.0 - 4.0).collect()
}

/// Whether C·x is A·(B·x) for a vector x of whole numbers (Freivalds 1979): if C is wrong, that it is is unlikely.
pub(crate) fn is_product(options: &Options, [a, b, c]: [&[f32]; 3]) -> bool {
    let &Options { m, k, n } = options;
    let times = |matrix: &[f32], rows: u32, vector: &[i64]| -> Vec<i64> {
        let dot = |row: &[f32]| row.iter().zip(vector).map(|(m, v)| *m as i64 * v).sum();
        (0..rows as usize).map(|i| dot(&matrix[i * vector.len()..][..vector.len()])).collect()
    };
    let vector: Vec<i64> = (0..i64::from(n)).map(|i| i * i % 1013 - 500).collect();
    times(c, m, &vector) == times(a, m, &times(b, k, &vector))
}

/// The product, by all cores: each row of it as in the twin.
pub(crate) fn product(&Options { k, n, .. }: &Options, a: &mut [f32], b: &mut [f32], c: &mut [f32]) {
    let b = Ptr::new(b.as_mut_ptr());
    if n == 0 {
        return;
    }
    c.par_chunks_mut(n as usize).enumerate().for_each(|(i, row)| {
        let a = Ptr::new(a.as_ptr().wrapping_add(i * k as usize).cast_mut());
        let args = MatmulArgs { a, b, c: Ptr::new(row.as_mut_ptr()), m: 1, k, n };
        // SAFETY: the row is this call's, and the factors are only read.
        unsafe { kernel::twin(&args) };
    });
}

/// Whether every result was right.
pub(crate) fn run(options: &Options) -> Result<bool, Error> {
    let &Options { m, k, n } = options;
    let work = 2.0 * f64::from(m) * f64::from(k) * f64::from(n);
    let (mut a, mut b) = (matrix(m, k, 1), matrix(k, n, 2));
    let mut expected = vec![0.0; m as usize * n as usize];
    let ((), took) = common::on_cpu(|| product(options, &mut a, &mut b, &mut expected));
    println!("{m} × {k} times {k} × {n}");
    println!("{:15} {:9.3} ms, {:8.1} GFLOP/s", "CPU", common::ms(took), common::giga(work, took));
    let mut right = common::verdict("CPU, against whole numbers", is_product(options, [&a, &b, &expected]));
    let Some(mut gpu) = common::gpu()? else { return Ok(right) };

    println!("{}", gpu.name());
    let (a, b) = (gpu.upload("A", &a)?, gpu.upload("B", &b)?);
    for (name, side) in [("matmul_naive", TILE), ("matmul_tiled", TILE), ("matmul_blocked", SQUARE)] {
        let c = gpu.zeroed::<f32>("C", expected.len())?;
        let args = MatmulArgs { a: Ptr::new(a.ptr()), b: Ptr::new(b.ptr()), c: Ptr::new(c.ptr()), m, k, n };
        let grid = (m.div_ceil(side) * n.div_ceil(side), THREADS, 0);
        // SAFETY: the kernel takes these arguments and this grid, and the matrices are as large as they say.
        let took = common::best(&mut gpu, |gpu| unsafe { gpu.launch_blocks(name, grid, args) })?;
        println!("{name:15} {:9.3} ms, {:8.1} GFLOP/s", common::ms(took), common::giga(work, took));
        right &= common::verdict(&format!("{name}, against the CPU"), gpu.download(&c)? == expected);
    }
    Ok(right)
}
