//! Sheen of cloth: Estevez & Kulla 2017, "Production Friendly Microfacet Sheen BRDF", with which glTF's
//! `KHR_materials_sheen` is defined ("Charlie").
//!
//! f = D·G / (4 cos θo cos θi), without a Fresnel term. Two things are done to Λ, which the paper gives as fitted
//! curves, lest the lobe reflect more than arrives:
//! - the curves are finite at the horizon, where Λ of any surface grows as 1/cos θ, and f without bounds in its place:
//!   within a tenth of a degree of it, Λ·cos θ ceases to change;
//! - at grazing angles the curves are too low for α < 0.06, so that up to three times the light that arrives would be
//!   reflected; a factor raises Λ there (`correction`).
//!
//! Elsewhere f is what glTF says. The paper's softer terminator, Λ(θi) to the power of 1 + 2(1 − cos θi)⁸, is not part
//! of glTF and not here, as f would not be reciprocal.

mod albedo;

use core::f32::consts::{FRAC_1_PI, TAU};

use glam::{Vec2, Vec3};

pub use albedo::sheen_albedo;

use super::{BsdfSample, Lobe, MIN_COS, azimuth};
use crate::arch::{max, min, sqrt};
use crate::math::{exp, pow, sin_cos_turn};
use crate::sampling::sample_uniform_cone;

/// Smallest α, that of a roughness of 0.07 as in three.js; smaller values are clamped to it. Fibres that hardly lean are
/// seen at the horizon only.
pub const MIN_ALPHA: f32 = 0.0049;

/// Where Λ·cos θ ceases to change.
const HORIZON: f32 = 1e-3;

/// Part of the samples that are drawn uniformly.
const UNIFORM_PART: f32 = 0.1;

/// Reflection from specular fibres around the normal.
#[derive(Clone, Copy, Debug)]
pub struct Sheen {
    /// Colour per channel, in [0, 1].
    pub color: Vec3,
    /// α, roughness squared, from [`MIN_ALPHA`] to 1.
    pub alpha: f32,
}

/// α as far as it is resolved.
#[inline(always)]
fn resolved(alpha: f32) -> f32 {
    min(max(alpha, MIN_ALPHA), 1.0)
}

/// D(wm) = (2 + 1/α) (sin θm)^(1/α) / 2π, per steradian, of the square of the sine.
#[inline(always)]
fn d(sin2: f32, alpha: f32) -> f32 {
    (2.0 + 1.0 / alpha) * pow(min(sin2, 1.0), 0.5 / alpha) / TAU
}

/// L(x) = a / (1 + b xᶜ) + d x + e, of which Λ is made: the paper's fits for α = 1 and 0, between which its
/// parameters go with (1 − α)².
#[inline(always)]
fn log_lambda(x: f32, alpha: f32) -> f32 {
    let t = (1.0 - alpha) * (1.0 - alpha);
    let a = 21.547_3 + t * (25.324_5 - 21.547_3);
    let b = 3.829_87 + t * (3.324_35 - 3.829_87);
    let c = 0.198_23 + t * (0.168_01 - 0.198_23);
    let d = -1.977_6 + t * (-1.273_93 + 1.977_6);
    let e = -4.320_54 + t * (-4.859_67 + 4.320_54);
    a / (1.0 + b * pow(x, c)) + d * x + e
}

/// Λ: e^L(cos θ) for cos θ < ½, e^(2L(½) − L(1 − cos θ)) above; with the changes described at the head of this file.
#[inline(always)]
fn lambda(cos: f32, alpha: f32) -> f32 {
    let x = min(sqrt(cos * cos + HORIZON * HORIZON), 1.0);
    let log = if x < 0.5 {
        log_lambda(x, alpha)
    } else {
        2.0 * log_lambda(0.5, alpha) - log_lambda(1.0 - x, alpha)
    };
    exp(log) * (x / cos) * correction(cos, alpha)
}

