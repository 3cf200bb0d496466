//! Pixels that chance has made far too bright.

use super::Strip;
use super::rows::{Rows, arguments};
use crate::arch::Real;

/// Pixels are held against a square that reaches so many pixels.
const RADIUS: i32 = 2;

/// By what factor a pixel may be brighter.
const TIMES: f32 = 4.0;

/// Arguments of [`Limit`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LimitArgs {
    /// All rows.
    pub strip: Strip,
    /// Three planes of each half.
    pub halves: [*const f32; 2],
    /// Room for as many.
    pub limited: [*mut f32; 2],
}

arguments!(LimitArgs, |args| args.strip.count());

/// Makes no pixel of a half brighter than all around it, and itself in the other half: what only one sample has seen, which may be a
/// thousand times too bright (a "firefly"), would shine through all fits that it takes part in. What is bright indeed, both halves see.
pub struct Limit;

impl Rows for Limit {
    type Args = LimitArgs;

    #[inline(always)]
    unsafe fn run<F: Real>(i: u32, args: &LimitArgs) {
        let LimitArgs { strip, halves, limited } = *args;
        let ([x, y], grid) = (strip.pixel(i), strip.grid);
        // SAFETY: as the caller promised: the planes are there, with margins of more than the radius.
        unsafe {
            for channel in 0..3 {
                let here = channel * grid.plane() + grid.at(x, y);
                let [a, b] = [F::load(halves[0].add(here)), F::load(halves[1].add(here))];
                let mut most = F::splat(f32::MIN);
                for dy in -RADIUS..RADIUS + 1 {
                    for dx in -RADIUS..RADIUS + 1 {
                        if dx != 0 || dy != 0 {
                            let at = channel * grid.plane() + grid.at(x + dx, y + dy);
                            most = most.max(F::load(halves[0].add(at))).max(F::load(halves[1].add(at)));
                        }
                    }
                }
                let times = F::splat(TIMES);
                a.min(most.max(b) * times).store(limited[0].add(here));
                b.min(most.max(a) * times).store(limited[1].add(here));
            }
        }
    }
}
