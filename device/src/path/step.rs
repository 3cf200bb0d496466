//! One bounce of a path: all its physics in one file, to be read from top to bottom.

use core::marker::PhantomData;

use glam::{Vec2, Vec3};

use super::clamp::clamped;
use super::guided::{Guided, may_guide};
use super::manifold::{Caustic, caustic, is_found_by_walks, may_walk, next_of_chain};
use super::{Direct, PathSettings, PathState};
use crate::arch::{load, max, min, outlined, sqrt};
use crate::bsdf::{BsdfSample, Lit, Query, Response};
use crate::bvh::{Arch, Hit, Instance, closest_hit, occluded};
use crate::features::{Compiled, Features};
use crate::light::WholeSample;
use crate::light::surface::{On, emission};
use crate::light::tree::Facing;
use crate::light::{Light, LightPoint, LightSample, select};
use crate::material::normal::{Parameterization, Terminator, bent, flipped, perturbed};
use crate::material::{At, Header, Material, MaterialChoice, Surfaces, choose_material};
use crate::mis::power_heuristic;
use crate::ray::{Cone, Ray, offset_ray_origin, ray_offset};
use crate::rng::{Dim, pcg4d, uniform};
use crate::sampling::Frame;
use crate::scene::SceneView;
use crate::shape::triangle::{self, TriangleNormals};
use crate::shape::{self, AnalyticPoint, Primitive};

/// Light that arrives if nothing is in the way.
#[derive(Clone, Copy, Debug)]
pub struct ShadowRay {
    /// The ray.
    pub ray: Ray,
    /// Distance up to which it must be free.
    pub t_max: f32,
    /// Radiance that it adds to the path if it is free.
    pub ld: Vec3,
    /// Most holes that it may pass, where there are any.
    pub holes: u32,
}

/// Result of shading a hit.
#[derive(Clone, Copy, Debug)]
pub struct Shaded {
    /// Direct light still to be tested for occlusion.
    pub shadow: Option<ShadowRay>,
    /// Whether the path goes on along its new ray.
    pub alive: bool,
}

impl Shaded {
    pub(super) const END: Self = Self { shadow: None, alive: false };
}

/// Follows the path's ray, gathers emitted and direct light where it leads, and scatters there. Returns whether
/// the path goes on. It makes no walks: with settings that ask for them, caustics would be missing, as paths leave out what walks find.
///
/// # Safety
/// `scene` is valid, asks for no features but those of `C`, and the machine is an `A`.
#[inline(always)]
pub unsafe fn step<A: Arch, C: Compiled>(
    scene: &SceneView,
    settings: &PathSettings,
    state: &mut PathState,
) -> bool {
    // SAFETY: as the caller promised.
    unsafe {
        let hit = closest_hit::<A, C>(scene, state.ray, f32::INFINITY);
        let shaded = arrive::<C, _>(scene, settings, state, &hit, AtOnce::<A, false>(PhantomData));
        if let Some(shadow) = shaded.shadow {
            state.l += shadow.ld * visibility::<A, C>(scene, &shadow);
        }
        shaded.alive
    }
}

/// Most holes that a path or a shadow ray passes.
pub(crate) const MAX_HOLES: u32 = 256;

/// Whether there may be holes in the surfaces of the scene.
#[inline(always)]
pub(super) fn sees_holes<C: Compiled>(scene: &SceneView) -> bool {
    C::sees(Features::CUTOUTS) && scene.holes != SceneView::NO_HOLES
}

/// Whether any texture is mipmapped.
#[inline(always)]
pub(super) fn sees_mipmaps<C: Compiled>(scene: &SceneView) -> bool {
    C::sees(Features::TEXTURES) && Features::may_be_asked_for(Features::MIPMAPS) && scene.has_mipmaps != 0
}

/// The part of the light that reaches the other end of a shadow ray.
///
/// # Safety
/// As [`step`].
#[inline(always)]
pub unsafe fn visibility<A: Arch, C: Compiled>(scene: &SceneView, shadow: &ShadowRay) -> f32 {
    // SAFETY: as the caller promised; hits are on this scene.
    unsafe {
        if !sees_holes::<C>(scene) {
            return if occluded::<A, C>(scene, shadow.ray, shadow.t_max) { 0.0 } else { 1.0 };
        }
        let (ShadowRay { ray, t_max, holes, .. }, scene) = (*shadow, scene.shared());
        outlined(move || visibility_through_holes::<A, C>(scene, (ray, t_max), holes))
    }
}

/// As [`visibility`], along a ray that ends at `t_max`, through `most` holes.
///
/// # Safety
/// As [`step`].
#[inline(always)]
unsafe fn visibility_through_holes<A: Arch, C: Compiled>(
    scene: &SceneView,
    (mut ray, mut t_max): (Ray, f32),
    most: u32,
) -> f32 {
    let mut visible = 1.0;
    let end = ray.at(t_max);
    // SAFETY: as the caller promised; hits are on this scene.
    unsafe {
        for _ in 0..=most {
            let hit = closest_hit::<A, C>(scene, ray, t_max);
            if !hit.is_hit() {
                return visible;
            }
            let surface = surface_at::<C>(scene, &ray, &hit);
            visible *= 1.0 - opacity::<C>(scene, &surface, &ray, &Cone::default());
            if visible <= 0.0 {
                break;
            }
            ray.o = surface.beyond(ray.d);
            if t_max < f32::INFINITY {
                // Aimed anew: parallel to where it was, the segment could end within the light.
                let rest = end - ray.o;
                if rest.dot(ray.d) <= 0.0 {
                    return visible;
                }
                t_max = rest.length();
                ray.d = rest * (1.0 / t_max);
            }
        }
        0.0
    }
}

