//! Transposing, luminance and convolution, against their definitions.

use bytemuck::Pod;
use rayon::prelude::*;
use torrance_gpu::backend::Backend;
use torrance_gpu::primitives::{Border, Convolution, Length, Luminance, Primitives, Transpose};
use torrance_tests::arrays::{all, at_most, fractions, is_same, lengths, random_as, shapes, times};
use torrance_tests::for_each_backend;

const BORDERS: [Border; 3] = [Border::Clamp, Border::Zero, Border::Mirror];

/// Transposition by a back end.
fn transposed<T: Pod + Send + Sync, B: Primitives>(
    backend: &mut B,
    (width, height): (u32, u32),
    input: &[T],
) -> Vec<T> {
    let from = backend.upload("from", input).unwrap();
    let mut to = backend.zeroed("to", input.len()).unwrap();
    Transpose { width, height }.run(backend, &from, &mut to).unwrap();
    backend.download(&to).unwrap()
}

fn is_transpose<T: Pod + Send + Sync>(input: &[T], (width, height): (u32, u32), found: &[T]) -> bool {
    let is_right = |i: usize| {
        let (x, y) = (i / height as usize, i % height as usize);
        is_same(&[found[i]], &[input[y * width as usize + x]])
    };
    found.len() == input.len() && all(0..found.len(), &is_right)
}

#[test]
fn transposes() {
    for_each_backend!(|backend, is_gpu| {
        for size in shapes(is_gpu) {
            macro_rules! check {
                ($of:expr) => {
                    let input = random_as(41, size.0 * size.1, $of);
                    let is_right = is_transpose(&input, size, &transposed(&mut backend, size, &input));
                    assert!(is_right, "{size:?}, {}", stringify!($of));
                };
            }
            check!(|x| x as u32);
            check!(|x| x);
            check!(|x| [x as u32, (x >> 32) as u32, !x as u32, 7]);
        }
        let from = backend.zeroed::<u32>("from", 6).unwrap();
        let mut to = backend.zeroed::<u32>("to", 5).unwrap();
        assert!(Transpose { width: 2, height: 3 }.run(&mut backend, &from, &mut to).is_err());
        let error =
            Transpose { width: 1 << 16, height: 1 << 16 }.run(&mut backend, &from, &mut to).unwrap_err();
        assert!(error.reason.contains("more than"), "{error}");
    });
}

/// Luminances of pixels by a back end; with `count`, their number is on the device.
macro_rules! luminances {
    ($backend:expr, $channels:literal, $pixels:expr, $count:expr) => {{
        let pixels: &[f32] = $pixels;
        let most = pixels.len() as u32 / $channels;
        let from = $backend.upload("pixels", pixels).unwrap();
        let mut to = $backend.upload("luminances", &vec![-1.0; most as usize]).unwrap();
        let count: Option<u32> = $count;
        let count = count.map(|count| $backend.upload("count", &[count]).unwrap());
        let length = count.as_ref().map_or(Length::Host(most), |count| Length::Device { count, most });
        Luminance::<$channels>.run(&mut $backend, &from, &mut to, length).unwrap();
        $backend.download(&to).unwrap()
    }};
}

/// Whether each is the weighted sum of a pixel's first three numbers, by ITU-R BT.709, but for some roundings.
fn are_luminances(pixels: &[f32], channels: usize, found: &[f32]) -> bool {
    let is_right = |(pixel, y): (&[f32], &f32)| {
        let [r, g, b] = [0, 1, 2].map(|c| f64::from(pixel[c]));
        let right = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        let magnitude = 0.2126 * r.abs() + 0.7152 * g.abs() + 0.0722 * b.abs();
        (f64::from(*y) - right).abs() <= 2.0 * f64::from(f32::EPSILON) * magnitude
    };
    found.len() * channels == pixels.len() && pixels.par_chunks(channels).zip(found).all(is_right)
}

/// Numbers of images: fractions, of any sign, all equal, all but one zero.
fn images(n: u32) -> Vec<(&'static str, Vec<f32>)> {
    let of = |f: &dyn Fn(u32) -> f32| (0..n).map(f).collect();
    let mut images = vec![("fractions", fractions(42, n))];
    if n < 1 << 22 {
        images.push(("signed", random_as(43, n, |x| (x as i32) as f32 / 1e6)));
        images.push(("equal", of(&|_| 0.3)));
        images.push(("one", of(&|i| f32::from(u8::from(i == n / 2)))));
    }
    images
}

