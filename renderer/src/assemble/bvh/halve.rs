//! Trees by halves, along the longest axis of the centres: never deeper than log₂ n, whatever the geometry.

use glam::Vec3A;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::node::Bvh2Node;

/// The binary tree over boxes, one to a leaf, by their indices. There is at least one box.
pub(super) fn halve(boxes: &[Aabb]) -> Bvh2 {
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
    // Leaves name boxes, not places in the order.
    for node in nodes.iter_mut().filter(|node| node.is_leaf()) {
        node.first_index = order[node.first_index as usize];
    }
    let mut bvh2 = Bvh2::zeroed(0);
    bvh2.nodes = nodes;
    bvh2
}
