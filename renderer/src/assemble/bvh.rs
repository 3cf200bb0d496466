//! Building the hierarchy.

use device::bvh::{Node, STACK_SIZE};
use device::shape::Primitive;
use glam::Vec3A;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::node::Bvh2Node;
use obvhs::bvh2::reinsertion::ReinsertionOptimizer;
use obvhs::cwbvh::bvh2_to_cwbvh::bvh2_to_cwbvh;
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};
use obvhs::splits::split_aabbs_preset;
use obvhs::triangle::Triangle;

use rayon::prelude::*;

use super::{Error, build};

/// Largest number of primitives, pieces of split ones included, that node and primitive indices can name.
pub(super) const MAX_PRIMITIVES: usize = 1 << 29;

/// Number of primitives from which on the hierarchy has to be built quickly, in little memory.
const LARGE: usize = 1_000_000;

pub(super) struct Bvh {
    pub(super) nodes: Vec<Node>,
    pub(super) prims: Vec<Primitive>,
    /// Which primitive each of `prims` was.
    pub(super) sources: Vec<u32>,
}

/// Builds a hierarchy, after splitting the boxes of large triangles, and puts the primitives into the order of its
/// leaves.
pub(super) fn build(prims: Vec<Primitive>) -> Result<Bvh, Error> {
    check_count(prims.len())?;
    if prims.is_empty() {
        return Ok(Bvh { nodes: vec![bytemuck::Zeroable::zeroed()], prims: Vec::new(), sources: Vec::new() });
    }
    if prims.len() >= LARGE {
        let bvh = build::build(prims);
        return check_depth(&bvh.nodes).map(|()| bvh);
    }
    let (boxes, indices) = split(&prims);
    check_count(boxes.len())?;
    let (nodes, sources) = tree(&boxes, indices, 3)?;
    let prims = sources.iter().map(|&i| prims[i as usize]).collect();
    Ok(Bvh { nodes, prims, sources })
}

/// Builds a hierarchy of boxes, each of the thing with its index, with at most `leaf` of them in a leaf. Returns the
/// indices in the order of the leaves as well.
pub(super) fn tree(boxes: &[Aabb], indices: Vec<u32>, leaf: u32) -> Result<(Vec<Node>, Vec<u32>), Error> {
    let bvh2 = if is_clumped(boxes) { balanced(boxes, &indices) } else { clustered(boxes, indices) };
    let cwbvh = bvh2_to_cwbvh(&bvh2, leaf, true, false);
    // The same 80 bytes, but for our stricter alignment.
    let nodes: Vec<Node> = bytemuck::pod_collect_to_vec(&cwbvh.nodes);
    check_depth(&nodes)?;
    Ok((nodes, cwbvh.primitive_indices))
}

/// Whether indices can name so many primitives.
pub(super) fn check_count(prims: usize) -> Result<(), Error> {
    if prims > MAX_PRIMITIVES { Err(Error::TooManyPrimitives(prims)) } else { Ok(()) }
}

fn check_depth(nodes: &[Node]) -> Result<(), Error> {
    let depth = depth(nodes);
    if depth > STACK_SIZE { Err(Error::TooDeep(depth)) } else { Ok(()) }
}

/// The box of all of some primitives.
pub(super) fn bounds(prims: &[Primitive]) -> Aabb {
    prims.iter().fold(Aabb::empty(), |all, prim| all.union(&aabb(prim)))
}

/// PLOC with reinsertion: the better tree.
fn clustered(boxes: &[Aabb], indices: Vec<u32>) -> Bvh2 {
    let mut builder = PlocBuilder::with_capacity(boxes.len());
    let mut bvh2 = builder.build(PlocSearchDistance::High, boxes, indices, SortPrecision::U64, 2);
    bvh2.uses_spatial_splits = true;
    ReinsertionOptimizer::default().run(&mut bvh2, 0.15, None);
    bvh2
}

