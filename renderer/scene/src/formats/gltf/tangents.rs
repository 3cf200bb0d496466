//! Whether the tangents of a file are those that texture coordinates make.

use device::shape::triangle::dp_du;
use glam::{Vec2, Vec3};

use crate::description::TriangleMesh;

/// Cosine of an angle between tangents that is seen: 30°.
const SEEN: f32 = 0.866;
/// The part of corners that may have other tangents: poles and seams.
const PART: f32 = 0.02;

/// Whether tangents, with their handedness, differ visibly from where u and v grow.
pub(super) fn disagree(mesh: &TriangleMesh, tangents: &[[f32; 4]]) -> bool {
    let Some(uvs) = (!mesh.uvs.is_empty()).then_some(&mesh.uvs) else { return !tangents.is_empty() };
    let (mut corners, mut others) = (0, 0);
    for triangle in &mesh.triangles {
        let p = triangle.map(|i| mesh.positions[i as usize]);
        let uv = triangle.map(|i| uvs[i as usize]);
        let along_u = dp_du(p, uv);
        if along_u == Vec3::ZERO {
            continue;
        }
        let normal = (p[1] - p[0]).cross(p[2] - p[0]);
        // In an image that is not mirrored, v falls along the bitangent.
        let handedness = -turn(uv).signum();
        for i in triangle.map(|i| i as usize) {
            let n = mesh.normals.get(i).copied().unwrap_or(normal).normalize_or_zero();
            let in_plane = |t: Vec3| (t - n * n.dot(t)).normalize_or_zero();
            let [x, y, z, w] = tangents[i];
            let cos = in_plane(Vec3::new(x, y, z)).dot(in_plane(along_u));
            corners += 1;
            others += usize::from(cos < SEEN || w * handedness < 0.0);
        }
    }
    others as f32 > PART * corners as f32
}

/// Twice the area of a triangle of texture coordinates, negative if it is clockwise.
fn turn(uv: [Vec2; 3]) -> f32 {
    (uv[1] - uv[0]).perp_dot(uv[2] - uv[0])
}
