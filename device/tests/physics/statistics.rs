//! The oracles themselves, against tables and closed forms.

use crate::common::ggx;
use crate::common::statistics::{Verdicts, chi2_p_value, chi2_test, chi2_uniform};
use crate::common::{Random, integrate};

/// Critical values as printed in tables of χ² (Abramowitz & Stegun, table 26.8).
#[test]
fn chi2_p_values_agree_with_tables() {
    for (dof, chi2, p) in [
        (1, 3.84146, 0.05),
        (1, 10.82757, 0.001),
        (2, 9.21034, 0.01),
        (5, 1.14548, 0.95),
        (10, 18.3070, 0.05),
        (30, 59.7031, 0.001),
        (100, 124.342, 0.05),
        (100, 70.0648, 0.99),
    ] {
        let computed = chi2_p_value(chi2, dof);
        assert!((computed / p - 1.0).abs() < 1e-4, "{dof} {chi2}: {computed}, not {p}");
    }
    assert_eq!([0.0, f64::INFINITY].map(|chi2| chi2_p_value(chi2, 3)), [1.0, 0.0]);
}

#[test]
fn p_values_of_a_true_hypothesis_are_uniform() {
    let mut random = Random::new(1);
    let expected: Vec<f64> = (0..40).map(|i| if i == 0 { 0.5 } else { f64::from(i) }).collect();
    let total = expected.iter().sum::<f64>();
    let expected: Vec<f64> = expected.iter().map(|e| 5000.0 * e / total).collect();
    let mut deciles = [0; 10];
    for _ in 0..2000 {
        let mut observed = [0; 40];
        for _ in 0..5000 {
            let mut u = random.within(0.0, 5000.0);
            let cell = expected.iter().position(|e| {
                u -= e;
                u < 0.0
            });
            observed[cell.unwrap_or(39)] += 1;
        }
        deciles[((chi2_test(&observed, &expected) * 10.0) as usize).min(9)] += 1;
    }
    assert!(chi2_uniform(&deciles) > 0.001, "{deciles:?}");
}

#[test]
fn control_wrong_hypotheses_are_rejected() {
    let mut verdicts = Verdicts::default();
    verdicts.add(chi2_test(&[480, 520, 1000], &[400.0, 600.0, 1000.0]), "shifted");
    verdicts.add(chi2_test(&[1000, 1000, 6], &[1000.0, 1006.0, 0.0]), "impossible");
    verdicts.add(f64::NAN, "no number");
    verdicts.assert_all_rejected();
    verdicts.add(chi2_uniform(&[1000, 1020, 980]), "as it should be");
    assert_eq!(verdicts.rejected().len(), 3);
}

#[test]
fn quadrature_is_exact_for_polynomials() {
    let value = integrate(-1.0, 2.0, 1, |x| x.powi(31));
    assert!((value / ((2.0_f64.powi(32) - 1.0) / 32.0) - 1.0).abs() < 1e-12);
    assert!((integrate(0.0, 1.0, 4, f64::exp) - (1.0_f64.exp() - 1.0)).abs() < 1e-14);
}

#[test]
fn masking_in_closed_form_is_the_integral_over_slopes() {
    for alpha in [1e-3, 0.1, 1.0_f64] {
        for z in [1e-3_f64, 0.3, 0.9_f64] {
            let w = crate::common::polar(z, 0.7);
            let (closed, integral) =
                (ggx::lambda(w, alpha), ggx::lambda_by_quadrature(z / (1.0 - z * z).sqrt(), alpha));
            assert!((closed - integral).abs() < 1e-9 * (1.0 + closed), "{alpha} {z}: {closed} {integral}");
        }
    }
}

#[test]
fn visible_normals_add_up_to_one() {
    for alpha in [1e-4, 0.1, 1.0] {
        for z in [1e-3, 0.3, 1.0] {
            let cells = ggx::Cells { alpha, size: [16, 32] };
            let total: f64 = cells.visible(crate::common::polar(z, 0.4), 16, |_| 1.0).iter().sum();
            assert!((total - 1.0).abs() < 1e-4, "{alpha} {z}: {total}");
        }
    }
}

/// Normal incidence: R = ((n − 1)² + k²) / ((n + 1)² + k²). Lossless matter: no transmission beyond the critical angle,
/// none at Brewster's for p.
#[test]
fn fresnel_in_complex_arithmetic_has_the_known_limits() {
    for (eta, k) in [(0.2_f64, 3.9_f64), (1.5, 0.0), (4.4, 3.5)] {
        let expected = ((eta - 1.0).powi(2) + k * k) / ((eta + 1.0).powi(2) + k * k);
        assert!((ggx::fresnel(1.0, eta, k) - expected).abs() < 1e-14);
        assert!((ggx::fresnel(0.0, eta, k) - 1.0).abs() < 1e-14);
    }
    assert!((ggx::fresnel(0.5, 0.7, 0.0) - 1.0).abs() < 1e-14);
    let brewster = 1.0 / (1.0 + 1.5_f64 * 1.5).sqrt();
    let r_s = ((1.5_f64 * 1.5 - 1.0) / (1.5 * 1.5 + 1.0)).powi(2);
    assert!((ggx::fresnel(brewster, 1.5, 0.0) - 0.5 * r_s).abs() < 1e-14);
}
