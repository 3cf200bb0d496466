//! Summed-area tables and box blurs, against sums.

use bytemuck::Pod;
use rayon::prelude::*;
use torrance_gpu::backend::Backend;
use torrance_gpu::primitives::{BoxBlur, Narrow, Primitives, SummedArea, Tabulated, Whole, Wide};
use torrance_tests::arrays::{
    all, at_most, collected, dirty_temp, fractions, is_same, random_as, shapes, times,
};
use torrance_tests::for_each_backend;

/// Numbers in a table's buffer around the table.
const MARGIN: u32 = 7;

/// The table of an image, placed somewhere in its buffer, of which nothing else is written.
fn table<T: Tabulated<CHANNELS>, B: Primitives, const CHANNELS: u32>(
    backend: &mut B,
    (width, height): (u32, u32),
    image: &[T::Pixel],
    first: u32,
) -> Vec<T::Entry> {
    let sat = SummedArea::<T, CHANNELS>::new(width, height).placed_at(first);
    let from = backend.upload("image", image).unwrap();
    let mark = bytemuck::pod_read_unaligned(&vec![0xa5; size_of::<T::Entry>()]);
    let marks: Vec<T::Entry> = vec![mark; image.len() + (first + MARGIN) as usize];
    let mut to = backend.upload("table", &marks).unwrap();
    let mut temp = dirty_temp(backend, sat.temp_bytes());
    sat.run(backend, &from, &mut to, &mut temp).unwrap();
    let mut found = backend.download(&to).unwrap();
    let behind = found.split_off(first as usize + image.len());
    let table = found.split_off(first as usize);
    assert!(found.iter().chain(&behind).all(|x| is_same(&[*x], &[mark])), "{width} × {height}, {first}");
    table
}

/// Sums, straight on: along rows, and then down columns.
fn sums<T: Copy + Sync, S: Copy + Send + Sync>(
    image: &[T],
    (width, channels): (u32, u32),
    of: impl Fn(T) -> S + Sync,
    plus: impl Fn(S, S) -> S + Sync,
) -> Vec<S> {
    let (row, channels) = ((width * channels) as usize, channels as usize);
    let mut sums: Vec<S> = collected(image.len(), &|i| of(image[i]));
    sums.par_chunks_mut(row.max(1)).for_each(|row| {
        for x in channels..row.len() {
            row[x] = plus(row[x - channels], row[x]);
        }
    });
    for i in row..sums.len() {
        sums[i] = plus(sums[i - row], sums[i]);
    }
    sums
}

/// Whether entries are within a part of the sums of magnitudes from the sums.
fn is_near<E: Copy + Into<f64> + Sync>(found: &[E], sums: &[f64], magnitudes: &[f64], part: f64) -> bool {
    let is_right = |((e, s), m): ((&E, &f64), &f64)| ((*e).into() - s).abs() <= part * m;
    found.len() == sums.len() && found.par_iter().zip(sums).zip(magnitudes).all(is_right)
}

/// As documented: of tables of `f32`.
const NARROW: f64 = 16.0 * f32::EPSILON as f64;

/// As documented: of tables of `f64`, whose rows have so many numbers.
fn wide(row: u32, height: u32) -> f64 {
    (f64::from(row) / 128.0 + f64::from(height) / 64.0 + 100.0) * f64::EPSILON / 2.0
}

