//! Building the hierarchy.

mod cluster;
mod halve;
mod reinsert;
#[cfg(test)]
mod tests;

use device::bvh::{Node, STACK_SIZE};
use device::shape::Primitive;
use glam::Vec3A;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::cwbvh::bvh2_to_cwbvh::bvh2_to_cwbvh;
use obvhs::splits::split_aabbs_preset;
use obvhs::triangle::Triangle;
use rayon::prelude::*;

use super::{Error, build};
use cluster::cluster;
use halve::halve;
use reinsert::{MOST_STEPS, reinsert};

/// Largest number of primitives, pieces of split ones included, that node and primitive indices can name.
pub(super) const MAX_PRIMITIVES: usize = 1 << 29;

/// Primitives of a leaf at most, which a byte of [`Node::meta`] can tell.
const LEAF: u32 = 3;

/// Levels of a binary tree from which on it is not made wide, which would take as many calls inside each other.
const DEEPEST: usize = 1000;

/// Number of primitives from which on the hierarchy has to be built quickly, in little memory.
const LARGE: usize = 1_000_000;

pub(crate) struct Bvh {
    pub(crate) nodes: Vec<Node>,
    pub(crate) prims: Vec<Primitive>,
    /// Which primitive each of `prims` was.
    pub(crate) sources: Vec<u32>,
}

/// Builds a hierarchy, after splitting the boxes of large triangles, and puts the primitives into the order of its
/// leaves.
pub(crate) fn build(prims: Vec<Primitive>) -> Result<Bvh, Error> {
    check_count(prims.len())?;
    if prims.is_empty() {
        return Ok(Bvh { nodes: vec![bytemuck::Zeroable::zeroed()], prims: Vec::new(), sources: Vec::new() });
    }
    if prims.len() >= LARGE {
        let bvh = build::build(prims);
        return Ok(if depth(&bvh.nodes) > STACK_SIZE { shallow(&bvh) } else { bvh });
    }
    let (boxes, indices) = split(&prims);
    check_count(boxes.len())?;
    let (nodes, sources) = tree(&boxes, &indices, LEAF);
    let prims = sources.iter().map(|&i| prims[i as usize]).collect();
    Ok(Bvh { nodes, prims, sources })
}

/// Builds a hierarchy of boxes, each of the thing with its index, with at most `leaf` of them in a leaf. Returns the
/// indices in the order of the leaves as well. There is at least one box.
pub(super) fn tree(boxes: &[Aabb], indices: &[u32], leaf: u32) -> (Vec<Node>, Vec<u32>) {
    for build in [improved, cluster] {
        let bvh2 = build(boxes);
        if reinsert::depth(&bvh2) <= DEEPEST {
            let (nodes, order) = widen(bvh2, indices, leaf);
            if depth(&nodes) <= STACK_SIZE {
                return (nodes, order);
            }
        }
    }
    widen(halve(boxes), indices, leaf)
}

/// The wide nodes of a binary tree over the things with these indices, and the indices in the order of the leaves.
fn widen(mut bvh2: Bvh2, indices: &[u32], leaf: u32) -> (Vec<Node>, Vec<u32>) {
    bvh2.primitive_indices = indices.to_vec();
    let cwbvh = bvh2_to_cwbvh(&bvh2, leaf, true, false);
    // The same 80 bytes, but for our stricter alignment.
    (bytemuck::pod_collect_to_vec(&cwbvh.nodes), cwbvh.primitive_indices)
}

/// A hierarchy of the same primitives that is never too deep.
fn shallow(deep: &Bvh) -> Bvh {
    let boxes: Vec<Aabb> = deep.prims.par_iter().map(aabb).collect();
    let places: Vec<u32> = (0..boxes.len() as u32).collect();
    let (nodes, order) = widen(halve(&boxes), &places, LEAF);
    let prims = order.iter().map(|&i| deep.prims[i as usize]).collect();
    Bvh { nodes, prims, sources: order.iter().map(|&i| deep.sources[i as usize]).collect() }
}

/// Whether indices can name so many primitives.
pub(super) fn check_count(prims: usize) -> Result<(), Error> {
    if prims > MAX_PRIMITIVES { Err(Error::TooManyPrimitives(prims)) } else { Ok(()) }
}

/// The box of all of some primitives.
pub(super) fn bounds(prims: &[Primitive]) -> Aabb {
    prims.iter().fold(Aabb::empty(), |all, prim| all.union(&aabb(prim)))
}

/// The better tree.
fn improved(boxes: &[Aabb]) -> Bvh2 {
    let mut bvh2 = cluster(boxes);
    reinsert(&mut bvh2, MOST_STEPS);
    bvh2
}

/// Boxes of all primitives, large triangles cut into several, and the primitive of each box. Box i is of primitive
/// i while there are primitives, as the builder requires; further pieces follow.
fn split(prims: &[Primitive]) -> (Vec<Aabb>, Vec<u32>) {
    let mut boxes: Vec<Aabb> = prims.iter().map(aabb).collect();
    let mut indices: Vec<u32> = (0..prims.len() as u32).collect();
    let of_triangle: Vec<u32> =
        indices.iter().copied().filter(|&i| prims[i as usize].is_triangle()).collect();
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

/// The box around a primitive.
pub(super) fn aabb(prim: &Primitive) -> Aabb {
    let [lo, hi] = prim.bounds();
    Aabb::new(Vec3A::from(lo), Vec3A::from(hi))
}

/// Number of levels of nodes. Children follow their parent, so one pass is enough.
pub(crate) fn depth(nodes: &[Node]) -> usize {
    let mut level = vec![1usize; nodes.len()];
    for (i, node) in nodes.iter().enumerate() {
        for child in 0..node.e_imask().1.count_ones() {
            level[(node.child_base + child) as usize] = level[i] + 1;
        }
    }
    level.into_iter().max().unwrap_or(0)
}
