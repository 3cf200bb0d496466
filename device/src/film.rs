//! Statistics that a pixel accumulates over its samples.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::arch::{mul_residual, mul_rn};

/// Sums over the samples of a pixel, each times the weight that the pixel filter gives it, 56 bytes. Each is an
/// unevaluated sum of two floats, so that 10⁶ samples lose nothing of their mean, and nothing of their variance that
/// exceeds 10⁻⁹·mean².
#[derive(Clone, Copy, Debug, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct FilmPixel {
    /// Σ x.
    pub sum: Vec3,
    /// Rounding error of `sum`.
    pub sum_lo: Vec3,
    /// Σ x².
    pub sum_sq: Vec3,
    /// Rounding error of `sum_sq`.
    pub sum_sq_lo: Vec3,
    /// Number of samples in the sums.
    pub count: u32,
    /// Number of samples left out because they were NaN or infinite.
    pub rejected: u32,
}

impl FilmPixel {
    /// Whether a sample is added, not rejected: whether it, and its square, are finite.
    #[inline(always)]
    pub fn takes(x: Vec3) -> bool {
        Vec3::new(mul_rn(x.x, x.x), mul_rn(x.y, x.y), mul_rn(x.z, x.z)).is_finite()
    }

    /// Adds a sample, or counts it as rejected if it, or its square, is not finite.
    #[inline(always)]
    pub fn add(&mut self, x: Vec3) {
        let sq = Vec3::new(mul_rn(x.x, x.x), mul_rn(x.y, x.y), mul_rn(x.z, x.z));
        if !sq.is_finite() {
            self.rejected += 1;
            return;
        }
        two_sum(&mut self.sum, &mut self.sum_lo, x);
        two_sum(&mut self.sum_sq, &mut self.sum_sq_lo, sq);
        // Where samples hardly differ, their variance is in what rounding leaves out of the squares.
        self.sum_sq_lo += Vec3::new(
            mul_residual(x.x, x.x, sq.x),
            mul_residual(x.y, x.y, sq.y),
            mul_residual(x.z, x.z, sq.z),
        );
        self.count += 1;
    }

    /// Adds the samples of another.
    #[inline(always)]
    pub fn merge(&mut self, other: &Self) {
        for (hi, lo, more) in [
            (&mut self.sum, &mut self.sum_lo, [other.sum, other.sum_lo]),
            (&mut self.sum_sq, &mut self.sum_sq_lo, [other.sum_sq, other.sum_sq_lo]),
        ] {
            for x in more {
                two_sum(hi, lo, x);
            }
        }
        self.count += other.count;
        self.rejected += other.rejected;
    }
}

/// An unevaluated sum of two floats, per component.
#[derive(Clone, Copy, Debug, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Sum {
    /// The sum.
    pub hi: Vec3,
    /// Its rounding error.
    pub lo: Vec3,
}

impl Sum {
    /// Adds `x`.
    #[inline(always)]
    pub fn add(&mut self, x: Vec3) {
        two_sum(&mut self.hi, &mut self.lo, x);
    }
}

/// What one group of lights brings to a pixel, 36 bytes. The number of samples is the image's.
#[derive(Clone, Copy, Debug, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GroupPixel {
    /// Σ over the samples, each times the weight that the pixel filter gives it.
    pub sum: Sum,
    /// Of the path under way.
    pub path: Vec3,
}

impl GroupPixel {
    /// Ends the path under way, and adds it with its weight if the image takes it.
    #[inline(always)]
    pub fn end(&mut self, weight: f32, is_taken: bool) {
        if is_taken && self.path != Vec3::ZERO {
            self.sum.add(weight * self.path);
        }
        self.path = Vec3::ZERO;
    }
}

/// Sums over the first hits of a pixel's camera rays, 132 bytes. Rays that hit nothing add nothing.
#[derive(Clone, Copy, Debug, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct FirstHitPixel {
    /// Σ of the weight with which the surface scatters the ray, of which the expectation is the albedo.
    pub albedo: Sum,
    /// Σ of the shading normal, on the side of the viewer.
    pub ns: Sum,
    /// Σ of the geometric normal, on the side of the viewer.
    pub ng: Sum,
    /// Σ of the point.
    pub p: Sum,
    /// Σ of (u, v, 0).
    pub uv: Sum,
    /// Number of samples taken.
    pub samples: u32,
    /// Number of samples with a hit.
    pub hits: u32,
    /// Primitive that the ray through the centre of the pixel hits: its index in the scene plus 1; 0 for none.
    pub center: u32,
}

/// hi + lo += x in about twice the precision (Knuth's TwoSum, then Dekker's FastTwoSum).
#[inline(always)]
fn two_sum(hi: &mut Vec3, lo: &mut Vec3, x: Vec3) {
    let s = *hi + x;
    let x_part = s - *hi;
    let hi_part = s - x_part;
    let rest = *lo + ((*hi - hi_part) + (x - x_part));
    // Renormalised, or what does not reach hi any more would all pile up in lo.
    *hi = s + rest;
    *lo = rest - (*hi - s);
}
