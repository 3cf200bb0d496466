//! From placed nodes to a description.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use glam::{Affine3A, DAffine3};

use super::json::Node;
use super::mesh::{Meshes, Pose, PrimitiveMesh};
use super::nodes::{self, SceneNode, as_f32};
use super::view::{self, LIGHTS, View};
use crate::description::limits::MAX_COORDINATE;
use crate::description::{
    Camera, Description, Geometry, Group, Instance, Projection, PunctualLight, RenderSettings, Shape, framing,
};

/// Most shapes that meshes which emit are copied to.
const MAX_COPIES: usize = 1 << 20;

/// Puts a description together.
pub(super) struct Builder<'m, 'b, 'a> {
    meshes: Meshes<'m, 'b, 'a>,
    view: Option<View>,
    lights: Vec<PunctualLight>,
    shapes: Vec<Shape>,
    groups: Vec<Group>,
    instances: Vec<Instance>,
    /// The group that a mesh is, if it is one.
    group_of: HashMap<usize, u32>,
    names: Names,
    group_names: Names,
    places: HashMap<usize, DAffine3>,
}

impl<'m, 'b, 'a> Builder<'m, 'b, 'a> {
    pub(super) fn new(meshes: Meshes<'m, 'b, 'a>) -> Self {
        Self {
            meshes,
            view: None,
            lights: Vec::new(),
            shapes: Vec::new(),
            groups: Vec::new(),
            instances: Vec::new(),
            group_of: HashMap::new(),
            names: Names::default(),
            group_names: Names::default(),
            places: HashMap::new(),
        }
    }

