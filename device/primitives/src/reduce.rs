//! Sums, means and extremes of everything.
//!
//! The order in which elements are combined depends on their number alone, not on the machine nor on chance: a sum or a
//! mean of `f32` is the same bits on every GPU, and in the twin, as long as nothing in it is subnormal, which GPUs take for
//! zero, and no NaN, of which bits differ. Most of it is a tree: a number is in fewer than 40 + n / 2²⁰ additions, where in
//! a row it would be in n.

use core::marker::PhantomData;

use super::radix_sort::Key;
use super::{Element, Entry, Kernel, Length, Max, Min, Operator, Ptr, Sum, WARP};

/// A commutative reduction of many elements to one: `combine(a, b)` is `combine(b, a)`.
pub trait Reduction: 'static {
    /// Type of the input.
    type Item: Element;
    /// Type to which items are converted, and in which they are combined.
    type Value: Element;
    /// The result.
    type Output: Element;
    /// Combined with any value, that value.
    const IDENTITY: Self::Value;

    /// The value of the item at index `i`.
    fn value(item: Self::Item, i: u32) -> Self::Value;
    /// Combines two values.
    fn combine(a: Self::Value, b: Self::Value) -> Self::Value;
    /// The result of `n` items that have become `value`.
    fn finish(value: Self::Value, n: u32) -> Self::Output;
}

macro_rules! by_operator {
    ($($O:ident),*) => { $(
        impl<T: Element> Reduction for $O<T> {
            type Item = T;
            type Value = T;
            type Output = T;
            const IDENTITY: T = <Self as Operator>::IDENTITY;

            #[inline(always)]
            fn value(item: T, _: u32) -> T {
                item
            }

            #[inline(always)]
            fn combine(a: T, b: T) -> T {
                <Self as Operator>::combine(a, b)
            }

            #[inline(always)]
            fn finish(value: T, _: u32) -> T {
                value
            }
        }
    )* };
}
by_operator!(Sum, Min, Max);

/// The mean; NaN if there are no elements.
pub struct Mean;

impl Reduction for Mean {
    type Item = f32;
    type Value = f32;
    type Output = f32;
    const IDENTITY: f32 = 0.0;

    #[inline(always)]
    fn value(item: f32, _: u32) -> f32 {
        item
    }

    #[inline(always)]
    fn combine(a: f32, b: f32) -> f32 {
        a + b
    }

    #[inline(always)]
    fn finish(sum: f32, n: u32) -> f32 {
        if n == 0 { f32::NAN } else { quotient(sum, n as f32) }
    }
}

/// a / b, correctly rounded: on a GPU, the operator is not.
#[inline(always)]
fn quotient(a: f32, b: f32) -> f32 {
    #[cfg(target_arch = "nvptx64")]
    let quotient = cuda_std::float::div_rn(a, b);
    #[cfg(not(target_arch = "nvptx64"))]
    let quotient = a / b;
    quotient
}

/// The index of the largest element, of several equal ones the first; `u32::MAX` if there are none. −0 is less than +0, and
/// a NaN less than everything.
pub struct ArgMax<T>(PhantomData<T>);

impl<T: Key<Rank = u32>> Reduction for ArgMax<T> {
    type Item = T;
    type Value = u64;
    type Output = u32;
    const IDENTITY: u64 = 0;

    /// The rank of the item, or the least one for a NaN, and below it what is larger the sooner the item comes.
    #[inline(always)]
    fn value(item: T, i: u32) -> u64 {
        let is_nan = item.partial_cmp(&item).is_none();
        let rank = if is_nan { 0 } else { item.to_rank() };
        u64::from(rank) << 32 | u64::from(!i)
    }

    #[inline(always)]
    fn combine(a: u64, b: u64) -> u64 {
        a.max(b)
    }

    #[inline(always)]
    fn finish(value: u64, _: u32) -> u32 {
        !(value as u32)
    }
}

/// Threads of a block.
const BLOCK: usize = 256;

/// Quads of a thread in a tile.
const QUADS: u32 = 4;

/// Largest number of blocks. It does not depend on the machine, since the order of combination depends on it.
const MOST_BLOCKS: u32 = 1024;

/// Reduces everything to one value: each block some of the tiles, and the last block their results.
pub struct Reduce<R>(PhantomData<R>);

/// Arguments of [`Reduce`], for a grid of [`Reduce::blocks`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ReduceArgs<I, V, O> {
    /// Input.
    pub input: Ptr<I>,
    /// Output.
    pub output: Ptr<O>,
    /// Number of elements.
    pub length: Length,
    /// Room for one value per block.
    pub partials: Ptr<V>,
    /// Counter of finished blocks. Zero at the start.
    pub done: Ptr<u32>,
}

impl<R: Reduction> Reduce<R> {
    /// Elements of a tile.
    const TILE: u32 = Self::BLOCK * 4 * QUADS;

    /// Number of blocks that reduce `n` elements: at least one, which writes the result even if there are none.
    pub fn blocks(n: u32) -> u32 {
        n.div_ceil(Self::TILE).clamp(1, MOST_BLOCKS)
    }
}

/// A reduction for which there is a kernel.
pub trait Reducible: Reduction {
    /// The kernel.
    type Reduce: Kernel<Args = ReduceArgs<Self::Item, Self::Value, Self::Output>> + Entry;
}

impl<R: Reduction> Reducible for R
where
    Reduce<R>: Entry,
{
    type Reduce = Reduce<R>;
}

impl<R: Reduction> Kernel for Reduce<R> {
    type Args = ReduceArgs<R::Item, R::Value, R::Output>;
    const BLOCK: u32 = BLOCK as u32;
    const BLOCKS: u32 = if size_of::<R::Value>() == 4 { 8 } else { 4 };

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::run::<R>(args) }
    }
}

