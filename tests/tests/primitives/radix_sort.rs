//! The sort by digits, against the standard library's stable sort.

use std::cmp::Reverse;

use bytemuck::Pod;
use rayon::prelude::*;
use torrance_gpu::backend::Backend;
use torrance_gpu::primitives::{Length, PartitionByKey, Primitives, RadixSort};
use torrance_tests::arrays::{
    all, at_most, collected, difficult, dirty_temp, is_same, lengths, quick_lengths, random, random_as, times,
};
use torrance_tests::for_each_backend;

fn upload<B: Backend, T: Pod + Send + Sync>(backend: &mut B, data: &[T]) -> B::Buf<T> {
    backend.upload("data", data).unwrap()
}

/// The keys and the values that a sort makes of some: `pairs!(backend, sort, keys, values: u32)`.
macro_rules! pairs {
    ($backend:expr, $sort:expr, $keys:expr, $values:ident: $V:ty) => {{
        let (backend, sort, keys) = (&mut $backend, $sort, &$keys[..]);
        let n = keys.len() as u32;
        let input = (upload(backend, keys), upload(backend, &$values[..]));
        let mut output = (upload(backend, keys), upload(backend, &$values[..]));
        let mut temp = dirty_temp(backend, sort.pairs_temp_bytes::<$V>(n));
        let to = (&mut output.0, &mut output.1);
        sort.run_pairs(backend, (&input.0, &input.1), to, Length::Host(n), &mut temp).unwrap();
        (backend.download(&output.0).unwrap(), backend.download(&output.1).unwrap())
    }};
}

/// The keys that a sort makes of some: `keys!(backend, sort, keys)`.
macro_rules! keys {
    ($backend:expr, $sort:expr, $keys:expr) => {{
        let (backend, sort, keys) = (&mut $backend, $sort, &$keys[..]);
        let n = keys.len() as u32;
        let (input, mut output) = (upload(backend, keys), upload(backend, keys));
        let mut temp = dirty_temp(backend, sort.temp_bytes(n));
        sort.run(backend, &input, &mut output, Length::Host(n), &mut temp).unwrap();
        assert!(is_same(&backend.download(&input).unwrap(), keys));
        backend.download(&output).unwrap()
    }};
}

/// Keys in the order of `by`, each with its index.
fn expected<K: Copy, O: Ord>(keys: &[K], by: impl Fn(&K) -> O) -> (Vec<K>, Vec<u32>) {
    let mut pairs: Vec<_> = keys.iter().copied().zip(0..).collect();
    pairs.sort_by_key(|(key, _)| by(key));
    pairs.into_iter().unzip()
}

/// Whether sorted keys and values are what a stable sort makes of `keys` and their indices. That values with equal keys
/// rise says that no index comes twice. Only bits of keys that `mask` has count.
fn is_stable_sort(keys: &[u32], mask: u32, sorted: &[u32], indices: &[u32]) -> bool {
    let is_from = |(i, key): (&u32, &u32)| keys.get(*i as usize) == Some(key);
    let is_next = |i: usize| (sorted[i - 1] & mask, indices[i - 1]) < (sorted[i] & mask, indices[i]);
    keys.len() == sorted.len()
        && keys.len() == indices.len()
        && all(0..indices.len(), &|i| is_from((&indices[i], &sorted[i])))
        && all(1..keys.len(), &is_next)
}

#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let keys = random_as(5, n, |x| x as u32);
            let indices: Vec<u32> = (0..n).collect();
            let (sorted, values) = pairs!(backend, RadixSort::<u32>::ascending(), keys, indices: u32);
            assert!(is_stable_sort(&keys, u32::MAX, &sorted, &values), "{n}");
            let mut expected = keys.clone();
            expected.par_sort_unstable();
            assert!(keys!(backend, RadixSort::<u32>::ascending(), keys) == expected, "{n}");
        }
    });
}

