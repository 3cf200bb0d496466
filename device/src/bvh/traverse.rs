//! Traversal: the loop of Ylitie et al. 2017, algorithm 1, one ray a thread.

use core::mem::MaybeUninit;

use super::Geometry;
use crate::arch::{highest_bit, load, outlined};
use crate::features::{Compiled, Features};
use crate::ray::{Ray, TraversalRay};
use crate::shape;

use super::{Arch, Instance, NodeHits};

/// Where a ray meets a primitive.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Hit {
    /// Distance; infinite on a miss.
    pub t: f32,
    /// Index into [`Geometry::prims`], or [`Hit::MISS`].
    pub prim: u32,
    /// Barycentric coordinates of vertices 1 and 2 on a triangle, or coordinates along the half-axes of a disk.
    pub b: [f32; 2],
    /// Index into [`Geometry::instances`], or [`Hit::WORLD`].
    pub instance: u32,
}

impl Hit {
    /// `prim` of a ray that meets nothing.
    pub const MISS: u32 = u32::MAX;
    /// `instance` of primitives that are in no group.
    pub const WORLD: u32 = u32::MAX;

    /// No hit.
    pub(crate) const NONE: Self = Self::miss(f32::INFINITY);

    /// A ray that has met nothing closer than `t_max`.
    #[inline(always)]
    pub(super) const fn miss(t_max: f32) -> Self {
        Self { t: t_max, prim: Self::MISS, b: [0.0; 2], instance: Self::WORLD }
    }

    /// The instance that was met, in code that is compiled for them.
    ///
    /// # Safety
    /// `scene` is valid and the hit is on it.
    #[inline(always)]
    pub(crate) unsafe fn instance<C: Compiled>(&self, scene: &Geometry) -> Option<Instance> {
        if !C::sees(Features::INSTANCES) || self.instance == Self::WORLD {
            return None;
        }
        // SAFETY: as the caller promised.
        Some(unsafe { load(scene.instances.add(self.instance as usize)) })
    }

    /// Whether an intersection with primitive `prim` of the same tree at `t` takes the place of this hit. Among equally near ones the
    /// last in the scene wins, so that it does not matter in which order, and by which of its occurrences in the
    /// leaves, a primitive is found. The end of the ray wins against all.
    ///
    /// # Safety
    /// `scene` is valid and has this primitive and that of the hit.
    #[inline(always)]
    pub(crate) unsafe fn yields_to(&self, scene: &Geometry, t: f32, prim: u32) -> bool {
        // SAFETY: as the caller promised.
        let source = |prim: u32| unsafe { load(scene.sources.add(prim as usize)) };
        t < self.t || (t == self.t && self.is_hit() && source(prim) > source(self.prim))
    }

    /// Whether the ray met something.
    #[inline(always)]
    pub const fn is_hit(&self) -> bool {
        self.prim != Self::MISS
    }
}

/// Depth of the stack. A node pushes at most one entry a level, so this is the deepest tree that can be
/// traversed; the host builds none that is deeper.
pub const STACK_SIZE: usize = 32;

/// A set of siblings still to be visited: the base index, and a bit for each.
pub(super) type Group = (u32, u32);

/// The groups still to be visited. The entries stand alone, apart from their number, so that no initialisation of
/// the whole can spill over to them.
struct Stack<'a> {
    entries: &'a mut MaybeUninit<[Group; STACK_SIZE]>,
    len: u32,
}

impl Stack<'_> {
    #[inline(always)]
    fn push(&mut self, group: Group) {
        debug_assert!((self.len as usize) < STACK_SIZE);
        // SAFETY: the tree is at most STACK_SIZE deep.
        unsafe { self.entries.as_mut_ptr().cast::<Group>().add(self.len as usize).write(group) };
        self.len += 1;
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<Group> {
        if self.len == 0 {
            return None;
        }
        self.len -= 1;
        // SAFETY: entries below `len` have been written.
        Some(unsafe { self.entries.as_ptr().cast::<Group>().add(self.len as usize).read() })
    }
}

/// The nearest intersection closer than `t_max`.
///
/// # Safety
/// `scene` is valid, asks for no features but those of `C`, and the machine is an `A`.
#[inline(always)]
pub unsafe fn closest_hit<A: Arch, C: Compiled>(scene: &Geometry, ray: Ray, t_max: f32) -> Hit {
    // SAFETY: as the caller promised.
    unsafe { traverse::<A, C, false>(scene, ray, t_max) }
}

/// Whether anything lies on the ray closer than `t_max`.
///
/// # Safety
/// `scene` is valid, asks for no features but those of `C`, and the machine is an `A`.
#[inline(always)]
pub unsafe fn occluded<A: Arch, C: Compiled>(scene: &Geometry, ray: Ray, t_max: f32) -> bool {
    // SAFETY: as the caller promised.
    unsafe { traverse::<A, C, true>(scene, ray, t_max).is_hit() }
}

/// Bits of a [`Group`] that stand for nodes; the lower 24 stand for primitives.
pub(super) const NODES: u32 = 0xff00_0000;

/// The nearest hit closer than `t_max`, or with `ANY` the first that is found.
///
/// # Safety
/// As [`closest_hit`].
#[inline(always)]
pub(crate) unsafe fn traverse<A: Arch, C: Compiled, const ANY: bool>(
    scene: &Geometry,
    ray: Ray,
    t_max: f32,
) -> Hit {
    let mut hit = Hit::miss(t_max);
    let ray = TraversalRay::new(ray);
    // SAFETY: as the caller promised.
    unsafe {
        traverse_below::<A, C, Prims, ANY>(scene, &ray, 0, &mut hit);
        if has_instances::<C>(scene) && !(ANY && hit.is_hit()) {
            let scene = scene.shared();
            hit = outlined(move || {
                traverse_instances::<A, C, ANY>(scene, &ray, &mut hit);
                hit
            });
        }
    }
    hit
}