/// The part of the surface that is there for what comes along `ray`.
///
/// # Safety
/// `scene` is valid and has the surface.
#[inline(always)]
pub(super) unsafe fn opacity<C: Compiled>(
    scene: &SceneView,
    surface: &Surface,
    ray: &Ray,
    cone: &Cone,
) -> f32 {
    // SAFETY: the primitive's material is in range.
    unsafe {
        let header = surface.header(scene);
        if !header.has(Header::HOLES) {
            return 1.0;
        }
        if header.has(Header::CULLS_BACKFACES) && !surface.shows_front(ray.d) {
            return 0.0;
        }
        header.opacity_at::<C>(&surface.look::<C>(scene, ray.d, cone))
    }
}

/// The surface at a hit.
pub(super) struct Surface {
    pub(super) p: Vec3,
    /// Geometric normal by the shape's own orientation: counter-clockwise winding, or outward.
    pub(super) ng: Vec3,
    /// Interpolated normal, on either side.
    pub(super) ns: Vec3,
    /// Direction in which u grows, of any length, for materials that ask for it; zero if there is none.
    pub(super) dp_du: Vec3,
    /// Texture coordinates, where textures are compiled.
    pub(super) uv: Vec2,
    /// Barycentric coordinates of vertices 1 and 2 of a triangle.
    pub(super) b: [f32; 2],
    /// Largest coordinate of the primitive, to which the rounding of `p` is relative.
    pub(super) extent: f32,
    /// In the space of its group, if it is in one.
    pub(super) prim: Primitive,
    /// The hit.
    pub(super) hit: Hit,
}

/// The surface's scattering at a point, seen from where the path comes from.
pub(super) struct Scatterer<'a> {
    /// The geometric normal on that side.
    pub(super) side: Vec3,
    /// Whether the shading normal alone decides what is reflected and what is transmitted.
    pub(super) keeps: bool,
    /// The shading normal before a map, on the side where the path comes from.
    pub(super) below: Vec3,
    /// The point.
    pub(super) p: Vec3,
    /// From the point to where rays to that side start; those to the other start as far behind.
    pub(super) offset: Vec3,
    /// Frame around the shading normal on that side.
    pub(super) frame: Frame,
    /// Direction to where the path comes from, in that frame.
    pub(super) wo: Vec3,
    /// Shadow terminator of a normal map, which softens the edges of shadows.
    pub(super) terminator: Terminator,
    /// Its material, which is no blend, and the kind of that.
    pub(super) material: *const Material,
    pub(super) kind: u32,
    /// Point at which the material is evaluated.
    pub(super) at: At<'a>,
    /// Index of the light that is the surface itself, if it is a sphere seen from outside.
    pub(super) around: u32,
    /// Whether light from behind may come through.
    pub(super) transmits: bool,
}

/// Gathers what is emitted at the hit, prepares direct light, and draws the next ray.
///
/// # Safety
/// `scene` is valid, and the machine is an `A`.
#[inline(always)]
pub unsafe fn shade<A: Arch, C: Compiled>(
    scene: &SceneView,
    settings: &PathSettings,
    state: &mut PathState,
    hit: &Hit,
) -> Shaded {
    // SAFETY: as the caller promised.
    unsafe { arrive::<C, _>(scene, settings, state, hit, AtOnce::<A, true>(PhantomData)) }
}

/// What is done where a path scatters. No closure: the compiler would not inline it.
pub(super) trait Arrived<'a> {
    /// # Safety
    /// As [`shade`]; `at` is of the scene, and is where the path is.
    unsafe fn scatter<C: Compiled>(
        self,
        scene: &SceneView,
        settings: &PathSettings,
        state: &mut PathState,
        at: Scatterer<'a>,
    ) -> Shaded;
}

/// Prepares direct light, and draws the next ray. Paths that may make walks make them before that.
struct AtOnce<A, const MAY_WALK: bool>(PhantomData<A>);

impl<A: Arch, const MAY_WALK: bool> Arrived<'_> for AtOnce<A, MAY_WALK> {
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
            let caustic = if MAY_WALK { caustic::<A, C>(scene, settings, state, &at) } else { Caustic::NONE };
            scatter_lit::<C>(scene, settings, state, &at, caustic).shaded
        }
    }
}

/// Scatters where a path has arrived before, with what has been looked for since then.
///
/// # Safety
/// As [`shade`]; the path has arrived at the hit, where it scatters.
#[inline(always)]
pub(super) unsafe fn scatter_again<C: Compiled>(
    scene: &SceneView,
    settings: &PathSettings,
    state: &mut PathState,
    hit: &Hit,
    caustic: Caustic,
) -> Shaded {
    // SAFETY: as the caller promised.
    unsafe {
        let surface = surface_at::<C>(scene, &state.ray, hit);
        let Some(at) = scatterer::<C>(scene, settings, state, &surface) else { return Shaded::END };
        scatter_lit::<C>(scene, settings, state, &at, caustic.at::<C>(&at)).shaded
    }
}

/// What came of scattering.
pub(super) struct Scattered {
    /// Index of the light that was drawn.
    pub(super) light: u32,
    /// What was drawn of it.
    pub(super) visible: VisibleLight,
    /// The result.
    pub(super) shaded: Shaded,
    /// Solid-angle density with which the BSDF draws the next direction, where paths may be guided; 0 of a delta lobe.
    pub(super) bsdf_pdf: f32,
    /// Probability of the BSDF, where a guide might have drawn the direction; 1 elsewhere.
    pub(super) of_bsdf: f32,
}

