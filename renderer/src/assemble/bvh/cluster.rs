//! Trees from the leaves up: Meister & Bittner 2018, "Parallel Locally-Ordered Clustering for Bounding Volume Hierarchy
//! Construction".
//!
//! Nodes lie in a row, in the order of a curve that fills space. In each round every node chooses the one with which it has
//! the smallest box, among those near it in the row; two that chose each other become one. Where boxes are as far apart as
//! each other, or ever farther, each chooses the next and none is chosen in return but at the end of the row: a round
//! would join one pair, and there would be as many rounds as boxes. A round that joins too few pairs, hence, joins others
//! as well: nodes with the one they chose, if no other has it, and if that is still too few, neighbours in the row. Work
//! is in proportion to the number of boxes, whatever they are, and the tree the same whatever the threads.

use std::ops::Range;

use glam::DVec3;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::node::Bvh2Node;
use rayon::prelude::*;

/// How far along the row a node looks.
const REACH: usize = 24;

/// Rounds in which it looks at the next alone: most pairs are found there.
const SHORT_ROUNDS: usize = 2;

/// The part of its nodes that a round joins into others at least.
pub(super) const LEAST: f32 = 1.0 / 16.0;

/// Nodes that a task looks at.
const TASK: usize = 512;

/// Nodes from which on rounds are shared among threads.
const PARALLEL: usize = 4 * TASK;

/// Bit of a [`Row::links`] that is an index of a box.
const LEAF: u32 = 1 << 31;

/// Element of a row of partners for a node that has none.
const NONE: u32 = LEAF - 1;

/// Numbers of nodes at the beginning of each round.
pub(super) type Rounds = Vec<usize>;

/// The binary tree over boxes, one to a leaf, by their indices. There is at least one box.
pub(super) fn cluster(boxes: &[Aabb]) -> Bvh2 {
    cluster_in_rounds(boxes, LEAST).0
}

/// [`cluster`], with rounds that join at least a part of the nodes.
pub(super) fn cluster_in_rounds(boxes: &[Aabb], least: f32) -> (Bvh2, Rounds) {
    let mut row = Row::along_curve(boxes);
    let mut next = Row::with_room(row.len());
    let mut nodes = vec![Bvh2Node::default(); 2 * boxes.len() - 1];
    // Parents come before their children.
    let mut free = nodes.len();
    let mut partners = vec![NONE; row.len()];
    let mut areas = vec![0.0; row.len()];
    let mut rounds = Vec::new();
    while row.len() > 1 {
        let (partners, areas) = (&mut partners[..row.len()], &mut areas[..row.len()]);
        if rounds.len() < SHORT_ROUNDS {
            row.choose::<1>(partners, areas)
        } else {
            row.choose::<REACH>(partners, areas)
        }
        rounds.push(row.len());
        let least = ((least * row.len() as f32) as usize).max(1);
        pair(partners, areas, least);
        next.clear();
        for i in 0..row.len() {
            match partners[i] {
                NONE => next.push(row.planes.each_ref().map(|plane| plane[i]), row.links[i]),
                // In the place of the second of both.
                j if (j as usize) < i => {
                    free -= 2;
                    let pair = [row.node(i), row.node(j as usize)];
                    let Aabb { min, max } = pair[0].aabb().union(pair[1].aabb());
                    nodes[free..free + 2].copy_from_slice(&pair);
                    next.push([min.x, min.y, min.z, max.x, max.y, max.z], free as u32);
                }
                _ => {}
            }
        }
        std::mem::swap(&mut row, &mut next);
    }
    nodes[0] = row.node(0);
    let mut bvh2 = Bvh2::zeroed(0);
    bvh2.nodes = nodes;
    (bvh2, rounds)
}

/// The nodes that have no parent yet.
struct Row {
    /// The least and largest coordinates of their boxes, each in an array of its own, so that processors take several at once.
    planes: [Vec<f32>; 6],
    /// Index of the first child, or with [`LEAF`] of the box.
    links: Vec<u32>,
}

