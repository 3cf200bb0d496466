//! Points and lines as surfaces: spheres, and tubes with round ends.

use std::collections::HashSet;
use std::f32::consts::{FRAC_1_SQRT_2, TAU};

use glam::Vec3;

use crate::description::{Bounds, TriangleMesh};
use crate::formats::cloud;

/// Radius of a line, as a part of the diagonal of what it belongs to: about a pixel of a picture of it.
const LINE: f32 = 1.0 / 600.0;
/// Largest radius of a point, likewise: of few points, their density says nothing.
const POINT: f32 = 1.0 / 60.0;

/// The form of strokes.
struct Form {
    sides: u32,
    /// Rings of vertices between the two poles, as height along the axis and radius of a unit sphere, and the end they are at.
    rings: &'static [(f32, f32, usize)],
}

/// Round ones, if there are few.
const ROUND: Form = Form {
    sides: 12,
    rings: &[
        (-FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0),
        (0.0, 1.0, 0),
        (0.0, 1.0, 1),
        (FRAC_1_SQRT_2, FRAC_1_SQRT_2, 1),
    ],
};
/// Octahedra and what is between two halves of one, if there are many: each is small in a picture of all.
const PLAIN: Form = Form { sides: 4, rings: &[(0.0, 1.0, 0), (0.0, 1.0, 1)] };
/// Most strokes that are round.
const FEW: usize = 1 << 12;

impl Form {
    const fn of(strokes: usize) -> &'static Self {
        if strokes <= FEW { &ROUND } else { &PLAIN }
    }
}

/// Most triangles of each of so many strokes.
pub(super) const fn triangles_each(strokes: usize) -> usize {
    let form = Form::of(strokes);
    2 * form.rings.len() * form.sides as usize
}

/// Keeps of strokes, given as [`thicken`] has them, those that are somewhere, and of those at one place the first.
pub(super) fn retain(strokes: &mut Vec<[u32; 3]>, positions: &[Vec3]) {
    let mut known = HashSet::new();
    strokes.retain(|[a, _, b]| {
        let ends = [a, b].map(|i| positions[*i as usize]);
        let mut places = ends.map(cloud::place);
        places.sort_unstable();
        ends.iter().all(|end| end.is_finite()) && known.insert(places)
    });
}

/// A mesh of strokes: each triangle of `mesh` stands for the line between its first and its last corner, or for a point where
/// these are the same. Normals are those of the strokes, colours and texture coordinates those of their ends.
pub(super) fn thicken(mesh: &TriangleMesh, radius: Option<f32>) -> TriangleMesh {
    let strokes: Vec<_> = mesh.triangles.iter().map(|[a, _, b]| [*a, *b]).collect();
    let radius = radius.unwrap_or_else(|| radius_of(mesh, &strokes));
    let form = Form::of(strokes.len());
    let mut thick = TriangleMesh::default();
    for stroke in strokes {
        add(&mut thick, mesh, stroke, radius, form);
    }
    thick
}

fn radius_of(mesh: &TriangleMesh, strokes: &[[u32; 2]]) -> f32 {
    let at = |i: &u32| mesh.positions[*i as usize];
    let diagonal = 2.0 * strokes.iter().flatten().map(at).fold(Bounds::EMPTY, Bounds::with).radius();
    match diagonal {
        // A point alone.
        0.0 => 1.0,
        _ if strokes.iter().any(|[a, b]| a != b) => LINE * diagonal,
        _ => {
            let points: Vec<_> = strokes.iter().map(|[i, _]| at(i)).collect();
            cloud::radius_of(&points).min(POINT * diagonal)
        }
    }
}

