//! The node as CPUs have it: the same boxes as in [`Node`], in numbers that take no decoding. It is larger, which matters less
//! to caches of megabytes than the time that decoding takes.

use bytemuck::{Pod, Zeroable};

#[cfg(not(target_arch = "nvptx64"))]
use super::NodeHits;
use super::node::{Node, PAD_OF_DISTANCE, PAD_OF_STEP};
use crate::arch::{max, min};
use crate::ray::TraversalRay;

/// Eight children in 224 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(32))]
pub struct WideNode {
    /// Lower and upper planes, a number for each child: x lower, x upper, y lower, y upper, z lower, z upper. Boxes are larger by
    /// 1/128 of a step of the grid, rounded outwards, and inside out where there is no child, so that no ray meets them.
    pub planes: [[f32; 8]; 6],
    /// As in [`Node`].
    pub p: [f32; 3],
    /// As in [`Node`].
    pub e_imask: u32,
    /// As in [`Node`].
    pub child_base: u32,
    /// As in [`Node`].
    pub prim_base: u32,
    /// As in [`Node`].
    pub meta: [u32; 2],
}

const _: () = assert!(size_of::<WideNode>() == 224);

/// By which distances are padded where a box is entered, and where it is left.
pub(super) const EARLIER: f32 = 1.0 - PAD_OF_DISTANCE;
pub(super) const LATER: f32 = 1.0 + PAD_OF_DISTANCE;

impl From<&Node> for WideNode {
    fn from(node: &Node) -> Self {
        let byte = |words: &[u32; 2], i: usize| (words[i / 4] >> (8 * (i % 4))) & 0xff;
        let mut planes = [[0.0; 8]; 6];
        for (k, plane) in planes.iter_mut().enumerate() {
            let step = f32::from_bits(node.e_imask().0[k / 2] << 23);
            let outwards = if k % 2 == 0 { -1.0 } else { 1.0 };
            for (i, x) in plane.iter_mut().enumerate() {
                *x = match byte(&node.meta, i) {
                    0 => -outwards * f32::INFINITY,
                    _ => {
                        // Exact but for the last sum: a byte and seven bits.
                        let offset = byte(&node.planes[k], i) as f32 * step + outwards * PAD_OF_STEP * step;
                        let x = node.p[k / 2] + offset;
                        if k % 2 == 0 { x.next_down() } else { x.next_up() }
                    }
                };
            }
        }
        let Node { p, e_imask, child_base, prim_base, meta, .. } = *node;
        Self { planes, p, e_imask, child_base, prim_base, meta }
    }
}

impl WideNode {
    /// As [`Node::e_imask`].
    #[inline(always)]
    pub fn e_imask(&self) -> ([u32; 3], u32) {
        let w = self.e_imask;
        ([w & 0xff, (w >> 8) & 0xff, (w >> 16) & 0xff], w >> 24)
    }

    /// Which children are nodes.
    #[inline(always)]
    pub(super) fn imask(&self) -> u32 {
        self.e_imask().1
    }

    /// Those of the children in some slots that are nodes, in the order of the ray's octant, and the slots of the others.
    #[inline(always)]
    pub(super) fn inner_and_leaves(&self, slots: u32, oct_inv4: u32) -> (u32, u32) {
        let inner = BY_OCTANT[(oct_inv4 & 7) as usize][(slots & self.imask() & 0xff) as usize];
        (u32::from(inner), slots & !self.imask())
    }

