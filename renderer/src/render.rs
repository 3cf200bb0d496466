//! The render loop: passes, stopping rule, progress, cancellation. It names no back end.

pub mod aov;
mod films;
mod first_hits;
mod noise;
mod pace;
mod placement;
mod provenance;
mod replay;
mod session;
pub mod stage_chart;
mod stage_times;
mod summary;
mod tracer;
mod uploaded;
mod wavefront;

use std::time::{Duration, Instant};

use device::bsdf::{Basic, Glass};
use device::features::Compiled;
use device::path::stage::{Stage, stages};
use device::path::{MegakernelArgs, SampleArgs};
use device::scene::SceneView;
use device::shape::triangle::TriangleUvs;
use torrance_gpu::backend::{Backend, Buffer, Error};
use torrance_gpu::primitives::Primitives;
use torrance_image::film::Film;

use crate::assemble::SceneData;

pub use films::film_of_layers;
pub use first_hits::{FirstHit, FirstHits};
pub use placement::Shortage;
pub use provenance::{RenderRecord, provenance};
pub use replay::{Dump, DumpedColumn, Replay};
pub(crate) use session::Session;
pub use stage_times::{Items, StageTimes, Step, StepTime};
pub use summary::{IntegratorSummary, Seconds, StageSummary, Summary};
pub use tracer::{Contestant, Integrator, IntegratorChoice};
pub use uploaded::Uploaded;
pub use wavefront::{Paths, When};

use films::Films;
use noise::Looks;
use pace::{Pace, Pass, layers, least_samples};
use placement::{Demand, Placement};
use tracer::{Launch, Tracer};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Samples per pixel at most, ≥ 1.
    pub spp: u32,
    /// Time at most, but for a first sample of every pixel.
    pub time: Option<Duration>,
    /// Stop as soon as the relative standard error of the image ([`torrance_image::film::Statistics`]) is no larger, > 0. Looks at it
    /// are few, and each copies the film from the machine. What has no noise yet, as a black image, is done at once. It is
    /// estimated from the samples that the image is made of, so that an image that stops early by chance is a little too
    /// sure of itself: less than that error itself, where many pixels make up the estimate.
    pub noise: Option<f64>,
}

impl Budget {
    /// This many samples per pixel, however long they take.
    pub const fn of_samples(spp: u32) -> Self {
        Self { spp, time: None, noise: None }
    }
}

/// How far a render is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Progress {
    /// Samples taken of every pixel.
    pub spp: u32,
    /// Samples per pixel wanted at most; until a noise is reached, at the next look at it.
    pub spp_target: u32,
    /// Paths traced.
    pub paths: u64,
    /// Pixels of the image.
    pub pixels: u64,
    /// Time since the first pass began.
    pub elapsed: Duration,
    /// Time that copying the scene to the machine took, before that.
    pub upload: Duration,
    /// Longest time that one launch took: how long cancellation, or a display on the same GPU, may have to wait.
    pub longest_launch: Duration,
    /// What is in the host's memory for want of room in the machine's.
    pub shortage: Shortage,
}

impl Progress {
    /// `share` of a pass is done.
    fn advance(&mut self, pass: &Pass, share: f64) {
        let spp = f64::from(self.spp) + share * f64::from(pass.samples);
        self.paths = (spp * self.pixels as f64).round() as u64;
        if share == 1.0 {
            self.spp += pass.samples;
        }
    }

    /// Millions of paths per second, so far.
    pub fn mpaths_per_s(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { self.paths as f64 / seconds * 1e-6 } else { 0.0 }
    }

    /// Samples per pixel on average, the unfinished pass included.
    pub fn mean_spp(&self) -> f64 {
        self.paths as f64 / self.pixels as f64
    }
}

/// How to render, and which films to keep beside the image, of the same samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Options<'a> {
    /// How the paths of the image are traced. Those of what is kept beside it are the megakernel's.
    pub integrator: Integrator,
    /// [`Rendered::stage_times`].
    pub stage_times: bool,
    /// [`Rendered::shorter`].
    pub shorter: bool,
    /// [`Rendered::first_hits`], with the texture coordinates of these, one element for every primitive of the scene
    /// ([`crate::assemble::texture_coordinates`]), or none for them to be left out.
    pub first_hits: Option<&'a [TriangleUvs]>,
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
    /// The films of paths of at most one and two segments, if they were asked for: what is emitted towards the
    /// camera, and with it what has scattered once.
    pub shorter: Option<[Film; 2]>,
    /// First hits of the camera rays, if they were asked for.
    pub first_hits: Option<FirstHits>,
    /// Stage times, if they were asked for and the integrator has stages.
    pub stage_times: Option<StageTimes>,
    /// How far it came.
    pub progress: Progress,
    /// Whether the observer stopped it before the budget was spent.
    pub interrupted: bool,
    /// The integrator that traced its paths.
    pub integrator: IntegratorChoice,
}