/// Prepares direct light of a light, and draws the next ray.
///
/// # Safety
/// As [`shade`]; `at` is of the scene, and is where the path is.
#[inline(always)]
pub(super) unsafe fn scatter_lit<C: Compiled>(
    scene: &SceneView,
    settings: &PathSettings,
    state: &mut PathState,
    at: &Scatterer<'_>,
    caustic: Caustic,
) -> Scattered {
    // SAFETY: as the caller promised.
    let (index, light) = unsafe { light_at::<C>(scene, settings, state, at) };
    let [u0, u1, uc, u_rr] = settings.sampler(state.pixel, state.sample).draw(Dim::Bsdf, state.depth);
    let u = Vec2::new(u0, u1);
    // SAFETY: as the caller promised.
    let (response, [bsdf_pdf, of_bsdf, survival]) = unsafe {
        match may_guide::<C>() {
            true => guided_response::<C>(scene, settings, state, at, (light.wi, caustic), uc, u),
            false => (at.response::<C>(light.wi, uc, u), [0.0, 1.0, 0.0]),
        }
    };
    let shadow = direct_light::<C>(scene, settings, state, at, &light, response.lit);
    // No closure: one that is not inlined wants what it captures in memory.
    let alive = match &response.sample {
        Some(sample) => scatter::<C>(settings, state, at, sample, [u_rr, survival]),
        None => false,
    };
    Scattered { light: index, visible: light, shaded: Shaded { shadow, alive }, bsdf_pdf, of_bsdf }
}

/// What a response is asked for.
#[derive(Clone, Copy)]
enum Asked {
    Caustic,
    Light,
    Drawn,
}

/// The response to light from the direction `light`, local frame, or zero, and the next direction, which a guide may draw;
/// [`Scattered::bsdf_pdf`], [`Scattered::of_bsdf`], and [`Guided::survival`].
///
/// # Safety
/// As [`scatter_lit`].
#[inline(always)]
unsafe fn guided_response<C: Compiled>(
    scene: &SceneView,
    settings: &PathSettings,
    state: &mut PathState,
    at: &Scatterer<'_>,
    (light, caustic): (Vec3, Caustic),
    uc: f32,
    u: Vec2,
) -> (Response, [f32; 3]) {
    // SAFETY: as the caller promised.
    unsafe {
        let guided = Guided::at::<C>(scene, at);
        let survival = guided.survival(state.beta, &mut state.eta_scale);
        let (drawn, uc) = if guided.is_none() { (None, uc) } else { guided.draw(at, uc, u) };
        // The response to the caustic, to the light, and then to what was drawn: by the same code, which is long.
        let (mut response, mut of_drawn) = (Response::NONE, Response::NONE.lit);
        let has_caustic = may_walk::<C>(settings) && caustic.wi != Vec3::ZERO;
        let (mut query, mut asked) = match has_caustic {
            true => (at.frame.to_local(caustic.wi), Asked::Caustic),
            false => (light, Asked::Light),
        };
        let mut is_of_drawn = false;
        loop {
            let answer = at.response::<C>(query, uc, u);
            match asked {
                Asked::Caustic => {
                    let cosine = query.z.abs() * at.terminator.shadowing::<C>(caustic.wi);
                    let brought = state.beta * answer.lit.f * caustic.brought * cosine;
                    state.l += clamped::<C>(settings, state.depth + 2, brought);
                    (query, asked) = (light, Asked::Light);
                    continue;
                }
                Asked::Light => response = answer,
                Asked::Drawn => {
                    (of_drawn, is_of_drawn) = (answer.lit, true);
                    break;
                }
            }
            match drawn {
                Some(wi) => (query, asked) = (wi, Asked::Drawn),
                None => break,
            }
        }
        let bsdf_pdf =
            if is_of_drawn { of_drawn.pdf } else { response.sample.map_or(0.0, |sample| sample.pdf) };
        if guided.is_none() {
            return (response, [bsdf_pdf, 1.0, survival]);
        }
        if light != Vec3::ZERO {
            response.lit = guided.lit(at, at.frame.to_world(light), response.lit);
        }
        response.sample = match drawn {
            Some(wi) => Some(guided.sample(at, wi, of_drawn)),
            None => response.sample.map(|sample| guided.of_bsdf(at, sample)),
        };
        (response, [bsdf_pdf, guided.probability_of_bsdf(), survival])
    }
}

/// Gathers what is emitted at the hit, and goes on with `then` if the path scatters there.
///
/// # Safety
/// As [`shade`].
#[inline(always)]
pub(super) unsafe fn arrive<'a, C: Compiled, T: Arrived<'a>>(
    scene: &'a SceneView,
    settings: &PathSettings,
    state: &mut PathState,
    hit: &Hit,
    then: T,
) -> Shaded {
    if !hit.is_hit() || is_clipped::<C>(scene, state, hit.t) {
        // SAFETY: as the caller promised.
        unsafe { gather_infinite::<C>(scene, settings, state, None) };
        return Shaded::END;
    }
    if sees_mipmaps::<C>(scene) {
        state.cone.travel(hit.t);
    }
    // SAFETY: the hit is on this scene.
    let surface = unsafe { surface_at::<C>(scene, &state.ray, hit) };
    let is_hidden = is_hidden::<C>(scene, state.depth, &surface);
    // SAFETY: as the caller promised.
    let is_hole = unsafe { is_hole::<C>(scene, settings, state, &surface) };
    if surface.prim.light != Primitive::NO_LIGHT && !is_hidden {
        // SAFETY: the surface is of this scene, and the primitive's light in range.
        unsafe {
            if !is_hole || surface.header(scene).has(Header::HOLES_EMIT) {
                gather_emission::<C>(scene, settings, state, &surface, hit.t);
            }
        }
    }
    if is_hole || is_hidden {
        pass(scene, state, &surface, is_hole);
        return Shaded { shadow: None, alive: state.holes < MAX_HOLES && state.depth < settings.max_depth };
    }
    if state.depth + 1 >= settings.max_depth {
        return Shaded::END;
    }
    // SAFETY: the surface is of this scene.
    match unsafe { scatterer::<C>(scene, settings, state, &surface) } {
        // SAFETY: as the caller promised.
        Some(scatterer) => unsafe { then.scatter::<C>(scene, settings, state, scatterer) },
        None => Shaded::END,
    }
}

