//! How far candidates are from the truth.

use super::Strip;
use super::rows::{Rows, arguments};
use crate::arch::Real;

/// Arguments of [`Judge`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct JudgeArgs {
    /// The pixels.
    pub strip: Strip,
    /// Three planes of each half.
    pub halves: [*const f32; 2],
    /// A plane: the part of a pixel's samples that is in the first half, in (0, 1).
    pub share: *const f32,
    /// Three planes of the candidate, of each half.
    pub candidates: [*const f32; 2],
    /// Three planes of what errors are relative to; may be `candidate`.
    pub guide: *const f32,
    /// Room for three planes of the candidate, of both halves.
    pub candidate: *mut f32,
    /// Room for a plane of its error.
    pub error: *mut f32,
}

arguments!(JudgeArgs, |args| args.strip.count());

/// Errors are relative to the square of a value and this, where 1 is the mean of the image.
const DARK: f32 = 0.01;

/// Puts the halves of a candidate together, and estimates the square of its error.
///
/// A half of the candidate hardly knows the noise of the other half of the samples: the square of their difference is that of its error,
/// and their variance, which is the same for all candidates and left out. The mean of two has the mean of their squared errors, less what
/// they differ by (Bitterli et al. 2016, section 5.2): with parts p and q of the samples, p·eA² + q·eB² − pq(A − B)².
pub struct Judge;

impl Rows for Judge {
    type Args = JudgeArgs;

    #[inline(always)]
    unsafe fn run<F: Real>(i: u32, args: &JudgeArgs) {
        let JudgeArgs { strip, halves, share, candidates, guide, candidate, error } = *args;
        let ([x, y], plane) = (strip.pixel(i), strip.grid.plane());
        let place = strip.grid.at(x, y);
        let mut sum = F::splat(0.0);
        // SAFETY: as the caller promised: the planes are there.
        unsafe {
            let first = F::load(share.add(place));
            let second = F::splat(1.0) - first;
            for channel in 0..3 {
                let at = channel * plane + place;
                let [a, b] = [F::load(candidates[0].add(at)), F::load(candidates[1].add(at))];
                (first * a + second * b).store(candidate.add(at));
                let [to_b, to_a] = [a - F::load(halves[1].add(at)), b - F::load(halves[0].add(at))];
                let apart = a - b;
                let square = first * to_b * to_b + second * to_a * to_a - first * second * apart * apart;
                let about = F::load(guide.add(at));
                sum = sum + square / about.mad_loose(about, F::splat(DARK));
            }
            sum.store(error.add(place));
        }
    }
}
