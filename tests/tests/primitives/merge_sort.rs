//! Sorting by merging, against the standard library's stable sort.

use std::cmp::Ordering;

use bytemuck::Pod;
use torrance_gpu::backend::Backend;
use torrance_gpu::primitives::{
    Ascending, Descending, Length, LowHalf, MergeSort, MergeSortable, Primitives,
};
use torrance_tests::arrays::{
    all, at_most, collected, difficult, dirty_temp, is_same, lengths, quick_lengths, random_as, times,
};
use torrance_tests::for_each_backend;

/// The keys and their numbers, as a back end sorts them; and the keys alone.
fn sorted<O: MergeSortable<u32> + MergeSortable<()>, B: Primitives>(
    backend: &mut B,
    keys: &[O::Key],
) -> (Vec<O::Key>, Vec<u32>, Vec<O::Key>) {
    let n = keys.len() as u32;
    let places: Vec<_> = (0..n).collect();
    let from = backend.upload("keys", keys).unwrap();
    let values = backend.upload("values", &places).unwrap();
    let [mut to, mut alone] = [0; 2].map(|_| backend.zeroed("sorted keys", keys.len()).unwrap());
    let mut values_to = backend.zeroed("sorted values", keys.len()).unwrap();
    let (pairs, only) = (MergeSort::<O, u32>::default(), MergeSort::<O>::default());
    let mut temp = dirty_temp(backend, pairs.temp_bytes(n));
    let length = Length::Host(n);
    pairs.run(backend, (&from, &values), (&mut to, &mut values_to), length, &mut temp).unwrap();
    only.run(backend, &from, &mut alone, length, &mut temp).unwrap();
    let [to, alone] = [to, alone].map(|keys| backend.download(&keys).unwrap());
    (to, backend.download(&values_to).unwrap(), alone)
}

/// Whether keys are in order, equal ones in that of their places, and each is from its own place: no other order is so. And
/// whether the keys alone are the same.
fn is_sorted<K: Pod + Send + Sync>(
    input: &[K],
    (keys, places, alone): &(Vec<K>, Vec<u32>, Vec<K>),
    order: impl Fn(K, K) -> Ordering + Sync,
) -> bool {
    let is_from =
        |(key, place): (&K, &u32)| input.get(*place as usize).is_some_and(|from| is_same(&[*from], &[*key]));
    let is_next = |i: usize| order(keys[i - 1], keys[i]).then(places[i - 1].cmp(&places[i])).is_lt();
    [keys.len(), places.len()] == [input.len(); 2]
        && is_same(keys, alone)
        && all(0..keys.len(), &|i| is_from((&keys[i], &places[i])))
        && all(1..keys.len(), &is_next)
}

#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let keys = random_as(21, n, |x| x as u32);
            let found = sorted::<Ascending<u32>, _>(&mut backend, &keys);
            assert!(is_sorted(&keys, &found, |a, b| a.cmp(&b)), "{n}");
        }
    });
}

#[test]
fn by_every_order() {
    for_each_backend!(|backend, is_gpu| {
        for n in quick_lengths(is_gpu).into_iter().chain([4351, 4353, 8703, 8705].map(at_most)) {
            for (name, input) in difficult(n) {
                macro_rules! check {
                    ($O:ty, $keys:expr, $order:expr) => {
                        let found = sorted::<$O, _>(&mut backend, $keys);
                        assert!(is_sorted($keys, &found, $order), "{}, {name}, {n}", stringify!($O));
                    };
                }
                let small: Vec<_> = collected(input.len(), &|i| input[i] as u32);
                check!(Ascending<u32>, &small, |a, b| a.cmp(&b));
                if n > 1 << 16 && name != "random" {
                    continue;
                }
                let signed: Vec<_> = small.iter().map(|x| x.cast_signed()).collect();
                let floats: Vec<_> = small.iter().map(|x| f32::from_bits(*x)).collect();
                check!(Descending<u32>, &small, |a, b| b.cmp(&a));
                check!(Ascending<i32>, &signed, |a, b| a.cmp(&b));
                check!(Descending<i32>, &signed, |a, b| b.cmp(&a));
                check!(Ascending<u64>, &input, |a, b| a.cmp(&b));
                check!(Descending<u64>, &input, |a, b| b.cmp(&a));
                check!(Ascending<f32>, &floats, |a, b| a.total_cmp(&b));
                check!(Descending<f32>, &floats, |a, b| b.total_cmp(&a));
                check!(LowHalf, &small, |a, b| (a as u16).cmp(&(b as u16)));
            }
        }
    });
}

