//! Directions along surfaces, against finite differences of the parameterisations in f64.

use std::f64::consts::{PI, TAU};

use device::shape::sphere;
use device::shape::triangle::dp_du;
use glam::{Vec2, Vec3};

use crate::common::vector::{DVec3, wide};
use crate::common::{Random, polar};

/// The point of a triangle's plane that has texture coordinates `at`: its barycentric coordinates solve two linear
/// equations.
fn point_at(vertices: [Vec3; 3], uvs: [Vec2; 3], at: [f64; 2]) -> DVec3 {
    let [p0, p1, p2] = vertices.map(wide);
    let [a, b, c] = uvs.map(|uv| [f64::from(uv.x) - at[0], f64::from(uv.y) - at[1]]);
    let cross = |p: [f64; 2], q: [f64; 2]| p[0] * q[1] - p[1] * q[0];
    let weights = [cross(b, c), cross(c, a), cross(a, b)];
    (weights[0] * p0 + weights[1] * p1 + weights[2] * p2) / weights.iter().sum()
}

/// A triangle, and texture coordinates on it: near 0 and far away, mirrored and not.
fn triangle(random: &mut Random, i: u32) -> ([Vec3; 3], [Vec2; 3]) {
    let size = random.power_of_ten(-3.0, 3.0);
    let vertices = [(); 3].map(|()| (size * random.in_cube()).to_f32());
    let scale = random.power_of_ten(-4.0, 2.0) as f32;
    let offset = if i.is_multiple_of(3) { 1000.0 * random.vec2() } else { Vec2::ZERO };
    (vertices, [(); 3].map(|()| offset + scale * (2.0 * random.vec2() - 1.0)))
}

/// Twice the signed area in texture space over the product of two edges: the sine of the angle between them.
fn sine(uvs: [Vec2; 3]) -> f64 {
    let [a, b, c] = uvs.map(|uv| wide(uv.extend(0.0)));
    let ([e1, e2], scale) = ([b - a, c - a], (b - a).length() * (c - a).length());
    if scale > 0.0 { e1.cross(e2).z / scale } else { 0.0 }
}

/// Largest angle between what `tangent` yields for triangles and the direction in which the point with texture
/// coordinates (u, v) moves with u. Looks at mirrored ones only, or at the others.
fn triangle_error(mirrored: bool, tangent: impl Fn([Vec3; 3], [Vec2; 3]) -> Vec3) -> f64 {
    let (mut random, mut seen, mut worst) = (Random::new(1), 0, 0.0_f64);
    for i in 0..100_000 {
        let (vertices, uvs) = triangle(&mut random, i);
        let sine = sine(uvs);
        if sine.abs() < 1e-3 || (sine < 0.0) != mirrored {
            continue;
        }
        seen += 1;
        let [u, v] = [f64::from(uvs[0].x), f64::from(uvs[0].y)];
        // The map is linear: no step is too long.
        let h = f64::from((uvs[1] - uvs[0]).length());
        let moved = point_at(vertices, uvs, [u + h, v]) - point_at(vertices, uvs, [u - h, v]);
        worst = worst.max((wide(tangent(vertices, uvs)) - moved.normalize()).length());
    }
    assert!(seen > 30_000, "{seen} prove nothing");
    worst
}

#[test]
fn tangents_of_triangles_point_to_where_u_grows() {
    for mirrored in [false, true] {
        let worst = triangle_error(mirrored, dp_du);
        assert!(worst < 3e-7, "off by {worst}, mirrored: {mirrored}");
    }
}

#[test]
fn control_other_tangents_are_rejected() {
    let unsigned =
        |vertices: [Vec3; 3], uvs: [Vec2; 3]| dp_du(vertices, uvs) * if sine(uvs) < 0.0 { -1.0 } else { 1.0 };
    assert!(triangle_error(false, unsigned) < 3e-7);
    assert!(triangle_error(true, unsigned) > 1.9, "the sign of the area goes unnoticed");
    let along_v = |vertices, uvs: [Vec2; 3]| dp_du(vertices, uvs.map(|uv| Vec2::new(uv.y, uv.x)));
    assert!(triangle_error(false, along_v) > 1.0);
    let first_edge = |[a, b, _]: [Vec3; 3], _| (b - a).normalize();
    assert!(triangle_error(false, first_edge) > 1.0);
}

#[test]
fn texture_coordinates_that_span_no_area_yield_no_tangent() {
    let vertices = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let (a, b) = (Vec2::new(0.25, 0.75), Vec2::new(0.5, 0.125));
    for uvs in [[a; 3], [a, a, b], [a, b, a], [b, a, a], [a, b, 0.5 * (a + b)], [Vec2::ZERO, a, 3.0 * a]] {
        assert_eq!(dp_du(vertices, uvs), Vec3::ZERO, "{uvs:?}");
    }
    assert_eq!(dp_du([Vec3::ONE; 3], [Vec2::ZERO, Vec2::X, Vec2::Y]), Vec3::ZERO);
}

/// Texture coordinates and triangles at the ends of what is let in: still a unit vector.
#[test]
fn sizes_do_not_matter_to_tangents() {
    for p in [1e-9, 1.0, 1e9_f32] {
        for t in [1e-38, 1e-20, 1.0, 1e9_f32] {
            let uvs = [Vec2::ZERO, Vec2::X, Vec2::Y].map(|uv| t * uv);
            let found = dp_du([Vec3::ZERO, Vec3::Y, Vec3::Z].map(|v| p * v), uvs);
            assert_eq!(found, Vec3::Y, "size {p}, texture {t}");
        }
    }
}

/// Largest difference between what `tangent` yields for an axis and a normal, and how the point of a sphere turned by
/// chance moves with its azimuth.
fn sphere_error(tangent: impl Fn(Vec3, Vec3) -> Vec3) -> f64 {
    let (mut random, mut worst) = (Random::new(2), 0.0_f64);
    for _ in 0..100_000 {
        let z = random.direction();
        let x = z.any_orthonormal();
        let y = z.cross(x);
        let (phi, theta) = (random.within(0.0, TAU), random.within(0.0, PI));
        let point = |phi: f64| {
            let p = polar(theta.cos(), phi);
            p.x * x + p.y * y + p.z * z
        };
        let h = 1e-5;
        let moved = (point(phi + h) - point(phi - h)) / (2.0 * h);
        worst = worst.max((wide(tangent(z.to_f32(), point(phi).to_f32())) - moved).length());
    }
    worst
}

#[test]
fn tangents_of_spheres_point_to_where_the_azimuth_grows() {
    let worst = sphere_error(sphere::dp_dphi);
    assert!(worst < 3e-7, "off by {worst}");
    assert_eq!(sphere::dp_dphi(Vec3::Y, Vec3::Y), Vec3::ZERO);
}

#[test]
fn control_spheres_that_are_not_turned_are_rejected() {
    assert!(sphere_error(|_, n| sphere::dp_dphi(Vec3::Z, n)) > 1.0);
    assert!(sphere_error(|axis, n| sphere::dp_dphi(n, axis)) > 1.0);
}
