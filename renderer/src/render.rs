//! The render loop: passes, stopping rule, progress, cancellation. It names no back end.

mod adaptive;
pub mod aov;
mod blocks;
mod checkpoint;
mod films;
mod first_hits;
mod guiding;
pub mod light_groups;
pub mod mattes;
mod noise;
mod observer;
mod pace;
mod placement;
mod provenance;
mod replay;
mod rounds;
mod session;
mod shift;
mod snapshots;
pub mod stage_chart;
mod stage_times;
mod summary;
mod tracer;
mod uploaded;
mod wavefront;
mod work;

use std::fmt;
use std::time::{Duration, Instant};

use device::bsdf::{Basic, Glass};
use device::features::{Compiled, Features};
use device::matte::MattePixel;
use device::path::SampleArgs;
use device::path::stage::stages;
use device::rng::SamplerKind;
use device::scene::SceneView;
use device::shape::triangle::TriangleUvs;
use glam::DVec3;
use torrance_gpu::backend::cpu::Cpu;
use torrance_gpu::backend::{Backend, Buffer, Error};
use torrance_gpu::primitives::Primitives;
use torrance_image::film::Film;
use torrance_scene::Guiding;
use torrance_scene::limits::MAX_SPP;

use crate::assemble::SceneData;

pub use adaptive::{ErrorGoal, Shortfall};
pub(crate) use checkpoint::identity_of_key;
pub use checkpoint::{Checkpoints, Identity, Kept, ResumeError, Resumed};
pub use films::film_of_layers;
pub use first_hits::{FirstHit, FirstHits};
pub use guiding::Lesson;
pub use observer::{Control, FilmsSoFar, Observer};
pub use pace::Launches;
pub use placement::Shortage;
pub use provenance::{RenderRecord, identity, provenance};
pub use replay::{Dump, DumpedColumn, Replay};
pub(crate) use session::{Session, WithMean};
pub use stage_times::{Items, StageTimes, Step, StepTime};
pub use summary::{IntegratorSummary, Seconds, StageSummary, Summary};
pub use tracer::{Contestant, Integrator, IntegratorChoice};
pub use uploaded::Uploaded;
pub use wavefront::{Paths, When};
pub use work::Taken;

use films::{Films, HostFilms, RawFilms};
use light_groups::LightGroups;
use mattes::Mattes;
use pace::{Pace, layers};
use placement::{Demand, Placement};
use shift::Shift;
use tracer::Tracer;
use work::Manner;
pub(crate) use work::Work;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Samples per pixel at most, ≥ 1.
    pub spp: u32,
    /// Time at most, but for a first sample of every pixel.
    pub time: Option<Duration>,
    /// Stop as soon as noise is as low. Looks at it are few, and each copies the film from the machine. What has no noise yet, as a
    /// black image, is done at once.
    pub noise: Option<NoiseGoal>,
}

/// How low noise is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoiseGoal {
    /// The relative standard error of the image as a whole ([`torrance_image::film::Statistics`]), > 0; all pixels get as many samples. It
    /// is estimated from the samples that the image is made of, so that an image that stops early by chance is a little too sure of
    /// itself: less than that error itself, where many pixels make up the estimate.
    Image(f64),
    /// The errors of pixels, which get samples where they are noisy.
    Pixels(ErrorGoal),
}

/// Pixels whose errors depend on each other cannot decide about each other's samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "with the sampler \"blue_noise\", the errors of neighbouring pixels depend on each other, and adaptive samples would \
     bias the image: choose \"sobol\" or \"independent\", or uniform samples"
)]
pub struct DependentPixels;

impl fmt::Display for NoiseGoal {
    /// As files tell it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pixels(goal) => goal.fmt(f),
            Self::Image(bound) => write!(f, "{}% of the image", (100.0 * bound) as f32),
        }
    }
}

impl NoiseGoal {
    /// What files say of it, if it is of pixels: some may lack samples that they had no need of.
    pub fn of_pixels(&self) -> Option<String> {
        matches!(self, Self::Pixels(_)).then(|| self.to_string())
    }

    /// Whether a scene can be rendered to it.
    ///
    /// # Errors
    /// Its samples would be adaptive, and its sampler makes pixels depend on each other.
    pub fn check(&self, scene: &SceneData) -> Result<(), DependentPixels> {
        let is_adaptive = matches!(self, Self::Pixels(goal) if !goal.is_uniform);
        match is_adaptive && scene.settings.sampler == SamplerKind::BlueNoise as u32 {
            true => Err(DependentPixels),
            false => Ok(()),
        }
    }
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
    /// Part of the pixels whose error was within the bound at the last look, if such is the goal.
    pub within_bound: Option<f64>,
    /// Part of what is learnt beforehand, while it is.
    pub learnt: Option<f64>,
    /// Whether some pixels get more samples than all.
    pub has_rounds: bool,
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
    /// What is in the host's memory for want of room in a machine's.
    pub shortage: Shortage,
    /// Which machine's that is, of several.
    pub machine: usize,
}

