//! Landings: hits of simple surfaces, of which loops over columns find where they are and which way they look. Most hits are
//! such: of a triangle, or a sphere that is in no group, that emits nothing, of a material that is whole and no blend.

use glam::{Vec2, Vec3};

use super::columns::{Columned, columned, each_block};
use super::family::States;
use super::rows::{ROWS, four, put_rows};
use super::spot::{Spot, Spots};
use super::step::{Surface, oriented, triangle_uv, walk_seed};
use super::{PathSettings, PathState};
use crate::arch::{load, prefetch};
use crate::bvh::Hit;
use crate::features::{Compiled, Features};
use crate::material::{At, Header, MaterialChoice, Surfaces};
use crate::ray::Ray;
use crate::scene::SceneView;
use crate::shape::Primitive;
use crate::shape::triangle::TriangleNormals;

columned! {
    /// Primitives.
    rows Primitives of Primitive { a: Vec3, material_flags: u32, b: Vec3, light: u32, c: Vec3, normals: u32 }
}
columned! {
    /// Normals of triangles.
    rows Normals of TriangleNormals { n: [Vec3; 3], dp_du: Vec3 }
}
columned! {
    /// Touches.
    Touches of
    /// What a hit of a simple surface tells but for the primitive.
    struct Touch {
        /// Texture coordinates, where the material asks for them.
        uv: Vec2,
        /// Distance.
        t: f32,
        /// Where it is on a triangle.
        b: Vec2,
        /// As [`Hit::instance`].
        instance: u32,
        /// Flags and kind of the material.
        material_flags: u32,
        kind: u32,
    }
}
columned! {
    /// Landings.
    Landings of
    /// A hit of a simple surface.
    struct Landing {
        prim: Primitive,
        /// Its normals, if it is a triangle with some.
        normals: TriangleNormals,
        touch: Touch,
    }
}

/// A hit of a simple surface that is still to be read.
pub(super) struct Landed {
    touch: Touch,
    /// Index of the primitive.
    prim: u32,
    /// As [`Primitive::normals`].
    normals: u32,
}

/// Hits of simple surfaces. Touches are there at once, primitives and their normals once they are read.
#[repr(align(64))]
pub(super) struct LandedHits<const N: usize> {
    landings: Landings<N>,
    prims: [u32; N],
    normals: [u32; N],
}

impl<const N: usize> LandedHits<N> {
    /// Puts a hit into place `i`.
    #[inline(always)]
    pub(super) fn set(&mut self, i: usize, landed: &Landed) {
        landed.touch.set(&mut self.landings.touch, i);
        self.prims[i] = landed.prim;
        self.normals[i] = landed.normals;
    }

    /// Reads the first `len` primitives and their normals.
    ///
    /// # Safety
    /// `scene` is valid, and was hit.
    #[inline(always)]
    unsafe fn read(&mut self, scene: &Surfaces, len: usize) {
        for i in (0..len).step_by(ROWS) {
            let places = four(i, len);
            let prims = places.map(|i| scene.prims.wrapping_add(self.prims[i] as usize));
            let normals = places.map(|i| match self.normals[i] {
                Primitive::FLAT => &raw const NO_NORMALS,
                normals => scene.normals.wrapping_add(normals as usize),
            });
            // SAFETY: as the caller promised.
            unsafe {
                put_rows(prims, &mut self.landings.prim, i);
                put_rows(normals, &mut self.landings.normals, i);
            }
        }
    }
}

static NO_NORMALS: TriangleNormals = TriangleNormals::ZERO;

/// What the loop over landings asks materials and shapes for.
struct Simple;

impl Compiled for Simple {
    const FEATURES: Features = Features::BENT_NORMALS;
}

