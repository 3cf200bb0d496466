//! Translucent circles, one over the other in their order.
//!
//! Each circle that a pixel's centre is in changes the pixel's colour, and the order matters. So a pixel is one thread's,
//! which meets the circles in their order. What makes that fast is to ask few circles: bins of 128 × 128 pixels have a bit
//! for each circle that may touch them, and each block of threads asks again, for its tile of 16 × 16 pixels, those of its
//! bin. Bits in a row and prefix sums keep the order.
//!
//! Arithmetic is the same on every machine, and so are the images. Whether a circle touches a square is computed with the
//! same roundings as whether a pixel is in it. Rounding never makes a lesser number the greater one, so no pixel of a square
//! that a circle does not touch is in that circle.

use cuda_std::float::{div_rn, fma_rn, mul_rn, sub_rn};
use primitives::Ptr;

/// Side of a bin, in pixels.
pub(crate) const BIN: u32 = 128;
/// Side of a tile, in pixels.
pub(crate) const TILE: u32 = 16;
/// Threads of a block that draws a tile.
pub(crate) const DRAW_BLOCK: u32 = TILE * TILE / PIXELS;
/// Threads of a block that fills bins.
pub(crate) const BIN_BLOCK: u32 = 256;
/// Neighbours in a row that a thread draws.
const PIXELS: u32 = 4;

const _: () = assert!(BIN.is_multiple_of(TILE) && (DRAW_BLOCK | BIN_BLOCK).is_multiple_of(32));

/// A circle. Lengths are in pixels; the centre of the first pixel is at (½, ½).
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(16))]
pub(crate) struct Circle {
    pub(crate) x: f32,
    pub(crate) y: f32,
    /// More than 2⁻²⁰.
    pub(crate) radius: f32,
    /// At the centre, 0 … 1.
    pub(crate) opacity: f32,
    pub(crate) color: [f32; 3],
    /// 0: equally opaque everywhere; 1: not at all at the rim. Between them opacity · (1 − softness · d²/r²)².
    pub(crate) softness: f32,
}

/// Arguments of both kernels.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct CirclesArgs {
    pub(crate) circles: Ptr<Circle>,
    /// For each bin, row by row, a bit for each circle.
    pub(crate) bins: Ptr<u64>,
    /// Red, green, blue, and 1, row by row; aligned to 16 bytes.
    pub(crate) image: Ptr<[f32; 4]>,
    /// Number of circles.
    pub(crate) count: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Background colour, on which the circles are painted.
    pub(crate) background: [f32; 3],
}

impl CirclesArgs {
    /// Words of a bin's bits.
    pub(crate) fn words(&self) -> u32 {
        self.count.div_ceil(64)
    }

    /// Number of bins.
    pub(crate) fn bins(&self) -> u32 {
        self.width.div_ceil(BIN) * self.height.div_ceil(BIN)
    }
}

impl Circle {
    /// d² of a point at these distances along the axes, with the rounding that all code here shares.
    #[inline(always)]
    fn square(dx: f32, dy: f32) -> f32 {
        fma_rn(dx, dx, mul_rn(dy, dy))
    }

    /// Whether the centre of any pixel of a square may be in the circle.
    #[cfg(any(target_arch = "nvptx64", test))]
    #[inline(always)]
    pub(crate) fn touches(&self, left: u32, top: u32, side: u32) -> bool {
        let nearest = |at: f32, from: u32| at.max(center(from)).min(center(from + side - 1));
        let dx = sub_rn(nearest(self.x, left), self.x);
        let dy = sub_rn(nearest(self.y, top), self.y);
        Self::square(dx, dy) <= mul_rn(self.radius, self.radius)
    }
}

/// Centre of a pixel along an axis. Exact.
#[inline(always)]
fn center(pixel: u32) -> f32 {
    pixel as f32 + 0.5
}

/// A circle, prepared for drawing.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Brush {
    x: f32,
    y: f32,
    /// The radius squared.
    square: f32,
    opacity: f32,
    /// The colour; times the opacity if that is the same everywhere.
    color: [f32; 3],
    /// The softness, and over the radius squared.
    falloff: f32,
}

impl Brush {
    #[inline(always)]
    fn new(circle: &Circle) -> Self {
        let &Circle { x, y, radius, opacity, color, softness } = circle;
        let square = mul_rn(radius, radius);
        let falloff = if softness == 0.0 { 0.0 } else { div_rn(softness, square) };
        let color = if falloff == 0.0 { color.map(|c| mul_rn(opacity, c)) } else { color };
        Self { x, y, square, opacity, color, falloff }
    }

    /// Factor on a colour under the circle, and the colour that the circle adds to it, at distance² `d2`.
    #[inline(always)]
    fn at(&self, d2: f32) -> (f32, [f32; 3]) {
        let root = fma_rn(-self.falloff, d2, 1.0);
        let opacity = mul_rn(self.opacity, mul_rn(root, root));
        (sub_rn(1.0, opacity), self.color.map(|c| mul_rn(opacity, c)))
    }

