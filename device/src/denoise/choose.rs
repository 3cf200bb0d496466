//! The candidate that is nearest to the truth.

use super::Strip;
use super::rows::{Rows, arguments};
use crate::arch::Real;

/// Errors are averaged over a square that reaches so many pixels: a pixel's own is noise.
const ERROR_RADIUS: i32 = 4;

/// Candidates are blended over a square that reaches so many pixels.
const BLEND_RADIUS: i32 = 2;

/// Arguments of [`Choose`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ChooseArgs {
    /// All rows.
    pub strip: Strip,
    /// A plane of errors for each candidate.
    pub errors: *const f32,
    /// Room for a plane: the number of the best candidate.
    pub choice: *mut f32,
    /// Number of candidates.
    pub candidates: u32,
}

arguments!(ChooseArgs, |args| args.strip.count());

/// Chooses the candidate whose error is the least around each pixel.
pub struct Choose;

impl Rows for Choose {
    type Args = ChooseArgs;

    #[inline(always)]
    unsafe fn run<F: Real>(i: u32, args: &ChooseArgs) {
        let ChooseArgs { strip, errors, choice, candidates } = *args;
        let ([x, y], grid) = (strip.pixel(i), strip.grid);
        // The last candidate is the noisy image, which is taken as well where errors are not numbers.
        let last = F::splat((candidates - 1) as f32);
        let (mut best, mut least) = (last, F::splat(f32::MAX));
        // SAFETY: as the caller promised: the planes are there, with margins.
        unsafe {
            for candidate in 0..candidates {
                let errors = errors.add(candidate as usize * grid.plane());
                let mut sum = F::splat(0.0);
                for dy in -ERROR_RADIUS..ERROR_RADIUS + 1 {
                    for dx in -ERROR_RADIUS..ERROR_RADIUS + 1 {
                        sum = sum + F::load(errors.add(grid.at(x + dx, y + dy)));
                    }
                }
                let is_less = sum.lt(least);
                best = F::select(is_less, F::splat(candidate as f32), best);
                least = F::select(is_less, sum, least);
            }
            best.store(choice.add(grid.at(x, y)));
        }
    }
}

/// Arguments of [`Blend`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BlendArgs {
    /// All rows.
    pub strip: Strip,
    /// A plane of choices.
    pub choice: *const f32,
    /// Three planes of each candidate.
    pub candidates: *const f32,
    /// Room for three planes.
    pub image: *mut f32,
    /// Number of candidates.
    pub count: u32,
}

arguments!(BlendArgs, |args| args.strip.count());

/// Takes the candidates that are chosen around each pixel, as often as they are.
pub struct Blend;

impl Rows for Blend {
    type Args = BlendArgs;

    #[inline(always)]
    unsafe fn run<F: Real>(i: u32, args: &BlendArgs) {
        let BlendArgs { strip, choice, candidates, image, count } = *args;
        let ([x, y], grid) = (strip.pixel(i), strip.grid);
        let (place, plane) = (grid.at(x, y), grid.plane());
        let [zero, one] = [F::splat(0.0), F::splat(1.0)];
        // SAFETY: as the caller promised: the planes are there, with margins.
        unsafe {
            let mut sum = [zero; 3];
            for candidate in 0..count {
                let mut times = zero;
                for dy in -BLEND_RADIUS..BLEND_RADIUS + 1 {
                    for dx in -BLEND_RADIUS..BLEND_RADIUS + 1 {
                        let chosen = F::load(choice.add(grid.at(x + dx, y + dy)));
                        times = times + F::select(chosen.eq(F::splat(candidate as f32)), one, zero);
                    }
                }
                for (channel, sum) in sum.iter_mut().enumerate() {
                    let value = F::load(candidates.add((3 * candidate as usize + channel) * plane + place));
                    // What nobody has chosen may not be a number.
                    *sum = *sum + F::select(zero.lt(times), times * value, zero);
                }
            }
            let all = F::splat(1.0 / ((2 * BLEND_RADIUS + 1) * (2 * BLEND_RADIUS + 1)) as f32);
            for (channel, sum) in sum.iter().enumerate() {
                (*sum * all).store(image.add(channel * plane + place));
            }
        }
    }
}
