//! Threads for what is done for Python.

use std::panic::resume_unwind;
use std::process;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::{PyResult, Python};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Between looks for signals, for each of which other threads of Python may have to wait.
pub(crate) const MOMENT: Duration = Duration::from_millis(50);

/// The process that has the threads of the library.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// The threads of a process that was forked from it, and has none of those.
static FORKED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// To be called when the module is loaded.
pub(crate) fn remember_process() {
    PROCESS.get_or_init(process::id);
}

/// Does work that takes a while, as other threads of Python go on.
pub(crate) fn work<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    py.detach(|| match threads_of_fork() {
        Some(pool) => pool.install(work),
        None => work(),
    })
}

/// As [`work`], of work that calls `look` again and again where it is done by the calling thread, which may be the one that gets
/// signals. In a forked process others do it, and this one calls it meanwhile.
pub(crate) fn watched<R: Send>(
    py: Python<'_>,
    look: &(dyn Fn() + Sync),
    work: impl FnOnce() -> R + Send,
) -> R {
    py.detach(|| {
        let Some(pool) = threads_of_fork() else { return work() };
        thread::scope(|scope| {
            let (send, receive) = channel();
            let worker = scope.spawn(move || drop(send.send(pool.install(work))));
            loop {
                match receive.recv_timeout(MOMENT) {
                    Ok(result) => return result,
                    Err(RecvTimeoutError::Timeout) => look(),
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            match worker.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!("it has sent its result"),
            }
        })
    })
}

/// What a mutex holds. While this thread waits for it, other threads of Python go on.
///
/// # Errors
/// A signal has come.
pub(crate) fn locked_soon<'a, T>(py: Python<'_>, mutex: &'a Mutex<T>) -> PyResult<MutexGuard<'a, T>> {
    let mut last = Instant::now();
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => py.detach(|| thread::sleep(Duration::from_millis(1))),
        }
        if last.elapsed() >= MOMENT {
            py.check_signals()?;
            last = Instant::now();
        }
    }
}

/// The threads of a forked process, to share work with: it has none of those that the library takes otherwise.
fn threads_of_fork() -> Option<Arc<ThreadPool>> {
    let me = process::id();
    if PROCESS.get().is_none_or(|process| *process == me) {
        return None;
    }
    let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
    if forked.as_ref().is_none_or(|(process, _)| *process != me) {
        let pool = ThreadPoolBuilder::new().build().ok()?;
        // Those of a process that is not this one cannot be waited for.
        std::mem::forget(forked.replace((me, Arc::new(pool))));
    }
    forked.as_ref().map(|(_, pool)| Arc::clone(pool))
}
