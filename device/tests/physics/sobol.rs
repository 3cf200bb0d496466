//! The Sobol' sampler: its matrices, its scrambling, its stratification and what that is good for.

use device::rng::{Dim, Sampler, SamplerKind, owen_sobol_4d};

use crate::common::Random;

/// Number of leading bits that two words share.
fn shared(a: u32, b: u32) -> u32 {
    (a ^ b).leading_zeros()
}

/// Direction numbers m₁, m₂, … of a Sobol' dimension (Joe & Kuo 2008, eq. 2, in integers):
/// m_k = 2a₁m_{k−1} ⊕ … ⊕ 2^{s−1}a_{s−1}m_{k−s+1} ⊕ 2^s m_{k−s} ⊕ m_{k−s}.
fn direction_numbers(a: &[u64], initial: &[u64]) -> Vec<u64> {
    let s = initial.len();
    let mut m = initial.to_vec();
    for k in s..32 {
        let own = (m[k - s] << s) ^ m[k - s];
        m.push(a.iter().enumerate().fold(own, |x, (j, a)| x ^ ((a * m[k - 1 - j]) << (j + 1))));
    }
    m
}

/// The first four Sobol' dimensions from the numbers in Joe and Kuo's file `new-joe-kuo-6.21201`: for dimensions 2 to
/// 4, (s, a, m) = (1, 0, 1), (2, 1, 1 3), (3, 1, 1 3 1), a being a₁…a_{s−1} as a binary number.
fn sobol(index: u32) -> [u32; 4] {
    let dims = [
        vec![1; 32],
        direction_numbers(&[], &[1]),
        direction_numbers(&[1], &[1, 3]),
        direction_numbers(&[0, 1], &[1, 3, 1]),
    ];
    dims.map(|m| (0..32).filter(|k| (index >> k) & 1 == 1).fold(0, |x, k| x ^ (m[k] << (31 - k)) as u32))
}

#[test]
fn generated_sobol_points_are_the_known_ones() {
    // The first points as SciPy and Joe and Kuo's own program print them, in the order of a Gray code.
    let known = [
        [0.0, 0.0, 0.0, 0.0],
        [0.5, 0.5, 0.5, 0.5],
        [0.75, 0.25, 0.25, 0.25],
        [0.25, 0.75, 0.75, 0.75],
        [0.375, 0.375, 0.625, 0.875],
        [0.875, 0.875, 0.125, 0.375],
        [0.625, 0.125, 0.875, 0.625],
        [0.125, 0.625, 0.375, 0.125],
    ];
    for (i, expected) in known.into_iter().enumerate() {
        let point = sobol((i ^ (i >> 1)) as u32).map(|x| f64::from(x) / 4_294_967_296.0);
        assert_eq!(point, expected, "point {i}");
    }
    // The matrix of the second dimension is Pascal's triangle modulo 2.
    for k in 0..32 {
        for j in 0..=k {
            assert_eq!((sobol(1 << k)[1] >> (31 - j)) & 1 == 1, k & j == j, "column {k}, row {j}");
        }
    }
}

/// Undoes the sampler's permutation of the bits of a word, which it applies to them in reversed order. Steps that
/// flip bits by lower bits only are undone from the lowest bit up.
fn unscrambled(x: u32, seed: u32) -> u32 {
    let undo_xor_product = |y: u32, c: u32| (0..32).fold(y, |x, _| y ^ x.wrapping_mul(c));
    let undo_product = |y: u32, c: u32| {
        // Newton's method for 1/c modulo 2³².
        y.wrapping_mul((0..5).fold(c, |i: u32, _| i.wrapping_mul(2u32.wrapping_sub(c.wrapping_mul(i)))))
    };
    let x = undo_xor_product(x.reverse_bits(), 0x53a2_2864);
    let x = undo_xor_product(x, 0x0552_6c56);
    let x = undo_product(x, (seed >> 16) | 1).wrapping_sub(seed);
    undo_xor_product(x, 0x3d20_adea).reverse_bits()
}

