//! One bounce: all the physics of a path.

use glam::{Vec2, Vec3};

use super::{Direct, PathSettings, PathState};
use crate::arch::{Arch, load};
use crate::bsdf::{Lobe, Material};
use crate::bvh::{Hit, closest_hit, occluded};
use crate::light::{Light, LightPoint, select};
use crate::mis::power_heuristic;
use crate::ray::{Ray, offset_ray_origin};
use crate::rng::Dim;
use crate::sampling::Frame;
use crate::scene::SceneView;
use crate::shape::{Primitive, triangle};

/// Light that arrives if nothing is in the way.
#[derive(Clone, Copy, Debug)]
pub struct ShadowRay {
    /// The ray.
    pub ray: Ray,
    /// Distance up to which it must be free.
    pub t_max: f32,
    /// What it adds to the path's radiance.
    pub ld: Vec3,
}

/// What shading a hit yields.
#[derive(Clone, Copy, Debug)]
pub struct Shaded {
    /// Direct light still to be tested for occlusion.
    pub shadow: Option<ShadowRay>,
    /// Whether the path goes on along its new ray.
    pub alive: bool,
}

impl Shaded {
    const END: Self = Self { shadow: None, alive: false };
}

/// Follows the path's ray, gathers emitted and direct light where it leads, and scatters there. Returns whether
/// the path goes on.
///
/// # Safety
/// `scene` is valid and the machine is an `A`.
#[inline(always)]
pub unsafe fn step<A: Arch>(scene: &SceneView, settings: &PathSettings, state: &mut PathState) -> bool {
    // SAFETY: as the caller promised.
    unsafe {
        let hit = closest_hit::<A>(scene, state.ray, f32::INFINITY);
        let shaded = shade(scene, settings, state, &hit);
        if let Some(shadow) = shaded.shadow
            && !occluded::<A>(scene, shadow.ray, shadow.t_max)
        {
            state.l += shadow.ld;
        }
        shaded.alive
    }
}

/// The surface at a hit.
struct Surface {
    p: Vec3,
    /// Geometric normal by the shape's own orientation: counter-clockwise winding, or outward.
    ng: Vec3,
    /// Frame around the shading normal, on the side the path comes from.
    frame: Frame,
    light: u32,
    material: Material,
    /// Whether the path comes from the front.
    front: bool,
}

/// Gathers what is emitted at the hit, prepares direct light, and draws the next ray.
///
/// # Safety
/// `scene` is valid.
#[inline(always)]
pub unsafe fn shade(scene: &SceneView, settings: &PathSettings, state: &mut PathState, hit: &Hit) -> Shaded {
    if !hit.is_hit() {
        // SAFETY: as the caller promised.
        unsafe { gather_environment(scene, settings, state) };
        return Shaded::END;
    }
    // SAFETY: the hit is on this scene.
    let surface = unsafe { surface_at(scene, &state.ray, hit) };
    if surface.light != Primitive::NO_LIGHT {
        // SAFETY: the primitive's light is in range.
        let light = unsafe { load(scene.lights.add(surface.light as usize)) };
        gather_emission(settings, state, &light, surface.ng, hit.t);
    }
    let back_is_black = !surface.front && surface.material.two_sided == 0;
    if state.depth + 1 >= settings.max_depth || back_is_black {
        return Shaded::END;
    }
    // SAFETY: as the caller promised.
    let shadow = unsafe { direct_light(scene, settings, state, &surface) };
    Shaded { shadow, alive: scatter(settings, state, &surface) }
}

/// Weight of emission found by following a ray, against finding it by sampling the light.
#[inline(always)]
fn emission_weight(settings: &PathSettings, prev_pdf: f32, p_light: impl FnOnce() -> f32) -> f32 {
    if prev_pdf == 0.0 {
        return 1.0;
    }
    match settings.direct() {
        Direct::Mis => power_heuristic(prev_pdf, p_light()),
        Direct::Nee => 0.0,
        Direct::Bsdf => 1.0,
    }
}

#[inline(always)]
unsafe fn gather_environment(scene: &SceneView, settings: &PathSettings, state: &mut PathState) {
    if scene.environment == Primitive::NO_LIGHT {
        return;
    }
    // SAFETY: the environment is one of the lights.
    let light = unsafe { load(scene.lights.add(scene.environment as usize)) };
    let weight = emission_weight(settings, state.prev_pdf, || light.pdf_li(state.ray.o, f32::INFINITY, 1.0));
    state.l += state.beta * light.le * weight;
}

#[inline(always)]
fn gather_emission(settings: &PathSettings, state: &mut PathState, light: &Light, ng: Vec3, t: f32) {
    let le = light.le(ng, -state.ray.d);
    if le == Vec3::ZERO {
        return;
    }
    let weight =
        emission_weight(settings, state.prev_pdf, || light.pdf_li(state.ray.o, t, ng.dot(state.ray.d)));
    state.l += state.beta * le * weight;
}

