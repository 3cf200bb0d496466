//! Directions of paths by a guide: a mixture of what it has learnt and of the BSDF.

use glam::{Vec2, Vec3};

use super::columns::Columned;
use super::family::{Responses, States};
use super::spot::{Spot, Spots};
use super::step::Scatterer;
use crate::arch::{max, min, outlined, sqrt};
use crate::bsdf::{BsdfSample, Lit};
use crate::color::luminance;
use crate::features::{Compiled, Features};
use crate::guiding::Mixture;
use crate::material::Material;
use crate::scene::SceneView;

/// Whether there may be a guide.
#[inline(always)]
pub(super) fn may_guide<C: Compiled>() -> bool {
    C::sees(Features::GUIDING)
}

/// Whether there is one.
#[inline(always)]
pub(super) fn has_guide<C: Compiled>(scene: &SceneView) -> bool {
    may_guide::<C>() && !scene.guide.nodes.is_null()
}

/// What guides the path where it scatters.
#[derive(Clone, Copy)]
pub(super) struct Guided {
    /// Null for the BSDF alone.
    mixture: *const Mixture,
    /// Probability of the BSDF.
    bsdf: f32,
}

impl Guided {
    /// The BSDF alone.
    pub(super) const NONE: Self = Self { mixture: core::ptr::null(), bsdf: 1.0 };

    /// What guides paths at a scatterer.
    ///
    /// # Safety
    /// `scene` is valid and has it.
    #[inline(always)]
    pub(super) unsafe fn at<C: Compiled>(scene: &SceneView, at: &Scatterer<'_>) -> Self {
        // SAFETY: as the caller promised.
        unsafe {
            if !has_guide::<C>(scene) || !Material::spreads(at.material) {
                return Self::NONE;
            }
            let (guide, p, n) = (scene.guide, at.p, at.frame.z);
            let mixture = outlined(move || guide.mixture(p, n));
            if mixture.is_null() {
                return Self::NONE;
            }
            Self { mixture, bsdf: Mixture::bsdf(mixture) }
        }
    }

    /// The probability with which a path is to go on after scattering here: what may come is held against what could have come where it
    /// was guided first (Vorba and Křivánek 2016, "Adjoint-Driven Russian Roulette and Splitting in Light Transport Simulation"). 0 if that
    /// is not known.
    ///
    /// # Safety
    /// As [`Guided::pdf`].
    #[inline(always)]
    pub(super) unsafe fn survival(&self, beta: Vec3, eta_scale: &mut f32) -> f32 {
        if self.is_none() {
            return if *eta_scale < 0.0 { 1.0 } else { 0.0 };
        }
        // SAFETY: as the caller promised.
        let expected = luminance(beta) * unsafe { Mixture::scattered(self.mixture) };
        if *eta_scale < 0.0 {
            return min(max(-expected * *eta_scale, LEAST_SURVIVAL), 1.0);
        }
        if expected > 0.0 {
            *eta_scale = -1.0 / expected;
            return 1.0;
        }
        0.0
    }

    /// A direction that the mixture draws.
    ///
    /// # Safety
    /// The scene that it is of is valid, and it is not none.
    #[inline(always)]
    pub(super) unsafe fn direction(&self, p: Vec3, u: Vec2) -> Vec3 {
        let mixture = self.mixture;
        // SAFETY: as the caller promised.
        outlined(move || unsafe { Mixture::sample(mixture, p, u) })
    }

    /// The probability of the BSDF.
    #[inline(always)]
    pub(super) const fn probability_of_bsdf(&self) -> f32 {
        self.bsdf
    }

    /// Whether it is the BSDF alone.
    #[inline(always)]
    pub(super) const fn is_none(&self) -> bool {
        self.mixture.is_null()
    }

    /// Whether light has been found here, of which the mixture says from where it comes.
    #[inline(always)]
    pub(super) const fn knows_ways(&self) -> bool {
        self.bsdf < 1.0
    }

    /// The density with which a direction is drawn, of which the BSDF draws it with a density.
    ///
    /// # Safety
    /// The scene that it is of is valid.
    #[inline(always)]
    unsafe fn pdf(&self, at: &Scatterer<'_>, wi: Vec3, bsdf_pdf: f32) -> f32 {
        let (mixture, p) = (self.mixture, at.p);
        // SAFETY: as the caller promised.
        let learnt = outlined(move || unsafe { Mixture::pdf(mixture, p, wi) });
        self.bsdf * bsdf_pdf + (1.0 - self.bsdf) * learnt
    }

    /// Chooses between mixture and BSDF by `uc`. The direction, local frame, if it is the mixture that draws it, and `uc` anew.
    ///
    /// # Safety
    /// As [`Guided::pdf`].
    #[inline(always)]
    pub(super) unsafe fn draw(&self, at: &Scatterer<'_>, uc: f32, u: Vec2) -> (Option<Vec3>, f32) {
        if uc < self.bsdf {
            return (None, uc / self.bsdf);
        }
        // SAFETY: as the caller promised.
        (Some(at.frame.to_local(unsafe { self.direction(at.p, u) })), uc)
    }

    /// The response to light along `wi`, where directions are drawn by the mixture as well.
    ///
    /// # Safety
    /// As [`Guided::pdf`].
    #[inline(always)]
    pub(super) unsafe fn lit(&self, at: &Scatterer<'_>, wi: Vec3, lit: Lit) -> Lit {
        // SAFETY: as the caller promised.
        Lit { pdf: unsafe { self.pdf(at, wi, lit.pdf) }, ..lit }
    }