/// With the scrambling undone, the first dimension tells the index, and the others must be its Sobol' points. The
/// shuffle spreads the indices over all 32 bits, so that every column of every matrix is seen.
#[test]
fn matrices_are_those_of_joe_and_kuo() {
    let mut random = Random::new(2);
    let mut bits_seen = 0;
    for i in 0..20_000 {
        let seeds = [0; 4].map(|_: u32| random.bits() as u32);
        let index = if i % 2 == 0 { i } else { random.bits() as u32 };
        let scrambled = owen_sobol_4d(index, seeds);
        let plain: [u32; 4] = std::array::from_fn(|d| unscrambled(scrambled[d], seeds[d]));
        let shuffled = plain[0].reverse_bits();
        assert_eq!(plain, sobol(shuffled), "index {index}, seeds {seeds:?}");
        bits_seen |= shuffled;
    }
    assert_eq!(bits_seen, u32::MAX);
    let wrong = |index: u32| sobol(index).map(|x| x ^ (x >> 7));
    assert_ne!(wrong(12345), sobol(12345), "control");
}

/// Owen's nested scrambling flips a bit depending on the bits before it: k leading bits agree after it if and only if
/// they did before.
#[test]
fn scrambling_is_nested() {
    let mut random = Random::new(3);
    let mut deepest = 0;
    for _ in 0..50_000 {
        let seeds = [0; 4].map(|_: u32| random.bits() as u32);
        let points = [0; 2].map(|_| owen_sobol_4d(random.bits() as u32, seeds));
        let [a, b] = points.map(|p| sobol(unscrambled(p[0], seeds[0]).reverse_bits()));
        for d in 0..4 {
            let depth = shared(points[0][d], points[1][d]);
            assert_eq!(depth, shared(a[d], b[d]), "dimension {d}");
            deepest = deepest.max(depth);
        }
    }
    assert!(deepest >= 12, "only the first {deepest} bits were ever shared");
    // The index is shuffled likewise: the first 2^m samples take an aligned block of the sequence.
    for m in 0..16 {
        let seeds = [1, 2, 3, 4 + m];
        let block = |i: u32| unscrambled(owen_sobol_4d(i, seeds)[0], seeds[0]).reverse_bits() >> m;
        assert!((0..1 << m).all(|i| block(i) == block(0)), "{m}");
    }
    // Control: a permutation that carries from low bits to high ones is not nested.
    let hashed = |x: u32| x.wrapping_mul(0x9e37_79b9);
    assert!((0..32u32).any(|i| shared(hashed(i << 26), hashed(1 << 31)) != shared(i << 26, 1 << 31)));
}

/// The draws for samples `0..n` of one pixel.
pub(crate) fn draws(kind: SamplerKind, pixel: u32, dim: Dim, n: u32) -> Vec<[f32; 4]> {
    (0..n).map(|sample| Sampler { kind, seed: 11, pixel, width: 1920, sample }.draw(dim, 2)).collect()
}

/// The kinds of which every pixel has Sobol' points.
const SOBOL: [SamplerKind; 2] = [SamplerKind::Sobol, SamplerKind::BlueNoise];

/// Whether every box of volume 2^(t−m) with sides that are powers of two holds 2^t of the 2^m points, looking at
/// components `axes` alone: the points are a (t, m, s)-net in base 2.
pub(crate) fn is_net(points: &[[f32; 4]], axes: &[usize], t: u32) -> bool {
    fn boxes(points: &[[f32; 4]], axes: &[usize], levels: &mut Vec<u32>, left: u32, each: usize) -> bool {
        if levels.len() + 1 < axes.len() {
            return (0..=left).all(|level| {
                levels.push(level);
                let good = boxes(points, axes, levels, left - level, each);
                levels.pop();
                good
            });
        }
        let levels: Vec<u32> = levels.iter().copied().chain([left]).collect();
        let mut counts = vec![0; 1 << levels.iter().sum::<u32>()];
        for p in points {
            let cell = axes.iter().zip(&levels).fold(0, |cell, (&axis, &level)| {
                (cell << level) + (f64::from(p[axis]) * f64::from(1u32 << level)) as usize
            });
            counts[cell] += 1;
        }
        counts.iter().all(|&n| n == each)
    }
    let m = points.len().ilog2();
    m < t || boxes(points, axes, &mut Vec::new(), m - t, 1 << t)
}