/// Whether there are instances in the scene.
#[inline(always)]
pub(crate) fn has_instances<C: Compiled>(scene: &Geometry) -> bool {
    C::sees(Features::INSTANCES) && scene.instances_root != 0
}

/// Looks for hits on instances that are closer than `hit`.
///
/// # Safety
/// `scene` is valid and has instances, and the machine is an `A`.
#[inline(always)]
pub(super) unsafe fn traverse_instances<A: Arch, C: Compiled, const ANY: bool>(
    scene: &Geometry,
    ray: &TraversalRay,
    hit: &mut Hit,
) {
    // SAFETY: as the caller promised.
    unsafe { traverse_below::<A, C, Instances, ANY>(scene, ray, scene.instances_root, hit) }
}

/// Contents of the leaves of a tree.
pub(super) trait Leaf {
    /// Tests `ray` against what is at `base` + i for all i that are set in `bits`, and puts the nearest one closer than
    /// `hit.t` into `hit`; with `ANY`, any one.
    ///
    /// # Safety
    /// `scene` is valid and has these in a tree, and the machine is an `A`.
    unsafe fn intersect<A: Arch, C: Compiled, const ANY: bool>(
        scene: &Geometry,
        base: u32,
        bits: u32,
        ray: &TraversalRay,
        hit: &mut Hit,
    );
}

/// Primitives.
pub(super) struct Prims;

impl Leaf for Prims {
    #[inline(always)]
    unsafe fn intersect<A: Arch, C: Compiled, const ANY: bool>(
        scene: &Geometry,
        base: u32,
        bits: u32,
        ray: &TraversalRay,
        hit: &mut Hit,
    ) {
        // SAFETY: as the caller promised.
        unsafe { A::intersect_prims::<C, ANY>(scene, base, bits, ray, hit) };
    }
}

/// Instances: the ray goes on in the space of the group.
struct Instances;

impl Leaf for Instances {
    #[inline(always)]
    unsafe fn intersect<A: Arch, C: Compiled, const ANY: bool>(
        scene: &Geometry,
        base: u32,
        mut bits: u32,
        ray: &TraversalRay,
        hit: &mut Hit,
    ) {
        while bits != 0 {
            let bit = highest_bit(bits);
            bits &= !(1 << bit);
            // SAFETY: the bit stands for an instance of the scene, and its root is a node.
            let (inner, stretch) = unsafe {
                let instance = load(scene.instances.add((base + bit) as usize));
                let (local, stretch) = instance.enter(&ray.ray);
                let mut inner = Hit::miss(hit.t * stretch);
                let local = TraversalRay::new(local);
                traverse_below::<A, C, Prims, ANY>(scene, &local, instance.root, &mut inner);
                (inner, stretch)
            };
            // Instances are visited in the same order on every machine: of those equally near the first wins.
            let t = inner.t / stretch;
            if inner.is_hit() && t < hit.t {
                *hit = Hit { t, instance: base + bit, ..inner };
                if ANY {
                    return;
                }
            }
        }
    }
}

/// Looks for hits below a node that are closer than `hit`.
///
/// # Safety
/// `scene` is valid and has this node in a tree with leaves `L`, and the machine is an `A`.
#[inline(always)]
pub(super) unsafe fn traverse_below<A: Arch, C: Compiled, L: Leaf, const ANY: bool>(
    scene: &Geometry,
    ray: &TraversalRay,
    node: u32,
    hit: &mut Hit,
) {
    let mut entries = MaybeUninit::uninit();
    let mut stack = Stack { entries: &mut entries, len: 0 };
    // The only child of a node that does not exist.
    let mut nodes: Group = (node, 0x8000_0000);
    loop {
        if nodes.1 & NODES == 0 {
            match stack.pop() {
                Some(group) => nodes = group,
                None => return,
            }
        }
        let (base, bits) = nodes;
        let bit = highest_bit(bits);
        nodes.1 &= !(1 << bit);
        if nodes.1 & NODES != 0 {
            stack.push(nodes);
        }
        let node = NodeHits::child(base, bits, bit, ray);
        // SAFETY: a hit inner child names a node of the tree, and a hit leaf primitives.
        unsafe {
            let node = A::intersect_children(scene.nodes.add(node as usize), ray, hit.t);
            nodes = (node.child_base, (node.hits & NODES) | node.imask);
            L::intersect::<A, C, ANY>(scene, node.prim_base, node.hits & !NODES, ray, hit);
        }
        if ANY && hit.is_hit() {
            return;
        }
    }
}

/// Tests primitives one after another; see [`Arch::intersect_prims`].
///
/// # Safety
/// As [`Arch::intersect_prims`].
#[inline(always)]
pub(crate) unsafe fn intersect_prims<C: Compiled, const ANY: bool>(
    scene: &Geometry,
    base: u32,
    mut bits: u32,
    ray: &TraversalRay,
    hit: &mut Hit,
) {
    while bits != 0 {
        let bit = highest_bit(bits);
        bits &= !(1 << bit);
        let index = base + bit;
        // SAFETY: the bit stands for a primitive of the tree.
        let prim = unsafe { load(scene.prims.add(index as usize)) };
        if let Some((t, b)) = shape::intersect::<C>(&prim, ray, hit.t)
            // SAFETY: as above; what was hit before is a primitive as well.
            && unsafe { hit.yields_to(scene, t, index) }
        {
            *hit = Hit { t, prim: index, b, instance: Hit::WORLD };
            if ANY {
                return;
            }
        }
    }
}
