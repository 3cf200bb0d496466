//! Threads for what is done for Python.

use std::panic::resume_unwind;
use std::process;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::{PyErr, Python};
use rayon::{ThreadPool, ThreadPoolBuilder};

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

/// What a signal has raised, for whoever is at work to find.
pub(crate) type Raised = Mutex<Option<PyErr>>;

/// As [`work`], of work that looks for signals itself where it is done by the calling thread, which may be the one that gets them. In
/// a forked process others do it; this one then looks, and work finds what is `raised`.
pub(crate) fn watched<R: Send>(py: Python<'_>, raised: &Raised, work: impl FnOnce() -> R + Send) -> R {
    /// Between looks.
    const MOMENT: Duration = Duration::from_millis(50);
    py.detach(|| {
        let Some(pool) = threads_of_fork() else { return work() };
        thread::scope(|scope| {
            let (send, receive) = channel();
            let worker = scope.spawn(move || drop(send.send(pool.install(work))));
            loop {
                match receive.recv_timeout(MOMENT) {
                    Ok(result) => return result,
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                        }
                    }
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
