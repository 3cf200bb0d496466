//! The render loop: passes, stopping rule, progress, cancellation. It names no back end.

use std::time::{Duration, Instant};

use device::bsdf::plastic::Coat;
use device::bsdf::{Basic, Compiled, Features, Glass};
use device::bvh::Node;
use device::film::FilmPixel;
use device::light::{AliasEntry, Light};
use device::material::Material;
use device::material::texture::Texture;
use device::path::MegakernelArgs;
use device::path::stage::{Stage, stages};
use device::scene::{SceneView, VertexColumns};
use device::shape::Primitive;
use device::shape::triangle::{TriangleNormals, TriangleUvs};

use crate::assemble::SceneData;
use crate::backend::{Backend, Buffer, Error};
use crate::film::Film;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Samples per pixel at most, ≥ 1.
    pub spp: u32,
    /// Time at most, but for a first sample of every pixel.
    pub time: Option<Duration>,
}

/// How far a render is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Samples taken of every pixel.
    pub spp: u32,
    /// Samples per pixel wanted at most.
    pub spp_target: u32,
    /// Paths traced.
    pub paths: u64,
    /// Pixels of the image.
    pub pixels: u64,
    /// Time since the first pass began.
    pub elapsed: Duration,
    /// Longest time that one launch took: how long cancellation, or a display on the same GPU, may have to wait.
    pub longest_launch: Duration,
}

impl Progress {
    fn new(spp_target: u32, pixels: u64) -> Self {
        let (elapsed, longest_launch) = (Duration::ZERO, Duration::ZERO);
        Self { spp: 0, spp_target, paths: 0, pixels, elapsed, longest_launch }
    }

    /// `share` of a pass is done.
    fn advance(&mut self, pass: &Pass, share: f64) {
        let spp = f64::from(self.spp) + share * f64::from(pass.samples);
        self.paths = (spp * self.pixels as f64).round() as u64;
        if share == 1.0 {
            self.spp += pass.samples;
        }
    }

    /// Samples per pixel on average, the unfinished pass included.
    pub fn mean_spp(&self) -> f64 {
        self.paths as f64 / self.pixels as f64
    }
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Take the next pass.
    Continue,
    /// Stop after this one and keep what is rendered.
    Stop,
}

/// A finished, or interrupted, render.
#[derive(Debug, Clone)]
pub struct Rendered {
    /// The film.
    pub film: Film,
    /// How far it came.
    pub progress: Progress,
    /// Whether the observer stopped it before the budget was spent.
    pub interrupted: bool,
}

/// A scene in the memory of a back end.
pub struct Uploaded<B: Backend> {
    nodes: B::Buf<Node>,
    prims: B::Buf<Primitive>,
    sources: B::Buf<u32>,
    columns: B::Buf<f32>,
    normals: B::Buf<TriangleNormals>,
    uvs: B::Buf<TriangleUvs>,
    materials: B::Buf<Material>,
    coats: B::Buf<Coat>,
    textures: B::Buf<Texture>,
    texels: B::Buf<u32>,
    lights: B::Buf<Light>,
    light_table: B::Buf<AliasEntry>,
}

impl<B: Backend> Uploaded<B> {
    /// Copies a scene to a back end.
    pub fn new(backend: &mut B, scene: &SceneData) -> Result<Self, Error> {
        let columns = if B::READS_COLUMNS { vertex_columns(&scene.prims) } else { Vec::new() };
        Ok(Self {
            nodes: backend.upload("BVH nodes", &scene.nodes)?,
            prims: backend.upload("primitives", &scene.prims)?,
            sources: backend.upload("sources of primitives", &scene.sources)?,
            columns: backend.upload("vertex columns", &columns)?,
            normals: backend.upload("normals", &scene.normals)?,
            uvs: backend.upload("texture coordinates", &scene.uvs)?,
            materials: backend.upload("materials", &scene.materials)?,
            coats: backend.upload("coats", &scene.coats)?,
            textures: backend.upload("textures", &scene.textures)?,
            texels: backend.upload("texels", &scene.texels)?,
            lights: backend.upload("lights", &scene.lights)?,
            light_table: backend.upload("light table", &scene.light_table)?,
        })
    }

