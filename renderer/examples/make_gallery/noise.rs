//! Random numbers and smooth noise, the same on every machine.

/// A stream of random numbers: O'Neill's PCG permutation (2014) of a counter.
pub(crate) struct Random(u32);

impl Random {
    pub(crate) fn new(seed: u32) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9))
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(1);
        (hash(self.0) >> 8) as f32 / (1 << 24) as f32
    }

    pub(crate) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }
}

fn hash(x: u32) -> u32 {
    let state = x.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    (word >> 22) ^ word
}

/// A random number in [0, 1) for a place of a grid.
pub(crate) fn at(x: i32, y: i32, seed: u32) -> f32 {
    (hash(hash(hash(seed) ^ x as u32) ^ y as u32) >> 8) as f32 / (1 << 24) as f32
}

/// Smooth noise in [0, 1] with one random value a unit; repeats after `period` units, where that is not 0.
pub(crate) fn value(x: f32, y: f32, period: i32, seed: u32) -> f32 {
    let wrap = |i: i32| if period == 0 { i } else { i.rem_euclid(period) };
    let ease = |t: f32| t * t * (3.0 - 2.0 * t);
    let (i, j) = (x.floor() as i32, y.floor() as i32);
    let (s, t) = (ease(x - x.floor()), ease(y - y.floor()));
    let corner = |a: i32, b: i32| at(wrap(i + a), wrap(j + b), seed);
    let row = |b: i32| corner(0, b) * (1.0 - s) + corner(1, b) * s;
    row(0) * (1.0 - t) + row(1) * t
}

/// Four octaves of `value`, in [0, 1].
pub(crate) fn fractal(x: f32, y: f32, period: i32, seed: u32) -> f32 {
    let octave = |o: i32| {
        let f = (1 << o) as f32;
        value(x * f, y * f, period << o, seed + o as u32) / f
    };
    (0..4).map(octave).sum::<f32>() / 1.875
}
