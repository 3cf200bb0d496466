//! What the user wrote: plain data, complete, and validated before anything is built from it.

mod error;
pub mod limits;
mod load;
mod obj;
mod read;
mod suggest;
#[cfg(test)]
mod tests;

use glam::{Affine3A, Vec2, Vec3};

pub use error::{Error, Problem, Severity};
pub use limits::check_size;
pub use load::{Loaded, Overrides, load, load_bytes};
pub use read::{DIRECT, MASKINGS, SAMPLERS};
pub use suggest::nearest;

/// A scene as described, with every default filled in and every name resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Image size, sampling and transport settings.
    pub render: RenderSettings,
    /// The camera.
    pub camera: Camera,
    /// Constant radiance arriving from everywhere outside the scene, W·sr⁻¹·m⁻² per channel; zero if none.
    pub environment: Vec3,
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

pub use device::bsdf::microfacet::{Distribution, Masking};
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
    /// Whether the back side scatters as the front does; otherwise it is black.
    pub two_sided: bool,
    /// What it does to light.
    pub kind: MaterialKind,
}

impl Material {
    /// Whether light is scattered from behind: it leaves a dielectric there, whatever `two_sided` says.
    pub const fn scatters_behind(&self) -> bool {
        match self.kind {
            MaterialKind::Dielectric { .. } | MaterialKind::ThinDielectric { .. } => true,
            MaterialKind::Diffuse { .. } | MaterialKind::Conductor { .. } => self.two_sided,
        }
    }

    /// Whether it scatters by the direction along the surface as well, so that it matters where u grows.
    pub const fn needs_tangents(&self) -> bool {
        match self.kind {
            MaterialKind::Conductor { alpha, .. } | MaterialKind::Dielectric { alpha, .. } => {
                alpha.x != alpha.y
            }
            MaterialKind::Diffuse { .. } | MaterialKind::ThinDielectric { .. } => false,
        }
    }
}

/// What a material does to light.
#[derive(Debug, Clone, PartialEq)]
pub enum MaterialKind {
    /// Lambertian reflection.
    Diffuse {
        /// Albedo per channel, in [0, 1].
        reflectance: Vec3,
    },
    /// A conductor, such as a metal.
    Conductor {
        /// Real part of the index of refraction per channel, relative to the outside.
        eta: Vec3,
        /// Imaginary part (extinction) per channel, ≥ 0.
        k: Vec3,
        /// Roughness parameters along u and v, in [0, 1]; both 0 is smooth.
        alpha: Vec2,
        /// Statistics of the microfacets.
        distribution: Distribution,
    },
    /// A dielectric, such as glass or water, that fills what lies behind the surface.
    Dielectric {
        /// Index of refraction relative to the outside, > 0.
        ior: f32,
        /// Roughness parameters along u and v, in [0, 1]; both 0 is smooth.
        alpha: Vec2,
        /// Statistics of the microfacets.
        distribution: Distribution,
    },
    /// A thin smooth pane of a dielectric.
    ThinDielectric {
        /// Index of refraction relative to the outside, > 0.
        ior: f32,
    },
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
