//! First-order regression on features.

use super::rows::{Rows, arguments, scale, weight};
use super::{Offsets, Strip};
use crate::arch::{Mask, Real};

/// Number of planes of features: of the albedo three, and of the normal.
pub const FEATURES: usize = 6;

/// Unknowns of a fit: a constant, and a slope for each feature.
const UNKNOWNS: usize = FEATURES + 1;

/// The least pivot of the equations, beside what was in its place: less is rounding error.
const LEAST_PIVOT: f32 = 1e-5;

/// Arguments of [`Regress`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RegressArgs {
    /// The pixels.
    pub strip: Strip,
    /// The table of distances of the other half.
    pub distances: *const f32,
    /// Planes of features, [`FEATURES`].
    pub features: *const f32,
    /// Three planes of one half.
    pub values: *const f32,
    /// Room for three planes of fitted values.
    pub fitted: *mut f32,
    /// Distance at which pixels count 1/e.
    pub bandwidth: f32,
    /// Slopes are kept small by this much, in units of all weights (ridge regression): features that hardly vary say nothing.
    pub ridge: f32,
}

arguments!(RegressArgs, |args| args.strip.count());

/// Fits the values around a pixel by a linear function of features, and takes its value at the pixel: not below zero.
pub struct Regress;

impl Rows for Regress {
    type Args = RegressArgs;

    #[inline(always)]
    unsafe fn run<F: Real>(i: u32, args: &RegressArgs) {
        let RegressArgs { strip, distances, features, values, fitted, bandwidth, ridge } = *args;
        let ([x, y], grid) = (strip.pixel(i), strip.grid);
        let (table, scale, plane) = (strip.distances(), scale::<F>(bandwidth), grid.plane());
        // SAFETY: as the caller promised: the table is there, and the planes, with margins.
        unsafe {
            let here = features.add(grid.at(x, y));
            let mut origin = [F::splat(0.0); FEATURES];
            for (channel, origin) in origin.iter_mut().enumerate() {
                *origin = F::load(here.add(channel * plane));
            }
            let mut equations = Equations::new(load3(values.add(grid.at(x, y)), plane));
            let mut part = distances;
            for [dx, dy] in Offsets::new(strip.radius) {
                let ahead = F::load(part.add(table.at(x, y)));
                let behind = F::load(part.add(table.at(x - dx, y - dy)));
                for (distance, at) in [(ahead, grid.at(x + dx, y + dy)), (behind, grid.at(x - dx, y - dy))] {
                    let weight = weight(distance, scale);
                    if F::splat(0.0).lt(weight).bits() == 0 {
                        continue;
                    }
                    let mut offset = [F::splat(0.0); FEATURES];
                    for (channel, offset) in offset.iter_mut().enumerate() {
                        *offset = F::load(features.add(channel * plane + at)) - origin[channel];
                    }
                    equations.add(weight, &offset, load3(values.add(at), plane));
                }
                part = part.add(table.size());
            }
            for (channel, value) in equations.value(F::splat(ridge)).into_iter().enumerate() {
                value.max(F::splat(0.0)).store(fitted.add(channel * plane + grid.at(x, y)));
            }
        }
    }
}

/// A pixel's number in three planes.
///
/// # Safety
/// They are there.
#[inline(always)]
unsafe fn load3<F: Real>(p: *const f32, plane: usize) -> [F; 3] {
    // SAFETY: as the caller promised.
    unsafe { [F::load(p), F::load(p.add(plane)), F::load(p.add(2 * plane))] }
}

/// Normal equations of a weighted fit, for three channels. The slopes are the first unknowns and the constant is the last, so that
/// elimination gives it first.
struct Equations<F> {
    /// The lower triangle.
    matrix: [[F; UNKNOWNS]; UNKNOWNS],
    right: [[F; 3]; UNKNOWNS],
}

#[expect(clippy::needless_range_loop, reason = "rows and columns are named, as in the formulas")]
impl<F: Real> Equations<F> {
    /// Of the pixel itself, where all features are zero.
    #[inline(always)]
    fn new(value: [F; 3]) -> Self {
        let zero = F::splat(0.0);
        let (mut matrix, mut right) = ([[zero; UNKNOWNS]; UNKNOWNS], [[zero; 3]; UNKNOWNS]);
        matrix[FEATURES][FEATURES] = F::splat(1.0);
        right[FEATURES] = value;
        Self { matrix, right }
    }

    /// Adds a pixel.
    #[inline(always)]
    fn add(&mut self, weight: F, features: &[F; FEATURES], value: [F; 3]) {
        let weighted = [weight * value[0], weight * value[1], weight * value[2]];
        for row in 0..FEATURES {
            let scaled = weight * features[row];
            for column in 0..row + 1 {
                let sum = &mut self.matrix[row][column];
                *sum = scaled.mad_loose(features[column], *sum);
            }
            let constant = &mut self.matrix[FEATURES][row];
            *constant = *constant + scaled;
            for c in 0..3 {
                let sum = &mut self.right[row][c];
                *sum = features[row].mad_loose(weighted[c], *sum);
            }
        }
        let all = &mut self.matrix[FEATURES][FEATURES];
        *all = *all + weight;
        for c in 0..3 {
            let sum = &mut self.right[FEATURES][c];
            *sum = *sum + weighted[c];
        }
    }

    /// The constants, by Cholesky's decomposition.
    #[inline(always)]
    fn value(self, ridge: F) -> [F; 3] {
        let Self { mut matrix, mut right } = self;
        let ridge = matrix[FEATURES][FEATURES] * ridge;
        for row in 0..UNKNOWNS {
            let mut pivot = matrix[row][row];
            if row < FEATURES {
                pivot = pivot + ridge;
            }
            let least = pivot * F::splat(LEAST_PIVOT);
            for k in 0..row {
                pivot = pivot - matrix[row][k] * matrix[row][k];
            }
            let inverse = F::splat(1.0) / pivot.max(least).sqrt();
            for below in row + 1..UNKNOWNS {
                let mut sum = matrix[below][row];
                for k in 0..row {
                    sum = sum - matrix[below][k] * matrix[row][k];
                }
                matrix[below][row] = sum * inverse;
            }
            for c in 0..3 {
                let mut sum = right[row][c];
                for k in 0..row {
                    sum = sum - matrix[row][k] * right[k][c];
                }
                right[row][c] = sum * inverse;
            }
            matrix[row][row] = inverse;
        }
        let last = matrix[FEATURES][FEATURES];
        [right[FEATURES][0] * last, right[FEATURES][1] * last, right[FEATURES][2] * last]
    }
}
