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

/// Generator matrices of Sobol' dimensions 2 to 4, columns with their bits reversed, from the primitive
/// polynomials and initial numbers of Joe & Kuo 2008 (`new-joe-kuo-6.21201`). The first dimension is the
/// identity.
const SOBOL_REVERSED: [[u32; 32]; 3] =
    [sobol_matrix(1, 0, [1, 0, 0]), sobol_matrix(2, 1, [1, 3, 0]), sobol_matrix(3, 1, [1, 3, 1])];

/// Column k of the generator matrix for the polynomial of degree `s` with inner coefficients `a`, and initial
/// numbers `m` (Joe & Kuo 2008, eq. 2 and 3), bits reversed.
const fn sobol_matrix(s: usize, a: u32, m: [u32; 3]) -> [u32; 32] {
    let mut v = [0u32; 32];
    let mut k = 0;
    while k < 32 {
        v[k] = if k < s {
            m[k] << (31 - k)
        } else {
            let mut x = v[k - s] ^ (v[k - s] >> s);
            let mut j = 1;
            while j < s {
                if (a >> (s - 1 - j)) & 1 == 1 {
                    x ^= v[k - j];
                }
                j += 1;
            }
            x
        };
        k += 1;
    }
    let mut k = 0;
    while k < 32 {
        v[k] = v[k].reverse_bits();
        k += 1;
    }
    v
}

/// The first four Sobol' coordinates of `index`, bits reversed.
#[inline(always)]
pub(super) fn sobol_4d_reversed(index: u32) -> [u32; 4] {
    // Loops short enough to be unrolled, so that many indices at once take vector instructions.
    let bytes = [of_byte::<0>(index), of_byte::<8>(index), of_byte::<16>(index), of_byte::<24>(index)];
    let sum = |i: usize| bytes[0][i] ^ bytes[1][i] ^ bytes[2][i] ^ bytes[3][i];
    [index, sum(0), sum(1), sum(2)]
}

/// What eight bits of `index`, from number `FIRST` on, add to coordinates 2 to 4.
#[inline(always)]
fn of_byte<const FIRST: usize>(index: u32) -> [u32; 3] {
    let mut x = [0; 3];
    let mut k = FIRST;
    while k < FIRST + 8 {
        let bit = 0u32.wrapping_sub((index >> k) & 1);
        x[0] ^= bit & SOBOL_REVERSED[0][k];
        x[1] ^= bit & SOBOL_REVERSED[1][k];
        x[2] ^= bit & SOBOL_REVERSED[2][k];
        k += 1;
    }
    x
}
