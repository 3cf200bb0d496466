//! Atomic operations on memory that several threads touch, by the scope of those threads.
//!
//! [`device`] is for global memory and all threads of the device; [`block`] is for shared memory and the
//! threads of one block. The state space is part of each instruction: an atomic on a generic address
//! would have to find out at run time, which for `f32` addition takes thirty instructions and a loop.
//! `core`'s atomics work on the GPU too, but their scope is the whole system, host included.
//!
//! Read-modify-write operations are relaxed: they order nothing but themselves. To hand data to another
//! thread, write it, then [`device::store_release_u32`] a flag that the other reads with
//! [`device::load_acquire_u32`]; or use the fences of [`thread`](crate::thread).
//!
//! Every operation is also a compiler barrier: no access to memory moves across it. It concerns one
//! thread alone, so `asm!` (which LLVM does not treat as convergent) is right for it.

/// `asm!` of an instruction on a global address. A generic address in global memory is the same number.
macro_rules! global {
    ($address:ident, [$($part:expr),*] $($operand:tt)*) => {
        core::arch::asm!(concat!($($part),*) $($operand)*, address = in(reg64) $address,
                         options(nostack, preserves_flags))
    };
}

/// `asm!` of an instruction on a shared address, converted from the generic one.
macro_rules! shared {
    ($address:ident, [$($part:expr),*] $($operand:tt)*) => {
        core::arch::asm!("cvta.to.shared.u64 {address}, {address};", concat!($($part),*) $($operand)*,
                         address = inout(reg64) $address => _, options(nostack, preserves_flags))
    };
}

