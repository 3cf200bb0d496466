//! The render loop: passes, stopping rule, progress, cancellation. It names no back end.

mod noise;
mod replay;
mod session;
mod stage_times;
mod tracer;
mod uploaded;
mod wavefront;

use std::time::{Duration, Instant};

use device::bsdf::{Basic, Compiled, Glass};
use device::film::{FilmPixel, FirstHitPixel};
use device::path::stage::{Stage, stages};
use device::path::{FirstHitArgs, MegakernelArgs, SampleArgs};
use device::scene::SceneView;
use device::shape::triangle::TriangleUvs;

use crate::assemble::SceneData;
use crate::backend::{Backend, Buffer, Error};
use crate::film::{Film, FirstHits, Measured, Statistics};
use crate::primitives::Primitives;

pub use replay::{Dump, DumpedColumn, Replay};
pub use session::Session;
pub use stage_times::{Items, Part, PartTime, StageTimes};
pub use tracer::{Contestant, Integrator, Traced};
pub use uploaded::Uploaded;
pub use wavefront::{Paths, When};

use noise::Looks;
use tracer::{Launched, Tracer};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Samples per pixel at most, ≥ 1.
    pub spp: u32,
    /// Time at most, but for a first sample of every pixel.
    pub time: Option<Duration>,
    /// Stop as soon as the relative standard error of the image ([`crate::film::Statistics`]) is no larger, > 0. Looks at it
    /// are few, and each copies the film from the machine. What has no noise yet, as a black image, is done at once. It is
    /// estimated from the samples that the image is made of, so that an image that stops early by chance is a little too
    /// sure of itself: less than that error itself, where many pixels make up the estimate.
    pub noise: Option<f64>,
}

impl Budget {
    /// So many samples per pixel, however long they take.
    pub const fn of_samples(spp: u32) -> Self {
        Self { spp, time: None, noise: None }
    }
}

/// How far a render is.
#[derive(Debug, Clone, Copy, PartialEq)]
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
}

