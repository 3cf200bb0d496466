//! Single scattering between microfacets, and a diffuse-like lobe for what it loses to further scattering.
//!
//! Kulla & Conty 2017, "Revisiting Physically Based Shading at Imageworks": with the part m(μ) = 1 − E(μ) that single
//! scattering loses and its average m̄, m(μo) m(μi) / (π m̄) is reciprocal and gives back m(μo), all of it where facets
//! reflect all.

use core::f32::consts::FRAC_1_PI;

use glam::{Vec2, Vec3};

use super::microfacet::{Distribution, Microfacet};
use super::{BsdfSample, Conductor, Dielectric, Lobe, MIN_COS, albedo, fresnel};
use crate::arch::{max, min, sqrt};
use crate::sampling::sample_cosine_hemisphere;

/// The largest uniform.
const BELOW_ONE: f32 = 1.0 - 1.0 / 16_777_216.0;

/// Coefficients fitted so that the albedos of metals equal those of random walks.
struct Fit {
    /// Odds of one more reflection after the first two, per loss in both directions.
    again: f32,
    /// Coefficients of αⁱ μʲ in the cosine at which facets reflect light first, or last, that they reflect more than
    /// once, from or to the cosine μ: less than from all around where grazing light meets little roughness.
    cosine: [[f32; 3]; 3],
}

const GGX: Fit = Fit {
    again: 0.609,
    cosine: [[-0.0231, 0.2037, 0.5262], [0.46, 0.2169, -0.5412], [0.0662, -0.4463, 0.0528]],
};

const BECKMANN: Fit = Fit {
    again: 0.0563,
    cosine: [[-0.0302, 0.5844, 0.155], [0.3014, -1.8988, 1.5552], [-0.133, 1.7365, -1.6894]],
};

impl Fit {
    #[inline(always)]
    fn cosine(&self, alpha: f32, mu: f32) -> f32 {
        let [a, b, c] = self.cosine;
        let constant = (a[2] * mu + a[1]) * mu + a[0];
        let linear = (b[2] * mu + b[1]) * mu + b[0];
        let quadratic = (c[2] * mu + c[1]) * mu + c[0];
        min(max((quadratic * alpha + linear) * alpha + constant, 0.0), 1.0)
    }
}

/// A conductor whose facets lose nothing to shadows.
///
/// The colour of the compensation is a sum over orders. Every path has a first and a last reflection, at cosines
/// that depend on the directions, F₁(μo)·F₁(μi); between them it is reflected n times with the probability
/// (1 − q) qⁿ and the average reflectance F̄: in all F₁F₁ (1 − q) / (1 − q F̄), 1 for F = 1 whatever q is. Kulla and Conty
/// have q = m̄ and F₁ = F̄; but what has been scattered twice is more likely to leave than that, and the more so the less
/// was lost: q is proportional to m(μo) m(μi) / m̄, and ½ at most.
///
/// Exact energy is for isotropic surfaces with α up to 1: elsewhere the tables are of what comes close.
#[derive(Clone, Copy, Debug)]
pub struct CompensatedConductor {
    /// Distribution of microfacets; heights are correlated, whatever the masking.
    pub microfacet: Microfacet,
    /// Real part of the index of refraction per channel, relative to the outside.
    pub eta: Vec3,
    /// Imaginary part per channel.
    pub k: Vec3,
    /// Reflectance of light from all directions, [`fresnel::conductor_average`].
    pub average: Vec3,
}

impl CompensatedConductor {
    /// With what can be computed from the rest; `masking` is ignored.
    #[inline(always)]
    pub fn new(microfacet: Microfacet, eta: Vec3, k: Vec3) -> Self {
        Self { microfacet: microfacet.correlated(), eta, k, average: fresnel::conductor_average(eta, k) }
    }

    /// m(μ).
    #[inline(always)]
    fn loss(&self, mu: f32) -> f32 {
        albedo::loss(self.microfacet.distribution, albedo::isotropic(&self.microfacet), mu)
    }

    /// Part of the directions that is drawn from the compensation: about its share of the light.
    #[inline(always)]
    fn diffuse_part(&self, wo: Vec3) -> f32 {
        let loss = self.loss(wo.z);
        let again = loss * self.average.max_element();
        again / (1.0 - loss + again)
    }

