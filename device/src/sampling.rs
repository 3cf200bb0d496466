//! Warps from the unit square.

use core::f32::consts::FRAC_PI_4;

use glam::{Vec2, Vec3};

use crate::arch::{Real, Vec3s, max, min, sqrt};
use crate::math::{sin_cos_octant, sin_cos_turn};

/// Uniform point on the unit disk by the concentric map (Shirley & Chiu 1997).
#[inline(always)]
pub fn sample_uniform_disk_concentric(u: Vec2) -> Vec2 {
    let o = 2.0 * u - Vec2::ONE;
    let wide = o.x.abs() > o.y.abs();
    let (r, q) = swap_unless(wide, o.x, o.y);
    let phi = if r == 0.0 { 0.0 } else { FRAC_PI_4 * (q / r) };
    let (s, c) = sin_cos_octant(phi);
    let (x, y) = swap_unless(wide, c, s);
    Vec2::new(r * x, r * y)
}

/// (a, b) or (b, a), without a branch, which chance would mispredict: by way of integers, since x86-64 has no
/// conditional moves of floats.
#[inline(always)]
fn swap_unless(keep: bool, a: f32, b: f32) -> (f32, f32) {
    let difference = (a.to_bits() ^ b.to_bits()) & u32::from(keep).wrapping_sub(1);
    (f32::from_bits(a.to_bits() ^ difference), f32::from_bits(b.to_bits() ^ difference))
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
    u - Vec2::splat(0.5 * min(u.x, u.y))
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
    /// Builds a frame around `z` by the function `tangents`.
    #[inline(always)]
    pub fn from_z(z: Vec3) -> Self {
        let [x, y] = tangents(z.to_array());
        Self { x: Vec3::from_array(x), y: Vec3::from_array(y), z }
    }

    /// Builds a frame around `z` whose x axis is `along` made orthogonal to `z`. Where `along` is zero, or along `z` as
    /// far as can be told, any frame around `z`.
    #[inline(always)]
    pub fn from_z_x(z: Vec3, along: Vec3) -> Self {
        /// Square of the sine between `along` and `z` below which only rounding is left of the former.
        const MIN_SIN2: f32 = 1e-12;
        let x = along - z.dot(along) * z;
        let length2 = x.length_squared();
        if length2 <= max(MIN_SIN2 * along.length_squared(), f32::MIN_POSITIVE) {
            return Self::from_z(z);
        }
        let x = x / sqrt(length2);
        // What cancelled above is orthogonal to a part only: once more (Giraud et al. 2005, "twice is enough").
        let x = (x - z.dot(x) * z).normalize();
        Self { x, y: z.cross(x), z }
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

/// Two unit vectors x and y that make a right-handed orthonormal basis with the unit vector `z`, without a branch
/// or a discontinuity but at −z.
///
/// Duff et al. 2017, "Building an Orthonormal Basis, Revisited", JCGT 6(1).
#[inline(always)]
pub(crate) fn tangents<F: Real>(z: Vec3s<F>) -> [Vec3s<F>; 2] {
    let one = F::splat(1.0);
    let sign = one.copysign(z[2]);
    let a = -one / (sign + z[2]);
    let b = z[0] * z[1] * a;
    [[one + sign * z[0] * z[0] * a, sign * b, -sign * z[0]], [b, sign + z[1] * z[1] * a, -z[1]]]
}
