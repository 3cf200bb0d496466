//! Two pictures by formula, in steps of 2⁻¹⁰ and finer that every float holds, and what other programs say of them.
//!
//! The numbers are of scikit-image 0.26, flip-evaluator 1.7 (NVIDIA's own ꟻLIP) and numpy 2.4, all in double precision
//! but ꟻLIP, for the arrays that this makes:
//!
//! ```python
//! import numpy as np, flip_evaluator
//! from skimage.metrics import structural_similarity
//! W, H = 48, 100
//! def reference(bright):
//!     y, x, c = np.mgrid[0:H, 0:W, 0:3]
//!     v = 40 + 5 * x + 3 * y * (c + 1) + 60 * ((x // 6 + y // 6) % 2)
//!     v = np.where((x - 24)**2 + (y - 20)**2 < 100, v + 400, v).clip(0, 1000)
//!     return np.where((x - 36)**2 + (y - 10)**2 < 16, v * bright, v) / 1024
//! def test(bright):
//!     y, x, c = np.mgrid[0:H, 0:W, 0:3]
//!     h = ((((y * W + x) * 3 + c) * 2654435761) % 2**32) >> 22
//!     shift = np.where((x >= 8) & (x < 16) & (y >= 24) & (y < 32) & (c == 0), 64, 0)
//!     return reference(bright) + (h - 512 + 16 * shift) / 16384
//! ldr = test(1).clip(0, 1), reference(1)
//! hdr = test(64).clip(0), reference(64)
//! def ssim(a, b):
//!     return structural_similarity(a, b, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=1)
//! for (a, b), luma, peak in (ldr, [.299, .587, .114], 1), (hdr, [.2126, .7152, .0722], 'max'):
//!     d = a - b
//!     print(np.sqrt((d**2).mean()), abs(d).mean(), (d**2 / (b**2 + .01)).mean())
//!     print(10 * np.log10((1 if peak == 1 else b.max())**2 / (d**2).mean()))
//!     a, b = a @ luma, b @ luma
//!     if peak != 1:
//!         scale = .18 / np.exp(np.log(b[b > 0]).mean())
//!         a, b = (l * scale / (1 + l * scale) for l in (a, b))
//!         a, b = (np.where(l <= .0031308, 12.92 * l, 1.055 * l**(1 / 2.4) - .055) for l in (a, b))
//!     print(ssim(a, b))
//! for (a, b), kind in (ldr, 'LDR'), (hdr, 'HDR'):
//!     for ppd in {}, {'ppd': 20}:
//!         m, mean, p = flip_evaluator.evaluate(b.astype('f4'), a.astype('f4'), kind, applyMagma=False, parameters=ppd)
//!         q = lambda x: np.quantile(m, x, method='inverted_cdf')
//!         print(mean, q(.5), q(.95), m.max(), np.squeeze(m)[28, 12], np.squeeze(m)[64, 20], p)
//! ```

use super::{Bias, Kind, Metrics, Origin, Pair, Pointwise, flip};
use crate::film::estimate::Noise;
use crate::film::image::Image;

const WIDTH: i64 = 48;
/// More than a band of ꟻLIP.
const HEIGHT: i64 = 100;

fn picture(value: impl Fn(i64, i64, i64) -> f64) -> Image {
    let pixel = |i: i64| [0, 1, 2].map(|c| value(i % WIDTH, i / WIDTH, c) as f32);
    let pixels = (0..WIDTH * HEIGHT).map(pixel).collect();
    Image { width: WIDTH as u32, height: HEIGHT as u32, pixels }
}

/// A chequered ramp with a bright disc, and one that is `bright` times as bright.
fn reference_at(bright: i64) -> impl Fn(i64, i64, i64) -> f64 {
    move |x, y, c| {
        let disc = if (x - 24).pow(2) + (y - 20).pow(2) < 100 { 400 } else { 0 };
        let v = (40 + 5 * x + 3 * y * (c + 1) + 60 * ((x / 6 + y / 6) % 2) + disc).clamp(0, 1000);
        let v = if (x - 36).pow(2) + (y - 10).pow(2) < 16 { v * bright } else { v };
        v as f64 / 1024.0
    }
}

