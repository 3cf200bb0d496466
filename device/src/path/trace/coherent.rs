//! The stage that looks for the nearest intersections of rays which lead the same way, as those from the camera do: they
//! visit the same nodes at the same time, if each thread of a GPU traces one.

use core::marker::PhantomData;
use core::ops::Range;

use super::closest::Closest;
use super::{CoherentArgs, in_packets};
use crate::arch::Real;
use crate::bvh::packet::FEWEST_STRAYS;
use crate::bvh::{Arch, closest_hit};
use crate::features::Compiled;
use crate::path::stage::{Count, Function};

impl Count for CoherentArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.0.count
    }
}

/// The stage, for scenes that ask for no features but those of `C`.
pub struct Coherent<C>(PhantomData<C>);

impl<C: Compiled> Function for Coherent<C> {
    type Args = CoherentArgs;

    /// Finds the hit of ray `i`.
    ///
    /// # Safety
    /// The pointers in `args` are valid, the machine is an `A`, and the scene asks for no features but those of `C`.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, CoherentArgs(args): &CoherentArgs) {
        // SAFETY: as the caller promised; no other invocation has this ray.
        unsafe {
            let (ray, t_max) = args.rays.get(i);
            args.results.set(i, closest_hit::<A, C>(&args.scene, ray, t_max));
        }
    }

    /// Finds the hits of the rays in `range`, by packets where the machine has them.
    ///
    /// # Safety
    /// As [`Coherent::run`], for each.
    #[inline(always)]
    unsafe fn run_range<A: Arch>(range: Range<u32>, CoherentArgs(args): &CoherentArgs) {
        // SAFETY: as the caller promised.
        unsafe {
            if A::Packet::LANES > 1 {
                return in_packets::<A, C, false>(range, &args.scene, args, FEWEST_STRAYS);
            }
            Closest::<C>::run_range::<A>(range, args);
        }
    }
}
