//! Schlick's approximation and F82-tint against their definitions in f64.

use device::bsdf::fresnel::{f82_tint, f82_tint_average, schlick, schlick_average};
use glam::Vec3;

use crate::common::{Random, integrate};

fn cosines() -> impl Iterator<Item = f32> {
    (0..=1000).map(|i| i as f32 / 1000.0)
}

fn colours(n: usize) -> impl Iterator<Item = (Vec3, Vec3)> {
    let mut random = Random::new(3);
    std::iter::repeat_with(move || {
        let mut colour = || Vec3::new(random.f32(), random.f32(), random.f32());
        (colour(), colour())
    })
    .take(n)
}

/// Schlick's curve, then what is missing at the cosine 1/7 spread by μ (1 − μ)⁶.
fn exact(c: f64, f0: f64, tint: f64) -> f64 {
    let curve = |c: f64| f0 + (1.0 - f0) * (1.0 - c).powi(5);
    let shape = |c: f64| c * (1.0 - c).powi(6);
    let at = 1.0 / 7.0;
    curve(c) - (1.0 - tint) * curve(at) * shape(c) / shape(at)
}

fn worst(under_test: impl Fn(f32, Vec3, Vec3) -> Vec3) -> f64 {
    let mut worst = 0.0_f64;
    for (f0, tint) in colours(50) {
        for c in cosines() {
            let f = under_test(c, f0, tint);
            for i in 0..3 {
                let expected = exact(c.into(), f0[i].into(), tint[i].into()).max(0.0);
                worst = worst.max((f64::from(f[i]) - expected).abs());
            }
        }
    }
    worst
}

#[test]
fn f82_agrees_with_its_definition() {
    let error = worst(f82_tint);
    println!("f82: {error:e}");
    assert!(error < 5e-7, "{error:e}");
    assert!(worst(|c, f0, _| schlick(c, f0, Vec3::ONE)) > 0.1, "control: no tint");
    assert!(worst(|c, f0, tint| f82_tint(c, f0, Vec3::ONE - tint)) > 0.1, "control: tint the other way");
    assert!(worst(schlick) > 0.1, "control: tint at 90°");
}

#[test]
fn f82_has_its_three_values_and_lies_in_0_1() {
    for (f0, tint) in colours(1000).chain([Vec3::ZERO, Vec3::ONE].map(|v| (v, v))) {
        let edge = tint * (f0 + (Vec3::ONE - f0) * (6.0_f32 / 7.0).powi(5));
        assert!((f82_tint(1.0, f0, tint) - f0).abs().max_element() < 1e-7);
        assert!((f82_tint(1.0 / 7.0, f0, tint) - edge).abs().max_element() < 3e-7);
        assert!((f82_tint(0.0, f0, tint) - Vec3::ONE).abs().max_element() < 1e-7);
        for c in cosines() {
            let f = f82_tint(c, f0, tint);
            assert!(
                f.cmpge(Vec3::ZERO).all() && f.cmple(Vec3::splat(1.0 + 1e-6)).all(),
                "{f0} {tint} {c}: {f}"
            );
            let white = f82_tint(c, f0, Vec3::ONE);
            assert!((white - schlick(c, f0, Vec3::ONE)).abs().max_element() == 0.0);
        }
    }
}

#[test]
fn schlick_has_its_values() {
    for (f0, f90) in colours(1000) {
        assert!(schlick(1.0, f0, f90) == f0 && (schlick(0.0, f0, f90) - f90).abs().max_element() < 1e-7);
        let half = f0 + (f90 - f0) / 32.0;
        assert!((schlick(0.5, f0, f90) - half).abs().max_element() < 1e-7);
        let fourth = f0 + (f90 - f0) / 16.0;
        let differs = (f90 - f0).abs().min_element() > 1e-3;
        assert!(!differs || (schlick(0.5, f0, f90) - fourth).abs().min_element() > 1e-7, "control: power 4");
    }
}

/// ∫ 2μ F(μ) dμ.
fn average(f: impl Fn(f32) -> f32) -> f64 {
    integrate(0.0, 1.0, 40, |c| 2.0 * c * f64::from(f(c as f32)))
}

#[test]
fn averages_agree_with_quadrature() {
    let (mut cut, mut wrong) = (0.0_f64, 0.0_f64);
    for (f0, other) in colours(300) {
        let (s, f) = (schlick_average(f0, other).x, f82_tint_average(f0, other).x);
        let (a, b) = (f0.x, other.x);
        let splat = Vec3::splat;
        assert!((f64::from(s) - average(|c| schlick(c, splat(a), splat(b)).x)).abs() < 2e-7);
        let error = (f64::from(f) - average(|c| f82_tint(c, splat(a), splat(b)).x)).abs();
        // Negative nowhere?
        if (0..=1000).all(|i| exact(f64::from(i) / 1000.0, a.into(), b.into()) >= 0.0) {
            assert!(error < 2e-7, "f0 {a}, tint {b}: {error:e}");
            wrong = wrong.max((f64::from(s) - average(|c| f82_tint(c, splat(a), splat(b)).x)).abs());
        } else {
            cut = cut.max(error);
        }
    }
    println!("average of what is cut off: {cut:e}");
    assert!(cut < 0.018, "{cut}");
    assert!(wrong > 0.01, "control: another model's average");
    let black = average(|c| f82_tint(c, Vec3::ZERO, Vec3::ZERO).x);
    assert!(black < 0.02 && f82_tint_average(Vec3::ZERO, Vec3::ZERO) == Vec3::ZERO, "{black}");
}