/// The same with noise, and a reddish square.
fn test_at(bright: i64) -> impl Fn(i64, i64, i64) -> f64 {
    let reference = reference_at(bright);
    move |x, y, c| {
        let h = ((((y * WIDTH + x) * 3 + c) * 2_654_435_761) % (1 << 32)) >> 22;
        let square = (8..16).contains(&x) && (24..32).contains(&y) && c == 0;
        let v = reference(x, y, c) + (h - 512 + if square { 1024 } else { 0 }) as f64 / 16384.0;
        if bright == 1 { v.clamp(0.0, 1.0) } else { v.max(0.0) }
    }
}

/// A display's picture. `Pair` encodes what it is given, so this is built by hand.
fn display() -> Pair {
    let (a, b) = (picture(test_at(1)), picture(reference_at(1)));
    Pair { width: a.width, height: a.height, kind: Kind::Display, a: a.pixels, b: b.pixels }
}

fn radiance() -> Pair {
    Pair::new(&picture(test_at(64)), &picture(reference_at(64)), Kind::Radiance)
}

fn swapped(pair: &Pair) -> Pair {
    Pair { a: pair.b.clone(), b: pair.a.clone(), ..pair.clone() }
}

fn measured(pair: &Pair, ppd: f32) -> Metrics {
    Metrics::new(pair, ppd).unwrap()
}

#[track_caller]
fn close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance, "{got} instead of {expected}");
}

fn at(m: &Metrics, x: usize, y: usize) -> f64 {
    m.flip.map[y * WIDTH as usize + x].into()
}

/// ꟻLIP in 32-bit floats, summed in another order.
const FLIP_TOLERANCE: f64 = 2e-5;

#[test]
fn a_display_is_measured_as_other_programs_do() {
    let m = measured(&display(), flip::PIXELS_PER_DEGREE);
    close(m.pointwise.rmse, 0.018_482_281_67, 1e-8);
    close(m.pointwise.mae, 0.015_814_425_15, 1e-8);
    close(m.pointwise.relmse, 0.002_851_803_14, 1e-9);
    close(m.pointwise.psnr, 34.664_888_31, 1e-6);
    close(m.ssim.unwrap(), 0.974_109_89, 1e-6);
    close(m.flip.mean, 0.088_782_57, FLIP_TOLERANCE);
    close(m.flip.median, 0.088_672_69, FLIP_TOLERANCE);
    close(m.flip.p95, 0.144_341_53, FLIP_TOLERANCE);
    close(m.flip.max, 0.174_569_4, FLIP_TOLERANCE);
    close(at(&m, 12, 28), 0.120_808_27, FLIP_TOLERANCE);
    close(at(&m, 20, 64), 0.025_817_53, FLIP_TOLERANCE);
    assert_eq!((m.flip.exposures, m.measured, m.left_out), (None, 48 * 100, 0));
    let near = measured(&display(), 20.0);
    close(near.flip.mean, 0.148_383_01, FLIP_TOLERANCE);
    close(near.flip.max, 0.276_444_05, FLIP_TOLERANCE);
    close(at(&near, 12, 28), 0.145_451_35, FLIP_TOLERANCE);
}

#[test]
fn radiance_is_measured_as_other_programs_do() {
    let m = measured(&radiance(), flip::PIXELS_PER_DEGREE);
    close(m.pointwise.rmse, 0.018_505_163_25, 1e-8);
    close(m.pointwise.mae, 0.015_830_336_68, 1e-8);
    close(m.pointwise.relmse, 0.002_820_539_15, 1e-9);
    close(m.pointwise.psnr, 62.481_666_37, 1e-6);
    close(m.ssim.unwrap(), 0.987_625_35, 1e-6);
    let exposures = m.flip.exposures.unwrap();
    close(exposures.start.into(), -3.393_921_85, 1e-5);
    close(exposures.stop.into(), 2.103_337_05, 1e-5);
    assert_eq!(exposures.count, 6);
    close(m.flip.mean, 0.074_544_69, FLIP_TOLERANCE);
    close(m.flip.median, 0.065_204_99, FLIP_TOLERANCE);
    close(m.flip.p95, 0.158_146_96, FLIP_TOLERANCE);
    close(m.flip.max, 0.431_911_86, FLIP_TOLERANCE);
    close(at(&m, 12, 28), 0.192_404, FLIP_TOLERANCE);
    close(at(&m, 20, 64), 0.019_563_5, FLIP_TOLERANCE);
    close(measured(&radiance(), 20.0).flip.mean, 0.124_756_71, FLIP_TOLERANCE);
}

