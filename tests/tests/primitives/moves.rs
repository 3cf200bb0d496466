//! Copies, filling, gathering and scattering, against slices.

use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::Pod;
use rayon::prelude::*;
use torrance_gpu::backend::Backend;
use torrance_gpu::primitives::{CopyElements, Fill, Gather, Length, Primitives, Scatter};
use torrance_tests::arrays::{all, at_most, is_same, lengths, quick_lengths, random_as, times};
use torrance_tests::for_each_backend;

/// Elements of 4, 8 or 16 bytes, each another one; none is all zeros.
fn elements<T: Pod + Send>(n: u32) -> Vec<T> {
    random_as(31, n, |x| bytemuck::pod_read_unaligned(&bytemuck::bytes_of(&[x | 1, !x])[..size_of::<T>()]))
}

fn copied<T: Pod + Send + Sync, B: Primitives>(backend: &mut B, n: u32, copy: CopyElements) {
    let input: Vec<T> = elements(copy.from + n + 3);
    let from = backend.upload("from", &input).unwrap();
    let mut to = backend.zeroed("to", (copy.to + n + 5) as usize).unwrap();
    copy.run(backend, &from, &mut to, Length::Host(n)).unwrap();
    let found = backend.download(&to).unwrap();
    let is_right = is_copied(&input[copy.from as usize..][..n as usize], copy.to as usize, &found);
    assert!(is_right, "{n} × {} bytes, {copy:?}", size_of::<T>());
}

/// Whether the elements are there from `start` on, and zeros elsewhere.
fn is_copied<T: Pod + Sync>(elements: &[T], start: usize, found: &[T]) -> bool {
    let (before, rest) = found.split_at(start);
    let (here, behind) = rest.split_at(elements.len());
    is_same(here, elements) && before.iter().chain(behind).all(|x| is_same(&[*x], &[T::zeroed()]))
}

fn filled<T: Pod + Send + Sync, B: Primitives>(backend: &mut B, n: u32, to: u32) {
    let value = elements::<T>(1)[0];
    let mut there = backend.zeroed("to", (to + n + 5) as usize).unwrap();
    Fill { value, to }.run(backend, &mut there, Length::Host(n)).unwrap();
    let found = backend.download(&there).unwrap();
    let is_right = is_copied(&vec![value; n as usize], to as usize, &found);
    assert!(is_right, "{n} × {} bytes, from {to} on", size_of::<T>());
}

#[test]
fn copies_and_fills_of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            copied::<u32, _>(&mut backend, n, CopyElements::default());
            copied::<f64, _>(&mut backend, n, CopyElements::default());
            copied::<[f32; 4], _>(&mut backend, n, CopyElements::default());
            filled::<u32, _>(&mut backend, n, 0);
            filled::<u64, _>(&mut backend, n, 0);
            filled::<[u32; 4], _>(&mut backend, n, 0);
        }
    });
}

#[test]
fn copies_and_fills_from_anywhere() {
    for_each_backend!(|backend, _is_gpu| {
        for n in (0..10).chain([15, 16, 17, 31, 33, 8190, 8191, 8192, 8193, 100_001]) {
            for to in 0..5 {
                filled::<u32, _>(&mut backend, n, to);
                filled::<u64, _>(&mut backend, n, to);
                filled::<[u32; 4], _>(&mut backend, n, to);
                for from in 0..5 {
                    let copy = CopyElements { from, to };
                    copied::<i32, _>(&mut backend, n, copy);
                    copied::<u64, _>(&mut backend, n, copy);
                    copied::<[u32; 4], _>(&mut backend, n, copy);
                }
            }
        }
    });
}

/// Indices of which some are out of range, each of the others once at most: multiples of a prime, modulo the bound.
fn indices(n: u32, bound: u32) -> Vec<u32> {
    const PRIME: u64 = 2_654_435_761;
    let beyond = [bound, bound + 1, u32::MAX, 1 << 31];
    let index = |i: u32| {
        if i % 11 != 5 && i < bound {
            (u64::from(i) * PRIME % u64::from(bound)) as u32
        } else {
            beyond[i as usize % 4]
        }
    };
    (0..n).into_par_iter().map(index).collect()
}

