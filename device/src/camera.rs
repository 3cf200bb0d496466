//! Cameras.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use crate::ray::Ray;

/// A pinhole camera with a box pixel filter.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Camera {
    /// Where all rays start.
    pub position: Vec3,
    /// From `position` to the top left corner of an image plane.
    pub corner: Vec3,
    /// One pixel to the right on that plane.
    pub du: Vec3,
    /// One pixel down on that plane.
    pub dv: Vec3,
}

impl Camera {
    /// The ray through the point (`x`, `y`), in pixels from the top left corner of the image.
    #[inline(always)]
    pub fn ray(&self, x: f32, y: f32) -> Ray {
        Ray { o: self.position, d: (self.corner + x * self.du + y * self.dv).normalize() }
    }

    /// A camera at `position` that looks along `forward` with `right` to its right, all three axes unit and
    /// orthogonal; `half` is half the extent of the image plane at distance 1.
    pub fn perspective(position: Vec3, [right, up, forward]: [Vec3; 3], half: Vec2, size: [u32; 2]) -> Self {
        let [width, height] = size.map(|n| n as f32);
        Self {
            position,
            corner: forward - half.x * right + half.y * up,
            du: (2.0 * half.x / width) * right,
            dv: (-2.0 * half.y / height) * up,
        }
    }
}
