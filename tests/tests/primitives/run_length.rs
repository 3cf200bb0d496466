//! Runs, against `slice::chunk_by`.

use bytemuck::Pod;
use rayon::prelude::*;
use torrance_gpu::primitives::{Length, Primitives, RunBuffers, RunLength};
use torrance_tests::arrays::{
    all, at_most, difficult, dirty_temp, is_same, lengths, quick_lengths, random_as, times,
};
use torrance_tests::for_each_backend;

/// Values, starts and lengths of runs, with room for more, and how many there are.
type Runs<T> = (Vec<T>, Vec<u32>, Vec<u32>, u32);

/// Runs of `n` elements, a number that the host knows or the machine.
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
    let mut temp = dirty_temp(backend, RunLength.temp_bytes(most));
    let runs =
        RunBuffers { values: &mut values, starts: &mut starts, lengths: &mut lengths, count: &mut count };
    RunLength.run(backend, &items, runs, length, &mut temp).unwrap();
    let [starts, lengths, count] =
        [&starts, &lengths, &count].map(|buffer| backend.download(buffer).unwrap());
    (backend.download(&values).unwrap(), starts, lengths, count[0])
}

/// Whether runs follow each other from the first element to the last, each of one value that its neighbours are not of, and
/// nothing is written behind them.
fn are_runs<T: Pod + Send + Sync>(input: &[T], (values, starts, lengths, count): &Runs<T>) -> bool {
    let count = *count as usize;
    if count > input.len() || (count == 0) != input.is_empty() {
        return false;
    }
    let is_right = |i: usize| {
        let (start, length) = (starts[i] as usize, lengths[i] as usize);
        let next = if i + 1 < count { starts[i + 1] as usize } else { input.len() };
        let is_of = |x: &T| is_same(&[*x], &[values[i]]);
        (i > 0 || start == 0)
            && length > 0
            && start + length == next
            && input.get(start..next).is_some_and(|run| run.iter().all(is_of))
            && input.get(next).is_none_or(|x| !is_of(x))
    };
    let rest = starts[count..].par_iter().chain(&lengths[count..]);
    all(0..count, &is_right) && rest.into_par_iter().all(|x| *x == 0)
}

#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let input = random_as(30, n, |x| (x % 3) as u32);
            assert!(are_runs(&input, &found(&mut backend, &input, n, false)), "{n}");
        }
    });
}

/// Runs of all lengths: of one element, of tens, of thousands, and one of all.
#[test]
fn of_every_kind() {
    for_each_backend!(|backend, is_gpu| {
        for n in quick_lengths(is_gpu) {
            let runs = |length: u64| ("runs", (0..u64::from(n)).map(|i| i / length).collect::<Vec<_>>());
            for (name, input) in difficult(n).chain([2, 31, 4096, 5000, 100_000].map(runs)) {
                let small: Vec<_> = input.iter().map(|x| *x as u32).collect();
                assert!(are_runs(&input, &found(&mut backend, &input, n, false)), "{name}, {n}, u64");
                assert!(are_runs(&small, &found(&mut backend, &small, n, false)), "{name}, {n}, u32");
            }
        }
    });
}

/// Bits are compared, not numbers.
#[test]
fn of_floats() {
    let input = [0.0_f32, -0.0, f32::NAN, f32::NAN, 1.0];
    for_each_backend!(|backend, _is_gpu| {
        let (_, starts, lengths, count) = found(&mut backend, &input, 5, false);
        assert_eq!((&starts[..4], &lengths[..4], count), (&[0, 1, 2, 4][..], &[1, 1, 2, 1][..], 4));
    });
}

#[test]
fn of_a_length_on_the_machine() {
    for_each_backend!(|backend, _is_gpu| {
        for (n, most) in [(0_u32, 5_u32), (0, 70_000), (1, 70_000), (4097, 70_000), (90_000, 70_000)] {
            let input: Vec<_> = (0..most).map(|i| i / 7).collect();
            let of = &input[..n.min(most) as usize];
            assert!(are_runs(of, &found(&mut backend, &input, n, true)), "{n} of {most}");
        }
    });
}

#[test]
fn again_and_again() {
    for_each_backend!(|backend, is_gpu| {
        let n = at_most(if is_gpu { 3_000_000 } else { 50_000 });
        let input = random_as(31, n, |x| (x % 2) as u32);
        let first = found(&mut backend, &input, n, false);
        assert!(are_runs(&input, &first));
        for time in 1..times() {
            assert!(found(&mut backend, &input, n, false) == first, "{time}");
        }
    });
}

/// A run that is split, two that are joined, and one of another length or value would be found.
#[test]
fn the_comparison_rejects() {
    let input = [1, 1, 2, 2, 2];
    let runs = |of: &[[u32; 3]]| {
        let part = |k: usize| {
            let mut part: Vec<_> = of.iter().map(|run| run[k]).collect();
            part.resize(5, 0);
            part
        };
        (part(0), part(1), part(2), of.len() as u32)
    };
    assert!(are_runs(&input, &runs(&[[1, 0, 2], [2, 2, 3]])));
    for wrong in [
        &[[1, 0, 2], [2, 2, 1], [2, 3, 2]][..],
        &[[1, 0, 5]],
        &[[1, 0, 2]],
        &[[1, 0, 2], [2, 2, 2]],
        &[[1, 0, 2], [3, 2, 3]],
        &[[2, 2, 3], [1, 0, 2]],
        &[[1, 1, 1], [2, 2, 3]],
    ] {
        assert!(!are_runs(&input, &runs(wrong)), "{wrong:?}");
    }
    let (values, mut starts, lengths, count) = runs(&[[1, 0, 2], [2, 2, 3]]);
    starts[4] = 9;
    assert!(!are_runs(&input, &(values, starts, lengths, count)));
}
