//! Traversal: the loop of Ylitie et al. 2017, algorithm 1, one ray a thread.

use core::mem::MaybeUninit;

use crate::arch::{Arch, load};
use crate::ray::Ray;
use crate::scene::SceneView;
use crate::shape;

use super::TraversalRay;

/// Where a ray meets a primitive.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Hit {
    /// Distance; infinite on a miss.
    pub t: f32,
    /// Index into [`SceneView::prims`], or [`Hit::MISS`].
    pub prim: u32,
    /// Barycentric coordinates of vertices 1 and 2 on a triangle; unused on a sphere.
    pub b: [f32; 2],
}

impl Hit {
    /// `prim` of a ray that meets nothing.
    pub const MISS: u32 = u32::MAX;

    /// A ray that has met nothing closer than `t_max`.
    #[inline(always)]
    const fn miss(t_max: f32) -> Self {
        Self { t: t_max, prim: Self::MISS, b: [0.0; 2] }
    }

    /// Whether an intersection with primitive `prim` at `t` takes the place of this hit. Among equally near ones the
    /// last in the scene wins, so that it does not matter in which order, and by which of its occurrences in the
    /// leaves, a primitive is found. The end of the ray wins against all.
    ///
    /// # Safety
    /// `scene` is valid and has this primitive and that of the hit.
    #[inline(always)]
    pub(crate) unsafe fn yields_to(&self, scene: &SceneView, t: f32, prim: u32) -> bool {
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
/// traversed; the host checks it.
pub const STACK_SIZE: usize = 32;

/// A set of siblings still to be visited: the base index, and a bit for each.
type Group = (u32, u32);

/// The groups still to be visited. The entries stand alone, apart from their number, so that no initialisation of
/// the whole can spill over to them.
struct Stack<'a> {
    entries: &'a mut MaybeUninit<[Group; STACK_SIZE]>,
    len: usize,
}

impl Stack<'_> {
    #[inline(always)]
    fn push(&mut self, group: Group) {
        debug_assert!(self.len < STACK_SIZE);
        // SAFETY: the tree is at most STACK_SIZE deep.
        unsafe { self.entries.as_mut_ptr().cast::<Group>().add(self.len).write(group) };
        self.len += 1;
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<Group> {
        if self.len == 0 {
            return None;
        }
        self.len -= 1;
        // SAFETY: entries below `len` have been written.
        Some(unsafe { self.entries.as_ptr().cast::<Group>().add(self.len).read() })
    }
}

/// The nearest intersection closer than `t_max`.
///
/// # Safety
/// `scene` is valid and the machine is an `A`.
#[inline(always)]
pub unsafe fn closest_hit<A: Arch>(scene: &SceneView, ray: Ray, t_max: f32) -> Hit {
    // SAFETY: as the caller promised.
    unsafe { traverse::<A, false>(scene, ray, t_max) }
}

/// Whether anything lies on the ray closer than `t_max`.
///
/// # Safety
/// `scene` is valid and the machine is an `A`.
#[inline(always)]
pub unsafe fn occluded<A: Arch>(scene: &SceneView, ray: Ray, t_max: f32) -> bool {
    // SAFETY: as the caller promised.
    unsafe { traverse::<A, true>(scene, ray, t_max).is_hit() }
}

/// Bits of a [`Group`] that stand for nodes; the lower 24 stand for primitives.
pub(super) const NODES: u32 = 0xff00_0000;

/// The nearest hit closer than `t_max`, or with `ANY` the first that is found.
#[inline(always)]
unsafe fn traverse<A: Arch, const ANY: bool>(scene: &SceneView, ray: Ray, t_max: f32) -> Hit {
    let mut hit = Hit::miss(t_max);
    // SAFETY: as the caller promised.
    unsafe { traverse_below::<A, ANY>(scene, &TraversalRay::new(ray), 0, &mut hit) };
    hit
}

/// Looks for hits below a node that are closer than `hit`.
///
/// # Safety
/// `scene` is valid and has this node, and the machine is an `A`.
#[inline(always)]
pub(super) unsafe fn traverse_below<A: Arch, const ANY: bool>(
    scene: &SceneView,
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
        let bit = 31 - nodes.1.leading_zeros();
        let (base, imask) = (nodes.0, nodes.1 & 0xff);
        nodes.1 &= !(1 << bit);
        if nodes.1 & NODES != 0 {
            stack.push(nodes);
        }
        let slot = (bit - 24) ^ (ray.oct_inv4 & 0xff);
        let before = (imask & !(u32::MAX << slot)).count_ones();
        // SAFETY: a hit inner child names a node of the tree, and a hit leaf primitives.
        unsafe {
            let node = A::intersect_children(scene.nodes.add((base + before) as usize), ray, hit.t);
            nodes = (node.child_base, (node.hits & NODES) | node.imask);
            A::intersect_prims::<ANY>(scene, node.prim_base, node.hits & !NODES, ray, hit);
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
pub(crate) unsafe fn intersect_prims<const ANY: bool>(
    scene: &SceneView,
    base: u32,
    mut bits: u32,
    ray: &TraversalRay,
    hit: &mut Hit,
) {
    while bits != 0 {
        let bit = 31 - bits.leading_zeros();
        bits &= !(1 << bit);
        let index = base + bit;
        // SAFETY: the bit stands for a primitive of the tree.
        let prim = unsafe { load(scene.prims.add(index as usize)) };
        if let Some((t, b)) = shape::intersect(&prim, ray, hit.t)
            // SAFETY: as above; what was hit before is a primitive as well.
            && unsafe { hit.yields_to(scene, t, index) }
        {
            *hit = Hit { t, prim: index, b };
            if ANY {
                return;
            }
        }
    }
}
