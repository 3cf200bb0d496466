//! The compressed node and its test.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::ray::Ray;
use crate::sampling::Frame;

/// Eight children in 80 bytes: their boxes on a grid of 256 steps a side, steps being powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Node {
    /// Origin of the grid.
    pub p: [f32; 3],
    /// Biased exponents of the grid's steps in x, y and z.
    pub e: [u8; 3],
    /// Which children are nodes.
    pub imask: u8,
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

impl NodeHits {
    #[inline(always)]
    pub(crate) fn new(node: &Node, hits: u32) -> Self {
        Self { hits, imask: node.imask.into(), child_base: node.child_base, prim_base: node.prim_base }
    }
}

/// A ray with what traversal needs of it many times.
#[derive(Clone, Copy, Debug)]
pub struct TraversalRay {
    /// The ray.
    pub ray: Ray,
    /// Componentwise 1/d, finite.
    pub inv_d: Vec3,
    /// Two directions that complete `d` to an orthonormal basis.
    pub across: [Vec3; 2],
    /// Octant that the ray looks into, inverted, in every byte: 4 for +x, 2 for +y, 1 for +z.
    pub oct_inv4: u32,
}

impl TraversalRay {
    /// Prepares a ray.
    #[inline(always)]
    pub fn new(ray: Ray) -> Self {
        let frame = Frame::from_z(ray.d);
        let inv_d = Vec3::new(safe_inverse(ray.d.x), safe_inverse(ray.d.y), safe_inverse(ray.d.z));
        // By the inverse throughout: it has a sign where the direction may be −0.
        let oct_inv =
            (u32::from(inv_d.x > 0.0) << 2) | (u32::from(inv_d.y > 0.0) << 1) | u32::from(inv_d.z > 0.0);
        Self { ray, inv_d, across: [frame.x, frame.y], oct_inv4: oct_inv * 0x0101_0101 }
    }
}

/// 1/x with x kept away from zero, so that the slabs of an axis-parallel ray are far away instead of NaN.
#[inline(always)]
fn safe_inverse(x: f32) -> f32 {
    const SMALLEST: f32 = 1.0 / (1u64 << 60) as f32;
    1.0 / if x.abs() < SMALLEST { SMALLEST.copysign(x) } else { x }
}

/// The grid of a node as the ray meets it: plane q of axis a is crossed at `step[a]·q + lower[a]`, made earlier
/// by the rounding error for planes that the ray enters through, and later (`upper`) for those it leaves by.
#[derive(Clone, Copy)]
pub(crate) struct Slabs {
    pub(crate) step: Vec3,
    pub(crate) enter: Vec3,
    pub(crate) leave: Vec3,
}

impl Slabs {
    #[inline(always)]
    pub(crate) fn new(node: &Node, ray: &TraversalRay) -> Self {
        let step_of = |e: u8| f32::from_bits(u32::from(e) << 23);
        let step = Vec3::new(step_of(node.e[0]), step_of(node.e[1]), step_of(node.e[2])) * ray.inv_d;
        let origin = (Vec3::from_array(node.p) - ray.ray.o) * ray.inv_d;
        // Two parts in a million of the distance cover the rounding here and in the primitive's own test, whose
        // vertices are projected with a few ulps of error; a sliver of a step covers boxes of no thickness.
        let pad = origin.abs() * (1.0 / (1 << 19) as f32) + step.abs() * (1.0 / 256.0);
        Self { step, enter: origin - pad, leave: origin + pad }
    }
}

/// Tests the children one after another; see [`crate::arch::Arch::intersect_children`].
#[inline(always)]
pub fn intersect_children(node: &Node, ray: &TraversalRay, t_max: f32) -> NodeHits {
    let slabs = Slabs::new(node, ray);
    let mut hits = 0;
    let mut word = 0;
    while word < 2 {
        let [lo_x, hi_x, lo_y, hi_y, lo_z, hi_z] = node.planes.map(|p| p[word]);
        let (near_x, far_x) = if ray.inv_d.x < 0.0 { (hi_x, lo_x) } else { (lo_x, hi_x) };
        let (near_y, far_y) = if ray.inv_d.y < 0.0 { (hi_y, lo_y) } else { (lo_y, hi_y) };
        let (near_z, far_z) = if ray.inv_d.z < 0.0 { (hi_z, lo_z) } else { (lo_z, hi_z) };
        let (bits, index) = child_bits(node.meta[word], ray.oct_inv4);
        let mut i = 0;
        while i < 4 {
            let enter = (byte_to_f32(near_x, i) * slabs.step.x + slabs.enter.x)
                .max(byte_to_f32(near_y, i) * slabs.step.y + slabs.enter.y)
                .max((byte_to_f32(near_z, i) * slabs.step.z + slabs.enter.z).max(0.0));
            let leave = (byte_to_f32(far_x, i) * slabs.step.x + slabs.leave.x)
                .min(byte_to_f32(far_y, i) * slabs.step.y + slabs.leave.y)
                .min((byte_to_f32(far_z, i) * slabs.step.z + slabs.leave.z).min(t_max));
            if enter <= leave {
                hits |= byte(bits, i) << byte(index, i);
            }
            i += 1;
        }
        word += 1;
    }
    NodeHits::new(node, hits)
}

#[inline(always)]
fn byte(word: u32, i: u32) -> u32 {
    (word >> (8 * i)) & 0xff
}

#[inline(always)]
fn byte_to_f32(word: u32, i: u32) -> f32 {
    byte(word, i) as f32
}

/// The bits that four children contribute where they are hit, and the places where they go: the slot, seen from
/// the ray's octant, for a node; the offset for primitives. A byte for each.
#[inline(always)]
fn child_bits(meta: u32, oct_inv4: u32) -> (u32, u32) {
    let is_inner = (meta & (meta << 1)) & 0x1010_1010;
    let inner_mask = (is_inner >> 4) * 0xff;
    ((meta >> 5) & 0x0707_0707, (meta ^ (oct_inv4 & inner_mask)) & 0x1f1f_1f1f)
}
