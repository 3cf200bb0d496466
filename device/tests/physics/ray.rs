//! Where rays start: just off the surface they leave, on the right side, so that they do not hit it again.

use std::f64::consts::TAU;

use device::ray::{Ray, TraversalRay, offset_ray_origin};
use device::shape::triangle;
use glam::Vec3;

use crate::common::Random;
use crate::common::vector::{DVec3, wide};

#[test]
fn points_along_a_ray() {
    let ray = Ray { o: Vec3::new(1.0, 2.0, 3.0), d: Vec3::Y };
    assert_eq!(ray.at(2.5), Vec3::new(1.0, 4.5, 3.0));
}

/// A coordinate moves by 2⁻¹⁵ of itself, or by 2⁻²⁰ of the primitive's largest where that is more, times the normal's:
/// by that much, within the rounding of the product and of the sum.
#[test]
fn points_move_to_the_side_of_the_normal_and_not_far() {
    let mut random = Random::new(1);
    for i in 0..500_000 {
        let size = random.power_of_ten(-6.0, 5.0);
        let mut p = (size * random.in_cube()).to_f32();
        let mut n = random.direction().to_f32();
        if i % 5 == 0 {
            p[i % 3] = [0.0, -0.0, 1.0 / 32.0, -1.0 / 32.0, 1.0][i / 5 % 5];
        }
        if i % 7 == 0 {
            n = Vec3::AXES[i % 3] * if i % 2 == 0 { 1.0 } else { -1.0 };
        }
        let mut extent = p.abs().max_element();
        if i % 2 == 0 {
            extent *= random.power_of_ten(0.0, 3.0) as f32;
        }
        let moved = wide(offset_ray_origin(p, n, extent)) - wide(p);
        assert!(moved.dot(wide(n)) > 0.0, "{p} along {n} moves by {moved:?}");
        let least = f64::from(extent) * 2_f64.powi(-20);
        for (by, (p, n)) in moved.to_array().into_iter().zip(p.to_array().into_iter().zip(n.to_array())) {
            let expected = f64::from(n) * (f64::from(p).abs() * 2_f64.powi(-15)).max(least);
            let rounding = 2_f64.powi(-23) * (f64::from(p).abs() + expected.abs()) + 1e-44;
            assert!((by - expected).abs() <= rounding, "{p} along {n} moves by {by}, not {expected}");
            assert!(by * f64::from(n) >= 0.0, "{p} along {n} moves by {by}");
        }
    }
}

/// How a path leaves a triangle at a point of it.
type Leave = fn(Vec3, Vec3, [Vec3; 3]) -> Vec3;

fn as_paths_do(p: Vec3, side: Vec3, vertices: [Vec3; 3]) -> Vec3 {
    offset_ray_origin(p, side, triangle::extent(vertices))
}

/// A direction on the side of `n`, with the cosine's density or ever closer to grazing.
fn direction_beside(random: &mut Random, n: Vec3) -> Vec3 {
    let n = wide(n);
    let (x, phi) = (n.any_orthonormal(), random.within(0.0, TAU));
    let cos = if random.f64() < 0.5 { random.f64().sqrt() } else { random.power_of_ten(-4.0, -1.0) };
    let across = phi.cos() * x + phi.sin() * n.cross(x);
    (cos * n + (1.0 - cos * cos).sqrt() * across).to_f32().normalize()
}

/// Number of rays that hit the triangle they leave, of 100 000: from both sides of 50 000 points found by rays towards
/// triangles and targets that `make` yields.
fn own_hits(leave: Leave, make: impl Fn(&mut Random) -> ([Vec3; 3], DVec3)) -> u32 {
    let mut random = Random::new(2);
    let (mut points, mut hits) = (0, 0);
    while points < 50_000 {
        let (vertices, target) = make(&mut random);
        let distance = random.power_of_ten(-1.0, 1.0) * (wide(vertices[1]) - wide(vertices[0])).length();
        let o = (target + distance * random.direction()).to_f32();
        let d = (target - wide(o)).normalize().to_f32().normalize();
        let found = triangle::intersect(vertices, &TraversalRay::new(Ray { o, d }), f32::INFINITY);
        let Some((_, b)) = found else { continue };
        points += 1;
        let (p, ng) = (triangle::interpolate(vertices, b), triangle::area_normal(vertices).normalize());
        for side in [ng, -ng] {
            let ray = Ray { o: leave(p, side, vertices), d: direction_beside(&mut random, side) };
            hits +=
                u32::from(triangle::intersect(vertices, &TraversalRay::new(ray), f32::INFINITY).is_some());
        }
    }
    hits
}

/// A triangle of some size somewhere, and a point on it.
fn anywhere(size: f64, place: f64) -> impl Fn(&mut Random) -> ([Vec3; 3], DVec3) {
    move |random| {
        let center = place * random.in_cube();
        let vertices = [0; 3].map(|_| (center + size * random.in_cube()).to_f32());
        let (u, v) = (random.f64(), random.f64());
        let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
        let [a, b, c] = vertices.map(wide);
        (vertices, a + u * (b - a) + v * (c - a))
    }
}

/// A tilted triangle with a point within `near` of the origin of the world, where coordinates are small while the
/// rounding errors of the vertices they are computed from are not.
fn around_the_origin(size: f64, near: f64) -> impl Fn(&mut Random) -> ([Vec3; 3], DVec3) {
    move |random| {
        let n = random.direction();
        let (x, y) = (n.any_orthonormal(), n.cross(n.any_orthonormal()));
        let foot = near * random.within(-1.0, 1.0) * n;
        let vertices = [0.0, 1.0, 2.0].map(|k| {
            let (phi, r) = (TAU * (k + random.within(-0.2, 0.2)) / 3.0, size * random.within(0.5, 1.0));
            (foot + r * phi.cos() * x + r * phi.sin() * y).to_f32()
        });
        (vertices, foot + near * random.within(-1.0, 1.0) * x + near * random.within(-1.0, 1.0) * y)
    }
}

#[test]
fn rays_do_not_hit_the_triangle_they_leave() {
    for (size, place) in [
        (1e-3, 0.0),
        (1e-3, 1.0),
        (1e-3, 100.0),
        (0.03, 0.0),
        (1.0, 0.0),
        (1.0, 1e3),
        (100.0, 0.0),
        (1e4, 0.0),
        (1e4, 1e4),
    ] {
        let hits = own_hits(as_paths_do, anywhere(size, place));
        assert_eq!(hits, 0, "of 100000, for triangles of {size} within {place}");
    }
}

#[test]
fn rays_do_not_hit_the_large_triangle_they_leave_near_the_origin() {
    let cases =
        [(0.1, 1e-3), (1.0, 0.1), (10.0, 0.1), (100.0, 0.1), (1e3, 0.1), (1e3, 1.0), (1e4, 1.0), (1e4, 10.0)];
    let hits = cases.map(|(size, near)| own_hits(as_paths_do, around_the_origin(size, near)));
    assert_eq!(hits, [0; 8], "of 100000 each, for (size, distance from the origin) {cases:?}");
}

#[test]
fn control_rays_that_start_on_the_surface_or_a_fixed_way_off_hit_it() {
    let not_at_all: Leave = |p, _, _| p;
    assert!(own_hits(not_at_all, anywhere(1.0, 0.0)) > 1000);
    let fixed: Leave = |p, side, _| p + 1e-4 * side;
    assert!(own_hits(fixed, anywhere(1.0, 1e4)) > 1000);
}
