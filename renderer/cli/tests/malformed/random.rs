//! Random damage to good files.

use tier::Random;

/// Pieces that parsers trip over.
const PIECES: [&[u8]; 16] = [
    b"nan",
    b"-1",
    b"1e999",
    b"2147483648",
    b"18446744073709551616",
    b"\"",
    b"[",
    b"}",
    b"<",
    b"\n",
    b"\\",
    b"\0",
    b"\xff\xff\xff\xff",
    b"\0\0\0\x80",
    b"\x80\0\0\0",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
];

/// The bytes with one to three places damaged.
pub(crate) fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(out.len());
        let end = (at + random.below(16)).min(out.len());
        match random.below(8) {
            0 => out.truncate(at),
            1 => drop(out.drain(at..end)),
            2 => {
                let copy = out[at..end].to_vec();
                out.splice(at..at, copy);
            }
            3 | 4 => {
                let piece = PIECES[random.below(PIECES.len())];
                out.splice(at..(at + piece.len()).min(out.len()), piece.iter().copied());
            }
            _ if out.is_empty() => {}
            _ => out[at] ^= 1 << random.below(8),
        }
    }
    out
}
