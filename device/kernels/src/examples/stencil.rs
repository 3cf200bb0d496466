//! Heat spreading in a plate whose border lets none through: the explicit five-point scheme.
//!
//! A cell becomes u + rate·(left + right + above + below − 4·u). Beyond the border a cell's neighbour is the cell itself.
//! Roundings are the same everywhere, so that the results are the same bits.

use cuda_std::float::{add_rn, fma_rn};
use device::primitives::Ptr;

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
            unsafe { args.to.at(y as u32 * args.width + x as u32).write(value) };
        }
    }

    /// Where the block's piece begins, if pieces of such width and height cover the plate, row by row.
    #[inline(always)]
    fn piece(args: &HeatArgs, width: u32, height: u32) -> (i32, i32) {
        let across = args.width.div_ceil(width).max(1);
        let (row, column) = (thread::block_idx_x() / across, thread::block_idx_x() % across);
        ((column * width) as i32, (row * height) as i32)
    }

    /// A thread a cell: five loads, of which the cache serves most.
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

    /// Calls `work` for each number below `n`, by all threads of the block.
    #[inline(always)]
    fn each(n: u32, mut work: impl FnMut(u32)) {
        let mut i = thread::thread_idx_x();
        while i < n {
            work(i);
            i += BLOCK;
        }
    }

    /// The four neighbours of cell `i` in shared memory whose rows are `width` apart.
    #[inline(always)]
    unsafe fn around(cells: *const f32, i: u32, width: u32) -> [f32; 4] {
        // SAFETY: the caller's cell is inside.
        unsafe { [i - 1, i + 1, i - width, i + width].map(|i| cells.add(i as usize).read()) }
    }

    /// A block loads its piece and a cell more on each side, the halo, into shared memory.
    ///
    /// # Safety
    /// As [`twin`](super); blocks of [`BLOCK`] threads, one for each piece of [`TILE`] cells.
    #[kernel]
    pub unsafe fn heat_shared(args: HeatArgs) {
        const WIDTH: u32 = TILE.0 + 2;
        const ALL: u32 = WIDTH * (TILE.1 + 2);
        let cells = shared_array![f32; ALL as usize];
        let (left, top) = piece(&args, TILE.0, TILE.1);
        // SAFETY: indices are below the array's length; a barrier is between writing and reading.
        unsafe {
            each(ALL, |i| {
                let (x, y) = ((i % WIDTH) as i32, (i / WIDTH) as i32);
                cells.add(i as usize).write(cell(&args, left + x - 1, top + y - 1));
            });
            thread::sync_threads();
            each(TILE.0 * TILE.1, |i| {
                let (x, y) = (i % TILE.0, i / TILE.0);
                let at = (y + 1) * WIDTH + x + 1;
                let value = later(cells.add(at as usize).read(), around(cells, at, WIDTH), args.rate);
                write(&args, left + x as i32, top + y as i32, value);
            });
        }
    }

    /// Several steps on one piece in shared memory, so that global memory is read and written once for all of them. What
    /// the halo lacks is computed twice, by the neighbouring blocks.
    ///
    /// # Safety
    /// As [`twin`](super); blocks of [`BLOCK`] threads, one for each piece of [`REGION`] less [`STEPS`] on each side.
    #[kernel]
    pub unsafe fn heat_steps(args: HeatArgs) {
        const ALL: u32 = REGION.0 * REGION.1;
        let cells = shared_array![f32; 2 * ALL as usize];
        // Where this step's temperatures are, and the next one's.
        let (mut now, mut next) = (0, ALL);
        let (left, top) = piece(&args, REGION.0 - 2 * STEPS, REGION.1 - 2 * STEPS);
        let (left, top) = (left - STEPS as i32, top - STEPS as i32);
        let place = |i: u32| ((i % REGION.0) as i32, (i / REGION.0) as i32);
        // SAFETY: indices are below the arrays' length; barriers are between writing and reading.
        unsafe {
            each(ALL, |i| {
                let (x, y) = place(i);
                cells.add(i as usize).write(cell(&args, left + x, top + y));
            });
            for step in 1..=STEPS as i32 {
                thread::sync_threads();
                let inside = |at: i32, side: u32| (step..side as i32 - step).contains(&at);
                each(ALL, |i| {
                    let (x, y) = place(i);
                    if !inside(x, REGION.0) || !inside(y, REGION.1) {
                        return;
                    }
                    let (px, py) = (left + x, top + y);
                    let other =
                        |beyond: bool, j: u32| cells.add((now + if beyond { i } else { j }) as usize).read();
                    let around = [
                        other(px == 0, i - 1),
                        other(px == args.width as i32 - 1, i + 1),
                        other(py == 0, i - REGION.0),
                        other(py == args.height as i32 - 1, i + REGION.0),
                    ];
                    let value = later(cells.add((now + i) as usize).read(), around, args.rate);
                    if step == STEPS as i32 {
                        write(&args, px, py, value);
                    } else {
                        cells.add((next + i) as usize).write(value);
                    }
                });
                (now, next) = (next, now);
            }
        }
    }
}
