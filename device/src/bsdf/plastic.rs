//! A dielectric coat over a diffuse base, the model of Mitsuba's `plastic` and `roughplastic`.
//!
//! Light is reflected at the coat, or passes it, scatters at the base, and leaves with probability T or is sent back
//! to the base: all orders of that together are a geometric series, and f = T(θo)·T(θi)·ρ / (π η² (1 − F ρ)), with F
//! the part that the coat keeps within of light from all directions, and 1/η² for radiance that leaves.

use core::f32::consts::FRAC_1_PI;

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::microfacet::Microfacet;
use super::{BsdfSample, Lobe, MIN_COS, fresnel, mirrored, reflection};
use crate::arch::{max, min, sqrt};
use crate::math::sin_cos_turn;
use crate::rng::uniform;
use crate::sampling::sample_cosine_hemisphere;

/// Albedo factor of a diffuse base under a coat: ρ / (η² (1 − F ρ)) per channel, for the base's `reflectance` ρ in [0, 1]
/// and the internal reflectance F < 1, `internal`, of a coat of index `eta`.
///
/// `nonlinear`: colours become darker and more saturated, as light that is sent back meets the base again. Else the
/// base is white for it, and what is left is in proportion to ρ.
#[inline(always)]
pub fn coated(reflectance: Vec3, eta: f32, internal: f32, nonlinear: bool) -> Vec3 {
    let kept = if nonlinear { reflectance * internal } else { Vec3::splat(internal) };
    reflectance / (eta * eta * (Vec3::ONE - kept))
}

/// Internal reflectance of a smooth coat of index `eta` > 0 for light from all directions.
#[inline(always)]
pub fn smooth_internal(eta: f32) -> f32 {
    fresnel::dielectric_average(1.0 / eta)
}

/// Probability of sampling the coat rather than the base: about its share of the albedo.
#[inline(always)]
fn share_of_coat(reflected: f32, specular: Vec3, transmitted: f32, base: Vec3) -> f32 {
    let coat = reflected * specular.element_sum();
    coat / max(coat + transmitted * base.element_sum(), f32::MIN_POSITIVE)
}

/// A smooth coat: a mirror in part, so that there are samples of density 0 besides those of [`Lobe::eval_pdf`].
#[derive(Clone, Copy, Debug)]
pub struct SmoothPlastic {
    /// Index of refraction of the coat relative to the outside, > 0.
    pub eta: f32,
    /// Albedo factor of the base: [`coated`] with [`smooth_internal`].
    pub base: Vec3,
    /// Factor on reflection at the coat, in [0, 1]; physically 1.
    pub specular: Vec3,
}

impl Lobe for SmoothPlastic {
    #[inline(always)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        if wo.z <= 0.0 || wi.z <= 0.0 {
            return (Vec3::ZERO, 0.0);
        }
        let (r_o, r_i) = (fresnel::dielectric(wo.z, self.eta).0, fresnel::dielectric(wi.z, self.eta).0);
        let p = share_of_coat(r_o, self.specular, 1.0 - r_o, self.base);
        let f = self.base * ((1.0 - r_o) * (1.0 - r_i) * FRAC_1_PI);
        (f, (1.0 - p) * wi.z * FRAC_1_PI)
    }

    #[inline(always)]
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
        if wo.z <= 0.0 {
            return None;
        }
        let (r_o, _) = fresnel::dielectric(wo.z, self.eta);
        let p = share_of_coat(r_o, self.specular, 1.0 - r_o, self.base);
        if uc < p {
            let weight = self.specular * (r_o / p);
            return Some(BsdfSample { wi: mirrored(wo), pdf: 0.0, weight, eta: 1.0 });
        }
        let wi = sample_cosine_hemisphere(u);
        let pdf = (1.0 - p) * wi.z * FRAC_1_PI;
        let (r_i, _) = fresnel::dielectric(wi.z, self.eta);
        let weight = self.base * ((1.0 - r_o) * (1.0 - r_i) / (1.0 - p));
        (pdf > 0.0).then_some(BsdfSample { wi, pdf, weight, eta: 1.0 })
    }
}

