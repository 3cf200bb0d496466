//! Assembles a description into flat data, ready to upload.

mod build;
mod bvh;
mod camera;
mod environment;
mod filter;
mod fingerprint;
mod geometry;
mod lights;
mod materials;
mod pictures;
mod placement;
mod shapes;
mod sky;
#[cfg(test)]
mod tests;
mod textures;
mod variant;

use std::sync::Arc;
use std::time::Duration;

use device::bsdf::plastic::Coat;
use device::bvh::{Instance, Node};
use device::camera::Camera as DeviceCamera;
use device::features::Features;
use device::filter::{FilterEdge, FilterPart};
use device::light::{AliasEntry, EmissiveSurface, Light};
use device::material::Material as DeviceMaterial;
use device::material::texture::Texture as DeviceTexture;
use device::path::PathSettings;
use device::shape::Primitive;
use device::shape::triangle::{TriangleColors, TriangleNormals, TriangleUvs};
use glam::Vec2;

pub use environment::ImageEnvironment;
pub use materials::Families;
pub use materials::Swatches;
pub use shapes::ShapeOf;
pub use variant::{Original, share_kernels};

use torrance_gpu::backend::Shared;
use torrance_scene::{Description, HiddenNormals, Holes, RenderSettings, Shape};

use filter::Filter;
use geometry::Geometry;
use lights::{Emitters, Lights};
use pictures::Pictures;
use placement::{Placement, Plan};

/// A scene as the stages want it, owned by the host.
#[derive(Debug, Clone)]
pub struct SceneData {
    /// The trees of the hierarchy: that of the world, those of groups that have instances, that of the instances.
    pub nodes: Shared<Node>,
    /// Primitives in leaf order, those that were split once for each piece.
    pub prims: Shared<Primitive>,
    /// Instances of groups in leaf order.
    pub instances: Vec<Instance>,
    /// Root of the tree of the instances, or 0 if there are none.
    pub instances_root: u32,
    /// Which primitive of the scene each of `prims` is.
    pub sources: Shared<u32>,
    /// Index of the shape of each primitive of the scene, in the order of [`Description::all_shapes`].
    pub shape_of: ShapeOf,
    /// Vertex normals and tangents of the triangles that have them.
    pub normals: Shared<TriangleNormals>,
    /// Texture coordinates of the triangles that have `normals`, if any material asks for them.
    pub uvs: Shared<TriangleUvs>,
    /// Colours at the vertices of the same triangles, if any texture asks for them.
    pub colors: Shared<TriangleColors>,
    /// Materials.
    pub materials: Vec<DeviceMaterial>,
    /// Coats of the plastics.
    pub coats: Vec<Coat>,
    /// Textures.
    pub textures: Vec<DeviceTexture>,
    /// The texels of all textures.
    pub texels: Shared<u32>,
    /// Features that kernels need for the scene.
    pub features: Features,
    /// Groups of materials that need the same features.
    pub families: Families,
    /// Shading where shading normals face away from the viewer.
    pub hidden_normals: HiddenNormals,
    /// How paths pass holes in surfaces.
    pub holes: Holes,
    /// Whether the camera does not see lights.
    pub hides_emitters: bool,
    /// Lights: those that are infinitely far and seen last, and of them the environment.
    pub lights: Vec<Light>,
    /// The distribution that chooses among the lights.
    pub light_table: Vec<AliasEntry>,
    /// The pixel filter; empty if it is the pixel itself.
    pub filter: Vec<FilterPart>,
    /// The part of the filter beyond the image's edge, by the pixels between; none if samples may lie there.
    pub filter_edges: Vec<FilterEdge>,
    /// Index of the first light that is infinitely far and seen.
    pub first_infinite: u32,
    /// The surface of each light, if the emission of any varies.
    pub emissive: Vec<EmissiveSurface>,
    /// The environment, if it is an image.
    pub environment: Option<Arc<ImageEnvironment>>,
    /// The camera.
    pub camera: DeviceCamera,
    /// Settings of the transport.
    pub settings: PathSettings,
    /// Image width, pixels.
    pub width: u32,
    /// Image height, pixels.
    pub height: u32,
    /// Numbers of its parts.
    pub stats: Stats,
    /// Hash of the geometry, from which [`SceneData::fingerprint`] goes on.
    hash_of_geometry: u64,
    /// [`fingerprint::digest`] of the texels.
    texels_digest: u64,
}

impl SceneData {
    /// Drops what only back ends need, once one has it, and what takes most of the memory. The rest tells about the scene.
    pub fn drop_geometry(&mut self) {
        (self.nodes, self.prims, self.sources) = Default::default();
        (self.normals, self.uvs, self.colors, self.texels) = Default::default();
    }
}

