//! What keys are sorted by, and what may go with them.

use core::marker::PhantomData;

use bytemuck::Pod;

#[cfg(target_arch = "nvptx64")]
use crate::primitives::Ptr;

/// An order of keys: strict and weak, i.e. `less` is transitive, nothing is less than itself, and keys of which neither is
/// less than the other are equal to the same keys.
pub trait Order: Sized + 'static {
    /// What is ordered.
    type Key: Pod + Send + Sync;

    /// Whether `a` comes before `b` wherever they stand.
    fn less(a: Self::Key, b: Self::Key) -> bool;
}

/// A number with a total order.
pub trait Ordered: Pod + Send + Sync {
    /// Whether it is less. Among floats it is IEEE 754's total order: −NaN, −∞ … −0, +0 … +∞, +NaN.
    fn before(self, other: Self) -> bool;
}

macro_rules! whole {
    ($($T:ty),*) => { $(
        impl Ordered for $T {
            #[inline(always)]
            fn before(self, other: Self) -> bool {
                self < other
            }
        }
    )* };
}
whole!(u32, i32, u64);

impl Ordered for f32 {
    #[inline(always)]
    fn before(self, other: Self) -> bool {
        self.total_cmp(&other).is_lt()
    }
}

/// From the least number to the largest one.
pub struct Ascending<T>(PhantomData<T>);

impl<T: Ordered> Order for Ascending<T> {
    type Key = T;

    #[inline(always)]
    fn less(a: T, b: T) -> bool {
        a.before(b)
    }
}

/// From the largest number to the least one.
pub struct Descending<T>(PhantomData<T>);

impl<T: Ordered> Order for Descending<T> {
    type Key = T;

    #[inline(always)]
    fn less(a: T, b: T) -> bool {
        b.before(a)
    }
}

/// By the low 16 bits: keys that differ in the others alone are equal.
pub struct LowHalf;

impl Order for LowHalf {
    type Key = u32;

    #[inline(always)]
    fn less(a: u32, b: u32) -> bool {
        (a as u16) < b as u16
    }
}

/// What goes with a key: a number, or nothing.
pub trait Payload: Pod + Send + Sync {
    /// Where in its tile it was before the tile was sorted.
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
