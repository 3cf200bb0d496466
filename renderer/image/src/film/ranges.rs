//! Which samples an image is made of.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The attribute of EXR files for the samples of an image, of each seed.
pub const SAMPLE_RANGES: &str = "sampleRanges";

/// Indices of samples: ranges in order, which neither meet nor overlap. Written `0..64, 128..192`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SampleRanges(Vec<Range<u32>>);

impl SampleRanges {
    /// Number of samples.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|range| u64::from(range.end - range.start)).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges in order.
    pub fn iter(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.0.iter().cloned()
    }

    /// Adds a range. What is there already stays.
    pub fn insert(&mut self, mut range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        self.0.retain(|other| {
            let is_apart = other.end < range.start || range.end < other.start;
            if !is_apart {
                range = range.start.min(other.start)..range.end.max(other.end);
            }
            is_apart
        });
        let at = self.0.partition_point(|other| other.end < range.start);
        self.0.insert(at, range);
    }

    /// The first samples that both have.
    pub fn overlap(&self, other: &Self) -> Option<Range<u32>> {
        let pairs =
            self.iter().flat_map(|a| other.iter().map(move |b| a.start.max(b.start)..a.end.min(b.end)));
        pairs.filter(|common| !common.is_empty()).min_by_key(|common| common.start)
    }

    /// The samples of `whole` that are not among these.
    pub fn gaps(&self, whole: Range<u32>) -> Self {
        let mut gaps = Self::default();
        let mut from = whole.start;
        for range in self.iter() {
            gaps.insert(from..range.start.min(whole.end));
            from = from.max(range.end);
        }
        gaps.insert(from..whole.end);
        gaps
    }
}

impl Extend<Range<u32>> for SampleRanges {
    fn extend<I: IntoIterator<Item = Range<u32>>>(&mut self, ranges: I) {
        ranges.into_iter().for_each(|range| self.insert(range));
    }
}

impl FromIterator<Range<u32>> for SampleRanges {
    fn from_iter<I: IntoIterator<Item = Range<u32>>>(ranges: I) -> Self {
        let mut all = Self::default();
        all.extend(ranges);
        all
    }
}

impl fmt::Display for SampleRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, range) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{}..{}", range.start, range.end)?;
        }
        Ok(())
    }
}

/// The attribute of EXR files for the [`fingerprint`] of the samples in it.
pub const FINGERPRINT: &str = "samplesFingerprint";

/// A sum over samples of parts of an image, modulo 2⁶⁴: Σ (s + 1)³ (i + 1)³ over all samples s and all parts i. Those of renders
/// that share no sample add up to that of all their samples; a sample that is missing, or counts twice, shows.
pub fn fingerprint(samples: &Range<u32>, parts: &Range<u32>) -> u64 {
    fingerprint_of(samples, cube_sum(parts))
}

/// As [`fingerprint`], of parts of which the [`cube_sum`] is known.
pub fn fingerprint_of(samples: &Range<u32>, parts: u64) -> u64 {
    cube_sum(samples).wrapping_mul(parts)
}

/// Σ (i + 1)³ over a range, modulo 2⁶⁴.
pub fn cube_sum(range: &Range<u32>) -> u64 {
    // Nicomachus: 1³ + 2³ + … + n³ = (n (n + 1) / 2)².
    let cubes = |n: u32| {
        let n = u64::from(n);
        let half = if n.is_multiple_of(2) { n / 2 * (n + 1) } else { n.div_ceil(2) * n };
        half.wrapping_mul(half)
    };
    cubes(range.end).wrapping_sub(cubes(range.start))
}

/// Size of the tiles in which samples are counted, pixels.
const TILE: [u32; 2] = [8, 4];

/// Parts of an image in which samples are counted: its pixels in whole tiles of 8 × 4.
pub const fn parts(width: u32, height: u32) -> u32 {
    width.div_ceil(TILE[0]) * height.div_ceil(TILE[1]) * (TILE[0] * TILE[1])
}

/// The number of a pixel among the parts of an image, tile by tile; `None` if it is below all tiles.
pub const fn part((x, y): (u32, u32), [width, height]: [u32; 2]) -> Option<u32> {
    if y >= height.next_multiple_of(TILE[1]) {
        return None;
    }
    let tile = y / TILE[1] * width.div_ceil(TILE[0]) + x / TILE[0];
    Some(tile * (TILE[0] * TILE[1]) + y % TILE[1] * TILE[0] + x % TILE[0])
}

/// A text that names no ranges of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("ranges of samples are written FIRST..END, as in 0..64, 128..192")]
pub struct BadRanges;

impl FromStr for SampleRanges {
    type Err = BadRanges;

    fn from_str(text: &str) -> Result<Self, BadRanges> {
        let range = |part: &str| {
            let (start, end) = part.trim().split_once("..").ok_or(BadRanges)?;
            let [start, end] = [start, end].map(|x| x.trim().parse().map_err(|_| BadRanges));
            let range = start?..end?;
            if range.is_empty() { Err(BadRanges) } else { Ok(range) }
        };
        text.split(',').map(range).collect()
    }
}

/// The samples of an image, of each seed. Written `seed 0: 0..64, 128..192; seed 1: 0..64`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SeedRanges(pub BTreeMap<u32, SampleRanges>);

impl SeedRanges {
    /// Samples of one seed.
    pub fn of(seed: u32, ranges: impl IntoIterator<Item = Range<u32>>) -> Self {
        Self(BTreeMap::from([(seed, ranges.into_iter().collect())]))
    }