/// A Sobol' projection is a net with t the sum of its polynomials' degrees less one each (Sobol' 1967): 0 for the
/// first two dimensions, 1 for the next, 2 for the fourth.
#[test]
fn every_power_of_two_of_samples_is_stratified() {
    for (pixel, kind) in [0, 1, 77, 123_456].into_iter().flat_map(|p| SOBOL.map(|kind| (p, kind))) {
        for dim in [Dim::Film, Dim::Light, Dim::Bsdf] {
            let points = draws(kind, pixel, dim, 1 << 12);
            for m in 0..=12 {
                let prefix = &points[..1 << m];
                assert!((0..4).all(|axis| is_net(prefix, &[axis], 0)), "1D, 2^{m}");
                assert!(is_net(prefix, &[0, 1], 0), "(0, {m}, 2)-net");
                assert!(is_net(prefix, &[0, 2], 1) && is_net(prefix, &[1, 2], 1), "(1, {m}, 2)-net");
                assert!(is_net(prefix, &[0, 3], 2) && is_net(prefix, &[1, 3], 2), "(2, {m}, 2)-net");
                assert!(is_net(prefix, &[2, 3], 3) && is_net(prefix, &[0, 1, 2, 3], 3), "(3, {m}, 4)-net");
            }
        }
    }
}

#[test]
fn control_independent_points_and_odd_numbers_of_samples_are_no_nets() {
    let independent = draws(SamplerKind::Independent, 5, Dim::Film, 64);
    assert!(!is_net(&independent, &[0, 1], 0) && !is_net(&independent, &[0], 0));
    let sobol = draws(SamplerKind::Sobol, 5, Dim::Film, 96);
    assert!(!is_net(&sobol[7..71], &[0, 1], 0), "64 samples that are not aligned");
}

/// Correlation of components over the samples of two draws, as z for independent pairs.
fn correlation(a: &[[f32; 4]], b: &[[f32; 4]], axes: (usize, usize)) -> f64 {
    let product =
        |(a, b): (&[f32; 4], &[f32; 4])| (f64::from(a[axes.0]) - 0.5) * (f64::from(b[axes.1]) - 0.5);
    12.0 * a.iter().zip(b).map(product).sum::<f64>() / (a.len() as f64).sqrt()
}

/// Mean and mean square of z over many pairs of draws, `other` yielding the second of each.
fn decorrelation(kind: SamplerKind, other: impl Fn(u32) -> Vec<[f32; 4]>) -> (f64, f64) {
    const PAIRS: u32 = 2000;
    let (mut sum, mut sum_sq) = (0.0, 0.0);
    for pixel in 0..PAIRS {
        let (a, b) = (draws(kind, 2 * pixel, Dim::Light, 64), other(2 * pixel));
        for axes in [(0, 0), (1, 1), (0, 1), (3, 2)] {
            let z = correlation(&a, &b, axes);
            (sum, sum_sq) = (sum + z, sum_sq + z * z);
        }
    }
    let n = f64::from(4 * PAIRS);
    (sum / n, sum_sq / n)
}

/// E z² for two independent nested scramblings and shuffles: 144 Σ cov², over all partners of a sample. Points that
/// share k bits have the covariance Σ_{l=1..k} 4^−(l+1) − 4^−(k+2); partners whose index differs in bit h first share
/// k < h with probability 2^−(k+1), and h for the rest.
fn mean_square_when_decorrelated(m: u32) -> f64 {
    let bit = |l: u32| 0.25_f64.powi(l as i32 + 1);
    let covariance = |k: u32| (1..=k).map(bit).sum::<f64>() - bit(k + 1);
    let mean = |h: u32| {
        (0..h).map(|k| 0.5_f64.powi(k as i32 + 1) * covariance(k)).sum::<f64>()
            + 0.5_f64.powi(h as i32) * covariance(h)
    };
    1.0 + 144.0 * (0..m).map(|h| f64::from(1u32 << h) * mean(h).powi(2)).sum::<f64>()
}

