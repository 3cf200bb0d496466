//! Reflectance of dielectrics against complex arithmetic in f64.

use device::bsdf::fresnel::{dielectric, dielectric_average};

use crate::common::optics::{C, boundary};
use crate::common::{Random, integrate};

const INDICES: [f32; 14] =
    [0.2, 0.4166667, 0.5, 0.6666667, 0.75, 0.9, 0.999, 1.001, 1.05, 1.33, 1.5, 2.0, 2.4, 5.0];

/// Reflectance and cosine of refraction.
fn exact(cos_i: f32, eta: f32) -> [f64; 2] {
    let (c, n) = (f64::from(cos_i), f64::from(eta));
    let [s, p] = boundary(c, C(n, 0.0));
    let cos_t = ((n - 1.0) * (n + 1.0) + c * c).max(0.0).sqrt() / n;
    [0.5 * (s + p), cos_t]
}

/// Cosines over the whole range, ever closer to grazing, and ever closer to the critical angle.
fn cosines(eta: f32) -> Vec<f32> {
    let mut all: Vec<f32> = (0..=2000).map(|i| i as f32 / 2000.0).collect();
    all.extend((0..200).map(|i| 10.0_f32.powf(-7.0 * i as f32 / 199.0)));
    if eta < 1.0 {
        let critical = (1.0 - f64::from(eta).powi(2)).sqrt() as f32;
        let bits = critical.to_bits() as i32;
        all.extend((-300..=300).map(|i| f32::from_bits((bits + i) as u32)).filter(|&c| c <= 1.0));
        all.extend(
            (0..200).map(|i| critical * (1.0 + 10.0_f32.powf(-6.0 * i as f32 / 199.0))).filter(|&c| c <= 1.0),
        );
    }
    all
}

/// Largest errors of reflectance and cosine.
fn worst(under_test: impl Fn(f32, f32) -> (f32, f32), eta: f32) -> [f64; 2] {
    cosines(eta).into_iter().fold([0.0; 2], |worst, c| {
        let ((r, t), exact) = (under_test(c, eta), exact(c, eta));
        [worst[0].max((f64::from(r) - exact[0]).abs()), worst[1].max((f64::from(t) - exact[1]).abs())]
    })
}

#[test]
fn agrees_with_complex_arithmetic() {
    for eta in INDICES {
        let errors = worst(dielectric, eta);
        println!("eta {eta}: {errors:?}");
        // Ever steeper just above the critical angle, as η falls.
        let limit = if eta < 0.4 { 1e-5 } else { 1e-6 };
        assert!(errors[0] < limit && errors[1] < 3e-7, "eta {eta}: off by {errors:?}");
    }
}

#[test]
fn random_indices_agree_and_lie_in_0_1() {
    let mut random = Random::new(7);
    // Of materials, and of everything.
    let (mut usual, mut most) = ([0.0_f64; 2], [0.0_f64; 2]);
    for _ in 0..2000 {
        let eta = random.power_of_ten(-1.0, 1.0) as f32;
        let errors = worst(dielectric, eta);
        most = [0, 1].map(|i| most[i].max(errors[i]));
        if eta > 0.4 {
            usual = [0, 1].map(|i| usual[i].max(errors[i]));
        }
        for c in cosines(eta) {
            let (r, t) = dielectric(c, eta);
            assert!((0.0..=1.0).contains(&r) && (0.0..=1.0).contains(&t), "eta {eta} at {c}: {r} {t}");
        }
    }
    println!("random: {usual:?} {most:?}");
    assert!(usual[0] < 4e-6 && usual[1] < 1e-6, "{usual:?}");
    assert!(most[0] < 2e-4 && most[1] < 1e-5, "{most:?}");
}

/// Where R is small, it is right in proportion.
#[test]
fn nearly_equal_indices_agree_in_proportion() {
    for bits in [1, 2, 3, 10, 1000, 100_000] {
        for eta in [f32::from_bits(1.0_f32.to_bits() + bits), f32::from_bits(1.0_f32.to_bits() - bits)] {
            for cos in [1.0, 0.9, 0.5, 0.1_f32] {
                let n = f64::from(eta);
                let c = f64::from(cos);
                let sin2 = 1.0 - c * c;
                if n * n < sin2 {
                    continue;
                }
                // ½ (r_s² + r_p²) with r_s = (1 − n²)/(c + q)², r_p = r_s (cq − s²)/(cq + s²).
                let q = ((n - 1.0) * (n + 1.0) + c * c).sqrt();
                let r_s = (1.0 - n) * (1.0 + n) / (c + q).powi(2);
                let r_p = r_s * (c * q - sin2) / (c * q + sin2);
                let expected = 0.5 * (r_s * r_s + r_p * r_p);
                let ratio = f64::from(dielectric(cos, eta).0) / expected;
                assert!((ratio - 1.0).abs() < 2e-6, "eta 1 ± {bits} bits at {cos}: ratio {ratio}");
            }
        }
    }
    for cos in cosines(1.0) {
        let (r, t) = dielectric(cos, 1.0);
        assert!(r == 0.0 && (t - cos).abs() <= 1e-7, "nothing changes at {cos}: {r} {t}");
    }
}

#[test]
fn normal_grazing_and_total_reflection() {
    for eta in INDICES {
        let f0 = ((f64::from(eta) - 1.0) / (f64::from(eta) + 1.0)).powi(2);
        assert!((f64::from(dielectric(1.0, eta).0) - f0).abs() < 1e-7);
        assert!((dielectric(0.0, eta).0 - 1.0).abs() < 1e-6);
        if eta < 1.0 {
            let critical = (1.0 - f64::from(eta).powi(2)).sqrt();
            assert_eq!(dielectric((critical * (1.0 - 1e-6)) as f32, eta), (1.0, 0.0));
            let (r, t) = dielectric((critical * (1.0 + 1e-6)).min(1.0) as f32, eta);
            assert!(r < 1.0 && t > 0.0, "eta {eta}: {r} {t}");
        }
    }
}

