//! Hashes of words, and scramblings by them.

/// A hash of four words to four words that passes the statistical tests of TestU01's BigCrush.
///
/// Jarzynski & Olano 2020, "Hash Functions for GPU Rendering", JCGT 9(3), listing "pcg4d".
#[inline(always)]
pub fn pcg4d(v: [u32; 4]) -> [u32; 4] {
    let v = v.map(|v| v.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    pcg4d_round(pcg4d_round(v).map(|v| v ^ (v >> 16)))
}

#[inline(always)]
fn pcg4d_round([mut x, mut y, mut z, mut w]: [u32; 4]) -> [u32; 4] {
    x = x.wrapping_add(y.wrapping_mul(w));
    y = y.wrapping_add(z.wrapping_mul(x));
    z = z.wrapping_add(x.wrapping_mul(y));
    w = w.wrapping_add(y.wrapping_mul(z));
    [x, y, z, w]
}

/// Owen scrambling in base 2 of the bits of `x` (Burley 2020, listing 2).
#[inline(always)]
pub(super) fn nested_uniform_scramble(x: u32, seed: u32) -> u32 {
    laine_karras_permutation(x.reverse_bits(), seed).reverse_bits()
}

/// A permutation in which every bit is flipped depending on the bits below it only (Laine & Karras 2011), with
/// the constants that Vegdahl 2021, "Building a Better LK Hash", found to leave no visible structure.
#[inline(always)]
pub(super) fn laine_karras_permutation(mut x: u32, seed: u32) -> u32 {
    x ^= x.wrapping_mul(0x3d20_adea);
    x = x.wrapping_add(seed);
    x = x.wrapping_mul((seed >> 16) | 1);
    x ^= x.wrapping_mul(0x0552_6c56);
    x ^= x.wrapping_mul(0x53a2_2864);
    x
}
