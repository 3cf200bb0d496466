//! NVIDIA GPUs.

use core::arch::asm;

use cuda_std::{GpuFloat, float, mem};

/// a·b, rounded on its own: never contracted into a fused multiply–add.
#[inline(always)]
pub fn mul_rn(a: f32, b: f32) -> f32 {
    float::mul_rn(a, b)
}

/// Rounding error of `mul_rn(a, b)`, exact unless it underflows.
#[inline(always)]
pub fn mul_residual(a: f32, b: f32, product: f32) -> f32 {
    float::fma_rn(a, b, -product)
}

/// a − b, rounded on its own.
#[inline(always)]
pub fn sub_rn(a: f32, b: f32) -> f32 {
    float::sub_rn(a, b)
}

/// a·b + c in whichever rounding is fastest, the same at every place it is written.
#[inline(always)]
pub fn mad(a: f32, b: f32, c: f32) -> f32 {
    float::fma_rn(a, b, c)
}

/// The larger of two numbers; the other if one is NaN.
#[inline(always)]
pub fn max(a: f32, b: f32) -> f32 {
    a.max(b)
}

/// The smaller of two numbers; the other if one is NaN.
#[inline(always)]
pub fn min(a: f32, b: f32) -> f32 {
    a.min(b)
}

/// √x for x ≥ 0.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    GpuFloat::sqrt(x)
}

/// 1/√x for x > 0.
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    GpuFloat::rsqrt(x)
}

/// ⌊x⌋.
///
/// # Safety
/// |x| < 2³¹.
#[inline(always)]
pub unsafe fn floor(x: f32) -> i32 {
    // SAFETY: as the caller promised.
    unsafe { x.floor().to_int_unchecked() }
}

/// Calls a function that few scenes need, without inlining it, so that the kernel contains it only once. Its captures by
/// reference live in memory throughout; captures by value, only during the call.
#[inline(never)]
pub fn outlined<R>(rare: impl FnOnce() -> R) -> R {
    rare()
}

/// Whether at least half of the lanes that are here together are ready for what takes long: the others would wait for those.
#[inline(always)]
pub fn are_enough(is_ready: bool) -> bool {
    let (here, ready): (u32, u32);
    // SAFETY: the lanes that vote are those that are here.
    unsafe {
        asm!("{{ .reg .pred p; setp.ne.u32 p, {2}, 0; activemask.b32 {0}; vote.sync.ballot.b32 {1}, p, {0}; }}",
             out(reg32) here, out(reg32) ready, in(reg32) u32::from(is_ready),
             options(nomem, nostack, preserves_flags));
    }
    2 * ready.count_ones() >= here.count_ones()
}

