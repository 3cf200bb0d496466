//! Benchmarks many primitives, for many lengths.

use torrance_gpu::backend::Error;

use super::measure::{CopyTimer, measure};
use super::{Baseline, Benchmark, MeasureError, PrimitiveTiming, TimedBackend};

/// Results of benchmarking primitives.
#[derive(Debug, Default)]
pub struct Results {
    /// The measurements, the first length first.
    pub measured: Vec<PrimitiveTiming>,
    /// Benchmarks that did not fit into memory.
    pub skipped: Vec<Skipped>,
    /// The way it ended.
    pub end: End,
}

/// The way a survey ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum End {
    /// There was no more to measure.
    #[default]
    Complete,
    /// It was stopped.
    Stopped,
    /// It failed after the measurements in the results.
    Failed(Error),
}

/// A benchmark that was left out, since it does not fit.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} of {n} elements is skipped: {reason}", name.unwrap_or("everything"))]
pub struct Skipped {
    /// A primitive, or all of them.
    pub name: Option<&'static str>,
    /// Elements.
    pub n: u32,
    /// The reason.
    pub reason: String,
}

/// Receives the progress of a survey, and can stop it.
pub trait Watch {
    /// A primitive is about to be measured for `n` elements.
    fn begin(&mut self, name: &str, n: u32);
    /// A benchmark was skipped.
    fn skipped(&mut self, skipped: &Skipped);
    /// Whether to end early.
    fn is_stopping(&self) -> bool;
}

/// Measures each of `benchmarks` for each of `lengths`, and what the baseline has of them in turns with it. What does not
/// fit is skipped, and a failure ends it: what was measured before counts.
pub(crate) fn measure_all<B: TimedBackend>(
    backend: &mut B,
    benchmarks: &[Benchmark<B>],
    lengths: &[u32],
    baseline: Option<&Baseline>,
    watch: &mut dyn Watch,
) -> Results {
    let mut results = Results::default();
    for &n in lengths {
        if let Err(end) = results.add(backend, benchmarks, n, baseline, watch) {
            results.end = end;
            break;
        }
    }
    results
}

impl Results {
    /// Adds those for `n` elements, unless it has to end.
    fn add<B: TimedBackend>(
        &mut self,
        backend: &mut B,
        benchmarks: &[Benchmark<B>],
        n: u32,
        baseline: Option<&Baseline>,
        watch: &mut dyn Watch,
    ) -> Result<(), End> {
        let copied = CopyTimer::new(backend, n);
        let Some(mut copied) = self.skip_too_large(None, n, copied, watch)? else { return Ok(()) };
        for benchmark in benchmarks {
            watch.begin(benchmark.name, n);
            let measured = measure(backend, benchmark, &mut copied, baseline, &|| watch.is_stopping());
            let measured = self.skip_too_large(Some(benchmark.name), n, measured, watch)?;
            self.measured.extend(measured);
        }
        Ok(())
    }

