//! Owen-scrambled Sobol' points.

use super::hash::{laine_karras_permutation, nested_uniform_scramble};

/// Point `index` of the four-dimensional Sobol' sequence, in an order shuffled by and scrambled by `seeds`.
///
/// Burley 2020, "Practical Hash-based Owen Scrambling", JCGT 9(4), §4–5: the shuffle of the order decorrelates
/// the pixels and the dimensions, which share this one sequence.
#[inline(always)]
pub fn owen_sobol_4d(index: u32, seeds: [u32; 4]) -> [u32; 4] {
    let index = nested_uniform_scramble(index, order(seeds));
    // The digits come out reversed, which is what the scrambling permutation works on.
    let x = sobol_4d_reversed(index);
    core::array::from_fn(|i| laine_karras_permutation(x[i], seeds[i]).reverse_bits())
}

/// The seed of the order of points that are scrambled by `seeds`.
#[inline(always)]
pub(super) fn order(seeds: [u32; 4]) -> u32 {
    seeds[0] ^ seeds[1].rotate_left(16) ^ 0x9e37_79b9
}

/// The first four Sobol' coordinates of `index`, with their bits reversed: those that Joe & Kuo 2008 (`new-joe-kuo-6.21201`) give by the
/// primitive polynomials p = x + 1, x² + x + 1 and x³ + x + 1, and initial numbers; the first is the index.
///
/// The index as a polynomial over GF(2), written in powers of p, has the digits of the point but for the initial numbers, by which
/// those of each power are mixed (Niederreiter 1988, "Low-discrepancy and low-dispersion sequences"). Such a polynomial is split at
/// p to the 16th, 8th, …, and first power; and over GF(2) p to the w-th power is p(xʷ), so that the division takes a few shifts. For x + 1, that
/// is Ahmed 2024, "An Implementation Algorithm of 2D Sobol Sequence Fast, Elegant, and Compact".
#[inline(always)]
pub(super) fn sobol_4d_reversed(index: u32) -> [u32; 4] {
    let x = linear::<1>(linear::<2>(linear::<4>(linear::<8>(linear::<16>(index)))));
    let y = quadratic::<1>(quadratic::<2>(quadratic::<4>(quadratic::<8>(index))));
    let z = cubic::<1>(cubic::<2>(cubic::<4>(cubic::<8>(index))));
    [index, x, plus(y, 1, const { places(1, 2, 0b01) }), plus(z, 1, const { places(1, 3, 0b001) })]
}

/// In each group of two places of `W` bits, from the lowest on, the remainder and the quotient of the division by xᵂ + 1.
#[inline(always)]
const fn linear<const W: u32>(x: u32) -> u32 {
    plus(x, W, const { places(W, 2, 0b01) })
}

/// In each group of four places of `W` bits, from the lowest on, the remainder (two places) and the quotient of the division by
/// x²ᵂ + xᵂ + 1.
#[inline(always)]
const fn quadratic<const W: u32>(x: u32) -> u32 {
    let x = plus(x, W, const { places(W, 4, 0b0100) });
    let x = plus(x, 2 * W, const { places(W, 4, 0b0011) });
    plus(x, W, const { places(W, 4, 0b0010) })
}

/// In each group of six places of `W` bits, from the lowest on, the remainder (three places) and the quotient of the division by
/// x³ᵂ + xᵂ + 1.
#[inline(always)]
const fn cubic<const W: u32>(x: u32) -> u32 {
    let x = plus(x, 2 * W, const { places(W, 6, 0b00_1000) });
    let x = plus(x, 3 * W, const { places(W, 6, 0b00_0111) });
    plus(x, 2 * W, const { places(W, 6, 0b00_0110) })
}

/// `x`, to whose bits `to` those are added that are `above` them.
#[inline(always)]
const fn plus(x: u32, above: u32, to: u32) -> u32 {
    x ^ ((x >> above) & to)
}

/// The bits of some of every `n` places of `w` bits.
const fn places(w: u32, n: u32, which: u32) -> u32 {
    let (mut bits, mut i) = (0, 0);
    while i < 32 {
        bits |= (which >> (i / w % n) & 1) << i;
        i += 1;
    }
    bits
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// The generator matrix for the polynomial of degree `s` with inner coefficients `a`, and initial numbers `m`, by columns (Joe & Kuo
    /// 2008, eq. 2 and 3).
    fn matrix(s: usize, a: u32, m: &[u32]) -> Vec<u32> {
        let mut v: Vec<u32> = m.iter().enumerate().map(|(k, m)| m << (31 - k)).collect();
        for k in s..32 {
            let inner = (1..s).filter(|j| (a >> (s - 1 - j)) & 1 == 1).fold(0, |x, j| x ^ v[k - j]);
            v.push(v[k - s] ^ (v[k - s] >> s) ^ inner);
        }
        v
    }

    /// Both are linear, so that the columns tell all.
    #[test]
    fn points_are_those_of_the_generator_matrices() {
        let matrices = [matrix(1, 0, &[1]), matrix(2, 1, &[1, 3]), matrix(3, 1, &[1, 3, 1])];
        for k in 0..32 {
            let [index, rest @ ..] = sobol_4d_reversed(1 << k);
            assert_eq!(index, 1 << k);
            assert_eq!(rest, matrices.each_ref().map(|columns| columns[k].reverse_bits()), "column {k}");
        }
        for (a, b) in [(0x1234_5678, 0x9abc_def0), (u32::MAX, 77)] {
            let [of_a, of_b, both] = [a, b, a ^ b].map(sobol_4d_reversed);
            assert_eq!(both, std::array::from_fn(|i| of_a[i] ^ of_b[i]), "linear");
        }
    }
}