/// Another program's numbers must not fit other settings: ꟻLIP of a display that is nearer, the images swapped, the
/// values of a display taken for radiance.
#[test]
fn other_questions_have_other_answers() {
    let m = measured(&display(), flip::PIXELS_PER_DEGREE);
    let s = measured(&swapped(&display()), flip::PIXELS_PER_DEGREE);
    assert!((s.pointwise.relmse - m.pointwise.relmse).abs() > 1e-5, "relMSE knows its reference");
    assert_eq!((s.pointwise.rmse, s.pointwise.mae), (m.pointwise.rmse, m.pointwise.mae));
    let plain = picture(reference_at(1));
    let bright = Pair::new(&picture(reference_at(64)), &plain, Kind::Radiance);
    let [h, t] = [swapped(&bright), bright].map(|p| measured(&p, flip::PIXELS_PER_DEGREE).flip);
    assert!((h.mean - t.mean).abs() > 1e-3, "so do the exposures");
    let as_radiance = Pair { kind: Kind::Radiance, ..display() };
    let r = measured(&as_radiance, flip::PIXELS_PER_DEGREE);
    assert!((r.flip.mean - m.flip.mean).abs() > 100.0 * FLIP_TOLERANCE);
    assert!((r.ssim.unwrap() - m.ssim.unwrap()).abs() > 1e-4);
}

#[test]
fn equal_images_are_perfect() {
    for pair in [display(), radiance()] {
        let m = measured(&Pair { a: pair.b.clone(), ..pair }, 67.0);
        let Pointwise { rmse, mae, relmse, psnr } = m.pointwise;
        assert_eq!((rmse, mae, relmse, psnr), (0.0, 0.0, 0.0, f64::INFINITY));
        close(m.ssim.unwrap(), 1.0, 1e-12);
        assert_eq!((m.flip.mean, m.flip.max), (0.0, 0.0));
    }
}

fn flat(value: f32, kind: Kind) -> Pair {
    let image = |v: f32| Image { width: 20, height: 12, pixels: vec![[v, 2.0 * v, 0.0]; 240] };
    Pair { a: image(1.5 * value).pixels, ..Pair::new(&image(value), &image(value), kind) }
}

/// An image half as bright again: every number in closed form. ꟻLIP of radiance does not depend on its unit.
#[test]
fn closed_forms_of_a_constant_factor() {
    let pair = flat(0.2, Kind::Radiance);
    let m = measured(&pair, 67.0);
    close(m.pointwise.rmse, ((0.01 + 0.04) / 3.0_f64).sqrt(), 1e-7);
    close(m.pointwise.mae, 0.1, 1e-7);
    close(m.pointwise.relmse, (0.01 / 0.05 + 0.04 / 0.17) / 3.0, 1e-6);
    close(m.pointwise.psnr, 10.0 * (0.16 / (0.05 / 3.0_f64)).log10(), 1e-5);
    let bias = Bias::new(&pair, None).unwrap();
    close(bias.mean[0], 0.1, 1e-7);
    close(bias.mean[1], 0.2, 1e-7);
    close(bias.stderr[1], 0.0, 1e-9);
    close(bias.largest_relative(), 0.5, 1e-6);
    assert_eq!((bias.mean[2], bias.origin), (0.0, Origin::Blocks));
    let [dim, bright] = [1e-6, 1e6].map(|x| measured(&flat(x, Kind::Radiance), 67.0));
    close(dim.flip.mean, m.flip.mean, 1e-4);
    close(bright.flip.mean, m.flip.mean, 1e-4);
    close(dim.ssim.unwrap(), bright.ssim.unwrap(), 1e-5);
    assert!(m.flip.mean > 0.05);
}

