//! Cameras.

use core::f32::consts::TAU;

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use crate::arch::{max, min, sqrt};
use crate::math::sin_cos_turn;
use crate::ray::{Cone, Ray};
use crate::sampling::{sample_uniform_disk_concentric, sample_uniform_triangle};

/// A camera, 112 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Camera {
    /// Position: the origin of a pinhole's rays, and the middle of a lens.
    pub position: Vec3,
    /// [`Projection`] as a number.
    pub projection: u32,
    /// From `position` to the top left corner of the image: on the plane at distance 1, or for parallel rays on the one
    /// through `position`.
    pub corner: Vec3,
    /// Number of blades of the aperture; 0 if it is round.
    pub blades: u32,
    /// One pixel to the right on that plane; to the right, a unit vector, in a panorama.
    pub du: Vec3,
    /// Focus distance of a lens along `axis`.
    pub focus: f32,
    /// One pixel down on that plane; upwards, a unit vector, in a panorama.
    pub dv: Vec3,
    /// Side of a pixel on the plane, were it square; in a panorama, the angle that it is high.
    pub pixel: f32,
    /// Viewing direction, a unit vector.
    pub axis: Vec3,
    /// Turns of longitude that a pixel of a panorama is wide.
    pub longitude: f32,
    /// The axes of the lens, as long as its radius: to the right, and upwards.
    pub lens: [Vec3; 2],
    /// Turns of latitude that a pixel of a panorama is high.
    pub latitude: f32,
    /// Unused.
    pub reserved: u32,
}

const _: () = assert!(size_of::<Camera>() == 112);

/// Projection of the image: from pixels to rays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Projection {
    /// Through one point.
    Pinhole,
    /// Through a thin lens.
    Lens,
    /// All along the axis.
    Parallel,
    /// In all directions, by longitude and latitude.
    Panorama,
}

impl Camera {
    /// A pinhole at `position` that looks along `forward` with `right` to its right, all three axes unit and orthogonal;
    /// `half` is half the extent of the image plane at distance 1.
    pub fn perspective(position: Vec3, axes: [Vec3; 3], half: Vec2, size: [u32; 2]) -> Self {
        Self::perspective_through(Vec2::ZERO, position, axes, half, size)
    }

    /// As [`Camera::perspective`], with what lies straight ahead at `principal_point` in the image: parts of its width and
    /// height to the right of and below its centre.
    pub fn perspective_through(
        principal_point: Vec2,
        position: Vec3,
        axes: [Vec3; 3],
        half: Vec2,
        size: [u32; 2],
    ) -> Self {
        let [right, up, forward] = axes;
        let [left, above] = (half * (2.0 * principal_point + 1.0)).to_array();
        let mut camera = Self::on_plane(Projection::Pinhole, position, axes, half, size);
        camera.corner = forward - left * right + above * up;
        camera
    }

    /// A camera with parallel rays, from the plane through `position` on; `half` is half the extent of the image, metres.
    pub fn orthographic(position: Vec3, axes: [Vec3; 3], half: Vec2, size: [u32; 2]) -> Self {
        Self::on_plane(Projection::Parallel, position, axes, half, size)
    }

    /// A camera that sees all directions: `forward` in the middle, and `up` all along the top.
    pub fn panorama(position: Vec3, [right, up, forward]: [Vec3; 3], size: [u32; 2]) -> Self {
        let [width, height] = size.map(|n| n as f32);
        Self {
            position,
            projection: Projection::Panorama as u32,
            du: right,
            dv: up,
            axis: forward,
            longitude: 1.0 / width,
            latitude: 0.5 / height,
            pixel: 0.5 * TAU / height,
            ..Self::zeroed()
        }
    }

    fn on_plane(projection: Projection, position: Vec3, axes: [Vec3; 3], half: Vec2, size: [u32; 2]) -> Self {
        let [right, up, axis] = axes;
        let [width, height] = size.map(|n| n as f32);
        let (du, dv) = ((2.0 * half.x / width) * right, (-2.0 * half.y / height) * up);
        Self {
            position,
            projection: projection as u32,
            corner: -half.x * right + half.y * up,
            du,
            dv,
            axis,
            pixel: sqrt(du.length() * dv.length()),
            ..Self::zeroed()
        }
    }

