//! Shapes as described.
//!
//! A shape is an entry of `shapes!` in [`geometry`] and a file with its keys, its outline and its area. Keys of scene files,
//! their reader, their writer, bounds and the checks of what single precision can hold follow from these; a mesh is read
//! from files besides.

mod cube;
mod cylinder;
mod disk;
mod geometry;
mod mesh;
mod quad;
mod sphere;

use glam::{Affine3A, Vec3};

use super::Color;
pub use geometry::Geometry;
pub(crate) use geometry::{Dimension, Outline, TEXTURE_COORDINATES, TYPES as SHAPE_TYPES, corners};
pub use mesh::{MeshSource, Normals, TriangleMesh};

/// Geometry with a material and a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Its name in the scene file, or what stands in for one in messages (`shapes[3]`).
    pub name: String,
    /// Its geometry, in object space.
    pub geometry: Geometry,
    /// Index into [`super::Description::materials`].
    pub material: usize,
    /// Radiance emitted from the front, W·sr⁻¹·m⁻² per channel; zero for most.
    pub emission: Color,
    /// Whether the back emits as well.
    pub emission_two_sided: bool,
    /// Whether the other side is the front.
    pub flip_normals: bool,
    /// Object to world.
    pub world_from_object: Affine3A,
}

impl Shape {
    /// Whether it is a light.
    pub fn emits(&self) -> bool {
        self.emission.value != Vec3::ZERO
    }
}

/// Shapes that may be in many places. They emit nothing that is sampled: instances of what does are copied.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name in the scene file, or what stands in for one in messages.
    pub name: String,
    /// Its shapes.
    pub shapes: Vec<Shape>,
}

/// Leaves out groups without shapes, and their places.
pub(crate) fn drop_empty_groups(groups: &mut Vec<Group>, instances: &mut Vec<Instance>) {
    let mut kept = 0;
    let new = groups.iter().map(|group| {
        let index = (!group.shapes.is_empty()).then_some(kept);
        kept += u32::from(index.is_some());
        index
    });
    let new: Vec<_> = new.collect();
    instances.retain_mut(|instance| {
        let index = new[instance.group as usize];
        instance.group = index.unwrap_or_default();
        index.is_some()
    });
    groups.retain(|group| !group.shapes.is_empty());
}

/// A place of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instance {
    /// Index into [`super::Description::groups`].
    pub group: u32,
    /// From the group to the world: any affine map that can be inverted.
    pub world_from_group: Affine3A,
}
