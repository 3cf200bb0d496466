//! Intersection with spheres and triangles against f64.

use device::light::Light;
use device::ray::{Ray, TraversalRay, offset_ray_origin};
use device::shape::{Kind, Primitive, sphere, triangle};
use glam::Vec3;

use crate::common::Random;
use crate::common::vector::{DVec3, wide};

/// Roundings to f32 are off by this part at most.
const EPS: f64 = 1.0 / 16_777_216.0;

fn ray_towards(o: Vec3, target: DVec3) -> Ray {
    Ray { o, d: (target - wide(o)).normalize().to_f32().normalize() }
}

/// Distances to a sphere along a ray by the quadratic formula, and the distance at which the ray's line passes the
/// centre. The direction need not be a unit vector to the last bit.
fn quadratic(center: Vec3, radius: f32, ray: &Ray) -> (Option<[f64; 2]>, f64) {
    let (f, d, r) = (wide(ray.o) - wide(center), wide(ray.d), f64::from(radius));
    let (a, b, c) = (d.dot(d), f.dot(d), f.dot(f) - r * r);
    let passes = (f - (b / a) * d).length();
    // With r² − passes² the discriminant does not cancel in f64 either.
    let discriminant = a * (r - passes) * (r + passes);
    if discriminant < 0.0 {
        return (None, passes);
    }
    let q = -b - discriminant.sqrt().copysign(b);
    let (t0, t1) = (q / a, c / q);
    (Some([t0.min(t1), t0.max(t1)]), passes)
}

/// A sphere and a ray towards it or past it: radii of 10⁻³ to 10⁴, up to 10⁵ radii away.
fn sphere_and_ray(random: &mut Random, i: u32) -> (Vec3, f32, Ray) {
    let radius = random.power_of_ten(-3.0, 4.0);
    let center = if i.is_multiple_of(2) { DVec3::ZERO } else { 10.0 * random.in_cube() };
    let distance = radius
        * if i.is_multiple_of(3) {
            1.0 + random.power_of_ten(-3.0, 0.0)
        } else {
            random.power_of_ten(0.1, 5.0)
        };
    let o = (center + distance * random.direction()).to_f32();
    let target = center + 1.1 * radius * random.in_cube();
    (center.to_f32(), radius as f32, ray_towards(o, target))
}

/// Differences of hits from f64: number of hits, number of wrong decisions, and largest distance from the sphere, in units
/// of the error that coordinates of this size have. Rays that pass its edge within eight of these do not count.
fn sphere_error(intersect: impl Fn(Vec3, f32, &Ray) -> Option<f32>, seed: u64) -> (u32, u32, f64) {
    let mut random = Random::new(seed);
    let (mut hits, mut wrong, mut worst) = (0, 0, 0.0_f64);
    for i in 0..300_000 {
        let (center, radius, ray) = sphere_and_ray(&mut random, i);
        let (exact, passes) = quadratic(center, radius, &ray);
        let scale = EPS * (wide(ray.o) - wide(center)).length().max(radius.into());
        if (passes - f64::from(radius)).abs() < 8.0 * scale {
            continue;
        }
        let exact = exact.filter(|t| t[1] > 0.0).map(|t| if t[0] > 0.0 { t[0] } else { t[1] });
        match (exact, intersect(center, radius, &ray)) {
            (None, None) => {}
            (Some(exact), Some(t)) => {
                hits += 1;
                // Along the ray, errors grow where it is grazing.
                let grazing = (1.0 - (passes / f64::from(radius)).powi(2)).sqrt();
                worst = worst.max((f64::from(t) - exact).abs() * grazing / scale);
            }
            _ => wrong += 1,
        }
    }
    (hits, wrong, worst)
}

#[test]
fn spheres_are_hit_where_f64_hits_them() {
    let (hits, wrong, worst) = sphere_error(|c, r, ray| sphere::intersect(c, r, ray, f32::INFINITY), 1);
    assert!(hits > 50_000, "{hits} prove nothing");
    assert!(wrong == 0 && worst < 8.0, "{wrong} of {hits} wrong, distances off by {worst} roundings");
}

#[test]
fn control_the_textbook_quadratic_is_rejected() {
    let textbook = |center: Vec3, radius: f32, ray: &Ray| {
        let f = ray.o - center;
        let (b, c) = (f.dot(ray.d), f.length_squared() - radius * radius);
        let discriminant = b * b - c;
        (discriminant >= 0.0).then(|| -b - discriminant.sqrt()).filter(|&t| t > 0.0)
    };
    let (_, wrong, worst) = sphere_error(textbook, 1);
    assert!(wrong > 100 && worst > 1000.0, "{wrong} wrong, distances off by {worst} roundings");
}

