//! The work-efficient scan: an up-sweep and a down-sweep of a tree in shared memory (Blelloch 1990; Harris, Sengupta & Owens
//! 2007, GPU Gems 3, chapter 39). Tiles' sums are scanned the same way, level by level, and then added.

use core::marker::PhantomData;

use super::Bounds;
use crate::{Kernel, Length, Operator, Ptr};

/// Scans tiles, and writes their sums: one block per tile.
pub struct Blelloch<O>(PhantomData<O>);

/// Arguments of [`Blelloch`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct BlellochArgs<T> {
    /// Elements to scan.
    pub input: Ptr<T>,
    /// The results; may be the input.
    pub output: Ptr<T>,
    /// Number of elements at level 0.
    pub length: Length,
    /// A level has an element for each tile of the level below it.
    pub level: u32,
    /// Room for one value per tile.
    pub sums: Ptr<T>,
    /// Which elements a result combines.
    pub bounds: Bounds,
}

impl<O: Operator> Blelloch<O> {
    /// Elements of a tile: two a thread.
    pub const TILE: u32 = 2 * Self::BLOCK;
}

impl<O: Operator> Kernel for Blelloch<O> {
    type Args = BlellochArgs<O::Value>;
    const BLOCK: u32 = 512;
    const BLOCKS: u32 = 2;
    const SHARED: u32 = size_of::<O::Value>() as u32 * (padded(Self::TILE - 1) + 1);

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::scan::<O>(args) }
    }
}

/// Adds its prefix to each tile: one thread per element.
pub struct Add<O>(PhantomData<O>);

/// Arguments of [`Add`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct AddArgs<T> {
    /// Scanned tiles; then scanned as a whole.
    pub output: Ptr<T>,
    /// As in [`BlellochArgs`].
    pub length: Length,
    /// As in [`BlellochArgs`].
    pub level: u32,
    /// Prefix of each tile.
    pub sums: Ptr<T>,
}

impl<O: Operator> Kernel for Add<O> {
    type Args = AddArgs<O::Value>;
    const BLOCK: u32 = 256;
    const BLOCKS: u32 = 4;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::add::<O>(args) }
    }
}

/// Position of element `i` of a tile in shared memory: a word is left out after every 32, so that threads whose elements are
/// a power of two apart use different banks.
const fn padded(i: u32) -> u32 {
    i + i / 32
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use cuda_std::{shared, thread};

    use super::*;

    /// Elements of a level.
    #[inline(always)]
    unsafe fn of_level<O: Operator>(length: Length, level: u32) -> u32 {
        // SAFETY: as the caller promised.
        let mut n = unsafe { length.get() };
        for _ in 0..level {
            n = n.div_ceil(Blelloch::<O>::TILE);
        }
        n
    }

    #[inline(always)]
    pub(super) unsafe fn scan<O: Operator>(args: &BlellochArgs<O::Value>) {
        let tile = shared::dynamic_shared_mem::<O::Value>();
        let thread = thread::thread_idx_x();
        // SAFETY: the whole block comes here; indices are in the tile, and each is one thread's between barriers.
        unsafe {
            let n = of_level::<O>(args.length, args.level);
            let begin = thread::block_idx_x() * Blelloch::<O>::TILE;
            if begin >= n {
                return;
            }
            let at = |i: u32| tile.add(padded(i) as usize);
            let load = |i| if begin + i < n { args.input.load(begin + i) } else { O::IDENTITY };
            let (first, second) = (thread, thread + Blelloch::<O>::BLOCK);
            let (a, b) = (load(first), load(second));
            at(first).write(a);
            at(second).write(b);

            // Up-sweep: each node of the tree becomes the sum of its two children.
            let mut nodes = Blelloch::<O>::BLOCK;
            let mut stride = 1;
            while nodes > 0 {
                thread::sync_threads();
                if thread < nodes {
                    let (left, right) = children(thread, stride);
                    at(right).write(O::combine(at(left).read(), at(right).read()));
                }
                stride *= 2;
                nodes /= 2;
            }
            thread::sync_threads();
            let root = at(Blelloch::<O>::TILE - 1);
            if thread == 0 {
                args.sums.store(thread::block_idx_x(), root.read());
                root.write(O::IDENTITY);
            }

            // Down-sweep: the left child gets what is before the node, the right one that and the left one's sum.
            nodes = 1;
            while nodes <= Blelloch::<O>::BLOCK {
                stride /= 2;
                thread::sync_threads();
                if thread < nodes {
                    let (left, right) = children(thread, stride);
                    let (of_left, before) = (at(left).read(), at(right).read());
                    at(left).write(before);
                    at(right).write(O::combine(before, of_left));
                }
                nodes *= 2;
            }
            thread::sync_threads();
            let store = |i, value| {
                let before = at(i).read();
                let with = O::combine(before, value);
                if begin + i < n {
                    let result = if matches!(args.bounds, Bounds::Inclusive) { with } else { before };
                    args.output.store(begin + i, result);
                }
            };
            store(first, a);
            store(second, b);
        }
    }

    /// Where the two children of a node lie that covers 2·`stride` elements.
    #[inline(always)]
    fn children(node: u32, stride: u32) -> (u32, u32) {
        (stride * (2 * node + 1) - 1, stride * (2 * node + 2) - 1)
    }

    #[inline(always)]
    pub(super) unsafe fn add<O: Operator>(args: &AddArgs<O::Value>) {
        let i = thread::index_1d();
        // SAFETY: the element is this thread's; memory is as the caller promised.
        unsafe {
            if i < of_level::<O>(args.length, args.level) {
                let output = args.output.at(i);
                let before = args.sums.load(i / Blelloch::<O>::TILE);
                output.write(O::combine(before, output.read()));
            }
        }
    }
}
