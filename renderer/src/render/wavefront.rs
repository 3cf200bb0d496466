//! The wavefront on the side of the host: rounds of stages over a pool of paths, as [`device::path::wavefront`] describes
//! them. A pass is queued as a whole; how far it is, the host looks up when it should be over.

pub(super) mod fit;
mod order;
mod paths;
mod rounds;

use device::features::Features;
use device::path::stage::stages;
use device::path::wavefront::{ALIGNMENT, Counters, Pool};
use device::path::{MegakernelArgs, TracingArgs, WavefrontArgs};
use primitives::Ptr;
use torrance_gpu::backend::{Buffer, Error, Place};
use torrance_gpu::primitives::{Length, PartitionByKey, Primitives, Select, Temp};

use super::Kernel;
use super::stage_times::{Clock, StageTimes, Step, StepTime};
use crate::assemble::SceneData;

use order::{Order, RayOrder, families};
use rounds::Rounds;

pub use paths::{Paths, When};

/// Paths begin when one slot in so many is free. Those that begin together are of neighbouring pixels, and go on together:
/// a few at a time, wherever one has ended, are slower.
const ENOUGH: u32 = 4;

/// Most paths of a pass: what they gather takes up to 512 MiB.
const MOST_PATHS: u32 = 1 << 25;

/// The stages in the kinds that a scene takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kinds {
    /// Whether rays meet nothing but triangles and spheres in the world.
    basic_rays: bool,
    /// Whether light to be tested for occlusion does, and nothing has holes.
    basic_light: bool,
    shade: Kernel,
}

impl Kinds {
    const fn for_scene(scene: &SceneData) -> Self {
        let basic_rays = !scene.features.intersects(Features::INSTANCES.and(Features::SHAPES));
        let basic_light = basic_rays && !scene.features.intersects(Features::CUTOUTS);
        Self { basic_rays, basic_light, shade: Kernel::for_scene(scene) }
    }
}

/// The pool, and all that rounds need, in the memory of a back end.
pub(super) struct Wavefront<B: Primitives> {
    paths: Paths,
    kinds: Kinds,
    /// Features that kernels need for the scene, and for each family.
    features: Features,
    families: Vec<Features>,
    /// Present if there are several families.
    order: Option<Order<B>>,
    ray_order: Option<RayOrder<B>>,
    pub(super) pool: B::Buf<u64>,
    pub(super) gathered: B::Buf<u64>,
    /// Most paths that there is room to gather of, as far as is known.
    most_gathered: u32,
    alive: B::Buf<u8>,
    shadow: B::Buf<u8>,
    queue: B::Buf<u32>,
    alive_count: B::Buf<u32>,
    live_count: B::Buf<u32>,
    shadow_queue: B::Buf<u32>,
    shadow_count: B::Buf<u32>,
    pub(super) counters: B::Buf<Counters>,
    temp: Temp<B>,
    rounds: Rounds,
    /// If times are taken.
    clock: Option<Clock<B>>,
}

/// Rounds to queue where they were too few.
const MORE: u32 = 4;

/// Words of a buffer that has room for so many bytes from where it is aligned.
const fn aligned_words(bytes: usize) -> usize {
    (bytes + ALIGNMENT).div_ceil(8)
}

/// Words of what the paths of a pass gather.
fn gathered_words(take: &MegakernelArgs) -> usize {
    aligned_words(WavefrontArgs::paths(take) as usize * Paths::BYTES_PER_PATH)
}

/// The first address of a buffer that is a multiple of [`ALIGNMENT`].
fn aligned<T>(buffer: &impl Buffer<u64>) -> Ptr<T> {
    let start = buffer.ptr().cast::<u8>();
    Ptr::new(start.wrapping_add(start.addr().next_multiple_of(ALIGNMENT) - start.addr())).cast()
}

