//! Heat conduction in an insulated plate: the explicit five-point scheme.
//!
//! A cell becomes u + rate·(left + right + above + below − 4·u). Beyond the border a cell's neighbour is the cell itself.
//! Roundings are the same everywhere, so that the results are the same bits.

use cuda_std::float::{add_rn, fma_rn};
use primitives::Ptr;

/// Threads of a block.
pub(crate) const BLOCK: u32 = 256;
/// Width and height of the piece of plate that a block of `heat_naive` computes, a thread a cell.
pub(crate) const CELLS: (u32, u32) = (32, 8);
/// Width and height of the piece that a block of `heat_shared` computes.
pub(crate) const TILE: (u32, u32) = (64, 16);
/// Width and height of the piece that a block of `heat_steps` reads.
pub(crate) const REGION: (u32, u32) = (64, 64);
/// Steps that `heat_steps` does in one launch. The piece that is right shrinks by a cell on each side for each.
pub(crate) const STEPS: u32 = 4;

/// Arguments of every kernel here, and of [`twin`].
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct HeatArgs {
    /// Temperatures, row by row.
    pub(crate) from: Ptr<f32>,
    /// Temperatures a time step later; for `heat_steps`, [`STEPS`].
    pub(crate) to: Ptr<f32>,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Diffusivity · time step / (width of a cell)²: at most ¼, or the scheme is not stable.
    pub(crate) rate: f32,
}

/// A cell a time step later.
#[inline(always)]
fn later(here: f32, [left, right, above, below]: [f32; 4], rate: f32) -> f32 {
    let around = add_rn(add_rn(left, right), add_rn(above, below));
    fma_rn(rate, fma_rn(-4.0, here, around), here)
}

