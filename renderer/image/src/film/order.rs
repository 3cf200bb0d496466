//! Values by their place in ascending order.

use rayon::prelude::*;

/// Bits of each digit of a key, highest digit first.
const DIGITS: [u32; 3] = [11, 11, 10];

/// The value with exactly `before` others ahead of it in ascending order, as [`f32::total_cmp`] orders them, NaNs too; `None` if there are no
/// more than `before` values. Goes through `values` once for each digit of their keys and copies nothing: how many values have each digit
/// tells which digit comes next (radix selection).
pub fn nth<I: ParallelIterator<Item = f32>>(values: impl Fn() -> I, mut before: usize) -> Option<f32> {
    let (mut prefix, mut shift) = (0_u64, u32::BITS);
    for bits in DIGITS {
        let (of_prefix, mask) = (shift, (1 << bits) - 1);
        shift -= bits;
        let none = || vec![0_usize; 1 << bits];
        let count = |mut counts: Vec<usize>, value: f32| {
            let key = u64::from(key(value));
            if key >> of_prefix == prefix {
                counts[(key >> shift & mask) as usize] += 1;
            }
            counts
        };
        let add = |mut counts: Vec<usize>, more: Vec<usize>| {
            counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
            counts
        };
        let counts = values().fold(none, count).reduce(none, add);
        let digit = counts.iter().position(|count| match before.checked_sub(*count) {
            Some(left) => {
                before = left;
                false
            }
            None => true,
        });
        prefix = prefix << bits | digit? as u64;
    }
    Some(value(prefix as u32))
}

/// A number that sorts as [`f32::total_cmp`] does.
fn key(value: f32) -> u32 {
    let bits = value.to_bits();
    if value.is_sign_negative() { !bits } else { bits | 1 << 31 }
}

/// The value of a [`key`].
fn value(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 0 { !key } else { key ^ 1 << 31 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier::Random;

    #[test]
    fn values_are_found_by_their_place() {
        let mut random = Random(3);
        let special =
            [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN, 1.0, 1.0_f32.next_up()];
        for n in [1, 2, 7, 100, 5000] {
            let any = |i: usize, random: &mut Random| match i % 3 {
                0 => special[(random.uniform() * 8.0) as usize],
                1 => (10.0 * random.uniform()).exp() as f32,
                _ => random.uniform() as f32 - 0.5,
            };
            let values: Vec<f32> = (0..n).map(|i| any(i, &mut random)).collect();
            let mut sorted = values.clone();
            sorted.sort_unstable_by(f32::total_cmp);
            let found = |before| nth(|| values.par_iter().copied(), before).map(f32::to_bits);
            for (before, value) in sorted.iter().enumerate().step_by(1 + n / 50) {
                assert_eq!(found(before), Some(value.to_bits()), "{before} of {n}");
            }
            assert_eq!(found(n), None);
        }
        assert_eq!(nth(|| [0.0; 0].into_par_iter(), 0), None);
    }
}
