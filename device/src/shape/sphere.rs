//! Spheres.

use core::f32::consts::{FRAC_1_PI, PI, TAU};

use glam::{Vec2, Vec3};

use super::{Analytic, AnalyticPoint, LaneHits, Primitive, Shape};
use crate::arch::{Mask, Real, Vec3s, dot, max, splat, sqrt};
use crate::math::{atan2, fract};
use crate::ray::{Ray, TraversalRay};
use crate::sampling::{Frame, sample_uniform_sphere};

/// Distance in (0, `t_max`] to a sphere; both sides are hit.
///
/// Haines, Günther & Akenine-Möller 2019, "Precision Improvements for Ray/Sphere Intersection", Ray Tracing
/// Gems ch. 7: the discriminant from the point closest to the centre, and the root without cancellation.
#[inline(always)]
pub fn intersect(center: Vec3, radius: f32, ray: &Ray, t_max: f32) -> Option<f32> {
    let o = splat(ray.o - center);
    let chord = chord(o, splat(ray.d), radius);
    if chord.discriminant < 0.0 {
        return None;
    }
    let (t0, t1) = roots(o, radius, chord);
    let inside = |t: f32| (t > 0.0 && t <= t_max).then_some(t);
    inside(t0).or_else(|| inside(t1))
}

/// Derivative of the point with normal `n` on a sphere as its azimuth grows around the unit vector `axis`, over the
/// radius: the direction of growing u if u = φ/2π. Zero at the poles.
#[inline(always)]
pub fn dp_dphi(axis: Vec3, n: Vec3) -> Vec3 {
    axis.cross(n)
}

/// (u, v) = (φ/2π, θ/π) of the point with normal `n` on a sphere: azimuth around its axis, and angle to it.
#[inline(always)]
pub fn uv(prim: &Primitive, n: Vec3) -> Vec2 {
    let local = Frame::from_z(prim.c).to_local(n);
    let theta = atan2(sqrt(max(local.x * local.x + local.y * local.y, 0.0)), local.z);
    Vec2::new(azimuth_of(prim, local), theta * FRAC_1_PI)
}

/// Azimuth of the normal `n` of a sphere or cylinder around its unit vector `axis`, as a part of a turn, in [0, 1].
#[inline(always)]
pub(super) fn azimuth(prim: &Primitive, axis: Vec3, n: Vec3) -> f32 {
    azimuth_of(prim, Frame::from_z(axis).to_local(n))
}

/// [`azimuth`] of a normal in the frame around the axis.
#[inline(always)]
fn azimuth_of(prim: &Primitive, local: Vec3) -> f32 {
    fract(prim.b.y * (atan2(local.y, local.x) * (0.5 * FRAC_1_PI) - prim.b.z))
}

/// Derivatives of the point with normal `n` by u and by v.
#[inline(always)]
pub fn derivatives(prim: &Primitive, n: Vec3) -> (Vec3, Vec3) {
    let radius = prim.b.x;
    let across = dp_dphi(prim.c, n);
    let sin_theta = across.length();
    let dp_dv = if sin_theta > 0.0 { across.cross(n) * (PI * radius / sin_theta) } else { Vec3::ZERO };
    (across * (TAU * radius * prim.b.y), dp_dv)
}

/// Where a line passes a sphere.
#[derive(Clone, Copy)]
pub(crate) struct Chord<F> {
    /// Distance along the line to the point closest to the centre.
    b: F,
    /// Square of half the chord's length; negative if the line misses.
    pub(crate) discriminant: F,
}

/// The chord of the line from `o`, as seen from the centre, along `d`.
#[inline(always)]
pub(crate) fn chord<F: Real>(o: Vec3s<F>, d: Vec3s<F>, radius: F) -> Chord<F> {
    let b = -dot(o, d);
    let closest = [o[0] + b * d[0], o[1] + b * d[1], o[2] + b * d[2]];
    Chord { b, discriminant: radius * radius - dot(closest, closest) }
}

