//! How fast rays are traced: those from the camera, those that have bounced once and twice, and those to lights.
//!
//! Rays are made by stages that are not timed, and only those that are rays are traced: what has left the scene is
//! compacted away. They are made and traced in batches, whatever their number, so that memory is bounded.

use std::ops::Range;
use std::time::{Duration, Instant};

use device::bsdf::Basic;
use device::features::Compiled;
use device::path::SampleArgs;
use device::path::stage::{Stage, stages};
use device::path::trace::{
    CameraRaysArgs, ClosestArgs, CoherentArgs, Direction, Hits, Met, NextRaysArgs, OcclusionArgs, Origin,
    Rays,
};
use torrance_gpu::backend::{Buffer, Error};
use torrance_gpu::primitives::{Gather, Length, Reduce, Select, Sum, Temp};

use super::measure::Times;
use super::memory::allocated;
use super::{TimedBackend, Unmeasured};
use crate::assemble::SceneData;
use crate::render::Uploaded;

/// Rays of a batch at most: all buffers together then have less than a GiB.
const MOST_RAYS: u32 = 1 << 23;
/// Rays of a batch for each of the machine's threads, so that a slow machine, too, is soon told to end.
const RAYS_PER_THREAD: usize = 1 << 15;
/// Bytes that the buffers have for each ray of a batch.
const BYTES_PER_RAY: usize = 3 * 32 + 20 + 4 + 1;
/// How often a batch is traced, if there is time.
const ROUNDS: usize = 10;
/// How often it is, whatever the time.
const FEWEST_ROUNDS: usize = 3;
/// How long to trace the same batch again.
const ENOUGH: Duration = Duration::from_millis(500);

/// Which rays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RayKind {
    /// From the camera.
    Primary,
    /// From where camera rays end to lights: whether anything is in the way.
    Shadow,
    /// From where camera rays end, with the density of what a diffuse surface reflects.
    FirstBounce,
    /// From where these end, likewise.
    SecondBounce,
}

impl RayKind {
    /// All, in the order in which they are traced.
    pub const ALL: [Self; 4] = [Self::Primary, Self::Shadow, Self::FirstBounce, Self::SecondBounce];

    /// A name for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Shadow => "shadow",
            Self::FirstBounce => "bounce_1",
            Self::SecondBounce => "bounce_2",
        }
    }
}

/// Measurements of rays of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Traced {
    /// Which rays.
    pub kind: RayKind,
    /// Camera rays that they might come from.
    pub camera_rays: u64,
    /// Rays that there were, and were traced.
    pub rays: u64,
    /// Rays that met something.
    pub hits: u64,
    /// How long tracing all of them once took, seconds: the sums over the batches.
    pub times: Times,
}

impl Traced {
    /// Rays traced a second; zero if there were none.
    pub fn rays_per_second(&self) -> f64 {
        if self.rays == 0 { 0.0 } else { self.rays as f64 / self.times.least }
    }

    /// The part of the rays that met something; zero if there were none.
    pub fn hit_share(&self) -> f64 {
        if self.rays == 0 { 0.0 } else { self.hits as f64 / self.rays as f64 }
    }

    /// Nothing yet.
    const fn none(kind: RayKind) -> Self {
        Self { kind, camera_rays: 0, rays: 0, hits: 0, times: Times { least: 0.0, median: 0.0 } }
    }

    fn add(&mut self, part: &Self) {
        self.camera_rays += part.camera_rays;
        self.rays += part.rays;
        self.hits += part.hits;
        self.times.least += part.times.least;
        self.times.median += part.times.median;
    }
}

/// Who is told how it goes.
pub trait Observer {
    /// Rays of a kind are about to be traced, when a part of all is done.
    fn begin(&mut self, kind: RayKind, done: f64);
    /// Whether to end early.
    fn is_stopping(&self) -> bool;
}

/// [`crate::Machine::trace`].
pub(crate) fn trace<B: TimedBackend>(
    backend: &mut B,
    scene: &SceneData,
    samples: u32,
    observer: &mut dyn Observer,
) -> Result<(Vec<Traced>, bool), Unmeasured> {
    if Basic::FEATURES.contains(scene.features) {
        trace_by::<B, Simple>(backend, scene, samples, observer)
    } else {
        trace_by::<B, Any>(backend, scene, samples, observer)
    }
}

