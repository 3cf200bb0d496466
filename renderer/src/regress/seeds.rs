//! Which seeds are free.

/// Seeds that a reference has taken, or may have: neighbours, where the largest may be followed by 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UsedSeeds {
    first: u32,
    count: u32,
}

impl UsedSeeds {
    /// References of ours take one for each round or pass, and their files name the first.
    const AT_LEAST: u32 = 1 << 20;

    /// Those that a file names, and those that follow the first.
    pub(super) fn new(seeds: &[u32]) -> Option<Self> {
        let (first, last) = (*seeds.iter().min()?, *seeds.iter().max()?);
        Some(Self { first, count: (last - first).saturating_add(1).max(Self::AT_LEAST) })
    }

    /// The first that is not taken.
    pub(super) fn end(self) -> u32 {
        self.first.wrapping_add(self.count)
    }

    /// Seed `index` of those from `first` on, past what is taken.
    pub(super) fn past(self, first: u32, index: u32) -> u32 {
        if first.wrapping_sub(self.first) < self.count {
            return self.end().wrapping_add(index);
        }
        let before = self.first.wrapping_sub(first);
        let skipped = if index < before { 0 } else { self.count };
        first.wrapping_add(index).wrapping_add(skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_keep_out_of_the_references() {
        for listed in [vec![0], vec![1], vec![5, 3], vec![1000], vec![u32::MAX - 30], vec![7, 1 << 31]] {
            let taken = UsedSeeds::new(&listed).unwrap();
            for first in [0, 1, 30, 990, u32::MAX - 3] {
                let mut seeds: Vec<_> = (0..200).map(|i| taken.past(first, i)).collect();
                let is_taken = |s: &u32| s.wrapping_sub(taken.first) < taken.count;
                assert!(!seeds.iter().any(is_taken), "{listed:?} {first}");
                seeds.sort_unstable();
                seeds.dedup();
                assert_eq!(seeds.len(), 200, "{listed:?} {first}");
            }
            assert!(listed.iter().all(|s| s.wrapping_sub(taken.first) < taken.count));
        }
    }
}
