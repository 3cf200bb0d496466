//! Operations of the threads of a block together: tiles of memory in rows of quads, sums over a block, scans over a block.

use core::arch::asm;
use core::array;

use bytemuck::Pod;
use cuda_std::{mem, thread, warp};

use super::{Element, Operator, Ptr, Quad, Sum, WARP};

/// Runs a block for `$k` from 0 to `$n` − 1 ≤ 31, each written out: what `$k` indexes stays in registers, however long the
/// block is.
macro_rules! unrolled {
    ($k:ident < $n:expr, $body:block) => {
        unrolled!(@ $k $n, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
    };
    (@ $k:ident $n:expr, $body:block, $($i:literal)*) => {
        $(if $i < $n {
            #[allow(non_upper_case_globals, reason = "a variable of a loop")]
            const $k: usize = $i;
            $body
        })*
    };
}
pub(super) use unrolled;

/// This thread's warp in its block.
#[inline(always)]
pub(super) fn warp_id() -> u32 {
    thread::thread_idx_x() / WARP
}

/// Where this thread's quad in row 0 of a tile begins. A warp has `ROWS` rows of 128 elements one after the other, and a
/// thread four neighbours in each, so that a warp reads whole lines.
#[inline(always)]
pub(super) fn first_of<const ROWS: usize>() -> u32 {
    warp_id() * (128 * ROWS as u32) + warp::lane_id() * 4
}

/// The same number, opaque to the compiler: values that depend on it are computed again rather than kept in registers.
#[inline(always)]
pub(super) fn again(x: u32) -> u32 {
    let same;
    // SAFETY: a move between registers.
    unsafe {
        asm!("mov.b32 {}, {};", out(reg32) same, in(reg32) x, options(pure, nomem, nostack, preserves_flags));
    }
    same
}

/// Reads a word of 4 or 8 bytes, or nothing if `T` has no bytes.
///
/// # Safety
/// It is there, in global memory.
#[inline(always)]
pub(super) unsafe fn load_word<T: Pod>(from: Ptr<T>, i: u32) -> T {
    const { assert!(matches!(size_of::<T>(), 0 | 4 | 8), "not a word") };
    let mut value = T::zeroed();
    let to = &raw mut value;
    // SAFETY: as the caller promised; the sizes are the same.
    unsafe {
        match size_of::<T>() {
            4 => to.cast::<u32>().write(from.cast().load(i)),
            8 => to.cast::<u64>().write(from.cast().load(i)),
            _ => {}
        }
    }
    value
}

/// Writes a word as [`load_word`] reads it.
///
/// # Safety
/// There is room for it, in global memory, which is this thread's.
#[inline(always)]
pub(super) unsafe fn store_word<T: Pod>(to: Ptr<T>, i: u32, value: T) {
    const { assert!(matches!(size_of::<T>(), 0 | 4 | 8), "not a word") };
    let from = &raw const value;
    // SAFETY: as the caller promised; the sizes are the same.
    unsafe {
        match size_of::<T>() {
            4 => to.cast().store(i, from.cast::<u32>().read()),
            8 => to.cast().store(i, from.cast::<u64>().read()),
            _ => {}
        }
    }
}

/// This thread's elements of the tile that begins at `tile`; those at `n` and beyond are `other`.
///
/// # Safety
/// `input` has `n` elements, is aligned to 16 bytes, and nothing writes them; `tile` is a multiple of 4.
#[inline(always)]
pub(super) unsafe fn load_rows<T: Element, const ROWS: usize>(
    input: Ptr<T>,
    tile: u32,
    n: u32,
    other: T,
) -> [[T; 4]; ROWS] {
    let first = tile + first_of::<ROWS>();
    let mut rows = [[other; 4]; ROWS];
    if n - tile >= ROWS as u32 * 4 * thread::block_dim_x() {
        for k in 0..ROWS {
            // SAFETY: the tile is full.
            rows[k] = unsafe { mem::ldg(input.at(first + 128 * k as u32).cast::<Quad<T>>()) }.0;
        }
    } else {
        for k in 0..ROWS {
            for j in 0..4 {
                let i = first + 128 * k as u32 + j as u32;
                if i < n {
                    // SAFETY: just checked.
                    rows[k][j] = unsafe { input.load_constant(i) };
                }
            }
        }
    }
    rows
}

/// Writes elements as [`load_rows`] reads them.
///
/// # Safety
/// `output` has room for `n` elements, is aligned to 16 bytes, and no other thread writes these.
#[inline(always)]
pub(super) unsafe fn store_rows<T: Element, const ROWS: usize>(
    output: Ptr<T>,
    tile: u32,
    n: u32,
    rows: &[[T; 4]; ROWS],
) {
    let first = tile + first_of::<ROWS>();
    if n - tile >= ROWS as u32 * 4 * thread::block_dim_x() {
        for k in 0..ROWS {
            // SAFETY: the tile is full.
            unsafe { mem::st(output.at(first + 128 * k as u32).cast(), Quad(rows[k])) };
        }
    } else {
        for k in 0..ROWS {
            for j in 0..4 {
                let i = first + 128 * k as u32 + j as u32;
                if i < n {
                    // SAFETY: just checked.
                    unsafe { output.store(i, rows[k][j]) };
                }
            }
        }
    }
}

/// `op` over the values of the lanes before this one, and over all lanes.
///
/// # Safety
/// All 32 lanes call this together.
#[inline(always)]
pub(super) unsafe fn scan_warp<O: Operator>(value: O::Value) -> (O::Value, O::Value) {
    // SAFETY: as the caller promised.
    unsafe {
        let inclusive = warp::scan_inclusive(value, O::combine);
        let before = warp::shuffle_up(warp::FULL_MASK, inclusive, 1);
        let total = warp::shuffle_idx(warp::FULL_MASK, inclusive, WARP - 1);
        (if warp::lane_id() == 0 { O::IDENTITY } else { before }, total)
    }
}

/// `op` over the `value`s of the warps before this one, and over all warps of the block. A value is the same in all lanes
/// of a warp. The block must synchronise before `totals` is used again.
///
/// # Safety
/// All threads of the block call this together; `totals` is shared memory for a value a warp, `warps` of them, ≤ 32.
#[inline(always)]
pub(super) unsafe fn scan_warps<O: Operator>(
    value: O::Value,
    totals: *mut O::Value,
    warps: u32,
) -> (O::Value, O::Value) {
    let lane = warp::lane_id();
    // SAFETY: as the caller promised.
    unsafe {
        if lane == 0 {
            totals.add(warp_id() as usize).write(value);
        }
        thread::sync_threads();
        let of_lane = if lane < warps { totals.add(lane as usize).read() } else { O::IDENTITY };
        let (before, total) = scan_warp::<O>(of_lane);
        (warp::shuffle_idx(warp::FULL_MASK, before, warp_id()), total)
    }
}

/// Number of bits that are set in a tile before each of this thread's quads, and in total. A thread has a bit for each
/// element, four for each row, the first ones lowest. The block must synchronise before `totals` is used again.
///
/// # Safety
/// All threads of the block call this together; `totals` is shared memory for a word a warp, `warps` of them, ≤ 32.
#[inline(always)]
pub(super) unsafe fn ranks<const ROWS: usize>(bits: u32, totals: *mut u32, warps: u32) -> ([u32; ROWS], u32) {
    const { assert!(ROWS <= 8 && ROWS % 2 == 0, "a word has eight groups of four bits") };
    // Bits of each quad, counted where they are: pairs of bits, and then pairs of these.
    let pairs = bits - (bits >> 1 & 0x5555_5555);
    let counts = (pairs & 0x3333_3333) + (pairs >> 2 & 0x3333_3333);
    // A byte a row, first those of even rows: of 128 elements in a row of a warp, no count is more than that.
    let [even, odd] = [counts & 0x0f0f_0f0f, counts >> 4 & 0x0f0f_0f0f];
    let byte = |counts: u64, k: usize| (counts >> (8 * (k / 2 + k % 2 * (ROWS / 2)))) as u32 % 256;
    // SAFETY: as the caller promised.
    unsafe {
        let (before, all) = if ROWS <= 4 {
            let (before, all) = scan_warp::<Sum<u32>>(even | odd << (4 * ROWS));
            (u64::from(before), u64::from(all))
        } else {
            scan_warp::<Sum<u64>>(u64::from(even) | u64::from(odd) << 32)
        };
        let mut of_warp = 0;
        let in_warp: [u32; ROWS] = array::from_fn(|k| {
            let before = of_warp + byte(before, k);
            of_warp += byte(all, k);
            before
        });
        let (before_warp, of_tile) = scan_warps::<Sum<u32>>(of_warp, totals, warps);
        (in_warp.map(|before| before_warp + before), of_tile)
    }
}