/// Whether the path has met a hole.
///
/// # Safety
/// `scene` is valid and has the surface.
#[inline(always)]
pub(super) unsafe fn is_hole<C: Compiled>(
    scene: &SceneView,
    settings: &PathSettings,
    state: &PathState,
    surface: &Surface,
) -> bool {
    if !sees_holes::<C>(scene) {
        return false;
    }
    // SAFETY: as the caller promised.
    let opacity = unsafe { opacity::<C>(scene, surface, &state.ray, &state.cone) };
    opacity < 1.0 && material_uniforms(settings, state)[0] >= opacity
}

/// Number of segments that a hole adds to a path.
#[inline(always)]
pub(super) fn hole_depth(scene: &SceneView) -> u32 {
    u32::from(scene.holes == SceneView::HOLES_SCATTER)
}

/// Lets the path go on behind a hole or a hidden light as if nothing had been there, but for its depth where holes scatter.
#[inline(always)]
pub(super) fn pass(scene: &SceneView, state: &mut PathState, surface: &Surface, is_hole: bool) {
    let beyond = surface.beyond(state.ray.d);
    state.passed += (beyond - state.ray.o).length();
    state.ray.o = beyond;
    state.holes += 1;
    state.depth += if is_hole { hole_depth(scene) } else { 0 };
}

/// Whether the camera does not see what a path meets at distance `t`, for being too far away.
#[inline(always)]
pub(super) fn is_clipped<C: Compiled>(scene: &SceneView, state: &PathState, t: f32) -> bool {
    C::sees(Features::CLIPPING) && state.depth == 0 && state.holes == 0 && scene.is_beyond(state.ray.d, t)
}

/// Whether lights are hidden from the camera.
#[inline(always)]
fn hides_emitters<C: Compiled>(scene: &SceneView) -> bool {
    C::sees(Features::HIDDEN_LIGHTS) && scene.hides_emitters != 0
}

/// Whether the surface is a light that a path does not see after `depth` segments: only the camera does not, and behind
/// holes that scatter it does, as in Mitsuba.
#[inline(always)]
pub(super) fn is_hidden<C: Compiled>(scene: &SceneView, depth: u32, surface: &Surface) -> bool {
    hides_emitters::<C>(scene) && depth == 0 && surface.prim.light != Primitive::NO_LIGHT
}

/// Uniforms that choose between a surface and its holes, and among the materials of a blend.
#[inline(always)]
fn material_uniforms(settings: &PathSettings, state: &PathState) -> [f32; 4] {
    settings.sampler(state.pixel, state.sample).draw(Dim::Material, state.depth << 9 | state.holes)
}

/// Weight of emission found by following a ray, against finding it by sampling the light.
#[inline(always)]
fn emission_weight(settings: &PathSettings, prev_pdf: f32, p_light: impl FnOnce() -> f32) -> f32 {
    if prev_pdf <= 0.0 {
        return 1.0;
    }
    match settings.direct() {
        Direct::Mis => power_heuristic(prev_pdf, p_light()),
        Direct::Nee => 0.0,
        Direct::Bsdf => 1.0,
    }
}

/// What a ray that leaves the scene sees of an environment that is an image: the radiance, and the density with which the image's
/// samples are drawn.
pub(super) type SeenSky = Option<(Vec3, f32)>;

/// Gathers light from beyond the scene. What is to be seen of an image may be known.
///
/// # Safety
/// As [`shade`].
#[inline(always)]
pub(super) unsafe fn gather_infinite<C: Compiled>(
    scene: &SceneView,
    settings: &PathSettings,
    state: &mut PathState,
    seen: SeenSky,
) {
    if !sees_infinite::<C>(scene, state) {
        return;
    }
    let mut i = scene.first_infinite;
    while i < scene.light_count {
        // SAFETY: all lights from the first are infinitely far.
        state.l += unsafe { infinite_light::<C>(scene, settings, state, i, seen) };
        if !C::sees(Features::LIGHTS) {
            return; // There is but the one constant environment.
        }
        i += 1;
    }
}

/// Whether a path that leaves the scene sees what is beyond.
#[inline(always)]
pub(super) fn sees_infinite<C: Compiled>(scene: &SceneView, state: &PathState) -> bool {
    // If nothing has scattered, every segment so far was one to a hole.
    !hides_emitters::<C>(scene) || state.depth > state.holes * hole_depth(scene)
}

/// What the path gathers of light number `i`, which is infinitely far. What is to be seen of an image may be known.
///
/// # Safety
/// As [`shade`]; there is the light.
#[inline(always)]
pub(super) unsafe fn infinite_light<C: Compiled>(
    scene: &SceneView,
    settings: &PathSettings,
    state: &PathState,
    i: u32,
    seen: SeenSky,
) -> Vec3 {
    // SAFETY: as the caller promised.
    unsafe {
        let light = load(scene.lights.add(i as usize));
        if may_walk::<C>(settings) && is_found_by_walks(state, &light) {
            return Vec3::ZERO;
        }
        let seen = if light.is_image() { seen } else { None };
        let le = match seen {
            Some((radiance, _)) => radiance,
            None => light.le_from::<C>(scene, state.ray.d),
        };
        if C::sees(Features::LIGHTS) && le == Vec3::ZERO {
            return Vec3::ZERO;
        }
        let pdf = || match seen {
            Some((_, pdf)) => light.pmf * pdf,
            None => light.pdf_from::<C>(scene, state.start(), state.ray.d),
        };
        let brought = state.beta * le * emission_weight(settings, state.prev_pdf, pdf);
        clamped::<C>(settings, state.depth, brought)
    }
}

