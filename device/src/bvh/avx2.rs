//! x86-64 with AVX2 and FMA: all eight children at once, and eight triangles or spheres at once.

use core::arch::x86_64::*;

use super::arch::Outlined;
use super::traverse::{NODES, intersect_prims};
use super::wide::{EARLIER, LATER};
use super::{Arch, Geometry, Hit, NodeHits, WideNode};
use crate::arch::lanes::F32x8;
use crate::arch::{Mask, Real, Vec3s, minus, splat};
use crate::features::Compiled;
use crate::ray::TraversalRay;
use crate::shape::{Kind, LaneHits, Primitive, sphere, triangle};

/// x86-64 with AVX2, FMA, BMI and LZCNT.
pub struct Avx2;

impl Arch for Avx2 {
    type Packet = F32x8;

    #[inline(always)]
    unsafe fn intersect_children(node: *const WideNode, ray: &TraversalRay, t_max: f32) -> NodeHits {
        // SAFETY: the node is valid and the machine has AVX2, as the caller promised.
        unsafe { intersect_children(&*node, ray, t_max) }
    }

    #[inline(always)]
    unsafe fn meet_children(node: *const WideNode, ray: &TraversalRay, t_max: f32) -> u32 {
        // SAFETY: as above.
        unsafe { _mm256_movemask_ps(meet_children(&*node, ray, t_max)) as u32 }
    }

    #[inline(always)]
    unsafe fn prims_of(node: &WideNode, slots: u32) -> u32 {
        // SAFETY: the machine has AVX2, as the caller promised.
        unsafe { prims_of(node, slots) }
    }

