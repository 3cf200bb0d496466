//! Loads and stores that move up to 16 bytes in one instruction and say how to cache them.
//!
//! The generic functions take any plain type of 4 bytes, 8 bytes or a multiple of 16 bytes whose alignment
//! is as large (16 is enough); another size or alignment does not compile. Addresses are in global memory.
//!
//! | function | instruction | for |
//! |---|---|---|
//! | [`ldg`] | `ld.global.nc` | data that nothing writes while the kernel runs |
//! | [`ld`] | `ld.global` | data that somebody may write |
//! | [`ldcs`] | `ld.global.cs` | data read once |
//! | [`ldcg`] | `ld.global.cg` | data that other multiprocessors write: skips the L1 cache |
//! | [`st`] | `st.global` | data |
//! | [`stcs`] | `st.global.cs` | data not read again soon |
//! | [`stcg`] | `st.global.cg` | data that other multiprocessors read: stays in L2 |

use core::arch::asm;
use core::mem::MaybeUninit;

/// Whether a type can be moved in whole instructions.
const fn movable<T>() -> bool {
    let (size, align) = (size_of::<T>(), align_of::<T>());
    match size {
        4 => align == 4,
        8 => align == 8,
        _ => size > 0 && size % 16 == 0 && align % 16 == 0,
    }
}

