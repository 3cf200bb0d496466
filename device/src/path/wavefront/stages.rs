//! The stages: thin. What they do to a path is in [`crate::path::step`].

use core::marker::PhantomData;
use core::ops::Range;

use glam::Vec3;
use primitives::{Ptr, Quad};

use super::coherence::ray_key;
use super::{TracingArgs, WavefrontArgs};
use crate::arch::{Real, load, read, write};
use crate::bvh::{Arch, Hit, Rays};
use crate::features::{Compiled, Full};
use crate::path::megakernel::Invocation;
use crate::path::stage::Function;
use crate::path::step::{self, ShadowRay, sees_holes, visibility};
use crate::path::trace::in_packets;
use crate::ray::Ray;
use crate::shape::Primitive;

/// Reads one of the counters, which the stage does not write.
macro_rules! counter {
    ($args:expr, $($field:tt)*) => {
        read(&raw const (*$args.counters.at(0)).$($field)*)
    };
}

impl WavefrontArgs {
    /// Says what the ray of the path in `slot`, at `place` in the queue, has met.
    ///
    /// # Safety
    /// The hit is on the scene, and slot and place are this thread's.
    #[inline(always)]
    unsafe fn met<C: Compiled>(&self, place: u32, slot: u32, hit: &Hit) {
        // SAFETY: as the caller promised; the primitive's material is in range.
        unsafe {
            self.pool.put_hit::<C>(slot, &self.take.scene, hit);
            if !self.families.is_null() {
                let family = if hit.is_hit() {
                    let prim = self.take.scene.prims.add(hit.prim as usize);
                    let material = load(&raw const (*prim).material_flags) & !Primitive::FLAGS;
                    load(self.families.at(material))
                } else {
                    0
                };
                write(self.keys.at(place), family);
            }
        }
    }

    /// Number of places at which there may be paths, or shadow rays: as many as are counted if they are queued.
    ///
    /// # Safety
    /// As [`Extend::run`]; the count is one of the arguments'.
    #[inline(always)]
    unsafe fn places(&self, count: Ptr<u32>) -> u32 {
        // SAFETY: as the caller promised.
        unsafe { if self.compact == 0 { self.capacity } else { read(count.at(0)) } }
    }

    /// The slot at place `i` of a queue; or slot `i` if there are no queues, and it is flagged.
    ///
    /// # Safety
    /// As [`Extend::run`]; queue and flags are of the arguments, and there is such a place.
    #[inline(always)]
    unsafe fn slot(&self, i: u32, queue: Ptr<u32>, flags: Ptr<u8>) -> Option<u32> {
        // SAFETY: as the caller promised.
        unsafe {
            match self.compact {
                0 => (flags.at(i).read() != 0).then_some(i),
                _ => Some(read(queue.at(i))),
            }
        }
    }

    /// The slot of the path that invocation `i` shades, if there is one.
    ///
    /// # Safety
    /// As [`Shade::run`].
    #[inline(always)]
    unsafe fn slot_to_shade(&self, i: u32) -> Option<u32> {
        // SAFETY: as the caller promised.
        unsafe {
            if self.compact == 0 {
                return self.slot(i, self.queue, self.alive);
            }
            let [begin, end] = self.shaded_places();
            (i < end - begin).then(|| read(self.shade_queue.at(begin + i)))
        }
    }

    /// Adds the shadow rays of this round to those of the pass.
    ///
    /// # Safety
    /// The counters are valid, and nobody else writes or reads this one.
    #[inline(always)]
    unsafe fn count_shadow_rays(&self) {
        // SAFETY: as the caller promised.
        unsafe {
            if self.compact != 0 {
                let before = if self.round == 0 { 0 } else { counter!(self, shadow_rays) };
                let rays = u64::from(read(self.shadow_count.at(0)));
                write(&raw mut (*self.counters.at(0)).shadow_rays, before + rays);
            }
        }
    }
}

/// The stage that begins paths.
pub struct Generate;

impl Function for Generate {
    type Args = WavefrontArgs;

