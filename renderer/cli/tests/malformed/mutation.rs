//! Damage to good files in places that are chosen.

use super::corpus::Row;
use super::row_of;
use super::seeds::Seed;

/// A seed cut short at its structural places, with flipped bytes, and with other numbers.
pub(crate) fn systematic(seed: &Seed) -> Vec<Row> {
    let bytes = &seed.bytes;
    let is_structural = |i: &usize| b"\n{}<>[]\0".contains(&bytes[*i]);
    let places: Vec<_> = (0..bytes.len()).filter(is_structural).collect();
    let cuts = spread(&places, 12).into_iter().chain([0, 1, 4, bytes.len() / 2, bytes.len() - 1]);
    let cut = cuts.map(|at| (format!("cut at {at}"), bytes[..at].to_vec()));
    let all: Vec<_> = (0..bytes.len()).collect();
    let flipped = spread(&all, 12).into_iter().map(|at| {
        let mut out = bytes.clone();
        out[at] ^= 0xff;
        (format!("byte {at} flipped"), out)
    });
    let numbers: Vec<_> = (0..bytes.len())
        .filter(|i| bytes[*i].is_ascii_digit() && (*i == 0 || !bytes[*i - 1].is_ascii_digit()))
        .collect();
    let replaced = spread(&numbers, 8).into_iter().flat_map(|at| {
        let length = bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        ["2147483648", "9223372036854775808", "-1"].map(|with| {
            let out = [&bytes[..at], with.as_bytes(), &bytes[at + length..]].concat();
            (format!("number at {at} is {with}"), out)
        })
    });
    cut.chain(flipped).chain(replaced).map(|(how, damaged)| row_of(seed, damaged, &how)).collect()
}

/// Up to `n` of them, evenly spread.
fn spread(places: &[usize], n: usize) -> Vec<usize> {
    let n = n.min(places.len());
    (0..n).map(|i| places[i * places.len() / n]).collect()
}