    /// The camera with a thin lens, of which `axes` are as long as its radius, instead of a pinhole. It focuses at the
    /// distance `focus` along the axis. The first of the `blades` has a corner on the first axis.
    #[must_use]
    pub fn with_lens(self, axes: [Vec3; 2], focus: f32, blades: u32) -> Self {
        Self { projection: Projection::Lens as u32, lens: axes, focus, blades, ..self }
    }

    /// The ray through the point (`x`, `y`), in pixels from the top left corner of the image, and through the middle of
    /// the lens if there is one.
    #[inline(always)]
    pub fn ray(&self, x: f32, y: f32) -> Ray {
        if self.projection == Projection::Parallel as u32 {
            return Ray { o: self.position + (self.corner + x * self.du + y * self.dv), d: self.axis };
        }
        if self.projection == Projection::Panorama as u32 {
            return Ray { o: self.position, d: self.panoramic(x, y) };
        }
        Ray { o: self.position, d: (self.corner + x * self.du + y * self.dv).normalize() }
    }

    /// The same through the point of the lens that `lens`, uniform in the unit square, chooses.
    #[inline(always)]
    pub fn ray_through(&self, x: f32, y: f32, lens: Vec2) -> Ray {
        if self.projection != Projection::Lens as u32 {
            return self.ray(x, y);
        }
        let p =
            if self.blades == 0 { sample_uniform_disk_concentric(lens) } else { self.between_blades(lens) };
        let start = p.x * self.lens[0] + p.y * self.lens[1];
        let focus = self.focus * (self.corner + x * self.du + y * self.dv);
        Ray { o: self.position + start, d: (focus - start).normalize() }
    }

    /// Longitude grows to the right from −½ turn, latitude falls from ¼ turn. Beyond the edges both go on around.
    #[inline(always)]
    fn panoramic(&self, x: f32, y: f32) -> Vec3 {
        let turns = Vec2::new(x * self.longitude + 0.5, 1.25 - y * self.latitude);
        let [(sin_lon, cos_lon), (sin_lat, cos_lat)] = (turns - turns.floor()).to_array().map(sin_cos_turn);
        cos_lat * (sin_lon * self.du + cos_lon * self.axis) + sin_lat * self.dv
    }

    /// Uniform in the regular polygon of the blades with corners on the unit circle: a triangle of two corners and the
    /// middle, then a point in it.
    #[inline(always)]
    fn between_blades(&self, u: Vec2) -> Vec2 {
        let blades = self.blades as f32;
        // SAFETY: the uniform is in [0, 1], and there are few blades.
        let first = unsafe { (u.x * blades).to_int_unchecked::<u32>() } as f32;
        let corner = |k: f32| {
            let (sin, cos) = sin_cos_turn(min(k / blades, 1.0));
            Vec2::new(cos, sin)
        };
        let b = sample_uniform_triangle(Vec2::new(u.x * blades - first, u.y));
        b.x * corner(first) + b.y * corner(first + 1.0)
    }

    /// Length along the axis per length of a ray along `d`; in a panorama, which has none, along the ray.
    #[inline(always)]
    pub(crate) fn shrink(&self, d: Vec3) -> f32 {
        if self.projection == Projection::Panorama as u32 { 1.0 } else { max(d.dot(self.axis), 1e-6) }
    }

    /// Footprint of a pixel around a ray along `d`.
    ///
    /// On the plane at distance 1, a pixel of area A has the solid angle A·cos³ to the axis.
    #[inline(always)]
    pub fn cone(&self, d: Vec3) -> Cone {
        if self.projection == Projection::Parallel as u32 {
            return Cone { width: self.pixel, spread: 0.0 };
        }
        if self.projection == Projection::Panorama as u32 {
            return Cone { width: 0.0, spread: self.pixel };
        }
        let cos = max(d.dot(self.axis), 0.0);
        Cone { width: 0.0, spread: self.pixel * cos * sqrt(cos) }
    }
}
