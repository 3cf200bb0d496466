//! Made-up images with noise of known laws.

use half::f16;
use tier::Random;

use super::comparison::crop;
use super::*;
use crate::film::estimate::Rounding;
use crate::film::{Film, Pixel};

const SIZE: usize = 40;

/// The law of a sample whose expectation is 1.
#[derive(Debug, Clone, Copy)]
enum Law {
    /// Uniform on [0, 2].
    Even,
    /// Exponential.
    Exponential,
    /// 0 or 2: a light that is seen or not.
    Coin,
    /// ½ and once in 400 times 200 more: a caustic.
    Rare,
    /// Pareto's with index 1.5: its variance is infinite.
    Pareto,
    /// The exponential of a normal number with standard deviation 2.
    LogNormal,
}

const LAWS: [Law; 5] = [Law::Even, Law::Exponential, Law::Coin, Law::Rare, Law::Pareto];

impl Law {
    fn draw(self, random: &mut Random) -> f64 {
        let u = random.uniform();
        match self {
            Self::Even => 2.0 * u,
            Self::Exponential => -(1.0 - u).ln(),
            Self::Coin => 2.0 * f64::from(u < 0.5),
            Self::Rare => 0.5 + 200.0 * f64::from(u < 0.0025),
            Self::LogNormal => {
                let angle = std::f64::consts::TAU * random.uniform();
                (2.0 * (-2.0 * (1.0 - u).ln()).sqrt() * angle.cos() - 2.0).exp()
            }
            Self::Pareto => (1.0 - u).powf(-1.0 / 1.5) / 3.0,
        }
    }
}

/// Something to see: a ramp, and a square that is darker.
fn scene(x: usize, y: usize) -> f64 {
    let square = (12..20).contains(&x) && (10..30).contains(&y);
    if square { 0.2 } else { 0.5 + x as f64 / SIZE as f64 }
}

/// An image of `radiance` with noise of a law, from so many samples a pixel.
fn render(law: Law, n: u32, seed: u64, radiance: impl Fn(usize, usize) -> f64) -> Film {
    render_square(SIZE, law, n, seed, radiance)
}

/// As [`render`], of `side` × `side` pixels.
fn render_square(side: usize, law: Law, n: u32, seed: u64, radiance: impl Fn(usize, usize) -> f64) -> Film {
    let mut random = Random(seed.wrapping_mul(0x1234_5678_9abc_def1));
    let mut film =
        Film { width: side as u32, height: side as u32, pixels: vec![Pixel::default(); side * side] };
    for (i, pixel) in film.pixels.iter_mut().enumerate() {
        let expected = radiance(i % side, i / side);
        for _ in 0..n {
            for c in 0..3 {
                let x = expected * law.draw(&mut random);
                pixel.sum[c] += x.into();
                pixel.sum_sq[c] += (x * x).into();
            }
        }
        pixel.count = u64::from(n);
    }
    film
}

/// The film as a file of half floats has it.
fn halves(film: &Film) -> ImageEstimate {
    let mut measured = ImageEstimate::from(film);
    let round = |p: &mut [f32; 3]| *p = p.map(|x| f16::from_f32(x).to_f32());
    measured.image.pixels.iter_mut().for_each(round);
    measured.rounding = Rounding::Half;
    measured
}

/// Number of times that the test errs, of `pairs`.
fn false_alarms(pairs: u64, of: impl Fn(u64) -> [ImageEstimate; 2]) -> u64 {
    (0..pairs)
        .filter(|k| {
            let [a, b] = of(2 * k);
            judge(&a, &b, 0.01).is_different()
        })
        .count() as u64
}