/// Number of coefficients of [`Coat`].
const TERMS: usize = 15;

/// Transmittance of a rough boundary for diffuse light, tabulated by quadrature: 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Coat {
    /// Coefficients in Chebyshev polynomials of √cos θ, on [0, 1].
    series: [f32; TERMS],
    /// Internal reflectance for light from all directions.
    pub internal: f32,
}

const _: () = assert!(size_of::<Coat>() == 64);

impl Coat {
    /// By quadrature, of 130 000 facets: for when a scene is prepared. `eta` as in [`Plastic`]; `microfacet` is as
    /// rough along x as along y.
    pub fn new(microfacet: &Microfacet, eta: f32) -> Self {
        let n = TERMS as u32;
        let mut coat = Self { series: [0.0; TERMS], internal: reflected_within(microfacet, eta) };
        // Interpolation in the zeros of T₁₅: x = cos(π(k + ½)/15), of which T_j is cos(πj(k + ½)/15).
        for k in 0..n {
            let cos = |j: u32| sin_cos_turn((j * (2 * k + 1) % (4 * n)) as f32 / (4 * n) as f32).1;
            let root = 0.5 * (1.0 + cos(1));
            // A little less, so that errors of the series do not make light.
            let transmitted = (1.0 - 7e-5) * transmitted(microfacet, eta, root * root);
            for (j, c) in (0..n).zip(&mut coat.series) {
                *c += transmitted * cos(j) * if j == 0 { 1.0 } else { 2.0 } / n as f32;
            }
        }
        coat
    }

    /// T(θ): the part of light from outside at the cosine `cos` in [0, 1] that passes, in [0, 1]; what is scattered
    /// among facets is lost. To 10⁻³ or so, for `cos` above 0.01.
    #[inline(always)]
    pub fn transmittance(&self, cos: f32) -> f32 {
        // Clenshaw's recurrence.
        let x2 = 4.0 * sqrt(cos) - 2.0;
        let (mut b1, mut b2) = (0.0, 0.0);
        for &c in self.series[1..].iter().rev() {
            (b1, b2) = (c + x2 * b1 - b2, b1);
        }
        min(max(self.series[0] + 0.5 * x2 * b1 - b2, 0.0), 1.0)
    }

    /// The coat between this one and `other`, a part `t` of the way: of tables over roughness.
    #[inline(always)]
    pub fn mix(&self, other: &Self, t: f32) -> Self {
        let mut coat = *self;
        for (c, o) in coat.series.iter_mut().zip(&other.series) {
            *c += t * (o - *c);
        }
        coat.internal += t * (other.internal - coat.internal);
        coat
    }
}

/// Mean of `f` over `n`² points of the unit cube, none too close to others: parts of n², and multiples, modulo 1, of
/// the inverse powers of the root of x³ = x + 1 (Roberts 2018, "The Unreasonable Effectiveness of Quasirandom
/// Sequences").
fn mean(n: u32, mut f: impl FnMut(f32, Vec2) -> f32) -> f32 {
    const STEP: [u32; 2] = [0xc13f_a9a9, 0x91e1_0da6];
    let scale = 1.0 / (n * n) as f32;
    let mut sum = 0.0;
    for row in 0..n {
        // Sums of few numbers, of few such sums: rounding does not add up.
        let mut of_row = 0.0;
        for i in row * n..(row + 1) * n {
            let u = Vec2::new(uniform(i.wrapping_mul(STEP[0])), uniform(i.wrapping_mul(STEP[1])));
            of_row += f((i as f32 + 0.5) * scale, u);
        }
        sum += of_row;
    }
    sum * scale
}

