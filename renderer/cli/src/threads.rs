//! Numbers of threads.

use std::env;

use torrance_system::MOST_THREADS;

use super::warn;

/// Warns if the environment asks for more threads than there will be.
pub(super) fn warn_of_limit() {
    if let Some(said) = env::var("RAYON_NUM_THREADS").ok().filter(|said| is_too_many(said)) {
        warn(format_args!("RAYON_NUM_THREADS is {said}; {MOST_THREADS} threads are the most, and are used"));
    }
}

/// Whether a text is a number that is too large.
fn is_too_many(text: &str) -> bool {
    text.parse::<usize>().is_ok_and(|n| n > MOST_THREADS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_too_large() {
        for (text, expected) in
            [("1024", false), ("1025", true), ("100000", true), ("0", false), ("", false), ("x", false)]
        {
            assert_eq!(is_too_many(text), expected, "{text}");
        }
    }
}
