//! Against images that are known, with noise that is known.

use torrance_gpu::backend::cpu::{Cpu, InstructionSet};
use torrance_image::film::layers::{Layers, SAMPLES, STDERR, Samples};

use super::*;

const SIZE: [u32; 2] = [96, 80];

/// A bent surface with tiles of two colours under a gradient of light: the truth, the albedo and the normal of a pixel.
fn scene(x: u32, y: u32) -> [[f32; 3]; 3] {
    let albedo = if (x / 12 + y / 10).is_multiple_of(2) { [0.8, 0.3, 0.2] } else { [0.2, 0.5, 0.7] };
    let tilt = if x < SIZE[0] / 2 { 0.6_f32 } else { -0.6 };
    let normal = [tilt.sin(), tilt.cos(), 0.0];
    let light = normal[1] + 0.5 * normal[0] + 0.01 * y as f32;
    [albedo.map(|c| c * light), albedo, normal]
}

fn of_scene(what: usize) -> Vec<[f32; 3]> {
    let [width, height] = SIZE;
    (0..width * height).map(|i| scene(i % width, i / width)[what]).collect()
}

/// Random numbers of the standard normal distribution.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 += 1;
        halves::normal(self.0)
    }

    /// An image with noise of this standard deviation, relative to itself.
    fn added(&mut self, image: &[[f32; 3]], relative: f32) -> Vec<[f32; 3]> {
        let noisy = image.iter().map(|pixel| {
            let noise = 1.0 + relative * self.next();
            pixel.map(|c| c * noise)
        });
        noisy.collect()
    }
}

/// Halves of the scene, with noise of these standard deviations.
fn noisy([a, b]: [f32; 2]) -> Halves {
    let (truth, mut noise) = (of_scene(0), Noise(7));
    let share = b * b / (a * a + b * b);
    // The variance of p·A + q·B.
    let relative = share * share * a * a + (1.0 - share) * (1.0 - share) * b * b;
    Halves {
        size: SIZE,
        color: [noise.added(&truth, a), noise.added(&truth, b)],
        share: vec![share; truth.len()],
        variance: Some(truth.iter().map(|pixel| pixel.map(|c| relative * c * c)).collect()),
        albedo: Some([of_scene(1), of_scene(1)]),
        normal: Some([of_scene(2), of_scene(2)]),
        are_of_samples: true,
    }
}

fn denoised(noisy: &Halves) -> Vec<[f32; 3]> {
    let mut cpu = Cpu::new(None).unwrap();
    denoise(&mut cpu, noisy, &mut |_| true).unwrap().expect("nobody stops it").pixels
}

/// The mean of both halves.
fn mean(noisy: &Halves) -> Vec<[f32; 3]> {
    let [a, b] = &noisy.color;
    let pixels = a.iter().zip(b).zip(&noisy.share);
    pixels.map(|((a, b), share)| [0, 1, 2].map(|c| share * a[c] + (1.0 - share) * b[c])).collect()
}

fn square_error(image: &[[f32; 3]]) -> f64 {
    let truth = of_scene(0);
    let differences = image.iter().flatten().zip(truth.iter().flatten()).map(|(a, b)| f64::from(a - b));
    differences.map(|d| d * d).sum::<f64>() / (3 * truth.len()) as f64
}

/// By what factor the square of the error falls.
fn gain(noisy: &Halves) -> f64 {
    square_error(&mean(noisy)) / square_error(&denoised(noisy))
}

#[test]
fn noise_falls_far_and_features_are_why() {
    let halves = noisy([0.5, 0.5]);
    let with = gain(&halves);
    assert!(with > 10.0, "{with}");
    // Control: features of other pixels.
    let shuffled = |[mut a, mut b]: [Vec<[f32; 3]>; 2]| {
        let mut order = Noise(99);
        for i in 1..a.len() {
            let j = (order.next().abs() * 1e4) as usize % (i + 1);
            a.swap(i, j);
            b.swap(i, j);
        }
        [a, b]
    };
    let albedo = halves.albedo.clone().map(shuffled);
    let control = gain(&Halves { albedo, normal: halves.normal.clone().map(shuffled), ..halves });
    assert!(control < 0.5 * with, "{control} and {with}");
}

/// The mean over some rows of the columns on either side of the border of tiles keeps the contrast.
#[test]
fn edges_of_features_stay_sharp() {
    let (clean, truth) = (denoised(&noisy([0.5, 0.5])), of_scene(0));
    let contrast = |image: &[[f32; 3]]| {
        let column = |x: u32| (1..9).map(|y: u32| image[(y * SIZE[0] + x) as usize][0]).sum::<f32>();
        column(11) - column(12)
    };
    let kept = contrast(&clean) / contrast(&truth);
    assert!((0.9..1.1).contains(&kept), "{kept}");
}

#[test]
fn without_features_noise_falls_too() {
    let halves = Halves { albedo: None, normal: None, ..noisy([0.2, 0.2]) };
    let gain = gain(&halves);
    assert!(gain > 4.0, "{gain}");
}

/// A half of few samples says less, and is not believed more.
#[test]
fn halves_may_be_of_different_size() {
    let gain = gain(&noisy([1.0, 0.4]));
    assert!(gain > 10.0, "{gain}");
}

#[test]
fn what_has_no_noise_stays() {
    for value in [0.0, 1e-6, 0.7, 1e4] {
        let n = 20 * 11;
        let halves = Halves {
            size: [20, 11],
            color: [vec![[value; 3]; n], vec![[value; 3]; n]],
            share: vec![0.5; n],
            variance: Some(vec![[0.0; 3]; n]),
            albedo: None,
            normal: None,
            are_of_samples: true,
        };
        let clean = denoised(&halves);
        assert!(clean.iter().flatten().all(|c| (c - value).abs() <= 1e-5 * value), "{value}: {:?}", clean[0]);
    }
}