fn add(thick: &mut TriangleMesh, mesh: &TriangleMesh, ends: [u32; 2], radius: f32, form: &Form) {
    let ends = ends.map(|i| i as usize);
    let [a, b] = ends.map(|i| mesh.positions[i]);
    let axis = (b - a).try_normalize().unwrap_or(Vec3::Z);
    let (x, y) = axis.any_orthonormal_pair();
    let first = thick.positions.len() as u32;
    let mut vertex = |normal: Vec3, end: usize| {
        let i = ends[end];
        // As readers of normals do, so that these are the same when they are read again.
        let normal = normal.as_dvec3().normalize().as_vec3();
        thick.positions.push(mesh.positions[i] + radius * normal);
        thick.normals.push(normal);
        thick.uvs.extend(mesh.uvs.get(i));
        thick.colors.extend(mesh.colors.get(i));
    };
    let (sides, rings) = (form.sides, form.rings.len() as u32);
    for &(height, across, end) in form.rings {
        for side in 0..sides {
            let (sin, cos) = (TAU * side as f32 / sides as f32).sin_cos();
            vertex(height * axis + across * (cos * x + sin * y), end);
        }
    }
    vertex(-axis, 0);
    vertex(axis, 1);
    let at = |ring: u32, side: u32| first + ring * sides + side % sides;
    let poles = at(rings, 0);
    for side in 0..sides {
        thick.triangles.push([poles, at(0, side + 1), at(0, side)]);
        for ring in 0..rings - 1 {
            // In the middle is the line itself, which a point has not.
            if 2 * ring + 2 != rings || a != b {
                let [i, j, k, l] =
                    [at(ring, side), at(ring, side + 1), at(ring + 1, side), at(ring + 1, side + 1)];
                thick.triangles.extend([[i, j, k], [j, l, k]]);
            }
        }
        thick.triangles.push([poles + 1, at(rings - 1, side), at(rings - 1, side + 1)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of some length from a corner of the unit cube, and others elsewhere.
    fn thick(end: Vec3, others: usize) -> TriangleMesh {
        let mut positions = vec![Vec3::ONE, end];
        positions.extend((0..others).map(|i| Vec3::new(100.0 + i as f32, 0.0, 0.0)));
        let mut triangles = vec![[0, 1, 1]];
        triangles.extend((2..positions.len() as u32).map(|i| [i; 3]));
        let mesh = TriangleMesh { positions, triangles, ..TriangleMesh::default() };
        let mut thick = thicken(&mesh, Some(0.1));
        thick.triangles.retain(|t| thick.positions[t[0] as usize].x < 50.0);
        thick
    }

    /// Of a body with outward faces the volume is positive (by the divergence theorem), below that of the round one.
    #[test]
    fn strokes_are_closed_and_face_outwards() {
        for (others, least) in [(0, 0.81), (FEW, 0.31)] {
            for length in [0.0, 0.5, 3.0] {
                for axis in [Vec3::X, -Vec3::Z, Vec3::ONE.normalize()] {
                    let mesh = thick(Vec3::ONE + length * axis, others);
                    let signed = mesh.triangles.iter().map(|t| {
                        let [a, b, c] = t.map(|i| (mesh.positions[i as usize] - Vec3::ONE).as_dvec3());
                        a.cross(b).dot(c) / 6.0
                    });
                    let volume: f64 = signed.sum();
                    let round = 0.01 * std::f64::consts::PI * (0.1 * 4.0 / 3.0 + f64::from(length));
                    let part = volume / round;
                    assert!((least..1.0).contains(&part), "{length} along {axis}: {part}");
                    assert_eq!(mesh.triangles.len() == triangles_each(others + 1), length > 0.0);
                    for t in &mesh.triangles {
                        let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
                        let face = (b - a).cross(c - a).normalize();
                        assert!(t.iter().all(|i| mesh.normals[*i as usize].dot(face) > 0.5), "{t:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_at_one_place_is_there_once() {
        let positions = [Vec3::ZERO, Vec3::X, -Vec3::ZERO, Vec3::NAN, Vec3::Y];
        let mut strokes = vec![[0, 1, 1], [1, 2, 2], [0, 0, 0], [2, 2, 2], [3, 0, 0], [0, 4, 4]];
        retain(&mut strokes, &positions);
        assert_eq!(strokes, [[0, 1, 1], [0, 0, 0], [0, 4, 4]]);
    }
}
