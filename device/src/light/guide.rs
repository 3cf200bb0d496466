//! Choosing one of many by a random word.

use bytemuck::{Pod, Zeroable};

use crate::arch::{load, min};

/// Entry of a guide table, which chooses one of n by random words: that of a choice, and of an n-th of all words. After the
/// last there is one more.
///
/// The words that make a choice are all those between its first and the next choice's, so that points that are stratified stay
/// so. A guide to where to look for it makes that as fast as an alias table, but for rare words (Chen & Asau 1974, "On
/// Generating Random Variates from an Empirical Distribution").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(8))]
pub struct GuideEntry {
    /// First of the words that make the choice, less 2³² after all words: 0 for the first choice, after the last, and for choices
    /// at the end that have no words, which no guide leads to.
    pub first: u32,
    /// What the first word of the n-th chooses; after the last, what the last of all words does.
    pub guide: u32,
}

/// A choice, and the words that make it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    /// Index of the choice.
    pub(super) index: u32,
    /// The first and the last word.
    pub(super) words: [u32; 2],
}

/// The largest number below 1.
pub(super) const BELOW_ONE: f32 = 1.0 - f32::EPSILON / 2.0;

impl Chosen {
    /// How far `word` is from the first of the words to the last, as a number in (0, 1).
    #[inline(always)]
    pub(super) fn part_of(&self, word: u32) -> f32 {
        let [first, last] = self.words;
        min(((word - first) as f32 + 0.5) / ((last - first) as f32 + 1.0), BELOW_ONE)
    }
}

/// What a word chooses by the guide table `entries`, which has `n` choices, ≥ 1, and one entry more.
///
/// # Safety
/// The entries can be read.
#[inline(always)]
pub(super) unsafe fn choose(entries: *const GuideEntry, n: u32, word: u32) -> Chosen {
    // SAFETY: as the caller promised; no index is beyond `n`.
    let entry = |i: u32| unsafe { load(entries.add(i as usize)) };
    let part = ((u64::from(word) * u64::from(n)) >> 32) as u32;
    let (mut index, mut end) = (entry(part).guide, entry(part + 1).guide);
    while index < end {
        let middle = index + (end - index).div_ceil(2);
        if entry(middle).first <= word {
            index = middle;
        } else {
            end = middle - 1;
        }
    }
    // After the choice of the last word comes 0.
    Chosen { index, words: [entry(index).first, entry(index + 1).first.wrapping_sub(1)] }
}
