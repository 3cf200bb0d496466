//! Heat in a plate whose border lets none through, in three ways:
//!
//! ```sh
//! cargo run --release --example stencil
//! ```

use std::f64::consts::PI;
use std::process::ExitCode;

use clap::Parser;
use primitives::Ptr;
use torrance_gpu::backend::{Backend, Buffer, Error};

#[path = "common/bandwidth.rs"]
mod bandwidth;
#[path = "common/mod.rs"]
mod common;
#[path = "../../../device/kernels/src/examples/stencil.rs"]
pub(crate) mod kernel;

use kernel::{BLOCK, CELLS, HeatArgs, REGION, STEPS, TILE};

/// Heat in a plate, on the GPU if there is one
#[derive(Debug, Parser)]
#[command(after_help = common::EXIT_CODES)]
pub(crate) struct Options {
    /// Cells across
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=32_768))]
    pub(crate) width: u32,
    /// Cells down
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=32_768))]
    pub(crate) height: u32,
    /// Time steps, times 4
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(..=1000))]
    pub(crate) rounds: u32,
}

/// Diffusivity · time step / (width of a cell)².
const RATE: f32 = 0.2;
/// Waves that the plate begins with: half periods across and down, amplitude.
const WAVES: [(u32, u32, f64); 3] = [(0, 0, 20.0), (3, 2, 5.0), (17, 40, 1.0)];

fn main() -> ExitCode {
    common::end(run(&Options::parse()))
}

/// The plate after so many steps. A wave of the cosine transform stays what it is and shrinks by the same factor in each
/// step, which the five-point scheme has in closed form.
pub(crate) fn plate(&Options { width, height, .. }: &Options, steps: u32) -> Vec<f64> {
    let wave = |n: u32, half_periods: u32| -> Vec<f64> {
        let phase = |i: u32| PI * f64::from(half_periods) * (f64::from(i) + 0.5) / f64::from(n);
        (0..n).map(|i| phase(i).cos()).collect()
    };
    let shrinks = |n: u32, half_periods: u32| 1.0 - (PI * f64::from(half_periods) / f64::from(n)).cos();
    let waves = WAVES.map(|(p, q, amplitude)| {
        let factor = 1.0 - 2.0 * f64::from(RATE) * (shrinks(width, p) + shrinks(height, q));
        (wave(width, p), wave(height, q), amplitude * factor.powi(steps as i32))
    });
    let at = |x: usize, y: usize| waves.iter().map(|(across, down, a)| a * across[x] * down[y]).sum();
    (0..height as usize)
        .flat_map(|y| (0..width as usize).map(move |x| (x, y)))
        .map(|(x, y)| at(x, y))
        .collect()
}

/// The largest difference between temperatures and what they should be.
pub(crate) fn error(found: &[f32], exact: &[f64]) -> f64 {
    found.iter().zip(exact).map(|(f, e)| (f64::from(*f) - e).abs()).fold(0.0, f64::max)
}

/// Rounding: half a unit in the last place of 26 for a step, and as much for the beginning.
pub(crate) fn tolerance(steps: u32) -> f64 {
    f64::from(steps + 1) * 26.0 * f64::from(f32::EPSILON)
}

/// The plate after so many steps of the twin.
pub(crate) fn by_twin(&Options { width, height, .. }: &Options, mut now: Vec<f32>, steps: u32) -> Vec<f32> {
    let mut next = vec![0.0; now.len()];
    for _ in 0..steps {
        let (from, to) = (Ptr::new(now.as_mut_ptr()), Ptr::new(next.as_mut_ptr()));
        // SAFETY: both have width · height numbers.
        unsafe { kernel::twin(&HeatArgs { from, to, width, height, rate: RATE }) };
        std::mem::swap(&mut now, &mut next);
    }
    now
}

/// Whether every result was right.
pub(crate) fn run(options: &Options) -> Result<bool, Error> {
    let &Options { width, height, rounds } = options;
    let steps = rounds * STEPS;
    let work = f64::from(width) * f64::from(height) * f64::from(steps);
    let start: Vec<f32> = plate(options, 0).into_iter().map(|t| t as f32).collect();
    let (expected, took) = common::on_cpu(|| by_twin(options, start.clone(), steps));
    println!("{width} × {height} cells, {steps} steps");
    println!(
        "{:16} {:9.3} ms, {:6.1} Gcells/s",
        "CPU, one thread",
        common::ms(took),
        common::giga(work, took)
    );
    let error = error(&expected, &plate(options, steps));
    let mut right = common::verdict(&format!("CPU, off by {error:.1e}"), error <= tolerance(steps));
    let Some(mut gpu) = common::gpu()? else { return Ok(right) };

    let copy = bandwidth::of_copy(&mut gpu, start.len() * 4)?;
    println!("{}; a copy as large: {:.1} Gcells/s", gpu.name(), copy / 8.0);
    let inner = (REGION.0 - 2 * STEPS, REGION.1 - 2 * STEPS);
    for (name, piece, at_once) in
        [("heat_naive", CELLS, 1), ("heat_shared", TILE, 1), ("heat_steps", inner, STEPS)]
    {
        let grid = (width.div_ceil(piece.0) * height.div_ceil(piece.1), BLOCK, 0);
        let (a, b) = (gpu.upload("plate", &start)?, gpu.zeroed("next plate", start.len())?);
        let all = |gpu: &mut torrance_gpu::backend::cuda::Cuda| {
            let (mut from, mut to) = (Ptr::new(a.ptr()), Ptr::new(b.ptr()));
            for _ in 0..steps / at_once {
                let args = HeatArgs { from, to, width, height, rate: RATE };
                // SAFETY: the kernel takes these arguments and this grid; both plates have width · height cells.
                unsafe { gpu.launch_blocks(name, grid, args) }?;
                std::mem::swap(&mut from, &mut to);
            }
            Ok(())
        };
        all(&mut gpu)?;
        let found = gpu.download(if (steps / at_once).is_multiple_of(2) { &a } else { &b })?;
        let took = common::best(&mut gpu, all)?;
        println!("{name:16} {:9.3} ms, {:6.1} Gcells/s", common::ms(took), common::giga(work, took));
        right &= common::verdict(&format!("{name}, against the CPU"), found == expected);
    }
    Ok(right)
}
