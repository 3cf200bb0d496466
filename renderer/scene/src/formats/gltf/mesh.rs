//! Meshes: primitives become triangle meshes, in their pose.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{Vec2, Vec3};
use serde_json::Value;

use super::accessor::{ACCESSOR, Accessors, Vertices};
use super::json::Node;
use super::material::{MaterialEntry, Materials};
use super::morph::Morph;
use super::skin::Skin;
use super::{draco, nodes, tangents, variants};
use crate::description::TriangleMesh;
use crate::description::limits::is_degenerate;
use crate::formats::strokes;

const PRIMITIVE: &[&str] = &["attributes", "indices", "material", "mode", "targets"];
/// Most triangles of a file, those of meshes that are copied counted for each copy.
pub(super) const MAX_TRIANGLES: usize = 1 << 26;

/// Triangles of one material.
#[derive(Clone)]
pub(super) struct PrimitiveMesh {
    pub(super) mesh: Arc<TriangleMesh>,
    pub(super) ready: MaterialEntry,
}

/// What moves the vertices of a mesh.
#[derive(Default)]
pub(super) struct Pose<'w> {
    /// Of each morph target, if they are others than those of the mesh.
    pub(super) weights: Option<&'w [f32]>,
    pub(super) skin: Option<Skin>,
}

/// The meshes of a document, each read when it is first used.
pub(super) struct Meshes<'m, 'b, 'a> {
    pub(super) accessors: &'m Accessors<'b, 'a>,
    pub(super) materials: Materials<'b, 'a>,
    /// The index of the variant of materials that is shown, if one is.
    variant: Option<usize>,
    /// Radius of points and lines, if it is given.
    point_radius: Option<f32>,
    /// `None` for those with errors, which are reported once.
    read: HashMap<usize, Option<Arc<[PrimitiveMesh]>>>,
    /// Meshes by what their primitives have but for the material, and by the texture coordinates that it asks for: files with
    /// many materials like to show them all on one shape.
    known: HashMap<String, HashMap<Option<u32>, Arc<TriangleMesh>>>,
    /// How many triangles there are so far.
    triangles: usize,
}

impl<'m, 'b, 'a> Meshes<'m, 'b, 'a> {
    pub(super) fn new(
        accessors: &'m Accessors<'b, 'a>,
        materials: Materials<'b, 'a>,
        variant: Option<usize>,
        point_radius: Option<f32>,
    ) -> Self {
        let (read, known, triangles) = (HashMap::new(), HashMap::new(), 0);
        Self { accessors, materials, variant, point_radius, read, known, triangles }
    }

    /// The parts of a mesh by its index.
    pub(super) fn get(&mut self, index: usize) -> Option<Arc<[PrimitiveMesh]>> {
        if let Some(known) = self.read.get(&index) {
            return known.clone();
        }
        let read = self.posed(index, &Pose::default());
        self.read.insert(index, read.clone());
        read
    }

    /// The parts of a mesh whose vertices are moved.
    pub(super) fn posed(&mut self, index: usize, pose: &Pose<'_>) -> Option<Arc<[PrimitiveMesh]>> {
        let node = self.accessors.buffers.document.element("meshes", index, &["primitives", "weights"])?;
        let primitives = node.require("primitives")?;
        // Many nodes may pose the same mesh.
        self.accessors.spend(&primitives, primitives.len())?;
        let primitives = primitives.elements()?;
        if primitives.is_empty() {
            return node.fail("has no \"primitives\"");
        }
        let own = match pose.weights {
            Some(_) => Vec::new(),
            None => {
                self.accessors.spend(&node, node.get("weights").map_or(0, |weights| weights.len()))?;
                nodes::weights(&node)?.unwrap_or_default()
            }
        };
        let weights = pose.weights.unwrap_or(&own);
        // Of meshes that are posed, node by node, none is to be found again.
        let is_at_rest = pose.weights.is_none() && pose.skin.is_none() && own.is_empty();
        let mut parts = Vec::new();
        for primitive in primitives {
            let primitive = primitive.object(PRIMITIVE)?;
            let key = is_at_rest.then(|| geometry_key(&primitive));
            parts.push(self.part(primitive, weights, pose.skin.as_ref(), key));
            self.accessors.select(None);
        }
        let parts: Option<Vec<Option<PrimitiveMesh>>> = parts.into_iter().collect();
        Some(parts?.into_iter().flatten().collect())
    }