    /// Puts the next paths of the pass into free slots, if there are enough of them, and counts how many are under way.
    ///
    /// # Safety
    /// The pointers in `args` are valid, and the queue is a partition of the slots.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &WavefrontArgs) {
        let WavefrontArgs { take, pool, .. } = args;
        // SAFETY: as the caller promised; free slots are nobody's, and only this invocation has this one.
        unsafe {
            let (alive, next) = begin(args);
            let free = if args.capacity - alive >= args.enough { args.capacity - alive } else { 0 };
            let started = free.min(WavefrontArgs::paths(take) - next);
            if i == 0 {
                count(args, alive + started, next + started);
            }
            if i >= started {
                return;
            }
            let (slot, number) = (read(args.queue.at(alive + i)), next + i);
            let (pixel, sample) = take.path(number);
            let state = take.begin::<Full>(pixel, sample);
            pool.put::<Full>(slot, &state, number);
            args.alive.at(slot).write(1);
            write(args.gathered.at(number), Quad([0.0, 0.0, 0.0, state.weight]));
        }
    }
}

/// How many slots have a path, and the number of the next path.
///
/// # Safety
/// The counters are valid.
#[inline(always)]
unsafe fn begin(args: &WavefrontArgs) -> (u32, u32) {
    // SAFETY: as the caller promised.
    unsafe {
        let alive = read(args.alive_count.at(0));
        let next = if args.round == 0 { 0 } else { counter!(args, next[args.round as usize % 2]) };
        (alive, next)
    }
}

/// Writes the counters of a round with `live` paths, after which `next` comes next.
///
/// # Safety
/// The counters are valid, and nobody else writes them.
#[inline(always)]
unsafe fn count(args: &WavefrontArgs, live: u32, next: u32) {
    // SAFETY: as the caller promised; there is room for that many rounds.
    unsafe {
        let counters = args.counters.at(0);
        let (mut rounds, mut segments) = match args.round {
            0 => (0, 0),
            _ => (counter!(args, rounds), counter!(args, segments)),
        };
        if live > 0 {
            if !args.curve.is_null() && rounds < WavefrontArgs::MOST_ROUNDS {
                write(args.curve.at(rounds), live);
            }
            rounds += 1;
            segments += u64::from(live);
        }
        write(&raw mut (*counters).live, live);
        write(args.live_count.at(0), live);
        write(&raw mut (*counters).rounds, rounds);
        write(&raw mut (*counters).segments, segments);
        write(&raw mut (*counters).next[(args.round as usize + 1) % 2], next);
    }
}

/// The stage by which rays are sorted.
pub struct RayKeys;

impl Function for RayKeys {
    type Args = WavefrontArgs;

    /// Says where each ray belongs in the order in which they are traced.
    ///
    /// # Safety
    /// The pointers in `args` are valid, and rays are sorted.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &WavefrontArgs) {
        // SAFETY: as the caller promised; the queue has so many slots, each with a path.
        unsafe {
            if i < read(args.live_count.at(0)) {
                put_key(i, &args.pool.ray(read(args.queue.at(i))), args);
            }
        }
    }
}

/// The stage by which shadow rays are sorted.
pub struct LightKeys;

impl Function for LightKeys {
    type Args = WavefrontArgs;

    /// The same for shadow rays.
    ///
    /// # Safety
    /// As [`RayKeys::run`].
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &WavefrontArgs) {
        // SAFETY: as the caller promised; the queue has so many slots, each with a shadow ray.
        unsafe {
            if i < read(args.shadow_count.at(0)) {
                put_key(i, &args.pool.shadow_ray(read(args.shadow_queue.at(i))).0.ray, args);
            }
        }
    }
}

/// # Safety
/// The scene is valid, and place `i` is this thread's.
#[inline(always)]
unsafe fn put_key(i: u32, ray: &Ray, args: &WavefrontArgs) {
    let scene = &args.take.scene;
    // SAFETY: as the caller promised. Where there are instances, most that rays meet is in the tree of them.
    unsafe { write(args.ray_keys.at(i), ray_key(&*scene.nodes.add(scene.instances_root as usize), ray)) };
}

/// A ray that meets nothing, where there is none.
const NO_RAY: (Ray, f32) = (Ray { o: Vec3::ZERO, d: Vec3::Z }, -1.0);

/// The rays of the paths under way.
struct PathRays<'a, C>(&'a WavefrontArgs, PhantomData<C>);

