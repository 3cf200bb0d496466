//! Emitters and how one is chosen.

pub mod select;

use core::f32::consts::FRAC_1_PI;

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

pub use select::AliasEntry;

use crate::arch::{max, sqrt};
use crate::sampling::{Frame, sample_uniform_cone, sample_uniform_sphere, sample_uniform_triangle};
use crate::shape::triangle;

/// An emitter, 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Light {
    /// Triangle: vertex 0. Sphere: centre.
    pub a: Vec3,
    /// [`Light::TRIANGLE`], [`Light::SPHERE`] or [`Light::ENVIRONMENT`], and flags.
    pub kind_flags: u32,
    /// Triangle: vertex 1. Sphere: the radius is x.
    pub b: Vec3,
    /// Probability with which this light is chosen.
    pub pmf: f32,
    /// Triangle: vertex 2.
    pub c: Vec3,
    /// Surface area, m²; zero for the environment.
    pub area: f32,
    /// Emitted radiance, the same in all directions.
    pub le: Vec3,
    /// Largest coordinate of any of its points, to which their rounding is relative; zero for the environment.
    pub extent: f32,
}

const _: () = assert!(size_of::<Light>() == 64);

/// A direction towards a light.
#[derive(Clone, Copy, Debug)]
pub struct LightSample {
    /// Unit direction from the reference point.
    pub wi: Vec3,
    /// A point on the light, or `None` for the environment.
    pub target: Option<LightPoint>,
    /// Radiance arriving along `wi` if nothing is in the way.
    pub li: Vec3,
    /// Solid-angle density of `wi`, the choice of the light included.
    pub pdf: f32,
}

/// A point on a light.
#[derive(Clone, Copy, Debug)]
pub struct LightPoint {
    /// The point.
    pub p: Vec3,
    /// Unit normal there, on the side that is looked at.
    pub n: Vec3,
    /// Largest coordinate of the light, to which the rounding of `p` is relative.
    pub extent: f32,
}

impl Light {
    /// An emissive triangle.
    pub const TRIANGLE: u32 = 0;
    /// An emissive sphere.
    pub const SPHERE: u32 = 1;
    /// Everything beyond the scene.
    pub const ENVIRONMENT: u32 = 2;
    /// Flag: emits from the back instead of the front.
    pub const FLIPPED: u32 = 1 << 8;
    /// Flag: emits from both sides.
    pub const TWO_SIDED: u32 = 1 << 9;

    #[inline(always)]
    const fn kind(&self) -> u32 {
        self.kind_flags & 0xff
    }

    /// Radiance that leaves into direction `w`, where `ng` is the normal by the shape's own orientation.
    #[inline(always)]
    pub fn le(&self, ng: Vec3, w: Vec3) -> Vec3 {
        let cos = ng.dot(w);
        let cos = if self.kind_flags & Self::FLIPPED != 0 { -cos } else { cos };
        if cos > 0.0 || self.kind_flags & Self::TWO_SIDED != 0 { self.le } else { Vec3::ZERO }
    }

    /// Draws a direction from `p` towards this light; `None` where there is nothing to be seen of it.
    #[inline(always)]
    pub fn sample_li(&self, p: Vec3, u: Vec2) -> Option<LightSample> {
        match self.kind() {
            Self::TRIANGLE => self.sample_triangle(p, u),
            Self::SPHERE => self.sample_sphere(p, u),
            _ => {
                let wi = sample_uniform_sphere(u);
                Some(LightSample { wi, target: None, li: self.le, pdf: self.pmf * UNIFORM_SPHERE_PDF })
            }
        }
    }

    /// Solid-angle density with which [`Light::sample_li`] from `p` returns the direction to a point at distance
    /// `t` where the cosine between direction and normal is `cos`. The choice of the light is included.
    #[inline(always)]
    pub fn pdf_li(&self, p: Vec3, t: f32, cos: f32) -> f32 {
        let pdf = match self.kind() {
            Self::TRIANGLE => t * t / (self.area * cos.abs()),
            Self::SPHERE => match self.one_minus_cos_of_cone(p) {
                Some(one_minus_cos) => 0.5 * FRAC_1_PI / one_minus_cos,
                None => t * t / (self.area * cos.abs()),
            },
            _ => UNIFORM_SPHERE_PDF,
        };
        self.pmf * pdf
    }

    #[inline(always)]
    fn sample_triangle(&self, p: Vec3, u: Vec2) -> Option<LightSample> {
        let vertices = [self.a, self.b, self.c];
        let b = sample_uniform_triangle(u);
        let target = triangle::interpolate(vertices, [b.x, b.y]);
        let ng = triangle::area_normal(vertices) * (0.5 / self.area);
        self.towards(p, target, ng)
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
        Some(LightSample { wi, target: Some(LightPoint { p: target, n, extent: self.extent }), li, pdf })
    }

    /// From outside, uniform over the cone that the sphere fills (pbrt 4th ed. §6.2.4); from inside, by area.
    #[inline(always)]
    fn sample_sphere(&self, p: Vec3, u: Vec2) -> Option<LightSample> {
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
        })
    }

    /// 1 − cos of the half-angle under which a sphere is seen from `p`; `None` from inside.
    #[inline(always)]
    fn one_minus_cos_of_cone(&self, p: Vec3) -> Option<f32> {
        let radius = self.b.x;
        let sin2 = radius * radius / (self.a - p).length_squared();
        // sin²/(1 + cos): free of the cancellation in 1 − cos for lights far away.
        (sin2 < 1.0).then(|| sin2 / (1.0 + sqrt(1.0 - sin2)))
    }
}

const UNIFORM_SPHERE_PDF: f32 = 0.25 * FRAC_1_PI;
