//! Scans, against a sum in a row.

use bytemuck::Pod;
use torrance_gpu::backend::Backend;
use torrance_gpu::primitives::{Affine, Bounds, Form, Length, Max, Min, Primitives, Scan, Scannable, Sum};
use torrance_tests::arrays::{
    all, at_most, collected, difficult, dirty_temp, is_same, lengths, quick_lengths, random_as,
    short_lengths, times,
};
use torrance_tests::for_each_backend;

const BOTH: [Bounds; 2] = [Bounds::Exclusive, Bounds::Inclusive];

/// Scan of `input` by a back end.
fn scanned<O: Scannable, B: Primitives>(backend: &mut B, scan: Scan<O>, input: &[O::Value]) -> Vec<O::Value> {
    let n = input.len() as u32;
    let numbers = backend.upload("numbers", input).unwrap();
    let mut sums = backend.zeroed("sums", input.len()).unwrap();
    let mut temp = dirty_temp(backend, scan.temp_bytes(n));
    scan.run(backend, &numbers, &mut sums, Length::Host(n), &mut temp).unwrap();
    backend.download(&sums).unwrap()
}

/// Expected result: `step` takes the sum so far and a number to the next sum.
fn expected<T: Copy>(bounds: Bounds, input: &[T], start: T, step: impl Fn(T, T) -> T) -> Vec<T> {
    let mut sum = start;
    let mut next = |x: &T| {
        let before = sum;
        sum = step(sum, *x);
        if bounds == Bounds::Exclusive { before } else { sum }
    };
    input.iter().map(&mut next).collect()
}

/// Whether each of `sums` is the one before it and a number more: with the first one, that says what all of them are.
fn is_scan<T: Pod + Sync>(
    bounds: Bounds,
    input: &[T],
    sums: &[T],
    start: T,
    step: impl Fn(T, T) -> T + Sync,
) -> bool {
    let is_next = |i: usize| {
        let of = |sum: T| is_same(&[sums[i]], &[sum]);
        match (bounds, i) {
            (Bounds::Exclusive, 0) => of(start),
            (Bounds::Exclusive, _) => of(step(sums[i - 1], input[i - 1])),
            (Bounds::Inclusive, 0) => of(step(start, input[0])),
            (Bounds::Inclusive, _) => of(step(sums[i - 1], input[i])),
        }
    };
    sums.len() == input.len() && all(0..sums.len(), &is_next)
}

fn words(n: u32) -> Vec<u32> {
    random_as(3, n, |x| x as u32)
}

/// Ways in which a back end scans so many: on the host they are one, and of very many one is enough for all operators.
fn forms(is_gpu: bool, n: u32) -> Vec<Form> {
    if is_gpu && n < 1 << 24 { Form::ALL.to_vec() } else { vec![Form::LookBack] }
}

#[test]
fn in_every_form() {
    for_each_backend!(|backend, is_gpu| {
        for form in Form::ALL {
            let mut lengths = lengths(is_gpu);
            // Lengths at which the trees of `Form::Blelloch` have another level.
            lengths.extend([2, 4096, 4097, 1 << 20].map(at_most));
            for n in lengths {
                let input = words(n);
                for bounds in BOTH {
                    let scan = Scan::<Sum<u32>>::new(bounds).in_form(form);
                    let found = scanned(&mut backend, scan, &input);
                    let is_right = is_scan(bounds, &input, &found, 0, u32::wrapping_add);
                    assert!(is_right, "{form:?}, {n}, {bounds:?}");
                }
            }
        }
    });
}