    /// The sample that the mixture has drawn, from the response to it.
    ///
    /// # Safety
    /// As [`Guided::pdf`].
    #[inline(always)]
    pub(super) unsafe fn sample(&self, at: &Scatterer<'_>, wi: Vec3, lit: Lit) -> BsdfSample {
        // SAFETY: as the caller promised.
        let pdf = unsafe { self.pdf(at, at.frame.to_world(wi), lit.pdf) };
        // How the medium changes is not known here: it matters to Russian roulette alone.
        BsdfSample { wi, pdf, weight: lit.f * (wi.z.abs() / pdf), eta: undone(pdf, lit.pdf) }
    }

    /// The sample that the BSDF has drawn.
    ///
    /// # Safety
    /// As [`Guided::pdf`].
    #[inline(always)]
    pub(super) unsafe fn of_bsdf(&self, at: &Scatterer<'_>, sample: BsdfSample) -> BsdfSample {
        if sample.pdf == 0.0 {
            return BsdfSample { weight: sample.weight * (1.0 / self.bsdf), ..sample };
        }
        // SAFETY: as the caller promised.
        let pdf = unsafe { self.pdf(at, at.frame.to_world(sample.wi), sample.pdf) };
        let eta = sample.eta * undone(pdf, sample.pdf);
        BsdfSample { pdf, weight: sample.weight * (sample.pdf / pdf), eta, ..sample }
    }
}

/// What [`BsdfSample::eta`] is to be multiplied with for Russian roulette to take the throughput for what it would be without a guide,
/// which gives less throughput to directions because more comes from there.
#[inline(always)]
fn undone(pdf: f32, bsdf_pdf: f32) -> f32 {
    sqrt(min(pdf / max(bsdf_pdf, f32::MIN_POSITIVE), MOST_UNDONE))
}

/// Least probability of survival: what may come is known roughly.
const LEAST_SURVIVAL: f32 = 0.25;

/// Not so much that products of it would be infinite.
const MOST_UNDONE: f32 = 1e4;

/// What guides the paths of families, and what it has drawn for them.
#[repr(align(64))]
pub(super) struct Guides<const N: usize> {
    mixtures: [*const Mixture; N],
    /// Probabilities of the BSDF.
    bsdf: [f32; N],
    /// Whether a direction is drawn by the mixture, and which, local frame.
    is_drawn: [bool; N],
    wi: <Vec3 as Columned>::Column<N>,
    /// Responses to these.
    lit: <Lit as Columned>::Column<N>,
    /// Probabilities of survival; zeros where there is no guide.
    pub(super) survival: [f32; N],
}

impl<const N: usize> Guides<N> {
    /// Finds what guides `len` paths, and chooses between that and the BSDF by the third uniform of each, which becomes one anew.
    ///
    /// # Safety
    /// `scene` is valid, and the paths are at `spots` of it.
    #[inline(always)]
    pub(super) unsafe fn draw<C: Compiled>(
        &mut self,
        scene: &SceneView,
        spots: &Spots<N>,
        states: &mut States<N>,
        u: &mut [[f32; N]; 4],
        len: usize,
    ) {
        #[expect(clippy::needless_range_loop, reason = "a place in many columns")]
        for i in 0..len {
            let at = Spot::get(spots, i).scatterer(scene);
            // SAFETY: as the caller promised.
            let guided = unsafe { Guided::at::<C>(scene, &at) };
            (self.mixtures[i], self.bsdf[i], self.is_drawn[i]) = (guided.mixture, guided.bsdf, false);
            let beta = Vec3::get(&states.beta, i);
            // SAFETY: as the caller promised.
            self.survival[i] = unsafe { guided.survival(beta, &mut states.eta_scale[i]) };
            if !guided.is_none() {
                // SAFETY: as the caller promised.
                let (drawn, uc) = unsafe { guided.draw(&at, u[2][i], Vec2::new(u[0][i], u[1][i])) };
                u[2][i] = uc;
                if let Some(wi) = drawn {
                    self.is_drawn[i] = true;
                    wi.set(&mut self.wi, i);
                }
            }
        }
    }

    /// The direction of path `i`, local frame, if the mixture has drawn it.
    #[inline(always)]
    pub(super) fn drawn(&self, i: usize) -> Option<Vec3> {
        self.is_drawn[i].then(|| Vec3::get(&self.wi, i))
    }

    /// Takes the response to that.
    #[inline(always)]
    pub(super) fn answer(&mut self, i: usize, lit: Lit) {
        lit.set(&mut self.lit, i);
    }

    /// Makes responses of BSDFs, to lights in the directions `lights`, those of mixtures and BSDFs.
    ///
    /// # Safety
    /// As [`Guides::draw`], after that, and the answers to what was drawn.
    #[inline(always)]
    pub(super) unsafe fn mix(
        &self,
        scene: &SceneView,
        spots: &Spots<N>,
        lights: &<Vec3 as Columned>::Column<N>,
        responses: &mut Responses<N>,
        len: usize,
    ) {
        for i in 0..len {
            let guided = Guided { mixture: self.mixtures[i], bsdf: self.bsdf[i] };
            if guided.is_none() {
                continue;
            }
            let at = Spot::get(spots, i).scatterer(scene);
            let light = Vec3::get(lights, i);
            // SAFETY: as the caller promised.
            unsafe {
                if light != Vec3::ZERO {
                    let lit = Lit::get(&responses.lit, i);
                    guided.lit(&at, at.frame.to_world(light), lit).set(&mut responses.lit, i);
                }
                let sample = if self.is_drawn[i] {
                    true.set(&mut responses.has_sample, i);
                    guided.sample(&at, Vec3::get(&self.wi, i), Lit::get(&self.lit, i))
                } else {
                    guided.of_bsdf(&at, BsdfSample::get(&responses.sample, i))
                };
                sample.set(&mut responses.sample, i);
            }
        }
    }
}
