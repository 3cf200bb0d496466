//! Rays and where they start.

use glam::Vec3;

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

/// Moves a surface point `p` off its surface, to the side `n` points to, by just more than the rounding
/// error that `p` can have: a number of ulps of each coordinate, or a fixed distance near zero, where ulps
/// are too small to cover the error of the terms that cancelled.
///
/// Wächter & Binder 2019, "A Fast and Robust Method for Avoiding Self-Intersection", Ray Tracing Gems ch. 6.
#[inline(always)]
pub fn offset_ray_origin(p: Vec3, n: Vec3) -> Vec3 {
    Vec3::new(offset(p.x, n.x), offset(p.y, n.y), offset(p.z, n.z))
}

#[inline(always)]
fn offset(p: f32, n: f32) -> f32 {
    const ORIGIN: f32 = 1.0 / 32.0;
    const FLOAT_SCALE: f32 = 1.0 / 65536.0;
    const INT_SCALE: f32 = 256.0;
    // SAFETY: |n| ≤ 1, so the product fits and is finite.
    let ulps = unsafe { (INT_SCALE * n).to_int_unchecked::<i32>() };
    let away_from_zero = if p < 0.0 { -ulps } else { ulps };
    let by_ulps = f32::from_bits((p.to_bits() as i32).wrapping_add(away_from_zero) as u32);
    // Both, and a choice: which it is, is hard to predict.
    if p.abs() < ORIGIN { p + FLOAT_SCALE * n } else { by_ulps }
}
