//! Warps from the unit square, and frames, against their closed forms.

use device::sampling::{
    Frame, sample_cosine_hemisphere, sample_uniform_cone, sample_uniform_disk_concentric,
    sample_uniform_sphere, sample_uniform_triangle,
};
use glam::{Vec2, Vec3};

use crate::common::statistics::{Grid, Verdicts, chi2_uniform};
use crate::common::vector::wide;
use crate::common::{Random, adversarial_u, turn};

const SAMPLES: usize = 200_000;

/// P-value of `warp(u)` being uniform over the unit square.
fn uniform(seed: u64, warp: impl Fn(Vec2) -> [f64; 2]) -> f64 {
    let (mut random, mut grid) = (Random::new(seed), Grid::new([16, 32]));
    for _ in 0..SAMPLES {
        let [x, y] = warp(random.vec2());
        grid.add(x, y);
    }
    chi2_uniform(&grid.counts)
}

fn assert_unit(v: Vec3) {
    assert!((wide(v).length() - 1.0).abs() < 3e-7, "{v} has length {}", wide(v).length());
}

/// (cos² θ, φ): uniform under the density cos θ / π.
fn cosine_weighted(w: Vec3) -> [f64; 2] {
    let w = wide(w);
    [w.z * w.z, turn(w.x, w.y)]
}

/// (½ (1 − cos θ), φ): uniform on the sphere.
fn on_sphere(w: Vec3) -> [f64; 2] {
    let w = wide(w);
    [0.5 * (1.0 - w.z), turn(w.x, w.y)]
}

/// The part of a cone's solid angle that is closer to the axis, and φ. 1 − cos θ = sin² θ / (1 + cos θ), which is
/// precise where z is not.
fn in_cone(one_minus_cos: f32, w: Vec3) -> [f64; 2] {
    let v = wide(w);
    [(v.x * v.x + v.y * v.y) / (1.0 + v.z) / f64::from(one_minus_cos), turn(v.x, v.y)]
}

/// (r², φ): uniform on the disk.
fn on_disk(p: Vec2) -> [f64; 2] {
    let (x, y) = (f64::from(p.x), f64::from(p.y));
    [x * x + y * y, turn(x, y)]
}

/// ((b1 + b2)², b1/(b1 + b2)): uniform on the triangle.
fn on_triangle(b: Vec2) -> [f64; 2] {
    let (b1, b2) = (f64::from(b.x), f64::from(b.y));
    [(b1 + b2).powi(2), if b1 + b2 == 0.0 { 0.0 } else { b1 / (b1 + b2) }]
}

/// 1 − cos of cones from a microradian to a hemisphere, and to the whole sphere.
const CONES: [f32; 9] = [5e-13, 1e-10, 1e-7, 1e-4, 1e-2, 0.3, 0.999_999, 1.0, 2.0];

#[test]
fn directions_points_and_barycentrics_have_their_densities() {
    let mut verdicts = Verdicts::default();
    verdicts.add(uniform(1, |u| cosine_weighted(sample_cosine_hemisphere(u))), "cosine hemisphere");
    verdicts.add(uniform(2, |u| on_sphere(sample_uniform_sphere(u))), "sphere");
    verdicts.add(uniform(3, |u| on_disk(sample_uniform_disk_concentric(u))), "disk");
    verdicts.add(uniform(4, |u| on_triangle(sample_uniform_triangle(u))), "triangle");
    for cone in CONES {
        verdicts.add(uniform(5, |u| in_cone(cone, sample_uniform_cone(cone, u))), format!("cone {cone}"));
    }
    verdicts.assert_none_rejected();
}

#[test]
fn control_other_densities_are_rejected() {
    let mut verdicts = Verdicts::default();
    let upper = |w: Vec3| Vec3::new(w.x, w.y, w.z.abs());
    verdicts.add(uniform(1, |u| cosine_weighted(upper(sample_uniform_sphere(u)))), "uniform hemisphere");
    verdicts.add(uniform(1, |u| on_sphere(sample_cosine_hemisphere(u))), "cosine on the sphere");
    verdicts.add(uniform(1, |u| on_disk((2.0 * u - 1.0) / 1.415)), "square for disk");
    verdicts.add(uniform(1, |u| on_triangle(Vec2::new(u.x, u.y * (1.0 - u.x)))), "squeezed square");
    // A cone by the angle itself, and a narrow one by cos θ in f32, which has no room for it.
    verdicts.add(
        uniform(1, |u| in_cone(0.3, sample_uniform_cone(0.3 * u.x, Vec2::new(u.x, u.y)))),
        "concentrated cone",
    );
    let by_cosine = |u: Vec2| {
        let z = 1.0 - u.x * 1e-7_f32;
        let (s, c) = (std::f32::consts::TAU * u.y).sin_cos();
        let r = (1.0 - z * z).sqrt();
        Vec3::new(r * c, r * s, z)
    };
    verdicts.add(uniform(1, |u| in_cone(1.3e-7, by_cosine(u))), "narrow cone by cosine");
    verdicts.assert_all_rejected();
}