impl<C> PathRays<'_, C> {
    /// The slot of ray `i`, if it has one.
    ///
    /// # Safety
    /// As [`Extend::run`], and there is such a place.
    #[inline(always)]
    unsafe fn slot(&self, i: u32) -> Option<u32> {
        let Self(args, _) = self;
        // SAFETY: as the caller promised.
        unsafe { args.slot(i, args.ray_queue, args.alive) }
    }
}

impl<C: Compiled> Rays for PathRays<'_, C> {
    #[inline(always)]
    unsafe fn ray(&self, i: u32) -> (Ray, f32) {
        // SAFETY: as the caller promised.
        match unsafe { self.slot(i) } {
            // SAFETY: as above.
            Some(slot) => (unsafe { self.0.pool.ray(slot) }, f32::INFINITY),
            None => NO_RAY,
        }
    }

    #[inline(always)]
    unsafe fn tell(&self, i: u32, hit: &Hit) {
        // SAFETY: as the caller promised; every slot is once in the queue.
        unsafe {
            if let Some(slot) = self.slot(i) {
                self.0.met::<C>(i, slot, hit);
            }
        }
    }
}

/// The stage that traces rays, for scenes that ask for no features but those of `C`.
pub struct Extend<C>(PhantomData<C>);

impl<C: Compiled> Function for Extend<C> {
    type Args = TracingArgs;

    /// Finds what rays meet.
    ///
    /// # Safety
    /// The pointers in `args` are valid, the scene asks for no features but those of `C`, and the machine is an `A`. On a GPU
    /// whole warps call this together.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, TracingArgs(args): &TracingArgs) {
        // SAFETY: as the caller promised.
        unsafe {
            let rays = PathRays::<C>(args, PhantomData);
            A::trace::<C, false>(&args.take.scene, &rays, i, args.places(args.live_count));
        }
    }

    /// As [`Extend::run`], for each in `range`: by packets, where the machine has them.
    ///
    /// # Safety
    /// As [`Extend::run`], for each.
    #[inline(always)]
    unsafe fn run_range<A: Arch>(range: Range<u32>, all: &TracingArgs) {
        let TracingArgs(args) = all;
        // SAFETY: as the caller promised.
        unsafe {
            if A::Packet::LANES == 1 {
                return range.for_each(|i| Self::run::<A>(i, all));
            }
            let range = range.start..range.end.min(args.places(args.live_count));
            in_packets::<A, C, false>(
                range,
                &args.take.scene,
                &PathRays::<C>(args, PhantomData),
                args.take.scene.strays,
            );
        }
    }
}

/// The stage that shades, for scenes that ask for no features but those of `C`.
pub struct Shade<C>(PhantomData<C>);

impl<C: Compiled> Function for Shade<C> {
    type Args = WavefrontArgs;

    /// Gathers what is emitted where a ray has led, prepares direct light, and draws the next ray or ends the path.
    ///
    /// # Safety
    /// As [`Extend::run`], which has run.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &WavefrontArgs) {
        let WavefrontArgs { take, pool, .. } = args;
        // SAFETY: as the caller promised; every slot is once in the queue.
        unsafe {
            let Some(slot) = args.slot_to_shade(i) else {
                return;
            };
            let (mut state, number) = pool.path::<C>(slot);
            let Quad([x, y, z, weight]) = read(args.gathered.at(number));
            let before = Vec3::new(x, y, z);
            state.l = before;
            let shaded = step::shade::<A, C>(
                &take.scene,
                &take.settings,
                &mut state,
                &pool.hit::<C>(slot, &take.scene),
            );
            if state.l != before {
                write(args.gathered.at(number), Quad([state.l.x, state.l.y, state.l.z, weight]));
            }
            if let Some(shadow) = &shaded.shadow {
                pool.put_shadow_ray(slot, shadow, number);
            }
            args.shadow.at(slot).write(u8::from(shaded.shadow.is_some()));
            if shaded.alive {
                pool.put::<C>(slot, &state, number);
            } else {
                args.alive.at(slot).write(0);
            }
        }
    }
}

/// The rays to lights.
struct LightRays<'a>(&'a WavefrontArgs);

impl Rays for LightRays<'_> {
    #[inline(always)]
    unsafe fn ray(&self, i: u32) -> (Ray, f32) {
        // SAFETY: as the caller promised.
        unsafe {
            let Some(slot) = self.slot(i) else { return NO_RAY };
            let (shadow, _) = self.0.pool.shadow_ray(slot);
            (shadow.ray, shadow.t_max)
        }
    }

    #[inline(always)]
    unsafe fn tell(&self, i: u32, hit: &Hit) {
        // SAFETY: as the caller promised.
        unsafe { self.lit(i, |_| if hit.is_hit() { 0.0 } else { 1.0 }) };
    }
}