    /// As [`Brush::at`] where that is the same everywhere.
    #[inline(always)]
    fn everywhere(&self) -> Option<(f32, [f32; 3])> {
        (self.falloff == 0.0).then_some((sub_rn(1.0, self.opacity), self.color))
    }
}

/// A colour with a circle over it.
#[inline(always)]
fn over([r, g, b]: [f32; 3], (keep, [red, green, blue]): (f32, [f32; 3])) -> [f32; 3] {
    [fma_rn(keep, r, red), fma_rn(keep, g, green), fma_rn(keep, b, blue)]
}

/// Sequential equivalent of the kernels, one circle after the other, in the rows from `top` to `bottom`. Returns how often a
/// circle changed a pixel.
///
/// # Safety
/// There are that many circles, which nobody writes meanwhile, and `image` has room for all rows; nobody else uses these.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) unsafe fn twin(args: &CirclesArgs, top: u32, bottom: u32) -> u64 {
    let width = args.width;
    // SAFETY: as the caller promised.
    let (circles, rows) = unsafe {
        let first = Ptr::new(args.image.at(top * width));
        (args.circles.slice(args.count), first.slice_mut((bottom - top) * width))
    };
    let [r, g, b] = args.background;
    rows.fill([r, g, b, 1.0]);
    let mut painted = 0;
    for circle in circles {
        let brush = Brush::new(circle);
        // A pixel more on each side than can be inside.
        let range = |at: f32, from: u32, to: u32| {
            let begin = (at - circle.radius - 2.0).max(from as f32) as u32;
            begin..((at + circle.radius + 2.0).max(0.0) as u32).min(to)
        };
        for y in range(circle.y, top, bottom) {
            for x in range(circle.x, 0, width) {
                let d2 = Circle::square(sub_rn(center(x), brush.x), sub_rn(center(y), brush.y));
                if d2 <= brush.square {
                    let [r, g, b, _] = &mut rows[((y - top) * width + x) as usize];
                    [*r, *g, *b] = over([*r, *g, *b], brush.everywhere().unwrap_or_else(|| brush.at(d2)));
                    painted += 1;
                }
            }
        }
    }
    painted
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use super::*;
    use cuda_std::{kernel, mem, shared_array, thread, warp};
    use primitives::Quad;

    /// Fills the bins: a warp for 64 circles and 32 bins.
    ///
    /// # Safety
    /// As [`twin`](super), and `bins` has room; a warp for each word of each group of 32 bins.
    #[kernel]
    pub unsafe fn circles_bin(args: CirclesArgs) {
        let (groups, words) = (args.bins().div_ceil(32).max(1), args.words());
        let job = thread::index_1d() / 32;
        let (word, group) = (job / groups, job % groups);
        if word >= words {
            return;
        }
        let lane = warp::lane_id();
        let [first, second] = [word * 64 + lane, word * 64 + 32 + lane];
        let across = args.width.div_ceil(BIN).max(1);
        // SAFETY: the launch's promise; the whole warp is here.
        unsafe {
            let load = |i: u32| mem::ldg(args.circles.at(if i < args.count { i } else { 0 }));
            let circles = [load(first), load(second)];
            let mut mine = 0;
            for k in 0..32 {
                let bin = group * 32 + k;
                let (left, top) = (bin % across * BIN, bin / across * BIN);
                let touches = circles.map(|circle| circle.touches(left, top, BIN));
                let low = warp::ballot(warp::FULL_MASK, (first < args.count) & touches[0]);
                let high = warp::ballot(warp::FULL_MASK, (second < args.count) & touches[1]);
                let bits = u64::from(high) << 32 | u64::from(low);
                if k == lane {
                    mine = bits;
                }
            }
            if group * 32 + lane < args.bins() {
                mem::st(args.bins.at((group * 32 + lane) * words + word), mine);
            }
        }
    }

    /// Warps of a block that draws.
    const WARPS: u32 = DRAW_BLOCK / 32;
    /// Circles that a block finds before it draws them.
    const BATCH: u32 = 3 * DRAW_BLOCK;

    /// The sum of `count` in the threads before this one, and in all. `before` is that in the lanes before it. `totals` is
    /// shared memory for a number a warp; the block must synchronise before it is used again.
    #[inline(always)]
    unsafe fn in_block(before: u32, count: u32, totals: *mut u32) -> (u32, u32) {
        let warp = thread::thread_idx_x() / 32;
        // SAFETY: the caller is the whole block.
        unsafe {
            if warp::lane_id() == 31 {
                totals.add(warp as usize).write(before + count);
            }
            thread::sync_threads();
            let (mut before, mut all) = (before, 0);
            for w in 0..WARPS {
                let total = totals.add(w as usize).read();
                before += if w < warp { total } else { 0 };
                all += total;
            }
            (before, all)
        }
    }

    /// The pixels of a thread: neighbours in a row.
    struct Row {
        x: u32,
        y: u32,
        colors: [[f32; 3]; PIXELS as usize],
    }

    impl Row {
        /// This thread's, in the tile that begins there.
        #[inline(always)]
        fn new(left: u32, top: u32, background: [f32; 3]) -> Self {
            let (column, row) =
                (thread::thread_idx_x() % (TILE / PIXELS), thread::thread_idx_x() / (TILE / PIXELS));
            Self { x: left + column * PIXELS, y: top + row, colors: [background; PIXELS as usize] }
        }

        /// Draws `count` circles, in their order.
        #[inline(always)]
        unsafe fn draw(&mut self, brushes: *const Brush, count: u32) {
            for i in 0..count {
                // SAFETY: the caller has as many.
                let brush = unsafe { brushes.add(i as usize).read() };
                match brush.everywhere() {
                    Some(paint) => self.draw_one(&brush, |_| paint),
                    None => self.draw_one(&brush, |d2| brush.at(d2)),
                }
            }
        }

        #[inline(always)]
        fn draw_one(&mut self, brush: &Brush, paint: impl Fn(f32) -> (f32, [f32; 3])) {
            let dy = sub_rn(center(self.y), brush.y);
            for (k, color) in self.colors.iter_mut().enumerate() {
                let d2 = Circle::square(sub_rn(center(self.x + k as u32), brush.x), dy);
                if d2 <= brush.square {
                    *color = over(*color, paint(d2));
                }
            }
        }

        /// Writes the pixels that are in the image.
        #[inline(always)]
        unsafe fn write(self, args: &CirclesArgs) {
            for (k, [r, g, b]) in self.colors.into_iter().enumerate() {
                let x = self.x + k as u32;
                if x < args.width && self.y < args.height {
                    let at = args.image.at(self.y * args.width + x);
                    // SAFETY: just checked, and this thread's.
                    unsafe { mem::stcs(at.cast(), Quad([r, g, b, 1.0])) };
                }
            }
        }
    }

    /// Draws a tile: finds the circles that touch it, in their order, and draws them whenever enough are found.
    ///
    /// # Safety
    /// As [`twin`](super), after `circles_bin`; a block of [`DRAW_BLOCK`] threads for each tile, row by row.
    #[kernel]
    pub unsafe fn circles_draw(args: CirclesArgs) {
        let totals = shared_array![u32; 2 * WARPS as usize];
        let candidates = shared_array![u16; 64 * DRAW_BLOCK as usize];
        let brushes = shared_array![Brush; BATCH as usize];
        let across = args.width.div_ceil(TILE).max(1);
        let (left, top) = (thread::block_idx_x() % across * TILE, thread::block_idx_x() / across * TILE);
        let bin = top / BIN * args.width.div_ceil(BIN) + left / BIN;
        let me = thread::thread_idx_x();
        let mut row = Row::new(left, top, args.background);
        let words = args.words();
        let (mut found, mut first) = (0, 0);
        // SAFETY: the launch's promise. The whole block takes the same way; barriers are between writing and reading.
        unsafe {
            let load = |word: u32| if word < words { mem::ldg(args.bins.at(bin * words + word)) } else { 0 };
            let mut next = load(me);
            while first < words {
                // The circles of this thread's word, among those of all words of the round.
                let mut bits = next;
                next = load(first + DRAW_BLOCK + me);
                let here = bits.count_ones();
                let (mut at, count) = in_block(warp::scan_inclusive(here, |a, b| a + b) - here, here, totals);
                while bits != 0 {
                    candidates.add(at as usize).write((me * 64 + bits.trailing_zeros()) as u16);
                    at += 1;
                    bits &= bits - 1;
                }
                thread::sync_threads();
                let mut begin = 0;
                while begin < count {
                    if found + DRAW_BLOCK > BATCH {
                        row.draw(brushes, found);
                        found = 0;
                        thread::sync_threads();
                    }
                    // Every thread loads something: the warp stays together for what follows.
                    let is_one = begin + me < count;
                    let i = if is_one { u32::from(candidates.add((begin + me) as usize).read()) } else { 0 };
                    let circle = mem::ldg(args.circles.at(first * 64 + i));
                    let hit = is_one & circle.touches(left, top, TILE);
                    let lanes = warp::ballot(warp::FULL_MASK, hit);
                    let before = (lanes & warp::lane_mask_lt()).count_ones();
                    let (at, hits) = in_block(before, u32::from(hit), totals.add(WARPS as usize));
                    if hit {
                        brushes.add((found + at) as usize).write(Brush::new(&circle));
                    }
                    found += hits;
                    begin += DRAW_BLOCK;
                    thread::sync_threads();
                }
                first += DRAW_BLOCK;
            }
            row.draw(brushes, found);
            row.write(&args);
        }
    }
}
