//! Gather and scatter: elements read from, or written to, the places that indices give.
//!
//! Indices that are out of range are ignored: a gather leaves the element of its output as it was, a scatter writes nothing.
//! If a scatter has an index several times, one of its elements is written, on a GPU any of them.

use core::marker::PhantomData;

use super::moves::Access;
use super::{Kernel, Length, Ptr};

/// Indices of a thread.
const ITEMS: u32 = 4;

/// `to[i] = from[indices[i]]`: one block per tile.
pub struct Gather<T>(PhantomData<T>);

/// `to[indices[i]] = from[i]`: one block per tile.
pub struct Scatter<T>(PhantomData<T>);

/// Arguments of [`Gather`] and [`Scatter`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct IndexedArgs<T> {
    /// Source.
    pub from: Ptr<T>,
    /// Output, not overlapping the source.
    pub to: Ptr<T>,
    /// An index for each.
    pub indices: Ptr<u32>,
    /// Number of indices.
    pub length: Length,
    /// Upper bound, exclusive, of the indices.
    pub bound: u32,
}

impl<T> IndexedArgs<T> {
    /// The same, of elements of another type of the same size.
    pub fn cast<U>(self) -> IndexedArgs<U> {
        let Self { from, to, indices, length, bound } = self;
        IndexedArgs { from: from.cast(), to: to.cast(), indices, length, bound }
    }
}

/// Elements of a tile of both.
pub const TILE: u32 = BLOCK * ITEMS;

const BLOCK: u32 = 256;

impl<T: Access> Kernel for Gather<T> {
    type Args = IndexedArgs<T>;
    const BLOCK: u32 = BLOCK;
    const BLOCKS: u32 = 6;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::run(args, |i, index| (index, i)) }
    }
}

impl<T: Access> Kernel for Scatter<T> {
    type Args = IndexedArgs<T>;
    const BLOCK: u32 = BLOCK;
    const BLOCKS: u32 = 6;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::run(args, |i, index| (i, index)) }
    }
}

/// Sequential equivalent of [`Gather`].
///
/// # Panics
/// `to` is shorter than `indices`.
pub fn gather<T: Copy>(from: &[T], indices: &[u32], to: &mut [T]) {
    for (to, index) in to[..indices.len()].iter_mut().zip(indices) {
        if let Some(element) = from.get(*index as usize) {
            *to = *element;
        }
    }
}

/// Sequential equivalent of [`Scatter`]. Of several elements for an index, the last one stays.
///
/// # Panics
/// `from` is shorter than `indices`.
pub fn scatter<T: Copy>(from: &[T], indices: &[u32], to: &mut [T]) {
    for (element, index) in from[..indices.len()].iter().zip(indices) {
        if let Some(to) = to.get_mut(*index as usize) {
            *to = *element;
        }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use core::array;

    use cuda_std::thread;

    use super::*;

    /// Moves the elements of a tile: `route` says from where to where, for each place in the list and its index.
    #[inline(always)]
    pub(super) unsafe fn run<T: Access>(args: &IndexedArgs<T>, route: impl Fn(u32, u32) -> (u32, u32)) {
        // SAFETY: memory is as the caller promised, and every index is checked.
        unsafe {
            let n = args.length.get();
            let tile = thread::block_idx_x() * TILE;
            if tile >= n {
                return;
            }
            let first = tile + thread::thread_idx_x();
            let indices: [u32; ITEMS as usize] = array::from_fn(|k| {
                let i = first + k as u32 * BLOCK;
                if i < n { args.indices.load_constant(i) } else { u32::MAX }
            });
            let is_valid = indices.map(|index| index < args.bound);
            let routes: [_; ITEMS as usize] = array::from_fn(|k| route(first + k as u32 * BLOCK, indices[k]));
            // All reads are on their way before the first write; instead of an element that is not there, the first one.
            let elements: [T; ITEMS as usize] =
                array::from_fn(|k| args.from.load_constant(if is_valid[k] { routes[k].0 } else { 0 }));
            for k in 0..ITEMS as usize {
                if is_valid[k] {
                    args.to.store(routes[k].1, elements[k]);
                }
            }
        }
    }
}
