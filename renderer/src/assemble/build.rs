//! Building the hierarchy of many primitives, in little time and memory.
//!
//! The primitives are divided where they lie, by all threads, down to treelets of some thousand. Each of those becomes
//! wide nodes on its own, and so does the tree above them; what is needed on the way is never more than for some dozens
//! of treelets.

mod pieces;
mod sah;
#[cfg(test)]
mod tests;

use device::bvh::Node;
use device::shape::Primitive;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::node::Bvh2Node;
use obvhs::cwbvh::bvh2_to_cwbvh::bvh2_to_cwbvh;
use rayon::prelude::*;

use super::bvh::{Bvh, aabb};
use pieces::{Piece, cut};
use sah::{Bins, Boxes, Extent, Grid};

/// Most primitives of a treelet: what is made of them on the way fits a core's second cache.
const TREELET: usize = 4096;

/// Treelets that are built at once, before they are put in their place.
const BATCH: usize = 64;

/// Primitives that a task looks at.
const TASK: usize = 1 << 14;

/// Primitives of a leaf at most, which a byte of [`Node::meta`] can tell.
const LEAF: u32 = 3;

/// Bit of an element of [`References::sources`] that is not the index of a primitive but of a piece.
const PIECE: u32 = 1 << 31;

/// Builds a hierarchy, and puts the primitives into the order of its leaves.
pub(super) fn build(mut prims: Vec<Primitive>) -> Bvh {
    let pieces = cut(&prims);
    let mut sources = sources(&mut prims, &pieces);
    let all = References { prims: &mut prims, sources: &mut sources, pieces: &pieces };
    let mut treelets = Vec::new();
    let extent = all
        .tasks()
        .map(|task| Extent::enclosing(task.map(|i| all.bounds(i))))
        .reduce(Extent::empty, Extent::union);
    let bvh2 = divide(all, extent, 0).flatten(&mut treelets);
    let (mut nodes, roots) = widen_top(&bvh2);
    // A node has five to six children; what is reserved and not used costs nothing.
    nodes.reserve(treelets.iter().map(|t| t.references.len()).sum::<usize>() / 4);
    let mut first_prim = 0;
    for (batch, roots) in treelets.chunks_mut(BATCH).zip(roots.chunks(BATCH)) {
        let built: Vec<Vec<Node>> = batch.par_iter_mut().map(Treelet::widen).collect();
        for ((treelet, built), root) in batch.iter().zip(built).zip(roots) {
            append(&mut nodes, &built, *root, first_prim);
            first_prim += treelet.references.len() as u32;
        }
    }
    nodes.shrink_to_fit();
    for source in sources.iter_mut().filter(|source| **source & PIECE != 0) {
        *source = pieces[(*source & !PIECE) as usize].source;
    }
    Bvh { nodes, prims, sources }
}

/// The primitive of each reference: the first piece of a primitive takes its place, the others follow all primitives.
fn sources(prims: &mut Vec<Primitive>, pieces: &[Piece]) -> Vec<u32> {
    // No more than are needed: each takes 52 bytes.
    prims.reserve_exact(pieces.len());
    let mut sources = Vec::with_capacity(prims.len() + pieces.len());
    sources.extend(0..prims.len() as u32);
    for (i, piece) in pieces.iter().enumerate() {
        let source = PIECE | i as u32;
        match sources[piece.source as usize] {
            first if first & PIECE == 0 => sources[piece.source as usize] = source,
            _ => {
                prims.push(prims[piece.source as usize]);
                sources.push(source);
            }
        }
    }
    sources
}

/// Primitives and pieces of such, some of those of the scene.
struct References<'a> {
    prims: &'a mut [Primitive],
    /// Index of the primitive, or with [`PIECE`] of the piece that stands for it.
    sources: &'a mut [u32],
    pieces: &'a [Piece],
}

impl Boxes for References<'_> {
    fn len(&self) -> usize {
        self.prims.len()
    }

    #[inline(always)]
    fn bounds(&self, i: usize) -> Aabb {
        match self.sources[i] {
            source if source & PIECE != 0 => self.pieces[(source & !PIECE) as usize].bounds,
            _ => aabb(&self.prims[i]),
        }
    }

    fn swap(&mut self, i: usize, j: usize) {
        self.prims.swap(i, j);
        self.sources.swap(i, j);
    }
}

