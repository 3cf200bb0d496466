//! Ends that nobody asked for: memory that is not there, and faults of the program. Both end with a sentence and exit code 3.

use crate::ExitCode;
use std::alloc::{GlobalAlloc, Layout};
use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicUsize, Ordering};

use torrance_system::HugePages;

use crate::failure::FAILED;
use crate::say;

/// The system's allocator, in large pages where that helps, which remembers what it could not give.
#[derive(Debug)]
pub struct Allocator;

/// Bytes of the last allocation that failed; 0 if none did.
static MISSING: AtomicUsize = AtomicUsize::new(0);

fn noted(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() {
        MISSING.store(bytes, Ordering::Relaxed);
    }
    pointer
}

// SAFETY: every call goes to that allocator as it is, and its answer comes back as it is.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        noted(unsafe { HugePages.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        noted(unsafe { HugePages.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promised.
        noted(unsafe { HugePages.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { HugePages.dealloc(pointer, layout) }
    }
}

/// Runs the program; a panic in it is told as an error.
pub(super) fn guard(run: impl FnOnce() -> ExitCode + panic::UnwindSafe) -> ExitCode {
    #[cfg(unix)]
    unix::catch_abort();
    panic::set_hook(Box::new(|info| {
        say(told(info));
        // Those who look for faults want all that there is.
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            say(backtrace);
        }
    }));
    panic::catch_unwind(run).unwrap_or_else(|_: Box<dyn Any + Send>| ExitCode::from(FAILED))
}

/// Panics of libraries where a thread cannot be started.
const NO_THREADS: [&str; 2] = ["failed to spawn thread", "thread pool has not been initialized"];

/// A panic in a sentence.
fn told(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text =
        payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let message = text.unwrap_or("for no reason that it gives");
    if NO_THREADS.iter().any(|part| message.contains(part)) {
        return "error: the system lets the program start no more threads (see ulimit -u and -v)".to_owned();
    }
    let place =
        info.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
    format!("error: the program failed: {message}{place}; RUST_BACKTRACE=1 tells more")
}

#[cfg(unix)]
mod unix {
    use std::sync::atomic::Ordering;

    use nix::libc::{self, c_int};
    use nix::sys::signal::{SigHandler, Signal, signal};

    use super::{FAILED, MISSING};

    /// What follows if an allocation fails, or a panic cannot unwind, is an abort.
    pub(super) fn catch_abort() {
        // SAFETY: the handler calls only what is safe in signal handlers.
        let _ = unsafe { signal(Signal::SIGABRT, SigHandler::Handler(on_abort)) };
    }

    extern "C" fn on_abort(_: c_int) {
        let (mut digits, bytes) = ([0; 20], MISSING.load(Ordering::Relaxed));
        let parts = match bytes {
            0 => [&b"error: the program cannot go on"[..], b"", b"; there may be too little memory\n"],
            bytes => {
                [&b"error: not enough memory: "[..], decimal(bytes, &mut digits), b" bytes more are needed\n"]
            }
        };
        for part in parts {
            // SAFETY: the pointer and the length are of one slice; `write` is safe in signal handlers.
            unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
        }
        // SAFETY: it runs nothing more of the program.
        unsafe { libc::_exit(FAILED.into()) };
    }

    /// The digits of a number, without memory of their own.
    fn decimal(mut n: usize, digits: &mut [u8; 20]) -> &[u8] {
        let mut begin = digits.len();
        while n > 0 || begin == digits.len() {
            begin -= 1;
            digits[begin] = b'0' + (n % 10) as u8;
            n /= 10;
        }
        &digits[begin..]
    }

    #[test]
    fn digits() {
        for n in [0, 7, 10, 1_234_567, usize::MAX] {
            assert_eq!(decimal(n, &mut [0; 20]), n.to_string().as_bytes());
        }
    }
}