/// Numbers of a scene's parts, as programs are told them, too: fields are added, never renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Stats {
    /// Triangles, those of groups once.
    pub triangles: usize,
    /// Analytic spheres.
    pub spheres: usize,
    /// Analytic disks.
    pub disks: usize,
    /// Analytic sides of cylinders.
    pub cylinders: usize,
    /// Groups that have instances.
    pub groups: usize,
    /// Instances of groups, those left out that were copied into the world.
    pub instances: usize,
    /// Primitives as they are seen: those of groups once for every instance.
    pub seen: u64,
    /// Lights, the environment included.
    pub lights: usize,
    /// Nodes of the hierarchy.
    #[serde(rename = "bvh_nodes")]
    pub nodes: usize,
    /// Time it took to build the hierarchy.
    #[serde(skip)]
    pub bvh_time: Duration,
    /// Bytes that a back end must hold, without the film.
    pub bytes: usize,
}

/// Reason why a scene cannot be assembled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// More primitives than indices can name.
    #[error("the scene has {0} primitives, more than the {most} that can be indexed", most = bvh::MAX_PRIMITIVES)]
    TooManyPrimitives(usize),
    /// More instances than indices can name.
    #[error("the scene has {0} instances, more than the {most} that can be indexed", most = bvh::MAX_PRIMITIVES)]
    TooManyInstances(usize),
    /// The shape of this name, a sphere or cylinder, emits light and has an instance that is neither.
    #[error(
        "the shape {} emits light, but an instance stretches or shears it, and only whole spheres and cylinders can be \
         lights: make it a mesh",
        torrance_text::quoted(.0)
    )]
    RoundLight(String),
    /// The hierarchy is deeper than traversal can follow.
    #[error(
        "the geometry nests {0} levels deep, more than the {most} that can be traversed: sizes or distances differ by \
         too many orders of magnitude",
        most = device::bvh::STACK_SIZE
    )]
    TooDeep(usize),
    /// More texels than indices can name.
    #[error("the textures have {0} words of texels, more than the {most} that can be indexed", most = u32::MAX)]
    TooManyTexels(usize),
    /// A texture is made of too many others, or of itself: its index.
    #[error("texture {0} is made of more than {most} others, or of itself", most = torrance_scene::MAX_TEXTURE_STEPS)]
    TextureTooComplex(usize),
}

/// Builds what the stages need from a validated description.
pub fn assemble(description: &Description) -> Result<SceneData, Error> {
    Flattened::new(description)?.build()
}

/// A scene before its hierarchy is built. Its description is no longer needed and may be dropped.
#[derive(Debug)]
pub struct Flattened {
    placement: Placement,
    instances: Vec<Instance>,
    emitters: Emitters,
    lights: Lights,
    pictures: Pictures,
    filter: Filter,
    rest: Rest,
}

impl Flattened {
    /// Takes what it needs from a validated description.
    ///
    /// # Errors
    /// As [`assemble`].
    pub fn new(description: &Description) -> Result<Self, Error> {
        Self::planned(description, Plan::new(description)?)
    }

    fn planned(description: &Description, plan: Plan) -> Result<Self, Error> {
        let rest = Rest::new(description);
        let wants = materials::wants(description, &rest.materials);
        let shapes: Vec<&Shape> = description.all_shapes().collect();
        let mut placement = placement::place(&shapes, &plan.world, &plan.groups, &wants);
        let pictures = Pictures::new(description)?;
        let emitters = Emitters::mark(&mut placement.flat, &shapes);
        let lights = lights::collect(placement.flat.surfaces(&shapes, &emitters), description, &pictures);
        let filter = Filter::new(&description.render);
        Ok(Self { placement, instances: plan.instances, emitters, lights, pictures, filter, rest })
    }

    /// Builds the hierarchy and the data that depends on it.
    ///
    /// # Errors
    /// As [`assemble`].
    pub fn build(self) -> Result<SceneData, Error> {
        self.parts().map(|(parts, rest)| SceneData::from_parts(parts, rest))
    }

    fn parts(self) -> Result<(Parts, Rest), Error> {
        let Self { placement, instances, emitters, lights, pictures, filter, rest } = self;
        let geometry = Geometry::new(placement, &instances)?;
        Ok((Parts { geometry, emitters, lights, pictures, filter }, rest))
    }
}

/// Parts of a scene that take long to make from a description, and that scenes share if they can.
#[derive(Debug, Clone)]
struct Parts {
    geometry: Geometry,
    emitters: Emitters,
    lights: Lights,
    pictures: Pictures,
    filter: Filter,
}

/// The rest of a scene, for which a description is as good.
#[derive(Debug)]
struct Rest {
    materials: Vec<DeviceMaterial>,
    coats: Vec<Coat>,
    /// Features that kernels need for the materials.
    features: Features,
    families: Families,
    camera: DeviceCamera,
    render: RenderSettings,
}

