//! The sort by digits, against the standard library's stable sort.

use std::cmp::Reverse;

use bytemuck::Pod;
use renderer::backend::Backend;
use renderer::primitives::{Length, PartitionByKey, Primitives, RadixSort, Temp};
use torrance_tests::arrays::{difficult, lengths, random, short_lengths};
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
        let mut temp = Temp::new(backend, sort.pairs_temp_bytes::<$V>(n)).unwrap();
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
        let mut temp = Temp::new(backend, sort.temp_bytes(n)).unwrap();
        sort.run(backend, &input, &mut output, Length::Host(n), &mut temp).unwrap();
        assert!(
            bytemuck::cast_slice::<_, u8>(&backend.download(&input).unwrap())
                == bytemuck::cast_slice::<_, u8>(keys)
        );
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
/// rise says that no index comes twice.
fn is_stable_sort(keys: &[u32], sorted: &[u32], indices: &[u32]) -> bool {
    keys.len() == sorted.len()
        && keys.len() == indices.len()
        && indices.iter().zip(sorted).all(|(i, key)| keys.get(*i as usize) == Some(key))
        && sorted
            .windows(2)
            .zip(indices.windows(2))
            .all(|(k, i)| k[0] < k[1] || (k[0] == k[1] && i[0] < i[1]))
}

#[test]
fn pairs_of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let keys: Vec<_> = random(5, n).into_iter().map(|x| x as u32).collect();
            let indices: Vec<u32> = (0..n).collect();
            let (sorted, values) = pairs!(backend, RadixSort::<u32>::ascending(), keys, indices: u32);
            assert!(is_stable_sort(&keys, &sorted, &values), "{n}");
        }
    });
}

#[test]
fn a_wrong_order_is_seen() {
    let keys = [3, 1, 3, 2];
    assert!(is_stable_sort(&keys, &[1, 2, 3, 3], &[1, 3, 0, 2]));
    assert!(!is_stable_sort(&keys, &[1, 2, 3, 3], &[1, 3, 2, 0]));
    assert!(!is_stable_sort(&keys, &[1, 2, 3, 3], &[1, 3, 0, 0]));
    assert!(!is_stable_sort(&keys, &[1, 3, 2, 3], &[1, 0, 3, 2]));
    assert!(!is_stable_sort(&keys, &[1, 2, 3], &[1, 3, 0]));
}