/// Tables of multiples of 2⁻²⁴, of which `f64` adds up as many exactly as there are, in any order.
#[test]
fn tables_of_floats() {
    for_each_backend!(|backend, is_gpu| {
        fn check<const CHANNELS: u32, B: Primitives>(
            backend: &mut B,
            (width, height): (u32, u32),
            image: &[f32],
        ) where
            Wide: Tabulated<CHANNELS, Pixel = f32, Entry = f64>,
            Narrow: Tabulated<CHANNELS, Pixel = f32, Entry = f32>,
        {
            let what = format!("{width} × {height} × {CHANNELS}");
            let right = sums(image, (width, CHANNELS), f64::from, |a, b| a + b);
            let found = table::<Wide, _, CHANNELS>(backend, (width, height), image, 0);
            assert!(found == right, "{what}");
            drop(found);
            let found = table::<Narrow, _, CHANNELS>(backend, (width, height), image, 0);
            let magnitudes = sums(image, (width, CHANNELS), |x| f64::from(x.abs()), |a, b| a + b);
            assert!(is_near(&found, &right, &magnitudes, NARROW), "{what}");
        }
        for (width, height) in shapes(is_gpu) {
            let image = fractions(45, width * height);
            check::<1, _>(&mut backend, (width, height), &image);
            if width * height < 1 << 24 {
                let signed: Vec<_> = image.into_iter().map(|x| x - 0.5).collect();
                check::<1, _>(&mut backend, (width, height), &signed);
            }
            // As many numbers.
            let width = width.div_ceil(4);
            let image = fractions(46, width * height * 4);
            check::<4, _>(&mut backend, (width, height), &image);
        }
    });
}

/// Tables of numbers of very different sizes and of both signs, against whole numbers of 128 bits.
#[test]
fn tables_of_floats_that_are_rounded() {
    for_each_backend!(|backend, is_gpu| {
        const UNIT: f64 = 1.0 / (1_u64 << 60) as f64;
        for (width, height) in shapes(is_gpu).into_iter().filter(|(width, height)| width * height < 1 << 20) {
            let image = random_as(49, width * height, |x| {
                let size = ((x >> 40) as f32 / (1 << 24) as f32 + 0.5) * 0.5_f32.powi((x & 31) as i32);
                if x >> 39 & 1 == 0 { size } else { -size }
            });
            let fixed = |x: f32| (f64::from(x) / UNIT) as i128;
            let to_f64 = |sums: Vec<i128>| sums.into_iter().map(|x| x as f64 * UNIT).collect::<Vec<_>>();
            let right = to_f64(sums(&image, (width, 1), fixed, |a, b| a + b));
            let magnitudes = to_f64(sums(&image, (width, 1), |x| fixed(x.abs()), |a, b| a + b));
            let found = table::<Wide, _, 1>(&mut backend, (width, height), &image, 0);
            assert!(is_near(&found, &right, &magnitudes, wide(width, height)), "{width} × {height}");
            let found = table::<Narrow, _, 1>(&mut backend, (width, height), &image, 0);
            assert!(is_near(&found, &right, &magnitudes, NARROW), "{width} × {height}");
        }
    });
}

/// Whether each entry is a pixel and what the entries above it and left of it say: that makes all of them right.
fn is_table<T: Pod + Sync + PartialEq>(
    image: &[T],
    width: u32,
    found: &[T],
    plus: impl Fn(T, T) -> T + Sync,
) -> bool {
    let width = width as usize;
    let is_right = |i: usize| {
        let (x, y) = (i % width, i / width);
        let left = if x > 0 { found[i - 1] } else { T::zeroed() };
        let above = if y > 0 { found[i - width] } else { T::zeroed() };
        let corner = if x > 0 && y > 0 { found[i - width - 1] } else { T::zeroed() };
        plus(found[i], corner) == plus(image[i], plus(left, above))
    };
    found.len() == image.len() && all(0..found.len(), &is_right)
}

/// Numbers wrap, and tables begin anywhere.
#[test]
fn tables_of_whole_numbers() {
    for_each_backend!(|backend, is_gpu| {
        for (i, (width, height)) in (0..).zip(shapes(is_gpu)) {
            let image = random_as(47, width * height, |x| x as u32);
            let found = table::<Whole, _, 1>(&mut backend, (width, height), &image, 0);
            assert!(is_table(&image, width, &found, u32::wrapping_add), "{width} × {height}");
            let image = random_as(48, width * height, |x| x);
            let found = table::<Whole<u64>, _, 1>(&mut backend, (width, height), &image, i % 9);
            assert!(is_table(&image, width, &found, u64::wrapping_add), "{width} × {height}, u64");
        }
    });
}

