//! The 32 threads that run together: who they are, and how they exchange values without memory.
//!
//! A `mask` has one bit per lane and names the threads that take part. Every one of them must call the
//! function with the same mask, and none of the others may be waited for.

/// Threads of a warp.
pub const WARP_SIZE: u32 = 32;

/// The mask of a whole warp.
pub const FULL_MASK: u32 = u32::MAX;

/// Lanes wrap at 32 (`c` operand of `shfl.sync.down`, `.bfly` and `.idx`).
const CLAMP: u32 = 0x1f;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    safe fn sreg_laneid() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.lanemask.lt"]
    safe fn sreg_lanemask_lt() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.lanemask.le"]
    safe fn sreg_lanemask_le() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.lanemask.eq"]
    safe fn sreg_lanemask_eq() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.lanemask.ge"]
    safe fn sreg_lanemask_ge() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.lanemask.gt"]
    safe fn sreg_lanemask_gt() -> u32;
    #[link_name = "llvm.nvvm.activemask"]
    safe fn llvm_activemask() -> u32;

    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(mask: u32);
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_up(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_down(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_bfly(mask: u32, value: u32, lane_mask: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    fn llvm_vote_all(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    fn llvm_vote_any(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.uni.sync"]
    fn llvm_vote_uni(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn llvm_vote_ballot(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    fn llvm_match_any_32(mask: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i64"]
    fn llvm_match_any_64(mask: u32, value: u64) -> u32;
}

/// Return value of `match.all.sync`, in LLVM's own layout.
#[repr(C)]
struct MatchAll {
    lanes: u32,
    all: bool,
}

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.match.all.sync.i32p"]
    fn llvm_match_all_32(mask: u32, value: u32) -> MatchAll;
    #[link_name = "llvm.nvvm.match.all.sync.i64p"]
    fn llvm_match_all_64(mask: u32, value: u64) -> MatchAll;
}

/// This thread's lane, 0 … 31: `mov.u32 %laneid`.
#[inline(always)]
#[must_use]
pub fn lane_id() -> u32 {
    sreg_laneid()
}

/// The bits of the lanes before this one: `mov.u32 %lanemask_lt`.
#[inline(always)]
#[must_use]
pub fn lane_mask_lt() -> u32 {
    sreg_lanemask_lt()
}

/// The bits of the lanes up to and with this one: `mov.u32 %lanemask_le`.
#[inline(always)]
#[must_use]
pub fn lane_mask_le() -> u32 {
    sreg_lanemask_le()
}

/// This lane's bit: `mov.u32 %lanemask_eq`.
#[inline(always)]
#[must_use]
pub fn lane_mask_eq() -> u32 {
    sreg_lanemask_eq()
}

/// The bits of this lane and those after it: `mov.u32 %lanemask_ge`.
#[inline(always)]
#[must_use]
pub fn lane_mask_ge() -> u32 {
    sreg_lanemask_ge()
}

/// The bits of the lanes after this one: `mov.u32 %lanemask_gt`.
#[inline(always)]
#[must_use]
pub fn lane_mask_gt() -> u32 {
    sreg_lanemask_gt()
}

/// The lanes that run this instruction together at this moment: `activemask.b32`.
///
/// A snapshot, not a promise: lanes on the same path may run it separately. Good for aggregating atomics,
/// where any partition is right.
#[inline(always)]
#[must_use]
pub fn active_mask() -> u32 {
    llvm_activemask()
}

/// Waits for the lanes of `mask`; their writes before it are then visible to each other:
/// `bar.warp.sync`.
///
/// # Safety
/// Every lane of `mask` that has not exited must call this with the same mask, the caller's lane among
/// them.
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: the caller's promise.
    unsafe { bar_warp_sync(mask) }
}

mod sealed {
    pub trait Sealed {}
}

/// A plain 32-bit or 64-bit value that lanes can exchange. A 64-bit value takes two shuffles.
pub trait Shuffle: Copy + sealed::Sealed {
    /// The value with `f` applied to each of its 32-bit words.
    #[doc(hidden)]
    fn map_words(self, f: impl Fn(u32) -> u32) -> Self;
}

macro_rules! shuffle_32 {
    ($($ty:ty, $to:expr, $from:expr;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Shuffle for $ty {
            #[inline(always)]
            fn map_words(self, f: impl Fn(u32) -> u32) -> Self {
                $from(f($to(self)))
            }
        }
    )*};
}

macro_rules! shuffle_64 {
    ($($ty:ty, $to:expr, $from:expr;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Shuffle for $ty {
            #[inline(always)]
            fn map_words(self, f: impl Fn(u32) -> u32) -> Self {
                let bits: u64 = $to(self);
                let (low, high) = (f(bits as u32), f((bits >> 32) as u32));
                $from(u64::from(high) << 32 | u64::from(low))
            }
        }
    )*};
}

shuffle_32! {
    u32, |v| v, |v| v;
    i32, i32::cast_unsigned, u32::cast_signed;
    f32, f32::to_bits, f32::from_bits;
}

shuffle_64! {
    u64, |v| v, |v| v;
    i64, i64::cast_unsigned, u64::cast_signed;
    f64, f64::to_bits, f64::from_bits;
}

/// The value of the lane `delta` before this one; the first `delta` lanes get their own:
/// `shfl.sync.up.b32`.
///
/// # Safety
/// Every lane of `mask` must call this with the same mask, and the source lane must be one of them.
#[inline(always)]
#[must_use]
pub unsafe fn shuffle_up<T: Shuffle>(mask: u32, value: T, delta: u32) -> T {
    // SAFETY: the caller's promise.
    value.map_words(|word| unsafe { shfl_up(mask, word, delta, 0) })
}

/// The value of the lane `delta` after this one; the last `delta` lanes get their own:
/// `shfl.sync.down.b32`.
///
/// # Safety
/// As [`shuffle_up`].
#[inline(always)]
#[must_use]
pub unsafe fn shuffle_down<T: Shuffle>(mask: u32, value: T, delta: u32) -> T {
    // SAFETY: the caller's promise.
    value.map_words(|word| unsafe { shfl_down(mask, word, delta, CLAMP) })
}

/// The value of the lane whose number is this one's exclusive-or `lane_mask`: `shfl.sync.bfly.b32`.
///
/// # Safety
/// As [`shuffle_up`].
#[inline(always)]
#[must_use]
pub unsafe fn shuffle_xor<T: Shuffle>(mask: u32, value: T, lane_mask: u32) -> T {
    // SAFETY: the caller's promise.
    value.map_words(|word| unsafe { shfl_bfly(mask, word, lane_mask, CLAMP) })
}

/// The value of lane `lane` mod 32: `shfl.sync.idx.b32`.
///
/// # Safety
/// As [`shuffle_up`].
#[inline(always)]
#[must_use]
pub unsafe fn shuffle_idx<T: Shuffle>(mask: u32, value: T, lane: u32) -> T {
    // SAFETY: the caller's promise.
    value.map_words(|word| unsafe { shfl_idx(mask, word, lane, CLAMP) })
}

/// Whether `predicate` is true in every lane of `mask`: `vote.sync.all.pred`.
///
/// # Safety
/// Every lane of `mask` must call this with the same mask, the caller's lane among them.
#[inline(always)]
#[must_use]
pub unsafe fn vote_all(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { llvm_vote_all(mask, predicate) }
}

/// Whether `predicate` is true in any lane of `mask`: `vote.sync.any.pred`.
///
/// # Safety
/// As [`vote_all`].
#[inline(always)]
#[must_use]
pub unsafe fn vote_any(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { llvm_vote_any(mask, predicate) }
}

/// Whether `predicate` is the same in every lane of `mask`: `vote.sync.uni.pred`.
///
/// # Safety
/// As [`vote_all`].
#[inline(always)]
#[must_use]
pub unsafe fn vote_uniform(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { llvm_vote_uni(mask, predicate) }
}

/// The lanes of `mask` whose `predicate` is true: `vote.sync.ballot.b32`.
///
/// # Safety
/// As [`vote_all`].
#[inline(always)]
#[must_use]
pub unsafe fn ballot(mask: u32, predicate: bool) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { llvm_vote_ballot(mask, predicate) }
}

/// The lanes of `mask` that hold the same `value` as this one: `match.any.sync.b32`.
///
/// # Safety
/// As [`vote_all`].
#[inline(always)]
#[must_use]
pub unsafe fn match_any_u32(mask: u32, value: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { llvm_match_any_32(mask, value) }
}

/// The lanes that hold the same value as this one in the lowest `bits` bits: a ballot a bit.
///
/// `match.any` takes as long as there are different values. This takes four instructions a bit, whatever the values.
///
/// # Safety
/// All 32 lanes must call this together.
#[inline(always)]
#[must_use]
pub unsafe fn match_bits(value: u32, bits: u32) -> u32 {
    let mut same = FULL_MASK;
    let mut i = 0;
    while i < bits {
        let bit: u32;
        // SAFETY: touches no memory. What is unknown to LLVM it tests once, for the ballot and for the choice.
        unsafe {
            core::arch::asm!("and.b32 {}, {}, {};", out(reg32) bit, in(reg32) value, in(reg32) 1 << i,
                             options(pure, nomem, nostack, preserves_flags));
        }
        // SAFETY: all lanes are here, by the caller's promise.
        let set = unsafe { ballot(FULL_MASK, bit != 0) };
        same &= if bit != 0 { set } else { !set };
        i += 1;
    }
    same
}

/// The lanes of `mask` that hold the same `value` as this one: `match.any.sync.b64`.
///
/// # Safety
/// As [`vote_all`].
#[inline(always)]
#[must_use]
pub unsafe fn match_any_u64(mask: u32, value: u64) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { llvm_match_any_64(mask, value) }
}

/// `mask` if every lane of it holds the same `value`, otherwise zero; and whether they do:
/// `match.all.sync.b32`.
///
/// # Safety
/// As [`vote_all`].
#[inline(always)]
#[must_use]
pub unsafe fn match_all_u32(mask: u32, value: u32) -> (u32, bool) {
    // SAFETY: the caller's promise.
    let found = unsafe { llvm_match_all_32(mask, value) };
    (found.lanes, found.all)
}

/// `mask` if every lane of it holds the same `value`, otherwise zero; and whether they do:
/// `match.all.sync.b64`.
///
/// # Safety
/// As [`vote_all`].
#[inline(always)]
#[must_use]
pub unsafe fn match_all_u64(mask: u32, value: u64) -> (u32, bool) {
    // SAFETY: the caller's promise.
    let found = unsafe { llvm_match_all_64(mask, value) };
    (found.lanes, found.all)
}

/// `op` over the values of all 32 lanes, the same result in each: five [`shuffle_xor`].
///
/// `redux.sync` would be one instruction for integers, but needs sm_80 and does not know `f32`. `op` must
/// be associative and commutative; for floating-point addition the order is a fixed butterfly.
///
/// # Safety
/// All 32 lanes must call this together.
#[inline(always)]
#[must_use]
pub unsafe fn reduce<T: Shuffle>(value: T, op: impl Fn(T, T) -> T) -> T {
    let mut total = value;
    let mut distance = WARP_SIZE / 2;
    while distance > 0 {
        // SAFETY: all lanes are here, by the caller's promise.
        total = op(total, unsafe { shuffle_xor(FULL_MASK, total, distance) });
        distance /= 2;
    }
    total
}

/// `op` over the values of the lanes up to and with this one: five [`shuffle_up`].
///
/// `op` must be associative.
///
/// # Safety
/// All 32 lanes must call this together.
#[inline(always)]
#[must_use]
pub unsafe fn scan_inclusive<T: Shuffle>(value: T, op: impl Fn(T, T) -> T) -> T {
    let lane = lane_id();
    let mut total = value;
    let mut distance = 1;
    while distance < WARP_SIZE {
        // SAFETY: all lanes are here, by the caller's promise.
        let before = unsafe { shuffle_up(FULL_MASK, total, distance) };
        if lane >= distance {
            total = op(before, total);
        }
        distance *= 2;
    }
    total
}