/// Whether there is what each index says, and zeros for those out of range.
fn is_gathered<T: Pod + Send + Sync>(from: &[T], indices: &[u32], to: &[T]) -> bool {
    let is_right =
        |(to, i): (&T, &u32)| is_same(&[*to], &[from.get(*i as usize).copied().unwrap_or(T::zeroed())]);
    to.len() == indices.len() && all(0..to.len(), &|i| is_right((&to[i], &indices[i])))
}

/// Whether each element is where its index says, and zeros are where no index points.
fn is_scattered<T: Pod + Send + Sync>(from: &[T], indices: &[u32], to: &[T]) -> bool {
    let hits: Vec<_> = to.par_iter().map(|_| AtomicBool::new(false)).collect();
    let is_there = |(x, i): (&T, &u32)| {
        let hit = hits.get(*i as usize).map(|hit| hit.store(true, Ordering::Relaxed));
        hit.is_none() || is_same(&[*x], &[to[*i as usize]])
    };
    let is_right =
        |(x, hit): (&T, &AtomicBool)| hit.load(Ordering::Relaxed) || is_same(&[*x], &[T::zeroed()]);
    all(0..from.len(), &|i| is_there((&from[i], &indices[i])))
        && all(0..to.len(), &|i| is_right((&to[i], &hits[i])))
}

fn gathered_and_scattered<T: Pod + Send + Sync, B: Primitives>(backend: &mut B, n: u32, bound: u32) {
    let what = format!("{n}, {bound} × {} bytes", size_of::<T>());
    let indices = indices(n, bound);
    let list = backend.upload("indices", &indices).unwrap();

    let input: Vec<T> = elements(bound);
    let from = backend.upload("from", &input).unwrap();
    let mut to = backend.zeroed("to", n as usize).unwrap();
    Gather.run(backend, &from, &list, &mut to, Length::Host(n)).unwrap();
    assert!(is_gathered(&input, &indices, &backend.download(&to).unwrap()), "gather, {what}");

    let input: Vec<T> = elements(n);
    let from = backend.upload("from", &input).unwrap();
    let mut to = backend.zeroed("to", bound as usize).unwrap();
    Scatter.run(backend, &from, &list, &mut to, Length::Host(n)).unwrap();
    assert!(is_scattered(&input, &indices, &backend.download(&to).unwrap()), "scatter, {what}");
}

#[test]
fn gathers_and_scatters_of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            gathered_and_scattered::<f32, _>(&mut backend, n, n);
            gathered_and_scattered::<u64, _>(&mut backend, n, n);
            gathered_and_scattered::<[u32; 4], _>(&mut backend, n, n);
        }
    });
}

#[test]
fn gathers_from_and_scatters_to_more_and_less() {
    for_each_backend!(|backend, is_gpu| {
        for n in quick_lengths(is_gpu) {
            for bound in [0, n / 2, 2 * n + 7] {
                gathered_and_scattered::<f32, _>(&mut backend, n, bound);
                gathered_and_scattered::<u64, _>(&mut backend, n, bound);
                gathered_and_scattered::<[u32; 4], _>(&mut backend, n, bound);
            }
        }
    });
}

#[test]
fn again_and_again() {
    for_each_backend!(|backend, is_gpu| {
        let n = at_most(if is_gpu { 300_007 } else { 10_007 });
        for _ in 0..times() {
            copied::<u32, _>(&mut backend, n, CopyElements { from: 1, to: 2 });
            filled::<u32, _>(&mut backend, n, 3);
            gathered_and_scattered::<u32, _>(&mut backend, n, n);
        }
    });
}

