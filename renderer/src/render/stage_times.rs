//! Stage times of a wavefront: for each step of its rounds the time and the amount of work.

use std::time::Duration;

use device::path::WavefrontArgs;
use device::path::wavefront::Counters;
use primitives::Ptr;
use torrance_gpu::backend::{Backend, Buffer, Error};

/// A step of a round, in the order of rounds; or the end of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Finds which slots have a path, and which are free.
    Cull,
    /// Begins paths.
    Generate,
    /// Orders rays, so that those that go the same way are traced together.
    OrderRays,
    /// Finds what rays meet.
    Extend,
    /// Orders paths by the family of the material that they have met.
    Sort,
    /// Scatters, at what was met.
    Shade,
    /// Finds which slots wait for light.
    Compact,
    /// Orders the rays to lights.
    OrderLight,
    /// Finds whether something is in the way of light.
    Connect,
    /// Adds what paths have gathered to the film: at the end of a pass.
    Accumulate,
}

/// Every step, with its name and the items that it processes.
const STEPS: [(Step, &str, Items); 10] = [
    (Step::Cull, "cull", Items::Slots),
    (Step::Generate, "generate", Items::Paths),
    (Step::OrderRays, "order-rays", Items::Segments),
    (Step::Extend, "extend", Items::Segments),
    (Step::Sort, "sort", Items::Segments),
    (Step::Shade, "shade", Items::Segments),
    (Step::Compact, "compact", Items::Slots),
    (Step::OrderLight, "order-light", Items::ShadowRays),
    (Step::Connect, "connect", Items::ShadowRays),
    (Step::Accumulate, "accumulate", Items::Paths),
];

// They are in the order of the type, by which they are looked up.
const _: () = {
    let mut i = 0;
    while i < STEPS.len() {
        assert!(STEPS[i].0 as usize == i);
        i += 1;
    }
};

impl Step {
    /// All steps.
    pub fn all() -> impl Iterator<Item = Self> {
        STEPS.iter().map(|(step, ..)| *step)
    }

    /// The steps of a round.
    pub fn of_round() -> impl Iterator<Item = Self> {
        Self::all().filter(|step| *step != Self::Accumulate)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        STEPS[self as usize].1
    }

    /// Whether it does not trace paths, but only keeps them together.
    pub const fn is_bookkeeping(self) -> bool {
        matches!(self, Self::Cull | Self::OrderRays | Self::Sort | Self::Compact | Self::OrderLight)
    }

    /// The items that it processes.
    pub const fn items(self) -> Items {
        STEPS[self as usize].2
    }
}

/// Units of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Items {
    /// Slots of the pool, with and without a path.
    Slots,
    /// Paths.
    Paths,
    /// Segments of paths.
    Segments,
    /// Shadow rays.
    ShadowRays,
}

impl Items {
    /// Their name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slots => "slots",
            Self::Paths => "paths",
            Self::Segments => "segments",
            Self::ShadowRays => "shadow rays",
        }
    }
}

/// Time and work of a step, summed over all rounds of a render.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepTime {
    /// Which step.
    pub step: Step,
    /// How often it ran. In the last rounds of a pass, which the host queues before it knows that all paths have ended, there
    /// may be nothing to do.
    pub runs: u64,
    /// How long in all.
    pub time: Duration,
    /// How much it worked on, of [`Step::items`]; shadow rays are not counted if they are not queued.
    pub items: Option<u64>,
    /// The least and the most of the threads that the machine could hold which it holds meanwhile, 0 to 1, of the kernels
    /// that do this step; `None` on a CPU, and for what is not a stage.
    pub occupancy: Option<[f32; 2]>,
}

impl StepTime {
    /// No time yet. `counted` tells whether items are counted.
    pub(super) fn new(step: Step, counted: bool, occupancy: Option<[f32; 2]>) -> Self {
        Self { step, runs: 0, time: Duration::ZERO, items: counted.then_some(0), occupancy }
    }

