//! Rays and where they start.

use glam::Vec3;

use crate::arch::{Real, max, sqrt};
use crate::sampling::tangents;

/// A half-line. `d` is a unit vector.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Ray {
    /// Origin.
    pub o: Vec3,
    /// Unit direction.
    pub d: Vec3,
}

impl Ray {
    /// The point at distance `t`.
    #[inline(always)]
    pub fn at(&self, t: f32) -> Vec3 {
        self.o + t * self.d
    }
}

/// A ray with what traversal needs of it many times.
#[derive(Clone, Copy, Debug)]
pub struct TraversalRay {
    /// The ray.
    pub ray: Ray,
    /// Componentwise 1/d, finite.
    pub inv_d: Vec3,
    /// Where the ray crosses the planes through the origin of the space: not too late, and not too early.
    #[cfg(not(target_arch = "nvptx64"))]
    crossings: [Vec3; 2],
    /// Two directions that complete `d` to an orthonormal basis.
    #[cfg(not(target_arch = "nvptx64"))]
    across: [Vec3; 2],
    /// For each axis, 1 if the ray enters boxes by their upper plane, else 0.
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) enters_by_upper: [u32; 3],
    /// Octant that the ray looks into, inverted, in every byte: 4 for +x, 2 for +y, 1 for +z.
    pub oct_inv4: u32,
    /// As a constant that stays in a register.
    #[cfg(target_arch = "nvptx64")]
    pub(crate) byte_bias: u32,
}

impl TraversalRay {
    /// Prepares a ray.
    #[inline(always)]
    pub fn new(ray: Ray) -> Self {
        let d = ray.d.to_array();
        let inv_d = Vec3::new(safe_inverse(d[0]), safe_inverse(d[1]), safe_inverse(d[2]));
        Self::from_parts(ray, inv_d, tangents(d).map(Vec3::from_array))
    }

    /// Two directions that complete `d` to an orthonormal basis, always the same. A GPU computes them where they are
    /// wanted: it has time for that, but not the registers to keep them.
    #[inline(always)]
    pub fn across(&self) -> [Vec3; 2] {
        #[cfg(target_arch = "nvptx64")]
        return tangents(self.ray.d.to_array()).map(Vec3::from_array);
        #[cfg(not(target_arch = "nvptx64"))]
        self.across
    }

    /// Where the ray crosses the planes through the origin of the space, too early and too late by what is rounded: see
    /// [`origin_crossings`].
    #[inline(always)]
    pub(crate) fn crossings(&self) -> [Vec3; 2] {
        #[cfg(target_arch = "nvptx64")]
        return crossings(self.ray.o, self.inv_d);
        #[cfg(not(target_arch = "nvptx64"))]
        self.crossings
    }

    #[inline(always)]
    pub(crate) fn from_parts(ray: Ray, inv_d: Vec3, across: [Vec3; 2]) -> Self {
        #[cfg(target_arch = "nvptx64")]
        let _ = across;
        // By the inverse throughout: it has a sign where the direction may be −0.
        let oct_inv =
            (u32::from(inv_d.x > 0.0) << 2) | (u32::from(inv_d.y > 0.0) << 1) | u32::from(inv_d.z > 0.0);
        Self {
            ray,
            inv_d,
            #[cfg(not(target_arch = "nvptx64"))]
            crossings: crossings(ray.o, inv_d),
            #[cfg(not(target_arch = "nvptx64"))]
            across,
            #[cfg(not(target_arch = "nvptx64"))]
            enters_by_upper: inv_d.to_array().map(|x| x.to_bits() >> 31),
            oct_inv4: oct_inv * 0x0101_0101,
            #[cfg(target_arch = "nvptx64")]
            byte_bias: crate::arch::byte_bias(),
        }
    }
}

#[inline(always)]
fn crossings(o: Vec3, inv_d: Vec3) -> [Vec3; 2] {
    let [x, y, z] = [0, 1, 2].map(|axis| origin_crossings(o[axis], inv_d[axis]));
    [0, 1].map(|i| Vec3::new(x[i], y[i], z[i]))
}

/// Where a ray crosses the plane through the origin that is across an axis, on which it starts at `o`: too early and too late by
/// more than what is rounded here and in x · `inv_d` + this, of which the plane at x is crossed.
#[inline(always)]
pub(crate) fn origin_crossings<F: Real>(o: F, inv_d: F) -> [F; 2] {
    const ROUNDED: f32 = 1.0 / (1 << 22) as f32;
    let crossing = F::splat(0.0) - o * inv_d;
    let pad = crossing.abs() * F::splat(ROUNDED);
    [crossing - pad, crossing + pad]
}

/// 1/x, at most 2⁶⁰, so that the slabs of an axis-parallel ray are far away instead of NaN.
#[inline(always)]
pub(crate) fn safe_inverse<F: Real>(x: F) -> F {
    const LARGEST: f32 = (1u64 << 60) as f32;
    (F::splat(1.0) / x).min(F::splat(LARGEST)).max(F::splat(-LARGEST))
}

/// A ray's footprint: a cone around the ray, by which the resolution of texture look-ups is chosen.
///
/// Akenine-Möller et al. 2019, "Texture Level of Detail Strategies for Real-Time Ray Tracing", Ray Tracing Gems ch. 20.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[repr(C)]
pub struct Cone {
    /// Its width at the origin of the ray, metres.
    pub width: f32,
    /// How much wider it gets in a metre.
    pub spread: f32,
}

impl Cone {
    /// Moves its origin along the ray.
    #[inline(always)]
    pub fn travel(&mut self, t: f32) {
        self.width += self.spread * t;
    }

    /// Widens it for a direction that was drawn with a density over solid angle; not for one that was not drawn, which has
    /// density 0. Such a ray stands for a solid angle of 1/(N·pdf), where N rays share what the lobe reflects (Křivánek
    /// & Colbert 2008, "Real-time Shading with Filtered Importance Sampling").
    #[inline(always)]
    pub fn widen(&mut self, pdf: f32) {
        const N: f32 = 64.0;
        if pdf > 0.0 {
            self.spread = sqrt(self.spread * self.spread + 1.0 / (N * pdf));
        }
    }
}

/// Moves a surface point `p` off its surface, to the side that the unit normal `n` points to, by just more than the
/// rounding error that `p` can have: 2⁻¹⁵ of each coordinate, which is the 256 ulps of Wächter & Binder 2019, "A Fast
/// and Robust Method for Avoiding Self-Intersection", Ray Tracing Gems ch. 6.
///
/// A coordinate may be small only because larger ones cancelled when `p` was interpolated. `extent`, the largest
/// coordinate of the primitive, bounds them: the offset is at least 2⁻²⁰ of it, in place of the fixed distance that
/// the paper adds near zero and that would have to know the scale of the scene.
#[inline(always)]
pub fn offset_ray_origin(p: Vec3, n: Vec3, extent: f32) -> Vec3 {
    p + ray_offset(p, n, extent)
}

/// By how much [`offset_ray_origin`] moves a point.
#[inline(always)]
pub fn ray_offset(p: Vec3, n: Vec3, extent: f32) -> Vec3 {
    let least = extent * (1.0 / (1 << 20) as f32);
    let offset = |p: f32, n: f32| n * max(p.abs() * (1.0 / (1 << 15) as f32), least);
    Vec3::new(offset(p.x, n.x), offset(p.y, n.y), offset(p.z, n.z))
}