/// From where paths start, just off the surface: the sphere is not hit again on the way out, and on the way in is hit
/// at the other end of the chord.
#[test]
fn rays_leave_spheres_and_cross_them() {
    let mut random = Random::new(2);
    for i in 0..300_000 {
        let radius = random.power_of_ten(-3.0, 4.0) as f32;
        let center = if i % 2 == 0 { Vec3::ZERO } else { (f64::from(radius) * random.in_cube()).to_f32() };
        let n = random.direction().to_f32().normalize();
        // As shading computes it.
        let p = center + radius * n;
        let d = random.direction().to_f32().normalize();
        let d = if n.dot(d) < 0.0 { -d } else { d };
        let out = Ray { o: offset_ray_origin(p, n, center.abs().max_element() + radius), d };
        let hit = sphere::intersect(center, radius, &out, f32::INFINITY);
        assert!(hit.is_none(), "radius {radius} at {center}: {out:?} hits again at {hit:?}");
        let inwards = Ray { o: offset_ray_origin(p, -n, center.abs().max_element() + radius), d: -d };
        let chord = 2.0 * f64::from(radius) * wide(n).dot(wide(d));
        let t = sphere::intersect(center, radius, &inwards, f32::INFINITY);
        let t = f64::from(t.expect("the other side is hit"));
        // The offset moves a grazing chord by √(2·offset/radius) of the radius at most.
        let offset = (wide(inwards.o) - wide(p)).length() + 4.0 * EPS * f64::from(radius + center.length());
        let moved = 2.0 * (2.0 * offset * f64::from(radius)).sqrt() + 2.0 * offset;
        assert!((t - chord).abs() < moved, "radius {radius} at {center}: {t}, not {chord}");
    }
}

#[test]
fn the_beginning_of_a_ray_is_open_and_its_end_closed() {
    let ray = Ray { o: Vec3::new(0.0, 0.0, 3.0), d: -Vec3::Z };
    assert_eq!(sphere::intersect(Vec3::ZERO, 1.0, &ray, f32::INFINITY), Some(2.0));
    assert_eq!(sphere::intersect(Vec3::ZERO, 1.0, &ray, 2.0), Some(2.0));
    assert_eq!(sphere::intersect(Vec3::ZERO, 1.0, &ray, 2.0_f32.next_down()), None);
    let inside = Ray { o: Vec3::ZERO, d: Vec3::X };
    assert_eq!(sphere::intersect(Vec3::ZERO, 1.0, &inside, f32::INFINITY), Some(1.0));
    let behind = Ray { o: Vec3::new(0.0, 0.0, 3.0), d: Vec3::Z };
    assert_eq!(sphere::intersect(Vec3::ZERO, 1.0, &behind, f32::INFINITY), None);
    let vertices = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let down = TraversalRay::new(Ray { o: Vec3::new(0.25, 0.25, 3.0), d: -Vec3::Z });
    assert_eq!(triangle::intersect(vertices, &down, f32::INFINITY).map(|h| h.0), Some(3.0));
    assert_eq!(triangle::intersect(vertices, &down, 3.0).map(|h| h.0), Some(3.0));
    assert_eq!(triangle::intersect(vertices, &down, 3.0_f32.next_down()), None);
}

/// Distance, barycentric coordinates of vertices 1 and 2, and the sine of the angle at which the plane is met, by
/// Cramer's rule in f64.
fn cramer(vertices: [Vec3; 3], ray: &Ray) -> (f64, [f64; 2], f64) {
    let [a, b, c] = vertices.map(wide);
    let (e1, e2, d, s) = (b - a, c - a, wide(ray.d), wide(ray.o) - a);
    let n = e1.cross(e2);
    let det = -n.dot(d);
    let sd = s.cross(d);
    (n.dot(s) / det, [e2.dot(sd) / det, -e1.dot(sd) / det], det.abs() / n.length() / d.length())
}

