//! `cuda_std::atomic`.

use cuda_std::atomic::{
    block, device, load_volatile_u32, load_volatile_u64, store_volatile_u32, store_volatile_u64,
};
use cuda_std::kernel;
use cuda_std::shared_array;
use cuda_std::thread::*;

/// Read-modify-write operations that a kernel exercises: one cell each.
const CELLS: usize = 14;

/// A scrambled value of `i`.
#[inline(always)]
fn scrambled(i: u32) -> u32 {
    i.wrapping_mul(0x9e37_79b9) ^ 0x1234_5678
}

/// Every read-modify-write operation of a scope once, on `cells`, as thread `i`; the values before.
macro_rules! exercise {
    ($scope:ident, $cells:expr, $i:expr) => {{
        let (cells, i): (*mut u64, u32) = ($cells, $i);
        let word = |k: usize| cells.add(k).cast::<u32>();
        let key = scrambled(i);
        let long = u64::from(key) << 20 | u64::from(i);
        // Counts with compare-and-swap: tries until no other thread came between.
        let mut seen = $scope::load_relaxed_u32(word(12));
        let counted = loop {
            let before = $scope::cas_u32(word(12), seen, seen + 1);
            if before == seen {
                break before;
            }
            seen = before;
        };
        [
            $scope::add_u32(word(0), 1).into(),
            $scope::add_i32(word(1).cast(), -3).cast_unsigned().into(),
            $scope::add_u64(cells.add(2), 1 << 31),
            $scope::add_f32(word(3).cast(), 0.25).to_bits().into(),
            $scope::min_u32(word(4), key).into(),
            $scope::min_i32(word(5).cast(), key.cast_signed()).cast_unsigned().into(),
            $scope::min_u64(cells.add(6), long),
            $scope::max_u32(word(7), key).into(),
            $scope::max_i32(word(8).cast(), key.cast_signed()).cast_unsigned().into(),
            $scope::max_u64(cells.add(9), long),
            $scope::exch_u32(word(10), i + 1).into(),
            $scope::exch_u64(cells.add(11), u64::from(i + 1) << 32),
            counted.into(),
            $scope::cas_u64(cells.add(13), 0, u64::from(i + 1) << 32),
        ]
    }};
}

/// All threads contend for one set of cells in global memory; the values before, 14 a thread.
///
/// # Safety
/// `cells` has 14 values and `before` room for 14 a thread.
#[kernel]
pub unsafe fn atomic_device(cells: *mut u64, before: *mut u64) {
    let i = index_1d();
    // SAFETY: the launch's promise.
    unsafe {
        let values = exercise!(device, cells, i);
        super::write(before, i as usize * CELLS, values);
    }
}

/// The threads of a block contend for cells in shared memory, which start as `cells` and end, for each
/// block, in `after`; the values before, 14 a thread.
///
/// # Safety
/// `cells` has 14 values, `after` room for 14 a block and `before` for 14 a thread.
#[kernel]
pub unsafe fn atomic_block(cells: *const u64, before: *mut u64, after: *mut u64) {
    let me = thread_idx_x() as usize;
    let shared = shared_array![u64; CELLS];
    // SAFETY: the launch's promise; barriers are between the phases.
    unsafe {
        if me < CELLS {
            shared.add(me).write(cells.add(me).read());
        }
        sync_threads();
        let values = exercise!(block, shared, thread_idx_x());
        super::write(before, index_1d() as usize * CELLS, values);
        sync_threads();
        if me < CELLS {
            after.add(block_idx_x() as usize * CELLS + me).write(shared.add(me).read());
        }
    }
}

/// Repeats a look until it succeeds; gives up after a while rather than hang. 1000 if it gave up.
#[inline(always)]
fn wait_until(mut look: impl FnMut() -> bool) -> u32 {
    for _ in 0..1_000_000 {
        if look() {
            return 0;
        }
        nanosleep(50);
    }
    1000
}

/// 256 messages from one thread to another: relaxed words behind a released number, which the receiver acquires and answers.
/// Counts words that do not belong to the message whose number was seen.
macro_rules! pass_messages {
    ($scope:ident, $sender:expr, $mail:expr, $out:expr) => {{
        let (sender, mail, out): (bool, *mut u64, *mut u32) = ($sender, $mail, $out);
        let number = mail.add(16).cast::<u32>();
        let answer = mail.add(32);
        let mut wrong = 0;
        for message in 1..=256u32 {
            let long = |k: u32| u64::from(message) << 32 | u64::from(k);
            if sender {
                for k in 0..4 {
                    $scope::store_relaxed_u32(mail.add(k as usize).cast(), message * 100 + k);
                    $scope::store_relaxed_u64(mail.add(4 + k as usize), long(k));
                }
                $scope::store_release_u32(number, message);
                wrong += wait_until(|| $scope::load_acquire_u64(answer) == u64::from(message) << 33);
            } else {
                wrong += wait_until(|| $scope::load_acquire_u32(number) == message);
                for k in 0..4 {
                    let word = $scope::load_relaxed_u32(mail.add(k as usize).cast());
                    let value = $scope::load_relaxed_u64(mail.add(4 + k as usize));
                    wrong += u32::from(word != message * 100 + k) + u32::from(value != long(k));
                }
                $scope::store_release_u64(answer, u64::from(message) << 33);
            }
        }
        out.add(usize::from(sender)).write(wrong);
    }};
}

/// Messages between two blocks through global memory; errors in `out[0..2]`.
///
/// # Safety
/// Two blocks of one thread, both resident; `mail` has 48 zero values and `out` room for two words.
#[kernel]
pub unsafe fn atomic_messages_device(mail: *mut u64, out: *mut u32) {
    // SAFETY: one sender and one receiver.
    unsafe { pass_messages!(device, block_idx_x() == 0, mail, out) }
}

/// Messages between two warps through shared memory; errors in `out[0..2]`.
///
/// # Safety
/// One block of 64 threads; `out` has room for two words.
#[kernel]
pub unsafe fn atomic_messages_block(out: *mut u32) {
    let me = thread_idx_x();
    let mail = shared_array![u64; 48];
    // SAFETY: one sender and one receiver, after a barrier that all threads reach.
    unsafe {
        if me < 48 {
            mail.add(me as usize).write(0);
        }
        sync_threads();
        if me.is_multiple_of(32) {
            pass_messages!(block, me == 0, mail, out);
        }
    }
}

/// Two blocks take turns 256 times by volatile accesses; how often one waited in vain in `out[0..2]`.
///
/// # Safety
/// Two blocks of one thread, both resident; `cells` has 32 zero values and `out` room for two words.
#[kernel]
pub unsafe fn atomic_volatile(cells: *mut u64, out: *mut u32) {
    let first = block_idx_x() == 0;
    // SAFETY: the launch's promise; who writes which cell is settled.
    unsafe {
        let (question, answer) = (cells.cast::<u32>(), cells.add(16));
        let mut waited = 0;
        for turn in 1..=256u32 {
            let reply = u64::from(turn) << 32 | 5;
            if first {
                store_volatile_u32(question, turn);
                waited += wait_until(|| load_volatile_u64(answer) == reply);
            } else {
                waited += wait_until(|| load_volatile_u32(question) == turn);
                store_volatile_u64(answer, reply);
            }
        }
        out.add(usize::from(first)).write(waited);
    }
}
