//! Scans, against a sum in a row.

use renderer::backend::Backend;
use renderer::primitives::{Affine, Bounds, Form, Length, Max, Min, Primitives, Scan, Scannable, Sum, Temp};
use torrance_tests::arrays::{difficult, lengths, random, short_lengths};
use torrance_tests::for_each_backend;

const BOTH: [Bounds; 2] = [Bounds::Exclusive, Bounds::Inclusive];

/// What a back end makes of numbers.
fn scanned<O: Scannable, B: Primitives>(backend: &mut B, scan: Scan<O>, input: &[O::Value]) -> Vec<O::Value> {
    let n = input.len() as u32;
    let numbers = backend.upload("numbers", input).unwrap();
    let mut sums = backend.zeroed("sums", input.len()).unwrap();
    let mut temp = Temp::new(backend, scan.temp_bytes(n)).unwrap();
    scan.run(backend, &numbers, &mut sums, Length::Host(n), &mut temp).unwrap();
    backend.download(&sums).unwrap()
}

/// What it should be: `step` takes the sum so far and a number to the next sum.
fn expected<T: Copy>(bounds: Bounds, input: &[T], start: T, step: impl Fn(T, T) -> T) -> Vec<T> {
    let mut sum = start;
    let mut next = |x: &T| {
        let before = sum;
        sum = step(sum, *x);
        if bounds == Bounds::Exclusive { before } else { sum }
    };
    input.iter().map(&mut next).collect()
}

fn words(n: u32) -> Vec<u32> {
    random(3, n).into_iter().map(|x| x as u32).collect()
}

#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let input = words(n);
            for bounds in BOTH {
                let found = scanned(&mut backend, Scan::<Sum<u32>>::new(bounds), &input);
                assert!(found == expected(bounds, &input, 0, u32::wrapping_add), "{n}, {bounds:?}");
            }
        }
    });
}

#[test]
fn in_every_form() {
    for_each_backend!(|backend, is_gpu| {
        for form in Form::ALL {
            let mut lengths = lengths(is_gpu);
            // Lengths at which the trees of `Form::Blelloch` have another level.
            lengths.extend([2, 4096, 4097, 1 << 20]);
            for n in lengths {
                let input = words(n);
                for bounds in BOTH {
                    let scan = Scan::<Sum<u32>>::new(bounds).in_form(form);
                    let found = scanned(&mut backend, scan, &input);
                    let right = found == expected(bounds, &input, 0, u32::wrapping_add);
                    assert!(right, "{form:?}, {n}, {bounds:?}");
                }
            }
        }
    });
}

/// All operators and types, in all forms. Composition does not commute: a wrong order shows.
#[test]
fn of_every_operator() {
    for_each_backend!(|backend, is_gpu| {
        for n in short_lengths(is_gpu) {
            for (name, input) in difficult(n) {
                let small: Vec<_> = input.iter().map(|x| *x as u32).collect();
                let signed: Vec<_> = small.iter().map(|x| x.cast_signed()).collect();
                for (form, bounds) in Form::ALL.into_iter().flat_map(|form| BOTH.map(|b| (form, b))) {
                    macro_rules! check {
                        ($O:ty, $input:expr, $start:expr, $step:expr) => {
                            let found = scanned(&mut backend, Scan::<$O>::new(bounds).in_form(form), $input);
                            let right = found == expected(bounds, $input, $start, $step);
                            assert!(right, "{}, {name}, {n}, {form:?}, {bounds:?}", stringify!($O));
                        };
                    }
                    check!(Sum<i32>, &signed, 0, i32::wrapping_add);
                    check!(Min<i32>, &signed, i32::MAX, i32::min);
                    check!(Max<i32>, &signed, i32::MIN, i32::max);
                    check!(Min<u32>, &small, u32::MAX, u32::min);
                    check!(Max<u32>, &small, 0, u32::max);
                    check!(Sum<u64>, &input, 0, u64::wrapping_add);
                    check!(Min<u64>, &input, u64::MAX, u64::min);
                    check!(Max<u64>, &input, 0, u64::max);
                    check!(Affine, &input, 1, compose);
                }
            }
        }
    });
}

/// x ↦ (a·x + b)·c + d, by evaluation at 0 and at 1.
fn compose(first: u64, second: u64) -> u64 {
    let map = |of: u64| move |x: u32| (of as u32).wrapping_mul(x).wrapping_add((of >> 32) as u32);
    let both = |x| map(second)(map(first)(x));
    u64::from(both(1).wrapping_sub(both(0))) | u64::from(both(0)) << 32
}

/// Whole numbers that floats add exactly, and fractions that they do not: within the rounding of n additions.
#[test]
fn of_floats() {
    for_each_backend!(|backend, is_gpu| {
        for n in short_lengths(is_gpu) {
            for form in Form::ALL {
                let whole: Vec<_> = random(4, n).into_iter().map(|x| (x % 8) as f32).collect();
                let scan = Scan::<Sum<f32>>::inclusive().in_form(form);
                let found = scanned(&mut backend, scan, &whole);
                assert!(found == expected(Bounds::Inclusive, &whole, 0.0, |a, b| a + b), "{form:?}, {n}");

                let parts: Vec<_> = random(5, n).into_iter().map(|x| (x >> 40) as f32 / 1.7e7).collect();
                let exact = expected(Bounds::Inclusive, &to_f64(&parts), 0.0, |a, b| a + b);
                let most = f64::from(n) * f64::from(f32::EPSILON);
                let found = scanned(&mut backend, scan, &parts);
                let close = |(a, b): (&f32, &f64)| (f64::from(*a) - b).abs() <= most * b;
                assert!(found.iter().zip(&exact).all(close), "{form:?}, {n}");
            }
        }
    });
}