impl Landed {
    /// The hit, if the surface is simple.
    ///
    /// # Safety
    /// `scene` is valid, asks for no features but those of `C`, and was hit.
    #[inline(always)]
    pub(super) unsafe fn new<C: Compiled>(scene: &Surfaces, hit: &Hit) -> Option<Self> {
        // SAFETY: the hit names a primitive, and that its material and normals.
        unsafe {
            let prim = &*scene.prims.add(hit.prim as usize);
            let is_sphere = prim.is_sphere();
            let is_in_world = !C::sees(Features::INSTANCES) || hit.instance == Hit::WORLD;
            if prim.light != Primitive::NO_LIGHT || !(is_sphere && is_in_world || prim.is_triangle()) {
                return None;
            }
            let header = load((&raw const *scene.materials.add(prim.material() as usize)).cast::<Header>());
            let is_uniform = !C::sees(Features::TEXTURES) || header.has(Header::UNIFORM);
            if !header.has(Header::SIMPLE) || !is_uniform && (is_sphere || scene.has_mipmaps != 0) {
                return None;
            }
            let has_uv = !is_uniform && prim.normals != Primitive::FLAT;
            let touch = Touch {
                uv: if has_uv { triangle_uv::<C>(scene, prim, hit.b) } else { Vec2::ZERO },
                t: hit.t,
                b: Vec2::from_array(hit.b),
                instance: hit.instance,
                material_flags: header.flags,
                kind: header.kind,
            };
            Some(Self { touch, prim: hit.prim, normals: prim.normals })
        }
    }

    /// Asks for what [`Landed::new`] and [`LandedHits::read`] read of hits that come later: of a later one its normals, of the one
    /// `after` that the primitive that names them.
    ///
    /// # Safety
    /// As [`Landed::new`], but for hits that are none.
    #[inline(always)]
    pub(super) unsafe fn ask(scene: &Surfaces, later: Option<u32>, after: Option<u32>) {
        if let Some(prim) = after {
            prefetch(scene.prims.wrapping_add(prim as usize).cast());
        }
        if let Some(prim) = later
            && prim != Hit::MISS
        {
            // SAFETY: as the caller promised.
            let normals = unsafe { (*scene.prims.add(prim as usize)).normals };
            prefetch(scene.normals.wrapping_add(normals as usize).cast());
        }
    }
}

impl Landing {
    /// The hit.
    #[inline(always)]
    fn hit(&self) -> Hit {
        let Touch { t, b, instance, .. } = self.touch;
        Hit { t, prim: 0, b: b.to_array(), instance }
    }

    /// The ground along `ray`, in the space of its group if it is in one.
    #[inline(always)]
    fn ground(&self, ray: &Ray) -> Ground {
        let surface = if self.prim.is_sphere() {
            Surface::of_analytic::<Simple>(self.prim, ray, &self.hit())
        } else {
            let normals = if self.prim.normals != Primitive::FLAT { Some(&self.normals) } else { None };
            Surface::of_triangle(self.prim, &self.hit(), normals, self.touch.uv)
        };
        Ground::of(&surface)
    }

    /// The surface on a ground.
    #[inline(always)]
    fn surface(&self, Ground { p, ng, ns, dp_du, extent }: Ground) -> Surface {
        let (uv, b, prim) = (self.touch.uv, self.touch.b.to_array(), self.prim);
        Surface { p, ng, ns, dp_du, uv, b, extent, prim, hit: self.hit() }
    }

    /// Where a path scatters on a ground, if it is seen.
    ///
    /// # Safety
    /// `scene` is valid and has the surface.
    #[inline(always)]
    unsafe fn spot(
        &self,
        scene: &SceneView,
        settings: &PathSettings,
        state: &PathState,
        ground: Ground,
    ) -> Option<Spot> {
        let surface = self.surface(ground);
        let front = surface.shows_front_of(scene, state.ray.d);
        let material = scene.materials.wrapping_add(self.prim.material() as usize);
        let Touch { uv, b, material_flags, kind, .. } = self.touch;
        let header = Header { kind, flags: material_flags, ..Header::PLAIN };
        let at = At {
            front,
            seed: walk_seed(settings, state),
            triangle: self.prim.normals,
            b: b.to_array(),
            ..At::new(scene, uv)
        };
        let choice = MaterialChoice { material, header, front };
        // SAFETY: as the caller promised.
        unsafe {
            let scatterer = oriented::<Simple>(&surface, state.ray.d, choice, at)?;
            Some(Spot::new(&scatterer, scene))
        }
    }
}

