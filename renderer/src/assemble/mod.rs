//! Assembles a description into flat data, ready to upload.

mod build;
pub(crate) mod bvh;
mod camera;
mod environment;
mod filter;
mod fingerprint;
mod geometry;
mod guide;
mod light_tree;
mod lights;
mod materials;
mod pictures;
mod placement;
mod shapes;
mod sky;
mod smooth;
mod studio;
#[cfg(test)]
mod tests;
mod textures;
mod variant;

use std::ops::Index;
use std::time::Duration;

use device::bsdf::plastic::Coat;
use device::bvh::Instance;
use device::camera::Camera as DeviceCamera;
use device::features::Features;
use device::light::EmissiveSurface;
use device::material::Material as DeviceMaterial;
use device::path::PathSettings;
use device::rng::SamplerKind;
use device::shape::triangle::TriangleUvs;
use device::shape::{Kind, Primitive};
use glam::Vec2;

pub use environment::ImageEnvironment;
pub use filter::Filter;
pub(crate) use fingerprint::digest;
pub use geometry::Geometry;
pub(crate) use lights::LightSource;
pub use lights::Lights;
pub use materials::{Families, Swatches};
pub use pictures::Pictures;
pub use shapes::ShapeOf;
pub use variant::{Original, share_kernels};

use torrance_scene::limits::available_memory;
use torrance_scene::{
    Camera, Caustics, Clip, Description, Guiding, HiddenNormals, Holes, RenderSettings, Shape,
};
use torrance_text::human_bytes;

use lights::Emitters;
use placement::{Placement, Plan};

/// A scene as the stages want it, owned by the host.
#[derive(Debug, Clone)]
pub struct SceneData {
    /// Surfaces, and the trees in which rays find them.
    pub geometry: Geometry,
    /// Lights.
    pub lights: Lights,
    /// Textures, and the environment if it is an image.
    pub pictures: Pictures,
    /// The pixel filter.
    pub filter: Filter,
    /// Materials.
    pub materials: Vec<DeviceMaterial>,
    /// Coats of the plastics.
    pub coats: Vec<Coat>,
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
    /// What the camera sees by how far it is.
    pub clip: Clip,
    /// The camera.
    pub camera: DeviceCamera,
    /// Settings of the transport.
    pub settings: PathSettings,
    /// How paths are guided.
    pub guiding: GuidingPlan,
    /// Image width, pixels.
    pub width: u32,
    /// Image height, pixels.
    pub height: u32,
    /// Numbers of its parts.
    pub stats: Stats,
}

/// How paths are guided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuidingPlan {
    /// Whether they are.
    pub guiding: Guiding,
    /// Most memory that learning takes, bytes.
    pub memory: u64,
}

/// Numbers of a scene's parts, as programs are told them, too: fields are added, never renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Stats {
    /// Primitives, those of groups once.
    #[serde(flatten)]
    pub primitives: PrimitiveCounts,
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

/// Numbers of primitives, by their shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PrimitiveCounts([usize; Kind::ALL.len()]);

impl PrimitiveCounts {
    /// Whether any is of a shape that not all kernels know.
    fn has_rare(&self) -> bool {
        self.0[Kind::COMMON as usize..].iter().any(|n| *n > 0)
    }
}

impl Index<Kind> for PrimitiveCounts {
    type Output = usize;

    fn index(&self, kind: Kind) -> &usize {
        &self.0[kind as usize]
    }
}

/// A number for each shape.
impl serde::Serialize for PrimitiveCounts {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let name = |kind: Kind| match kind {
            Kind::Triangle => "triangles",
            Kind::Sphere => "spheres",
            Kind::Disk => "disks",
            Kind::Cylinder => "cylinders",
        };
        to.collect_map(Kind::ALL.iter().map(|kind| (name(*kind), self[*kind])))
    }
}

impl<'a> FromIterator<&'a Primitive> for PrimitiveCounts {
    fn from_iter<I: IntoIterator<Item = &'a Primitive>>(prims: I) -> Self {
        let mut counts = Self::default();
        for prim in prims {
            counts.0[prim.kind() as usize] += 1;
        }
        counts
    }
}

/// Bytes that flattening and building the hierarchy take for each primitive, at least: twice those of a primitive.
const BUILD_BYTES: u128 = 2 * size_of::<Primitive>() as u128;

/// Most primitives that are copied because they emit light: with their lights and the table of those they take some GiB.
const MAX_COPIES: u64 = 1 << 24;

/// Reason why a scene cannot be assembled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// More primitives than indices can name.
    #[error("the scene has {0} primitives, more than the {most} that can be indexed", most = bvh::MAX_PRIMITIVES)]
    TooManyPrimitives(usize),
    /// Less memory than building the hierarchy takes.
    #[error(
        "the scene has {primitives} primitives, which would need {} of memory ({BUILD_BYTES} bytes each); there are {} \
         available",
        human_bytes(u128::from(*primitives) * BUILD_BYTES),
        human_bytes(*available)
    )]
    NoMemory {
        /// Primitives, copies included.
        primitives: u64,
        /// Bytes of memory that are available.
        available: u128,
    },
    /// More copies than are made of shapes in groups that emit light.
    #[error(
        "shapes that emit light are copied for each instance of their group, which makes {0} primitives of them here, more \
         than the {MAX_COPIES} that can be: let fewer instances have them, or light the scene by something else"
    )]
    TooManyCopies(u64),
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
    /// The scene without its geometry.
    rest: SceneData,
}

impl Flattened {
    /// Takes what it needs from a validated description.
    ///
    /// # Errors
    /// As [`assemble`].
    pub fn new(description: &Description) -> Result<Self, Error> {
        Ok(Self::planned(description, Plan::new(description)?)?.0)
    }