#[test]
fn a_wrong_order_is_seen() {
    let is_right = |sorted: &[u32], indices: &[u32]| is_stable_sort(&[3, 1, 3, 2], u32::MAX, sorted, indices);
    assert!(is_right(&[1, 2, 3, 3], &[1, 3, 0, 2]));
    assert!(!is_right(&[1, 2, 3, 3], &[1, 3, 2, 0]));
    assert!(!is_right(&[1, 2, 3, 3], &[1, 3, 0, 0]));
    assert!(!is_right(&[1, 3, 2, 3], &[1, 0, 3, 2]));
    assert!(!is_right(&[1, 2, 3], &[1, 3, 0]));
}

/// Tests of one type of keys: how they are made of random bits, and the number that orders them.
macro_rules! of_type {
    ($name:ident: $K:ty, $from:expr, $order:expr) => {
        #[test]
        fn $name() {
            for_each_backend!(|backend, is_gpu| {
                for n in quick_lengths(is_gpu) {
                    let (from, order): (fn(u64) -> $K, _) = ($from, $order);
                    for (what, bits) in difficult(n) {
                        let keys: Vec<$K> = bits.into_iter().map(from).collect();
                        let (up, indices) = expected(&keys, order);
                        let alone = keys!(backend, RadixSort::<$K>::ascending(), keys);
                        assert!(is_same(&alone, &up), "{n} {what}");
                        let input: Vec<u32> = (0..n).collect();
                        let (sorted, values) = pairs!(backend, RadixSort::<$K>::ascending(), keys, input: u32);
                        assert!(is_same(&sorted, &up) && values == indices, "{n} {what}");

                        let (down, indices) = expected(&keys, |key| Reverse(order(key)));
                        let input: Vec<u64> = (0..u64::from(n)).map(|i| i << 32 | i).collect();
                        let (sorted, values) = pairs!(backend, RadixSort::<$K>::descending(), keys, input: u64);
                        let indices: Vec<_> = indices.into_iter().map(|i| input[i as usize]).collect();
                        assert!(is_same(&sorted, &down) && values == indices, "{n} {what}");
                    }
                }
            });
        }
    };
}

of_type!(of_u32: u32, |x| x as u32, |key: &u32| *key);
of_type!(of_i32: i32, |x| x as i32, |key: &i32| *key);
of_type!(of_u64: u64, |x| x, |key: &u64| *key);
// Many of them are NaNs, zeros and infinities of both signs.
of_type!(
    of_f32: f32,
    |x| if x % 3 == 0 { [-0.0, 0.0, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-40][(x / 3 % 6) as usize] }
        else { f32::from_bits(x as u32) },
    |key: &f32| {
        // IEEE 754-2008, 5.10, by `total_cmp`'s own rule: numbers with a sign are turned.
        let bits = key.to_bits().cast_signed();
        bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
    }
);

#[test]
fn floats_are_in_their_total_order() {
    for_each_backend!(|backend, _is_gpu| {
        let keys = random_as(9, at_most(5000), |x| f32::from_bits(x as u32));
        let mut expected = keys.clone();
        expected.sort_by(f32::total_cmp);
        assert!(is_same(&keys!(backend, RadixSort::<f32>::ascending(), keys), &expected));
    });
}

#[test]
fn of_any_bits() {
    for_each_backend!(|backend, _is_gpu| {
        for n in [1, 257, at_most(20_000)] {
            let keys: Vec<_> = random(6, n);
            let input: Vec<u32> = (0..n).collect();
            for begin in (0..=64).step_by(7) {
                for end in (begin..=64).step_by(3) {
                    let of = |key: &u64| u128::from(*key) >> begin & ((1 << (end - begin)) - 1);
                    let (sorted, indices) = expected(&keys, of);
                    let sort = RadixSort::<u64>::ascending().by_bits(begin..end);
                    let found = pairs!(backend, sort, keys, input: u32);
                    assert!(found == (sorted, indices), "{n} {begin} {end}");
                    let keys: Vec<_> = keys.iter().map(|key| *key as u32).collect();
                    if end <= 32 {
                        let of = |key: &u32| Reverse(u64::from(*key) >> begin & ((1 << (end - begin)) - 1));
                        let sort = RadixSort::<u32>::descending().by_bits(begin..end);
                        assert!(keys!(backend, sort, keys) == expected(&keys, of).0, "{n} {begin} {end}");
                    }
                }
            }
        }
    });
}