/// Stages that trace.
trait Tracers {
    /// Rays that lead the same way.
    type Coherent: Stage<Args = CoherentArgs>;
    /// Others.
    type Closest: Stage<Args = ClosestArgs>;
    /// Rays to lights.
    type Shadow: Stage<Args = OcclusionArgs>;
}

/// In scenes of few features.
struct Simple;

impl Tracers for Simple {
    type Coherent = stages::trace_coherent_basic;
    type Closest = stages::trace_closest_basic;
    type Shadow = stages::trace_shadow_basic;
}

/// In all scenes.
struct Any;

impl Tracers for Any {
    type Coherent = stages::trace_coherent;
    type Closest = stages::trace_closest;
    type Shadow = stages::trace_shadow;
}

/// [`trace`], by stages that know the features of the scene.
fn trace_by<B: TimedBackend, T: Tracers>(
    backend: &mut B,
    scene: &SceneData,
    samples: u32,
    observer: &mut dyn Observer,
) -> Result<(Vec<Traced>, bool), Unmeasured> {
    let invocations = invocations(scene, samples)?;
    backend.specialize(scene.features);
    let uploaded = Uploaded::new(backend, scene)?;
    let take = SampleArgs {
        scene: uploaded.view(scene),
        film: std::ptr::null_mut(),
        settings: scene.settings,
        width: scene.width,
        height: scene.height,
        layers: samples,
        first_sample: 0,
        samples,
        first_invocation: 0,
        invocations,
    };
    let most = (backend.parallelism() * RAYS_PER_THREAD).min(MOST_RAYS as usize) as u32;
    let batches = invocations.div_ceil(most);
    let mut bench = Bench::new(backend, take, invocations.div_ceil(batches))?;
    let mut all = RayKind::ALL.map(Traced::none);
    for batch in 0..batches {
        let part = |i: u32| (u64::from(invocations) * u64::from(i) / u64::from(batches)) as u32;
        let mut watch =
            Watch { observer, done: f64::from(batch) / f64::from(batches), of_all: f64::from(batches) };
        match bench.batch::<T>(backend, part(batch)..part(batch + 1), &mut watch) {
            Ok(traced) => all.iter_mut().zip(&traced).for_each(|(all, part)| all.add(part)),
            Err(Unmeasured::Stopped) => return Ok((all.into(), false)),
            Err(failure) => return Err(failure),
        }
    }
    Ok((all.into(), true))
}

/// Number of camera rays and of gaps between them, where tiles reach beyond the image.
fn invocations(scene: &SceneData, samples: u32) -> Result<u32, Unmeasured> {
    const MOST: u64 = i32::MAX as u64;
    let per_layer = SampleArgs::<()>::invocations_per_layer(scene.width, scene.height);
    match u64::from(per_layer) * u64::from(samples) {
        n @ ..=MOST => Ok(n as u32),
        n => Err(Unmeasured::TooLarge(format!("{n} rays are more than {MOST}, which indices can name"))),
    }
}

/// Reports a batch's progress to the observer.
struct Watch<'a> {
    observer: &'a mut dyn Observer,
    /// The part of all that is done when the batch begins.
    done: f64,
    /// Number of batches.
    of_all: f64,
}

impl Watch<'_> {
    /// Rays of a kind are about to be traced.
    fn begin(&mut self, kind: RayKind) -> Result<(), Unmeasured> {
        self.go_on()?;
        let part = kind as u32 as f64 / RayKind::ALL.len() as f64;
        self.observer.begin(kind, self.done + part / self.of_all);
        Ok(())
    }

    fn go_on(&self) -> Result<(), Unmeasured> {
        if self.observer.is_stopping() { Err(Unmeasured::Stopped) } else { Ok(()) }
    }
}

/// Rays in the memory of a machine.
struct RayBuffers<B: TimedBackend> {
    origins: B::Buf<Origin>,
    directions: B::Buf<Direction>,
}

impl<B: TimedBackend> RayBuffers<B> {
    fn new(backend: &mut B, n: usize) -> Result<Self, Error> {
        Ok(Self {
            origins: backend.zeroed("origins of rays", n)?,
            directions: backend.zeroed("directions of rays", n)?,
        })
    }

    fn view(&self) -> Rays {
        Rays { origins: self.origins.ptr(), directions: self.directions.ptr() }
    }
}

