//! Traversal: the loop of Ylitie et al. 2017, algorithm 1, one ray a thread.

use core::mem::MaybeUninit;

use crate::arch::Arch;
use crate::ray::Ray;
use crate::scene::SceneView;
use crate::shape::{self, Primitive};

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
    let mut hit = Hit::miss(t_max);
    // SAFETY: as the caller promised.
    unsafe {
        traverse::<A>(scene, ray, t_max, |ray, index, prim, t_max| {
            if let Some((t, b)) = shape::intersect(prim, ray, *t_max) {
                *t_max = t;
                hit = Hit { t, prim: index, b };
            }
            false
        });
    }
    hit
}

/// Whether anything lies on the ray closer than `t_max`.
///
/// # Safety
/// `scene` is valid and the machine is an `A`.
#[inline(always)]
pub unsafe fn occluded<A: Arch>(scene: &SceneView, ray: Ray, t_max: f32) -> bool {
    let mut found = false;
    // SAFETY: as the caller promised.
    unsafe {
        traverse::<A>(scene, ray, t_max, |ray, _, prim, t_max| {
            found = shape::intersect(prim, ray, *t_max).is_some();
            found
        });
    }
    found
}

/// Bits of a [`Group`] that stand for nodes; the lower 24 stand for primitives.
const NODES: u32 = 0xff00_0000;

/// Shows the primitives along the ray to `visit(ray, index, primitive, &mut t_max)`, roughly from near to far,
/// until it returns true.
#[inline(always)]
unsafe fn traverse<A: Arch>(
    scene: &SceneView,
    ray: Ray,
    mut t_max: f32,
    mut visit: impl FnMut(&TraversalRay, u32, &Primitive, &mut f32) -> bool,
) {
    let ray = TraversalRay::new(ray);
    let mut entries = MaybeUninit::uninit();
    let mut stack = Stack { entries: &mut entries, len: 0 };
    // The root, as the only child of a node that does not exist.
    let mut nodes: Group = (0, 0x8000_0000);
    loop {
        let mut prims: Group = (0, 0);
        if nodes.1 & NODES != 0 {
            let bit = 31 - nodes.1.leading_zeros();
            let (base, imask) = (nodes.0, nodes.1 & 0xff);
            nodes.1 &= !(1 << bit);
            if nodes.1 & NODES != 0 {
                stack.push(nodes);
            }
            let slot = (bit - 24) ^ (ray.oct_inv4 & 0xff);
            let before = (imask & !(u32::MAX << slot)).count_ones();
            // SAFETY: a hit inner child names a node of the tree.
            let node =
                unsafe { A::intersect_children(scene.nodes.add((base + before) as usize), &ray, t_max) };
            nodes = (node.child_base, (node.hits & NODES) | node.imask);
            prims = (node.prim_base, node.hits & !NODES);
        }
        while prims.1 != 0 {
            let bit = 31 - prims.1.leading_zeros();
            prims.1 &= !(1 << bit);
            let index = prims.0 + bit;
            // SAFETY: a hit leaf names primitives of the tree.
            let prim = unsafe { crate::arch::load(scene.prims.add(index as usize)) };
            if visit(&ray, index, &prim, &mut t_max) {
                return;
            }
        }
        if nodes.1 & NODES == 0 {
            match stack.pop() {
                Some(group) => nodes = group,
                None => return,
            }
        }
    }
}
