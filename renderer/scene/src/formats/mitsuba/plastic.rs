//! Internal reflectance of coats, as Mitsuba has it.
//!
//! Its numbers are approximations, and its images are made with them: where the exact integral would be 0.60, they are
//! 0.60 for a smooth coat and 0.59 for one that is hardly rough.

use device::bsdf::fresnel;
use device::bsdf::microfacet::{Masking, Microfacet};
use glam::{Vec2, Vec3};

use crate::description::Distribution;

/// The part of diffuse light within that a smooth coat sends back: d'Eon & Irving 2011, "A Quantized-Diffusion Model for
/// Rendering Translucent Materials", and for η < 1, seen from within, Egan & Hilgeman's polynomial.
pub(super) fn smooth_internal(ior: f32) -> f32 {
    let eta = 1.0 / ior;
    (-1.4399 * eta + 0.7099) * eta + 0.6681 + 0.0636 / eta
}

/// Points at which Mitsuba tabulates what a rough coat does.
const TABLE: u16 = 64;

/// The part of diffuse light within that a rough coat sends back: twice the mean of R(μ) μ over 64 cosines μ from 0 to 1,
/// both included. The trapezoid rule would be that times 64/63, less half of what the last one adds.
pub(super) fn rough_internal(alpha: f32, distribution: Distribution, ior: f32) -> f32 {
    let microfacet = Microfacet { alpha: Vec2::splat(alpha), distribution, masking: Masking::Separable };
    let term = |i: u16| {
        let mu = (f32::from(i) / f32::from(TABLE - 1)).max(1e-6);
        f64::from(reflected(&microfacet, 1.0 / ior, mu, u32::from(i) * POINTS) * mu)
    };
    (2.0 * (0..TABLE).map(term).sum::<f64>() / f64::from(TABLE)) as f32
}

/// Facets for one cosine.
const POINTS: u32 = 4096;

/// R(μ): albedo of the coat for light at the cosine μ, over visible facets at the points from `first` on of a sequence that
/// leaves no gaps (Roberts 2018, "The Unreasonable Effectiveness of Quasirandom Sequences"): a grid would be coarse where
/// total reflection begins.
fn reflected(microfacet: &Microfacet, eta: f32, mu: f32, first: u32) -> f32 {
    const STEP: [u32; 2] = [0xc13f_a9a9, 0x91e1_0da6];
    let wo = Vec3::new((1.0 - mu * mu).max(0.0).sqrt(), 0.0, mu);
    let at = |i: u32, step: u32| device::rng::uniform(i.wrapping_mul(step));
    let mut sum = 0.0;
    for u in (first..first + POINTS).map(|i| Vec2::new(at(i, STEP[0]), at(i, STEP[1]))) {
        let wm = microfacet.sample_wm(wo, u);
        let cos = wo.dot(wm).max(0.0);
        let wi = 2.0 * cos * wm - wo;
        if wi.z > 0.0 {
            sum += fresnel::dielectric(cos, eta).0 * microfacet.g1(wi);
        }
    }
    sum / POINTS as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From Mitsuba 3.9.1: its `plastic` and `roughplastic`, `nonlinear`, for albedos of 1 and ½ without reflection at
    /// the coat, in two directions; the ratio of both gives what is kept within.
    #[test]
    fn as_mitsuba_has_it() {
        for (ior, expected) in [(1.1, 0.193_424), (1.3, 0.444_845), (1.5, 0.596_811), (2.4, 0.866_549)] {
            assert!((smooth_internal(ior) - expected).abs() < 2e-6, "{ior}");
        }
        let ggx = [
            (1.1, [0.179_339, 0.157_352, 0.077_535, 0.028_631]),
            (1.3, [0.425_621, 0.400_819, 0.273_866, 0.140_230]),
            (1.5, [0.576_101, 0.551_894, 0.414_861, 0.240_842]),
            (2.4, [0.842_164, 0.821_295, 0.687_510, 0.470_373]),
        ];
        for (ior, row) in ggx {
            for (alpha, expected) in [0.05, 0.1, 0.3, 0.6].into_iter().zip(row) {
                let found = rough_internal(alpha, Distribution::Ggx, ior);
                assert!((found - expected).abs() < 5e-4, "{found}, not {expected}: {ior}, {alpha}");
            }
        }
        for (ior, expected) in [(1.1, 0.157_755), (1.5, 0.561_405), (2.4, 0.830_993)] {
            let found = rough_internal(0.2, Distribution::Beckmann, ior);
            assert!((found - expected).abs() < 5e-4, "{found}, not {expected}: {ior}");
        }
    }
}
