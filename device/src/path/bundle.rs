//! Paths of one thread side by side: all that are alive take a step together, so that their rays can be traced by packets,
//! and the processor has work from other paths where one waits. Each path computes the same as in [`super::megakernel`].

use core::mem::MaybeUninit;
use core::ops::Range;

use glam::Vec3;

use super::begin::Beginnings;
use super::family::{Families, room};
use super::landing::Landed;
use super::megakernel::Invocation;
use super::sky::{self, Leaving};
use super::step::{
    Arrived, Scatterer, Shaded, ShadowRay, arrive, gather_infinite, is_clipped, sees_holes, sees_mipmaps,
    visibility,
};
use super::{MegakernelArgs, PathSettings, PathState};
use crate::bvh::packet::{self, HitColumns, RayColumns, sort_by_octant};
use crate::bvh::{Arch, Hit};
use crate::features::{Compiled, Features};
use crate::film::FilmPixel;
use crate::light::Environment;
use crate::scene::SceneView;

/// Paths side by side: enough for packets of rays into one octant each, few enough for all of about 1.1 kB that each has in columns
/// to stay in the second-level cache.
const WIDTH: usize = 512;

/// How many hits before it is shaded the normals of one are asked for, and how many before that its primitive.
const ASKED_FOR: usize = 8;

/// Paths under way, and the rays that they wait for.
struct Bundle {
    states: [MaybeUninit<PathState>; WIDTH],
    films: [MaybeUninit<*mut FilmPixel>; WIDTH],
    beginnings: Beginnings<WIDTH>,
    /// Number of paths.
    len: usize,
    /// Indices of the paths that are alive.
    alive: [u16; WIDTH],
    rays: RayColumns<WIDTH>,
    hits: HitColumns<WIDTH>,
    /// Shadow rays, with their paths, their light, and how many holes they may pass.
    shadow_rays: RayColumns<WIDTH>,
    shadow_of: [u16; WIDTH],
    ld: [Vec3; WIDTH],
    holes: [u32; WIDTH],
    /// Places of those whose hits are shaded one by one.
    others: [u16; WIDTH],
    /// Those that scatter.
    families: Families<{ room(WIDTH) }>,
    /// Those that leave the scene.
    leaving: Leaving<{ room(WIDTH) }>,
}

/// Runs the megakernel's invocations in `range`.
///
/// # Safety
/// As [`Megakernel::run`], for every invocation.
#[inline(always)]
pub(super) unsafe fn run<A: Arch, C: Compiled>(range: Range<u32>, args: &MegakernelArgs) {
    let mut bundle = Bundle::new();
    // SAFETY: as the caller promised.
    for invocation in range.filter_map(|i| unsafe { args.invocation(i) }) {
        // SAFETY: as the caller promised.
        unsafe { bundle.take_samples::<A, C>(invocation, args) };
    }
    // SAFETY: as the caller promised.
    unsafe { bundle.follow::<A, C>(args) };
}

impl Bundle {
    #[inline(always)]
    fn new() -> Self {
        // SAFETY: all fields are numbers, of which zeros are valid, or `MaybeUninit`.
        let mut bundle: Self = unsafe { MaybeUninit::zeroed().assume_init() };
        // Which group a hit is in is not written where a scene has none.
        bundle.hits = HitColumns::zeroed();
        bundle
    }

    /// Takes all samples of an invocation, in their order. They are side by side: rays through one pixel lead the same way, and
    /// so do often those that they are reflected to.
    ///
    /// # Safety
    /// As [`Megakernel::run`], for this invocation.
    #[inline(always)]
    unsafe fn take_samples<A: Arch, C: Compiled>(
        &mut self,
        Invocation { pixel, film, first_sample, end }: Invocation<FilmPixel>,
        args: &MegakernelArgs,
    ) {
        for sample in (first_sample..end).step_by(args.layers.max(1) as usize) {
            self.films[self.len].write(film);
            self.beginnings.set(self.len, pixel, sample);
            self.len += 1;
            if self.len == WIDTH {
                // SAFETY: as the caller promised.
                unsafe { self.follow::<A, C>(args) };
            }
        }
    }

