//! Shapes, groups of shapes, and where they are.

use std::collections::{BTreeSet, HashMap, HashSet};

use glam::{DAffine3, DMat3, DVec3, Vec3};
use torrance_text::quoted;

use super::bsdf::{Adapters, Materials};
use super::extent::problem;
use super::mesh::Meshes;
use super::plugins::Plugins;
use super::source::Repeated;
use super::texture::Quantity;
use super::tree::Class;
use super::view::{PropertyView, View};
use crate::description::affine::{are_alike, is_similarity, nearest_rotation};
use crate::description::limits::MAX_COORDINATE;
use crate::description::{Color, Description, Geometry, Group, Instance, Shape, Texture, texture};

/// Most levels of shapes within one another.
const MAX_LEVELS: usize = 16;
/// Most times that shapes are read again because another `merge` refers to them: what few lines of references within one
/// another stand for grows with every level.
const MAX_REPEATS: usize = 1 << 16;

/// The shapes of a scene.
pub(super) struct Shapes<'t, 'f> {
    pub(super) materials: Materials<'t, 'f>,
    meshes: Meshes<'f>,
    /// Of groups, by object; nothing for those with errors, which are reported once.
    known_groups: HashMap<usize, Option<u32>>,
    /// Objects that have been read.
    seen: HashSet<usize>,
    /// How often one has been read again.
    repeats: usize,
    /// The scene to which they belong.
    pub(super) description: Description,
}

impl<'t, 'f> Shapes<'t, 'f> {
    pub(super) fn new(description: Description, materials: Materials<'t, 'f>, meshes: Meshes<'f>) -> Self {
        let (known_groups, seen) = (HashMap::new(), HashSet::new());
        Self { materials, meshes, known_groups, seen, repeats: 0, description }
    }

    /// Reads a shape of the scene.
    pub(super) fn add(&mut self, given: &PropertyView<'_>) {
        let mut into = Vec::new();
        if self.read(given, &mut into, false, 0).is_some() {
            self.description.shapes.append(&mut into);
        }
    }

    /// Reads a shape, which may be several, into a list.
    fn read(
        &mut self,
        given: &PropertyView<'_>,
        into: &mut Vec<Shape>,
        is_in_group: bool,
        level: usize,
    ) -> Option<()> {
        let view = given.object()?;
        if level > MAX_LEVELS {
            return given.error(format!("shapes are nested more than {MAX_LEVELS} levels deep"));
        }
        self.repeats += usize::from(!self.seen.insert(view.index));
        if self.repeats >= MAX_REPEATS {
            // Said once.
            let is_first = self.repeats == MAX_REPEATS;
            self.repeats = MAX_REPEATS + 1;
            let message = format!("shapes are referred to more than {MAX_REPEATS} times");
            return if is_first { given.error(message) } else { None };
        }
        match view.plugin()? {
            "shapegroup" if is_in_group => {
                view.error("a shapegroup is within another; that is not supported")
            }
            // What it holds is where its instances are.
            "shapegroup" => Some(()),
            "instance" if is_in_group => {
                view.error("an instance is within a shapegroup; that is not supported")
            }
            "instance" => self.instance(&view, level),
            "merge" => {
                let all = view.children(Class::Shape);
                let read = all.iter().map(|inner| self.read(inner, into, is_in_group, level + 1));
                let read: Vec<_> = read.collect();
                view.finish(read.into_iter().collect(), &[Class::Shape])
            }
            _ => {
                let shape = view.finish(self.shape(&view), &[Class::Bsdf, Class::Emitter])?;
                if is_in_group && shape.emits() {
                    return view.fail("emits light, which shapes in groups cannot");
                }
                into.push(shape);
                Some(())
            }
        }
    }

    /// A place of a group.
    fn instance(&mut self, view: &View<'_>, level: usize) -> Option<()> {
        let to_world = view.transform("to_world");
        let Some(group) = view.child(Class::Shape)? else {
            return view.error("an instance refers to no shapegroup");
        };
        let to_world = view.finish(to_world, &[Class::Shape]);
        let inner = group.object()?;
        if inner.object.plugin != "shapegroup" {
            return group.error(format!("an instance is of a shapegroup, and {} is none", inner.describe()));
        }
        let known = self.known_groups.get(&inner.index).copied();
        let group = known.unwrap_or_else(|| {
            let index = self.group(&inner, level);
            self.known_groups.insert(inner.index, index);
            index
        })?;
        self.description.instances.push(Instance { group, world_from_group: to_world?.as_affine3a() });
        Some(())
    }