impl<B: Primitives> Wavefront<B> {
    /// Takes the memory for paths of a scene, of a render of `most` paths.
    pub(super) fn new(backend: &mut B, scene: &SceneData, paths: Paths, most: u64) -> Result<Self, Error> {
        let paths = Paths { pool: fit::slots(paths, most), ..paths };
        let slots = paths.pool as usize;
        let families = families(scene, paths);
        let order = if families.len() > 1 { Some(Order::new(backend, scene, slots)?) } else { None };
        let ray_order = RayOrder::new(backend, scene, paths)?;
        let bytes = Pool::offsets(slots)[Pool::COLUMNS.len()];
        Ok(Self {
            paths,
            kinds: Kinds::for_scene(scene),
            features: scene.features,
            families,
            order,
            ray_order,
            pool: backend.zeroed("paths under way", aligned_words(bytes))?,
            gathered: backend.zeroed("what paths gather", 0)?,
            most_gathered: u32::MAX,
            alive: backend.zeroed("which paths are alive", slots)?,
            shadow: backend.zeroed("which paths wait for light", slots)?,
            queue: backend.zeroed("queue of paths", slots)?,
            alive_count: backend.zeroed("number of paths", 1)?,
            live_count: backend.zeroed("number of live paths", 1)?,
            shadow_queue: backend.zeroed("queue of shadow rays", slots)?,
            shadow_count: backend.zeroed("number of shadow rays", 1)?,
            counters: backend.zeroed("counters of paths", 1)?,
            temp: Temp::new(backend, fit::temp_bytes(scene, paths))?,
            rounds: Rounds::UNKNOWN,
            clock: None,
        })
    }

    /// Most paths that a pass may have.
    pub(super) fn most_paths(&self) -> u32 {
        MOST_PATHS.max(self.paths.pool)
    }

    /// Takes the samples of `take` into its film: a pass.
    ///
    /// # Safety
    /// As [`torrance_gpu::backend::Backend::launch`] of the megakernel; and [`Wavefront::hold`] has taken the memory for the pass.
    pub(super) unsafe fn run(&mut self, backend: &mut B, take: MegakernelArgs) -> Result<(), Error> {
        let paths = WavefrontArgs::paths(&take);
        let mut args = self.args(take);
        // The last round has no path: that tells that the pass is over.
        let mut more = self.rounds.predict(paths, self.paths.pool) + 1;
        let counters = loop {
            for _ in 0..more {
                for step in Step::of_round() {
                    // SAFETY: as the caller promised.
                    unsafe { self.timed_step(backend, step, args)? };
                }
                args.round += 1;
            }
            if let Some(clock) = &mut self.clock {
                clock.mark(backend, None)?;
            }
            let counters = backend.download(&self.counters)?[0];
            if counters.live == 0 {
                self.rounds = Rounds::learnt(&counters, paths);
                break counters;
            }
            more = MORE;
        };
        args.invocations = take.invocations;
        // SAFETY: as the caller promised.
        unsafe { self.timed_step(backend, Step::Accumulate, args)? };
        match &mut self.clock {
            Some(clock) => clock.pass(backend, &counters, paths),
            None => Ok(()),
        }
    }

    /// Takes the memory for what the paths of a pass gather.
    pub(super) fn hold(&mut self, backend: &mut B, take: &MegakernelArgs) -> Result<(), Error> {
        let words = gathered_words(take);
        if self.gathered.len() < words {
            // There need not be room for both.
            self.gathered = backend.zeroed("what paths gather", 0)?;
            self.gathered = backend.zeroed("what paths gather", words)?;
        }
        Ok(())
    }

    /// Number of slots.
    pub(super) const fn slots(&self) -> usize {
        self.paths.pool as usize
    }