impl Row {
    fn with_room(len: usize) -> Self {
        Self { planes: std::array::from_fn(|_| Vec::with_capacity(len)), links: Vec::with_capacity(len) }
    }

    /// Boxes in the order of their centres along Morton's curve, and of their numbers where these are the same.
    fn along_curve(boxes: &[Aabb]) -> Self {
        let all = boxes.iter().fold(Aabb::empty(), |all, b| all.union(b));
        let size = all.diagonal().as_dvec3();
        let scale = DVec3::select(size.cmpgt(DVec3::ZERO), DVec3::splat(CELLS) / size, DVec3::ZERO);
        let key = |(i, b): (usize, &Aabb)| (morton((b.center() - all.min).as_dvec3() * scale), i as u32);
        let mut order: Vec<(u64, u32)> = boxes.par_iter().enumerate().with_min_len(TASK).map(key).collect();
        order.par_sort_unstable();
        let mut row = Self::with_room(boxes.len());
        for (_, i) in order {
            let Aabb { min, max } = boxes[i as usize];
            row.push([min.x, min.y, min.z, max.x, max.y, max.z], LEAF | i);
        }
        row
    }

    fn len(&self) -> usize {
        self.links.len()
    }

    fn clear(&mut self) {
        self.planes.iter_mut().for_each(Vec::clear);
        self.links.clear();
    }

    fn push(&mut self, planes: [f32; 6], link: u32) {
        self.planes.iter_mut().zip(planes).for_each(|(all, plane)| all.push(plane));
        self.links.push(link);
    }

    fn node(&self, i: usize) -> Bvh2Node {
        let [a, b, c, d, e, f] = self.planes.each_ref().map(|plane| plane[i]);
        let is_leaf = self.links[i] & LEAF != 0;
        Bvh2Node::new(Aabb::new([a, b, c].into(), [d, e, f].into()), is_leaf.into(), self.links[i] & !LEAF)
    }

    /// Which of those at most `R` places away each node has the smallest box with, the last among equals, and half its area.
    fn choose<const R: usize>(&self, choices: &mut [u32], areas: &mut [f32]) {
        let search = |(task, (choices, areas)): (usize, (&mut [u32], &mut [f32]))| {
            self.choose_some::<R>(task * TASK, choices, areas);
        };
        if choices.len() < PARALLEL {
            choices.chunks_mut(TASK).zip(areas.chunks_mut(TASK)).enumerate().for_each(search);
        } else {
            choices.par_chunks_mut(TASK).zip(areas.par_chunks_mut(TASK)).enumerate().for_each(search);
        }
    }

    /// [`Row::choose`], for nodes from `start` on. Each loop is over neighbours, so that processors take several at once.
    fn choose_some<const R: usize>(&self, start: usize, choices: &mut [u32], least: &mut [f32]) {
        let len = choices.len();
        let (mut forth, mut forth_by) = ([f32::INFINITY; TASK], [0_i32; TASK]);
        let (mut back, mut back_by) = ([f32::INFINITY; TASK], [0_i32; TASK]);
        let mut areas = [0.0; TASK];
        for by in 1..=R.min(self.len() - 1) {
            let ahead = len.min(self.len().saturating_sub(start + by));
            self.areas(start..start + ahead, by, &mut areas[..ahead]);
            better(&areas[..ahead], by as i32, |new, old| new <= old, &mut forth, &mut forth_by);
            // What the nodes before see ahead of them, the others see behind them.
            let first = by.saturating_sub(start).min(len);
            let before = by.min(len).max(first);
            let mut seen = [0.0; R];
            let seen = &mut seen[..before - first];
            self.areas(start + first - by..start + before - by, by, seen);
            better(seen, -(by as i32), |new, old| new < old, &mut back[first..], &mut back_by[first..]);
            let rest = &areas[..len - before];
            better(rest, -(by as i32), |new, old| new < old, &mut back[before..], &mut back_by[before..]);
        }
        for (i, (choice, least)) in choices.iter_mut().zip(least).enumerate() {
            let by = if forth[i] <= back[i] { forth_by[i] } else { back_by[i] };
            *least = forth[i].min(back[i]);
            *choice = if by == 0 { NONE } else { (start + i).wrapping_add_signed(by as isize) as u32 };
        }
    }

