//! Guide tables, which choose by random words.

use device::light::GuideEntry;

/// Number of random words.
pub(super) const WORDS: u64 = 1 << 32;

/// The guide table of choices of which each is made by all words from its first on to before the next's: `firsts` has these, at
/// least one, in ascending order from 0 to [`WORDS`]. Choices of no words are never made.
pub(super) fn guide_table(firsts: &[u64]) -> impl Iterator<Item = GuideEntry> {
    let n = firsts.len() as u64;
    let mut chosen = 0;
    (0..).zip(firsts.iter().chain([&WORDS])).map(move |(i, &first)| {
        let word = (i * WORDS).div_ceil(n).min(WORDS - 1);
        while firsts.get(chosen + 1).is_some_and(|next| *next <= word) {
            chosen += 1;
        }
        GuideEntry { first: first as u32, guide: chosen as u32 }
    })
}

/// First words of choices with probabilities proportional to weights, which are not negative; all alike if none is positive.
pub(super) fn firsts(weights: &[f64]) -> Vec<u64> {
    let n = weights.len();
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    let first = |(i, weight): (usize, &f64)| {
        let part = if total > 0.0 { sum / total } else { i as f64 / n as f64 };
        sum += weight;
        ((part * WORDS as f64) as u64).min(WORDS)
    };
    weights.iter().enumerate().map(first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The choice that a word makes, by definition.
    fn chosen(firsts: &[u64], word: u64) -> usize {
        firsts.iter().rposition(|first| *first <= word).expect("the first choice has word 0")
    }

    #[test]
    fn guides_lead_to_what_the_first_word_of_a_part_chooses() {
        for n in [1_u32, 2, 3, 7, 100] {
            let weights: Vec<f64> = (0..n).map(|i| f64::from(i * i % 13 % 5)).collect();
            let firsts = firsts(&weights);
            let table: Vec<_> = guide_table(&firsts).collect();
            assert_eq!(table.len(), n as usize + 1);
            for (i, entry) in table.iter().enumerate() {
                let word = (i as u64 * WORDS).div_ceil(n.into()).min(WORDS - 1);
                assert_eq!(entry.guide as usize, chosen(&firsts, word), "entry {i} of {n}");
            }
        }
    }

    #[test]
    fn words_are_shared_by_weight() {
        let firsts = firsts(&[0.0, 3.0, 0.0, 1.0, 4.0, 0.0]);
        assert_eq!(firsts, [0, 0, 3, 3, 4, 8].map(|eighths| eighths * WORDS / 8));
        assert_eq!(super::firsts(&[0.0; 4]), [0, 1, 2, 3].map(|quarters| quarters * WORDS / 4));
    }
}
