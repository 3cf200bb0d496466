//! Paths under way.

use glam::Vec3;
use primitives::{Ptr, Quad};

use super::column::{ALIGNMENT, Column, columns};
use crate::arch::{read, write};
use crate::bvh::{Hit, has_instances};
use crate::features::{Compiled, Features};
use crate::light::select::may_have_tree;
use crate::path::PathState;
use crate::path::step::ShadowRay;
use crate::ray::{Cone, Ray};
use crate::scene::SceneView;

columns! {
    /// The pool: a row for every path under way. A slot whose path has ended is another's when enough are free.
    Pool of
    /// A path, the ray that it follows and what that meets, and the light that it waits for.
    Slot {
        /// Origin of the ray; [`PathState::passed`].
        origin: Quad<f32>,
        /// Direction of the ray; [`PathState::prev_pdf`].
        direction: Quad<f32>,
        /// [`PathState::beta`]; [`PathState::eta_scale`].
        throughput: Quad<f32>,
        /// Number of the path in the pass; pixel; sample; depth · 512 + holes.
        identity: Quad<u32>,
        /// [`PathState::cone`]: width, spread.
        cone: Pair,
        /// [`PathState::facing`].
        facing: u32,
        /// The ray's hit: distance, primitive, barycentric coordinates.
        hit: Quad<f32>,
        /// Instance that the ray meets.
        instance: u32,
        /// Origin of the shadow ray; where it ends.
        shadow_origin: Quad<f32>,
        /// Its direction; the bits of the number of holes that it may pass.
        shadow_direction: Quad<f32>,
        /// Radiance that it brings: [`ShadowRay::ld`]; the bits of the number of the path.
        shadow_light: Quad<f32>,
    }
}

/// Two floats, moved together.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct Pair(pub [f32; 2]);

/// More holes than a path passes.
const HOLES: u32 = 1 << 9;
const _: () = assert!(crate::path::step::MAX_HOLES < HOLES);

/// Whether paths go through something that leaves them as they are: then they remember how far they have come.
#[inline(always)]
fn sees_passing<C: Compiled>() -> bool {
    C::sees(Features::CUTOUTS.and(Features::HIDDEN_LIGHTS))
}

#[inline(always)]
const fn quad(v: Vec3, w: f32) -> Quad<f32> {
    Quad([v.x, v.y, v.z, w])
}

#[inline(always)]
const fn parts(Quad([x, y, z, w]): Quad<f32>) -> (Vec3, f32) {
    (Vec3::new(x, y, z), w)
}

/// Columns are read and written by whoever promises that the slot is there and nobody else's.
impl Pool {
    /// The ray of the path in slot `i`.
    ///
    /// # Safety
    /// The slot has a path, which nobody writes meanwhile.
    #[inline(always)]
    pub(super) unsafe fn ray(&self, i: u32) -> Ray {
        // SAFETY: as the caller promised.
        unsafe { Ray { o: parts(read(self.origin.at(i))).0, d: parts(read(self.direction.at(i))).0 } }
    }

    /// The path in slot `i`, without its radiance and weight, and its number.
    ///
    /// # Safety
    /// As [`Pool::ray`]; it was written for `C`.
    #[inline(always)]
    pub(super) unsafe fn path<C: Compiled>(&self, i: u32) -> (PathState, u32) {
        // SAFETY: as the caller promised.
        unsafe {
            let (o, passed) = parts(read(self.origin.at(i)));
            let (d, prev_pdf) = parts(read(self.direction.at(i)));
            let (beta, eta_scale) = parts(read(self.throughput.at(i)));
            let Quad([number, pixel, sample, counts]) = read(self.identity.at(i));
            let Pair([width, spread]) = match C::sees(Features::TEXTURES) {
                true => read(self.cone.at(i)),
                false => Pair([0.0; 2]),
            };
            let state = PathState {
                ray: Ray { o, d },
                cone: Cone { width, spread },
                weight: 1.0,
                beta,
                l: Vec3::ZERO,
                prev_pdf,
                facing: if may_have_tree::<C>() { read(self.facing.at(i)) } else { 0 },
                eta_scale,
                passed: if sees_passing::<C>() { passed } else { 0.0 },
                depth: counts / HOLES,
                holes: if sees_passing::<C>() { counts % HOLES } else { 0 },
                pixel,
                sample,
            };
            (state, number)
        }
    }

