//! Generalised Trowbridge–Reitz with the exponent 1, whose tails are longer than those of GGX (Burley 2012, §5.4).

use core::f32::consts::PI;

use glam::{Vec2, Vec3};

use crate::arch::{max, min, sqrt};
use crate::math::{exp, ln, sin_cos_turn};

/// A distribution of microfacets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gtr1 {
    /// Roughness parameter, in (0, 1).
    pub(super) alpha: f32,
}

impl Gtr1 {
    /// D(wm) = (1 − α²) / (−π ln α² (sin² θm + α² cos² θm)); the sine keeps its precision around the peak.
    #[inline(always)]
    pub(super) fn d(&self, wm: Vec3) -> f32 {
        let a2 = self.alpha * self.alpha;
        let sin2 = wm.x * wm.x + wm.y * wm.y;
        (1.0 - a2) / (-PI * ln(a2) * (sin2 + a2 * wm.z * wm.z))
    }

    /// Draws a normal with the density D(wm) cos θm: sin² θm = α² (α^(−2u) − 1) / (1 − α²).
    #[inline(always)]
    pub(super) fn sample_wm(&self, u: Vec2) -> Vec3 {
        let a2 = self.alpha * self.alpha;
        let sin2 = min(max(a2 * (exp(-u.x * ln(a2)) - 1.0) / (1.0 - a2), 0.0), 1.0);
        let (s, c) = sin_cos_turn(u.y);
        let r = sqrt(sin2);
        Vec3::new(r * c, r * s, sqrt(1.0 - sin2))
    }

    /// Density over solid angle of the reflections of `wo` off these normals.
    #[inline(always)]
    pub(super) fn pdf_reflected(&self, wo: Vec3, wm: Vec3) -> f32 {
        self.d(wm) * wm.z / (4.0 * wo.dot(wm))
    }
}