    fn skip_too_large<T>(
        &mut self,
        name: Option<&'static str>,
        n: u32,
        outcome: Result<T, MeasureError>,
        watch: &mut dyn Watch,
    ) -> Result<Option<T>, End> {
        match outcome {
            Ok(outcome) => Ok(Some(outcome)),
            Err(MeasureError::TooLarge(reason)) => {
                let skipped = Skipped { name, n, reason };
                watch.skipped(&skipped);
                self.skipped.push(skipped);
                Ok(None)
            }
            Err(MeasureError::Stopped) => Err(End::Stopped),
            Err(failure) => {
                let doing = format!("measuring {} of {n} elements", name.unwrap_or("a copy"));
                Err(End::Failed(failure.into_error(doing)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::bench::Family;
    use crate::bench::case::{prepared, zeros};
    use crate::bench::list::benchmarks;
    use torrance_gpu::backend::cpu::Cpu;

    /// Records its calls, and stops the survey after a number of queries.
    struct Log {
        begun: Vec<String>,
        skipped: Vec<String>,
        patience: Cell<u32>,
    }

    impl Log {
        fn new(patience: u32) -> Self {
            Self { begun: Vec::new(), skipped: Vec::new(), patience: Cell::new(patience) }
        }
    }

    impl Watch for Log {
        fn begin(&mut self, name: &str, n: u32) {
            self.begun.push(format!("{name} {n}"));
        }

        fn skipped(&mut self, skipped: &Skipped) {
            self.skipped.push(skipped.to_string());
        }

        fn is_stopping(&self) -> bool {
            self.patience.replace(self.patience.get().saturating_sub(1)) == 0
        }
    }

    #[test]
    fn every_entry_of_the_list_runs_on_the_cpu() {
        let mut cpu = Cpu::new(Some(1)).unwrap();
        let benchmarks = benchmarks::<Cpu>();
        let mut log = Log::new(u32::MAX);
        let results = measure_all(&mut cpu, &benchmarks, &[1, 1000], None, &mut log);
        assert_eq!((&results.end, &results.skipped[..]), (&End::Complete, &[][..]));
        let found: Vec<_> = results.measured.iter().map(|m| format!("{} {}", m.name, m.n)).collect();
        assert_eq!(found, log.begun);
        assert_eq!(found.len(), 2 * benchmarks.len());
        for m in results.measured {
            assert!(m.times.least > 0.0 && m.times.least <= m.times.median, "{m:?}");
            assert_eq!(m.baseline, None);
        }
    }

    type PreparedResult = Result<Box<dyn super::super::case::Prepared<Cpu>>, MeasureError>;

    fn fits(cpu: &mut Cpu, n: u32) -> PreparedResult {
        let buffers = (zeros::<_, u32>(cpu, n)?, zeros::<_, u32>(cpu, n)?, 0);
        prepared(cpu, n, buffers, |_, _, _, _, _| Ok(()))
    }

    fn at_most_ten(cpu: &mut Cpu, n: u32) -> PreparedResult {
        if n > 10 { Err(MeasureError::TooLarge("ten are enough".to_owned())) } else { fits(cpu, n) }
    }

    fn breaks_at_thirty(cpu: &mut Cpu, n: u32) -> PreparedResult {
        if n < 30 {
            return fits(cpu, n);
        }
        Err(Error { doing: "waiting".to_owned(), reason: "it is gone".to_owned() }.into())
    }

    fn three() -> [Benchmark<Cpu>; 3] {
        [("fits", fits as _), ("at_most_ten", at_most_ten as _), ("breaks_at_thirty", breaks_at_thirty as _)]
            .map(|(name, prepare)| Benchmark { name, does: "", family: Family::Memory, bytes: 8.0, prepare })
    }

    fn names(results: &Results) -> Vec<(&str, u32)> {
        results.measured.iter().map(|m| (m.name, m.n)).collect()
    }

    #[test]
    fn what_does_not_fit_is_skipped_and_a_failure_keeps_what_was_measured() {
        let mut cpu = Cpu::new(Some(1)).unwrap();
        let mut log = Log::new(u32::MAX);
        let results = measure_all(&mut cpu, &three(), &[10, 20, 30, 40], None, &mut log);
        let ten = ["fits", "at_most_ten", "breaks_at_thirty"].map(|name| (name, 10));
        let twenty = [("fits", 20), ("breaks_at_thirty", 20), ("fits", 30)];
        assert_eq!(names(&results), [&ten[..], &twenty[..]].concat());
        let End::Failed(error) = &results.end else { panic!("{results:?}") };
        let told = "measuring breaks_at_thirty of 30 elements: waiting: it is gone";
        assert_eq!(error.to_string(), told);
        let told = |n: u32| format!("at_most_ten of {n} elements is skipped: ten are enough");
        assert_eq!(log.skipped, [told(20), told(30)]);
        let skipped: Vec<_> = results.skipped.iter().map(Skipped::to_string).collect();
        assert_eq!(skipped, log.skipped);
    }

    #[test]
    fn who_watches_may_end_it() {
        let mut cpu = Cpu::new(Some(1)).unwrap();
        let mut log = Log::new(1000);
        let benchmarks = three();
        measure_all(&mut cpu, &benchmarks[..1], &[10], None, &mut log);
        let asked = 1000 - log.patience.get();
        let results = measure_all(&mut cpu, &benchmarks, &[10], None, &mut Log::new(asked + 1));
        assert_eq!((names(&results), &results.end), (vec![("fits", 10)], &End::Stopped));
        let results = measure_all(&mut cpu, &benchmarks, &[10], None, &mut Log::new(0));
        assert_eq!((names(&results), &results.end), (vec![], &End::Stopped));
    }
}