#[test]
#[should_panic(expected = "keys have no bits 3..33")]
fn of_no_bits_that_are_not_there() {
    let _ = RadixSort::<u32>::ascending().by_bits(3..33);
}

#[test]
fn of_a_length_on_the_machine() {
    for_each_backend!(|backend, _is_gpu| {
        let most = 30_000;
        let keys = random_as(7, most, |x| x as u32 % 5000);
        let places: Vec<_> = (0..most).collect();
        let sort = RadixSort::<u32>::ascending();
        for count in [0, 1, 9_999, 30_000, 70_000] {
            let (from, values) = (upload(&mut backend, &keys), upload(&mut backend, &places));
            let marks = vec![7_777; most as usize];
            let [mut alone, mut to, mut values_to] = [0; 3].map(|_| upload(&mut backend, &marks));
            let count_there = upload(&mut backend, &[count]);
            let length = Length::Device { count: &count_there, most };
            let mut temp = dirty_temp(&mut backend, sort.pairs_temp_bytes::<u32>(most));
            let pairs = (&mut to, &mut values_to);
            sort.run_pairs(&mut backend, (&from, &values), pairs, length, &mut temp).unwrap();
            sort.run(&mut backend, &from, &mut alone, length, &mut temp).unwrap();
            let [to, values_to, alone] =
                [&to, &values_to, &alone].map(|buffer| backend.download(buffer).unwrap());
            let end = count.min(most) as usize;
            assert!(is_stable_sort(&keys[..end], u32::MAX, &to[..end], &values_to[..end]), "{count}");
            assert!(alone == to && to[end..] == marks[end..] && values_to[end..] == marks[end..], "{count}");
        }
    });
}

/// Where a partition by key puts things, and what it says of where keys begin.
fn partitioned<B: Primitives, V: Pod + Send + Sync>(
    backend: &mut B,
    keys: &[u32],
    values: &[V],
    n: u32,
) -> (Vec<u32>, Vec<V>, Vec<u32>) {
    let most = keys.len() as u32;
    let input = (upload(backend, keys), upload(backend, values));
    let mut output =
        (backend.zeroed("keys", keys.len()).unwrap(), backend.zeroed("values", keys.len()).unwrap());
    let mut starts = upload(backend, &[7; 256]);
    let count = upload(backend, &[n]);
    let mut temp = dirty_temp(backend, PartitionByKey.temp_bytes::<V>(most));
    let to = (&mut output.0, &mut output.1);
    let length = Length::Device { count: &count, most };
    PartitionByKey.run(backend, (&input.0, &input.1), to, &mut starts, length, &mut temp).unwrap();
    let [keys, starts] = [&output.0, &starts].map(|buffer| backend.download(buffer).unwrap());
    (keys, backend.download(&output.1).unwrap(), starts)
}

/// Whether keys are partitioned by their lowest 8 bits, in their order, and begin there.
fn is_partition(keys: &[u32], (sorted, indices, starts): &(Vec<u32>, Vec<u32>, Vec<u32>)) -> bool {
    let begins = |key: u32| sorted.partition_point(|k| k % 256 < key) as u32;
    is_stable_sort(keys, 255, sorted, indices) && (0..256).map(begins).eq(starts.iter().copied())
}

