//! Compaction and partition, against what their flags say.

use bytemuck::Pod;
use rayon::prelude::*;
use torrance_gpu::backend::{Backend, Error};
use torrance_gpu::primitives::{Below, Length, Primitives, Select, Temp};
use torrance_tests::arrays::{
    at_most, difficult, dirty_temp, is_same, lengths, quick_lengths, random, random_as, short_lengths, times,
};
use torrance_tests::for_each_backend;

const BOTH: [Select; 2] = [Select::compact(), Select::partition()];

/// Bytes where a selection writes nothing.
const MARK: u8 = 0xa5;

/// A back end's result: the elements, and how many of them are wanted.
type Found<T> = (Vec<T>, u32);

/// Result of `run` for `most` elements, or for `count` if the number is on the device.
fn selected<T: Pod + Send + Sync, B: Primitives>(
    backend: &mut B,
    select: Select,
    (most, count): (usize, Option<u32>),
    run: impl FnOnce(&mut B, &mut B::Buf<T>, &mut B::Buf<u32>, Length<'_, B>, &mut Temp<B>) -> Result<(), Error>,
) -> Found<T> {
    let marks: Vec<T> = vec![bytemuck::pod_read_unaligned(&vec![MARK; size_of::<T>()]); most];
    let mut output = backend.upload("output", &marks).unwrap();
    let mut wanted = backend.upload("wanted", &[7]).unwrap();
    let mut temp = dirty_temp(backend, select.temp_bytes(most as u32));
    let count = count.map(|count| backend.upload("count", &[count]).unwrap());
    let most = most as u32;
    let length = count.as_ref().map_or(Length::Host(most), |count| Length::Device { count, most });
    run(backend, &mut output, &mut wanted, length, &mut temp).unwrap();
    (backend.download(&output).unwrap(), backend.download(&wanted).unwrap()[0])
}

fn flagged<T: Pod + Send + Sync, B: Primitives>(
    backend: &mut B,
    select: Select,
    input: &[T],
    flags: &[u8],
    count: Option<u32>,
) -> Found<T> {
    let items = backend.upload("items", input).unwrap();
    let flags = backend.upload("flags", flags).unwrap();
    selected(backend, select, (input.len(), count), |backend, output, wanted, length, temp| {
        select.flagged(backend, &items, &flags, output, wanted, length, temp)
    })
}

fn indices<B: Primitives>(backend: &mut B, select: Select, flags: &[u8], count: Option<u32>) -> Found<u32> {
    let list = backend.upload("flags", flags).unwrap();
    selected(backend, select, (flags.len(), count), |backend, output, wanted, length, temp| {
        select.indices(backend, &list, output, wanted, length, temp)
    })
}

/// Of numbers, those below a limit: `when!(backend, select, input, limit, count)`.
macro_rules! when {
    ($backend:expr, $select:expr, $input:expr, $limit:expr, $count:expr) => {{
        let items = $backend.upload("items", $input).unwrap();
        selected(&mut $backend, $select, ($input.len(), $count), |backend, output, wanted, length, temp| {
            $select.when(backend, Below($limit), &items, output, wanted, length, temp)
        })
    }};
}

/// Whether the wanted ones are there in their order, and their number; from the end on the others in theirs, or nothing new.
fn is_selection<T: Pod + Send + Sync>(
    select: Select,
    input: &[T],
    is_wanted: impl Fn(usize) -> bool + Sync,
    (output, count): &Found<T>,
) -> bool {
    const PART: usize = 1 << 14;
    let part = |i: usize| i * PART..input.len().min((i + 1) * PART);
    let parts = 0..input.len().div_ceil(PART);
    let wanted_in = |i| part(i).filter(|j| is_wanted(*j)).count();
    let mut before: Vec<usize> = parts.clone().into_par_iter().map(wanted_in).collect();
    let mut wanted = 0;
    for of_part in &mut before {
        wanted += std::mem::replace(of_part, wanted);
    }
    let has_rest = select == Select::partition();
    let is_at = |place: usize, item: &T| output.get(place).is_some_and(|found| is_same(&[*found], &[*item]));
    let is_right = |i: usize| {
        let mut first = before[i];
        part(i).all(|j| {
            if is_wanted(j) {
                first += 1;
                is_at(first - 1, &input[j])
            } else {
                !has_rest || is_at(input.len() - 1 - (j - first), &input[j])
            }
        })
    };
    let end = if has_rest { input.len() } else { wanted };
    let is_mark = |x: &T| bytemuck::bytes_of(x).iter().all(|byte| *byte == MARK);
    *count as usize == wanted && parts.into_par_iter().all(is_right) && output[end..].par_iter().all(is_mark)
}

/// Flags that are difficult: none, all, one, every other one, blocks of them, random ones; any byte but zero counts.
fn flags(n: u32) -> Vec<(&'static str, Vec<u8>)> {
    let of = |f: &dyn Fn(u32) -> u8| (0..n).map(f).collect();
    vec![
        ("none", of(&|_| 0)),
        ("all", of(&|_| 1)),
        ("one", of(&|i| u8::from(i == n / 2))),
        ("last", of(&|i| u8::from(i == n - 1))),
        ("every other", of(&|i| (i % 2) as u8 * 128)),
        ("blocks", of(&|i| (i / 1000 % 2) as u8 * 255)),
        ("random", random_as(20, n, |x| x as u8 & (x >> 8) as u8 & 3)),
    ]
}

#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let input = random_as(21, n, |x| x as u32);
            let places: Vec<_> = (0..n).collect();
            let flags = random_as(22, n, |x| x as u8 & 1);
            for select in BOTH {
                let found = flagged(&mut backend, select, &input, &flags, None);
                assert!(is_selection(select, &input, |i| flags[i] != 0, &found), "flagged, {n}, {select:?}");
                let found = indices(&mut backend, select, &flags, None);
                assert!(is_selection(select, &places, |i| flags[i] != 0, &found), "indices, {n}, {select:?}");
                let found = when!(backend, select, &input, 1 << 31, None);
                assert!(
                    is_selection(select, &input, |i| input[i] < 1 << 31, &found),
                    "when, {n}, {select:?}"
                );
            }
        }
    });
}

