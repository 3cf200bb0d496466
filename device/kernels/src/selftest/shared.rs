//! `cuda_std::shared`.

use cuda_std::kernel;
use cuda_std::shared::{dynamic_shared_mem, dynamic_shared_size};
use cuda_std::shared_array;
use cuda_std::thread::*;

/// A value of 16 bytes.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Wide([u32; 4]);

/// Every call is the same place in the source, so the same array.
#[inline(always)]
fn counters() -> *mut u32 {
    shared_array![u32; 4]
}

/// Four arrays of different types in one block, each reversed; the words 0 … 3 of a row are the thread
/// opposite's own word, its `u8`, half of its wide value, and a word through an array that two calls share.
///
/// # Safety
/// Blocks of 128 threads; `out` has room for 4 words a thread.
#[kernel]
pub unsafe fn shared_static(out: *mut u32) {
    let me = thread_idx_x() as usize;
    let opposite = 127 - me;
    let words = shared_array![u32; 128];
    let bytes = shared_array![u8; 128];
    let wide = shared_array![Wide; 128];
    let value = index_1d() * 3 + 1;
    // SAFETY: indices are below 128, and a barrier is between writing and reading.
    unsafe {
        words.add(me).write(value);
        bytes.add(me).write(me as u8 ^ 0x55);
        wide.add(me).write(Wide([value, value + 1, value + 2, value + 3]));
        if me < 4 {
            counters().add(me).write(value + 1000);
        }
        sync_threads();
        let Wide([_, _, third, _]) = wide.add(opposite).read();
        let row = [
            words.add(opposite).read(),
            bytes.add(opposite).read().into(),
            third,
            counters().add(me % 4).read(),
        ];
        super::write(out, index_1d() as usize * 4, row);
    }
}

/// Dynamic shared memory, reversed; each row is its size and the word of the thread opposite.
///
/// # Safety
/// Blocks of any size with 4 bytes of dynamic shared memory a thread; `out` has room for 2 words a thread.
#[kernel]
pub unsafe fn shared_dynamic(out: *mut u32) {
    let me = thread_idx_x() as usize;
    let words = dynamic_shared_mem::<u32>();
    let size = dynamic_shared_size();
    // SAFETY: indices are below the launch's size, and a barrier is between writing and reading.
    unsafe {
        words.add(me).write(index_1d() * 7 + 2);
        sync_threads();
        let opposite = block_dim_x() as usize - 1 - me;
        super::write(out, index_1d() as usize * 2, [size, words.add(opposite).read()]);
    }
}
