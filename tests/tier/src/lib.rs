//! How much the tests do.
//!
//! Tests have two tiers. The fast one, which runs unless something else is asked for, has every oracle and every negative
//! control, with fewer samples, bounds that are wider accordingly, and pairs of parameters in the place of all their
//! combinations. The deep one is all of it: `TORRANCE_TESTS=deep cargo test …`.

mod random;

use std::sync::LazyLock;

pub use random::Random;

/// The environment variable that chooses the tier.
pub const VARIABLE: &str = "TORRANCE_TESTS";

/// Whether the deep tier runs.
///
/// # Panics
/// If the variable is something else than `fast` or `deep`: a misspelt tier is none.
pub fn is_deep() -> bool {
    static DEEP: LazyLock<bool> = LazyLock::new(|| match std::env::var(VARIABLE).as_deref() {
        Ok("deep") => true,
        Ok("fast") | Err(_) => false,
        Ok(other) => panic!("{VARIABLE} is {other:?}; it may be fast or deep"),
    });
    *DEEP
}

/// A number, or anything else, of each tier.
pub fn choose<T>(fast: T, deep: T) -> T {
    if is_deep() { deep } else { fast }
}

/// Whether case `k` is taken: all are in the deep tier, and one in `n` in the fast one.
pub fn takes(k: usize, n: usize) -> bool {
    is_deep() || k.is_multiple_of(n)
}

/// Indices of combinations of one value from each of `N` lists of these lengths: all of them in the deep tier; in the fast
/// one so few that every pair of values of two lists still occurs.
pub fn combinations<const N: usize>(lengths: [usize; N]) -> Vec<[usize; N]> {
    if is_deep() { all(lengths) } else { pairwise(lengths) }
}

fn all<const N: usize>(lengths: [usize; N]) -> Vec<[usize; N]> {
    let combination = |mut k: usize| {
        lengths.map(|n| {
            let i = k % n;
            k /= n;
            i
        })
    };
    (0..lengths.iter().product()).map(combination).collect()
}

/// A covering array of strength two, made greedily: of all combinations that hold the next pair that is missing, the one
/// with most missing pairs.
fn pairwise<const N: usize>(lengths: [usize; N]) -> Vec<[usize; N]> {
    let pairs = |c: &[usize; N]| {
        let c = *c;
        (0..N).flat_map(move |a| (0..a).map(move |b| (a, c[a], b, c[b]))).collect::<Vec<_>>()
    };
    let candidates = all(lengths);
    let mut missing: std::collections::BTreeSet<_> = candidates.iter().flat_map(pairs).collect();
    let mut chosen = Vec::new();
    while let Some(&(a, i, b, j)) = missing.first() {
        let holds = candidates.iter().filter(|c| c[a] == i && c[b] == j);
        let gain = |c: &&[usize; N]| pairs(c).iter().filter(|p| missing.contains(p)).count();
        let best = *holds.max_by_key(gain).expect("the pair is of a combination");
        pairs(&best).iter().for_each(|pair| {
            missing.remove(pair);
        });
        chosen.push(best);
    }
    if N < 2 { candidates } else { chosen }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pairs_occur_in_few_combinations() {
        let lengths = [4, 7, 8, 3];
        let few = pairwise(lengths);
        for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            for i in 0..lengths[a] {
                for j in 0..lengths[b] {
                    assert!(few.iter().any(|c| c[a] == i && c[b] == j), "{a}:{i} {b}:{j}");
                }
            }
        }
        assert!((56..=80).contains(&few.len()), "{}", few.len());
        assert_eq!(all(lengths).len(), 672);
        assert_eq!(pairwise([3]).len(), 3);
        assert!(all([2, 0]).is_empty() && pairwise([2, 0]).is_empty());
    }
}