    /// The first samples that both have, and their seed.
    pub fn overlap(&self, other: &Self) -> Option<(u32, Range<u32>)> {
        let both = self.0.iter().filter_map(|(seed, ranges)| Some((*seed, ranges, other.0.get(seed)?)));
        both.filter_map(|(seed, a, b)| Some((seed, a.overlap(b)?))).next()
    }

    /// Whether all samples of another image are among these.
    pub fn include(&self, other: &Self) -> bool {
        let has = |seed: &u32, range| self.0.get(seed).is_some_and(|own| own.gaps(range).is_empty());
        other.0.iter().all(|(seed, ranges)| ranges.iter().all(|range| has(seed, range)))
    }

    /// What each seed lacks of a range.
    pub fn gaps(&self, range: Range<u32>) -> Vec<(u32, Range<u32>)> {
        let gaps = self.0.iter().map(|(seed, ranges)| (*seed, ranges.gaps(range.clone())));
        gaps.flat_map(|(seed, gaps)| gaps.iter().map(move |gap| (seed, gap)).collect::<Vec<_>>()).collect()
    }

    /// Adds those of another image.
    pub fn merge(&mut self, other: &Self) {
        for (seed, ranges) in &other.0 {
            self.0.entry(*seed).or_default().extend(ranges.iter());
        }
    }
}

impl fmt::Display for SeedRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (seed, ranges)) in self.0.iter().enumerate() {
            let semicolon = if i == 0 { "" } else { "; " };
            write!(f, "{semicolon}seed {seed}: {ranges}")?;
        }
        Ok(())
    }
}

impl FromStr for SeedRanges {
    type Err = BadRanges;

    fn from_str(text: &str) -> Result<Self, BadRanges> {
        let mut all = Self::default();
        for part in text.split(';') {
            let (seed, ranges) = part.split_once(':').ok_or(BadRanges)?;
            let seed = seed.trim().strip_prefix("seed ").ok_or(BadRanges)?;
            let seed = seed.trim().parse().map_err(|_| BadRanges)?;
            if all.0.insert(seed, ranges.parse()?).is_some() {
                return Err(BadRanges);
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier::Random;

    fn ranges(text: &str) -> SampleRanges {
        text.parse().unwrap()
    }

    #[test]
    fn ranges_are_read_and_written() {
        for text in ["0..64", "0..64, 128..192", "7..8, 9..10, 4294967294..4294967295"] {
            assert_eq!(ranges(text).to_string(), text);
        }
        assert_eq!(ranges("5..9,0..2, 2..4").to_string(), "0..4, 5..9");
        for bad in ["", "1", "3..3", "4..3", "-1..3", "0..64 128..192", "a..b", "0..4294967296"] {
            assert_eq!(bad.parse::<SampleRanges>(), Err(BadRanges), "{bad}");
        }
        let both = "seed 0: 0..64, 128..192; seed 7: 1..2";
        assert_eq!(both.parse::<SeedRanges>().unwrap().to_string(), both);
        for bad in ["", "0..64", "seed: 0..4", "seed x: 0..4", "seed 1: 0..4; seed 1: 5..6", "seed 1: "] {
            assert_eq!(bad.parse::<SeedRanges>(), Err(BadRanges), "{bad}");
        }
    }

    #[test]
    fn fingerprints_tell_which_samples() {
        let cube = |n: u32| u64::from(n).pow(3);
        let of_one = fingerprint(&(6..7), &(9..10));
        assert_eq!(of_one, cube(7) * cube(10));
        let all = fingerprint(&(0..1 << 30), &(0..1 << 28));
        let halves = [0..5, 5..1 << 30].map(|samples| fingerprint(&samples, &(0..1 << 28)));
        assert_eq!(halves[0].wrapping_add(halves[1]), all);
        let twice = [0..6, 5..1 << 30].map(|samples| fingerprint(&samples, &(0..1 << 28)));
        assert_ne!(twice[0].wrapping_add(twice[1]), all);
        let swapped = [5..6, 6..7].map(|samples| fingerprint(&samples, &(3..4)));
        assert_ne!(swapped[0], swapped[1]);
    }

    /// Against sets of numbers.
    #[test]
    fn sets_of_ranges_are_sets() {
        const END: u32 = 40;
        let mut random = Random(3);
        let mut draw = |n: u32| {
            let range = |random: &mut Random| {
                let [a, b] = [0, 1].map(|_| (random.uniform() * f64::from(END)) as u32);
                a.min(b)..a.max(b)
            };
            (0..n).map(|_| range(&mut random)).collect::<Vec<_>>()
        };
        for _ in 0..2000 {
            let [a, b] = [3, 2].map(&mut draw);
            let has = |set: &[Range<u32>], i: u32| set.iter().any(|range| range.contains(&i));
            let [x, y]: [SampleRanges; 2] = [&a, &b].map(|set| set.iter().cloned().collect());
            let listed: Vec<_> = x.iter().collect();
            assert!(listed.windows(2).all(|pair| pair[0].end < pair[1].start), "{a:?}: {x}");
            assert_eq!(x.len(), (0..END).filter(|i| has(&a, *i)).count() as u64);
            let gaps: Vec<_> = x.gaps(5..END - 5).iter().flatten().collect();
            assert_eq!(gaps, (5..END - 5).filter(|i| !has(&a, *i)).collect::<Vec<_>>());
            let common: Vec<_> = (0..END).filter(|i| has(&a, *i) && has(&b, *i)).collect();
            assert_eq!(x.overlap(&y).map(|common| common.start), common.first().copied(), "{x} and {y}");
        }
    }
}
