//! The sides of cylinders.

use core::f32::consts::{PI, TAU};

use glam::{Vec2, Vec3};

use super::{Analytic, AnalyticPoint, LaneHits, Primitive, Shape, sphere};
use crate::arch::{Real, Vec3s, dot, max, min, minus, scaled, splat, sqrt};
use crate::math::sin_cos_turn;
use crate::ray::{Ray, TraversalRay};
use crate::sampling::Frame;

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

/// The axis runs from [`Primitive::a`] along [`Primitive::c`]; the radius is [`Primitive::b`]`.x`.
pub(crate) struct Cylinder;

impl Shape for Cylinder {
    #[inline(always)]
    fn intersect(prim: &Primitive, ray: &TraversalRay, t_max: f32) -> Option<(f32, [f32; 2])> {
        intersect(prim, &ray.ray, t_max).map(|t| (t, [0.0; 2]))
    }

    #[inline(always)]
    fn extent(prim: &Primitive) -> f32 {
        prim.a.abs().max((prim.a + prim.c).abs()).max_element() + prim.b.x
    }

    fn bounds(prim: &Primitive) -> [Vec3; 2] {
        let (end, reach) = (prim.a + prim.c, reach(prim));
        [prim.a.min(end) - reach, prim.a.max(end) + reach]
    }

    fn area(prim: &Primitive) -> f32 {
        2.0 * PI * prim.b.x * prim.c.length()
    }

    #[inline(always)]
    fn sample([a, b, c]: [Vec3; 3], _area: f32, u: Vec2) -> (Vec3, Vec3) {
        let frame = Frame::from_z(c.normalize());
        let (sin, cos) = sin_cos_turn(u.y);
        let n = cos * frame.x + sin * frame.y;
        (a + u.x * c + b.x * n, n)
    }
}

impl Analytic for Cylinder {
    #[inline(always)]
    fn meet<F: Real>(
        prim: &Primitive,
        o: Vec3s<F>,
        d: Vec3s<F>,
        t_max: F,
        rays: F::Mask,
    ) -> Option<LaneHits<F>> {
        let zero = F::splat(0.0);
        let (t0, t1) = roots(o, d, splat(prim.c), F::splat(prim.b.x));
        let t = F::select(zero.lt(t0) & t0.le(t_max), t0, t1);
        Some(LaneHits { mask: rays, t, b: [zero; 2] })
    }

    #[inline(always)]
    fn point(prim: &Primitive, ray: &Ray, t: f32, _b: [f32; 2]) -> AnalyticPoint {
        let (p, n, v) = point(prim, ray.at(t));
        AnalyticPoint { p, n, b: [v, 0.0] }
    }

    #[inline(always)]
    fn uv(prim: &Primitive, n: Vec3, b: [f32; 2]) -> Vec2 {
        uv(prim, n, b[0])
    }

    #[inline(always)]
    fn uv_of_sample(prim: &Primitive, p: Vec3, _u: Vec2) -> Vec2 {
        let (_, n, v) = point(prim, p);
        uv(prim, n, v)
    }

    #[inline(always)]
    fn derivatives(prim: &Primitive, n: Vec3, _b: [f32; 2]) -> (Vec3, Vec3) {
        derivatives(prim, n)
    }
}
