//! Light that no shape emits, as described.

use glam::{Mat3, Vec3};

use super::Color;

/// Light that arrives from outside the scene.
#[derive(Debug, Clone, PartialEq)]
pub enum Environment {
    /// The same radiance from everywhere, W·sr⁻¹·m⁻² per channel.
    Constant(Vec3),
    /// An image of all directions: row 0 is +y, the middle column −z, and columns to the right of it turn towards +x.
    /// As in Mitsuba, columns are centred in equal parts of the turn, and the first and the last row lie at the poles.
    Image {
        /// Index into [`super::Description::images`].
        image: usize,
        /// Factor from its values to radiance, W·sr⁻¹·m⁻².
        scale: Vec3,
        /// Rotation from the directions of the image to the world; it may mirror. For Mitsuba's `envmap` it is `to_world` after
        /// half a turn around y.
        world_from_image: Mat3,
    },
    /// A clear sky with its sun.
    SunSky(SunSky),
    /// A photographer's studio, for models that come without light.
    Studio(Studio),
}

/// The light of a photographer's studio: soft boxes in front of a backdrop that darkens from the ceiling to the floor. It has
/// no colour of its own. Above and to the left of the camera is the largest box; a narrow one on the right and one behind give
/// shapes an edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Studio {
    /// Factor of its radiance. By 1, a white diffuse sphere has a radiance of about 1 where it is brightest.
    pub scale: Vec3,
    /// Rotation from the studio, which is looked into along −z, to the world.
    pub world_from_studio: Mat3,
}

impl Default for Studio {
    fn default() -> Self {
        Self { scale: Vec3::ONE, world_from_studio: Mat3::IDENTITY }
    }
}

/// A clear sky with its sun: Hošek & Wilkie 2012, "An Analytic Model for Full Spectral Sky-Dome Radiance".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SunSky {
    /// Unit vector to the sun, in a sky whose zenith is +y, before `world_from_sky`.
    pub sun_direction: Vec3,
    /// How hazy the air is, in [1, 10].
    pub turbidity: f32,
    /// Albedo of the ground, in [0, 1] per channel.
    pub ground_albedo: Vec3,
    /// Factor of the radiance of the sky.
    pub sky_scale: f32,
    /// Factor of the radiance of the sun.
    pub sun_scale: f32,
    /// Angular diameter of the sun, degrees; its irradiance does not depend on it.
    pub sun_diameter: f32,
    /// Rotation from the sky to the world.
    pub world_from_sky: Mat3,
}

/// A rectangle through which the light of the environment comes into a room, such as a window. It is no surface: it says
/// where to look for light, and the image stays the same in expectation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Portal {
    /// A corner, metres.
    pub corner: Vec3,
    /// From there to the two next corners, orthogonal to each other. Their cross product, the first by the second, points
    /// into the room.
    pub edges: [Vec3; 2],
}

/// Light from a point or from one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct PunctualLight {
    /// Its name in the scene file, or what stands in for one in messages (`lights[3]`).
    pub name: String,
    /// Its kind.
    pub kind: PunctualKind,
}

/// Kinds of [`PunctualLight`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PunctualKind {
    /// From a point into all directions alike.
    Point {
        /// Where it is, metres.
        position: Vec3,
        /// Radiant intensity, W·sr⁻¹ per channel.
        intensity: Vec3,
    },
    /// From a point into a cone.
    Spot {
        /// Where it is, metres.
        position: Vec3,
        /// Unit vector along the axis of the cone.
        direction: Vec3,
        /// Radiant intensity along the axis, W·sr⁻¹ per channel.
        intensity: Vec3,
        /// Angle to the axis up to which the intensity is that of the axis, degrees, below `outer`.
        inner: f32,
        /// Angle to the axis from which on there is no light, degrees, ≤ 180.
        outer: f32,
        /// How it falls off in between.
        falloff: SpotFalloff,
        /// A picture that it shines through, as wide and high as the cone.
        slide: Option<Slide>,
    },
    /// From a point through a picture.
    Projector {
        /// Where it is, metres.
        position: Vec3,
        /// Unit vector to the middle of the picture.
        direction: Vec3,
        /// Radiant intensity along it, W·sr⁻¹ per channel, where the picture is white.
        intensity: Vec3,
        /// Angle that the picture is wide, degrees, in (0, 180).
        fov: f32,
        /// How many times as wide as high the picture is.
        aspect: f32,
        /// The picture; nothing passes beside it.
        slide: Slide,
    },
    /// Along one direction, or from a disk in the sky.
    Directional {
        /// Unit vector along which light travels.
        direction: Vec3,
        /// Irradiance of a surface across it, W·m⁻² per channel.
        irradiance: Vec3,
        /// Angular diameter, degrees, in [0, 180); 0 is a point in the sky, which is not seen.
        diameter: f32,
    },
}

/// A picture before a light, which is looked up by the direction in which the light leaves, as on a screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slide {
    /// Index into [`super::Description::textures`], or [`device::material::texture::NO_TEXTURE`] if it is white.
    pub texture: u32,
    /// Where its top is, not along the axis of the light.
    pub up: Vec3,
}

impl PunctualKind {
    /// Intensity or irradiance, and the index of the texture that it is multiplied by.
    pub(crate) fn color(&self) -> Color {
        match self {
            Self::Point { intensity, .. } | Self::Spot { intensity, slide: None, .. } => {
                Color::new(*intensity)
            }
            Self::Spot { intensity, slide: Some(slide), .. } | Self::Projector { intensity, slide, .. } => {
                Color { value: *intensity, texture: slide.texture }
            }
            Self::Directional { irradiance, .. } => Color::new(*irradiance),
        }
    }

    /// Intensity or irradiance.
    pub(crate) fn brightness_mut(&mut self) -> &mut Vec3 {
        match self {
            Self::Point { intensity, .. }
            | Self::Spot { intensity, .. }
            | Self::Projector { intensity, .. } => intensity,
            Self::Directional { irradiance, .. } => irradiance,
        }
    }

    /// The picture that the light shines through.
    pub(crate) fn slide_mut(&mut self) -> Option<&mut Slide> {
        match self {
            Self::Spot { slide, .. } => slide.as_mut(),
            Self::Projector { slide, .. } => Some(slide),
            Self::Point { .. } | Self::Directional { .. } => None,
        }
    }

    /// Its type in scene files.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Point { .. } => "point",
            Self::Spot { .. } => "spot",
            Self::Projector { .. } => "projector",
            Self::Directional { .. } => "directional",
        }
    }
}

/// How the intensity of a spot light falls from the inner to the outer angle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpotFalloff {
    /// Smoothly: the square of a part of the way between the cosines, as in glTF.
    #[default]
    Smooth,
    /// Linearly in the angle, as in Mitsuba.
    Linear,
}