#[test]
fn of_every_flag_and_size() {
    for_each_backend!(|backend, is_gpu| {
        for n in quick_lengths(is_gpu) {
            let wide = random(23, n);
            let narrow: Vec<_> = wide.iter().map(|x| *x as f32).collect();
            let colors: Vec<_> = narrow.iter().map(|x| [*x, 1.0, *x * 0.5, 0.0]).collect();
            for (name, flags) in flags(n) {
                for select in BOTH {
                    macro_rules! check {
                        ($input:expr) => {
                            let found = flagged(&mut backend, select, $input, &flags, None);
                            let is_right = is_selection(select, $input, |i| flags[i] != 0, &found);
                            assert!(is_right, "{name}, {n}, {select:?}, {}", stringify!($input));
                        };
                    }
                    check!(&wide);
                    check!(&narrow);
                    check!(&colors);
                }
            }
        }
    });
}

#[test]
fn of_indices() {
    for_each_backend!(|backend, is_gpu| {
        for n in short_lengths(is_gpu) {
            let places: Vec<_> = (0..n).collect();
            for (name, flags) in flags(n) {
                for select in BOTH {
                    let found = indices(&mut backend, select, &flags, None);
                    let is_right = is_selection(select, &places, |i| flags[i] != 0, &found);
                    assert!(is_right, "{name}, {n}, {select:?}");
                }
            }
        }
    });
}

#[test]
fn by_a_predicate() {
    for_each_backend!(|backend, is_gpu| {
        for n in quick_lengths(is_gpu) {
            for (name, input) in difficult(n) {
                let small: Vec<_> = input.iter().map(|x| *x as u32).collect();
                let signed: Vec<_> = small.iter().map(|x| x.cast_signed()).collect();
                let mut floats: Vec<_> = signed.iter().map(|x| *x as f32).collect();
                for (i, x) in [f32::NAN, -0.0, -f32::NAN].into_iter().enumerate().take(floats.len()) {
                    floats[i] = x;
                }
                for select in BOTH {
                    macro_rules! check {
                        ($input:expr, $limit:expr) => {
                            let limit = $limit;
                            let found = when!(backend, select, $input, limit, None);
                            let is_right = is_selection(select, $input, |i| $input[i] < limit, &found);
                            assert!(is_right, "{name}, {n}, {select:?}, {}", stringify!($input));
                        };
                    }
                    check!(&small, n / 2);
                    check!(&signed, 0);
                    check!(&floats, 0.0);
                    check!(&input, u64::MAX / 3);
                }
            }
        }
    });
}