    #[inline(always)]
    const fn single(&self) -> Conductor {
        Conductor { microfacet: self.microfacet.correlated(), eta: self.eta, k: self.k }
    }

    /// The compensation, of directions with these cosines.
    #[inline(always)]
    pub fn multiple(&self, mu_o: f32, mu_i: f32) -> Vec3 {
        let (distribution, alpha) =
            (self.microfacet.distribution, min(albedo::isotropic(&self.microfacet), 1.0));
        let average = max(albedo::loss_average(distribution, alpha), f32::MIN_POSITIVE);
        let lost = self.loss(mu_o) * (self.loss(mu_i) / average);
        let fit = match distribution {
            Distribution::Ggx => GGX,
            Distribution::Beckmann => BECKMANN,
        };
        let q = min(fit.again * lost, 0.5);
        let first = fresnel::conductor(fit.cosine(alpha, mu_o), self.eta, self.k);
        let last = fresnel::conductor(fit.cosine(alpha, mu_i), self.eta, self.k);
        let between = (1.0 - q) / (Vec3::ONE - q * self.average);
        first * last * between * (lost * FRAC_1_PI)
    }
}

/// The weight of a sample of single scattering whose density is in fact `pdf`, with `multiple`, f·|cos θi| of the
/// compensation. What single scattering adds is told by the sample: where a peak is too narrow for f32, f of the
/// direction says that it is not there, and nothing would keep the compensation in check.
#[inline(always)]
fn with(s: BsdfSample, multiple: Vec3, pdf: f32) -> Vec3 {
    s.weight * (s.pdf / pdf) + multiple / pdf
}

impl Lobe for CompensatedConductor {
    /// The tables take more than vector instructions gain.
    #[inline(always)]
    fn is_vectorizable(&self) -> bool {
        false
    }

    #[inline(always)]
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
        if wo.z < MIN_COS {
            return None;
        }
        let (diffuse, single) = (self.diffuse_part(wo), self.single());
        if uc < diffuse {
            let wi = sample_cosine_hemisphere(u);
            let (f, pdf) = self.eval_pdf(wo, wi);
            return (pdf > 0.0).then(|| BsdfSample { wi, pdf, weight: f * (wi.z / pdf), eta: 1.0 });
        }
        let s = single.sample(wo, uc, u)?;
        let multiple = self.multiple(wo.z, s.wi.z) * s.wi.z;
        let pdf = (1.0 - diffuse) * s.pdf + diffuse * s.wi.z * FRAC_1_PI;
        Some(BsdfSample { pdf, weight: with(s, multiple, pdf), ..s })
    }

    #[inline(always)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        if wo.z < MIN_COS || wi.z < MIN_COS {
            return (Vec3::ZERO, 0.0);
        }
        let (f, pdf) = self.single().eval_pdf(wo, wi);
        let diffuse = self.diffuse_part(wo);
        (f + self.multiple(wo.z, wi.z), (1.0 - diffuse) * pdf + diffuse * wi.z * FRAC_1_PI)
    }
}

/// A dielectric with facets of GGX that lose nothing to shadows, reflected and transmitted light together. Of facets
/// of Beckmann's, whose losses are not tabled, it is single scattering alone.
///
/// The energy that single scattering loses on a side returns there, or crosses, as if diffuse, m(μo) m(μi) / (π m̄) with the
/// m and m̄ of the side where it leaves. Both sides together are reciprocal if the parts t and t′ that cross obey t m̄ = η²
/// t′ m̄′.
///
/// Energy is exact, but for the 0.002 of interpolated tables, for isotropic surfaces with α from 0.02 to 1 and η in
/// [⅓, 3] that is not within 0.02 of 1.
#[derive(Clone, Copy, Debug)]
pub struct CompensatedDielectric {
    /// Distribution of microfacets; heights are correlated, whatever the masking.
    pub microfacet: Microfacet,
    /// Relative index of refraction, > 0; not 1.
    pub eta: f32,
}