#[test]
fn equal_expectations_are_not_told_apart() {
    // More than 4 of 100, or 3 of 30, at 1 %: 0.3 %, 0.02 %; for each of these tests together with its neighbours, a few
    // per cent at most.
    let (pairs, most) = tier::choose((30, 3), (100, 4));
    for law in LAWS {
        for n in [1, 4, 64] {
            let alarms = false_alarms(pairs, |seed| {
                [seed, seed + 1].map(|seed| ImageEstimate::from(&render(law, n, 1 + seed, scene)))
            });
            println!("{law:?}, {n} samples: {alarms} of {pairs}");
            assert!(alarms <= most, "{law:?}, {n} samples: {alarms} of {pairs}");
        }
    }
}

#[test]
fn equal_expectations_are_not_told_apart_by_the_rounding_of_a_reference() {
    let (pairs, most) = tier::choose((20, 3), (60, 4));
    for law in LAWS {
        let reference = halves(&render(law, 2048, 99, scene));
        for n in [1, 4, 64] {
            let alarms = false_alarms(pairs, |seed| {
                [ImageEstimate::from(&render(law, n, 1 + seed, scene)), reference.clone()]
            });
            println!("{law:?}, {n} samples: {alarms} of {pairs}");
            assert!(alarms <= most, "{law:?}, {n} samples: {alarms} of {pairs}");
        }
    }
}

/// A reference of the scene, and the verdict on an image of something else, from 64 samples of the exponential law.
fn judge_against(reference: &ImageEstimate, seed: u64, radiance: impl Fn(usize, usize) -> f64) -> Judgement {
    judge(&ImageEstimate::from(&render(Law::Exponential, 64, seed, radiance)), reference, 0.01)
}

fn reference() -> ImageEstimate {
    halves(&render(Law::Exponential, 4096, 1000, scene))
}

#[test]
fn differences_are_found_and_described() {
    let reference = reference();
    let whole = Region { x: 0, y: 0, width: SIZE as u32, height: SIZE as u32 };

    let brighter = judge_against(&reference, 1, |x, y| 1.03 * scene(x, y));
    assert!(
        brighter.is_different() && brighter.worst.region == whole && brighter.worst.z > 0.0,
        "{brighter:?}"
    );
    let (a, b) = (brighter.worst.a, brighter.worst.b);
    assert!((a / b - 1.03).abs() < 0.01, "{a} {b}");

    let darker = judge_against(&reference, 2, |x, y| scene(x, y) * if x < 8 && y < 8 { 0.85 } else { 1.0 });
    let Finding { region, z, .. } = darker.worst;
    assert!(darker.is_different() && z < 0.0 && region.x < 8 && region.y < 8, "{:?}", darker.worst);

    let moved = judge_against(&reference, 3, |x, y| scene(x.saturating_sub(1), y));
    assert!(moved.is_different());

    let hot_pixel = |x, y| scene(x, y) + 3.0 * f64::from(x == 31 && y == 7);
    let hot = judge(&ImageEstimate::from(&render(Law::Even, 64, 4, hot_pixel)), &reference, 0.01);
    assert!(hot.is_different());
    let Region { x, y, width, .. } = hot.worst.region;
    assert!((31 - width..=31).contains(&x) && y <= 7 && width <= 2, "{:?}", hot.worst);
}

/// The square alone moves; its means do not.
#[test]
fn a_shift_is_called_a_shift() {
    let stripes = |x: usize| 1.0 + 0.3 * (x as f64 * 0.9).sin();
    let reference = ImageEstimate::from(&render(Law::Even, 4096, 5, |x, _| stripes(x)));
    let shifted = |by: f64| {
        ImageEstimate::from(&render(Law::Even, 64, 6, |x, _| 1.0 + 0.3 * ((x as f64 - by) * 0.9).sin()))
    };
    for (by, sign) in [(0.1, 1.0), (-0.1, -1.0)] {
        let verdict = judge(&shifted(by), &reference, 0.01);
        assert!(verdict.is_different() && verdict.worst.feature == Feature::ShiftX, "{:?}", verdict.worst);
        assert_eq!(verdict.worst.z.signum(), sign);
    }
    let blurred = ImageEstimate::from(&render(Law::Even, 64, 7, |x, _| 1.0 + 0.27 * (x as f64 * 0.9).sin()));
    let verdict = judge(&blurred, &reference, 0.01);
    assert!(verdict.is_different() && verdict.worst.feature == Feature::Sharpness, "{:?}", verdict.worst);
    assert!(verdict.worst.z < 0.0);
}

