//! Landings: hits of simple surfaces, of which loops over columns find where they are and which way they look. Most hits are
//! such: of a triangle, or a sphere that is in no group, that emits nothing, of a material that is whole and no blend.

use glam::{Vec2, Vec3};

use super::columns::{Columned, columned, each_block};
use super::family::States;
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
    Primitives of Primitive { a: Vec3, material_flags: u32, b: Vec3, light: u32, c: Vec3, normals: u32 }
}
columned! {
    /// Normals of triangles.
    Normals of TriangleNormals { n: [Vec3; 3], dp_du: Vec3 }
}
columned! {
    /// Landings.
    Landings of
    /// A hit of a simple surface.
    struct Landing {
        prim: Primitive,
        /// Its normals, if it is a triangle with some.
        normals: TriangleNormals,
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

/// What the loop over landings asks materials and shapes for.
struct Simple;

impl Compiled for Simple {
    const FEATURES: Features = Features::BENT_NORMALS;
}

impl Landing {
    /// The hit, if the surface is simple.
    ///
    /// # Safety
    /// `scene` is valid, asks for no features but those of `C`, and was hit.
    #[inline(always)]
    pub(super) unsafe fn new<C: Compiled>(scene: &Surfaces, hit: &Hit) -> Option<Self> {
        // SAFETY: the hit names a primitive, and that its material and normals.
        unsafe {
            let prim = load(scene.prims.add(hit.prim as usize));
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
            let mut landing = Self {
                prim,
                normals: TriangleNormals::ZERO,
                uv: Vec2::ZERO,
                t: hit.t,
                b: Vec2::from_array(hit.b),
                instance: hit.instance,
                material_flags: header.flags,
                kind: header.kind,
            };
            if prim.normals != Primitive::FLAT {
                landing.normals = load(scene.normals.add(prim.normals as usize));
                if !is_uniform {
                    landing.uv = triangle_uv::<C>(scene, &prim, hit.b);
                }
            }
            Some(landing)
        }
    }

    /// Asks for what [`Landing::new`] reads of hits that come later: of a later one its normals, of the one `after` that the
    /// primitive that names them.
    ///
    /// # Safety
    /// As [`Landing::new`], but for hits that are none.
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

    /// The hit.
    #[inline(always)]
    fn hit(&self) -> Hit {
        Hit { t: self.t, prim: 0, b: self.b.to_array(), instance: self.instance }
    }

    /// The ground along `ray`, in the space of its group if it is in one.
    #[inline(always)]
    fn ground(&self, ray: &Ray) -> Ground {
        let surface = if self.prim.is_sphere() {
            Surface::of_analytic::<Simple>(self.prim, ray, &self.hit())
        } else {
            let normals = if self.prim.normals != Primitive::FLAT { Some(&self.normals) } else { None };
            Surface::of_triangle(self.prim, &self.hit(), normals, self.uv)
        };
        Ground::of(&surface)
    }

    /// The surface on a ground.
    #[inline(always)]
    fn surface(&self, Ground { p, ng, ns, dp_du, extent }: Ground) -> Surface {
        let (uv, b, prim) = (self.uv, self.b.to_array(), self.prim);
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
        let header = Header { kind: self.kind, flags: self.material_flags, ..Header::PLAIN };
        let at = At {
            front,
            seed: walk_seed(settings, state),
            triangle: self.prim.normals,
            b: self.b.to_array(),
            ..At::new(scene, self.uv)
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

/// The loops over `len` landings: where they are, and whether they are seen.
///
/// # Safety
/// `scene` is valid, asks for no features but those of `C`, and the landings are of it.
#[inline(always)]
pub(super) unsafe fn land_all<C: Compiled, const N: usize>(
    scene: &SceneView,
    settings: &PathSettings,
    (landings, states): (&Landings<N>, &States<N>),
    grounds: &mut Grounds<N>,
    spots: &mut Spots<N>,
    is_seen: &mut [u32; N],
    len: usize,
) {
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
    if landings.instance[i] == Hit::WORLD {
        return;
    }
    let landing = Landing::get(landings, i);
    let near = Ray::get(&states.ray, i).at(landing.t);
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
