//! C = A·B for matrices of any size, whose rows lie one after the other.

use primitives::Ptr;

/// Arguments of every kernel here, and of [`twin`].
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct MatmulArgs {
    /// `m` rows of `k` numbers.
    pub(crate) a: Ptr<f32>,
    /// `k` rows of `n` numbers.
    pub(crate) b: Ptr<f32>,
    /// `m` rows of `n` numbers.
    pub(crate) c: Ptr<f32>,
    pub(crate) m: u32,
    pub(crate) k: u32,
    pub(crate) n: u32,
}

/// Side of the square of C that one block of `matmul_naive` and `matmul_tiled` computes.
pub(crate) const TILE: u32 = 16;
/// Side of the square of C that a block of `matmul_blocked` computes, with [`THREADS`] threads.
pub(crate) const SQUARE: u32 = 128;
/// Threads of every block here.
pub(crate) const THREADS: u32 = 256;

const _: () = assert!(THREADS == TILE * TILE);

/// Sequential equivalent of the kernels, row after row of C.
///
/// # Safety
/// The matrices are as large as said, and nobody else uses them meanwhile.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) unsafe fn twin(args: &MatmulArgs) {
    let &MatmulArgs { m, k, n, .. } = args;
    // SAFETY: as the caller promised.
    let (a, b, c) = unsafe { (args.a.slice(m * k), args.b.slice(k * n), args.c.slice_mut(m * n)) };
    for i in 0..m as usize {
        let row = &mut c[i * n as usize..][..n as usize];
        row.fill(0.0);
        for l in 0..k as usize {
            let factor = a[i * k as usize + l];
            for (sum, b) in row.iter_mut().zip(&b[l * n as usize..]) {
                *sum += factor * b;
            }
        }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use super::*;
    use cuda_std::{kernel, mem, shared_array, thread};
    use primitives::Quad;

    /// A matrix of so many rows and columns.
    #[derive(Clone, Copy)]
    struct Matrix {
        numbers: Ptr<f32>,
        rows: u32,
        columns: u32,
    }

    impl Matrix {
        /// The number at a place; outside, zero, which adds nothing.
        #[inline(always)]
        unsafe fn get(self, row: u32, column: u32) -> f32 {
            if row < self.rows && column < self.columns {
                // SAFETY: just checked; nobody writes a factor.
                unsafe { mem::ldg(self.numbers.at(row * self.columns + column)) }
            } else {
                0.0
            }
        }

        /// Four neighbours in a row, in one load where they are all inside and aligned. `column` is a multiple of 4.
        #[inline(always)]
        unsafe fn quad(self, row: u32, column: u32) -> [f32; 4] {
            // SAFETY: just checked, and as above.
            unsafe {
                if self.columns % 4 == 0 && row < self.rows && column < self.columns {
                    mem::ldg(self.numbers.at(row * self.columns + column).cast::<Quad<f32>>()).0
                } else {
                    core::array::from_fn(|j| self.get(row, column + j as u32))
                }
            }
        }
    }

    #[inline(always)]
    fn factors(args: &MatmulArgs) -> (Matrix, Matrix) {
        let &MatmulArgs { a, b, m, k, n, .. } = args;
        (Matrix { numbers: a, rows: m, columns: k }, Matrix { numbers: b, rows: k, columns: n })
    }

    #[inline(always)]
    unsafe fn write(args: &MatmulArgs, row: u32, column: u32, value: f32) {
        if row < args.m && column < args.n {
            // SAFETY: just checked.
            unsafe { mem::st(args.c.at(row * args.n + column), value) };
        }
    }

    /// Four neighbours in a row, in one store where they are all inside and aligned. `column` is a multiple of 4.
    #[inline(always)]
    unsafe fn write_quad(args: &MatmulArgs, row: u32, column: u32, values: [f32; 4]) {
        // SAFETY: just checked.
        unsafe {
            if args.n % 4 != 0 {
                (0..4).for_each(|j| write(args, row, column + j, values[j as usize]));
            } else if row < args.m && column < args.n {
                mem::st(args.c.at(row * args.n + column).cast(), Quad(values));
            }
        }
    }

    /// The row and the column of C where the block's square of such a side begins.
    #[inline(always)]
    fn corner(args: &MatmulArgs, side: u32) -> (u32, u32) {
        let across = args.n.div_ceil(side).max(1);
        (thread::block_idx_x() / across * side, thread::block_idx_x() % across * side)
    }

    /// This thread's row and column in a square of [`TILE`].
    #[inline(always)]
    fn place() -> (u32, u32) {
        (thread::thread_idx_x() / TILE, thread::thread_idx_x() % TILE)
    }

    /// A thread an element of C: two loads for each product.
    ///
    /// # Safety
    /// As [`twin`](super); a block of [`THREADS`] threads for each square of [`TILE`].
    #[kernel]
    pub unsafe fn matmul_naive(args: MatmulArgs) {
        let (a, b) = factors(&args);
        let (row, column) = corner(&args, TILE);
        let (row, column) = (row + place().0, column + place().1);
        let mut sum = 0.0;
        for l in 0..args.k {
            // SAFETY: the launch's promise.
            sum += unsafe { a.get(row, l) * b.get(l, column) };
        }
        // SAFETY: as above.
        unsafe { write(&args, row, column, sum) };
    }

    /// A block reads squares of A and B into shared memory, where each number is used [`TILE`] times.
    ///
    /// # Safety
    /// As [`matmul_naive`].
    #[kernel]
    pub unsafe fn matmul_tiled(args: MatmulArgs) {
        let tile_a = shared_array![f32; (TILE * TILE) as usize];
        let tile_b = shared_array![f32; (TILE * TILE) as usize];
        let (a, b) = factors(&args);
        let (i, j) = place();
        let (row, column) = corner(&args, TILE);
        let (row, column) = (row + i, column + j);
        let mut sum = 0.0;
        let mut l = 0;
        // SAFETY: the launch's promise; barriers are between writing and reading.
        unsafe {
            while l < args.k {
                let at = (i * TILE + j) as usize;
                tile_a.add(at).write(a.get(row, l + j));
                tile_b.add(at).write(b.get(l + i, column));
                thread::sync_threads();
                for t in 0..TILE {
                    sum += tile_a.add((i * TILE + t) as usize).read()
                        * tile_b.add((t * TILE + j) as usize).read();
                }
                thread::sync_threads();
                l += TILE;
            }
            write(&args, row, column, sum);
        }
    }

    /// Columns of A and rows of B that `matmul_blocked` has in shared memory at a time.
    const DEPTH: u32 = 8;
    /// Numbers of a slice: [`DEPTH`] rows of [`SQUARE`].
    const SLICE: u32 = DEPTH * SQUARE;

    /// A statement for each of these numbers without a loop: what an array holds is in registers only if every index is known.
    macro_rules! unrolled {
        ($i:ident in $($value:literal)* => $body:expr) => {
            $({
                let $i = $value;
                $body;
            })*
        };
    }

    /// Each thread computes 8 × 8 elements, four squares of 4 × 4, in registers: 16 numbers from shared memory are worth 64
    /// products. Memory is read for the next slice while this one is multiplied.
    ///
    /// # Safety
    /// As [`twin`](super); a block of [`THREADS`] threads for each square of [`SQUARE`].
    #[kernel]
    pub unsafe fn matmul_blocked(args: MatmulArgs) {
        let slices_a = shared_array![Quad<f32>; (2 * SLICE / 4) as usize].cast::<f32>();
        let slices_b = shared_array![Quad<f32>; (2 * SLICE / 4) as usize].cast::<f32>();
        let me = thread::thread_idx_x();
        let (a, b) = factors(&args);
        let (top, left) = corner(&args, SQUARE);
        // What this thread moves: four numbers of a row of A, and of a row of B.
        let (row_a, column_a) = (me / 2, me % 2 * 4);
        let (row_b, column_b) = (me / 32, me % 32 * 4);
        // What it computes: rows and columns from here on, and 64 further. The lanes of a warp are 4 × 8 places, so that what
        // they read from shared memory at a time is at most 128 bytes, which is as much as it gives at a time.
        let (warp, lane) = (me / 32, me % 32);
        let (i, j) = ((warp / 2 * 4 + lane / 8) * 4, (warp % 2 * 8 + lane % 8) * 4);
        // SAFETY: the launch's promise; barriers are between writing and reading.
        unsafe {
            let load = |l: u32| (a.quad(top + row_a, l + column_a), b.quad(l + row_b, left + column_b));
            let store = |slice: u32, (from_a, from_b): ([f32; 4], [f32; 4])| {
                for (t, value) in from_a.into_iter().enumerate() {
                    slices_a.add((slice + (column_a + t as u32) * SQUARE + row_a) as usize).write(value);
                }
                let to = slices_b.add((slice + row_b * SQUARE + column_b) as usize);
                to.cast::<Quad<f32>>().write(Quad(from_b));
            };
            let eight = |slices: *mut f32, at: u32| -> [f32; 8] {
                let [near, far] =
                    [at, at + SQUARE / 2].map(|at| slices.add(at as usize).cast::<Quad<f32>>().read().0);
                [near[0], near[1], near[2], near[3], far[0], far[1], far[2], far[3]]
            };

            let mut sums = [[0.0_f32; 8]; 8];
            let (mut l, mut slice) = (0, 0);
            store(slice, load(0));
            thread::sync_threads();
            while l < args.k {
                l += DEPTH;
                let next = if l < args.k { load(l) } else { ([0.0; 4], [0.0; 4]) };
                for t in (0..DEPTH).step_by(2) {
                    // Two at a time: the second's loads are on their way while the first's products are computed.
                    unrolled!(next in 0 1 => {
                        let row = eight(slices_a, slice + (t + next) * SQUARE + i);
                        let column = eight(slices_b, slice + (t + next) * SQUARE + j);
                        unrolled!(di in 0 1 2 3 4 5 6 7 => {
                            unrolled!(dj in 0 1 2 3 4 5 6 7 => sums[di][dj] += row[di] * column[dj]);
                        });
                    });
                }
                slice = SLICE - slice;
                store(slice, next);
                thread::sync_threads();
            }
            unrolled!(di in 0 1 2 3 4 5 6 7 => {
                let row = top + i + di as u32 % 4 + di as u32 / 4 * (SQUARE / 2);
                let [a, b, c, d, e, f, g, h] = sums[di];
                write_quad(&args, row, left + j, [a, b, c, d]);
                write_quad(&args, row, left + j + SQUARE / 2, [e, f, g, h]);
            });
        }
    }
}
