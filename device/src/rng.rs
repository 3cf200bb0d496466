//! Samplers: pure functions of (seed, pixel, sample, dimension).

/// Purpose of a random number. Each dimension yields four uniforms that are stratified together, the first two best: any 2ᵐ
/// points are a (0, m, 2)-net in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Dim {
    /// (x, y) within the pixel, (x, y) on the lens.
    Film,
    /// ((which light, and x on it; y), which part of it, spare).
    Light,
    /// ((x, y) of the direction, which lobe, Russian roulette).
    Bsdf,
    /// (hole or not, which of two materials, spare, spare), anew for every hole that the path passes.
    Material,
}

impl Dim {
    /// Number of the dimension at a given path depth, < 2²⁰: one for the film, two for every bounce, and those of
    /// materials beyond all of these. Not far beyond: [`pcg4d`] hardly mixes what differs in the two highest bits alone.
    #[inline(always)]
    const fn index(self, depth: u32) -> u32 {
        match self {
            Self::Film => 0,
            Self::Light => 1 + 2 * depth,
            Self::Bsdf => 2 + 2 * depth,
            Self::Material => 1 << 20 | depth,
        }
    }
}

/// Which points a [`Sampler`] yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SamplerKind {
    /// Independent uniforms.
    Independent,
    /// Owen-scrambled Sobol' points, shuffled anew for every pixel and dimension (Burley 2020).
    Sobol,
}

/// The random numbers of one camera sample.
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    /// Which points.
    pub kind: SamplerKind,
    /// Seed of the render.
    pub seed: u32,
    /// Index of the pixel.
    pub pixel: u32,
    /// Index of the sample within the pixel.
    pub sample: u32,
}

impl Sampler {
    /// Four uniforms in [0, 1) for `dim` at path depth `depth`.
    #[inline(always)]
    pub fn draw(&self, dim: Dim, depth: u32) -> [f32; 4] {
        self.draw_bits(dim, depth).map(uniform)
    }

    /// As [`Sampler::draw`], four words: [`uniform`] makes numbers of them.
    #[inline(always)]
    pub fn draw_bits(&self, dim: Dim, depth: u32) -> [u32; 4] {
        let d = dim.index(depth);
        match self.kind {
            SamplerKind::Independent => pcg4d([self.pixel, self.sample, d, self.seed]),
            SamplerKind::Sobol => owen_sobol_4d(self.sample, pcg4d([self.pixel, d, self.seed, 0x5eed])),
        }
    }
}

/// The 24 high bits of `x` as a number in [0, 1).
#[inline(always)]
pub fn uniform(x: u32) -> f32 {
    (x >> 8) as f32 * (1.0 / 16_777_216.0)
}

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

/// Point `index` of the four-dimensional Sobol' sequence, in an order shuffled by and scrambled by `seeds`.
///
/// Burley 2020, "Practical Hash-based Owen Scrambling", JCGT 9(4), §4–5: the shuffle of the order decorrelates
/// the pixels and the dimensions, which share this one sequence.
#[inline(always)]
pub fn owen_sobol_4d(index: u32, seeds: [u32; 4]) -> [u32; 4] {
    let index = nested_uniform_scramble(index, seeds[0] ^ seeds[1].rotate_left(16) ^ 0x9e37_79b9);
    // The digits come out reversed, which is what the scrambling permutation works on.
    let x = sobol_4d_reversed(index);
    core::array::from_fn(|i| laine_karras_permutation(x[i], seeds[i]).reverse_bits())
}

/// Owen scrambling in base 2 of the bits of `x` (Burley 2020, listing 2).
#[inline(always)]
fn nested_uniform_scramble(x: u32, seed: u32) -> u32 {
    laine_karras_permutation(x.reverse_bits(), seed).reverse_bits()
}

/// A permutation in which every bit is flipped depending on the bits below it only (Laine & Karras 2011), with
/// the constants that Vegdahl 2021, "Building a Better LK Hash", found to leave no visible structure.
#[inline(always)]
fn laine_karras_permutation(mut x: u32, seed: u32) -> u32 {
    x ^= x.wrapping_mul(0x3d20_adea);
    x = x.wrapping_add(seed);
    x = x.wrapping_mul((seed >> 16) | 1);
    x ^= x.wrapping_mul(0x0552_6c56);
    x ^= x.wrapping_mul(0x53a2_2864);
    x
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
fn sobol_4d_reversed(index: u32) -> [u32; 4] {
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
