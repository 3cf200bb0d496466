//! The stage that looks for the nearest intersections.

use core::marker::PhantomData;
use core::ops::Range;

use super::{ClosestArgs, in_packets};
use crate::arch::Real;
use crate::bvh::{Arch, Hit, Rays};
use crate::features::Compiled;
use crate::path::stage::Function;
use crate::ray::Ray;

impl Rays for ClosestArgs {
    #[inline(always)]
    unsafe fn ray(&self, i: u32) -> (Ray, f32) {
        // SAFETY: as the caller promised.
        unsafe { self.rays.get(i) }
    }

    #[inline(always)]
    unsafe fn tell(&self, i: u32, hit: &Hit) {
        // SAFETY: as the caller promised.
        unsafe { self.results.set(i, *hit) };
    }
}

/// The stage, for scenes that ask for no features but those of `C`.
pub struct Closest<C>(PhantomData<C>);

impl<C: Compiled> Function for Closest<C> {
    type Args = ClosestArgs;

    /// Finds the hit of ray `i`; on a GPU, together with the other threads of its warp, the hits of the warp's rays.
    ///
    /// # Safety
    /// The pointers in `args` are valid, the machine is an `A`, and the scene asks for no features but those of `C`. On a GPU
    /// whole warps call this together.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &ClosestArgs) {
        // SAFETY: as the caller promised; no other invocation has this ray.
        unsafe { A::trace::<C, false>(&args.scene, args, i, args.count) };
    }

    /// Finds the hits of the rays in `range`, by packets where the machine has them.
    ///
    /// # Safety
    /// As [`Closest::run`], for each.
    #[inline(always)]
    unsafe fn run_range<A: Arch>(range: Range<u32>, args: &ClosestArgs) {
        // SAFETY: as the caller promised.
        unsafe {
            if A::Packet::LANES > 1 {
                return in_packets::<A, C, false>(range, &args.scene, args, args.scene.strays);
            }
            for i in range {
                Self::run::<A>(i, args);
            }
        }
    }
}
