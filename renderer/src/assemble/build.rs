//! Building the hierarchy of many primitives, in little time and memory.
//!
//! The primitives are divided where they lie, by all threads, down to treelets of some thousand. Each of those becomes
//! wide nodes on its own, and so does the tree above them; what is needed on the way is never more than for some dozens
//! of treelets.

mod sah;

use device::bvh::Node;
use device::shape::Primitive;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::node::Bvh2Node;
use obvhs::cwbvh::bvh2_to_cwbvh::bvh2_to_cwbvh;
use rayon::prelude::*;

use super::bvh::{Bvh, aabb};
use sah::{Bins, Extent, Grid, partition};

/// Most primitives of a treelet: what is made of them on the way fits a core's second cache.
const TREELET: usize = 4096;

/// Treelets that are built at once, before they are put in their place.
const BATCH: usize = 64;

/// Primitives that a task looks at.
const TASK: usize = 1 << 14;

/// Primitives of a leaf at most, which a byte of [`Node::meta`] can tell.
const LEAF: u32 = 3;

/// Builds a hierarchy, and puts the primitives into the order of its leaves.
pub(super) fn build(mut prims: Vec<Primitive>) -> Bvh {
    let mut sources: Vec<u32> = (0..prims.len() as u32).collect();
    let top = divide(&mut prims, &mut sources, 0);
    let mut parts = Vec::new();
    let bvh2 = top.flatten(&mut parts);
    let (mut nodes, roots) = widen_top(&bvh2);
    // A node has five to six children; what is reserved and not used costs nothing.
    nodes.reserve(prims.len() / 4);
    let mut first_prim = 0;
    let mut treelets = slices(&mut prims, &mut sources, &parts);
    for (batch, roots) in treelets.chunks_mut(BATCH).zip(roots.chunks(BATCH)) {
        let built: Vec<Vec<Node>> = batch.par_iter_mut().map(Treelet::widen).collect();
        for ((treelet, built), root) in batch.iter().zip(built).zip(roots) {
            append(&mut nodes, &built, *root, first_prim);
            first_prim += treelet.prims.len() as u32;
        }
    }
    nodes.shrink_to_fit();
    Bvh { nodes, prims, sources }
}

/// The tree above the treelets.
struct Part {
    bounds: Aabb,
    kind: PartKind,
}

enum PartKind {
    /// A treelet of so many primitives, below so many levels.
    Treelet(usize, u32),
    Split(Box<[Part; 2]>),
}

/// Divides primitives down to treelets, each of which is in one place afterwards, from left to right.
fn divide(prims: &mut [Primitive], sources: &mut [u32], level: u32) -> Part {
    let extent = prims
        .par_chunks(TASK)
        .map(|prims| Extent::of(prims.iter().map(aabb)))
        .reduce(Extent::empty, Extent::union);
    let bounds = extent.bounds;
    if prims.len() <= TREELET {
        return Part { bounds, kind: PartKind::Treelet(prims.len(), level) };
    }
    let grid = Grid::new(&extent);
    let bins = prims
        .par_chunks(TASK)
        .map(|prims| Bins::of(&grid, prims.iter().map(aabb)))
        .reduce(Bins::empty, |a, b| a.union(&b));
    let middle = match bins.best(&grid).filter(|_| level < sah::MAX_LEVELS) {
        Some(split) => partition(prims, |p| split.is_left(&aabb(p)), |i, j| sources.swap(i, j)),
        None => prims.len() / 2,
    };
    let (left, right) = prims.split_at_mut(middle);
    let (left_sources, right_sources) = sources.split_at_mut(middle);
    let (left, right) =
        rayon::join(|| divide(left, left_sources, level + 1), || divide(right, right_sources, level + 1));
    Part { bounds, kind: PartKind::Split(Box::new([left, right])) }
}

impl Part {
    /// The binary tree, whose leaf i is treelet i, and the size and level of each treelet.
    fn flatten(&self, treelets: &mut Vec<(usize, u32)>) -> Bvh2 {
        let mut bvh2 = Bvh2::zeroed(0);
        bvh2.nodes.push(Bvh2Node::default());
        self.flatten_to(&mut bvh2, 0, treelets);
        bvh2.primitive_indices = (0..treelets.len() as u32).collect();
        bvh2
    }