    /// Half the areas of the boxes around nodes and those `by` places after them.
    fn areas(&self, nodes: Range<usize>, by: usize, areas: &mut [f32]) {
        let n = areas.len();
        if n == 0 {
            return;
        }
        let [ax, ay, az, bx, by_, bz] = self.planes.each_ref().map(|plane| &plane[nodes.clone()][..n]);
        let others = nodes.start + by..nodes.end + by;
        let [cx, cy, cz, dx, dy, dz] = self.planes.each_ref().map(|plane| &plane[others.clone()][..n]);
        let least = |a: f32, b: f32| if a < b { a } else { b };
        let most = |a: f32, b: f32| if a > b { a } else { b };
        for i in 0..n {
            let x = most(bx[i], dx[i]) - least(ax[i], cx[i]);
            let y = most(by_[i], dy[i]) - least(ay[i], cy[i]);
            let z = most(bz[i], dz[i]) - least(az[i], cz[i]);
            areas[i] = (x + y) * z + x * y;
        }
    }
}

/// Puts those of the areas in their place that are better, and how far away they are. Without branches, so that processors
/// take several at once.
fn better(new: &[f32], by: i32, is_better: impl Fn(f32, f32) -> bool, areas: &mut [f32], bys: &mut [i32]) {
    for ((new, area), best_by) in new.iter().zip(areas).zip(bys) {
        let old = u32::from(is_better(*new, *area)).wrapping_sub(1);
        *area = f32::from_bits((new.to_bits() & !old) | (area.to_bits() & old));
        *best_by = (by & !old as i32) | (*best_by & old as i32);
    }
}

/// Makes pairs of nodes, of which each has chosen one or [`NONE`], with which it has a box of so much area: at least so many
/// pairs, if there are enough nodes. Then whoever has a partner is its partner's, and all others have none.
fn pair(choices: &mut [u32], areas: &[f32], least: usize) {
    /// Bit of those that have a partner.
    const TAKEN: u32 = 1 << 31;
    /// How much larger than the best a box is that is too large.
    const FAR: f32 = 2.0;
    let join = |choices: &mut [u32], i: usize, j: usize| {
        (choices[i], choices[j]) = (j as u32 | TAKEN, i as u32 | TAKEN);
    };
    let mut pairs = 0;
    for i in 0..choices.len() {
        let j = choices[i] as usize;
        if j < i && choices[j] == i as u32 {
            join(choices, i, j);
            pairs += 1;
        }
    }
    if pairs < least {
        for i in 0..choices.len() {
            let j = choices[i] as usize;
            // Not with one that has a far better choice: a small one would be lost to a large one.
            if j < choices.len() && choices[j] & TAKEN == 0 && areas[i] <= FAR * areas[j] {
                join(choices, i, j);
                pairs += 1;
            }
        }
    }
    if pairs < least {
        let mut first = None;
        for i in 0..choices.len() {
            if choices[i] & TAKEN == 0 {
                match first.take() {
                    Some(j) => join(choices, i, j),
                    None => first = Some(i),
                }
            }
        }
    }
    for choice in choices {
        *choice = if *choice & TAKEN == 0 { NONE } else { *choice & !TAKEN };
    }
}

/// Cells of Morton's curve along each axis.
const CELLS: f64 = (1 << 21) as f64;

/// Place on Morton's curve: the bits of the coordinates in turns.
fn morton(at: DVec3) -> u64 {
    let spread = |x: f64| {
        // Every step halves the blocks of bits that are still together.
        let x = x.min(CELLS - 1.0) as u64;
        let x = (x | x << 32) & 0x001f_0000_0000_ffff;
        let x = (x | x << 16) & 0x001f_0000_ff00_00ff;
        let x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
        let x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
        (x | x << 2) & 0x1249_2492_4924_9249
    };
    spread(at.x) | spread(at.y) << 1 | spread(at.z) << 2
}