/// Bits of the features that the scene asks for. The host writes them into the PTX in place of this constant before the
/// driver compiles it, which then leaves out everything that the scene does not need, and saves registers and seconds of
/// compilation.
#[inline(always)]
pub fn features_of_the_scene() -> u32 {
    let bits: u32;
    // SAFETY: takes nothing to a word.
    unsafe {
        asm!("mov.b32 {}, 0xffffffff; // features of the scene", out(reg32) bits,
             options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

/// As [`features_of_the_scene`], for kernels that depend on [`crate::features::Features::OF_ANY_KERNEL`] alone: for scenes that differ otherwise, they are the same.
#[inline(always)]
pub fn drawing_of_the_scene() -> u32 {
    let bits: u32;
    // SAFETY: takes nothing to a word.
    unsafe {
        asm!("mov.b32 {}, 0xffffffff; // drawing of the scene", out(reg32) bits,
             options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

/// Reads `*p`, memory that nothing writes while stages run, through the read-only cache in loads of 16 bytes;
/// the type's alignment must allow it.
///
/// # Safety
/// `p` is valid for reads of a `T`.
#[inline(always)]
pub unsafe fn load<T: Copy>(p: *const T) -> T {
    // SAFETY: as the caller promised.
    unsafe { mem::ldg(p) }
}

/// `*p`, read whole, in wide loads; what is borrowed of it stays in registers.
///
/// # Safety
/// As [`load`].
#[inline(always)]
pub unsafe fn look<T: Copy>(p: *const T) -> Loaded<T> {
    // SAFETY: as the caller promised.
    Loaded(unsafe { load(p) })
}

/// `*x`.
#[inline(always)]
pub const fn read_apart(x: &f32) -> f32 {
    *x
}

/// A value that has been read.
pub struct Loaded<T>(T);

impl<T> core::ops::Deref for Loaded<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Reads `*p`, memory that stages write, in loads of 16 bytes; the type's alignment must allow it.
///
/// # Safety
/// `p` is valid for reads of a `T`, in global memory.
#[inline(always)]
pub unsafe fn read<T: Copy>(p: *const T) -> T {
    // SAFETY: as the caller promised.
    unsafe { mem::ld(p) }
}

/// Writes `*p`, as [`read`] reads it.
///
/// # Safety
/// `p` is valid for writes of a `T`, in global memory.
#[inline(always)]
pub unsafe fn write<T: Copy>(p: *mut T, value: T) {
    // SAFETY: as the caller promised.
    unsafe { mem::st(p, value) };
}

/// Bias that [`biased_byte`] adds: the power of two whose float has room for a byte in its second byte.
pub(crate) const BYTE_BIAS: f32 = 32768.0;

/// The bits of [`BYTE_BIAS`], but so that the compiler does not know them: it would put them into the instructions of
/// [`biased_byte`], which have room for one constant, and the number of the byte into a register, by an instruction more
/// each.
#[inline(always)]
pub(crate) fn byte_bias() -> u32 {
    let bits: u32;
    // SAFETY: takes nothing to a word. Grids have one layer.
    unsafe {
        asm!("mov.u32 {0}, %ctaid.z;", "or.b32 {0}, {0}, {1};", out(reg32) bits, const BYTE_BIAS.to_bits(),
             options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

/// Byte `i` of `word`, plus [`BYTE_BIAS`], given its bits: one `prmt`, where a conversion would run at a quarter of the
/// rate, and which the compiler does not find.
#[inline(always)]
pub(crate) fn biased_byte(word: u32, i: u32, bias: u32) -> f32 {
    let bits: u32;
    // SAFETY: takes two words to one.
    unsafe {
        asm!("prmt.b32 {}, {}, {}, {};", out(reg32) bits, in(reg32) word, in(reg32) bias,
             in(reg32) 0x7604 | (i << 4), options(pure, nomem, nostack, preserves_flags));
    }
    f32::from_bits(bits)
}

/// Byte `i` of `word`, in one instruction.
#[inline(always)]
pub(crate) fn byte(word: u32, i: u32) -> u32 {
    let byte: u32;
    // SAFETY: takes a word to another.
    unsafe {
        asm!("prmt.b32 {}, {}, 0, {};", out(reg32) byte, in(reg32) word, in(reg32) 0x4440 | i,
             options(pure, nomem, nostack, preserves_flags));
    }
    byte
}

/// Nothing: other threads go on where one waits.
#[inline(always)]
pub fn prefetch(_: *const u8) {}

/// Index of the highest set bit of `x`, which is not 0.
#[inline(always)]
pub fn highest_bit(x: u32) -> u32 {
    let bit: u32;
    // SAFETY: takes a word to another.
    unsafe {
        asm!("bfind.u32 {}, {};", out(reg32) bit, in(reg32) x, options(pure, nomem, nostack, preserves_flags));
    }
    bit
}

/// Adds to a number that others add to at the same time; returns what it was.
///
/// # Safety
/// `p` is valid, and nobody reads or writes it otherwise meanwhile.
#[inline(always)]
pub unsafe fn fetch_add(p: *mut u32, value: u32) -> u32 {
    // SAFETY: as the caller promised.
    unsafe { cuda_std::atomic::device::add_u32(p, value) }
}
