//! Which samples of which parts of an image are taken, and which are missing.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use torrance_image::film::SampleRanges;

/// Invocations in a part of an image that is taken alone: a few tiles.
const PARTS: u32 = 128;

/// Samples of a part of an image.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Block {
    /// Indices of the samples.
    pub(super) samples: Range<u32>,
    /// The part of the image: invocations of one layer, tiles in a row ([`device::path::SampleArgs`]).
    pub(super) invocations: Range<u32>,
    /// The round whose list of halves the invocations are of, from 1; 0 if they are of the whole image ([`super::rounds`]).
    #[serde(default, skip_serializing_if = "is_of_all")]
    pub(super) round: u32,
}

/// Whether that is no round, but the whole image.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde wants it")]
const fn is_of_all(round: &u32) -> bool {
    *round == 0
}

impl Block {
    /// Number of paths, those outside the image included.
    pub(super) fn paths(&self) -> u64 {
        self.samples.len() as u64 * self.invocations.len() as u64
    }

    /// Its first samples, so many at most.
    pub(super) fn first_samples(&self, n: u32) -> Self {
        let Range { start, end } = self.samples;
        Self { samples: start..end.min(start.saturating_add(n)), ..self.clone() }
    }

    /// Its last samples, so many at most.
    pub(super) fn last_samples(&self, n: u32) -> Self {
        let Range { start, end } = self.samples;
        Self { samples: start.max(end.saturating_sub(n))..end, ..self.clone() }
    }

    /// The first part of it that has so many paths: whole tiles, at least a few.
    pub(super) fn part(&self, paths: f64) -> Self {
        let Range { start, end } = self.invocations;
        let parts = (paths / self.samples.len().max(1) as f64).min(f64::from(u32::MAX / 2)) as u32;
        let parts = parts.next_multiple_of(PARTS).max(PARTS);
        Self { invocations: start..end.min(start.saturating_add(parts)), ..self.clone() }
    }

    /// Joins a block that goes on where this one ends; false if it does not.
    fn join(&mut self, next: &Self) -> bool {
        if self.round != next.round {
            return false;
        }
        if self.samples == next.samples && self.invocations.end == next.invocations.start {
            self.invocations.end = next.invocations.end;
        } else if self.invocations == next.invocations && self.samples.end == next.samples.start {
            self.samples.end = next.samples.end;
        } else {
            return false;
        }
        true
    }
}

/// Blocks that do not overlap.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Blocks(Vec<Block>);

impl Blocks {
    /// Adds a block, which overlaps none of these.
    pub(super) fn insert(&mut self, mut block: Block) {
        if block.paths() == 0 {
            return;
        }
        while let Some(at) = self.0.iter_mut().position(|other| other.join(&block) || block.join(other)) {
            // Either may have taken the other up: the larger one is both.
            let other = self.0.swap_remove(at);
            block = if other.paths() > block.paths() { other } else { block };
        }
        self.0.push(block);
    }

    /// The blocks, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Block> {
        self.0.iter()
    }

    /// The sample after the last one of any part.
    pub(super) fn end(&self) -> u32 {
        self.0.iter().map(|block| block.samples.end).max().unwrap_or(0)
    }

    /// The sample after the last one of those that all parts were to get.
    pub(super) fn end_of_all(&self) -> u32 {
        let of_all = self.0.iter().filter(|block| block.round == 0);
        of_all.map(|block| block.samples.end).max().unwrap_or(0)
    }

    /// Number of paths, those outside the image included.
    pub(super) fn paths(&self) -> u64 {
        self.0.iter().map(Block::paths).sum()
    }
}

/// Samples of every part of an image, of blocks that do not overlap.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Coverage {
    /// Fewest samples that a part has.
    pub(super) fewest: u32,
    /// Samples that all parts have.
    pub(super) complete: SampleRanges,
    /// Samples that some parts have, and others have not.
    pub(super) partial: SampleRanges,
}

impl Coverage {
    /// That of those of `blocks` that are of no round, in an image of so many invocations.
    pub(super) fn new(blocks: &[&Block], invocations: &Range<u32>) -> Self {
        let mut coverage = Self::default();
        let blocks: Vec<_> = blocks.iter().copied().filter(|block| block.round == 0).collect();
        for samples in steps(blocks.iter().map(|block| &block.samples), &(0..u32::MAX)) {
            let parts = across(&blocks, &samples);
            if !parts.is_empty() {
                let is_complete = gaps(parts, invocations).is_empty();
                let those = if is_complete { &mut coverage.complete } else { &mut coverage.partial };
                those.insert(samples);
            }
        }
        let count = |part: Range<u32>| -> u32 {
            let there = blocks.iter().filter(|block| block.invocations.contains(&part.start));
            there.map(|block| block.samples.len() as u32).sum()
        };
        let parts = steps(blocks.iter().map(|block| &block.invocations), invocations);
        coverage.fewest = parts.into_iter().map(count).min().unwrap_or(0);
        coverage
    }
}

/// The parts of `whole` that are in none of `blocks`, by their samples.
pub(super) fn missing(blocks: &[&Block], whole: &Block) -> Vec<Block> {
    let mut missing: Vec<Block> = Vec::new();
    let blocks: Vec<_> = blocks.iter().copied().filter(|block| block.round == whole.round).collect();
    for samples in steps(blocks.iter().map(|block| &block.samples), &whole.samples) {
        for invocations in gaps(across(&blocks, &samples), &whole.invocations) {
            let block = Block { samples: samples.clone(), invocations, round: whole.round };
            if !missing.iter_mut().any(|other| other.join(&block)) {
                missing.push(block);
            }
        }
    }
    missing
}

