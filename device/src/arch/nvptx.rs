//! NVIDIA GPUs.

use core::arch::asm;

use core::ops::Range;

use cuda_std::{GpuFloat, float, mem, thread};

use super::Arch;
use crate::bsdf::Compiled;
use crate::bvh::node::{Slabs, child_bits};
use crate::bvh::{Node, NodeHits, Rays, TraversalRay, warp};
use crate::scene::SceneView;

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
    unsafe fn trace<C: Compiled, const ANY: bool>(scene: &SceneView, rays: &impl Rays, i: u32, count: u32) {
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

/// a·b, rounded on its own: never contracted into a fused multiply–add.
#[inline(always)]
pub fn mul_rn(a: f32, b: f32) -> f32 {
    float::mul_rn(a, b)
}

/// What rounding left out of `mul_rn(a, b)`, exactly, but where that underflows.
#[inline(always)]
pub fn mul_residual(a: f32, b: f32, product: f32) -> f32 {
    float::fma_rn(a, b, -product)
}

/// a − b, rounded on its own.
#[inline(always)]
pub fn sub_rn(a: f32, b: f32) -> f32 {
    float::sub_rn(a, b)
}

/// a·b + c in whichever rounding is fastest, the same at every place it is written.
#[inline(always)]
pub fn mad(a: f32, b: f32, c: f32) -> f32 {
    float::fma_rn(a, b, c)
}

/// The larger of two numbers; the other if one is NaN.
#[inline(always)]
pub fn max(a: f32, b: f32) -> f32 {
    a.max(b)
}

/// The smaller of two numbers; the other if one is NaN.
#[inline(always)]
pub fn min(a: f32, b: f32) -> f32 {
    a.min(b)
}

/// √x for x ≥ 0.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    GpuFloat::sqrt(x)
}

/// Calls a function that few scenes need, and that would make the kernel larger wherever it is called: as one that is
/// compiled once. What it captures by reference lies in memory; captured by value, only while it runs.
#[inline(never)]
pub fn outlined<R>(rare: impl FnOnce() -> R) -> R {
    rare()
}

/// Bits of the features that the scene asks for. The host writes them into the PTX in place of this constant before
/// the driver compiles it, which then leaves out what the scene has no use for: registers, and seconds of compiling.
#[inline(always)]
pub fn features_of_the_scene() -> u32 {
    let bits: u32;
    // SAFETY: takes nothing to a word.
    unsafe {
        asm!("mov.b32 {}, 0xffffffff; // features of the scene", out(reg32) bits,
             options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

/// Reads `*p`, memory that nothing writes while stages run, through the read-only cache in loads of 16 bytes;
/// the type's alignment must allow it.
///
/// # Safety
/// `p` is valid for reads of a `T`.
#[inline(always)]
pub unsafe fn load<T: Copy>(p: *const T) -> T {
    // SAFETY: as the caller promised.
    unsafe { mem::ldg(p) }
}

/// Reads `*p`, memory that stages write, in loads of 16 bytes; the type's alignment must allow it.
///
/// # Safety
/// `p` is valid for reads of a `T`, in global memory.
#[inline(always)]
pub unsafe fn read<T: Copy>(p: *const T) -> T {
    // SAFETY: as the caller promised.
    unsafe { mem::ld(p) }
}

/// Writes `*p`, as [`read`] reads it.
///
/// # Safety
/// `p` is valid for writes of a `T`, in global memory.
#[inline(always)]
pub unsafe fn write<T: Copy>(p: *mut T, value: T) {
    // SAFETY: as the caller promised.
    unsafe { mem::st(p, value) };
}

/// What [`biased_byte`] adds: the power of two whose float has room for a byte in its second byte.
const BYTE_BIAS: f32 = 32768.0;

/// The bits of [`BYTE_BIAS`], but so that the compiler does not know them: it would put them into the instructions of
/// [`biased_byte`], which have room for one constant, and the number of the byte into a register, by an instruction more
/// each.
#[inline(always)]
pub fn byte_bias() -> u32 {
    let bits: u32;
    // SAFETY: takes nothing to a word. Grids have one layer.
    unsafe {
        asm!("mov.u32 {0}, %ctaid.z;", "or.b32 {0}, {0}, {1};", out(reg32) bits, const BYTE_BIAS.to_bits(),
             options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

/// Byte `i` of `word`, plus [`BYTE_BIAS`], given its bits: one `prmt`, where a conversion would run at a quarter of the
/// rate, and which the compiler does not find.
#[inline(always)]
fn biased_byte(word: u32, i: u32, bias: u32) -> f32 {
    let bits: u32;
    // SAFETY: takes two words to one.
    unsafe {
        asm!("prmt.b32 {}, {}, {}, {};", out(reg32) bits, in(reg32) word, in(reg32) bias,
             in(reg32) 0x7604 | (i << 4), options(pure, nomem, nostack, preserves_flags));
    }
    f32::from_bits(bits)
}

/// Byte `i` of `word`, in one instruction.
#[inline(always)]
fn byte(word: u32, i: u32) -> u32 {
    let byte: u32;
    // SAFETY: takes a word to another.
    unsafe {
        asm!("prmt.b32 {}, {}, 0, {};", out(reg32) byte, in(reg32) word, in(reg32) 0x4440 | i,
             options(pure, nomem, nostack, preserves_flags));
    }
    byte
}

/// Index of the highest bit that is set of `x`, which is not 0.
#[inline(always)]
pub fn highest_bit(x: u32) -> u32 {
    let bit: u32;
    // SAFETY: takes a word to another.
    unsafe {
        asm!("bfind.u32 {}, {};", out(reg32) bit, in(reg32) x, options(pure, nomem, nostack, preserves_flags));
    }
    bit
}