#[inline(always)]
unsafe fn surface_at(scene: &SceneView, ray: &Ray, hit: &Hit) -> Surface {
    // SAFETY: the hit names a primitive, which names a material and normals that exist.
    let (prim, material) = unsafe {
        let prim = load(scene.prims.add(hit.prim as usize));
        (prim, load(scene.materials.add(prim.material() as usize)))
    };
    let (p, ng, ns) = if prim.is_sphere() {
        // The point is put back onto the sphere, wherever the rounding of t has left it.
        let n = (ray.at(hit.t) - prim.a).normalize();
        (prim.a + prim.b.x * n, n, n)
    } else {
        let vertices = [prim.a, prim.b, prim.c];
        let ng = triangle::area_normal(vertices).normalize();
        let ns = if prim.normals == Primitive::FLAT {
            ng
        } else {
            // SAFETY: as above.
            let normals = unsafe { load(scene.normals.add(prim.normals as usize)) };
            triangle::interpolate(normals.n, hit.b).normalize()
        };
        (triangle::interpolate(vertices, hit.b), ng, ns)
    };
    let d = ray.d;
    let wo_side = if ng.dot(d) < 0.0 { 1.0 } else { -1.0 };
    let mut ns = ns * 1.0_f32.copysign(ns.dot(ng)) * wo_side;
    // A shading normal that faces away from the viewer cannot shade what is seen of the surface.
    if ns.dot(d) >= 0.0 {
        ns = wo_side * ng;
    }
    Surface {
        p,
        ng,
        frame: Frame::from_z(ns),
        light: prim.light,
        material,
        front: (wo_side > 0.0) != prim.is_flipped(),
    }
}

/// Draws a point on a light and evaluates what it would contribute.
#[inline(always)]
unsafe fn direct_light(
    scene: &SceneView,
    settings: &PathSettings,
    state: &PathState,
    surface: &Surface,
) -> Option<ShadowRay> {
    if scene.light_count == 0 || settings.direct() == Direct::Bsdf {
        return None;
    }
    let [u_light, u0, u1, _] = settings.sampler(state.pixel, state.sample).draw(Dim::Light, state.depth);
    // SAFETY: there is a light, and the index drawn is in range.
    let light = unsafe { load(scene.lights.add(select::sample_light(scene, u_light) as usize)) };
    // Reflection leaves on the side it came from, for the geometric normal as for the shading normal. The light
    // is seen from where the shadow ray starts, which is clearly inside or outside of a sphere, as `p` is not.
    let side = surface.ng * -surface.ng.dot(state.ray.d).signum();
    let o = offset_ray_origin(surface.p, side);
    let sample = light.sample_li(o, Vec2::new(u0, u1))?;
    let (wo, wi) = (surface.frame.to_local(-state.ray.d), surface.frame.to_local(sample.wi));
    if wi.z <= 0.0 || side.dot(sample.wi) <= 0.0 {
        return None;
    }
    let (f, p_bsdf) = surface.material.bsdf().eval_pdf(wo, wi);
    let weight = match settings.direct() {
        Direct::Mis => power_heuristic(sample.pdf, p_bsdf),
        _ => 1.0,
    };
    let ld = state.beta * f * sample.li * (wi.z * weight / sample.pdf);
    if ld == Vec3::ZERO {
        return None;
    }
    let (ray, t_max) = shadow_ray(o, sample.wi, sample.target);
    Some(ShadowRay { ray, t_max, ld })
}

/// The segment from `o` to a point just in front of the target, so that the light does not hide itself.
#[inline(always)]
fn shadow_ray(o: Vec3, wi: Vec3, target: Option<LightPoint>) -> (Ray, f32) {
    let Some(LightPoint { p, n }) = target else {
        return (Ray { o, d: wi }, f32::INFINITY);
    };
    let segment = offset_ray_origin(p, n) - o;
    let distance = segment.length();
    (Ray { o, d: segment / distance }, distance)
}

/// Draws the next direction; returns whether the path goes on.
#[inline(always)]
fn scatter(settings: &PathSettings, state: &mut PathState, surface: &Surface) -> bool {
    let [uc, u0, u1, u_rr] = settings.sampler(state.pixel, state.sample).draw(Dim::Bsdf, state.depth);
    let wo = surface.frame.to_local(-state.ray.d);
    let Some(sample) = surface.material.bsdf().sample(wo, uc, Vec2::new(u0, u1)) else {
        return false;
    };
    let wi = surface.frame.to_world(sample.wi).normalize();
    let side = surface.ng * -surface.ng.dot(state.ray.d).signum();
    if side.dot(wi) <= 0.0 {
        return false;
    }
    state.beta *= sample.weight;
    state.prev_pdf = sample.pdf;
    state.depth += 1;
    if state.depth > settings.rr_depth && !survives_roulette(state, u_rr) {
        return false;
    }
    state.ray = Ray { o: offset_ray_origin(surface.p, side), d: wi };
    state.beta != Vec3::ZERO
}

/// Russian roulette: the path survives with the probability of its largest throughput, and makes up for those
/// that do not.
#[inline(always)]
fn survives_roulette(state: &mut PathState, u: f32) -> bool {
    let survival = state.beta.max_element().min(0.95);
    if u >= survival {
        return false;
    }
    state.beta /= survival;
    true
}
