//! What the user wrote: plain data, complete, and validated before anything is built from it.

mod image;
pub mod limits;
mod load;
pub mod metals;
mod obj;
mod read;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use glam::{Affine2, Affine3A, Vec2, Vec3};

pub use crate::input::{Error, Problem, Severity, nearest};
pub(crate) use crate::input::{hint, quoted};
pub use limits::check_size;
pub use load::{Loaded, Overrides, load, load_bytes, material_from_text};
pub(crate) use read::overrides;
pub use read::{DIRECT, MASKINGS, SAMPLERS};

/// A scene as described, with every default filled in and every name resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Image size, sampling and transport settings.
    pub render: RenderSettings,
    /// The camera.
    pub camera: Camera,
    /// Constant radiance arriving from everywhere outside the scene, W·sr⁻¹·m⁻² per channel; zero if none.
    pub environment: Vec3,
    /// Images of the textures.
    pub images: Vec<Image>,
    /// Textures, in the order in which materials refer to them.
    pub textures: Vec<Texture>,
    /// Materials, in the order in which shapes refer to them.
    pub materials: Vec<Material>,
    /// Shapes.
    pub shapes: Vec<Shape>,
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
}

pub use device::bsdf::Features;
pub use device::bsdf::microfacet::{Distribution, Masking};
use device::material::Material as DeviceMaterial;
pub use device::material::texture::{Channel, Format, Wrap};
pub use device::material::{
    Blend, Color, ConductorMaterial, DielectricMaterial, DiffuseMaterial, Facets, GltfMaterial, Header,
    Parameters, PlasticMaterial, PrincipledMaterial, Scalar, Scattering, SheenMaterial,
    ThinDielectricMaterial,
};
pub use device::path::Direct;
pub use device::rng::SamplerKind as Sampler;

/// A pinhole camera.
#[derive(Debug, Clone, PartialEq)]
pub struct Camera {
    /// Where it stands, metres.
    pub position: Vec3,
    /// The point at the centre of the image.
    pub target: Vec3,
    /// The direction that is up in the image.
    pub up: Vec3,
    /// Field of view, degrees, in (0, 180), measured along `fov_axis`.
    pub fov: f32,
    /// Along which side of the image `fov` is measured.
    pub fov_axis: FovAxis,
}

/// Along which side of the image the field of view is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FovAxis {
    /// Horizontally.
    X,
    /// Vertically.
    #[default]
    Y,
}

/// A named material.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Its name in the scene file.
    pub name: String,
    /// Whether the back side scatters as the front does; otherwise it is black, unless light passes.
    pub two_sided: bool,
    /// Index of the material that the back side has instead.
    pub back: Option<usize>,
    /// The part of the surface that is there, in [0, 1]; the rest are holes.
    pub opacity: Scalar,
    /// What the normal follows, if not the shape alone.
    pub normal_map: Option<NormalMap>,
    /// What it does to light.
    pub kind: MaterialKind,
}

impl Material {
    /// A material without holes or maps, the same on both sides.
    pub fn new(name: impl Into<String>, kind: MaterialKind) -> Self {
        Self {
            name: name.into(),
            two_sided: true,
            back: None,
            opacity: Scalar::new(1.0),
            normal_map: None,
            kind,
        }
    }

    /// Indices of the materials that it may turn out to be: the parts of a blend, and its back.
    pub fn references(&self) -> impl Iterator<Item = usize> + use<> {
        let parts = match self.kind {
            MaterialKind::Blend(blend) => blend.materials.map(|i| Some(i as usize)),
            _ => [None; 2],
        };
        parts.into_iter().chain([self.back]).flatten()
    }
}

/// A material without a scene, and the textures that it refers to.
#[derive(Debug, Clone, PartialEq)]
pub struct MaterialAlone {
    /// The material.
    pub material: Material,
    /// As [`Description::images`].
    pub images: Vec<Image>,
    /// As [`Description::textures`].
    pub textures: Vec<Texture>,
}

/// What perturbs normals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalMap {
    /// Index of the texture: of normals, or of heights.
    pub texture: usize,
    /// What it is.
    pub kind: NormalMapKind,
    /// What scales the slopes of normals; heights are metres times this.
    pub scale: f32,
    /// Whether normals that would send reflections into the surface are kept rather than bent.
    pub keep_invalid: bool,
    /// Whether the edges of its shadows stay hard.
    pub hard_terminator: bool,
}

/// Kinds of normal map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormalMapKind {
    /// Normals in tangent space, green upwards in the image.
    Up,
    /// Normals in tangent space, green downwards in the image.
    Down,
    /// Normals in tangent space, green along n × ∂p/∂u, as Mitsuba has it.
    Across,
    /// Heights.
    Bump,
}

