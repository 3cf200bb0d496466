//! Sums that each tile of an image passes to those right of it and below it.

use core::marker::PhantomData;

use super::{BLOCK, Size, Tabulate};
use crate::{Kernel, Ptr};

/// Adds up the rows and the columns of each tile: one block per tile, row by row.
pub struct TileSums<T, const CHANNELS: u32>(PhantomData<T>);

/// Arguments of [`TileSums`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct TileSumsArgs<P, S, const CHANNELS: u32> {
    /// The image, row by row.
    pub image: Ptr<P>,
    /// Its size.
    pub size: Size<CHANNELS>,
    /// For every tile of a row of tiles room for [`Size::row_sums`]: the sums of each row, by channel.
    pub rows: Ptr<S>,
    /// For every row of tiles room for [`Size::column_sums`].
    pub columns: Ptr<S>,
}

impl<T: Tabulate, const CHANNELS: u32> Kernel for TileSums<T, CHANNELS> {
    type Args = TileSumsArgs<T::Pixel, T::Sum, CHANNELS>;
    const BLOCK: u32 = BLOCK;
    const BLOCKS: u32 = if size_of::<T::Local>() == 4 { 4 } else { 2 };
    const SHARED: u32 = BLOCK * 4 * size_of::<T::Local>() as u32;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::run::<T, CHANNELS>(args) }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use cuda_std::shared::dynamic_shared_mem;
    use cuda_std::{thread, warp};

    use super::super::gpu::{load_rows, of_rows, plus};
    use super::super::{ACROSS, DOWN, ROWS, Sum};
    use super::*;
    use crate::WARP;
    use crate::block::warp_id;

    #[inline(always)]
    pub(super) unsafe fn run<T: Tabulate, const CHANNELS: u32>(
        args: &TileSumsArgs<T::Pixel, T::Sum, CHANNELS>,
    ) {
        let TileSumsArgs { size, .. } = *args;
        let tile = thread::block_idx_x();
        let [across, down] = [tile % size.across(), tile / size.across()];
        let (lane, x) = (warp::lane_id(), across * ACROSS + warp::lane_id() * 4);
        let top = down * DOWN + warp_id() * ROWS as u32;
        // Of every warp, the sums of the columns of its rows.
        let of_warps = dynamic_shared_mem::<T::Local>();
        // SAFETY: the whole block comes here; memory is as the caller promised, and every index is checked.
        unsafe {
            let rows = load_rows(args.image, size, top, x);
            let mut of_warp = [T::Local::ZERO; 4];
            of_rows(|r| {
                let row = rows[r as usize].map(T::local);
                of_warp = plus(of_warp, row);
                let sums = across_lanes::<_, CHANNELS>(row);
                let y = top + r;
                if y < size.height {
                    store::<T, CHANNELS>(args.rows, across * size.row_sums() + y * CHANNELS, sums);
                }
            });
            of_warps.add((thread::thread_idx_x() * 4) as usize).cast::<[T::Local; 4]>().write(of_warp);
            thread::sync_threads();
            let line = down * size.column_sums();
            let column = thread::thread_idx_x();
            if column < ACROSS {
                let mut sum = T::Local::ZERO;
                for warp in 0..BLOCK / WARP {
                    sum = sum.plus(of_warps.add((warp * ACROSS + column) as usize).read());
                }
                if across * ACROSS + column < size.width {
                    args.columns.store(line + across * ACROSS + column, T::sum(sum));
                }
                of_warps.add(column as usize).write(sum);
            }
            thread::sync_threads();
            if warp_id() == 0 {
                let of_tile = of_warps.add((lane * 4) as usize).cast::<[T::Local; 4]>().read();
                let sums = across_lanes::<_, CHANNELS>(of_tile);
                store::<T, CHANNELS>(args.columns, line + size.width + across * CHANNELS, sums);
            }
        }
    }

    /// The sums over all lanes, by channel.
    #[inline(always)]
    unsafe fn across_lanes<S: Sum, const CHANNELS: u32>([a, b, c, d]: [S; 4]) -> [S; 4] {
        // SAFETY: the whole warp comes here.
        let reduce = |value: S| unsafe { warp::reduce(value, S::plus) };
        if CHANNELS == 1 {
            [reduce(a.plus(b).plus(c.plus(d))); 4]
        } else {
            [reduce(a), reduce(b), reduce(c), reduce(d)]
        }
    }

    /// Writes a sum for each channel, by one lane each, from `i` on.
    #[inline(always)]
    unsafe fn store<T: Tabulate, const CHANNELS: u32>(to: Ptr<T::Sum>, i: u32, sums: [T::Local; 4]) {
        for channel in 0..CHANNELS {
            if warp::lane_id() == channel {
                // SAFETY: as the caller promised.
                unsafe { to.store(i + channel, T::sum(sums[channel as usize])) };
            }
        }
    }
}
