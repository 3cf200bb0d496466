//! Lines on stderr for people. Standard output belongs to `--json`.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

/// Prints a line to stderr. A closed stderr is no reason to lose a render, so unlike `eprintln!` this does not
/// panic.
pub(super) fn say(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints text that ends in a newline to stderr.
pub(super) fn say_text(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Whether reports may be coloured.
pub(super) fn color() -> bool {
    may_color(&io::stderr())
}

/// Whether what goes to `output` may be coloured.
pub(super) fn may_color(output: &impl IsTerminal) -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    output.is_terminal() && !refused
}

/// A duration a person reads at a glance: `0.42 s`, `12.3 s`, `2:05`, `1:02:05`.
pub(super) fn clock(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..10 => format!("{seconds:.2} s"),
        10..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{}:{:02}", whole / 60, whole % 60),
        _ => format!("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60),
    }
}

/// `1 pixel`, `2 pixels`.
pub(super) fn count(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    #[test]
    fn clocks() {
        for (seconds, expected) in
            [(0.416, "0.42 s"), (12.34, "12.3 s"), (59.7, "1:00"), (125.0, "2:05"), (3725.0, "1:02:05")]
        {
            assert_eq!(super::clock(seconds), expected);
        }
    }
}
