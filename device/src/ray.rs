//! Rays and where they start.

use glam::Vec3;

use crate::arch::{max, min};

/// A half-line. `d` is a unit vector.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Ray {
    /// Origin.
    pub o: Vec3,
    /// Unit direction.
    pub d: Vec3,
}

impl Ray {
    /// The point at distance `t`.
    #[inline(always)]
    pub fn at(&self, t: f32) -> Vec3 {
        self.o + t * self.d
    }
}

/// Moves a surface point `p` off its surface, to the side that the unit normal `n` points to, by just more than the
/// rounding error that `p` can have: a number of ulps of each coordinate, or a fixed distance near zero (Wächter &
/// Binder 2019, "A Fast and Robust Method for Avoiding Self-Intersection", Ray Tracing Gems ch. 6).
///
/// Where all coordinates are small against those of the primitive, which p was interpolated from, its error is still
/// relative to the latter: `extent` is the largest of them, and the offset is at least 2⁻²⁰ of it.
#[inline(always)]
pub fn offset_ray_origin(p: Vec3, n: Vec3, extent: f32) -> Vec3 {
    let least = extent * (1.0 / (1 << 20) as f32);
    Vec3::new(offset(p.x, n.x, least), offset(p.y, n.y, least), offset(p.z, n.z, least))
}

#[inline(always)]
fn offset(p: f32, n: f32, least: f32) -> f32 {
    const ORIGIN: f32 = 1.0 / 32.0;
    const FLOAT_SCALE: f32 = 1.0 / 65536.0;
    const INT_SCALE: f32 = 256.0;
    // SAFETY: |n| ≤ 1, so the product fits and is finite.
    let ulps = unsafe { (INT_SCALE * n).to_int_unchecked::<i32>() };
    let away_from_zero = if p < 0.0 { -ulps } else { ulps };
    let by_ulps = f32::from_bits((p.to_bits() as i32).wrapping_add(away_from_zero) as u32);
    // Everything is computed, and then chosen from: which it is, is hard to predict.
    let least = if p.abs() < ORIGIN { max(least, FLOAT_SCALE) } else { least };
    let by_distance = p + least * n;
    let by_ulps = if p.abs() < ORIGIN { by_distance } else { by_ulps };
    if n > 0.0 { max(by_ulps, by_distance) } else { min(by_ulps, by_distance) }
}
