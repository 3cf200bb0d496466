//! Transposing matrices.
//!
//! Tiles go through shared memory, so that rows are read and written in whole lines. Rows of a tile are padded by one
//! element there, so that the elements of a column are in different banks.

use core::marker::PhantomData;

use super::moves::Access;
use super::{Kernel, Ptr};

/// Transposes a matrix: one block per tile.
pub struct Transpose<T>(PhantomData<T>);

/// Arguments of [`Transpose`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct TransposeArgs<T> {
    /// The matrix, row by row.
    pub from: Ptr<T>,
    /// The transposed matrix, not overlapping the matrix.
    pub to: Ptr<T>,
    /// Elements of a row. Not zero.
    pub width: u32,
    /// Rows. Not zero.
    pub height: u32,
}

impl<T: Access> Transpose<T> {
    /// Rows and columns of a tile.
    pub const SIDE: u32 = if T::WORDS == 1 { 64 } else { 32 };

    /// Blocks for a matrix. It has fewer than 2³¹ elements.
    pub fn blocks(width: u32, height: u32) -> u32 {
        width.div_ceil(Self::SIDE) * height.div_ceil(Self::SIDE)
    }
}

impl<T: Access> Kernel for Transpose<T> {
    type Args = TransposeArgs<T>;
    const BLOCK: u32 = 256;
    const BLOCKS: u32 = 6;
    const SHARED: u32 = Self::SIDE * (Self::SIDE + 1) * size_of::<T>() as u32;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::run(args) }
    }
}

/// Sequential equivalent of the kernel.
///
/// # Panics
/// `from` or `to` is shorter than the matrix.
pub fn twin<T: Copy>(from: &[T], to: &mut [T], width: usize, height: usize) {
    for y in 0..height {
        for x in 0..width {
            to[x * height + y] = from[y * width + x];
        }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use cuda_std::shared::dynamic_shared_mem;
    use cuda_std::thread;

    use super::*;

    #[inline(always)]
    pub(super) unsafe fn run<T: Access>(args: &TransposeArgs<T>) {
        let side = Transpose::<T>::SIDE;
        let tile = dynamic_shared_mem::<T>();
        let TransposeArgs { width, height, .. } = *args;
        let block = thread::block_idx_x();
        // Blocks next to each other write next to each other; those of wide elements read so, which took less time.
        let [left, top] = if T::WORDS < 4 {
            let down = height.div_ceil(side).max(1);
            [block / down * side, block % down * side]
        } else {
            let across = width.div_ceil(side).max(1);
            [block % across * side, block / across * side]
        };
        // This thread's column of the tile, and its row in every step.
        let [u, v] = [thread::thread_idx_x() % side, thread::thread_idx_x() / side];
        let rows = Transpose::<T>::BLOCK / side;
        let steps = side / rows;
        let place = |row: u32, column: u32| tile.wrapping_add((row * (side + 1) + column) as usize);
        // SAFETY: the whole block comes here; memory is as the caller promised, and every index is checked.
        unsafe {
            if left + side <= width && top + side <= height {
                for k in 0..steps {
                    let y = v + k * rows;
                    place(y, u).write(args.from.load_constant((top + y) * width + left + u));
                }
                thread::sync_threads();
                for k in 0..steps {
                    let x = v + k * rows;
                    args.to.store((left + x) * height + top + u, place(u, x).read());
                }
            } else {
                for k in 0..steps {
                    let y = v + k * rows;
                    if left + u < width && top + y < height {
                        place(y, u).write(args.from.load_constant((top + y) * width + left + u));
                    }
                }
                thread::sync_threads();
                for k in 0..steps {
                    let x = v + k * rows;
                    if left + x < width && top + u < height {
                        args.to.store((left + x) * height + top + u, place(u, x).read());
                    }
                }
            }
        }
    }
}
