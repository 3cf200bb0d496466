//! Skins: joints that move vertices (glTF 2.0, 3.7.3).

use std::collections::HashMap;

use glam::{Affine3A, DAffine3, DMat4, Mat3A, Vec3, Vec3A};

use super::accessor::Accessors;
use super::json::Node;
use super::mesh::same_count;
use super::nodes::as_f32;
use crate::description::TriangleMesh;

/// A skin in its pose.
pub(super) struct Skin {
    /// From where vertices are at rest to the world, joint by joint.
    joints: Vec<Affine3A>,
    /// From the node that has the skin to the world, for what no joint moves.
    world_from_node: Affine3A,
}

impl Skin {
    /// The skin that `from`, of a node that is at `world_from_node`, is the index of. Nodes are at `places`.
    pub(super) fn read<'a>(
        accessors: &Accessors<'_, 'a>,
        from: &Node<'a>,
        world_from_node: &DAffine3,
        places: &HashMap<usize, DAffine3>,
    ) -> Option<Self> {
        let skin = from.indexed("skins", &["inverseBindMatrices", "skeleton", "joints"])?;
        let list = skin.require("joints")?;
        accessors.spend(&list, list.len())?;
        let nodes = list.elements()?;
        if nodes.is_empty() {
            return list.fail("is empty");
        }
        let inverse_bind = skin.optional("inverseBindMatrices", |from| {
            let matrices = accessors.get(&from, &["MAT4"])?.floats::<16>()?;
            if matrices.len() < nodes.len() {
                let (found, count) = (matrices.len(), nodes.len());
                return from.fail(format!("has {found} matrices, and there are {count} joints"));
            }
            Some(matrices)
        })?;
        let joint = |(k, joint): (usize, &Node<'a>)| {
            let Some(world) = places.get(&joint.index("nodes")?) else {
                return joint.fail("is no node of the scene");
            };
            let joint_from_mesh = match &inverse_bind {
                Some(matrices) => DAffine3::from_mat4(DMat4::from_cols_array(&matrices[k].map(f64::from))),
                None => DAffine3::IDENTITY,
            };
            Some(as_f32(&(*world * joint_from_mesh)))
        };
        let joints: Option<Vec<_>> = nodes.iter().enumerate().map(joint).collect();
        Some(Self { joints: joints?, world_from_node: as_f32(world_from_node) })
    }

    /// Moves the vertices of a primitive to where its joints have them in the world.
    pub(super) fn bend<'a>(
        &self,
        accessors: &Accessors<'_, 'a>,
        attributes: &Node<'a>,
        mesh: &mut TriangleMesh,
    ) -> Option<()> {
        let influences = Influences::read(accessors, attributes, mesh.positions.len())?;
        if influences.sets.is_empty() {
            attributes.warn("has no JOINTS_0, though its node has a skin: it follows the node");
        }
        let (mut is_mirrored, mut unheld) = (Vec::with_capacity(mesh.positions.len()), 0);
        for (i, position) in mesh.positions.iter_mut().enumerate() {
            let world_from_rest = match influences.sets.is_empty() {
                true => self.world_from_node,
                false => influences.blend(i, &self.joints, &mut unheld)?,
            };
            *position = world_from_rest.transform_point3(*position);
            if !position.is_finite() {
                return attributes
                    .fail(format!("has a vertex, {i}, that joints move beyond single precision"));
            }
            if let Some(normal) = mesh.normals.get_mut(i) {
                *normal = turned(&world_from_rest.matrix3, *normal);
            }
            is_mirrored.push(world_from_rest.matrix3.determinant() < 0.0);
        }
        if unheld > 0 {
            attributes
                .warn(format!("has {unheld} vertices without a weight, which follow their first joint"));
        }
        // A reflection turns the winding around; undone, the front stays the front.
        for [a, b, c] in &mut mesh.triangles {
            if [*a, *b, *c].iter().filter(|i| is_mirrored[**i as usize]).count() >= 2 {
                std::mem::swap(b, c);
            }
        }
        Some(())
    }
}

/// The direction of a normal where a matrix has moved its surface: its transposed inverse does that, here by its cofactors,
/// which are never singular by rounding.
fn turned(matrix: &Mat3A, normal: Vec3) -> Vec3 {
    let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let cofactors = Mat3A::from_cols(y.cross(z), z.cross(x), x.cross(y));
    (cofactors * Vec3A::from(normal) * 1.0_f32.copysign(matrix.determinant())).into()
}

/// A set of four joints a vertex, with their weights.
struct Set<'a> {
    node: Node<'a>,
    joints: Vec<[u32; 4]>,
    weights: Vec<[f32; 4]>,
}

/// Which joints move each vertex: `JOINTS_n` and `WEIGHTS_n` for all n.
struct Influences<'a> {
    sets: Vec<Set<'a>>,
}

impl<'a> Influences<'a> {
    fn read(accessors: &Accessors<'_, 'a>, attributes: &Node<'a>, count: usize) -> Option<Self> {
        let mut sets = Vec::new();
        while let Some(node) = attributes.get(&format!("JOINTS_{}", sets.len())) {
            let from = attributes.require(&format!("WEIGHTS_{}", sets.len()))?;
            let joints = same_count(&node, accessors.get(&node, &["VEC4"])?.wholes::<4>()?, count)?;
            let weights = same_count(&from, accessors.get(&from, &["VEC4"])?.floats::<4>()?, count)?;
            sets.push(Set { node, joints, weights });
        }
        Some(Self { sets })
    }

    /// The mean of the joints that hold a vertex, by their weights. Such as are held by none are counted.
    fn blend(&self, vertex: usize, joints: &[Affine3A], unheld: &mut usize) -> Option<Affine3A> {
        let sum: f32 = self.sets.iter().flat_map(|set| set.weights[vertex]).sum();
        let is_held = sum > 0.0 && sum.is_finite();
        *unheld += usize::from(!is_held);
        let mut mean = Affine3A { matrix3: Mat3A::ZERO, translation: Vec3A::ZERO };
        for (n, set) in self.sets.iter().enumerate() {
            for (k, (index, weight)) in set.joints[vertex].iter().zip(set.weights[vertex]).enumerate() {
                let weight = match is_held {
                    true => weight / sum,
                    false => f32::from(u8::from(n == 0 && k == 0)),
                };
                if weight == 0.0 {
                    continue;
                }
                let Some(joint) = joints.get(*index as usize) else {
                    let count = joints.len();
                    return set.node.fail(format!("has the joint {index} of a skin with {count}"));
                };
                mean.matrix3 += joint.matrix3 * weight;
                mean.translation += joint.translation * weight;
            }
        }
        Some(mean)
    }
}
