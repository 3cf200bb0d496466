//! Transposing, luminance, convolution, summed-area tables and box blurs, against sums in f64.

use bytemuck::Pod;
use renderer::backend::Backend;
use renderer::primitives::{
    Border, BoxBlur, Convolution, Length, Luminance, Narrow, Primitives, SummedArea, Tabulated, Temp,
    Transpose, Whole, Wide,
};
use torrance_tests::arrays::{random, short_lengths};
use torrance_tests::for_each_backend;

/// Widths and heights around those of tiles, and some far from square.
fn sizes(is_gpu: bool) -> Vec<(u32, u32)> {
    let mut sizes =
        vec![(0, 5), (5, 0), (1, 1), (1, 1025), (1025, 1), (31, 33), (32, 32), (64, 64), (65, 63)];
    sizes.extend([(127, 48), (128, 49), (129, 95), (132, 97), (640, 360), (3, 20_000), (20_000, 3)]);
    if is_gpu {
        sizes.extend([(1, 1 << 20), ((1 << 20) + 1, 1), (4099, 2051), (4096, 4096)]);
    }
    sizes
}

/// Between 0 and 1.
fn fractions(seed: u64, n: u32) -> Vec<f32> {
    random(seed, n).into_iter().map(|x| (x >> 40) as f32 / (1 << 24) as f32).collect()
}

fn transposed<T: Pod + Send + Sync + PartialEq, B: Primitives>(
    backend: &mut B,
    (width, height): (u32, u32),
    of: impl Fn(u64) -> T,
) {
    let input: Vec<T> = random(41, width * height).into_iter().map(of).collect();
    let from = backend.upload("from", &input).unwrap();
    let mut to = backend.zeroed("to", input.len()).unwrap();
    Transpose { width, height }.run(backend, &from, &mut to).unwrap();
    let found = backend.download(&to).unwrap();
    let is_right =
        |(i, x): (usize, &T)| *x == input[i % height as usize * width as usize + i / height as usize];
    assert!(found.iter().enumerate().all(is_right), "{width} × {height} × {} bytes", size_of::<T>());
}

#[test]
fn transposes() {
    for_each_backend!(|backend, is_gpu| {
        for size in sizes(is_gpu) {
            transposed(&mut backend, size, |x| x as u32);
            transposed(&mut backend, size, |x| x);
            transposed(&mut backend, size, |x| [x as u32, (x >> 32) as u32, !x as u32, 7]);
        }
        let from = backend.zeroed::<u32>("from", 6).unwrap();
        let mut to = backend.zeroed::<u32>("to", 5).unwrap();
        assert!(Transpose { width: 2, height: 3 }.run(&mut backend, &from, &mut to).is_err());
        let error =
            Transpose { width: 1 << 16, height: 1 << 16 }.run(&mut backend, &from, &mut to).unwrap_err();
        assert!(error.reason.contains("more than"), "{error}");
    });
}