/// Factor on Λ, for which the fit is too small at grazing angles: 1 for α > 0.088, a roughness of 0.3, and 1 to within 10⁻⁴
/// for cos θ > 0.1.
///
/// Its size follows the albedo that the fit would have at grazing angles, 0.23 + 0.198/√α, its extent the angle at
/// which that albedo falls below 1; both were fitted for this crate.
#[inline(always)]
fn correction(cos: f32, alpha: f32) -> f32 {
    /// Half the width over which the excess sets in.
    const SOFT: f32 = 0.1;
    const EXTENT: f32 = 0.031;
    let excess = 0.198 / sqrt(alpha) - 0.77;
    if excess <= -SOFT {
        return 1.0;
    }
    let soft = excess + SOFT;
    let size = if excess < SOFT { soft * soft / (4.0 * SOFT) } else { excess };
    let x = cos * (1.0 / EXTENT);
    1.0 + size * exp(-x * x)
}

/// Directions by height, (1 − cos θi)^(b − 1), and azimuth, 1 + t cos φ from that of `wo`, which is the side that
/// fibres scatter to. The shape is that of D(wm) for an upright `wo`; b and t were fitted for this crate, to the
/// variance of f·cos θi / pdf.
struct Proposal {
    b: f32,
    /// t / sin θo.
    tilt: f32,
}

impl Proposal {
    #[inline(always)]
    fn new(cos: f32, alpha: f32) -> Self {
        let root = sqrt(alpha);
        Self { b: 0.5 + 0.55 / root + 0.1 * cos * cos / alpha, tilt: 1.0 - 0.6 * root }
    }

    #[inline(always)]
    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        let sin = sqrt(wi.x * wi.x + wi.y * wi.y);
        let lean = self.tilt * (wo.x * wi.x + wo.y * wi.y) / max(sin, f32::MIN_POSITIVE);
        let shaped = self.b * pow(max(1.0 - wi.z, 0.0), self.b - 1.0) * max(1.0 + lean, 0.0);
        (UNIFORM_PART + (1.0 - UNIFORM_PART) * shaped) * (0.5 * FRAC_1_PI)
    }

    /// `uc` in [0, 1) decides on the side: of φ and π − φ, which make up 2 together, it takes each by its part.
    #[inline(always)]
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Vec3 {
        let z = 1.0 - pow(1.0 - u.x, 1.0 / self.b);
        let sin = sqrt(max(1.0 - z * z, 0.0));
        let (s, c) = sin_cos_turn(u.y);
        let t = self.tilt * sqrt(wo.x * wo.x + wo.y * wo.y);
        let c = if uc < 0.5 + 0.5 * t * c { c } else { -c };
        let towards = azimuth(wo);
        let (x, y) = (sin * c, sin * s);
        Vec3::new(towards.x * x - towards.y * y, towards.y * x + towards.x * y, z)
    }
}

impl Lobe for Sheen {
    #[inline(always)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        if wo.z < MIN_COS || wi.z < MIN_COS {
            return (Vec3::ZERO, 0.0);
        }
        let alpha = resolved(self.alpha);
        let half = wo + wi;
        let sin2 = (half.x * half.x + half.y * half.y) / half.length_squared();
        let inverse_g = 1.0 + (lambda(wo.z, alpha) + lambda(wi.z, alpha));
        let f = d(sin2, alpha) / (inverse_g * (4.0 * (wo.z * wi.z)));
        (self.color * f, Proposal::new(wo.z, alpha).pdf(wo, wi))
    }

    #[inline(always)]
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
        let wi = if uc < UNIFORM_PART {
            sample_uniform_cone(1.0, u)
        } else {
            let uc = (uc - UNIFORM_PART) / (1.0 - UNIFORM_PART);
            Proposal::new(wo.z, resolved(self.alpha)).sample(wo, uc, u)
        };
        let (f, pdf) = self.eval_pdf(wo, wi);
        (pdf > 0.0).then_some(BsdfSample { wi, pdf, weight: f * (wi.z / pdf), eta: 1.0 })
    }
}
