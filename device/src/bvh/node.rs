//! The compressed node and its test.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::arch::Real;
#[cfg(not(target_arch = "nvptx64"))]
use crate::arch::{max, min};
use crate::ray::Ray;
use crate::sampling::tangents;

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
    /// Index of the child node that bit `bit` of `hits` stands for, as [`NodeHits::hits`] has it, with the node's
    /// [`NodeHits::imask`] in the low byte of `hits` and its [`NodeHits::child_base`].
    #[inline(always)]
    pub(crate) fn child(child_base: u32, hits: u32, bit: u32, ray: &TraversalRay) -> u32 {
        let slot = (bit ^ ray.oct_inv4) & 7;
        child_base + (hits & 0xff & !(u32::MAX << slot)).count_ones()
    }

    /// Biased exponents of the grid's steps in x, y and z, and which children are nodes.
    #[inline(always)]
    pub fn e_imask(&self) -> ([u32; 3], u32) {
        let w = self.e_imask;
        ([w & 0xff, (w >> 8) & 0xff, (w >> 16) & 0xff], w >> 24)
    }
}

impl NodeHits {
    #[inline(always)]
    pub(crate) fn new(node: &Node, hits: u32) -> Self {
        Self { hits, imask: node.e_imask().1, child_base: node.child_base, prim_base: node.prim_base }
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
    #[cfg(not(target_arch = "nvptx64"))]
    across: [Vec3; 2],
    /// Octant that the ray looks into, inverted, in every byte: 4 for +x, 2 for +y, 1 for +z.
    pub oct_inv4: u32,
    /// As a constant that stays in a register.
    #[cfg(target_arch = "nvptx64")]
    pub(crate) byte_bias: u32,
}

impl TraversalRay {
    /// Prepares a ray.
    #[inline(always)]
    pub fn new(ray: Ray) -> Self {
        let d = ray.d.to_array();
        let inv_d = Vec3::new(safe_inverse(d[0]), safe_inverse(d[1]), safe_inverse(d[2]));
        Self::from_parts(ray, inv_d, tangents(d).map(Vec3::from_array))
    }

    /// Two directions that complete `d` to an orthonormal basis, always the same. A GPU computes them where they are
    /// wanted: it has time for that, but not the registers to keep them.
    #[inline(always)]
    pub fn across(&self) -> [Vec3; 2] {
        #[cfg(target_arch = "nvptx64")]
        return tangents(self.ray.d.to_array()).map(Vec3::from_array);
        #[cfg(not(target_arch = "nvptx64"))]
        self.across
    }

    #[inline(always)]
    pub(crate) fn from_parts(ray: Ray, inv_d: Vec3, across: [Vec3; 2]) -> Self {
        #[cfg(target_arch = "nvptx64")]
        let _ = across;
        // By the inverse throughout: it has a sign where the direction may be −0.
        let oct_inv =
            (u32::from(inv_d.x > 0.0) << 2) | (u32::from(inv_d.y > 0.0) << 1) | u32::from(inv_d.z > 0.0);
        Self {
            ray,
            inv_d,
            #[cfg(not(target_arch = "nvptx64"))]
            across,
            oct_inv4: oct_inv * 0x0101_0101,
            #[cfg(target_arch = "nvptx64")]
            byte_bias: crate::arch::byte_bias(),
        }
    }
}

/// 1/x, at most 2⁶⁰, so that the slabs of an axis-parallel ray are far away instead of NaN.
#[inline(always)]
pub(crate) fn safe_inverse<F: Real>(x: F) -> F {
    const LARGEST: f32 = (1u64 << 60) as f32;
    (F::splat(1.0) / x).min(F::splat(LARGEST)).max(F::splat(-LARGEST))
}

/// The grid of a node as the ray meets it: plane q of axis a is crossed at `step[a]·(q + bias) + enter[a]`, which is
/// early by more than the rounding error, or, for planes that the ray leaves by, with `leave[a]`, late.
#[derive(Clone, Copy)]
pub(crate) struct Slabs {
    pub(crate) step: Vec3,
    pub(crate) enter: Vec3,
    pub(crate) leave: Vec3,
}

/// By how much of their distance boxes are made larger: the rounding here, and in the primitives' own tests, whose
/// vertices are projected with a few ulps of error.
pub(crate) const PAD_OF_DISTANCE: f32 = 1.0 / (1 << 19) as f32;

/// And by how much of a grid step, for boxes of no thickness.
pub(crate) const PAD_OF_STEP: f32 = 1.0 / 128.0;

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

/// Tests the children one after another; see [`crate::arch::Arch::intersect_children`].
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
pub fn intersect_children(node: &Node, ray: &TraversalRay, t_max: f32) -> NodeHits {
    let slabs = Slabs::new(node, ray, 0.0);
    let [lo_x, hi_x, lo_y, hi_y, lo_z, hi_z] = node.planes;
    // Written out for both words: an index would put the node into memory.
    let first = [lo_x[0], hi_x[0], lo_y[0], hi_y[0], lo_z[0], hi_z[0]];
    let second = [lo_x[1], hi_x[1], lo_y[1], hi_y[1], lo_z[1], hi_z[1]];
    let hits = intersect_four(first, node.meta[0], &slabs, ray, t_max)
        | intersect_four(second, node.meta[1], &slabs, ray, t_max);
    NodeHits::new(node, hits)
}

/// Tests four children, given by a byte of each word.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
fn intersect_four(planes: [u32; 6], meta: u32, slabs: &Slabs, ray: &TraversalRay, t_max: f32) -> u32 {
    let [lo_x, hi_x, lo_y, hi_y, lo_z, hi_z] = planes;
    let (near_x, far_x) = if ray.inv_d.x < 0.0 { (hi_x, lo_x) } else { (lo_x, hi_x) };
    let (near_y, far_y) = if ray.inv_d.y < 0.0 { (hi_y, lo_y) } else { (lo_y, hi_y) };
    let (near_z, far_z) = if ray.inv_d.z < 0.0 { (hi_z, lo_z) } else { (lo_z, hi_z) };
    let (bits, index) = child_bits(meta, ray.oct_inv4);
    let Slabs { step, enter, leave } = slabs;
    let test = |i: u32| {
        let plane = |word: u32, step: f32, at: f32| byte(word, i) as f32 * step + at;
        let t_near = max(
            max(plane(near_x, step.x, enter.x), plane(near_y, step.y, enter.y)),
            max(plane(near_z, step.z, enter.z), 0.0),
        );
        let t_far = min(
            min(plane(far_x, step.x, leave.x), plane(far_y, step.y, leave.y)),
            min(plane(far_z, step.z, leave.z), t_max),
        );
        if t_near <= t_far { byte(bits, i) << byte(index, i) } else { 0 }
    };
    test(0) | test(1) | test(2) | test(3)
}

#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
fn byte(word: u32, i: u32) -> u32 {
    (word >> (8 * i)) & 0xff
}

/// The bits that four children contribute where they are hit, and the places where they go: the slot, seen from
/// the ray's octant, for a node; the offset for primitives. A byte for each.
#[inline(always)]
pub(crate) fn child_bits(meta: u32, oct_inv4: u32) -> (u32, u32) {
    let is_inner = (meta & (meta << 1)) & 0x1010_1010;
    let inner_mask = (is_inner >> 4) * 0xff;
    ((meta >> 5) & 0x0707_0707, (meta ^ (oct_inv4 & inner_mask)) & 0x1f1f_1f1f)
}