#[test]
fn luminances() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            for (name, image) in images(3 * n) {
                let found = luminances!(backend, 3, &image, None);
                assert!(are_luminances(&image, 3, &found), "{n} × 3, {name}");
            }
            for (name, image) in images(4 * n) {
                let found = luminances!(backend, 4, &image, None);
                assert!(are_luminances(&image, 4, &found), "{n} × 4, {name}");
            }
        }
    });
}

/// Only so many pixels as the machine's memory says, and no others are written.
#[test]
fn luminances_of_a_length_on_the_machine() {
    for_each_backend!(|backend, _is_gpu| {
        let image = fractions(44, 12 * 5000);
        for count in [0, 1, 1023, 4999, 20_000, 90_000] {
            for channels in [3, 4] {
                let found = match channels {
                    3 => luminances!(backend, 3, &image, Some(count)),
                    _ => luminances!(backend, 4, &image, Some(count)),
                };
                let end = found.len().min(count as usize);
                assert!(are_luminances(&image[..end * channels], channels, &found[..end]), "{count}");
                assert!(found[end..].iter().all(|y| *y == -1.0), "{count}");
            }
        }
    });
}

/// Number `i` of an image behind its border, from the definition.
fn beyond(border: Border, i: i64, n: i64) -> Option<usize> {
    let mut i = i;
    if border == Border::Zero && !(0..n).contains(&i) {
        return None;
    }
    while border == Border::Mirror && !(0..n).contains(&i) {
        i = if i < 0 { -1 - i } else { 2 * n - 1 - i };
    }
    Some(i.clamp(0, n - 1) as usize)
}

fn convolved<B: Primitives>(backend: &mut B, c: &Convolution, image: &[f32], weights: &[f32]) -> Vec<f32> {
    let from = backend.upload("image", image).unwrap();
    let list = backend.upload("weights", weights).unwrap();
    let mut to = backend.zeroed("convolved", image.len()).unwrap();
    c.run(backend, &from, &list, &mut to).unwrap();
    backend.download(&to).unwrap()
}

/// Whether each number is the weighted sum of those around it: in `f64`, and down columns first, which the kernel does last.
fn is_convolution(c: &Convolution, image: &[f32], weights: &[f32], found: &[f32]) -> bool {
    let (width, channels) = (c.width as usize, c.channels as usize);
    let [rx, ry] = c.radii.map(|r| r as usize);
    let (across, down) = weights.split_at(2 * rx + 1);
    // As many additions as taps, of numbers of which one is the largest, twice.
    let largest = image.par_iter().map(|x| x.abs()).reduce(|| 0.0, f32::max);
    let taps = f64::from(c.weights() * c.weights()).max(4.0) / 4.0;
    let most = taps * f64::from(f32::EPSILON) * f64::from(largest);
    let is_right = |(y, found): (usize, &[f32])| {
        let mut columns = vec![0.0; width * channels];
        for (v, weight) in down.iter().enumerate() {
            if let Some(row) = beyond(c.border, (y + v) as i64 - ry as i64, i64::from(c.height)) {
                let row = &image[row * width * channels..][..width * channels];
                for (sum, x) in columns.iter_mut().zip(row) {
                    *sum += f64::from(*weight) * f64::from(*x);
                }
            }
        }
        let number = |x: usize, u: usize, channel: usize| {
            let column = if x >= rx && x + rx < width {
                Some(x + u - rx)
            } else {
                beyond(c.border, (x + u) as i64 - rx as i64, width as i64)
            };
            column.map_or(0.0, |column| f64::from(across[u]) * columns[column * channels + channel])
        };
        found.iter().enumerate().all(|(i, found)| {
            let sum: f64 = (0..across.len()).map(|u| number(i / channels, u, i % channels)).sum();
            (f64::from(*found) - sum).abs() <= most
        })
    };
    found.len() == image.len() && found.par_chunks((width * channels).max(1)).enumerate().all(is_right)
}

/// Weights of both signs.
fn weights(c: &Convolution) -> Vec<f32> {
    fractions(45, c.weights()).into_iter().map(|w| w - 0.3).collect()
}