/// A time step, cell after cell.
///
/// # Safety
/// Both arrays have width · height numbers, and nobody else uses them meanwhile.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) unsafe fn twin(args: &HeatArgs) {
    let &HeatArgs { width, height, .. } = args;
    // SAFETY: as the caller promised.
    let (from, to) = unsafe { (args.from.slice(width * height), args.to.slice_mut(width * height)) };
    let at = |x: u32, y: u32| from[(y * width + x) as usize];
    for y in 0..height {
        for x in 0..width {
            let around = [
                at(x.saturating_sub(1), y),
                at((x + 1).min(width - 1), y),
                at(x, y.saturating_sub(1)),
                at(x, (y + 1).min(height - 1)),
            ];
            to[(y * width + x) as usize] = later(at(x, y), around, args.rate);
        }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use super::*;
    use cuda_std::{kernel, mem, shared_array, thread};

    /// The cell at (x, y); beyond the border, the nearest one.
    #[inline(always)]
    unsafe fn cell(args: &HeatArgs, x: i32, y: i32) -> f32 {
        let x = x.max(0).min(args.width as i32 - 1) as u32;
        let y = y.max(0).min(args.height as i32 - 1) as u32;
        // SAFETY: it is in the plate, which has such cells; this launch does not write them.
        unsafe { mem::ldg(args.from.at(y * args.width + x)) }
    }

    #[inline(always)]
    unsafe fn write(args: &HeatArgs, x: i32, y: i32, value: f32) {
        if (0..args.width as i32).contains(&x) && (0..args.height as i32).contains(&y) {
            // SAFETY: it is in the plate.
            unsafe { mem::st(args.to.at(y as u32 * args.width + x as u32), value) };
        }
    }

    /// Where the block's piece begins, if pieces of such width and height cover the plate, row by row.
    #[inline(always)]
    fn piece(args: &HeatArgs, width: u32, height: u32) -> (i32, i32) {
        let across = args.width.div_ceil(width).max(1);
        let (row, column) = (thread::block_idx_x() / across, thread::block_idx_x() % across);
        ((column * width) as i32, (row * height) as i32)
    }

    /// One cell per thread: five loads, most of which hit the cache.
    ///
    /// # Safety
    /// As [`twin`](super); blocks of [`BLOCK`] threads, one for each piece of [`CELLS`].
    #[kernel]
    pub unsafe fn heat_naive(args: HeatArgs) {
        let (left, top) = piece(&args, CELLS.0, CELLS.1);
        let me = thread::thread_idx_x();
        let (x, y) = (left + (me % CELLS.0) as i32, top + (me / CELLS.0) as i32);
        // SAFETY: the launch's promise.
        unsafe {
            let around =
                [cell(&args, x - 1, y), cell(&args, x + 1, y), cell(&args, x, y - 1), cell(&args, x, y + 1)];
            write(&args, x, y, later(cell(&args, x, y), around, args.rate));
        }
    }

    /// Threads in a row of a piece of [`TILE`] or [`REGION`]; each computes cells of one column.
    const COLUMNS: u32 = TILE.0;
    /// Rows that a block's threads are at a time.
    const ROWS: u32 = BLOCK / COLUMNS;

    const _: () = assert!(BLOCK == CELLS.0 * CELLS.1 && REGION.0 == COLUMNS && BLOCK.is_multiple_of(COLUMNS));

    /// A block loads its piece and a cell more on each side, the halo, into shared memory.
    ///
    /// # Safety
    /// As [`twin`](super); blocks of [`BLOCK`] threads, one for each piece of [`TILE`] cells.
    #[kernel]
    pub unsafe fn heat_shared(args: HeatArgs) {
        const WIDTH: u32 = TILE.0 + 2;
        const HEIGHT: u32 = TILE.1 + 2;
        let cells = shared_array![f32; (WIDTH * HEIGHT) as usize];
        let (left, top) = piece(&args, TILE.0, TILE.1);
        let me = thread::thread_idx_x();
        let (x, row) = (me % COLUMNS, me / COLUMNS);
        // SAFETY: indices are below the array's length; a barrier is between writing and reading.
        unsafe {
            let load = |x: u32, y: u32| {
                let value = cell(&args, left + x as i32 - 1, top + y as i32 - 1);
                cells.add((y * WIDTH + x) as usize).write(value);
            };
            let mut y = row;
            while y < HEIGHT {
                load(x + 1, y);
                y += ROWS;
            }
            if me < 2 * HEIGHT {
                load(me % 2 * (WIDTH - 1), me / 2);
            }
            thread::sync_threads();
            let get = |i: u32| cells.add(i as usize).read();
            let mut y = row;
            while y < TILE.1 {
                let at = (y + 1) * WIDTH + x + 1;
                let around = [get(at - 1), get(at + 1), get(at - WIDTH), get(at + WIDTH)];
                write(&args, left + x as i32, top + y as i32, later(get(at), around, args.rate));
                y += ROWS;
            }
        }
    }

    /// Cells that a thread of `heat_steps` computes, one below the other.
    const RUN: u32 = REGION.0 * REGION.1 / BLOCK;

    /// A thread's cells of a piece in shared memory, a step later. `write` gets each row, and the value there.
    ///
    /// Beyond the plate, where there may be cells in the piece if it has a `BORDER`, there is nothing: a cell's neighbour is
    /// the cell itself.
    ///
    /// # Safety
    /// `cells` has a row before the piece and one after it; nobody writes it meanwhile.
    #[inline(always)]
    unsafe fn march<const BORDER: bool>(
        args: &HeatArgs,
        (left, top): (i32, i32),
        cells: *const f32,
        mut write: impl FnMut(u32, f32),
    ) {
        let (x, first) = (thread::thread_idx_x() % COLUMNS, thread::thread_idx_x() / COLUMNS * RUN);
        let (px, py) = (left + x as i32, top + first as i32);
        // SAFETY: rows from the one before the piece to the one after it.
        let get = |x: u32, row: u32| unsafe { cells.add(((row + 1) * REGION.0 + x) as usize).read() };
        let or = |beyond: bool, here: f32, there: f32| if BORDER && beyond { here } else { there };
        let (mut above, mut here) = (get(x, first.wrapping_sub(1)), get(x, first));
        for k in 0..RUN {
            let (row, y) = (first + k, py + k as i32);
            let below = get(x, row + 1);
            let around = [
                or(px == 0, here, get(x.wrapping_sub(1), row)),
                or(px == args.width as i32 - 1, here, get(x + 1, row)),
                or(y == 0, here, above),
                or(y == args.height as i32 - 1, here, below),
            ];
            write(row, later(here, around, args.rate));
            (above, here) = (here, below);
        }
    }

    /// Several steps on one piece in shared memory, so that global memory is read and written once for all of them. At an
    /// edge of the piece the first of them has no neighbours, so what it finds there is wrong, and that moves inwards by a
    /// cell a step; the neighbouring blocks compute those cells too, and rightly.
    ///
    /// # Safety
    /// As [`twin`](super); blocks of [`BLOCK`] threads, one for each piece of [`REGION`] less [`STEPS`] on each side.
    #[kernel]
    pub unsafe fn heat_steps(args: HeatArgs) {
        /// Numbers of a piece, with a row before it and one after it.
        const ALL: u32 = REGION.0 * (REGION.1 + 2);
        let pieces = shared_array![f32; 2 * ALL as usize];
        let (left, top) = piece(&args, REGION.0 - 2 * STEPS, REGION.1 - 2 * STEPS);
        let (left, top) = (left - STEPS as i32, top - STEPS as i32);
        let is_inside = |begin: i32, side: u32, all: u32| begin >= 0 && begin + side as i32 <= all as i32;
        let is_inside = is_inside(left, REGION.0, args.width) && is_inside(top, REGION.1, args.height);
        let me = thread::thread_idx_x();
        let x = me % COLUMNS;
        // SAFETY: indices are below the array's length; barriers are between writing and reading.
        unsafe {
            let mut y = me / COLUMNS;
            while y < REGION.1 + 2 {
                let value = cell(&args, left + x as i32, top + y as i32 - 1);
                pieces.add((y * REGION.0 + x) as usize).write(value);
                pieces.add((ALL + y * REGION.0 + x) as usize).write(value);
                y += ROWS;
            }
            for step in 0..STEPS - 1 {
                thread::sync_threads();
                let (now, next) = (pieces.add((step % 2 * ALL) as usize), (step + 1) % 2 * ALL);
                let put = |row: u32, value: f32| {
                    pieces.add((next + (row + 1) * REGION.0 + x) as usize).write(value)
                };
                if is_inside {
                    march::<false>(&args, (left, top), now, put);
                } else {
                    march::<true>(&args, (left, top), now, put);
                }
            }
            thread::sync_threads();
            let inner = |at: u32, side: u32| (STEPS..side - STEPS).contains(&at);
            if inner(x, REGION.0) {
                march::<true>(
                    &args,
                    (left, top),
                    pieces.add(((STEPS - 1) % 2 * ALL) as usize),
                    |row, value| {
                        if inner(row, REGION.1) {
                            write(&args, left + x as i32, top + row as i32, value);
                        }
                    },
                );
            }
        }
    }
}