impl Rendered {
    /// Whether not a single sample was taken.
    pub const fn is_empty(&self) -> bool {
        self.progress.paths == 0
    }
}

/// A scene to render, and how.
pub(crate) struct Job<'a> {
    pub(crate) scene: &'a SceneData,
    pub(crate) budget: Budget,
    pub(crate) options: Options<'a>,
    pub(crate) observe: &'a mut dyn FnMut(&Progress) -> Control,
}

/// [`crate::Machine::render`].
pub(crate) fn render_with<B: Primitives>(backend: &mut B, job: Job<'_>) -> Result<Rendered, Error> {
    let uploaded = upload(backend, job.scene, job.options, job.budget.spp)?;
    render_uploaded(backend, job, uploaded)
}

/// [`crate::Machine::render_last`].
pub(crate) fn render_last<B: Primitives>(
    backend: &mut B,
    scene: &mut SceneData,
    budget: Budget,
    options: Options<'_>,
    observe: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Rendered, Error> {
    let uploaded = upload(backend, scene, options, budget.spp)?;
    scene.drop_geometry();
    render_uploaded(backend, Job { scene, budget, options, observe }, uploaded)
}

/// Prepares a back end for a scene, and copies the scene there, which takes the time that is returned.
fn upload<B: Primitives>(
    backend: &mut B,
    scene: &SceneData,
    options: Options<'_>,
    spp: u32,
) -> Result<(Uploaded<B>, Duration), Error> {
    prepare(backend, scene, options)?;
    let begin = Instant::now();
    let uploaded = upload_now(backend, scene, options, spp)?;
    backend.synchronize()?;
    Ok((uploaded, begin.elapsed()))
}

/// Copies a scene to a back end, and what a machine's memory has no room for to where it can read it.
fn upload_now<B: Primitives>(
    backend: &mut B,
    scene: &SceneData,
    options: Options<'_>,
    spp: u32,
) -> Result<Uploaded<B>, Error> {
    let placement = Placement::new(backend, scene, demand(backend, scene, options, spp));
    Uploaded::placed(backend, scene, placement)
}

/// Bytes that a render takes beside its scene.
fn demand<B: Primitives>(backend: &B, scene: &SceneData, options: Options<'_>, spp: u32) -> Demand {
    let films = Films::<B>::bytes(scene, options, layers(backend.parallelism(), scene, spp));
    options.integrator.demand(scene, spp, films)
}

/// Bytes that a render takes of the memory of a machine that has plenty.
pub(crate) fn bytes_wanted<B: Primitives>(
    backend: &B,
    scene: &SceneData,
    options: Options<'_>,
    spp: u32,
) -> u64 {
    let films = demand(backend, scene, options, spp).films;
    placement::bytes(scene) + films + options.integrator.bytes_wanted(scene, spp)
}

fn render_uploaded<B: Primitives>(
    backend: &mut B,
    job: Job<'_>,
    (uploaded, upload): (Uploaded<B>, Duration),
) -> Result<Rendered, Error> {
    let scene = job.scene;
    let mut run = Run::new(backend, &job)?;
    let begun = Progress { upload, shortage: uploaded.shortage(), ..Progress::default() };
    let RunResult { films, progress, interrupted } = run.render(backend, uploaded.view(scene), job, begun)?;
    // Developing takes memory again.
    drop(uploaded);
    let integrator = run.tracer.choice();
    let stage_times = run.tracer.times();
    Ok(Rendered { stage_times, ..films.develop(backend, scene, progress, (interrupted, integrator))? })
}

/// Integrator and launch sizes, which the next render of a similar scene can go on with.
struct Run<B: Primitives> {
    tracer: Tracer<B>,
    pace: Pace,
}

/// The films and progress of a finished run.
struct RunResult<B: Backend> {
    films: Films<B>,
    progress: Progress,
    interrupted: bool,
}

/// Makes ready what [`render_with`] is going to launch, which would otherwise take its time then.
pub(crate) fn prepare<B: Primitives>(
    backend: &mut B,
    scene: &SceneData,
    options: Options<'_>,
) -> Result<(), Error> {
    backend.specialize(scene.features);
    if options.first_hits.is_some() {
        backend.prepare::<stages::first_hit>()?;
    }
    if let Integrator::Wavefront(paths) | Integrator::Fastest(paths) = options.integrator {
        wavefront::prepare(backend, scene, paths)?;
    }
    if matches!(options.integrator, Integrator::Wavefront(_)) && !options.shorter {
        return Ok(()); // The megakernel has nothing to do.
    }
    match Kernel::for_scene(scene) {
        Kernel::Basic => backend.prepare::<stages::megakernel_basic>(),
        Kernel::Glass => backend.prepare::<stages::megakernel_glass>(),
        Kernel::Full => backend.prepare::<stages::megakernel>(),
    }
}

/// Arguments that take no samples yet, of a scene that `view` shows, into a film.
pub(crate) fn no_samples<P>(scene: &SceneData, view: SceneView, film: *mut P) -> SampleArgs<P> {
    SampleArgs {
        scene: view,
        film,
        settings: scene.settings,
        width: scene.width,
        height: scene.height,
        layers: 1,
        first_sample: 0,
        samples: 0,
        first_invocation: 0,
        invocations: 0,
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
    const fn for_scene(scene: &SceneData) -> Self {
        if Basic::FEATURES.contains(scene.features) {
            Self::Basic
        } else if Glass::FEATURES.contains(scene.features) {
            Self::Glass
        } else {
            Self::Full
        }
    }
}

impl<B: Primitives> Run<B> {
    fn new(backend: &mut B, job: &Job<'_>) -> Result<Self, Error> {
        let (options, spp) = (job.options, job.budget.spp);
        let films = demand(backend, job.scene, options, spp).films;
        let tracer = Tracer::new(backend, job.scene, options, spp, films)?;
        let pace = Pace::new(backend.parallelism(), &tracer);
        Ok(Self { tracer, pace })
    }

    /// Renders by the megakernel that suits the scene, which `view` shows in the memory of the back end, and which has been
    /// copied there when the render has `begun`.
    fn render(
        &mut self,
        backend: &mut B,
        view: SceneView,
        job: Job<'_>,
        begun: Progress,
    ) -> Result<RunResult<B>, Error> {
        match Kernel::for_scene(job.scene) {
            Kernel::Basic => self.render_by::<stages::megakernel_basic>(backend, view, job, begun),
            Kernel::Glass => self.render_by::<stages::megakernel_glass>(backend, view, job, begun),
            Kernel::Full => self.render_by::<stages::megakernel>(backend, view, job, begun),
        }
    }

    /// Renders by a megakernel that knows the features of the scene.
    fn render_by<S: Stage<Args = MegakernelArgs>>(
        &mut self,
        backend: &mut B,
        view: SceneView,
        Job { scene, budget, options, observe }: Job<'_>,
        begun: Progress,
    ) -> Result<RunResult<B>, Error> {
        let Self { tracer, pace } = self;
        let layers = layers(backend.parallelism(), scene, budget.spp);
        let films = Films::<B>::new(backend, scene, options, layers)?;
        let mut args = SampleArgs { layers, ..no_samples(scene, view, films.image.ptr()) };
        let start = Instant::now();
        let pixels = u64::from(scene.width) * u64::from(scene.height);
        let mut progress = Progress { spp_target: budget.spp, pixels, ..begun };
        progress.shortage.films = films.on_host();
        let mut interrupted = false;
        let mut looks = budget.noise.map(Looks::new);
        if let Some(looks) = looks {
            progress.spp_target = looks.next.min(budget.spp);
        }
        let invocations = MegakernelArgs::invocations_per_layer(scene.width, scene.height) * layers;
        let in_time = || budget.time.is_none_or(|time| start.elapsed() < time);
        'passes: while progress.spp < budget.spp && (progress.spp == 0 || in_time()) {
            let least = least_samples::<B>(progress.spp, budget.time.is_some());
            let remaining = progress.spp_target - progress.spp;
            let pass = Pass::new(pace.paths, invocations, layers, least, remaining);
            (args.first_sample, args.samples, args.first_invocation) = (progress.spp, pass.samples, 0);
            while args.first_invocation < invocations {
                args.invocations = pass.invocations(pace.paths).min(invocations - args.first_invocation);
                let launched = Instant::now();
                // SAFETY: the caller and `films` hold what the arguments point to, and outlive the wait below.
                unsafe { films.launch::<S>(backend, tracer, args)? };
                backend.synchronize()?;
                let took = launched.elapsed();
                let paths = pass.paths(args.invocations);
                let begins_pass = args.first_invocation == 0;
                args.first_invocation += args.invocations;
                let ends_pass = args.first_invocation == invocations;
                if tracer.learn(Launch { paths, took, begins_pass, ends_pass }) {
                    *pace = Pace::new(backend.parallelism(), tracer);
                } else {
                    pace.learn(paths, took);
                }
                progress.advance(&pass, f64::from(args.first_invocation) / f64::from(invocations));
                progress.shortage.pool = tracer.shrunk();
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
            // Looks are after so many samples, not after so much time: images are the same each time.
            if let Some(looks) = &mut looks
                && progress.spp == progress.spp_target
            {
                if looks.is_enough(progress.spp, films.noise(backend, scene)?) {
                    break;
                }
                progress.spp_target = looks.next.min(budget.spp);
            }
        }
        progress.spp_target = budget.spp;
        Ok(RunResult { films, progress, interrupted })
    }
}
