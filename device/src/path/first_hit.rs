//! First hits of camera rays, for the layers of an image that describe the visible surface rather than its light. They are
//! means over the image's samples, which fall with the density of the pixel filter's magnitude, without its sign.

use glam::{Vec2, Vec3};

use super::megakernel::Invocation;
use super::stage::{Count, Function};
use super::step::{
    MAX_HOLES, Surface, hole_depth, is_clipped, is_hidden, is_hole, opacity, pass, scatter, scatterer,
    sees_holes, surface_at,
};
use super::{PathSettings, PathState, SampleArgs};
use crate::arch::load;
use crate::bvh::{Arch, Hit, closest_hit};
use crate::features::Full;
use crate::film::FirstHitPixel;
use crate::ray::Cone;
use crate::rng::Dim;
use crate::scene::SceneView;
use crate::shape::triangle::TriangleUvs;

/// Arguments of the stage.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FirstHitArgs {
    /// Which samples to take. They are the image's: with the same settings, the same camera rays pass the same holes and
    /// scatter alike.
    pub take: SampleArgs<FirstHitPixel>,
    /// Texture coordinates of every primitive of the scene, by the index that [`crate::bvh::Geometry::sources`] gives; null if
    /// they are not asked for.
    pub uvs: *const TriangleUvs,
}

// SAFETY: every invocation writes only its own pixel of its own film.
unsafe impl Send for FirstHitArgs {}
// SAFETY: as above.
unsafe impl Sync for FirstHitArgs {}

impl Count for FirstHitArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.take.invocations
    }
}

/// The stage.
pub struct FirstHit;

impl Function for FirstHit {
    type Args = FirstHitArgs;

    /// Takes the samples of one pixel in one layer.
    ///
    /// # Safety
    /// The pointers in `args` are valid, and the machine is an `A`.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &FirstHitArgs) {
        let FirstHitArgs { take, uvs } = args;
        // SAFETY: as the caller promised.
        let invocation = unsafe { take.invocation(i) };
        let Some(Invocation { pixel, film, first_sample: mut sample, end }) = invocation else { return };
        // SAFETY: as the caller promised; pixel and layer are in range, and no other invocation has both.
        unsafe {
            let film = &mut *film;
            if film.samples == 0 {
                film.center = center::<A>(&take.scene, pixel);
            }
            while sample < end {
                film.samples += 1;
                let mut state = take.begin::<Full>(pixel, sample);
                if let Some((hit, surface)) = meet::<A>(&take.scene, &take.settings, &mut state) {
                    let uv = uv_at(&take.scene, *uvs, &hit, &surface);
                    add(film, &take.scene, &take.settings, state, &surface, uv);
                }
                sample += take.layers;
            }
        }
    }
}

/// Follows a camera ray, through holes, to a surface.
///
/// # Safety
/// `scene` is valid, and the machine is an `A`.
#[inline(always)]
pub(super) unsafe fn meet<A: Arch>(
    scene: &SceneView,
    settings: &PathSettings,
    state: &mut PathState,
) -> Option<(Hit, Surface)> {
    // SAFETY: as the caller promised; hits are on this scene.
    unsafe {
        while state.holes < MAX_HOLES {
            let hit = closest_hit::<A, Full>(scene, state.ray, f32::INFINITY);
            if !hit.is_hit() || is_clipped::<Full>(scene, state, hit.t) {
                return None;
            }
            state.cone.travel(hit.t);
            let surface = surface_at::<Full>(scene, &state.ray, &hit);
            let is_hole = is_hole::<Full>(scene, settings, state, &surface);
            if !is_hole && !is_hidden::<Full>(scene, state.depth, &surface) {
                return Some((hit, surface));
            }
            pass(scene, state, &surface, is_hole);
        }
    }
    None
}

/// The first primitive on the ray through the centre of a pixel that is more surface than hole: [`FirstHitPixel::center`].
///
/// # Safety
/// As [`meet`].
#[inline(always)]
unsafe fn center<A: Arch>(scene: &SceneView, [x, y]: [u32; 2]) -> u32 {
    let mut ray = scene.clipped::<Full>(scene.camera.ray(x as f32 + 0.5, y as f32 + 0.5));
    let (mut depth, mut is_first) = (0, true);
    // SAFETY: as the caller promised; hits are on this scene.
    unsafe {
        for _ in 0..MAX_HOLES {
            let hit = closest_hit::<A, Full>(scene, ray, f32::INFINITY);
            if !hit.is_hit() || (is_first && scene.is_beyond(ray.d, hit.t)) {
                break;
            }
            is_first = false;
            let surface = surface_at::<Full>(scene, &ray, &hit);
            if sees_holes::<Full>(scene) && opacity::<Full>(scene, &surface, &ray, &Cone::default()) < 0.5 {
                depth += hole_depth(scene);
            } else if !is_hidden::<Full>(scene, depth, &surface) {
                return load(scene.sources.add(hit.prim as usize)) + 1;
            }
            ray.o = surface.beyond(ray.d);
        }
    }
    0
}

/// Texture coordinates at a hit, whether or not a material asks for them.
///
/// # Safety
/// `scene` is valid and has the hit, and `uvs` is as in [`FirstHitArgs`].
#[inline(always)]
unsafe fn uv_at(scene: &SceneView, uvs: *const TriangleUvs, hit: &Hit, surface: &Surface) -> Vec2 {
    if uvs.is_null() {
        return Vec2::ZERO;
    }
    if !surface.prim.is_triangle() {
        // SAFETY: as the caller promised.
        return unsafe { surface.analytic_uv::<Full>(scene) };
    }
    // SAFETY: as the caller promised.
    unsafe { load(uvs.add(load(scene.sources.add(hit.prim as usize)) as usize)) }.at(hit.b)
}

/// Adds a sample that has met a surface.
///
/// # Safety
/// `scene` is valid and has the surface.
#[inline(always)]
unsafe fn add(
    film: &mut FirstHitPixel,
    scene: &SceneView,
    settings: &PathSettings,
    mut state: PathState,
    surface: &Surface,
    uv: Vec2,
) {
    let side = surface.ng * -1.0_f32.copysign(surface.ng.dot(state.ray.d));
    film.hits += 1;
    film.ng.add(side);
    film.p.add(surface.p);
    film.uv.add(uv.extend(0.0));
    // SAFETY: as the caller promised.
    let Some(scatterer) = (unsafe { scatterer::<Full>(scene, settings, &state, surface) }) else {
        film.ns.add(side);
        return;
    };
    film.ns.add(scatterer.frame.z);
    // The weight of the direction that the path of the image takes: its expectation is the albedo. Refraction squeezes
    // radiance but loses no light.
    let survive = PathSettings { rr_depth: u32::MAX, ..*settings };
    let [u0, u1, uc, u_rr] = settings.sampler(state.pixel, state.sample).draw(Dim::Bsdf, state.depth);
    // SAFETY: the scatterer is of this scene.
    let response = unsafe { scatterer.response::<Full>(Vec3::ZERO, uc, Vec2::new(u0, u1)) };
    let Some(sample) = response.sample else { return };
    if scatter::<Full>(&survive, &mut state, &scatterer, &sample, [u_rr, 0.0]) && state.beta.is_finite() {
        film.albedo.add(state.beta * state.eta_scale);
    }
}
