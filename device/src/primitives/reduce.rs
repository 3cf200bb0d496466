//! Sums, means and extremes of everything.
//!
//! The order in which elements are combined depends on their number alone, not on the machine nor on chance: a sum of
//! `f32` is the same bits on every GPU, and in the twin. It is that of a tree over 32 sums in a row, so that its error
//! grows with the logarithm of the length.

use core::marker::PhantomData;

use super::{Element, Entry, Kernel, Length, Max, Min, Operator, Ptr, Sum, WARP};

/// What many elements become. It commutes: `combine(a, b)` is `combine(b, a)`.
pub trait Reduction: 'static {
    /// What is reduced.
    type Item: Element;
    /// What items become, and are combined as.
    type Value: Element;
    /// The result.
    type Output: Element;
    /// Combined with any value, that value.
    const IDENTITY: Self::Value;

    /// The value of the item at index `i`.
    fn of(item: Self::Item, i: u32) -> Self::Value;
    /// Of two values, one.
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
            fn of(item: T, _: u32) -> T {
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

/// The mean; NaN of nothing.
pub struct Mean;

impl Reduction for Mean {
    type Item = f32;
    type Value = f32;
    type Output = f32;
    const IDENTITY: f32 = 0.0;

    #[inline(always)]
    fn of(item: f32, _: u32) -> f32 {
        item
    }

    #[inline(always)]
    fn combine(a: f32, b: f32) -> f32 {
        a + b
    }

    #[inline(always)]
    fn finish(sum: f32, n: u32) -> f32 {
        if n == 0 { f32::NAN } else { sum / n as f32 }
    }
}

/// The index of the largest element, of several equal ones the first; `u32::MAX` of nothing. −0 is less than +0, and a
/// NaN less than everything.
pub struct ArgMax<T>(PhantomData<T>);

impl<T: Element + Ranked> Reduction for ArgMax<T> {
    type Item = T;
    type Value = u64;
    type Output = u32;
    const IDENTITY: u64 = 0;

    /// The rank of the item, and below it what is larger the sooner the item comes.
    #[inline(always)]
    fn of(item: T, i: u32) -> u64 {
        u64::from(item.rank()) << 32 | u64::from(!i)
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

/// Numbers of 32 bits that have an order as whole numbers.
pub trait Ranked {
    /// More for what is more.
    fn rank(self) -> u32;
}

impl Ranked for u32 {
    #[inline(always)]
    fn rank(self) -> u32 {
        self
    }
}

impl Ranked for i32 {
    #[inline(always)]
    fn rank(self) -> u32 {
        self.cast_unsigned() ^ 1 << 31
    }
}

impl Ranked for f32 {
    #[inline(always)]
    fn rank(self) -> u32 {
        let bits = self.to_bits();
        match (self.is_nan(), bits >> 31 == 0) {
            (true, _) => 0,
            (_, true) => bits | 1 << 31,
            (_, false) => !bits,
        }
    }
}

/// Threads of a block.
const BLOCK: usize = 256;

/// Quads of a thread in a tile.
const QUADS: u32 = 8;

/// Reduces everything to one value: a block a tile, and the last one what they found.
pub struct Reduce<R>(PhantomData<R>);

/// Arguments of [`Reduce`], for a grid of a block a tile, and at least one.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ReduceArgs<I, V, O> {
    /// What is reduced.
    pub input: Ptr<I>,
    /// Where the result goes.
    pub output: Ptr<O>,
    /// How many.
    pub length: Length,
    /// Room for a value a tile.
    pub partials: Ptr<V>,
    /// Counts tiles that are done. Zero at the start.
    pub done: Ptr<u32>,
}

impl<R: Reduction> Reduce<R> {
    /// Elements of a tile.
    pub const TILE: u32 = Self::BLOCK * 4 * QUADS;
}

/// A reduction that there is a kernel for.
pub trait Reducible: Reduction {
    /// That kernel.
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
    const BLOCKS: u32 = 4;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::run::<R>(args) }
    }
}

