//! Rounds: samples that some parts of an image get beyond those of all, where there is noise.

use std::ops::Range;
use std::sync::Arc;

use device::path::{HALF, Item, half_count, half_pixel};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use torrance_image::film::ranges::{cube_sum, fingerprint, fingerprint_of, part};

use super::blocks::Block;

/// Samples of a half, a chessboard's worth of a cell of 4 × 4 pixels ([`device::path::half_pixel`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Portion {
    pub(super) half: u32,
    pub(super) samples: Range<u32>,
}

/// Portions, divided into items that machines take alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Round {
    /// In the order of halves.
    pub(super) portions: Vec<Portion>,
    pub(super) items: Vec<Item>,
    /// Samples of each item, at most; on average if they are whole portions.
    pub(super) samples: u32,
    /// Whether a half may have several items.
    pub(super) is_spread: bool,
    /// For each item, what the items before it add to a fingerprint; and what all add.
    sums: Vec<u64>,
}

impl Round {
    /// Portions of halves, in the order of their numbers, of an image of a size, in items of so many samples or less; or undivided.
    pub(super) fn new(portions: Vec<Portion>, per_item: Option<u32>, size: [u32; 2]) -> Self {
        let (mut items, mut sums) = (Vec::new(), vec![0_u64]);
        let parts: Vec<u64> = portions.par_iter().with_min_len(64).map(|p| parts_of(p.half, size)).collect();
        for (Portion { half, samples }, parts) in portions.iter().zip(parts) {
            let step = per_item.unwrap_or(samples.len() as u32).max(1);
            for first_sample in samples.clone().step_by(step as usize) {
                let samples = step.min(samples.end - first_sample);
                items.push(Item { half: *half, first_sample, samples });
                let sum = fingerprint_of(&(first_sample..first_sample + samples), parts);
                sums.push(sums.last().map_or(0, |before| before.wrapping_add(sum)));
            }
        }
        let all: u64 = portions.iter().map(|portion| portion.samples.len() as u64).sum();
        let samples = per_item.unwrap_or_else(|| all.div_ceil(portions.len().max(1) as u64) as u32);
        Self { portions, items, samples, is_spread: per_item.is_some(), sums }
    }

    /// All of it, as round number `number`.
    pub(super) fn block(&self, number: u32) -> Block {
        Block { samples: 0..self.samples, invocations: 0..self.items.len() as u32 * HALF, round: number }
    }

    /// The fingerprint of a part of it, whole items.
    fn fingerprint(&self, block: &Block) -> u64 {
        let [begin, end] = [block.invocations.start, block.invocations.end].map(|i| (i / HALF) as usize);
        self.sums[end].wrapping_sub(self.sums[begin])
    }

    /// From the first sample of any portion to the last one.
    fn span(&self) -> Range<u32> {
        let start = self.portions.iter().map(|portion| portion.samples.start).min().unwrap_or(0);
        start..self.portions.iter().map(|portion| portion.samples.end).max().unwrap_or(start)
    }
}

/// The sum over the parts of the image in a half that a fingerprint is made of.
fn parts_of(half: u32, [width, height]: [u32; 2]) -> u64 {
    let parts = (0..HALF).filter_map(|i| part(half_pixel(width, half, i), [width, height]));
    parts.fold(0, |sum: u64, part| sum.wrapping_add(cube_sum(&(part..part + 1))))
}

/// The rounds of a render, one after the other, numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Rounds {
    /// The number of the last one; 0 for none.
    number: u32,
    last: Option<Arc<Round>>,
    /// Samples of some halves, of all rounds.
    span: Range<u32>,
}

impl Rounds {
    /// The last one.
    pub(super) const fn last(&self) -> Option<&Arc<Round>> {
        self.last.as_ref()
    }

    /// Begins another.
    pub(super) fn begin(&mut self, round: Round) {
        let Range { start, end } = round.span();
        self.span = match self.number {
            0 => start..end,
            _ => self.span.start.min(start)..self.span.end.max(end),
        };
        self.number += 1;
        self.last = Some(Arc::new(round));
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.number == 0
    }

    /// Samples that halves may have beyond those of all.
    pub(super) fn span(&self) -> Range<u32> {
        self.span.clone()
    }

    /// All of the last one.
    pub(super) fn block(&self) -> Option<Block> {
        self.last.as_ref().map(|round| round.block(self.number))
    }

    /// The fingerprint of a block, of the last round or of the whole image.
    pub(super) fn fingerprint(&self, block: &Block) -> u64 {
        match &self.last {
            Some(round) if block.round > 0 => round.fingerprint(block),
            _ => fingerprint(&block.samples, &block.invocations),
        }
    }

    /// As a file holds them.
    pub(super) fn stored(&self) -> Option<StoredRounds> {
        let round = self.last.as_ref()?;
        let per_item = round.is_spread.then_some(round.samples);
        let portions = round.portions.iter().map(|p| [p.half, p.samples.start, p.samples.end]).collect();
        Some(StoredRounds { number: self.number, span: self.span(), per_item, portions })
    }

