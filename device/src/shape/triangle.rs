//! Triangles.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::{Primitive, Shape};
use crate::arch::{Real, Vec3s, max, min, minus, splat};
use crate::ray::TraversalRay;
use crate::sampling::sample_uniform_triangle;

/// Shading normals and tangents of a triangle that is smooth, or whose material needs directions along it, 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct TriangleNormals {
    /// Unit normals at the vertices.
    pub n: [Vec3; 3],
    /// [`dp_du`], or zero where no material asks for it.
    pub dp_du: Vec3,
}

impl TriangleNormals {
    /// In no direction.
    pub(crate) const ZERO: Self = Self { n: [Vec3::ZERO; 3], dp_du: Vec3::ZERO };
}

/// Texture coordinates at the vertices, 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct TriangleUvs {
    /// (u, v) at each.
    pub uv: [Vec2; 3],
    reserved: [u32; 2],
}

impl TriangleUvs {
    /// Those with (u, v) at each vertex.
    pub const fn new(uv: [Vec2; 3]) -> Self {
        Self { uv, reserved: [0; 2] }
    }

    /// Texture coordinates where the barycentric coordinates of vertices 1 and 2 are `b`.
    #[inline(always)]
    pub fn at(&self, b: [f32; 2]) -> Vec2 {
        (1.0 - b[0] - b[1]) * self.uv[0] + b[0] * self.uv[1] + b[1] * self.uv[2]
    }

    /// Derivatives of the point by u and by v; zero where the coordinates do not say (pbrt 4th ed. §6.5.3).
    #[inline(always)]
    pub fn derivatives(&self, [v0, v1, v2]: [Vec3; 3]) -> (Vec3, Vec3) {
        let (d1, d2) = (self.uv[1] - self.uv[0], self.uv[2] - self.uv[0]);
        let (e1, e2) = (v1 - v0, v2 - v0);
        let det = d1.x * d2.y - d1.y * d2.x;
        if det == 0.0 {
            return (Vec3::ZERO, Vec3::ZERO);
        }
        ((d2.y * e1 - d1.y * e2) / det, (d1.x * e2 - d2.x * e1) / det)
    }
}

/// Linear colours at the vertices, 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct TriangleColors {
    /// Red, green and blue at each.
    pub rgb: [Vec3; 3],
    reserved: [u32; 3],
}

impl TriangleColors {
    /// White all over.
    pub const WHITE: Self = Self::new([Vec3::ONE; 3]);

    /// Those with a colour at each vertex.
    pub const fn new(rgb: [Vec3; 3]) -> Self {
        Self { rgb, reserved: [0; 3] }
    }
}

/// Distance in (0, `t_max`] and the barycentric coordinates of vertices 1 and 2. Both sides are hit.
///
/// Watertight as in Woop, Benthin & Wald 2013, "Watertight Ray/Triangle Intersection", JCGT 2(1): vertices
/// are projected along the ray onto a plane, where the ray is the origin, and the signs of the edge functions
/// decide. The plane here is orthogonal to the ray instead of sheared onto an axis: a mesh's vertices are still
/// all projected alike, whichever triangle they are seen from, and no axes need be permuted, which would
/// index registers dynamically. Rounding is monotonic, so an edge function of products that are rounded on their
/// own has the right sign or is zero; zeros are decided in f64, where the products are exact.
#[inline(always)]
pub fn intersect([v0, v1, v2]: [Vec3; 3], ray: &TraversalRay, t_max: f32) -> Option<(f32, [f32; 2])> {
    let o = splat(ray.ray.o);
    let vertices = [minus(splat(v0), o), minus(splat(v1), o), minus(splat(v2), o)];
    let projected = project(vertices, ray.across().map(splat));
    let mut e = edges(projected);
    if e[0] == 0.0 || e[1] == 0.0 || e[2] == 0.0 {
        e = edges_f64(projected);
    }
    let [u, v, w] = e;
    if min(min(u, v), w) < 0.0 && max(max(u, v), w) > 0.0 {
        return None;
    }
    if u + v + w == 0.0 {
        return None;
    }
    let (t, b) = distance(vertices, e, splat(ray.ray.d));
    (t > 0.0 && t <= t_max).then_some((t, b))
}

/// Projects vertices, as seen from the ray's origin, onto the plane across the ray.
#[inline(always)]
pub(crate) fn project<F: Real>([a, b, c]: [Vec3s<F>; 3], [x, y]: [Vec3s<F>; 2]) -> [[F; 2]; 3] {
    [[dot(a, x), dot(a, y)], [dot(b, x), dot(b, y)], [dot(c, x), dot(c, y)]]
}

