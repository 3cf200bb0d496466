//! Panics of libraries that read what strangers send.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether a panic on this thread is caught, and so nothing to be told.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// What `run` gives, or `None` if it panics, of which nothing is told. For code of others that takes damaged input for a bug of its
/// own; `run` shares nothing with what goes on after a panic.
pub fn caught<T>(run: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let tell = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_CAUGHT.get() {
                tell(info);
            }
        }));
    });
    let before = IS_CAUGHT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    IS_CAUGHT.set(before);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_no_values() {
        assert_eq!(caught(|| 1), Some(1));
        assert_eq!(caught(|| [1][std::hint::black_box(1)]), None);
        assert_eq!(caught(|| caught(|| [1][std::hint::black_box(1)])), Some(None));
        // What is not caught is told and goes on.
        assert!(panic::catch_unwind(|| [1][std::hint::black_box(1)]).is_err());
        assert!(!IS_CAUGHT.get());
    }
}
