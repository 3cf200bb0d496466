//! What the user wrote: plain data, complete, and validated before anything is built from it.

mod affine;
mod bounds;
mod camera;
mod cie;
mod contents;
mod files;
mod framing;
mod gltf;
mod image;
mod kept;
mod light;
pub mod limits;
mod load;
mod material;
mod mesh;
pub mod metals;
mod mitsuba;
mod obj;
mod paths;
pub mod ply;
mod read;
mod shape;
#[cfg(test)]
mod tests;
mod texture;
mod write;

use std::collections::BTreeMap;

pub(crate) use affine::is_similarity;
pub use bounds::Bounds;
pub use camera::*;
pub use contents::{CameraContents, Contents, LightContents, Triangles};
pub use files::{Files, FilesBelow};
pub use light::*;
pub use material::*;
pub use shape::*;
pub use texture::*;

pub use crate::input::{Error, Problem, Severity, nearest};
pub(crate) use crate::input::{hint, quoted};
pub use device::path::Direct;
pub use device::rng::SamplerKind as Sampler;
pub use limits::check_size;
pub use load::{Loaded, Options, Overrides, load, load_bytes, load_with, material_from_text};
pub use paths::{Parameter, SceneValues};
pub(crate) use paths::{path_and_value, says_all_of, split as keys_of_path};
pub use read::keys::{page as reference_page, schema as json_schema};
pub use read::{DIRECT, MASKINGS, SAMPLERS};
pub(crate) use read::{overrides, toml_key};
pub use write::{Asset, Extent, Written, canonical, write};

/// The scene of a test, which refers to no files.
#[cfg(test)]
pub(crate) fn described(text: &str) -> Description {
    let loaded = load_bytes("scene.toml", text.as_bytes(), &Files::new("", false));
    loaded.unwrap_or_else(|e| panic!("{text}: {e}")).description
}

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

/// Settings of a render; the command line overrides what the scene file says.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderSettings {
    /// Image width, pixels, ≥ 1.
    pub width: u32,
    /// Image height, pixels, ≥ 1.
    pub height: u32,
    /// Samples per pixel, ≥ 1.
    pub spp: u32,
    /// Seed of the sampler.
    pub seed: u32,
    /// Longest path: 1 shows emission only, 2 adds one bounce, and so on.
    pub max_depth: u32,
    /// Number of bounces after which Russian roulette may end a path; `None` never does.
    pub rr_depth: Option<u32>,
    /// Which points the sampler yields.
    pub sampler: Sampler,
    /// How direct light is estimated.
    pub direct: Direct,
    /// Masking–shadowing of microfacets.
    pub masking: Masking,
    /// What shades where the interpolated normal of a mesh faces away from the viewer.
    pub hidden_normals: HiddenNormals,
    /// What passing a hole in a surface is.
    pub holes: Holes,
    /// Whether the camera does not see lights, which light the scene all the same: it looks through surfaces that emit,
    /// and beyond the scene all is black.
    pub hide_emitters: bool,
    /// What a pixel is the mean of.
    pub filter: PixelFilter,
    /// Whether the mean is of what lies beyond the edge of the image too, where the filter reaches there.
    pub sample_border: bool,
}

/// What passing a hole in a surface is to paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Holes {
    /// Nothing.
    #[default]
    Pass,
    /// Scattering straight on, as for Mitsuba's `path`: it makes paths longer, and light of points, spots and directions
    /// does not come through.
    Scatter,
}

/// What shades where the interpolated normal of a mesh faces away from the viewer, as at the silhouettes of coarse meshes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u32)]
pub enum HiddenNormals {
    /// The normal of the triangle.
    #[default]
    Geometric,
    /// That normal all the same, as in Mitsuba: it decides which side is seen, so that opaque materials are black there.
    Keep,
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