/// The rays of a batch, and what they meet.
struct Bench<B: TimedBackend> {
    take: SampleArgs<()>,
    /// As they are made, with gaps.
    made: RayBuffers<B>,
    /// Those that follow one another, of which the next are made.
    path: RayBuffers<B>,
    /// Those to lights.
    shadow: RayBuffers<B>,
    met: B::Buf<Met>,
    instances: B::Buf<u32>,
    /// Which of `made` are rays.
    live: B::Buf<u8>,
    /// Their indices; or, of shadow rays, whether they met something.
    words: B::Buf<u32>,
    count: B::Buf<u32>,
    temp: Temp<B>,
}

impl<B: TimedBackend> Bench<B> {
    /// Room for `most` rays.
    fn new(backend: &mut B, take: SampleArgs<()>, most: u32) -> Result<Self, Unmeasured> {
        let n = most as usize;
        let temp = Select::compact().temp_bytes(most).max(Reduce::<Sum<u32>>::default().temp_bytes(most));
        allocated(backend, n * BYTES_PER_RAY + temp, |b| {
            Ok(Self {
                take,
                made: RayBuffers::new(b, n)?,
                path: RayBuffers::new(b, n)?,
                shadow: RayBuffers::new(b, n)?,
                met: b.zeroed("hits", n)?,
                instances: b.zeroed("instances that are hit", n)?,
                live: b.zeroed("flags of rays", n)?,
                words: b.zeroed("indices of rays", n)?,
                count: b.zeroed("number of rays", 1)?,
                temp: Temp::new(b, temp)?,
            })
        })
    }

    /// Traces rays of each kind, from the camera rays in `range` on.
    fn batch<T: Tracers>(
        &mut self,
        backend: &mut B,
        range: Range<u32>,
        watch: &mut Watch<'_>,
    ) -> Result<[Traced; 4], Unmeasured> {
        watch.begin(RayKind::Primary)?;
        let primary = self.camera_rays(backend, range)?;
        let traced = |kind, rays: u32, hits: u32, times| Traced {
            kind,
            camera_rays: primary.into(),
            rays: rays.into(),
            hits: hits.into(),
            times,
        };
        let primary_times = self.time_coherent::<T::Coherent>(backend, primary, watch)?;
        watch.begin(RayKind::Shadow)?;
        let shadow = self.shadow_rays(backend, primary)?;
        let shadow_times = self.time_occlusion::<T::Shadow>(backend, shadow, watch)?;
        let occluded = self.occluded(backend, shadow)?;
        watch.begin(RayKind::FirstBounce)?;
        let first = self.bounce_rays(backend, primary, 0)?;
        let first_times = self.time_closest::<T::Closest>(backend, first, watch)?;
        watch.begin(RayKind::SecondBounce)?;
        let second = self.bounce_rays(backend, first, 1)?;
        let second_times = self.time_closest::<T::Closest>(backend, second, watch)?;
        // Of every hit comes a ray.
        let third = self.bounce_rays(backend, second, 2)?;
        Ok([
            traced(RayKind::Primary, primary, first, primary_times),
            traced(RayKind::Shadow, shadow, occluded, shadow_times),
            traced(RayKind::FirstBounce, first, second, first_times),
            traced(RayKind::SecondBounce, second, third, second_times),
        ])
    }

    /// Makes camera rays, and yields their number.
    fn camera_rays(&mut self, backend: &mut B, range: Range<u32>) -> Result<u32, Error> {
        let take =
            SampleArgs { first_invocation: range.start, invocations: range.end - range.start, ..self.take };
        let args = CameraRaysArgs { take, rays: self.made.view(), live: self.live.ptr() };
        // SAFETY: the buffers are alive until `compact` has waited, and have room for so many rays.
        unsafe { backend.launch::<stages::camera_rays>(args)? };
        self.compact(backend, take.invocations, RayKind::Primary)
    }

    /// Makes rays to lights from what `rays` rays have met, and yields their number.
    fn shadow_rays(&mut self, backend: &mut B, rays: u32) -> Result<u32, Error> {
        let args = self.next(rays, 0);
        // SAFETY: as in `camera_rays`.
        unsafe { backend.launch::<stages::shadow_rays>(args)? };
        self.compact(backend, rays, RayKind::Shadow)
    }