    /// The flags of slots, with their names.
    pub(super) fn flags(&mut self) -> [(&'static str, &mut B::Buf<u8>); 2] {
        [("alive", &mut self.alive), ("shadow", &mut self.shadow)]
    }

    /// Queues, and how long they are, with their names.
    pub(super) fn numbers(&mut self) -> Vec<(&'static str, &mut B::Buf<u32>)> {
        let mut numbers = vec![
            ("queue", &mut self.queue),
            ("alive_count", &mut self.alive_count),
            ("live_count", &mut self.live_count),
            ("shadow_queue", &mut self.shadow_queue),
            ("shadow_count", &mut self.shadow_count),
        ];
        if let Some(RayOrder { keys, sorted_keys, queue }) = &mut self.ray_order {
            numbers.push(("ray_keys", keys));
            numbers.push(("sorted_ray_keys", sorted_keys));
            numbers.push(("ray_queue", queue));
        }
        if let Some(Order { keys, sorted_keys, queue, starts, .. }) = &mut self.order {
            numbers.push(("keys", keys));
            numbers.push(("sorted_keys", sorted_keys));
            numbers.push(("shade_queue", queue));
            numbers.push(("starts", starts));
        }
        numbers
    }

    /// The arguments of all stages of a pass.
    pub(super) fn args(&self, take: MegakernelArgs) -> WavefrontArgs {
        let of_order = |which: fn(&Order<B>) -> &B::Buf<u32>| match &self.order {
            Some(order) => Ptr::new(which(order).ptr()),
            None => Ptr::NULL,
        };
        let [queue, shadow_queue] = [&self.queue, &self.shadow_queue].map(|queue| Ptr::new(queue.ptr()));
        let ray_order = self.ray_order.as_ref();
        let in_order = |queue| ray_order.map_or(queue, |order| Ptr::new(order.queue.ptr()));
        WavefrontArgs {
            take,
            pool: Pool::new(aligned(&self.pool), self.paths.pool as usize),
            invocations: self.paths.pool,
            capacity: self.paths.pool,
            round: 0,
            gathered: aligned(&self.gathered),
            alive: Ptr::new(self.alive.ptr()),
            shadow: Ptr::new(self.shadow.ptr()),
            queue,
            live_count: Ptr::new(self.live_count.ptr()),
            ray_queue: in_order(queue),
            ray_keys: ray_order.map_or(Ptr::NULL, |order| Ptr::new(order.keys.ptr())),
            families: of_order(|order| &order.families),
            keys: of_order(|order| &order.keys),
            shade_queue: if self.order.is_some() { of_order(|order| &order.queue) } else { queue },
            starts: of_order(|order| &order.starts),
            family: 0,
            alive_count: Ptr::new(self.alive_count.ptr()),
            shadow_queue,
            light_queue: in_order(shadow_queue),
            shadow_count: Ptr::new(self.shadow_count.ptr()),
            compact: self.paths.compact.into(),
            enough: if self.paths.regenerate { self.paths.pool.div_ceil(ENOUGH) } else { self.paths.pool },
            counters: Ptr::new(self.counters.ptr()),
            curve: self.clock.as_ref().map_or(Ptr::NULL, Clock::curve),
        }
    }

    /// Queues a step of a round, or the end of a pass, and takes its time if that is wanted.
    ///
    /// # Safety
    /// As [`Wavefront::run`].
    unsafe fn timed_step(&mut self, backend: &mut B, step: Step, args: WavefrontArgs) -> Result<(), Error> {
        if !self.does(step) {
            return Ok(());
        }
        if let Some(clock) = &mut self.clock {
            clock.mark(backend, Some(step))?;
        }
        // SAFETY: as the caller promised.
        unsafe { self.run_step(backend, step, args) }
    }

    /// Whether rounds have a step.
    pub(super) fn does(&self, step: Step) -> bool {
        match step {
            Step::OrderRays | Step::OrderLight => self.ray_order.is_some(),
            Step::Sort => self.order.is_some(),
            Step::Compact => self.paths.compact,
            _ => true,
        }
    }

    /// Queues a step of a round, or the end of a pass.
    ///
    /// # Safety
    /// As [`Wavefront::run`].
    pub(super) unsafe fn run_step(
        &mut self,
        backend: &mut B,
        step: Step,
        args: WavefrontArgs,
    ) -> Result<(), Error> {
        let Kinds { basic_rays, basic_light, shade } = self.kinds;
        // SAFETY: as the caller promised; the buffers are those of `self`, which outlives the pass.
        unsafe {
            match step {
                Step::Cull | Step::Sort | Step::Compact => self.keep_together(backend, step),
                Step::OrderRays => {
                    backend.launch::<stages::ray_keys>(args)?;
                    self.keep_together(backend, step)
                }
                Step::OrderLight => {
                    backend.launch::<stages::light_keys>(args)?;
                    self.keep_together(backend, step)
                }
                Step::Generate => backend.launch::<stages::generate>(args),
                Step::Extend if basic_rays => backend.launch::<stages::extend_basic>(TracingArgs(args)),
                Step::Extend => backend.launch::<stages::extend>(TracingArgs(args)),
                Step::Shade => match shade {
                    Kernel::Basic => backend.launch::<stages::shade_basic>(args),
                    Kernel::Glass => backend.launch::<stages::shade_glass>(args),
                    Kernel::Full | Kernel::Guided => {
                        for_each_family(backend, &self.families, self.features, |b, family| {
                            let args = WavefrontArgs { family, ..args };
                            match self.kinds.shade {
                                Kernel::Guided => b.launch::<stages::shade_guided>(args),
                                _ => b.launch::<stages::shade>(args),
                            }
                        })
                    }
                },
                Step::Connect if basic_light => backend.launch::<stages::connect_basic>(TracingArgs(args)),
                Step::Connect => backend.launch::<stages::connect>(TracingArgs(args)),
                Step::Accumulate => backend.launch::<stages::accumulate>(args),
            }
        }
    }

    /// Queues a step that traces no path, but keeps them together: by the primitives.
    fn keep_together(&mut self, backend: &mut B, step: Step) -> Result<(), Error> {
        let Self { queue, alive_count, live_count, shadow_queue, shadow_count, temp, .. } = self;
        let most = self.paths.pool;
        let slots = Length::Host(most);
        let live = Length::Device { count: live_count, most };
        match (step, &mut self.ray_order, &mut self.order) {
            (Step::Cull, ..) => {
                Select::partition().indices(backend, &self.alive, queue, alive_count, slots, temp)
            }
            (Step::Compact, ..) => {
                Select::compact().indices(backend, &self.shadow, shadow_queue, shadow_count, slots, temp)
            }
            (Step::OrderRays, Some(order), _) => order.run(backend, queue, live, temp),
            (Step::OrderLight, Some(order), _) => {
                order.run(backend, shadow_queue, Length::Device { count: shadow_count, most }, temp)
            }
            (Step::Sort, ray_order, Some(order)) => {
                let queue = ray_order.as_ref().map_or(&*queue, |rays| &rays.queue);
                let sorted = (&mut order.sorted_keys, &mut order.queue);
                PartitionByKey.run(backend, (&order.keys, queue), sorted, &mut order.starts, live, temp)
            }
            // Other steps are stages, and some wavefronts do not order anything.
            _ => Ok(()),
        }
    }

    /// Takes times from here on.
    pub(super) fn take_times(&mut self, backend: &mut B) -> Result<(), Error> {
        let mut steps = Vec::new();
        for step in Step::all().filter(|step| self.does(*step)) {
            // What is not queued is not counted.
            let counted = self.paths.compact || step != Step::Connect;
            steps.push(StepTime::new(step, counted, self.occupancy(backend, step)?));
        }
        self.clock = Some(Clock::new(backend, self.paths.pool, steps)?);
        Ok(())
    }

    /// The times that were taken.
    pub(super) fn times(self) -> Option<StageTimes> {
        self.clock.map(|clock| clock.times)
    }

    /// The least and the most of the machine that the kernels of a step fill.
    fn occupancy(&self, backend: &mut B, step: Step) -> Result<Option<[f32; 2]>, Error> {
        let Kinds { basic_rays, basic_light, shade } = self.kinds;
        let of_one = match step {
            Step::Cull | Step::OrderRays | Step::Sort | Step::Compact | Step::OrderLight => None,
            Step::Generate => backend.occupancy::<stages::generate>()?,
            Step::Extend if basic_rays => backend.occupancy::<stages::extend_basic>()?,
            Step::Extend => backend.occupancy::<stages::extend>()?,
            Step::Shade => match shade {
                Kernel::Basic => backend.occupancy::<stages::shade_basic>()?,
                Kernel::Glass => backend.occupancy::<stages::shade_glass>()?,
                Kernel::Full | Kernel::Guided => return self.occupancy_of_families(backend),
            },
            Step::Connect if basic_light => backend.occupancy::<stages::connect_basic>()?,
            Step::Connect => backend.occupancy::<stages::connect>()?,
            Step::Accumulate => backend.occupancy::<stages::accumulate>()?,
        };
        Ok(of_one.map(|x| [x; 2]))
    }

    fn occupancy_of_families(&self, backend: &mut B) -> Result<Option<[f32; 2]>, Error> {
        let mut range: Option<[f32; 2]> = None;
        for_each_family(backend, &self.families, self.features, |b, _| {
            let occupancy = match self.kinds.shade {
                Kernel::Guided => b.occupancy::<stages::shade_guided>()?,
                _ => b.occupancy::<stages::shade>()?,
            };
            if let Some(x) = occupancy {
                range = Some(range.map_or([x; 2], |[least, most]| [least.min(x), most.max(x)]));
            }
            Ok(())
        })?;
        Ok(range)
    }
}

/// Calls `work` for each family, by kernels that know no other.
fn for_each_family<B: Primitives>(
    backend: &mut B,
    families: &[Features],
    of_scene: Features,
    mut work: impl FnMut(&mut B, u32) -> Result<(), Error>,
) -> Result<(), Error> {
    let done = families.iter().zip(0..).try_for_each(|(features, family)| {
        backend.specialize(*features);
        work(backend, family)
    });
    backend.specialize(of_scene);
    done
}

/// Makes the stages ready.
pub(super) fn prepare<B: Primitives>(backend: &mut B, scene: &SceneData, paths: Paths) -> Result<(), Error> {
    let kinds = Kinds::for_scene(scene);
    backend.prepare::<stages::generate>()?;
    match kinds.basic_rays {
        true => backend.prepare::<stages::extend_basic>()?,
        false => backend.prepare::<stages::extend>()?,
    }
    match kinds.shade {
        Kernel::Basic => backend.prepare::<stages::shade_basic>()?,
        Kernel::Glass => backend.prepare::<stages::shade_glass>()?,
        Kernel::Guided => for_each_family(backend, &families(scene, paths), scene.features, |backend, _| {
            backend.prepare::<stages::shade_guided>()
        })?,
        Kernel::Full => for_each_family(backend, &families(scene, paths), scene.features, |backend, _| {
            backend.prepare::<stages::shade>()
        })?,
    }
    match kinds.basic_light {
        true => backend.prepare::<stages::connect_basic>()?,
        false => backend.prepare::<stages::connect>()?,
    }
    backend.prepare::<stages::accumulate>()?;
    // Nothing uses its memory, which the last of several renders may have left no room for.
    let mut smallest = backend
        .placing(Place::Anywhere, |backend| Wavefront::new(backend, scene, Paths { pool: 1, ..paths }, 1))?;
    if smallest.ray_order.is_some() {
        backend.prepare::<stages::ray_keys>()?;
        backend.prepare::<stages::light_keys>()?;
    }
    backend.prepare_primitives(|backend| {
        Step::of_round().try_for_each(|step| smallest.keep_together(backend, step))
    })
}

#[cfg(test)]
mod tests {
    use super::order::by_key;
    use super::*;

    /// Of everything that there is for a slot, in scenes with both orders.
    #[test]
    fn slots_are_small() {
        let slots = 1 << 23;
        let columns = Paths::BYTES_PER_SLOT + 2 * Paths::BYTES_PER_ORDER;
        let temp = by_key().pairs_temp_bytes::<u32>(slots) as f64 / f64::from(slots);
        assert!((8.0..9.0).contains(&temp), "docs/wavefront.md says otherwise: {temp}");
        assert!(columns as f64 + temp <= 192.0, "{columns} + {temp}");
    }
}