/// A sample far too bright neither stays nor smears.
#[test]
fn fireflies_are_no_squares() {
    let mut halves = noisy([0.1, 0.1]);
    let n = halves.share.len();
    for i in [n / 3 + 5, n / 2 + 31] {
        halves.color[0][i] = [1e4; 3];
        if let Some(variance) = &mut halves.variance {
            variance[i] = [2.5e7; 3];
        }
    }
    let error = square_error(&denoised(&halves)).sqrt();
    assert!(error < 0.1, "{error}");
}

#[test]
fn every_size_and_all_finite_numbers_give_finite_ones() {
    for size in [[1, 1], [1, 7], [17, 1], [3, 2], [33, 5]] {
        let n = (size[0] * size[1]) as usize;
        let mut noise = Noise(3);
        let half = |values: &mut dyn FnMut(usize) -> f32| -> Vec<[f32; 3]> {
            (0..n).map(|i| [0, 1, 2].map(|c| values(3 * i + c))).collect()
        };
        let wild = |i: usize| [0.0, 1e-30, 1.0, 1e20, 3e38, -1.0, -3e38][i % 7];
        for known in [true, false] {
            let halves = Halves {
                size,
                color: [half(&mut |i| wild(i)), half(&mut |i| wild(i + 2))],
                share: vec![0.3; n],
                variance: known.then(|| half(&mut |i| wild(i + 3).abs())),
                albedo: Some([half(&mut |_| noise.next()), half(&mut |i| wild(i + 1))]),
                normal: None,
                are_of_samples: true,
            };
            let clean = denoised(&halves);
            assert_eq!(clean.len(), n);
            assert!(clean.iter().flatten().all(|c| c.is_finite()), "{size:?}, {known}: {clean:?}");
        }
    }
}

#[test]
fn it_stops_when_it_is_told_to() {
    let mut cpu = Cpu::new(None).unwrap();
    assert_eq!(denoise(&mut cpu, &noisy([0.5, 0.5]), &mut |_| false).unwrap(), None);
}

#[test]
fn instruction_sets_agree() {
    let halves = noisy([0.5, 0.5]);
    let mut portable = Cpu::with_instruction_set(None, InstructionSet::Portable).unwrap();
    let image = denoise(&mut portable, &halves, &mut |_| true).unwrap().unwrap().pixels;
    let best = denoised(&halves);
    let differ = image.iter().flatten().zip(best.iter().flatten()).filter(|(a, b)| (*a - *b).abs() > 1e-3);
    // Where two candidates are as good as each other, rounding chooses.
    let differ = differ.count();
    assert!(differ * 100 < image.len(), "{differ}");
}

/// Layers of an image that has these samples in its halves.
fn layers(samples: [u32; 2], means: [f32; 2], stderr: f32) -> Layers {
    let [first, second] = samples;
    let n = 6;
    let all = first + second;
    let whole = (first as f32 * means[0] + second as f32 * means[1]) / all as f32;
    let mut layers = Layers::new(3, 2);
    layers.push_floats("", ["R", "G", "B"], &vec![[whole; 3]; n]);
    layers.push_floats(STDERR, ["R", "G", "B"], &vec![[stderr; 3]; n]);
    layers.push(SAMPLES, Samples::Uint(vec![all; n]));
    layers.push_floats(HALVES, ["R", "G", "B"], &vec![[means[0]; 3]; n]);
    layers.push(format!("{HALVES}.{SAMPLES}"), Samples::Uint(vec![first; n]));
    layers
}

#[test]
fn the_second_half_is_what_the_first_lacks() {
    let halves = Halves::of(&layers([3, 5], [2.0, 10.0], 0.5)).unwrap();
    assert_eq!((halves.share[0], halves.are_of_samples), (0.375, true));
    assert_eq!(halves.variance.unwrap()[0], [0.25; 3]);
    assert_eq!(halves.color[0][0], [2.0; 3]);
    assert!((halves.color[1][0][0] - 10.0).abs() < 1e-5, "{:?}", halves.color[1][0]);
    // Where one is empty, they are made of the whole and its noise.
    let halves = Halves::of(&layers([4, 0], [2.0, 0.0], 0.5)).unwrap();
    assert_eq!((halves.share[0], halves.are_of_samples), (0.5, false));
    assert!(halves.color[0][0] != halves.color[1][0]);
}

#[test]
fn halves_are_made_of_noise_that_is_known() {
    let n = 1 << 16;
    let mut image = Layers::new(n as u32, 1);
    image.push_floats("", ["R", "G", "B"], &vec![[3.0; 3]; n]);
    assert_eq!(Halves::of(&image), Err(UnknownNoise::NoNoise));
    image.push_floats(STDERR, ["R", "G", "B"], &vec![[0.5, 0.1, 0.0]; n]);
    let Halves { color: [a, b], are_of_samples, .. } = Halves::of(&image).unwrap();
    assert!(!are_of_samples);
    assert!(a.iter().zip(&b).all(|(a, b)| (a[0] + b[0] - 6.0).abs() < 1e-5 && a[2] == 3.0));
    let (mut mean, mut square) = (0.0, 0.0);
    for pixel in &a {
        mean += f64::from(pixel[0] - 3.0) / n as f64;
        square += f64::from(pixel[0] - 3.0).powi(2) / n as f64;
    }
    assert!(mean.abs() < 0.01 && (square - 0.25).abs() < 0.01, "{mean}, {square}");
}

#[test]
fn what_is_no_image_is_said() {
    let error = Halves::of(&Layers::new(1, 1)).unwrap_err();
    assert!(error.to_string().starts_with("it has neither channels R, G and B"), "{error}");
}