#[test]
fn directions_are_unit_and_on_their_side() {
    let mut random = Random::new(7);
    let us = adversarial_u().into_iter().chain((0..100_000).map(|_| random.vec2()));
    for u in us {
        let w = sample_cosine_hemisphere(u);
        assert_unit(w);
        assert!(w.z >= 0.0);
        assert_unit(sample_uniform_sphere(u));
        for cone in CONES {
            let w = sample_uniform_cone(cone, u);
            assert_unit(w);
            assert!(w.z >= 1.0 - cone && in_cone(cone, w)[0] < 1.0 + 1e-6, "{w} leaves the cone {cone}");
        }
        let p = sample_uniform_disk_concentric(u);
        assert!(on_disk(p)[0] < 1.0 + 1e-6, "{p}");
        let b = sample_uniform_triangle(u);
        assert!(b.x >= 0.0 && b.y >= 0.0 && b.x + b.y <= 1.0, "{b}");
    }
}

/// The inverse of the concentric map as Shirley and Chiu give it, wedge by wedge.
fn inverse_concentric(p: Vec2) -> [f64; 2] {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
    let (x, y) = (f64::from(p.x), f64::from(p.y));
    let r = x.hypot(y);
    let mut phi = y.atan2(x);
    if phi < -FRAC_PI_4 {
        phi += std::f64::consts::TAU;
    }
    let (a, b) = if phi < FRAC_PI_4 {
        (r, phi * r / FRAC_PI_4)
    } else if phi < 3.0 * FRAC_PI_4 {
        (-(phi - FRAC_PI_2) * r / FRAC_PI_4, r)
    } else if phi < 5.0 * FRAC_PI_4 {
        (-r, -(phi - 2.0 * FRAC_PI_2) * r / FRAC_PI_4)
    } else {
        ((phi - 3.0 * FRAC_PI_2) * r / FRAC_PI_4, -r)
    };
    [0.5 * (a + 1.0), 0.5 * (b + 1.0)]
}

#[test]
fn warps_are_undone_by_their_inverses() {
    let mut random = Random::new(8);
    for _ in 0..100_000 {
        let u = random.vec2();
        let back = |[x, y]: [f64; 2]| (x - f64::from(u.x)).abs().max((y - f64::from(u.y)).abs());
        assert!(back(inverse_concentric(sample_uniform_disk_concentric(u))) < 1e-6, "disk at {u}");
        let cosine = sample_cosine_hemisphere(u);
        assert!(back(inverse_concentric(Vec2::new(cosine.x, cosine.y))) < 1e-6, "hemisphere at {u}");
        let b = sample_uniform_triangle(u);
        // Heitz's map folds along the diagonal: the smaller coordinate is halved and taken off the other.
        let unfolded = if b.y > b.x { [2.0 * b.x, b.y + b.x] } else { [b.x + b.y, 2.0 * b.y] };
        assert!(back(unfolded.map(f64::from)) < 3e-7, "triangle at {u}");
    }
}

/// Largest deviation from orthonormality and right-handedness, in units of 2⁻²⁴.
fn skew(frame: &Frame) -> f64 {
    let [x, y, z] = [frame.x, frame.y, frame.z].map(wide);
    let lengths = [x, y].map(|v| (v.length() - 1.0).abs());
    let angles = [x.dot(y), y.dot(z), z.dot(x)].map(f64::abs);
    let handed = (x.cross(y) - z).length();
    lengths.into_iter().chain(angles).chain([handed]).fold(0.0, f64::max) * 16_777_216.0
}

/// Unit vectors everywhere, and ever closer to ±z.
fn axes() -> impl Iterator<Item = Vec3> {
    let mut random = Random::new(9);
    (0..400_000).map(move |i| {
        let mut v = random.direction();
        if i % 4 == 0 {
            let tilt = random.power_of_ten(-12.0, 0.0);
            v = crate::common::vector::DVec3::new(tilt * v.x, tilt * v.y, v.z.signum()).normalize();
        }
        v.to_f32().normalize()
    })
}

