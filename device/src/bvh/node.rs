//! The compressed node and its test.

use bytemuck::{Pod, Zeroable};
#[cfg(target_arch = "nvptx64")]
use glam::Vec3;

use crate::ray::TraversalRay;

/// Eight children in 80 bytes: their boxes on a grid of 256 steps a side, steps being powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Node {
    /// Origin of the grid.
    pub p: [f32; 3],
    /// A byte each: biased exponents of the grid's steps in x, y and z; which children are nodes.
    pub e_imask: u32,
    /// Index of the first child node.
    pub child_base: u32,
    /// Index of the first primitive.
    pub prim_base: u32,
    /// A byte for each child, four to a word. For a node in slot i: `0b001` and 24 + i. For primitives: their
    /// number in unary and the offset of the first from `prim_base`. Zero for an empty slot.
    pub meta: [u32; 2],
    /// Lower and upper planes in steps, a byte for each child: x lower, x upper, y lower, y upper, z lower,
    /// z upper.
    pub planes: [[u32; 2]; 6],
}

const _: () = assert!(size_of::<Node>() == 80);

/// The children of a node that a ray meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeHits {
    /// In the layout of Ylitie et al. 2017, §4.2: nodes in bits 24–31 in the order in which the ray's octant
    /// should visit them, highest first; primitives in bits 0–23.
    pub hits: u32,
    /// As in [`Node`].
    pub imask: u32,
    /// As in [`Node`].
    pub child_base: u32,
    /// As in [`Node`].
    pub prim_base: u32,
}

impl Node {
    /// Biased exponents of the grid's steps in x, y and z, and which children are nodes.
    #[inline(always)]
    pub fn e_imask(&self) -> ([u32; 3], u32) {
        let w = self.e_imask;
        ([w & 0xff, (w >> 8) & 0xff, (w >> 16) & 0xff], w >> 24)
    }
}

impl NodeHits {
    /// Index of the child node that bit `bit` of `hits` stands for, as [`NodeHits::hits`] has it, with the node's
    /// [`NodeHits::imask`] in the low byte of `hits` and its [`NodeHits::child_base`].
    #[inline(always)]
    pub(crate) fn child(child_base: u32, hits: u32, bit: u32, ray: &TraversalRay) -> u32 {
        let slot = (bit ^ ray.oct_inv4) & 7;
        child_base + (hits & 0xff & !(u32::MAX << slot)).count_ones()
    }

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(crate) fn new(node: &Node, hits: u32) -> Self {
        Self { hits, imask: node.e_imask().1, child_base: node.child_base, prim_base: node.prim_base }
    }
}

/// The grid of a node as the ray meets it: plane q of axis a is crossed at `step[a]·(q + bias) + enter[a]`, which is
/// early by more than the rounding error, or, for planes that the ray leaves by, with `leave[a]`, late.
#[cfg(target_arch = "nvptx64")]
#[derive(Clone, Copy)]
pub(crate) struct Slabs {
    pub(crate) step: Vec3,
    pub(crate) enter: Vec3,
    pub(crate) leave: Vec3,
}

/// Padding of boxes relative to their distance: the rounding here, and in the primitives' own tests, whose vertices are
/// projected with a few ulps of error.
pub(crate) const PAD_OF_DISTANCE: f32 = 1.0 / (1 << 19) as f32;

/// Padding of boxes relative to a grid step, for boxes without thickness.
pub(crate) const PAD_OF_STEP: f32 = 1.0 / 128.0;

#[cfg(target_arch = "nvptx64")]
impl Slabs {
    #[inline(always)]
    pub(crate) fn new(node: &Node, ray: &TraversalRay, bias: f32) -> Self {
        let [x, y, z] = node.e_imask().0.map(|e| f32::from_bits(e << 23));
        let step = Vec3::new(x, y, z) * ray.inv_d;
        let origin = (Vec3::from_array(node.p) - ray.ray.o) * ray.inv_d;
        let pad = origin.abs() * PAD_OF_DISTANCE + step.abs() * PAD_OF_STEP;
        let origin = origin - bias * step;
        Self { step, enter: origin - pad, leave: origin + pad }
    }
}

/// The bits that four children contribute where they are hit, and the places where they go: the slot, seen from
/// the ray's octant, for a node; the offset for primitives. A byte for each.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub(crate) fn child_bits(meta: u32, oct_inv4: u32) -> (u32, u32) {
    let is_inner = (meta & (meta << 1)) & 0x1010_1010;
    let inner_mask = (is_inner >> 4) * 0xff;
    ((meta >> 5) & 0x0707_0707, (meta ^ (oct_inv4 & inner_mask)) & 0x1f1f_1f1f)
}
