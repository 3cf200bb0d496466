//! The table, from the image and the sums left of each tile and above it.

use core::marker::PhantomData;

use super::{ACROSS, BLOCK, DOWN, Size, Tabulate};
use crate::{Kernel, Ptr};

/// Sums up each tile: one block per tile, row by row.
pub struct Integrate<T, const CHANNELS: u32>(PhantomData<T>);

/// Arguments of [`Integrate`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct IntegrateArgs<P, S, E, const CHANNELS: u32> {
    /// The image, row by row.
    pub image: Ptr<P>,
    /// The table, not overlapping the image.
    pub table: Ptr<E>,
    /// Size of both.
    pub size: Size<CHANNELS>,
    /// Sums of rows, up to each tile.
    pub rows: Ptr<S>,
    /// Sums of columns, up to each row of tiles, and the tables' entries at the upper left of each tile.
    pub columns: Ptr<S>,
}

impl<T: Tabulate, const CHANNELS: u32> Kernel for Integrate<T, CHANNELS> {
    type Args = IntegrateArgs<T::Pixel, T::Sum, T::Entry, CHANNELS>;
    const BLOCK: u32 = BLOCK;
    const BLOCKS: u32 = if size_of::<T::Local>() == 4 { 3 } else { 2 } - (CHANNELS / 4);
    const SHARED: u32 =
        BLOCK * 4 * size_of::<T::Local>() as u32 + (ACROSS + DOWN * CHANNELS) * size_of::<T::Sum>() as u32;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::run::<T, CHANNELS>(args) }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use core::array;

    use cuda_std::shared::dynamic_shared_mem;
    use cuda_std::{thread, warp};

    use super::super::gpu::{along, before_lane, load_rows, of_rows, plus, store};
    use super::super::{ROWS, Sum};
    use super::*;
    use crate::block::warp_id;

    type Args<T, const CHANNELS: u32> =
        IntegrateArgs<<T as Tabulate>::Pixel, <T as Tabulate>::Sum, <T as Tabulate>::Entry, CHANNELS>;

    #[inline(always)]
    pub(super) unsafe fn run<T: Tabulate, const CHANNELS: u32>(args: &Args<T, CHANNELS>) {
        let Args::<T, CHANNELS> { size, .. } = *args;
        let tile = thread::block_idx_x();
        let [across, down] = [tile % size.across(), tile / size.across()];
        let lane = warp::lane_id();
        let x = across * ACROSS + lane * 4;
        let top = down * DOWN + warp_id() * ROWS as u32;
        // Sums of columns of each warp; what is above each column, and left of each row, up to there.
        let of_warps = dynamic_shared_mem::<[T::Local; 4]>();
        let above = of_warps.wrapping_add(BLOCK as usize).cast::<T::Sum>();
        let left = above.wrapping_add(ACROSS as usize);
        // SAFETY: the whole block comes here; memory is as the caller promised, and every index is checked.
        unsafe {
            let rows = load_rows(args.image, size, top, x);
            if warp_id() == 0 {
                let sums = entries_above::<T, CHANNELS>(args, across, down);
                above.add(lane as usize * 4).cast::<[T::Sum; 4]>().write(sums);
            } else if warp_id() <= CHANNELS {
                let channel = warp_id() - 1;
                let [a, b] = entries_left::<T, CHANNELS>(args, across, down, channel);
                left.add((2 * lane * CHANNELS + channel) as usize).write(a);
                left.add(((2 * lane + 1) * CHANNELS + channel) as usize).write(b);
            }
            // Sums along rows and down columns, of this warp.
            let mut sums = [T::Local::ZERO; 4];
            let local = of_rows(|r| {
                sums = plus(sums, along::<_, CHANNELS>(rows[r as usize].map(T::local)));
                sums
            });
            of_warps.add(thread::thread_idx_x() as usize).write(sums);
            thread::sync_threads();
            let mut sums = [T::Local::ZERO; 4];
            for warp in 0..warp_id() {
                sums = plus(sums, of_warps.add((warp * 32 + lane) as usize).read());
            }
            let above = above.add(lane as usize * 4).cast::<[T::Sum; 4]>().read().map(T::carry);
            of_rows(|r| {
                let y = top + r;
                if y < size.height {
                    let row = (warp_id() * ROWS as u32 + r) * CHANNELS;
                    let left: [T::Carry; 4] =
                        array::from_fn(|j| T::carry(left.add((row + j as u32 % CHANNELS) as usize).read()));
                    let local = plus(sums, local[r as usize]);
                    let entries = array::from_fn(|j| T::entry(above[j], left[j], local[j]));
                    store(args.table, y * size.width, x, size.width, entries);
                }
            });
        }
    }

    /// The entries of the table in the row above a tile, in its columns.
    #[inline(always)]
    unsafe fn entries_above<T: Tabulate, const CHANNELS: u32>(
        args: &Args<T, CHANNELS>,
        across: u32,
        down: u32,
    ) -> [T::Sum; 4] {
        let line = down * args.size.column_sums();
        let corner = line + args.size.width + across * CHANNELS;
        // SAFETY: the whole warp comes here; memory is as the caller promised.
        unsafe {
            let columns = array::from_fn(|j| {
                let x = across * ACROSS + warp::lane_id() * 4 + j as u32;
                if x < args.size.width { args.columns.load_constant(line + x) } else { T::Sum::ZERO }
            });
            let corners = array::from_fn(|j| args.columns.load_constant(corner + j as u32 % CHANNELS));
            plus(corners, along::<_, CHANNELS>(columns))
        }
    }

    /// Sums left of a tile, of its rows up to this lane's two.
    #[inline(always)]
    unsafe fn entries_left<T: Tabulate, const CHANNELS: u32>(
        args: &Args<T, CHANNELS>,
        across: u32,
        down: u32,
        channel: u32,
    ) -> [T::Sum; 2] {
        let first = across * args.size.row_sums();
        // SAFETY: the whole warp comes here; memory is as the caller promised.
        unsafe {
            let [a, b]: [T::Sum; 2] = array::from_fn(|j| {
                let y = down * DOWN + warp::lane_id() * 2 + j as u32;
                if y < args.size.height {
                    args.rows.load_constant(first + y * CHANNELS + channel)
                } else {
                    T::Sum::ZERO
                }
            });
            let before = before_lane(a.plus(b));
            [before.plus(a), before.plus(a.plus(b))]
        }
    }
}
