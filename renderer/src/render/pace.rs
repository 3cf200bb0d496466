//! How large launches and passes are.

use std::time::Duration;

use torrance_gpu::backend::Backend;
use torrance_gpu::primitives::Primitives;

use super::tracer::Tracer;
use crate::assemble::SceneData;

/// How many films to spread the samples of a pixel over, for the image alone to fill the machine.
pub(super) fn layers<B: Backend>(backend: &B, scene: &SceneData, spp: u32) -> u32 {
    if B::FOLDS_FILMS {
        return 1;
    }
    let pixels = scene.width as usize * scene.height as usize;
    (backend.parallelism().div_ceil(pixels) as u32).clamp(1, 64).min(spp)
}

/// Samples of a pixel that are added up before the host takes them over ([`Backend::FOLDS_FILMS`]), of an image of a size: 64, and
/// more where that would be a moment's work. Where ranges of samples end at multiples of it, images of a CPU that are merged
/// are the image of all their samples, to the last bit.
pub(super) const fn chunk(width: u32, height: u32) -> u32 {
    const PATHS: u64 = 1 << 24;
    let pixels = width as u64 * height as u64;
    let samples = PATHS.div_ceil(if pixels == 0 { 1 } else { pixels }).next_power_of_two();
    if samples < 64 { 64 } else { samples as u32 }
}

/// How long launches take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Launches {
    /// A tenth or a fifth of a second, or a second where paths make walks: as long as machines want them.
    #[default]
    Efficient,
    /// Short ones first, of which each traces a little less than it could. They grow with the render.
    Prompt,
}

/// Bounds of the time that a prompt launch may take.
const PROMPT: [Duration; 2] = [Duration::from_millis(8), Duration::from_millis(40)];

impl Launches {
    /// How long a launch may take when the render has gone on for so long.
    pub(super) fn at(self, elapsed: Duration) -> Duration {
        /// Of the time that a render has taken, how much its next launch may take.
        const PART: u32 = 8;
        match self {
            Self::Efficient => Duration::MAX,
            Self::Prompt => (elapsed / PART).clamp(PROMPT[0], PROMPT[1]),
        }
    }

    /// Whether they have grown up by then: rates of short ones say little about those of long ones.
    pub(super) fn have_grown(self, elapsed: Duration) -> bool {
        self.at(elapsed) >= PROMPT[1]
    }
}

/// Size of the launches, learnt from how long they take.
pub(super) struct Pace {
    /// Paths that a launch should trace.
    pub(super) paths: f64,
    /// Paths that it may trace at most.
    most: f64,
    /// Time that it should take.
    target: Duration,
}

/// Fewest paths of a launch.
const LEAST_PATHS: f64 = 32.0;

impl Pace {
    /// Begins with a few paths for every thread, since nothing is known of the scene yet.
    pub(super) fn new<B: Primitives>(parallelism: usize, tracer: &Tracer<B>) -> Self {
        let most = tracer.most_paths();
        let first = Self::first_paths(parallelism);
        Self { paths: first.min(most).min(tracer.first_paths()), most, target: tracer.target() }
    }

    /// Paths of a first launch, if the integrator does not ask for fewer.
    pub(super) const fn first_paths(parallelism: usize) -> f64 {
        parallelism as f64 * 8.0
    }

    /// From here on, launches should take no longer than `target`.
    pub(super) fn limit(&mut self, target: Duration) {
        if target < self.target {
            self.paths = (self.paths * target.as_secs_f64() / self.target.as_secs_f64()).max(LEAST_PATHS);
        }
        self.target = target;
    }

    pub(super) fn learn(&mut self, paths: f64, took: Duration) {
        let ideal = paths * self.target.as_secs_f64() / took.as_secs_f64().max(1e-6);
        // Parts of an image differ in cost: grow with care, shrink at once.
        self.paths = ideal.min(self.paths * 4.0).min(self.most).max(LEAST_PATHS);
    }
}

/// Least number of samples that an invocation takes in a pass, of a render that has `taken` so many: some side by side are faster on
/// machines that want it. Passes grow little by little, as one that is stopped leaves some pixels with more samples than others;
/// more slowly, where a render is watched or stops by time.
pub(super) fn least_samples<B: Backend>(taken: u32, is_gradual: bool) -> u32 {
    let least = if is_gradual { taken / 4 } else { taken.saturating_mul(4) };
    least.clamp(1, B::SIDE_BY_SIDE)
}

/// One pass over the image.
pub(super) struct Pass {
    pub(super) samples: u32,
    layers: u32,
}

impl Pass {
    /// As many samples as make up one launch, but at least some of an invocation, and whole multiples of `layers` if possible.
    pub(super) fn new(paths: f64, invocations: u32, layers: u32, least: u32, remaining: u32) -> Self {
        let per_invocation = (paths / f64::from(invocations)).floor().clamp(1.0, 1024.0) as u32;
        let per_invocation = per_invocation.max(least);
        Self { samples: per_invocation.saturating_mul(layers).min(remaining), layers }
    }

    /// So many samples of each invocation, in one layer.
    pub(super) const fn of_samples(samples: u32) -> Self {
        Self { samples, layers: 1 }
    }

    /// Paths of one invocation, on average.
    pub(super) fn per_invocation(&self) -> f64 {
        f64::from(self.samples) / f64::from(self.layers)
    }

    pub(super) fn paths(&self, invocations: u32) -> f64 {
        self.per_invocation() * f64::from(invocations)
    }

    /// Invocations that trace about `paths`, in whole tiles.
    pub(super) fn invocations(&self, paths: f64) -> u32 {
        let n = (paths / self.per_invocation()).clamp(32.0, f64::from(u32::MAX / 2)) as u32;
        n.next_multiple_of(128)
    }
}
