//! `cuda_std::warp`. Each kernel is launched with one block; results are a row of words a thread.

use cuda_std::kernel;
use cuda_std::shared_array;
use cuda_std::thread::thread_idx_x;
use cuda_std::warp::*;

/// A value that differs in every bit between lanes.
#[inline(always)]
fn scrambled(lane: u32) -> u32 {
    lane.wrapping_add(1).wrapping_mul(0x9e37_79b9)
}

/// 64 bits whose halves differ.
#[inline(always)]
fn scrambled_64(lane: u32) -> u64 {
    u64::from(lane + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Lane, the five lane masks, the active mask of the warp and of its odd lanes: 8 words.
///
/// # Safety
/// `out` has room for 8 words a thread.
#[kernel]
pub unsafe fn warp_lanes(out: *mut u32) {
    let all = active_mask();
    let odd = if lane_id() % 2 == 1 { active_mask() } else { 0 };
    let values =
        [lane_id(), lane_mask_lt(), lane_mask_le(), lane_mask_eq(), lane_mask_ge(), lane_mask_gt(), all, odd];
    // SAFETY: the launch's promise.
    unsafe { super::write(out, thread_idx_x() as usize * 8, values) }
}

/// Shuffles of 32-bit values by 0, 1, 5 and 31 lanes: up, down, xor, idx; 16 words.
///
/// # Safety
/// `out` has room for 16 words a thread.
#[kernel]
pub unsafe fn warp_shuffle_32(out: *mut u32) {
    let value = scrambled(lane_id());
    for (i, by) in [0, 1, 5, 31].into_iter().enumerate() {
        // SAFETY: whole warps come here together.
        unsafe {
            let moved = [
                shuffle_up(FULL_MASK, value, by),
                shuffle_down(FULL_MASK, value, by),
                shuffle_xor(FULL_MASK, value, by),
                shuffle_idx(FULL_MASK, value, by),
            ];
            super::write(out, thread_idx_x() as usize * 16 + i * 4, moved);
        }
    }
}

/// As [`warp_shuffle_32`] with 64-bit values.
///
/// # Safety
/// `out` has room for 16 values a thread.
#[kernel]
pub unsafe fn warp_shuffle_64(out: *mut u64) {
    let value = scrambled_64(lane_id());
    for (i, by) in [0, 1, 5, 31].into_iter().enumerate() {
        // SAFETY: whole warps come here together.
        unsafe {
            let moved = [
                shuffle_up(FULL_MASK, value, by),
                shuffle_down(FULL_MASK, value, by),
                shuffle_xor(FULL_MASK, value, by),
                shuffle_idx(FULL_MASK, value, by),
            ];
            super::write(out, thread_idx_x() as usize * 16 + i * 4, moved);
        }
    }
}

/// The next lane's value as `i32`, `f32`, `i64` and `f64`; then, lanes below 16 only, the value of the
/// mirrored lane among them, and 0 elsewhere: 5 values.
///
/// # Safety
/// `out` has room for 5 values a thread.
#[kernel]
pub unsafe fn warp_shuffle_types(out: *mut u64) {
    let lane = lane_id();
    // SAFETY: whole warps come here together, and the lower half together into the branch.
    unsafe {
        let int = shuffle_down(FULL_MASK, -(lane as i32), 1);
        let float = shuffle_down(FULL_MASK, lane as f32 + 0.5, 1);
        let long = shuffle_down(FULL_MASK, -(i64::from(lane) << 40), 1);
        let double = shuffle_down(FULL_MASK, f64::from(lane) + 0.25, 1);
        let half = if lane < 16 { shuffle_xor(0xffff, scrambled(lane), 15) } else { 0 };
        let values = [
            u64::from(int.cast_unsigned()),
            float.to_bits().into(),
            long.cast_unsigned(),
            double.to_bits(),
            half.into(),
        ];
        super::write(out, thread_idx_x() as usize * 5, values);
    }
}

/// All, any, uniform, ballot of "lane below `limit`" for 0, 1, 13 and 32; then the same of "lane is 3"
/// among lanes 0 … 7: 20 words.
///
/// # Safety
/// `out` has room for 20 words a thread.
#[kernel]
pub unsafe fn warp_votes(out: *mut u32) {
    let lane = lane_id();
    let row = thread_idx_x() as usize * 20;
    for (i, limit) in [0, 1, 13, 32].into_iter().enumerate() {
        // SAFETY: whole warps come here together.
        unsafe { super::write(out, row + i * 4, votes(FULL_MASK, lane < limit)) }
    }
    let partial = if lane < 8 {
        // SAFETY: exactly the lanes of the mask come here.
        unsafe { votes(0xff, lane == 3) }
    } else {
        [0; 4]
    };
    // SAFETY: the launch's promise.
    unsafe { super::write(out, row + 16, partial) }
}

#[inline(always)]
unsafe fn votes(mask: u32, predicate: bool) -> [u32; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        [
            vote_all(mask, predicate).into(),
            vote_any(mask, predicate).into(),
            vote_uniform(mask, predicate).into(),
            ballot(mask, predicate),
        ]
    }
}

/// Matches of lane / 5 and of values that differ in the high word only; then of a constant; then of the two lowest bits of
/// the lane: 11 words.
///
/// # Safety
/// `out` has room for 11 words a thread.
#[kernel]
pub unsafe fn warp_matches(out: *mut u32) {
    let lane = lane_id();
    let high = u64::from(lane % 3) << 32 | 7;
    // SAFETY: whole warps come here together.
    unsafe {
        let (differ_32, no_32) = match_all_u32(FULL_MASK, lane / 5);
        let (same_32, yes_32) = match_all_u32(FULL_MASK, 41);
        let (differ_64, no_64) = match_all_u64(FULL_MASK, high);
        let (same_64, yes_64) = match_all_u64(FULL_MASK, 41 << 35);
        let values = [
            match_any_u32(FULL_MASK, lane / 5),
            match_any_u64(FULL_MASK, high),
            differ_32,
            no_32.into(),
            same_32,
            yes_32.into(),
            differ_64,
            no_64.into(),
            same_64,
            yes_64.into(),
            match_bits(lane, 2),
        ];
        super::write(out, thread_idx_x() as usize * 11, values);
    }
}

/// Sum, minimum and maximum of the warp, sums of 64-bit and `f32` values, and inclusive scans: 7 values.
///
/// # Safety
/// `out` has room for 7 values a thread.
#[kernel]
pub unsafe fn warp_reduce(out: *mut u64) {
    let lane = lane_id();
    let value = scrambled(lane);
    // SAFETY: whole warps come here together.
    unsafe {
        let values = [
            reduce(value, u32::wrapping_add).into(),
            u64::from(reduce(value.cast_signed(), i32::min).cast_unsigned()),
            reduce(value, u32::max).into(),
            reduce(scrambled_64(lane), u64::wrapping_add),
            reduce(lane as f32 * 0.25, |a, b| a + b).to_bits().into(),
            scan_inclusive(value, u32::wrapping_add).into(),
            scan_inclusive(scrambled_64(lane), u64::max),
        ];
        super::write(out, thread_idx_x() as usize * 7, values);
    }
}

/// 64 rounds of passing values between lanes through shared memory, with `sync_warp` in between.
///
/// # Safety
/// One warp; `out` has room for 32 words.
#[kernel]
pub unsafe fn warp_sync(out: *mut u32) {
    let slots = shared_array![u32; 32];
    let lane = lane_id();
    let mut value = lane;
    for round in 0..64 {
        // SAFETY: the whole warp takes every round; indices are below 32.
        unsafe {
            slots.add(lane as usize).write(value);
            sync_warp(FULL_MASK);
            value = slots.add((lane as usize + 11) % 32).read() * 5 + round;
            sync_warp(FULL_MASK);
        }
    }
    // SAFETY: the launch's promise.
    unsafe { out.add(lane as usize).write(value) }
}
