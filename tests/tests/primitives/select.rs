//! Compaction and partition, against filters.

use bytemuck::Pod;
use renderer::backend::Backend;
use renderer::primitives::{Below, Length, Primitives, Select, Temp};
use torrance_tests::arrays::{difficult, lengths, random, short_lengths};
use torrance_tests::for_each_backend;

const BOTH: [Select; 2] = [Select::compact(), Select::partition()];

/// What a back end leaves: the elements, of which the wanted ones were so many.
fn flagged<T: Pod + Send + Sync, B: Primitives>(
    backend: &mut B,
    select: Select,
    input: &[T],
    flags: &[u8],
) -> (Vec<T>, usize) {
    let n = input.len() as u32;
    let items = backend.upload("items", input).unwrap();
    let flags = backend.upload("flags", flags).unwrap();
    let mut output = backend.zeroed("output", input.len()).unwrap();
    let mut count = backend.upload("count", &[7]).unwrap();
    let mut temp = Temp::new(backend, select.temp_bytes(n)).unwrap();
    select.flagged(backend, &items, &flags, &mut output, &mut count, Length::Host(n), &mut temp).unwrap();
    (backend.download(&output).unwrap(), backend.download(&count).unwrap()[0] as usize)
}

/// What it should be, given which are wanted. Beyond the wanted ones a compaction leaves zeros as they were.
fn expected<T: Pod>(select: Select, input: &[T], wanted: impl Fn(usize) -> bool) -> (Vec<T>, usize) {
    let (first, others): (Vec<_>, Vec<_>) = input.iter().enumerate().partition(|(i, _)| wanted(*i));
    let mut output: Vec<T> = first.into_iter().map(|(_, x)| *x).collect();
    let count = output.len();
    if select == Select::partition() {
        output.extend(others.into_iter().map(|(_, x)| *x));
    }
    output.resize(input.len(), T::zeroed());
    (output, count)
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
        ("random", random(20, n).into_iter().map(|x| x as u8 & (x >> 8) as u8 & 3).collect()),
    ]
}

#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let input: Vec<_> = random(21, n).into_iter().map(|x| x as u32).collect();
            let flags: Vec<_> = random(22, n).into_iter().map(|x| x as u8 & 1).collect();
            for select in BOTH {
                let found = flagged(&mut backend, select, &input, &flags);
                assert!(found == expected(select, &input, |i| flags[i] != 0), "{n}, {select:?}");
            }
        }
    });
}

