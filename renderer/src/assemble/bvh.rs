//! Building the hierarchy.

use device::bvh::{Node, STACK_SIZE};
use device::shape::Primitive;
use glam::Vec3A;
use obvhs::aabb::Aabb;
use obvhs::bvh2::reinsertion::ReinsertionOptimizer;
use obvhs::cwbvh::bvh2_to_cwbvh::bvh2_to_cwbvh;
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};
use obvhs::splits::split_aabbs_preset;
use obvhs::triangle::Triangle;

use super::Error;

/// Largest number of primitives, pieces of split ones included, that node and primitive indices can name.
pub(super) const MAX_PRIMITIVES: usize = 1 << 29;

pub(super) struct Bvh {
    pub(super) nodes: Vec<Node>,
    pub(super) prims: Vec<Primitive>,
}

/// Builds a hierarchy by PLOC with reinsertion, after splitting the boxes of large triangles, and puts the
/// primitives into the order of its leaves.
pub(super) fn build(prims: &[Primitive]) -> Result<Bvh, Error> {
    if prims.len() > MAX_PRIMITIVES {
        return Err(Error::TooManyPrimitives(prims.len()));
    }
    if prims.is_empty() {
        return Ok(Bvh { nodes: vec![bytemuck::Zeroable::zeroed()], prims: Vec::new() });
    }
    let (boxes, indices) = split(prims);
    if boxes.len() > MAX_PRIMITIVES {
        return Err(Error::TooManyPrimitives(boxes.len()));
    }
    let mut bvh2 = PlocBuilder::with_capacity(boxes.len()).build(
        PlocSearchDistance::High,
        &boxes,
        indices,
        SortPrecision::U64,
        2,
    );
    bvh2.uses_spatial_splits = true;
    ReinsertionOptimizer::default().run(&mut bvh2, 0.15, None);
    let cwbvh = bvh2_to_cwbvh(&bvh2, 3, true, false);
    // The same 80 bytes, but for our stricter alignment.
    let nodes: Vec<Node> = bytemuck::pod_collect_to_vec(&cwbvh.nodes);
    let depth = depth(&nodes);
    if depth > STACK_SIZE {
        return Err(Error::TooDeep(depth));
    }
    let prims = cwbvh.primitive_indices.iter().map(|&i| prims[i as usize]).collect();
    Ok(Bvh { nodes, prims })
}

/// Boxes of all primitives, large triangles cut into several, and the primitive of each box. Box i is of primitive
/// i while there are primitives, as the builder requires; further pieces follow.
fn split(prims: &[Primitive]) -> (Vec<Aabb>, Vec<u32>) {
    let mut boxes: Vec<Aabb> = prims.iter().map(aabb).collect();
    let mut indices: Vec<u32> = (0..prims.len() as u32).collect();
    let of_triangle: Vec<u32> = indices.iter().copied().filter(|&i| !prims[i as usize].is_sphere()).collect();
    let triangles: Vec<Triangle> = of_triangle
        .iter()
        .map(|&i| &prims[i as usize])
        .map(|p| Triangle { v0: p.a.into(), v1: p.b.into(), v2: p.c.into() })
        .collect();
    if triangles.is_empty() {
        return (boxes, indices);
    }
    let mut pieces: Vec<Aabb> = of_triangle.iter().map(|&i| boxes[i as usize]).collect();
    let mut triangle_of_piece: Vec<u32> = (0..triangles.len() as u32).collect();
    let areas = pieces.iter().map(Aabb::half_area);
    let largest = areas.clone().fold(0.0, f32::max);
    let average = areas.map(f64::from).sum::<f64>() / triangles.len() as f64;
    split_aabbs_preset(&mut pieces, &mut triangle_of_piece, &triangles, average as f32, largest);
    for (k, (piece, triangle)) in pieces.into_iter().zip(triangle_of_piece).enumerate() {
        let prim = of_triangle[triangle as usize];
        if k < triangles.len() {
            boxes[prim as usize] = piece;
        } else {
            boxes.push(piece);
            indices.push(prim);
        }
    }
    (boxes, indices)
}

fn aabb(prim: &Primitive) -> Aabb {
    let (lo, hi) = if prim.is_sphere() {
        (prim.a - prim.b.x, prim.a + prim.b.x)
    } else {
        (prim.a.min(prim.b).min(prim.c), prim.a.max(prim.b).max(prim.c))
    };
    Aabb::new(Vec3A::from(lo), Vec3A::from(hi))
}

/// Number of levels of nodes. Children follow their parent, so one pass is enough.
fn depth(nodes: &[Node]) -> usize {
    let mut level = vec![1usize; nodes.len()];
    for (i, node) in nodes.iter().enumerate() {
        for child in 0..node.e_imask().1.count_ones() {
            level[(node.child_base + child) as usize] = level[i] + 1;
        }
    }
    level.into_iter().max().unwrap_or(0)
}