/// At Brewster's angle, tan θ = η, p-polarised light passes: R = ½ r_s², with cos θt = sin θi.
#[test]
fn brewster() {
    for eta in INDICES.into_iter().filter(|&eta| eta > 0.4) {
        let n = f64::from(eta);
        let cos = 1.0 / (1.0 + n * n).sqrt();
        let r_s = (1.0 - n * n) / (1.0 + n * n);
        let (r, cos_t) = dielectric(cos as f32, eta);
        assert!((f64::from(r) - 0.5 * r_s * r_s).abs() < 1e-6, "eta {eta}");
        assert!((f64::from(cos_t) - n * cos).abs() < 1e-6, "eta {eta}");
    }
}

/// Largest difference between a boundary's two sides.
fn irreversibility(reversed: impl Fn(f32) -> f32) -> f64 {
    let mut worst = 0.0_f64;
    for eta in INDICES {
        for i in 50..=1000 {
            let (r, cos_t) = dielectric(i as f32 / 1000.0, eta);
            if cos_t > 0.05 {
                worst = worst.max(f64::from(r - dielectric(cos_t, reversed(eta)).0).abs());
            }
        }
    }
    worst
}

#[test]
fn reflectance_is_the_same_from_both_sides() {
    let error = irreversibility(|eta| 1.0 / eta);
    println!("reversed: {error:e}");
    assert!(error < 1e-4, "{error:e}");
    assert!(irreversibility(|eta| eta) > 0.1, "control: the same direction twice");
}

#[test]
fn control_wrong_formulas_are_rejected() {
    let inverse = |c: f32, eta: f32| dielectric(c, 1.0 / eta);
    let s_only =
        |c: f32, eta: f32| (boundary(c.into(), C(eta.into(), 0.0))[0] as f32, exact(c, eta)[1] as f32);
    let amplitudes = |c: f32, eta: f32| {
        let [s, p] = boundary(c.into(), C(eta.into(), 0.0));
        ((0.5 * (s.sqrt() + p.sqrt())).powi(2) as f32, exact(c, eta)[1] as f32)
    };
    // Right, but for what cancels near the critical angle.
    let cancelling = |c: f32, eta: f32| {
        let cos_t2 = 1.0 - (1.0 - c * c) / (eta * eta);
        if cos_t2 <= 0.0 {
            return (1.0, 0.0);
        }
        let t = cos_t2.sqrt();
        let (s, p) = ((c - eta * t) / (c + eta * t), (eta * c - t) / (eta * c + t));
        (0.5 * (s * s + p * p), t)
    };
    for eta in [0.6666667, 1.5] {
        assert!(worst(inverse, eta)[0] > 0.1 && worst(inverse, eta)[1] > 0.1);
        assert!(worst(s_only, eta)[0] > 0.01);
        assert!(worst(amplitudes, eta)[0] > 0.01);
    }
    assert!(worst(cancelling, 0.6666667)[0] > 1e-4);
}

/// ∫ 2c R(c) dc; the square of the cosine of refraction, or its root, makes the integrand smooth at both ends.
fn average(eta: f64) -> f64 {
    let r = |c: f64| {
        let [s, p] = boundary(c, C(eta, 0.0));
        0.5 * (s + p)
    };
    if eta >= 1.0 {
        // c = x², so that what changes fast near grazing incidence is spread out.
        return integrate(0.0, 1.0, 200, |x| 4.0 * x.powi(3) * r(x * x));
    }
    let critical2 = 1.0 - eta * eta;
    // c² = critical² + x²; all is reflected below.
    critical2 + integrate(0.0, eta, 200, |x| 2.0 * x * r((critical2 + x * x).sqrt()))
}

fn worst_average(under_test: impl Fn(f32) -> f32) -> f64 {
    let indices = (0..=400).map(|i| 0.2 + 4.8 * i as f32 / 400.0).chain([0.9999, 1.0001, 1.0]);
    indices.map(|eta| (f64::from(under_test(eta)) - average(eta.into())).abs()).fold(0.0, f64::max)
}

#[test]
fn average_agrees_with_quadrature() {
    assert!((average(1.5) - 0.091_777_954_259_8).abs() < 1e-7, "{}", average(1.5));
    let error = worst_average(dielectric_average);
    println!("average: {error:e}");
    assert!(error < 6e-5, "{error:e}");
    for i in 0..=1000 {
        let f = dielectric_average(10.0_f32.powf(i as f32 / 50.0 - 10.0));
        assert!((0.0..=1.0).contains(&f), "{f}");
    }
}

#[test]
fn control_other_averages_are_rejected() {
    let schlick = |eta: f32| {
        let f0 = ((eta - 1.0) / (eta + 1.0)).powi(2);
        f0 + (1.0 - f0) / 21.0
    };
    // Kulla & Conty 2017: right to a few thousandths.
    let published = |eta: f32| {
        if eta < 1.0 {
            0.997118 + 0.1014 * eta - 0.965241 * eta * eta - 0.130607 * eta * eta * eta
        } else {
            (eta - 1.0) / (4.08567 + 1.00071 * eta)
        }
    };
    assert!(worst_average(schlick) > 0.01);
    assert!(worst_average(|eta| dielectric_average(1.0 / eta)) > 0.1);
    let error = worst_average(published);
    assert!((6e-5..0.05).contains(&error), "{error}");
}
