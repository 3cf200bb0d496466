//! The driver's codes, and messages for them that say what to do.

use std::ffi::{CStr, c_char};

use cust::error::CudaError;

use super::driver::call;

/// A driver function's result: 0 when all went well. [`describe`] has a message for the others.
pub(super) type Code = i32;

pub(super) const SUCCESS: Code = 0;
pub(super) const OUT_OF_MEMORY: Code = 2;
pub(super) const NO_DEVICE: Code = 100;
pub(super) const NOT_FOUND: Code = 500;

/// Code that a driver function returned, as a result.
pub(super) fn check(code: Code) -> Result<(), Code> {
    if code == SUCCESS { Ok(()) } else { Err(code) }
}

/// The meaning of `code`, as the end of a sentence.
pub(super) fn describe(code: Code) -> String {
    let text = match code {
        2 => "out of memory",
        3 => "the driver has not been started",
        4 => "the driver is shutting down",
        34 => "the library found is the CUDA toolkit's stub, not the driver",
        46 => "the device is busy or unavailable: another process may hold it exclusively",
        NO_DEVICE => "no CUDA device was found",
        101 => "there is no such device",
        201 => "the GPU's context is not valid",
        209 => "the kernels do not run on this GPU",
        214 => "the GPU found an error in its memory that it could not correct",
        218 => "the driver's compiler rejected the kernels",
        220 => "the link between the GPUs failed",
        221 => "the driver's compiler library (libnvidia-ptxjitcompiler) was not found",
        222 => "the kernels are written in a newer PTX than this driver knows",
        223 => "the driver's compiler is switched off (by CUDA_DISABLE_PTX_JIT)",
        304 => "a call to the operating system failed",
        NOT_FOUND => "this driver has no such function",
        700 => "a kernel used an address that is not its own",
        701 => "a launch asked for more registers or threads than the GPU has",
        702 => "a kernel ran for so long that the watchdog of the GPU's display stopped it",
        710 => "an assertion in a kernel failed",
        714 => "a kernel's stack overflowed or was damaged",
        715 => "a kernel stopped itself or met an illegal instruction",
        716 => "a kernel used an address that is not aligned",
        717 => "a kernel used an address of the wrong kind of memory",
        718 => "a kernel jumped to an address that is not code",
        719 => {
            "a kernel stopped itself (a trap, as after a panic) or failed for a reason the driver does not tell"
        }
        800 => "the operation is not permitted",
        801 => "the operation is not supported by this GPU or driver",
        802 => "the system is not ready: on a machine with NVSwitch, is nvidia-fabricmanager running?",
        803 => {
            "the driver's library does not match the loaded kernel module: restart the machine after an \
             update of the driver"
        }
        804 => "the CUDA compatibility library that was loaded does not work with this GPU",
        805..=809 => "the CUDA multi-process service (MPS) does not answer",
        999 => {
            "the driver failed for a reason it does not tell: is the nvidia kernel module loaded, and may \
             this user open /dev/nvidia*?"
        }
        _ => return driver_description(code),
    };
    text.to_owned()
}

/// The meaning of `code` where it kept the driver from starting.
pub(super) fn describe_start(code: Code) -> String {
    if code != NO_DEVICE {
        return format!("the NVIDIA driver cannot be started: {}", describe(code));
    }
    match std::env::var("CUDA_VISIBLE_DEVICES") {
        Ok(visible) => format!("no CUDA device was found (CUDA_VISIBLE_DEVICES is \"{visible}\")"),
        Err(_) => "no CUDA device was found, though an NVIDIA driver is installed".to_owned(),
    }
}

/// Whether the context is lost after `code`: everything in it fails from then on.
pub(super) fn is_fatal(code: Code) -> bool {
    matches!(code, 4 | 201 | 214 | 220 | 226 | 700 | 702 | 709 | 710 | 714..=719 | 721)
}

/// The code of an error that came through `cust`.
pub(super) fn from_cust(error: CudaError) -> Code {
    error as Code
}

/// The driver's own description of a code that [`describe`] has no message for.
fn driver_description(code: Code) -> String {
    let ask = |question: unsafe fn(Code, *mut *const c_char) -> Code| {
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: `text` is valid for the call. The driver stores null or a string of its own, never freed.
        let found = unsafe { question(code, &raw mut text) } == SUCCESS && !text.is_null();
        // SAFETY: just checked.
        found.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    };
    match (ask(call::cuGetErrorString), ask(call::cuGetErrorName)) {
        (Some(text), Some(name)) => format!("{text} ({name}, {code})"),
        _ => format!("error {code}, which this driver does not know"),
    }
}

/// A size in memory, as people read it.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size(0), "0 bytes");
        assert_eq!(size(1023), "1023 bytes");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(150_000_000_000), "139.7 GiB");
        assert_eq!(size(u64::MAX), "16777216.0 TiB");
    }

    #[test]
    fn only_errors_that_lose_the_context_are_fatal() {
        assert!([700, 702, 719].into_iter().all(is_fatal));
        assert!(![SUCCESS, OUT_OF_MEMORY, NO_DEVICE, 218, NOT_FOUND, 701].into_iter().any(is_fatal));
    }
}
