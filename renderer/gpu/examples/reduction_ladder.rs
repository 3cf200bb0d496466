//! A sum in seven ways, each with an idea more than the one before, and their times:
//!
//! ```sh
//! cargo run --release --example reduction_ladder
//! ```

use std::process::ExitCode;

use clap::Parser;
use primitives::Ptr;
use torrance_gpu::backend::cuda::{Cuda, CudaBuffer};
use torrance_gpu::backend::{Backend, Buffer, Error};

#[path = "common/bandwidth.rs"]
mod bandwidth;
#[path = "common/mod.rs"]
mod common;
#[path = "../../../device/kernels/src/examples/reduction_ladder.rs"]
pub(crate) mod kernel;

use kernel::{BLOCK, SumArgs};

/// A sum, step by step faster, on the GPU if there is one
#[derive(Debug, Parser)]
#[command(after_help = common::EXIT_CODES)]
pub(crate) struct Options {
    /// Numbers
    #[arg(short = 'n', long, default_value_t = 1 << 27, value_parser = clap::value_parser!(u32).range(..1 << 31))]
    pub(crate) size: u32,
}

/// A step of the ladder.
struct Rung {
    kernel: &'static str,
    what: &'static str,
    /// Numbers that a block adds; none if it adds as many as there are.
    per_block: Option<u32>,
}

const LADDER: [Rung; 7] = [
    Rung { kernel: "sum_interleaved", what: "interleaved addressing", per_block: Some(BLOCK) },
    Rung { kernel: "sum_strided", what: "  without divergence", per_block: Some(BLOCK) },
    Rung { kernel: "sum_sequential", what: "sequential addressing", per_block: Some(BLOCK) },
    Rung { kernel: "sum_add_on_load", what: "first add on load", per_block: Some(2 * BLOCK) },
    Rung { kernel: "sum_last_warp", what: "unrolled last warp", per_block: Some(2 * BLOCK) },
    Rung { kernel: "sum_shuffle", what: "shuffles", per_block: Some(2 * BLOCK) },
    Rung { kernel: "sum_many", what: "many numbers a thread", per_block: None },
];

impl Rung {
    /// Blocks that make a sum each of `n` numbers.
    fn blocks(&self, n: u32, gpu: &Cuda) -> u32 {
        let info = gpu.info();
        let held = info.multiprocessors * (info.multiprocessor.threads / BLOCK);
        match self.per_block {
            Some(numbers) => n.div_ceil(numbers).max(1),
            // The last sum is one block's.
            None if n <= held => 1,
            None => held.min(n.div_ceil(4 * BLOCK)),
        }
    }

    /// Queues the sum of `input`. Returns which of the two places it is in.
    fn queue(
        &self,
        gpu: &mut Cuda,
        input: &CudaBuffer<u32>,
        sums: [&CudaBuffer<u32>; 2],
    ) -> Result<usize, Error> {
        let (mut from, mut n, mut to) = (input.ptr(), input.len() as u32, 0);
        loop {
            let blocks = self.blocks(n, gpu);
            let args = SumArgs { input: Ptr::new(from), output: Ptr::new(sums[to].ptr()), n };
            // SAFETY: the kernel takes these arguments; both places have room for a number of each block.
            unsafe { gpu.launch_blocks(self.kernel, (blocks, BLOCK, 0), args) }?;
            if blocks == 1 {
                return Ok(to);
            }
            (from, n, to) = (sums[to].ptr(), blocks, 1 - to);
        }
    }
}

fn main() -> ExitCode {
    common::end(run(&Options::parse()))
}

/// 0, 1, 2, …: another element in the place of one is another sum.
pub(crate) fn numbers(n: u32) -> Vec<u32> {
    (0..n).collect()
}

/// Their sum, by Gauss.
pub(crate) fn closed_form(n: u32) -> u32 {
    let n = u64::from(n);
    (n * n.saturating_sub(1) / 2) as u32
}

/// The sum, by the twin.
pub(crate) fn sum(numbers: &mut [u32]) -> u32 {
    let mut sum = 0;
    let (input, output) = (Ptr::new(numbers.as_mut_ptr()), Ptr::new(&raw mut sum));
    // SAFETY: there are that many numbers, and room for the sum.
    unsafe { kernel::twin(&SumArgs { input, output, n: numbers.len() as u32 }) };
    sum
}

/// Whether every result was right.
pub(crate) fn run(options: &Options) -> Result<bool, Error> {
    let n = options.size;
    let bytes = 4.0 * f64::from(n);
    let mut numbers = numbers(n);
    let (expected, took) = common::on_cpu(|| sum(&mut numbers));
    println!("{n} numbers");
    println!("CPU, one thread: {:9.3} ms, {:6.1} GB/s", common::ms(took), common::giga(bytes, took));
    let mut right = common::verdict("CPU, against the closed form", expected == closed_form(n));
    let Some(mut gpu) = common::gpu()? else { return Ok(right) };

    let copy = bandwidth::of_copy(&mut gpu, 4 * n as usize)?;
    println!("{}; a copy: {copy:.1} GB/s\n", gpu.name());
    let input = gpu.upload("numbers", &numbers)?;
    let places = [0, 1].map(|_| gpu.zeroed::<u32>("sums", n.div_ceil(BLOCK).max(1) as usize));
    let [first, second] = places;
    let (first, second) = (first?, second?);
    println!("{:24} {:>10} {:>8} {:>8} {:>8}", "", "ms", "GB/s", "speed-up", "of copy");
    let mut before = None;
    for rung in &LADDER {
        let place = rung.queue(&mut gpu, &input, [&first, &second])?;
        let found = gpu.download([&first, &second][place])?[0];
        let took = common::best(&mut gpu, |gpu| rung.queue(gpu, &input, [&first, &second]).map(drop))?;
        let (rate, speed_up) = (common::giga(bytes, took), before.map_or(1.0, |b| b / common::ms(took)));
        let wrong = if found == expected { "" } else { "  WRONG" };
        println!(
            "{:24} {:10.4} {rate:8.1} {speed_up:7.2}x {:7.1}%{wrong}",
            rung.what,
            common::ms(took),
            100.0 * rate / copy.max(f64::MIN_POSITIVE)
        );
        right &= found == expected;
        before = Some(common::ms(took));
    }
    println!();
    Ok(common::verdict("GPU, against the CPU", right))
}