/// All operators and types, in all forms. Composition does not commute: a wrong order shows.
#[test]
fn of_every_operator() {
    for_each_backend!(|backend, is_gpu| {
        let long = lengths(is_gpu).into_iter().filter(|n| *n >= 1 << 24);
        for n in quick_lengths(is_gpu).into_iter().chain(long) {
            for (name, input) in difficult(n) {
                let small: Vec<_> = collected(input.len(), &|i| input[i] as u32);
                let signed: Vec<_> = collected(small.len(), &|i| small[i].cast_signed());
                let ways = forms(is_gpu, n).into_iter().flat_map(|form| BOTH.map(|b| (form, b)));
                for (form, bounds) in ways.take(if n < 1 << 24 { usize::MAX } else { 1 }) {
                    macro_rules! check {
                        ($O:ty, $input:expr, $start:expr, $step:expr) => {
                            let found = scanned(&mut backend, Scan::<$O>::new(bounds).in_form(form), $input);
                            let is_right = is_scan(bounds, $input, &found, $start, $step);
                            assert!(is_right, "{}, {name}, {n}, {form:?}, {bounds:?}", stringify!($O));
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

/// Steps of one up or down: no sum is so large that floats would round it, in any order.
#[test]
fn of_floats_that_are_whole() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let input = random_as(4, n, |x| if x % 2 == 0 { 1.0 } else { -1.0_f32 });
            for form in forms(is_gpu, n) {
                for bounds in BOTH {
                    let found = scanned(&mut backend, Scan::<Sum<f32>>::new(bounds).in_form(form), &input);
                    let is_right = is_scan(bounds, &input, &found, 0.0, |a, b| a + b);
                    assert!(is_right, "{form:?}, {n}, {bounds:?}");
                }
            }
        }
    });
}

/// Fractions: within the rounding of n additions.
#[test]
fn of_floats() {
    for_each_backend!(|backend, is_gpu| {
        for n in short_lengths(is_gpu) {
            let parts = random_as(5, n, |x| (x >> 40) as f32 / 1.7e7);
            let exact = expected(Bounds::Inclusive, &to_f64(&parts), 0.0, |a, b| a + b);
            let most = f64::from(n) * f64::from(f32::EPSILON);
            for form in forms(is_gpu, n) {
                let found = scanned(&mut backend, Scan::<Sum<f32>>::inclusive().in_form(form), &parts);
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

/// Extremes that change from time to time, across tiles, with NaNs between them.
#[test]
fn of_extremes_of_floats() {
    for_each_backend!(|backend, is_gpu| {
        for n in quick_lengths(is_gpu) {
            let input: Vec<_> = random_as(6, n, |x| match x % 4 {
                0 => f32::NAN,
                1 => [0.0, -0.0, 1e-30, -1e-30][(x >> 2) as usize % 4],
                _ => 1e-30 / (1.0 + (x >> 40) as f32) * if x % 4 == 2 { 1.0 } else { -1.0 },
            });
            for (form, bounds) in forms(is_gpu, n).into_iter().flat_map(|form| BOTH.map(|b| (form, b))) {
                let found = scanned(&mut backend, Scan::<Min<f32>>::new(bounds).in_form(form), &input);
                let step = |a: f32, b: f32| if b.is_nan() || a.total_cmp(&b).is_le() { a } else { b };
                let is_right = is_scan(bounds, &input, &found, f32::INFINITY, step);
                assert!(is_right, "least, {n}, {form:?}, {bounds:?}");
                let found = scanned(&mut backend, Scan::<Max<f32>>::new(bounds).in_form(form), &input);
                let step = |a: f32, b: f32| if b.is_nan() || a.total_cmp(&b).is_ge() { a } else { b };
                let is_right = is_scan(bounds, &input, &found, f32::NEG_INFINITY, step);
                assert!(is_right, "most, {n}, {form:?}, {bounds:?}");
            }
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
                let mut temp = dirty_temp(&mut backend, scan.temp_bytes(n));
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

/// Many times with the same temporary memory: whatever the blocks' order, the result is the same.
#[test]
fn again_and_again() {
    for_each_backend!(|backend, is_gpu| {
        let n = at_most(if is_gpu { 5_000_000 } else { 50_000 });
        let input = words(n);
        let right = expected(Bounds::Exclusive, &input, 0, u32::wrapping_add);
        for form in forms(is_gpu, n) {
            let scan = Scan::<Sum<u32>>::exclusive().in_form(form);
            let numbers = backend.upload("numbers", &input).unwrap();
            let mut sums = backend.zeroed("sums", input.len()).unwrap();
            let mut temp = dirty_temp(&mut backend, scan.temp_bytes(n));
            for time in 0..times() {
                scan.run(&mut backend, &numbers, &mut sums, Length::Host(n), &mut temp).unwrap();
                assert!(backend.download(&sums).unwrap() == right, "{time}, {form:?}");
            }
        }
    });
}

/// Too small buffers are reported, and nothing is written.
#[test]
fn errors() {
    for_each_backend!(|backend, _is_gpu| {
        let scan = Scan::<Sum<u32>>::exclusive();
        let numbers = backend.upload("numbers", &[1, 2, 3]).unwrap();
        let mut sums = backend.upload("sums", &[7, 7]).unwrap();
        let mut temp = dirty_temp(&mut backend, scan.temp_bytes(3));
        let error = scan.run(&mut backend, &numbers, &mut sums, Length::Host(3), &mut temp).unwrap_err();
        assert_eq!(error.to_string(), "scanning: the output has room for 2 of 3 elements");
        let mut none = dirty_temp(&mut backend, 0);
        let error = scan.run(&mut backend, &numbers, &mut sums, Length::Host(2), &mut none).unwrap_err();
        assert!(error.to_string().contains("there are 0 of "), "{error}");
        let error =
            scan.run(&mut backend, &numbers, &mut sums, Length::Host(1 << 31), &mut temp).unwrap_err();
        assert!(error.to_string().contains("2147483648"), "{error}");
        assert_eq!(backend.download(&sums).unwrap(), [7, 7]);
    });
}

/// One wrong number, a scan of the other kind, one that stops and one in another order would be found.
#[test]
fn the_comparison_rejects() {
    let input = words(5000);
    let sums = |bounds| expected(bounds, &input, 0, u32::wrapping_add);
    let (inclusive, exclusive) = (sums(Bounds::Inclusive), sums(Bounds::Exclusive));
    for (bounds, right, other) in
        [(Bounds::Inclusive, &inclusive, &exclusive), (Bounds::Exclusive, &exclusive, &inclusive)]
    {
        let is_right = |sums: &[u32]| is_scan(bounds, &input, sums, 0, u32::wrapping_add);
        assert!(is_right(right) && !is_right(other) && !is_right(&right[..4999]));
        for i in [0, 1, 2500, 4999] {
            let mut wrong = right.clone();
            wrong[i] += 1;
            assert!(!is_right(&wrong), "{i}");
        }
    }
    let [double, add_one] = [2, 1 | 1 << 32];
    assert_ne!(compose(double, add_one), compose(add_one, double));
    assert!(!is_scan(Bounds::Inclusive, &[0.0, 0.0], &[0.0, -0.0], 0.0_f32, |a, b| a + b));
}
