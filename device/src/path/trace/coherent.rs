//! The stage that looks for the nearest intersections of rays which lead the same way, as those from the camera do: they
//! visit the same nodes at the same time, if each thread of a GPU traces one.

use core::ops::Range;

use super::{CoherentArgs, closest};
use crate::arch::Arch;
use crate::bsdf::Compiled;
use crate::bvh::closest_hit;

/// Finds what ray `i` meets.
///
/// # Safety
/// The pointers in `args` are valid, the machine is an `A`, and the scene asks for no features but those of `C`.
#[inline(always)]
pub(in crate::path) unsafe fn run<A: Arch, C: Compiled>(i: u32, CoherentArgs(args): &CoherentArgs) {
    // SAFETY: as the caller promised; no other invocation has this ray.
    unsafe {
        let (ray, t_max) = args.rays.get(i);
        args.results.set(i, closest_hit::<A, C>(&args.scene, ray, t_max));
    }
}

/// Finds what the rays in `range` meet: by packets, where the machine has them.
///
/// # Safety
/// As [`run`], for each.
#[inline(always)]
pub(in crate::path) unsafe fn run_range<A: Arch, C: Compiled>(
    range: Range<u32>,
    CoherentArgs(args): &CoherentArgs,
) {
    // SAFETY: as the caller promised.
    unsafe { closest::run_range::<A, C>(range, args) };
}