macro_rules! read_modify_write {
    ($space:ident $scope:literal; $($(#[$doc:meta])* $name:ident($ty:ty, $reg:ident) = $op:literal;)*) => {$(
        $(#[$doc])*
        #[doc = concat!("\n\nReturns the value before: `atom.relaxed.", $scope, ".", $op, "`.")]
        ///
        /// # Safety
        #[doc = concat!("`address` must be in ", stringify!($space), " memory, valid for reads and writes,")]
        /// aligned, and every concurrent access to it atomic.
        #[inline(always)]
        pub unsafe fn $name(address: *mut $ty, value: $ty) -> $ty {
            let before: $ty;
            // SAFETY: one atomic access to an address that the caller vouches for.
            unsafe {
                $space!(
                    address, ["atom.relaxed.", $scope, ".", $op, " {}, [{address}], {};"],
                    out($reg) before, in($reg) value
                );
            }
            before
        }
    )*};
}

macro_rules! compare_and_swap {
    ($space:ident $scope:literal; $($(#[$doc:meta])* $name:ident($ty:ty, $reg:ident) = $op:literal;)*) => {$(
        $(#[$doc])*
        #[doc = concat!("\n\nReturns the value before: `atom.relaxed.", $scope, ".", $op, "`.")]
        ///
        /// # Safety
        #[doc = concat!("`address` must be in ", stringify!($space), " memory, valid for reads and writes,")]
        /// aligned, and every concurrent access to it atomic.
        #[inline(always)]
        pub unsafe fn $name(address: *mut $ty, expected: $ty, value: $ty) -> $ty {
            let before: $ty;
            // SAFETY: one atomic access to an address that the caller vouches for.
            unsafe {
                $space!(
                    address, ["atom.relaxed.", $scope, ".", $op, " {}, [{address}], {}, {};"],
                    out($reg) before, in($reg) expected, in($reg) value
                );
            }
            before
        }
    )*};
}

macro_rules! loads {
    ($space:ident $scope:literal;
     $($(#[$doc:meta])* $name:ident($ty:ty, $reg:ident) = $op:literal, $size:literal;)*) => {$(
        $(#[$doc])*
        #[doc = concat!("\n\n`ld.", $op, ".", $scope, ".", $size, "`.")]
        ///
        /// # Safety
        #[doc = concat!("`address` must be in ", stringify!($space), " memory, valid for reads, aligned,")]
        /// and every concurrent write to it atomic.
        #[inline(always)]
        pub unsafe fn $name(address: *const $ty) -> $ty {
            let value: $ty;
            // SAFETY: one atomic read of an address that the caller vouches for.
            unsafe {
                $space!(address, ["ld.", $op, ".", $scope, ".", $size, " {}, [{address}];"], out($reg) value);
            }
            value
        }
    )*};
}

macro_rules! stores {
    ($space:ident $scope:literal;
     $($(#[$doc:meta])* $name:ident($ty:ty, $reg:ident) = $op:literal, $size:literal;)*) => {$(
        $(#[$doc])*
        #[doc = concat!("\n\n`st.", $op, ".", $scope, ".", $size, "`.")]
        ///
        /// # Safety
        #[doc = concat!("`address` must be in ", stringify!($space), " memory, valid for writes, aligned,")]
        /// and every concurrent access to it atomic.
        #[inline(always)]
        pub unsafe fn $name(address: *mut $ty, value: $ty) {
            // SAFETY: one atomic write to an address that the caller vouches for.
            unsafe {
                $space!(address, ["st.", $op, ".", $scope, ".", $size, " [{address}], {};"], in($reg) value);
            }
        }
    )*};
}

macro_rules! scope {
    ($space:ident $scope:literal) => {
        read_modify_write! { $space $scope;
            /// Adds, wrapping.
            add_u32(u32, reg32) = "add.u32";
            /// Adds, wrapping.
            add_i32(i32, reg32) = "add.s32";
            /// Adds, wrapping.
            add_u64(u64, reg64) = "add.u64";
            /// Adds. The order of several additions, and so their rounding, is not determined.
            /// Subnormals become zero in global memory.
            add_f32(f32, reg32) = "add.f32";
            /// Keeps the smaller value.
            min_u32(u32, reg32) = "min.u32";
            /// Keeps the smaller value.
            min_i32(i32, reg32) = "min.s32";
            /// Keeps the smaller value.
            min_u64(u64, reg64) = "min.u64";
            /// Keeps the larger value.
            max_u32(u32, reg32) = "max.u32";
            /// Keeps the larger value.
            max_i32(i32, reg32) = "max.s32";
            /// Keeps the larger value.
            max_u64(u64, reg64) = "max.u64";
            /// Replaces the value.
            exch_u32(u32, reg32) = "exch.b32";
            /// Replaces the value.
            exch_u64(u64, reg64) = "exch.b64";
        }
        compare_and_swap! { $space $scope;
            /// Replaces the value if it is `expected`.
            cas_u32(u32, reg32) = "cas.b32";
            /// Replaces the value if it is `expected`.
            cas_u64(u64, reg64) = "cas.b64";
        }
        loads! { $space $scope;
            /// Reads, ordering nothing else.
            load_relaxed_u32(u32, reg32) = "relaxed", "u32";
            /// Reads, ordering nothing else.
            load_relaxed_u64(u64, reg64) = "relaxed", "u64";
            /// Reads; what the writer of this value wrote before its release is visible afterwards.
            load_acquire_u32(u32, reg32) = "acquire", "u32";
            /// Reads; what the writer of this value wrote before its release is visible afterwards.
            load_acquire_u64(u64, reg64) = "acquire", "u64";
        }
        stores! { $space $scope;
            /// Writes, ordering nothing else.
            store_relaxed_u32(u32, reg32) = "relaxed", "u32";
            /// Writes, ordering nothing else.
            store_relaxed_u64(u64, reg64) = "relaxed", "u64";
            /// Writes after this thread's earlier writes, for whoever acquires this value.
            store_release_u32(u32, reg32) = "release", "u32";
            /// Writes after this thread's earlier writes, for whoever acquires this value.
            store_release_u64(u64, reg64) = "release", "u64";
        }
    };
}

/// Shared memory, between the threads of one block: `.cta.shared`.
pub mod block {
    scope!(shared "cta.shared");
}

/// Global memory, between all threads of the device: `.gpu.global`.
pub mod device {
    scope!(global "gpu.global");
}

macro_rules! volatile {
    ($($ty:ident, $load:ident, $store:ident;)*) => {$(
        /// Reads memory itself, every time, never a copy: for data that other threads change.
        ///
        #[doc = concat!("`ld.volatile` of a `", stringify!($ty), "`, in whichever space the address is.")]
        ///
        /// # Safety
        /// `address` must be valid for reads and aligned.
        #[inline(always)]
        pub unsafe fn $load(address: *const $ty) -> $ty {
            // SAFETY: the caller's promise.
            unsafe { address.read_volatile() }
        }

        /// Writes memory itself, every time, never delayed or merged.
        ///
        #[doc = concat!("`st.volatile` of a `", stringify!($ty), "`, in whichever space the address is.")]
        ///
        /// # Safety
        /// `address` must be valid for writes and aligned.
        #[inline(always)]
        pub unsafe fn $store(address: *mut $ty, value: $ty) {
            // SAFETY: the caller's promise.
            unsafe { address.write_volatile(value) }
        }
    )*};
}

volatile! {
    u32, load_volatile_u32, store_volatile_u32;
    u64, load_volatile_u64, store_volatile_u64;
}