    fn group(&mut self, view: &View<'_>, level: usize) -> Option<u32> {
        let mut shapes = Vec::new();
        for inner in view.children(Class::Shape) {
            self.read(&inner, &mut shapes, true, level + 1)?;
        }
        view.warn_of(&["to_world"], "what is in a group is where its instances are");
        view.finish(Some(()), &[Class::Shape])?;
        if shapes.is_empty() {
            return view.error("a shapegroup has no shapes in it");
        }
        let groups = &mut self.description.groups;
        groups.push(Group { name: view.name(), shapes });
        u32::try_from(groups.len() - 1).ok()
    }

    /// A shape with its material and emission.
    fn shape(&mut self, view: &View<'_>) -> Option<Shape> {
        // How edges are sampled matters to derivatives only.
        view.ignore(&["silhouette_sampling_weight"]);
        let to_world = view.transform("to_world");
        let flip_normals = view.boolean("flip_normals", false);
        let emission = self.emission(view);
        let material = match view.child(Class::Bsdf) {
            Some(Some(given)) => self.materials.read(&given, Adapters::default()),
            Some(None) => Some(self.materials.default(emission.is_some_and(|e| e.is_some()))),
            None => None,
        };
        let attribute = self.attribute(view, material, emission.flatten());
        let (geometry, to_world, turns) = self.geometry(view, to_world, attribute.as_deref())?;
        let (material, emission, flip_normals) = (material?, emission?, flip_normals?);
        let world_from_object = to_world.as_affine3a();
        if let Some(problem) = problem(&geometry, &world_from_object) {
            return view.fail(problem);
        }
        let is_mirrored = to_world.matrix3.determinant() < 0.0;
        let geometry = match geometry {
            Geometry::Mesh(mesh) if emission.is_some() => Geometry::Mesh(super::mesh::wound_by_normals(mesh)),
            other => other,
        };
        let emission = emission.unwrap_or(Color::new(Vec3::ZERO));
        let shape = Shape {
            name: view.name(),
            geometry,
            material,
            emission,
            emission_two_sided: false,
            flip_normals: flip_normals != (turns && is_mirrored),
            world_from_object,
        };
        self.check(view, &shape, attribute.as_deref())?;
        let material = &mut self.materials.list[shape.material];
        material.holes_emit |= shape.emits() && !material.opacity.is(1.0);
        Some(shape)
    }

    /// The attribute of its mesh that a shape's textures are.
    fn attribute(&self, view: &View<'_>, material: Option<usize>, emission: Option<Color>) -> Option<String> {
        let mut names = BTreeSet::new();
        material.into_iter().for_each(|index| self.materials.add_attributes(index, &mut names));
        emission.into_iter().for_each(|e| self.materials.textures.add_attributes(e.texture, &mut names));
        if names.len() > 1 {
            let names: Vec<_> = names.iter().map(|name| quoted(name)).collect();
            return view.fail(format!("uses the mesh attributes {}; one is supported", names.join(" and ")));
        }
        names.pop_first()
    }

    /// Reports what does not go together.
    fn check(&self, view: &View<'_>, shape: &Shape, attribute: Option<&str>) -> Option<()> {
        let textures = &self.materials.textures.textures;
        let has = |is: fn(&Texture) -> bool| {
            self.materials.has(shape.material, is) || texture::has(shape.emission.texture, textures, is)
        };
        let mesh = if let Geometry::Mesh(mesh) = &shape.geometry { Some(mesh) } else { None };
        if let Some(name) = attribute
            && mesh.is_none_or(|mesh| mesh.colors.is_empty())
        {
            let (shape, name) = (view.describe(), quoted(name));
            let message = format!("{shape} has no attribute {name} for its textures; they are white");
            view.sources.warn(&view.object.place, message);
        }
        if mesh.is_some_and(|mesh| mesh.uvs.is_empty()) && has(Texture::is_by_uvs) {
            return view.fail("has textures, and its mesh no texture coordinates to place them by");
        }
        Some(())
    }

