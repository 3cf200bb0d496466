//! Files that hold a model and nothing around it, as scenes: a camera and light are added.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use glam::{Affine3A, Mat3, Quat, Vec3};

use crate::description::{
    Bounds, Color, Description, Geometry, RenderSettings, Shape, TriangleMesh, framing,
};
use crate::input::{Error, Problem};

/// Default reflectance.
pub(crate) const GREY: Vec3 = Vec3::splat(0.8);

/// Which way is up in a model whose format leaves it open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Up(Vec3);

impl Default for Up {
    fn default() -> Self {
        Self(Vec3::Y)
    }
}

/// What is no axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an axis is x, y, z, -x, -y or -z")]
pub struct UpError;

impl FromStr for Up {
    type Err = UpError;

    fn from_str(text: &str) -> Result<Self, UpError> {
        let (sign, axis) = text.strip_prefix('-').map_or((1.0, text), |axis| (-1.0, axis));
        let axis = match axis {
            "x" => Vec3::X,
            "y" => Vec3::Y,
            "z" => Vec3::Z,
            _ => return Err(UpError),
        };
        Ok(Self(sign * axis))
    }
}

impl Up {
    /// Turns a model upright.
    fn upright(self) -> Affine3A {
        let turn = match self.0 {
            // Of all half turns the one that leaves x where it is.
            Vec3::NEG_Y => Quat::from_rotation_x(std::f32::consts::PI),
            up => Quat::from_rotation_arc(up, Vec3::Y),
        };
        // Axes become axes.
        Affine3A::from_mat3(Mat3::from_cols_array(&Mat3::from_quat(turn).to_cols_array().map(f32::round)))
    }
}

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
    /// Turns a model upright, and puts a camera in front of it.
    ///
    /// # Errors
    /// There is no model: nothing in the file has an area.
    pub(crate) fn finish_model(mut self, file: &str, up: Up) -> Result<Self, Error> {
        if self.shapes.is_empty() && self.instances.is_empty() {
            return Err(Problem::of_file(file, "nothing in the file has an area").into());
        }
        if up != Up::default() {
            let upright = up.upright();
            let shapes = self.shapes.iter_mut().map(|shape| &mut shape.world_from_object);
            let instances = self.instances.iter_mut().map(|instance| &mut instance.world_from_group);
            shapes.chain(instances).for_each(|transform| *transform = upright * *transform);
        }
        self.camera = framing::camera(&self.bounds());
        Ok(self)
    }
}