macro_rules! load {
    ($(#[$doc:meta])* $name:ident, $op:literal, $memory:ident) => {
        $(#[$doc])*
        #[doc = concat!("\n\n`", $op, ".u32`, `", $op, ".u64` or several `", $op, ".v4.u32`.")]
        ///
        /// # Safety
        /// `address` must be valid for reads, aligned, in global memory, and hold a valid `T`.
        #[inline(always)]
        #[must_use]
        pub unsafe fn $name<T: Copy>(address: *const T) -> T {
            const { assert!(movable::<T>(), "the type must have 4, 8 or n·16 bytes and be aligned to them") };
            let mut value = MaybeUninit::<T>::uninit();
            let to = value.as_mut_ptr().cast::<u32>();
            // SAFETY: reads and writes exactly the bytes of one `T`; the caller vouches for the address.
            unsafe {
                match size_of::<T>() {
                    4 => {
                        let a: u32;
                        asm!(concat!($op, ".u32 {}, [{}];"), out(reg32) a, in(reg64) address,
                             options(pure, $memory, nostack, preserves_flags));
                        to.write(a);
                    }
                    8 => {
                        let a: u64;
                        asm!(concat!($op, ".u64 {}, [{}];"), out(reg64) a, in(reg64) address,
                             options(pure, $memory, nostack, preserves_flags));
                        to.cast::<u64>().write(a);
                    }
                    size => {
                        let mut i = 0;
                        while i < size / 16 {
                            let (a, b, c, d): (u32, u32, u32, u32);
                            asm!(concat!($op, ".v4.u32 {{{}, {}, {}, {}}}, [{}];"),
                                 out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d,
                                 in(reg64) address.cast::<[u32; 4]>().add(i),
                                 options(pure, $memory, nostack, preserves_flags));
                            to.cast::<[u32; 4]>().add(i).write([a, b, c, d]);
                            i += 1;
                        }
                    }
                }
                value.assume_init()
            }
        }
    };
}

macro_rules! store {
    ($(#[$doc:meta])* $name:ident, $op:literal) => {
        $(#[$doc])*
        #[doc = concat!("\n\n`", $op, ".u32`, `", $op, ".u64` or several `", $op, ".v4.u32`.")]
        ///
        /// # Safety
        /// `address` must be valid for writes, aligned and in global memory; `T` must have no padding.
        #[inline(always)]
        pub unsafe fn $name<T: Copy>(address: *mut T, value: T) {
            const { assert!(movable::<T>(), "the type must have 4, 8 or n·16 bytes and be aligned to them") };
            let from = (&raw const value).cast::<u32>();
            // SAFETY: reads and writes exactly the bytes of one `T`; the caller vouches for the address.
            unsafe {
                match size_of::<T>() {
                    4 => asm!(concat!($op, ".u32 [{}], {};"), in(reg64) address, in(reg32) from.read(),
                              options(nostack, preserves_flags)),
                    8 => asm!(concat!($op, ".u64 [{}], {};"), in(reg64) address, in(reg64) from.cast::<u64>().read(),
                              options(nostack, preserves_flags)),
                    size => {
                        let mut i = 0;
                        while i < size / 16 {
                            let [a, b, c, d] = from.cast::<[u32; 4]>().add(i).read();
                            asm!(concat!($op, ".v4.u32 [{}], {{{}, {}, {}, {}}};"),
                                 in(reg64) address.cast::<[u32; 4]>().add(i),
                                 in(reg32) a, in(reg32) b, in(reg32) c, in(reg32) d,
                                 options(nostack, preserves_flags));
                            i += 1;
                        }
                    }
                }
            }
        }
    };
}

load! {
    /// Reads data that nothing writes while the kernel runs, through the read-only cache.
    #[expect(clippy::pointers_in_nomem_asm_block, reason = "reads of what never changes may merge and wait")]
    ldg, "ld.global.nc", nomem
}

load! {
    /// Reads, through all caches.
    ld, "ld.global", readonly
}

load! {
    /// Reads data that is not needed again: first to leave the cache.
    ldcs, "ld.global.cs", readonly
}

load! {
    /// Reads from L2, past the L1 cache, which other multiprocessors' writes do not reach. Not for
    /// polling: the compiler may merge two reads. [`atomic`](crate::atomic) has loads for that.
    ldcg, "ld.global.cg", readonly
}

store! {
    /// Writes, through all caches.
    st, "st.global"
}

store! {
    /// Writes data that is not read again soon: first to leave the cache.
    stcs, "st.global.cs"
}

store! {
    /// Writes to L2, where other multiprocessors find it.
    stcg, "st.global.cg"
}

/// Plain words with the alignment that one instruction needs.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Pair<T>([T; 2]);

/// As [`Pair`].
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Quad<T>([T; 4]);

macro_rules! named {
    ($($name:ident, $pair:ident, $quad:ident: $ty:ty;)*) => {$(
        #[doc = concat!("[`ldg`] of one `", stringify!($ty), "`: `ld.global.nc.u32`.")]
        ///
        /// # Safety
        /// As [`ldg`].
        #[inline(always)]
        #[must_use]
        pub unsafe fn $name(address: *const $ty) -> $ty {
            // SAFETY: the caller's promise.
            unsafe { ldg(address) }
        }

        #[doc = concat!("[`ldg`] of two `", stringify!($ty), "`: `ld.global.nc.u64`.")]
        ///
        /// # Safety
        /// As [`ldg`] for both values, and `address` must be a multiple of 8.
        #[inline(always)]
        #[must_use]
        pub unsafe fn $pair(address: *const $ty) -> [$ty; 2] {
            // SAFETY: the caller's promise.
            unsafe { ldg(address.cast::<Pair<$ty>>()).0 }
        }

        #[doc = concat!("[`ldg`] of four `", stringify!($ty), "`: `ld.global.nc.v4.u32`.")]
        ///
        /// # Safety
        /// As [`ldg`] for all four values, and `address` must be a multiple of 16.
        #[inline(always)]
        #[must_use]
        pub unsafe fn $quad(address: *const $ty) -> [$ty; 4] {
            // SAFETY: the caller's promise.
            unsafe { ldg(address.cast::<Quad<$ty>>()).0 }
        }
    )*};
}

named! {
    ldg_f32, ldg_f32x2, ldg_f32x4: f32;
    ldg_u32, ldg_u32x2, ldg_u32x4: u32;
}