#[test]
fn convolutions_of_every_shape() {
    for_each_backend!(|backend, is_gpu| {
        for (width, height) in shapes(is_gpu) {
            let is_small = width * height < 1 << 18;
            for border in BORDERS.into_iter().take(if is_gpu || is_small { 3 } else { 1 }) {
                let c = Convolution { width, height, channels: 1, radii: [2, 1], border };
                for (name, image) in images(width * height).into_iter().take(if is_small { 4 } else { 1 }) {
                    let found = convolved(&mut backend, &c, &image, &weights(&c));
                    assert!(is_convolution(&c, &image, &weights(&c), &found), "{c:?}, {name}");
                }
            }
        }
    });
}

#[test]
fn convolutions_of_every_kind() {
    for_each_backend!(|backend, _is_gpu| {
        for (width, height, channels, radii) in [
            (1, 1, 1, [0, 0]),
            (1, 1, 4, [16, 16]),
            (3, 2, 1, [16, 9]),
            (64, 32, 1, [1, 1]),
            (65, 33, 1, [0, 3]),
            (100, 70, 3, [4, 0]),
            (131, 97, 4, [2, 5]),
            (200, 100, 1, [16, 16]),
        ] {
            for border in BORDERS {
                let c = Convolution { width, height, channels, radii, border };
                let image = fractions(43, width * height * channels);
                let found = convolved(&mut backend, &c, &image, &weights(&c));
                assert!(is_convolution(&c, &image, &weights(&c), &found), "{c:?}");
            }
        }
        let c = Convolution { width: 1, height: 1, channels: 1, radii: [17, 0], border: Border::Zero };
        let image = backend.zeroed("image", 100).unwrap();
        let mut to = backend.zeroed("convolved", 100).unwrap();
        let weights = backend.zeroed("weights", 100).unwrap();
        assert!(c.run(&mut backend, &image, &weights, &mut to).unwrap_err().reason.contains("radius"));
    });
}

#[test]
fn again_and_again() {
    for_each_backend!(|backend, _is_gpu| {
        let (width, height) = (at_most(301), at_most(203));
        let image = fractions(46, width * height);
        let c = Convolution { width, height, channels: 1, radii: [3, 2], border: Border::Mirror };
        let rows = transposed(&mut backend, (width, height), &image);
        let sums = convolved(&mut backend, &c, &image, &weights(&c));
        let grey = luminances!(backend, 3, &image[..image.len() / 3 * 3], None);
        for time in 1..times() {
            assert!(is_same(&transposed(&mut backend, (width, height), &image), &rows), "{time}");
            assert!(is_same(&convolved(&mut backend, &c, &image, &weights(&c)), &sums), "{time}");
            let again = luminances!(backend, 3, &image[..image.len() / 3 * 3], None);
            assert!(is_same(&again, &grey), "{time}");
        }
    });
}

/// Two pixels in each other's place, weights of other channels, a border that is shifted or another, would be found.
#[test]
fn the_comparisons_reject() {
    let mut backend = torrance_gpu::backend::cpu::Cpu::new(None).unwrap();
    assert!(is_transpose(&[1, 2, 3, 4, 5, 6], (3, 2), &[1, 4, 2, 5, 3, 6]));
    for wrong in [[1, 4, 5, 2, 3, 6], [1, 2, 3, 4, 5, 6], [1, 4, 2, 5, 3, 7]] {
        assert!(!is_transpose(&[1, 2, 3, 4, 5, 6], (3, 2), &wrong), "{wrong:?}");
    }

    let image = fractions(47, 30);
    let [mut found, swapped] = [&image, &image.iter().rev().copied().collect()]
        .map(|image: &Vec<f32>| luminances!(backend, 3, image, None));
    assert!(are_luminances(&image, 3, &found) && !are_luminances(&image, 3, &swapped));
    found.swap(3, 4);
    assert!(!are_luminances(&image, 3, &found));

    let (width, height, radii) = (20, 10, [2, 1]);
    let image = fractions(48, width * height);
    let of = |border| Convolution { width, height, channels: 1, radii, border };
    let found = BORDERS.map(|border| convolved(&mut backend, &of(border), &image, &weights(&of(border))));
    for (i, border) in BORDERS.into_iter().enumerate() {
        for (j, found) in found.iter().enumerate() {
            let is_right = is_convolution(&of(border), &image, &weights(&of(border)), found);
            assert_eq!(is_right, i == j, "{border:?}, {:?}", BORDERS[j]);
        }
    }
    let [mut wrong, _, _] = found;
    wrong.rotate_left(1);
    assert!(!is_convolution(&of(Border::Clamp), &image, &weights(&of(Border::Clamp)), &wrong));
}
