//! Pearson's χ² test.

use statrs::function::gamma::checked_gamma_ur;

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
    let p = if dof == 0 { f64::NAN } else { p_value(chi2, dof) };
    Verdict { chi2, dof, p }
}

/// The probability of a χ² of at least `chi2`, with at least one degree of freedom.
fn p_value(chi2: f64, dof: usize) -> f64 {
    if chi2 <= 0.0 {
        return 1.0;
    }
    // What it refuses is infinite.
    checked_gamma_ur(0.5 * dof as f64, 0.5 * chi2).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles as tables of χ² have them.
    #[test]
    fn quantiles() {
        for (chi2, dof, p) in [(3.841, 1, 0.05), (18.307, 10, 0.05), (135.807, 100, 0.01)] {
            let found = p_value(chi2, dof);
            assert!((found / p - 1.0).abs() < 1e-3, "{chi2}: {found}");
        }
        assert_eq!([0.0, f64::INFINITY].map(|chi2| p_value(chi2, 7)), [1.0, 0.0]);
    }

    #[test]
    fn a_wrong_expectation_is_rejected() {
        let observed = [100.0, 100.0, 100.0, 100.0];
        assert!(test(&observed, &observed).p > 0.999);
        assert!(test(&observed, &[70.0, 130.0, 100.0, 100.0]).p < 1e-3);
    }
}