#[test]
fn differences_that_cancel_add_up_as_squares() {
    let checkered = |x: usize, y: usize| 1.0 + 0.045 * if (x + y).is_multiple_of(2) { 1.0 } else { -1.0 };
    let reference = ImageEstimate::from(&render(Law::Even, 4096, 8, |_, _| 1.0));
    let verdict = judge(&ImageEstimate::from(&render(Law::Even, 64, 9, checkered)), &reference, 0.01);
    assert!(verdict.is_different() && verdict.worst.feature == Feature::Pattern(1), "{:?}", verdict.worst);
}

/// Differences at the stated resolution are detected; a quarter of it is not.
#[test]
fn the_stated_resolution_is_that() {
    let reference = reference();
    let resolution = judge_against(&reference, 1, scene).resolution();
    assert!((0.003..0.03).contains(&resolution), "{resolution}");
    let found = |factor: f64| {
        let different =
            |k: &u64| judge_against(&reference, 10 + k, |x, y| factor * scene(x, y)).is_different();
        (0..40).filter(different).count()
    };
    let (at, below) = (found(1.0 + resolution), found(1.0 + 0.25 * resolution));
    println!("resolution {resolution}: {at} of 40, a quarter of it: {below} of 40");
    assert!(at >= 36 && below <= 4, "{at} {below}");
}

/// z is √(samples · pixels) at most, so that of few of both nothing can be seen; what is said of more holds.
#[test]
fn what_few_samples_of_few_pixels_can_see() {
    let image = |n, side, seed, radiance| {
        ImageEstimate::from(&render_square(side, Law::Even, n, seed, |_, _| radiance))
    };
    for (n, side) in [(4, 1), (8, 1), (4, 2)] {
        let far = judge(&image(n, side, 1, 1.0), &image(n, side, 2, 1e6), 0.01);
        assert!(!far.is_different() && far.resolution().is_infinite(), "{n} {side}: {far:?}");
    }
    for (n, side) in [(64, 1), (16, 2), (4, 4), (2, 8)] {
        let resolution = judge(&image(n, side, 1, 1.0), &image(4096, side, 2, 1.0), 0.01).resolution();
        let found = |factor: f64| {
            let different = |k: &u64| {
                let reference = image(4096, side, 1000 + k, 1.0);
                judge(&image(n, side, 10 + k, factor), &reference, 0.01).is_different()
            };
            (0..40).filter(different).count()
        };
        println!("{n} samples, {side}: {resolution}: {}", found(1.0 + resolution));
        assert!(found(1.0 + 1.2 * resolution) >= 36 && found(1.0 + 0.2 * resolution) <= 4, "{n} {side}");
    }
}

#[test]
fn it_does_not_matter_which_image_comes_first() {
    for law in LAWS {
        for (n, m) in [(4, 4), (4, 6), (16, 64), (16, 1024)] {
            let (a, b) = (ImageEstimate::from(&render(law, n, 1, scene)), halves(&render(law, m, 2, scene)));
            // An even number of blocks of which variances are compared: 2 × 1, each of its own noise.
            let [a, b] = [&a, &b].map(|of| upper(of, 32, 16));
            let (one, other) = (judge(&a, &b, 0.01), judge(&b, &a, 0.01));
            assert!((one.p / other.p - 1.0).abs() < 1e-6, "{law:?} {n} {m}: {} {}", one.p, other.p);
            let opposite = one.z.iter().zip(&other.z).all(|(x, y)| (x + y).abs() < 1e-4 * (1.0 + x.abs()));
            assert!(opposite, "{law:?} {n} {m}");
        }
    }
}

