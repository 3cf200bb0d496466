//! χ² tests.

use statrs::function::gamma::checked_gamma_ur;

/// Probability of a χ² of at least `chi2` with `dof` degrees of freedom.
pub(crate) fn chi2_p_value(chi2: f64, dof: usize) -> f64 {
    // It refuses 0 and infinity.
    checked_gamma_ur(0.5 * dof as f64, 0.5 * chi2).unwrap_or(if chi2 > 0.0 { 0.0 } else { 1.0 })
}

/// P-value of counts under a distribution over cells. Cells with fewer than five expected are pooled; more than a few
/// where none are expected at all, beyond the slivers that quadrature misses, are impossible. `expected` adds up to
/// the number of observations.
pub(crate) fn chi2_test(observed: &[u64], expected: &[f64]) -> f64 {
    assert_eq!(observed.len(), expected.len());
    let (total, of) = (observed.iter().sum::<u64>() as f64, expected.iter().sum::<f64>());
    assert!((total - of).abs() < 1e-3 * total + 1.0, "{total} observed, {of} expected");
    let mut cells: Vec<(f64, f64)> =
        expected.iter().zip(observed).map(|(e, o)| (*e * total / of, *o as f64)).collect();
    if cells.iter().any(|&(e, o)| e == 0.0 && o > 5.0) {
        return 0.0;
    }
    cells.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut chi2, mut used, mut pool) = (0.0, 0usize, (0.0, 0.0));
    for (e, o) in cells {
        pool = (pool.0 + e, pool.1 + o);
        if pool.0 >= 5.0 {
            chi2 += (pool.1 - pool.0).powi(2) / pool.0;
            used += 1;
            pool = (0.0, 0.0);
        }
    }
    assert!(used > 1, "one cell proves nothing");
    chi2_p_value(chi2, used - 1)
}

/// P-value of counts that should all be alike.
pub(crate) fn chi2_uniform(observed: &[u64]) -> f64 {
    let mean = observed.iter().sum::<u64>() as f64 / observed.len() as f64;
    chi2_test(observed, &vec![mean; observed.len()])
}

/// Counts of points of the unit square in a grid.
pub(crate) struct Grid {
    pub(crate) counts: Vec<u64>,
    size: [usize; 2],
}

impl Grid {
    pub(crate) fn new(size: [usize; 2]) -> Self {
        Self { counts: vec![0; size[0] * size[1]], size }
    }

    /// Adds a point; rounding may have left it on the upper edge.
    pub(crate) fn add(&mut self, x: f64, y: f64) {
        let index = |x: f64, n: usize| {
            assert!((-1e-6..=1.0 + 1e-6).contains(&x), "{x} lies outside");
            ((x * n as f64) as usize).min(n - 1)
        };
        self.counts[index(x, self.size[0]) * self.size[1] + index(y, self.size[1])] += 1;
    }
}

/// P-values of many tests, judged together.
#[derive(Default)]
pub(crate) struct Verdicts(Vec<(f64, String)>);

impl Verdicts {
    pub(crate) fn add(&mut self, p: f64, name: impl Into<String>) {
        self.0.push((p, name.into()));
    }

    /// The tests whose hypothesis is rejected at a level of 1 % for all of them together (Šidák 1967).
    pub(crate) fn rejected(&self) -> Vec<&(f64, String)> {
        let level = 1.0 - 0.99_f64.powf(1.0 / self.0.len() as f64);
        // `!(p >= level)` so that NaN is rejected too.
        self.0.iter().filter(|(p, _)| p.partial_cmp(&level).is_none_or(|o| o.is_lt())).collect()
    }

    /// Prints the least P-value, and what it would be as one of many (Šidák).
    pub(crate) fn report(&self, of: &str) {
        if let Some((p, name)) = self.0.iter().min_by(|a, b| a.0.total_cmp(&b.0)) {
            let n = self.0.len();
            let of_all = 1.0 - (1.0 - p).powi(n as i32);
            println!("{of}: {n} tests, least p = {p:.2e}, {of_all:.3} by Šidák, at {name}");
        }
    }

    /// Prints the largest P-value, which is that of the control that is closest to the truth.
    pub(crate) fn report_largest(&self, of: &str) {
        if let Some((p, name)) = self.0.iter().max_by(|a, b| a.0.total_cmp(&b.0)) {
            println!("{of}: {} tests, largest p = {p:.2e} at {name}", self.0.len());
        }
    }

    pub(crate) fn assert_none_rejected(&self) {
        let rejected = self.rejected();
        assert!(
            !self.0.is_empty() && rejected.is_empty(),
            "{} of {}: {rejected:?}",
            rejected.len(),
            self.0.len()
        );
    }

    pub(crate) fn assert_all_rejected(&self) {
        assert!(!self.0.is_empty());
        assert_eq!(self.rejected().len(), self.0.len(), "{:?}", self.0);
    }
}
