//! Orders of keys, and payloads that are sorted with them.

use core::marker::PhantomData;

use bytemuck::Pod;

#[cfg(target_arch = "nvptx64")]
use crate::Ptr;
use crate::radix_sort::Key;

/// An order of keys: strict and weak, i.e. `less` is transitive, nothing is less than itself, and keys of which neither is
/// less than the other are equal to the same keys.
pub trait Order: Sized + 'static {
    /// Type of the keys.
    type Key: Pod + Send + Sync;
    /// Type of keys in comparisons: of the same size.
    type Rank: Pod;

    /// A key, to be compared.
    fn rank(key: Self::Key) -> Self::Rank;
    /// The key again.
    fn key(rank: Self::Rank) -> Self::Key;
    /// Whether `a` comes before `b` wherever they stand.
    fn less(a: Self::Rank, b: Self::Rank) -> bool;
}

macro_rules! orders {
    ($($(#[$doc:meta])* $name:ident = |$a:ident, $b:ident| $less:expr;)*) => { $(
        $(#[$doc])*
        pub struct $name<T>(PhantomData<T>);

        impl<T: Key> Order for $name<T> {
            type Key = T;
            type Rank = T::Rank;

            #[inline(always)]
            fn rank(key: T) -> T::Rank {
                key.to_rank()
            }

            #[inline(always)]
            fn key(rank: T::Rank) -> T {
                T::from_rank(rank)
            }

            #[inline(always)]
            fn less($a: T::Rank, $b: T::Rank) -> bool {
                $less
            }
        }
    )* };
}

orders! {
    /// From the least number to the largest one.
    Ascending = |a, b| a < b;
    /// From the largest number to the least one.
    Descending = |a, b| b < a;
}

/// By the low 16 bits: keys that differ in the others alone are equal.
pub struct LowHalf;

impl Order for LowHalf {
    type Key = u32;
    type Rank = u32;

    #[inline(always)]
    fn rank(key: u32) -> u32 {
        key
    }

    #[inline(always)]
    fn key(rank: u32) -> u32 {
        rank
    }

    #[inline(always)]
    fn less(a: u32, b: u32) -> bool {
        (a as u16) < b as u16
    }
}

/// Payload of a key: a number, or nothing.
pub trait Payload: Pod + Send + Sync {
    /// Position in the tile before the tile was sorted.
    type Place: Pod;

    /// The place `i`, below 2¹⁶.
    fn place(i: u32) -> Self::Place;
    /// Its number.
    fn index(place: Self::Place) -> u32;

    /// Reads value `i`, which nothing writes while the kernel runs.
    ///
    /// # Safety
    /// It is there, in global memory.
    #[cfg(target_arch = "nvptx64")]
    unsafe fn load(values: Ptr<Self>, i: u32) -> Self;

    /// Writes value `i`.
    ///
    /// # Safety
    /// It is there, in global memory, and this thread's.
    #[cfg(target_arch = "nvptx64")]
    unsafe fn store(self, values: Ptr<Self>, i: u32);
}

impl Payload for () {
    type Place = ();

    #[inline(always)]
    fn place(_: u32) {}

    #[inline(always)]
    fn index((): ()) -> u32 {
        0
    }

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn load(_: Ptr<()>, _: u32) {}

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn store(self, _: Ptr<()>, _: u32) {}
}

impl Payload for u32 {
    type Place = u16;

    #[inline(always)]
    fn place(i: u32) -> u16 {
        i as u16
    }

    #[inline(always)]
    fn index(place: u16) -> u32 {
        u32::from(place)
    }

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn load(values: Ptr<u32>, i: u32) -> u32 {
        // SAFETY: as the caller promised.
        unsafe { values.load_constant(i) }
    }

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn store(self, values: Ptr<u32>, i: u32) {
        // SAFETY: as the caller promised.
        unsafe { Ptr::store(values, i, self) }
    }
}
