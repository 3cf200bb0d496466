//! What a tree costs rays.

use device::bvh::Node;

/// Cost of a test of a primitive, that of a node being 1: what trees are made for.
const PRIMITIVE: f64 = 0.3;

/// How good a tree is.
pub(super) struct Quality {
    /// The cost by the surface-area heuristic, that of a node being 1.
    pub(super) cost: f64,
    /// Levels of nodes.
    pub(super) depth: usize,
}

impl Quality {
    /// That of the tree whose root comes first.
    pub(super) fn of(nodes: &[Node]) -> Self {
        let Some(root) = nodes.first() else { return Self { cost: 0.0, depth: 0 } };
        let whole = half_area(corners(root, |_| true));
        // Of a point, all parts are met.
        let part = |area: f64| if whole > 0.0 { area / whole } else { 1.0 };
        let (mut cost, mut depth) = (1.0, 0);
        let mut work = vec![(root, 1)];
        while let Some((node, level)) = work.pop() {
            depth = depth.max(level);
            let mut inner = node.child_base as usize..;
            for slot in 0..8 {
                let meta = byte(node.meta, slot);
                let met = part(half_area(corners(node, |s| s == slot)));
                if meta == 0 {
                    continue;
                }
                if node.e_imask().1 & (1 << slot) == 0 {
                    cost += met * PRIMITIVE * f64::from((meta >> 5).count_ones());
                } else if let Some(child) = inner.next().and_then(|i| nodes.get(i)) {
                    cost += met;
                    work.push((child, level + 1));
                }
            }
        }
        Self { cost, depth }
    }
}

/// The least and the largest coordinates along each axis of some of the children, in metres.
fn corners(node: &Node, is_of: impl Fn(usize) -> bool) -> [[f64; 2]; 3] {
    std::array::from_fn(|axis| {
        let step = f64::from(f32::from_bits(node.e_imask().0[axis] << 23));
        let slots = (0..8).filter(|slot| byte(node.meta, *slot) != 0 && is_of(*slot));
        let planes = slots.map(|slot| [0, 1].map(|side| byte(node.planes[2 * axis + side], slot)));
        let around = planes.reduce(|[a, b], [c, d]| [a.min(c), b.max(d)]).unwrap_or([0; 2]);
        around.map(|plane| step * f64::from(plane))
    })
}

fn half_area(corners: [[f64; 2]; 3]) -> f64 {
    let [x, y, z] = corners.map(|[least, most]| most - least);
    x * y + y * z + z * x
}

/// One of eight bytes.
fn byte(words: [u32; 2], i: usize) -> u32 {
    (words[i / 4] >> (8 * (i % 4))) & 0xff
}