    #[inline(always)]
    unsafe fn intersect_prims<C: Compiled, const ANY: bool>(
        scene: &Geometry,
        base: u32,
        bits: u32,
        ray: &TraversalRay,
        hit: &mut Hit,
    ) {
        // Bit i + 8 stands for primitive `base` + i: those that are tested may begin before `base`.
        let mut bits = u64::from(bits) << 8;
        while bits != 0 {
            // The eight up to the highest that is left, or the four if these are all, or the first of the scene.
            let highest = 63 - bits.leading_zeros();
            let eight = highest - bits.trailing_zeros() >= 4;
            let first = (base + highest - 8).saturating_sub(if eight { 7 } else { 3 });
            let below = first + 8 - base;
            // SAFETY: as the caller promised; of so few there are eight.
            unsafe { intersect_eight::<C, ANY>(scene, first, eight, (bits >> below) as u32, ray, hit) };
            if ANY && hit.is_hit() {
                return;
            }
            bits &= !(u64::MAX << below);
        }
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
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn outlined(work: impl Outlined) {
    // SAFETY: as the caller promised.
    unsafe { work.run() };
}

/// Tests those of eight primitives in a row that are set in `bits`, as [`intersect_prims`] does: the same arithmetic, and so the
/// same bits. Unless `eight`, only the first four are read, and no others may be set: what is not needed would have to be waited
/// for.
///
/// # Safety
/// As [`intersect_prims`], and all eight may be read ([`Geometry::prims`]).
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn intersect_eight<C: Compiled, const ANY: bool>(
    scene: &Geometry,
    base: u32,
    eight: bool,
    bits: u32,
    ray: &TraversalRay,
    hit: &mut Hit,
) {
    // SAFETY: as the caller promised; a primitive is twelve words, of which every fourth is no coordinate.
    let [[ax, ay, az, flags], [bx, by, bz, _], [cx, cy, cz, _]] = unsafe {
        let first = scene.prims.add(base as usize).cast::<f32>();
        [0, 4, 8].map(|word| F32x8::columns::<{ size_of::<Primitive>() / 4 }>(first.add(word), eight))
    };
    if flags.have_any(Primitive::SHAPES) & bits != 0 {
        let (center, are_spheres) = ([ax, ay, az], bits & !flags.have_any(Kind::Sphere.flag()) == 0);
        // SAFETY: as the caller promised.
        return unsafe {
            if are_spheres {
                intersect_spheres(scene, base, bits, center, bx, ray, hit);
            } else {
                one_by_one::<C, ANY>(scene, base, bits, ray, hit);
            }
        };
    }
    let [a, b, c] = [[ax, ay, az], [bx, by, bz], [cx, cy, cz]];
    let o = splat(ray.ray.o);
    let vertices = [minus(a, o), minus(b, o), minus(c, o)];
    let across = ray.across().map(splat);
    let edges = triangle::edges(triangle::project(vertices, across));
    let [u, v, w] = edges;
    let zero = F32x8::splat(0.0);
    let decided = zero.lt(u.abs()) & zero.lt(v.abs()) & zero.lt(w.abs());
    if bits & !decided.bits() != 0 {
        // SAFETY: as the caller promised.
        return unsafe { one_by_one::<C, ANY>(scene, base, bits, ray, hit) };
    }
    // No number is zero here: all are negative, or all positive, where the signs are alike. No branch if none is inside: it is as
    // likely as not.
    let inside = bits & !u.signs_differ(v, w).bits();
    let (t, b) = triangle::distance(vertices, edges, splat(ray.ray.d));
    let ahead = zero.lt(t) & t.le(F32x8::splat(hit.t));
    // SAFETY: as the caller promised.
    unsafe { take_nearest(scene, base, inside & ahead.bits(), t, b, hit) };
}

/// Tests those of eight spheres in a row that are set in `bits`, as [`intersect_prims`] does.
///
/// # Safety
/// As [`intersect_eight`].
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn intersect_spheres(
    scene: &Geometry,
    base: u32,
    bits: u32,
    center: Vec3s<F32x8>,
    radius: F32x8,
    ray: &TraversalRay,
    hit: &mut Hit,
) {
    let (zero, t_max) = (F32x8::splat(0.0), F32x8::splat(hit.t));
    let o = minus(splat(ray.ray.o), center);
    // All have the end that the ray had before any of the eight was taken: the nearer root decides wherever it is ahead.
    if let Some(LaneHits { mask, t, b }) = sphere::meet(o, radius, splat(ray.ray.d), t_max, zero.le(zero)) {
        let met = mask & zero.lt(t) & t.le(t_max);
        // SAFETY: as the caller promised.
        unsafe { take_nearest(scene, base, bits & met.bits(), t, b, hit) };
    }
}

/// Takes the nearest hit of those on eight primitives in a row that are `found`, if `hit` yields to it.
///
/// # Safety
/// The scene has the primitives that are found and that of the hit.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn take_nearest(scene: &Geometry, base: u32, mut found: u32, t: F32x8, b: [F32x8; 2], hit: &mut Hit) {
    if found == 0 {
        return;
    }
    let b = [to_array(b[0]), to_array(b[1])];
    let t = to_array(t);
    while found != 0 {
        let lane = 31 - found.leading_zeros();
        found &= !(1 << lane);
        let i = lane as usize;
        // SAFETY: both are primitives of the scene.
        if unsafe { hit.yields_to(scene, t[i], base + lane) } {
            *hit = Hit { t: t[i], prim: base + lane, b: [b[0][i], b[1][i]], instance: Hit::WORLD };
        }
    }
}

/// [`intersect_prims`], out of the way of the loop's registers.
#[inline(never)]
unsafe fn one_by_one<C: Compiled, const ANY: bool>(
    scene: &Geometry,
    base: u32,
    bits: u32,
    ray: &TraversalRay,
    hit: &mut Hit,
) {
    // SAFETY: as the caller promised.
    unsafe { intersect_prims::<C, ANY>(scene, base, bits, ray, hit) }
}

#[inline(always)]
fn to_array(x: F32x8) -> [f32; 8] {
    let mut array = [0.0; 8];
    // SAFETY: the array has room for eight floats.
    unsafe { x.store(array.as_mut_ptr()) };
    array
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn meet_children(node: &WideNode, ray: &TraversalRay, t_max: f32) -> __m256 {
    // `WideNode::meet_children`, eight children at once.
    let (inv_d, [enter, leave]) = (ray.inv_d.to_array(), ray.crossings().map(|t| t.to_array()));
    let crossings = |axis: usize| {
        // Indices, not a branch: directions are hard to predict.
        let upper = ray.enters_by_upper[axis] as usize & 1;
        // SAFETY: eight floats each.
        let plane = |upper: usize| unsafe { _mm256_loadu_ps(node.planes[2 * axis + upper].as_ptr()) };
        let inv_d = _mm256_set1_ps(inv_d[axis]);
        (
            _mm256_fmadd_ps(plane(upper), inv_d, _mm256_set1_ps(enter[axis])),
            _mm256_fmadd_ps(plane(upper ^ 1), inv_d, _mm256_set1_ps(leave[axis])),
        )
    };
    let (enter_x, leave_x) = crossings(0);
    let (enter_y, leave_y) = crossings(1);
    let (enter_z, leave_z) = crossings(2);
    let enter = _mm256_max_ps(_mm256_max_ps(enter_x, enter_y), _mm256_max_ps(enter_z, _mm256_setzero_ps()));
    let enter = _mm256_mul_ps(enter, _mm256_set1_ps(EARLIER));
    let leave = _mm256_mul_ps(_mm256_min_ps(_mm256_min_ps(leave_x, leave_y), leave_z), _mm256_set1_ps(LATER));
    let leave = _mm256_min_ps(leave, _mm256_set1_ps(t_max));
    _mm256_cmp_ps::<_CMP_LE_OQ>(enter, leave)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn intersect_children(node: &WideNode, ray: &TraversalRay, t_max: f32) -> NodeHits {
    let met = meet_children(node, ray, t_max);
    node.hits(_mm256_movemask_ps(met) as u32, ray.oct_inv4, |_| prims_in(node, _mm256_castps_si256(met)))
}

/// [`Arch::prims_of`].
#[inline]
#[target_feature(enable = "avx2")]
fn prims_of(node: &WideNode, slots: u32) -> u32 {
    let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    prims_in(node, _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(slots as i32), bits), bits))
}

/// The bits of the primitives in the slots that have all bits set.
#[inline]
#[target_feature(enable = "avx2")]
fn prims_in(node: &WideNode, slots: __m256i) -> u32 {
    let meta = to_i32(&node.meta);
    let bits = _mm256_and_si256(_mm256_srli_epi32::<5>(meta), slots);
    // Those of nodes come to lie above.
    or_lanes(_mm256_sllv_epi32(bits, _mm256_and_si256(meta, _mm256_set1_epi32(0x1f)))) & !NODES
}

#[inline]
#[target_feature(enable = "avx2")]
fn to_i32(bytes: &[u32; 2]) -> __m256i {
    let bytes = u64::from(bytes[0]) | (u64::from(bytes[1]) << 32);
    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(bytes as i64))
}

#[inline]
#[target_feature(enable = "avx2")]
fn or_lanes(v: __m256i) -> u32 {
    let v = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
    let v = _mm_or_si128(v, _mm_shuffle_epi32::<0b00_00_11_10>(v));
    let v = _mm_or_si128(v, _mm_shuffle_epi32::<0b00_00_00_01>(v));
    _mm_cvtsi128_si32(v) as u32
}
