//! Memory that the threads of a block share: [`shared_array!`](crate::shared_array) for a size known at
//! compile time, [`dynamic_shared_mem`] for one that the launch decides.
//!
//! rustc knows no address spaces, so both are statics in sections of their own, which the build moves to
//! shared memory. Their accesses are `ld.shared` and `st.shared`.

unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.dynamic_smem_size"]
    safe fn sreg_dynamic_smem_size() -> u32;
}

/// Stands for the shared memory that the launch asks for; the build makes it `.extern .shared`.
#[unsafe(link_section = ".shared.dynamic")]
static mut DYNAMIC: [u128; 0] = [];

/// `shared_array![T; N]`: the address of an array that the threads of the block share, as `*mut T`.
///
/// Becomes `.shared .align A .b8 name[SIZE]`. Each place in the source is one array, also when it is
/// reached several times or by several instances of a generic function. It is not initialised: some thread
/// must write an element, and [`sync_threads`](crate::thread::sync_threads) must come between, before
/// another reads it.
#[macro_export]
macro_rules! shared_array {
    ($ty:ty; $len:expr) => {{
        #[unsafe(link_section = ".shared")]
        static mut SHARED: ::core::mem::MaybeUninit<[$ty; $len]> = ::core::mem::MaybeUninit::uninit();
        (&raw mut SHARED).cast::<$ty>()
    }};
}

/// The shared memory that the launch asked for, as elements of `T`: `.extern .shared .align 16`.
///
/// Every call gives the same address, aligned to 16 bytes and not initialised.
#[inline(always)]
#[must_use]
pub fn dynamic_shared_mem<T>() -> *mut T {
    const { assert!(align_of::<T>() <= 16, "dynamic shared memory is aligned to 16 bytes") };
    (&raw mut DYNAMIC).cast()
}

/// Bytes of shared memory that the launch asked for: `mov.u32 %dynamic_smem_size`.
#[inline(always)]
#[must_use]
pub fn dynamic_shared_size() -> u32 {
    sreg_dynamic_smem_size()
}
