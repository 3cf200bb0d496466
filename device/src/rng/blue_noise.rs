//! Sobol' points whose errors cancel between neighbouring pixels.
//!
//! Ahmed & Wonka 2020, "Screen-Space Blue-Noise Diffusion of Monte Carlo Sampling Error via Hierarchical Ordering of
//! Pixels", ACM TOG 39(6), give the pixels along a Z-curve one part each of one sequence: what lies together on the curve has
//! the errors of a longer part of it, which are smaller. Parts of a sequence have a length that has to be known before
//! the first sample. Here it need not be: sample s of pixel p is the point C·s ⊕ A·p. C are the Sobol' matrices, by which every
//! pixel has the points that it would have alone. The columns of A were searched for, by the example `blue_noise` of the
//! tests: the first 2ᵏ samples of 2ʲ neighbours are (t, k + j, 2)-nets with small t for all small k and j, in the first two
//! dimensions and in the others. One nested scrambling for all pixels of a tile leaves nets what they are.

use super::Sampler;
use super::hash::{laine_karras_permutation, nested_uniform_scramble, pcg4d};
use super::sobol::{order, sobol_4d_reversed};

/// Binary digits of a place in a tile.
const DIGITS: usize = 6;

/// The columns of A in the first four dimensions, the one of the highest digit first, bits reversed.
const SHIFTS_REVERSED: [[u32; DIGITS]; 4] = [
    [0xfdb4_2db7, 0x5512_ba17, 0x351b_9121, 0x04cc_f82a, 0xa28d_3d99, 0xeda4_0f7e],
    [0x10d5_8edc, 0xe6f1_2f3a, 0x4aef_328a, 0xbd94_191e, 0xb3b9_6928, 0x01b9_9bd5],
    [0x0ad6_57dd, 0xbe35_13b0, 0x6c34_9fa2, 0x2663_0a97, 0x39d5_4fbd, 0xd338_8b76],
    [0x1c79_661b, 0x3489_cbe1, 0x2c5b_611b, 0x9ff8_98d6, 0x6d21_2e58, 0x23c7_54b1],
];

/// The numbers of a sample for dimension `d`.
#[inline(always)]
pub(super) fn blue_noise_4d(sampler: Sampler, d: u32) -> [u32; 4] {
    let Sampler { seed, pixel, width, sample, .. } = sampler;
    let place = Place::of(pixel, width);
    let seeds = pcg4d([place.tile, d, seed, 0xb10e]);
    // Dimensions would be correlated if all pixels took their points in one order; but the first 2ᵏ points have to stay the first.
    let order = order(seeds).wrapping_add(pixel.wrapping_mul(0x9e37_79b9));
    let index = nested_uniform_scramble(sample, order) ^ nested_uniform_scramble(0, order);
    let (x, shift) = (sobol_4d_reversed(index), place.shift_reversed(seeds[0] ^ seeds[2].rotate_left(16)));
    core::array::from_fn(|i| laine_karras_permutation(x[i] ^ shift[i], seeds[i]).reverse_bits())
}

/// Where a pixel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// Which tile of 8 × 8 pixels.
    tile: u32,
    /// Where on the Z-curve through the tile, digits reversed: the lowest says which half.
    digits: u32,
}

impl Place {
    /// The place of pixel number `pixel` of an image with `width` pixels in a row.
    #[inline(always)]
    fn of(pixel: u32, width: u32) -> Self {
        let [x, y] = position(pixel, width);
        let bit = |x: u32, from: u32, to: u32| ((x >> from) & 1) << to;
        let digits = bit(y, 2, 0) | bit(x, 2, 1) | bit(y, 1, 2) | bit(x, 1, 3) | bit(y, 0, 4) | bit(x, 0, 5);
        // Few bits wide, as `pcg4d` mixes low bits best; no two tiles are alike in images less than 65 528 pixels wide.
        Self { tile: (x >> 3).wrapping_add((y >> 3).wrapping_mul(8191)), digits }
    }

    /// A·p, bits reversed, of a Z-curve that is shuffled by the seed of a tile and dimension.
    #[inline(always)]
    fn shift_reversed(self, seed: u32) -> [u32; 4] {
        let digits = laine_karras_permutation(self.digits, seed);
        let mut x = [0; 4];
        let mut k = 0;
        while k < DIGITS {
            let bit = 0u32.wrapping_sub((digits >> k) & 1);
            x[0] ^= bit & SHIFTS_REVERSED[0][k];
            x[1] ^= bit & SHIFTS_REVERSED[1][k];
            x[2] ^= bit & SHIFTS_REVERSED[2][k];
            x[3] ^= bit & SHIFTS_REVERSED[3][k];
            k += 1;
        }
        x
    }
}

/// (x, y) of a pixel. By floating point, which vector units divide by: its quotient is off by 1 at most, and mended.
#[inline(always)]
fn position(pixel: u32, width: u32) -> [u32; 2] {
    let row = (pixel as f32 * (1.0 / width as f32)) as u32;
    let x = pixel.wrapping_sub(row.wrapping_mul(width)) as i32;
    let (before, beyond) = (x < 0, x >= width as i32);
    let x = x + if before { width as i32 } else { 0 } - if beyond { width as i32 } else { 0 };
    [x as u32, row.wrapping_sub(before.into()).wrapping_add(beyond.into())]
}
