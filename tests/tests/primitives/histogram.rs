//! Histograms, against sorted bins.

use device::primitives::histogram::Countable;
use renderer::backend::Backend;
use renderer::primitives::{Histogram, Length, Primitives};
use torrance_tests::arrays::{difficult, lengths, random, short_lengths};
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

fn expected<T: Copy>(bins: u32, input: &[T], bin: impl Fn(T) -> Option<u32>) -> Vec<u32> {
    let mut found: Vec<_> = input.iter().filter_map(|x| bin(*x)).collect();
    found.sort_unstable();
    let below = |bin| found.partition_point(|x| *x < bin) as u32;
    (0..bins).map(|bin| below(bin + 1) - below(bin)).collect()
}

#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let input: Vec<_> = random(3, n).into_iter().map(|x| x as u32).collect();
            let found = counted(&mut backend, Histogram::digits(24..32), &input);
            let mut expected = [0; 256];
            for x in input {
                expected[x.to_be_bytes()[0] as usize] += 1;
            }
            assert!(found == expected, "{n}");
        }
    });
}

#[test]
fn of_any_number_of_bins() {
    for_each_backend!(|backend, is_gpu| {
        let large = if is_gpu { (1 << 20) + 1 } else { 30_011 };
        for n in short_lengths(is_gpu).into_iter().filter(|n| *n < 1 << 20).chain([large]) {
            for bins in [0, 1, 2, 256, 1000, 1024, 1025, 4096, 8192, 8193, 100_000] {
                // Some are outside.
                let input: Vec<_> =
                    random(4, n).into_iter().map(|x| (x % (u64::from(bins) + 3)) as u32).collect();
                let found = counted(&mut backend, Histogram::values(bins), &input);
                assert!(found == expected(bins, &input, Some), "{n} {bins}");
            }
        }
    });
}

#[test]
fn of_difficult_numbers() {
    for_each_backend!(|backend, _is_gpu| {
        for (what, input) in difficult(100_003) {
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
        let mut input: Vec<_> = random(5, 70_001).into_iter().map(|x| f32::from_bits(x as u32)).collect();
        input.extend(random(6, 70_001).into_iter().map(|x| (x as i32) as f32 / 1e9));
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
fn the_same_every_time() {
    for_each_backend!(|backend, _is_gpu| {
        let input: Vec<_> = random(7, 100_000).into_iter().map(|x| (x % 300) as u32).collect();
        let expected = expected(300, &input, Some);
        for time in 0..100 {
            assert!(counted(&mut backend, Histogram::values(300), &input) == expected, "{time}");
        }
    });
}

#[test]
fn of_as_many_as_the_machine_says() {
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
