//! Nodes: what of a scene is where.

use std::collections::HashSet;

use glam::{Affine3A, DAffine3, DMat4, DQuat, DVec3, DVec4};

use super::accessor::Accessors;
use super::animation::{Motion, Moved};
use super::choice::Named;
use super::json::{Document, Node};

const NODE: &[&str] =
    &["camera", "children", "skin", "matrix", "mesh", "rotation", "scale", "translation", "weights"];
const INSTANCING: &str = "EXT_mesh_gpu_instancing";
/// Most places that a node may give its mesh.
const MAX_INSTANCES: usize = 1 << 24;

/// A node of a scene, where it is.
pub(super) struct SceneNode<'a> {
    pub(super) index: usize,
    pub(super) node: Node<'a>,
    pub(super) name: String,
    pub(super) world_from_node: DAffine3,
    /// Whether what it has is seen; joints count in any case.
    pub(super) is_visible: bool,
    /// Of the morph targets of its mesh, if they are others than the mesh says.
    pub(super) weights: Option<Vec<f32>>,
    /// Its mesh is where these put it within the node, if it says so.
    pub(super) instances: Option<Vec<DAffine3>>,
}

/// The nodes of the scene that is wanted, or else of the default one, parents before children.
pub(super) fn placed<'a>(
    accessors: &Accessors<'_, 'a>,
    scene: Option<&str>,
    motion: &mut Motion,
) -> Option<Vec<SceneNode<'a>>> {
    let document = accessors.buffers.document;
    let mut seen = HashSet::new();
    let roots = roots(document, scene)?.into_iter().rev();
    let mut left: Vec<(usize, DAffine3, bool, String)> =
        roots.map(|(i, path)| (i, DAffine3::IDENTITY, true, path)).collect();
    let mut all = Vec::new();
    while let Some((index, world_from_parent, is_visible, from)) = left.pop() {
        if !seen.insert(index) {
            document.log.error(format!("{from} is {index}, a node that is in the scene already"));
            return None;
        }
        let node = document.element("nodes", index, NODE)?;
        let moved = motion.remove(&index).unwrap_or_default();
        let is_visible = is_visible && self::is_visible(&node)?;
        let world_from_node = world_from_parent * local(&node, &moved)?;
        if !as_f32(&world_from_node).is_finite() {
            return node.fail("is moved or scaled beyond single precision");
        }
        for child in node.list("children")?.into_iter().rev() {
            left.push((child.index("nodes")?, world_from_node, is_visible, child.path));
        }
        let instances = match node.extension(INSTANCING).filter(|_| is_visible) {
            Some(extension) => Some(instances(accessors, &extension)?),
            None => None,
        };
        let weights = match moved.weights {
            None => weights(&node)?,
            weights => weights,
        };
        let name = node.get_or("name", format!("nodes[{index}]"), |n| n.string().map(str::to_owned))?;
        all.push(SceneNode { index, node, name, world_from_node, is_visible, weights, instances });
    }
    Some(all)
}

/// The nodes that a scene begins with, and what names them.
fn roots(document: Document<'_>, wanted: Option<&str>) -> Option<Vec<(usize, String)>> {
    let scenes = document.elements("scenes");
    let named = Named::new("scene", &scenes);
    let wanted = match wanted {
        Some(wanted) => Some(named.find(wanted, document.log)?),
        None => None,
    };
    if scenes.is_empty() {
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
    let scene = match wanted {
        Some(scene) => scene,
        None => document.node().get_or("scene", 0, |n| n.index("scenes"))?,
    };
    if scenes.len() > 1 && wanted.is_none() {
        let (count, shown) = (named.count(), named.name(scene));
        document.log.warn(format!("has {count}; {shown} is shown, unless --scene says otherwise"));
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

/// The weights of the morph targets of a mesh, or of a node, if they are given.
pub(super) fn weights(node: &Node<'_>) -> Option<Option<Vec<f32>>> {
    node.optional("weights", |weights| weights.elements()?.iter().map(Node::number).collect())
}

/// From a node to its parent.
fn local(node: &Node<'_>, moved: &Moved) -> Option<DAffine3> {
    let (scale, rotation, translation) = match node.get("matrix") {
        Some(matrix) => {
            let matrix = affine(&matrix)?;
            if let Moved { translation: None, rotation: None, scale: None, .. } = moved {
                return Some(matrix);
            }
            node.warn("has a \"matrix\" and is animated; that counts as its translation, rotation and scale");
            matrix.to_scale_rotation_translation()
        }
        None => {
            let scale = node.get_or("scale", [1.0; 3], |n| n.numbers())?.map(f64::from);
            let rotation = node.get_or("rotation", [0.0, 0.0, 0.0, 1.0], |n| n.numbers())?.map(f64::from);
            let translation = node.get_or("translation", [0.0; 3], |n| n.numbers())?.map(f64::from);
            let Some(rotation) = unit(rotation) else { return node.fail("has a rotation of zero length") };
            (scale.into(), rotation, translation.into())
        }
    };
    Some(DAffine3::from_scale_rotation_translation(
        moved.scale.unwrap_or(scale),
        moved.rotation.unwrap_or(rotation),
        moved.translation.unwrap_or(translation),
    ))
}

fn affine(matrix: &Node<'_>) -> Option<DAffine3> {
    let columns = matrix.numbers::<16>()?.map(f64::from);
    let column = DMat4::from_cols_array(&columns);
    if column.row(3) != DVec4::W {
        return matrix.fail("must have the last row 0, 0, 0, 1: its elements 3, 7, 11 and 15");
    }
    Some(DAffine3::from_mat4(column))
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

pub(super) fn as_f32(transform: &DAffine3) -> Affine3A {
    Affine3A {
        matrix3: transform.matrix3.as_mat3().into(),
        translation: transform.translation.as_vec3().into(),
    }
}
