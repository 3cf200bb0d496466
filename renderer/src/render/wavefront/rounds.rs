//! How many rounds of stages a pass takes.

use device::path::wavefront::Counters;

/// How many rounds passes take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounds {
    /// Segments of a path on average.
    length: f64,
    /// The pass before: its paths, and how many rounds it took.
    paths: f64,
    rounds: f64,
}

impl Rounds {
    /// Before the first pass.
    pub(super) const UNKNOWN: Self = Self { length: 8.0, paths: 0.0, rounds: 0.0 };

    pub(super) fn learnt(counters: &Counters, paths: u32) -> Self {
        let paths = f64::from(paths.max(1));
        Self { length: counters.segments as f64 / paths, paths, rounds: counters.rounds.into() }
    }

    /// Rounds that are hardly too few, since those that are too many take little: a longer pass takes at most as many more as
    /// it has paths, and of a shorter one those are missing in which the pool was full.
    pub(super) fn predict(self, paths: u32, pool: u32) -> u32 {
        let paths = f64::from(paths);
        let rounds = if paths <= self.paths {
            self.rounds - (self.paths - paths) * self.length / f64::from(pool)
        } else if self.paths > 0.0 {
            self.rounds * paths / self.paths
        } else {
            self.length * paths / f64::from(pool)
        };
        rounds.ceil().max(1.0) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_foreseen() {
        let counters = Counters { rounds: 58, segments: 5_000, ..Counters::default() };
        let rounds = Rounds::learnt(&counters, 1_000);
        assert_eq!(rounds.predict(1_000, 100), 58, "the same again");
        assert_eq!(rounds.predict(2_000, 100), 116);
        assert_eq!(rounds.predict(500, 100), 33, "half of five times ten rounds fewer");
        assert_eq!(rounds.predict(1, 100), 9);
        assert_eq!(Rounds::UNKNOWN.predict(1_000, 100), 80);
    }
}
