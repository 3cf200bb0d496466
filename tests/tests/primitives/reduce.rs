//! Reductions, against folds.

use std::cmp::Ordering;

use rayon::prelude::*;
use torrance_gpu::backend::Backend;
use torrance_gpu::primitives::{ArgMax, Length, Max, Mean, Min, Primitives, Reduce, Reducible, Sum};
use torrance_tests::arrays::{at_most, collected, difficult, dirty_temp, lengths, random_as, times};
use torrance_tests::for_each_backend;

/// Reduction of `input` by a back end.
fn reduced<R: Reducible, B: Primitives>(backend: &mut B, input: &[R::Item]) -> R::Output {
    let n = input.len() as u32;
    let reduce = Reduce::<R>::default();
    let numbers = backend.upload("numbers", input).unwrap();
    let mut result = backend.zeroed("result", 1).unwrap();
    let mut temp = dirty_temp(backend, reduce.temp_bytes(n));
    reduce.run(backend, &numbers, &mut result, Length::Host(n), &mut temp).unwrap();
    backend.download(&result).unwrap()[0]
}

/// Every reduction of every length.
#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            for (name, input) in difficult(n) {
                let small: Vec<_> = collected(input.len(), &|i| input[i] as u32);
                let signed: Vec<_> = collected(small.len(), &|i| small[i].cast_signed());
                let floats: Vec<_> = collected(signed.len(), &|i| signed[i] as f32);
                macro_rules! check {
                    ($R:ty, $input:expr, $right:expr) => {
                        let found = reduced::<$R, _>(&mut backend, $input);
                        assert_eq!(found, $right, "{}, {name}, {n}", stringify!($R));
                    };
                    ($R:ident, $T:ty, $input:expr, $nothing:expr, $of_two:expr) => {
                        let right = $input.par_iter().copied().reduce(|| $nothing, $of_two);
                        check!($R<$T>, $input, right);
                    };
                }
                check!(Sum, u32, &small, 0, u32::wrapping_add);
                check!(Sum, i32, &signed, 0, i32::wrapping_add);
                check!(Sum, u64, &input, 0, u64::wrapping_add);
                check!(Min, u32, &small, u32::MAX, u32::min);
                check!(Max, u32, &small, 0, u32::max);
                check!(Min, i32, &signed, i32::MAX, i32::min);
                check!(Max, i32, &signed, i32::MIN, i32::max);
                check!(Min, u64, &input, u64::MAX, u64::min);
                check!(Max, u64, &input, 0, u64::max);
                check!(Min, f32, &floats, f32::INFINITY, f32::min);
                check!(Max, f32, &floats, f32::NEG_INFINITY, f32::max);
                check!(ArgMax<u32>, &small, first_largest(&small, Ord::cmp));
                check!(ArgMax<i32>, &signed, first_largest(&signed, Ord::cmp));
                check!(ArgMax<f32>, &floats, first_largest(&floats, f32::total_cmp));
            }
        }
    });
}

fn first_largest<T: Sync>(input: &[T], order: impl Fn(&T, &T) -> Ordering + Sync) -> u32 {
    let indices = (0..input.len() as u32).into_par_iter();
    let largest = indices.max_by(|i, j| order(&input[*i as usize], &input[*j as usize]).then(j.cmp(i)));
    largest.unwrap_or(u32::MAX)
}

/// Whether a sum is as near as a tree of additions comes to it: the error grows with the logarithm of the length, that of a
/// sum in a row would with the length.
fn is_near(sum: f64, exact: f64, n: u32) -> bool {
    let additions = 40.0 + f64::from(n) / f64::from(1 << 20);
    (sum - exact).abs() <= additions * f64::from(f32::EPSILON) / 2.0 * exact
}

#[test]
fn of_floats() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let input = random_as(7, n, |x| (x >> 40) as f32 / 1.7e7);
            let exact: f64 = input.par_iter().map(|x| f64::from(*x)).sum();
            let sum = f64::from(reduced::<Sum<f32>, _>(&mut backend, &input));
            assert!(is_near(sum, exact, n), "{n}: {sum}, {exact}");
            let mean = f64::from(reduced::<Mean, _>(&mut backend, &input));
            // Divided once more than it was added.
            let is_right =
                if n == 0 { mean.is_nan() } else { is_near(mean * f64::from(n), exact, n + (1 << 20)) };
            assert!(is_right, "{n}: {mean}, {}", exact / f64::from(n));
        }
    });
}

/// The same bits again, and on every machine.
#[test]
fn of_floats_bit_by_bit() {
    for n in [1, 1000, 100_003].map(at_most) {
        let input = random_as(8, n, |x| (x >> 40) as f32 / 1.7e7 - 0.5);
        let mut found = Vec::new();
        for_each_backend!(|backend, _is_gpu| {
            for _ in 0..times() {
                let sum = reduced::<Sum<f32>, _>(&mut backend, &input);
                found.push([sum, reduced::<Mean, _>(&mut backend, &input)].map(f32::to_bits));
            }
        });
        found.dedup();
        assert_eq!(found.len(), 1, "{n}: {found:?}");
    }
}

#[test]
fn again_and_again() {
    for_each_backend!(|backend, is_gpu| {
        let n = at_most(if is_gpu { 5_000_000 } else { 50_000 });
        let input = random_as(10, n, |x| x as u32);
        let sum = input.iter().fold(0, |sum: u32, x| sum.wrapping_add(*x));
        let largest = first_largest(&input, Ord::cmp);
        for time in 0..times() {
            assert_eq!(reduced::<Sum<u32>, _>(&mut backend, &input), sum, "{time}");
            assert_eq!(reduced::<ArgMax<u32>, _>(&mut backend, &input), largest, "{time}");
        }
    });
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
            let input = random_as(9, n, |x| x as u32);
            let numbers = backend.upload("numbers", &input).unwrap();
            let mut result = backend.upload("result", &[7]).unwrap();
            let count_there = backend.upload("count", &[count]).unwrap();
            let reduce = Reduce::<Sum<u32>>::default();
            let mut temp = dirty_temp(&mut backend, reduce.temp_bytes(n));
            let length = Length::Device { count: &count_there, most: n };
            reduce.run(&mut backend, &numbers, &mut result, length, &mut temp).unwrap();
            let right = input[..count.min(n) as usize].iter().fold(0, |sum: u32, x| sum.wrapping_add(*x));
            assert_eq!(backend.download(&result).unwrap(), [right], "{count} of {n}");
        }
    });
}

/// One element more or less, the last of several largest ones, and a sum in a row would be found.
#[test]
fn the_comparison_rejects() {
    let mut backend = torrance_gpu::backend::cpu::Cpu::new(None).unwrap();
    let input = random_as(6, 1000, |x| x as u32);
    let sum = reduced::<Sum<u32>, _>(&mut backend, &input);
    assert_ne!(reduced::<Sum<u32>, _>(&mut backend, &input[1..]), sum);
    assert_eq!(first_largest(&[3, 4, 4], Ord::cmp), 1);
    assert_ne!(reduced::<ArgMax<u32>, _>(&mut backend, &[3, 3]), first_largest(&[3, 4], Ord::cmp));
    let parts = random_as(7, 1 << 20, |x| (x >> 40) as f32 / 1.7e7);
    let exact = parts.iter().map(|x| f64::from(*x)).sum();
    assert!(!is_near(f64::from(parts.iter().sum::<f32>()), exact, 1 << 20));
}
