//! The stages that make rays: from the camera, and from where others have ended.

use glam::{Vec2, Vec3};

use super::{CameraRaysArgs, NextRaysArgs};
use crate::bvh::Arch;
use crate::features::Full;
use crate::light::select::sample_light;
use crate::light::tree::Facing;
use crate::path::megakernel::Invocation;
use crate::path::stage::Function;
use crate::path::step::{Surface, shadow_ray, surface_at};
use crate::ray::{Ray, ray_offset};
use crate::rng::{Dim, Sampler, uniform};
use crate::sampling::{Frame, sample_cosine_hemisphere, sample_uniform_sphere};
use crate::scene::SceneView;

/// The stage that makes rays from the camera.
pub struct CameraRays;

impl Function for CameraRays {
    type Args = CameraRaysArgs;

    /// Makes the camera ray of invocation `i`, if it is of a pixel.
    ///
    /// # Safety
    /// The pointers in `args` are valid, and no other invocation is `i`.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &CameraRaysArgs) {
        // SAFETY: as the caller promised; its pixel is in the image.
        unsafe {
            let invocation = args.take.invocation(i);
            args.live.add(i as usize).write(u8::from(invocation.is_some()));
            if let Some(Invocation { pixel, first_sample, .. }) = invocation {
                let state = args.take.begin::<Full>(pixel, first_sample);
                args.rays.set(i, state.ray, f32::INFINITY, args.take.first_invocation + i);
            }
        }
    }
}

/// The stage that makes rays which go on from a surface.
pub struct BounceRays;

impl Function for BounceRays {
    type Args = NextRaysArgs;

    /// Makes a ray from where ray `i` has met a surface, with a density of cos θ / π around its geometric normal.
    ///
    /// # Safety
    /// As [`CameraRays::run`], and the hits are on the scene.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &NextRaysArgs) {
        // SAFETY: as the caller promised.
        unsafe {
            next(i, args, |_, sampler, at| {
                let [u0, u1, ..] = sampler.draw(Dim::Bsdf, args.depth);
                let d = Frame::from_z(at.side).to_world(sample_cosine_hemisphere(Vec2::new(u0, u1)));
                Some((Ray { o: at.start, d }, f32::INFINITY))
            });
        }
    }
}

/// The stage that makes rays from a surface to lights.
pub struct ShadowRays;

impl Function for ShadowRays {
    type Args = NextRaysArgs;

    /// Makes a ray from where ray `i` has met a surface to a light of the scene, as paths draw it; into any direction, if
    /// there is no light. None leads into the surface.
    ///
    /// # Safety
    /// As [`BounceRays::run`].
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &NextRaysArgs) {
        // SAFETY: as the caller promised; the index drawn is in range, and the light of this scene.
        unsafe {
            next(i, args, |scene, sampler, at| {
                let [u0, u1, part, filler] = sampler.draw_bits(Dim::Light, args.depth);
                if scene.light_count == 0 {
                    let d = sample_uniform_sphere(Vec2::new(uniform(u0), uniform(u1)));
                    return Some((
                        Ray { o: at.start, d: d * 1.0_f32.copysign(d.dot(at.side)) },
                        f32::INFINITY,
                    ));
                }
                let (light, index, u0) =
                    sample_light::<Full>(scene, (at.start, Facing::of_normal(at.side)), u0, filler);
                let sample = light.sample::<Full>(scene, index, at.start, [u0, u1, part])?;
                (sample.wi.dot(at.side) > 0.0).then(|| shadow_ray(at.start, sample.wi, sample.target))
            });
        }
    }
}

/// Where rays start.
struct Start {
    /// The geometric normal, on the side where the last ray came from.
    side: Vec3,
    /// The point, off the surface.
    start: Vec3,
}

impl Start {
    fn new(surface: &Surface, d: Vec3) -> Self {
        let side = surface.ng * -1.0_f32.copysign(surface.ng.dot(d));
        Self { side, start: surface.p + ray_offset(surface.p, side, surface.extent) }
    }
}

/// Makes the ray that follows ray `i`, if that has met anything, and if there is one.
///
/// # Safety
/// As [`BounceRays::run`].
#[inline(always)]
unsafe fn next(
    i: u32,
    args: &NextRaysArgs,
    make: impl FnOnce(&SceneView, Sampler, Start) -> Option<(Ray, f32)>,
) {
    let NextRaysArgs { take, from, hits, to, live, .. } = args;
    // SAFETY: as the caller promised; rays are of pixels in the image.
    unsafe {
        let hit = hits.get(i);
        let (ray, _) = from.get(i);
        let index = from.direction(i).index;
        let made = match take.invocation(index) {
            Some(Invocation { pixel: [x, y], first_sample, .. }) if hit.is_hit() => {
                let sampler = take.settings.sampler(y * take.width + x, first_sample);
                let surface = surface_at::<Full>(&take.scene, &ray, &hit);
                make(&take.scene, sampler, Start::new(&surface, ray.d))
            }
            _ => None,
        };
        live.add(i as usize).write(u8::from(made.is_some()));
        if let Some((ray, t_max)) = made {
            to.set(i, ray, t_max, index);
        }
    }
}
