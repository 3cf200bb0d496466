//! The sides of cylinders.

use core::f32::consts::TAU;

use glam::{Vec2, Vec3};

use super::{Primitive, sphere};
use crate::arch::{Real, Vec3s, dot, max, min, minus, scaled, splat, sqrt};
use crate::ray::Ray;

/// Distance in (0, `t_max`] to the side of a cylinder; inside and outside are hit.
#[inline(always)]
pub fn intersect(prim: &Primitive, ray: &Ray, t_max: f32) -> Option<f32> {
    let (t0, t1) = roots(splat(ray.o - prim.a), splat(ray.d), splat(prim.c), prim.b.x);
    let inside = |t: f32| (t > 0.0 && t <= t_max).then_some(t);
    inside(t0).or_else(|| inside(t1))
}

/// Distances to the two ends of the chord that the line from `o`, as seen from where the axis starts, along `d` has in the
/// tube around `axis`, the smaller one first; NaN for those beyond the ends of the axis, and if the line misses.
///
/// Across the axis, a tube is a sphere: see [`sphere::intersect`].
#[inline(always)]
pub(crate) fn roots<F: Real>(o: Vec3s<F>, d: Vec3s<F>, axis: Vec3s<F>, radius: F) -> (F, F) {
    let length = dot(axis, axis).sqrt();
    let w = scaled(axis, F::splat(1.0) / length);
    let (z, dz) = (dot(o, w), dot(d, w));
    let across = minus(o, scaled(w, z));
    let d_across = minus(d, scaled(w, dz));
    let stretch = F::splat(1.0) / dot(d_across, d_across).sqrt();
    let chord = sphere::chord(across, scaled(d_across, stretch), radius);
    let (t0, t1) = sphere::roots(across, radius, chord);
    let (t0, t1) = (t0 * stretch, t1 * stretch);
    (between_ends(z, dz, length, t0), between_ends(z, dz, length, t1))
}

/// `t` if the line is there between 0 and `length` along the axis, NaN if not.
#[inline(always)]
fn between_ends<F: Real>(z: F, dz: F, length: F, t: F) -> F {
    let z = z + t * dz;
    F::select(F::splat(0.0).le(z) & z.le(length), t, F::splat(f32::NAN))
}

/// The point next to `p`, the unit normal there, and where it is between the ends of the axis, in [0, 1].
#[inline(always)]
pub fn point(prim: &Primitive, p: Vec3) -> (Vec3, Vec3, f32) {
    let p = p - prim.a;
    let v = p.dot(prim.c) / prim.c.length_squared();
    let n = (p - v * prim.c).normalize();
    let v = min(max(v, 0.0), 1.0);
    (prim.a + v * prim.c + prim.b.x * n, n, v)
}

/// Largest distance of its points from the axis along each axis of the space.
#[inline(always)]
pub fn reach(prim: &Primitive) -> Vec3 {
    let w = prim.c.normalize();
    let reach = |w: f32| prim.b.x * sqrt(max(1.0 - w * w, 0.0));
    Vec3::new(reach(w.x), reach(w.y), reach(w.z))
}

/// (u, v) = (φ/2π, v) of the point with normal `n` and `v` along the axis.
#[inline(always)]
pub fn uv(prim: &Primitive, n: Vec3, v: f32) -> Vec2 {
    Vec2::new(sphere::azimuth(prim, prim.c.normalize(), n), v)
}

/// Derivatives of the point with normal `n` by u and by v.
#[inline(always)]
pub fn derivatives(prim: &Primitive, n: Vec3) -> (Vec3, Vec3) {
    let dp_du = (TAU * prim.b.x * prim.b.y) * prim.c.normalize().cross(n);
    (dp_du, prim.c)
}
