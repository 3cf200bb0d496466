//! Histograms, against sorted bins.

use primitives::histogram::Countable;
use rayon::prelude::*;
use torrance_gpu::backend::Backend;
use torrance_gpu::primitives::{Histogram, Length, Primitives};
use torrance_tests::arrays::{at_most, difficult, lengths, quick_lengths, random_as, times};
use torrance_tests::for_each_backend;

fn counted<B: Primitives, C: Countable>(
    backend: &mut B,
    histogram: Histogram<C>,
    input: &[C::Item],
) -> Vec<u32> {
    let numbers = backend.upload("numbers", input).unwrap();
    // What was there before does not count.
    let mut counts = backend.upload("counts", &vec![77; histogram.bins() as usize]).unwrap();
    histogram.run(backend, &numbers, &mut counts, Length::Host(input.len() as u32)).unwrap();
    backend.download(&counts).unwrap()
}

/// Counts of bins, of parts of the input side by side.
fn expected<T: Copy + Sync>(bins: u32, input: &[T], bin: impl Fn(T) -> Option<u32> + Sync) -> Vec<u32> {
    let part = |numbers: &[T]| {
        let mut counts = vec![0; bins as usize];
        for bin in numbers.iter().filter_map(|x| bin(*x)) {
            if let Some(count) = counts.get_mut(bin as usize) {
                *count += 1;
            }
        }
        counts
    };
    let sum = |a: Vec<u32>, b: Vec<u32>| a.into_iter().zip(b).map(|(a, b)| a + b).collect();
    input.par_chunks(1 << 20).map(part).reduce(|| vec![0; bins as usize], sum)
}

#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            for (what, input) in difficult(n) {
                let input: Vec<_> = input.into_par_iter().map(|x| x as u32).collect();
                let found = counted(&mut backend, Histogram::digits(24..32), &input);
                assert!(found == expected(256, &input, |x| Some(x >> 24)), "digits, {what}, {n}");
                let found = counted(&mut backend, Histogram::values(1000), &input);
                assert!(found == expected(1000, &input, Some), "values, {what}, {n}");
                let floats: Vec<_> = input.into_par_iter().map(|x| (x >> 8) as f32).collect();
                let found = counted(&mut backend, Histogram::even(0.0..16_777_216.0, 512), &floats);
                assert!(found == expected(512, &floats, |x| Some(x as u32 >> 15)), "even, {what}, {n}");
            }
        }
    });
}

#[test]
fn of_any_number_of_bins() {
    for_each_backend!(|backend, is_gpu| {
        for n in quick_lengths(is_gpu) {
            for bins in [0, 1, 2, 256, 1000, 1024, 1025, 4096, 8192, 8193, 100_000] {
                // Some are outside.
                let input = random_as(4, n, |x| (x % (u64::from(bins) + 3)) as u32);
                let found = counted(&mut backend, Histogram::values(bins), &input);
                assert!(found == expected(bins, &input, Some), "{n} {bins}");
            }
        }
    });
}

#[test]
fn of_difficult_numbers() {
    for_each_backend!(|backend, _is_gpu| {
        for (what, input) in difficult(at_most(100_003)) {
            let input: Vec<_> = input.into_iter().map(|x| x as u32).collect();
            for bits in [0..8, 3..4, 11..27] {
                let (begin, bins) = (bits.start, 1 << bits.len());
                let found = counted(&mut backend, Histogram::digits(bits), &input);
                assert!(found == expected(bins, &input, |x| Some(x >> begin & (bins - 1))), "{what} {bins}");
            }
        }
    });
}

#[test]
fn of_floats() {
    for_each_backend!(|backend, _is_gpu| {
        let mut input = random_as(5, at_most(70_001), |x| f32::from_bits(x as u32));
        input.extend(random_as(6, at_most(70_001), |x| (x as i32) as f32 / 1e9));
        input.extend([-0.0, 0.0, f32::NAN, 1e-40, -1e-40, -1.0, 2.0, 2.0_f32.next_down(), f32::INFINITY]);
        for (low, high, bins) in [(-1.0, 2.0, 3), (0.0, 2.0, 1 << 12), (-1.5, 1e30, 10_000), (-2.0, -1.0, 1)]
        {
            let found = counted(&mut backend, Histogram::even(low..high, bins), &input);
            let of = |x: f32| {
                let x = if x.is_subnormal() { 0.0 } else { x };
                let scale = bins as f32 / (high - low);
                (x >= low && x < high).then(|| (((x - low) * scale) as u32).min(bins - 1))
            };
            assert!(found == expected(bins, &input, of), "{low} {high} {bins}");
        }
    });
}

/// Bins that do not depend on rounding.
#[test]
fn floats_are_where_they_belong() {
    for_each_backend!(|backend, _is_gpu| {
        let input = [-4.5, -4.0, -3.5, -3.0, 0.0, -0.0, 3.0, 3.5, 4.0, f32::NAN, -1e-40];
        let found = counted(&mut backend, Histogram::even(-4.0..4.0, 8), &input);
        assert_eq!(found, [2, 1, 0, 0, 3, 0, 0, 2]);
    });
}

#[test]
fn again_and_again() {
    for_each_backend!(|backend, is_gpu| {
        let input = random_as(7, at_most(if is_gpu { 1_000_003 } else { 100_000 }), |x| (x % 300) as u32);
        let expected = expected(300, &input, Some);
        for time in 0..times() {
            assert!(counted(&mut backend, Histogram::values(300), &input) == expected, "{time}");
        }
    });
}

#[test]
fn of_a_length_on_the_machine() {
    for_each_backend!(|backend, _is_gpu| {
        let numbers = backend.upload("numbers", &vec![1_u32; 10_000]).unwrap();
        for n in [0_u32, 5, 9_999, 20_000] {
            let count = backend.upload("count", &[n]).unwrap();
            let mut counts = backend.zeroed("counts", 2).unwrap();
            let length = Length::Device { count: &count, most: 10_000 };
            Histogram::values(2).run(&mut backend, &numbers, &mut counts, length).unwrap();
            assert_eq!(backend.download(&counts).unwrap(), [0, n.min(10_000)]);
        }
    });
}

#[test]
#[should_panic(expected = "no 5 bins are even in 1.0..1.0")]
fn of_no_empty_range() {
    let _ = Histogram::even(1.0..1.0, 5);
}

/// A number that is not counted, counted twice or in another bin, and one outside would be found.
#[test]
fn the_comparison_rejects() {
    let right = expected(4, &[0, 1, 1, 3, 9], Some);
    assert_eq!(right, [1, 2, 0, 1]);
    for wrong in [&[0, 1, 1, 9][..], &[0, 1, 1, 3, 3], &[0, 1, 2, 3, 9], &[0, 1, 1, 3, 2]] {
        assert_ne!(right, expected(4, wrong, Some), "{wrong:?}");
    }
    let mut backend = torrance_gpu::backend::cpu::Cpu::new(None).unwrap();
    assert_eq!(counted(&mut backend, Histogram::values(4), &[0, 1, 1, 3, 9]), right);
    assert_ne!(counted(&mut backend, Histogram::values(4), &[0, 1, 1, 3, 3]), right);
}
