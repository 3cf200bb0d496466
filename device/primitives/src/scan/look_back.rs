//! The scan in a single pass over memory.

use core::marker::PhantomData;

use super::Bounds;
use crate::{Kernel, Length, Operator, Ptr};

/// The scan in a single pass over memory, by decoupled look-back (Merrill & Garland 2016): one block per tile.
pub struct LookBack<O>(PhantomData<O>);

/// Arguments of [`LookBack`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct LookBackArgs<T> {
    /// Elements to scan.
    pub input: Ptr<T>,
    /// Results, not overlapping the input.
    pub output: Ptr<T>,
    /// Number of elements.
    pub length: Length,
    /// Words that tiles publish: one for every 32 bits of a value. Zeros at the start.
    pub tiles: Ptr<u64>,
    /// Counter of tiles. Zero at the start.
    pub ticket: Ptr<u32>,
    /// Which elements a result combines.
    pub bounds: Bounds,
}

impl<O: Operator> Kernel for LookBack<O> {
    type Args = LookBackArgs<O::Value>;
    const BLOCK: u32 = super::BLOCK;
    const BLOCKS: u32 = 3;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe {
            match super::rows::<O::Value>() {
                6 => gpu::run::<O, 6>(args),
                _ => gpu::run::<O, 3>(args),
            }
        }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use cuda_std::shared_array;

    use super::super::in_registers::Tile;
    use super::super::tile;
    use super::*;
    use crate::look_back::{Tiles, take_tile};

    #[inline(always)]
    pub(super) unsafe fn run<O: Operator, const ROWS: usize>(args: &LookBackArgs<O::Value>) {
        let totals = shared_array![u64; 32].cast::<O::Value>();
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let n = args.length.get();
            let index = take_tile(args.ticket, shared_array![u32; 1]);
            let begin = index * tile::<O::Value>();
            if begin >= n {
                return;
            }
            let tile = Tile::<O, ROWS>::load(args.input, begin, n, totals);
            let before = Tiles::new(args.tiles).look_back::<O>(index, tile.sum);
            tile.store(args.output, begin, n, before, args.bounds);
        }
    }
}