impl Progress {
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
    /// How long launches should take: how soon the first image can be shown, and the render be stopped.
    pub launches: Launches,
    /// [`Rendered::stage_times`].
    pub stage_times: bool,
    /// [`Rendered::shorter`].
    pub shorter: bool,
    /// [`Rendered::first_hits`], with the texture coordinates of these, one element for every primitive of the scene
    /// ([`crate::assemble::texture_coordinates`]), or none for them to be left out.
    pub first_hits: Option<&'a [TriangleUvs]>,
    /// [`Rendered::mattes`], by these names.
    pub mattes: Option<&'a Mattes>,
    /// [`Rendered::light_groups`], of these groups.
    pub light_groups: Option<&'a LightGroups>,
    /// [`Rendered::half`].
    pub half: bool,
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
    /// What each pixel shows, if it was asked for: a film for each kind of matte.
    pub mattes: Option<Vec<Vec<MattePixel>>>,
    /// Light by where it comes from, if it was asked for: of each group the sums over the samples of [`Rendered::film`].
    pub light_groups: Option<Vec<Vec<DVec3>>>,
    /// About half of the samples, if they were asked for, and the render did not end before there were as many.
    pub half: Option<Half>,
    /// Stage times, if they were asked for and the integrator has stages.
    pub stage_times: Option<StageTimes>,
    /// How far it came.
    pub progress: Progress,
    /// Which samples there are, those of an earlier run among them.
    pub taken: Taken,
    /// Whether the observer stopped it before the budget was spent.
    pub interrupted: bool,
    /// The integrator that traced its paths.
    pub integrator: IntegratorChoice,
}

/// About half of the samples of a render: the first ones of each pixel.
#[derive(Debug, Clone)]
pub struct Half {
    /// Their film.
    pub film: Film,
    /// Their first hits, if those of all were asked for.
    pub first_hits: Option<FirstHits>,
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
    pub(crate) request: Request<'a>,
    pub(crate) observer: &'a mut dyn Observer,
}

/// Which samples to take, how, and what to go on with.
#[derive(Debug)]
pub struct Request<'a> {
    /// When to stop.
    pub budget: Budget,
    /// Index of the first sample of each pixel. Those before it are for others to take.
    pub first_sample: u32,
    /// How to render.
    pub options: Options<'a>,
    /// Where checkpoints are kept.
    pub checkpoints: Option<&'a Checkpoints>,
    /// A render that was not done.
    pub resumed: Option<Resumed>,
}

impl<'a> Request<'a> {
    /// From the first sample on, without checkpoints.
    pub const fn new(budget: Budget, options: Options<'a>) -> Self {
        Self { budget, first_sample: 0, options, checkpoints: None, resumed: None }
    }

    /// The work of so many machines on a scene.
    pub(crate) fn work(self, scene: &SceneData, machines: usize) -> Work<'a> {
        let size = [scene.width, scene.height];
        let Options { shorter, first_hits, mattes, light_groups, .. } = self.options;
        let beside = shorter || first_hits.is_some() || mattes.is_some() || light_groups.is_some();
        let budget = (self.budget, self.first_sample, beside);
        let work = Work::new(size, budget, machines, self.checkpoints, self.resumed);
        if self.options.half { work.keeping_half() } else { work }
    }
}

/// The part of one machine in a render.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    scene: &'a SceneData,
    options: Options<'a>,
    work: &'a Work<'a>,
    /// The machine's number.
    me: usize,
}

impl<'a> Part<'a> {
    /// That of machine number `me`.
    pub(crate) const fn new(
        scene: &'a SceneData,
        options: Options<'a>,
        work: &'a Work<'a>,
        me: usize,
    ) -> Self {
        Self { scene, options, work, me }
    }
}

/// A machine that has its scene.
#[derive(Debug, Clone, Copy)]
struct Begun {
    /// How long it took to copy.
    upload: Duration,
    /// What is on the host instead.
    shortage: Shortage,
}

