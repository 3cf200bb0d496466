//! Intersection with disks and the sides of cylinders against f64.

use device::features::Full;
use device::ray::{Ray, TraversalRay, offset_ray_origin};
use device::shape::{self, Kind, Primitive, analytic_point};
use glam::Vec3;

use crate::common::Random;
use crate::common::vector::{DVec3, wide};

/// Roundings to f32 are off by this part at most.
const EPS: f64 = 1.0 / 16_777_216.0;

fn primitive(kind: Kind, [a, b, c]: [Vec3; 3]) -> Primitive {
    let (light, normals) = (Primitive::NO_LIGHT, Primitive::FLAT);
    Primitive { a, material_flags: kind.flag(), b, light, c, normals }
}

fn ray_towards(o: Vec3, target: DVec3) -> Ray {
    Ray { o, d: (target - wide(o)).normalize().to_f32().normalize() }
}

fn intersect(prim: &Primitive, ray: &Ray) -> Option<(f32, [f32; 2])> {
    shape::intersect::<Full>(prim, &TraversalRay::new(*ray), f32::INFINITY)
}

/// Where rays start: from next to a shape of this size to 10⁵ of it away.
fn origin(random: &mut Random, i: u32, center: DVec3, size: f64) -> Vec3 {
    let distance =
        size * if i.is_multiple_of(3) { random.within(0.0, 2.0) } else { random.power_of_ten(0.1, 5.0) };
    (center + distance * random.direction()).to_f32()
}

/// Number of hits, number of wrong decisions, and largest distance of hit points from where f64 puts them, in units of the
/// error that coordinates of this size have.
type Errors = (u32, u32, f64);

/// Ellipses of all sizes and proportions.
fn disk_errors(intersect: impl Fn(&Primitive, &Ray) -> Option<(f32, [f32; 2])>) -> Errors {
    let mut random = Random::new(5);
    let (mut hits, mut wrong, mut worst) = (0, 0, 0.0_f64);
    for i in 0..300_000 {
        let size = random.power_of_ten(-3.0, 4.0);
        let center = if i % 2 == 0 { DVec3::ZERO } else { 10.0 * size * random.in_cube() };
        let axes = [0; 2].map(|_| (random.power_of_ten(-1.0, 0.0) * size * random.direction()).to_f32());
        let prim = primitive(Kind::Disk, [center.to_f32(), axes[0], axes[1]]);
        let [a, b, c] = [prim.a, prim.b, prim.c].map(wide);
        let n = b.cross(c);
        let height = n.length() / b.length().max(c.length()); // of needles: their errors count for more
        let o = origin(&mut random, i, a, size);
        let ray = ray_towards(o, a + random.within(-1.2, 1.2) * b + random.within(-1.2, 1.2) * c);
        let (s, d) = (wide(ray.o) - a, wide(ray.d));
        let det = n.dot(d);
        let sine = det.abs() / n.length();
        let t = -n.dot(s) / det;
        let m = d.cross(s);
        let (x, y) = (c.dot(m) / det, -b.dot(m) / det);
        let scale = EPS * (s.length() + size) / (sine * height);
        if scale > 1e-2 || t.abs() < 8.0 * scale * size {
            continue;
        }
        let exact = t > 0.0 && x * x + y * y <= 1.0;
        match intersect(&prim, &ray) {
            Some((found, b)) if exact => {
                hits += 1;
                let error = (f64::from(b[0]) - x).abs().max((f64::from(b[1]) - y).abs());
                worst = worst.max(error / scale).max((f64::from(found) - t).abs() / (scale * size));
            }
            None if !exact => {}
            _ => wrong += u32::from(((x * x + y * y).sqrt() - 1.0).abs() > 8.0 * scale),
        }
    }
    (hits, wrong, worst)
}