/// Sequential equivalent of the kernel, which combines in its order.
pub fn twin<R: Reduction>(input: &[R::Item]) -> R::Output {
    let (n, tile) = (input.len() as u32, Reduce::<R>::TILE as usize);
    let blocks = Reduce::<R>::blocks(n) as usize;
    let mut of_threads = [R::IDENTITY; BLOCK];
    for block in 0..blocks {
        // Thread t has quads t, t + 256, … of every tile of the block, and a sum for each place in a quad.
        let mut sums = [[R::IDENTITY; 4]; BLOCK];
        for (begin, items) in (0..).step_by(tile).zip(input.chunks(tile)).skip(block).step_by(blocks) {
            for (i, item) in items.iter().enumerate() {
                let sum = &mut sums[i / 4 % BLOCK][i % 4];
                *sum = R::combine(*sum, R::value(*item, begin + i as u32));
            }
        }
        let of_block = tree::<R>(sums.map(|[a, b, c, d]| R::combine(R::combine(a, b), R::combine(c, d))));
        let of_thread = &mut of_threads[block % BLOCK];
        *of_thread = R::combine(*of_thread, of_block);
    }
    R::finish(tree::<R>(of_threads), n)
}

/// One of the values of all threads of a block: of its warps, and then of what those have.
fn tree<R: Reduction>(values: [R::Value; BLOCK]) -> R::Value {
    let mut of_warps = [R::IDENTITY; WARP as usize];
    for (of_warp, values) in of_warps.iter_mut().zip(values.as_chunks().0) {
        *of_warp = butterfly::<R>(*values);
    }
    butterfly::<R>(of_warps)
}

/// One of the values of all lanes of a warp.
fn butterfly<R: Reduction>(mut values: [R::Value; WARP as usize]) -> R::Value {
    for distance in [16, 8, 4, 2, 1] {
        values = core::array::from_fn(|i| R::combine(values[i], values[i ^ distance]));
    }
    values[0]
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use core::array;

    use cuda_std::{atomic, mem, shared_array, thread, warp};

    use super::*;
    use crate::Quad;
    use crate::block::warp_id;

    #[inline(always)]
    pub(super) unsafe fn run<R: Reduction>(args: &ReduceArgs<R::Item, R::Value, R::Output>) {
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let n = args.length.get();
            let (block, blocks) = (thread::block_idx_x(), Reduce::<R>::blocks(n));
            if block >= blocks {
                return;
            }
            let value = of_block::<R>(of_thread::<R>(args.input, block, blocks, n));
            let is_last = shared_array![bool; 1];
            if thread::thread_idx_x() == 0 {
                args.partials.store(block, value);
                thread::device_fence();
                is_last.write(atomic::device::add_u32(args.done.at(0), 1) + 1 == blocks);
            }
            thread::sync_threads();
            if is_last.read() {
                thread::device_fence();
                let value = of_block::<R>(of_partials::<R>(args.partials, blocks));
                if thread::thread_idx_x() == 0 {
                    args.output.store(0, R::finish(value, n));
                }
            }
        }
    }

    /// This thread's partial result over a block's tiles.
    #[inline(always)]
    unsafe fn of_thread<R: Reduction>(input: Ptr<R::Item>, block: u32, blocks: u32, n: u32) -> R::Value {
        let mut sums = [R::IDENTITY; 4];
        let mut begin = block * Reduce::<R>::TILE;
        while begin < n {
            let first = begin + thread::thread_idx_x() * 4;
            let row = |k| first + k * Reduce::<R>::BLOCK * 4;
            if n - begin >= Reduce::<R>::TILE {
                // SAFETY: the tile is full.
                let quads: [Quad<R::Item>; QUADS as usize] =
                    array::from_fn(|k| unsafe { mem::ldg(input.at(row(k as u32)).cast()) });
                for k in 0..QUADS {
                    for j in 0..4 {
                        let item = R::value(quads[k as usize].0[j], row(k) + j as u32);
                        sums[j] = R::combine(sums[j], item);
                    }
                }
            } else {
                for k in 0..QUADS {
                    for j in 0..4 {
                        let i = row(k) + j as u32;
                        if i < n {
                            // SAFETY: just checked.
                            let item = R::value(unsafe { input.load_constant(i) }, i);
                            sums[j] = R::combine(sums[j], item);
                        }
                    }
                }
            }
            begin += blocks * Reduce::<R>::TILE;
        }
        R::combine(R::combine(sums[0], sums[1]), R::combine(sums[2], sums[3]))
    }

    #[inline(always)]
    unsafe fn of_partials<R: Reduction>(partials: Ptr<R::Value>, blocks: u32) -> R::Value {
        let mut sum = R::IDENTITY;
        let mut i = thread::thread_idx_x();
        while i < blocks {
            // SAFETY: every block has written its value before the fence.
            sum = R::combine(sum, unsafe { mem::ldcg(partials.at(i)) });
            i += Reduce::<R>::BLOCK;
        }
        sum
    }

    /// One of the values of all threads of a block, in its first warp.
    #[inline(always)]
    unsafe fn of_block<R: Reduction>(value: R::Value) -> R::Value {
        let totals = shared_array![u64; 32].cast::<R::Value>();
        // SAFETY: the whole block comes here.
        unsafe {
            let value = warp::reduce(value, R::combine);
            if warp::lane_id() == 0 {
                totals.add(warp_id() as usize).write(value);
            }
            thread::sync_threads();
            let lane = warp::lane_id();
            let value =
                if lane < Reduce::<R>::BLOCK / WARP { totals.add(lane as usize).read() } else { R::IDENTITY };
            let value = warp::reduce(value, R::combine);
            thread::sync_threads();
            value
        }
    }
}
