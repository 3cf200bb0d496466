//! Scenes as plain data: every default filled in, every name resolved, no file format known.

pub(crate) mod affine;
mod bounds;
mod camera;
pub(crate) mod contents;
pub(crate) mod framing;
pub mod key;
mod light;
pub mod limits;
pub(crate) mod material;
pub mod metals;
mod render;
mod shape;
pub(crate) mod texture;

use std::collections::BTreeMap;

pub use affine::is_similarity;
pub use bounds::Bounds;
pub use camera::*;
pub use contents::{CameraContents, Contents, LightContents, Triangles};
pub use light::*;
pub use material::*;
pub use render::*;
pub use shape::*;
pub use texture::*;

/// A scene as described, with every default filled in and every name resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Image size, sampling and transport settings.
    pub render: RenderSettings,
    /// The camera.
    pub camera: Camera,
    /// Light that arrives from outside the scene.
    pub environment: Option<Environment>,
    /// Where light of an environment that is no constant comes into rooms.
    pub portals: Vec<Portal>,
    /// Light from points and directions.
    pub lights: Vec<PunctualLight>,
    /// Images of the textures.
    pub images: Vec<Image>,
    /// Textures, in the order in which materials refer to them.
    pub textures: Vec<Texture>,
    /// The names that the scene gives to textures, by their indices; the others have none.
    pub texture_names: BTreeMap<usize, String>,
    /// Materials, in the order in which shapes refer to them.
    pub materials: Vec<Material>,
    /// Shapes that are in one place.
    pub shapes: Vec<Shape>,
    /// Shapes that are in many.
    pub groups: Vec<Group>,
    /// The places of groups.
    pub instances: Vec<Instance>,
}

impl Description {
    /// Whether anything shines: a shape, a light, or what is around the scene.
    pub fn has_light(&self) -> bool {
        self.environment.is_some() || !self.lights.is_empty() || self.all_shapes().any(Shape::emits)
    }

    /// The shapes that are in one place, and then those of all groups.
    pub fn all_shapes(&self) -> impl Iterator<Item = &Shape> {
        self.shapes.iter().chain(self.groups.iter().flat_map(|group| &group.shapes))
    }
}