/// Tables that begin at any address.
#[test]
fn tables_that_begin_anywhere() {
    for_each_backend!(|backend, _is_gpu| {
        for first in [1, 2, 3, 4, 5, 8, 1001] {
            for size in [(1, 1), (4, 5), (128, 64), (132, 70), (133, 70)] {
                let words = random_as(50, size.0 * size.1, |x| x as u32);
                let found = table::<Whole, _, 1>(&mut backend, size, &words, first);
                assert!(is_table(&words, size.0, &found, u32::wrapping_add), "{size:?}, {first}");
                let long = random_as(51, size.0 * size.1, |x| x);
                let found = table::<Whole<u64>, _, 1>(&mut backend, size, &long, first);
                assert!(is_table(&long, size.0, &found, u64::wrapping_add), "{size:?}, {first}, u64");
                let image = fractions(52, size.0 * size.1 * 4);
                let found = table::<Wide, _, 4>(&mut backend, size, &image, first);
                let right = sums(&image, (size.0, 4), f64::from, |a, b| a + b);
                assert!(found == right, "{size:?} × 4, {first}");
                let found = table::<Narrow, _, 4>(&mut backend, size, &image, first);
                assert!(is_near(&found, &right, &right, NARROW), "{size:?} × 4, {first}");
            }
        }
        let sat = SummedArea::<Whole<u64>>::new(3, 2).placed_at(5);
        let image = backend.zeroed("image", 6).unwrap();
        let mut small = backend.zeroed("table", 10).unwrap();
        let mut temp = dirty_temp(&mut backend, sat.temp_bytes());
        let error = sat.run(&mut backend, &image, &mut small, &mut temp).unwrap_err();
        assert!(error.reason.contains("the table has room for 10 of 11"), "{error}");
    });
}

