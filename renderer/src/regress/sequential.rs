//! When to stop sampling, such that the stated error rate holds whenever that is.
//!
//! A case is looked at after every round, and each look could be a false alarm. The number of looks, K, is known
//! before the first, and each is judged at α/K: by Bonferroni's inequality, the probability that any of them is a false
//! alarm is at most α, however they depend on each other and wherever sampling stops. K is small because samples
//! double from round to round: it costs less power than rules for looks at every sample would.
//!
//! To stop because the images seem the same raises no false alarms.

/// Verdict of one look at an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// There is evidence of a difference.
    Different,
    /// There is none, and differences that matter would have been found.
    Same,
    /// There is none, but more samples might find some.
    Open,
}

/// How a case is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The probability, at most, of a false alarm in any look: α.
    pub level: f64,
    /// Number of looks, at most: K ≥ 1.
    pub looks: usize,
    /// The relative difference of the whole image that must be detectable before it counts as the same.
    pub resolve: f64,
}

impl Plan {
    /// The level of each look: α/K.
    pub fn look_level(&self) -> f64 {
        self.level / self.looks as f64
    }

    /// The verdict of a look with p-value `p` that could have detected a difference of `detectable`.
    pub fn verdict(&self, p: f64, detectable: f64) -> Verdict {
        if p <= self.look_level() {
            Verdict::Different
        } else if detectable <= self.resolve {
            Verdict::Same
        } else {
            Verdict::Open
        }
    }
}

/// The level of each of `cases`, independent of one another, for a false alarm in any of them to have probability
/// `level`: 1 − (1 − level)^(1/cases), by Šidák.
pub fn level_of_case(level: f64, cases: usize) -> f64 {
    // With logarithms of 1 + x, for small levels lose no digits.
    -f64::exp_m1(f64::ln_1p(-level) / cases.max(1) as f64)
}

