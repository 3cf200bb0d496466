//! CPUs.

/// a·b, rounded on its own: never contracted into a fused multiply–add.
#[inline(always)]
pub fn mul_rn(a: f32, b: f32) -> f32 {
    a * b
}

/// Rounding error of `mul_rn(a, b)`, exact unless it underflows.
#[inline(always)]
pub fn mul_residual(a: f32, b: f32, product: f32) -> f32 {
    // Products of two f32 are exact in f64.
    (f64::from(a) * f64::from(b) - f64::from(product)) as f32
}

/// a − b, rounded on its own.
#[inline(always)]
pub fn sub_rn(a: f32, b: f32) -> f32 {
    a - b
}

/// a·b + c in whichever rounding is fastest, the same at every place it is written.
#[inline(always)]
pub fn mad(a: f32, b: f32, c: f32) -> f32 {
    a * b + c
}

/// The larger of two numbers; `b` if one is NaN. One instruction, where `f32::max` is three.
#[inline(always)]
pub fn max(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The smaller of two numbers; `b` if one is NaN.
#[inline(always)]
pub fn min(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// √x for x ≥ 0.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    x.sqrt()
}

/// 1/√x for x > 0.
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    1.0 / x.sqrt()
}

/// ⌊x⌋. In the baseline instruction set, rounding down would be a call.
///
/// # Safety
/// |x| < 2³¹.
#[inline(always)]
pub unsafe fn floor(x: f32) -> i32 {
    // SAFETY: as the caller promised.
    let whole: i32 = unsafe { x.to_int_unchecked() };
    whole - i32::from(whole as f32 > x)
}

/// Calls a function, inlined: on its own it would be compiled for the baseline instruction set.
#[inline(always)]
pub fn outlined<R>(rare: impl FnOnce() -> R) -> R {
    rare()
}

/// Whether enough threads of those that keep step are ready: on a CPU, they do not.
#[inline(always)]
pub fn are_enough(_is_ready: bool) -> bool {
    true
}

/// Reads `*p`, memory that nothing writes while stages run.
///
/// # Safety
/// `p` is valid for reads of a `T`.
#[inline(always)]
pub unsafe fn load<T: Copy>(p: *const T) -> T {
    // SAFETY: as the caller promised.
    unsafe { p.read() }
}

/// `*p`, of which what is used is read where it is.
///
/// # Safety
/// As [`load`], as long as the result is used.
#[inline(always)]
pub unsafe fn look<'a, T>(p: *const T) -> Loaded<'a, T> {
    // SAFETY: as the caller promised.
    Loaded(unsafe { &*p })
}

/// A value that can be read.
pub struct Loaded<'a, T>(&'a T);

impl<T> core::ops::Deref for Loaded<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        self.0
    }
}

/// `*x`, by a read of this number alone. If it has just been written, a wider read of it and its neighbours would have to wait for the
/// cache: several writes are not forwarded to one read.
#[inline(always)]
pub fn read_apart(x: &f32) -> f32 {
    // SAFETY: a reference can be read.
    unsafe { core::ptr::from_ref(x).read_volatile() }
}

/// Reads `*p`, which stages write.
///
/// # Safety
/// `p` is valid for reads of a `T`.
#[inline(always)]
pub unsafe fn read<T: Copy>(p: *const T) -> T {
    // SAFETY: as the caller promised.
    unsafe { p.read() }
}

/// Writes `*p`.
///
/// # Safety
/// `p` is valid for writes of a `T`.
#[inline(always)]
pub unsafe fn write<T: Copy>(p: *mut T, value: T) {
    // SAFETY: as the caller promised.
    unsafe { p.write(value) };
}

/// Bits of the features that a scene may need: all.
#[inline(always)]
pub const fn features_of_the_scene() -> u32 {
    u32::MAX
}

/// As [`features_of_the_scene`], where only [`crate::features::Features::OF_ANY_KERNEL`] matter.
#[inline(always)]
pub const fn drawing_of_the_scene() -> u32 {
    u32::MAX
}

/// Asks for the line of memory that `p` points into, if any: it will be read soon.
#[inline(always)]
pub fn prefetch(p: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE, and a prefetch reads nothing that could be seen.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(p.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch reads nothing that could be seen.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) p, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = p;
}

/// Index of the highest set bit of `x`, which is not 0.
#[inline(always)]
pub const fn highest_bit(x: u32) -> u32 {
    31 - x.leading_zeros()
}

/// Adds to a number that others add to at the same time; returns what it was.
///
/// # Safety
/// `p` is valid, and nobody reads or writes it otherwise meanwhile.
#[inline(always)]
pub unsafe fn fetch_add(p: *mut u32, value: u32) -> u32 {
    use core::sync::atomic::{AtomicU32, Ordering};
    // SAFETY: as the caller promised; a `u32` has the alignment of an atomic one.
    unsafe { AtomicU32::from_ptr(p) }.fetch_add(value, Ordering::Relaxed)
}