    /// Items a second, if they were counted.
    pub fn throughput(&self) -> Option<f64> {
        let seconds = self.time.as_secs_f64();
        self.items.filter(|_| seconds > 0.0).map(|items| items as f64 / seconds)
    }
}

/// Stage times of a render.
#[derive(Debug, Clone, PartialEq)]
pub struct StageTimes {
    /// Its steps, in the order of a round.
    pub steps: Vec<StepTime>,
    /// Slots of the pool.
    pub pool: u32,
    /// Passes, each of which traced its paths to their end.
    pub passes: u64,
    /// Rounds of all passes that had paths.
    pub rounds: u64,
    /// The pass with the most paths, the last of several: its paths.
    pub paths: u32,
    /// How many paths were under way in each of its rounds, the first [`WavefrontArgs::MOST_ROUNDS`] of them.
    pub curve: Vec<u32>,
}

impl StageTimes {
    /// Time of all steps.
    pub fn total(&self) -> Duration {
        self.steps.iter().map(|step| step.time).sum()
    }

    /// Fraction of the time that a step took, 0 to 1.
    pub fn share(&self, step: &StepTime) -> f64 {
        step.time.as_secs_f64() / self.total().as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Fraction of the time that was spent on keeping paths together, 0 to 1.
    pub fn bookkeeping(&self) -> f64 {
        self.steps.iter().filter(|p| p.step.is_bookkeeping()).map(|p| self.share(p)).sum()
    }
}

/// Takes the times of a wavefront.
pub(super) struct Clock<B: Backend> {
    /// Moments at which steps of the pass began, or work between them ended.
    moments: Vec<(Option<Step>, B::Moment)>,
    curve: B::Buf<u32>,
    /// Times measured so far.
    pub(super) times: StageTimes,
}

impl<B: Backend> Clock<B> {
    /// A clock for steps that have taken no time yet.
    pub(super) fn new(backend: &mut B, pool: u32, steps: Vec<StepTime>) -> Result<Self, Error> {
        Ok(Self {
            moments: Vec::new(),
            curve: backend.zeroed("paths by round", WavefrontArgs::MOST_ROUNDS as usize)?,
            times: StageTimes { steps, pool, passes: 0, rounds: 0, paths: 0, curve: Vec::new() },
        })
    }

    /// Where rounds tell how many paths they have.
    pub(super) fn curve(&self) -> Ptr<u32> {
        Ptr::new(self.curve.ptr())
    }

    /// Attributes the time from here on to `step`, or to nothing.
    pub(super) fn mark(&mut self, backend: &mut B, step: Option<Step>) -> Result<(), Error> {
        self.moments.push((step, backend.moment()?));
        Ok(())
    }

    /// A pass of so many paths has been queued, and counted its work. Waits for it.
    pub(super) fn pass(&mut self, backend: &mut B, counters: &Counters, paths: u32) -> Result<(), Error> {
        self.mark(backend, None)?;
        backend.synchronize()?;
        let Self { moments, times, .. } = self;
        for pair in moments.windows(2) {
            let took = backend.between(&pair[0].1, &pair[1].1)?;
            if let Some(time) = times.steps.iter_mut().find(|time| Some(time.step) == pair[0].0) {
                time.runs += 1;
                time.time += took;
            }
        }
        moments.clear();
        for time in &mut times.steps {
            let Some(items) = &mut time.items else { continue };
            match time.step.items() {
                Items::Slots => *items = time.runs * u64::from(times.pool),
                Items::Paths => *items += u64::from(paths),
                Items::Segments => *items += counters.segments,
                Items::ShadowRays => *items += counters.shadow_rays,
            }
        }
        times.passes += 1;
        times.rounds += u64::from(counters.rounds);
        if paths >= times.paths {
            times.paths = paths;
            times.curve = backend.download(&self.curve)?;
            times.curve.truncate(counters.rounds as usize);
        }
        Ok(())
    }
}
