//! Searches for matrices like those of `device/src/rng/blue_noise.rs`: simulated annealing of the variance of the mean of 2ʲ pixels with
//! 2ᵏ samples each, relative to that of independent pixels. Prints them, and these ratios by j and k. Takes some minutes.
//!
//! `cargo run --release -p torrance-tests --example blue_noise`

/// Digits of a place in a tile, and of a sample, that are looked at.
const PLACE: usize = 6;
const SAMPLE: usize = 8;
/// Digits of a coordinate.
const ROWS: usize = PLACE + SAMPLE;
/// Levels of the wavelets by which variance is told, in each of two dimensions.
const LEVELS: usize = 12;
/// How much blocks of 2ʲ pixels matter.
const WEIGHTS: [f64; PLACE + 1] = [0.0, 0.5, 2.0, 0.5, 2.0, 0.5, 1.5];
const STARTS: usize = 12;
const STEPS: usize = 60_000;

/// Two dimensions, columns with the first digit of the coordinate as the highest bit: those of Sobol' by the digits of the sample, and
/// those of A by the digits of the place.
#[derive(Clone)]
struct Pair {
    sobol: [[u32; 32]; 2],
    shift: [[u32; PLACE]; 2],
}

fn main() {
    let by_numbers = |a, m: &[u32]| sobol(a, m);
    let identity = std::array::from_fn(|k| 1 << (31 - k));
    for (name, sobol) in [
        ("first and second", [identity, by_numbers(0, &[1])]),
        ("third and fourth", [by_numbers(1, &[1, 3]), by_numbers(1, &[1, 3, 1])]),
    ] {
        let found = search(sobol);
        println!("{name} dimension, the column of the highest digit first, bits reversed:");
        for columns in found.shift {
            let text = columns.map(|column| format!("{:#010x}", column.reverse_bits()));
            println!("  [{}]", text.iter().rev().cloned().collect::<Vec<_>>().join(", "));
        }
        let alone = found.alone();
        for j in 1..=PLACE {
            let ratios = (0..=SAMPLE).map(|k| format!("{:.2}", found.ratio(&alone, j, k)));
            println!("  {:2} pixels: {}", 1 << j, ratios.collect::<Vec<_>>().join(" "));
        }
    }
}

/// Columns of a Sobol' matrix (Joe and Kuo 2008, eq. 2 and 3), from the inner coefficients of its polynomial and first numbers.
fn sobol(a: u32, m: &[u32]) -> [u32; 32] {
    let s = m.len();
    let mut v = [0_u32; 32];
    for k in 0..32 {
        v[k] = match m.get(k) {
            Some(m) => m << (31 - k),
            None => (1..s).fold(v[k - s] ^ (v[k - s] >> s), |x, j| {
                x ^ if (a >> (s - 1 - j)) & 1 == 1 { v[k - j] } else { 0 }
            }),
        };
    }
    v
}

/// The best of several searches.
fn search(sobol: [[u32; 32]; 2]) -> Pair {
    let mut random = Random(88_172_645_463_325_252);
    let mut best: Option<(f64, Pair)> = None;
    for _ in 0..STARTS {
        let shift = std::array::from_fn(|_| std::array::from_fn(|_| random.bits()));
        let mut pair = Pair { sobol, shift };
        let alone = pair.alone();
        let mut cost = pair.cost(&alone);
        let mut temperature = 0.02 * cost;
        for _ in 0..STEPS {
            let (d, i) = (random.below(2), random.below(PLACE));
            let before = pair.shift[d][i];
            pair.shift[d][i] ^= 1 << (31 - random.below(ROWS));
            if random.below(3) == 0 {
                pair.shift[d][i] ^= 1 << (31 - random.below(ROWS));
            }
            let new = pair.cost(&alone);
            if new <= cost || ((cost - new) / temperature).exp() > random.uniform() {
                cost = new;
            } else {
                pair.shift[d][i] = before;
            }
            temperature *= 2e-3_f64.powf(1.0 / STEPS as f64);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, pair.clone()));
            }
        }
    }
    best.expect("there are starts").1
}