/// [`crate::Machine::render`].
pub(crate) fn render_with<B: Primitives>(backend: &mut B, job: Job<'_>) -> Result<Rendered, Error> {
    let Job { scene, request, observer } = job;
    let (options, spp) = (request.options, request.budget.spp);
    let work = request.work(scene, 1);
    let (choice, stage_times) =
        take_part(backend, &Part::new(scene, options, &work, 0), spp, Some(observer))?;
    Ok(Rendered { stage_times, ..finish(work, choice) })
}

/// As [`render_with`], and drops the geometry of the scene as soon as the machine has it.
pub(crate) fn render_last<B: Primitives>(
    backend: &mut B,
    scene: &mut SceneData,
    request: Request<'_>,
    observer: &mut dyn Observer,
) -> Result<Rendered, Error> {
    let (options, spp) = (request.options, request.budget.spp);
    let uploaded = upload(backend, scene, options, spp)?;
    scene.drop_geometry();
    let work = request.work(scene, 1);
    let part = Part::new(scene, options, &work, 0);
    let rendered = render_uploaded(backend, &part, spp, uploaded, Some(observer));
    let (choice, stage_times) = rendered.inspect_err(|_| work.keep())?;
    Ok(Rendered { stage_times, ..finish(work, choice) })
}

/// Takes the part of a machine in a render of at most `spp` samples per pixel. What it has not published when it fails is missing
/// again.
pub(crate) fn take_part<B: Primitives>(
    backend: &mut B,
    part: &Part<'_>,
    spp: u32,
    observer: Option<&mut dyn Observer>,
) -> Result<(IntegratorChoice, Option<StageTimes>), Error> {
    let _leaves = LeavesInPanic(part);
    let taken = upload(backend, part.scene, part.options, spp)
        .and_then(|uploaded| render_uploaded(backend, part, spp, uploaded, observer));
    taken.inspect_err(|_| part.work.leave(part.me))
}

/// Has a machine whose thread panics leave its part, so that others do not wait for it.
struct LeavesInPanic<'a>(&'a Part<'a>);

impl Drop for LeavesInPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.work.leave(self.0.me);
        }
    }
}

fn render_uploaded<B: Primitives>(
    backend: &mut B,
    part: &Part<'_>,
    spp: u32,
    (uploaded, upload): (Uploaded<B>, Duration),
    observer: Option<&mut dyn Observer>,
) -> Result<(IntegratorChoice, Option<StageTimes>), Error> {
    let mut run = Run::new(backend, part, spp)?;
    let begun = Begun { upload, shortage: uploaded.shortage() };
    run.render(backend, uploaded.view(part.scene), part, begun, observer)?;
    Ok((run.tracer.choice(), run.tracer.times()))
}

