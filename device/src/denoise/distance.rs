//! How little the surroundings of two pixels look alike.

use super::rows::{Rows, arguments};
use super::{Offsets, Strip};
use crate::arch::Real;

/// Arguments of [`Difference`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DifferenceArgs {
    /// The pixels.
    pub strip: Strip,
    /// Planes of one half.
    pub values: *const f32,
    /// Planes of its variance.
    pub variance: *const f32,
    /// Number of planes of each. Not zero.
    pub channels: u32,
    /// The square of a difference that is nothing, where there is no noise.
    pub epsilon: f32,
    /// Room for the table of differences.
    pub differences: *mut f32,
}

arguments!(DifferenceArgs, |args| args.strip.differences().count(args.strip.offsets()));

/// The square of the difference of two pixels, less what noise alone makes of it, in units of that: Rousselle, Knaus and Zwicker
/// 2012, eq. 5, but the same seen from either.
pub struct Difference;

impl Rows for Difference {
    type Args = DifferenceArgs;

    #[inline(always)]
    unsafe fn run<F: Real>(i: u32, args: &DifferenceArgs) {
        let DifferenceArgs { strip, values, variance, channels, epsilon, differences } = *args;
        let ([x, y], number) = strip.differences().pixel(i);
        let [dx, dy] = Offsets::of(strip.radius, number);
        let (from, to) = (strip.grid.at(x, y), strip.grid.at(x + dx, y + dy));
        let epsilon = F::splat(epsilon);
        let mut sum = F::splat(0.0);
        // SAFETY: as the caller promised: the planes are there, with margins that reach farther.
        unsafe {
            for channel in 0..channels as usize {
                let plane = channel * strip.grid.plane();
                let difference = F::load(values.add(plane + from)) - F::load(values.add(plane + to));
                let noise = F::load(variance.add(plane + from)) + F::load(variance.add(plane + to));
                sum = sum + (difference.mad_loose(difference, epsilon)) / (noise + epsilon);
            }
            let mean = sum * F::splat(1.0 / channels as f32) - F::splat(1.0);
            mean.store(differences.add(i as usize));
        }
    }
}

/// Arguments of [`Distance`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DistanceArgs {
    /// The pixels.
    pub strip: Strip,
    /// The table of differences.
    pub differences: *const f32,
    /// Room for the table of distances.
    pub distances: *mut f32,
    /// Surroundings are squares that reach so many pixels, at most [`MOST_PATCH`](super::MOST_PATCH).
    pub patch: i32,
}

arguments!(DistanceArgs, |args| args.strip.distances().count(args.strip.offsets()));

/// Means of differences over the surroundings of two pixels; zero if they are less.
pub struct Distance;

impl Rows for Distance {
    type Args = DistanceArgs;

    #[inline(always)]
    unsafe fn run<F: Real>(i: u32, args: &DistanceArgs) {
        let DistanceArgs { strip, differences, distances, patch } = *args;
        let ([x, y], number) = strip.distances().pixel(i);
        let table = strip.differences();
        let mut sum = F::splat(0.0);
        // SAFETY: as the caller promised: the table reaches so much farther than that of distances.
        unsafe {
            let part = differences.add(number as usize * table.size());
            for dy in -patch..patch + 1 {
                for dx in -patch..patch + 1 {
                    sum = sum + F::load(part.add(table.at(x + dx, y + dy)));
                }
            }
            let across = (2 * patch + 1) as f32;
            let mean = sum * F::splat(1.0 / (across * across));
            mean.max(F::splat(0.0)).store(distances.add(i as usize));
        }
    }
}