/// Differences of entries that have wrapped give the sums over rectangles.
#[test]
fn rectangles_of_tables_that_wrap() {
    for_each_backend!(|backend, _is_gpu| {
        let image = random_as(48, 300 * 200, |x| x as u32 >> 12);
        let found = table::<Whole, _, 1>(&mut backend, (300, 200), &image, 0);
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

/// Box blur by a back end, by way of an image's summed-area table.
macro_rules! blurred {
    ($backend:expr, $channels:literal, $size:expr, $radii:expr, $image:expr) => {{
        let size: (u32, u32) = $size;
        let entries = table::<Wide, _, $channels>(&mut $backend, size, $image, 0);
        let from = $backend.upload("table", &entries).unwrap();
        drop(entries);
        let mut to = $backend.zeroed("blurred", $image.len()).unwrap();
        let blur = BoxBlur::<$channels> { width: size.0, height: size.1, radii: $radii };
        blur.run(&mut $backend, &from, &mut to).unwrap();
        $backend.download(&to).unwrap()
    }};
}

/// Whether each number is the mean over its rectangle, from a table of exact sums.
fn is_blur(
    image: &[f32],
    (width, height, channels): (u32, u32, u32),
    radii: [u32; 2],
    found: &[f32],
) -> bool {
    let sums = sums(image, (width, channels), f64::from, |a, b| a + b);
    let around = |at: usize, radius: u32, n: u32| {
        (at.saturating_sub(radius as usize), (at.saturating_add(radius as usize) + 1).min(n as usize))
    };
    let (row, channels) = ((width * channels) as usize, channels as usize);
    let is_right = |i: usize| {
        let (x, y) = (i / channels % width as usize, i / row);
        let (xs, ys) = (around(x, radii[0], width), around(y, radii[1], height));
        let up_to = |x: usize, y: usize| match (x, y) {
            (0, _) | (_, 0) => 0.0,
            _ => sums[(y - 1) * row + (x - 1) * channels + i % channels],
        };
        let sum = up_to(xs.1, ys.1) - up_to(xs.0, ys.1) - up_to(xs.1, ys.0) + up_to(xs.0, ys.0);
        let mean = sum / ((xs.1 - xs.0) * (ys.1 - ys.0)) as f64;
        (f64::from(found[i]) - mean).abs() <= 1e-7
    };
    found.len() == image.len() && all(0..found.len(), &is_right)
}

#[test]
fn box_blurs() {
    for_each_backend!(|backend, is_gpu| {
        let of_every_shape = shapes(is_gpu).into_iter().map(|shape| (shape, [2, 1]));
        let of_every_radius = [[0, 0], [1, 1], [30, 2], [1000, u32::MAX]].map(|radii| ((131, 97), radii));
        for ((width, height), radii) in of_every_shape.chain(of_every_radius) {
            let image = fractions(50, width * height);
            let found = blurred!(backend, 1, (width, height), radii, &image);
            assert!(is_blur(&image, (width, height, 1), radii, &found), "{width} × {height}, {radii:?}");
            // As many numbers.
            let width = width.div_ceil(4);
            let image = fractions(51, width * height * 4);
            let found = blurred!(backend, 4, (width, height), radii, &image);
            assert!(is_blur(&image, (width, height, 4), radii, &found), "{width} × {height} × 4, {radii:?}");
        }
    });
}

#[test]
fn again_and_again() {
    for_each_backend!(|backend, _is_gpu| {
        let size = (at_most(301), at_most(203));
        let image = random_as(49, size.0 * size.1, |x| (x >> 40) as f32 / 1.7e7);
        let narrow = table::<Narrow, _, 1>(&mut backend, size, &image, 0);
        let wide = table::<Wide, _, 1>(&mut backend, size, &image, 0);
        let numbers = random_as(50, size.0 * size.1, |x| x);
        let whole = table::<Whole<u64>, _, 1>(&mut backend, size, &numbers, 3);
        let blurs = blurred!(backend, 1, size, [5, 3], &image);
        for time in 1..times() {
            assert!(is_same(&table::<Narrow, _, 1>(&mut backend, size, &image, 0), &narrow), "{time}");
            assert!(is_same(&table::<Wide, _, 1>(&mut backend, size, &image, 0), &wide), "{time}");
            assert!(table::<Whole<u64>, _, 1>(&mut backend, size, &numbers, 3) == whole, "{time}");
            assert!(is_same(&blurred!(backend, 1, size, [5, 3], &image), &blurs), "{time}");
        }
    });
}

/// An entry that is off by one, one in another's place, sums along rows alone, and a rectangle that is shifted would be
/// found.
#[test]
fn the_comparisons_reject() {
    let (width, height) = (13, 7);
    let image = random_as(53, width * height, |x| x as u32);
    let right = sums(&image, (width, 1), |x| x, u32::wrapping_add);
    let is_right = |found: &[u32]| is_table(&image, width, found, u32::wrapping_add);
    let along_rows: Vec<_> =
        image.chunks(13).flat_map(|row| sums(row, (width, 1), |x| x, u32::wrapping_add)).collect();
    assert!(is_right(&right) && !is_right(&along_rows) && !is_right(&right[1..]));
    for i in [0, 1, 13, 50, 90] {
        let mut wrong = right.clone();
        wrong[i] = wrong[i].wrapping_add(1);
        assert!(!is_right(&wrong), "{i}");
        wrong.clone_from(&right);
        wrong.swap(i, 40);
        assert!(!is_right(&wrong), "{i}");
    }

    let image = fractions(54, width * height);
    let right = sums(&image, (width, 1), f64::from, |a, b| a + b);
    let mut near: Vec<_> = right.iter().map(|x| *x as f32).collect();
    assert!(is_near(&near, &right, &right, NARROW));
    near[60] += 40.0 * f32::EPSILON * near[60];
    assert!(!is_near(&near, &right, &right, NARROW));

    let mut backend = torrance_gpu::backend::cpu::Cpu::new(None).unwrap();
    let mut found = blurred!(backend, 1, (width, height), [2, 1], &image);
    let is_right = |radii, found: &[f32]| is_blur(&image, (width, height, 1), radii, found);
    assert!(is_right([2, 1], &found) && !is_right([1, 1], &found) && !is_right([2, 2], &found));
    found.rotate_left(1);
    assert!(!is_right([2, 1], &found));
}