/// Only so many elements as the machine's memory says, and no others are written.
#[test]
fn of_a_length_on_the_machine() {
    for_each_backend!(|backend, _is_gpu| {
        for (n, most) in [(0_u32, 5_u32), (0, 70_000), (1, 70_000), (4097, 70_000), (90_000, 70_000)] {
            let input: Vec<_> = (1..=most).collect();
            let places: Vec<_> = (0..most).collect();
            let flags: Vec<_> = input.iter().map(|i| (i % 3) as u8).collect();
            let end = n.min(most) as usize;
            for select in BOTH {
                let found = flagged(&mut backend, select, &input, &flags, Some(n));
                let is_right = is_selection(select, &input[..end], |i| flags[i] != 0, &found);
                assert!(is_right, "flagged, {select:?}, {n} of {most}");
                let found = indices(&mut backend, select, &flags, Some(n));
                let is_right = is_selection(select, &places[..end], |i| flags[i] != 0, &found);
                assert!(is_right, "indices, {select:?}, {n} of {most}");
                let found = when!(backend, select, &input, 4000, Some(n));
                let is_right = is_selection(select, &input[..end], |i| input[i] < 4000, &found);
                assert!(is_right, "when, {select:?}, {n} of {most}");
            }
        }
    });
}

#[test]
fn again_and_again() {
    for_each_backend!(|backend, is_gpu| {
        let n = at_most(if is_gpu { 1_000_003 } else { 30_011 });
        let input = random_as(24, n, |x| x as u32);
        let flags = random_as(25, n, |x| x as u8 & 1);
        for select in BOTH {
            let first = flagged(&mut backend, select, &input, &flags, None);
            assert!(is_selection(select, &input, |i| flags[i] != 0, &first), "{select:?}");
            let below = when!(backend, select, &input, 1 << 30, None);
            assert!(is_selection(select, &input, |i| input[i] < 1 << 30, &below), "{select:?}");
            let places = indices(&mut backend, select, &flags, None);
            for time in 1..times() {
                let found = flagged(&mut backend, select, &input, &flags, None);
                assert!(found == first, "flagged, {time}, {select:?}");
                let found = when!(backend, select, &input, 1 << 30, None);
                assert!(found == below, "when, {time}, {select:?}");
                let found = indices(&mut backend, select, &flags, None);
                assert!(found == places, "indices, {time}, {select:?}");
            }
        }
    });
}

#[test]
fn errors() {
    for_each_backend!(|backend, _is_gpu| {
        let select = Select::compact();
        let mut temp = dirty_temp(&mut backend, select.temp_bytes(3));
        let flags = backend.upload("flags", &[1_u8, 0, 1]).unwrap();
        let mut count = backend.upload("count", &[7]).unwrap();
        let items = backend.upload("items", &[[1_u8; 3]; 3]).unwrap();
        let mut output = backend.zeroed("output", 3).unwrap();
        let length = Length::Host(3);
        let error = select
            .flagged(&mut backend, &items, &flags, &mut output, &mut count, length, &mut temp)
            .unwrap_err();
        assert_eq!(error.to_string(), "selecting: elements have 3 bytes, not 4, 8 or 16");
        let mut small = backend.zeroed("output", 2).unwrap();
        let error =
            select.indices(&mut backend, &flags, &mut small, &mut count, length, &mut temp).unwrap_err();
        assert_eq!(error.to_string(), "selecting: the output has room for 2 of 3 elements");
        assert_eq!(backend.download(&count).unwrap(), [7]);
    });
}

/// A wrong flag, an order that is not kept, a number that is off by one, and an element too many would be found.
#[test]
fn the_comparison_rejects() {
    let input = [5, 6, 7, 8, 9];
    let mark = u32::from_ne_bytes([MARK; 4]);
    let even = |i: usize| i.is_multiple_of(2);
    let [compact, partition] = BOTH;
    let is_compact = |output: [u32; 5], count| is_selection(compact, &input, even, &(output.to_vec(), count));
    assert!(is_compact([5, 7, 9, mark, mark], 3));
    for (output, count) in [
        ([5, 7, 9, mark, mark], 2),
        ([5, 7, 9, mark, mark], 4),
        ([7, 5, 9, mark, mark], 3),
        ([5, 7, 8, mark, mark], 3),
        ([5, 7, 9, 6, mark], 3),
        ([5, 7, mark, 9, mark], 3),
    ] {
        assert!(!is_compact(output, count), "{output:?} {count}");
    }
    let is_partition =
        |output: [u32; 5], count| is_selection(partition, &input, even, &(output.to_vec(), count));
    assert!(is_partition([5, 7, 9, 8, 6], 3));
    for (output, count) in [([5, 7, 9, 6, 8], 3), ([5, 7, 9, 8, mark], 3), ([5, 7, 9, 8, 6], 2)] {
        assert!(!is_partition(output, count), "{output:?} {count}");
    }
    assert!(!is_selection(partition, &input, |i| i % 2 == 1, &(vec![5, 7, 9, 8, 6], 3)));
}