    /// Path `i`.
    ///
    /// # Safety
    /// `i` < `len`.
    #[inline(always)]
    unsafe fn state(&mut self, i: u16) -> &mut PathState {
        debug_assert!(usize::from(i) < self.len);
        // SAFETY: paths below `len` have been written.
        unsafe { self.states.get_unchecked_mut(usize::from(i)).assume_init_mut() }
    }

    /// Begins all paths, follows them to their ends, and puts them onto the film, in the order in which they were begun.
    ///
    /// # Safety
    /// As [`Megakernel::run`], for the pixels of the paths.
    #[inline(always)]
    unsafe fn follow<A: Arch, C: Compiled>(&mut self, args: &MegakernelArgs) {
        let MegakernelArgs { scene, settings, width, height, .. } = args;
        let size = [*width, *height];
        // SAFETY: as the caller promised.
        unsafe {
            let paths = (&mut self.states, &mut self.rays);
            self.beginnings.begin::<C>(scene, settings, size, paths, self.len);
        }
        let mut alive = self.len;
        for (i, path) in self.alive[..alive].iter_mut().enumerate() {
            *path = i as u16;
        }
        // SAFETY: as the caller promised; the first `alive` of `self.alive` are indices of paths.
        unsafe {
            // Rays from the camera lead the same way.
            self.trace::<A, C>(scene, alive, packet::FEWEST_STRAYS);
            loop {
                alive = self.shade::<A, C>(scene, settings, alive);
                if alive == 0 {
                    break;
                }
                self.extend::<A, C>(scene, alive);
            }
            self.put_on_films();
        }
        self.len = 0;
    }

    /// Puts what all paths have gathered onto the film.
    ///
    /// # Safety
    /// As [`Bundle::follow`].
    #[inline(always)]
    unsafe fn put_on_films(&mut self) {
        let mut i = 0;
        while i < self.len {
            // SAFETY: films of paths below `len` have been written, and are valid.
            let film = unsafe { &mut *self.films[i].assume_init() };
            // A copy, which stays in registers for all paths of the pixel.
            let mut pixel = *film;
            // SAFETY: as above.
            while i < self.len && core::ptr::eq(unsafe { self.films[i].assume_init() }, film) {
                // SAFETY: the path has begun.
                pixel.add(unsafe { self.state(i as u16) }.contribution());
                i += 1;
            }
            *film = pixel;
        }
    }

    /// Finds the hits of the paths' rays.
    ///
    /// # Safety
    /// `scene` is valid, the first `alive` of `self.alive` are indices of paths, and the machine is an `A`.
    #[inline(always)]
    unsafe fn extend<A: Arch, C: Compiled>(&mut self, scene: &SceneView, alive: usize) {
        // SAFETY: as the caller promised; the paths alive are among those begun.
        unsafe {
            let states = &self.states;
            sort_by_octant(&mut self.alive, alive, |i| {
                states.get_unchecked(usize::from(i)).assume_init_ref().ray.d
            });
            for k in 0..alive {
                let ray = self.state(self.alive[k]).ray;
                self.rays.set(k, ray, f32::INFINITY);
            }
            self.trace::<A, C>(scene, alive, scene.strays);
        }
    }

    /// Finds the hits of the first `len` of `self.rays`, of which up to `strays` of a packet go on alone.
    ///
    /// # Safety
    /// `scene` is valid and asks for no features but those of `C`, `len` ≤ `WIDTH`, and the machine is an `A`.
    #[inline(always)]
    unsafe fn trace<A: Arch, C: Compiled>(&mut self, scene: &SceneView, len: usize, strays: u32) {
        // SAFETY: as the caller promised.
        unsafe {
            packet::intersect::<A, C, false, WIDTH>(scene, &mut self.rays, len, &mut self.hits, strays);
        }
    }