/// Gathers what the surface emits, at distance `t`.
///
/// # Safety
/// As [`shade`]; the surface is a light of the scene.
#[inline(always)]
unsafe fn gather_emission<C: Compiled>(
    scene: &SceneView,
    settings: &PathSettings,
    state: &mut PathState,
    surface: &Surface,
    t: f32,
) {
    let (index, ng) = (surface.prim.light, surface.ng);
    // SAFETY: the primitive's light is in range.
    let light = unsafe { load(scene.lights.add(index as usize)) };
    let mut le = light.le(ng, -state.ray.d);
    if C::sees(Features::LIGHTS) && light.kind_flags & Light::VARYING != 0 {
        // SAFETY: the scene has the surface of a light that varies.
        le *= unsafe { emission::<C>(scene, index, surface.on()) };
    }
    if le == Vec3::ZERO {
        return;
    }
    let weight = emission_weight(settings, state.prev_pdf, || {
        let p = state.start();
        // SAFETY: as above.
        let light = unsafe { select::light_for::<C>(scene, light, index, (p, Facing(state.facing))) };
        light.pdf_li(p, state.passed + t, ng.dot(state.ray.d))
    });
    state.l += clamped::<C>(settings, state.depth, state.beta * le * weight);
}

#[inline(always)]
pub(super) unsafe fn surface_at<C: Compiled>(scene: &SceneView, ray: &Ray, hit: &Hit) -> Surface {
    // SAFETY: as the caller promised.
    unsafe {
        // Looked up twice: it is too large to be kept.
        let (local, t) = match hit.instance::<C>(scene) {
            Some(instance) => {
                let (local, stretch) = instance.enter(ray);
                (local, hit.t * stretch)
            }
            None => (*ray, hit.t),
        };
        let surface = surface_on::<C>(scene, &local, &Hit { t, ..*hit });
        match hit.instance::<C>(scene) {
            Some(instance) => surface.placed(&instance, ray.at(hit.t)),
            None => surface,
        }
    }
}

/// The surface where `ray` meets a primitive, both in the space of the primitive.
#[inline(always)]
unsafe fn surface_on<C: Compiled>(scene: &SceneView, ray: &Ray, hit: &Hit) -> Surface {
    // SAFETY: the hit names a primitive.
    let prim = unsafe { load(scene.prims.add(hit.prim as usize)) };
    if prim.is_analytic::<C>() {
        return Surface::of_analytic::<C>(prim, ray, hit);
    }
    if prim.normals == Primitive::FLAT {
        return Surface::of_triangle(prim, hit, None, Vec2::ZERO);
    }
    // SAFETY: the primitive's normals are in range.
    unsafe {
        let normals = load(scene.normals.add(prim.normals as usize));
        Surface::of_triangle(prim, hit, Some(&normals), triangle_uv::<C>(scene, &prim, hit.b))
    }
}

/// Texture coordinates on a triangle that has normals, where there are any.
///
/// # Safety
/// `scene` is valid and has the triangle.
#[inline(always)]
pub(super) unsafe fn triangle_uv<C: Compiled>(scene: &Surfaces, prim: &Primitive, b: [f32; 2]) -> Vec2 {
    if !C::sees(Features::TEXTURES) || scene.uvs.is_null() {
        return Vec2::ZERO;
    }
    // SAFETY: the primitive's texture coordinates are in range.
    unsafe { load(scene.uvs.add(prim.normals as usize)) }.at(b)
}

impl Surface {
    /// What is no triangle, where `ray` meets it.
    #[inline(always)]
    pub(super) fn of_analytic<C: Compiled>(prim: Primitive, ray: &Ray, hit: &Hit) -> Self {
        let AnalyticPoint { p, n, b } = shape::analytic_point::<C>(&prim, ray, hit.t, hit.b);
        let dp_du = shape::analytic_dp_du::<C>(&prim, n, b);
        let uv = if C::sees(Features::TEXTURES) { shape::analytic_uv::<C>(&prim, n, b) } else { Vec2::ZERO };
        let extent = prim.extent();
        Self { p, ng: n, ns: n, dp_du, uv, b: hit.b, extent, prim, hit: Hit { b, ..*hit } }
    }

    /// A triangle with its normals, if it has any.
    #[inline(always)]
    pub(super) fn of_triangle(
        prim: Primitive,
        hit: &Hit,
        normals: Option<&TriangleNormals>,
        uv: Vec2,
    ) -> Self {
        let vertices = [prim.a, prim.b, prim.c];
        let ng = triangle::area_normal(vertices).normalize();
        let (ns, dp_du) = match normals {
            Some(normals) => (triangle::interpolate(normals.n, hit.b).normalize(), normals.dp_du),
            None => (ng, Vec3::ZERO),
        };
        let p = triangle::interpolate(vertices, hit.b);
        Self { p, ng, ns, dp_du, uv, b: hit.b, extent: prim.extent(), prim, hit: *hit }
    }

    /// The head of its material.
    ///
    /// # Safety
    /// `scene` is valid and has the surface.
    #[inline(always)]
    unsafe fn header(&self, scene: &SceneView) -> Header {
        // SAFETY: the primitive's material is in range.
        unsafe { load((&raw const (*scene.materials.add(self.prim.material() as usize))).cast::<Header>()) }
    }

    /// Whether the front is seen along `d`.
    #[inline(always)]
    fn shows_front(&self, d: Vec3) -> bool {
        self.shows_front_by(self.ng, d)
    }

    /// Whether the front is shaded along `d`, which shading normals decide where they are kept though they face away.
    #[inline(always)]
    pub(super) fn shows_front_of(&self, scene: &Surfaces, d: Vec3) -> bool {
        self.shows_front_by(if scene.keeps_hidden_normals != 0 { self.ns } else { self.ng }, d)
    }

    /// Whether the front is on the side, seen along `d`, that a normal says.
    #[inline(always)]
    fn shows_front_by(&self, n: Vec3, d: Vec3) -> bool {
        (n.dot(d) < 0.0) != self.prim.is_flipped()
    }

    /// Where its emission is looked up.
    #[inline(always)]
    fn on(&self) -> On {
        On {
            uv: self.uv,
            b: self.b,
            triangle: if self.prim.is_triangle() { self.prim.normals } else { Primitive::FLAT },
        }
    }