/// Blocks of 8 × 8 that are offset by turns: the spread of 6 blocks of equal size is their standard deviation.
#[test]
fn the_standard_error_of_a_bias() {
    let offsets = [1.0, 2.0, 4.0, -1.0, 0.0, 3.0];
    let pixels: Vec<_> = (0..24 * 16).map(|i| [offsets[i / 24 / 8 * 3 + i % 24 / 8]; 3]).collect();
    let zero = Image { width: 24, height: 16, pixels: vec![[0.0; 3]; 24 * 16] };
    let pair = Pair { a: pixels, ..Pair::new(&zero, &zero, Kind::Radiance) };
    let bias = Bias::new(&pair, None).unwrap();
    // Mean 1.5; squares of the distances 0.25, 0.25, 6.25, 6.25, 2.25, 2.25.
    close(bias.mean[1], 1.5, 1e-9);
    close(bias.stderr[1], (17.5_f64 / 5.0 / 6.0).sqrt(), 1e-9);

    let noise = |stderr| Noise { stderr: vec![[stderr; 3]; 24 * 16], samples: None, is_independent: true };
    let (a, b) = (noise(0.3), noise(0.4));
    let known = Bias::new(&pair, Some([Some(&a), Some(&b)])).unwrap();
    close(known.stderr[2], 0.5 / 384.0_f64.sqrt(), 1e-7);
    let exact = Bias::new(&pair, Some([Some(&a), None])).unwrap();
    close(exact.stderr[2], 0.3 / 384.0_f64.sqrt(), 1e-7);
    assert_eq!(known.origin, Origin::Pixels);
}

/// Pixels that are not finite do not affect the metrics of the others.
#[test]
fn pixels_that_are_not_finite_are_left_out() {
    let (mut a, mut b) = (picture(test_at(64)), picture(reference_at(64)));
    let whole = measured(&Pair::new(&a, &b, Kind::Radiance), 67.0);
    a.pixels[5] = [f32::NAN, 1.0, 1.0];
    b.pixels[6] = [1.0, f32::INFINITY, 1.0];
    let pair = Pair::new(&a, &b, Kind::Radiance);
    let m = measured(&pair, 67.0);
    assert_eq!((m.measured, m.left_out), (48 * 100 - 2, 2));
    assert!(m.flip.map[5].is_nan() && m.flip.map.iter().filter(|x| x.is_nan()).count() == 2);
    close(m.pointwise.rmse, whole.pointwise.rmse, 1e-4);
    close(m.flip.mean, whole.flip.mean, 1e-3);
    close(m.ssim.unwrap(), whole.ssim.unwrap(), 1e-3);
    assert!(Bias::new(&pair, None).unwrap().stderr.iter().all(|s| s.is_finite()));
    a.pixels.fill([f32::NAN; 3]);
    let nothing = Pair::new(&a, &b, Kind::Radiance);
    assert_eq!((Metrics::new(&nothing, 67.0), Bias::new(&nothing, None)), (None, None));
}

/// Black, negative, enormous and tiny images have numbers too.
#[test]
fn extremes_have_numbers() {
    for (x, y) in [(0.0, 0.0), (0.0, 1.0), (-1.0, -2.0), (1e38, 1e-38), (f32::MAX, f32::MIN_POSITIVE)] {
        let image = |v: f32| Image { width: 13, height: 12, pixels: vec![[v; 3]; 13 * 12] };
        let m = measured(&Pair::new(&image(x), &image(y), Kind::Radiance), 67.0);
        assert!(m.pointwise.rmse.is_finite() && m.pointwise.relmse.is_finite(), "{x} {y}: {m:?}");
        assert!((0.0..=1.0).contains(&m.flip.mean) && (0.0..=1.0).contains(&m.flip.max), "{x} {y}");
        assert!(m.ssim.is_some_and(|s| (-1.0..=1.0 + 1e-9).contains(&s)), "{x} {y}: {:?}", m.ssim);
    }
    let one = Image { width: 1, height: 1, pixels: vec![[0.5; 3]] };
    let m = measured(&Pair::new(&one, &one, Kind::Display), 67.0);
    assert_eq!((m.ssim, m.flip.mean), (None, 0.0));
}
