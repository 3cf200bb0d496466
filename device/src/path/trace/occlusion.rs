//! The stage that looks for any intersection.

use core::ops::Range;

use super::{OcclusionArgs, in_packets};
use crate::arch::{Arch, Real};
use crate::bsdf::Compiled;
use crate::bvh::{Hit, occluded};

/// Finds out whether ray `i` meets anything.
///
/// # Safety
/// The pointers in `args` are valid, the machine is an `A`, and the scene asks for no features but those of `C`.
#[inline(always)]
pub(in crate::path) unsafe fn run<A: Arch, C: Compiled>(i: u32, args: &OcclusionArgs) {
    // SAFETY: as the caller promised; no other invocation has this ray.
    unsafe {
        let (ray, t_max) = args.rays.get(i);
        tell(args, i, occluded::<A, C>(&args.scene, ray, t_max));
    }
}

/// Finds out whether the rays in `range` meet anything: by packets, where the machine has them.
///
/// # Safety
/// As [`run`], for each.
#[inline(always)]
pub(in crate::path) unsafe fn run_range<A: Arch, C: Compiled>(range: Range<u32>, args: &OcclusionArgs) {
    // SAFETY: as the caller promised; every ray is told of once.
    unsafe {
        if A::Packet::LANES > 1 {
            let tell = |i, hit: Hit| tell(args, i, hit.is_hit());
            return in_packets::<A, C, true>(range, &args.scene, &args.rays, tell);
        }
        for i in range {
            run::<A, C>(i, args);
        }
    }
}

/// # Safety
/// There is ray `i`, and nobody else tells of it.
#[inline(always)]
unsafe fn tell(args: &OcclusionArgs, i: u32, occluded: bool) {
    // SAFETY: as the caller promised.
    unsafe { args.results.add(i as usize).write(u32::from(occluded)) };
}