impl LightRays<'_> {
    /// The slot of ray `i`, if it has one.
    ///
    /// # Safety
    /// As [`Connect::run`], and there is such a place.
    #[inline(always)]
    unsafe fn slot(&self, i: u32) -> Option<u32> {
        let Self(args) = self;
        // SAFETY: as the caller promised.
        unsafe { args.slot(i, args.light_queue, args.shadow) }
    }

    /// Adds what shadow ray `i` brings, as far as `visible` says that it is.
    ///
    /// # Safety
    /// There is such a ray, and nobody else tells of it.
    #[inline(always)]
    unsafe fn lit(&self, i: u32, visible: impl FnOnce(&ShadowRay) -> f32) {
        let Self(args) = self;
        // SAFETY: as the caller promised; every slot is once in the queue, and every path in one slot.
        unsafe {
            let Some(slot) = self.slot(i) else { return };
            args.shadow.at(slot).write(0);
            let (shadow, number) = args.pool.shadow_ray(slot);
            let visible = visible(&shadow);
            if visible > 0.0 {
                let Quad([x, y, z, weight]) = read(args.gathered.at(number));
                let l = Vec3::new(x, y, z) + shadow.ld * visible;
                write(args.gathered.at(number), Quad([l.x, l.y, l.z, weight]));
            }
        }
    }
}

/// The stage that traces shadow rays, for scenes that ask for no features but those of `C`.
pub struct Connect<C>(PhantomData<C>);

impl<C: Compiled> Function for Connect<C> {
    type Args = TracingArgs;

    /// Adds direct light where nothing hides it.
    ///
    /// # Safety
    /// As [`Extend::run`], for the queue of shadow rays.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, TracingArgs(args): &TracingArgs) {
        let (scene, rays) = (&args.take.scene, LightRays(args));
        // SAFETY: as the caller promised.
        unsafe {
            if i == 0 {
                args.count_shadow_rays();
            }
            let count = args.places(args.shadow_count);
            if sees_holes::<C>(scene) {
                A::each_ray(i, count, |i| rays.lit(i, |shadow| visibility::<A, C>(scene, shadow)));
            } else {
                A::trace::<C, true>(scene, &rays, i, count);
            }
        }
    }

    /// As [`Connect::run`], for each in `range`: by packets, where the machine has them.
    ///
    /// # Safety
    /// As [`Connect::run`], for each.
    #[inline(always)]
    unsafe fn run_range<A: Arch>(range: Range<u32>, all: &TracingArgs) {
        let TracingArgs(args) = all;
        // SAFETY: as the caller promised.
        unsafe {
            if A::Packet::LANES == 1 || sees_holes::<C>(&args.take.scene) {
                return range.for_each(|i| Self::run::<A>(i, all));
            }
            if range.start == 0 {
                args.count_shadow_rays();
            }
            let range = range.start..range.end.min(args.places(args.shadow_count));
            in_packets::<A, C, true>(range, &args.take.scene, &LightRays(args), args.take.scene.strays);
        }
    }
}

/// The stage that adds paths that have ended to the film.
pub struct Accumulate;

impl Function for Accumulate {
    type Args = WavefrontArgs;

    /// Adds the samples of one pixel in one layer to the film, in their order.
    ///
    /// # Safety
    /// The pointers in `args` are valid, and all paths of the pass have ended.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &WavefrontArgs) {
        let take = &args.take;
        // SAFETY: as the caller promised.
        let invocation = unsafe { take.invocation(i) };
        let Some(Invocation { film, first_sample: mut sample, end, .. }) = invocation else { return };
        let mut number = i;
        // SAFETY: as the caller promised; pixel and layer are in range, and no other invocation has both.
        unsafe {
            let mut pixel = *film;
            while sample < end {
                let Quad([x, y, z, weight]) = read(args.gathered.at(number));
                pixel.add(weight * Vec3::new(x, y, z));
                sample += take.layers;
                number += take.invocations;
            }
            *film = pixel;
        }
    }
}
