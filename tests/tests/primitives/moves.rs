//! Copies, filling, gathering and scattering, against slices.

use bytemuck::Pod;
use renderer::backend::Backend;
use renderer::primitives::{CopyElements, Fill, Gather, Length, Primitives, Scatter};
use torrance_tests::arrays::{lengths, random, short_lengths};
use torrance_tests::for_each_backend;

/// Elements of any size, each another one.
fn elements<T: Pod>(n: u32) -> Vec<T> {
    let words = random(31, n * (size_of::<T>() as u32).div_ceil(8));
    (0..n as usize)
        .map(|i| {
            bytemuck::pod_read_unaligned(
                &bytemuck::cast_slice(&words)[i * size_of::<T>()..][..size_of::<T>()],
            )
        })
        .collect()
}

/// Whether they are the same, bit by bit.
fn is_same<T: Pod>(a: &[T], b: &[T]) -> bool {
    bytemuck::cast_slice::<_, u8>(a) == bytemuck::cast_slice::<_, u8>(b)
}

fn copied<T: Pod + Send + Sync, B: Primitives>(backend: &mut B, n: u32, copy: CopyElements) {
    let input: Vec<T> = elements(copy.from + n + 3);
    let mut right = vec![T::zeroed(); (copy.to + n + 5) as usize];
    let from = backend.upload("from", &input).unwrap();
    let mut to = backend.upload("to", &right).unwrap();
    copy.run(backend, &from, &mut to, Length::Host(n)).unwrap();
    right[copy.to as usize..][..n as usize].copy_from_slice(&input[copy.from as usize..][..n as usize]);
    assert!(is_same(&backend.download(&to).unwrap(), &right), "{n} × {} bytes, {copy:?}", size_of::<T>());
}

fn filled<T: Pod + Send + Sync, B: Primitives>(backend: &mut B, n: u32, to: u32) {
    let value = elements::<T>(1)[0];
    let mut right = vec![T::zeroed(); (to + n + 5) as usize];
    let mut there = backend.upload("to", &right).unwrap();
    Fill { value, to }.run(backend, &mut there, Length::Host(n)).unwrap();
    right[to as usize..][..n as usize].fill(value);
    assert!(
        is_same(&backend.download(&there).unwrap(), &right),
        "{n} × {} bytes, from {to} on",
        size_of::<T>()
    );
}

#[test]
fn copies_and_fills_of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            copied::<u32, _>(&mut backend, n, CopyElements::default());
            filled::<u32, _>(&mut backend, n, 0);
        }
        for n in short_lengths(is_gpu) {
            copied::<f64, _>(&mut backend, n, CopyElements::default());
            copied::<[f32; 4], _>(&mut backend, n, CopyElements::default());
            filled::<u64, _>(&mut backend, n, 0);
            filled::<[u32; 4], _>(&mut backend, n, 0);
        }
    });
}

#[test]
fn copies_and_fills_from_anywhere() {
    for_each_backend!(|backend, _is_gpu| {
        for n in (0..40).chain([8190, 8191, 8192, 8193, 100_001]) {
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

/// Indices of which some are out of range, each of the others once at most.
fn indices(n: u32, bound: u32) -> Vec<u32> {
    let mut order: Vec<_> = random(32, bound).into_iter().zip(0..bound).collect();
    order.sort_unstable();
    let beyond = [bound, bound + 1, u32::MAX, 1 << 31];
    (0..n as usize)
        .map(|i| match order.get(i) {
            Some((_, index)) if i % 11 != 5 => *index,
            _ => beyond[i % 4],
        })
        .collect()
}

fn gathered_and_scattered<T: Pod + Send + Sync, B: Primitives>(backend: &mut B, n: u32, bound: u32) {
    let indices = indices(n, bound);
    let list = backend.upload("indices", &indices).unwrap();
    let marks = |n: u32| vec![T::zeroed(); n as usize];

    let input: Vec<T> = elements(bound);
    let from = backend.upload("from", &input).unwrap();
    let mut to = backend.upload("to", &marks(n)).unwrap();
    Gather.run(backend, &from, &list, &mut to, Length::Host(n)).unwrap();
    let right: Vec<T> =
        indices.iter().map(|i| input.get(*i as usize).copied().unwrap_or(T::zeroed())).collect();
    assert!(is_same(&backend.download(&to).unwrap(), &right), "{n} of {bound} × {} bytes", size_of::<T>());

    let input: Vec<T> = elements(n);
    let from = backend.upload("from", &input).unwrap();
    let mut to = backend.upload("to", &marks(bound)).unwrap();
    Scatter.run(backend, &from, &list, &mut to, Length::Host(n)).unwrap();
    let mut right = marks(bound);
    for (x, i) in input.iter().zip(&indices) {
        if *i < bound {
            right[*i as usize] = *x;
        }
    }
    assert!(is_same(&backend.download(&to).unwrap(), &right), "{n} to {bound} × {} bytes", size_of::<T>());
}

#[test]
fn gathers_and_scatters() {
    for_each_backend!(|backend, is_gpu| {
        for n in short_lengths(is_gpu) {
            for bound in [n, n / 2, 2 * n + 7] {
                gathered_and_scattered::<f32, _>(&mut backend, n, bound);
                gathered_and_scattered::<u64, _>(&mut backend, n, bound);
                gathered_and_scattered::<[u32; 4], _>(&mut backend, n, bound);
            }
        }
        if is_gpu {
            gathered_and_scattered::<u32, _>(&mut backend, (1 << 24) + 7, 1 << 24);
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
