//! Points of neighbouring pixels that complete each other.

use device::rng::{Dim, Sampler, SamplerKind};

use crate::sobol::{draws, is_net};

const WIDTH: u32 = 1920;
const ALL: [SamplerKind; 3] = [SamplerKind::Independent, SamplerKind::Sobol, SamplerKind::BlueNoise];

/// Pixels of the block of 2ʲ pixels along the Z-curve that begins at (x, y).
fn block(j: u32, [x, y]: [u32; 2]) -> impl Iterator<Item = u32> {
    let coordinate = |i: u32| (0..4).map(|k| ((i >> (2 * k)) & 1) << k).sum::<u32>();
    (0..1 << j).map(move |i| WIDTH * (y + coordinate(i >> 1)) + x + coordinate(i))
}

/// Smallest t for which the first 2ᵏ points of the pixels of a block are a (t, k + j, 2)-net in components `axes`.
fn t(kind: SamplerKind, k: u32, j: u32, at: [u32; 2], axes: [usize; 2]) -> u32 {
    let points: Vec<_> = block(j, at).flat_map(|pixel| draws(kind, pixel, Dim::Bsdf, 1 << k)).collect();
    (0..=k + j).find(|t| is_net(&points, &axes, *t)).expect("any points are a (m, m, 2)-net")
}

/// t on average, over blocks and over numbers of samples.
fn mean_t(kind: SamplerKind, axes: [usize; 2]) -> f64 {
    let cases: Vec<_> = [2, 4, 6]
        .into_iter()
        .flat_map(|j| (0..=6).flat_map(move |k| [[0, 0], [808, 1016]].map(|at| t(kind, k, j, at, axes))))
        .collect();
    f64::from(cases.iter().sum::<u32>()) / cases.len() as f64
}

#[test]
fn blocks_of_pixels_are_nets_at_any_number_of_samples() {
    for axes in [[0, 1], [2, 3]] {
        let [independent, sobol, blue_noise] = ALL.map(|kind| mean_t(kind, axes));
        println!("{axes:?}: {independent:.2} {sobol:.2} {blue_noise:.2}");
        assert!(blue_noise < 2.0, "{axes:?}: {blue_noise}");
        assert!(independent > 3.0 && sobol > 3.0, "controls, {axes:?}: {independent} {sobol}");
    }
}

/// The variance of the mean of a tile's pixels, relative to that of independent ones, for the light of half of a plane.
fn variance_of_tiles(kind: SamplerKind, n: u32) -> f64 {
    const TILES: u32 = 600;
    let value = |[x, y, ..]: [f32; 4], tile: u32| {
        let (sin, cos) = (0.37 * f64::from(tile)).sin_cos();
        f64::from((f64::from(x) - 0.5) * cos + (f64::from(y) - 0.5) * sin > 0.1 * sin)
    };
    let (mut of_tiles, mut of_pixels) = (0.0, 0.0);
    for tile in 0..TILES {
        let at = [8 * (tile % 240), 8 * (tile / 240)];
        let estimate = |pixel| {
            let points = draws(kind, pixel, Dim::Light, n);
            points.into_iter().map(|point| value(point, tile)).sum::<f64>() / f64::from(n)
        };
        let estimates: Vec<f64> = block(6, at).map(estimate).collect();
        // By pixels of other tiles, far away.
        let exact = (0..1 << 8).map(|pixel| {
            let points = draws(SamplerKind::Sobol, 3_000_000 + pixel, Dim::Light, 256);
            points.into_iter().map(|point| value(point, tile)).sum::<f64>() / 256.0
        });
        let exact = exact.sum::<f64>() / 256.0;
        of_tiles += (estimates.iter().sum::<f64>() / 64.0 - exact).powi(2);
        of_pixels += estimates.iter().map(|e| (e - exact).powi(2)).sum::<f64>() / 64.0;
    }
    64.0 * of_tiles / of_pixels
}

/// The error of a tile is that of a pixel with 64 times the samples: where the variance of Sobol' points falls as n^(−3/2), an eighth of
/// what 64 independent pixels have.
#[test]
fn errors_cancel_between_pixels() {
    for n in [1, 4, 16] {
        let [_, sobol, blue_noise] = ALL.map(|kind| variance_of_tiles(kind, n));
        println!("{n}: {sobol:.3} {blue_noise:.3}");
        assert!(blue_noise < 0.2, "{n}: {blue_noise}");
        assert!((0.8..1.25).contains(&sobol), "control, {n}: {sobol}");
    }
}

/// The first sample tells the place alone: that a pixel's number and the image's width say where it is, is seen by it.
#[test]
fn places_do_not_depend_on_the_width() {
    let first = |x: u32, y: u32, width: u32| {
        let sampler =
            Sampler { kind: SamplerKind::BlueNoise, seed: 3, pixel: y * width + x, width, sample: 0 };
        sampler.draw_bits(Dim::Film, 0)
    };
    for (x, y) in (0..40).flat_map(|x| [0, 1, 7, 8, 4093, 30_001, 60_007].map(|y| (x, y))) {
        let expected = first(x, y, 64);
        for width in [41, 63, 1000, 1920, 4095, 65_537] {
            assert_eq!(first(x, y, width), expected, "({x}, {y}) of {width}");
            let (right, below) = (width - 1 - x, y + 1);
            assert_eq!(
                first(right, below, width),
                first(right, below, width + 1),
                "({right}, {below}) of {width}"
            );
        }
    }
    assert_ne!(first(1, 0, 64), first(0, 1, 64), "control");
}
