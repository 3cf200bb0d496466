//! Scans, against a sum in a row.

use renderer::backend::Backend;
use renderer::primitives::{Affine, Length, Max, Min, Operator, Primitives, Scan, Sum, Temp};
use torrance_tests::arrays::{difficult, lengths, random};
use torrance_tests::for_each_backend;

/// The results of both scans on a back end, of numbers whose count is in its memory.
fn scanned<B: Primitives>(backend: &mut B, input: &[u32]) -> [Vec<u32>; 2] {
    let n = input.len() as u32;
    [Scan::<Sum<u32>>::exclusive(), Scan::inclusive()].map(|scan| {
        let numbers = backend.upload("numbers", input).unwrap();
        let mut sums = backend.zeroed("sums", input.len()).unwrap();
        let mut temp = Temp::new(backend, scan.temp_bytes(n)).unwrap();
        scan.run(backend, &numbers, &mut sums, Length::Host(n), &mut temp).unwrap();
        backend.download(&sums).unwrap()
    })
}

fn expected(input: &[u32]) -> [Vec<u32>; 2] {
    let mut sum = 0_u32;
    let (mut before, mut with) = (Vec::new(), Vec::new());
    for x in input {
        before.push(sum);
        sum = sum.wrapping_add(*x);
        with.push(sum);
    }
    [before, with]
}

#[test]
fn of_every_length() {
    for_each_backend!(|backend, is_gpu| {
        for n in lengths(is_gpu) {
            let input: Vec<_> = random(3, n).into_iter().map(|x| x as u32).collect();
            assert!(scanned(&mut backend, &input) == expected(&input), "{n}");
        }
    });
}