#[test]
fn luminances() {
    fn check<const CHANNELS: usize, B: Primitives>(
        backend: &mut B,
        luminance: Luminance<CHANNELS>,
        n: u32,
        run: impl Fn(&mut B, Luminance<CHANNELS>, &B::Buf<f32>, &mut B::Buf<f32>),
    ) {
        let input = fractions(42, n * CHANNELS as u32);
        let pixels = backend.upload("pixels", &input).unwrap();
        let mut to = backend.zeroed("luminances", n as usize).unwrap();
        run(backend, luminance, &pixels, &mut to);
        for (pixel, y) in input.chunks(CHANNELS).zip(backend.download(&to).unwrap()) {
            let [r, g, b] = [0, 1, 2].map(|c| f64::from(pixel[c]));
            let right = 0.2126 * r + 0.7152 * g + 0.0722 * b;
            assert!((f64::from(y) - right).abs() < 2e-7, "{n} × {CHANNELS}: {y}, {right}");
        }
    }
    for_each_backend!(|backend, is_gpu| {
        for n in short_lengths(is_gpu) {
            check(&mut backend, Luminance::<3>, n, |backend, luminance, from, to| {
                luminance.run(backend, from, to, Length::Host(n)).unwrap();
            });
            check(&mut backend, Luminance::<4>, n, |backend, luminance, from, to| {
                luminance.run(backend, from, to, Length::Host(n)).unwrap();
            });
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

/// Straight from the definition: all weights of the square at once.
fn convolved(c: &Convolution, image: &[f32], weights: &[f32], i: usize) -> f64 {
    let channels = c.channels as usize;
    let (x, y, channel) = (i / channels % c.width as usize, i / channels / c.width as usize, i % channels);
    let [rx, ry] = c.radii.map(|r| r as usize);
    let mut sum = 0.0;
    for v in 0..=2 * ry {
        for u in 0..=2 * rx {
            let column = beyond(c.border, (x + u) as i64 - rx as i64, i64::from(c.width));
            let row = beyond(c.border, (y + v) as i64 - ry as i64, i64::from(c.height));
            if let (Some(column), Some(row)) = (column, row) {
                let pixel = image[(row * c.width as usize + column) * channels + channel];
                sum += f64::from(weights[u]) * f64::from(weights[2 * rx + 1 + v]) * f64::from(pixel);
            }
        }
    }
    sum
}

#[test]
fn convolutions() {
    for_each_backend!(|backend, is_gpu| {
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
            for border in [Border::Clamp, Border::Zero, Border::Mirror] {
                let c = Convolution { width, height, channels, radii, border };
                let image = fractions(43, width * height * channels);
                let weights: Vec<_> = fractions(44, c.weights()).into_iter().map(|w| w - 0.3).collect();
                let from = backend.upload("image", &image).unwrap();
                let list = backend.upload("weights", &weights).unwrap();
                let mut to = backend.zeroed("convolved", image.len()).unwrap();
                c.run(&mut backend, &from, &list, &mut to).unwrap();
                let step = if is_gpu { 1 } else { 1 + image.len() / 2000 };
                for (i, found) in backend.download(&to).unwrap().into_iter().enumerate().step_by(step) {
                    let right = convolved(&c, &image, &weights, i);
                    // As many additions as taps, of numbers below one, twice.
                    let most = f64::from(f32::EPSILON) * f64::from(c.weights() * c.weights()).max(4.0) / 4.0;
                    assert!((f64::from(found) - right).abs() <= most, "{c:?}, {i}: {found}, {right}");
                }
            }
        }
        let c = Convolution { width: 1, height: 1, channels: 1, radii: [17, 0], border: Border::Zero };
        let image = backend.zeroed("image", 100).unwrap();
        let mut to = backend.zeroed("convolved", 100).unwrap();
        let weights = backend.zeroed("weights", 100).unwrap();
        assert!(c.run(&mut backend, &image, &weights, &mut to).unwrap_err().reason.contains("radius"));
    });
}

/// The table of an image.
fn table<T: Tabulated<CHANNELS>, B: Primitives, const CHANNELS: u32>(
    backend: &mut B,
    (width, height): (u32, u32),
    image: &[T::Pixel],
) -> Vec<T::Entry> {
    let sat = SummedArea::<T, CHANNELS>::new(width, height);
    let from = backend.upload("image", image).unwrap();
    let mut to = backend.zeroed("table", image.len()).unwrap();
    let mut temp = Temp::new(backend, sat.temp_bytes()).unwrap();
    sat.run(backend, &from, &mut to, &mut temp).unwrap();
    backend.download(&to).unwrap()
}

/// Sums, straight on: along rows, and then down columns.
fn sums<T: Copy, S: Copy>(
    image: &[T],
    width: usize,
    channels: usize,
    of: impl Fn(T) -> S,
    plus: impl Fn(S, S) -> S,
) -> Vec<S> {
    let mut sums: Vec<S> = image.iter().map(|x| of(*x)).collect();
    for i in 0..sums.len() {
        if i % width >= channels {
            sums[i] = plus(sums[i - channels], sums[i]);
        }
    }
    for i in width..sums.len() {
        sums[i] = plus(sums[i - width], sums[i]);
    }
    sums
}

#[test]
fn tables_of_floats() {
    /// An entry is within so much of the sum, of what is not negative.
    fn check<E: Copy + Into<f64>>(found: &[E], right: &[f64], relative: f64, what: &str) {
        let is_right = |(e, s): (&E, &f64)| ((*e).into() - s).abs() <= relative * s;
        let wrong = found.iter().zip(right).position(|pair| !is_right(pair));
        if let Some(i) = wrong {
            panic!("{what}, {i}: {}, {}", found[i].into(), right[i]);
        }
    }
    for_each_backend!(|backend, is_gpu| {
        for (width, height) in sizes(is_gpu) {
            let image = fractions(45, width * height);
            let right = sums(&image, width as usize, 1, f64::from, |a, b| a + b);
            let wide = f64::EPSILON * f64::from(width + height + 200);
            let narrow = 16.0 * f64::from(f32::EPSILON);
            let what = format!("{width} × {height}");
            check(&table::<Wide, _, 1>(&mut backend, (width, height), &image), &right, wide, &what);
            check(&table::<Narrow, _, 1>(&mut backend, (width, height), &image), &right, narrow, &what);

            let image = fractions(46, width * height * 4);
            let right = sums(&image, 4 * width as usize, 4, f64::from, |a, b| a + b);
            let what = format!("{width} × {height} × 4");
            check(&table::<Wide, _, 4>(&mut backend, (width, height), &image), &right, wide, &what);
            check(&table::<Narrow, _, 4>(&mut backend, (width, height), &image), &right, narrow, &what);
        }
    });
}

/// Numbers wrap, and so do the differences that give the sums over rectangles.
#[test]
fn tables_of_whole_numbers() {
    for_each_backend!(|backend, is_gpu| {
        for (width, height) in sizes(is_gpu) {
            let image: Vec<_> = random(47, width * height).into_iter().map(|x| x as u32).collect();
            let found = table::<Whole, _, 1>(&mut backend, (width, height), &image);
            assert!(found == sums(&image, width as usize, 1, |x| x, u32::wrapping_add), "{width} × {height}");
        }
        let image: Vec<_> = random(48, 300 * 200).into_iter().map(|x| x as u32 >> 12).collect();
        let found = table::<Whole, _, 1>(&mut backend, (300, 200), &image);
        let entry = |x: usize, y: usize| found[y * 300 + x];
        let difference = entry(119, 99)
            .wrapping_sub(entry(79, 99))
            .wrapping_sub(entry(119, 49))
            .wrapping_add(entry(79, 49));
        let right: u32 = (50..100).flat_map(|y| &image[y * 300 + 80..y * 300 + 120]).sum();
        assert_eq!(difference, right);
        let all: u64 = image.iter().map(|x| u64::from(*x)).sum();
        assert!(all > u64::from(u32::MAX), "they wrap");
    });
}

#[test]
fn tables_are_the_same_again() {
    for_each_backend!(|backend, _is_gpu| {
        let image = fractions(49, 301 * 203);
        let first = table::<Wide, _, 1>(&mut backend, (301, 203), &image);
        for _ in 0..100 {
            assert!(table::<Wide, _, 1>(&mut backend, (301, 203), &image) == first);
        }
    });
}

#[test]
fn box_blurs() {
    fn check<B: Primitives, const CHANNELS: u32>(
        backend: &mut B,
        (width, height): (u32, u32),
        radii: [u32; 2],
        run: impl Fn(&mut B, BoxBlur<CHANNELS>, &B::Buf<f64>, &mut B::Buf<f32>),
        table: impl Fn(&mut B, &[f32]) -> Vec<f64>,
    ) {
        let channels = CHANNELS as usize;
        let image = fractions(50, width * height * CHANNELS);
        let table = table(backend, &image);
        let table = backend.upload("table", &table).unwrap();
        let mut to = backend.zeroed("blurred", image.len()).unwrap();
        run(backend, BoxBlur { width, height, radii }, &table, &mut to);
        let found = backend.download(&to).unwrap();
        let around = |at: usize, radius: u32, n: u32| {
            at.saturating_sub(radius as usize)..(at.saturating_add(radius as usize) + 1).min(n as usize)
        };
        for i in (0..image.len()).step_by(1 + image.len() / 700) {
            let (x, y) = (i / channels % width as usize, i / channels / width as usize);
            let (xs, ys) = (around(x, radii[0], width), around(y, radii[1], height));
            let n = xs.len() * ys.len();
            let at =
                |x: usize, y: usize| f64::from(image[(y * width as usize + x) * channels + i % channels]);
            let sum: f64 = ys.flat_map(|y| xs.clone().map(move |x| (x, y))).map(|(x, y)| at(x, y)).sum();
            let right = sum / n as f64;
            assert!(
                (f64::from(found[i]) - right).abs() < 1e-7,
                "{width} × {height}, {radii:?}, {i}: {}, {right}",
                found[i]
            );
        }
    }
    for_each_backend!(|backend, _is_gpu| {
        for (size, radii) in [
            ((1, 1), [0, 0]),
            ((200, 100), [0, 0]),
            ((200, 100), [1, 1]),
            ((131, 97), [30, 2]),
            ((131, 97), [1000, u32::MAX]),
        ] {
            check(
                &mut backend,
                size,
                radii,
                |backend, blur: BoxBlur<1>, table, to| blur.run(backend, table, to).unwrap(),
                |backend, image| table::<Wide, _, 1>(backend, size, image),
            );
            check(
                &mut backend,
                size,
                radii,
                |backend, blur: BoxBlur<4>, table, to| blur.run(backend, table, to).unwrap(),
                |backend, image| table::<Wide, _, 4>(backend, size, image),
            );
        }
    });
}