    /// The description of nodes.
    pub(super) fn build(mut self, all: &[SceneNode<'a>]) -> Option<Description> {
        let uses = self.uses(all)?;
        self.places = nodes::places(all);
        let mut good = true;
        for placed in all {
            good &= self.place(placed, &uses).is_some();
        }
        if !good {
            return None;
        }
        let document = self.meshes.accessors.buffers.document;
        if self.shapes.is_empty() && self.instances.is_empty() {
            document.log.error("has no triangles to be seen");
            return None;
        }
        let mut names = Names::default();
        for material in &mut self.meshes.materials.list {
            material.name = names.unique(&material.name);
        }
        let mut render = RenderSettings::default();
        if let Some((width, height)) = self.view.as_ref().and_then(|view| view.size) {
            (render.width, render.height) = (width, height);
        }
        let framed = self.view.is_none();
        let mut description = Description {
            render,
            camera: self.view.map_or(UNFRAMED, |view| view.camera),
            environment: None,
            portals: Vec::new(),
            lights: self.lights,
            images: self.meshes.materials.textures.images,
            textures: self.meshes.materials.textures.textures,
            texture_names: BTreeMap::new(),
            materials: self.meshes.materials.list,
            shapes: self.shapes,
            groups: self.groups,
            instances: self.instances,
        };
        let bounds = description.bounds();
        let reach = bounds.lo.abs().max(bounds.hi.abs()).max_element();
        if reach.is_nan() || reach > MAX_COORDINATE {
            document.log.error("reaches beyond 1e9 metres, where single precision fails");
            return None;
        }
        if framed {
            description.camera = framing::camera(&bounds);
        }
        framing::light(&mut description);
        Some(description)
    }

    /// How often each mesh is placed as it is.
    fn uses(&self, all: &[SceneNode<'a>]) -> Option<HashMap<usize, usize>> {
        let mut uses = HashMap::new();
        for placed in all {
            if let Some(mesh) = placed.node.get("mesh")
                && placed.node.get("skin").is_none()
                && placed.node.get("weights").is_none()
            {
                let index = self.meshes.accessors.buffers.document.index(&mesh, "meshes")?;
                *uses.entry(index).or_insert(0) += placed.instances.as_ref().map_or(1, Vec::len);
            }
        }
        Some(uses)
    }

    fn place(&mut self, placed: &SceneNode<'a>, uses: &HashMap<usize, usize>) -> Option<()> {
        let document = self.meshes.accessors.buffers.document;
        let node = &placed.node;
        if let Some(camera) = node.get("camera") {
            let view = view::camera(document, &camera, &placed.world_from_node)?;
            match self.view {
                None => self.view = Some(view),
                Some(_) => camera.warn("is of another camera than the first, which is the one that counts"),
            }
        }
        if let Some(extension) = node.extension(LIGHTS) {
            let name = self.names.unique(&placed.name);
            self.lights.push(view::light(document, &extension, &name, &placed.world_from_node)?);
        }
        let Some(mesh) = node.get("mesh") else { return Some(()) };
        let index = document.index(&mesh, "meshes")?;
        let pose = self.pose(node)?;
        if !pose.is_none() {
            // A skin places its vertices in the world.
            let world = if pose.joints.is_empty() { placed.world_from_node } else { DAffine3::IDENTITY };
            let parts = self.meshes.posed(index, &pose)?;
            return self.add_shapes(placed, &parts, &as_f32(&world));
        }
        let parts = self.meshes.get(index)?;
        let emits = parts.iter().any(|part| part.ready.emission.value != glam::Vec3::ZERO);
        let is_group = !emits && !parts.is_empty() && uses.get(&index).is_some_and(|n| *n > 1);
        let own = [DAffine3::IDENTITY];
        for (i, within) in placed.instances.as_deref().unwrap_or(&own).iter().enumerate() {
            let world = as_f32(&(placed.world_from_node * *within));
            if is_group {
                self.add_instance(node, index, &parts, &world)?;
            } else {
                if i > 0 {
                    let triangles = parts.iter().map(|part| part.mesh.triangles.len()).sum();
                    self.meshes.count_triangles(node, triangles)?;
                }
                self.add_shapes(placed, &parts, &world)?;
            }
        }
        Some(())
    }

    /// Displacement of the vertices of a node's mesh.
    fn pose(&self, node: &Node<'a>) -> Option<Pose> {
        let weights = match node.get("weights") {
            Some(weights) => Some(weights.elements()?.iter().map(Node::number).collect::<Option<_>>()?),
            None => None,
        };
        let joints = match node.get("skin") {
            Some(skin) => nodes::joints(self.meshes.accessors, &skin, &self.places)?,
            None => Vec::new(),
        };
        Some(Pose { weights, joints })
    }

    fn add_shapes(
        &mut self,
        placed: &SceneNode<'a>,
        parts: &Arc<[PrimitiveMesh]>,
        world: &Affine3A,
    ) -> Option<()> {
        if !is_solid(&placed.node, world) {
            return Some(());
        }
        if self.shapes.len() + parts.len() > MAX_COPIES {
            return placed.node.fail(format!(
                "is where the file comes to more than {MAX_COPIES} shapes, which is the most"
            ));
        }
        for (i, part) in parts.iter().enumerate() {
            let name = if parts.len() == 1 { placed.name.clone() } else { format!("{}.{i}", placed.name) };
            let name = self.names.unique(&name);
            self.shapes.push(shape(name, part, *world));
        }
        Some(())
    }

    fn add_instance(
        &mut self,
        node: &Node<'a>,
        index: usize,
        parts: &Arc<[PrimitiveMesh]>,
        world: &Affine3A,
    ) -> Option<()> {
        if !is_solid(node, world) {
            return Some(());
        }
        let group = match self.group_of.get(&index) {
            Some(group) => *group,
            None => {
                let name = self.mesh_name(index);
                let shapes = parts.iter().enumerate();
                let shapes = shapes.map(|(i, part)| {
                    let name = self.names.unique(&format!("{name}.{i}"));
                    shape(name, part, Affine3A::IDENTITY)
                });
                let shapes = shapes.collect();
                self.groups.push(Group { name, shapes });
                self.group_of.insert(index, self.groups.len() as u32 - 1);
                self.groups.len() as u32 - 1
            }
        };
        self.instances.push(Instance { group, world_from_group: *world });
        Some(())
    }

    /// The name of a mesh, which no other group has.
    fn mesh_name(&mut self, index: usize) -> String {
        let document = self.meshes.accessors.buffers.document;
        let node = document.element("meshes", index, &["primitives", "weights"]);
        let name = node.and_then(|node| node.get("name")?.value.as_str().map(str::to_owned));
        self.group_names.unique(&name.unwrap_or_else(|| format!("meshes[{index}]")))
    }
}

/// In the place of a camera until the scene is known.
const UNFRAMED: Camera = Camera {
    position: glam::Vec3::ZERO,
    target: glam::Vec3::Z,
    up: glam::Vec3::Y,
    mirrored: false,
    projection: Projection::Equirectangular,
};

fn shape(name: String, part: &PrimitiveMesh, world_from_object: Affine3A) -> Shape {
    Shape {
        name,
        geometry: Geometry::Mesh(Arc::clone(&part.mesh)),
        material: part.ready.material,
        emission: part.ready.emission,
        emission_two_sided: part.ready.two_sided,
        flip_normals: false,
        world_from_object,
    }
}

/// Whether a transform leaves something to be seen; a scale of zero is how nodes are hidden.
fn is_solid(node: &Node<'_>, world: &Affine3A) -> bool {
    let determinant = world.matrix3.determinant();
    let inverse = world.inverse();
    let is_solid = determinant.is_normal() && inverse.is_finite() && world.is_finite();
    if !is_solid {
        node.warn("is scaled to nothing, and its mesh left out");
    }
    is_solid
}

/// Names that are taken.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    /// The last number that was put after a name.
    last: HashMap<String, u32>,
}

impl Names {
    /// `name`, or with a number after it if that is taken.
    fn unique(&mut self, name: &str) -> String {
        let mut unique = name.to_owned();
        while !self.taken.insert(unique.clone()) {
            let number = self.last.entry(name.to_owned()).or_insert(1);
            *number += 1;
            unique = format!("{name} {number}");
        }
        unique
    }
}