#[test]
fn of_every_flag_and_size() {
    for_each_backend!(|backend, is_gpu| {
        for n in short_lengths(is_gpu) {
            let wide = random(23, n);
            let narrow: Vec<_> = wide.iter().map(|x| *x as f32).collect();
            let colors: Vec<_> = narrow.iter().map(|x| [*x, 1.0, *x * 0.5, 0.0]).collect();
            for (name, flags) in flags(n) {
                for select in BOTH {
                    macro_rules! check {
                        ($input:expr) => {
                            let found = flagged(&mut backend, select, $input, &flags);
                            let right = expected(select, $input, |i| flags[i] != 0);
                            assert!(found == right, "{name}, {n}, {select:?}, {}", stringify!($input));
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
            let indices: Vec<_> = (0..n).collect();
            for (name, flags) in flags(n) {
                for select in BOTH {
                    let flags_there = backend.upload("flags", &flags).unwrap();
                    let mut output = backend.zeroed("output", n as usize).unwrap();
                    let mut count = backend.upload("count", &[7]).unwrap();
                    let mut temp = Temp::new(&mut backend, select.temp_bytes(n)).unwrap();
                    let length = Length::Host(n);
                    select
                        .indices(&mut backend, &flags_there, &mut output, &mut count, length, &mut temp)
                        .unwrap();
                    let found = backend.download(&output).unwrap();
                    let count = backend.download(&count).unwrap()[0] as usize;
                    let right = expected(select, &indices, |i| flags[i] != 0);
                    assert!((found, count) == right, "{name}, {n}, {select:?}");
                }
            }
        }
    });
}

#[test]
fn by_a_predicate() {
    for_each_backend!(|backend, is_gpu| {
        for n in short_lengths(is_gpu) {
            for (name, input) in difficult(n) {
                let small: Vec<_> = input.iter().map(|x| *x as u32).collect();
                let signed: Vec<_> = small.iter().map(|x| x.cast_signed()).collect();
                let mut floats: Vec<_> = signed.iter().map(|x| *x as f32).collect();
                if let Some(x) = floats.last_mut() {
                    *x = f32::NAN;
                }
                for select in BOTH {
                    macro_rules! check {
                        ($input:expr, $limit:expr) => {
                            let items = backend.upload("items", $input).unwrap();
                            let mut output = backend.zeroed("output", n as usize).unwrap();
                            let mut count = backend.upload("count", &[7]).unwrap();
                            let mut temp = Temp::new(&mut backend, select.temp_bytes(n)).unwrap();
                            let (limit, length) = ($limit, Length::Host(n));
                            select
                                .when(
                                    &mut backend,
                                    Below(limit),
                                    &items,
                                    &mut output,
                                    &mut count,
                                    length,
                                    &mut temp,
                                )
                                .unwrap();
                            let found = backend.download(&output).unwrap();
                            let count = backend.download(&count).unwrap()[0] as usize;
                            let right = expected(select, $input, |i| $input[i] < limit);
                            let bytes = |x| bytemuck::cast_slice::<_, u8>(x).to_vec();
                            let same = count == right.1 && bytes(&found) == bytes(&right.0);
                            assert!(same, "{name}, {n}, {select:?}, {}", stringify!($input));
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
            for select in BOTH {
                let input: Vec<_> = (1..=most).collect();
                let flags: Vec<_> = input.iter().map(|i| (i % 3) as u8).collect();
                let items = backend.upload("items", &input).unwrap();
                let flags_there = backend.upload("flags", &flags).unwrap();
                let mut output = backend.zeroed("output", most as usize).unwrap();
                let mut count = backend.upload("count", &[7]).unwrap();
                let number = backend.upload("number", &[n]).unwrap();
                let mut temp = Temp::new(&mut backend, select.temp_bytes(most)).unwrap();
                let length = Length::Device { count: &number, most };
                select
                    .flagged(&mut backend, &items, &flags_there, &mut output, &mut count, length, &mut temp)
                    .unwrap();
                let of = &input[..n.min(most) as usize];
                let mut right = expected(select, of, |i| flags[i] != 0);
                right.0.resize(most as usize, 0);
                let found = backend.download(&output).unwrap();
                let count = backend.download(&count).unwrap()[0] as usize;
                assert!((found, count) == right, "{select:?}, {n} of {most}");
            }
        }
    });
}

#[test]
fn again_and_again() {
    for_each_backend!(|backend, is_gpu| {
        let n = if is_gpu { 5_000_000 } else { 50_000 };
        let input: Vec<_> = random(24, n).into_iter().map(|x| x as u32).collect();
        let flags: Vec<_> = random(25, n).into_iter().map(|x| x as u8 & 1).collect();
        for select in BOTH {
            let right = expected(select, &input, |i| flags[i] != 0);
            for i in 0..50 {
                assert!(flagged(&mut backend, select, &input, &flags) == right, "{i}, {select:?}");
            }
        }
    });
}

#[test]
fn errors() {
    for_each_backend!(|backend, _is_gpu| {
        let select = Select::compact();
        let mut temp = Temp::new(&mut backend, select.temp_bytes(3)).unwrap();
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

/// A wrong flag, and an order that is not kept, would be found.
#[test]
fn the_comparison_rejects() {
    let input = [5, 6, 7, 8];
    let right = expected(Select::partition(), &input, |i| i % 2 == 0);
    assert_eq!(right, (vec![5, 7, 6, 8], 2));
    assert_ne!(right, expected(Select::partition(), &input, |i| i % 2 == 1));
    assert_ne!(right, expected(Select::compact(), &input, |i| i % 2 == 0));
}
