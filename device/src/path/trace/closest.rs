//! The stage that looks for the nearest intersections.

use core::ops::Range;

use super::{ClosestArgs, in_packets};
use crate::arch::{Arch, Real};
use crate::bsdf::Compiled;
use crate::bvh::closest_hit;

/// Finds what ray `i` meets.
///
/// # Safety
/// The pointers in `args` are valid, the machine is an `A`, and the scene asks for no features but those of `C`.
#[inline(always)]
pub(in crate::path) unsafe fn run<A: Arch, C: Compiled>(i: u32, args: &ClosestArgs) {
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
pub(in crate::path) unsafe fn run_range<A: Arch, C: Compiled>(range: Range<u32>, args: &ClosestArgs) {
    // SAFETY: as the caller promised; every ray is told of once.
    unsafe {
        if A::Packet::LANES > 1 {
            let tell = |i, hit| args.results.set(i, hit);
            return in_packets::<A, C, false>(range, &args.scene, &args.rays, tell);
        }
        for i in range {
            run::<A, C>(i, args);
        }
    }
}
