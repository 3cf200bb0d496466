//! Sums that do not depend on the order of their terms.

use std::ops::AddAssign;

use bytemuck::{Pod, Zeroable};

/// An unevaluated sum of two floats: 77 bits of precision in 12 bytes.
///
/// Sums of the same terms in any order differ by 2⁻⁷⁷ or so. What is made of them in `f64`, and then rounded to `f32` for a file,
/// is the same but once in 10¹⁵ numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C, packed(4))]
pub struct Wide {
    hi: f64,
    lo: f32,
}

impl Wide {
    /// The sum of these two.
    pub const fn new(hi: f64, lo: f32) -> Self {
        Self { hi, lo }
    }

    /// The value in `f64`.
    pub fn get(self) -> f64 {
        self.hi + f64::from(self.lo)
    }

    /// The two floats of which it is the sum.
    pub const fn parts(self) -> (f64, f32) {
        (self.hi, self.lo)
    }
}

impl AddAssign for Wide {
    /// Knuth's TwoSum of the large parts, and Dekker's FastTwoSum to renormalise.
    fn add_assign(&mut self, other: Self) {
        let (a, b) = (self.hi, other.hi);
        let sum = a + b;
        let b_part = sum - a;
        let error = (a - (sum - b_part)) + (b - b_part);
        let rest = error + (f64::from(self.lo) + f64::from(other.lo));
        self.hi = sum + rest;
        self.lo = (rest - (self.hi - sum)) as f32;
    }
}

impl From<f64> for Wide {
    fn from(x: f64) -> Self {
        Self::new(x, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier::Random;

    fn sum(terms: impl IntoIterator<Item = f64>) -> Wide {
        let mut sum = Wide::default();
        terms.into_iter().for_each(|x| sum += x.into());
        sum
    }

    /// Terms over nine decades, with all their bits.
    fn terms(random: &mut Random) -> Vec<f64> {
        (0..1000).map(|_| (20.0 * random.uniform() - 10.0).exp()).collect()
    }

    /// Against sums in whole numbers of 2⁻⁷⁴, which are exact.
    #[test]
    fn sums_hold_77_bits() {
        let mut random = Random(1);
        let terms = terms(&mut random);
        let whole = |x: f64| (x * 74_f64.exp2()) as i128;
        let exact: i128 = terms.iter().map(|x| whole(*x)).sum();
        let (hi, lo) = sum(terms.iter().copied()).parts();
        let error = exact - whole(hi) - whole(f64::from(lo));
        assert!((error as f64).abs() < exact as f64 * (-72_f64).exp2(), "{error} of {exact}");
        let plain: f64 = terms.iter().sum();
        assert!(
            ((exact - whole(plain)) as f64).abs() > exact as f64 * (-60_f64).exp2(),
            "control: plain sums"
        );
    }

    #[test]
    fn the_order_of_terms_does_not_matter() {
        let mut random = Random(2);
        let mut differ = 0;
        for _ in 0..200 {
            let mut terms = terms(&mut random);
            let (forth, plain) = (sum(terms.iter().copied()).get(), terms.iter().sum::<f64>());
            terms.reverse();
            assert_eq!(sum(terms.iter().copied()).get(), forth);
            let (left, right) = terms.split_at(300);
            let mut parts = sum(right.iter().copied());
            parts += sum(left.iter().copied());
            assert_eq!(parts.get(), forth);
            differ += u32::from(terms.iter().sum::<f64>() != plain);
        }
        assert!(differ > 100, "control: plain sums, {differ}");
    }
}