impl<'a> References<'a> {
    fn split_at(self, middle: usize) -> (Self, Self) {
        let (left, right) = self.prims.split_at_mut(middle);
        let (left_sources, right_sources) = self.sources.split_at_mut(middle);
        let of = |prims, sources| References { prims, sources, pieces: self.pieces };
        (of(left, left_sources), of(right, right_sources))
    }

    /// Ranges of the references, for as many tasks.
    fn tasks(&self) -> impl ParallelIterator<Item = std::ops::Range<usize>> + use<> {
        let len = self.len();
        (0..len.div_ceil(TASK)).into_par_iter().map(move |i| i * TASK..len.min((i + 1) * TASK))
    }
}

/// A node of the tree above the treelets.
struct TopNode<'a> {
    bounds: Aabb,
    kind: NodeKind<'a>,
}

enum NodeKind<'a> {
    Treelet(Treelet<'a>),
    Split(Box<[TopNode<'a>; 2]>),
}

/// Some thousand neighbours.
struct Treelet<'a> {
    references: References<'a>,
    /// Levels of the tree above.
    level: u32,
}

/// Divides primitives in an extent down to treelets, each of which is in one place afterwards, from left to right.
fn divide(mut references: References<'_>, extent: Extent, level: u32) -> TopNode<'_> {
    if references.len() <= TREELET {
        return TopNode { bounds: extent.bounds, kind: NodeKind::Treelet(Treelet { references, level }) };
    }
    let grid = Grid::<{ sah::BINS }>::new(&extent);
    let bins = references
        .tasks()
        .map(|task| Bins::fill(&grid, task.map(|i| references.bounds(i))))
        .reduce(Bins::empty, |a, b| a.union(&b));
    let [left_extent, right_extent] = match bins.best(&grid).filter(|_| level < sah::MAX_LEVELS) {
        Some(split) => references.partition(&split),
        None => references.halve(),
    };
    let (left, right) = references.split_at(left_extent.count);
    let (left, right) =
        rayon::join(|| divide(left, left_extent, level + 1), || divide(right, right_extent, level + 1));
    TopNode { bounds: extent.bounds, kind: NodeKind::Split(Box::new([left, right])) }
}

impl<'a> TopNode<'a> {
    /// The binary tree, whose leaf i is treelet i, and the treelets.
    fn flatten(self, treelets: &mut Vec<Treelet<'a>>) -> Bvh2 {
        let mut bvh2 = Bvh2::zeroed(0);
        bvh2.nodes.push(Bvh2Node::default());
        self.flatten_to(&mut bvh2, 0, treelets);
        bvh2.primitive_indices = (0..treelets.len() as u32).collect();
        bvh2
    }

    fn flatten_to(self, bvh2: &mut Bvh2, node: usize, treelets: &mut Vec<Treelet<'a>>) {
        match self.kind {
            NodeKind::Treelet(treelet) => {
                bvh2.nodes[node] = Bvh2Node::new(self.bounds, 1, treelets.len() as u32);
                treelets.push(treelet);
            }
            NodeKind::Split(children) => {
                let first = bvh2.nodes.len();
                bvh2.nodes[node] = Bvh2Node::new(self.bounds, 0, first as u32);
                bvh2.nodes.extend([Bvh2Node::default(); 2]);
                for (i, child) in children.into_iter().enumerate() {
                    child.flatten_to(bvh2, first + i, treelets);
                }
            }
        }
    }
}

impl Treelet<'_> {
    /// The wide nodes, root first, with indices from 0; the primitives are put into the order of the leaves.
    fn widen(&mut self) -> Vec<Node> {
        let References { prims, sources, .. } = &self.references;
        let (old_prims, old_sources) = (prims.to_vec(), sources.to_vec());
        let boxes: Vec<Aabb> = (0..old_prims.len()).map(|i| self.references.bounds(i)).collect();
        let cwbvh = bvh2_to_cwbvh(&sah::build(&boxes, self.level), LEAF, true, false);
        for (to, from) in cwbvh.primitive_indices.iter().enumerate() {
            self.references.prims[to] = old_prims[*from as usize];
            self.references.sources[to] = old_sources[*from as usize];
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
