//! Better trees: Meister & Bittner 2018, "Parallel Reinsertion for Bounding Volume Hierarchy Optimization".
//!
//! The largest nodes are taken out one by one and put where the tree becomes smallest, by the areas of its nodes. Where
//! boxes lie in each other, nothing tells where that is, and the whole tree would be searched: a search ends after a number
//! of nodes. They also become chains there: the tree is left as it is when it has become deep.

use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::node::Bvh2Node;
use obvhs::bvh2::reinsertion::reinsert_node;
use rayon::prelude::*;

/// The part of all nodes that is tried first; then a third of it, a fifth and so on, of ever larger nodes.
const PART: f32 = 0.15;

/// How often nodes are tried.
const PASSES: u32 = 16;

/// Nodes that a search looks at.
pub(super) const MOST_STEPS: u32 = 512;

/// Levels above a node from which on the tree is no longer changed: ordinary ones have half as many.
const DEEP: u32 = 96;

/// Puts nodes where they cost less, and yields how many nodes all searches looked at.
pub(super) fn reinsert(bvh2: &mut Bvh2, most_steps: u32) -> u64 {
    let mut steps = 0;
    if bvh2.nodes.len() < 3 {
        return steps;
    }
    bvh2.init_parents_if_uninit();
    let mut is_touched = vec![false; bvh2.nodes.len()];
    for pass in 0..PASSES {
        let count = (bvh2.nodes.len() as f32 * PART / (2 * pass + 1) as f32) as usize;
        let count = count.clamp(1, bvh2.nodes.len() - 1);
        let found: Vec<Found> = candidates(&bvh2.nodes, count)
            .into_par_iter()
            .with_min_len(32)
            .map_with(Vec::new(), |stack, node| find(bvh2, node as usize, stack, most_steps))
            .collect();
        steps += found.iter().map(|found| u64::from(found.steps)).sum::<u64>();
        if found.iter().any(|found| found.level > DEEP) {
            break;
        }
        let mut moves: Vec<Move> = found.iter().map(|found| found.best).filter(|m| m.gain > 0.0).collect();
        moves.par_sort_unstable_by(|a, b| b.gain.total_cmp(&a.gain).then(a.from.cmp(&b.from)));
        is_touched.fill(false);
        for Move { from, to, .. } in moves {
            let parent = |node: u32| bvh2.parents[node as usize];
            let around = [from, to, Bvh2Node::get_sibling_id32(from), parent(from), parent(to)];
            if around.iter().all(|&node| !is_touched[node as usize]) {
                around.iter().for_each(|&node| is_touched[node as usize] = true);
                reinsert_node(bvh2, from as usize, to as usize);
            }
        }
    }
    steps
}

/// Levels below the root.
pub(super) fn depth(bvh2: &Bvh2) -> usize {
    let mut deepest = 0;
    let mut work = vec![(0, 0)];
    while let Some((node, level)) = work.pop() {
        deepest = deepest.max(level);
        let node = &bvh2.nodes[node as usize];
        if !node.is_leaf() {
            work.extend([(node.first_index, level + 1), (node.first_index + 1, level + 1)]);
        }
    }
    deepest
}

/// The largest nodes but the root, of the first in memory, where the upper ones are.
fn candidates(nodes: &[Bvh2Node], count: usize) -> Vec<u32> {
    let first = nodes.len().min(2 * (count + 1));
    let mut order: Vec<(u32, u32)> =
        (1..first).map(|i| (!nodes[i].aabb().half_area().to_bits(), i as u32)).collect();
    order.par_sort_unstable();
    order.truncate(count);
    order.into_iter().map(|(_, node)| node).collect()
}

/// A node that is to become the sibling of another.
#[derive(Clone, Copy, Default)]
struct Move {
    from: u32,
    to: u32,
    /// By how much half the area of all nodes becomes less.
    gain: f32,
}

/// The best move of a node, and what it took to find it.
struct Found {
    best: Move,
    /// Nodes that were looked at.
    steps: u32,
    /// Levels above the node.
    level: u32,
}

/// The best move of a node.
///
/// Without the node, its ancestors shrink. Where it goes, the nodes above grow, and one is added. From each ancestor upwards its
/// other side is searched, as long as less would be added than the best move gains.
fn find(bvh2: &Bvh2, from: usize, stack: &mut Vec<(f32, u32)>, most_steps: u32) -> Found {
    let area = |node: usize| bvh2.nodes[node].aabb().half_area();
    let moved: Aabb = *bvh2.nodes[from].aabb();
    let moved_area = moved.half_area();
    let parent = bvh2.parents[from] as usize;
    let mut best = Move::default();
    let (mut steps, mut level) = (0, 1);
    // What is gained above the common ancestor, which is `pivot`.
    let mut gain = area(parent);
    let mut pivot = parent;
    let mut side = Bvh2Node::get_sibling_id(from);
    let mut rest = *bvh2.nodes[side].aabb();
    loop {
        stack.clear();
        let mut next = Some((gain, side as u32));
        while let Some((gain, to)) = next.take().or_else(|| stack.pop()) {
            if gain - moved_area <= best.gain {
                continue;
            }
            if steps == most_steps {
                break;
            }
            steps += 1;
            let node = &bvh2.nodes[to as usize];
            let left = gain - node.aabb().union(&moved).half_area();
            if left > best.gain {
                best = Move { from: from as u32, to, gain: left };
            }
            if !node.is_leaf() {
                let left = left + node.aabb().half_area();
                stack.push((left, node.first_index));
                next = Some((left, node.first_index + 1));
            }
        }
        if pivot != parent {
            rest = rest.union(bvh2.nodes[side].aabb());
            gain += area(pivot) - rest.half_area();
        }
        if pivot == 0 {
            break;
        }
        level += 1;
        side = Bvh2Node::get_sibling_id(pivot);
        pivot = bvh2.parents[pivot] as usize;
    }
    let is_there = best.to == Bvh2Node::get_sibling_id32(from as u32) || best.to == parent as u32;
    Found { best: if is_there { Move::default() } else { best }, steps, level }
}