/// What the kernel computes, in its order.
pub fn twin<R: Reduction>(input: &[R::Item]) -> R::Output {
    let tiles = input.chunks(Reduce::<R>::TILE as usize).enumerate().map(|(tile, items)| {
        let begin = tile as u32 * Reduce::<R>::TILE;
        // Thread t has quads t, t + 256, …, and a sum for each place in a quad.
        let mut sums = [[R::IDENTITY; 4]; BLOCK];
        for (i, item) in items.iter().enumerate() {
            let sum = &mut sums[i / 4 % BLOCK][i % 4];
            *sum = R::combine(*sum, R::of(*item, begin + i as u32));
        }
        tree::<R>(sums.map(|[a, b, c, d]| R::combine(R::combine(a, b), R::combine(c, d))))
    });
    let mut sums = [R::IDENTITY; BLOCK];
    for (tile, value) in tiles.enumerate() {
        let sum = &mut sums[tile % BLOCK];
        *sum = R::combine(*sum, value);
    }
    R::finish(tree::<R>(sums), input.len() as u32)
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
    use cuda_std::{atomic, mem, shared_array, thread, warp};

    use super::*;
    use crate::primitives::Quad;
    use crate::primitives::block::warp_id;

    #[inline(always)]
    pub(super) unsafe fn run<R: Reduction>(args: &ReduceArgs<R::Item, R::Value, R::Output>) {
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let n = args.length.get();
            let tiles = n.div_ceil(Reduce::<R>::TILE);
            let tile = thread::block_idx_x();
            if tile >= tiles.max(1) {
                return;
            }
            let value = block::<R>(of_tile::<R>(args.input, tile * Reduce::<R>::TILE, n));
            let is_last = shared_array![bool; 1];
            if thread::thread_idx_x() == 0 {
                args.partials.store(tile, value);
                thread::device_fence();
                is_last.write(atomic::device::add_u32(args.done.at(0), 1) + 1 == tiles.max(1));
            }
            thread::sync_threads();
            if is_last.read() {
                thread::device_fence();
                let value = block::<R>(of_partials::<R>(args.partials, tiles));
                if thread::thread_idx_x() == 0 {
                    args.output.store(0, R::finish(value, n));
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn of_tile<R: Reduction>(input: Ptr<R::Item>, begin: u32, n: u32) -> R::Value {
        let first = begin + thread::thread_idx_x() * 4;
        let mut sums = [R::IDENTITY; 4];
        if n - begin >= Reduce::<R>::TILE {
            let quads: [Quad<R::Item>; QUADS as usize] = core::array::from_fn(|k| {
                // SAFETY: the tile is full.
                unsafe { mem::ldg(input.at(first + k as u32 * Reduce::<R>::BLOCK * 4).cast()) }
            });
            for k in 0..QUADS {
                let i = first + k * Reduce::<R>::BLOCK * 4;
                for j in 0..4 {
                    let item = quads[k as usize].0[j];
                    sums[j] = R::combine(sums[j], R::of(item, i + j as u32));
                }
            }
        } else {
            for k in 0..QUADS {
                for j in 0..4 {
                    let i = first + k * Reduce::<R>::BLOCK * 4 + j as u32;
                    if i < n {
                        // SAFETY: just checked.
                        sums[j] = R::combine(sums[j], R::of(unsafe { input.load_constant(i) }, i));
                    }
                }
            }
        }
        R::combine(R::combine(sums[0], sums[1]), R::combine(sums[2], sums[3]))
    }

    #[inline(always)]
    unsafe fn of_partials<R: Reduction>(partials: Ptr<R::Value>, tiles: u32) -> R::Value {
        let mut sum = R::IDENTITY;
        let mut i = thread::thread_idx_x();
        while i < tiles {
            // SAFETY: every tile has written its value before the fence.
            sum = R::combine(sum, unsafe { mem::ldcg(partials.at(i)) });
            i += Reduce::<R>::BLOCK;
        }
        sum
    }

    /// One of the values of all threads of a block, in its first warp.
    #[inline(always)]
    unsafe fn block<R: Reduction>(value: R::Value) -> R::Value {
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