impl Rest {
    fn new(description: &Description) -> Self {
        let (materials, coats) = materials::records(description);
        let render = description.render.clone();
        Self {
            features: materials::features(description, &materials),
            families: Families::new(description, &materials),
            materials,
            coats,
            camera: camera::record(&description.camera, render.width, render.height),
            render,
        }
    }
}

impl SceneData {
    fn from_parts(parts: Parts, rest: Rest) -> Self {
        let stats = parts.stats(&rest);
        let Parts { geometry, emitters: _, mut lights, pictures, filter } = parts;
        let Rest { materials, coats, features, families, camera, render } = rest;
        name_leaves(&mut lights.emissive, &geometry.sources);
        Self {
            nodes: geometry.nodes,
            prims: geometry.prims,
            instances: geometry.instances,
            instances_root: geometry.instances_root,
            sources: geometry.sources,
            shape_of: geometry.shape_of,
            normals: geometry.normals,
            uvs: geometry.uvs,
            colors: geometry.colors,
            features: features_of_scene(features.and(lights.features), &stats, &render),
            families,
            hidden_normals: render.hidden_normals,
            holes: render.holes,
            hides_emitters: render.hide_emitters,
            materials,
            coats,
            textures: pictures.swatches.textures,
            texels_digest: pictures.swatches.digest,
            texels: pictures.swatches.texels,
            first_infinite: lights.first_infinite,
            emissive: lights.emissive,
            environment: pictures.environment,
            lights: lights.lights,
            light_table: lights.table,
            filter: filter.parts,
            filter_edges: filter.edges,
            camera,
            settings: settings(&render),
            width: render.width,
            height: render.height,
            stats,
            hash_of_geometry: geometry.hash_of_geometry,
        }
    }
}

impl Parts {
    fn stats(&self, rest: &Rest) -> Stats {
        let Self { lights, pictures, .. } = self;
        let stats = self.geometry.stats();
        let bytes = size_of_val(&*rest.materials)
            + size_of_val(&*rest.coats)
            + size_of_val(&*pictures.swatches.textures)
            + size_of_val(&*pictures.swatches.texels)
            + size_of_val(&*lights.lights)
            + size_of_val(&*lights.table)
            + size_of_val(&*lights.emissive)
            + pictures.environment.as_ref().map_or(0, |environment| environment.bytes());
        Stats { lights: lights.lights.len(), bytes: stats.bytes + bytes, ..stats }
    }
}

/// Features that kernels need for a scene, if its materials and lights need `of_parts`.
fn features_of_scene(of_parts: Features, stats: &Stats, render: &RenderSettings) -> Features {
    of_parts
        .and(Features::INSTANCES.when(stats.instances > 0))
        .and(Features::SHAPES.when(stats.disks + stats.cylinders > 0))
        .and(Features::HIDDEN_LIGHTS.when(render.hide_emitters))
}

/// Names the primitives of emissive surfaces, until then those of the scene, by one of their places in the leaves.
fn name_leaves(surfaces: &mut [EmissiveSurface], sources: &[u32]) {
    if surfaces.is_empty() {
        return;
    }
    let mut leaf_of = vec![0; sources.iter().max().map_or(0, |last| *last as usize + 1)];
    for (leaf, source) in sources.iter().enumerate() {
        leaf_of[*source as usize] = leaf as u32;
    }
    for surface in surfaces {
        surface.prim = leaf_of[surface.prim as usize];
    }
}

/// Texture coordinates of every primitive of a scene that has been assembled, in its order; zero where there are none to
/// speak of, as on spheres, on which they follow from the point.
pub fn texture_coordinates(description: &Description) -> Vec<TriangleUvs> {
    let wants = materials::VertexAttributes { tangents: false, uvs: true, colors: false };
    let wants = vec![wants; description.materials.len()];
    let shapes: Vec<&Shape> = description.all_shapes().collect();
    let place = |plan: Plan| placement::place(&shapes, &plan.world, &plan.groups, &wants).flat;
    let flat = Plan::new(description).map(place).unwrap_or_default();
    let uvs = |prim: &Primitive| match prim.normals {
        Primitive::FLAT => TriangleUvs::new([Vec2::ZERO; 3]),
        index => flat.uvs[index as usize],
    };
    flat.prims.iter().map(uvs).collect()
}

fn settings(render: &RenderSettings) -> PathSettings {
    PathSettings {
        max_depth: render.max_depth,
        rr_depth: render.rr_depth.unwrap_or(u32::MAX),
        direct: render.direct as u32,
        sampler: render.sampler as u32,
        seed: render.seed,
    }
}
