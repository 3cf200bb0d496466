//! Scans of the sums of tiles.

use core::marker::PhantomData;

use super::{Size, Sum};
use crate::{Kernel, Ptr};

/// Replaces each number by the sum of those above it: one block per 32 columns.
pub struct ScanDown<S>(PhantomData<S>);

/// Arguments of [`ScanDown`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ScanDownArgs<S> {
    /// The numbers, row by row.
    pub sums: Ptr<S>,
    /// Numbers per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl<S: Sum> Kernel for ScanDown<S> {
    type Args = ScanDownArgs<S>;
    const BLOCK: u32 = 256;
    const BLOCKS: u32 = 4;
    const SHARED: u32 = Self::BLOCK * size_of::<S>() as u32;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::scan_down(args) }
    }
}

/// Replaces the sums of all above each tile, by channel, by the sums of those left of it: one warp per row of tiles.
pub struct Corners<S, const CHANNELS: u32>(PhantomData<S>);

/// Arguments of [`Corners`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct CornersArgs<S, const CHANNELS: u32> {
    /// Sums of columns that [`ScanDown`] has computed, and of tiles behind them.
    pub columns: Ptr<S>,
    /// Size of the image.
    pub size: Size<CHANNELS>,
}

impl<S: Sum, const CHANNELS: u32> Kernel for Corners<S, CHANNELS> {
    type Args = CornersArgs<S, CHANNELS>;
    const BLOCK: u32 = 32;
    const BLOCKS: u32 = 16;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::corners(args) }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use core::array;

    use cuda_std::shared::dynamic_shared_mem;
    use cuda_std::{thread, warp};

    use super::*;
    use crate::WARP;
    use crate::block::warp_id;

    /// Rows of a thread at a time.
    const ROWS: u32 = 8;

    #[inline(always)]
    pub(super) unsafe fn scan_down<S: Sum>(args: &ScanDownArgs<S>) {
        let warps = ScanDown::<S>::BLOCK / WARP;
        let lane = warp::lane_id();
        let x = thread::block_idx_x() * WARP + lane;
        let of_warps = dynamic_shared_mem::<S>();
        let mut above = S::ZERO;
        let mut top = 0;
        // SAFETY: the whole block comes here, and goes round equally often; memory is as the caller promised.
        unsafe {
            while top < args.height {
                let first = top + warp_id() * ROWS;
                let is_there = |r: u32| x < args.width && first + r < args.height;
                let place = |r: u32| (first + r) * args.width + x;
                let rows: [S; ROWS as usize] = array::from_fn(|r| {
                    if is_there(r as u32) { args.sums.load(place(r as u32)) } else { S::ZERO }
                });
                let mut of_warp = S::ZERO;
                for r in 0..ROWS as usize {
                    of_warp = of_warp.plus(rows[r]);
                }
                of_warps.add(thread::thread_idx_x() as usize).write(of_warp);
                thread::sync_threads();
                let mut sum = above;
                for warp in 0..warps {
                    if warp == warp_id() {
                        sum = above;
                    }
                    above = above.plus(of_warps.add((warp * WARP + lane) as usize).read());
                }
                for r in 0..ROWS {
                    if is_there(r) {
                        args.sums.store(place(r), sum);
                    }
                    sum = sum.plus(rows[r as usize]);
                }
                thread::sync_threads();
                top += warps * ROWS;
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn corners<S: Sum, const CHANNELS: u32>(args: &CornersArgs<S, CHANNELS>) {
        let CornersArgs { size, .. } = *args;
        let lane = warp::lane_id();
        let first = thread::block_idx_x() * size.column_sums() + size.width;
        let n = size.across() * CHANNELS;
        let mut left = S::ZERO;
        let mut begin = 0;
        // SAFETY: the whole warp comes here, and goes round equally often; memory is as the caller promised.
        unsafe {
            while begin < n {
                let i = begin + lane;
                let mut sum = if i < n { args.columns.load(first + i) } else { S::ZERO };
                let mut distance = CHANNELS;
                while distance < WARP {
                    let before = warp::shuffle_up(warp::FULL_MASK, sum, distance);
                    if lane >= distance {
                        sum = before.plus(sum);
                    }
                    distance *= 2;
                }
                let before = warp::shuffle_up(warp::FULL_MASK, sum, CHANNELS);
                let before = if lane < CHANNELS { S::ZERO } else { before };
                if i < n {
                    args.columns.store(first + i, left.plus(before));
                }
                let last = WARP - CHANNELS + lane % CHANNELS;
                left = left.plus(warp::shuffle_idx(warp::FULL_MASK, sum, last));
                begin += WARP;
            }
        }
    }
}
