//! A sum in seven ways, each with one more idea than the last, after Harris 2007, "Optimizing parallel reduction in CUDA".
//!
//! Each block reduces its input to one number; the host launches the kernel again on those numbers until one is left.

use primitives::Ptr;

/// Threads of a block.
pub(crate) const BLOCK: u32 = 256;

/// Arguments of every kernel here.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct SumArgs {
    /// `n` numbers, aligned to 16 bytes.
    pub(crate) input: Ptr<u32>,
    /// A sum for each block.
    pub(crate) output: Ptr<u32>,
    pub(crate) n: u32,
}

/// The sum of all numbers, which wraps, in their order.
///
/// # Safety
/// `input` has `n` numbers that nobody writes meanwhile, and `output` has room for one.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) unsafe fn twin(args: &SumArgs) {
    // SAFETY: as the caller promised.
    unsafe {
        let sum = args.input.slice(args.n).iter().fold(0_u32, |sum, x| sum.wrapping_add(*x));
        args.output.at(0).write(sum);
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use super::*;
    use cuda_std::{kernel, mem, shared_array, thread, warp};
    use primitives::Quad;

    /// The number at `i`; beyond the end, zero.
    #[inline(always)]
    unsafe fn number(args: &SumArgs, i: u32) -> u32 {
        // SAFETY: there are `n` numbers, which no kernel writes.
        if i < args.n { unsafe { mem::ldg(args.input.at(i)) } } else { 0 }
    }

    /// `*to += *from` in shared memory. Volatile: other threads see it without a barrier for the compiler to notice.
    #[inline(always)]
    unsafe fn add(sums: *mut u32, to: u32, from: u32) {
        // SAFETY: as the caller promised.
        unsafe {
            let to = sums.add(to as usize);
            to.write_volatile(to.read_volatile() + sums.add(from as usize).read_volatile());
        }
    }

    /// Shared memory with a number of each thread.
    macro_rules! shared {
        ($value:expr) => {{
            let sums = shared_array![u32; BLOCK as usize];
            sums.add(thread::thread_idx_x() as usize).write($value);
            thread::sync_threads();
            sums
        }};
    }

    /// The first thread writes its block's sum.
    #[inline(always)]
    unsafe fn finish(args: &SumArgs, sum: impl FnOnce() -> u32) {
        if thread::thread_idx_x() == 0 {
            // SAFETY: there is room for a number of each block.
            unsafe { mem::st(args.output.at(thread::block_idx_x()), sum()) };
        }
    }

    /// Neighbours first, then neighbours of neighbours: every warp has lanes that work and lanes that wait.
    ///
    /// # Safety
    /// Blocks of [`BLOCK`] threads, a thread a number.
    #[kernel]
    pub unsafe fn sum_interleaved(args: SumArgs) {
        // SAFETY: the launch's promise; barriers separate the steps.
        unsafe {
            let sums = shared!(number(&args, thread::index_1d()));
            let me = thread::thread_idx_x();
            let mut step = 1;
            while step < BLOCK {
                if me % (2 * step) == 0 {
                    add(sums, me, me + step);
                }
                thread::sync_threads();
                step *= 2;
            }
            finish(&args, || sums.read());
        }
    }

    /// The same sums by the first threads. Whole warps wait, which is better than half of each, but threads that work meet in
    /// the same banks of shared memory, which is worse.
    ///
    /// # Safety
    /// As [`sum_interleaved`].
    #[kernel]
    pub unsafe fn sum_strided(args: SumArgs) {
        // SAFETY: as above.
        unsafe {
            let sums = shared!(number(&args, thread::index_1d()));
            let mut step = 1;
            while step < BLOCK {
                let first = 2 * step * thread::thread_idx_x();
                if first < BLOCK {
                    add(sums, first, first + step);
                }
                thread::sync_threads();
                step *= 2;
            }
            finish(&args, || sums.read());
        }
    }

    /// Halves `sums` until `last` numbers are left: neighbouring threads use neighbouring banks.
    #[inline(always)]
    unsafe fn halve(sums: *mut u32, last: u32) {
        let me = thread::thread_idx_x();
        let mut step = BLOCK / 2;
        while step >= last {
            // SAFETY: the caller is the whole block; barriers separate the steps.
            unsafe {
                if me < step {
                    add(sums, me, me + step);
                }
                thread::sync_threads();
            }
            step /= 2;
        }
    }

    /// The first half adds the second half, and so on.
    ///
    /// # Safety
    /// As [`sum_interleaved`].
    #[kernel]
    pub unsafe fn sum_sequential(args: SumArgs) {
        // SAFETY: as above.
        unsafe {
            let sums = shared!(number(&args, thread::index_1d()));
            halve(sums, 1);
            finish(&args, || sums.read());
        }
    }

    /// Two numbers of each thread: without this, half of them only load.
    #[inline(always)]
    unsafe fn pair(args: &SumArgs) -> u32 {
        let i = thread::block_idx_x() * (2 * BLOCK) + thread::thread_idx_x();
        // SAFETY: as `number`.
        unsafe { number(args, i) + number(args, i + BLOCK) }
    }

    /// Adds when it loads, so that half as many blocks are needed.
    ///
    /// # Safety
    /// Blocks of [`BLOCK`] threads, a thread two numbers.
    #[kernel]
    pub unsafe fn sum_add_on_load(args: SumArgs) {
        // SAFETY: as above.
        unsafe {
            let sums = shared!(pair(&args));
            halve(sums, 1);
            finish(&args, || sums.read());
        }
    }

    /// One warp does the last steps, without barriers of the block and without a loop.
    ///
    /// # Safety
    /// As [`sum_add_on_load`].
    #[kernel]
    pub unsafe fn sum_last_warp(args: SumArgs) {
        // SAFETY: as above; the first warp is whole.
        unsafe {
            let sums = shared!(pair(&args));
            halve(sums, 64);
            let me = thread::thread_idx_x();
            if me < 32 {
                add(sums, me, me + 32);
                warp::sync_warp(warp::FULL_MASK);
                for step in [16, 8, 4, 2, 1] {
                    if me < step {
                        add(sums, me, me + step);
                    }
                    warp::sync_warp(warp::FULL_MASK);
                }
            }
            finish(&args, || sums.read_volatile());
        }
    }

    /// The sum of the whole block, in its first thread: lanes exchange registers; memory is for a number a warp.
    #[inline(always)]
    unsafe fn by_shuffles(sum: u32) -> u32 {
        let warps = shared_array![u32; 32];
        let (me, lane) = (thread::thread_idx_x(), warp::lane_id());
        // SAFETY: the caller is the whole block.
        unsafe {
            let sum = warp::reduce(sum, |a, b| a + b);
            if lane == 0 {
                warps.add((me / 32) as usize).write(sum);
            }
            thread::sync_threads();
            let sum = if lane < BLOCK / 32 { warps.add(lane as usize).read() } else { 0 };
            warp::reduce(sum, |a, b| a + b)
        }
    }

    /// Shuffles instead of shared memory.
    ///
    /// # Safety
    /// As [`sum_add_on_load`].
    #[kernel]
    pub unsafe fn sum_shuffle(args: SumArgs) {
        // SAFETY: as above.
        unsafe {
            let sum = by_shuffles(pair(&args));
            finish(&args, || sum);
        }
    }

    /// Many numbers of each thread, 16 bytes at a time and several at once, so that memory is never idle.
    ///
    /// # Safety
    /// Blocks of [`BLOCK`] threads, any number of them.
    #[kernel]
    pub unsafe fn sum_many(args: SumArgs) {
        const AT_ONCE: usize = 4;
        let (quads, stride) = (args.n / 4, thread::grid_size_1d());
        let load = |i: u32| -> [u32; 4] {
            // SAFETY: there are that many quads.
            unsafe { mem::ldg(args.input.at(4 * i).cast::<Quad<u32>>()) }.0
        };
        let mut sums = [0_u32; 4];
        let mut i = thread::index_1d();
        while i + (AT_ONCE as u32 - 1) * stride < quads {
            let rows: [_; AT_ONCE] = core::array::from_fn(|k| load(i + k as u32 * stride));
            for row in rows {
                sums = core::array::from_fn(|j| sums[j] + row[j]);
            }
            i += AT_ONCE as u32 * stride;
        }
        while i < quads {
            let row = load(i);
            sums = core::array::from_fn(|j| sums[j] + row[j]);
            i += stride;
        }
        // SAFETY: as above; the last numbers are fewer than four.
        unsafe {
            let rest = 4 * quads + thread::index_1d();
            let rest = if thread::index_1d() < 4 { number(&args, rest) } else { 0 };
            let sum = by_shuffles(sums[0] + sums[1] + sums[2] + sums[3] + rest);
            finish(&args, || sum);
        }
    }
}