/// The parts that have these samples, which no block divides.
fn across<'a>(blocks: &[&'a Block], samples: &Range<u32>) -> Vec<&'a Range<u32>> {
    let has = |block: &&&Block| block.samples.contains(&samples.start);
    let mut parts: Vec<_> = blocks.iter().filter(has).map(|block| &block.invocations).collect();
    parts.sort_by_key(|part| part.start);
    parts
}

impl Extend<Block> for Blocks {
    fn extend<I: IntoIterator<Item = Block>>(&mut self, blocks: I) {
        blocks.into_iter().for_each(|block| self.insert(block));
    }
}

/// The pieces into which the ends of ranges divide `whole`.
fn steps<'a>(ranges: impl Iterator<Item = &'a Range<u32>>, whole: &Range<u32>) -> Vec<Range<u32>> {
    let mut ends: Vec<u32> = ranges.flat_map(|range| [range.start, range.end]).collect();
    ends.retain(|end| whole.contains(end));
    ends.extend([whole.start, whole.end]);
    ends.sort_unstable();
    ends.dedup();
    ends.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// What sorted ranges leave out of `whole`.
fn gaps(sorted: Vec<&Range<u32>>, whole: &Range<u32>) -> Vec<Range<u32>> {
    let (mut gaps, mut from) = (Vec::new(), whole.start);
    for range in sorted {
        if range.start > from {
            gaps.push(from..range.start.min(whole.end));
        }
        from = from.max(range.end);
    }
    if from < whole.end {
        gaps.push(from..whole.end);
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier::Random;
    use torrance_image::film::ranges::fingerprint;

    const SAMPLES: u32 = 12;
    const INVOCATIONS: u32 = 10;

    fn block(samples: Range<u32>, invocations: Range<u32>) -> Block {
        Block { samples, invocations, ..Block::default() }
    }

    fn below(random: &mut Random, n: u32) -> u32 {
        (random.uniform() * f64::from(n)) as u32
    }

    /// Against a table of all samples of all invocations: random parts of what is missing, until nothing is.
    #[test]
    fn blocks_are_sets() {
        let mut random = Random(4);
        let whole = block(1..SAMPLES, 0..INVOCATIONS);
        for _ in 0..200 {
            let (mut blocks, mut table) =
                (Blocks::default(), [[false; INVOCATIONS as usize]; SAMPLES as usize]);
            loop {
                let taken: Vec<_> = blocks.iter().collect();
                let missing = missing(&taken, &whole);
                let mut found = table;
                for cell in
                    missing.iter().flat_map(|b| b.samples.clone().map(move |s| (s, b.invocations.clone())))
                {
                    let (sample, invocations) = cell;
                    for i in invocations {
                        assert!(
                            !std::mem::replace(&mut found[sample as usize][i as usize], true),
                            "{missing:?}"
                        );
                    }
                }
                assert!(found[1..].iter().flatten().all(|there| *there), "{blocks:?}: {missing:?}");
                let fewest =
                    (0..INVOCATIONS as usize).map(|i| table.iter().filter(|row| row[i]).count()).min();
                let samples = |holds: &dyn Fn(&[bool]) -> bool| {
                    (0..SAMPLES).filter(|s| holds(&table[*s as usize])).map(|s| s..s + 1).collect()
                };
                let coverage = Coverage {
                    fewest: fewest.unwrap() as u32,
                    complete: samples(&|row| row.iter().all(|there| *there)),
                    partial: samples(&|row| row.contains(&true) && row.contains(&false)),
                };
                assert_eq!(Coverage::new(&taken, &whole.invocations), coverage);
                let tally = |block: &Block| fingerprint(&block.samples, &block.invocations);
                let one_by_one = (0..SAMPLES).flat_map(|s| (0..INVOCATIONS).map(move |i| (s, i)));
                let one_by_one = one_by_one.filter(|(s, i)| table[*s as usize][*i as usize]);
                let one_by_one = one_by_one.map(|(s, i)| tally(&block(s..s + 1, i..i + 1)));
                let sum = |tallies: &mut dyn Iterator<Item = u64>| tallies.fold(0_u64, u64::wrapping_add);
                assert_eq!(sum(&mut taken.iter().map(|b| tally(b))), sum(&mut one_by_one.into_iter()));
                assert_eq!(blocks.paths(), table.iter().flatten().filter(|there| **there).count() as u64);

                let Some(from) = missing.get(below(&mut random, missing.len() as u32) as usize) else {
                    break;
                };
                let part = |random: &mut Random, range: &Range<u32>| {
                    let start = range.start + below(random, range.len() as u32);
                    start..start + 1 + below(random, range.end - start)
                };
                let part = block(part(&mut random, &from.samples), part(&mut random, &from.invocations));
                for sample in part.samples.clone() {
                    part.invocations.clone().for_each(|i| table[sample as usize][i as usize] = true);
                }
                blocks.insert(part);
            }
            let taken: Vec<_> = blocks.iter().collect();
            assert_eq!(missing(&taken, &block(0..SAMPLES, 0..INVOCATIONS)), [block(0..1, 0..INVOCATIONS)]);
        }
    }

    /// As renders take them: the list does not grow.
    #[test]
    fn what_meets_is_joined() {
        let mut blocks = Blocks::default();
        for pass in 0..100 {
            for part in 0..INVOCATIONS {
                blocks.insert(block(4 * pass..4 * pass + 4, part..part + 1));
                assert!(blocks.iter().count() <= 2, "{blocks:?}");
            }
        }
        assert_eq!(blocks, Blocks(vec![block(0..400, 0..INVOCATIONS)]));
    }
}