columned! {
    /// Grounds.
    Grounds of
    /// What a [`Surface`] is by its shape.
    struct Ground { p: Vec3, ng: Vec3, ns: Vec3, dp_du: Vec3, extent: f32 }
}

impl Ground {
    #[inline(always)]
    fn of(&Surface { p, ng, ns, dp_du, extent, .. }: &Surface) -> Self {
        Self { p, ng, ns, dp_du, extent }
    }
}

/// The loops over `len` hits: where they are, and whether they are seen.
///
/// # Safety
/// `scene` is valid, asks for no features but those of `C`, and the hits are of it.
#[inline(always)]
pub(super) unsafe fn land_all<C: Compiled, const N: usize>(
    scene: &SceneView,
    settings: &PathSettings,
    (hits, states): (&mut LandedHits<N>, &States<N>),
    grounds: &mut Grounds<N>,
    spots: &mut Spots<N>,
    is_seen: &mut [u32; N],
    len: usize,
) {
    // SAFETY: as the caller promised.
    unsafe { hits.read(scene, len) };
    let landings = &hits.landings;
    find_grounds(landings, states, grounds, len);
    if C::sees(Features::INSTANCES) && scene.instances_root != 0 {
        for i in 0..len {
            // SAFETY: as the caller promised.
            unsafe { place::<C, N>(scene, (landings, states), grounds, i) };
        }
    }
    // SAFETY: as the caller promised.
    unsafe { stand_all(scene, settings, (landings, states, grounds), spots, is_seen, len) };
}

/// The loop over grounds.
#[inline(always)]
fn find_grounds<const N: usize>(
    landings: &Landings<N>,
    states: &States<N>,
    grounds: &mut Grounds<N>,
    len: usize,
) {
    each_block!(N, 0..len, |i| {
        let ray = Ray::get(&states.ray, i);
        Landing::get(landings, i).ground(&ray).set(grounds, i);
    });
}

/// Takes the ground of landing `i` into the world, if it is in a group.
///
/// # Safety
/// As [`land_all`].
#[inline(always)]
unsafe fn place<C: Compiled, const N: usize>(
    scene: &SceneView,
    (landings, states): (&Landings<N>, &States<N>),
    grounds: &mut Grounds<N>,
    i: usize,
) {
    if landings.touch.instance[i] == Hit::WORLD {
        return;
    }
    let landing = Landing::get(landings, i);
    let near = Ray::get(&states.ray, i).at(landing.touch.t);
    // SAFETY: as the caller promised.
    if let Some(instance) = unsafe { landing.hit().instance::<C>(scene) } {
        let surface = landing.surface(Ground::get(grounds, i)).placed(&instance, near);
        Ground::of(&surface).set(grounds, i);
    }
}

/// The loop over places to stand on.
///
/// # Safety
/// As [`land_all`].
#[inline(always)]
unsafe fn stand_all<const N: usize>(
    scene: &SceneView,
    settings: &PathSettings,
    (landings, states, grounds): (&Landings<N>, &States<N>, &Grounds<N>),
    spots: &mut Spots<N>,
    is_seen: &mut [u32; N],
    len: usize,
) {
    each_block!(N, 0..len, |i| {
        let landing = Landing::get(landings, i);
        let state = PathState::get(states, i);
        // SAFETY: as the caller promised.
        let (seen, spot) = match unsafe { landing.spot(scene, settings, &state, Ground::get(grounds, i)) } {
            Some(spot) => (true, spot),
            None => (false, Spot::get(spots, i)),
        };
        spot.set(spots, i);
        seen.set(is_seen, i);
    });
}