    /// What stages see of it, valid as long as `self` is.
    pub fn view(&self, scene: &SceneData) -> SceneView {
        SceneView {
            nodes: self.nodes.ptr(),
            prims: self.prims.ptr(),
            sources: self.sources.ptr(),
            columns: VertexColumns { first: self.columns.ptr(), len: (self.columns.len() / 9) as u64 },
            normals: self.normals.ptr(),
            uvs: if scene.uvs.is_empty() { std::ptr::null() } else { self.uvs.ptr() },
            materials: self.materials.ptr(),
            coats: self.coats.ptr(),
            textures: if scene.textures.is_empty() { std::ptr::null() } else { self.textures.ptr() },
            texels: self.texels.ptr(),
            lights: self.lights.ptr(),
            light_table: self.light_table.ptr(),
            light_count: scene.lights.len() as u32,
            environment: scene.environment.unwrap_or(Primitive::NO_LIGHT),
            has_holes: scene.features.contains(Features::CUTOUTS).into(),
            reserved: 0,
            camera: scene.camera,
        }
    }
}

/// The columns that [`VertexColumns`] describes.
fn vertex_columns(prims: &[Primitive]) -> Vec<f32> {
    let len = prims.len() + VertexColumns::PADDING;
    let mut columns = vec![f32::NAN; 9 * len];
    for (i, prim) in prims.iter().enumerate().filter(|(_, prim)| !prim.is_sphere()) {
        for (k, x) in [prim.a, prim.b, prim.c].into_iter().flat_map(|v| v.to_array()).enumerate() {
            columns[k * len + i] = x;
        }
    }
    columns
}

/// Renders until the budget is spent or `observe`, called after every launch, says to stop.
///
/// The work of a pass (some samples of every pixel) is cut into launches of about a tenth of a second, so that
/// cancellation is prompt and no watchdog of a display ever sees a long one.
pub fn render<B: Backend>(
    backend: &mut B,
    scene: &SceneData,
    budget: Budget,
    observe: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Rendered, Error> {
    match Kernel::of(scene) {
        Kernel::Basic => render_by::<B, stages::megakernel_basic>(backend, scene, budget, observe),
        Kernel::Glass => render_by::<B, stages::megakernel_glass>(backend, scene, budget, observe),
        Kernel::Full => render_by::<B, stages::megakernel>(backend, scene, budget, observe),
    }
}

/// Makes ready what [`render`] is going to launch, which would otherwise take its time then.
pub fn prepare<B: Backend>(backend: &mut B, scene: &SceneData) -> Result<(), Error> {
    match Kernel::of(scene) {
        Kernel::Basic => backend.prepare::<stages::megakernel_basic>(),
        Kernel::Glass => backend.prepare::<stages::megakernel_glass>(),
        Kernel::Full => backend.prepare::<stages::megakernel>(),
    }
}

/// The megakernels, by what they know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kernel {
    Basic,
    Glass,
    Full,
}

impl Kernel {
    /// The smallest that knows the scene's materials: on a GPU, the others are slower.
    const fn of(scene: &SceneData) -> Self {
        if Basic::FEATURES.contains(scene.features) {
            Self::Basic
        } else if Glass::FEATURES.contains(scene.features) {
            Self::Glass
        } else {
            Self::Full
        }
    }
}

