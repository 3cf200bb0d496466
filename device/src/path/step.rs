//! One bounce: all the physics of a path.

use glam::{Vec2, Vec3};

use super::{Direct, PathSettings, PathState};
use crate::arch::{Arch, load, min};
use crate::bsdf::{Bsdf, Lobe, Material};
use crate::bvh::{Hit, closest_hit, occluded};
use crate::light::{Light, LightPoint, select};
use crate::mis::power_heuristic;
use crate::ray::{Ray, offset_ray_origin, ray_offset};
use crate::rng::{Dim, uniform};
use crate::sampling::Frame;
use crate::scene::SceneView;
use crate::shape::{Primitive, sphere, triangle};

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
    /// Interpolated normal, on either side.
    ns: Vec3,
    /// Direction in which u grows, of any length, for materials that ask for it; zero if there is none.
    dp_du: Vec3,
    /// Largest coordinate of the primitive, to which the rounding of `p` is relative.
    extent: f32,
    prim: Primitive,
}

/// What scatters at a surface, seen from where the path comes from.
struct Scatterer {
    /// The geometric normal on that side.
    side: Vec3,
    /// The point.
    p: Vec3,
    /// From the point to where rays to that side start; those to the other start as far behind.
    offset: Vec3,
    /// Frame around the shading normal on that side.
    frame: Frame,
    /// Direction to where the path comes from, in that frame.
    wo: Vec3,
    bsdf: Bsdf,
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
    if surface.prim.light != Primitive::NO_LIGHT {
        // SAFETY: the primitive's light is in range.
        let light = unsafe { load(scene.lights.add(surface.prim.light as usize)) };
        gather_emission(settings, state, &light, surface.ng, hit.t);
    }
    if state.depth + 1 >= settings.max_depth {
        return Shaded::END;
    }
    // SAFETY: the surface is of this scene.
    let Some(scatterer) = (unsafe { scatterer(scene, &surface, state.ray.d) }) else {
        return Shaded::END;
    };
    // SAFETY: as the caller promised.
    let shadow = unsafe { direct_light(scene, settings, state, &scatterer) };
    Shaded { shadow, alive: scatter(settings, state, &scatterer) }
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
    // SAFETY: the hit names a primitive.
    let prim = unsafe { load(scene.prims.add(hit.prim as usize)) };
    if prim.is_sphere() {
        // The point is put back onto the sphere, wherever the rounding of t has left it.
        let n = (ray.at(hit.t) - prim.a).normalize();
        let dp_du = prim.b.y * sphere::dp_dphi(prim.c, n);
        return Surface { p: prim.a + prim.b.x * n, ng: n, ns: n, dp_du, extent: prim.extent(), prim };
    }
    let vertices = [prim.a, prim.b, prim.c];
    let ng = triangle::area_normal(vertices).normalize();
    let (ns, dp_du) = if prim.normals == Primitive::FLAT {
        (ng, Vec3::ZERO)
    } else {
        // SAFETY: the primitive's normals are in range.
        let normals = unsafe { load(scene.normals.add(prim.normals as usize)) };
        (triangle::interpolate(normals.n, hit.b).normalize(), normals.dp_du)
    };
    let p = triangle::interpolate(vertices, hit.b);
    Surface { p, ng, ns, dp_du, extent: prim.extent(), prim }
}

/// Orients the surface to where the path comes from, along `d`, and resolves its material. `None` from behind a
/// one-sided material, which is black there.
#[inline(always)]
unsafe fn scatterer(scene: &SceneView, surface: &Surface, d: Vec3) -> Option<Scatterer> {
    // SAFETY: the primitive's material is in range.
    let material = unsafe { load(scene.materials.add(surface.prim.material() as usize)) };
    let outside = surface.ng.dot(d) < 0.0;
    let front = outside != surface.prim.is_flipped();
    if !front && material.two_sided == 0 {
        return None;
    }
    let side = if outside { surface.ng } else { -surface.ng };
    let ns = surface.ns * 1.0_f32.copysign(surface.ns.dot(side));
    // A shading normal that faces away from the viewer cannot shade what is seen of the surface.
    let ns = if ns.dot(d) < 0.0 { ns } else { side };
    let frame = shading_frame(&material, ns, surface.dp_du);
    let offset = ray_offset(surface.p, side, surface.extent);
    let (wo, bsdf) = (frame.to_local(-d), material.bsdf(front));
    Some(Scatterer { side, p: surface.p, offset, frame, wo, bsdf })
}

