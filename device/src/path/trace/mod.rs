//! Traversal alone, for measuring it: stages that generate rays as paths do, and stages that only trace them.

pub(super) mod closest;
pub(super) mod coherent;
pub(super) mod occlusion;
pub(super) mod rays;

use core::ops::Range;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use super::SampleArgs;
use super::stage::Count;
use crate::arch::load;
use crate::bvh::packet::{self, HitColumns, RayColumns, sort_by_octant};
use crate::bvh::{self, Arch, Hit};
use crate::features::Compiled;
use crate::ray::Ray;
use crate::scene::SceneView;

/// One half of a ray, 16 bytes: a column of [`Rays`].
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Origin {
    /// Where it starts.
    pub o: Vec3,
    /// Distance at which it ends; may be infinite.
    pub t_max: f32,
}

/// The other half of a ray, 16 bytes: a column of [`Rays`].
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Direction {
    /// Unit vector.
    pub d: Vec3,
    /// Of the camera ray that it comes from: its pixel and its sample, as [`SampleArgs`] numbers invocations.
    pub index: u32,
}

/// A ray's hit, 16 bytes: [`Hit`] without the instance.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct PrimitiveHit {
    /// As [`Hit::t`].
    pub t: f32,
    /// As [`Hit::prim`].
    pub prim: u32,
    /// As [`Hit::b`].
    pub b: [f32; 2],
}

/// Rays, by columns.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Rays {
    /// Where they start and end.
    pub origins: *mut Origin,
    /// Where they lead.
    pub directions: *mut Direction,
}

impl Rays {
    /// Ray `i`, and where it ends.
    ///
    /// # Safety
    /// There is this ray, and nobody writes it meanwhile.
    #[inline(always)]
    unsafe fn get(&self, i: u32) -> (Ray, f32) {
        // SAFETY: as the caller promised.
        let Origin { o, t_max } = unsafe { load(self.origins.add(i as usize)) };
        // SAFETY: as the caller promised.
        (Ray { o, d: unsafe { self.direction(i) }.d }, t_max)
    }

    /// Direction of ray `i`, and the index of its camera ray.
    ///
    /// # Safety
    /// As [`Rays::get`].
    #[inline(always)]
    unsafe fn direction(&self, i: u32) -> Direction {
        // SAFETY: as the caller promised.
        unsafe { load(self.directions.add(i as usize)) }
    }

    /// Writes ray `i`.
    ///
    /// # Safety
    /// There is room for it, and nobody else uses it meanwhile.
    #[inline(always)]
    unsafe fn set(&self, i: u32, ray: Ray, t_max: f32, index: u32) {
        // SAFETY: as the caller promised.
        unsafe {
            self.origins.add(i as usize).write(Origin { o: ray.o, t_max });
            self.directions.add(i as usize).write(Direction { d: ray.d, index });
        }
    }
}

/// Hits of rays, by columns.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Hits {
    /// Where, and which primitive.
    pub met: *mut PrimitiveHit,
    /// The instance of each.
    pub instances: *mut u32,
}

impl Hits {
    /// Hit of ray `i`.
    ///
    /// # Safety
    /// It is there, and nobody writes it meanwhile.
    #[inline(always)]
    unsafe fn get(&self, i: u32) -> Hit {
        // SAFETY: as the caller promised.
        let (PrimitiveHit { t, prim, b }, instance) =
            unsafe { (load(self.met.add(i as usize)), load(self.instances.add(i as usize))) };
        Hit { t, prim, b, instance }
    }

    /// Writes what ray `i` meets.
    ///
    /// # Safety
    /// There is room for it, and nobody else uses it meanwhile.
    #[inline(always)]
    unsafe fn set(&self, i: u32, Hit { t, prim, b, instance }: Hit) {
        // SAFETY: as the caller promised.
        unsafe {
            self.met.add(i as usize).write(PrimitiveHit { t, prim, b });
            self.instances.add(i as usize).write(instance);
        }
    }
}

/// Arguments of the stages that trace.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TraceArgs<T> {
    /// The scene.
    pub scene: SceneView,
    /// Rays, at least `count`.
    pub rays: Rays,
    /// Where the results go, one for each ray.
    pub results: T,
    /// Number of rays.
    pub count: u32,
}