/// Of several elements for one place, one is there.
#[test]
fn scatters_to_one_place() {
    for_each_backend!(|backend, _is_gpu| {
        let from = backend.upload("from", &(100..5100).collect::<Vec<u32>>()).unwrap();
        let list = backend.upload("indices", &(0..5000).map(|i| i % 3).collect::<Vec<u32>>()).unwrap();
        let mut to = backend.zeroed("to", 4).unwrap();
        Scatter.run(&mut backend, &from, &list, &mut to, Length::Host(5000)).unwrap();
        let found = backend.download(&to).unwrap();
        for (i, x) in found[..3].iter().enumerate() {
            assert!((100..5100).contains(x) && (*x as usize - 100) % 3 == i, "{found:?}");
        }
        assert_eq!(found[3], 0);
    });
}

#[test]
fn of_a_length_on_the_machine() {
    for_each_backend!(|backend, _is_gpu| {
        for count in [0_u32, 1, 1000, 20_000, 30_000] {
            let n = 20_000_u32;
            let input: Vec<u32> = elements(n);
            let there = backend.upload("count", &[count]).unwrap();
            let length = Length::Device { count: &there, most: n };
            let mut right = vec![0; n as usize];
            let end = count.min(n) as usize;
            right[..end].copy_from_slice(&input[..end]);
            let from = backend.upload("from", &input).unwrap();
            let list = backend.upload("indices", &(0..n).collect::<Vec<_>>()).unwrap();
            let [mut copied, mut gathered, mut scattered, mut filled] =
                [0; 4].map(|_| backend.zeroed("to", n as usize).unwrap());
            CopyElements::default().run(&mut backend, &from, &mut copied, length).unwrap();
            Gather.run(&mut backend, &from, &list, &mut gathered, length).unwrap();
            Scatter.run(&mut backend, &from, &list, &mut scattered, length).unwrap();
            for found in [copied, gathered, scattered] {
                assert!(is_same(&backend.download(&found).unwrap(), &right), "{count}");
            }
            Fill::new(9).run(&mut backend, &mut filled, length).unwrap();
            right.fill(0);
            right[..end].fill(9);
            assert!(is_same(&backend.download(&filled).unwrap(), &right), "{count}");
        }
    });
}

#[test]
fn too_small_buffers_are_refused() {
    for_each_backend!(|backend, _is_gpu| {
        let from = backend.upload("from", &[1_u32, 2, 3]).unwrap();
        let mut to = backend.zeroed("to", 3).unwrap();
        for copy in [CopyElements { from: 1, to: 0 }, CopyElements { from: 0, to: u32::MAX }] {
            assert!(copy.run(&mut backend, &from, &mut to, Length::Host(3)).is_err(), "{copy:?}");
        }
        assert!(Fill { value: 1, to: 2 }.run(&mut backend, &mut to, Length::Host(2)).is_err());
        let list = backend.upload("indices", &[0; 2]).unwrap();
        assert!(Gather.run(&mut backend, &from, &list, &mut to, Length::Host(3)).is_err());
    });
}

/// An element that is wrong, at another place, or one too many would be found.
#[test]
fn the_comparisons_reject() {
    assert!(is_copied(&[5, 6], 1, &[0, 5, 6, 0]));
    for wrong in [[0, 5, 7, 0], [0, 6, 5, 0], [5, 6, 0, 0], [0, 5, 6, 6], [4, 5, 6, 0]] {
        assert!(!is_copied(&[5, 6], 1, &wrong), "{wrong:?}");
    }
    let list = [2, 0, 9];
    assert!(is_gathered(&[5, 6, 7], &list, &[7, 5, 0]));
    for wrong in [&[7, 5, 9][..], &[5, 7, 0], &[7, 6, 0], &[7, 5]] {
        assert!(!is_gathered(&[5, 6, 7], &list, wrong), "{wrong:?}");
    }
    assert!(is_scattered(&[5, 6, 7], &list, &[6, 0, 5]));
    for wrong in [[6, 7, 5], [5, 0, 6], [6, 0, 0], [0, 0, 5]] {
        assert!(!is_scattered(&[5, 6, 7], &list, &wrong), "{wrong:?}");
    }
}