    /// `None` is an error, `Some(None)` nothing to see. What is read is found again by `key`.
    fn part(
        &mut self,
        node: Node<'a>,
        weights: &[f32],
        skin: Option<&Skin>,
        key: Option<String>,
    ) -> Option<Option<PrimitiveMesh>> {
        let attributes = node.require("attributes")?;
        if let Some(known) = key.as_ref().and_then(|key| self.known.get(key)) {
            let index = variants::material(self.accessors, &node, self.variant)?;
            let ready = self.materials.get(index, attributes.get("COLOR_0").is_some())?;
            if let Some(mesh) = known.get(&ready.set).cloned() {
                self.count_triangles(&node, mesh.triangles.len())?;
                return Some(Some(PrimitiveMesh { mesh, ready }));
            }
        }
        self.accessors.replace(draco::decode(&node, &attributes, self.accessors)?);
        let Some(position) = attributes.get("POSITION") else {
            node.warn("has no POSITION, and is left out");
            return Some(None);
        };
        let is_indexed = node.get("indices").is_some();
        let read = || self.vec3s(&position, "what has it is left out");
        let mut positions = if is_indexed { Vec::new() } else { read()? };
        let all = if is_indexed { self.accessors.open(&position, &["VEC3"])?.count } else { positions.len() };
        let is_thin = node.get_or("mode", 4, |n| n.whole())? < 4;
        let mut triangles = self.triangles(&node, all)?;
        if is_indexed {
            self.accessors.select(Vertices::of(&mut triangles, all));
            positions = read()?;
        }
        let count = positions.len();
        let mut mesh = TriangleMesh { positions, triangles, ..TriangleMesh::default() };
        if let Some(normal) = attributes.get("NORMAL").filter(|_| !is_thin) {
            let normals = self.vec3s(&normal, "that of the faces is used");
            mesh.normals = normals.and_then(|n| same_count(&normal, n, count))?;
        }
        let morph = Morph::new(self.accessors, &node, weights)?;
        let rest = (skin.is_some() || !morph.is_empty()).then(|| mesh.clone());
        morph.add(self.accessors, "POSITION", &["VEC3"], &mut mesh.positions)?;
        morph.add(self.accessors, "NORMAL", &["VEC3"], &mut mesh.normals)?;
        if let Some(skin) = skin {
            skin.bend(self.accessors, &attributes, &mut mesh)?;
        }
        let positions = &mesh.positions;
        if is_thin {
            strokes::retain(&mut mesh.triangles, positions);
        } else {
            mesh.triangles.retain(|t| {
                let [a, b, c] = t.map(|i| positions[i as usize]);
                !is_degenerate(b - a, c - a)
            });
        }
        if mesh.triangles.is_empty() {
            node.warn(format!(
                "has no {}, and is left out",
                ["triangle with an area", "point or line"][usize::from(is_thin)]
            ));
            return Some(None);
        }
        if let Some(color) = attributes.get("COLOR_0") {
            mesh.colors = self.colors(&color, count)?;
            morph.add(self.accessors, "COLOR_0", &["VEC3", "VEC4"], &mut mesh.colors)?;
            // As the specification says (3.7.2.2).
            mesh.colors.iter_mut().for_each(|color| *color = color.clamp(Vec3::ZERO, Vec3::ONE));
        }
        let each = if is_thin { strokes::triangles_each(mesh.triangles.len()) } else { 1 };
        self.count_triangles(&node, each * mesh.triangles.len())?;
        unit_normals(&node, &mut mesh);
        let index = variants::material(self.accessors, &node, self.variant)?;
        let ready = self.materials.get(index, !mesh.colors.is_empty())?;
        mesh.uvs = self.uvs(&node, &attributes, ready, count)?;
        if ready.has_direction && !is_thin {
            self.check_tangents(&attributes, rest, &mesh)?;
        }
        let set = texture_coordinates(ready);
        morph.add(self.accessors, &set, &["VEC2"], &mut mesh.uvs)?;
        let mesh = Arc::new(if is_thin { strokes::thicken(&mesh, self.point_radius) } else { compact(mesh) });
        if let Some(key) = key {
            self.known.entry(key).or_default().insert(ready.set, Arc::clone(&mesh));
        }
        Some(Some(PrimitiveMesh { mesh, ready }))
    }

    /// Takes triangles from those that a file may have.
    pub(super) fn count_triangles(&mut self, node: &Node<'a>, count: usize) -> Option<()> {
        self.triangles += count;
        if self.triangles <= MAX_TRIANGLES {
            return Some(());
        }
        node.fail(format!(
            "is where the file comes to more than {MAX_TRIANGLES} triangles, which is the most"
        ))
    }

    fn vec3s(&self, from: &Node<'a>, remedy: &str) -> Option<Vec<Vec3>> {
        let floats = self.accessors.get(from, &["VEC3"])?.forgiven_floats::<3>(remedy);
        Some(floats.into_iter().map(Vec3::from).collect())
    }

