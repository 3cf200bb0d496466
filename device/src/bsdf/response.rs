//! Everything that a path asks of a lobe in one call, so that the lobe is constructed once, where it is used.

use core::marker::PhantomData;

use glam::{Vec2, Vec3};

use super::{Bsdf, BsdfSample, Listed, Tint};
use crate::features::Compiled;

/// An operation on a lobe of any type.
pub trait Visitor {
    /// Result of the visit.
    type Output;

    /// Performs the operation.
    fn visit<L: Listed>(self, lobe: L) -> Self::Output;
}

/// Converts a lobe to a [`Bsdf`].
#[derive(Clone, Copy, Debug)]
pub struct IntoBsdf;

impl Visitor for IntoBsdf {
    type Output = Bsdf;

    #[inline(always)]
    fn visit<L: Listed>(self, lobe: L) -> Bsdf {
        lobe.into()
    }
}

/// A path's query to a lobe.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Direction that it comes from, local frame.
    pub wo: Vec3,
    /// Direction to a light, local frame; zero, which no lobe connects, if it has found none.
    pub light: Vec3,
    /// Uniform that chooses among the lobe's components for its next direction: [`super::Lobe::sample`].
    pub uc: f32,
    /// Uniforms that determine the direction within that component.
    pub u: Vec2,
}

/// How a lobe scatters light from the direction to a light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lit {
    /// f(wo, wi).
    pub f: Vec3,
    /// Solid-angle density with which the lobe draws that direction.
    pub pdf: f32,
}

/// A lobe's answer to a [`Query`].
#[derive(Clone, Copy, Debug)]
pub struct Response {
    /// How it scatters the light; black without one.
    pub lit: Lit,
    /// The next direction, if there is one.
    pub sample: Option<BsdfSample>,
}

impl Response {
    /// Response of a lobe that absorbs everything.
    pub const NONE: Self = Self { lit: Lit { f: Vec3::ZERO, pdf: 0.0 }, sample: None };

    /// Response of a lobe to a query.
    #[inline(always)]
    pub fn from_lobe<L: super::Lobe>(lobe: &L, query: &Query) -> Self {
        let Query { wo, light, uc, u } = *query;
        let (f, pdf) = if L::DELTA { (Vec3::ZERO, 0.0) } else { lobe.eval_pdf(wo, light) };
        Self { lit: Lit { f, pdf }, sample: lobe.sample(wo, uc, u) }
    }

    /// As [`super::Tinted`] answers.
    #[inline(always)]
    pub fn tinted(self, query: &Query, tint: &Tint) -> Self {
        let lit = Lit { f: self.lit.f * tint.factor(query.wo, query.light), ..self.lit };
        let tinted = |s: BsdfSample| BsdfSample { weight: s.weight * tint.factor(query.wo, s.wi), ..s };
        let sample = self.sample.map(tinted);
        Self { lit, sample }
    }
}

/// Queries a lobe, if it is compiled into the kernel; all others absorb.
#[derive(Clone, Copy, Debug)]
pub struct Answering<'a, C> {
    query: &'a Query,
    compiled: PhantomData<C>,
}

impl<'a, C: Compiled> Answering<'a, C> {
    /// A visitor with this query.
    #[inline(always)]
    pub const fn new(query: &'a Query) -> Self {
        Self { query, compiled: PhantomData }
    }
}

impl<C: Compiled> Visitor for Answering<'_, C> {
    type Output = Response;

    #[inline(always)]
    fn visit<L: Listed>(self, lobe: L) -> Response {
        if C::sees(L::FEATURE) { Response::from_lobe(&lobe, self.query) } else { Response::NONE }
    }
}
