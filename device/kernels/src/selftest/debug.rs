//! `cuda_std::cuda_print!` and `cuda_std::trap`.

use cuda_std::{cuda_print, kernel};

/// Prints three lines, and writes what `vprintf` returned for each.
///
/// # Safety
/// One thread; `out` has room for 3 words.
#[kernel]
pub unsafe fn debug_print(value: u32, out: *mut i32) {
    let long = u64::from(value) << 33;
    let values = [
        cuda_print!("torrance: nothing\n"),
        cuda_print!("torrance: %u and %d are 100%% integers\n", value, -7),
        cuda_print!("torrance: %c %.3f %llx %d %g\n", 'x' as i32, value as f32 / 8.0, long, -1, 0.125f64),
    ];
    // SAFETY: the launch's promise.
    unsafe { super::write(out, 0, values) }
}

/// Traps if asked to, otherwise writes 1.
///
/// # Safety
/// One thread; `out` has room for a word.
#[kernel]
pub unsafe fn debug_trap(now: u32, out: *mut u32) {
    if now != 0 {
        cuda_std::trap();
    }
    // SAFETY: the launch's promise.
    unsafe { out.write(1) }
}
