//! Stable sorting by the bits of keys, least significant digits first, in one pass over memory a digit (Adinets &
//! Merrill, "Onesweep: A faster least significant digit radix sort for GPUs", 2022).
//!
//! [`Count`] reads the keys once, and tells for all digits at once where each of their values begins. Then [`Pass`] moves
//! everything by one digit after the other: a tile ranks its keys in the block, finds by look-back how many keys of each
//! digit are before it, puts its keys in order in shared memory and writes them from there, so that what goes to the same
//! place in memory goes together.

mod count;
mod key;
mod pass;

pub use count::{Count, CountArgs};
pub use key::{Direction, Key, Rank};
pub use pass::{Pass, PassArgs};

use super::{Entry, Kernel};

/// A key type for which there are kernels.
pub trait RadixSortable: Key {
    /// Counts digits.
    type Count: Kernel<Args = CountArgs<Self>> + Entry;
    /// Moves keys.
    type Keys: Kernel<Args = PassArgs<Self, ()>> + Entry;
    /// Moves keys and values of 4 bytes.
    type Words: Kernel<Args = PassArgs<Self, u32>> + Entry;
    /// Moves keys and values of 8 bytes.
    type LongWords: Kernel<Args = PassArgs<Self, u64>> + Entry;
}

impl<K: Key> RadixSortable for K
where
    Count<K>: Entry,
    Pass<K, ()>: Entry,
    Pass<K, u32>: Entry,
    Pass<K, u64>: Entry,
{
    type Count = Count<K>;
    type Keys = Pass<K, ()>;
    type Words = Pass<K, u32>;
    type LongWords = Pass<K, u64>;
}

/// Bits of a digit, at most.
pub const DIGIT_BITS: u32 = 8;

/// Values of a digit.
pub const BINS: u32 = 1 << DIGIT_BITS;

/// Some neighbouring bits of a rank, at most [`DIGIT_BITS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Digit {
    /// The least significant one.
    pub shift: u32,
    /// As many ones as there are bits.
    pub mask: u32,
}

/// The bits of ranks by which keys are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Bits {
    /// The least significant one.
    pub begin: u32,
    /// The one after the most significant one.
    pub end: u32,
}

impl Bits {
    /// Number of digits. No bits count as one digit, which is the same for all keys, so that everything is copied.
    #[inline(always)]
    pub fn digits(self) -> u32 {
        (self.end - self.begin).div_ceil(DIGIT_BITS).max(1)
    }

    /// The digit number `i`, from the least significant one on.
    #[inline(always)]
    pub fn digit(self, i: u32) -> Digit {
        let shift = self.begin + i * DIGIT_BITS;
        let bits = (self.end - shift).min(DIGIT_BITS);
        // A shift is less than the bits of a rank also if there is no digit.
        Digit { shift: if bits == 0 { 0 } else { shift }, mask: (1 << bits) - 1 }
    }
}

/// Sequential equivalent of a pass: moves keys, and values with them, into the order of one digit. Those with the same digit
/// keep their order.
///
/// # Panics
/// One of the slices is shorter than `keys`.
pub fn twin<K: Key, V: Copy>(
    (keys, values): (&[K], &[V]),
    (keys_out, values_out): (&mut [K], &mut [V]),
    digit: Digit,
    order: Direction,
) {
    let of = |key: &K| key.rank(order).digit(digit) as usize;
    let mut ends = [0_usize; BINS as usize];
    for key in keys {
        ends[of(key)] += 1;
    }
    let mut begin = 0;
    let mut next = ends.map(|count| {
        begin += count;
        begin - count
    });
    for (key, value) in keys.iter().zip(&values[..keys.len()]) {
        let to = &mut next[of(key)];
        keys_out[*to] = *key;
        values_out[*to] = *value;
        *to += 1;
    }
}
