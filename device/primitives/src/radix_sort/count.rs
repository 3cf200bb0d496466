//! Start of each value of each digit.

use core::marker::PhantomData;

use super::{Bits, Direction, Key};
use crate::{Kernel, Length, Ptr};

/// Rows of a tile: 4 × 32 keys of a warp each.
const ROWS: usize = 4;

/// Counts the values of all digits of all keys, and adds up how many keys have lesser ones: any number of blocks, which
/// share the tiles.
pub struct Count<K>(PhantomData<K>);

/// Arguments of [`Count`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CountArgs<K> {
    /// Keys to count.
    pub keys: Ptr<K>,
    /// Number of elements.
    pub length: Length,
    /// A number for each value of each digit, [`BINS`] a digit: the number of keys with a smaller one. Zeros at the start.
    ///
    /// [`BINS`]: super::BINS
    pub starts: Ptr<u32>,
    /// Counter of finished blocks. Zero at the start.
    pub done: Ptr<u32>,
    /// Which bits of the ranks the digits are.
    pub bits: Bits,
    /// Direction of the sort.
    pub order: Direction,
}

impl<K: Key> Count<K> {
    /// Keys of a tile.
    pub const TILE: u32 = Self::BLOCK * 4 * ROWS as u32;
}

impl<K: Key> Kernel for Count<K> {
    type Args = CountArgs<K>;
    const BLOCK: u32 = 256;
    const BLOCKS: u32 = if size_of::<K>() == 4 { 6 } else { 3 };

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::run::<K>(args) }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use cuda_std::{atomic, shared_array, thread};

    use super::*;
    use crate::block::{load_rows, scan_warp, scan_warps, unrolled};
    use crate::radix_sort::{BINS, DIGIT_BITS, Rank};
    use crate::{Element, Sum};

    /// A block has a thread for each value of a digit.
    const _: () = assert!(BINS == 256);

    #[inline(always)]
    pub(super) unsafe fn run<K: Key>(args: &CountArgs<K>) {
        // There are at most 8 digits.
        let counts = shared_array![u32; 2048];
        let digits = args.bits.digits();
        let bin = thread::thread_idx_x();
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let n = args.length.get();
            for i in 0..digits {
                counts.add((i * BINS + bin) as usize).write(0);
            }
            thread::sync_threads();
            let mut begin = thread::block_idx_x() * Count::<K>::TILE;
            while begin < n {
                // What is beyond the end has the greatest value of each digit, before which it does not count.
                let rows: [_; ROWS] = load_rows(args.keys, begin, n, K::ranked(!K::Rank::ZERO, args.order));
                unrolled!(k < ROWS * 4, { count(rows[k / 4][k % 4].rank(args.order), args.bits, counts) });
                begin += thread::grid_dim_x() * Count::<K>::TILE;
            }
            thread::sync_threads();
            for i in 0..digits {
                let count = counts.add((i * BINS + bin) as usize).read();
                if count != 0 {
                    atomic::device::add_u32(args.starts.at(i * BINS + bin), count);
                }
            }
            thread::device_fence();
            thread::sync_threads();
            let is_last = shared_array![bool; 1];
            if bin == 0 {
                is_last.write(atomic::device::add_u32(args.done.at(0), 1) + 1 == thread::grid_dim_x());
            }
            thread::sync_threads();
            if is_last.read() {
                thread::device_fence();
                let totals = shared_array![u32; 32];
                for i in 0..digits {
                    let at = args.starts.at(i * BINS + bin);
                    let (before, of_warp) = scan_warp::<Sum<u32>>(atomic::device::load_relaxed_u32(at));
                    let (before_warp, _) = scan_warps::<Sum<u32>>(of_warp, totals, Count::<K>::BLOCK / 32);
                    atomic::device::store_relaxed_u32(at, before_warp + before);
                    thread::sync_threads();
                }
            }
        }
    }

    /// Counts the digits of one rank.
    #[inline(always)]
    unsafe fn count<R: Rank>(rank: R, bits: Bits, counts: *mut u32) {
        // As many as there can be: the loop is unrolled.
        for i in 0..R::BITS / DIGIT_BITS {
            if i < bits.digits() {
                let bin = i * BINS + rank.digit(bits.digit(i));
                // SAFETY: there are so many values of so many digits.
                unsafe { atomic::block::add_u32(counts.add(bin as usize), 1) };
            }
        }
    }
}