#[test]
fn partitions_by_key() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let indices: Vec<_> = (0..n).collect();
            for (name, data) in difficult(n).take(if n < 1 << 24 { 6 } else { 1 }) {
                // Few keys; and beyond 255 only the lowest bits count.
                for some in [7_u64, 256, u64::from(u32::MAX)] {
                    let keys: Vec<_> = collected(data.len(), &|i| (data[i] % some) as u32);
                    let found = partitioned(&mut backend, &keys, &indices, n);
                    assert!(is_partition(&keys, &found), "{n} {name} {some}");
                }
            }
        }
    });
}

/// Also of values of 8 bytes.
#[test]
fn partitions_by_key_of_a_length_on_the_machine() {
    for_each_backend!(|backend, _is_gpu| {
        let keys: Vec<u32> = (0..20_000).map(|i| i % 3).collect();
        let values: Vec<_> = (0..20_000_u64).map(|i| i << 32 | i).collect();
        for n in [0, 1, 9_999, 70_000] {
            let end = keys.len().min(n as usize);
            let (sorted, values, starts) = partitioned(&mut backend, &keys, &values, n);
            let behind = sorted[end..].iter().all(|key| *key == 0) && values[end..].iter().all(|x| *x == 0);
            let places: Vec<_> = values[..end].iter().map(|x| *x as u32).collect();
            assert!(behind && values[..end].iter().all(|x| x >> 32 == x & 0xffff_ffff), "{n}");
            assert!(is_partition(&keys[..end], &(sorted[..end].to_vec(), places, starts)), "{n}");
        }
    });
}

/// Starts that are one off would be found, and keys of which more bits count.
#[test]
fn a_wrong_partition_is_seen() {
    let (keys, mut starts) = ([256, 1, 0, 1], vec![4; 256]);
    starts[..2].copy_from_slice(&[0, 2]);
    let is_right = |sorted: [u32; 4], indices: [u32; 4], starts: &[u32]| {
        is_partition(&keys, &(sorted.to_vec(), indices.to_vec(), starts.to_vec()))
    };
    assert!(is_right([256, 0, 1, 1], [0, 2, 1, 3], &starts));
    assert!(!is_right([0, 1, 1, 256], [2, 1, 3, 0], &starts));
    for i in [0, 1, 2, 255] {
        let mut wrong = starts.clone();
        wrong[i] += 1;
        assert!(!is_right([256, 0, 1, 1], [0, 2, 1, 3], &wrong), "{i}");
    }
}

#[test]
fn again_and_again() {
    for_each_backend!(|backend, is_gpu| {
        let n = at_most(if is_gpu { 1_000_003 } else { 10_007 });
        let keys = random_as(8, n, |x| (x % 1000) as u32);
        let (sorted, indices) = expected(&keys, |key| *key);
        let input: Vec<u32> = (0..n).collect();
        let first = partitioned(&mut backend, &keys, &input, n);
        assert!(is_partition(&keys, &first));
        for time in 0..times() {
            let found = pairs!(backend, RadixSort::<u32>::ascending(), keys, input: u32);
            assert!(found.0 == sorted && found.1 == indices, "{time}");
            assert!(keys!(backend, RadixSort::<u32>::ascending(), keys) == sorted, "{time}");
            assert!(partitioned(&mut backend, &keys, &input, n) == first, "{time}");
        }
    });
}

#[test]
fn what_is_too_small_is_refused() {
    for_each_backend!(|backend, _is_gpu| {
        let sort = RadixSort::<u32>::ascending();
        let (input, mut output) = (upload(&mut backend, &[0_u32; 1000]), upload(&mut backend, &[0_u32; 999]));
        let mut temp = dirty_temp(&mut backend, sort.temp_bytes(1000));
        let error = sort.run(&mut backend, &input, &mut output, Length::Host(1000), &mut temp).unwrap_err();
        assert!(error.to_string().contains("the output has room for 999 of 1000 elements"), "{error}");
        let mut temp = dirty_temp(&mut backend, sort.temp_bytes(999) - 8);
        let error = sort.run(&mut backend, &input, &mut output, Length::Host(999), &mut temp).unwrap_err();
        assert!(error.to_string().contains("bytes of temporary memory"), "{error}");
    });
}
