//! The only place that knows the machine: rounding-exact arithmetic, elementary functions, wide loads, and
//! the tests of the BVH in the form each machine runs fastest.

use crate::bsdf::Compiled;
use crate::bvh::{self, Hit, Node, NodeHits, Rays, TraversalRay};
use crate::scene::SceneView;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(not(target_arch = "nvptx64"))]
mod host;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "nvptx64")]
mod nvptx;
mod real;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
#[cfg(not(target_arch = "nvptx64"))]
pub use host::*;
#[cfg(target_arch = "nvptx64")]
pub use nvptx::*;
pub(crate) use real::{Mask, Real, Vec3s, cross, dot, minus, scaled, splat};

/// The number that the 16 low bits of `x` are as a half, finite.
#[inline(always)]
pub fn half(x: u32) -> f32 {
    let (exponent, fraction) = ((x >> 10) & 0x1f, x & 0x3ff);
    let magnitude = if exponent == 0 {
        // Made of a whole number: GPUs take subnormal floats for zero.
        fraction as f32 * (1.0 / (1 << 24) as f32)
    } else {
        f32::from_bits(((exponent + 112) << 23) | (fraction << 13))
    };
    magnitude.copysign(f32::from_bits((x & 0x8000) << 16))
}

/// An instruction set that the stages can be compiled for. Each stage is generic over it, so that one
/// binary holds a version for every machine and chooses at run time.
pub trait Arch: 'static {
    /// The rays that packets trace at once.
    #[expect(
        private_bounds,
        reason = "numbers of an instruction set may only be made where the machine has it"
    )]
    type Packet: Real;

    /// Tests `ray` against the children of `*node` over (0, `t_max`).
    ///
    /// # Safety
    /// `node` points to a node of a valid hierarchy; the machine has this instruction set.
    unsafe fn intersect_children(node: *const Node, ray: &TraversalRay, t_max: f32) -> NodeHits;

    /// Tests `ray` against the primitives `base` + i for all i that are set in `bits`, from the highest, and puts
    /// the nearest one closer than `hit.t` into `hit`; with `ANY`, any one.
    ///
    /// # Safety
    /// `scene` is valid and has all these primitives; the machine has this instruction set.
    #[inline(always)]
    unsafe fn intersect_prims<C: Compiled, const ANY: bool>(
        scene: &SceneView,
        base: u32,
        bits: u32,
        ray: &TraversalRay,
        hit: &mut Hit,
    ) {
        // SAFETY: as the caller promised.
        unsafe { bvh::intersect_prims::<C, ANY>(scene, base, bits, ray, hit) }
    }

    /// Traces ray `i` of `count`, if there is one, and tells what it meets first; with `ANY`, anything that it meets. On a
    /// GPU, the warp that thread `i` is in traces its share of all rays: there should be a warp for every
    /// [`bvh::RAYS_PER_WARP`].
    ///
    /// # Safety
    /// `scene` is valid and asks for no features but those of `C`, there are so many rays, and nobody else tells of this one;
    /// the machine has this instruction set. On a GPU, all threads of a warp call this together, one after the other
    /// numbered.
    #[inline(always)]
    unsafe fn trace<C: Compiled, const ANY: bool>(scene: &SceneView, rays: &impl Rays, i: u32, count: u32)
    where
        Self: Sized,
    {
        if i < count {
            // SAFETY: as the caller promised.
            unsafe {
                let (ray, t_max) = rays.ray(i);
                rays.tell(i, &bvh::traverse::<Self, C, ANY>(scene, ray, t_max));
            }
        }
    }

    /// Calls `f` with ray `i` of `count`, if there is one; on a GPU, with those that thread `i` has of its warp's share.
    #[inline(always)]
    fn each_ray(i: u32, count: u32, mut f: impl FnMut(u32)) {
        if i < count {
            f(i);
        }
    }
}
