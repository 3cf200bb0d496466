//! Measuring a primitive beside a copy, and beside the baseline.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use torrance_gpu::backend::{Buffer, Error};

use super::baseline::Function;
use super::memory::allocated;
use super::{Baseline, Benchmark, Family, MeasureError, TimedBackend, named};

/// Calls are timed in batches that last about this long: far more than the clock's resolution, and than the first
/// of them waits for the host.
const BATCH: Duration = Duration::from_millis(2);
/// Calls of a batch at most: the driver's queue holds more launches than they make.
const MOST_CALLS: u32 = 100;
/// Batches of each, if there is time.
const ROUNDS: usize = 25;
/// Batches of each, whatever the time.
const FEWEST_ROUNDS: usize = 3;
/// How long to go on.
const ENOUGH: Duration = Duration::from_secs(1);
/// Elements on which results are compared with the baseline's.
const COMPARED: u32 = (1 << 20) + 7;

/// How long one call takes, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// The least of all batches.
    pub least: f64,
    /// The median of all batches.
    pub median: f64,
}

/// Measurements of a primitive, for one length.
#[derive(Debug, Clone, PartialEq)]
pub struct PrimitiveTiming {
    /// Its name.
    pub name: &'static str,
    /// The chart that shows it.
    pub family: Family,
    /// Elements.
    pub n: u32,
    /// Bytes that it must at least read and write.
    pub bytes: f64,
    /// Its times.
    pub times: Times,
    /// Times of a copy of as many 32-bit numbers, taken in turns with it.
    pub copy: Times,
    /// Times of the baseline, taken in turns with it, where there is one.
    pub baseline: Option<Times>,
}

impl PrimitiveTiming {
    /// Bytes a second.
    pub fn bandwidth(&self) -> f64 {
        self.bytes / self.times.least
    }

    /// Elements a second.
    pub fn throughput(&self) -> f64 {
        f64::from(self.n) / self.times.least
    }

    /// Its bandwidth as a fraction of the copy's.
    pub fn of_copy(&self) -> f64 {
        self.bandwidth() * self.copy.least / (8.0 * f64::from(self.n))
    }

    /// Speed relative to the baseline's.
    pub fn of_baseline(&self) -> Option<f64> {
        self.baseline.map(|b| b.least / self.times.least)
    }
}

/// A copy of some 32-bit numbers, which primitives for as many elements are compared with.
pub(super) struct CopyTimer<B: TimedBackend> {
    n: u32,
    from: B::Buf<u32>,
    to: B::Buf<u32>,
}

impl<B: TimedBackend> CopyTimer<B> {
    pub(super) fn new(backend: &mut B, n: u32) -> Result<Self, MeasureError> {
        allocated(backend, 8 * n as usize, |b| {
            Ok(Self { n, from: b.zeroed("copy from", n as usize)?, to: b.zeroed("copy to", n as usize)? })
        })
    }
}

/// Measures a primitive, in turns with a copy and with its counterpart in the baseline, if it has one.
pub(super) fn measure<B: TimedBackend>(
    backend: &mut B,
    benchmark: &Benchmark<B>,
    CopyTimer { n, from, to }: &mut CopyTimer<B>,
    baseline: Option<&Baseline>,
    stop: &dyn Fn() -> bool,
) -> Result<PrimitiveTiming, MeasureError> {
    let mut prepared = (benchmark.prepare)(backend, *n)?;
    let theirs = BaselineRun::new(backend, baseline, benchmark.name, *n)?;
    let buffers = prepared.addresses();

    let mut ours = |b: &mut B| prepared.run(b);
    let mut copy = |b: &mut B| b.copy(from, to);
    let mut theirs = theirs.as_ref().map(|theirs| {
        |_: &mut B| {
            // SAFETY: the buffers are the counterpart's, and outlive the batches; `timed` makes the context current.
            unsafe { theirs.run(&buffers) }
        }
    });
    let mut works: Vec<Work<'_, B>> = vec![&mut ours, &mut copy];
    if let Some(theirs) = &mut theirs {
        works.push(theirs);
    }
    let times = in_turns(backend, &mut works, stop)?.ok_or(MeasureError::Stopped)?;
    let &Benchmark { name, family, bytes, .. } = benchmark;
    let bytes = bytes * f64::from(*n);
    let (times, copy, baseline) = (times[0], times[1], times.get(2).copied());
    Ok(PrimitiveTiming { name, family, n: *n, bytes, times, copy, baseline })
}

/// Queues what is timed.
type Work<'a, B> = &'a mut dyn FnMut(&mut B) -> Result<(), Error>;