/// Makes the kinds of material, each with its parameters.
macro_rules! material_kinds {
    ($($(#[$meta:meta])* $name:ident($Parameters:ty)),* $(,)?) => {
        /// What a material does to light: the parameters as the device has them.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum MaterialKind { $($(#[$meta])* $name($Parameters)),* }

        impl MaterialKind {
            /// The record of the device.
            pub fn record(&self, header: Header) -> DeviceMaterial {
                match self { $(Self::$name(parameters) => DeviceMaterial::new(header, parameters)),* }
            }

            /// What the lobes of the material ask of a kernel.
            pub fn features(&self) -> Features {
                match self { $(Self::$name(parameters) => parameters.features()),* }
            }
        }
    };
}

material_kinds! {
    /// Diffuse reflection.
    Diffuse(DiffuseMaterial),
    /// A conductor, such as a metal.
    Conductor(ConductorMaterial),
    /// A dielectric, such as glass or water, that fills what lies behind the surface.
    Dielectric(DielectricMaterial),
    /// A thin smooth pane of a dielectric.
    ThinDielectric(ThinDielectricMaterial),
    /// A dielectric coat over a diffuse base.
    Plastic(PlasticMaterial),
    /// The sheen of cloth.
    Sheen(SheenMaterial),
    /// The principled model.
    Principled(PrincipledMaterial),
    /// The material of glTF.
    Gltf(GltfMaterial),
    /// A mixture of two others.
    Blend(Blend),
}

impl MaterialKind {
    /// Diffuse reflection of one colour.
    pub fn diffuse(reflectance: Vec3) -> Self {
        Self::Diffuse(DiffuseMaterial::new(Color::new(reflectance)))
    }

    /// The microfacets, where there are any.
    pub fn facets_mut(&mut self) -> Option<&mut Facets> {
        match self {
            Self::Conductor(p) => Some(&mut p.facets),
            Self::Dielectric(p) => Some(&mut p.facets),
            Self::Plastic(p) => Some(&mut p.facets),
            _ => None,
        }
    }

    /// Says how masking and shadowing combine, where there are microfacets.
    pub fn set_masking(&mut self, masking: Masking) {
        match self {
            Self::Principled(p) => p.masking = masking as u32,
            Self::Gltf(p) => p.masking = masking as u32,
            _ => {}
        }
        if let Some(facets) = self.facets_mut() {
            facets.masking = masking as u32;
        }
    }
}

/// An image, how it lies on a surface, and what of it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Texture {
    /// Index into [`Description::images`].
    pub image: usize,
    /// From texture coordinates to the unit square of the image, v = 0 at the top.
    pub image_from_uv: Affine2,
    /// What lies beyond the edges in u and v.
    pub wrap: [Wrap; 2],
    /// What of a texel counts.
    pub channel: Channel,
    /// Whether the nearest texel counts alone.
    pub nearest: bool,
}

/// Texels, row by row from the top.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Width, texels.
    pub width: u32,
    /// Height, texels.
    pub height: u32,
    /// How they are stored.
    pub format: Format,
    /// The words that the format says.
    pub texels: Arc<[u32]>,
}

/// Geometry with a material and a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Its name in the scene file, or what stands in for one in messages (`shapes[3]`).
    pub name: String,
    /// Its geometry, in object space.
    pub geometry: Geometry,
    /// Index into [`Description::materials`].
    pub material: usize,
    /// Radiance emitted from the front, W·sr⁻¹·m⁻² per channel; zero for most.
    pub emission: Vec3,
    /// Whether the back emits as well.
    pub emission_two_sided: bool,
    /// Whether the other side is the front.
    pub flip_normals: bool,
    /// Object to world.
    pub world_from_object: Affine3A,
}

/// Geometry in object space. The front is the side the normal points to. Texture coordinates (u, v) are those of
/// Mitsuba's `rectangle`, `cube` and `sphere`; v = 0 is the top row of an image, as in glTF.
#[derive(Debug, Clone, PartialEq)]
pub enum Geometry {
    /// The square [-1, 1]² in the plane z = 0, normal +z. (u, v) = ((x + 1)/2, (y + 1)/2).
    Quad,
    /// The cube [-1, 1]³, normals outward. Each face has u and v from 0 to 1, growing along
    ///
    /// | face | −x | +x | −y | +y | −z | +z |
    /// |---|---|---|---|---|---|---|
    /// | u | +y | +y | +z | −x | −y | +y |
    /// | v | +z | −z | +x | −z | +x | +x |
    Box,
    /// An analytic sphere, normals outward; its transform must be a similarity. (u, v) = (φ/2π, θ/π): azimuth around
    /// the z axis of object space, from x towards y, and angle to that axis.
    Sphere {
        /// Centre, object space.
        center: Vec3,
        /// Radius, > 0, object space.
        radius: f32,
    },
    /// Triangles; the normal follows from counter-clockwise winding.
    Mesh(TriangleMesh),
}

/// An indexed triangle mesh.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TriangleMesh {
    /// Vertex positions, finite.
    pub positions: Vec<Vec3>,
    /// Unit vertex normals, one a position, or empty for flat shading.
    pub normals: Vec<Vec3>,
    /// Texture coordinates, finite, one pair a position, or empty.
    pub uvs: Vec<Vec2>,
    /// Vertex indices of each triangle, all in range.
    pub triangles: Vec<[u32; 3]>,
}
