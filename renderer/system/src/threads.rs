//! Threads: fewer, if the system does not let us start as many.

use std::sync::Mutex;
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Makes the pool that parallel iterators run on, of so many threads or one for each core; of fewer if no more can be started,
/// and of the calling thread alone if none can. Returns their number. To be called before any of them runs, once: afterwards
/// the pool stays as it is.
pub fn start_pool(threads: Option<usize>) -> usize {
    let wanted = threads.unwrap_or_else(default_threads);
    // The pool can be made only once, so that others try how many there can be. If not all, some remain for a machine.
    let pool = match startable(wanted) {
        n if n == wanted => ThreadPoolBuilder::new().num_threads(n),
        n if n >= 4 => ThreadPoolBuilder::new().num_threads(n / 4),
        _ => ThreadPoolBuilder::new().num_threads(1).use_current_thread(),
    };
    // Fails if the pool is there already.
    let _ = pool.build_global();
    rayon::current_num_threads()
}

/// A pool of its own, of so many threads or one for each core, named by their index; of fewer if no more can be started.
///
/// # Errors
/// Not a single one can be started.
pub fn thread_pool(
    threads: Option<usize>,
    name: fn(usize) -> String,
) -> Result<ThreadPool, ThreadPoolBuildError> {
    let wanted = threads.unwrap_or_else(default_threads);
    let start = |n| ThreadPoolBuilder::new().num_threads(n).thread_name(name).build();
    halved(wanted).find_map(|n| start(n).ok()).map_or_else(|| start(1), Ok)
}

/// Most threads that the environment can ask for. Each takes memory and time to start, and no machine has as many cores.
pub const MOST_THREADS: usize = 1024;

/// A thread for each core that this process may use, or as many as `RAYON_NUM_THREADS` says.
fn default_threads() -> usize {
    let said = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok());
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    said.filter(|n| *n > 0).unwrap_or_else(cores).min(MOST_THREADS)
}

/// A number, half of it and so on, down to 1.
fn halved(n: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(n.max(1)), |n| (*n > 1).then_some(n / 2))
}

/// How many threads, of so many, can be there at once.
fn startable(n: usize) -> usize {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        let _closed = gate.lock();
        let start = || thread::Builder::new().spawn_scoped(scope, || drop(gate.lock()));
        (0..n).take_while(|_| start().is_ok()).count()
    })
}

/// Whether a thread can be started, for libraries that panic if not.
pub fn can_start_thread() -> bool {
    startable(1) == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_has_the_threads_that_it_is_to_have() {
        let pool = thread_pool(Some(3), |i| format!("test-{i}")).unwrap();
        assert_eq!(pool.current_num_threads(), 3);
        assert_eq!(
            pool.install(|| thread::current().name().map(|name| name.starts_with("test-"))),
            Some(true)
        );
        assert!(can_start_thread() && startable(5) == 5);
    }

    #[test]
    fn halves_end_at_one() {
        assert_eq!(halved(12).collect::<Vec<_>>(), [12, 6, 3, 1]);
        assert_eq!(halved(1).collect::<Vec<_>>(), [1]);
        assert_eq!(halved(0).collect::<Vec<_>>(), [1]);
    }
}
