//! GGX (Trowbridge–Reitz) in the stretched frame, where α is 1: [`super::Microfacet`] stretches.
//!
//! Facets of this shape are those of ellipsoids, so reflections of `wo` off the stretched ones, off a hemisphere, fill
//! a spherical cap uniformly.

use core::f32::consts::PI;

use glam::{Vec2, Vec3};

use crate::arch::{max, min, sqrt};
use crate::math::sin_cos_turn;

/// D(wm)·αx·αy of a normal whose tangential part is divided by α (Walter et al. 2007, eq. 33). Written with the sine, which
/// keeps its precision around the peak that small α concentrate at, where 1 − cos² loses it.
#[inline(always)]
pub(super) fn d(scaled: Vec3) -> f32 {
    let s = scaled.length_squared();
    1.0 / (PI * s * s)
}

/// Λ of a stretched direction (Heitz 2014, eq. 72).
#[inline(always)]
pub(super) fn lambda(w: Vec3) -> f32 {
    let tan2 = (w.x * w.x + w.y * w.y) / (w.z * w.z);
    0.5 * (sqrt(1.0 + tan2) - 1.0)
}

/// Area of the facets that face the stretched direction `w`, projected along it, |cos| (1 + Λ) from above and |cos| Λ
/// from below, in the units that `w` is stretched in.
#[inline(always)]
pub(super) fn projected(w: Vec3) -> f32 {
    let r2 = w.x * w.x + w.y * w.y;
    let far = sqrt(r2 + w.z * w.z) + w.z.abs();
    // From below, length − |z| without the cancellation.
    0.5 * if w.z > 0.0 { far } else { r2 / max(far, f32::MIN_POSITIVE) }
}

/// As [`sample_cap`] of all reflections, of a `wo` that may point below: what is left of the cap towards −z is small,
/// and 1 + z, both of `wo` and of the half vector, without the cancellation.
#[inline(always)]
pub(super) fn sample_cap_below(wo: Vec3, u: Vec2) -> Vec3 {
    let reach = if wo.z > 0.0 { 1.0 + wo.z } else { (wo.x * wo.x + wo.y * wo.y) / (1.0 - wo.z) };
    let t = u.y * reach;
    let (s, c) = sin_cos_turn(u.x);
    let sin_theta = sqrt(max(t * (2.0 - t), 0.0));
    Vec3::new(sin_theta * c + wo.x, sin_theta * s + wo.y, reach - t)
}

/// Length of the slope that a part `u` of the projected area is flatter than (Walter et al. 2007, eq. 35).
#[inline(always)]
pub(super) fn sample_slope(u: f32) -> f32 {
    sqrt(u / (1.0 - u))
}

/// Half vector, not normalised, of the stretched unit vector `wo` and of a direction drawn from the cap that reaches
/// from +z down to z = −`depth`.
///
/// Dupuy & Benyoub 2023, "Sampling Visible GGX Normals with Spherical Caps", CGF 42(8), listing 3, where the cap is
/// all of the reflections: `depth` = `wo.z`.
#[inline(always)]
pub(super) fn sample_cap(wo: Vec3, depth: f32, u: Vec2) -> Vec3 {
    let z = 1.0 - u.y * (1.0 + depth);
    let (s, c) = sin_cos_turn(u.x);
    let sin_theta = sqrt(max(1.0 - z * z, 0.0));
    Vec3::new(sin_theta * c, sin_theta * s, z) + wo
}

/// The k by which the depth of the cap shrinks when reflections below the surface are cut off, as far as a cap can.
///
/// Eto & Tokuyoshi 2023, "Bounded VNDF Sampling for Smith–GGX Reflections", SIGGRAPH Asia Technical
/// Communications, where their listings compute it. `wo` is not stretched. For α beyond 1 there is nothing below z = 0 to keep.
#[inline(always)]
pub(super) fn bound(alpha: Vec2, wo: Vec3) -> f32 {
    let a = min(min(alpha.x, alpha.y), 1.0);
    let s = 1.0 + sqrt(wo.x * wo.x + wo.y * wo.y);
    let (a2, s2) = (a * a, s * s);
    (1.0 - a2) * s2 / (s2 + a2 * wo.z * wo.z)
}