    /// As [`Flattened::new`], with what emits light.
    fn planned(description: &Description, plan: Plan) -> Result<(Self, Emitters), Error> {
        let records = materials::records(description);
        let wants = materials::wants(description, &records.0);
        let shapes: Vec<&Shape> = description.all_shapes().collect();
        plan.check_memory(&shapes, available_memory())?;
        let mut placement = placement::place(&shapes, &plan.world, &plan.groups, &wants);
        let pictures = Pictures::new(description)?;
        let emitters = Emitters::mark(&mut placement.flat, &shapes);
        let lights = lights::collect(placement.flat.surfaces(&shapes, &emitters), description, &pictures);
        let filter = Filter::new(&description.render);
        let rest = SceneData::without_geometry(description, records, lights, pictures, filter);
        Ok((Self { placement, instances: plan.instances, rest }, emitters))
    }

    /// Builds the hierarchy and the data that depends on it.
    ///
    /// # Errors
    /// As [`assemble`].
    pub fn build(self) -> Result<SceneData, Error> {
        Ok(self.rest.with_geometry(Geometry::new(self.placement, &self.instances)?))
    }
}

impl SceneData {
    /// The scene as its camera has it in an image of another size, pixels.
    pub(crate) fn resized(&self, camera: &Camera, width: u32, height: u32) -> Self {
        let settings = PathSettings { width, ..self.settings };
        Self { camera: camera::record(camera, width, height), settings, width, height, ..self.clone() }
    }

    /// Has the scene rendered by another sampler.
    pub fn set_sampler(&mut self, sampler: SamplerKind) {
        self.settings.sampler = sampler as u32;
        let asks = Features::BLUE_NOISE.when(sampler == SamplerKind::BlueNoise);
        self.features = self.features.without(Features::BLUE_NOISE).and(asks);
    }

    /// A scene of these parts, and of what is made of a description in no time.
    fn without_geometry(
        description: &Description,
        (materials, coats): (Vec<DeviceMaterial>, Vec<Coat>),
        lights: Lights,
        pictures: Pictures,
        filter: Filter,
    ) -> Self {
        let render = &description.render;
        let of_materials = materials::features(description, &materials);
        Self {
            features: of_materials
                .and(lights.features)
                .and(pictures.swatches.features())
                .and(Features::HIDDEN_LIGHTS.when(render.hide_emitters))
                .and(Features::BLUE_NOISE.when(render.sampler == SamplerKind::BlueNoise))
                .and(Features::GUIDING.when(render.guiding == Guiding::On))
                .and(Features::GUIDING.and(Features::WALKS).when(render.caustics == Caustics::Walks))
                .and(Features::CLAMPING.when(render.clamp_indirect.is_some()))
                .and(Features::CLIPPING.when(description.camera.clip != Clip::DEFAULT)),
            families: Families::new(description, &materials),
            geometry: Geometry::default(),
            lights,
            pictures,
            filter,
            materials,
            coats,
            hidden_normals: render.hidden_normals,
            holes: render.holes,
            hides_emitters: render.hide_emitters,
            clip: description.camera.clip,
            camera: camera::record(&description.camera, render.width, render.height),
            settings: settings(render),
            guiding: GuidingPlan { guiding: render.guiding, memory: u64::from(render.guiding_memory) << 20 },
            width: render.width,
            height: render.height,
            stats: Stats::default(),
        }
    }

    /// The scene with the geometry that its lights were collected on.
    fn with_geometry(self, geometry: Geometry) -> Self {
        let Self { mut lights, pictures, features, materials, coats, .. } = self;
        name_leaves(&mut lights.emissive, &geometry.sources);
        let stats = geometry.stats();
        let bytes = size_of_val(&*materials)
            + size_of_val(&*coats)
            + size_of_val(&*pictures.swatches.textures)
            + size_of_val(&*pictures.swatches.texels)
            + size_of_val(&*lights.all)
            + size_of_val(&*lights.table)
            + size_of_val(&*lights.emissive)
            + size_of_val(&*lights.slides)
            + size_of_val(&*lights.tree.nodes)
            + size_of_val(&*lights.tree.places)
            + pictures.environment.as_ref().map_or(0, |environment| environment.bytes());
        let stats = Stats { lights: lights.all.len(), bytes: stats.bytes + bytes, ..stats };
        let features = features
            .and(Features::INSTANCES.when(stats.instances > 0))
            .and(Features::SHAPES.when(stats.primitives.has_rare()));
        let settings = match self.settings.walks {
            0 => self.settings,
            _ => {
                let [x, y, z, radius] = smooth::around(&geometry, &materials);
                // A trial of whether a guide pays is of paths that do not ask it for walks.
                let is_trial = self.guiding.guiding == Guiding::Auto;
                let radius = if radius == 0.0 && is_trial { PathSettings::ASKS_NOBODY } else { radius };
                PathSettings { smooth: [x, y, z, radius], ..self.settings }
            }
        };
        Self { geometry, lights, pictures, features, materials, coats, stats, settings, ..self }
    }

    /// Drops what only back ends need, once one has it, and what takes most of the memory. The rest tells about the scene.
    pub fn drop_geometry(&mut self) {
        let Geometry { nodes, prims, sources, normals, uvs, colors, .. } = &mut self.geometry;
        (*nodes, *prims, *sources) = Default::default();
        (*normals, *uvs, *colors, self.pictures.swatches.texels) = Default::default();
    }
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
        width: render.width,
        clamp_indirect: render.clamp_indirect.unwrap_or(f32::INFINITY),
        walks: u32::from(render.caustics == Caustics::Walks),
        smooth: [0.0; 4],
    }
}
