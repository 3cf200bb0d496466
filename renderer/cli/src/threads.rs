//! Numbers of threads.

use std::env;

use super::warn;

/// Most threads of a pool. Each takes memory and time to start, and no machine has as many cores.
pub(super) const MOST_THREADS: u32 = 1024;

/// Variables that say how many threads there are to be where no option does; the second is an old name of the first.
const VARIABLES: [&str; 2] = ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"];

/// Lowers what variables say to [`MOST_THREADS`]. To be called before there is any other thread.
pub(super) fn limit() {
    for name in VARIABLES {
        let Some(said) = env::var(name).ok().filter(|said| is_too_many(said)) else { continue };
        warn(format_args!("{name} is {said}; {MOST_THREADS} threads are the most, and are used"));
        // SAFETY: there is no other thread that could read the environment meanwhile.
        unsafe { env::set_var(name, MOST_THREADS.to_string()) };
    }
}

/// Whether a text is a number, as the library of threads reads it, that is too large.
fn is_too_many(text: &str) -> bool {
    text.parse::<usize>().is_ok_and(|n| n > MOST_THREADS as usize)
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
