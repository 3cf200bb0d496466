//! Primitives of the hierarchy.

pub mod cylinder;
pub mod disk;
pub mod sphere;
pub mod triangle;

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use crate::bsdf::{Compiled, Features};
use crate::bvh::TraversalRay;
use crate::ray::Ray;

/// A primitive as traversal reads it: 48 bytes, three wide loads.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Primitive {
    /// Triangle: vertex 0. Sphere: centre. Disk: middle. Cylinder: where the axis starts.
    pub a: Vec3,
    /// Index of the material, and in the high bits [`Primitive::SPHERE`] and its neighbours.
    pub material_flags: u32,
    /// Triangle: vertex 1. Disk: a half-axis, where the azimuth is 0. Sphere and cylinder: radius; 1, or −1 where the
    /// azimuth turns clockwise around the axis; the azimuth, as a part of a turn counter-clockwise from the x axis of
    /// [`crate::sampling::Frame::from_z`] of the axis, where u is 0.
    pub b: Vec3,
    /// Index of the light that this primitive is, or [`Primitive::NO_LIGHT`].
    pub light: u32,
    /// Triangle: vertex 2. Disk: the other half-axis, so that b × c is along the normal. Sphere: unit vector along the axis
    /// of its parameterisation, the z axis in object space. Cylinder: the axis, from its start to its end.
    pub c: Vec3,
    /// Triangle: index into [`crate::scene::SceneView::normals`], or [`Primitive::FLAT`]. Others: the latter.
    pub normals: u32,
}

const _: () = assert!(size_of::<Primitive>() == 48);

impl Primitive {
    /// Flag of a sphere.
    pub const SPHERE: u32 = 1 << 31;
    /// Flag of a primitive whose front is the other side.
    pub const FLIPPED: u32 = 1 << 30;
    /// Flag of a disk, or of the ellipse that a transform makes of it.
    pub const DISK: u32 = 1 << 29;
    /// Flag of the side of a cylinder.
    pub const CYLINDER: u32 = 1 << 28;
    /// Flag of a disk whose azimuth turns from `b` towards −`c`.
    pub const MIRRORED: u32 = 1 << 27;
    /// All flags; the rest is the index of the material.
    pub const FLAGS: u32 = Self::SPHERE | Self::FLIPPED | Self::DISK | Self::CYLINDER | Self::MIRRORED;
    /// `light` of what emits nothing.
    pub const NO_LIGHT: u32 = u32::MAX;
    /// `normals` of what has none: a triangle that is shaded flat and on which directions do not matter.
    pub const FLAT: u32 = u32::MAX;

    /// Whether this is a triangle.
    #[inline(always)]
    pub const fn is_triangle(&self) -> bool {
        self.material_flags & (Self::SPHERE | Self::DISK | Self::CYLINDER) == 0
    }

    /// Whether this is a sphere.
    #[inline(always)]
    pub const fn is_sphere(&self) -> bool {
        self.material_flags & Self::SPHERE != 0
    }

    /// Whether this is a disk.
    #[inline(always)]
    pub const fn is_disk(&self) -> bool {
        self.material_flags & Self::DISK != 0
    }

    /// Whether this is the side of a cylinder.
    #[inline(always)]
    pub const fn is_cylinder(&self) -> bool {
        self.material_flags & Self::CYLINDER != 0
    }

    /// Whether this is a disk or the side of a cylinder, in code that is compiled for them.
    #[inline(always)]
    pub(crate) fn is_rare<C: Compiled>(&self) -> bool {
        C::sees(Features::SHAPES) && self.material_flags & (Self::DISK | Self::CYLINDER) != 0
    }

    /// Whether the front is the other side.
    #[inline(always)]
    pub const fn is_flipped(&self) -> bool {
        self.material_flags & Self::FLIPPED != 0
    }