impl Pair {
    /// The variance of a mean over 2ᵏ samples of 2ʲ pixels, by gains of scrambled nets (Owen 1997) and the spectrum of a mixture of
    /// edges and smooth functions.
    fn variance(&self, k: usize, j: usize) -> f64 {
        let points = k + j;
        let row = |d: usize, r: usize| {
            let columns = self.sobol[d][..k].iter().chain(&self.shift[d][..j]);
            columns.enumerate().fold(0_u32, |row, (i, column)| row | ((column >> (31 - r)) & 1) << i)
        };
        // Points that share so many digits with the first, the points being a group.
        let mut sharing = [[0.0; LEVELS + 1]; LEVELS + 1];
        let mut of_x = Basis::default();
        for (x, sharing) in sharing.iter_mut().enumerate() {
            if x > 0 {
                of_x.insert(row(0, x - 1));
            }
            let mut both = of_x.clone();
            for (y, sharing) in sharing.iter_mut().enumerate() {
                if y > 0 {
                    both.insert(row(1, y - 1));
                }
                *sharing = f64::from(1_u32 << (points - both.rank));
            }
        }
        let mut sum = 0.0;
        for x in 0..=LEVELS {
            for y in 0..=LEVELS {
                let gain = match (x, y) {
                    (0, 0) => continue,
                    (0, y) => 2.0 * sharing[0][y] - sharing[0][y - 1],
                    (x, 0) => 2.0 * sharing[x][0] - sharing[x - 1][0],
                    _ => {
                        4.0 * sharing[x][y] - 2.0 * sharing[x - 1][y] - 2.0 * sharing[x][y - 1]
                            + sharing[x - 1][y - 1]
                    }
                };
                sum += gain * spectrum(x, y);
            }
        }
        sum / f64::from(1_u32 << points)
    }

    /// Variances of a pixel alone, by k.
    fn alone(&self) -> [f64; SAMPLE + 1] {
        std::array::from_fn(|k| self.variance(k, 0))
    }

    /// The variance of the mean of 2ʲ pixels, relative to that of as many independent ones.
    fn ratio(&self, alone: &[f64; SAMPLE + 1], j: usize, k: usize) -> f64 {
        self.variance(k, j) * f64::from(1_u32 << j) / alone[k]
    }

    fn cost(&self, alone: &[f64; SAMPLE + 1]) -> f64 {
        let weight = |k: usize| if k == 0 { 1.5 } else { [1.0, 0.7][k % 2] };
        let of = |j: usize| (0..=SAMPLE).map(move |k| WEIGHTS[j] * weight(k) * self.ratio(alone, j, k));
        (1..=PLACE).flat_map(of).sum()
    }
}

/// What wavelets of two levels have of the variance, but for a factor: of edges in any direction, and of a smooth function.
fn spectrum(x: usize, y: usize) -> f64 {
    let (most, least) = (x.max(y) as i32, x.min(y) as i32);
    // Each sums up to 1.
    0.6 * 2.0_f64.powi(least - 2 * most) / 2.333 + 0.4 * 4.0_f64.powi(-(most + least)) / 0.7778
}

/// A basis of a space of words, as digits.
#[derive(Clone, Default)]
struct Basis {
    by_lead: [u32; 32],
    rank: usize,
}

impl Basis {
    fn insert(&mut self, mut x: u32) {
        while x != 0 {
            let lead = x.ilog2() as usize;
            if self.by_lead[lead] == 0 {
                self.by_lead[lead] = x;
                self.rank += 1;
                return;
            }
            x ^= self.by_lead[lead];
        }
    }
}

/// Random numbers (Marsaglia 2003, "Xorshift RNGs").
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bits(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