impl Progress {
    fn new(spp_target: u32, pixels: u64) -> Self {
        let [elapsed, upload, longest_launch] = [Duration::ZERO; 3];
        Self { spp: 0, spp_target, paths: 0, pixels, elapsed, upload, longest_launch }
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

/// How to render, and what to keep beside the image, of the same samples.
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
    /// What the camera rays meet, if that was asked for.
    pub first_hits: Option<FirstHits>,
    /// Where the time went, if that was asked for and the integrator has stages.
    pub stage_times: Option<StageTimes>,
    /// How far it came.
    pub progress: Progress,
    /// Whether the observer stopped it before the budget was spent.
    pub interrupted: bool,
    /// What traced its paths.
    pub traced: Traced,
}

/// Renders until the budget is spent or `observe`, called after every launch, says to stop.
///
/// The work of a pass (some samples of every pixel) is cut into launches of a tenth or a fifth of a second, so that
/// cancellation is prompt and no watchdog of a display ever sees a long one.
pub fn render<B: Primitives>(
    backend: &mut B,
    scene: &SceneData,
    budget: Budget,
    observe: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Rendered, Error> {
    render_with(backend, scene, budget, Options::default(), observe)
}

/// As [`render`], and keeps more than the image. However the render ends, all of it is of the same samples.
pub fn render_with<B: Primitives>(
    backend: &mut B,
    scene: &SceneData,
    budget: Budget,
    options: Options<'_>,
    observe: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Rendered, Error> {
    let ready = Ready::new(backend, scene, options)?;
    render_ready(backend, scene, ready, budget, options, observe)
}

/// As [`render_with`], of a scene that is not rendered again: its geometry is dropped as soon as the back end has it
/// ([`SceneData::drop_geometry`]).
pub fn render_last<B: Primitives>(
    backend: &mut B,
    scene: &mut SceneData,
    budget: Budget,
    options: Options<'_>,
    observe: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Rendered, Error> {
    let ready = Ready::new(backend, scene, options)?;
    scene.drop_geometry();
    render_ready(backend, scene, ready, budget, options, observe)
}

/// A scene in the memory of a back end that is prepared to render it.
struct Ready<B: Backend> {
    uploaded: Uploaded<B>,
    /// Time that copying took.
    took: Duration,
}

impl<B: Primitives> Ready<B> {
    fn new(backend: &mut B, scene: &SceneData, options: Options<'_>) -> Result<Self, Error> {
        prepare(backend, scene, options)?;
        let begin = Instant::now();
        let uploaded = Uploaded::new(backend, scene)?;
        backend.synchronize()?;
        Ok(Self { uploaded, took: begin.elapsed() })
    }
}

fn render_ready<B: Primitives>(
    backend: &mut B,
    scene: &SceneData,
    Ready { uploaded, took: upload }: Ready<B>,
    budget: Budget,
    options: Options<'_>,
    observe: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Rendered, Error> {
    let mut run = Run::new(backend, scene, budget, options)?;
    let view = uploaded.view(scene);
    let Finished { films, progress, interrupted } =
        render_run(backend, scene, view, &mut run, budget, options, observe)?;
    // Developing takes memory again.
    drop(uploaded);
    let traced = run.tracer.traced();
    let stage_times = run.tracer.times();
    let progress = Progress { upload, ..progress };
    Ok(Rendered { stage_times, ..films.develop(backend, scene, progress, (interrupted, traced))? })
}

/// What traces paths, and how large launches are, which the next render of a scene like this one can go on with.
struct Run<B: Primitives> {
    tracer: Tracer<B>,
    pace: Pace,
}

impl<B: Primitives> Run<B> {
    fn new(backend: &mut B, scene: &SceneData, budget: Budget, options: Options<'_>) -> Result<Self, Error> {
        let tracer = Tracer::new(backend, scene, options, budget.spp)?;
        let pace = Pace::new(backend.parallelism(), &tracer);
        Ok(Self { tracer, pace })
    }
}

/// What a run leaves.
struct Finished<B: Backend> {
    films: Films<B>,
    progress: Progress,
    interrupted: bool,
}

/// Renders by the megakernel that suits the scene, which `view` shows in the memory of the back end.
fn render_run<B: Primitives>(
    backend: &mut B,
    scene: &SceneData,
    view: SceneView,
    run: &mut Run<B>,
    budget: Budget,
    options: Options<'_>,
    observe: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Finished<B>, Error> {
    let render = match Kernel::of(scene) {
        Kernel::Basic => render_by::<B, stages::megakernel_basic>,
        Kernel::Glass => render_by::<B, stages::megakernel_glass>,
        Kernel::Full => render_by::<B, stages::megakernel>,
    };
    render(backend, scene, view, run, budget, options, observe)
}

/// Makes ready what [`render_with`] is going to launch, which would otherwise take its time then.
pub fn prepare<B: Primitives>(backend: &mut B, scene: &SceneData, options: Options<'_>) -> Result<(), Error> {
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

/// Renders by a megakernel that knows the features of the scene.
fn render_by<B: Primitives, S: Stage<Args = MegakernelArgs>>(
    backend: &mut B,
    scene: &SceneData,
    view: SceneView,
    Run { tracer, pace }: &mut Run<B>,
    budget: Budget,
    options: Options<'_>,
    observe: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Finished<B>, Error> {
    let layers = layers(backend.parallelism(), scene, budget.spp);
    let films = Films::<B>::new(backend, scene, options, layers)?;
    let mut args = SampleArgs {
        scene: view,
        film: films.image.ptr(),
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
    let mut progress = Progress::new(budget.spp, u64::from(scene.width) * u64::from(scene.height));
    let mut interrupted = false;
    let mut looks = budget.noise.map(Looks::new);
    if let Some(looks) = looks {
        progress.spp_target = looks.next.min(budget.spp);
    }
    let invocations = MegakernelArgs::invocations_per_layer(scene.width, scene.height) * layers;
    let in_time = || budget.time.is_none_or(|time| start.elapsed() < time);
    'passes: while progress.spp < budget.spp && in_time() {
        let pass = Pass::new(pace.paths, invocations, layers, progress.spp_target - progress.spp);
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
            if tracer.learn(Launched { paths, took, begins_pass, ends_pass }) {
                *pace = Pace::new(backend.parallelism(), tracer);
            } else {
                pace.learn(paths, took);
            }
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
    Ok(Finished { films, progress, interrupted })
}

/// What a render fills, in the memory of a back end.
struct Films<B: Backend> {
    image: B::Buf<FilmPixel>,
    /// Of paths of at most one segment, and of two.
    shorter: Option<[B::Buf<FilmPixel>; 2]>,
    /// With the texture coordinates of the scene's primitives.
    first_hits: Option<(B::Buf<FirstHitPixel>, B::Buf<TriangleUvs>)>,
}

impl<B: Primitives> Films<B> {
    fn new(backend: &mut B, scene: &SceneData, options: Options<'_>, layers: u32) -> Result<Self, Error> {
        let pixels = scene.width as usize * scene.height as usize * layers as usize;
        let image = backend.zeroed("film", pixels)?;
        let shorter = match options.shorter {
            true => Some([
                backend.zeroed("film of emission", pixels)?,
                backend.zeroed("film of direct light", pixels)?,
            ]),
            false => None,
        };
        let first_hits = match options.first_hits {
            Some(uvs) => Some((
                backend.zeroed("film of first hits", pixels)?,
                backend.upload("texture coordinates of all primitives", uvs)?,
            )),
            None => None,
        };
        Ok(Self { image, shorter, first_hits })
    }

    /// Takes the samples of `args` into every film.
    ///
    /// # Safety
    /// As [`Backend::launch`], but for the films, which are these.
    unsafe fn launch<S: Stage<Args = MegakernelArgs>>(
        &self,
        backend: &mut B,
        tracer: &mut Tracer<B>,
        args: MegakernelArgs,
    ) -> Result<(), Error> {
        // SAFETY: as the caller promised; all films are of one size.
        unsafe {
            tracer.trace::<S>(backend, args)?;
            for (film, depth) in self.shorter.iter().flatten().zip(1..) {
                let mut shorter = MegakernelArgs { film: film.ptr(), ..args };
                shorter.settings.max_depth = depth.min(args.settings.max_depth);
                backend.launch::<S>(shorter)?;
            }
            if let Some((film, uvs)) = &self.first_hits {
                let take = args.into_film(film.ptr());
                let uvs = if uvs.is_empty() { std::ptr::null() } else { uvs.ptr().cast_const() };
                backend.launch::<stages::first_hit>(FirstHitArgs { take, uvs })?;
            }
        }
        Ok(())
    }

    /// The relative standard error of the image so far.
    fn noise(&self, backend: &mut B, scene: &SceneData) -> Result<f64, Error> {
        let film = Film::from_layers(scene.width, scene.height, &backend.download(&self.image)?);
        Ok(Statistics::relative_stderr_of(&Measured::from(&film)))
    }

    fn develop(
        &self,
        backend: &mut B,
        scene: &SceneData,
        progress: Progress,
        (interrupted, traced): (bool, Traced),
    ) -> Result<Rendered, Error> {
        let (width, height) = (scene.width, scene.height);
        let mut film = |buffer| Ok(Film::from_layers(width, height, &backend.download(buffer)?));
        let image = film(&self.image)?;
        let shorter = match &self.shorter {
            Some([emission, direct]) => Some([film(emission)?, film(direct)?]),
            None => None,
        };
        let first_hits = match &self.first_hits {
            Some((film, _)) => Some(FirstHits::from_layers(width, height, &backend.download(film)?)),
            None => None,
        };
        Ok(Rendered { film: image, shorter, first_hits, stage_times: None, progress, interrupted, traced })
    }
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
    /// Paths that it may trace at most.
    most: f64,
    /// Time that it should take.
    target: Duration,
}

impl Pace {
    /// Begins with a few paths for every thread, since nothing is known of the scene yet.
    fn new<B: Primitives>(parallelism: usize, tracer: &Tracer<B>) -> Self {
        let most = tracer.most_paths();
        let first = parallelism as f64 * 8.0;
        Self { paths: first.min(most).min(tracer.first_paths()), most, target: tracer.target() }
    }

    fn learn(&mut self, paths: f64, took: Duration) {
        let ideal = paths * self.target.as_secs_f64() / took.as_secs_f64().max(1e-6);
        // Parts of an image differ in cost: grow with care, shrink at once.
        self.paths = ideal.min(self.paths * 4.0).min(self.most).max(32.0);
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