    /// Those that a file holds of an image of a size, of which there are such blocks; `None` if they do not fit.
    pub(super) fn read<'a>(
        stored: Option<&StoredRounds>,
        size: [u32; 2],
        mut blocks: impl Iterator<Item = &'a Block>,
    ) -> Option<Self> {
        let Some(StoredRounds { number, span, per_item, portions }) = stored else {
            return blocks.all(|block| block.round == 0).then(Self::default);
        };
        let halves = half_count(size[0], size[1]);
        let is_right = |[half, start, end]: &[u32; 3]| *half < halves && start < end;
        let in_order = portions.windows(2).all(|pair| pair[0][0] < pair[1][0]);
        if *number == 0 || *per_item == Some(0) || !in_order || !portions.iter().all(is_right) {
            return None;
        }
        let portion = |[half, start, end]: &[u32; 3]| Portion { half: *half, samples: *start..*end };
        let round = Round::new(portions.iter().map(portion).collect(), *per_item, size);
        let most = round.block(*number).invocations.end;
        let fits =
            |block: &Block| block.round < *number || block.round == *number && block.invocations.end <= most;
        blocks.all(fits).then(|| Self { number: *number, last: Some(Arc::new(round)), span: span.clone() })
    }
}

/// Rounds in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredRounds {
    number: u32,
    span: Range<u32>,
    per_item: Option<u32>,
    /// Of the last one: halves, their first samples, and those after their last ones.
    portions: Vec<[u32; 3]>,
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use torrance_image::film::ranges::parts;

    /// Every pixel is in one half, and halves of even and odd number are a chessboard.
    #[test]
    fn halves_cover_an_image() {
        for size @ [width, height] in [[1, 1], [8, 8], [9, 3], [37, 21], [64, 12]] {
            let mut seen = HashMap::new();
            for half in 0..half_count(width, height) {
                for (x, y) in (0..HALF).map(|i| half_pixel(width, half, i)) {
                    assert_eq!(seen.insert((x, y), half), None, "{x}, {y}");
                    assert_eq!((x + y) % 2, half % 2, "{x}, {y}");
                }
            }
            assert!((0..height).all(|y| (0..width).all(|x| seen.contains_key(&(x, y)))), "{size:?}");
        }
    }

    fn all(size: [u32; 2], samples: &Range<u32>) -> Vec<Portion> {
        let halves = 0..half_count(size[0], size[1]);
        halves.map(|half| Portion { half, samples: samples.clone() }).collect()
    }

    /// All halves are all parts of the image, however it is divided, if its last tiles are as wide as two cells.
    #[test]
    fn fingerprints_are_those_of_the_parts() {
        for size @ [width, height] in [[5, 1], [14, 3], [37, 21], [64, 12]] {
            let samples = 3..19;
            for per_item in [None, Some(4), Some(16)] {
                let mut rounds = Rounds::default();
                rounds.begin(Round::new(all(size, &samples), per_item, size));
                let whole = rounds.block().unwrap();
                let expected = fingerprint(&samples, &(0..parts(width, height)));
                assert_eq!(rounds.fingerprint(&whole), expected, "{size:?}");
                let [mut first, mut second] = [whole.clone(), whole.clone()];
                first.invocations.end = HALF;
                second.invocations.start = HALF;
                let sum = rounds.fingerprint(&first).wrapping_add(rounds.fingerprint(&second));
                assert_eq!(sum, rounds.fingerprint(&whole));
                assert_ne!(rounds.fingerprint(&first), rounds.fingerprint(&whole));
                assert_eq!(whole.paths(), 16 * u64::from(half_count(width, height) * HALF));
            }
        }
    }

    #[test]
    fn rounds_are_stored() {
        let size = [37, 21];
        let mut rounds = Rounds::default();
        rounds.begin(Round::new(all(size, &(16..32)), Some(8), size));
        rounds.begin(Round::new(vec![Portion { half: 13, samples: 32..40 }], Some(8), size));
        assert_eq!(rounds.span(), 16..40);
        let (stored, blocks) =
            (rounds.stored().unwrap(), [Block { round: 1, ..Block::default() }, rounds.block().unwrap()]);
        assert_eq!(Rounds::read(Some(&stored), size, blocks.iter()), Some(rounds));
        assert_eq!(Rounds::read(None, size, blocks.iter()), None, "blocks of rounds that are not there");
        assert_eq!(Rounds::read(None, size, [].into_iter()), Some(Rounds::default()));
        for bad in [
            StoredRounds { portions: vec![[120, 32, 40]], ..stored.clone() },
            StoredRounds { portions: vec![[13, 32, 32]], ..stored.clone() },
            StoredRounds { portions: vec![[13, 32, 40], [13, 40, 48]], ..stored.clone() },
            StoredRounds { per_item: Some(0), ..stored.clone() },
            StoredRounds { number: 1, ..stored.clone() },
        ] {
            assert_eq!(Rounds::read(Some(&bad), size, blocks.iter()), None, "{bad:?}");
        }
    }
}
