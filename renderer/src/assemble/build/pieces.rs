//! Large triangles in pieces: Ernst & Greiner 2007, "Early Split Clipping for Bounding Volume Hierarchies". A hierarchy of
//! many small primitives and a few large ones would have large boxes everywhere.

use device::shape::Primitive;
use glam::Vec3A;
use obvhs::aabb::Aabb;

use crate::assemble::bvh::aabb;

/// Boxes with more than this part of the area around all are cut.
const LARGEST: f32 = 1.0 / 4096.0;

/// Pieces at most, as a part of the number of primitives.
const MOST: f32 = 1.0 / 8.0;

/// A part of a primitive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// The box around it.
    pub(super) bounds: Aabb,
    /// Index of the primitive.
    pub(super) source: u32,
}

/// Cuts the boxes of triangles that are large compared to that around all primitives.
pub(super) fn cut(prims: &[Primitive]) -> Vec<Piece> {
    let all = prims.iter().fold(Aabb::empty(), |all, p| all.union(&aabb(p)));
    let is_cut = |p: &Primitive, largest: f32| p.is_triangle() && aabb(p).half_area() > largest;
    let mut largest = LARGEST * all.half_area();
    let candidates: Vec<usize> = (0..prims.len()).filter(|&i| is_cut(&prims[i], largest)).collect();
    // Each cut halves the area, or more where triangles leave corners empty.
    let estimate = |largest: f32| {
        let pieces = candidates.iter().map(|&i| 2.0 * (aabb(&prims[i]).half_area() / largest));
        pieces.filter(|n| *n > 2.0).sum::<f32>()
    };
    while estimate(largest) > MOST * prims.len() as f32 {
        largest *= 2.0;
    }
    let mut pieces = Vec::new();
    for i in candidates.into_iter().filter(|&i| is_cut(&prims[i], largest)) {
        let p = &prims[i];
        cut_one(vec![p.a.into(), p.b.into(), p.c.into()], aabb(p), i as u32, largest, &mut pieces);
    }
    pieces
}

/// Cuts a convex polygon, which lies in `bounds`, until its boxes are no larger than `largest`.
fn cut_one(polygon: Vec<Vec3A>, bounds: Aabb, source: u32, largest: f32, pieces: &mut Vec<Piece>) {
    let axis = bounds.largest_axis();
    let middle = bounds.center()[axis];
    if bounds.half_area() <= largest || !(bounds.min[axis] < middle && middle < bounds.max[axis]) {
        pieces.push(Piece { bounds, source });
        return;
    }
    for sign in [1.0, -1.0] {
        let part = clip(&polygon, axis, middle, sign);
        if part.is_empty() {
            continue;
        }
        let mut half = bounds;
        if sign > 0.0 {
            half.min[axis] = middle
        } else {
            half.max[axis] = middle
        }
        cut_one_part(part, &half, source, largest, pieces);
    }
}

fn cut_one_part(part: Vec<Vec3A>, half: &Aabb, source: u32, largest: f32, pieces: &mut Vec<Piece>) {
    let tight = Aabb::from_points(&part);
    // Corners made by cutting are rounded, by an ulp or two.
    let pad = tight.min.abs().max(tight.max.abs()) * (4.0 * f32::EPSILON);
    let bounds = Aabb::new(tight.min - pad, tight.max + pad).intersection(half);
    cut_one(part, bounds, source, largest, pieces);
}

/// Clips a convex polygon to one side of a plane across `axis`: above it, or below if `sign` is −1 (Sutherland & Hodgman
/// 1974, "Reentrant Polygon Clipping").
fn clip(polygon: &[Vec3A], axis: usize, at: f32, sign: f32) -> Vec<Vec3A> {
    let height = |p: Vec3A| sign * (p[axis] - at);
    let mut out = Vec::with_capacity(polygon.len() + 1);
    for (i, &p) in polygon.iter().enumerate() {
        let q = polygon[(i + 1) % polygon.len()];
        let (hp, hq) = (height(p), height(q));
        if hp >= 0.0 {
            out.push(p);
        }
        if (hp < 0.0) != (hq < 0.0) {
            let mut cut = p + (q - p) * (hp / (hp - hq));
            cut[axis] = at;
            out.push(cut);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::rng::{pcg4d, uniform};
    use glam::Vec3;

    /// Points of a cut triangle are in the box of one of its pieces, and small triangles are left alone.
    #[test]
    fn pieces_cover_their_triangles() {
        let random = |i: u32| pcg4d([i, 3, 1, 4]).map(uniform);
        let point = |i: u32| Vec3::from_slice(&random(i)) * 20.0 - 7.0;
        let flat = |a, b, c| Primitive { a, b, c, ..bytemuck::Zeroable::zeroed() };
        let mut prims: Vec<_> =
            (0..2000).map(|i| flat(point(i), point(i) + 1e-3, point(i) + Vec3::X * 1e-3)).collect();
        prims[700] = flat(Vec3::splat(-7.0), Vec3::new(13.0, 13.0, -7.0), Vec3::new(13.0, -7.0, 13.0));
        prims[800] = flat(Vec3::splat(-7.0), Vec3::new(13.0, -7.0, -7.0), Vec3::new(13.0, 13.0, -7.0));
        let pieces = cut(&prims);
        assert!(pieces.iter().all(|p| [700, 800].contains(&p.source)));
        assert!(pieces.len() > 50 && pieces.len() < 400, "{}", pieces.len());
        let total =
            |i: u32| pieces.iter().filter(|p| p.source == i).map(|p| p.bounds.half_area()).sum::<f32>();
        for i in [700, 800] {
            let p = prims[i as usize];
            assert!(total(i) < 1.4 * aabb(&p).half_area(), "{}", total(i));
            for k in 0..5000 {
                let [u, v, ..] = random(10_000 + k);
                let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
                let x = Vec3A::from(p.a + u * (p.b - p.a) + v * (p.c - p.a));
                let is_near = |b: &Aabb| (b.min - x).max(x - b.max).max_element() < 4e-6;
                assert!(pieces.iter().any(|p| p.source == i && is_near(&p.bounds)), "{x} is in no piece");
            }
        }
    }
}