#[test]
fn disks_are_hit_where_f64_hits_them() {
    let (hits, wrong, worst) = disk_errors(intersect);
    println!("disks: {hits} hits, off by {worst} roundings");
    assert!(hits > 50_000 && wrong == 0 && worst < 8.0, "{wrong} of {hits} wrong, off by {worst} roundings");
    let swapped = |prim: &Primitive, ray: &Ray| intersect(prim, ray).map(|(t, [x, y])| (t, [y, x]));
    assert!(disk_errors(swapped).2 > 1e3, "control: coordinates swapped");
    let larger = |prim: &Primitive, ray: &Ray| intersect(&Primitive { b: 1.001 * prim.b, ..*prim }, ray);
    assert!(disk_errors(larger).1 > 10, "control: larger by 0.1 %");
}

/// Distances to the tube around the axis by the quadratic formula in f64, how far from the axis the line passes, and the
/// sine of the angle between both.
fn tube(prim: &Primitive, ray: &Ray) -> (Option<[f64; 2]>, f64, f64) {
    let (w, radius) = (wide(prim.c).normalize(), f64::from(prim.b.x));
    let (s, d) = (wide(ray.o) - wide(prim.a), wide(ray.d));
    let (s, d) = (s - s.dot(w) * w, d - d.dot(w) * w);
    let (a, b) = (d.dot(d), s.dot(d));
    let passes = (s - (b / a) * d).length();
    let discriminant = a * (radius - passes) * (radius + passes);
    let roots = (discriminant >= 0.0).then(|| {
        let q = -b - discriminant.sqrt().copysign(b);
        let (t0, t1) = (q / a, (s.length() - radius) * (s.length() + radius) / q);
        [t0.min(t1), t0.max(t1)]
    });
    (roots, passes, a.sqrt() / wide(ray.d).length())
}

/// Cylinders of all sizes and proportions.
fn cylinder_errors(intersect: impl Fn(&Primitive, &Ray) -> Option<(f32, [f32; 2])>) -> Errors {
    let mut random = Random::new(6);
    let (mut hits, mut wrong, mut worst) = (0, 0, 0.0_f64);
    for i in 0..300_000 {
        let radius = random.power_of_ten(-3.0, 4.0);
        let length = radius * random.power_of_ten(-1.0, 1.5);
        let size = radius.max(length);
        let center = if i % 2 == 0 { DVec3::ZERO } else { 10.0 * size * random.in_cube() };
        let axis = (length * random.direction()).to_f32();
        let prim = primitive(Kind::Cylinder, [center.to_f32(), Vec3::new(radius as f32, 1.0, 0.0), axis]);
        let (a, w) = (wide(prim.a), wide(axis).normalize());
        let o = origin(&mut random, i, a, size);
        let target = a + random.within(-0.1, 1.1) * wide(axis) + 1.1 * radius * random.in_cube();
        let ray = ray_towards(o, target);
        let (roots, passes, sine) = tube(&prim, &ray);
        let s = wide(ray.o) - a;
        let scale = EPS * (s.length() + size);
        // Along the axis, errors across it grow; and along the ray where it grazes.
        let across = scale / sine;
        if across > 0.01 * radius || (passes - radius).abs() < 8.0 * across {
            continue;
        }
        let grazing = (1.0 - (passes / radius).powi(2)).abs().sqrt() * sine;
        let along = 8.0 * across / grazing;
        let z = |t: f64| (s + t * wide(ray.d)).dot(w);
        let near_end = |t: f64| z(t).abs().min((z(t) - wide(axis).length()).abs()) < along || t.abs() < along;
        let roots = roots.unwrap_or_default();
        if roots.into_iter().any(near_end) && roots != [0.0; 2] {
            continue;
        }
        let inside = |t: &f64| *t > 0.0 && z(*t) >= 0.0 && z(*t) <= wide(axis).length();
        let exact = roots.into_iter().find(|t| roots != [0.0; 2] && inside(t));
        match (exact, intersect(&prim, &ray)) {
            (None, None) => {}
            (Some(t), Some((found, _))) => {
                hits += 1;
                worst = worst.max((f64::from(found) - t).abs() * grazing / across);
            }
            _ => wrong += 1,
        }
    }
    (hits, wrong, worst)
}

