//! `cuda_std::thread`.

use cuda_std::kernel;
use cuda_std::shared_array;
use cuda_std::thread::*;

/// Every index and dimension, 32 words a thread, at the thread's place in the grid.
///
/// # Safety
/// `out` has room for 32 words a thread.
#[kernel]
pub unsafe fn thread_indices(out: *mut u32) {
    let (tx, ty, tz) = thread_idx();
    let (bx, by, bz) = block_idx();
    let (dx, dy, dz) = block_dim();
    let (gx, gy, gz) = grid_dim();
    let (x2, y2) = index_2d();
    let (x3, y3, z3) = index_3d();
    let block = (bz * gy + by) * gx + bx;
    let thread = block * (dx * dy * dz) + flat_thread_idx();
    let values = [
        tx,
        ty,
        tz,
        bx,
        by,
        bz,
        dx,
        dy,
        dz,
        gx,
        gy,
        gz,
        thread_idx_x(),
        thread_idx_y(),
        thread_idx_z(),
        block_idx_x(),
        block_idx_y(),
        block_idx_z(),
        block_dim_x(),
        block_dim_y(),
        block_dim_z(),
        grid_dim_x(),
        grid_dim_y(),
        grid_dim_z(),
        index_1d(),
        x2,
        y2,
        x3,
        y3,
        z3,
        grid_size_1d(),
        flat_thread_idx(),
    ];
    // SAFETY: the launch's promise.
    unsafe { super::write(out, thread as usize * 32, values) }
}

/// 64 rounds of passing values to another warp of the block through shared memory. Without the barriers
/// a thread would read what an earlier round, or nobody, wrote.
///
/// # Safety
/// One block of 256 threads; `out` has room for 256 words.
#[kernel]
pub unsafe fn thread_sync(out: *mut u32) {
    let me = thread_idx_x();
    let slots = shared_array![u32; 256];
    let mut value = me;
    for round in 0..64 {
        // SAFETY: all threads go through all rounds; indices are below 256.
        unsafe {
            slots.add(me as usize).write(value);
            sync_threads();
            let from = (me + 37) % 256;
            value = slots.add(from as usize).read() * 5 + round;
            sync_threads();
        }
    }
    // SAFETY: the launch's promise.
    unsafe { out.add(me as usize).write(value) }
}

/// Barriers that count: for each limit 0, 1, 100, 128 and all, the threads below it.
///
/// # Safety
/// One block of up to 1024 threads; `out` has room for 15 words a thread.
#[kernel]
pub unsafe fn thread_sync_votes(out: *mut u32) {
    let me = thread_idx_x();
    for (i, limit) in [0, 1, 100, 128, block_dim_x()].into_iter().enumerate() {
        let below = me < limit;
        // SAFETY: every thread takes every round, and `out` is the launch's promise.
        unsafe {
            let votes = [
                sync_threads_count(below),
                u32::from(sync_threads_and(below)),
                u32::from(sync_threads_or(below)),
            ];
            super::write(out, me as usize * 15 + i * 3, votes);
        }
    }
}

/// A mailbox in global memory: what is sent, and the number of the message.
const MAIL: usize = 0;
const SENT: usize = 32;
const RECEIVED: usize = 64;

/// Looks at a word until it is `value`; gives up after a while rather than hang.
#[inline(always)]
unsafe fn wait_for(word: *const u32, value: u32) -> bool {
    for _ in 0..1_000_000 {
        // SAFETY: the caller's word.
        if unsafe { word.read_volatile() } == value {
            return true;
        }
        nanosleep(50);
    }
    false
}

/// Messages from one thread to another: 16 words, a fence, a number. The receiver counts words that do not
/// belong to the message whose number it saw.
#[inline(always)]
unsafe fn pass_messages(sender: bool, mailbox: *mut u32, out: *mut u32, fence: fn()) {
    let mut wrong = 0;
    for message in 1..=256 {
        // SAFETY: the mailbox has 96 words; who writes which is settled by the two numbers.
        unsafe {
            if sender {
                for i in 0..16 {
                    mailbox.add(MAIL + i).write_volatile(message * 100 + i as u32);
                }
                fence();
                mailbox.add(SENT).write_volatile(message);
                wrong += u32::from(!wait_for(mailbox.add(RECEIVED), message)) * 1000;
            } else {
                wrong += u32::from(!wait_for(mailbox.add(SENT), message)) * 1000;
                fence();
                for i in 0..16 {
                    wrong += u32::from(mailbox.add(MAIL + i).read_volatile() != message * 100 + i as u32);
                }
                fence();
                mailbox.add(RECEIVED).write_volatile(message);
            }
        }
    }
    // SAFETY: the launch's promise.
    unsafe { out.add(usize::from(sender)).write(wrong) }
}

/// Messages between two warps of a block behind `membar.cta`; errors in `out[0..2]`.
///
/// # Safety
/// One block of 64 threads; `mailbox` has 96 zero words and `out` two.
#[kernel]
pub unsafe fn thread_block_fence(mailbox: *mut u32, out: *mut u32) {
    if thread_idx_x().is_multiple_of(32) {
        // SAFETY: one sender and one receiver.
        unsafe { pass_messages(thread_idx_x() == 0, mailbox, out, block_fence) }
    }
}

/// Messages between two blocks behind `membar.gl`; errors in `out[0..2]`.
///
/// # Safety
/// Two blocks of one thread, both resident; `mailbox` has 96 zero words and `out` two.
#[kernel]
pub unsafe fn thread_device_fence(mailbox: *mut u32, out: *mut u32) {
    // SAFETY: one sender and one receiver.
    unsafe { pass_messages(block_idx_x() == 0, mailbox, out, device_fence) }
}

/// Messages between two blocks behind `membar.sys`; errors in `out[0..2]`.
///
/// # Safety
/// As [`thread_device_fence`].
#[kernel]
pub unsafe fn thread_system_fence(mailbox: *mut u32, out: *mut u32) {
    // SAFETY: one sender and one receiver.
    unsafe { pass_messages(block_idx_x() == 0, mailbox, out, system_fence) }
}

/// Clocks before and after 100 sleeps of 10 µs: `clock`, `clock64`, `global_timer`, each twice.
///
/// # Safety
/// One thread; `out` has room for 6 values.
#[kernel]
pub unsafe fn thread_clocks(out: *mut u64) {
    let before = [clock().into(), clock64(), global_timer()];
    for _ in 0..100 {
        nanosleep(10_000);
    }
    let after = [clock().into(), clock64(), global_timer()];
    // SAFETY: the launch's promise.
    unsafe {
        super::write(out, 0, before);
        super::write(out, 3, after);
    }
}
