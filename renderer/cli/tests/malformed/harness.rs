//! Loads files from strangers, and sees what that takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use renderer::assemble::assemble;
use torrance_scene::{GltfChoice, Options, load_with};

use super::seeds::POSED;

/// Limits on loading.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Most memory at a time, bytes.
    pub(crate) memory: usize,
    pub(crate) time: Duration,
}

/// Counts what is allocated, and the most of it at a time.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grown(by: usize) {
    PEAK.fetch_max(NOW.fetch_add(by, Relaxed) + by, Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came; the counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as the caller's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may be there while one is copied to the other.
        grown(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How loading ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// With a scene.
    Loaded,
    /// With a report of what is wrong.
    Refused(String),
}

/// Observations of one load.
#[derive(Debug)]
struct Observation {
    outcome: Outcome,
    /// Most memory at a time, bytes.
    peak: usize,
    time: Duration,
}

/// Keeps other tests from running: memory is counted for the whole program. To be held by every test.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `load` on a thread of its own, and gives up on it after a while.
///
/// # Errors
/// A message: the loader panicked, or did not end.
fn watch(patience: Duration, load: impl FnOnce() -> Outcome + Send + 'static) -> Result<Observation, String> {
    let (done, result) = channel();
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    std::thread::spawn(move || {
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(load));
        // Who gave up does not listen.
        let _ = done.send((outcome, start.elapsed()));
    });
    match result.recv_timeout(patience) {
        Ok((Ok(outcome), time)) => {
            Ok(Observation { outcome, peak: PEAK.load(Relaxed).saturating_sub(before), time })
        }
        Ok((Err(panic), _)) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            Err(format!("panics: {}", text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("?")))
        }
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            Err(format!("has not ended after {patience:?}"))
        }
    }
}

/// Loads something within limits.
///
/// # Errors
/// A message about the limit that was exceeded.
pub(crate) fn within(
    limits: Limits,
    load: impl Fn() -> Outcome + Clone + Send + 'static,
) -> Result<Outcome, String> {
    let mut seen = watch(2 * limits.time, load.clone())?;
    if seen.time > limits.time {
        // Machines are busy at times; what is slow is so again.
        seen = watch(2 * limits.time, load)?;
    }
    if seen.time > limits.time {
        return Err(format!("takes {:?}", seen.time));
    }
    if seen.peak > limits.memory {
        return Err(format!("takes {} bytes of memory; {} are the most", seen.peak, limits.memory));
    }
    Ok(seen.outcome)
}

/// Loads a scene as the program does, up to what is uploaded.
pub(crate) fn load(path: &Path, allow_external: bool, strict: bool) -> Outcome {
    let first = || Some("0".to_owned());
    let gltf = match path.ends_with(POSED) {
        true => GltfChoice { variant: first(), animation: first(), at: Some(0.5), ..GltfChoice::default() },
        false => GltfChoice::default(),
    };
    let options = Options { allow_external, strict, gltf, ..Options::default() };
    let scene = load_with(path, &options).map_err(|error| error.report(false));
    // The program puts the name before what is wrong with the whole of a scene.
    let named = |error| format!("error: {}: {error}", path.display());
    match scene.and_then(|loaded| assemble(&loaded.description).map_err(named)) {
        Ok(_) => Outcome::Loaded,
        Err(report) => Outcome::Refused(report),
    }
}
