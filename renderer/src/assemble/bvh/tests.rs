//! Trees of what is evenly spaced, nested or in one place: work in proportion to their size, complete, and not too deep.

use std::collections::HashSet;

use super::*;
use crate::bench::Layout;
use cluster::{LEAST, cluster_in_rounds};

fn boxes(layout: Layout, n: u32) -> Vec<Aabb> {
    layout.primitives(n).iter().map(aabb).collect()
}

/// How often a round of clustering looked at a node, for each box.
fn looks(boxes: &[Aabb], least: f32) -> f64 {
    let (_, rounds) = cluster_in_rounds(boxes, least);
    rounds.iter().sum::<usize>() as f64 / boxes.len() as f64
}

/// Boxes of which forty-eight in a row are smallest together with the one in their middle.
fn hubs(n: u32) -> Vec<Aabb> {
    let of = |i: u32| {
        let r = 1.0 + i as f32 / n as f32;
        let half = if i % 49 == 24 { Vec3A::splat(1e-3) } else { Vec3A::new(r, 1.0 / r, 1.0) };
        Aabb::new(-half, half)
    };
    (0..n).map(of).collect()
}

#[test]
fn clustering_is_work_in_proportion_to_boxes() {
    const N: u32 = 1 << 14;
    let mut all: Vec<_> = Layout::ALL.iter().map(|layout| (layout.name(), boxes(*layout, N))).collect();
    all.push(("hubs", hubs(N)));
    for (name, boxes) in &all {
        // In rounds that join one node of sixteen it would be sixteen.
        let looks = looks(boxes, LEAST);
        println!("{name}: {looks:.1}");
        assert!(looks < 9.0, "{name}: {looks}");
    }
}

#[test]
fn without_a_least_number_of_pairs_rounds_are_as_many_as_boxes() {
    for layout in [Layout::Row, Layout::Growing, Layout::Ribbon, Layout::Concentric] {
        let looks = looks(&boxes(layout, 1 << 12), 0.0);
        println!("{}: {looks:.0}", layout.name());
        assert!(looks > 50.0, "{}: {looks}", layout.name());
    }
}

#[test]
fn reinsertion_is_work_in_proportion_to_boxes() {
    // There are 0.7 searches for each box.
    let steps = |layout, n: u32, most_steps| {
        let mut bvh2 = cluster(&boxes(layout, n));
        reinsert(&mut bvh2, most_steps) as f64 / f64::from(n)
    };
    for layout in Layout::ALL {
        let steps = steps(layout, 1 << 14, MOST_STEPS);
        println!("{}: {steps:.1}", layout.name());
        assert!(steps < 100.0, "{}: {steps}", layout.name());
    }
    // Negative control: where spheres are in each other, a search would go through them all.
    let [few, many] = [1 << 11, 1 << 13].map(|n| steps(Layout::Concentric, n, u32::MAX));
    assert!(many > 2.0 * few, "{few} and {many}");
}

/// Indices of the boxes of the leaves below a node, each of whose boxes is around those of its children.
fn leaves(bvh2: &Bvh2) -> Vec<u32> {
    let nodes = &bvh2.nodes;
    for node in nodes.iter().filter(|node| !node.is_leaf()) {
        let first = node.first_index as usize;
        assert_eq!(*node.aabb(), nodes[first].aabb().union(nodes[first + 1].aabb()));
    }
    nodes.iter().filter(|node| node.is_leaf()).map(|node| node.first_index).collect()
}

#[test]
fn every_box_is_in_every_binary_tree_once() {
    for layout in Layout::ALL {
        for n in [1, 2, 3, 17, 511, 512, 513, 5000] {
            let boxes = boxes(layout, n);
            for build in [improved, cluster, halve] {
                let bvh2 = build(&boxes);
                let mut found = leaves(&bvh2);
                found.sort_unstable();
                assert!(found.into_iter().eq(0..n), "{} of {n}", layout.name());
            }
        }
    }
}

#[test]
fn trees_are_the_same_whatever_the_threads() {
    for layout in [Layout::Terrain, Layout::Cloud, Layout::Coincident] {
        let of = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let bvh = pool.install(|| build(layout.primitives(20_000)).unwrap());
            (bytemuck::pod_collect_to_vec::<_, u8>(&bvh.nodes), bvh.sources)
        };
        let alone = of(1);
        assert!(of(2) == alone && of(5) == alone, "{}", layout.name());
    }
}

#[test]
fn no_tree_is_too_deep() {
    for layout in Layout::ALL {
        let n = 20_000;
        let bvh = build(layout.primitives(n)).unwrap();
        let depth = depth(&bvh.nodes);
        println!("{}: {depth}", layout.name());
        assert!(depth <= STACK_SIZE, "{}: {depth}", layout.name());
        assert_eq!(bvh.sources.iter().collect::<HashSet<_>>().len(), n as usize, "{}", layout.name());
    }
    // Of the trees of these, the better ones are too deep.
    let nested: Vec<Aabb> =
        (0..20_000).map(|i| Aabb::new(Vec3A::ZERO, Vec3A::splat(1.0 + i as f32))).collect();
    let chain = chain(&nested);
    assert!(depth(&widen(chain, &(0..1000).collect::<Vec<_>>(), 1).0) > STACK_SIZE);
    let (nodes, order) = widen(halve(&nested), &(0..20_000).collect::<Vec<_>>(), 1);
    assert!(depth(&nodes) <= 15 && order.len() == nested.len());
}

/// The first thousand boxes, of which one after another contains all before.
fn chain(boxes: &[Aabb]) -> Bvh2 {
    use obvhs::bvh2::node::Bvh2Node;
    let mut bvh2 = Bvh2::zeroed(0);
    bvh2.nodes.push(Bvh2Node::default());
    let mut last = 0;
    for i in (0..1000).rev() {
        if i == 0 {
            bvh2.nodes[last] = Bvh2Node::new(boxes[0], 1, 0);
            break;
        }
        let first = bvh2.nodes.len();
        bvh2.nodes[last] = Bvh2Node::new(boxes[i], 0, first as u32);
        bvh2.nodes.extend([Bvh2Node::default(), Bvh2Node::new(boxes[i], 1, i as u32)]);
        last = first;
    }
    bvh2
}

#[test]
fn deep_trees_of_many_primitives_become_shallow() {
    let deep = build(Layout::Star.primitives(5000)).unwrap();
    let shallow = shallow(&deep);
    let sorted = |bvh: &Bvh| {
        let mut sources = bvh.sources.clone();
        sources.sort_unstable();
        sources
    };
    assert_eq!(sorted(&shallow), sorted(&deep));
    let all = Layout::Star.primitives(5000);
    let is_its = |(prim, source): (&Primitive, &u32)| prim.b == all[*source as usize].b;
    assert!(shallow.prims.iter().zip(&shallow.sources).all(is_its));
    assert!(depth(&shallow.nodes) <= 14);
}
