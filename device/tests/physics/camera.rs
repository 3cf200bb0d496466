//! Camera rays against what cameras are, in f64.

use std::f64::consts::{PI, TAU};

use device::camera::Camera;
use device::filter::{FilterPart, FilterView};
use device::ray::Ray;
use glam::{Vec2, Vec3};

use crate::common::Random;
use crate::common::vector::{DVec3, wide};

const SIZE: [u32; 2] = [60, 40];
const HALF: Vec2 = Vec2::new(0.6, 0.4);

/// Where a camera stands, and its axes.
fn place(random: &mut Random) -> (Vec3, [Vec3; 3]) {
    let forward = random.direction();
    let right = forward.any_orthonormal();
    let up = right.cross(forward);
    let position = Vec3::new(random.f32(), random.f32(), random.f32());
    (position, [right, up, forward].map(DVec3::to_f32))
}

/// The distance of a ray from a point.
fn distance(ray: &Ray, p: DVec3) -> f64 {
    let from = p - wide(ray.o);
    (from - from.dot(wide(ray.d)) * wide(ray.d)).length()
}

#[test]
fn pinholes_have_the_bits_that_they_always_had() {
    let mut random = Random::new(1);
    for _ in 0..1000 {
        let (position, [right, up, forward]) = place(&mut random);
        let (camera, [x, y]) = (
            Camera::perspective(position, [right, up, forward], HALF, SIZE),
            [60.0 * random.f32(), 40.0 * random.f32()],
        );
        let corner = forward - HALF.x * right + HALF.y * up;
        let (du, dv) = ((2.0 * HALF.x / 60.0) * right, (-2.0 * HALF.y / 40.0) * up);
        let ray = camera.ray_through(x, y, random.vec2());
        assert_eq!((ray.o, ray.d), (position, (corner + x * du + y * dv).normalize()));
    }
}

/// The optical axis meets the image at the principal point, and the scale stays.
#[test]
fn principal_points_are_where_the_axis_meets_the_image() {
    let (position, axes) = place(&mut Random::new(2));
    let camera = Camera::perspective_through(Vec2::new(0.1, -0.2), position, axes, HALF, SIZE);
    let at = |x: f32, y: f32| camera.ray(x, y).d;
    assert!((at(60.0 * 0.6, 40.0 * 0.3) - axes[2]).length() < 1e-6);
    let right = (axes[2] + HALF.x * axes[0]).normalize();
    assert!((at(60.0 * 1.1, 40.0 * 0.3) - right).length() < 1e-6, "half an image to the right");
}

/// All rays through a lens meet where the one through its middle meets the plane in focus; at another distance they are
/// spread over the circle of confusion, r·|1 − z/f|.
#[test]
fn lenses_focus_on_a_plane() {
    let mut random = Random::new(3);
    for blades in [0, 5] {
        let (position, axes) = place(&mut random);
        let (radius, focus) = (0.1, 2.5);
        let lens = [radius * axes[0], radius * axes[1]];
        let camera = Camera::perspective(position, axes, HALF, SIZE).with_lens(lens, focus, blades);
        let (x, y) = (60.0 * random.f32(), 40.0 * random.f32());
        let chief = camera.ray(x, y);
        let on_chief = |z: f64| wide(chief.o) + (z / wide(chief.d).dot(wide(axes[2]))) * wide(chief.d);
        let mut widest = 0.0_f64;
        for _ in 0..2000 {
            let ray = camera.ray_through(x, y, random.vec2());
            assert!(distance(&ray, on_chief(2.5)) < 1e-6);
            let to = 4.0 / (wide(ray.d).dot(wide(axes[2])));
            widest = widest.max((wide(ray.o) + to * wide(ray.d) - on_chief(4.0)).length());
            assert!((ray.o - position).dot(axes[2]).abs() < 1e-6 && (ray.o - position).length() < 0.1 + 1e-6);
        }
        let confusion = 0.1 * (1.0_f64 - 4.0 / 2.5).abs();
        assert!(widest < confusion + 1e-5 && widest > 0.97 * confusion, "{widest}, not {confusion}");
    }
}

/// Second moments of the points of a lens of radius 1: ∫x² = r²/4 over a disk, and of a regular polygon with n corners on
/// it (2 + cos 2π/n)/12.
#[test]
fn apertures_are_filled_evenly() {
    let moments = |blades: u32| {
        let axes = [Vec3::X, Vec3::Y, -Vec3::Z];
        let camera =
            Camera::perspective(Vec3::ZERO, axes, HALF, SIZE).with_lens([Vec3::X, Vec3::Y], 1.0, blades);
        let mut random = Random::new(4);
        let (n, mut sums) = (200_000, [0.0; 4]);
        for _ in 0..n {
            let p = wide(camera.ray_through(1.0, 2.0, random.vec2()).o);
            for (sum, x) in sums.iter_mut().zip([p.x, p.y, p.x * p.x, p.y * p.y]) {
                *sum += x / f64::from(n);
            }
        }
        sums
    };
    let expected =
        |blades: u32| if blades == 0 { 0.25 } else { (2.0 + (TAU / f64::from(blades)).cos()) / 12.0 };
    let error = |blades, of| {
        let [x, y, xx, yy] = moments(blades);
        [x, y, xx - expected(of), yy - expected(of)].into_iter().fold(0.0, |a: f64, b: f64| a.max(b.abs()))
    };
    for blades in [0, 3, 4, 5, 6, 9] {
        assert!(error(blades, blades) < 2e-3, "{blades}: {:?}", moments(blades));
    }
    assert!(error(5, 6) > 5e-3 && error(9, 0) > 5e-3, "control: other apertures");
}

