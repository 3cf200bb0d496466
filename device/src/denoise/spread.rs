//! The variance of pixels in halves of the samples.

use super::Strip;
use super::rows::{Rows, arguments};
use crate::arch::Real;

/// Arguments of [`Spread`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SpreadArgs {
    /// All rows.
    pub strip: Strip,
    /// Planes of each half.
    pub halves: [*const f32; 2],
    /// A plane: the part of a pixel's samples that is in the first half, in (0, 1).
    pub share: *const f32,
    /// Planes of the variance of both halves together, as the samples have it; null if it is not known.
    pub known: *const f32,
    /// Room for planes of the variance of each half.
    pub variances: [*mut f32; 2],
    /// Number of planes of each.
    pub channels: u32,
    /// Halves are compared in a square that reaches so many pixels.
    pub radius: i32,
}

arguments!(SpreadArgs, |args| args.strip.count());

/// The variance as it is known may be too small by such a factor, and not by more: where it is zero, the difference of halves is chance.
const MOST_SCALE: f32 = 10.0;

/// Estimates the variance of each half.
///
/// What samples say of the variance is right for independent ones, and too much for those that are spread evenly. The difference of the
/// halves is right for both, but noise itself. So the former is scaled to the latter, by sums over what is around a pixel (Rousselle, Knaus
/// and Zwicker 2012, section 4.3).
pub struct Spread;

impl Rows for Spread {
    type Args = SpreadArgs;

    #[inline(always)]
    unsafe fn run<F: Real>(i: u32, args: &SpreadArgs) {
        let SpreadArgs { strip, halves, share, known, variances, channels, radius } = *args;
        let ([x, y], plane) = (strip.pixel(i), strip.grid.plane());
        let place = strip.grid.at(x, y);
        let (one, tiny) = (F::splat(1.0), F::splat(f32::MIN_POSITIVE));
        // SAFETY: as the caller promised: the planes are there, with margins of more than the radius.
        unsafe {
            let first = F::load(share.add(place));
            let second = one - first;
            for channel in 0..channels as usize {
                let (mut between, mut within) = (F::splat(0.0), tiny);
                for dy in -radius..radius + 1 {
                    for dx in -radius..radius + 1 {
                        let at = channel * plane + strip.grid.at(x + dx, y + dy);
                        let difference = F::load(halves[0].add(at)) - F::load(halves[1].add(at));
                        between = difference.mad_loose(difference, between);
                        within = within + if known.is_null() { one } else { F::load(known.add(at)) };
                    }
                }
                let at = channel * plane + place;
                let both = between * first * second / within;
                let both = match known.is_null() {
                    true => both,
                    false => both.min(F::splat(MOST_SCALE)) * F::load(known.add(at)),
                };
                (both / first).store(variances[0].add(at));
                (both / second).store(variances[1].add(at));
            }
        }
    }
}
