//! The surfaces of a scene, and the trees in which rays find them.

use std::time::{Duration, Instant};

use bytemuck::Zeroable;
use device::bvh::{Instance, Node};
use device::shape::Primitive;
use device::shape::triangle::{TriangleColors, TriangleNormals, TriangleUvs};
use obvhs::aabb::Aabb;
use torrance_gpu::backend::Shared;

use super::bvh::{self, Bvh, MAX_PRIMITIVES};
use super::placement::{Ends, Placement, world_box};
use super::shapes::{Flat, ShapeOf};
use super::{Error, PrimitiveCounts, Stats, fingerprint};

/// The surfaces of a scene. Trees and what they hold are those of the world, and then those of each group, so that scenes
/// with the same groups can take them from one another.
#[derive(Debug, Clone, Default)]
pub struct Geometry {
    /// The trees of the hierarchy: that of the world, those of groups that have instances, that of the instances.
    pub nodes: Shared<Node>,
    /// Primitives in leaf order, those that were split once for each piece.
    pub prims: Shared<Primitive>,
    /// Which primitive of the scene each of `prims` is.
    pub sources: Shared<u32>,
    /// Index of the shape of each primitive of the scene, in the order of [`torrance_scene::Description::all_shapes`].
    pub shape_of: ShapeOf,
    /// Vertex normals and tangents of the triangles that have them.
    pub normals: Shared<TriangleNormals>,
    /// Texture coordinates of the triangles that have `normals`, if any material asks for them.
    pub uvs: Shared<TriangleUvs>,
    /// Colours at the vertices of the same triangles, if any texture asks for them.
    pub colors: Shared<TriangleColors>,
    /// Instances of groups in leaf order.
    pub instances: Vec<Instance>,
    /// Root of the tree of the instances, or 0 if there are none.
    pub instances_root: u32,
    /// Where the fingerprint of the scene begins.
    pub(super) hash: u64,
    /// Primitives of the world.
    flat_world: Ends,
    world: Size,
    groups: Vec<Group>,
    counts: PrimitiveCounts,
    /// Time it took to build trees.
    pub(super) time: Duration,
}

/// A group that has instances.
#[derive(Debug, Clone)]
struct Group {
    /// Root of its tree, if there are primitives in it.
    root: u32,
    prims: usize,
    bounds: Aabb,
}

/// Nodes of a tree, and primitives in its leaves.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    nodes: usize,
    prims: usize,
}

impl Geometry {
    /// Builds all trees. `instances` are in the order of the scene.
    pub(super) fn new(placement: Placement, instances: &[Instance]) -> Result<Self, Error> {
        let Placement { mut flat, world, groups } = placement;
        let mut prims = std::mem::take(&mut flat.prims);
        let surfaces = Self::without_trees(flat, prims.iter(), world);
        let start = Instant::now();
        let of_groups = prims.split_off(world.prims);
        let mut forest = Forest::new(prims)?;
        for range in &groups {
            let group = &of_groups[range.start - world.prims..range.end - world.prims];
            forest.add(group, range.start as u32)?;
        }
        forest.complete(surfaces, instances, start)
    }

    /// This world and these groups, with other instances.
    pub(super) fn with_instances(&self, instances: &[Instance]) -> Result<Self, Error> {
        let start = Instant::now();
        let mut nodes = self.nodes[..self.first_node_of_instances()].to_vec();
        let (instances, instances_root) = crown(&mut nodes, &self.groups, instances)?;
        let time = start.elapsed();
        Ok(Self { nodes: nodes.into(), instances, instances_root, time, ..self.clone() })
    }

    /// The same groups in another world, flattened for materials that want the same, with other instances.
    pub(super) fn with_world(&self, mut world: Flat, instances: &[Instance]) -> Result<Self, Error> {
        let (from, to) = (self.flat_world, Ends { prims: world.len(), normals: world.normals.len() });
        let of_groups = self.groups_in_order(to);
        follow(&mut world.normals, &self.normals, from.normals);
        follow(&mut world.uvs, &self.uvs, from.normals);
        follow(&mut world.colors, &self.colors, from.normals);
        world.shape_of.append(&self.shape_of, from.prims as u32, to.prims as u32);
        let prims = std::mem::take(&mut world.prims);
        let surfaces = Self::without_trees(world, prims.iter().chain(&of_groups), to);
        drop(of_groups);
        let start = Instant::now();
        let mut forest = Forest::new(prims)?;
        forest.take_groups(self, to)?;
        forest.complete(surfaces, instances, start)
    }