/// The left part of the upper rows.
fn upper(of: &ImageEstimate, columns: u32, rows: u32) -> ImageEstimate {
    crop(of, Region { x: 0, y: 0, width: columns, height: rows })
}

/// As of pixels of one sample: not exact ones.
#[test]
fn a_reference_may_not_know_its_noise_everywhere() {
    let reference = |seed| {
        let [mut few, many] =
            [1, 1024].map(|n| ImageEstimate::from(&render(Law::Exponential, n, seed, scene)));
        let (noise, of_many) = (few.noise.as_mut().expect("a film's"), many.noise.expect("a film's"));
        let (samples, of_many_samples) =
            (noise.samples.as_mut().expect("a film's"), of_many.samples.expect("a film's"));
        for i in SIZE * SIZE / 5..SIZE * SIZE {
            few.image.pixels[i] = many.image.pixels[i];
            noise.stderr[i] = of_many.stderr[i];
            samples[i] = of_many_samples[i];
        }
        few
    };
    let image = |seed| ImageEstimate::from(&render(Law::Exponential, 64, seed, scene));
    assert!(false_alarms(tier::choose(15, 40), |seed| [image(seed), reference(seed + 1)]) <= 2);
}

/// The reported p belongs to the reported finding.
#[test]
fn p_is_that_of_what_is_told() {
    let reference = ImageEstimate::from(&render(Law::Even, 4096, 8, |_, _| 1.0));
    let checkered = |x: usize, y: usize| 1.03 + 0.2 * if (x + y).is_multiple_of(2) { 1.0 } else { -1.0 };
    let verdict = judge(&ImageEstimate::from(&render(Law::Even, 64, 9, checkered)), &reference, 0.01);
    let Finding { feature, p, .. } = verdict.worst;
    assert!(verdict.is_different() && !matches!(feature, Feature::Pattern(_)), "{:?}", verdict.worst);
    assert!((p..1e6 * p).contains(&verdict.p), "{} {p}", verdict.p);
}

#[test]
fn an_exact_image_has_no_noise() {
    let exact = ImageEstimate { noise: None, ..reference() };
    assert!(!judge_against(&exact, 1, scene).is_different());
    let off = ImageEstimate {
        noise: None,
        ..ImageEstimate::from(&render(Law::Even, 64, 2, |x, y| 1.1 * scene(x, y)))
    };
    assert!(judge_against(&off, 1, scene).is_different());
}

#[test]
fn constants_may_round_but_not_differ() {
    let constant = |x: f64| ImageEstimate::from(&render_constant(x));
    assert!(!judge(&constant(1.0 + 1e-6), &constant(1.0), 0.01).is_different(), "another instruction set");
    assert!(judge(&constant(1.0 + 1e-4), &constant(1.0), 0.01).is_different());
    // 0.1 as a half is 2.4e-4 of it less.
    assert!(!judge(&constant(0.1), &halves(&render_constant(0.1)), 0.01).is_different());
    let unaware = ImageEstimate { rounding: Rounding::Float, ..halves(&render_constant(0.1)) };
    assert!(judge(&constant(0.1), &unaware, 0.01).is_different());
}

/// Without noise.
fn render_constant(x: f64) -> Film {
    let pixel =
        Pixel { sum: [(64.0 * x).into(); 3], sum_sq: [(64.0 * x * x).into(); 3], count: 64, rejected: 0 };
    Film { width: SIZE as u32, height: SIZE as u32, pixels: vec![pixel; SIZE * SIZE] }
}

