//! Reflectance of conductors against complex arithmetic in f64.

use device::bsdf::fresnel::conductor;
use glam::Vec3;

use crate::common::Random;
use crate::common::ggx::{self, METALS};

/// Cosines over the whole range, and ever closer to grazing.
fn cosines() -> impl Iterator<Item = f32> {
    let grazing = (0..200).map(|i| 10.0_f32.powf(-7.0 * i as f32 / 199.0));
    (0..=2000).map(|i| i as f32 / 2000.0).chain(grazing)
}

/// Largest absolute error over all angles.
fn worst(reflectance: impl Fn(f32, f32, f32) -> f32, eta: f32, k: f32) -> (f64, f32) {
    let error = |c| (f64::from(reflectance(c, eta, k)) - ggx::fresnel(c.into(), eta.into(), k.into())).abs();
    cosines().map(|c| (error(c), c)).fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a })
}

fn under_test(cos: f32, eta: f32, k: f32) -> f32 {
    conductor(cos, Vec3::splat(eta), Vec3::splat(k)).x
}

#[test]
fn metals_agree_with_complex_arithmetic() {
    for (name, eta, k) in METALS {
        for channel in 0..3 {
            let (error, cos) = worst(under_test, eta[channel], k[channel]);
            assert!(error < 1e-6, "{name}, channel {channel}: off by {error:e} at {cos}");
        }
    }
}

#[test]
fn all_indices_agree_with_complex_arithmetic_and_lie_in_0_1() {
    let mut random = Random::new(1);
    let (mut max, mut at) = (0.0, (0.0, 0.0, 0.0));
    for _ in 0..500 {
        let (eta, k) = (random.within(0.02, 10.0) as f32, random.within(0.3, 10.0) as f32);
        let (error, cos) = worst(under_test, eta, k);
        if error > max {
            (max, at) = (error, (eta, k, cos));
        }
        assert!(cosines().all(|c| (0.0..=1.0).contains(&under_test(c, eta, k))), "eta {eta}, k {k}");
    }
    // The real part of √(n² − sin²) cancels where k is much larger than eta.
    assert!(max < 1e-5, "off by {max:e} at {at:?}");
}

/// Without absorption the formula still holds, within the rounding of the square of n.
#[test]
fn dielectrics_and_total_reflection_agree_with_complex_arithmetic() {
    for eta in [0.3, 0.7, 1.33, 1.5, 2.4] {
        let (error, cos) = worst(under_test, eta, 0.0);
        assert!(error < 2e-4, "eta {eta}: off by {error:e} at {cos}");
    }
}

#[test]
fn a_perfect_mirror_reflects_everything() {
    for cos in cosines() {
        assert_eq!(conductor(cos, Vec3::ZERO, Vec3::ONE), Vec3::ONE, "{cos}");
    }
}

#[test]
fn channels_are_independent() {
    let (_, eta, k) = METALS[1];
    let together = conductor(0.4, eta, k);
    let apart =
        Vec3::new(under_test(0.4, eta.x, k.x), under_test(0.4, eta.y, k.y), under_test(0.4, eta.z, k.z));
    assert_eq!(together, apart);
    assert!(together.x > together.y + 0.05 && together.y > together.z + 0.05, "gold is yellow: {together}");
}

#[test]
fn control_approximations_are_rejected() {
    // Schlick's, and the textbook's for n² + k² ≫ 1, both right at normal incidence.
    let schlick = |c: f32, eta: f32, k: f32| {
        let f0 = ((eta - 1.0).powi(2) + k * k) / ((eta + 1.0).powi(2) + k * k);
        f0 + (1.0 - f0) * (1.0 - c).powi(5)
    };
    let approximate = |c: f32, eta: f32, k: f32| {
        let (a, b) = (eta * eta + k * k, 2.0 * eta * c);
        0.5 * ((a * c * c - b + 1.0) / (a * c * c + b + 1.0) + (a - b + c * c) / (a + b + c * c))
    };
    for (_, eta, k) in METALS {
        for channel in 0..3 {
            assert!(worst(schlick, eta[channel], k[channel]).0 > 1e-4);
            assert!(worst(approximate, eta[channel], k[channel]).0 > 1e-4);
        }
    }
}