    /// All but the trees and what is in their leaves: primitives, in the order of the scene, and what `flat` has beside its
    /// own.
    fn without_trees<'a>(
        flat: Flat,
        prims: impl Iterator<Item = &'a Primitive> + Clone,
        flat_world: Ends,
    ) -> Self {
        let Flat { shape_of, normals, uvs, colors, .. } = flat;
        let hash = fingerprint::of_geometry(prims.clone(), &normals, &uvs, &colors);
        let (normals, uvs, colors) = (normals.into(), uvs.into(), colors.into());
        Self { shape_of, normals, uvs, colors, hash, flat_world, counts: prims.collect(), ..Self::default() }
    }

    /// Numbers of its parts; the other fields are 0.
    pub(super) fn stats(&self) -> Stats {
        let seen = self.instances.iter().map(|i| self.groups[i.group as usize].prims as u64).sum::<u64>();
        Stats {
            primitives: self.counts,
            groups: self.groups.iter().filter(|group| group.prims > 0).count(),
            instances: self.instances.len(),
            seen: seen + self.flat_world.prims as u64,
            nodes: self.nodes.len(),
            bvh_time: self.time,
            bytes: size_of_val(&*self.nodes)
                + size_of_val(&*self.prims)
                + size_of_val(&*self.sources)
                + size_of_val(&*self.instances)
                + size_of_val(&*self.normals)
                + size_of_val(&*self.uvs)
                + size_of_val(&*self.colors),
            ..Stats::default()
        }
    }

    fn first_node_of_instances(&self) -> usize {
        if self.instances.is_empty() { self.nodes.len() } else { self.instances_root as usize }
    }

    /// The primitives of groups in the order of the scene, as after others than those of the world here.
    fn groups_in_order(&self, world: Ends) -> Vec<Primitive> {
        let of_groups = self.groups.iter().map(|group| group.prims).sum();
        let mut ordered = vec![Primitive::zeroed(); of_groups];
        let leaves = self.prims[self.world.prims..].iter().zip(&self.sources[self.world.prims..]);
        for (prim, source) in leaves {
            ordered[*source as usize - self.flat_world.prims] = self.after(world, prim);
        }
        ordered
    }

    /// A primitive of a group, as after others than those of the world here.
    fn after(&self, world: Ends, prim: &Primitive) -> Primitive {
        let normals = match prim.normals {
            Primitive::FLAT => Primitive::FLAT,
            i => i - self.flat_world.normals as u32 + world.normals as u32,
        };
        Primitive { normals, ..*prim }
    }
}

/// The trees of the world and of groups, one after another.
struct Forest {
    nodes: Vec<Node>,
    /// Primitives in the order of the leaves.
    prims: Vec<Primitive>,
    /// Which primitive of the scene each of them is.
    sources: Vec<u32>,
    world: Size,
    groups: Vec<Group>,
}

impl Forest {
    /// Builds the tree of the world.
    fn new(world: Vec<Primitive>) -> Result<Self, Error> {
        let Bvh { nodes, prims, sources } = bvh::build(world)?;
        let world = Size { nodes: nodes.len(), prims: prims.len() };
        Ok(Self { nodes, prims, sources, world, groups: Vec::new() })
    }

    /// Adds the tree of a group, whose primitives follow one another in the scene, from `first` on.
    fn add(&mut self, group: &[Primitive], first: u32) -> Result<(), Error> {
        let root = self.nodes.len() as u32;
        if !group.is_empty() {
            let bvh = bvh::build(group.to_vec())?;
            bvh::check_count(self.prims.len() + bvh.prims.len())?;
            append(&mut self.nodes, &bvh.nodes, Size::default(), self.prims.len());
            self.prims.extend(bvh.prims);
            self.sources.extend(bvh.sources.iter().map(|source| source + first));
        }
        self.groups.push(Group { root, prims: group.len(), bounds: bvh::bounds(group) });
        Ok(())
    }

