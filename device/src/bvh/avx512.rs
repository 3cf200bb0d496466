//! x86-64 with AVX-512: packets of sixteen rays.

use super::arch::Outlined;
use super::avx2::Avx2;
use super::{Arch, Geometry, Hit, NodeHits, WideNode};
use crate::arch::lanes::F32x16;
use crate::features::Compiled;
use crate::ray::TraversalRay;

/// x86-64 with what [`Avx2`] needs, and AVX-512 F, DQ, BW and VL.
pub struct Avx512;

impl Arch for Avx512 {
    type Packet = F32x16;

    #[inline(always)]
    unsafe fn intersect_children(node: *const WideNode, ray: &TraversalRay, t_max: f32) -> NodeHits {
        // SAFETY: as the caller promised.
        unsafe { Avx2::intersect_children(node, ray, t_max) }
    }

    #[inline(always)]
    unsafe fn meet_children(node: *const WideNode, ray: &TraversalRay, t_max: f32) -> u32 {
        // SAFETY: as the caller promised.
        unsafe { Avx2::meet_children(node, ray, t_max) }
    }

    #[inline(always)]
    unsafe fn prims_of(node: &WideNode, slots: u32) -> u32 {
        // SAFETY: as the caller promised.
        unsafe { Avx2::prims_of(node, slots) }
    }

    #[inline(always)]
    unsafe fn intersect_prims<C: Compiled, const ANY: bool>(
        scene: &Geometry,
        base: u32,
        bits: u32,
        ray: &TraversalRay,
        hit: &mut Hit,
    ) {
        // SAFETY: as the caller promised.
        unsafe { Avx2::intersect_prims::<C, ANY>(scene, base, bits, ray, hit) }
    }
    #[inline(always)]
    unsafe fn outlined(work: impl Outlined) {
        // SAFETY: as the caller promised.
        unsafe { outlined(work) };
    }
}

/// [`Arch::outlined`].
///
/// # Safety
/// As [`Outlined::run`].
#[inline(never)]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn outlined(work: impl Outlined) {
    // SAFETY: as the caller promised.
    unsafe { work.run() };
}
