//! Files that hold a model and nothing around it, as scenes: a camera and light are added.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::Affine3A;

use crate::description::{
    Bounds, Color, Description, Geometry, RenderSettings, Shape, TriangleMesh, framing,
};
use crate::input::{Error, Problem};

/// A scene of nothing, to be filled with a model and finished by [`Description::finish_model`].
pub(crate) fn model_scene() -> Description {
    Description {
        render: RenderSettings::default(),
        camera: framing::camera(&Bounds::EMPTY),
        environment: None,
        portals: Vec::new(),
        lights: Vec::new(),
        images: Vec::new(),
        textures: Vec::new(),
        texture_names: BTreeMap::new(),
        materials: Vec::new(),
        shapes: Vec::new(),
        groups: Vec::new(),
        instances: Vec::new(),
    }
}

/// A mesh that is where its file has it.
pub(crate) fn shape(name: &str, mesh: Arc<TriangleMesh>, material: usize, emission: Color) -> Shape {
    Shape {
        name: name.to_owned(),
        geometry: Geometry::Mesh(mesh),
        material,
        emission,
        emission_two_sided: false,
        flip_normals: false,
        world_from_object: Affine3A::IDENTITY,
    }
}

impl Description {
    /// Puts a camera in front of a model.
    ///
    /// # Errors
    /// There is no model: nothing in the file has an area.
    pub(crate) fn finish_model(mut self, file: &str) -> Result<Self, Error> {
        if self.shapes.is_empty() {
            return Err(Problem::of_file(file, "nothing in the file has an area").into());
        }
        self.camera = framing::camera(&self.bounds());
        Ok(self)
    }
}
