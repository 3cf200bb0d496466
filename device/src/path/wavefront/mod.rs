//! The wavefront: every bounce of many paths in stages, each of which does one thing to all of them. What each path computes
//! is what the megakernel computes, by the same functions ([`super::step`]).
//!
//! A pass takes some samples of some pixels, and numbers its paths. A *pool* has a slot for each path under way ([`Pool`]);
//! a *round* takes all of them one segment further:
//!
//! 1. *cull*: a partition of the slots, those with a path first: the queue.
//! 2. [`stages::generate`] puts the next paths of the pass into the slots that are free, which the queue has at its end, when
//!    there are enough of them.
//! 3. [`stages::extend`] finds what the rays meet. Where that pays, those that go the same way come one after the other: the
//!    queue is sorted by what [`stages::ray_keys`] says.
//!    Where materials differ much, the queue is then partitioned by the family of the material that was met.
//! 4. [`stages::shade`] gathers emitted light, draws a point on a light and the next ray, or ends the path.
//! 5. a compaction of the slots from which a light may be seen: the queue of shadow rays.
//! 6. [`stages::connect`] adds the light that nothing hides, sorted likewise by [`stages::light_keys`].
//!
//! Radiance that a path gathers is kept by the path's number, until [`stages::accumulate`] adds it to the film at the end of
//! the pass, pixel by pixel in the order of the samples: so the film does not depend on which paths were under way together,
//! to the last bit. The number of paths is only known on the device: [`Counters`].
//!
//! Laine, Karras & Aila 2013, "Megakernels Considered Harmful: Wavefront Path Tracing on GPUs".
//!
//! [`stages::generate`]: super::stage::stages::generate
//! [`stages::ray_keys`]: super::stage::stages::ray_keys
//! [`stages::light_keys`]: super::stage::stages::light_keys
//! [`stages::extend`]: super::stage::stages::extend
//! [`stages::shade`]: super::stage::stages::shade
//! [`stages::connect`]: super::stage::stages::connect
//! [`stages::accumulate`]: super::stage::stages::accumulate

mod coherence;
mod column;
mod pool;
pub(super) mod stages;

use bytemuck::{Pod, Zeroable};
use primitives::{Ptr, Quad};

use super::MegakernelArgs;
use super::stage::Count;
use super::trace::threads_of_rays;
use crate::arch::read;

pub use coherence::RAY_KEY_BITS;
pub use column::{ALIGNMENT, Column};
pub use pool::{Pair, Pool, Slot};

/// Arguments of all stages.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct WavefrontArgs {
    /// The scene, the film, and which samples the pass takes.
    pub take: MegakernelArgs,
    /// Paths under way.
    pub pool: Pool,
    /// Number of invocations: the slots, since only the machine knows how many have a path; the pixels, to accumulate.
    pub invocations: u32,
    /// Number of slots.
    pub capacity: u32,
    /// Number of the round in the pass: 0 for the first.
    pub round: u32,
    /// Radiance gathered by each path of the pass, and the weight of the sample.
    pub gathered: Ptr<Quad<f32>>,
    /// For each slot, non-zero if it has a path.
    pub alive: Ptr<u8>,
    /// For each slot, non-zero if light waits to be tested for occlusion.
    pub shadow: Ptr<u8>,
    /// The slots: first those that had a path when the round began, of which there are `alive_count`.
    pub queue: Ptr<u32>,
    /// Number of slots that had a path when the round began.
    pub alive_count: Ptr<u32>,
    /// Number of paths under way in this round: where the queue ends.
    pub live_count: Ptr<u32>,
    /// The queue in the order in which rays are traced.
    pub ray_queue: Ptr<u32>,
    /// For each place in the queue, or in that of shadow rays, by what it is sorted for that; null if it is not.
    pub ray_keys: Ptr<u32>,
    /// The family of each material, by which paths are ordered before they are shaded; null if there is but one.
    pub families: Ptr<u32>,
    /// For each place in the queue of rays, the family of what the path has met.
    pub keys: Ptr<u32>,
    /// The queue in the order in which paths are shaded.
    pub shade_queue: Ptr<u32>,
    /// For each family, where its paths begin in that queue, and one more.
    pub starts: Ptr<u32>,
    /// The family to be shaded.
    pub family: u32,
    /// The slots from which a light may be seen, of which there are `shadow_count`.
    pub shadow_queue: Ptr<u32>,
    /// These in the order in which they are traced.
    pub light_queue: Ptr<u32>,
    /// Number of shadow rays.
    pub shadow_count: Ptr<u32>,
    /// Whether stages read the queues, as 1; as 0, they go over all slots in order and skip those that they are not for.
    pub compact: u32,
    /// As soon as so many slots are free, paths begin in them.
    pub enough: u32,
    /// How far the pass is.
    pub counters: Ptr<Counters>,
    /// For each round that had paths, how many; null if nobody asks. There is room for [`WavefrontArgs::MOST_ROUNDS`].
    pub curve: Ptr<u32>,
}

/// Arguments of the stages that trace rays, of which a warp of a GPU takes many.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct TracingArgs(pub WavefrontArgs);

impl Count for WavefrontArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.invocations
    }
}

impl Count for TracingArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.0.invocations
    }

    /// Whole warps, which each trace [`crate::bvh::RAYS_PER_WARP`] if all slots have a ray.
    #[inline(always)]
    fn threads(&self) -> u32 {
        threads_of_rays(self.0.invocations)
    }
}

/// How far a pass is, in the memory of the machine that runs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Counters {
    /// Paths under way in this round.
    pub live: u32,
    /// Rounds so far that had paths.
    pub rounds: u32,
    /// Number of the next path of the pass, in rounds of even and odd number: a round reads its own, and writes the other.
    pub next: [u32; 2],
    /// Segments traced in the pass.
    pub segments: u64,
    /// Shadow rays traced in the pass; unknown where nobody queues them ([`WavefrontArgs::compact`]).
    pub shadow_rays: u64,
}

impl WavefrontArgs {
    /// Where in the queue the paths are that are to be shaded: from the first to before the second.
    ///
    /// # Safety
    /// The pointers are valid, and the queue is in order.
    #[inline(always)]
    unsafe fn shaded_places(&self) -> [u32; 2] {
        // SAFETY: as the caller promised; there is room for a family more.
        unsafe {
            if self.families.is_null() {
                return [0, read(self.live_count.at(0))];
            }
            [read(self.starts.at(self.family)), read(self.starts.at(self.family + 1))]
        }
    }

    /// Rounds of which [`WavefrontArgs::curve`] tells.
    pub const MOST_ROUNDS: u32 = 1 << 16;

    /// Paths of the pass that `take` takes: the same number for every invocation, so that the last ones may be of samples
    /// that are not wanted.
    #[inline(always)]
    pub const fn paths(take: &MegakernelArgs) -> u32 {
        let layers = if take.layers == 0 { 1 } else { take.layers };
        take.invocations * take.samples.div_ceil(layers)
    }
}
