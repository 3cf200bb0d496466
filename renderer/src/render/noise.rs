//! When to stop for the noise of an image.

/// Samples per pixel before the first look: of fewer, little is known of noise.
const FIRST: u32 = 16;
/// By how much samples grow between looks. The least keeps looks few, the most stays clear of bad guesses.
const GROWTH: [f64; 2] = [1.05, 4.0];

/// When to look at the noise of an image, so that few samples too many are taken, and few looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looks {
    /// The relative standard error wanted.
    target: f64,
    /// Samples per pixel at the next look.
    pub(super) next: u32,
}

impl Looks {
    pub(super) const fn new(target: f64) -> Self {
        Self { target, next: FIRST }
    }

    /// Tells whether an image of so many samples per pixel, and this relative standard error, is good enough. If not, the
    /// next look is when it should be, since noise falls with the root of the number of samples.
    pub(super) fn is_enough(&mut self, spp: u32, noise: f64) -> bool {
        if noise <= self.target {
            return true;
        }
        let growth = (noise / self.target).powi(2);
        let growth = if growth.is_nan() { GROWTH[1] } else { growth.clamp(GROWTH[0], GROWTH[1]) };
        self.next = (f64::from(spp) * growth).ceil() as u32;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise of 1 in a sample, and how often that of an image of it is looked at before it is `target`.
    fn looks(target: f64) -> (u32, u32) {
        let mut looks = Looks::new(target);
        for n in 1.. {
            let spp = looks.next;
            if looks.is_enough(spp, f64::from(spp).sqrt().recip()) {
                return (spp, n);
            }
            assert!(looks.next > spp);
        }
        unreachable!("noise falls")
    }

    #[test]
    fn samples_are_as_many_as_the_noise_asks_for() {
        for (target, spp, most) in
            [(0.5, 16, 1), (0.25, 16, 1), (0.2, 25, 3), (0.1, 100, 4), (0.01, 10_000, 8)]
        {
            let (taken, n) = looks(target);
            assert!((spp..=spp + spp / 20).contains(&taken) && n <= most, "{target}: {taken} spp, {n} looks");
        }
    }

    #[test]
    fn what_is_unknown_is_not_enough() {
        let mut looks = Looks::new(0.1);
        assert!(!looks.is_enough(16, f64::NAN));
        assert_eq!(looks.next, 64);
        assert!(!looks.is_enough(64, f64::INFINITY));
        assert_eq!(looks.next, 256);
        assert!(looks.is_enough(256, 0.0));
    }
}