/// Distances to the two ends of the chord, the smaller one first.
#[inline(always)]
pub(crate) fn roots<F: Real>(o: Vec3s<F>, radius: F, Chord { b, discriminant }: Chord<F>) -> (F, F) {
    let q = b + discriminant.sqrt().copysign(b);
    let distance = dot(o, o).sqrt();
    let c = (distance - radius) * (distance + radius);
    let ahead = F::splat(0.0).lt(b);
    let p = c / q;
    (F::select(ahead, p, q), F::select(ahead, q, p))
}

/// As [`Primitive::meet`], of a sphere, or one for each lane, with this radius.
#[inline(always)]
pub(crate) fn meet<F: Real>(
    o: Vec3s<F>,
    radius: F,
    d: Vec3s<F>,
    t_max: F,
    lanes: F::Mask,
) -> Option<LaneHits<F>> {
    let zero = F::splat(0.0);
    let chord = chord(o, d, radius);
    let mask = lanes & zero.le(chord.discriminant);
    if mask.bits() == 0 {
        return None;
    }
    let (t0, t1) = roots(o, radius, chord);
    // The first root, or else the second, as for a ray alone.
    let t = F::select(zero.lt(t0) & t0.le(t_max), t0, t1);
    Some(LaneHits { mask, t, b: [zero; 2] })
}

/// [`Primitive::a`] is the centre, the radius [`Primitive::b`]`.x`.
pub(crate) struct Sphere;

impl Shape for Sphere {
    #[inline(always)]
    fn intersect(prim: &Primitive, ray: &TraversalRay, t_max: f32) -> Option<(f32, [f32; 2])> {
        intersect(prim.a, prim.b.x, &ray.ray, t_max).map(|t| (t, [0.0; 2]))
    }

    #[inline(always)]
    fn extent(prim: &Primitive) -> f32 {
        prim.a.abs().max_element() + prim.b.x
    }

    fn bounds(prim: &Primitive) -> [Vec3; 2] {
        [prim.a - prim.b.x, prim.a + prim.b.x]
    }

    fn area(prim: &Primitive) -> f32 {
        4.0 * PI * prim.b.x * prim.b.x
    }

    #[inline(always)]
    fn sample([center, b, _]: [Vec3; 3], _area: f32, u: Vec2) -> (Vec3, Vec3) {
        let n = sample_uniform_sphere(u);
        (center + b.x * n, n)
    }
}

impl Analytic for Sphere {
    #[inline(always)]
    fn meet<F: Real>(
        prim: &Primitive,
        o: Vec3s<F>,
        d: Vec3s<F>,
        t_max: F,
        rays: F::Mask,
    ) -> Option<LaneHits<F>> {
        meet(o, F::splat(prim.b.x), d, t_max, rays)
    }

    #[inline(always)]
    fn point(prim: &Primitive, ray: &Ray, t: f32, b: [f32; 2]) -> AnalyticPoint {
        let n = (ray.at(t) - prim.a).normalize();
        AnalyticPoint { p: prim.a + prim.b.x * n, n, b }
    }

    #[inline(always)]
    fn uv(prim: &Primitive, n: Vec3, _b: [f32; 2]) -> Vec2 {
        uv(prim, n)
    }

    #[inline(always)]
    fn uv_of_sample(prim: &Primitive, p: Vec3, _u: Vec2) -> Vec2 {
        uv(prim, (p - prim.a).normalize())
    }

    #[inline(always)]
    fn derivatives(prim: &Primitive, n: Vec3, _b: [f32; 2]) -> (Vec3, Vec3) {
        derivatives(prim, n)
    }

    #[inline(always)]
    fn dp_du(prim: &Primitive, n: Vec3, _b: [f32; 2]) -> Vec3 {
        prim.b.y * dp_dphi(prim.c, n)
    }
}
