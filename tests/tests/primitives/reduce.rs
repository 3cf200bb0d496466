//! Reductions, against folds.

use renderer::backend::Backend;
use renderer::primitives::{ArgMax, Length, Max, Mean, Min, Primitives, Reduce, Reducible, Sum, Temp};
use torrance_tests::arrays::{difficult, lengths, random, short_lengths};
use torrance_tests::for_each_backend;

/// What a back end makes of numbers.
fn reduced<R: Reducible, B: Primitives>(backend: &mut B, input: &[R::Item]) -> R::Output {
    let n = input.len() as u32;
    let reduce = Reduce::<R>::default();
    let numbers = backend.upload("numbers", input).unwrap();
    let mut result = backend.zeroed("result", 1).unwrap();
    let mut temp = Temp::new(backend, reduce.temp_bytes(n)).unwrap();
    reduce.run(backend, &numbers, &mut result, Length::Host(n), &mut temp).unwrap();
    backend.download(&result).unwrap()[0]
}

#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let input: Vec<_> = random(6, n).into_iter().map(|x| x as u32).collect();
            let right = input.iter().fold(0, |sum: u32, x| sum.wrapping_add(*x));
            assert_eq!(reduced::<Sum<u32>, _>(&mut backend, &input), right, "{n}");
        }
    });
}

#[test]
fn of_every_kind() {
    for_each_backend!(|backend, is_gpu| {
        for n in short_lengths(is_gpu) {
            for (name, input) in difficult(n) {
                let small: Vec<_> = input.iter().map(|x| *x as u32).collect();
                let signed: Vec<_> = small.iter().map(|x| x.cast_signed()).collect();
                macro_rules! check {
                    ($R:ty, $input:expr, $right:expr) => {
                        let found = reduced::<$R, _>(&mut backend, $input);
                        assert_eq!(found, $right, "{}, {name}, {n}", stringify!($R));
                    };
                }
                check!(Sum<i32>, &signed, signed.iter().fold(0, |sum: i32, x| sum.wrapping_add(*x)));
                check!(Sum<u64>, &input, input.iter().fold(0, |sum: u64, x| sum.wrapping_add(*x)));
                check!(Min<u32>, &small, small.iter().copied().min().unwrap_or(u32::MAX));
                check!(Max<u32>, &small, small.iter().copied().max().unwrap_or(0));
                check!(Min<i32>, &signed, signed.iter().copied().min().unwrap_or(i32::MAX));
                check!(Max<i32>, &signed, signed.iter().copied().max().unwrap_or(i32::MIN));
                check!(Min<u64>, &input, input.iter().copied().min().unwrap_or(u64::MAX));
                check!(Max<u64>, &input, input.iter().copied().max().unwrap_or(0));
                check!(ArgMax<u32>, &small, first_largest(&small, Ord::cmp));
                check!(ArgMax<i32>, &signed, first_largest(&signed, Ord::cmp));
                let floats: Vec<_> = signed.iter().map(|x| *x as f32).collect();
                check!(ArgMax<f32>, &floats, first_largest(&floats, f32::total_cmp));
                check!(Min<f32>, &floats, floats.iter().copied().fold(f32::INFINITY, f32::min));
                check!(Max<f32>, &floats, floats.iter().copied().fold(f32::NEG_INFINITY, f32::max));
            }
        }
    });
}

fn first_largest<T>(input: &[T], order: impl Fn(&T, &T) -> std::cmp::Ordering) -> u32 {
    let largest = (0..input.len()).rev().max_by(|i, j| order(&input[*i], &input[*j]));
    largest.map_or(u32::MAX, |i| i as u32)
}

/// A tree of additions: its error grows with the logarithm of the length, that of a sum in a row would with the length.
#[test]
fn of_floats() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let input: Vec<_> = random(7, n).into_iter().map(|x| (x >> 40) as f32 / 1.7e7).collect();
            let exact: f64 = input.iter().map(|x| f64::from(*x)).sum();
            let additions = 40.0 + f64::from(n) / f64::from(1 << 20);
            let most = additions * f64::from(f32::EPSILON) / 2.0 * exact;
            let sum = f64::from(reduced::<Sum<f32>, _>(&mut backend, &input));
            assert!((sum - exact).abs() <= most, "{n}: {sum}, {exact}");
            let mean = f64::from(reduced::<Mean, _>(&mut backend, &input));
            if n == 0 {
                assert!(mean.is_nan());
            } else {
                let error = (mean * f64::from(n) - exact).abs();
                assert!(error <= 2.0 * most, "{n}: {mean}, {}", exact / f64::from(n));
            }
        }
    });
}

