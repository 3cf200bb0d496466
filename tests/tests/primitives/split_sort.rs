//! The sort by splits, against the standard library's.

use rayon::prelude::*;
use torrance_gpu::backend::Backend;
use torrance_gpu::primitives::{Length, Primitives, SplitSort};
use torrance_tests::arrays::{all, at_most, difficult, lengths, quick_lengths, random_as, times};
use torrance_tests::for_each_backend;

/// Sorted keys alone.
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
    let places: Vec<_> = (0..n).collect();
    let input = (backend.upload("keys", keys).unwrap(), backend.upload("places", &places).unwrap());
    let mut output =
        (backend.zeroed("sorted", keys.len()).unwrap(), backend.zeroed("values", keys.len()).unwrap());
    let to = (&mut output.0, &mut output.1);
    SplitSort.run_pairs(backend, (&input.0, &input.1), to, Length::Host(n)).unwrap();
    (backend.download(&output.0).unwrap(), backend.download(&output.1).unwrap())
}

/// Whether keys are in order and are all there, each with its place. If `is_stable`, equal ones in the order of their
/// places.
fn is_sorted(input: &[u32], (sorted, places): &(Vec<u32>, Vec<u32>), is_stable: bool) -> bool {
    let is_from = |(key, place): (&u32, &u32)| input.get(*place as usize) == Some(key);
    let is_next = |i: usize| {
        if is_stable {
            (sorted[i - 1], places[i - 1]) < (sorted[i], places[i])
        } else {
            sorted[i - 1] <= sorted[i]
        }
    };
    let mut in_order = places.clone();
    in_order.par_sort_unstable();
    [sorted.len(), places.len()] == [input.len(); 2]
        && all(0..sorted.len(), &|i| is_from((&sorted[i], &places[i])))
        && all(1..sorted.len(), &is_next)
        && in_order.into_iter().eq(0..input.len() as u32)
}

#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu).into_iter().chain([2047, 2049, 3000, 4096, 5121].map(at_most)) {
            let input = random_as(5, n, |x| x as u32);
            let found = pairs(&mut backend, &input);
            assert!(is_sorted(&input, &found, n <= 1024), "{n}");
            // The twin of keys alone is the same.
            if is_gpu || n < 1 << 16 {
                assert!(keys(&mut backend, &input) == found.0, "{n}");
            }
        }
    });
}

#[test]
fn of_difficult_keys() {
    for_each_backend!(|backend, is_gpu| {
        for n in quick_lengths(is_gpu) {
            for (what, input) in difficult(n) {
                // Also the greatest key, which stands for what is beyond the end.
                let input: Vec<_> =
                    input.into_iter().map(|x| if x % 7 == 0 { u32::MAX } else { x as u32 }).collect();
                let found = pairs(&mut backend, &input);
                assert!(is_sorted(&input, &found, n <= 1024), "{n} {what}");
                assert!(keys(&mut backend, &input) == found.0, "{n} {what}");
            }
        }
    });
}

#[test]
fn of_a_length_on_the_machine() {
    for_each_backend!(|backend, _is_gpu| {
        let most = 30_000;
        let input = random_as(7, most, |x| x as u32 % 5000);
        let places: Vec<_> = (0..most).collect();
        for count in [0, 1, 9_999, 30_000, 70_000] {
            let from = backend.upload("keys", &input).unwrap();
            let values = backend.upload("places", &places).unwrap();
            let marks = vec![7_777; most as usize];
            let [mut alone, mut to, mut values_to] =
                [0; 3].map(|_| backend.upload("sorted", &marks).unwrap());
            let count_there = backend.upload("count", &[count]).unwrap();
            let length = Length::Device { count: &count_there, most };
            SplitSort.run(&mut backend, &from, &mut alone, length).unwrap();
            SplitSort.run_pairs(&mut backend, (&from, &values), (&mut to, &mut values_to), length).unwrap();
            let [to, values_to, alone] =
                [&to, &values_to, &alone].map(|buffer| backend.download(buffer).unwrap());
            let end = count.min(most) as usize;
            let found = (to[..end].to_vec(), values_to[..end].to_vec());
            assert!(is_sorted(&input[..end], &found, end <= 1024), "{count}");
            assert!(alone == to && to[end..] == marks[end..] && values_to[end..] == marks[end..], "{count}");
        }
    });
}

#[test]
fn again_and_again() {
    for_each_backend!(|backend, is_gpu| {
        let n = at_most(if is_gpu { 1_000_003 } else { 3_001 });
        let input = random_as(8, n, |x| x as u32 % 100);
        let first = pairs(&mut backend, &input);
        assert!(is_sorted(&input, &first, n <= 1024));
        for time in 1..times() {
            assert!(pairs(&mut backend, &input) == first, "{time}");
            assert!(keys(&mut backend, &input) == first.0, "{time}");
        }
    });
}

/// Keys that are not in order, places that are not theirs, come twice or are not in order would be found.
#[test]
fn the_comparison_rejects() {
    let is_right = |sorted: &[u32], places: &[u32], is_stable| {
        is_sorted(&[3, 1, 3, 2], &(sorted.to_vec(), places.to_vec()), is_stable)
    };
    let sorted = [1, 2, 3, 3];
    assert!(is_right(&sorted, &[1, 3, 0, 2], true) && is_right(&sorted, &[1, 3, 2, 0], false));
    assert!(!is_right(&sorted, &[1, 3, 2, 0], true));
    for places in [[1, 3, 0, 0], [3, 1, 0, 2], [1, 3, 0, 4]] {
        assert!(!is_right(&sorted, &places, false), "{places:?}");
    }
    assert!(!is_right(&[1, 3, 2, 3], &[1, 0, 3, 2], false));
    assert!(!is_right(&[1, 2, 3], &[1, 3, 0], false));
}
