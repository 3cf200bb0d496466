//! Rays and where they start.

use glam::Vec3;

use crate::arch::{max, sqrt};

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

/// What a ray stands for: a cone of which it is the axis, to choose how fine textures are looked up.
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
