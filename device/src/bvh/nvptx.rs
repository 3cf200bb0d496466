//! NVIDIA GPUs.

use core::ops::Range;

use cuda_std::thread;

use super::node::{Slabs, child_bits};
use super::{Arch, Geometry, Node, NodeHits, Rays, warp};
use crate::arch::{BYTE_BIAS, biased_byte, byte, load};
use crate::features::Compiled;
use crate::ray::TraversalRay;

/// NVIDIA GPUs of compute capability 7.5 or later.
pub struct Gpu;

impl Arch for Gpu {
    type Packet = f32;

    /// As the portable test, in fewer instructions: distances that are not negative are in the order of their bits, as
    /// whole numbers, of which newer GPUs find the least or the largest of three at once; and a box that ends before the
    /// ray begins ends at a negative one, however these compare.
    #[inline(always)]
    unsafe fn intersect_children(node: *const Node, ray: &TraversalRay, t_max: f32) -> NodeHits {
        // SAFETY: as the caller promised.
        let node = unsafe { load(node) };
        let slabs = Slabs::new(&node, ray, BYTE_BIAS);
        let [lo_x, hi_x, lo_y, hi_y, lo_z, hi_z] = node.planes;
        // Written out for both words: an index would put the node into memory.
        let first = [lo_x[0], hi_x[0], lo_y[0], hi_y[0], lo_z[0], hi_z[0]];
        let second = [lo_x[1], hi_x[1], lo_y[1], hi_y[1], lo_z[1], hi_z[1]];
        let hits = intersect_four(first, node.meta[0], &slabs, ray, t_max)
            | intersect_four(second, node.meta[1], &slabs, ray, t_max);
        NodeHits::new(&node, hits)
    }

    #[inline(always)]
    unsafe fn trace<C: Compiled, const ANY: bool>(scene: &Geometry, rays: &impl Rays, i: u32, count: u32) {
        let Range { start, end } = rays_of_warp(i, count);
        if start < end {
            // SAFETY: as the caller promised.
            unsafe { warp::trace::<C, ANY>(scene, rays, start, end) };
        }
    }

    #[inline(always)]
    fn each_ray(i: u32, count: u32, mut f: impl FnMut(u32)) {
        let Range { start, end } = rays_of_warp(i, count);
        let mut ray = start + i % 32;
        while ray < end {
            f(ray);
            ray += 32;
        }
    }
}

/// The rays of the warp that thread `i` is in: as many for each warp of the grid, in whole warps.
#[inline(always)]
fn rays_of_warp(i: u32, count: u32) -> Range<u32> {
    // At least one, as the compiler does not know.
    let warps = (thread::grid_dim_x() * (thread::block_dim_x() / 32)).max(1);
    let each = count.div_ceil(warps).next_multiple_of(32);
    let start = min_u32(i / 32 * each, count);
    start..min_u32(start + each, count)
}

#[inline(always)]
const fn min_u32(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
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
        let plane = |word: u32, step: f32, at: f32| {
            (biased_byte(word, i, ray.byte_bias) * step + at).to_bits() as i32
        };
        let near_xyz = plane(near_x, step.x, enter.x)
            .max(plane(near_y, step.y, enter.y))
            .max(plane(near_z, step.z, enter.z));
        let far_xyz = plane(far_x, step.x, leave.x)
            .min(plane(far_y, step.y, leave.y))
            .min(plane(far_z, step.z, leave.z));
        let hit = near_xyz.max(0) <= far_xyz.min(t_max.to_bits() as i32);
        if hit { byte(bits, i) << ((index >> (8 * i)) & 31) } else { 0 }
    };
    test(0) | test(1) | test(2) | test(3)
}