    /// Puts rays from what `rays` rays have met into their place, after `depth` bounces, and yields their number.
    fn bounce_rays(&mut self, backend: &mut B, rays: u32, depth: u32) -> Result<u32, Error> {
        let args = self.next(rays, depth);
        // SAFETY: as in `camera_rays`.
        unsafe { backend.launch::<stages::bounce_rays>(args)? };
        self.compact(backend, rays, RayKind::FirstBounce)
    }

    fn next(&self, count: u32, depth: u32) -> NextRaysArgs {
        NextRaysArgs {
            take: self.take,
            from: self.path.view(),
            hits: self.hits(),
            to: self.made.view(),
            live: self.live.ptr(),
            count,
            depth,
        }
    }

    fn hits(&self) -> Hits {
        Hits { met: self.met.ptr(), instances: self.instances.ptr() }
    }

    /// Takes those of the `n` rays just made that are rays to where those of their kind are traced, and yields their number.
    fn compact(&mut self, backend: &mut B, n: u32, kind: RayKind) -> Result<u32, Error> {
        let Self { made, live, words, count, temp, .. } = self;
        let to = if kind == RayKind::Shadow { &mut self.shadow } else { &mut self.path };
        Select::compact().indices(backend, live, words, count, Length::Host(n), temp)?;
        let rays = backend.download(count)?[0];
        Gather.run(backend, &made.origins, words, &mut to.origins, Length::Host(rays))?;
        Gather.run(backend, &made.directions, words, &mut to.directions, Length::Host(rays))?;
        backend.synchronize()?;
        Ok(rays)
    }

    /// Finds what camera rays meet.
    fn time_coherent<S: Stage<Args = CoherentArgs>>(
        &mut self,
        backend: &mut B,
        count: u32,
        watch: &Watch<'_>,
    ) -> Result<Times, Unmeasured> {
        let args = CoherentArgs(self.closest(count));
        // SAFETY: the buffers are alive until the times are known, and have room for so many rays.
        timed(backend, watch, |b| unsafe { b.launch::<S>(args) })
    }

    /// Finds what rays meet that have bounced.
    fn time_closest<S: Stage<Args = ClosestArgs>>(
        &mut self,
        backend: &mut B,
        count: u32,
        watch: &Watch<'_>,
    ) -> Result<Times, Unmeasured> {
        let args = self.closest(count);
        // SAFETY: as in `time_coherent`.
        timed(backend, watch, |b| unsafe { b.launch::<S>(args) })
    }

    fn closest(&self, count: u32) -> ClosestArgs {
        ClosestArgs { scene: self.take.scene, rays: self.path.view(), results: self.hits(), count }
    }

    /// Finds out which shadow rays meet anything.
    fn time_occlusion<S: Stage<Args = OcclusionArgs>>(
        &mut self,
        backend: &mut B,
        count: u32,
        watch: &Watch<'_>,
    ) -> Result<Times, Unmeasured> {
        let (scene, rays, results) = (self.take.scene, self.shadow.view(), self.words.ptr());
        let args = OcclusionArgs { scene, rays, results, count };
        // SAFETY: as in `time_coherent`.
        timed(backend, watch, |b| unsafe { b.launch::<S>(args) })
    }

    /// How many of the shadow rays met something.
    fn occluded(&mut self, backend: &mut B, rays: u32) -> Result<u32, Error> {
        let Self { words, count, temp, .. } = self;
        Reduce::<Sum<u32>>::default().run(backend, words, count, Length::Host(rays), temp)?;
        Ok(backend.download(count)?[0])
    }
}

