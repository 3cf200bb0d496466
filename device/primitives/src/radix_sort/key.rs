//! Keys, and their order as whole numbers.

use core::ops::{BitXor, Not, Shr};

use super::Digit;
use crate::Element;

/// From the least to the greatest, or the other way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Direction {
    /// The least first.
    Ascending,
    /// The greatest first.
    Descending,
}

/// A key that can be sorted by its bits.
pub trait Key: Element {
    /// A whole number without a sign, of the same size.
    type Rank: Rank;

    /// Rank of the key, in ascending order.
    fn to_rank(self) -> Self::Rank;

    /// The key of a rank.
    fn from_rank(rank: Self::Rank) -> Self;

    /// Rank of the key in the given order.
    #[inline(always)]
    fn rank(self, order: Direction) -> Self::Rank {
        self.to_rank() ^ Self::Rank::turned(order)
    }

    /// The key of a [`rank`](Key::rank).
    #[inline(always)]
    fn ranked(rank: Self::Rank, order: Direction) -> Self {
        Self::from_rank(rank ^ Self::Rank::turned(order))
    }
}

/// Whole numbers without a sign.
pub trait Rank: Element + BitXor<Output = Self> + Not<Output = Self> + Shr<u32, Output = Self> {
    /// The bits of it.
    const BITS: u32;

    /// The low half or all of it.
    fn low(self) -> u32;

    /// The value of one of its digits.
    #[inline(always)]
    fn digit(self, digit: Digit) -> u32 {
        (self >> digit.shift).low() & digit.mask
    }

    /// The bits in which the ranks of both orders differ.
    #[inline(always)]
    fn turned(order: Direction) -> Self {
        match order {
            Direction::Ascending => Self::ZERO,
            Direction::Descending => !Self::ZERO,
        }
    }
}

macro_rules! ranks {
    ($($T:ident),*) => { $(
        impl Rank for $T {
            const BITS: u32 = $T::BITS;

            #[inline(always)]
            fn low(self) -> u32 {
                self as u32
            }
        }

        impl Key for $T {
            type Rank = $T;

            #[inline(always)]
            fn to_rank(self) -> $T {
                self
            }

            #[inline(always)]
            fn from_rank(rank: $T) -> $T {
                rank
            }
        }
    )* };
}
ranks!(u32, u64);

/// The sign of a number of 32 bits.
const SIGN: u32 = 1 << 31;

impl Key for i32 {
    type Rank = u32;

    #[inline(always)]
    fn to_rank(self) -> u32 {
        self.cast_unsigned() ^ SIGN
    }

    #[inline(always)]
    fn from_rank(rank: u32) -> i32 {
        (rank ^ SIGN).cast_signed()
    }
}

/// The total order of IEEE 754: NaNs with a sign, −∞, …, −0, +0, …, +∞, NaNs without.
impl Key for f32 {
    type Rank = u32;

    #[inline(always)]
    fn to_rank(self) -> u32 {
        let bits = self.to_bits();
        bits ^ (spread(bits) | SIGN)
    }

    #[inline(always)]
    fn from_rank(rank: u32) -> f32 {
        f32::from_bits(rank ^ (spread(!rank) | SIGN))
    }
}

/// The sign in all bits.
#[inline(always)]
fn spread(bits: u32) -> u32 {
    (bits.cast_signed() >> 31).cast_unsigned()
}
