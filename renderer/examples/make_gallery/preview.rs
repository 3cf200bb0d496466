//! A ball that shows materials: a shell with a piece cut out, what it stands on, and the ground below, ruled in
//! centimetres. Lengths are metres.

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use glam::{Vec2, Vec3, vec2, vec3};

use super::mesh::Mesh;

/// Outer radius of the shell.
const RADIUS: f32 = 0.05;
/// Its inner radius.
const INSIDE: f32 = 0.043;
/// Radius of the rounded edges of the cut.
const BEVEL: f32 = 0.0011;
/// The cut is an octant less this margin, radians.
const MARGIN: f32 = 0.1;
/// Radius of the corners of the cut, radians.
const CORNER: f32 = 0.16;
/// Vertices around the cut.
const AROUND: u32 = 112;
/// Height of the middle of the ball above the ground.
const HEIGHT: f32 = 0.061;

/// The shell around the origin, without most of what has three positive coordinates. u runs around the cut, and v from the
/// point opposite to it along the outside, over the edge and along the inside.
pub(crate) fn shell() -> Mesh {
    let mut mesh = Mesh::default();
    for azimuth in azimuths() {
        let points = meridian(azimuth);
        let length = points.windows(2).map(|p| p[0].0.distance(p[1].0)).sum::<f32>();
        let mut along = 0.0;
        for (i, (position, normal)) in points.iter().enumerate() {
            along += position.distance(points[i.saturating_sub(1)].0);
            mesh.positions.push(*position);
            mesh.normals.push(*normal);
            mesh.uvs.push(vec2(azimuth / TAU, along / length));
        }
    }
    let rows = mesh.positions.len() as u32 / (AROUND + 1);
    for j in 0..AROUND {
        let [here, next] = [j * rows, (j + 1) * rows];
        let last = rows - 1;
        mesh.triangles.push([here, here + 1, next + 1]);
        mesh.quads.extend((1..last - 1).map(|i| [here + i, here + i + 1, next + i + 1, next + i]));
        mesh.triangles.push([here + last - 1, here + last, next + last - 1]);
    }
    mesh
}

/// Points and normals of the shell from the point opposite to the cut to the edge and back on the inside.
fn meridian(azimuth: f32) -> Vec<(Vec3, Vec3)> {
    /// Pieces of the outside, of the inside and of a rounded edge.
    const PIECES: [usize; 3] = [36, 18, 5];
    let mut points = Vec::new();
    let edge = edge(azimuth, BEVEL / RADIUS);
    for i in 0..PIECES[0] {
        let w = towards(azimuth, PI + (edge - PI) * i as f32 / PIECES[0] as f32);
        points.push((w * RADIUS, w));
    }
    for (radius, sign) in [(RADIUS - BEVEL, 1.0), (INSIDE + BEVEL, -1.0)] {
        for i in 0..=PIECES[2] {
            let turn = FRAC_PI_2 * i as f32 / PIECES[2] as f32;
            // Towards the middle of the cut, and away from the middle of the shell's wall.
            let (inwards, off) = if sign > 0.0 { turn.sin_cos() } else { (turn.cos(), turn.sin()) };
            let w = towards(azimuth, self::edge(azimuth, BEVEL / RADIUS * (1.0 - inwards)));
            let normal = (w * off * sign - away(w) * inwards).normalize();
            points.push((w * (radius + sign * BEVEL * off), normal));
        }
    }
    for i in 1..=PIECES[1] {
        let w = towards(azimuth, edge + (PI - edge) * i as f32 / PIECES[1] as f32);
        points.push((w * INSIDE, -w));
    }
    points
}

/// A direction by its angle to the middle of the cut and by its azimuth around that.
fn towards(azimuth: f32, angle: f32) -> Vec3 {
    let middle = Vec3::ONE.normalize();
    // The seam of u is above the cut and behind it.
    let up = vec3(-1.0, 2.0, -1.0).normalize();
    let across = up.cross(middle);
    // The pole is closed to the last bit.
    let sin = if angle == PI { 0.0 } else { angle.sin() };
    // So is the seam.
    let azimuth = if azimuth == TAU { 0.0 } else { azimuth };
    middle * angle.cos() + (up * azimuth.cos() + across * azimuth.sin()) * sin
}

/// How far a direction is from the cut, radians; negative within. The distance to an octant with rounded corners.
fn distance(w: Vec3) -> f32 {
    beyond(w).length() - CORNER
}

/// By how much a direction is beyond each side of the octant that the corners are rounded around, radians.
fn beyond(w: Vec3) -> Vec3 {
    w.map(|x| MARGIN + CORNER - x.clamp(-1.0, 1.0).asin()).max(Vec3::ZERO)
}

/// The direction along the sphere in which [`distance`] grows.
fn away(w: Vec3) -> Vec3 {
    let gradient = -beyond(w) * w.map(|x| (1.0 - x * x).max(1e-6).sqrt().recip());
    (gradient - w * w.dot(gradient)).normalize()
}

/// The angle to the middle of the cut at which directions of an azimuth are at some distance from it.
fn edge(azimuth: f32, far: f32) -> f32 {
    let (mut inside, mut outside) = (0.0, 1.8);
    for _ in 0..30 {
        let angle = 0.5 * (inside + outside);
        let is_inside = distance(towards(azimuth, angle)) < far;
        *(if is_inside { &mut inside } else { &mut outside }) = angle;
    }
    0.5 * (inside + outside)
}