/// The second draw of a pair, for the pixel of the first.
type Other = fn(u32) -> Vec<[f32; 4]>;

#[test]
fn pixels_and_dimensions_are_as_decorrelated_as_owen_scrambling_makes_them() {
    let expected = mean_square_when_decorrelated(6);
    let pairs: [(&str, SamplerKind, Other); 4] = [
        ("next pixel", SamplerKind::Sobol, |pixel| draws(SamplerKind::Sobol, pixel + 1, Dim::Light, 64)),
        ("next row", SamplerKind::Sobol, |pixel| draws(SamplerKind::Sobol, pixel + 1920, Dim::Light, 64)),
        ("next dimension", SamplerKind::Sobol, |pixel| draws(SamplerKind::Sobol, pixel, Dim::Bsdf, 64)),
        ("next dimension", SamplerKind::BlueNoise, |pixel| {
            draws(SamplerKind::BlueNoise, pixel, Dim::Bsdf, 64)
        }),
    ];
    for (name, kind, other) in pairs {
        let (mean, mean_sq) = decorrelation(kind, other);
        // Four standard errors of 8000 z.
        assert!(
            mean.abs() < 0.056 && (mean_sq - expected).abs() < 0.1,
            "{name}, {kind:?}: {mean} {mean_sq} {expected}"
        );
    }
    // Independent samples have 1, and are not mistaken for these.
    let independent = |pixel| draws(SamplerKind::Independent, pixel, Dim::Light, 64);
    let (_, independent) = decorrelation(SamplerKind::Sobol, independent);
    assert!((independent - 1.0).abs() < 0.1, "{independent}");
}

#[test]
fn control_scrambling_without_shuffling_is_correlated() {
    // The same order with digits flipped: what the shuffle is there to prevent.
    let flipped = |pixel: u32| -> Vec<[f32; 4]> {
        let points = draws(SamplerKind::Sobol, pixel, Dim::Light, 64);
        points.into_iter().map(|p| p.map(|u| (u + 0.5).fract())).collect()
    };
    let (_, mean_sq) = decorrelation(SamplerKind::Sobol, flipped);
    assert!(mean_sq > 3.0, "{mean_sq}");
}

/// Mean and variance of the estimate of ∫∫ x e^(xy) sin πy over many pixels.
fn estimate(kind: SamplerKind, n: u32) -> (f64, f64) {
    let value = |[x, y, ..]: [f32; 4]| {
        let (x, y) = (f64::from(x), f64::from(y));
        x * (x * y).exp() * (std::f64::consts::PI * y).sin()
    };
    let means: Vec<f64> = (0..2000)
        .map(|pixel| draws(kind, pixel, Dim::Bsdf, n).into_iter().map(value).sum::<f64>() / f64::from(n))
        .collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (means.len() - 1) as f64;
    (mean, variance)
}

/// From 16 to 256 samples the variance of independent samples falls by 16, that of scrambled nets nearly by 16³
/// (Owen 1997).
#[test]
fn variance_of_a_smooth_integral_falls_faster_than_1_over_n() {
    let exact = crate::common::integrate(0.0, 1.0, 1, |y| {
        let pi_y = (std::f64::consts::PI * y).sin();
        crate::common::integrate(0.0, 1.0, 1, |x| x * (x * y).exp() * pi_y)
    });
    let ratio = |kind| {
        let (few, many) = (estimate(kind, 16), estimate(kind, 256));
        let z = (many.0 - exact) / (many.1 / 2000.0).sqrt();
        assert!(z.abs() < 4.0, "{kind:?} is biased: z = {z}");
        few.1 / many.1
    };
    let [independent, sobol, blue_noise] =
        [SamplerKind::Independent, SamplerKind::Sobol, SamplerKind::BlueNoise].map(ratio);
    assert!((13.0..19.5).contains(&independent), "control: {independent}");
    assert!(sobol > 1000.0 && blue_noise > 1000.0, "{sobol} {blue_noise}");
}
