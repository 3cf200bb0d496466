//! Paths that make walks, of which some take many times as long as others. So a path does little at a time: it follows its ray, looks
//! where one direction leads, or scatters. Lanes of a warp that look are together, and those that do not wait until there are
//! enough of them.

use super::manifold::Search;
use super::megakernel::Followed;
use super::step::{Arrived, Scatterer, Shaded, arrive, scatter_again, visibility};
use super::{PathSettings, PathState};
use crate::arch::are_enough;
use crate::bvh::{Arch, Hit, closest_hit};
use crate::features::Compiled;
use crate::scene::SceneView;

/// A path and the walks that it makes.
pub(super) struct WalkingPath {
    state: PathState,
    /// Where it is, unless it is about to follow its ray.
    hit: Hit,
    search: Search,
    next: Next,
}

/// What a path does next.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Follow,
    Look,
    Scatter,
}

impl Followed for WalkingPath {
    #[inline(always)]
    fn begin(state: PathState) -> Self {
        Self { state, hit: Hit::NONE, search: Search::NONE, next: Next::Follow }
    }

    #[inline(always)]
    fn state(&self) -> &PathState {
        &self.state
    }

    /// Does what is next, or waits.
    #[inline(always)]
    unsafe fn step<A: Arch, C: Compiled>(&mut self, scene: &SceneView, settings: &PathSettings) -> bool {
        let is_ready = self.next != Next::Look;
        let may_go_on = are_enough(is_ready);
        // SAFETY: as the caller promised.
        unsafe {
            if !is_ready {
                if !self.search.goes_on::<A>(scene, settings, &self.state) {
                    self.next = Next::Scatter;
                }
                return true;
            }
            if !may_go_on {
                return true;
            }
            if self.next == Next::Follow {
                self.hit = closest_hit::<A, C>(scene, self.state.ray, f32::INFINITY);
                let Self { state, hit, search, next } = self;
                let shaded = arrive::<C, _>(scene, settings, state, hit, Begin { search, next });
                if self.next != Next::Scatter {
                    return shaded.alive;
                }
            }
            self.next = Next::Follow;
            let caustic = self.search.caustic();
            let shaded = scatter_again::<C>(scene, settings, &mut self.state, &self.hit, caustic);
            if let Some(shadow) = shaded.shadow {
                self.state.l += shadow.ld * visibility::<A, C>(scene, &shadow);
            }
            shaded.alive
        }
    }
}

/// Begins to look for caustics where a path scatters, if there may be any.
struct Begin<'a> {
    search: &'a mut Search,
    next: &'a mut Next,
}

impl Arrived<'_> for Begin<'_> {
    #[inline(always)]
    unsafe fn scatter<C: Compiled>(
        self,
        scene: &SceneView,
        settings: &PathSettings,
        state: &mut PathState,
        at: Scatterer<'_>,
    ) -> Shaded {
        // SAFETY: as the caller promised.
        match unsafe { Search::at::<C>(scene, settings, state, &at) } {
            Some(search) => (*self.search, *self.next) = (search, Next::Look),
            None => {
                self.search.forget();
                *self.next = Next::Scatter;
            }
        }
        Shaded { shadow: None, alive: true }
    }
}