/// Prepares a back end for a scene, and copies the scene there, which takes the time that is returned.
fn upload<B: Primitives>(
    backend: &mut B,
    scene: &SceneData,
    options: Options<'_>,
    spp: u32,
) -> Result<(Uploaded<B>, Duration), Error> {
    prepare(backend, scene, options, spp)?;
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
    let films = Films::<B>::bytes(scene, options, layers(backend, scene, spp));
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

/// What machines have rendered.
pub(crate) fn finish(work: Work<'_>, integrator: IntegratorChoice) -> Rendered {
    finish_with(work, integrator, &mut drop)
}

/// As [`finish`]. Films that were published are `spent`: another render can publish into their memory.
fn finish_with(work: Work<'_>, integrator: IntegratorChoice, spent: &mut dyn FnMut(RawFilms)) -> Rendered {
    let progress = work.progress();
    let progress = Progress { spp_target: work.budget().spp, ..progress };
    let size @ [width, height] = work.size();
    let half = work.half();
    let (films, taken, interrupted) = work.finish(spent);
    let HostFilms { image, shorter, first_hits, mattes, light_groups } = films;
    let hits = |films: Option<Vec<_>>| films.map(|film| FirstHits::new(size, &film));
    Rendered {
        film: image.unwrap_or_else(|| Film::new(width, height)),
        shorter,
        first_hits: hits(first_hits),
        half: half.and_then(|half| Some(Half { film: half.image?, first_hits: hits(half.first_hits) })),
        mattes,
        light_groups,
        stage_times: None,
        progress,
        taken,
        interrupted,
        integrator,
    }
}

/// Features that kernels need for a scene whose paths are guided.
const fn guided(scene: &SceneData) -> Features {
    scene.features.and(Features::GUIDING)
}

/// Integrator, launch sizes and films, which the next render of a similar scene can go on with.
struct Run<B: Primitives> {
    tracer: Tracer<B>,
    /// Whether its paths are guided.
    is_guided: bool,
    /// Most samples per pixel.
    spp: u32,
    pace: Pace,
    /// Number of layers of films.
    layers: u32,
    /// Films of the render before.
    films: Option<Films<B>>,
}

/// Makes ready what [`render_with`] is going to launch first, of at most `spp` samples per pixel, which would otherwise take its time
/// then. What may be launched later is begun.
pub(crate) fn prepare<B: Primitives>(
    backend: &mut B,
    scene: &SceneData,
    options: Options<'_>,
    spp: u32,
) -> Result<(), Error> {
    backend.prepare_ahead(|backend| prepare_all(backend, scene, options, spp, true))?;
    prepare_all(backend, scene, options, spp, false)
}

/// The stages that renders of a scene on a GPU launch, short ones and long ones, and the features that each is compiled for.
///
/// # Errors
/// There is not enough memory.
pub fn stages_on_gpus(scene: &SceneData) -> Result<Vec<(&'static str, Features)>, Error> {
    let integrator = Integrator::Fastest(Paths::new(Paths::ON_GPU));
    let options = Options { integrator, ..Options::default() };
    let mut all = Cpu::new(Some(1))?.record(|backend| {
        backend.prepare::<stages::probe>()?;
        for spp in [1, MAX_SPP] {
            prepare_all(backend, scene, options, spp, true)?;
        }
        Ok(())
    })?;
    all.sort_by_key(|(name, features)| (*name, features.words()));
    all.dedup();
    Ok(all)
}

/// Prepares what a render launches first, and with `later` also what it may launch then.
fn prepare_all<B: Primitives>(
    backend: &mut B,
    scene: &SceneData,
    options: Options<'_>,
    spp: u32,
    later: bool,
) -> Result<(), Error> {
    backend.specialize(scene.features);
    if guiding::is_wanted::<B>(scene, spp) {
        backend.specialize(guided(scene));
        guiding::prepare(backend)?;
        backend.specialize(scene.features);
    }
    if options.first_hits.is_some() {
        backend.prepare::<stages::first_hit>()?;
    }
    if options.mattes.is_some() {
        backend.prepare::<stages::matte>()?;
    }
    if options.light_groups.is_some() {
        match Kernel::for_scene(scene) {
            Kernel::Guided => backend.prepare::<stages::light_groups_guided>()?,
            _ => backend.prepare::<stages::light_groups>()?,
        }
    }
    if let Some(paths) = options.integrator.wavefront(scene, spp) {
        wavefront::prepare(backend, scene, paths)?;
        let may_be_faster = later && options.integrator.races(scene, spp);
        if !options.shorter && !may_be_faster {
            return Ok(()); // The megakernel has nothing to do, or not yet.
        }
    }
    match Kernel::for_scene(scene) {
        Kernel::Basic => backend.prepare::<stages::megakernel_basic>(),
        Kernel::Glass => backend.prepare::<stages::megakernel_glass>(),
        Kernel::Full => backend.prepare::<stages::megakernel>(),
        Kernel::Guided => backend.prepare::<stages::megakernel_guided>(),
    }
}

/// Arguments that take no samples yet, of a scene that `view` shows, into a film.
pub(crate) fn no_samples<P>(scene: &SceneData, view: SceneView, film: *mut P) -> SampleArgs<P> {
    SampleArgs {
        scene: view,
        film,
        items: std::ptr::null(),
        item_count: 0,
        spread: 0,
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
    Guided,
}

impl Kernel {
    /// Whether what it knows is left out where a scene does not ask for it.
    const fn is_specialized(self) -> bool {
        matches!(self, Self::Full | Self::Guided)
    }

    /// The smallest that knows the scene's materials: on a GPU, the others are slower.
    const fn for_scene(scene: &SceneData) -> Self {
        if scene.features.intersects(Features::GUIDING) {
            Self::Guided
        } else if Basic::FEATURES.contains(scene.features) {
            Self::Basic
        } else if Glass::FEATURES.contains(scene.features) {
            Self::Glass
        } else {
            Self::Full
        }
    }
}

impl<B: Primitives> Run<B> {
    /// For a render of at most `spp` samples per pixel.
    fn new(backend: &mut B, part: &Part<'_>, spp: u32) -> Result<Self, Error> {
        let films = demand(backend, part.scene, part.options, spp).films;
        let tracer = Tracer::new(backend, part.scene, part.options, spp, films)?;
        let pace = Pace::new(backend.parallelism(), &tracer);
        let is_guided = part.scene.features.intersects(Features::GUIDING);
        Ok(Self { tracer, is_guided, spp, pace, layers: layers(backend, part.scene, spp), films: None })
    }

    /// Empty films, those of the render before if they are such.
    fn empty_films(&mut self, backend: &mut B, part: &Part<'_>) -> Result<Films<B>, Error> {
        let (Part { scene, options, .. }, layers) = (*part, self.layers);
        let cleared = self.films.take().map(|films| films.cleared(backend, scene, options, layers));
        match cleared.transpose()?.flatten() {
            Some(films) => Ok(films),
            None => Films::new(backend, scene, options, layers),
        }
    }

    /// Takes the kernels for paths that are guided, or not, where that was not known before. Returns the scene that asks for them, if it
    /// is not that of the part.
    fn decided(
        &mut self,
        backend: &mut B,
        part: &Part<'_>,
        is_guided: bool,
    ) -> Result<Option<SceneData>, Error> {
        let Part { scene, options, .. } = *part;
        if scene.guiding.guiding != Guiding::Auto {
            return Ok(None);
        }
        let decided = is_guided.then(|| SceneData { features: guided(scene), ..scene.clone() });
        let asks = decided.as_ref().unwrap_or(scene);
        backend.specialize(asks.features);
        if is_guided != self.is_guided {
            prepare(backend, asks, options, self.spp)?;
            self.tracer.give_pool_up();
            // The films are there.
            self.tracer = Tracer::new(backend, asks, options, self.spp, 0)?;
            self.pace = Pace::new(backend.parallelism(), &self.tracer);
            self.is_guided = is_guided;
        }
        Ok(decided)
    }

    /// Renders by the megakernel that suits the scene, which `view` shows in the memory of the back end, until there is nothing more
    /// to do. Returns the films, which are still there.
    fn render(
        &mut self,
        backend: &mut B,
        view: SceneView,
        part: &Part<'_>,
        begun: Begun,
        mut observer: Option<&mut dyn Observer>,
    ) -> Result<Films<B>, Error> {
        let Part { scene, options, work, me } = *part;
        let mut films = self.empty_films(backend, part)?;
        let layers = self.layers;
        let first_paths = Pace::first_paths(backend.parallelism());
        let film_bytes = Films::<B>::bytes(scene, options, layers);
        let shape = films.shape();
        // What is traced in a fortieth of a second on a GPU, or a few hundredths on a CPU, and while the pixels are looked at.
        let pixels = u64::from(scene.width) * u64::from(scene.height);
        let paths_of_look = if B::FOLDS_FILMS { (1 << 17) + pixels / 4 } else { (1 << 25) + 16 * pixels };
        let manner =
            Manner { first_paths, side_by_side: B::SIDE_BY_SIDE, paths_of_look, layers, film_bytes, shape };
        let mut shortage = begun.shortage;
        shortage.films = films.on_host();
        if let Some(published) = work.enter(me, manner, Begun { shortage, ..begun }) {
            films.restore(backend, &published)?;
        }
        let learnt = if guiding::is_wanted::<B>(scene, self.spp) {
            backend.specialize(guided(scene));
            let mut ends = |learnt| match &mut observer {
                Some(observer) => work.tell_of_learning(*observer, learnt),
                None => work.is_stopped(),
            };
            guiding::learn(backend, scene, view, (self.spp, work.budget().time), &mut ends)?
        } else {
            None
        };
        let (lesson, guide) = learnt.map(|learnt| (learnt.lesson, learnt.guide)).unzip();
        let guide = guide.flatten();
        let decided = self.decided(backend, part, guide.is_some())?;
        let part = &Part { scene: decided.as_ref().unwrap_or(scene), ..*part };
        let scene = part.scene;
        let Self { tracer, pace, .. } = self;
        tracer.guiding = lesson;
        let view = SceneView { guide: guide.as_ref().map_or(view.guide, guiding::Guide::view), ..view };
        let args = no_samples(scene, view, films.image.ptr());
        tracer.limit(options.launches.at(Duration::ZERO));
        pace.limit(tracer.target());
        let mut shift = Shift {
            backend,
            films,
            tracer,
            pace,
            args,
            part,
            layers,
            taken: 0,
            begin: Instant::now(),
            observer,
            mean: None,
            items: None,
        };
        match Kernel::for_scene(scene) {
            Kernel::Basic => shift.work::<stages::megakernel_basic>(),
            Kernel::Glass => shift.work::<stages::megakernel_glass>(),
            Kernel::Full => shift.work::<stages::megakernel>(),
            Kernel::Guided => shift.work::<stages::megakernel_guided>(),
        }?;
        Ok(shift.films)
    }
}
