//! Summed-area tables of floats against exact sums: entries are within the documented error.

use torrance_gpu::primitives::{Narrow, Primitives, SummedArea, Tabulated, Temp, Wide};
use torrance_tests::arrays::random;
use torrance_tests::for_each_backend;

/// Pixels, entries and sums are multiples of 2 to the power of minus this.
const UNIT: i32 = 64;

/// Pixels of either sign, most of them small: magnitudes from 2⁻⁴⁰ to 1, of 24 bits.
fn signed(seed: u64, n: u32) -> Vec<f32> {
    let pixel = |x: u64| {
        let magnitude = (x >> 40) as f32 * 0.5_f32.powi(24 + (x % 40) as i32);
        if x >> 39 & 1 == 0 { magnitude } else { -magnitude }
    };
    random(seed, n).into_iter().map(pixel).collect()
}

/// All alike, so that errors of rounding add up instead of cancelling.
fn alike(n: u32) -> Vec<f32> {
    vec![0.1; n as usize]
}

/// A number in units: it is a multiple of one.
fn units(x: f64) -> i128 {
    let units = x * 2_f64.powi(UNIT);
    assert_eq!(units.fract(), 0.0, "{x:e} is no multiple of 2^-{UNIT}");
    units as i128
}

/// Sums over all up to each entry, of the pixels and of their magnitudes.
fn exact(image: &[f32], width: usize, channels: usize) -> Vec<[i128; 2]> {
    let mut sums: Vec<_> = image.iter().map(|x| [*x, x.abs()].map(|x| units(f64::from(x)))).collect();
    let mut add = |to: usize, from: usize| {
        let [before, sum] = [sums[from], sums[to]];
        sums[to] = [before[0] + sum[0], before[1] + sum[1]];
    };
    (0..image.len()).filter(|i| i % width >= channels).for_each(|i| add(i, i - channels));
    (width..image.len()).for_each(|i| add(i, i - width));
    sums
}

/// Whether all entries are off by at most a part of the sum of magnitudes.
fn are_within<E: Copy + Into<f64>>(entries: &[E], exact: &[[i128; 2]], part: f64) -> bool {
    entries.len() == exact.len()
        && entries.iter().zip(exact).all(|(entry, [sum, magnitudes])| {
            let error = (units((*entry).into()) - sum).unsigned_abs();
            error as f64 <= part * *magnitudes as f64
        })
}

fn narrow_error() -> f64 {
    32.0 * 0.5_f64.powi(24)
}

fn wide_error(is_gpu: bool, (width, height): (u32, u32)) -> f64 {
    let (width, height) = (f64::from(width), f64::from(height));
    let additions = if is_gpu { width / 128.0 + height / 64.0 + 100.0 } else { width + height };
    additions * 0.5_f64.powi(53)
}

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

#[test]
fn tables_are_as_exact_as_documented() {
    for_each_backend!(|backend, is_gpu| {
        let mut sizes = vec![(1, 1), (1, 1025), (1025, 1), (129, 95), (640, 360), (3, 20_000), (20_000, 3)];
        if is_gpu {
            sizes.extend([(1 << 20, 1), (1, (1 << 20) + 1), (4099, 1051)]);
        }
        for size @ (width, height) in sizes {
            for image in [signed(61, width * height), alike(width * height)] {
                let exact = exact(&image, width as usize, 1);
                let narrow = table::<Narrow, _, 1>(&mut backend, size, &image);
                assert!(are_within(&narrow, &exact, narrow_error()), "f32, {size:?}");
                let wide = table::<Wide, _, 1>(&mut backend, size, &image);
                assert!(are_within(&wide, &exact, wide_error(is_gpu, size)), "f64, {size:?}");
            }
            let image = signed(62, width * height * 4);
            let exact = exact(&image, 4 * width as usize, 4);
            let narrow = table::<Narrow, _, 4>(&mut backend, size, &image);
            assert!(are_within(&narrow, &exact, narrow_error()), "f32 of 4 channels, {size:?}");
            let wide = table::<Wide, _, 4>(&mut backend, size, &image);
            let width = 4 * width;
            assert!(
                are_within(&wide, &exact, wide_error(is_gpu, (width, height))),
                "f64 of 4 channels, {size:?}"
            );
        }
    });
}

/// Sums of `f32` in a row are not as exact, nor is a table of `f64` with an entry rounded to `f32`.
#[test]
fn worse_tables_are_rejected() {
    let size @ (width, height) = (20_000, 3);
    let image = alike(width * height);
    let right = exact(&image, width as usize, 1);
    let mut sums = image.clone();
    for i in 0..sums.len() {
        if i % width as usize > 0 {
            sums[i] += sums[i - 1];
        }
    }
    for i in width as usize..sums.len() {
        sums[i] += sums[i - width as usize];
    }
    assert!(!are_within(&sums, &right, narrow_error()), "sums in a row");

    let image = signed(63, width * height);
    let right = exact(&image, width as usize, 1);
    let mut table: Vec<_> = right.iter().map(|[sum, _]| *sum as f64 * 0.5_f64.powi(UNIT)).collect();
    for is_gpu in [false, true] {
        assert!(are_within(&table, &right, wide_error(is_gpu, size)), "exact, but for a rounding");
    }
    table[30_000] = f64::from(table[30_000] as f32);
    for is_gpu in [false, true] {
        assert!(!are_within(&table, &right, wide_error(is_gpu, size)), "an entry of f32");
    }
}
