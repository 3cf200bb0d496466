//! Disks, and the ellipses that transforms make of them.

use core::f32::consts::{FRAC_1_PI, PI, TAU};

use glam::{Vec2, Vec3};

use super::{Analytic, AnalyticPoint, LaneHits, Primitive, Shape};
use crate::arch::{Real, Vec3s, cross, dot, splat, sqrt};
use crate::math::{atan2, fract};
use crate::ray::{Ray, TraversalRay};
use crate::sampling::sample_uniform_disk_concentric;

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

/// [`Primitive::a`] is the middle; [`Primitive::b`] and [`Primitive::c`] are the half-axes.
pub(crate) struct Disk;

impl Shape for Disk {
    #[inline(always)]
    fn intersect(prim: &Primitive, ray: &TraversalRay, t_max: f32) -> Option<(f32, [f32; 2])> {
        intersect(prim, &ray.ray, t_max)
    }

    #[inline(always)]
    fn extent(prim: &Primitive) -> f32 {
        (prim.a.abs() + prim.b.abs() + prim.c.abs()).max_element()
    }

    fn bounds(prim: &Primitive) -> [Vec3; 2] {
        [prim.a - reach(prim), prim.a + reach(prim)]
    }

    fn area(prim: &Primitive) -> f32 {
        PI * prim.b.cross(prim.c).length()
    }

    #[inline(always)]
    fn sample([a, b, c]: [Vec3; 3], _area: f32, u: Vec2) -> (Vec3, Vec3) {
        let x = sample_uniform_disk_concentric(u);
        (a + x.x * b + x.y * c, b.cross(c).normalize())
    }
}

impl Analytic for Disk {
    #[inline(always)]
    fn meet<F: Real>(
        prim: &Primitive,
        o: Vec3s<F>,
        d: Vec3s<F>,
        _t_max: F,
        rays: F::Mask,
    ) -> Option<LaneHits<F>> {
        let (t, [x, y]) = meet(o, d, splat(prim.b), splat(prim.c));
        Some(LaneHits { mask: rays & (x * x + y * y).le(F::splat(1.0)), t, b: [x, y] })
    }

    #[inline(always)]
    fn point(prim: &Primitive, _ray: &Ray, _t: f32, b: [f32; 2]) -> AnalyticPoint {
        AnalyticPoint { p: point(prim, b), n: normal(prim), b }
    }

    #[inline(always)]
    fn uv(prim: &Primitive, _n: Vec3, b: [f32; 2]) -> Vec2 {
        uv(prim, b)
    }

    #[inline(always)]
    fn uv_of_sample(prim: &Primitive, _p: Vec3, u: Vec2) -> Vec2 {
        uv(prim, sample_uniform_disk_concentric(u).to_array())
    }

    #[inline(always)]
    fn derivatives(prim: &Primitive, _n: Vec3, b: [f32; 2]) -> (Vec3, Vec3) {
        derivatives(prim, b)
    }
}