/// Azimuths around the cut, the first one again at the end: evenly along its edge, and closer where that bends.
fn azimuths() -> Vec<f32> {
    const STEPS: u32 = 3600;
    let at = |i: u32| {
        let w = towards(i as f32 / STEPS as f32 * TAU, edge(i as f32 / STEPS as f32 * TAU, 0.0));
        (w, away(w))
    };
    let mut lengths = vec![0.0];
    for i in 0..STEPS {
        let ((a, before), (b, after)) = (at(i), at((i + 1) % STEPS));
        lengths.push(lengths[i as usize] + a.distance(b) + 0.3 * before.distance(after));
    }
    let found = (0..AROUND).map(|j| {
        let wanted = lengths[STEPS as usize] * j as f32 / AROUND as f32;
        lengths.partition_point(|length| *length < wanted) as f32 / STEPS as f32 * TAU
    });
    found.chain([TAU]).collect()
}

/// Stand of the ball: a foot, and a collar with a dish that fits the ball.
pub(crate) fn base() -> Mesh {
    const GAP: f32 = 1e-4;
    let dish = |r: f32| vec2(r, HEIGHT - ((RADIUS + GAP).powi(2) - r * r).sqrt());
    let corners = [
        vec2(0.038, 0.0),
        vec2(0.038, 0.0065),
        vec2(0.0255, 0.0085),
        vec2(0.0225, 0.0145),
        vec2(0.0235, 0.0163),
        dish(0.021),
    ];
    let mut profile = vec![corners[0]];
    for (c, radius) in corners.windows(3).zip([0.0016, 0.004, 0.004, 0.0008]) {
        profile.extend(rounded([c[0], c[1], c[2]], radius, 5));
    }
    profile.extend([0.021, 0.016, 0.01, 0.005, 0.0].map(dish));
    // Where one curve goes over into the next.
    profile.dedup_by(|a, b| a.distance(*b) < 1e-6);
    Mesh::lathe(&profile, 64)
}

/// The corner in the middle of three points, rounded: a parabola that starts and ends at `radius` from it, or nearer where
/// the points are.
fn rounded([a, b, c]: [Vec2; 3], radius: f32, steps: usize) -> impl Iterator<Item = Vec2> {
    let [start, end] = [a, c].map(|p| b + (p - b).clamp_length_max(radius.min(0.5 * p.distance(b))));
    (0..=steps).map(move |i| {
        let t = i as f32 / steps as f32;
        start.lerp(b, t).lerp(b.lerp(end, t), t)
    })
}

/// The ground, and behind it a wall that it turns into. Texture coordinates are metres.
pub(crate) fn backdrop() -> Mesh {
    // Half of its width, where it starts before the ball, where it turns up, in which radius, and up to where.
    let [side, front, back, turn, top] = [1.2, 1.0, 0.35, 0.35, 1.2_f32];
    let steps = 24;
    let mut profile = vec![(vec2(front, 0.0), vec2(0.0, 1.0))];
    for i in 0..=steps {
        let (sin, cos) = (FRAC_PI_2 * i as f32 / steps as f32).sin_cos();
        profile.push((vec2(-back - turn * sin, turn * (1.0 - cos)), vec2(sin, cos)));
    }
    profile.push((vec2(-back - turn, top), vec2(1.0, 0.0)));

    let mut mesh = Mesh::default();
    let mut along = 0.0;
    for (i, (p, normal)) in profile.iter().enumerate() {
        along += p.distance(profile[i.saturating_sub(1)].0);
        for x in [-side, side] {
            mesh.positions.push(vec3(x, p.y, p.x));
            mesh.normals.push(vec3(0.0, normal.y, normal.x));
            mesh.uvs.push(vec2(x + side, along));
        }
    }
    mesh.quads.extend((0..profile.len() as u32 - 1).map(|i| [0, 1, 3, 2].map(|k| 2 * i + k)));
    mesh
}

/// Lines on the ground, a centimetre apart; every fifth one is broader.
pub(crate) fn scale() -> Mesh {
    /// Centimetres to each side.
    const SIDE: i32 = 30;
    // Half the width of lines, and their heights above the ground: of lines one way and the other, which are not to lie in each
    // other where they cross.
    let ([fine, broad], above) = ([0.00018, 0.00045], [0.00005, 0.0001]);
    let mut mesh = Mesh::default();
    for i in -SIDE..=SIDE {
        let half = if i % 5 == 0 { broad } else { fine };
        let (at, end) = (i as f32 * 0.01, SIDE as f32 * 0.01 + broad);
        for [x, z] in [[half, end], [end, half]] {
            let middle = if x < z { vec3(at, above[0], 0.0) } else { vec3(0.0, above[1], at) };
            let first = mesh.positions.len() as u32;
            let corners = [[-x, z], [x, z], [x, -z], [-x, -z]];
            mesh.positions.extend(corners.map(|[x, z]| middle + vec3(x, 0.0, z)));
            mesh.quads.push([0, 1, 2, 3].map(|k| first + k));
        }
    }
    mesh
}
