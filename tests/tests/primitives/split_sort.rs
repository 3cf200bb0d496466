//! The sort by splits, against the standard library's.

use renderer::backend::Backend;
use renderer::primitives::{Length, Primitives, SplitSort};
use torrance_tests::arrays::{difficult, random, short_lengths};
use torrance_tests::for_each_backend;

fn keys<B: Primitives>(backend: &mut B, keys: &[u32]) -> Vec<u32> {
    let input = backend.upload("keys", keys).unwrap();
    let mut output = backend.zeroed("sorted", keys.len()).unwrap();
    SplitSort.run(backend, &input, &mut output, Length::Host(keys.len() as u32)).unwrap();
    assert!(backend.download(&input).unwrap() == keys);
    backend.download(&output).unwrap()
}

/// Sorted keys, and the indices at which they were.
fn pairs<B: Primitives>(backend: &mut B, keys: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let n = keys.len() as u32;
    let input = (
        backend.upload("keys", keys).unwrap(),
        backend.upload("indices", &(0..n).collect::<Vec<_>>()).unwrap(),
    );
    let mut output =
        (backend.zeroed("sorted", keys.len()).unwrap(), backend.zeroed("values", keys.len()).unwrap());
    let to = (&mut output.0, &mut output.1);
    SplitSort.run_pairs(backend, (&input.0, &input.1), to, Length::Host(n)).unwrap();
    (backend.download(&output.0).unwrap(), backend.download(&output.1).unwrap())
}

#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        let mut lengths = short_lengths(is_gpu);
        lengths.extend([2047, 2049, 3000, 4096, 5121]);
        if is_gpu {
            lengths.push((1 << 24) + 7);
        }
        for n in lengths {
            let input: Vec<_> = random(5, n).into_iter().map(|x| x as u32).collect();
            let mut expected = input.clone();
            expected.sort_unstable();
            assert!(keys(&mut backend, &input) == expected, "{n}");
        }
    });
}

#[test]
fn values_stay_with_their_keys() {
    for_each_backend!(|backend, is_gpu| {
        for n in short_lengths(is_gpu).into_iter().filter(|n| *n < 1 << 20).chain([70_001]) {
            for (what, input) in difficult(n) {
                // Also the greatest key, which stands for what is beyond the end.
                let input: Vec<_> =
                    input.into_iter().map(|x| if x % 7 == 0 { u32::MAX } else { x as u32 }).collect();
                let (sorted, mut indices) = pairs(&mut backend, &input);
                let mut expected = input.clone();
                expected.sort_unstable();
                assert!(sorted == expected, "{n} {what}");
                assert!(sorted.iter().zip(&indices).all(|(key, i)| input[*i as usize] == *key), "{n} {what}");
                indices.sort_unstable();
                assert!(indices.into_iter().eq(0..n), "{n} {what}");
            }
        }
    });
}

#[test]
fn a_tile_is_sorted_stably() {
    for_each_backend!(|backend, _is_gpu| {
        for n in [1, 33, 1023, 1024] {
            let input: Vec<_> = random(6, n).into_iter().map(|x| x as u32 % 10).collect();
            let mut expected: Vec<_> = input.iter().copied().zip(0..).collect();
            expected.sort_by_key(|(key, _)| *key);
            assert!(pairs(&mut backend, &input) == expected.into_iter().unzip(), "{n}");
        }
    });
}

#[test]
fn of_as_many_as_the_machine_says() {
    for_each_backend!(|backend, _is_gpu| {
        let input: Vec<_> = random(7, 30_000).into_iter().map(|x| x as u32).collect();
        for n in [0_u32, 1, 9_999, 30_000, 70_000] {
            let numbers = backend.upload("keys", &input).unwrap();
            let mut output = backend.zeroed("sorted", input.len()).unwrap();
            let count = backend.upload("count", &[n]).unwrap();
            let length = Length::Device { count: &count, most: 30_000 };
            SplitSort.run(&mut backend, &numbers, &mut output, length).unwrap();
            let mut expected = input.clone();
            let n = input.len().min(n as usize);
            expected[..n].sort_unstable();
            expected[n..].fill(0);
            assert!(backend.download(&output).unwrap() == expected, "{n}");
        }
    });
}

#[test]
fn the_same_every_time() {
    for_each_backend!(|backend, _is_gpu| {
        let input: Vec<_> = random(8, 10_007).into_iter().map(|x| x as u32 % 100).collect();
        let first = pairs(&mut backend, &input);
        for time in 1..100 {
            assert!(pairs(&mut backend, &input) == first, "{time}");
        }
    });
}