/// [`render`], by a megakernel that knows the features of the scene.
fn render_by<B: Backend, S: Stage<Args = MegakernelArgs>>(
    backend: &mut B,
    scene: &SceneData,
    budget: Budget,
    observe: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Rendered, Error> {
    backend.prepare::<S>()?;
    let uploaded = Uploaded::new(backend, scene)?;
    let pixels = scene.width as usize * scene.height as usize;
    let layers = layers(backend.parallelism(), scene, budget.spp);
    let film = backend.zeroed::<FilmPixel>("film", pixels * layers as usize)?;
    let mut args = MegakernelArgs {
        scene: uploaded.view(scene),
        film: film.ptr(),
        settings: scene.settings,
        width: scene.width,
        height: scene.height,
        layers,
        first_sample: 0,
        samples: 0,
        first_invocation: 0,
        invocations: 0,
    };
    let start = Instant::now();
    let mut progress = Progress::new(budget.spp, pixels as u64);
    let mut pace = Pace::new(backend.parallelism());
    let mut interrupted = false;
    let invocations = MegakernelArgs::invocations_per_layer(scene.width, scene.height) * layers;
    let in_time = || budget.time.is_none_or(|time| start.elapsed() < time);
    'passes: while progress.spp < budget.spp && in_time() {
        let pass = Pass::new(pace.paths, invocations, layers, budget.spp - progress.spp);
        (args.first_sample, args.samples, args.first_invocation) = (progress.spp, pass.samples, 0);
        while args.first_invocation < invocations {
            args.invocations = pass.invocations(pace.paths).min(invocations - args.first_invocation);
            let launched = Instant::now();
            // SAFETY: `uploaded` and `film` hold what the arguments point to, and outlive the wait below.
            unsafe { backend.launch::<S>(args)? };
            backend.synchronize()?;
            let took = launched.elapsed();
            pace.learn(pass.paths(args.invocations), took);
            args.first_invocation += args.invocations;
            progress.advance(&pass, f64::from(args.first_invocation) / f64::from(invocations));
            progress.elapsed = start.elapsed();
            progress.longest_launch = progress.longest_launch.max(took);
            if observe(&progress) == Control::Stop && progress.spp < budget.spp {
                interrupted = true;
                break 'passes;
            }
            if progress.spp > 0 && !in_time() {
                break 'passes;
            }
        }
    }
    let film = Film::from_layers(scene.width, scene.height, &backend.download(&film)?);
    Ok(Rendered { film, progress, interrupted })
}

/// How many films to spread the samples of a pixel over, for the image alone to fill the machine.
fn layers(parallelism: usize, scene: &SceneData, spp: u32) -> u32 {
    let pixels = scene.width as usize * scene.height as usize;
    (parallelism.div_ceil(pixels) as u32).clamp(1, 64).min(spp)
}

/// Size of the launches, learnt from how long they take.
struct Pace {
    /// Paths that a launch should trace.
    paths: f64,
}

impl Pace {
    const TARGET: Duration = Duration::from_millis(100);

    /// Begins with a few paths for every thread, since nothing is known of the scene yet.
    fn new(parallelism: usize) -> Self {
        Self { paths: parallelism as f64 * 8.0 }
    }

    fn learn(&mut self, paths: f64, took: Duration) {
        let ideal = paths * Self::TARGET.as_secs_f64() / took.as_secs_f64().max(1e-6);
        // Parts of an image differ in cost: grow with care, shrink at once.
        self.paths = ideal.min(self.paths * 4.0).max(32.0);
    }
}

/// One pass over the image.
struct Pass {
    samples: u32,
    layers: u32,
}

impl Pass {
    /// As many samples as make up one launch, whole multiples of `layers` if possible.
    fn new(paths: f64, invocations: u32, layers: u32, remaining: u32) -> Self {
        let per_invocation = (paths / f64::from(invocations)).floor().clamp(1.0, 1024.0) as u32;
        Self { samples: per_invocation.saturating_mul(layers).min(remaining), layers }
    }

    /// Paths of one invocation, on average.
    fn per_invocation(&self) -> f64 {
        f64::from(self.samples) / f64::from(self.layers)
    }

    fn paths(&self, invocations: u32) -> f64 {
        self.per_invocation() * f64::from(invocations)
    }

    /// Invocations that trace about `paths`, in whole tiles.
    fn invocations(&self, paths: f64) -> u32 {
        let n = (paths / self.per_invocation()).clamp(32.0, f64::from(u32::MAX / 2)) as u32;
        n.next_multiple_of(128)
    }
}
