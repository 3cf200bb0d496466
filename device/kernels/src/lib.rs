//! Entry points of the GPU: all code that exists on a GPU only.

#![no_std]
#![feature(abi_ptx)]

#[cfg(feature = "examples")]
mod examples;
#[cfg(feature = "primitives")]
mod primitives;
#[cfg(feature = "selftest")]
mod selftest;
#[cfg(feature = "product")]
mod stages;

// Each feature is a PTX file, which has nothing of the others.
const _: () = assert!(
    cfg!(feature = "examples") as u8
        + cfg!(feature = "primitives") as u8
        + cfg!(feature = "product") as u8
        + cfg!(feature = "selftest") as u8
        == 1,
    "exactly one feature says what is built"
);

/// A panic ends the kernel. Nothing that user data can cause may come here: see the host's validation.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    cuda_std::trap()
}