    /// Shades the hits, and adds the direct light that is not occluded. Returns how many paths go on: the first of
    /// `self.alive`.
    ///
    /// # Safety
    /// As [`Bundle::extend`]; the first `alive` of `self.hits` are those of these paths' rays.
    #[inline(always)]
    unsafe fn shade<A: Arch, C: Compiled>(
        &mut self,
        scene: &SceneView,
        settings: &PathSettings,
        alive: usize,
    ) -> usize {
        // SAFETY: as the caller promised.
        let sky = if C::sees(Features::LIGHTS) { unsafe { sky::image(scene) } } else { None };
        let mut others = 0;
        // Of a scene that fits in the caches, nothing has to be asked for beforehand.
        let asks = scene.strays == packet::MOST_STRAYS;
        for k in 0..alive {
            let path = self.alive[k];
            let hit = self.hits.get(k);
            let later = |k: usize| (k < alive).then(|| self.hits.get(k).prim);
            // SAFETY: as the caller promised; the path is among those begun.
            unsafe {
                if asks {
                    Landed::ask(scene, later(k + ASKED_FOR), later(k + 2 * ASKED_FOR));
                }
                let state = self.states.get_unchecked_mut(usize::from(path)).assume_init_mut();
                if sky.is_some() && !hit.is_hit() {
                    self.leaving.add(path, state.ray.d);
                } else if let Some(landed) = land::<C>(scene, state, &hit) {
                    if state.depth + 1 < settings.max_depth {
                        self.families.land(path, &landed);
                    }
                } else {
                    self.others[others] = k as u16;
                    others += 1;
                }
            }
        }
        // SAFETY: as the caller promised.
        unsafe { self.families.rise::<C>(scene, settings, self.states.as_ptr().cast()) };
        let mut go_on = 0;
        for i in 0..others {
            let k = usize::from(self.others[i]);
            let path = self.alive[k];
            // SAFETY: as the caller promised; the path is among those begun.
            let shaded = unsafe {
                let state = self.states.get_unchecked_mut(usize::from(path)).assume_init_mut();
                let later = Later { families: &mut self.families, path };
                arrive::<C, _>(scene, settings, state, &self.hits.get(k), later)
            };
            // No place is written that is still to be read: others come in order.
            self.alive[go_on] = path;
            go_on += usize::from(shaded.alive);
        }
        // SAFETY: as the caller promised.
        unsafe {
            if let Some(sky) = &sky {
                self.leave::<C>(scene, settings, sky);
            }
            self.scatter::<A, C>(scene, settings, sky.as_ref(), go_on)
        }
    }

    /// Gathers what the paths that leave the scene see.
    ///
    /// # Safety
    /// As [`Bundle::extend`]; `sky` is the [`sky::image`] of the scene.
    #[inline(always)]
    unsafe fn leave<C: Compiled>(&mut self, scene: &SceneView, settings: &PathSettings, sky: &Environment) {
        // SAFETY: as the caller promised; the paths are among those begun.
        unsafe {
            self.leaving.look(sky);
            for i in 0..self.leaving.len {
                let (path, radiance, pdf) = self.leaving.get(scene, sky, i);
                gather_infinite::<C>(scene, settings, self.state(path), Some((radiance, pdf)));
            }
        }
        self.leaving.len = 0;
    }

