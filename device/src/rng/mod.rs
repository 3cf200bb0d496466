//! Samplers: pure functions of (seed, pixel, sample, dimension).

mod blue_noise;
mod hash;
mod sobol;

use crate::features::Features;
use blue_noise::blue_noise_4d;
pub use hash::pcg4d;
pub use sobol::owen_sobol_4d;

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
    /// Such points of which neighbouring pixels have parts that complete each other: the errors of pixels are as large, and
    /// cancel between neighbours.
    BlueNoise,
}

/// The random numbers of one camera sample.
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    /// Which points.
    pub kind: SamplerKind,
    /// Seed of the render.
    pub seed: u32,
    /// Index of the pixel, row by row.
    pub pixel: u32,
    /// Number of pixels in a row.
    pub width: u32,
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
        // A constant that is false in most kernels, where the compiler leaves this out.
        if Features::may_be_asked_for(Features::BLUE_NOISE) && self.kind == SamplerKind::BlueNoise {
            return blue_noise_4d(*self, d);
        }
        match self.kind {
            SamplerKind::Independent => pcg4d([self.pixel, self.sample, d, self.seed]),
            _ => owen_sobol_4d(self.sample, pcg4d([self.pixel, d, self.seed, 0x5eed])),
        }
    }
}

/// The 24 high bits of `x` as a number in [0, 1).
#[inline(always)]
pub fn uniform(x: u32) -> f32 {
    (x >> 8) as f32 * (1.0 / 16_777_216.0)
}
