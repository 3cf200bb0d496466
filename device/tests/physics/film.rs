//! Sums over millions of samples against f64.

use device::film::FilmPixel;
use glam::Vec3;

use crate::common::Random;

/// Mean and unbiased variance of the red channel.
fn develop(p: &FilmPixel) -> (f64, f64) {
    let n = f64::from(p.count);
    let (sum, sq) =
        (f64::from(p.sum.x) + f64::from(p.sum_lo.x), f64::from(p.sum_sq.x) + f64::from(p.sum_sq_lo.x));
    (sum / n, (sq - sum * sum / n) / (n - 1.0))
}

/// Mean and variance by Welford's method in f64, next to the film's and those of plain sums in f32.
struct Compared {
    film: FilmPixel,
    plain: [f32; 2],
    n: f64,
    mean: f64,
    m2: f64,
}

impl Compared {
    fn new(n: u32, mut sample: impl FnMut() -> f32) -> Self {
        let mut c = Self { film: FilmPixel::default(), plain: [0.0; 2], n: 0.0, mean: 0.0, m2: 0.0 };
        for _ in 0..n {
            let x = sample();
            c.film.add(Vec3::splat(x));
            c.plain = [c.plain[0] + x, c.plain[1] + x * x];
            let x = f64::from(x);
            c.n += 1.0;
            let delta = x - c.mean;
            c.mean += delta / c.n;
            c.m2 += delta * (x - c.mean);
        }
        assert_eq!((c.film.count, c.film.rejected), (n, 0));
        assert_eq!((c.film.sum.x, c.film.sum_sq_lo.x), (c.film.sum.y, c.film.sum_sq_lo.z));
        c
    }

    fn variance(&self) -> f64 {
        self.m2 / (self.n - 1.0)
    }

    /// Relative errors of mean and variance.
    fn errors(&self) -> [f64; 2] {
        let (mean, variance) = develop(&self.film);
        [(mean / self.mean - 1.0).abs(), (variance / self.variance() - 1.0).abs()]
    }

    fn plain_errors(&self) -> [f64; 2] {
        let [sum, sq] = self.plain.map(f64::from);
        let (mean, variance) = (sum / self.n, (sq - sum * sum / self.n) / (self.n - 1.0));
        [(mean / self.mean - 1.0).abs(), (variance / self.variance() - 1.0).abs()]
    }
}

/// Radiances as paths yield them: mostly small, some large, many zero.
fn radiance(random: &mut Random) -> f32 {
    if random.f64() < 0.3 { 0.0 } else { (0.5 * (1.5 * random.normal()).exp()) as f32 }
}

#[test]
fn millions_of_samples_lose_nothing_and_plain_sums_do() {
    for n in [1_000_000, 10_000_000] {
        let mut random = Random::new(1);
        let compared = Compared::new(n, || radiance(&mut random));
        let [mean, variance] = compared.errors();
        assert!(mean < 1e-9 && variance < 1e-6, "{n}: {mean:e} {variance:e}");
        let [mean, variance] = compared.plain_errors();
        assert!(mean > 1e-6 && variance > 1e-6, "control, {n}: {mean:e} {variance:e}");
    }
}

#[test]
fn a_bright_pixel_keeps_its_mean_and_variance() {
    for n in [1_000_000, 10_000_000] {
        let mut random = Random::new(2);
        let compared = Compared::new(n, || (1000.0 + random.normal()) as f32);
        let [mean, variance] = compared.errors();
        assert!(mean < 1e-9 && variance < 1e-3, "{n}: {mean:e} {variance:e}");
        let [mean, variance] = compared.plain_errors();
        assert!(mean > 1e-6 && variance > 1.0, "control, {n}: {mean:e} {variance:e}");
    }
}

/// Samples that hardly differ: what is left of the mean square without the squared mean is all in the low parts, and
/// squares rounded to f32 would leave 6·10⁻⁸ of the squared mean uncertain.
#[test]
fn variance_is_good_far_below_an_ulp_of_the_squared_mean() {
    for (mean, sd) in [(1000.0, 1e-2), (1.0, 1e-3), (17.3, 1e-4), (17.3, 0.0), (0.1, 0.0)] {
        let mut random = Random::new(3);
        let mut naive = [0.0_f64; 2];
        let compared = Compared::new(1_000_000, || {
            let x = (mean + sd * random.normal()) as f32;
            naive = [naive[0] + f64::from(x), naive[1] + f64::from(x * x)];
            x
        });
        let (computed, variance) = develop(&compared.film);
        let error = |variance: f64| (variance - compared.variance()).abs() / (mean * mean);
        println!("mean {mean}, sd {sd}: {:e}", error(variance));
        assert!(error(variance) < 1e-9, "mean {mean}, sd {sd}: {variance:e}, {:e} off", error(variance));
        assert!((computed / compared.mean - 1.0).abs() < 1e-9, "{computed} {}", compared.mean);
        if sd == 0.0 {
            let n = 1e6;
            let rounded = (naive[1] - naive[0] * naive[0] / n) / (n - 1.0);
            assert!(error(rounded) > 4e-9, "control, {mean}: {:e}", error(rounded));
        }
    }
}

#[test]
fn order_does_not_matter() {
    let mut random = Random::new(4);
    let mut samples: Vec<f32> = (0..1_000_000).map(|_| radiance(&mut random)).collect();
    let sum = |samples: &[f32]| {
        let mut pixel = FilmPixel::default();
        samples.iter().for_each(|&x| pixel.add(Vec3::splat(x)));
        develop(&pixel)
    };
    let forwards = sum(&samples);
    samples.sort_by(f32::total_cmp);
    for other in [sum(&samples), {
        samples.reverse();
        sum(&samples)
    }] {
        assert!((forwards.0 / other.0 - 1.0).abs() < 1e-8 && (forwards.1 / other.1 - 1.0).abs() < 1e-7);
    }
}

#[test]
fn samples_that_are_not_finite_are_counted_and_left_out() {
    let mut pixel = FilmPixel::default();
    pixel.add(Vec3::new(1.0, 2.0, 3.0));
    let good = pixel;
    let mut rejected = 0;
    for bad in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 2e19, f32::MAX] {
        for channel in 0..3 {
            let mut x = Vec3::ONE;
            x[channel] = bad;
            pixel.add(x);
            rejected += 1;
            assert_eq!(pixel, FilmPixel { rejected, ..good }, "{bad} in channel {channel}");
        }
    }
    pixel.add(Vec3::new(0.5, 0.0, 1e18));
    assert_eq!((pixel.count, pixel.rejected), (2, 18));
    assert_eq!(pixel.sum.x, 1.5);
}
