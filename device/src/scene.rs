//! The scene as the stages see it.

use crate::bsdf::Material;
use crate::bvh::Node;
use crate::camera::Camera;
use crate::light::{AliasEntry, Light};
use crate::shape::{Primitive, triangle::TriangleNormals};

/// A scene in the memory of a back end: plain pointers, passed to stages by value. The host has validated all
/// of it: every index is in range and every number finite.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SceneView {
    /// The hierarchy; the root is node 0.
    pub nodes: *const Node,
    /// Primitives in the order of the leaves; one may occur more than once.
    pub prims: *const Primitive,
    /// Unit vertex normals of smooth triangles.
    pub normals: *const TriangleNormals,
    /// Materials.
    pub materials: *const Material,
    /// Lights.
    pub lights: *const Light,
    /// The distribution that chooses among the lights.
    pub light_table: *const AliasEntry,
    /// Number of lights.
    pub light_count: u32,
    /// Index of the environment among the lights, or [`Primitive::NO_LIGHT`].
    pub environment: u32,
    /// The camera.
    pub camera: Camera,
}

// SAFETY: stages only read through these pointers, and nothing writes what they point to.
unsafe impl Send for SceneView {}
// SAFETY: as above.
unsafe impl Sync for SceneView {}
