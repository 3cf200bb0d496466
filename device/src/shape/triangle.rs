//! Triangles.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use crate::arch::{mad, max, min, mul_rn, sub_rn};
use crate::bvh::TraversalRay;

/// Unit normals at the vertices of a smooth triangle, 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct TriangleNormals {
    /// The normals.
    pub n: [Vec3; 3],
    /// Zero.
    pub reserved: [f32; 3],
}

/// Distance in (0, `t_max`) and the barycentric coordinates of vertices 1 and 2. Both sides are hit.
///
/// Watertight as in Woop, Benthin & Wald 2013, "Watertight Ray/Triangle Intersection", JCGT 2(1): vertices
/// are projected along the ray onto a plane, where the ray is the origin, and the signs of the edge functions
/// decide. The plane here is orthogonal to the ray instead of sheared onto an axis: a mesh's vertices are still
/// all projected alike, whichever triangle they are seen from, and no axes need be permuted, which would
/// index registers dynamically. Rounding is monotonic, so an edge function of products that are rounded on their
/// own has the right sign or is zero; zeros are decided in f64, where the products are exact.
#[inline(always)]
pub fn intersect([v0, v1, v2]: [Vec3; 3], ray: &TraversalRay, t_max: f32) -> Option<(f32, [f32; 2])> {
    let (a, b, c) = (v0 - ray.ray.o, v1 - ray.ray.o, v2 - ray.ray.o);
    let (pa, pb, pc) = (project(a, ray), project(b, ray), project(c, ray));
    let (mut u, mut v, mut w) = (edge(pc, pb), edge(pa, pc), edge(pb, pa));
    if u == 0.0 || v == 0.0 || w == 0.0 {
        (u, v, w) = (edge_f64(pc, pb), edge_f64(pa, pc), edge_f64(pb, pa));
    }
    if min(min(u, v), w) < 0.0 && max(max(u, v), w) > 0.0 {
        return None;
    }
    let det = u + v + w;
    if det == 0.0 {
        return None;
    }
    let inv_det = 1.0 / det;
    let d = ray.ray.d;
    let t = (u * dot(a, d) + v * dot(b, d) + w * dot(c, d)) * inv_det;
    (t > 0.0 && t < t_max).then_some((t, [v * inv_det, w * inv_det]))
}

#[inline(always)]
fn project(v: Vec3, ray: &TraversalRay) -> Vec2 {
    Vec2::new(dot(v, ray.across[0]), dot(v, ray.across[1]))
}

/// A dot product that rounds alike wherever it stands.
#[inline(always)]
fn dot(a: Vec3, b: Vec3) -> f32 {
    mad(a.z, b.z, mad(a.y, b.y, mul_rn(a.x, b.x)))
}

/// Twice the signed area between the origin and an edge; `edge(p, q) == -edge(q, p)` exactly.
#[inline(always)]
fn edge(p: Vec2, q: Vec2) -> f32 {
    sub_rn(mul_rn(p.x, q.y), mul_rn(p.y, q.x))
}

/// [`edge`] with exact products: zero only if the edge's line meets the origin.
#[inline(always)]
fn edge_f64(p: Vec2, q: Vec2) -> f32 {
    (f64::from(p.x) * f64::from(q.y) - f64::from(p.y) * f64::from(q.x)) as f32
}

/// The point with barycentric coordinates `b` of vertices 1 and 2.
#[inline(always)]
pub fn interpolate([v0, v1, v2]: [Vec3; 3], b: [f32; 2]) -> Vec3 {
    (1.0 - b[0] - b[1]) * v0 + b[0] * v1 + b[1] * v2
}

/// The largest absolute coordinate of the vertices.
#[inline(always)]
pub fn extent([v0, v1, v2]: [Vec3; 3]) -> f32 {
    v0.abs().max(v1.abs()).max(v2.abs()).max_element()
}

/// The normal times twice the area; points to where the vertices run counter-clockwise.
#[inline(always)]
pub fn area_normal([v0, v1, v2]: [Vec3; 3]) -> Vec3 {
    (v1 - v0).cross(v2 - v0)
}
