//! Probabilities of large deviations, alone and among many.

use std::f64::consts::SQRT_2;

use statrs::function::erf::erfc;

/// Bentkus and Dzindzalieta (2015), "A tight Gaussian bound for weighted sums of Rademacher random variables": such a
/// sum with unit variance exceeds x with at most this many times the probability of a normal one, 1/(4 Q(√2)).
const RADEMACHER: f64 = 3.178;

/// The probability, at most, that |Σx| / √(Σx²) of independent, symmetric x is as large as `z`, whatever their tails.
///
/// Given the |x|, the signs are fair coins, so that the bound for weighted sums of these applies (Efron 1969).
pub(super) fn p_self_normalized(z: f64) -> f64 {
    (2.0 * RADEMACHER * normal_tail(z.abs())).min(1.0)
}

/// The z for which [`p_self_normalized`] is `p` < 1.
pub(super) fn z_self_normalized(p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..60 {
        let z = 0.5 * (low + high);
        if 2.0 * RADEMACHER * normal_tail(z) > p {
            low = z;
        } else {
            high = z;
        }
    }
    high
}

/// The probability that a normal variable exceeds z ≥ 0.
fn normal_tail(z: f64) -> f64 {
    0.5 * erfc(z / SQRT_2)
}

/// The probability, at most, that the squares of `n` independent z as of [`p_self_normalized`] add up to `sum`.
///
/// Given the |x|, E exp(λz²) is at most what it is for a normal z, (1 − 2λ)^−½ for λ < ½, since exp(λz²) is the mean of
/// exp(√(2λ) g z) over normal g; so Chernoff's bound for χ² holds.
pub(super) fn p_sum_of_squares(sum: f64, n: usize) -> f64 {
    let excess = sum / n as f64 - 1.0;
    if excess <= 0.0 { 1.0 } else { (-0.5 * n as f64 * (excess - excess.ln_1p())).exp() }
}

/// The probability, at most, of a p as small as this among `tests`. Šidák (1967): exact for independent tests, and a
/// bound for two-sided ones of correlated normal variables.
pub(super) fn among(p: f64, tests: usize) -> f64 {
    -(tests as f64 * (-p).ln_1p()).exp_m1()
}

/// The p of a single one of `tests` for which [`among`] is `p`.
pub(super) fn of_each(p: f64, tests: usize) -> f64 {
    -((-p).ln_1p() / tests as f64).exp_m1()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    /// Abramowitz & Stegun, table 26.1 and 26.2.
    #[test]
    fn normal_tails_are_those_of_tables() {
        for (z, q) in [
            (0.0, 0.5),
            (1.0, 0.158_655_253_9),
            (1.96, 0.024_997_895_1),
            (3.0, 0.001_349_898_03),
            (5.0, 2.866_516e-7),
        ] {
            assert!((normal_tail(z) / q - 1.0).abs() < 1e-6, "{z}: {}", normal_tail(z));
        }
        assert!((normal_tail(10.0) / 7.619_85e-24 - 1.0).abs() < 1e-5);
        // Far out, by the first terms of its asymptotic series (7.1.23).
        let z = 36.0_f64;
        let series = 1.0 - z.powi(-2) + 3.0 * z.powi(-4) - 15.0 * z.powi(-6);
        let expected = (-0.5 * z * z).exp() / (z * TAU.sqrt()) * series;
        assert!((normal_tail(z) / expected - 1.0).abs() < 1e-9, "{}", normal_tail(z));
    }

    #[test]
    fn the_constant_is_what_the_paper_says() {
        assert!((0.25 / normal_tail(SQRT_2) - RADEMACHER).abs() < 1e-3);
    }

    /// The bound holds, and is reached within a small factor, for sums of few signs, whose tails are counted.
    #[test]
    fn signs_stay_below_the_bound() {
        for n in [1_u32, 2, 4, 9, 16] {
            for at_least in (1..=n).filter(|k| (n - k) % 2 == 0) {
                let count = (0..1_u32 << n).filter(|s| 2 * s.count_ones() >= n + at_least).count();
                let exact = 2.0 * count as f64 / f64::from(1 << n);
                let z = f64::from(at_least) / f64::from(n).sqrt();
                assert!(exact <= p_self_normalized(z) * (1.0 + 1e-3), "{n}, {at_least}: {exact}");
            }
        }
        // Two signs that agree: z = √2, with probability ½; the constant is chosen so that this is exact.
        assert!((p_self_normalized(SQRT_2) - 0.5).abs() < 1e-3);
    }

    /// Quantiles of χ² at 1 % and 0.1 % (Abramowitz & Stegun, table 26.8), and not much below the bound.
    #[test]
    fn sums_of_squares_stay_below_the_bound() {
        for (sum, n, p) in
            [(23.209, 10, 0.01), (29.588, 10, 0.001), (135.807, 100, 0.01), (149.449, 100, 0.001)]
        {
            let bound = p_sum_of_squares(sum, n);
            assert!(bound >= p && bound < 15.0 * p, "{sum}, {n}: {bound}");
        }
        assert_eq!(p_sum_of_squares(9.0, 10), 1.0);
    }

    #[test]
    fn inverses() {
        for p in [0.05, 1e-3, 1e-9, 1e-30] {
            assert!((p_self_normalized(z_self_normalized(p)) / p - 1.0).abs() < 1e-6);
            assert!((among(of_each(p, 1000), 1000) / p - 1.0).abs() < 1e-9);
        }
        assert!((among(0.001, 10) - (1.0 - 0.999_f64.powi(10))).abs() < 1e-12);
    }
}