/// Arguments of the stage that looks for the nearest intersections.
pub type ClosestArgs = TraceArgs<Hits>;

/// Arguments of the stage that does so for rays which lead the same way.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct CoherentArgs(pub ClosestArgs);

/// Arguments of the stage that looks for any intersection: 1 where there is one, and else 0.
pub type OcclusionArgs = TraceArgs<*mut u32>;

// SAFETY: every invocation writes only its own result.
unsafe impl<T> Send for TraceArgs<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for TraceArgs<T> {}

impl<T> Count for TraceArgs<T> {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.count
    }

    /// Whole warps, which each trace [`bvh::RAYS_PER_WARP`].
    #[inline(always)]
    fn threads(&self) -> u32 {
        threads_of_rays(self.count)
    }
}

/// Arguments of the stage that makes camera rays: those of its invocations, each of one sample of a pixel. With as many
/// layers as samples, these are in tiles, one sample after the other.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CameraRaysArgs {
    /// Which samples; there is no film.
    pub take: SampleArgs<()>,
    /// Where the rays go, one for each invocation.
    pub rays: Rays,
    /// 1 for each that is a ray, and 0 for those outside the image.
    pub live: *mut u8,
}

// SAFETY: every invocation writes only its own ray.
unsafe impl Send for CameraRaysArgs {}
// SAFETY: as above.
unsafe impl Sync for CameraRaysArgs {}

impl Count for CameraRaysArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.take.invocations
    }
}

/// Arguments of the stages that make rays which start where others have ended.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct NextRaysArgs {
    /// Which samples the camera rays were of, from the first invocation on.
    pub take: SampleArgs<()>,
    /// Rays that have been traced, `count`.
    pub from: Rays,
    /// Hits of these rays.
    pub hits: Hits,
    /// Where the new rays go, one for each.
    pub to: Rays,
    /// 1 for each that is a ray, and 0 where there is none.
    pub live: *mut u8,
    /// Number of rays.
    pub count: u32,
    /// How often a path would have scattered before: random numbers differ by it.
    pub depth: u32,
}

// SAFETY: every invocation writes only its own ray.
unsafe impl Send for NextRaysArgs {}
// SAFETY: as above.
unsafe impl Sync for NextRaysArgs {}

impl Count for NextRaysArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.count
    }
}

/// Threads that trace so many rays on a GPU: in whole blocks, since rays are shared out among all warps of the grid.
pub(super) const fn threads_of_rays(rays: u32) -> u32 {
    const WARPS_OF_BLOCK: u32 = 4;
    rays.div_ceil(bvh::RAYS_PER_WARP).next_multiple_of(WARPS_OF_BLOCK) * 32
}

/// Rays that are traced side by side, as in the megakernel.
const WIDTH: usize = 512;

/// Traces the rays in `range` by packets, of which up to `strays` rays go on alone, and tells what each has met; with `ANY`, only
/// whether there is something.
///
/// # Safety
/// `scene` is valid and asks for no features but those of `C`, there are these rays, nobody else tells of them, and the
/// machine is an `A`.
#[inline(always)]
pub(super) unsafe fn in_packets<A: Arch, C: Compiled, const ANY: bool>(
    mut range: Range<u32>,
    scene: &SceneView,
    rays: &impl bvh::Rays,
    strays: u32,
) {
    let mut columns = RayColumns::<WIDTH>::zeroed();
    let mut hits = HitColumns::<WIDTH>::zeroed();
    let mut order = [0_u16; WIDTH];
    while !range.is_empty() {
        let (first, len) = (range.start, range.len().min(WIDTH));
        range.start += len as u32;
        for (k, place) in order[..len].iter_mut().enumerate() {
            *place = k as u16;
        }
        // SAFETY: as the caller promised, of rays in the range.
        unsafe {
            sort_by_octant(&mut order, len, |k| rays.ray(first + u32::from(k)).0.d);
            for (k, place) in order[..len].iter().enumerate() {
                let (ray, t_max) = rays.ray(first + u32::from(*place));
                columns.set(k, ray, t_max);
            }
            packet::intersect::<A, C, ANY, WIDTH>(scene, &mut columns, len, &mut hits, strays);
            for (k, place) in order[..len].iter().enumerate() {
                rays.tell(first + u32::from(*place), &hits.get(k));
            }
        }
    }
}