/// Times of each work, taken in turns; `None` if `stop` ended it early.
fn in_turns<B: TimedBackend>(
    backend: &mut B,
    works: &mut [Work<'_, B>],
    stop: &dyn Fn() -> bool,
) -> Result<Option<Vec<Times>>, Error> {
    let mut batches = Vec::new();
    for work in &mut *works {
        // The first call compiles kernels.
        backend.timed(&mut |b| work(b))?;
        batches.push((calls(backend.timed(&mut |b| work(b))?), Vec::with_capacity(ROUNDS)));
    }
    let start = Instant::now();
    for round in 0..ROUNDS {
        if round >= FEWEST_ROUNDS && start.elapsed() > ENOUGH {
            break;
        }
        for (work, (calls, seconds)) in works.iter_mut().zip(&mut batches) {
            if stop() {
                return Ok(None);
            }
            let took = backend.timed(&mut |b| (0..*calls).try_for_each(|_| work(b)))?;
            seconds.push(took.as_secs_f64() / f64::from(*calls));
        }
    }
    Ok(Some(batches.into_iter().map(|(_, seconds)| Times::from_seconds(seconds)).collect()))
}

/// Number of calls of this duration that make a batch.
fn calls(one: Duration) -> u32 {
    (BATCH.as_secs_f64() / one.as_secs_f64().max(1e-9)).clamp(1.0, f64::from(MOST_CALLS)) as u32
}

impl Times {
    /// Least and median of all measured times.
    pub(super) fn from_seconds(mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        let at = |i: usize| seconds.get(i).copied().unwrap_or(f64::NAN);
        let middle = seconds.len().saturating_sub(1);
        Self { least: at(0), median: 0.5 * (at(middle / 2) + at(middle.div_ceil(2))) }
    }
}

/// The baseline's counterpart of a primitive, with its temporary memory, and where it queues its work.
struct BaselineRun<B: TimedBackend> {
    function: Function,
    temp: B::Buf<u64>,
    stream: *mut c_void,
}

impl<B: TimedBackend> BaselineRun<B> {
    fn new(
        backend: &mut B,
        baseline: Option<&Baseline>,
        name: &'static str,
        n: u32,
    ) -> Result<Option<Self>, MeasureError> {
        // This makes the context current, too.
        backend.synchronize()?;
        let function = baseline.and_then(|b| b.function(name, n));
        let (Some(function), Some(stream)) = (function, backend.cuda_stream()) else { return Ok(None) };
        let temp = allocated(backend, function.temp_bytes, |b| {
            b.zeroed("the baseline's temporary memory", function.temp_bytes.div_ceil(8))
        })?;
        Ok(Some(Self { function, temp, stream }))
    }

    /// Queues it on the buffers of its counterpart.
    ///
    /// # Safety
    /// They are those, for as many elements, and live until the work has ended; so does the baseline.
    unsafe fn run(&self, buffers: &[*mut c_void]) -> Result<(), Error> {
        // SAFETY: as the caller promised; the temporary memory is as large as asked for.
        unsafe { self.function.run(buffers, self.temp.ptr().cast(), self.stream) }
    }
}

/// Compares the results of the primitives of these names with those of their counterparts in the baseline. `begin` is told
/// each name before.
///
/// # Errors
/// They differ, they do not fit into memory, or the machine fails.
pub(crate) fn check_all<B: TimedBackend>(
    backend: &mut B,
    names: &[&str],
    baseline: &Baseline,
    begin: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    named(names).iter().try_for_each(|benchmark| {
        begin(benchmark.name);
        let doing = || format!("comparing {} with the baseline", benchmark.name);
        check(backend, benchmark, baseline).map_err(|e| e.into_error(doing()))
    })
}

/// Compares the results of a primitive with those of its counterpart in the baseline, if it has one.
fn check<B: TimedBackend>(
    backend: &mut B,
    benchmark: &Benchmark<B>,
    baseline: &Baseline,
) -> Result<(), MeasureError> {
    let Some(theirs) = BaselineRun::new(backend, Some(baseline), benchmark.name, COMPARED)? else {
        return Ok(());
    };
    let prepared = (benchmark.prepare)(backend, COMPARED)?;
    let buffers = prepared.addresses();
    // SAFETY: the buffers are the counterpart's, and live until their contents have been read.
    backend.timed(&mut |_| unsafe { theirs.run(&buffers) })?;
    let theirs = prepared.results(backend)?;
    // Other buffers, on which the baseline has left nothing.
    let mut prepared = (benchmark.prepare)(backend, COMPARED)?;
    prepared.run(backend)?;
    let ours = prepared.results(backend)?;
    if ours == theirs {
        return Ok(());
    }
    let doing = format!("running it and {}", baseline.title());
    Err(Error { doing, reason: format!("their results for {COMPARED} elements differ") }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_measurement() {
        let times = |least| Times { least, median: 2.0 * least };
        let measured = PrimitiveTiming {
            name: "scan",
            family: Family::Scans,
            n: 1000,
            bytes: 8000.0,
            times: times(2e-6),
            copy: times(1e-6),
            baseline: Some(times(3e-6)),
        };
        assert_eq!((measured.bandwidth(), measured.throughput()), (4e9, 5e8));
        assert!((measured.of_copy() - 0.5).abs() < 1e-12);
        assert!((measured.of_baseline().unwrap() - 1.5).abs() < 1e-12);
    }

    #[test]
    fn batches_and_medians() {
        assert_eq!(calls(Duration::from_millis(1)), 2);
        assert_eq!(calls(Duration::from_secs(1)), 1);
        assert_eq!(calls(Duration::ZERO), MOST_CALLS);
        assert_eq!(Times::from_seconds(vec![3.0, 1.0, 9.0]), Times { least: 1.0, median: 3.0 });
        assert_eq!(Times::from_seconds(vec![3.0, 1.0, 9.0, 4.0]), Times { least: 1.0, median: 3.5 });
    }
}
