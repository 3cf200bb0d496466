//! Point, spot and directional lights.

use core::f32::consts::FRAC_1_PI;

use glam::{Vec2, Vec3};

use super::{Light, LightPoint, LightSample};
use crate::arch::{max, min, sqrt};
use crate::math::acos;
use crate::sampling::{Frame, sample_uniform_cone};

impl Light {
    /// Sample of a point or spot light: its one direction, with the probability of choosing the light as density.
    #[inline(always)]
    pub(super) fn sample_point(&self, p: Vec3) -> Option<LightSample> {
        let to_light = self.a - p;
        let t2 = to_light.length_squared();
        if t2 == 0.0 {
            return None;
        }
        let wi = to_light * (1.0 / sqrt(t2));
        let falloff = if self.kind() == Self::SPOT { self.falloff(-wi) } else { 1.0 };
        if falloff <= 0.0 {
            return None;
        }
        let target = LightPoint { p: self.a, n: Vec3::ZERO, extent: 0.0 };
        let li = self.le * (falloff / t2);
        Some(LightSample { wi, target: Some(target), li, pdf: self.pmf, is_delta: true })
    }

    /// The part of a spot light's intensity that leaves along `w`.
    #[inline(always)]
    fn falloff(&self, w: Vec3) -> f32 {
        let cos = min(max(self.b.dot(w), -1.0), 1.0);
        let [outer, scale] = [self.c.x, self.c.y];
        if self.kind_flags & Self::LINEAR_FALLOFF != 0 {
            return min(max((outer - acos(cos)) * scale, 0.0), 1.0);
        }
        let x = min(max((cos - outer) * scale, 0.0), 1.0);
        x * x
    }

    /// Sample of a directional light: its one direction, or one in its disk.
    #[inline(always)]
    pub(crate) fn sample_directional(&self, u: Vec2) -> LightSample {
        let one_minus_cos = self.b.x;
        if one_minus_cos == 0.0 {
            return LightSample { wi: self.a, target: None, li: self.le, pdf: self.pmf, is_delta: true };
        }
        let wi = Frame::from_z(self.a).to_world(sample_uniform_cone(one_minus_cos, u));
        LightSample { wi, target: None, li: self.le, pdf: self.pmf * self.disk_pdf(), is_delta: false }
    }

    /// Density of directions in the disk of a directional light that has one.
    #[inline(always)]
    pub(super) fn disk_pdf(&self) -> f32 {
        0.5 * FRAC_1_PI / self.b.x
    }

    /// Whether a direction leads into the disk of a directional light.
    #[inline(always)]
    pub(super) fn disk_has(&self, d: Vec3) -> bool {
        // 1 − cos of the angle, free of cancellation.
        0.5 * (d - self.a).length_squared() < self.b.x
    }
}
