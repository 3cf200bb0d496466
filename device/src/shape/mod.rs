//! Primitives of the hierarchy.

pub mod sphere;
pub mod triangle;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::bvh::TraversalRay;

/// A primitive as traversal reads it: 48 bytes, three wide loads.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Primitive {
    /// Triangle: vertex 0. Sphere: centre.
    pub a: Vec3,
    /// Index of the material, and in the high bits [`Primitive::SPHERE`] and [`Primitive::FLIPPED`].
    pub material_flags: u32,
    /// Triangle: vertex 1. Sphere: radius; 1, or −1 where the azimuth turns clockwise around the axis;
    /// the azimuth, as a part of a turn counter-clockwise from the x axis of [`crate::sampling::Frame::from_z`] of the axis,
    /// where u is 0.
    pub b: Vec3,
    /// Index of the light that this primitive is, or [`Primitive::NO_LIGHT`].
    pub light: u32,
    /// Triangle: vertex 2. Sphere: unit vector along the axis of its parameterisation, the z axis in object space.
    pub c: Vec3,
    /// Triangle: index into [`crate::scene::SceneView::normals`], or [`Primitive::FLAT`]. Sphere: the latter.
    pub normals: u32,
}

const _: () = assert!(size_of::<Primitive>() == 48);

impl Primitive {
    /// Flag of a sphere.
    pub const SPHERE: u32 = 1 << 31;
    /// Flag of a primitive whose front is the other side.
    pub const FLIPPED: u32 = 1 << 30;
    /// `light` of what emits nothing.
    pub const NO_LIGHT: u32 = u32::MAX;
    /// `normals` of what has none: a triangle that is shaded flat and on which directions do not matter.
    pub const FLAT: u32 = u32::MAX;

    /// Whether this is a sphere.
    #[inline(always)]
    pub const fn is_sphere(&self) -> bool {
        self.material_flags & Self::SPHERE != 0
    }

    /// Whether the front is the other side.
    #[inline(always)]
    pub const fn is_flipped(&self) -> bool {
        self.material_flags & Self::FLIPPED != 0
    }

    /// Largest absolute coordinate of any of its points.
    #[inline(always)]
    pub fn extent(&self) -> f32 {
        if self.is_sphere() {
            self.a.abs().max_element() + self.b.x
        } else {
            triangle::extent([self.a, self.b, self.c])
        }
    }

    /// Index of the material.
    #[inline(always)]
    pub const fn material(&self) -> u32 {
        self.material_flags & !(Self::SPHERE | Self::FLIPPED)
    }
}

/// Distance in (0, `t_max`] to a primitive, and barycentric coordinates on it.
#[inline(always)]
pub fn intersect(prim: &Primitive, ray: &TraversalRay, t_max: f32) -> Option<(f32, [f32; 2])> {
    if prim.is_sphere() {
        sphere::intersect(prim.a, prim.b.x, &ray.ray, t_max).map(|t| (t, [0.0; 2]))
    } else {
        triangle::intersect([prim.a, prim.b, prim.c], ray, t_max)
    }
}
