//! BSDFs that are asked about many directions at once, whoever computes them.

use std::convert::Infallible;

use device::bsdf::{BsdfSample, Lobe};
use device::path::Drawn;
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// A BSDF that answers for arrays of directions.
///
/// Directions are unit vectors in the local frame, whose z axis is the shading normal, and point away from the surface: `wo` to
/// the viewer, above the surface, and `wi` to the light, which is below it where light is transmitted. All arrays of a call have
/// the same length.
pub trait BatchBsdf {
    /// Why it may have no answer.
    type Error;

    /// f(wo, wi) **without** the cosine, sr⁻¹ per channel; without what is reflected or refracted into single directions.
    ///
    /// # Errors
    /// There is no answer.
    fn eval(&mut self, wo: &[[f32; 3]], wi: &[[f32; 3]], f: &mut [[f32; 3]]) -> Result<(), Self::Error>;

    /// The density per solid angle, sr⁻¹, with which [`BatchBsdf::sample`] draws `wi`.
    ///
    /// # Errors
    /// There is no answer.
    fn pdf(&mut self, wo: &[[f32; 3]], wi: &[[f32; 3]], pdf: &mut [f32]) -> Result<(), Self::Error>;

    /// Draws directions by three independent uniforms in [0, 1) each, of which the first is meant to choose among components
    /// and the others to place the direction.
    ///
    /// # Errors
    /// There is no answer.
    fn sample(&mut self, wo: &[[f32; 3]], u: &[[f32; 3]], to: Samples<'_>) -> Result<(), Self::Error>;
}

/// Room for samples, a column for each of their parts; all have the same length.
#[derive(Debug)]
pub struct Samples<'a> {
    /// Directions to the light; zero where none was drawn.
    pub wi: &'a mut [[f32; 3]],
    /// f·|cos θi| / pdf per channel.
    pub weight: &'a mut [[f32; 3]],
    /// Densities per solid angle, sr⁻¹; 0 of a direction from a finite set, whose probability is in its weight.
    pub pdf: &'a mut [f32],
    /// Index of refraction where `wi` leads relative to where `wo` does: 1 for reflection. Radiance that is refracted is
    /// divided by its square, power is not.
    pub eta: &'a mut [f32],
    /// Bits of [`Drawn`].
    pub flags: &'a mut [u8],
}

/// Columns of samples.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SampleColumns {
    /// As [`Samples::wi`].
    pub wi: Vec<[f32; 3]>,
    /// As [`Samples::weight`].
    pub weight: Vec<[f32; 3]>,
    /// As [`Samples::pdf`].
    pub pdf: Vec<f32>,
    /// As [`Samples::eta`].
    pub eta: Vec<f32>,
    /// As [`Samples::flags`].
    pub flags: Vec<u8>,
}

impl SampleColumns {
    /// Room for so many.
    pub fn new(len: usize) -> Self {
        let vectors = || vec![[0.0; 3]; len];
        let numbers = || vec![0.0; len];
        Self { wi: vectors(), weight: vectors(), pdf: numbers(), eta: numbers(), flags: vec![0; len] }
    }

    /// The room.
    pub fn room(&mut self) -> Samples<'_> {
        let Self { wi, weight, pdf, eta, flags } = self;
        Samples { wi, weight, pdf, eta, flags }
    }

    /// Indices of those of which all flags in `mask` are as in `flags`.
    pub(super) fn which(&self, mask: u8, flags: u8) -> impl Iterator<Item = usize> + '_ {
        self.flags.iter().enumerate().filter(move |(_, of)| **of & mask == flags).map(|(i, _)| i)
    }
}

impl Samples<'_> {
    /// Puts the result of [`Lobe::sample`] into row `i`.
    fn put(&mut self, i: usize, wo: Vec3, sample: Option<BsdfSample>) {
        let flags = sample.as_ref().map_or(0, |sample| Drawn::of(wo, sample));
        let s = sample.unwrap_or(BsdfSample { wi: Vec3::ZERO, pdf: 0.0, weight: Vec3::ZERO, eta: 0.0 });
        (self.wi[i], self.weight[i]) = (s.wi.to_array(), s.weight.to_array());
        (self.pdf[i], self.eta[i], self.flags[i]) = (s.pdf, s.eta, flags);
    }
}

/// A lobe of the renderer, on all threads of the CPU.
#[derive(Debug)]
pub(super) struct BatchLobe<'a, L>(pub(super) &'a L);

impl<L: Lobe + Sync> BatchBsdf for BatchLobe<'_, L> {
    type Error = Infallible;

    fn eval(&mut self, wo: &[[f32; 3]], wi: &[[f32; 3]], f: &mut [[f32; 3]]) -> Result<(), Infallible> {
        let pairs = wo.par_iter().zip(wi);
        f.par_iter_mut().zip(pairs).for_each(|(f, (wo, wi))| {
            *f = self.0.eval(Vec3::from(*wo), Vec3::from(*wi)).to_array();
        });
        Ok(())
    }

    fn pdf(&mut self, wo: &[[f32; 3]], wi: &[[f32; 3]], pdf: &mut [f32]) -> Result<(), Infallible> {
        let pairs = wo.par_iter().zip(wi);
        pdf.par_iter_mut()
            .zip(pairs)
            .for_each(|(pdf, (wo, wi))| *pdf = self.0.pdf(Vec3::from(*wo), Vec3::from(*wi)));
        Ok(())
    }

    fn sample(&mut self, wo: &[[f32; 3]], u: &[[f32; 3]], mut to: Samples<'_>) -> Result<(), Infallible> {
        let draw = |(wo, [uc, x, y]): (&[f32; 3], &[f32; 3])| {
            (Vec3::from(*wo), self.0.sample(Vec3::from(*wo), *uc, Vec2::new(*x, *y)))
        };
        let drawn: Vec<_> = wo.par_iter().zip(u).map(draw).collect();
        drawn.into_iter().enumerate().for_each(|(i, (wo, sample))| to.put(i, wo, sample));
        Ok(())
    }
}
