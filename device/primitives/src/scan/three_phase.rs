//! The scan in three phases: sums of tiles, their scan, and the scan of tiles with their prefixes (Sengupta, Harris, Zhang &
//! Owens 2007, "Scan primitives for GPU computing"). Elements are read twice.

use core::marker::PhantomData;

use super::Bounds;
use crate::{Kernel, Length, Operator, Ptr};

/// Sums of tiles: one block per tile.
pub struct TileSums<O>(PhantomData<O>);

/// Arguments of [`TileSums`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct TileSumsArgs<T> {
    /// Elements to scan.
    pub input: Ptr<T>,
    /// Number of elements.
    pub length: Length,
    /// Room for one value per tile.
    pub sums: Ptr<T>,
}

impl<O: Operator> Kernel for TileSums<O> {
    type Args = TileSumsArgs<O::Value>;
    const BLOCK: u32 = super::BLOCK;
    const BLOCKS: u32 = 3;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe {
            match super::rows::<O::Value>() {
                6 => gpu::tile_sums::<O, 6>(args),
                _ => gpu::tile_sums::<O, 3>(args),
            }
        }
    }
}

/// The scan of the sums, in their place: one block.
pub struct Partials<O>(PhantomData<O>);

/// Arguments of [`Partials`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PartialsArgs<T> {
    /// Number of elements.
    pub length: Length,
    /// The sum of each tile; then its prefix.
    pub sums: Ptr<T>,
}

impl<O: Operator> Kernel for Partials<O> {
    type Args = PartialsArgs<O::Value>;
    const BLOCK: u32 = 1024;
    const BLOCKS: u32 = 1;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::partials::<O>(args) }
    }
}

/// The scan of tiles with their prefixes: one block per tile.
pub struct TileScan<O>(PhantomData<O>);

/// Arguments of [`TileScan`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct TileScanArgs<T> {
    /// Elements to scan.
    pub input: Ptr<T>,
    /// Results, not overlapping the input.
    pub output: Ptr<T>,
    /// Number of elements.
    pub length: Length,
    /// Prefix of each tile.
    pub sums: Ptr<T>,
    /// Which elements a result combines.
    pub bounds: Bounds,
}

impl<O: Operator> Kernel for TileScan<O> {
    type Args = TileScanArgs<O::Value>;
    const BLOCK: u32 = super::BLOCK;
    const BLOCKS: u32 = 3;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe {
            match super::rows::<O::Value>() {
                6 => gpu::tile_scan::<O, 6>(args),
                _ => gpu::tile_scan::<O, 3>(args),
            }
        }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use cuda_std::{shared_array, thread};

    use super::super::in_registers::Tile;
    use super::super::tile;
    use super::*;
    use crate::WARP;
    use crate::block::{scan_warp, scan_warps};

    #[inline(always)]
    pub(super) unsafe fn tile_sums<O: Operator, const ROWS: usize>(args: &TileSumsArgs<O::Value>) {
        let totals = shared_array![u64; 32].cast::<O::Value>();
        let index = thread::block_idx_x();
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let n = args.length.get();
            let begin = index * tile::<O::Value>();
            if begin >= n {
                return;
            }
            let tile = Tile::<O, ROWS>::load(args.input, begin, n, totals);
            if thread::thread_idx_x() == 0 {
                args.sums.store(index, tile.sum);
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn partials<O: Operator>(args: &PartialsArgs<O::Value>) {
        let totals = shared_array![u64; 32].cast::<O::Value>();
        let block = Partials::<O>::BLOCK;
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let tiles = args.length.get().div_ceil(tile::<O::Value>());
            let mut before = O::IDENTITY;
            let mut begin = 0;
            while begin < tiles {
                let i = begin + thread::thread_idx_x();
                let value = if i < tiles { args.sums.load(i) } else { O::IDENTITY };
                let (before_lane, of_warp) = scan_warp::<O>(value);
                let (before_warp, sum) = scan_warps::<O>(of_warp, totals, block / WARP);
                if i < tiles {
                    let in_block = O::combine(before_warp, before_lane);
                    args.sums.store(i, O::combine(before, in_block));
                }
                before = O::combine(before, sum);
                begin += block;
                thread::sync_threads();
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn tile_scan<O: Operator, const ROWS: usize>(args: &TileScanArgs<O::Value>) {
        let totals = shared_array![u64; 32].cast::<O::Value>();
        let index = thread::block_idx_x();
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let n = args.length.get();
            let begin = index * tile::<O::Value>();
            if begin >= n {
                return;
            }
            let before = args.sums.load(index);
            let tile = Tile::<O, ROWS>::load(args.input, begin, n, totals);
            tile.store(args.output, begin, n, before, args.bounds);
        }
    }
}
