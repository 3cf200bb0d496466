//! Attacks on the program as it is installed: it is killed at any moment, and given damaged files where memory and time are
//! short. Whatever happens, no file is lost or half written, and it ends by itself with a code of its own.
//!
//! `TORRANCE_ATTACKS` says how many attacks of each kind there are, and `TORRANCE_ATTACK_SEED` which.
#![cfg(unix)]

mod growth;
#[cfg(target_os = "linux")]
mod inputs;
mod kills;
mod mutations;
#[path = "../../malformed/random.rs"]
mod random;
#[path = "../../malformed/seeds.rs"]
mod seeds;

use tier::Random;

/// How many attacks of a kind to try: as many as were asked for, or what the tier has.
fn count(fast: usize, deep: usize) -> usize {
    number("TORRANCE_ATTACKS").unwrap_or_else(|| tier::choose(fast, deep))
}

/// Random numbers, the same each time unless another seed was asked for.
fn random_numbers() -> Random {
    Random(number("TORRANCE_ATTACK_SEED").unwrap_or(1))
}

fn number<T: std::str::FromStr>(variable: &str) -> Option<T> {
    std::env::var(variable).ok()?.parse().ok()
}
