//! From placed nodes to a description.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use glam::{Affine3A, DAffine3};
use torrance_text::{hint, quoted};

use super::json::{Log, Node};
use super::material::MaterialEntry;
use super::mesh::{Meshes, Pose, PrimitiveMesh};
use super::nodes::{SceneNode, as_f32};
use super::skin::Skin;
use super::view::{self, LIGHTS, View};
use crate::description::limits::MAX_COORDINATE;
use crate::description::{Description, Group, Instance, Shape, framing};
use crate::formats::model;

/// Most shapes that meshes which emit are copied to.
const MAX_COPIES: usize = 1 << 20;

/// What is done about a camera or light that is wrong.
const LEFT_OUT: &str = "it is left out";

/// Puts a description together.
pub(super) struct Builder<'m, 'b, 'a> {
    meshes: Meshes<'m, 'b, 'a>,
    scene: Description,
    cameras: Vec<PlacedCamera>,
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
            scene: model::model_scene(),
            cameras: Vec::new(),
            group_of: HashMap::new(),
            names: Names::default(),
            group_names: Names::default(),
            places: HashMap::new(),
        }
    }

    /// The description of nodes, seen by the camera of a name or number, or by the first.
    pub(super) fn build(mut self, all: &[SceneNode<'a>], camera: Option<&str>) -> Option<Description> {
        let uses = Self::uses(all)?;
        self.places = all.iter().map(|placed| (placed.index, placed.world_from_node)).collect();
        let mut good = true;
        for placed in all.iter().filter(|placed| placed.is_visible) {
            good &= self.place(placed, &uses).is_some();
        }
        if !good {
            return None;
        }
        let log = self.meshes.accessors.buffers.document.log;
        let Self { meshes: Meshes { materials, .. }, mut scene, cameras, .. } = self;
        if scene.shapes.is_empty() && scene.instances.is_empty() {
            log.error("has nothing to be seen");
            return None;
        }
        (scene.images, scene.textures) = (materials.textures.images, materials.textures.textures);
        scene.materials = materials.list;
        let mut names = Names::default();
        for material in &mut scene.materials {
            material.name = names.unique(&material.name);
        }
        let bounds = scene.bounds();
        let reach = bounds.lo.abs().max(bounds.hi.abs()).max_element();
        if reach.is_nan() || reach > MAX_COORDINATE {
            log.error("reaches beyond 1e9 metres, where single precision fails");
            return None;
        }
        match chosen(cameras, camera, log)? {
            Some(View { camera, size }) => {
                scene.camera = camera;
                (scene.render.width, scene.render.height) =
                    size.unwrap_or((scene.render.width, scene.render.height));
            }
            None => scene.camera = framing::camera(&bounds),
        }
        Some(scene)
    }

    /// How often each mesh is placed as it is.
    fn uses(all: &[SceneNode<'a>]) -> Option<HashMap<usize, usize>> {
        let mut uses = HashMap::new();
        for placed in all.iter().filter(|placed| placed.is_visible && placed.weights.is_none()) {
            if let Some(mesh) = placed.node.get("mesh")
                && placed.node.get("skin").is_none()
            {
                *uses.entry(mesh.index("meshes")?).or_insert(0) +=
                    placed.instances.as_ref().map_or(1, Vec::len);
            }
        }
        Some(uses)
    }

    fn place(&mut self, placed: &SceneNode<'a>, uses: &HashMap<usize, usize>) -> Option<()> {
        let node = &placed.node;
        let log = node.document.log;
        if let Some(camera) = node.get("camera")
            && let Some(view) = log.forgiving(LEFT_OUT, || view::camera(&camera, &placed.world_from_node))
        {
            let index = camera.index("cameras")?;
            let own = node.document.element("cameras", index, &["type", "perspective", "orthographic"])?;
            let own = own.value.get("name").and_then(|name| name.as_str()).map(str::to_owned);
            self.cameras.push(PlacedCamera { names: [Some(placed.name.clone()), own], index, view });
        }
        if let Some(extension) = node.extension(LIGHTS) {
            let name = self.names.unique(&placed.name);
            let light = log.forgiving(LEFT_OUT, || view::light(&extension, name, &placed.world_from_node));
            self.scene.lights.extend(light);
        }
        let Some(mesh) = node.get("mesh") else { return Some(()) };
        let index = mesh.index("meshes")?;
        if let Some(skin) = node.get("skin") {
            let (accessors, weights) = (self.meshes.accessors, placed.weights.as_deref());
            let skin = Skin::read(accessors, &skin, &placed.world_from_node, &self.places)?;
            let parts = self.meshes.posed(index, &Pose { weights, skin: Some(skin) })?;
            if placed.instances.is_some() {
                node.warn("has a skin, and is there once: its instances are left out");
            }
            // A skin places its vertices in the world.
            return self.add_shapes(placed, &parts, &Affine3A::IDENTITY);
        }
        let parts = match placed.weights.as_deref() {
            None => self.meshes.get(index)?,
            weights => self.meshes.posed(index, &Pose { weights, skin: None })?,
        };
        let emits = parts.iter().any(|part| part.ready.emission.value != glam::Vec3::ZERO);
        let is_shared = placed.weights.is_none();
        let is_group = is_shared && !emits && !parts.is_empty() && uses.get(&index).is_some_and(|n| *n > 1);
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

    fn add_shapes(
        &mut self,
        placed: &SceneNode<'_>,
        parts: &[PrimitiveMesh],
        world: &Affine3A,
    ) -> Option<()> {
        if !is_solid(&placed.node, world) {
            return Some(());
        }
        if self.scene.shapes.len() + parts.len() > MAX_COPIES {
            return placed.node.fail(format!(
                "is where the file comes to more than {MAX_COPIES} shapes, which is the most"
            ));
        }
        for (i, part) in parts.iter().enumerate() {
            let name = if parts.len() == 1 { placed.name.clone() } else { format!("{}.{i}", placed.name) };
            let name = self.names.unique(&name);
            self.scene.shapes.push(shape(&name, part, *world));
        }
        Some(())
    }

    fn add_instance(
        &mut self,
        node: &Node<'_>,
        index: usize,
        parts: &[PrimitiveMesh],
        world: &Affine3A,
    ) -> Option<()> {
        if !is_solid(node, world) {
            return Some(());
        }
        let group = match self.group_of.get(&index) {
            Some(group) => *group,
            None => {
                let name = self.mesh_name(index);
                let shapes = parts.iter().enumerate().map(|(i, part)| {
                    let name = self.names.unique(&format!("{name}.{i}"));
                    shape(&name, part, Affine3A::IDENTITY)
                });
                let shapes = shapes.collect();
                let group = self.scene.groups.len() as u32;
                self.scene.groups.push(Group { name, shapes });
                self.group_of.insert(index, group);
                group
            }
        };
        self.scene.instances.push(Instance { group, world_from_group: *world });
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

fn shape(name: &str, part: &PrimitiveMesh, world_from_object: Affine3A) -> Shape {
    let MaterialEntry { material, emission, two_sided, .. } = part.ready;
    let shape = model::shape(name, Arc::clone(&part.mesh), material, emission);
    Shape { emission_two_sided: two_sided, world_from_object, ..shape }
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

/// A camera of a node.
struct PlacedCamera {
    /// Those of the node and of the camera.
    names: [Option<String>; 2],
    /// Its index in the file.
    index: usize,
    view: View,
}

/// The camera that was asked for by its name, that of its node or its number in the file; the first of them if none was, and
/// none if there is none.
fn chosen(mut cameras: Vec<PlacedCamera>, wanted: Option<&str>, log: &Log) -> Option<Option<View>> {
    let Some(wanted) = wanted else {
        if let [first, _, ..] = &cameras[..] {
            let name = first.names[0].as_deref().unwrap_or_default();
            log.warn(format!(
                "has {} cameras; that of {} counts, unless --camera says otherwise",
                cameras.len(),
                quoted(name)
            ));
        }
        return Some((!cameras.is_empty()).then(|| cameras.swap_remove(0).view));
    };
    let is_named = |camera: &PlacedCamera| camera.names.iter().flatten().any(|name| name == wanted);
    let is_numbered = |camera: &PlacedCamera| wanted.parse() == Ok(camera.index);
    let found = cameras.iter().position(is_named).or_else(|| cameras.iter().position(is_numbered));
    let Some(found) = found else {
        let names = cameras.iter().filter_map(|camera| camera.names[0].as_deref());
        let known = hint(wanted, "it has those of", names);
        log.error(format!("has no camera {}{known}", quoted(wanted)));
        return None;
    };
    Some(Some(cameras.swap_remove(found).view))
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