/// T at the cosine `cos` to light from outside: what a [`super::Dielectric`] refracts.
fn transmitted(microfacet: &Microfacet, eta: f32, cos: f32) -> f32 {
    let wo = Vec3::new(sqrt(1.0 - cos * cos), 0.0, max(cos, MIN_COS));
    let visible = 1.0 + microfacet.lambda(wo);
    mean(64, |y, u| {
        let wm = microfacet.sample_wm(wo, Vec2::new(u.x, y));
        let cos_om = max(wo.dot(wm), 0.0);
        let (reflectance, cos_t) = fresnel::dielectric(cos_om, eta);
        let wi = (cos_om / eta - cos_t) * wm - wo / eta;
        if wi.z < -MIN_COS { (1.0 - reflectance) * microfacet.g2_transmitted(wo, wi) * visible } else { 0.0 }
    })
}

/// The part of light from all directions within that is reflected, ∫ R(θ) 2 cos θ dcos θ.
fn reflected_within(microfacet: &Microfacet, eta: f32) -> f32 {
    mean(256, |cos2, u| {
        let wo = Vec3::new(sqrt(1.0 - cos2), 0.0, max(sqrt(cos2), MIN_COS));
        let wm = microfacet.sample_wm(wo, u);
        let cos_om = max(wo.dot(wm), 0.0);
        let (reflectance, _) = fresnel::dielectric(cos_om, 1.0 / eta);
        let wi = 2.0 * cos_om * wm - wo;
        if wi.z > MIN_COS { reflectance * microfacet.g2_over_g1(wo, wi) } else { 0.0 }
    })
}

/// A coat of microfacets, alike along x and y.
#[derive(Clone, Copy, Debug)]
pub struct Plastic {
    /// Distribution of microfacets.
    pub microfacet: Microfacet,
    /// Index of refraction of the coat relative to the outside, > 0.
    pub eta: f32,
    /// Transmittance of the coat: [`Coat::new`] with `microfacet` and `eta`.
    pub coat: Coat,
    /// Albedo factor of the base: [`coated`] with [`Coat::internal`].
    pub base: Vec3,
    /// Factor for reflection at the coat, in [0, 1]; 1 is what nature has.
    pub specular: Vec3,
}

impl Plastic {
    /// Probability of sampling the coat. At grazing angles a facet that is seen is tilted by about α.
    #[inline(always)]
    fn share_of_coat(&self, cos_o: f32, transmitted: f32) -> f32 {
        let (reflected, _) = fresnel::dielectric(min(cos_o + self.microfacet.alpha.x, 1.0), self.eta);
        share_of_coat(reflected, self.specular, transmitted, self.base)
    }
}

impl Lobe for Plastic {
    #[inline(always)]
    fn is_vectorizable(&self) -> bool {
        self.microfacet.is_ggx()
    }

    #[inline(always)]
    fn vectorizable(self) -> Self {
        Self { microfacet: self.microfacet.as_ggx(), ..self }
    }

    #[inline(always)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        if wo.z < MIN_COS || wi.z < MIN_COS {
            return (Vec3::ZERO, 0.0);
        }
        let wm = (wo + wi).normalize();
        let (reflectance, _) = fresnel::dielectric(min(wo.dot(wm), 1.0), self.eta);
        let facets = self.microfacet.d(wm) * self.microfacet.g2(wo, wi) / (4.0 * wo.z * wi.z);
        let (t_o, t_i) = (self.coat.transmittance(wo.z), self.coat.transmittance(wi.z));
        let f = self.specular * (reflectance * facets) + self.base * (t_o * t_i * FRAC_1_PI);
        let p = self.share_of_coat(wo.z, t_o);
        (f, p * self.microfacet.pdf_reflected(wo, wm) + (1.0 - p) * wi.z * FRAC_1_PI)
    }

    #[inline(always)]
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
        if wo.z < MIN_COS {
            return None;
        }
        let wi = if uc < self.share_of_coat(wo.z, self.coat.transmittance(wo.z)) {
            reflection::sample(&self.microfacet, wo, u)
        } else {
            sample_cosine_hemisphere(u)
        };
        let (f, pdf) = self.eval_pdf(wo, wi);
        (pdf > 0.0).then_some(BsdfSample { wi, pdf, weight: f * (wi.z / pdf), eta: 1.0 })
    }
}