/// Energy losses on both sides, and how they are divided between them.
struct Compensation {
    /// m(μo).
    loss: f32,
    /// Average losses on the side of `wo` and on the other.
    averages: [f32; 2],
    /// Part of the light that goes across.
    across: f32,
}

impl CompensatedDielectric {
    #[inline(always)]
    fn alpha(&self) -> f32 {
        min(albedo::isotropic(&self.microfacet), 1.0)
    }

    #[inline(always)]
    fn compensation(&self, wo: Vec3) -> Compensation {
        let (alpha, eta) = (self.alpha(), self.eta);
        let mean = |eta| max(albedo::dielectric_loss_average(alpha, eta), f32::MIN_POSITIVE);
        let averages = [mean(eta), mean(1.0 / eta)];
        // From the side of the lower index nearly all goes across, but where grazing light is reflected to and fro by
        // little roughness: a fit to random walks. The part from the other side follows.
        let lower = max(eta, 1.0 / eta);
        let fit = 6.0 * alpha * sqrt(alpha);
        let from_lower = fit / (fresnel::dielectric_average(lower) + fit);
        let across =
            if eta > 1.0 { from_lower } else { min(from_lower * eta * eta * averages[1] / averages[0], 1.0) };
        let loss = match self.microfacet.distribution {
            // Of what is smoother than the tables know little is lost, and less and less of that is given back.
            Distribution::Ggx => {
                albedo::dielectric_loss(alpha, eta, wo.z) * min(alpha / albedo::LEAST_DIELECTRIC_ALPHA, 1.0)
            }
            Distribution::Beckmann => 0.0,
        };
        Compensation { loss, averages, across }
    }

    /// f of the compensation, and the density with which it is drawn.
    #[inline(always)]
    fn added(&self, compensation: &Compensation, wi: Vec3) -> (f32, f32) {
        let Compensation { loss, averages, across } = *compensation;
        // Transmitted radiance is scaled.
        let (part, eta, average, scale) = if wi.z > 0.0 {
            (1.0 - across, self.eta, averages[0], 1.0)
        } else {
            (across, 1.0 / self.eta, averages[1], 1.0 / (self.eta * self.eta))
        };
        let lost = albedo::dielectric_loss(self.alpha(), eta, wi.z.abs());
        let f = part * loss * (lost / average) * FRAC_1_PI;
        (scale * f, loss * part * wi.z.abs() * FRAC_1_PI)
    }

    #[inline(always)]
    const fn single(&self) -> Dielectric {
        Dielectric { microfacet: self.microfacet.correlated(), eta: self.eta }
    }
}

impl Lobe for CompensatedDielectric {
    /// The tables take more than vector instructions gain.
    #[inline(always)]
    fn is_vectorizable(&self) -> bool {
        false
    }

    #[inline(always)]
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
        if wo.z < MIN_COS {
            return None;
        }
        let compensation = self.compensation(wo);
        let Compensation { loss, across, .. } = compensation;
        if uc < loss {
            let wi = sample_cosine_hemisphere(u);
            let (wi, eta) = if uc < loss * across { (-wi, self.eta) } else { (wi, 1.0) };
            let (f, pdf) = self.eval_pdf(wo, wi);
            return (pdf > 0.0).then(|| BsdfSample { wi, pdf, weight: f * (wi.z.abs() / pdf), eta });
        }
        let s = self.single().sample(wo, min((uc - loss) / (1.0 - loss), BELOW_ONE), u)?;
        let (f, diffuse) = self.added(&compensation, s.wi);
        let pdf = (1.0 - loss) * s.pdf + diffuse;
        Some(BsdfSample { pdf, weight: with(s, Vec3::splat(f * s.wi.z.abs()), pdf), ..s })
    }

    #[inline(always)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        if wo.z < MIN_COS || wi.z.abs() < MIN_COS {
            return (Vec3::ZERO, 0.0);
        }
        let compensation = self.compensation(wo);
        let (f, pdf) = self.single().eval_pdf(wo, wi);
        let (added, diffuse) = self.added(&compensation, wi);
        (f + Vec3::splat(added), (1.0 - compensation.loss) * pdf + diffuse)
    }
}