#[test]
fn cylinders_are_hit_where_f64_hits_them() {
    let (hits, wrong, worst) = cylinder_errors(intersect);
    println!("cylinders: {hits} hits, off by {worst} roundings");
    assert!(hits > 50_000 && wrong == 0 && worst < 8.0, "{wrong} of {hits} wrong, off by {worst} roundings");
    let longer = |prim: &Primitive, ray: &Ray| intersect(&Primitive { c: 1.001 * prim.c, ..*prim }, ray);
    assert!(cylinder_errors(longer).1 > 10, "control: longer by 0.1 %");
}

#[test]
fn control_the_textbook_quadratic_is_rejected() {
    let textbook = |prim: &Primitive, ray: &Ray| {
        let (w, length) = (prim.c.normalize(), prim.c.length());
        let s = ray.o - prim.a;
        let (p, d) = (s - s.dot(w) * w, ray.d - ray.d.dot(w) * w);
        let (a, b, c) = (d.dot(d), p.dot(d), p.dot(p) - prim.b.x * prim.b.x);
        let root = (b * b - a * c).sqrt();
        let met = |t: &f32| *t > 0.0 && (0.0..=length).contains(&(s + *t * ray.d).dot(w));
        [(-b - root) / a, (-b + root) / a].into_iter().find(met).map(|t| (t, [0.0; 2]))
    };
    let (_, wrong, worst) = cylinder_errors(textbook);
    assert!(wrong > 100 && worst > 100.0, "{wrong} wrong, off by {worst} roundings");
}

/// From where paths start, just off the surface, along the normal's side: not hit again, or at the other end of the chord.
#[test]
fn rays_leave_disks_and_cylinders() {
    let mut random = Random::new(7);
    for i in 0..200_000 {
        let size = random.power_of_ten(-3.0, 4.0);
        let center = if i % 2 == 0 { DVec3::ZERO } else { 100.0 * size * random.in_cube() };
        let kind = if i % 4 < 2 { Kind::Disk } else { Kind::Cylinder };
        let axis = (size * random.direction()).to_f32();
        let b = match kind {
            Kind::Disk => (size * random.direction()).to_f32(),
            _ => Vec3::new((size * random.power_of_ten(-1.0, 0.5)) as f32, 1.0, 0.0),
        };
        let prim = primitive(kind, [center.to_f32(), b, axis]);
        let o = origin(&mut random, i, wide(prim.a), size);
        let ray = ray_towards(
            o,
            wide(prim.a) + random.within(0.0, 1.0) * wide(axis) + 0.3 * size * random.in_cube(),
        );
        let Some((t, b)) = intersect(&prim, &ray) else { continue };
        let at = analytic_point::<Full>(&prim, &ray, t, b);
        let d = random.direction().to_f32().normalize();
        let n = at.n * 1.0_f32.copysign(at.n.dot(d));
        let out = Ray { o: offset_ray_origin(at.p, n, prim.extent()), d };
        let hit = intersect(&prim, &out);
        if kind == Kind::Disk || at.n.dot(d) >= 0.0 {
            assert!(hit.is_none(), "{prim:?} is hit again by {out:?} at {hit:?}");
        } else if let Some((t, _)) = hit {
            // The chord across the tube is as long as this.
            let w = wide(prim.c).normalize();
            let across = wide(d) - wide(d).dot(w) * w;
            let chord = 2.0 * f64::from(prim.b.x) * -wide(at.n).dot(wide(d)) / across.dot(across);
            let offset = (wide(out.o) - wide(at.p)).length() + 4.0 * EPS * f64::from(prim.extent());
            let moved =
                (2.0 * (2.0 * offset * f64::from(prim.b.x)).sqrt() + 2.0 * offset) / across.dot(across);
            assert!((f64::from(t) - chord).abs() < moved, "{prim:?}: {t}, not {chord}");
        }
    }
}
