//! Nodes: what of a scene is where.

use std::collections::{HashMap, HashSet};

use glam::{Affine3A, DAffine3, DMat4, DQuat, DVec3, DVec4};

use super::accessor::Accessors;
use super::json::{Document, Node};

const NODE: &[&str] =
    &["camera", "children", "skin", "matrix", "mesh", "rotation", "scale", "translation", "weights"];
const INSTANCING: &str = "EXT_mesh_gpu_instancing";
/// Most places that a node may give its mesh.
const MAX_INSTANCES: usize = 1 << 24;

/// A node that is seen, where it is.
pub(super) struct SceneNode<'a> {
    pub(super) index: usize,
    pub(super) node: Node<'a>,
    pub(super) name: String,
    pub(super) world_from_node: DAffine3,
    /// Its mesh is where these put it within the node, if it says so.
    pub(super) instances: Option<Vec<DAffine3>>,
}

/// The nodes of the default scene, parents before children.
pub(super) fn placed<'a>(accessors: &Accessors<'_, 'a>) -> Option<Vec<SceneNode<'a>>> {
    let document = accessors.buffers.document;
    let mut seen = HashSet::new();
    let mut left: Vec<(usize, DAffine3, String)> =
        roots(document)?.into_iter().rev().map(|(i, path)| (i, DAffine3::IDENTITY, path)).collect();
    let mut all = Vec::new();
    while let Some((index, world_from_parent, from)) = left.pop() {
        if !seen.insert(index) {
            document.log.error(format!("{from} is {index}, a node that is in the scene already"));
            return None;
        }
        let node = document.element("nodes", index, NODE)?;
        if !is_visible(&node)? {
            continue;
        }
        let world_from_node = world_from_parent * local(&node)?;
        if !as_f32(&world_from_node).is_finite() {
            return node.fail("is moved or scaled beyond single precision");
        }
        for child in node.list("children")?.into_iter().rev() {
            left.push((child.index("nodes")?, world_from_node, child.path));
        }
        let instances = match node.extension(INSTANCING) {
            Some(extension) => Some(instances(accessors, &extension)?),
            None => None,
        };
        let name = node.get_or("name", format!("nodes[{index}]"), |n| n.string().map(str::to_owned))?;
        all.push(SceneNode { index, node, name, world_from_node, instances });
    }
    Some(all)
}

/// The nodes that a scene begins with, and what names them.
fn roots(document: Document<'_>) -> Option<Vec<(usize, String)>> {
    let scenes = document.count("scenes");
    if scenes == 0 {
        document.log.warn("has no \"scenes\"; all its nodes are shown");
        let mut is_child = HashSet::new();
        for index in 0..document.count("nodes") {
            for child in document.element("nodes", index, NODE)?.list("children")? {
                is_child.insert(child.index("nodes")?);
            }
        }
        let roots = (0..document.count("nodes")).filter(|i| !is_child.contains(i));
        return Some(roots.map(|i| (i, format!("nodes[{i}]"))).collect());
    }
    let scene = document.node().get_or("scene", 0, |n| n.index("scenes"))?;
    if scenes > 1 {
        document.log.warn(format!("has {scenes} scenes, of which scenes[{scene}] is shown"));
    }
    let nodes = document.element("scenes", scene, &["nodes"])?.list("nodes")?;
    nodes.into_iter().map(|node| Some((node.index("nodes")?, node.path))).collect()
}

fn is_visible(node: &Node<'_>) -> Option<bool> {
    match node.extension("KHR_node_visibility") {
        Some(extension) => extension.object(&["visible"])?.get_or("visible", true, |n| n.boolean()),
        None => Some(true),
    }
}

