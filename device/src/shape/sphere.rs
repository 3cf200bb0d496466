//! Spheres.

use glam::Vec3;

use crate::arch::sqrt;
use crate::ray::Ray;

/// Distance in (0, `t_max`) to a sphere; both sides are hit.
///
/// Haines, Günther & Akenine-Möller 2019, "Precision Improvements for Ray/Sphere Intersection", Ray Tracing
/// Gems ch. 7: the discriminant from the point closest to the centre, and the root without cancellation.
#[inline(always)]
pub fn intersect(center: Vec3, radius: f32, ray: &Ray, t_max: f32) -> Option<f32> {
    let f = ray.o - center;
    let b = -f.dot(ray.d);
    let closest = f + b * ray.d;
    let discriminant = radius * radius - closest.length_squared();
    if discriminant < 0.0 {
        return None;
    }
    let q = b + sqrt(discriminant).copysign(b);
    let c = (f.length() - radius) * (f.length() + radius);
    let (t0, t1) = if b > 0.0 { (c / q, q) } else { (q, c / q) };
    let inside = |t: f32| (t > 0.0 && t < t_max).then_some(t);
    inside(t0).or_else(|| inside(t1))
}