/// The same bits again, and on every machine.
#[test]
fn of_floats_bit_by_bit() {
    for n in [1, 1000, 100_003] {
        let input: Vec<_> = random(8, n).into_iter().map(|x| (x >> 40) as f32 / 1.7e7 - 0.5).collect();
        let mut found = Vec::new();
        for_each_backend!(|backend, _is_gpu| {
            for _ in 0..100 {
                found.push(reduced::<Sum<f32>, _>(&mut backend, &input).to_bits());
            }
        });
        found.dedup();
        assert_eq!(found.len(), 1, "{n}: {found:?}");
    }
}

/// A NaN is passed over by extremes and stays in sums; −0 is less than +0.
#[test]
fn of_floats_that_are_not_numbers() {
    for_each_backend!(|backend, _is_gpu| {
        let zeros = [0.0_f32, -0.0, 0.0, -0.0];
        assert_eq!(reduced::<Min<f32>, _>(&mut backend, &zeros).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(reduced::<Max<f32>, _>(&mut backend, &zeros).to_bits(), 0);
        assert_eq!(reduced::<ArgMax<f32>, _>(&mut backend, &zeros[1..]), 1);
        let one = [f32::NAN, 2.0, f32::NAN, 5.0, 5.0];
        assert_eq!(reduced::<Min<f32>, _>(&mut backend, &one), 2.0);
        assert_eq!(reduced::<Max<f32>, _>(&mut backend, &one), 5.0);
        assert_eq!(reduced::<ArgMax<f32>, _>(&mut backend, &one), 3);
        assert!(reduced::<Sum<f32>, _>(&mut backend, &one).is_nan());
        assert!(reduced::<Mean, _>(&mut backend, &one).is_nan());
        let none = [f32::NAN; 3];
        assert_eq!(reduced::<Max<f32>, _>(&mut backend, &none), f32::NEG_INFINITY);
        assert_eq!(reduced::<ArgMax<f32>, _>(&mut backend, &none), 0);
        assert_eq!(reduced::<ArgMax<f32>, _>(&mut backend, &[f32::NAN, f32::NEG_INFINITY]), 1);
    });
}

#[test]
fn of_a_length_on_the_machine() {
    for_each_backend!(|backend, _is_gpu| {
        for (n, count) in [(0_u32, 5_u32), (70_000, 0), (70_000, 1), (70_000, 8193), (70_000, 90_000)] {
            let input: Vec<_> = random(9, n).into_iter().map(|x| x as u32).collect();
            let numbers = backend.upload("numbers", &input).unwrap();
            let mut result = backend.upload("result", &[7]).unwrap();
            let count_there = backend.upload("count", &[count]).unwrap();
            let reduce = Reduce::<Sum<u32>>::default();
            let mut temp = Temp::new(&mut backend, reduce.temp_bytes(n)).unwrap();
            let length = Length::Device { count: &count_there, most: n };
            reduce.run(&mut backend, &numbers, &mut result, length, &mut temp).unwrap();
            let right = input[..count.min(n) as usize].iter().fold(0, |sum: u32, x| sum.wrapping_add(*x));
            assert_eq!(backend.download(&result).unwrap(), [right], "{count} of {n}");
        }
    });
}

/// One element more, less or other would be found.
#[test]
fn the_comparison_rejects() {
    let mut backend = renderer::backend::cpu::Cpu::new(None).unwrap();
    let input: Vec<_> = random(6, 1000).into_iter().map(|x| x as u32).collect();
    let sum = reduced::<Sum<u32>, _>(&mut backend, &input);
    assert_ne!(reduced::<Sum<u32>, _>(&mut backend, &input[1..]), sum);
    assert_ne!(reduced::<ArgMax<u32>, _>(&mut backend, &[3, 3]), first_largest(&[3, 4], Ord::cmp));
}
