//! The parts that the examples share: the GPU, if there is one; times; a verdict.

use std::fmt::Display;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use torrance_gpu::backend::Error;
use torrance_gpu::backend::cuda::{Cuda, driver, unpacked};

/// Explains the exit codes below every `--help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  right
  1  a result is wrong
  2  bad usage, or a failure";

/// Calls of what is timed; the best one counts.
const CALLS: u32 = 10;

/// The first GPU, with the kernels of the examples. Says why there is none.
///
/// # Errors
/// There is one, or should be, and it cannot be used.
pub(crate) fn gpu() -> Result<Option<Cuda>, Error> {
    if let Some(reason) = driver::absence() {
        println!("no GPU: {reason}");
        return Ok(None);
    }
    Cuda::with_ptx_on_demand(0, &unpacked(ptx::EXAMPLES)).map(Some)
}

/// Ends the program.
pub(crate) fn end(right: Result<bool, impl Display>) -> ExitCode {
    ExitCode::from(code(right))
}

/// The exit code of what was found.
pub(crate) fn code(right: Result<bool, impl Display>) -> u8 {
    match right {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            eprintln!("error: {error}");
            2
        }
    }
}

/// The value of `work`, and how long the CPU took for it.
pub(crate) fn on_cpu<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let value = work();
    (value, start.elapsed())
}

/// The shortest time that the GPU took for what `work` queues, after a call that is not timed.
pub(crate) fn best(
    gpu: &mut Cuda,
    mut work: impl FnMut(&mut Cuda) -> Result<(), Error>,
) -> Result<Duration, Error> {
    work(gpu)?;
    let mut best = Duration::MAX;
    for _ in 0..CALLS {
        best = best.min(gpu.time(&mut work)?);
    }
    Ok(best)
}

/// 10⁹ per second.
pub(crate) fn giga(count: f64, took: Duration) -> f64 {
    count / took.as_secs_f64().max(1e-9) / 1e9
}

/// Milliseconds.
pub(crate) fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}

/// Says whether `what` is right, and passes that on.
pub(crate) fn verdict(what: &str, right: bool) -> bool {
    println!("{what}: {}", if right { "right" } else { "WRONG" });
    right
}