    /// −1 for a disk whose azimuth turns clockwise around its normal, else 1.
    #[inline(always)]
    pub(crate) const fn turning(&self) -> f32 {
        if self.material_flags & Self::MIRRORED != 0 { -1.0 } else { 1.0 }
    }

    /// Largest absolute coordinate of any of its points, or little more.
    #[inline(always)]
    pub fn extent(&self) -> f32 {
        if self.is_sphere() {
            self.a.abs().max_element() + self.b.x
        } else if self.is_disk() {
            (self.a.abs() + self.b.abs() + self.c.abs()).max_element()
        } else if self.is_cylinder() {
            self.a.abs().max((self.a + self.c).abs()).max_element() + self.b.x
        } else {
            triangle::extent([self.a, self.b, self.c])
        }
    }

    /// Index of the material.
    #[inline(always)]
    pub const fn material(&self) -> u32 {
        self.material_flags & !Self::FLAGS
    }
}

/// Distance in (0, `t_max`] to a primitive, and where on it: barycentric coordinates of vertices 1 and 2 of a triangle, or
/// coordinates along the half-axes of a disk.
#[inline(always)]
pub fn intersect<C: Compiled>(prim: &Primitive, ray: &TraversalRay, t_max: f32) -> Option<(f32, [f32; 2])> {
    if prim.is_sphere() {
        sphere::intersect(prim.a, prim.b.x, &ray.ray, t_max).map(|t| (t, [0.0; 2]))
    } else if prim.is_rare::<C>() {
        if prim.is_disk() {
            disk::intersect(prim, &ray.ray, t_max)
        } else {
            cylinder::intersect(prim, &ray.ray, t_max).map(|t| (t, [0.0; 2]))
        }
    } else {
        triangle::intersect([prim.a, prim.b, prim.c], ray, t_max)
    }
}

/// A point of a primitive that is no triangle.
#[derive(Clone, Copy, Debug)]
pub struct AnalyticPoint {
    /// The point, put back onto the surface wherever the rounding of the distance has left it.
    pub p: Vec3,
    /// Unit normal, outward or along b × c.
    pub n: Vec3,
    /// Coordinates along the half-axes of a disk; (position between the ends of the axis, 0) on a cylinder.
    pub b: [f32; 2],
}

/// The point at which a ray meets a primitive that is no triangle, at distance `t` and at `b` as [`intersect`] has it.
#[inline(always)]
pub fn analytic_point<C: Compiled>(prim: &Primitive, ray: &Ray, t: f32, b: [f32; 2]) -> AnalyticPoint {
    if !prim.is_rare::<C>() {
        let n = (ray.at(t) - prim.a).normalize();
        return AnalyticPoint { p: prim.a + prim.b.x * n, n, b };
    }
    if prim.is_disk() {
        return AnalyticPoint { p: disk::point(prim, b), n: disk::normal(prim), b };
    }
    let (p, n, v) = cylinder::point(prim, ray.at(t));
    AnalyticPoint { p, n, b: [v, 0.0] }
}

/// Texture coordinates where the normal of a primitive that is no triangle is `n`, and `b` as in [`AnalyticPoint`].
#[inline(always)]
pub fn analytic_uv<C: Compiled>(prim: &Primitive, n: Vec3, b: [f32; 2]) -> Vec2 {
    if !prim.is_rare::<C>() {
        sphere::uv(prim, n)
    } else if prim.is_disk() {
        disk::uv(prim, b)
    } else {
        cylinder::uv(prim, n, b[0])
    }
}

/// Derivatives of the point by u and by v there.
#[inline(always)]
pub fn analytic_derivatives<C: Compiled>(prim: &Primitive, n: Vec3, b: [f32; 2]) -> (Vec3, Vec3) {
    if !prim.is_rare::<C>() {
        sphere::derivatives(prim, n)
    } else if prim.is_disk() {
        disk::derivatives(prim, b)
    } else {
        cylinder::derivatives(prim, n)
    }
}