/// Tests of one type of keys: how they are made of random bits, and the number that orders them.
macro_rules! of_type {
    ($name:ident: $K:ty, $from:expr, $order:expr) => {
        #[test]
        fn $name() {
            for_each_backend!(|backend, is_gpu| {
                let large = if is_gpu { (1 << 20) + 1 } else { 30_011 };
                for n in short_lengths(is_gpu).into_iter().filter(|n| *n < 1 << 20).chain([large]) {
                    let (from, order): (fn(u64) -> $K, _) = ($from, $order);
                    for (what, bits) in difficult(n) {
                        let keys: Vec<$K> = bits.into_iter().map(from).collect();
                        let same = |a: &[$K], b: &[$K]| bytemuck::cast_slice::<_, u8>(a) == bytemuck::cast_slice::<_, u8>(b);
                        let (up, indices) = expected(&keys, order);
                        assert!(same(&keys!(backend, RadixSort::<$K>::ascending(), keys), &up), "{n} {what}");
                        let input: Vec<u32> = (0..n).collect();
                        let (sorted, values) = pairs!(backend, RadixSort::<$K>::ascending(), keys, input: u32);
                        assert!(same(&sorted, &up) && values == indices, "{n} {what}");

                        let (down, indices) = expected(&keys, |key| Reverse(order(key)));
                        let input: Vec<u64> = (0..u64::from(n)).map(|i| i << 32 | i).collect();
                        let (sorted, values) = pairs!(backend, RadixSort::<$K>::descending(), keys, input: u64);
                        let indices: Vec<_> = indices.into_iter().map(|i| input[i as usize]).collect();
                        assert!(same(&sorted, &down) && values == indices, "{n} {what}");
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
        let keys: Vec<_> = random(9, 5000).into_iter().map(|x| f32::from_bits(x as u32)).collect();
        let mut expected = keys.clone();
        expected.sort_by(f32::total_cmp);
        let found = keys!(backend, RadixSort::<f32>::ascending(), keys);
        assert!(found.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()));
    });
}

#[test]
fn of_any_bits() {
    for_each_backend!(|backend, _is_gpu| {
        for n in [1, 257, 20_000] {
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
fn of_as_many_as_the_machine_says() {
    for_each_backend!(|backend, _is_gpu| {
        let keys: Vec<_> = random(7, 30_000).into_iter().map(|x| x as u32).collect();
        let sort = RadixSort::<u32>::ascending();
        for n in [0_u32, 1, 9_999, 30_000, 70_000] {
            let input = upload(&mut backend, &keys);
            let mut output = backend.zeroed("output", keys.len()).unwrap();
            let count = upload(&mut backend, &[n]);
            let length = Length::Device { count: &count, most: 30_000 };
            let mut temp = Temp::new(&mut backend, sort.temp_bytes(30_000)).unwrap();
            sort.run(&mut backend, &input, &mut output, length, &mut temp).unwrap();
            let mut expected = keys.clone();
            let n = keys.len().min(n as usize);
            expected[..n].sort_unstable();
            expected[n..].fill(0);
            assert!(backend.download(&output).unwrap() == expected, "{n}");
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
    let mut temp = Temp::new(backend, PartitionByKey.temp_bytes::<V>(most)).unwrap();
    let to = (&mut output.0, &mut output.1);
    let length = Length::Device { count: &count, most };
    PartitionByKey.run(backend, (&input.0, &input.1), to, &mut starts, length, &mut temp).unwrap();
    let [keys, starts] = [&output.0, &starts].map(|buffer| backend.download(buffer).unwrap());
    (keys, backend.download(&output.1).unwrap(), starts)
}

#[test]
fn partitions_by_key() {
    for_each_backend!(|backend, is_gpu| {
        for n in short_lengths(is_gpu) {
            for (name, data) in difficult(n) {
                // Few keys; and beyond 255 only the lowest bits count.
                for keys in [7_u64, 256, u64::from(u32::MAX)] {
                    let keys: Vec<_> = data.iter().map(|x| (x % keys) as u32).collect();
                    let indices: Vec<_> = (0..u64::from(n)).collect();
                    let mut order = indices.clone();
                    order.sort_by_key(|i| keys[*i as usize] % 256);
                    let sorted: Vec<_> = order.iter().map(|i| keys[*i as usize]).collect();
                    let less = |key| keys.iter().filter(|k| *k % 256 < key).count() as u32;
                    let found = partitioned(&mut backend, &keys, &indices, n);
                    assert!(found.0 == sorted && found.1 == order, "{n} {name}");
                    for key in [0, 1, 6, 7, 100, 255] {
                        assert_eq!(found.2[key as usize], less(key), "{n} {name} {key}");
                    }
                }
            }
        }
    });
}

#[test]
fn partitions_as_many_as_the_machine_says() {
    for_each_backend!(|backend, _is_gpu| {
        let keys: Vec<_> = (0..20_000).map(|i| i % 3).collect();
        for n in [0, 1, 9_999, 70_000] {
            let of = &keys[..keys.len().min(n as usize)];
            let found = partitioned(&mut backend, &keys, &keys, n);
            let less = |key| of.iter().filter(|k| **k < key).count();
            assert!(
                found.0[..of.len()].is_sorted() && found.0[of.len()..].iter().all(|key| *key == 0),
                "{n}"
            );
            assert_eq!(
                [1, 2, 3, 255].map(|key| found.2[key as usize] as usize),
                [1, 2, 3, 255].map(less),
                "{n}"
            );
        }
    });
}

#[test]
fn the_same_every_time() {
    for_each_backend!(|backend, is_gpu| {
        let n = if is_gpu { 1_000_003 } else { 10_007 };
        let keys: Vec<_> = random(8, n).into_iter().map(|x| (x % 1000) as u32).collect();
        let (sorted, indices) = expected(&keys, |key| *key);
        let input: Vec<u32> = (0..n).collect();
        for time in 0..100 {
            let found = pairs!(backend, RadixSort::<u32>::ascending(), keys, input: u32);
            assert!(found.0 == sorted && found.1 == indices, "{time}");
        }
    });
}

#[test]
fn what_is_too_small_is_refused() {
    for_each_backend!(|backend, _is_gpu| {
        let sort = RadixSort::<u32>::ascending();
        let (input, mut output) = (upload(&mut backend, &[0_u32; 1000]), upload(&mut backend, &[0_u32; 999]));
        let mut temp = Temp::new(&mut backend, sort.temp_bytes(1000)).unwrap();
        let error = sort.run(&mut backend, &input, &mut output, Length::Host(1000), &mut temp).unwrap_err();
        assert!(error.to_string().contains("the output has room for 999 of 1000 elements"), "{error}");
        let mut temp = Temp::new(&mut backend, sort.temp_bytes(999) - 8).unwrap();
        let error = sort.run(&mut backend, &input, &mut output, Length::Host(999), &mut temp).unwrap_err();
        assert!(error.to_string().contains("bytes of temporary memory"), "{error}");
    });
}