/// Whether many boxes have one centre. Clustering would merge them one at a time, in quadratic time and into a chain.
fn is_clumped(boxes: &[Aabb]) -> bool {
    const MANY: usize = 32;
    let mut centers: Vec<[u32; 3]> = boxes.iter().map(|b| b.center().to_array().map(f32::to_bits)).collect();
    centers.par_sort_unstable();
    centers.windows(MANY).any(|w| w[0] == w[MANY - 1])
}

/// Median splits along the longest axis of the centres: never deeper than log₂ n, whatever the geometry.
fn balanced(boxes: &[Aabb], indices: &[u32]) -> Bvh2 {
    let mut order: Vec<u32> = (0..boxes.len() as u32).collect();
    let mut nodes = vec![Bvh2Node::default()];
    let mut work = vec![(0, 0..boxes.len())];
    while let Some((node, range)) = work.pop() {
        let part = &mut order[range.clone()];
        let bounds = part.iter().fold(Aabb::empty(), |all, &i| all.union(&boxes[i as usize]));
        if part.len() == 1 {
            nodes[node] = Bvh2Node::new(bounds, 1, range.start as u32);
            continue;
        }
        let center = |i: u32| boxes[i as usize].center();
        let points: Vec<Vec3A> = part.iter().map(|&i| center(i)).collect();
        let axis = Aabb::from_points(&points).largest_axis();
        let middle = part.len() / 2;
        part.select_nth_unstable_by(middle, |&i, &j| center(i)[axis].total_cmp(&center(j)[axis]));
        let first = nodes.len();
        nodes[node] = Bvh2Node::new(bounds, 0, first as u32);
        nodes.extend([Bvh2Node::default(); 2]);
        work.push((first, range.start..range.start + middle));
        work.push((first + 1, range.start + middle..range.end));
    }
    let mut bvh2 = Bvh2::zeroed(boxes.len());
    bvh2.nodes = nodes;
    bvh2.primitive_indices = order.iter().map(|&i| indices[i as usize]).collect();
    bvh2.uses_spatial_splits = true;
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
fn depth(nodes: &[Node]) -> usize {
    let mut level = vec![1usize; nodes.len()];
    for (i, node) in nodes.iter().enumerate() {
        for child in 0..node.e_imask().1.count_ones() {
            level[(node.child_base + child) as usize] = level[i] + 1;
        }
    }
    level.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use device::shape::Kind;

    use super::*;

    fn sphere(center: Vec3A, radius: f32) -> Primitive {
        Primitive {
            a: center.into(),
            material_flags: Kind::Sphere.flag(),
            b: glam::Vec3::new(radius, 0.0, 0.0),
            light: Primitive::NO_LIGHT,
            c: glam::Vec3::ZERO,
            normals: Primitive::FLAT,
        }
    }

    /// Every primitive is in the tree, and the tree can be traversed.
    fn holds(prims: &[Primitive]) {
        let bvh = build(prims.to_vec()).expect("it builds");
        let mut found: Vec<_> =
            bvh.prims.iter().map(|p| (p.a.to_array(), p.b.x)).map(|x| format!("{x:?}")).collect();
        let mut expected: Vec<_> =
            prims.iter().map(|p| (p.a.to_array(), p.b.x)).map(|x| format!("{x:?}")).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
        assert!(depth(&bvh.nodes) < 16, "{}", depth(&bvh.nodes));
    }

    #[test]
    fn coincident_primitives_make_no_chain() {
        holds(&vec![sphere(Vec3A::ONE, 0.5); 20_000]);
    }

    #[test]
    fn concentric_primitives_make_no_chain() {
        holds(&(1..20_000).map(|i| sphere(Vec3A::ONE, i as f32)).collect::<Vec<_>>());
    }

    #[test]
    fn ordinary_primitives_are_clustered() {
        let boxes: Vec<_> = (0..100).map(|i| aabb(&sphere(Vec3A::splat(i as f32), 1.0))).collect();
        assert!(!is_clumped(&boxes));
    }
}
