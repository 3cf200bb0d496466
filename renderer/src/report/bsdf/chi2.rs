//! Pearson's χ² test.

use std::f64::consts::TAU;

/// The statistic, its degrees of freedom, and the probability of one at least as large.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Verdict {
    /// The statistic.
    pub(super) chi2: f64,
    /// Degrees of freedom.
    pub(super) dof: usize,
    /// The probability; NaN where there is nothing to compare.
    pub(super) p: f64,
}

/// Tests counts against what is expected of each; both add up to the same. Cells with fewer than five expected are
/// pooled.
pub(super) fn test(observed: &[f64], expected: &[f64]) -> Verdict {
    let mut cells: Vec<_> = expected.iter().zip(observed).collect();
    cells.sort_by(|a, b| a.0.total_cmp(b.0));
    let (mut chi2, mut used, mut pool) = (0.0, 0usize, (0.0, 0.0));
    for (e, o) in cells {
        pool = (pool.0 + e, pool.1 + o);
        if pool.0 >= 5.0 {
            chi2 += (pool.1 - pool.0).powi(2) / pool.0;
            used += 1;
            pool = (0.0, 0.0);
        }
    }
    let dof = used.saturating_sub(1);
    let p = if dof == 0 { f64::NAN } else { gamma_q(0.5 * dof as f64, 0.5 * chi2) };
    Verdict { chi2, dof, p }
}

/// The regularised upper incomplete gamma function Q(a, x) (Abramowitz & Stegun, 6.5.29 and 6.5.31).
fn gamma_q(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut k) = (1.0 / a, 1.0 / a, a);
        while term > sum * 1e-16 {
            k += 1.0;
            term *= x / k;
            sum += term;
        }
        return 1.0 - front * sum;
    }
    // The continued fraction, from far enough down.
    let n = 200 + (20.0 * x.sqrt()) as u32;
    let tail = (1..=n).rev().fold(0.0, |tail, k| {
        let k = f64::from(k);
        k * (k - a) / (x + 2.0 * k + 1.0 - a - tail)
    });
    front / (x + 1.0 - a - tail)
}

/// ln Γ(x) for x > 0, by Stirling's series.
fn ln_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 12.0 {
        shift += x.ln();
        x += 1.0;
    }
    let (i, i2) = (1.0 / x, 1.0 / (x * x));
    let series = i * (1.0 / 12.0 - i2 * (1.0 / 360.0 - i2 / 1260.0));
    (x - 0.5) * x.ln() - x + 0.5 * TAU.ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles as tables of χ² have them.
    #[test]
    fn quantiles() {
        for (chi2, dof, p) in [(3.841, 1.0, 0.05), (18.307, 10.0, 0.05), (135.807, 100.0, 0.01)] {
            let found: f64 = gamma_q(0.5 * dof, 0.5 * chi2);
            assert!((found / p - 1.0).abs() < 1e-3, "{chi2}: {found}");
        }
    }

    #[test]
    fn a_wrong_expectation_is_rejected() {
        let observed = [100.0, 100.0, 100.0, 100.0];
        assert!(test(&observed, &observed).p > 0.999);
        assert!(test(&observed, &[70.0, 130.0, 100.0, 100.0]).p < 1e-3);
    }
}