/// Worst errors over random triangles: wrong decisions, and barycentric coordinates and distances in roundings.
fn triangle_errors(
    intersect: impl Fn([Vec3; 3], &TraversalRay) -> Option<(f32, [f32; 2])>,
) -> (u32, u32, f64, f64) {
    let mut random = Random::new(3);
    let (mut hits, mut wrong, mut worst_b, mut worst_t) = (0, 0, 0.0_f64, 0.0_f64);
    for _ in 0..300_000 {
        let (size, reach) = (random.power_of_ten(-3.0, 4.0), random.power_of_ten(-1.0, 2.0));
        let vertices = [0; 3].map(|_| (size * random.in_cube()).to_f32());
        let o = (size * reach * random.in_cube()).to_f32();
        let weights = [random.within(-0.2, 1.2), random.within(-0.2, 1.2)];
        let [a, b, c] = vertices.map(wide);
        let ray = ray_towards(o, a + weights[0] * (b - a) + weights[1] * (c - a));
        let (t, [b1, b2], sine) = cramer(vertices, &ray);
        // Vertices are projected with an error of their distance, which counts for more in a triangle that is seen
        // edge on, or is a needle.
        let (e1, e2) = (b - a, c - a);
        let longest = e1.length().max(e2.length()).max((b - c).length());
        let height = e1.cross(e2).length() / longest;
        let distance = vertices.map(|v| (wide(v) - wide(o)).length()).into_iter().fold(0.0, f64::max);
        let scale = EPS * distance / (height * sine);
        if scale > 1e-3 {
            continue;
        }
        let margin = b1.min(b2).min(1.0 - b1 - b2);
        match intersect(vertices, &TraversalRay::new(ray)) {
            None if margin > 8.0 * scale => wrong += 1,
            Some(_) if margin < -8.0 * scale => wrong += 1,
            Some((computed, [c1, c2])) => {
                hits += 1;
                let error = (f64::from(c1) - b1).abs().max((f64::from(c2) - b2).abs());
                worst_b = worst_b.max(error / scale);
                worst_t = worst_t.max((f64::from(computed) - t).abs() / (scale * longest));
            }
            None => {}
        }
    }
    (hits, wrong, worst_b, worst_t)
}

#[test]
fn triangles_are_hit_where_f64_hits_them() {
    let (hits, wrong, b, t) = triangle_errors(|v, ray| triangle::intersect(v, ray, f32::INFINITY));
    assert!(hits > 50_000, "{hits} prove nothing");
    assert!(wrong == 0 && b < 8.0 && t < 8.0, "{wrong} of {hits} wrong, off by {b} and {t} roundings");
}

#[test]
fn control_swapped_coordinates_and_a_shifted_plane_are_rejected() {
    let swapped =
        |v, ray: &TraversalRay| triangle::intersect(v, ray, f32::INFINITY).map(|(t, [b, c])| (t, [c, b]));
    assert!(triangle_errors(swapped).2 > 1000.0);
    let farther =
        |v, ray: &TraversalRay| triangle::intersect(v, ray, f32::INFINITY).map(|(t, b)| (t * 1.0001, b));
    assert!(triangle_errors(farther).3 > 1000.0);
    let larger = |[a, b, c]: [Vec3; 3], ray: &TraversalRay| {
        triangle::intersect([a, a + 1.01 * (b - a), a + 1.01 * (c - a)], ray, f32::INFINITY)
    };
    assert!(triangle_errors(larger).1 > 100);
}

#[test]
fn a_primitive_is_of_one_kind_whatever_else_is_said_of_it() {
    let others = Primitive::FLIPPED | Primitive::MIRRORED;
    for (number, kind) in Kind::ALL.iter().enumerate() {
        assert_eq!(*kind as usize, number);
        for flags in [0, Primitive::FLIPPED, Primitive::MIRRORED, others] {
            let prim = Primitive { material_flags: kind.flag() | flags | 7, ..bytemuck::Zeroable::zeroed() };
            assert_eq!((prim.kind(), prim.material()), (*kind, 7));
            assert_eq!(prim.is_flipped(), flags & Primitive::FLIPPED != 0);
            assert_eq!((prim.is_triangle(), prim.is_sphere()), (number == 0, *kind == Kind::Sphere));
        }
    }
    let flags: Vec<_> = Kind::ALL.iter().map(|kind| kind.flag()).chain([others]).collect();
    assert_eq!(
        flags.iter().sum::<u32>(),
        flags.iter().fold(0, |all, flag| all | flag),
        "no bit is two flags'"
    );
    assert_eq!(flags.iter().sum::<u32>(), Primitive::FLAGS);
}

#[test]
fn lights_that_are_shapes_have_kinds_of_their_own() {
    let punctual = [Light::ENVIRONMENT, Light::POINT, Light::SPOT, Light::DIRECTIONAL, Light::IMAGE];
    let mut kinds: Vec<_> = Kind::ALL.iter().map(|kind| Light::of_shape(*kind)).chain(punctual).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, (0..kinds.len() as u32).collect::<Vec<_>>());
}
