//! Sorting by merging, against the standard library's stable sort.

use std::cmp::Ordering;

use bytemuck::Pod;
use renderer::backend::Backend;
use renderer::primitives::{
    Ascending, Descending, Length, LowHalf, MergeSort, MergeSortable, Primitives, Temp,
};
use torrance_tests::arrays::{difficult, lengths, random, short_lengths};
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
    let mut temp = Temp::new(backend, pairs.temp_bytes(n)).unwrap();
    let length = Length::Host(n);
    pairs.run(backend, (&from, &values), (&mut to, &mut values_to), length, &mut temp).unwrap();
    only.run(backend, &from, &mut alone, length, &mut temp).unwrap();
    let [to, alone] = [to, alone].map(|keys| backend.download(&keys).unwrap());
    (to, backend.download(&values_to).unwrap(), alone)
}

/// What the standard library makes of them.
fn right<K: Copy>(keys: &[K], order: impl Fn(K, K) -> Ordering) -> (Vec<K>, Vec<u32>, Vec<K>) {
    let mut places: Vec<_> = (0..keys.len() as u32).collect();
    places.sort_by(|a, b| order(keys[*a as usize], keys[*b as usize]));
    let keys: Vec<_> = places.iter().map(|i| keys[*i as usize]).collect();
    (keys.clone(), places, keys)
}

/// Whether they are the same, bit by bit.
fn is_same<K: Pod>(a: &(Vec<K>, Vec<u32>, Vec<K>), b: &(Vec<K>, Vec<u32>, Vec<K>)) -> bool {
    let bytes = |keys: &[K]| bytemuck::cast_slice::<_, u8>(keys).to_vec();
    bytes(&a.0) == bytes(&b.0) && a.1 == b.1 && bytes(&a.2) == bytes(&b.2)
}

#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let keys: Vec<_> = random(21, n).into_iter().map(|x| x as u32).collect();
            let found = sorted::<Ascending<u32>, _>(&mut backend, &keys);
            if n < 1 << 24 {
                assert!(is_same(&found, &right(&keys, |a, b| a.cmp(&b))), "{n}");
            } else {
                // As good: keys in order, equal ones in that of their places, and each with its own place.
                let (sorted, places, alone) = found;
                assert!(sorted == alone && sorted.is_sorted(), "{n}");
                assert!(places.iter().zip(&sorted).all(|(i, key)| keys[*i as usize] == *key), "{n}");
                assert!(
                    (1..sorted.len()).all(|i| (sorted[i - 1], places[i - 1]) < (sorted[i], places[i])),
                    "{n}"
                );
            }
        }
    });
}

#[test]
fn by_every_order() {
    for_each_backend!(|backend, is_gpu| {
        for n in short_lengths(is_gpu).into_iter().chain([4351, 4353, 8703, 8705, 40_000]) {
            for (name, input) in difficult(n) {
                macro_rules! check {
                    ($O:ty, $keys:expr, $order:expr) => {
                        let found = sorted::<$O, _>(&mut backend, $keys);
                        assert!(is_same(&found, &right($keys, $order)), "{}, {name}, {n}", stringify!($O));
                    };
                }
                if n > 1 << 16 && name != "random" && name != "few" {
                    continue;
                }
                let small: Vec<_> = input.iter().map(|x| *x as u32).collect();
                let signed: Vec<_> = small.iter().map(|x| x.cast_signed()).collect();
                let floats: Vec<_> = small.iter().map(|x| f32::from_bits(*x)).collect();
                check!(Ascending<u32>, &small, |a, b| a.cmp(&b));
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
        let keys: Vec<_> = random(22, 10_000).into_iter().map(|x| some[(x % 10) as usize]).collect();
        let found = sorted::<Ascending<f32>, _>(&mut backend, &keys);
        assert!(is_same(&found, &right(&keys, |a, b| a.total_cmp(&b))));
        // Another order is another result.
        assert!(!is_same(&found, &right(&keys, |a, b| a.partial_cmp(&b).unwrap_or(Ordering::Equal))));
    });
}

#[test]
fn of_a_length_on_the_machine() {
    for_each_backend!(|backend, _is_gpu| {
        for (n, count) in
            [(0_u32, 5_u32), (70_000, 0), (70_000, 1), (70_000, 8705), (70_000, 40_000), (70_000, 90_000)]
        {
            let keys: Vec<_> = random(23, n).into_iter().map(|x| x as u32 % 1000).collect();
            let from = backend.upload("keys", &keys).unwrap();
            let mut to = backend.upload("sorted keys", &vec![7_777_u32; n as usize]).unwrap();
            let count_there = backend.upload("count", &[count]).unwrap();
            let sort = MergeSort::<Ascending<u32>>::default();
            let mut temp = Temp::new(&mut backend, sort.temp_bytes(n)).unwrap();
            let length = Length::Device { count: &count_there, most: n };
            sort.run(&mut backend, &from, &mut to, length, &mut temp).unwrap();
            let mut right = keys[..count.min(n) as usize].to_vec();
            right.sort();
            right.resize(n as usize, 7_777);
            assert!(backend.download(&to).unwrap() == right, "{count} of {n}");
        }
    });
}

#[test]
fn again_and_again() {
    for_each_backend!(|backend, _is_gpu| {
        let keys: Vec<_> = random(24, 30_011).into_iter().map(|x| x as u32 % 5000).collect();
        let right = right(&keys, |a, b| a.cmp(&b));
        for _ in 0..100 {
            assert!(is_same(&sorted::<Ascending<u32>, _>(&mut backend, &keys), &right));
        }
    });
}

#[test]
fn too_small_buffers_are_refused() {
    for_each_backend!(|backend, _is_gpu| {
        let keys = backend.upload("keys", &[3_u32, 1, 2]).unwrap();
        let mut to = backend.zeroed("sorted keys", 2).unwrap();
        let sort = MergeSort::<Ascending<u32>>::default();
        let mut temp = Temp::new(&mut backend, sort.temp_bytes(3)).unwrap();
        let error = sort.run(&mut backend, &keys, &mut to, Length::Host(3), &mut temp).unwrap_err();
        assert!(error.reason.contains("output"), "{error}");
        let mut to = backend.zeroed("sorted keys", 3).unwrap();
        let mut none = Temp::new(&mut backend, 0).unwrap();
        let error = sort.run(&mut backend, &keys, &mut to, Length::Host(3), &mut none).unwrap_err();
        assert!(error.reason.contains("temporary"), "{error}");
    });
}
