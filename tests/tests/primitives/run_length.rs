//! Runs, against `slice::chunk_by`.

use bytemuck::Pod;
use renderer::primitives::{Length, Primitives, RunBuffers, RunLength, Temp};
use torrance_tests::arrays::{difficult, lengths, random, short_lengths};
use torrance_tests::for_each_backend;

/// Of each run: what it is of, where it starts, how long it is.
type Runs<T> = Vec<(T, u32, u32)>;

fn found<T: Pod + Send + Sync, B: Primitives>(
    backend: &mut B,
    input: &[T],
    n: u32,
    on_machine: bool,
) -> Runs<T> {
    let most = input.len() as u32;
    let items = backend.upload("items", input).unwrap();
    let mut values = backend.zeroed("values", input.len()).unwrap();
    let mut starts = backend.zeroed("starts", input.len()).unwrap();
    let mut lengths = backend.zeroed("lengths", input.len()).unwrap();
    let mut count = backend.upload("count", &[7]).unwrap();
    let number = backend.upload("number", &[n]).unwrap();
    let length = if on_machine { Length::Device { count: &number, most } } else { Length::Host(n) };
    let mut temp = Temp::new(backend, RunLength.temp_bytes(most)).unwrap();
    let runs =
        RunBuffers { values: &mut values, starts: &mut starts, lengths: &mut lengths, count: &mut count };
    RunLength.run(backend, &items, runs, length, &mut temp).unwrap();
    let [starts, lengths, count] =
        [&starts, &lengths, &count].map(|buffer| backend.download(buffer).unwrap());
    let values = backend.download(&values).unwrap();
    // Nothing is written beyond the runs.
    assert!(starts[count[0] as usize..].iter().chain(&lengths[count[0] as usize..]).all(|x| *x == 0));
    (0..count[0] as usize).map(|i| (values[i], starts[i], lengths[i])).collect()
}

fn expected<T: Pod + PartialEq>(input: &[T]) -> Runs<T> {
    let mut start = 0;
    let run = |of: &[T]| {
        start += of.len() as u32;
        (of[0], start - of.len() as u32, of.len() as u32)
    };
    input.chunk_by(|a, b| bytemuck::bytes_of(a) == bytemuck::bytes_of(b)).map(run).collect()
}

#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let input: Vec<_> = random(30, n).into_iter().map(|x| (x % 3) as u32).collect();
            assert!(found(&mut backend, &input, n, false) == expected(&input), "{n}");
        }
    });
}

/// Runs of all lengths: of one element, of tens, of thousands, and one of all.
#[test]
fn of_every_kind() {
    for_each_backend!(|backend, is_gpu| {
        for n in short_lengths(is_gpu) {
            let mut data = difficult(n);
            for length in [2, 31, 4096, 5000, 100_000] {
                data.push(("runs", (0..u64::from(n)).map(|i| i / length).collect()));
            }
            for (name, input) in data {
                let small: Vec<_> = input.iter().map(|x| *x as u32).collect();
                assert!(found(&mut backend, &input, n, false) == expected(&input), "{name}, {n}, u64");
                assert!(found(&mut backend, &small, n, false) == expected(&small), "{name}, {n}, u32");
            }
        }
    });
}

/// Bits are compared, not numbers.
#[test]
fn of_floats() {
    let input = [0.0_f32, -0.0, f32::NAN, f32::NAN, 1.0];
    for_each_backend!(|backend, _is_gpu| {
        let runs = found(&mut backend, &input, 5, false);
        let places: Vec<_> = runs.iter().map(|(_, start, length)| (*start, *length)).collect();
        assert_eq!(places, [(0, 1), (1, 1), (2, 2), (4, 1)]);
    });
}

#[test]
fn of_a_length_on_the_machine() {
    for_each_backend!(|backend, _is_gpu| {
        for (n, most) in [(0_u32, 5_u32), (0, 70_000), (1, 70_000), (4097, 70_000), (90_000, 70_000)] {
            let input: Vec<_> = (0..most).map(|i| i / 7).collect();
            let of = &input[..n.min(most) as usize];
            assert!(found(&mut backend, &input, n, true) == expected(of), "{n} of {most}");
        }
    });
}

#[test]
fn again_and_again() {
    for_each_backend!(|backend, is_gpu| {
        let n = if is_gpu { 3_000_000 } else { 50_000 };
        let input: Vec<_> = random(31, n).into_iter().map(|x| (x % 2) as u32).collect();
        let right = expected(&input);
        for i in 0..100 {
            assert!(found(&mut backend, &input, n, false) == right, "{i}");
        }
    });
}

/// A run that is split, or two that are joined, would be found.
#[test]
fn the_comparison_rejects() {
    let right = expected(&[1, 1, 2, 2, 2]);
    assert_eq!(right, [(1, 0, 2), (2, 2, 3)]);
    assert_ne!(right, expected(&[1, 1, 2, 3, 2]));
    assert_ne!(right, expected(&[1, 1, 1, 1, 1]));
}
