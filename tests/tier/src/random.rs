//! Random numbers that are the same each time, so that a failure can be repeated.

/// SplitMix64 (Steele, Lea & Flood 2014), of a seed.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// Any number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One below `n`, or 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next_u64() % n.max(1) as u64) as usize
    }

    /// One from 0 to 1, less than that.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * 2.0_f64.powi(-53)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the authors' own program for the seed 1234567.
    #[test]
    fn numbers_are_those_of_the_paper() {
        let mut random = Random(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([(); 3].map(|()| random.next_u64()), expected);
    }
}