    fn colors(&self, from: &Node<'a>, count: usize) -> Option<Vec<Vec3>> {
        let colors = self.accessors.get(from, &["VEC3", "VEC4"])?.floats::<4>()?;
        let colors = same_count(from, colors, count)?;
        if colors.iter().any(|c| c[3] != 1.0) {
            from.warn("has alpha, which is not supported in vertices: they are opaque");
        }
        let colors: Vec<Vec3> = colors.into_iter().map(|[r, g, b, _]| Vec3::new(r, g, b)).collect();
        if colors.iter().any(|c| c.min_element() < 0.0 || c.max_element() > 1.0) {
            from.warn("has colours outside 0 to 1, which are brought there");
        }
        Some(colors.into_iter().map(|c| c.clamp(Vec3::ZERO, Vec3::ONE)).collect())
    }

    fn uvs(
        &self,
        node: &Node<'a>,
        attributes: &Node<'a>,
        ready: MaterialEntry,
        count: usize,
    ) -> Option<Vec<Vec2>> {
        let name = texture_coordinates(ready);
        if let Some(uv) = attributes.get(&name) {
            let floats = self.accessors.get(&uv, &["VEC2"])?.floats::<2>()?;
            return same_count(&uv, floats.into_iter().map(Vec2::from).collect(), count);
        }
        if ready.set.is_some() {
            node.warn(format!("has no {name}, by which its material places textures; all is (0, 0)"));
            return Some(vec![Vec2::ZERO; count]);
        }
        if ready.has_direction {
            node.warn(format!("has no {name}, by which its material has a direction; that is arbitrary"));
        }
        Some(Vec::new())
    }

    /// The triangles that indices make, or the vertices in their order. A line from a to b is the triangle a, b, b, and a point
    /// a, a, a, until [`strokes::thicken`] makes surfaces of them.
    fn triangles(&self, node: &Node<'a>, vertices: usize) -> Option<Vec<[u32; 3]>> {
        let corners: Vec<u32> = match node.get("indices") {
            Some(from) => {
                let indices = self.accessors.get(&from, &["SCALAR"])?.wholes::<1>()?.into_flattened();
                if let Some(index) = indices.iter().find(|i| **i as usize >= vertices) {
                    let path = &from.path;
                    let message = format!("{path} has the index {index} of a mesh with {vertices} vertices");
                    node.document.log.forgive(message, "what has it is left out");
                }
                indices
            }
            None => (0..vertices as u32).collect(),
        };
        let mode = node.get_or("mode", 4, |n| n.whole())?;
        let mut triangles: Vec<[u32; 3]> = match mode {
            0 => corners.iter().map(|a| [*a; 3]).collect(),
            1 => corners.chunks_exact(2).map(|c| line(c[0], c[1])).collect(),
            2 => {
                let next = corners.iter().cycle().skip(1);
                corners.iter().zip(next).map(|(a, b)| line(*a, *b)).collect()
            }
            3 => corners.windows(2).map(|c| line(c[0], c[1])).collect(),
            4 => {
                if !corners.len().is_multiple_of(3) {
                    node.warn(format!("has {} corners, which is no multiple of 3", corners.len()));
                }
                corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect()
            }
            5 => strip(&corners),
            6 => corners.get(1..).unwrap_or(&[]).windows(2).map(|c| [c[0], c[1], corners[0]]).collect(),
            _ => return node.fail(format!("has the mode {mode}; modes go from 0 to 6")),
        };
        triangles.retain(|t| t.iter().all(|i| (*i as usize) < vertices));
        Some(triangles)
    }

    /// Warns of tangents that are not where texture coordinates grow, of the vertices at `rest` if they are moved.
    fn check_tangents(
        &self,
        attributes: &Node<'a>,
        rest: Option<TriangleMesh>,
        mesh: &TriangleMesh,
    ) -> Option<()> {
        let Some(from) = attributes.get("TANGENT") else { return Some(()) };
        let rest = rest.map(|rest| TriangleMesh { uvs: mesh.uvs.clone(), ..rest });
        let mesh = rest.as_ref().unwrap_or(mesh);
        let tangents = self.accessors.get(&from, &["VEC4"])?.floats::<4>()?;
        let tangents = same_count(&from, tangents, mesh.positions.len())?;
        if tangents::disagree(mesh, &tangents) {
            from.warn(
                "differs from where the texture coordinates grow, which counts instead: details of normals may be turned",
            );
        }
        Some(())
    }
}

/// The attribute by which a material places its textures.
fn texture_coordinates(ready: MaterialEntry) -> String {
    format!("TEXCOORD_{}", ready.set.unwrap_or(0))
}