/// Edge functions (u, v, w) of a projected triangle, opposite to each vertex. The ray meets the triangle if all have
/// one sign.
#[inline(always)]
pub(crate) fn edges<F: Real>([a, b, c]: [[F; 2]; 3]) -> [F; 3] {
    [edge(c, b), edge(a, c), edge(b, a)]
}

/// Distance along `d`, and barycentric coordinates, where the edge functions are `e`.
#[inline(always)]
pub(crate) fn distance<F: Real>([a, b, c]: [Vec3s<F>; 3], [u, v, w]: [F; 3], d: Vec3s<F>) -> (F, [F; 2]) {
    let inv_det = F::splat(1.0) / (u + v + w);
    let t = (u * dot(a, d) + v * dot(b, d) + w * dot(c, d)) * inv_det;
    (t, [v * inv_det, w * inv_det])
}

/// A dot product that rounds alike wherever it stands.
#[inline(always)]
fn dot<F: Real>(a: Vec3s<F>, b: Vec3s<F>) -> F {
    a[2].mad(b[2], a[1].mad(b[1], a[0].mul_rn(b[0])))
}

/// Twice the signed area between the origin and an edge; `edge(p, q) == -edge(q, p)` exactly.
#[inline(always)]
fn edge<F: Real>(p: [F; 2], q: [F; 2]) -> F {
    p[0].mul_rn(q[1]).sub_rn(p[1].mul_rn(q[0]))
}

/// [`edges`] with exact products: zero only if an edge's line meets the origin.
#[inline(always)]
fn edges_f64([a, b, c]: [[f32; 2]; 3]) -> [f32; 3] {
    let edge = |p: [f32; 2], q: [f32; 2]| {
        (f64::from(p[0]) * f64::from(q[1]) - f64::from(p[1]) * f64::from(q[0])) as f32
    };
    [edge(c, b), edge(a, c), edge(b, a)]
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

/// Unit vector along which u grows while v stays, if the texture coordinates at the vertices are `uv`; zero if they do
/// not say (pbrt 4th ed. §6.5.3). Computed once for a triangle, by the host, with differences that are exact or
/// nearly: coordinates far from 0 lose nothing.
pub fn dp_du([v0, v1, v2]: [Vec3; 3], [uv0, uv1, uv2]: [Vec2; 3]) -> Vec3 {
    let minus = |a: f32, b: f32| f64::from(a) - f64::from(b);
    let [du1, dv1] = [minus(uv1.x, uv0.x), minus(uv1.y, uv0.y)];
    let [du2, dv2] = [minus(uv2.x, uv0.x), minus(uv2.y, uv0.y)];
    let det = du1 * dv2 - dv1 * du2;
    // Of the determinant only the sign matters to a direction, and of its factors only their ratio.
    let scale = dv1.abs().max(dv2.abs()).copysign(det);
    let [dv1, dv2] = [dv1 / scale, dv2 / scale];
    let along = |a: f32, b: f32, c: f32| dv2 * minus(b, a) - dv1 * minus(c, a);
    let d = [along(v0.x, v1.x, v2.x), along(v0.y, v1.y, v2.y), along(v0.z, v1.z, v2.z)];
    let longest = d[0].abs().max(d[1].abs()).max(d[2].abs());
    if det == 0.0 || longest == 0.0 || !longest.is_finite() {
        return Vec3::ZERO;
    }
    Vec3::from_array(d.map(|x| (x / longest) as f32)).normalize()
}

/// The normal times twice the area; points to where the vertices run counter-clockwise.
#[inline(always)]
pub fn area_normal([v0, v1, v2]: [Vec3; 3]) -> Vec3 {
    (v1 - v0).cross(v2 - v0)
}

/// Vertices are [`Primitive::a`], [`Primitive::b`] and [`Primitive::c`].
pub(crate) struct Triangle;

impl Shape for Triangle {
    #[inline(always)]
    fn intersect(prim: &Primitive, ray: &TraversalRay, t_max: f32) -> Option<(f32, [f32; 2])> {
        intersect([prim.a, prim.b, prim.c], ray, t_max)
    }

    #[inline(always)]
    fn extent(prim: &Primitive) -> f32 {
        extent([prim.a, prim.b, prim.c])
    }

    fn bounds(prim: &Primitive) -> [Vec3; 2] {
        [prim.a.min(prim.b).min(prim.c), prim.a.max(prim.b).max(prim.c)]
    }

    fn area(prim: &Primitive) -> f32 {
        0.5 * area_normal([prim.a, prim.b, prim.c]).length()
    }

    #[inline(always)]
    fn sample([a, b, c]: [Vec3; 3], area: f32, u: Vec2) -> (Vec3, Vec3) {
        let vertices = [a, b, c];
        let b = sample_uniform_triangle(u);
        (interpolate(vertices, [b.x, b.y]), area_normal(vertices) * (0.5 / area))
    }
}