    /// Scatters the paths that have come to where they do, and adds the direct light that is not occluded. Returns how many
    /// paths go on, after `go_on` others.
    ///
    /// # Safety
    /// As [`Bundle::leave`], with `sky` if there is one; the first `go_on` of `self.alive` are indices of paths that do not
    /// scatter.
    #[inline(always)]
    unsafe fn scatter<A: Arch, C: Compiled>(
        &mut self,
        scene: &SceneView,
        settings: &PathSettings,
        sky: Option<&Environment>,
        mut go_on: usize,
    ) -> usize {
        // SAFETY: as the caller promised.
        unsafe { self.families.scatter::<C>(scene, settings, sky, self.states.as_mut_ptr().cast()) };
        let mut shadow_rays = 0;
        for i in 0..self.families.len() {
            let (path, shadow_ray, alive) = self.families.get(i);
            if let Some(shadow) = shadow_ray {
                self.shadow_rays.set(shadow_rays, shadow.ray, shadow.t_max);
                self.ld[shadow_rays] = shadow.ld;
                self.holes[shadow_rays] = shadow.holes;
                self.shadow_of[shadow_rays] = path;
                shadow_rays += 1;
            }
            if alive {
                self.alive[go_on] = path;
                go_on += 1;
            }
        }
        self.families.clear();
        // SAFETY: as the caller promised; there are no more rays than paths.
        unsafe { self.connect::<A, C>(scene, shadow_rays) };
        go_on
    }

    /// Adds the direct light that is not occluded.
    ///
    /// # Safety
    /// `scene` is valid, `self.shadow_of` are indices of paths up to `shadow_rays` ≤ `WIDTH`, and the machine is an `A`.
    #[inline(always)]
    unsafe fn connect<A: Arch, C: Compiled>(&mut self, scene: &SceneView, shadow_rays: usize) {
        if sees_holes::<C>(scene) {
            // SAFETY: as the caller promised.
            return unsafe { self.connect_through_holes::<A, C>(scene, shadow_rays) };
        }
        // SAFETY: as the caller promised.
        unsafe {
            let (rays, hits) = (&mut self.shadow_rays, &mut self.hits);
            packet::intersect::<A, C, true, WIDTH>(scene, rays, shadow_rays, hits, scene.strays);
        }
        for k in 0..shadow_rays {
            if !self.hits.get(k).is_hit() {
                let ld = self.ld[k];
                // SAFETY: the paths alive are among those begun.
                unsafe { self.state(self.shadow_of[k]).l += ld };
            }
        }
    }

    /// As [`Bundle::connect`], where light may come through holes: one ray at a time.
    ///
    /// # Safety
    /// As [`Bundle::connect`].
    #[inline(always)]
    unsafe fn connect_through_holes<A: Arch, C: Compiled>(&mut self, scene: &SceneView, shadow_rays: usize) {
        for k in 0..shadow_rays {
            let (ray, t_max) = self.shadow_rays.get(k);
            let shadow = ShadowRay { ray, t_max, ld: self.ld[k], holes: self.holes[k] };
            // SAFETY: as the caller promised; the paths alive are among those begun.
            unsafe { self.state(self.shadow_of[k]).l += shadow.ld * visibility::<A, C>(scene, &shadow) };
        }
    }
}

/// The landing of a path at a hit, if the surface is simple and the path sees it.
///
/// # Safety
/// As [`Bundle::extend`]; `hit` is that of the path's ray.
#[inline(always)]
unsafe fn land<C: Compiled>(scene: &SceneView, state: &mut PathState, hit: &Hit) -> Option<Landed> {
    if !hit.is_hit() || is_clipped::<C>(scene, state, hit.t) {
        return None;
    }
    // SAFETY: as the caller promised.
    let landed = unsafe { Landed::new::<C>(scene, hit) }?;
    if sees_mipmaps::<C>(scene) {
        state.cone.travel(hit.t);
    }
    Some(landed)
}

/// Leaves a path for later where it scatters.
struct Later<'b> {
    families: &'b mut Families<{ room(WIDTH) }>,
    path: u16,
}

impl Arrived<'_> for Later<'_> {
    #[inline(always)]
    unsafe fn scatter<C: Compiled>(
        self,
        scene: &SceneView,
        _: &PathSettings,
        _: &mut PathState,
        at: Scatterer<'_>,
    ) -> Shaded {
        // SAFETY: as the caller promised.
        unsafe { self.families.add(scene, self.path, &at) };
        Shaded::END
    }
}