/// Times of one call of `work`, after one that is not timed.
fn timed<B: TimedBackend>(
    backend: &mut B,
    watch: &Watch<'_>,
    mut work: impl FnMut(&mut B) -> Result<(), Error>,
) -> Result<Times, Unmeasured> {
    // The first call compiles kernels.
    backend.timed(&mut work)?;
    let start = Instant::now();
    let mut seconds = Vec::with_capacity(ROUNDS);
    while seconds.len() < FEWEST_ROUNDS || (seconds.len() < ROUNDS && start.elapsed() < ENOUGH) {
        watch.go_on()?;
        seconds.push(backend.timed(&mut work)?.as_secs_f64());
    }
    Ok(Times::of(seconds))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::assemble::Flattened;
    use torrance_gpu::backend::cpu::{Cpu, InstructionSet};
    use torrance_scene::{Overrides, load};

    /// A scene of the gallery, `width` by `height` pixels.
    fn scene(name: &str, width: u32, height: u32) -> SceneData {
        let path = format!("{}/../scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let overrides = Overrides { size: Some((width, height)), ..Overrides::default() };
        let description = load(path.as_ref(), &overrides).expect("it is a scene").description;
        Flattened::new(&description).and_then(Flattened::build).expect("it can be built")
    }

    /// Stops when it has been asked so often.
    struct Patience {
        left: Cell<u32>,
        begun: Vec<(RayKind, f64)>,
    }

    impl Observer for Patience {
        fn begin(&mut self, kind: RayKind, done: f64) {
            self.begun.push((kind, done));
        }

        fn is_stopping(&self) -> bool {
            self.left.replace(self.left.get().saturating_sub(1)) == 0
        }
    }

    fn patience(left: u32) -> Patience {
        Patience { left: Cell::new(left), begun: Vec::new() }
    }

    /// All but the times.
    fn counts(traced: &[Traced]) -> Vec<(RayKind, u64, u64, u64)> {
        traced.iter().map(|t| (t.kind, t.camera_rays, t.rays, t.hits)).collect()
    }

    #[test]
    fn all_instruction_sets_trace_the_same_rays_in_any_batches() {
        for (name, [width, height], samples) in [("cornell", [61, 37], 17), ("meadow", [40, 21], 2)] {
            let scene = scene(name, width, height);
            let on = |isa, threads| {
                let mut cpu = Cpu::with_instruction_set(Some(threads), isa).unwrap();
                let mut observer = patience(u32::MAX);
                let (traced, complete) = trace(&mut cpu, &scene, samples, &mut observer).unwrap();
                assert!(complete);
                (counts(&traced), observer.begun)
            };
            let (portable, begun) = on(InstructionSet::Portable, 1);
            let of_all: Vec<_> = portable.iter().map(|c| c.1).collect();
            assert_eq!(
                of_all,
                [u64::from(width * height * samples); 4],
                "{name}: every sample of every pixel"
            );
            let invocations = SampleArgs::<()>::invocations_per_layer(width, height) * samples;
            let batches = invocations.div_ceil(RAYS_PER_THREAD as u32) as usize;
            assert_eq!(begun.len(), 4 * batches, "{name}");
            assert!(
                begun.is_sorted_by(|a, b| a.1 < b.1) && begun[0].1 == 0.0 && begun[begun.len() - 1].1 < 1.0
            );
            for (isa, threads) in
                [(InstructionSet::Portable, 5), (InstructionSet::Avx2, 1), (InstructionSet::Avx512, 2)]
            {
                assert_eq!(on(isa, threads).0, portable, "{name}, {isa:?}, {threads} threads");
            }
        }
    }

    #[test]
    fn what_is_complete_when_it_has_to_end_counts() {
        let scene = scene("cornell", 64, 32);
        let mut cpu = Cpu::new(Some(1)).unwrap();
        let mut observer = patience(u32::MAX);
        let (all, _) = trace(&mut cpu, &scene, 32, &mut observer).unwrap();
        assert_eq!((all[0].camera_rays, observer.begun.len()), (1 << 16, 8), "two batches");
        // A batch asks at least as often as it has rounds, and before each kind.
        let fewest = 4 * (1 + FEWEST_ROUNDS as u32);
        let (none, complete) = trace(&mut cpu, &scene, 32, &mut patience(fewest - 1)).unwrap();
        assert!(!complete && none.iter().all(|t| (t.camera_rays, t.rays, t.hits) == (0, 0, 0)));
        assert!(none.iter().all(|t| t.rays_per_second() == 0.0 && t.hit_share() == 0.0));
        let most = 4 * (1 + ROUNDS as u32);
        let (some, complete) = trace(&mut cpu, &scene, 32, &mut patience(most)).unwrap();
        assert!(!complete && some.iter().all(|t| t.camera_rays == 1 << 15), "{some:?}");
    }

    #[test]
    fn more_rays_than_indices_are_refused() {
        let mut scene = scene("cornell", 64, 32);
        (scene.width, scene.height) = (1 << 15, 1 << 15);
        let refused = trace(&mut Cpu::new(Some(1)).unwrap(), &scene, 2, &mut patience(u32::MAX));
        let Err(Unmeasured::TooLarge(reason)) = refused else { panic!("{refused:?}") };
        assert_eq!(reason, "2147483648 rays are more than 2147483647, which indices can name");
    }
}