    fn flatten_to(&self, bvh2: &mut Bvh2, node: usize, treelets: &mut Vec<(usize, u32)>) {
        match &self.kind {
            PartKind::Treelet(size, level) => {
                bvh2.nodes[node] = Bvh2Node::new(self.bounds, 1, treelets.len() as u32);
                treelets.push((*size, *level));
            }
            PartKind::Split(parts) => {
                let first = bvh2.nodes.len();
                bvh2.nodes[node] = Bvh2Node::new(self.bounds, 0, first as u32);
                bvh2.nodes.extend([Bvh2Node::default(); 2]);
                for (i, part) in parts.iter().enumerate() {
                    part.flatten_to(bvh2, first + i, treelets);
                }
            }
        }
    }
}

/// The primitives of a treelet.
struct Treelet<'a> {
    prims: &'a mut [Primitive],
    sources: &'a mut [u32],
    level: u32,
}

/// The primitives of all treelets.
fn slices<'a>(
    mut prims: &'a mut [Primitive],
    mut sources: &'a mut [u32],
    parts: &[(usize, u32)],
) -> Vec<Treelet<'a>> {
    let mut take = |&(size, level): &(usize, u32)| {
        let (first, rest) = std::mem::take(&mut prims).split_at_mut(size);
        let (first_sources, rest_sources) = std::mem::take(&mut sources).split_at_mut(size);
        (prims, sources) = (rest, rest_sources);
        Treelet { prims: first, sources: first_sources, level }
    };
    parts.iter().map(&mut take).collect()
}

impl Treelet<'_> {
    /// The wide nodes, root first, with indices from 0; the primitives are put into the order of the leaves.
    fn widen(&mut self) -> Vec<Node> {
        let boxes: Vec<Aabb> = self.prims.iter().map(aabb).collect();
        let cwbvh = bvh2_to_cwbvh(&sah::build(&boxes, self.level), LEAF, true, false);
        let (prims, sources) = (self.prims.to_vec(), self.sources.to_vec());
        for (to, from) in cwbvh.primitive_indices.iter().enumerate() {
            self.prims[to] = prims[*from as usize];
            self.sources[to] = sources[*from as usize];
        }
        bytemuck::pod_collect_to_vec(&cwbvh.nodes)
    }
}

/// The wide nodes of the tree above the treelets, among them places for the roots of the treelets; and which those are.
fn widen_top(bvh2: &Bvh2) -> (Vec<Node>, Vec<usize>) {
    let count = bvh2.primitive_indices.len();
    if count == 1 {
        return (vec![bytemuck::Zeroable::zeroed()], vec![0]);
    }
    let cwbvh = bvh2_to_cwbvh(bvh2, 1, true, false);
    let top: Vec<Node> = bytemuck::pod_collect_to_vec(&cwbvh.nodes);
    let mut nodes: Vec<Node> = vec![bytemuck::Zeroable::zeroed()];
    let mut roots = vec![0; count];
    let mut work = vec![(0, 0)];
    while let Some((from, to)) = work.pop() {
        let mut node = top[from];
        let imask = node.e_imask >> 24;
        let (mut child, inner) = (nodes.len(), node.child_base as usize);
        let mut inner = inner..;
        node.child_base = child as u32;
        for slot in 0..8 {
            let meta = (node.meta[slot / 4] >> (8 * (slot % 4))) & 0xff;
            if meta == 0 {
                continue;
            }
            if imask & (1 << slot) != 0 {
                work.extend(inner.next().map(|from| (from, child)));
            } else {
                let treelet = cwbvh.primitive_indices[(node.prim_base + (meta & 0x1f)) as usize];
                roots[treelet as usize] = child;
                node.e_imask |= 1 << (24 + slot);
                let word = &mut node.meta[slot / 4];
                *word &= !(0xff << (8 * (slot % 4)));
                *word |= (0x20 | (24 + slot as u32)) << (8 * (slot % 4));
            }
            child += 1;
        }
        nodes.resize(child, bytemuck::Zeroable::zeroed());
        node.prim_base = 0;
        nodes[to] = node;
    }
    (nodes, roots)
}

/// Puts the root of a treelet at its place, and its other nodes at the end.
fn append(nodes: &mut Vec<Node>, treelet: &[Node], root: usize, first_prim: u32) {
    let first = nodes.len() as u32;
    let moved = |node: &Node| Node {
        // Child 1 of the treelet comes first here.
        child_base: (first + node.child_base).wrapping_sub(1),
        prim_base: node.prim_base + first_prim,
        ..*node
    };
    let Some((head, rest)) = treelet.split_first() else { return };
    nodes[root] = moved(head);
    nodes.extend(rest.iter().map(moved));
}