fn to_f64(x: &[f32]) -> Vec<f64> {
    x.iter().map(|x| f64::from(*x)).collect()
}

/// A NaN is passed over by extremes and stays in sums; −0 is less than +0.
#[test]
fn of_floats_that_are_not_numbers() {
    let input = [0.0_f32, -0.0, 1.0, f32::NAN, -3.0, f32::INFINITY, 2.0];
    for_each_backend!(|backend, _is_gpu| {
        for form in Form::ALL {
            let bits = |x: Vec<f32>| x.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            let least = scanned(&mut backend, Scan::<Min<f32>>::inclusive().in_form(form), &input);
            assert_eq!(bits(least), bits(vec![0.0, -0.0, -0.0, -0.0, -3.0, -3.0, -3.0]), "{form:?}");
            let most = scanned(&mut backend, Scan::<Max<f32>>::inclusive().in_form(form), &input);
            let infinity = f32::INFINITY;
            assert_eq!(bits(most), bits(vec![0.0, 0.0, 1.0, 1.0, 1.0, infinity, infinity]), "{form:?}");
            let sum = scanned(&mut backend, Scan::<Sum<f32>>::inclusive().in_form(form), &input);
            assert_eq!(sum[..3], [0.0, 0.0, 1.0], "{form:?}");
            assert!(sum[3..].iter().all(|x| x.is_nan()), "{form:?}");
        }
    });
}

/// Only so many elements as the machine's memory says, and no others are written.
#[test]
fn of_a_length_on_the_machine() {
    for_each_backend!(|backend, _is_gpu| {
        for form in Form::ALL {
            for (n, count) in [(0_u32, 5_u32), (70_000, 0), (70_000, 1), (70_000, 4097), (70_000, 90_000)] {
                let input = words(n);
                let scan = Scan::<Sum<u32>>::inclusive().in_form(form);
                let numbers = backend.upload("numbers", &input).unwrap();
                let mut sums = backend.upload("sums", &vec![7; n as usize]).unwrap();
                let count_there = backend.upload("count", &[count]).unwrap();
                let mut temp = Temp::new(&mut backend, scan.temp_bytes(n)).unwrap();
                let length = Length::Device { count: &count_there, most: n };
                scan.run(&mut backend, &numbers, &mut sums, length, &mut temp).unwrap();
                let of = &input[..count.min(n) as usize];
                let mut right = expected(Bounds::Inclusive, of, 0, u32::wrapping_add);
                right.resize(n as usize, 7);
                assert!(backend.download(&sums).unwrap() == right, "{form:?}, {count} of {n}");
            }
        }
    });
}

/// A hundred times with the same temporary memory: whatever the blocks' order, the result is the same.
#[test]
fn again_and_again() {
    for_each_backend!(|backend, is_gpu| {
        let n = if is_gpu { 5_000_000 } else { 50_000 };
        let input = words(n);
        let right = expected(Bounds::Exclusive, &input, 0, u32::wrapping_add);
        let scan = Scan::<Sum<u32>>::exclusive();
        let numbers = backend.upload("numbers", &input).unwrap();
        let mut sums = backend.zeroed("sums", input.len()).unwrap();
        let mut temp = Temp::new(&mut backend, scan.temp_bytes(n)).unwrap();
        for i in 0..100 {
            scan.run(&mut backend, &numbers, &mut sums, Length::Host(n), &mut temp).unwrap();
            assert!(backend.download(&sums).unwrap() == right, "{i}");
        }
    });
}

/// What is too small is said, and nothing is done.
#[test]
fn errors() {
    for_each_backend!(|backend, _is_gpu| {
        let scan = Scan::<Sum<u32>>::exclusive();
        let numbers = backend.upload("numbers", &[1, 2, 3]).unwrap();
        let mut sums = backend.upload("sums", &[7, 7]).unwrap();
        let mut temp = Temp::new(&mut backend, scan.temp_bytes(3)).unwrap();
        let error = scan.run(&mut backend, &numbers, &mut sums, Length::Host(3), &mut temp).unwrap_err();
        assert_eq!(error.to_string(), "scanning: the output has room for 2 of 3 elements");
        let mut none = Temp::new(&mut backend, 0).unwrap();
        let error = scan.run(&mut backend, &numbers, &mut sums, Length::Host(2), &mut none).unwrap_err();
        assert!(error.to_string().contains("there are 0 of "), "{error}");
        let error =
            scan.run(&mut backend, &numbers, &mut sums, Length::Host(1 << 31), &mut temp).unwrap_err();
        assert!(error.to_string().contains("2147483648"), "{error}");
        assert_eq!(backend.download(&sums).unwrap(), [7, 7]);
    });
}

/// The comparison would find one wrong number, and a scan of the other kind.
#[test]
fn the_comparison_rejects() {
    let input = words(5000);
    let inclusive = expected(Bounds::Inclusive, &input, 0, u32::wrapping_add);
    let exclusive = expected(Bounds::Exclusive, &input, 0, u32::wrapping_add);
    assert_ne!(inclusive, exclusive);
    assert_eq!(inclusive[..4999], exclusive[1..]);
    let [double, add_one] = [2, 1 | 1 << 32];
    assert_ne!(compose(double, add_one), compose(add_one, double));
}
