//! Points and lines as surfaces: spheres, and tubes with round ends.

use std::f32::consts::{FRAC_1_SQRT_2, TAU};

use glam::Vec3;

use crate::description::{Bounds, TriangleMesh};
use crate::formats::cloud;

/// Sides of a tube.
const SIDES: u32 = 6;
/// Rings of vertices between the two poles, as height along the axis and radius of a unit sphere, and the end they are at.
const RINGS: [(f32, f32, usize); 4] =
    [(-FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0), (0.0, 1.0, 0), (0.0, 1.0, 1), (FRAC_1_SQRT_2, FRAC_1_SQRT_2, 1)];
/// Most triangles of a stroke.
pub(super) const MOST_TRIANGLES: usize = 8 * SIDES as usize;

/// Radius of a line, as a part of the diagonal of what it belongs to: about a pixel of a picture of it.
const LINE: f32 = 1.0 / 600.0;
/// Largest radius of a point, likewise: of few points, their density says nothing.
const POINT: f32 = 1.0 / 60.0;

/// A mesh of strokes: each triangle of `mesh` stands for the line between its first and its last corner, or for a point where
/// these are the same. Normals are those of the strokes, colours and texture coordinates those of their ends. Yields an empty
/// mesh if no stroke is at finite places.
pub(super) fn thicken(mesh: &TriangleMesh, radius: Option<f32>) -> TriangleMesh {
    let is_finite = |[a, _, b]: &&[u32; 3]| [a, b].iter().all(|i| mesh.positions[**i as usize].is_finite());
    let strokes: Vec<_> = mesh.triangles.iter().filter(is_finite).map(|[a, _, b]| [*a, *b]).collect();
    let radius = radius.unwrap_or_else(|| radius_of(mesh, &strokes));
    let mut thick = TriangleMesh::default();
    for stroke in strokes {
        add(&mut thick, mesh, stroke, radius);
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

fn add(thick: &mut TriangleMesh, mesh: &TriangleMesh, ends: [u32; 2], radius: f32) {
    let ends = ends.map(|i| i as usize);
    let [a, b] = ends.map(|i| mesh.positions[i]);
    let axis = (b - a).try_normalize().unwrap_or(Vec3::Z);
    let (x, y) = axis.any_orthonormal_pair();
    let first = thick.positions.len() as u32;
    let mut vertex = |normal: Vec3, end: usize| {
        let i = ends[end];
        thick.positions.push(mesh.positions[i] + radius * normal);
        thick.normals.push(normal);
        thick.uvs.extend(mesh.uvs.get(i));
        thick.colors.extend(mesh.colors.get(i));
    };
    for (height, across, end) in RINGS {
        for side in 0..SIDES {
            let (sin, cos) = (TAU * side as f32 / SIDES as f32).sin_cos();
            vertex(height * axis + across * (cos * x + sin * y), end);
        }
    }
    vertex(-axis, 0);
    vertex(axis, 1);
    let at = |ring: u32, side: u32| first + ring * SIDES + side % SIDES;
    let poles = at(RINGS.len() as u32, 0);
    for side in 0..SIDES {
        thick.triangles.push([poles, at(0, side + 1), at(0, side)]);
        for ring in 0..3 {
            if ring != 1 || a != b {
                let [i, j, k, l] =
                    [at(ring, side), at(ring, side + 1), at(ring + 1, side), at(ring + 1, side + 1)];
                thick.triangles.extend([[i, j, k], [j, l, k]]);
            }
        }
        thick.triangles.push([poles + 1, at(3, side), at(3, side + 1)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thick(b: Vec3) -> TriangleMesh {
        let positions = vec![Vec3::ONE, b];
        thicken(&TriangleMesh { positions, triangles: vec![[0, 1, 1]], ..TriangleMesh::default() }, Some(0.1))
    }

    /// Of a body with outward faces the volume is positive (by the divergence theorem), below that of the round one.
    #[test]
    fn strokes_are_closed_and_face_outwards() {
        for length in [0.0, 0.5, 3.0] {
            for axis in [Vec3::X, -Vec3::Z, Vec3::ONE.normalize()] {
                let mesh = thick(Vec3::ONE + length * axis);
                let signed = mesh.triangles.iter().map(|t| {
                    let [a, b, c] = t.map(|i| (mesh.positions[i as usize] - Vec3::ONE).as_dvec3());
                    a.cross(b).dot(c) / 6.0
                });
                let volume: f64 = signed.sum();
                let round = 0.01 * std::f64::consts::PI * (0.1 * 4.0 / 3.0 + f64::from(length));
                assert!((0.65..1.0).contains(&(volume / round)), "{length} along {axis}: {volume}, {round}");
                assert_eq!(mesh.triangles.len() == MOST_TRIANGLES, length > 0.0);
                for t in &mesh.triangles {
                    let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
                    let face = (b - a).cross(c - a).normalize();
                    assert!(t.iter().all(|i| mesh.normals[*i as usize].dot(face) > 0.5), "{t:?}");
                }
            }
        }
    }
}
