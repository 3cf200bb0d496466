//! x86-64 with AVX2 and FMA: all eight children at once.

use core::arch::x86_64::*;

use super::Arch;
use crate::bvh::node::{Node, NodeHits, Slabs, TraversalRay};

/// x86-64 with AVX2, FMA, BMI and LZCNT.
pub struct Avx2;

impl Arch for Avx2 {
    #[inline(always)]
    unsafe fn intersect_children(node: *const Node, ray: &TraversalRay, t_max: f32) -> NodeHits {
        // SAFETY: the node is valid and the machine has AVX2, as the caller promised.
        unsafe { intersect_children(&*node, ray, t_max) }
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn intersect_children(node: &Node, ray: &TraversalRay, t_max: f32) -> NodeHits {
    let slabs = Slabs::new(node, ray);
    let inv_d = ray.inv_d;
    let crossings = |axis: usize, negative: bool, step: f32, enter: f32, leave: f32| {
        let (near, far) = (2 * axis + usize::from(negative), 2 * axis + usize::from(!negative));
        let step = _mm256_set1_ps(step);
        (
            _mm256_fmadd_ps(to_f32(&node.planes[near]), step, _mm256_set1_ps(enter)),
            _mm256_fmadd_ps(to_f32(&node.planes[far]), step, _mm256_set1_ps(leave)),
        )
    };
    let (enter_x, leave_x) = crossings(0, inv_d.x < 0.0, slabs.step.x, slabs.enter.x, slabs.leave.x);
    let (enter_y, leave_y) = crossings(1, inv_d.y < 0.0, slabs.step.y, slabs.enter.y, slabs.leave.y);
    let (enter_z, leave_z) = crossings(2, inv_d.z < 0.0, slabs.step.z, slabs.enter.z, slabs.leave.z);
    let enter = _mm256_max_ps(_mm256_max_ps(enter_x, enter_y), _mm256_max_ps(enter_z, _mm256_setzero_ps()));
    let leave = _mm256_min_ps(_mm256_min_ps(leave_x, leave_y), _mm256_min_ps(leave_z, _mm256_set1_ps(t_max)));
    let hit = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LE_OQ>(enter, leave));

    let meta = to_i32(&node.meta);
    let inner = _mm256_cmpgt_epi32(_mm256_and_si256(meta, _mm256_set1_epi32(0x1f)), _mm256_set1_epi32(23));
    let oct_inv = _mm256_set1_epi32((ray.oct_inv4 & 0x7) as i32);
    let index = _mm256_xor_si256(meta, _mm256_and_si256(oct_inv, inner));
    let index = _mm256_and_si256(index, _mm256_set1_epi32(0x1f));
    let bits = _mm256_and_si256(_mm256_srli_epi32::<5>(meta), hit);
    NodeHits::new(node, or_lanes(_mm256_sllv_epi32(bits, index)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn to_i32(bytes: &[u32; 2]) -> __m256i {
    let bytes = u64::from(bytes[0]) | (u64::from(bytes[1]) << 32);
    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(bytes as i64))
}

#[inline]
#[target_feature(enable = "avx2")]
fn to_f32(bytes: &[u32; 2]) -> __m256 {
    _mm256_cvtepi32_ps(to_i32(bytes))
}

#[inline]
#[target_feature(enable = "avx2")]
fn or_lanes(v: __m256i) -> u32 {
    let v = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
    let v = _mm_or_si128(v, _mm_shuffle_epi32::<0b00_00_11_10>(v));
    let v = _mm_or_si128(v, _mm_shuffle_epi32::<0b00_00_00_01>(v));
    _mm_cvtsi128_si32(v) as u32
}