    /// Radiance, if there is an emitter.
    fn emission(&mut self, view: &View<'_>) -> Option<Option<Color>> {
        let Some(given) = view.child(Class::Emitter)? else { return Some(None) };
        let emitter = given.object()?;
        emitter.plugin_of(&Plugins { known: &["area"], unsupported: &["directionalarea", "volumelight"] })?;
        // How often a light is chosen says nothing about the mean.
        emitter.ignore(&["sampling_weight"]);
        let radiance = self.materials.textures.color(&emitter, "radiance", 1.0, Quantity::Light);
        emitter.finish(radiance, &[]).map(Some)
    }

    /// The geometry in object space, the transform to the world, and whether reflections turn it inside out.
    fn geometry(
        &mut self,
        view: &View<'_>,
        to_world: Option<DAffine3>,
        attribute: Option<&str>,
    ) -> Option<(Geometry, DAffine3, bool)> {
        match view.object.plugin.as_str() {
            "rectangle" => Some((Geometry::Quad, to_world?, false)),
            "cube" => {
                // Its faces are flat in any case.
                view.ignore(&["face_normals"]);
                Some((Geometry::Box, to_world?, false))
            }
            "disk" => Some((Geometry::Disk, to_world?, false)),
            "sphere" => {
                let center = view.vector("center", DVec3::ZERO);
                let radius = radius(view);
                let (center, to_world) = (center?, unstretched(view, to_world?, center?));
                Some((Geometry::Sphere { center: center.as_vec3(), radius: radius? }, to_world, true))
            }
            "cylinder" => {
                let from = view.vector("p0", DVec3::ZERO);
                let to = view.vector("p1", DVec3::Z);
                let radius = radius(view);
                let (geometry, to_world) = cylinder(view, [from?, to?], radius?, to_world?)?;
                Some((geometry, to_world, false))
            }
            _ => {
                let (mesh, follows_winding) = self.meshes.mesh(view, to_world.as_ref(), attribute)?;
                Some((Geometry::Mesh(mesh), to_world?, follows_winding))
            }
        }
    }
}

fn radius(view: &View<'_>) -> Option<f32> {
    let most = f64::from(MAX_COORDINATE);
    view.number_in("radius", 1.0, (1.0 / most, most))
}

/// The similarity that Mitsuba makes of the transform of a sphere: the rotation nearest to it, with what it does to the length
/// of x.
fn unstretched(view: &View<'_>, to_world: DAffine3, center: DVec3) -> DAffine3 {
    if is_similarity(&to_world.matrix3) {
        return to_world;
    }
    let scale = to_world.matrix3.x_axis.length();
    let message =
        format!("\"to_world\" stretches the sphere, which is scaled by {scale:.4} alike, as in Mitsuba");
    view.sources.warn_each(Repeated::Stretched, &view.object.place, message);
    let matrix3 = nearest_rotation(&to_world.matrix3) * scale;
    DAffine3 { matrix3, translation: to_world.transform_point3(center) - matrix3 * center }
}

/// A cylinder, whose transform may stretch it along its axis; what we keep is a similarity and a longer axis.
fn cylinder(
    view: &View<'_>,
    [from, to]: [DVec3; 2],
    radius: f32,
    to_world: DAffine3,
) -> Option<(Geometry, DAffine3)> {
    let Some(axis) = (to - from).try_normalize() else {
        return view.error("\"p0\" and \"p1\" are the same point, so that the cylinder has no axis");
    };
    let (u, v) = axis.any_orthonormal_pair();
    let m = to_world.matrix3;
    let [mu, mv, ma] = [m * u, m * v, m * axis];
    let scale = mu.length();
    let along = ma.normalize();
    if !are_alike([mu, mv, along * scale]) {
        return view.error(
            "\"to_world\" would make the cylinder elliptic or slanted; scale it alike across its axis",
        );
    }
    let turned = DMat3::from_cols(mu, mv, along * scale) * DMat3::from_cols(u, v, axis).transpose();
    let similarity = DAffine3 { matrix3: turned, translation: to_world.translation };
    let back = similarity.inverse() * to_world;
    let [from, to] = [from, to].map(|p| back.transform_point3(p).as_vec3());
    Some((Geometry::Cylinder { from, to, radius }, similarity))
}
