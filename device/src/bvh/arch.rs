//! Traversal in the form that each machine runs fastest.

use super::traverse::{Hit, intersect_prims, traverse};
use super::{Geometry, NodeHits, Rays, TreeNode, WideNode};
use crate::arch::Real;
use crate::features::Compiled;
use crate::ray::TraversalRay;

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
    unsafe fn intersect_children(node: *const TreeNode, ray: &TraversalRay, t_max: f32) -> NodeHits;

    /// The slots of the children of `*node` that `ray` meets over (0, `t_max`), a bit each.
    ///
    /// # Safety
    /// As [`Arch::intersect_children`].
    #[inline(always)]
    unsafe fn meet_children(node: *const WideNode, ray: &TraversalRay, t_max: f32) -> u32 {
        // SAFETY: as the caller promised.
        unsafe { &*node }.meet_children(ray, t_max)
    }

    /// The primitives in some slots of `node`, a bit each.
    ///
    /// # Safety
    /// The machine has this instruction set.
    #[inline(always)]
    unsafe fn prims_of(node: &WideNode, slots: u32) -> u32 {
        node.prims(slots)
    }

    /// Tests `ray` against the primitives `base` + i for all i that are set in `bits`, from the highest, and puts
    /// the nearest one closer than `hit.t` into `hit`; with `ANY`, any one.
    ///
    /// # Safety
    /// `scene` is valid and has all these primitives; the machine has this instruction set.
    #[inline(always)]
    unsafe fn intersect_prims<C: Compiled, const ANY: bool>(
        scene: &Geometry,
        base: u32,
        bits: u32,
        ray: &TraversalRay,
        hit: &mut Hit,
    ) {
        // SAFETY: as the caller promised.
        unsafe { intersect_prims::<C, ANY>(scene, base, bits, ray, hit) }
    }

    /// Does `work` in a function of its own, compiled for this instruction set.
    ///
    /// # Safety
    /// As `Outlined::run` requires; the machine has this instruction set.
    #[inline(always)]
    unsafe fn outlined(work: impl Outlined) {
        // SAFETY: as the caller promised.
        unsafe { work.run() };
    }

    /// Traces ray `i` of `count`, if there is one, and tells what it meets first; with `ANY`, anything that it meets. On a
    /// GPU, the warp that thread `i` is in traces its share of all rays: there should be a warp for every
    /// [`super::RAYS_PER_WARP`].
    ///
    /// # Safety
    /// `scene` is valid and asks for no features but those of `C`, there are so many rays, and nobody else tells of this one;
    /// the machine has this instruction set. On a GPU, all threads of a warp call this together, one after the other
    /// numbered.
    #[inline(always)]
    unsafe fn trace<C: Compiled, const ANY: bool>(scene: &Geometry, rays: &impl Rays, i: u32, count: u32)
    where
        Self: Sized,
    {
        if i < count {
            // SAFETY: as the caller promised.
            unsafe {
                let (ray, t_max) = rays.ray(i);
                rays.tell(i, &traverse::<Self, C, ANY>(scene, ray, t_max));
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

/// Work that is done out of the way of other code. A function that is only kept from being inlined would be compiled for
/// the instruction set that all machines have.
pub trait Outlined {
    /// Does the work. It has to be inlined itself.
    ///
    /// # Safety
    /// As the work says; the machine has its instruction set.
    unsafe fn run(self);
}