    /// What a ray meets, if these are the children that it meets, a bit each. `prims` yields the bits of those that are primitives.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    pub(super) fn hits(&self, met: u32, oct_inv4: u32, prims: impl FnOnce(u32) -> u32) -> NodeHits {
        let (inner, leaves) = self.inner_and_leaves(met, oct_inv4);
        let prims = if leaves == 0 { 0 } else { prims(leaves) };
        NodeHits {
            hits: (inner << 24) | prims,
            imask: self.imask(),
            child_base: self.child_base,
            prim_base: self.prim_base,
        }
    }

    /// The bits of the primitives in some of the slots: their number in unary from the offset on.
    #[inline(always)]
    pub(super) fn prims(&self, mut slots: u32) -> u32 {
        let mut bits = 0;
        while slots != 0 {
            let slot = slots.trailing_zeros();
            slots &= slots - 1;
            let meta = (self.meta[(slot / 4) as usize & 1] >> (8 * (slot % 4))) & 0xff;
            bits |= (meta >> 5) << (meta & 0x1f);
        }
        bits
    }

    /// The slots of the children that a ray meets, with instructions that every machine has.
    #[inline(always)]
    pub(super) fn meet_children(&self, ray: &TraversalRay, t_max: f32) -> u32 {
        let (mut near, mut far) = ([0.0; 8], [f32::INFINITY; 8]);
        let [enter, leave] = ray.crossings().map(|t| t.to_array());
        let inv_d = ray.inv_d.to_array();
        for axis in 0..3 {
            let negative = usize::from(inv_d[axis] < 0.0);
            let planes = [2 * axis + negative, 2 * axis + 1 - negative].map(|k| &self.planes[k]);
            for i in 0..8 {
                near[i] = max(near[i], planes[0][i] * inv_d[axis] + enter[axis]);
                far[i] = min(far[i], planes[1][i] * inv_d[axis] + leave[axis]);
            }
        }
        let [near, far] = [(near, EARLIER), (far, LATER)].map(|(t, by)| t.map(|t| t * by));
        let far = far.map(|t| min(t, t_max));
        (0..8).fold(0, |met, i| met | u32::from(near[i] <= far[i]) << i)
    }

    /// Tests the children, with instructions that every machine has.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    pub(super) fn intersect_children(&self, ray: &TraversalRay, t_max: f32) -> NodeHits {
        self.hits(self.meet_children(ray, t_max), ray.oct_inv4, |slots| self.prims(slots))
    }
}

/// Slots, a bit each, as seen from each octant: slot s is at s ^ octant.
static BY_OCTANT: [[u8; 256]; 8] = {
    let mut table = [[0; 256]; 8];
    let mut octant = 0;
    while octant < 8 {
        let mut slots = 0;
        while slots < 256 {
            let mut slot = 0;
            while slot < 8 {
                if slots >> slot & 1 == 1 {
                    table[octant][slots] |= 1 << (slot ^ octant);
                }
                slot += 1;
            }
            slots += 1;
        }
        octant += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_seen_from_octants() {
        assert_eq!(BY_OCTANT[0][0b1010_0110], 0b1010_0110);
        assert_eq!(BY_OCTANT[7][0b1010_0110], 0b0110_0101);
        assert_eq!(BY_OCTANT[1][0b0000_0001], 0b0000_0010);
        assert_eq!(BY_OCTANT[4][0b0000_0011], 0b0011_0000);
    }

    /// Two children, one of primitives 2 and 3, one a node in slot 6; the others are nowhere.
    #[test]
    fn boxes_are_those_of_the_node() {
        let mut node =
            Node { p: [1.0, 2.0, 3.0], e_imask: 127 | 126 << 8 | 125 << 16 | 0x40 << 24, ..Node::zeroed() };
        node.meta = [0b011_00010, (0b001_11110) << 16];
        node.planes = [[1, 7 << 16], [3, 9 << 16], [2, 0], [4, 5 << 16], [8, 0], [12, 4 << 16]];
        let wide = WideNode::from(&node);
        let pad = |step: f32| step / 128.0;
        let near = |a: f32, b: f32| assert!((a - b).abs() < 1e-6, "{a} {b}");
        near(wide.planes[0][0], 2.0 - pad(1.0));
        near(wide.planes[1][0], 4.0 + pad(1.0));
        near(wide.planes[2][0], 3.0 - pad(0.5));
        near(wide.planes[3][6], 4.5 + pad(0.5));
        near(wide.planes[4][0], 5.0 - pad(0.25));
        near(wide.planes[5][0], 6.0 + pad(0.25));
        let met = |o: [f32; 3], d: [f32; 3], t_max: f32| {
            let ray = TraversalRay::new(crate::ray::Ray { o: o.into(), d: d.into() });
            wide.intersect_children(&ray, t_max).hits
        };
        // Along −x through the first at (3, 3.5, 5.5), and along +z through the other at (9, 3, 3.5).
        assert_eq!(met([9.0, 3.5, 5.5], [-1.0, 0.0, 0.0], 9.0), 0b1100);
        assert_eq!(met([9.0, 3.5, 5.5], [-1.0, 0.0, 0.0], 4.9), 0);
        let along_z = met([9.0, 3.0, 0.0], [0.0, 0.0, 1.0], 9.0);
        assert_eq!(along_z & 0xff_ffff, 0);
        assert_eq!(along_z.count_ones(), 1);
        assert_eq!(met([9.0, 3.0, 5.0], [0.0, 0.0, 1.0], 9.0), 0);
    }
}
