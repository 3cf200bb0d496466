//! Shapes that emit.

use core::f32::consts::FRAC_1_PI;

use glam::{Vec2, Vec3};

use super::{Light, LightPoint, LightSample};
use crate::arch::{max, sqrt};
use crate::sampling::{Frame, sample_uniform_cone, sample_uniform_sphere};
use crate::shape::{Shape, Visitor, visit_rare};

impl Light {
    /// Sample of a light of shape `S`, by area.
    #[inline(always)]
    pub(super) fn sample_by_area<S: Shape>(&self, p: Vec3, u: Vec2) -> Option<LightSample> {
        let (target, n) = S::sample([self.a, self.b, self.c], self.area, u);
        self.towards(p, target, n)
    }

    /// Sample of a light of rare shape number `rare`, one that not all kernels know, by area.
    #[inline(always)]
    pub(super) fn sample_rare_shape(&self, rare: u32, p: Vec3, u: Vec2) -> Option<LightSample> {
        visit_rare(rare, ByArea { light: self, p, u })?
    }

    /// A sample at a point that was drawn uniformly by area.
    #[inline(always)]
    fn towards(&self, p: Vec3, target: Vec3, ng: Vec3) -> Option<LightSample> {
        let to_light = target - p;
        let t2 = to_light.length_squared();
        let wi = to_light * (1.0 / sqrt(t2));
        let cos = -ng.dot(wi);
        let li = self.le(ng, -wi);
        if li == Vec3::ZERO || cos == 0.0 || t2 == 0.0 {
            return None;
        }
        let n = ng * 1.0_f32.copysign(cos);
        let pdf = self.pmf * t2 / (self.area * cos.abs());
        Some(LightSample {
            wi,
            target: Some(LightPoint { p: target, n, extent: self.extent }),
            li,
            pdf,
            is_delta: false,
        })
    }

    /// Sample of a sphere: from outside, uniform over the cone that the sphere fills (pbrt 4th ed. §6.2.4); from inside, by
    /// area.
    #[inline(always)]
    pub(super) fn sample_sphere(&self, p: Vec3, u: Vec2) -> Option<LightSample> {
        let (center, radius) = (self.a, self.b.x);
        let Some(one_minus_cos) = self.one_minus_cos_of_cone(p) else {
            let ng = sample_uniform_sphere(u);
            return self.towards(p, center + radius * ng, ng);
        };
        let to_center = center - p;
        let distance = to_center.length();
        let axis = Frame::from_z(to_center / distance);
        let local = sample_uniform_cone(one_minus_cos, u);
        let wi = axis.to_world(local);
        // The near intersection, from the triangle of p, the centre and the point.
        let sin2 = local.x * local.x + local.y * local.y;
        let half_chord = sqrt(max(radius * radius - distance * distance * sin2, 0.0));
        let t = distance * local.z - half_chord;
        let ng = (p + t * wi - center).normalize();
        // All of the cone sees the outside; the rounded normal may not say so at the limb.
        let li = self.le(-axis.z, -axis.z);
        if li == Vec3::ZERO {
            return None;
        }
        let pdf = self.pmf * 0.5 * FRAC_1_PI / one_minus_cos;
        Some(LightSample {
            wi,
            target: Some(LightPoint { p: center + radius * ng, n: ng, extent: self.extent }),
            li,
            pdf,
            is_delta: false,
        })
    }

    /// 1 − cos of the half-angle under which a sphere is seen from `p`; `None` from inside.
    #[inline(always)]
    pub(super) fn one_minus_cos_of_cone(&self, p: Vec3) -> Option<f32> {
        let radius = self.b.x;
        let sin2 = radius * radius / (self.a - p).length_squared();
        // sin²/(1 + cos): free of the cancellation in 1 − cos for lights far away.
        (sin2 < 1.0).then(|| sin2 / (1.0 + sqrt(1.0 - sin2)))
    }
}

/// Samples a light by area.
struct ByArea<'a> {
    light: &'a Light,
    p: Vec3,
    u: Vec2,
}

impl Visitor for ByArea<'_> {
    type Output = Option<LightSample>;

    #[inline(always)]
    fn visit<S: Shape>(self) -> Self::Output {
        self.light.sample_by_area::<S>(self.p, self.u)
    }
}
