//! Instructions that every machine has.

use super::node::{Slabs, child_bits};
use super::{Arch, Node, NodeHits};
use crate::arch::{max, min};
use crate::ray::TraversalRay;

/// Instructions that every machine has.
pub struct Portable;

impl Arch for Portable {
    type Packet = f32;

    #[inline(always)]
    unsafe fn intersect_children(node: *const Node, ray: &TraversalRay, t_max: f32) -> NodeHits {
        // SAFETY: as the caller promised.
        let node = unsafe { &*node };
        intersect_children(node, ray, t_max)
    }
}

/// Tests the children one after another.
#[inline(always)]
fn intersect_children(node: &Node, ray: &TraversalRay, t_max: f32) -> NodeHits {
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

#[inline(always)]
fn byte(word: u32, i: u32) -> u32 {
    (word >> (8 * i)) & 0xff
}