/// What a primitive that nothing moves is but for its material: equal keys are equal geometry, also where accessors are two
/// of the same bytes.
fn geometry_key(primitive: &Node<'_>) -> String {
    let accessors = primitive.document.node().get("accessors");
    let accessors = accessors.as_ref().and_then(|all| all.value.as_array());
    let accessor = |index: &Value| -> String {
        let found = accessors.and_then(|all| all.get(index.as_u64()? as usize)?.as_object());
        found.and_then(accessor_key).unwrap_or_else(|| index.to_string())
    };
    let mut key = String::new();
    for (name, value) in primitive.value.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            // Without weights, targets change nothing.
            ("material" | "targets", _) => {}
            ("attributes", Value::Object(attributes)) => {
                key.extend(attributes.iter().map(|(name, index)| format!(" {name:?} {}", accessor(index))));
            }
            ("indices", index) => key.push_str(&format!(" indices {}", accessor(index))),
            (name, value) => key.push_str(&format!(" {name:?} {value}")),
        }
    }
    key
}

/// What an accessor reads, if that can be said shortly.
fn accessor_key(accessor: &serde_json::Map<String, Value>) -> Option<String> {
    const LONGEST: usize = 8;
    let mut key = String::from("[");
    for name in ACCESSOR.iter().filter(|name| !["min", "max"].contains(name)) {
        match accessor.get(*name) {
            Some(value @ (Value::Number(_) | Value::Bool(_))) => key.push_str(&format!(" {value}")),
            Some(Value::String(value)) if value.len() < LONGEST => key.push_str(&format!(" {value}")),
            None => key.push_str(" -"),
            Some(_) => return None,
        }
    }
    Some(key)
}

const fn line(a: u32, b: u32) -> [u32; 3] {
    [a, b, b]
}

/// The triangles of a strip, every other one with its corners turned around.
fn strip(corners: &[u32]) -> Vec<[u32; 3]> {
    let triangle = |(i, c): (usize, &[u32])| if i % 2 == 0 { [c[0], c[1], c[2]] } else { [c[0], c[2], c[1]] };
    corners.windows(3).enumerate().map(triangle).collect()
}

/// Leaves out vertices that no triangle has, where there may be many, or some that are no points.
fn compact(mesh: TriangleMesh) -> TriangleMesh {
    let is_right = mesh.positions.iter().all(|p| p.is_finite());
    if is_right && mesh.positions.len() <= 3 * mesh.triangles.len() {
        return mesh;
    }
    let mut kept = Vec::new();
    let mut place = HashMap::new();
    let mut renumber = |i: u32| {
        *place.entry(i).or_insert_with(|| {
            kept.push(i as usize);
            kept.len() as u32 - 1
        })
    };
    let triangles = mesh.triangles.iter().map(|t| t.map(&mut renumber)).collect();
    TriangleMesh {
        triangles,
        positions: only(&mesh.positions, &kept),
        normals: only(&mesh.normals, &kept),
        uvs: only(&mesh.uvs, &kept),
        colors: only(&mesh.colors, &kept),
        source: None,
    }
}

/// Some of all elements, or none where there are none.
fn only<T: Copy>(all: &[T], kept: &[usize]) -> Vec<T> {
    kept.iter().filter_map(|i| all.get(*i)).copied().collect()
}

/// Elements of which there must be as many as positions.
pub(super) fn same_count<T>(from: &Node<'_>, elements: Vec<T>, count: usize) -> Option<Vec<T>> {
    if elements.len() == count {
        return Some(elements);
    }
    from.fail(format!("has {} elements, and there are {count} positions", elements.len()))
}

/// Makes normals unit vectors; those of zero length are a face's.
fn unit_normals(node: &Node<'_>, mesh: &mut TriangleMesh) {
    let mut zero = 0;
    for i in 0..mesh.normals.len() {
        // In f64, since the squares of small components vanish in f32.
        mesh.normals[i] = mesh.normals[i].as_dvec3().try_normalize().map_or(Vec3::ZERO, |n| n.as_vec3());
        zero += usize::from(mesh.normals[i] == Vec3::ZERO);
    }
    if zero == 0 {
        return;
    }
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|i| mesh.positions[i as usize].as_dvec3());
        let normal = (b - a).cross(c - a).normalize().as_vec3();
        for i in triangle.map(|i| i as usize) {
            if mesh.normals[i] == Vec3::ZERO {
                mesh.normals[i] = normal;
            }
        }
    }
    mesh.normals.iter_mut().filter(|n| **n == Vec3::ZERO).for_each(|n| *n = Vec3::Z);
    let what = if zero == 1 { "normal" } else { "normals" };
    node.warn(format!("has {zero} {what} of zero length; the normals of faces are used instead"));
}
