//! Disks, and the ellipses that transforms make of them.

use core::f32::consts::{FRAC_1_PI, TAU};

use glam::{Vec2, Vec3};

use super::Primitive;
use crate::arch::{Real, Vec3s, cross, dot, splat, sqrt};
use crate::math::{atan2, fract};
use crate::ray::Ray;

/// Distance in (0, `t_max`] to a disk, and the point in units of the half-axes; both sides are hit.
#[inline(always)]
pub fn intersect(prim: &Primitive, ray: &Ray, t_max: f32) -> Option<(f32, [f32; 2])> {
    let (t, [x, y]) = meet(splat(ray.o - prim.a), splat(ray.d), splat(prim.b), splat(prim.c));
    (x * x + y * y <= 1.0 && t > 0.0 && t <= t_max).then_some((t, [x, y]))
}

/// Where the line from `o`, as seen from the middle, along `d` crosses the plane of the half-axes `b` and `c`: the solution
/// of o + t·d = x·b + y·c by Cramer's rule. Not finite where it does not.
#[inline(always)]
pub(crate) fn meet<F: Real>(o: Vec3s<F>, d: Vec3s<F>, b: Vec3s<F>, c: Vec3s<F>) -> (F, [F; 2]) {
    let n = cross(b, c);
    let inv_det = F::splat(1.0) / dot(n, d);
    let m = cross(d, o);
    (-dot(n, o) * inv_det, [dot(c, m) * inv_det, -dot(b, m) * inv_det])
}

/// The point at (x, y) in units of the half-axes.
#[inline(always)]
pub fn point(prim: &Primitive, [x, y]: [f32; 2]) -> Vec3 {
    prim.a + x * prim.b + y * prim.c
}

/// The unit normal.
#[inline(always)]
pub fn normal(prim: &Primitive) -> Vec3 {
    prim.b.cross(prim.c).normalize()
}

/// Largest distance of its points from the middle along each axis of the space.
#[inline(always)]
pub fn reach(prim: &Primitive) -> Vec3 {
    let reach = |b: f32, c: f32| sqrt(b * b + c * c);
    Vec3::new(reach(prim.b.x, prim.c.x), reach(prim.b.y, prim.c.y), reach(prim.b.z, prim.c.z))
}

/// (u, v) = (r, φ/2π) at (x, y) in units of the half-axes: distance from the middle, and azimuth.
#[inline(always)]
pub fn uv(prim: &Primitive, [x, y]: [f32; 2]) -> Vec2 {
    let turn = atan2(prim.turning() * y, x) * (0.5 * FRAC_1_PI);
    Vec2::new(sqrt(x * x + y * y), fract(turn))
}

/// Derivatives of the point at (x, y) by u and by v; in the middle, those towards the first half-axis.
#[inline(always)]
pub fn derivatives(prim: &Primitive, [x, y]: [f32; 2]) -> (Vec3, Vec3) {
    let r = sqrt(x * x + y * y);
    let (cos, sin) = if r > 0.0 { (x / r, y / r) } else { (1.0, 0.0) };
    (cos * prim.b + sin * prim.c, (TAU * prim.turning()) * (x * prim.c - y * prim.b))
}
