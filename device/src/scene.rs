//! The scene as the stages see it.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::camera::Camera;
use crate::features::{Compiled, Features};
use crate::filter::FilterView;
use crate::guiding::Guide;
use crate::light::Lighting;
use crate::ray::Ray;
use crate::view::extends;

/// A scene in the memory of a back end: plain pointers, passed to stages by value. The host has validated all
/// of it: every index is in range and every number finite.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SceneView {
    /// Surfaces and lights.
    pub lighting: Lighting,
    /// The pixel filter.
    pub filter: FilterView,
    /// What guides paths, if anything does.
    pub guide: Guide,
    /// Whether any material has holes, and what they do: [`SceneView::NO_HOLES`] and so on.
    pub holes: u32,
    /// Non-zero if the camera does not see lights.
    pub hides_emitters: u32,
    /// The camera sees nothing that is nearer along its axis, metres.
    pub near: f32,
    /// Nor anything that is farther.
    pub far: f32,
    /// The camera.
    pub camera: Camera,
}

extends!(SceneView with lighting: Lighting);

impl SceneView {
    /// The camera's ray from where things are seen on.
    #[inline(always)]
    pub(crate) fn clipped<C: Compiled>(&self, ray: Ray) -> Ray {
        if C::sees(Features::CLIPPING) && self.near > 0.0 {
            Ray { o: ray.at(self.near / self.camera.shrink(ray.d)), ..ray }
        } else {
            ray
        }
    }

    /// Whether what is at distance `t` on a ray along `d` that begins there is too far to be seen.
    #[inline(always)]
    pub(crate) fn is_beyond(&self, d: Vec3, t: f32) -> bool {
        t * self.camera.shrink(d) > self.far - self.near
    }

    /// No material has holes.
    pub const NO_HOLES: u32 = 0;
    /// Paths and light pass holes as if nothing were there.
    pub const HOLES_PASS: u32 = 1;
    /// Passing a hole counts as scattering: by the longest path, and for light without extent, which paths cannot find.
    pub const HOLES_SCATTER: u32 = 2;
}

/// A view as a back end keeps it in its memory.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct KeptView(pub SceneView);

const _: () = assert!(size_of::<SceneView>() == 26 * 8 + 20 * 4 + size_of::<Camera>());

// SAFETY: pointers, numbers, and a camera, which is plain data; none is without a meaning for being zero.
unsafe impl Zeroable for KeptView {}
// SAFETY: as above. There is no padding, as the size tells, and a pointer that any bits may be is followed in `unsafe`.
unsafe impl Pod for KeptView {}

// SAFETY: stages only read through these pointers, and nothing writes what they point to.
unsafe impl Send for SceneView {}
// SAFETY: as above.
unsafe impl Sync for SceneView {}