    /// From the space of a group to the world, where it is at about `near`.
    #[inline(always)]
    pub(super) fn placed(self, instance: &Instance, near: Vec3) -> Self {
        let p = instance.world_point(self.p, near);
        Self {
            p,
            ng: instance.world_normal(self.ng).normalize(),
            ns: instance.world_normal(self.ns).normalize(),
            dp_du: instance.world_vector(self.dp_du),
            extent: instance.extent(p, self.ng, self.extent),
            ..self
        }
    }

    /// Texture coordinates, whether or not a material asks for them, of a surface that is no triangle.
    ///
    /// # Safety
    /// `scene` is valid and has the surface.
    #[inline(always)]
    pub(super) unsafe fn analytic_uv<C: Compiled>(&self, scene: &SceneView) -> Vec2 {
        // SAFETY: as the caller promised.
        let n = match unsafe { self.hit.instance::<C>(scene) } {
            Some(instance) => instance.object_normal(self.ng).normalize(),
            None => self.ng,
        };
        shape::analytic_uv::<C>(&self.prim, n, self.hit.b)
    }

    /// Where a ray along `d` goes on behind the surface.
    #[inline(always)]
    pub(super) fn beyond(&self, d: Vec3) -> Vec3 {
        let far = self.ng * 1.0_f32.copysign(self.ng.dot(d));
        self.p + ray_offset(self.p, far, self.extent)
    }

    /// Where materials are looked up that are seen along `d`, by a ray that stands for `cone`: its origin is here.
    ///
    /// # Safety
    /// `scene` is valid and has the surface.
    #[inline(always)]
    unsafe fn look<'a, C: Compiled>(&self, scene: &'a SceneView, d: Vec3, cone: &Cone) -> At<'a> {
        let at = At { triangle: self.prim.normals, b: self.b, ..At::new(scene, self.uv) };
        if !sees_mipmaps::<C>(scene) || cone.width <= 0.0 {
            return at;
        }
        // SAFETY: as the caller promised.
        let area = unsafe { self.parameterization::<C>(scene) }.area();
        // The longer axis of the ellipse that the cone cuts out of the surface, as if u and v were alike.
        let length = cone.width / max(self.ng.dot(d).abs(), 1e-3);
        At { footprint: if area > 0.0 { length / sqrt(area) } else { 0.0 }, ..at }
    }

    /// Derivatives of the point by the texture coordinates; zero where there are none.
    ///
    /// # Safety
    /// `scene` is valid and has the surface.
    #[inline(always)]
    unsafe fn parameterization<C: Compiled>(&self, scene: &Surfaces) -> Parameterization {
        // SAFETY: as the caller promised.
        let instance = unsafe { self.hit.instance::<C>(scene) };
        let (dp_du, dp_dv) = if self.prim.is_analytic::<C>() {
            let n = match &instance {
                Some(instance) => instance.object_normal(self.ng).normalize(),
                None => self.ng,
            };
            shape::analytic_derivatives::<C>(&self.prim, n, self.hit.b)
        } else if self.prim.normals == Primitive::FLAT || scene.uvs.is_null() {
            (Vec3::ZERO, Vec3::ZERO)
        } else {
            // SAFETY: the primitive's texture coordinates are in range.
            unsafe { load(scene.uvs.add(self.prim.normals as usize)) }.derivatives([
                self.prim.a,
                self.prim.b,
                self.prim.c,
            ])
        };
        match &instance {
            Some(instance) => {
                Parameterization { dp_du: instance.world_vector(dp_du), dp_dv: instance.world_vector(dp_dv) }
            }
            None => Parameterization { dp_du, dp_dv },
        }
    }
}

/// Orients the surface to where the path comes from and resolves its material. `None` from behind a one-sided
/// material, which is black there.
///
/// # Safety
/// `scene` is valid and has the surface.
#[inline(always)]
pub(super) unsafe fn scatterer<'a, C: Compiled>(
    scene: &'a SceneView,
    settings: &PathSettings,
    state: &PathState,
    surface: &Surface,
) -> Option<Scatterer<'a>> {
    let d = state.ray.d;
    let front = surface.shows_front_of(scene, d);
    let u = if C::sees(Features::BLENDS) { material_uniforms(settings, state)[1] } else { 0.0 };
    // SAFETY: the surface is of this scene.
    let at =
        At { front, seed: walk_seed(settings, state), ..unsafe { surface.look::<C>(scene, d, &state.cone) } };
    // SAFETY: the primitive's material is in range.
    unsafe {
        let choice = choose_material::<C>(&at, surface.prim.material(), u);
        oriented::<C>(surface, d, choice, at)
    }
}