    /// Adds the groups of a geometry, whose world had other primitives than this one.
    fn take_groups(&mut self, other: &Geometry, world: Ends) -> Result<(), Error> {
        let from = other.world;
        bvh::check_count(self.prims.len() + other.prims.len() - from.prims)?;
        let nodes = &other.nodes[from.nodes..other.first_node_of_instances()];
        append(&mut self.nodes, nodes, from, self.world.prims);
        self.prims.extend(other.prims[from.prims..].iter().map(|prim| other.after(world, prim)));
        let sources = other.sources[from.prims..].iter();
        self.sources.extend(sources.map(|i| i - other.flat_world.prims as u32 + world.prims as u32));
        let moved = |root: u32| root - from.nodes as u32 + self.world.nodes as u32;
        self.groups.extend(other.groups.iter().map(|group| Group { root: moved(group.root), ..*group }));
        Ok(())
    }

    /// The geometry of `surfaces` in these trees, which it took the time from `start` on to build, and that of instances.
    fn complete(
        mut self,
        surfaces: Geometry,
        instances: &[Instance],
        start: Instant,
    ) -> Result<Geometry, Error> {
        let (instances, instances_root) = crown(&mut self.nodes, &self.groups, instances)?;
        Ok(Geometry {
            nodes: self.nodes.into(),
            prims: self.prims.into(),
            sources: self.sources.into(),
            instances,
            instances_root,
            world: self.world,
            groups: self.groups,
            time: start.elapsed(),
            ..surfaces
        })
    }
}

/// Adds the tree of the instances of groups that have primitives, and yields these in the order of the leaves, and the root;
/// 0 if there are none.
fn crown(
    nodes: &mut Vec<Node>,
    groups: &[Group],
    instances: &[Instance],
) -> Result<(Vec<Instance>, u32), Error> {
    let group = |instance: &Instance| &groups[instance.group as usize];
    let instances: Vec<_> = instances.iter().filter(|instance| group(instance).prims > 0).collect();
    if instances.is_empty() {
        return Ok((Vec::new(), 0));
    }
    if instances.len() > MAX_PRIMITIVES {
        return Err(Error::TooManyInstances(instances.len()));
    }
    let world_box = |instance: &&Instance| {
        let Aabb { min, max } = group(instance).bounds;
        let [lo, hi] = world_box(instance, min.into(), max.into());
        Aabb::new(lo.into(), hi.into())
    };
    let boxes: Vec<Aabb> = instances.iter().map(world_box).collect();
    // Of one in a leaf: it costs more to enter a group in vain than to test another box.
    let places: Vec<u32> = (0..boxes.len() as u32).collect();
    let (tree, order) = bvh::tree(&boxes, &places, 1);
    let root = nodes.len() as u32;
    append(nodes, &tree, Size::default(), 0);
    let placed = order.iter().map(|&i| instances[i as usize]);
    Ok((placed.map(|i| Instance { root: group(i).root, ..*i }).collect(), root))
}

/// Adds nodes that were after others, of the size `from`, as nodes of what begins at primitive `prims`. There are fewer nodes
/// than primitives and instances, but for one of an empty tree: indices suffice.
fn append(nodes: &mut Vec<Node>, more: &[Node], from: Size, prims: usize) {
    let to = nodes.len() as u32;
    let moved = |node: &Node| Node {
        child_base: node.child_base.wrapping_sub(from.nodes as u32).wrapping_add(to),
        prim_base: node.prim_base.wrapping_sub(from.prims as u32).wrapping_add(prims as u32),
        ..*node
    };
    nodes.extend(more.iter().map(moved));
}

/// Adds another's elements from `from` on, if it has any.
fn follow<T: Copy>(elements: &mut Vec<T>, other: &[T], from: usize) {
    elements.extend_from_slice(other.get(from..).unwrap_or(&[]));
}