/// Samples in total after each round: they double from `first` until they are `most`.
pub fn totals(first: u32, most: u32) -> Vec<u32> {
    let most = most.max(first);
    let doubled = std::iter::successors(Some(first.max(1)), |n| n.checked_mul(2));
    let mut totals: Vec<_> = doubled.take_while(|n| *n < most).collect();
    totals.push(most);
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_double() {
        assert_eq!(totals(16, 128), [16, 32, 64, 128]);
        assert_eq!(totals(16, 100), [16, 32, 64, 100]);
        assert_eq!(totals(16, 16), [16]);
        assert_eq!(totals(16, 1), [16]);
        assert_eq!(totals(1 << 30, u32::MAX), [1 << 30, 1 << 31, u32::MAX]);
    }

    #[test]
    fn levels_of_cases_multiply_to_that_of_the_suite() {
        for (level, cases) in [(0.01_f64, 1), (0.01, 30), (0.5, 7), (1e-9, 1000)] {
            let each = level_of_case(level, cases);
            let suite = -f64::exp_m1(cases as f64 * f64::ln_1p(-each));
            assert!((suite / level - 1.0).abs() < 1e-9, "{level} {cases}: {suite}");
            assert!(each >= level / cases as f64 * (1.0 - 1e-12), "Bonferroni's is the lower bound");
        }
    }

    #[test]
    fn verdicts() {
        let plan = Plan { level: 0.01, looks: 4, resolve: 0.005 };
        assert_eq!(plan.verdict(0.0025, 0.001), Verdict::Different, "whatever else is known");
        assert_eq!(plan.verdict(0.0026, 0.005), Verdict::Same);
        assert_eq!(plan.verdict(0.0026, 0.0051), Verdict::Open);
        assert_eq!(plan.verdict(f64::NAN, f64::INFINITY), Verdict::Open, "what is unknown is no evidence");
    }

    /// A renderer of one pixel: the mean of samples with standard deviation 1 and mean `shift`.
    struct Walk {
        sum: f64,
        n: u32,
        shift: f64,
        state: u64,
    }

    impl Walk {
        /// SplitMix64 (Steele, Lea and Flood 2014).
        fn uniform(&mut self) -> f64 {
            self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }

        /// Samples up to `total`, all at once: their sum is normal (Box and Muller).
        fn until(&mut self, total: u32) {
            let n = f64::from(total - self.n);
            let normal = (-2.0 * self.uniform().max(1e-300).ln()).sqrt()
                * (std::f64::consts::TAU * self.uniform()).cos();
            self.sum += n * self.shift + n.sqrt() * normal;
            self.n = total;
        }

        fn z(&self) -> f64 {
            self.sum / f64::from(self.n).sqrt()
        }
    }

    /// P(|Z| > z) of a normal Z, by the trapezoidal rule over the upper tail.
    fn two_sided(z: f64) -> f64 {
        const STEPS: usize = 400;
        let (from, to) = (z.abs(), z.abs() + 8.0);
        let h = (to - from) / STEPS as f64;
        let f = |x: f64| (-0.5 * x * x).exp();
        let inner: f64 = (1..STEPS).map(|i| f(from + i as f64 * h)).sum();
        (h * (inner + 0.5 * (f(from) + f(to))) * (2.0 / std::f64::consts::PI).sqrt()).min(1.0)
    }

    /// The z beyond which a normal Z lies with this two-sided probability, by bisection.
    fn critical(p: f64) -> f64 {
        let (mut low, mut high) = (0.0, 10.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if two_sided(middle) > p { low = middle } else { high = middle }
        }
        low
    }

    /// Runs so many cases; the share of each verdict, in the order of the enumeration.
    fn shares(plan: Plan, totals: &[u32], shift: f64, looks_apart: bool) -> [f64; 3] {
        const CASES: u32 = 40_000;
        let level = if looks_apart { plan.level } else { plan.look_level() };
        let naive = Plan { level, looks: 1, ..plan };
        let critical = critical(level);
        let mut counts = [0; 3];
        for case in 0..CASES {
            let mut walk = Walk { sum: 0.0, n: 0, shift, state: u64::from(case) << 32 };
            let mut verdict = Verdict::Open;
            for total in totals {
                walk.until(*total);
                let detectable = (critical + 1.645) / f64::from(*total).sqrt();
                // Only near the bound is the exact probability of consequence.
                let p = if walk.z().abs() < 1.0 { 1.0 } else { two_sided(walk.z()) };
                verdict = naive.verdict(p, detectable);
                if verdict != Verdict::Open {
                    break;
                }
            }
            counts[verdict as usize] += 1;
        }
        counts.map(|n| f64::from(n) / f64::from(CASES))
    }

    /// The stated rate holds over all looks, and would not if each look were judged at the level of the case.
    #[test]
    fn false_alarms_stay_below_the_level_and_differences_are_found() {
        let totals = totals(64, 1024);
        let plan = Plan { level: 0.05, looks: totals.len(), resolve: 0.0 };
        // Three standard deviations of the share itself.
        let margin = 3.0 * (0.05_f64 * 0.95 / 40_000.0).sqrt();
        let [alarms, ..] = shares(plan, &totals, 0.0, false);
        assert!(alarms <= 0.05 + margin, "{alarms}");
        assert!(alarms > 0.015, "the bound is not much too careful: {alarms}");
        let [naive, ..] = shares(plan, &totals, 0.0, true);
        assert!(naive > 0.05 + 10.0 * margin, "five looks, each at 5 %: {naive}");

        // A difference as large as has to be detectable is called the same in 5 % of cases at most.
        let resolve = (critical(plan.look_level()) + 1.645) / 512_f64.sqrt() * 1.0001;
        let plan = Plan { resolve, ..plan };
        let [different, same, open] = shares(plan, &totals, resolve, false);
        assert!(same <= 0.05 + margin && different >= 0.95 - margin, "{different} {same} {open}");
        let [_, same, open] = shares(plan, &totals, 0.0, false);
        assert!(same > 0.94 && open == 0.0, "it ends before the budget: {same} {open}");
    }
}