/// As [`scatterer`], of the material that is chosen there, seen along `d`.
///
/// # Safety
/// `at` is of a valid scene, which has the surface and the material.
#[inline(always)]
pub(super) unsafe fn oriented<'a, C: Compiled>(
    surface: &Surface,
    d: Vec3,
    MaterialChoice { material, header, front }: MaterialChoice,
    at: At<'a>,
) -> Option<Scatterer<'a>> {
    let keeps = at.scene.keeps_hidden_normals != 0;
    let outside = surface.ng.dot(d) < 0.0;
    // Where an interpolated normal faces away, one that a map makes of it may still face the viewer, as in Mitsuba.
    let by_map = !front
        && keeps
        && !header.has(Header::TWO_SIDED)
        && header.is_bumpy::<C>()
        && header.has(Header::KEEP_INVALID_NORMALS);
    if !front && !header.has(Header::TWO_SIDED) && !by_map {
        return None;
    }
    let at = At { front: front || by_map, ..at };
    let side = if outside { surface.ng } else { -surface.ng };
    let ns = surface.ns * 1.0_f32.copysign(if keeps { -surface.ns.dot(d) } else { surface.ns.dot(side) });
    let ns = if by_map { -ns } else { ns };
    // A shading normal that faces away from the viewer cannot shade what is seen of the surface.
    let below = if keeps || ns.dot(d) < 0.0 || header.bends_normals::<C>() { ns } else { side };
    let ns = if header.is_bumpy::<C>() {
        // SAFETY: the material's map is in range.
        unsafe { mapped_normal::<C>(&at, &header, surface, below, -d) }
    } else {
        below
    };
    let ns = if header.bends::<C>() { bent(ns, side, -d) } else { ns };
    let terminator = if header.is_bumpy::<C>() && !header.has(Header::HARD_TERMINATOR) {
        Terminator::new(below, ns)
    } else {
        Terminator::NONE
    };
    let frame =
        if header.has(Header::TANGENTS) { Frame::from_z_x(ns, surface.dp_du) } else { Frame::from_z(ns) };
    let wo = frame.to_local(-d);
    if header.is_bumpy::<C>() && wo.z <= 0.0 {
        return None; // The normal is kept though it faces away: black.
    }
    let offset = ray_offset(surface.p, side, surface.extent);
    let (p, kind) = (surface.p, header.kind);
    let around = if outside && surface.prim.is_sphere() { surface.prim.light } else { Primitive::NO_LIGHT };
    let transmits = header.has(Header::TRANSMITS);
    Some(Scatterer {
        side,
        keeps,
        below,
        p,
        offset,
        frame,
        wo,
        terminator,
        material,
        kind,
        at,
        around,
        transmits,
    })
}

/// The normal of a normal or bump map, on the side of `ns`.
///
/// # Safety
/// `at` is of a valid scene, and `header` is of a material of it that has a map.
#[inline(always)]
unsafe fn mapped_normal<C: Compiled>(
    at: &At<'_>,
    header: &Header,
    surface: &Surface,
    ns: Vec3,
    wo: Vec3,
) -> Vec3 {
    // SAFETY: as the caller promised.
    let n = unsafe { perturbed(at, header, ns, &surface.parameterization::<C>(at.scene)) };
    if header.has(Header::FLIP_INVALID_NORMALS) { flipped(n, ns, wo) } else { n }
}

/// Seed for random walks of lobes, different at every vertex of every path.
#[inline(always)]
pub(super) fn walk_seed(settings: &PathSettings, state: &PathState) -> u32 {
    pcg4d([state.pixel, state.sample, state.depth, settings.seed ^ 0x77a1_4e11])[0]
}

impl Scatterer<'_> {
    /// The side from which light may come.
    #[inline(always)]
    pub(super) fn facing(&self) -> Facing {
        if self.transmits { Facing::ANY } else { Facing::of_normal(self.frame.z) }
    }

    /// Response to light from the direction `light`, local frame, or zero, and the next direction.
    ///
    /// # Safety
    /// Its scene is valid.
    #[inline(always)]
    pub(super) unsafe fn response<C: Compiled>(&self, light: Vec3, uc: f32, u: Vec2) -> Response {
        let query = Query { wo: self.wo, light, uc, u };
        // SAFETY: as the caller promised; the kind is the material's.
        unsafe { Material::response::<C>(self.material, self.kind, &self.at, &query) }
    }

    /// Where light number `index` is looked for from. It is seen from where rays start, which is clearly inside or outside of a
    /// sphere, as the point on the surface is not. A sphere's own light is met by what is transmitted, and starts within.
    #[inline(always)]
    fn start(&self, index: u32) -> Vec3 {
        if index == self.around { self.p - self.offset } else { self.p + self.offset }
    }

    /// Light that was sampled, if it arrives on the right side.
    #[inline(always)]
    pub(super) fn lit_by<C: Compiled>(&self, sample: LightSample) -> VisibleLight {
        let wi = self.frame.to_local(sample.wi);
        match self.origin::<C>(sample.wi, wi) {
            Some(o) => VisibleLight { sample, wi, o },
            None => VisibleLight::NONE,
        }
    }

    /// Where a ray along `wi` starts, of which `local` is the local form. `None` if the geometric and the shading normal
    /// disagree on whether it is reflected or transmitted. Where shading normals decide alone, it is that before a map which
    /// the shading normal may not disagree with, as in Mitsuba.
    #[inline(always)]
    pub(super) fn origin<C: Compiled>(&self, wi: Vec3, local: Vec3) -> Option<Vec3> {
        let cos = self.side.dot(wi);
        if C::sees(Features::NORMAL_MAPS) && self.keeps && self.below.dot(wi) * local.z < 0.0 {
            return None;
        }
        let sign = 1.0_f32.copysign(if self.keeps { cos } else { local.z });
        (sign * cos > 0.0).then(|| self.p + sign * self.offset)
    }
}

/// Light that may reach a scatterer.
#[derive(Clone, Copy)]
pub(super) struct VisibleLight {
    pub(super) sample: LightSample,
    /// Direction to it, local frame.
    pub(super) wi: Vec3,
    /// Where a ray to it starts.
    pub(super) o: Vec3,
}

impl VisibleLight {
    /// No light, from no direction. Not an option: whoever asks twice whether it is there has two versions compiled of all
    /// that is done in between.
    pub(super) const NONE: Self = {
        let sample = LightSample { wi: Vec3::ZERO, target: None, li: Vec3::ZERO, pdf: 1.0, is_delta: false };
        Self { sample, wi: Vec3::ZERO, o: Vec3::ZERO }
    };
}

/// Draws a point on a light, whose index is returned.
///
/// # Safety
/// As [`shade`].
#[inline(always)]
unsafe fn light_at<C: Compiled>(
    scene: &SceneView,
    settings: &PathSettings,
    state: &PathState,
    at: &Scatterer<'_>,
) -> (u32, VisibleLight) {
    if !settings.samples_lights(scene) {
        return (0, VisibleLight::NONE);
    }
    let [u0, u1, part, filler] =
        settings.sampler(state.pixel, state.sample).draw_bits(Dim::Light, state.depth);
    // SAFETY: as the caller promised; there is a light, and the index drawn is in range.
    unsafe {
        let (light, index, u0) = select::sample_light::<C>(scene, (at.p, at.facing()), u0, filler);
        (index, light_from::<C>(scene, at, &light, index, [u0, u1, part]))
    }
}

