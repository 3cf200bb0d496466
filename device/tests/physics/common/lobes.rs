//! Checks that apply to lobes of every kind.

use std::fmt::Debug;

use device::bsdf::{BsdfSample, Lobe};
use glam::Vec3;

use super::{Random, adversarial_u, polar};

/// `n` directions drawn from a lobe.
pub(crate) fn samples(
    lobe: &impl Lobe,
    wo: Vec3,
    n: usize,
    seed: u64,
) -> impl Iterator<Item = Option<BsdfSample>> {
    let mut random = Random::new(seed);
    (0..n).map(move |_| lobe.sample(wo, random.f32(), random.vec2()))
}

/// Of a lobe that reflects: f is the same both ways, and zero where either direction is below the surface.
pub(crate) fn assert_reciprocal_and_zero_below(lobe: &impl Lobe, random: &mut Random) {
    for _ in 0..5000 {
        let (a, b) = (random.direction().to_f32(), random.direction().to_f32());
        let (f, pdf) = lobe.eval_pdf(a, b);
        assert_eq!((f, pdf), (lobe.eval(a, b), lobe.pdf(a, b)));
        if a.z <= 0.0 || b.z <= 0.0 {
            assert_eq!((f, pdf), (Vec3::ZERO, 0.0), "{a} {b}");
        }
        if a.z <= 0.0 {
            assert!(lobe.sample(a, random.f32(), random.vec2()).is_none(), "{a}");
        }
        let back = lobe.eval(b, a);
        assert!((f - back).abs().max_element() <= 1e-5 * f.max_element(), "{f} {back}");
    }
}

/// Directions to the horizon and beyond what f32 tells from it, and those that are upright but for rounding.
pub(crate) fn extreme_wos() -> Vec<Vec3> {
    let mut wos = [1e-3, 1e-5, 1e-7, 1e-12, 1e-30].map(|z| polar(z, 0.9).to_f32()).to_vec();
    wos.extend([Vec3::Z, Vec3::new(1e-30, 0.0, 1.0), Vec3::new(0.0, -1e-20, 1.000_000_1)]);
    wos
}

/// Of a lobe that reflects: whatever the uniforms, samples are unit vectors above the surface, finite, with a density,
/// and with weights from 0 to below `most`.
pub(crate) fn assert_samples_are_finite(lobe: &(impl Lobe + Debug), wo: Vec3, most: f32) {
    for (u, uc) in adversarial_u().into_iter().flat_map(|u| [0.0, 0.1, 0.5, 0.999_999_9].map(|uc| (u, uc))) {
        let Some(s) = lobe.sample(wo, uc, u) else { continue };
        assert!(s.wi.is_finite() && s.pdf.is_finite() && s.pdf > 0.0 && s.wi.z > 0.0, "{lobe:?} {wo}: {s:?}");
        assert!((s.wi.length() - 1.0).abs() < 3e-7 && s.eta == 1.0, "{lobe:?} {wo}: {s:?}");
        assert!(s.weight.min_element() >= 0.0 && s.weight.max_element() < most, "{lobe:?} {wo}: {s:?}");
        let f = lobe.eval(wo, s.wi);
        assert!(f.is_finite() && f.min_element() >= 0.0, "{lobe:?} {wo} {}: {f}", s.wi);
    }
}
