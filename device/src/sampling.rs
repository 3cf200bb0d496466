//! Warps from the unit square.

use core::f32::consts::FRAC_PI_4;

use glam::{Vec2, Vec3};

use crate::arch::{max, sqrt};
use crate::math::{sin_cos_octant, sin_cos_turn};

/// Uniform point on the unit disk by the concentric map (Shirley & Chiu 1997), in one branch.
#[inline(always)]
pub fn sample_uniform_disk_concentric(u: Vec2) -> Vec2 {
    let o = 2.0 * u - Vec2::ONE;
    let wide = o.x.abs() > o.y.abs();
    let (r, q) = if wide { (o.x, o.y) } else { (o.y, o.x) };
    let phi = if r == 0.0 { 0.0 } else { FRAC_PI_4 * (q / r) };
    let (s, c) = sin_cos_octant(phi);
    if wide { Vec2::new(r * c, r * s) } else { Vec2::new(r * s, r * c) }
}

/// Direction around +z with density cos θ / π (Malley's method; pbrt 4th ed. §A.5.3).
#[inline(always)]
pub fn sample_cosine_hemisphere(u: Vec2) -> Vec3 {
    let d = sample_uniform_disk_concentric(u);
    let z = sqrt(max(1.0 - d.length_squared(), 0.0));
    Vec3::new(d.x, d.y, z)
}

/// Uniform direction on the sphere; density 1/(4π).
#[inline(always)]
pub fn sample_uniform_sphere(u: Vec2) -> Vec3 {
    let z = 1.0 - 2.0 * u.x;
    let (s, c) = sin_cos_turn(u.y);
    let r = sqrt(max(1.0 - z * z, 0.0));
    Vec3::new(r * c, r * s, z)
}

/// Uniform direction in the cone around +z whose half-angle θ has 1 − cos θ = `one_minus_cos`; density
/// 1/(2π·`one_minus_cos`). Stays accurate for cones of any width (pbrt 4th ed. §A.5.4).
#[inline(always)]
pub fn sample_uniform_cone(one_minus_cos: f32, u: Vec2) -> Vec3 {
    let t = u.x * one_minus_cos; // 1 − z
    let (s, c) = sin_cos_turn(u.y);
    let r = sqrt(max(t * (2.0 - t), 0.0));
    Vec3::new(r * c, r * s, 1.0 - t)
}

/// Uniform barycentric coordinates (b1, b2) of a triangle, by folding the square along its diagonal; keeps
/// strata together better than the square-root map (Heitz 2019, "A Low-Distortion Map Between Triangle and
/// Square").
#[inline(always)]
pub fn sample_uniform_triangle(u: Vec2) -> Vec2 {
    let h = 0.5 * u;
    if u.y > u.x { Vec2::new(h.x, u.y - h.x) } else { Vec2::new(u.x - h.y, h.y) }
}

/// A right-handed orthonormal basis whose z axis is a given unit vector.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// First tangent.
    pub x: Vec3,
    /// Second tangent.
    pub y: Vec3,
    /// The axis.
    pub z: Vec3,
}

impl Frame {
    /// Builds a frame around `z` without a branch or a discontinuity but at −z.
    ///
    /// Duff et al. 2017, "Building an Orthonormal Basis, Revisited", JCGT 6(1).
    #[inline(always)]
    pub fn from_z(z: Vec3) -> Self {
        let sign = 1.0_f32.copysign(z.z);
        let a = -1.0 / (sign + z.z);
        let b = z.x * z.y * a;
        Self {
            x: Vec3::new(1.0 + sign * z.x * z.x * a, sign * b, -sign * z.x),
            y: Vec3::new(b, sign + z.y * z.y * a, -z.y),
            z,
        }
    }

    /// World to local.
    #[inline(always)]
    pub fn to_local(&self, v: Vec3) -> Vec3 {
        Vec3::new(v.dot(self.x), v.dot(self.y), v.dot(self.z))
    }

    /// Local to world.
    #[inline(always)]
    pub fn to_world(&self, v: Vec3) -> Vec3 {
        v.x * self.x + v.y * self.y + v.z * self.z
    }
}