#[test]
fn frames_are_orthonormal_to_a_few_ulps() {
    let special = [Vec3::Z, -Vec3::Z, Vec3::X, -Vec3::X, Vec3::Y, Vec3::new(1.0, 0.0, -0.0)];
    let mut random = Random::new(10);
    let mut worst: f64 = 0.0;
    for z in axes().chain(special) {
        let frame = Frame::from_z(z);
        worst = worst.max(skew(&frame));
        let v = random.direction().to_f32();
        let back = frame.to_world(frame.to_local(v));
        assert!((back - v).length() < 1e-6, "{v} comes back as {back}");
        assert!((frame.to_local(z) - Vec3::Z).length() < 5e-7 && frame.to_world(Vec3::Z) == z);
    }
    assert!(worst < 8.0, "{worst} ulps");
}

/// Frisvad 2012, whose loss of precision near −z Duff and others set out to repair.
#[test]
fn control_an_older_construction_is_skewed() {
    let frisvad = |n: Vec3| {
        let (a, b) = (1.0 / (1.0 + n.z), -n.x * n.y / (1.0 + n.z));
        Frame { x: Vec3::new(1.0 - n.x * n.x * a, b, -n.x), y: Vec3::new(b, 1.0 - n.y * n.y * a, -n.y), z: n }
    };
    let worst = axes().filter(|z| z.z > -1.0).map(|z| skew(&frisvad(z))).fold(0.0, f64::max);
    assert!(worst > 1000.0, "{worst} ulps");
}

/// Unit vectors, and vectors of all lengths at all angles to them, with the sine of the angle.
fn axes_and_tangents() -> impl Iterator<Item = (Vec3, Vec3, f64)> {
    let mut random = Random::new(11);
    axes().map(move |z| {
        let across = random.direction();
        let angle = random.power_of_ten(-5.0, 0.0);
        let x = (across - wide(z).dot(across) * wide(z)).normalize();
        let side = if random.f32() < 0.5 { -1.0 } else { 1.0 };
        let along = (angle.sin() * x + side * angle.cos() * wide(z)).to_f32();
        let sine = wide(along).cross(wide(z)).length();
        (z, along * random.power_of_ten(-10.0, 10.0) as f32, sine)
    })
}

#[test]
fn frames_along_a_tangent_are_orthonormal_and_contain_it() {
    let mut worst: f64 = 0.0;
    for (z, along, sine) in axes_and_tangents() {
        let frame = Frame::from_z_x(z, along);
        worst = worst.max(skew(&frame));
        assert_eq!(frame.z, z);
        let along = wide(along).normalize();
        let (x, y) = (along.dot(wide(frame.x)), along.dot(wide(frame.y)));
        assert!(x > 0.0 && y.abs() < 3e-7, "{along:?} is ({x}, {y}) across {z}, sine {sine}");
    }
    assert!(worst < 8.0, "{worst} ulps");
}

#[test]
fn frames_without_a_tangent_are_any() {
    for z in axes().take(1000) {
        for along in [Vec3::ZERO, z, -z, 1e6 * z, 1e-30 * z, Vec3::splat(1e-25)] {
            let (frame, any) = (Frame::from_z_x(z, along), Frame::from_z(z));
            assert_eq!([frame.x, frame.y, frame.z], [any.x, any.y, any.z], "{z} along {along}");
        }
    }
}

/// Gram–Schmidt as textbooks have it leaves what cancels.
#[test]
fn control_frames_made_orthogonal_once_are_skewed() {
    let once = |z: Vec3, along: Vec3| {
        let x = (along - z.dot(along) * z).normalize();
        Frame { x, y: z.cross(x), z }
    };
    let worst = axes_and_tangents().map(|(z, along, _)| skew(&once(z, along))).fold(0.0, f64::max);
    assert!(worst > 1000.0, "{worst} ulps");
    let mut rejected = 0;
    for (z, along, sine) in axes_and_tangents().filter(|(.., sine)| *sine > 0.1) {
        let (any, along) = (Frame::from_z(z), wide(along).normalize());
        rejected += u32::from(along.dot(wide(any.y)).abs() > 3e-7);
        assert!(sine <= 1.0 + 1e-6);
    }
    assert!(rejected > 10_000, "frames that know of no tangent contain it");
}
