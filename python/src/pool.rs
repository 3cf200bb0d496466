//! Threads for what is done for Python.

use std::panic::resume_unwind;
use std::process;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::Python;
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
    py.detach(|| with_threads(work))
}

/// Does work in a thread of its own, while this one, which may be the one that gets the signals, looks again and again.
pub(crate) fn watched<R: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> R + Send,
    watch: &mut (dyn FnMut() + Send),
) -> R {
    /// Between looks, for each of which other threads of Python may have to wait.
    const MOMENT: Duration = Duration::from_millis(50);
    py.detach(|| {
        thread::scope(|scope| {
            let (send, receive) = channel();
            let worker = scope.spawn(move || drop(send.send(work())));
            loop {
                match receive.recv_timeout(MOMENT) {
                    Ok(result) => return result,
                    Err(RecvTimeoutError::Timeout) => watch(),
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

/// Does work where it finds threads to share it with.
pub(crate) fn with_threads<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let me = process::id();
    if PROCESS.get().is_none_or(|process| *process == me) {
        return work();
    }
    let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
    if forked.as_ref().is_none_or(|(process, _)| *process != me) {
        let Ok(pool) = ThreadPoolBuilder::new().build() else { return work() };
        // Those of a process that is not this one cannot be waited for.
        std::mem::forget(forked.replace((me, Arc::new(pool))));
    }
    let pool = forked.as_ref().map(|(_, pool)| Arc::clone(pool));
    drop(forked);
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