/// Draws a point on a light, which is `index` among those of the scene, by random words.
///
/// # Safety
/// As [`shade`]; there is the light.
#[inline(always)]
pub(super) unsafe fn light_from<C: Compiled>(
    scene: &SceneView,
    at: &Scatterer<'_>,
    light: &Light,
    index: u32,
    bits: [u32; 3],
) -> VisibleLight {
    // SAFETY: as the caller promised.
    match unsafe { light.sample::<C>(scene, index, at.start(index), bits) } {
        Some(sample) => at.lit_by::<C>(sample),
        None => VisibleLight::NONE,
    }
}

/// As [`light_from`], if the light is of one of the kinds that are drawn the most, and whether it is: the
/// sample, its direction in the local frame, and where a ray to it starts.
#[inline(always)]
pub(super) fn common_light_drawn<C: Compiled>(
    at: &Scatterer<'_>,
    light: &Light,
    index: u32,
    [u0, u1]: [u32; 2],
) -> (WholeSample, Vec3, Vec3, bool) {
    let (seen, sample) = light.sample_whole(at.start(index), Vec2::new(uniform(u0), uniform(u1)));
    let wi = at.frame.to_local(sample.wi);
    let (reached, o) = match at.origin::<C>(sample.wi, wi) {
        Some(o) => (true, o),
        None => (false, Vec3::ZERO),
    };
    let found = !C::sees(Features::LIGHTS) || light.is_common();
    if found && seen && reached {
        (sample, wi, o, true)
    } else {
        (WholeSample::NONE, Vec3::ZERO, Vec3::ZERO, found)
    }
}

/// Direct light, to be added if the shadow ray is free.
#[inline(always)]
pub(super) fn direct_light<C: Compiled>(
    scene: &SceneView,
    settings: &PathSettings,
    state: &PathState,
    at: &Scatterer<'_>,
    VisibleLight { sample, wi, o }: &VisibleLight,
    Lit { f, pdf: p_bsdf }: Lit,
) -> Option<ShadowRay> {
    let weight = match settings.direct() {
        Direct::Mis if !sample.is_delta => power_heuristic(sample.pdf, p_bsdf),
        _ => 1.0,
    };
    let cosine = wi.z.abs() * at.terminator.shadowing::<C>(sample.wi);
    let ld = state.beta * f * sample.li * (cosine * weight / sample.pdf);
    if ld == Vec3::ZERO {
        return None;
    }
    let ld = clamped::<C>(settings, state.depth + 1, ld);
    let (ray, t_max) = shadow_ray(*o, sample.wi, sample.target);
    let holes = most_holes(scene, settings, state, sample.is_delta);
    Some(ShadowRay { ray, t_max, ld, holes })
}

/// Most holes that light may pass on its way to where the path is. Where holes scatter, each is a segment more, and
/// nothing but the path itself goes through: light that it cannot find does not.
#[inline(always)]
fn most_holes(scene: &SceneView, settings: &PathSettings, state: &PathState, is_delta: bool) -> u32 {
    match scene.holes == SceneView::HOLES_SCATTER {
        false => MAX_HOLES,
        true if is_delta => 0,
        true => settings.max_depth.saturating_sub(state.depth + 2).min(MAX_HOLES),
    }
}

/// The segment from `o` to a point just in front of the target, so that the light does not occlude itself.
#[inline(always)]
pub(super) fn shadow_ray(o: Vec3, wi: Vec3, target: Option<LightPoint>) -> (Ray, f32) {
    let Some(LightPoint { p, n, extent }) = target else {
        return (Ray { o, d: wi }, f32::INFINITY);
    };
    let segment = offset_ray_origin(p, n, extent) - o;
    let distance = segment.length();
    (Ray { o, d: segment * (1.0 / distance) }, distance)
}

/// Takes the next direction; returns whether the path goes on.
#[inline(always)]
pub(super) fn scatter<C: Compiled>(
    settings: &PathSettings,
    state: &mut PathState,
    at: &Scatterer<'_>,
    sample: &BsdfSample,
    [u_rr, survival]: [f32; 2],
) -> bool {
    // A unit vector to a few ulps, which do not add up: every bounce draws anew.
    let wi = at.frame.to_world(sample.wi);
    let Some(o) = at.origin::<C>(wi, sample.wi) else {
        return false;
    };
    state.beta *= sample.weight * at.terminator.shadowing::<C>(wi);
    // A guide's expectation has it in it.
    state.eta_scale *= if may_guide::<C>() && state.eta_scale < 0.0 { 1.0 } else { sample.eta * sample.eta };
    state.prev_pdf = match sample.pdf == 0.0 && may_walk::<C>(settings) {
        true => next_of_chain(state),
        false => sample.pdf,
    };
    if C::sees(Features::TEXTURES) {
        state.cone.widen(sample.pdf);
    }
    if select::may_have_tree::<C>() {
        state.facing = at.facing().0;
    }
    (state.passed, state.holes) = (0.0, 0);
    state.depth += 1;
    if state.depth > settings.rr_depth && !survives_roulette::<C>(state, u_rr, survival) {
        return false;
    }
    state.ray = Ray { o, d: wi };
    state.beta != Vec3::ZERO
}

/// Russian roulette: the path survives with the probability of its largest throughput, refraction apart, or a known one, and makes up
/// for those that do not.
#[inline(always)]
fn survives_roulette<C: Compiled>(state: &mut PathState, u: f32, known: f32) -> bool {
    let survival = min(state.beta.max_element() * state.eta_scale, 0.95);
    let survival = if may_guide::<C>() && known > 0.0 { known } else { survival };
    if u >= survival {
        return false;
    }
    state.beta /= survival;
    true
}