#[test]
fn nan_in_one_image_is_a_difference_and_in_both_is_none() {
    let reference = reference();
    let mut bad = ImageEstimate::from(&render(Law::Even, 64, 1, scene));
    bad.image.pixels[3 * SIZE + 5][1] = f32::NAN;
    bad.image.pixels[6 * SIZE + 9][2] = f32::INFINITY;
    let verdict = judge(&bad, &reference, 0.01);
    assert!(verdict.is_different() && verdict.worst.feature == Feature::Finite && verdict.left_out == 2);
    assert_eq!(verdict.worst.region, Region { x: 5, y: 3, width: 5, height: 4 });
    assert!(!judge(&bad, &bad.clone(), 0.01).is_different());
}

/// Averages over 3 × 3 pixels, with the standard errors of that: what a wide reconstruction filter does.
fn filtered(film: &Film) -> ImageEstimate {
    let mut out = told_nothing(ImageEstimate::from(film));
    let noise = out.noise.as_mut().expect("a film's");
    for (i, (value, stderr)) in out.image.pixels.iter_mut().zip(&mut noise.stderr).enumerate() {
        let around = |k: usize, n: usize| (k % n + n - 1)..(k % n + n + 2);
        let near: Vec<_> = around(i / SIZE, SIZE)
            .flat_map(|y| around(i, SIZE).map(move |x| y % SIZE * SIZE + x % SIZE))
            .map(|j| film.pixels[j])
            .collect();
        for c in 0..3 {
            value[c] = (near.iter().map(|p| p.mean()[c]).sum::<f64>() / 9.0) as f32;
            stderr[c] = (near.iter().map(|p| p.stderr()[c].powi(2)).sum::<f64>().sqrt() / 9.0) as f32;
        }
    }
    out
}

/// An image of which it is not known whether pixels are independent.
fn told_nothing(mut image: ImageEstimate) -> ImageEstimate {
    image.noise.as_mut().expect("a film's").is_independent = false;
    image
}

#[test]
fn filters_wider_than_a_pixel_are_noticed() {
    let image = |seed| filtered(&render(Law::Exponential, 32, seed, scene));
    let correlation = judge(&image(1), &image(2), 0.01).correlation;
    // The variance of a large block is nine times that of independent pixels.
    assert!((7.0..11.0).contains(&correlation), "{correlation}");
    assert!(false_alarms(100, |seed| [seed, seed + 1].map(image)) <= 4);
    let told_otherwise = |seed| {
        let mut image = image(seed);
        image.noise.as_mut().expect("a film's").is_independent = true;
        image
    };
    assert!(false_alarms(10, |seed| [seed, seed + 1].map(told_otherwise)) >= 5);
    let independent = |seed| told_nothing(ImageEstimate::from(&render(Law::Exponential, 32, seed, scene)));
    assert!(judge(&independent(1), &independent(2), 0.01).correlation < 1.05);
}

/// Of so few pixels it cannot be known whether their noise is correlated.
#[test]
fn small_images_of_wide_filters_are_not_told_apart() {
    let small = |seed| upper(&filtered(&render(Law::Exponential, 32, 9000 + seed, scene)), 6, 6);
    assert!(false_alarms(60, |seed| [seed, seed + 1].map(small)) <= 2);
    let brighter = |x, y| scene(x, y) * if (x, y) == (2, 2) { 30.0 } else { 1.0 };
    let brighter = upper(&filtered(&render(Law::Exponential, 32, 1, brighter)), 6, 6);
    assert!(judge(&brighter, &small(2), 0.01).is_different());
}

/// Few samples of heavy tails say that the noisier image is the cleaner one.
#[test]
fn more_samples_of_heavy_tails_are_not_told_apart_from_few() {
    for (law, n, m) in [(Law::Pareto, 16, 64), (Law::LogNormal, 16, 64), (Law::LogNormal, 64, 16)] {
        let render = |n, seed| ImageEstimate::from(&render(law, n, 7000 + seed, scene));
        let alarms = false_alarms(tier::choose(20, 50), |seed| [render(n, seed + 1), render(m, seed + 2)]);
        assert!(alarms <= 3, "{law:?} {n} {m}: {alarms}");
    }
}