/// The total order: NaNs at the ends by their sign, −0 before +0, subnormals where they belong.
#[test]
fn of_floats_that_are_not_numbers() {
    for_each_backend!(|backend, _is_gpu| {
        let some =
            [0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-42, -1e-42, 1.0, -1.0];
        let keys = random_as(22, at_most(10_000), |x| some[(x % 10) as usize]);
        let found = sorted::<Ascending<f32>, _>(&mut backend, &keys);
        assert!(is_sorted(&keys, &found, |a, b| a.total_cmp(&b)));
        // Another order is another result.
        assert!(!is_sorted(&keys, &found, |a, b| a.partial_cmp(&b).unwrap_or(Ordering::Equal)));
    });
}

#[test]
fn of_a_length_on_the_machine() {
    for_each_backend!(|backend, _is_gpu| {
        for (n, count) in
            [(0_u32, 5_u32), (70_000, 0), (70_000, 1), (70_000, 8705), (70_000, 40_000), (70_000, 90_000)]
        {
            let keys = random_as(23, n, |x| x as u32 % 1000);
            let places: Vec<_> = (0..n).collect();
            let from = backend.upload("keys", &keys).unwrap();
            let values = backend.upload("values", &places).unwrap();
            let marks = vec![7_777_u32; n as usize];
            let [mut alone, mut to, mut values_to] =
                [0; 3].map(|_| backend.upload("sorted", &marks).unwrap());
            let count_there = backend.upload("count", &[count]).unwrap();
            let length = Length::Device { count: &count_there, most: n };
            let (only, pairs) =
                (MergeSort::<Ascending<u32>>::default(), MergeSort::<Ascending<u32>, u32>::default());
            let mut temp = dirty_temp(&mut backend, pairs.temp_bytes(n));
            pairs.run(&mut backend, (&from, &values), (&mut to, &mut values_to), length, &mut temp).unwrap();
            only.run(&mut backend, &from, &mut alone, length, &mut temp).unwrap();
            let end = count.min(n) as usize;
            let [keys_there, places, alone] = [&to, &values_to, &alone].map(|buffer| {
                let mut found = backend.download(buffer).unwrap();
                assert!(found[end..] == marks[end..], "{count} of {n}");
                found.truncate(end);
                found
            });
            let is_right = is_sorted(&keys[..end], &(keys_there, places, alone), |a, b| a.cmp(&b));
            assert!(is_right, "{count} of {n}");
        }
    });
}

#[test]
fn again_and_again() {
    for_each_backend!(|backend, is_gpu| {
        let n = at_most(if is_gpu { 1_000_003 } else { 10_007 });
        let keys = random_as(24, n, |x| x as u32 % 5000);
        let first = sorted::<Ascending<u32>, _>(&mut backend, &keys);
        assert!(is_sorted(&keys, &first, |a, b| a.cmp(&b)));
        for time in 1..times() {
            assert!(sorted::<Ascending<u32>, _>(&mut backend, &keys) == first, "{time}");
        }
    });
}

#[test]
fn too_small_buffers_are_refused() {
    for_each_backend!(|backend, _is_gpu| {
        let keys = backend.upload("keys", &[3_u32, 1, 2]).unwrap();
        let mut to = backend.zeroed("sorted keys", 2).unwrap();
        let sort = MergeSort::<Ascending<u32>>::default();
        let mut temp = dirty_temp(&mut backend, sort.temp_bytes(3));
        let error = sort.run(&mut backend, &keys, &mut to, Length::Host(3), &mut temp).unwrap_err();
        assert!(error.reason.contains("output"), "{error}");
        let mut to = backend.zeroed("sorted keys", 3).unwrap();
        let mut none = dirty_temp(&mut backend, 0);
        let error = sort.run(&mut backend, &keys, &mut to, Length::Host(3), &mut none).unwrap_err();
        assert!(error.reason.contains("temporary"), "{error}");
    });
}

/// Keys that are not in order, equal ones that are not in that of their places, and lost ones would be found.
#[test]
fn the_comparison_rejects() {
    let is_right = |keys: &[u32], places: &[u32], alone: &[u32]| {
        is_sorted(&[3, 1, 3, 2], &(keys.to_vec(), places.to_vec(), alone.to_vec()), |a, b| a.cmp(&b))
    };
    let sorted = [1, 2, 3, 3];
    assert!(is_right(&sorted, &[1, 3, 0, 2], &sorted));
    for places in [[1, 3, 2, 0], [1, 3, 0, 0], [3, 1, 0, 2], [1, 3, 0, 4]] {
        assert!(!is_right(&sorted, &places, &sorted), "{places:?}");
    }
    assert!(!is_right(&sorted, &[1, 3, 0, 2], &[1, 2, 2, 3]));
    assert!(!is_right(&[1, 3, 2, 3], &[1, 0, 3, 2], &[1, 3, 2, 3]));
    assert!(!is_right(&[1, 2, 3], &[1, 3, 0], &[1, 2, 3]));
}
