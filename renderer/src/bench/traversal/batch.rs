//! One batch of rays of each kind: made, compacted, traced and timed.

use std::ops::Range;
use std::time::{Duration, Instant};

use device::path::SampleArgs;
use device::path::stage::{Stage, stages};
use device::path::trace::{
    CameraRaysArgs, ClosestArgs, CoherentArgs, Direction, Hits, NextRaysArgs, OcclusionArgs, Origin,
    PrimitiveHit, Rays,
};
use torrance_gpu::backend::{Buffer, Error};
use torrance_gpu::primitives::{Gather, Length, Reduce, Select, Sum, Temp};

use super::super::measure::Times;
use super::super::memory::allocated;
use super::super::{MeasureError, TimedBackend};
use super::{RayKind, RayTiming, Tracers, Watch};

/// Bytes that the buffers have for each ray of a batch.
const BYTES_PER_RAY: usize = 3 * 32 + 20 + 4 + 1;
/// How often a batch is traced, if there is time.
pub(super) const ROUNDS: usize = 10;
/// How often it is, whatever the time.
pub(super) const FEWEST_ROUNDS: usize = 3;
/// How long to trace the same batch again.
const ENOUGH: Duration = Duration::from_millis(500);

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

/// The rays of a batch, and their hits.
pub(super) struct Batch<B: TimedBackend> {
    take: SampleArgs<()>,
    /// New rays, with gaps.
    made: RayBuffers<B>,
    /// Compacted rays of the paths, from which the next are made.
    path: RayBuffers<B>,
    /// Compacted shadow rays.
    shadow: RayBuffers<B>,
    met: B::Buf<PrimitiveHit>,
    instances: B::Buf<u32>,
    /// Which of `made` are rays.
    live: B::Buf<u8>,
    /// Their indices; or, of shadow rays, whether they met something.
    words: B::Buf<u32>,
    count: B::Buf<u32>,
    temp: Temp<B>,
}

impl<B: TimedBackend> Batch<B> {
    /// Room for `most` rays.
    pub(super) fn new(backend: &mut B, take: SampleArgs<()>, most: u32) -> Result<Self, MeasureError> {
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
    pub(super) fn trace<T: Tracers>(
        &mut self,
        backend: &mut B,
        range: Range<u32>,
        watch: &mut Watch<'_>,
    ) -> Result<[RayTiming; 4], MeasureError> {
        watch.begin(RayKind::Primary)?;
        let primary = self.camera_rays(backend, range)?;
        let traced = |kind, rays: u32, hits: u32, times| RayTiming {
            kind,
            camera_rays: primary.into(),
            rays: rays.into(),
            hits: hits.into(),
            times,
        };
        let args = CoherentArgs(self.closest(primary));
        // SAFETY: the buffers are alive until the times are known, and have room for so many rays.
        let primary_times = unsafe { timed::<B, T::Coherent>(backend, args, watch)? };
        watch.begin(RayKind::Shadow)?;
        let shadow = self.next_rays::<stages::shadow_rays>(backend, RayKind::Shadow, primary, 0)?;
        let (scene, rays, results) = (self.take.scene, self.shadow.view(), self.words.ptr());
        let args = OcclusionArgs { scene, rays, results, count: shadow };
        // SAFETY: as above.
        let shadow_times = unsafe { timed::<B, T::Shadow>(backend, args, watch)? };
        let occluded = self.occluded(backend, shadow)?;
        watch.begin(RayKind::FirstBounce)?;
        let first = self.next_rays::<stages::bounce_rays>(backend, RayKind::FirstBounce, primary, 0)?;
        // SAFETY: as above.
        let first_times = unsafe { timed::<B, T::Closest>(backend, self.closest(first), watch)? };
        watch.begin(RayKind::SecondBounce)?;
        let second = self.next_rays::<stages::bounce_rays>(backend, RayKind::SecondBounce, first, 1)?;
        // SAFETY: as above.
        let second_times = unsafe { timed::<B, T::Closest>(backend, self.closest(second), watch)? };
        // Of every hit comes a ray.
        let third = self.next_rays::<stages::bounce_rays>(backend, RayKind::SecondBounce, second, 2)?;
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

    /// Makes rays of a kind from the hits of `count` rays, after `depth` bounces, and returns their number. Those that bounce
    /// replace the ones that they come from.
    fn next_rays<S: Stage<Args = NextRaysArgs>>(
        &mut self,
        backend: &mut B,
        kind: RayKind,
        count: u32,
        depth: u32,
    ) -> Result<u32, Error> {
        let args = NextRaysArgs {
            take: self.take,
            from: self.path.view(),
            hits: self.hits(),
            to: self.made.view(),
            live: self.live.ptr(),
            count,
            depth,
        };
        // SAFETY: as in `camera_rays`.
        unsafe { backend.launch::<S>(args)? };
        self.compact(backend, count, kind)
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

    fn closest(&self, count: u32) -> ClosestArgs {
        ClosestArgs { scene: self.take.scene, rays: self.path.view(), results: self.hits(), count }
    }

    /// How many of the shadow rays met something.
    fn occluded(&mut self, backend: &mut B, rays: u32) -> Result<u32, Error> {
        let Self { words, count, temp, .. } = self;
        Reduce::<Sum<u32>>::default().run(backend, words, count, Length::Host(rays), temp)?;
        Ok(backend.download(count)?[0])
    }
}

/// Times of one launch of a stage, after one that is not timed.
///
/// # Safety
/// As [`torrance_gpu::backend::Backend::launch`], until the last has ended.
unsafe fn timed<B: TimedBackend, S: Stage>(
    backend: &mut B,
    args: S::Args,
    watch: &Watch<'_>,
) -> Result<Times, MeasureError> {
    // SAFETY: as the caller promised.
    let mut work = |backend: &mut B| unsafe { backend.launch::<S>(args) };
    // The first call compiles kernels.
    backend.timed(&mut work)?;
    let start = Instant::now();
    let mut seconds = Vec::with_capacity(ROUNDS);
    while seconds.len() < FEWEST_ROUNDS || (seconds.len() < ROUNDS && start.elapsed() < ENOUGH) {
        watch.go_on()?;
        seconds.push(backend.timed(&mut work)?.as_secs_f64());
    }
    Ok(Times::from_seconds(seconds))
}
