//! Features with less noise.

use super::rows::{Rows, arguments, scale, weight};
use super::{FEATURES, Offsets, Strip};
use crate::arch::Real;

/// Arguments of [`Average`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AverageArgs {
    /// The pixels.
    pub strip: Strip,
    /// The table of distances of the other half.
    pub distances: *const f32,
    /// Planes of features of one half, [`FEATURES`].
    pub values: *const f32,
    /// Planes that a half of the averages is added to.
    pub sums: *mut f32,
}

arguments!(AverageArgs, |args| args.strip.count());

/// Averages features over pixels that look alike: non-local means.
pub struct Average;

impl Rows for Average {
    type Args = AverageArgs;

    #[inline(always)]
    unsafe fn run<F: Real>(i: u32, args: &AverageArgs) {
        let AverageArgs { strip, distances, values, sums } = *args;
        let ([x, y], grid) = (strip.pixel(i), strip.grid);
        let (table, scale) = (strip.distances(), scale::<F>(1.0));
        // SAFETY: as the caller promised: the table is there, and the planes, with margins.
        unsafe {
            let mut weights = F::splat(1.0);
            let mut sum = [F::splat(0.0); FEATURES];
            for (channel, sum) in sum.iter_mut().enumerate() {
                *sum = F::load(values.add(channel * grid.plane() + grid.at(x, y)));
            }
            let mut part = distances;
            for [dx, dy] in Offsets::new(strip.radius) {
                let ahead = F::load(part.add(table.at(x, y)));
                let behind = F::load(part.add(table.at(x - dx, y - dy)));
                for (distance, at) in [(ahead, grid.at(x + dx, y + dy)), (behind, grid.at(x - dx, y - dy))] {
                    let w = weight(distance, scale);
                    weights = weights + w;
                    for (channel, sum) in sum.iter_mut().enumerate() {
                        *sum = w.mad_loose(F::load(values.add(channel * grid.plane() + at)), *sum);
                    }
                }
                part = part.add(table.size());
            }
            let half = F::splat(0.5) / weights;
            for (channel, sum) in sum.iter().enumerate() {
                let to = sums.add(channel * grid.plane() + grid.at(x, y));
                sum.mad_loose(half, F::load(to)).store(to);
            }
        }
    }
}