/// Blades have a corner on the first axis, and none of their points beyond their edges.
#[test]
fn blades_have_straight_edges() {
    let camera = Camera::perspective(Vec3::ZERO, [Vec3::X, Vec3::Y, -Vec3::Z], HALF, SIZE).with_lens(
        [Vec3::X, Vec3::Y],
        1.0,
        5,
    );
    let (mut random, mut farthest) = (Random::new(5), 0.0_f32);
    for _ in 0..20_000 {
        let p = camera.ray_through(0.0, 0.0, random.vec2()).o;
        for k in 0..5 {
            let middle = (f64::from(k) + 0.5) * TAU / 5.0;
            let out = f64::from(p.x) * middle.cos() + f64::from(p.y) * middle.sin();
            assert!(out < (PI / 5.0).cos() + 1e-6);
        }
        farthest = farthest.max(p.x);
    }
    assert!(farthest > 0.97);
}

#[test]
fn parallel_rays_start_in_the_image() {
    let (position, axes) = place(&mut Random::new(6));
    let camera = Camera::orthographic(position, axes, HALF, SIZE);
    let mut random = Random::new(7);
    for _ in 0..1000 {
        let (x, y) = (60.0 * random.f32(), 40.0 * random.f32());
        let ray = camera.ray_through(x, y, random.vec2());
        let at = position + HALF.x * (x / 30.0 - 1.0) * axes[0] + HALF.y * (1.0 - y / 20.0) * axes[1];
        assert!((ray.o - at).length() < 1e-6 && ray.d == axes[2]);
        assert!(
            (ray.o - position - HALF.x * (x / 30.0 - 1.0) * axes[0]).length() > 0.0,
            "control: only along x"
        );
    }
    assert_eq!((camera.cone(axes[2]).width, camera.cone(axes[2]).spread), (0.02, 0.0), "a pixel of 2 cm");
}

#[test]
fn panoramas_show_all_directions() {
    let (position, axes) = place(&mut Random::new(8));
    let camera = Camera::panorama(position, axes, SIZE);
    let [right, up, forward] = axes.map(wide);
    let mut random = Random::new(9);
    let expected = |x: f64, y: f64| {
        let (lon, lat) = (TAU * (x / 60.0 - 0.5), PI * (0.5 - y / 40.0));
        lat.cos() * (lon.sin() * right + lon.cos() * forward) + lat.sin() * up
    };
    // Filters reach beyond the edges.
    for _ in 0..5000 {
        let (x, y) = (random.within(-2.0, 62.0) as f32, random.within(-2.0, 42.0) as f32);
        let ray = camera.ray_through(x, y, random.vec2());
        let error = |x: f64, y: f64| (wide(ray.d) - expected(x, y)).length();
        assert!(error(x.into(), y.into()) < 1e-6, "{x} {y}: {}", ray.d);
        assert!(error(f64::from(x), f64::from(y) + 0.01) > 1e-6, "control");
        assert_eq!(ray.o, position);
    }
    assert!((camera.ray(30.0, 20.0).d - axes[2]).length() < 1e-6, "straight ahead");
    assert!((camera.ray(45.0, 20.0).d - axes[0]).length() < 1e-6, "right");
    assert!((camera.ray(7.0, 0.0).d - axes[1]).length() < 1e-6, "up");
}

/// The spread of the cone is that of rays a pixel apart: the solid angle between four of them.
#[test]
fn cones_are_as_wide_as_pixels() {
    let (position, axes) = place(&mut Random::new(10));
    let camera = Camera::perspective(position, axes, 3.0 * HALF, SIZE);
    for (x, y) in [(30.0, 20.0), (0.0, 0.0), (59.0, 5.0), (10.0, 39.0)] {
        let d = |dx: f32, dy: f32| wide(camera.ray(x + dx, y + dy).d);
        let across = (d(0.5, 0.0) - d(-0.5, 0.0)).cross(d(0.0, 0.5) - d(0.0, -0.5)).length();
        let spread = f64::from(camera.cone(camera.ray(x, y).d).spread);
        assert!((spread / across.sqrt() - 1.0).abs() < 1e-2, "{spread}, not {}", across.sqrt());
    }
    assert!(
        camera.cone(camera.ray(0.0, 0.0).d).spread < 0.3 * camera.cone(axes[2]).spread,
        "control: not one for all"
    );
}

/// A filter of one part: a box of another radius, or a tent, for which the density within a part is exact.
#[test]
fn parts_of_filters_are_sampled_by_their_density() {
    let tent = FilterPart { start: 0.0, width: 1.5, density: 2.0, weight: 1.0 };
    let sharp = FilterPart { start: 0.0, width: 0.75, density: 1.0, weight: 1.0 };
    let moment = |part: &FilterPart| {
        let filter = FilterView { parts: part, edges: std::ptr::null(), part_count: 1, edge_count: 0 };
        let n = 1 << 12;
        let square = |i: i32| {
            let u = Vec2::new((i as f32 + 0.5) / n as f32, 0.5);
            // SAFETY: the filter has one part.
            let (p, weight) = unsafe { filter.sample(u, [0; 2], [1; 2]) };
            assert_eq!((weight, p.y), (1.0, 0.5));
            (f64::from(p.x) - 0.5).powi(2)
        };
        (0..n).map(square).sum::<f64>() / f64::from(n)
    };
    // r²/6 and r²/3.
    assert!((moment(&tent) - 0.375).abs() < 1e-4, "{}", moment(&tent));
    assert!((moment(&sharp) - 0.1875).abs() < 1e-4, "{}", moment(&sharp));
    let flatter = FilterPart { density: 1.9, ..tent };
    assert!((moment(&flatter) - 0.375).abs() > 1e-2, "control: another density");
}
