//! Cameras and pixel filters as described.

use glam::{Vec2, Vec3};

/// A camera.
#[derive(Debug, Clone, PartialEq)]
pub struct Camera {
    /// Where it stands, metres.
    pub position: Vec3,
    /// The point that it looks at.
    pub target: Vec3,
    /// The direction that is up in the image.
    pub up: Vec3,
    /// Whether left and right are exchanged.
    pub mirrored: bool,
    /// How directions or points become places in the image.
    pub projection: Projection,
    /// What it sees by how far it is.
    pub clip: Clip,
}

/// The distances along the axis of a camera between which it sees things, metres. What it does not see is there all the same,
/// for light and in mirrors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clip {
    /// Where it begins, ≥ 0.
    pub near: f32,
    /// Where it ends, above `near`.
    pub far: f32,
}

impl Clip {
    /// Everything there can be.
    pub const DEFAULT: Self = Self { near: 0.0, far: 1e10 };
}

impl Default for Clip {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How directions or points become places in the image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Projection {
    /// Lines through one point.
    Perspective {
        /// Field of view, degrees, in (0, 180), measured along `fov_axis`.
        fov: f32,
        /// Along which side of the image `fov` is measured.
        fov_axis: FovAxis,
        /// Where `target` is in the image, as parts of its width and height to the right of and below the centre: the
        /// opposite of Mitsuba's `principal_point_offset_x` and `_y`.
        principal_point: Vec2,
        /// The lens, if what is out of focus is to be blurred.
        lens: Option<Lens>,
    },
    /// Parallel lines.
    Orthographic {
        /// Extent of the image in the scene, metres, measured along `axis`.
        size: f32,
        /// Along which side of the image `size` is measured.
        axis: FovAxis,
    },
    /// All directions: longitude grows to the right, with `target` in the middle of the image, and latitude upwards. `up`
    /// turns the image around `target`; the part of it orthogonal to that direction is all along the top.
    Equirectangular,
}

impl Projection {
    /// A pinhole with `target` in the middle of the image.
    pub const fn pinhole(fov: f32, fov_axis: FovAxis) -> Self {
        Self::Perspective { fov, fov_axis, principal_point: Vec2::ZERO, lens: None }
    }
}

/// A thin lens.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Lens {
    /// Radius of the aperture, metres, > 0.
    pub radius: f32,
    /// Distance along the optical axis of what is in focus, metres, > 0.
    pub focus_distance: f32,
    /// Number of blades of the aperture, ≥ 3, or 0 if it is round.
    pub blades: u32,
    /// By how much the blades are turned counter-clockwise in the image, degrees, from where one has a corner at the right.
    pub rotation: f32,
}

/// Along which side of the image something is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FovAxis {
    /// Horizontally.
    X,
    /// Vertically.
    #[default]
    Y,
    /// From corner to corner.
    Diagonal,
    /// Along the shorter side.
    Smaller,
    /// Along the longer side.
    Larger,
}

impl FovAxis {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::X, Self::Y, Self::Diagonal, Self::Smaller, Self::Larger];
}

/// Reconstruction filter of the film: weights of samples by their distance to the centre of a pixel in x and in y.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PixelFilter {
    /// The same everywhere.
    Box {
        /// Half the side of the square, pixels; ½ is the pixel itself.
        radius: f32,
    },
    /// Falls linearly to 0 at the radius.
    Tent {
        /// Pixels.
        radius: f32,
    },
    /// A Gaussian, less its value at the radius.
    Gaussian {
        /// Pixels.
        radius: f32,
        /// Standard deviation, pixels.
        sigma: f32,
    },
    /// Mitchell & Netravali 1988, "Reconstruction Filters in Computer Graphics": negative in part.
    Mitchell {
        /// Pixels.
        radius: f32,
        /// Their B.
        b: f32,
        /// Their C.
        c: f32,
    },
    /// The Blackman–Harris window (Harris 1978, four terms).
    BlackmanHarris {
        /// Pixels.
        radius: f32,
    },
}

impl PixelFilter {
    /// The pixel itself.
    pub const PIXEL: Self = Self::Box { radius: 0.5 };
}
