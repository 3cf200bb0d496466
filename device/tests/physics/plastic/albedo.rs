//! Albedos against quadrature of the formulas.

use device::bsdf::microfacet::Masking;
use device::bsdf::{Lobe, Plastic, SmoothPlastic};
use glam::{Vec2, Vec3};

use crate::common::integrate;
use crate::common::vector::{DVec3, wide};

use super::{Boundary, COLOR, MASKINGS, fresnel, left_of, rough, smooth, wo};

/// Mean weight over `n` points that fill the square of uniforms evenly: parts of n, and of the golden section.
fn mean_weight(lobe: &impl Lobe, wo: Vec3, n: u32) -> DVec3 {
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let u = |k: u32| Vec2::new((f64::from(k) * golden).fract() as f32, (k as f32 + 0.5) / n as f32);
    let weights = (0..n).filter_map(|k| lobe.sample(wo, 0.5, u(k)));
    weights.fold(DVec3::ZERO, |sum, s| sum + wide(s.weight)) / f64::from(n)
}

/// Albedo of the coat alone and of the base alone, each of which is all that is drawn then.
fn albedo(lobe: &Plastic, wo: Vec3) -> [f64; 3] {
    let n = 1 << 14;
    let coat = mean_weight(&Plastic { base: Vec3::ZERO, ..*lobe }, wo, n);
    let base = mean_weight(&Plastic { specular: Vec3::ZERO, ..*lobe }, wo, n);
    (coat + base).to_array()
}

/// Largest relative error of the albedo of rough plastics, on 16 cosines.
fn worst_albedo(alphas: impl Iterator<Item = f32>, change: impl Fn(&mut Plastic)) -> f64 {
    let mut worst: f64 = 0.0;
    for (k, alpha) in alphas.enumerate() {
        let (eta, masking) = ([1.5, 1.8, 1.33][k % 3], MASKINGS[k % 2]);
        let (mut lobe, boundary) = (rough(alpha, eta, masking, COLOR), Boundary::new(alpha, eta, masking));
        change(&mut lobe);
        let (passes, internal) = (boundary.all_transmitted(), boundary.internal());
        for z in (0..16).step_by(tier::choose(3, 1)).map(|i| 0.03 + 0.97 * f64::from(i) / 15.0) {
            let reflected = albedo(&lobe, wo(z));
            let (r, t) = (boundary.reflected(z, 10), boundary.transmitted(z));
            for channel in 0..3 {
                let base = left_of(COLOR[channel].into(), boundary.eta, internal, false);
                let error = (reflected[channel] / (r + t * base * passes) - 1.0).abs();
                worst = worst.max(error);
            }
        }
    }
    worst
}

/// For 16 roughnesses √α from 0.15 to 1.
#[test]
fn rough_plastics_reflect_their_albedo() {
    let worst = worst_albedo(
        (0..16).step_by(tier::choose(5, 1)).map(|i| (0.15 + 0.85 * i as f32 / 15.0).powi(2)),
        |_| (),
    );
    println!("albedo to {worst:.1e}");
    assert!(worst < 2e-3, "{worst:e}");
}

/// On 16 cosines, for 16 indices: the mirror by Fresnel, the base by quadrature of what passes twice.
fn worst_smooth_albedo(change: impl Fn(&mut SmoothPlastic)) -> f64 {
    let mut worst: f64 = 0.0;
    for eta in (0..16).map(|i| 1.1 + 0.1 * i as f32) {
        let (mut lobe, n) = (smooth(eta, COLOR), f64::from(eta));
        change(&mut lobe);
        let passes = integrate(0.0, 1.0, 4, |c| 2.0 * c * (1.0 - fresnel(c, n).0));
        for z in (0..16).map(|i| 0.03 + 0.97 * f64::from(i) / 15.0) {
            let coat = mean_weight(&SmoothPlastic { base: Vec3::ZERO, ..lobe }, wo(z), 1);
            let base = mean_weight(&SmoothPlastic { specular: Vec3::ZERO, ..lobe }, wo(z), 1 << 12);
            let (reflected, r) = ((coat + base).to_array(), fresnel(z, n).0);
            for channel in 0..3 {
                let left = left_of(COLOR[channel].into(), n, 1.0 - passes / (n * n), true);
                worst = worst.max((reflected[channel] / (r + (1.0 - r) * left * passes) - 1.0).abs());
            }
        }
    }
    worst
}

#[test]
fn smooth_plastics_reflect_their_albedo() {
    let worst = worst_smooth_albedo(|_| ());
    println!("albedo of smooth plastics to {worst:.1e}");
    assert!(worst < 1e-3, "{worst:e}");
    assert!(worst_smooth_albedo(|lobe| lobe.base *= 1.005) > 3e-3, "control");
    assert!(worst_smooth_albedo(|lobe| lobe.eta *= 1.01) > 3e-3, "control");
}

#[test]
fn control_another_albedo_is_rejected() {
    assert!(worst_albedo([0.3].into_iter(), |lobe| lobe.base *= 1.005) > 3e-3);
    assert!(worst_albedo([0.3].into_iter(), |lobe| lobe.eta *= 1.01) > 3e-3);
}

#[test]
fn no_more_leaves_than_arrives_and_smooth_white_plastic_returns_all() {
    let mut most: f64 = 0.0;
    for eta in [1.05, 1.33, 1.5, 2.0, 3.0] {
        for z in [1.0, 0.9, 0.6, 0.3, 0.1, 0.03, 0.01, 1e-3] {
            let lobe = smooth(eta, Vec3::ONE);
            let coat = mean_weight(&SmoothPlastic { base: Vec3::ZERO, ..lobe }, wo(z), 1);
            let white =
                (coat + mean_weight(&SmoothPlastic { specular: Vec3::ZERO, ..lobe }, wo(z), 1 << 14)).x;
            assert!((white - 1.0).abs() < 1e-4, "smooth, {eta}, {z}: {white}");
        }
        for alpha in [1e-4, 1e-3, 0.01, 0.03, 0.1, 0.4, 1.0] {
            let lobe = rough(alpha, eta, Masking::Separable, Vec3::ONE);
            for z in [1.0, 0.9, 0.6, 0.3, 0.1, 0.03, 0.01, 1e-3] {
                let [white, ..] = albedo(&lobe, wo(z));
                if white > 1.0 + 1e-4 {
                    println!("{alpha} {eta} {z}: {white}");
                }
                most = most.max(white);
            }
        }
    }
    println!("at most {most} of white light leaves");
    assert!(most < 1.0 + 1e-4, "{most}");
}
