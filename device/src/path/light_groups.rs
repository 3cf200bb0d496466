//! Light groups: the same paths as the image's, whose light is summed up by where it comes from.

use core::marker::PhantomData;

use glam::Vec3;

use super::manifold::{caustic, may_walk};
use super::megakernel::Invocation;
use super::stage::{Count, Function};
use super::step::{
    Arrived, Scatterer, Shaded, arrive, infinite_light, is_clipped, scatter_lit, sees_infinite, visibility,
};
use super::{PathSettings, PathState, SampleArgs};
use crate::arch::load;
use crate::bvh::{Arch, closest_hit};
use crate::features::Compiled;
use crate::film::{FilmPixel, GroupPixel};
use crate::scene::SceneView;

/// Arguments of the stage.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LightGroupArgs {
    /// Which samples to take: the image's. A layer of the film has a film for each group, one after another.
    pub take: SampleArgs<GroupPixel>,
    /// The group of each light of the scene.
    pub group_of: *const u32,
    /// Number of groups.
    pub groups: u32,
}

// SAFETY: every invocation writes only its own pixel of its own films.
unsafe impl Send for LightGroupArgs {}
// SAFETY: as above.
unsafe impl Sync for LightGroupArgs {}

impl Count for LightGroupArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.take.invocations
    }
}

/// The stage, for scenes that ask for no features but those of `C`.
pub struct LightGroups<C>(PhantomData<C>);

impl<C: Compiled> Function for LightGroups<C> {
    type Args = LightGroupArgs;

    /// Takes the samples of one pixel in one layer.
    ///
    /// # Safety
    /// The pointers in `args` are valid, and the machine is an `A`.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &LightGroupArgs) {
        let take = &args.take;
        // SAFETY: as the caller promised.
        let invocation = unsafe { take.invocation(i) };
        let Some(Invocation { pixel, film, first_sample: mut sample, end }) = invocation else { return };
        // SAFETY: as the caller promised; pixel and layer are in range, and no other invocation has both.
        unsafe {
            let mut sums = Sums::new(args, film);
            while sample < end {
                let mut state = take.begin::<C>(pixel, sample);
                while sums.step::<A, C>(&take.scene, &take.settings, &mut state) {}
                sums.end(state.weight);
                sample += take.layers;
            }
        }
    }
}

/// Where the light of one pixel goes.
struct Sums {
    /// The pixel in the film of the first group.
    first: *mut GroupPixel,
    /// From there to the same pixel in that of the next one.
    stride: usize,
    groups: u32,
    group_of: *const u32,
    /// Light of the path so far, added up as in the image: what is left out there is left out here.
    l: Vec3,
}

impl Sums {
    /// Those of a pixel, which `film` would be if there were one group.
    ///
    /// # Safety
    /// It is one of the film in `args`.
    #[inline(always)]
    unsafe fn new(args: &LightGroupArgs, film: *mut GroupPixel) -> Self {
        let take = &args.take;
        let stride = (take.width as usize * take.height as usize).max(1);
        // SAFETY: as the caller promised.
        let index = unsafe { film.offset_from(take.film) } as usize;
        let first = index / stride * stride * args.groups as usize + index % stride;
        Self {
            first: take.film.wrapping_add(first),
            stride,
            groups: args.groups,
            group_of: args.group_of,
            l: Vec3::ZERO,
        }
    }

    /// Adds what the path has gathered of a light.
    ///
    /// # Safety
    /// There is the light, and no other invocation has the pixel.
    #[inline(always)]
    unsafe fn add(&mut self, light: u32, x: Vec3) {
        self.l += x;
        // SAFETY: as the caller promised; the group of a light is one of them.
        unsafe {
            let group = load(self.group_of.add(light as usize));
            (*self.first.add(group as usize * self.stride)).path += x;
        }
    }

    /// Ends the path, which has a weight in the image.
    ///
    /// # Safety
    /// No other invocation has the pixel.
    #[inline(always)]
    unsafe fn end(&mut self, weight: f32) {
        let is_taken = FilmPixel::takes(weight * self.l);
        for group in 0..self.groups as usize {
            // SAFETY: as the caller promised; it is one of them.
            unsafe { (*self.first.add(group * self.stride)).end(weight, is_taken) };
        }
        self.l = Vec3::ZERO;
    }

    /// As [`super::step::step`], but for where the light goes, and with walks where they are asked for.
    ///
    /// # Safety
    /// `scene` is valid, and the machine is an `A`; no other invocation has the pixel.
    #[inline(always)]
    unsafe fn step<A: Arch, C: Compiled>(
        &mut self,
        scene: &SceneView,
        settings: &PathSettings,
        state: &mut PathState,
    ) -> bool {
        // SAFETY: as the caller promised; all lights are in range.
        unsafe {
            let hit = closest_hit::<A, C>(scene, state.ray, f32::INFINITY);
            if !hit.is_hit() || is_clipped::<C>(scene, state, hit.t) {
                if sees_infinite::<C>(scene, state) {
                    for light in scene.first_infinite..scene.light_count {
                        self.add(light, infinite_light::<C>(scene, settings, state, light, None));
                    }
                }
                return false;
            }
            let mut noted = Noted { lit_by: 0, caustic: (0, Vec3::ZERO) };
            let noting = Noting::<A>(&mut noted, PhantomData);
            let shaded = arrive::<C, _>(scene, settings, state, &hit, noting);
            let Noted { lit_by, caustic: (light, brought) } = noted;
            if may_walk::<C>(settings) && brought != Vec3::ZERO {
                self.add(light, brought);
            }
            if state.l != Vec3::ZERO {
                self.add(load(scene.prims.add(hit.prim as usize)).light, state.l);
                state.l = Vec3::ZERO;
            }
            if let Some(shadow) = shaded.shadow {
                self.add(lit_by, shadow.ld * visibility::<A, C>(scene, &shadow));
            }
            shaded.alive
        }
    }
}

/// What has brought light where a path scatters.
struct Noted {
    /// Index of the light that is drawn.
    lit_by: u32,
    /// Index of the light of a caustic, and what it brings.
    caustic: (u32, Vec3),
}

/// Does at once what is done where a path scatters, and notes it.
struct Noting<'a, A>(&'a mut Noted, PhantomData<A>);

impl<A: Arch> Arrived<'_> for Noting<'_, A> {
    #[inline(always)]
    unsafe fn scatter<C: Compiled>(
        self,
        scene: &SceneView,
        settings: &PathSettings,
        state: &mut PathState,
        at: Scatterer<'_>,
    ) -> Shaded {
        // SAFETY: as the caller promised.
        unsafe {
            let caustic = caustic::<A, C>(scene, settings, state, &at);
            let emitted = state.l;
            state.l = Vec3::ZERO;
            let scattered = scatter_lit::<C>(scene, settings, state, &at, caustic);
            *self.0 = Noted { lit_by: scattered.light, caustic: (caustic.light, state.l) };
            state.l = emitted;
            scattered.shaded
        }
    }
}