/// From a node to its parent.
fn local(node: &Node<'_>) -> Option<DAffine3> {
    if let Some(matrix) = node.get("matrix") {
        let columns = matrix.numbers::<16>()?.map(f64::from);
        let column = DMat4::from_cols_array(&columns);
        if column.row(3) != DVec4::W {
            return matrix.fail("must have the last row 0, 0, 0, 1: its elements 3, 7, 11 and 15");
        }
        return Some(DAffine3::from_mat4(column));
    }
    let scale = node.get_or("scale", [1.0; 3], |n| n.numbers())?.map(f64::from);
    let rotation = node.get_or("rotation", [0.0, 0.0, 0.0, 1.0], |n| n.numbers())?.map(f64::from);
    let translation = node.get_or("translation", [0.0; 3], |n| n.numbers())?.map(f64::from);
    let Some(rotation) = unit(rotation) else { return node.fail("has a rotation of zero length") };
    Some(DAffine3::from_scale_rotation_translation(scale.into(), rotation, translation.into()))
}

fn unit(quaternion: [f64; 4]) -> Option<DQuat> {
    let unit = DVec4::from(quaternion).try_normalize()?;
    Some(DQuat::from_vec4(unit))
}

/// Where the instances of a node are within it.
fn instances<'a>(accessors: &Accessors<'_, 'a>, extension: &Node<'a>) -> Option<Vec<DAffine3>> {
    let attributes = extension.require("attributes")?.object(&["TRANSLATION", "ROTATION", "SCALE", "_ID"])?;
    let get = |key: &str, kind: &str| {
        attributes.optional(key, |from| {
            // Elements of three numbers have 1 as their fourth.
            let accessor = accessors.get(&from, &[kind])?;
            if accessor.count > MAX_INSTANCES {
                return from.fail(format!("has {} instances; the most is {MAX_INSTANCES}", accessor.count));
            }
            Some((accessor.floats::<4>()?, from))
        })
    };
    let (translations, rotations, scales) =
        (get("TRANSLATION", "VEC3")?, get("ROTATION", "VEC4")?, get("SCALE", "VEC3")?);
    let mut count = None;
    for (all, from) in [&translations, &rotations, &scales].into_iter().flatten() {
        if *count.get_or_insert(all.len()) != all.len() {
            return from.fail(format!(
                "has {} instances, and another attribute has {}",
                all.len(),
                count.unwrap_or(0)
            ));
        }
    }
    let element = |all: &Option<(Vec<[f32; 4]>, Node<'_>)>, i: usize, default| {
        all.as_ref().map_or(default, |(all, _)| all[i]).map(f64::from)
    };
    let place = |i| {
        let [x, y, z, _] = element(&translations, i, [0.0; 4]);
        let [a, b, c, _] = element(&scales, i, [1.0; 4]);
        let Some(rotation) = unit(element(&rotations, i, [0.0, 0.0, 0.0, 1.0])) else {
            return extension.fail(format!("has a rotation, {i}, of zero length"));
        };
        Some(DAffine3::from_scale_rotation_translation(DVec3::new(a, b, c), rotation, DVec3::new(x, y, z)))
    };
    (0..count.unwrap_or(0)).map(place).collect()
}

/// From where the vertices of a skin are at rest to the world, joint by joint.
pub(super) fn joints<'a>(
    accessors: &Accessors<'_, 'a>,
    from: &Node<'a>,
    places: &HashMap<usize, DAffine3>,
) -> Option<Vec<Affine3A>> {
    let skin = from.indexed("skins", &["inverseBindMatrices", "skeleton", "joints"])?;
    let matrices = |from: Node<'a>| accessors.get(&from, &["MAT4"])?.floats::<16>();
    let bind = skin.get_or("inverseBindMatrices", Vec::new(), matrices)?;
    let nodes = skin.require("joints")?.elements()?;
    accessors.spend(&skin, nodes.len() as u64)?;
    let mut joints = Vec::with_capacity(nodes.len());
    for (k, joint) in nodes.into_iter().enumerate() {
        let index = joint.index("nodes")?;
        let Some(world) = places.get(&index) else { return joint.fail("is no node of the scene") };
        let bound = bind
            .get(k)
            .map_or(DAffine3::IDENTITY, |m| DAffine3::from_mat4(DMat4::from_cols_array(&m.map(f64::from))));
        joints.push(as_f32(&(*world * bound)));
    }
    Some(joints)
}

pub(super) fn as_f32(transform: &DAffine3) -> Affine3A {
    Affine3A {
        matrix3: transform.matrix3.as_mat3().into(),
        translation: transform.translation.as_vec3().into(),
    }
}
