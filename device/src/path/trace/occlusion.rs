//! The stage that looks for any intersection.

use core::marker::PhantomData;
use core::ops::Range;

use super::{OcclusionArgs, in_packets};
use crate::arch::Real;
use crate::bvh::{Arch, Hit, Rays};
use crate::features::Compiled;
use crate::path::stage::Function;
use crate::ray::Ray;

impl Rays for OcclusionArgs {
    #[inline(always)]
    unsafe fn ray(&self, i: u32) -> (Ray, f32) {
        // SAFETY: as the caller promised.
        unsafe { self.rays.get(i) }
    }

    #[inline(always)]
    unsafe fn tell(&self, i: u32, hit: &Hit) {
        // SAFETY: as the caller promised.
        unsafe { self.results.add(i as usize).write(u32::from(hit.is_hit())) };
    }
}

/// The stage, for scenes that ask for no features but those of `C`.
pub struct Occlusion<C>(PhantomData<C>);

impl<C: Compiled> Function for Occlusion<C> {
    type Args = OcclusionArgs;

    /// Finds out whether ray `i` meets anything; on a GPU, with the other threads of its warp, of the rays of the warp.
    ///
    /// # Safety
    /// As of the stage for the nearest intersections.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &OcclusionArgs) {
        // SAFETY: as the caller promised; no other invocation has this ray.
        unsafe { A::trace::<C, true>(&args.scene, args, i, args.count) };
    }

    /// Finds out whether the rays in `range` meet anything: by packets, where the machine has them.
    ///
    /// # Safety
    /// As [`Occlusion::run`], for each.
    #[inline(always)]
    unsafe fn run_range<A: Arch>(range: Range<u32>, args: &OcclusionArgs) {
        // SAFETY: as the caller promised.
        unsafe {
            if A::Packet::LANES > 1 {
                return in_packets::<A, C, true>(range, &args.scene, args, args.scene.strays);
            }
            for i in range {
                Self::run::<A>(i, args);
            }
        }
    }
}