impl Scatterer {
    /// Where a ray along `wi` starts, of which `local` is the local form. `None` if the geometric and the shading normal
    /// disagree on whether it is reflected or transmitted.
    #[inline(always)]
    fn origin(&self, wi: Vec3, local: Vec3) -> Option<Vec3> {
        let sign = 1.0_f32.copysign(local.z);
        (sign * self.side.dot(wi) > 0.0).then(|| self.p + sign * self.offset)
    }
}

/// The frame in which a material scatters: it follows the surface where the material does, and is the one that takes
/// least to compute elsewhere.
#[inline(always)]
fn shading_frame(material: &Material, ns: Vec3, dp_du: Vec3) -> Frame {
    if material.needs_tangents() { Frame::from_z_x(ns, dp_du) } else { Frame::from_z(ns) }
}

/// Draws a point on a light and evaluates what it would contribute.
#[inline(always)]
unsafe fn direct_light(
    scene: &SceneView,
    settings: &PathSettings,
    state: &PathState,
    at: &Scatterer,
) -> Option<ShadowRay> {
    if scene.light_count == 0 || settings.direct() == Direct::Bsdf || at.bsdf.is_delta() {
        return None;
    }
    let [u0, u1, which, _] = settings.sampler(state.pixel, state.sample).draw_bits(Dim::Light, state.depth);
    // SAFETY: there is a light, and the index drawn is in range.
    let light = unsafe { load(scene.lights.add(select::sample_light(scene, which) as usize)) };
    // The light is seen from where rays start, which is clearly inside or outside of a sphere, as the point on the
    // surface is not.
    let sample = light.sample_li(at.p + at.offset, Vec2::new(uniform(u0), uniform(u1)))?;
    let wi = at.frame.to_local(sample.wi);
    let o = at.origin(sample.wi, wi)?;
    let (f, p_bsdf) = at.bsdf.eval_pdf(at.wo, wi);
    let weight = match settings.direct() {
        Direct::Mis => power_heuristic(sample.pdf, p_bsdf),
        _ => 1.0,
    };
    let ld = state.beta * f * sample.li * (wi.z.abs() * weight / sample.pdf);
    if ld == Vec3::ZERO {
        return None;
    }
    let (ray, t_max) = shadow_ray(o, sample.wi, sample.target);
    Some(ShadowRay { ray, t_max, ld })
}

/// The segment from `o` to a point just in front of the target, so that the light does not hide itself.
#[inline(always)]
fn shadow_ray(o: Vec3, wi: Vec3, target: Option<LightPoint>) -> (Ray, f32) {
    let Some(LightPoint { p, n, extent }) = target else {
        return (Ray { o, d: wi }, f32::INFINITY);
    };
    let segment = offset_ray_origin(p, n, extent) - o;
    let distance = segment.length();
    (Ray { o, d: segment * (1.0 / distance) }, distance)
}

/// Draws the next direction; returns whether the path goes on.
#[inline(always)]
fn scatter(settings: &PathSettings, state: &mut PathState, at: &Scatterer) -> bool {
    let [u0, u1, uc, u_rr] = settings.sampler(state.pixel, state.sample).draw(Dim::Bsdf, state.depth);
    let Some(sample) = at.bsdf.sample(at.wo, uc, Vec2::new(u0, u1)) else {
        return false;
    };
    // A unit vector to a few ulps, which do not add up: every bounce draws anew.
    let wi = at.frame.to_world(sample.wi);
    let Some(o) = at.origin(wi, sample.wi) else {
        return false;
    };
    state.beta *= sample.weight;
    state.eta_scale *= sample.eta * sample.eta;
    state.prev_pdf = sample.pdf;
    state.depth += 1;
    if state.depth > settings.rr_depth && !survives_roulette(state, u_rr) {
        return false;
    }
    state.ray = Ray { o, d: wi };
    state.beta != Vec3::ZERO
}

/// Russian roulette: the path survives with the probability of its largest throughput, refraction apart, and makes up
/// for those that do not.
#[inline(always)]
fn survives_roulette(state: &mut PathState, u: f32) -> bool {
    let survival = min(state.beta.max_element() * state.eta_scale, 0.95);
    if u >= survival {
        return false;
    }
    state.beta /= survival;
    true
}