    /// Puts a path into slot `i`.
    ///
    /// # Safety
    /// The slot is there and nobody else's.
    #[inline(always)]
    pub(super) unsafe fn put<C: Compiled>(&self, i: u32, state: &PathState, number: u32) {
        // SAFETY: as the caller promised.
        unsafe {
            write(self.origin.at(i), quad(state.ray.o, state.passed));
            write(self.direction.at(i), quad(state.ray.d, state.prev_pdf));
            write(self.throughput.at(i), quad(state.beta, state.eta_scale));
            let counts = state.depth * HOLES + state.holes;
            write(self.identity.at(i), Quad([number, state.pixel, state.sample, counts]));
            if C::sees(Features::TEXTURES) {
                write(self.cone.at(i), Pair([state.cone.width, state.cone.spread]));
            }
            if may_have_tree::<C>() {
                write(self.facing.at(i), state.facing);
            }
        }
    }

    /// Hit of the ray in slot `i` in the scene.
    ///
    /// # Safety
    /// As [`Pool::ray`].
    #[inline(always)]
    pub(super) unsafe fn hit<C: Compiled>(&self, i: u32, scene: &SceneView) -> Hit {
        // SAFETY: as the caller promised.
        unsafe {
            let Quad([t, prim, b0, b1]) = read(self.hit.at(i));
            let instance = if has_instances::<C>(scene) { read(self.instance.at(i)) } else { Hit::WORLD };
            Hit { t, prim: prim.to_bits(), b: [b0, b1], instance }
        }
    }

    /// Says what the ray in slot `i` meets in the scene.
    ///
    /// # Safety
    /// As [`Pool::put`].
    #[inline(always)]
    pub(super) unsafe fn put_hit<C: Compiled>(&self, i: u32, scene: &SceneView, hit: &Hit) {
        // SAFETY: as the caller promised.
        unsafe {
            write(self.hit.at(i), Quad([hit.t, f32::from_bits(hit.prim), hit.b[0], hit.b[1]]));
            if has_instances::<C>(scene) {
                write(self.instance.at(i), hit.instance);
            }
        }
    }

    /// The shadow ray in slot `i`, and the number of the path that it is of.
    ///
    /// # Safety
    /// The slot has one, which nobody writes meanwhile.
    #[inline(always)]
    pub(super) unsafe fn shadow_ray(&self, i: u32) -> (ShadowRay, u32) {
        // SAFETY: as the caller promised.
        unsafe {
            let (o, t_max) = parts(read(self.shadow_origin.at(i)));
            let (d, holes) = parts(read(self.shadow_direction.at(i)));
            let (ld, number) = parts(read(self.shadow_light.at(i)));
            (ShadowRay { ray: Ray { o, d }, t_max, ld, holes: holes.to_bits() }, number.to_bits())
        }
    }

    /// Puts a shadow ray of the path with a number into slot `i`.
    ///
    /// # Safety
    /// As [`Pool::put`].
    #[inline(always)]
    pub(super) unsafe fn put_shadow_ray(&self, i: u32, shadow: &ShadowRay, number: u32) {
        // SAFETY: as the caller promised.
        unsafe {
            write(self.shadow_origin.at(i), quad(shadow.ray.o, shadow.t_max));
            write(self.shadow_direction.at(i), quad(shadow.ray.d, f32::from_bits(shadow.holes)));
            write(self.shadow_light.at(i), quad(shadow.ld, f32::from_bits(number)));
        }
    }
}
