//! Traversal on a GPU, by all lanes of a warp together, of many rays a lane.
//!
//! Lanes that wait for others are what a warp loses most by: for those that have primitives to test, which few have at a
//! time, and for those whose rays take longest. So each step is one that many lanes want. Primitives that are found wait in
//! their lane, which goes on to other nodes, until enough lanes have some (Aila & Laine 2009, "Understanding the Efficiency
//! of Ray Traversal on GPUs", and Ylitie et al. 2017, §4.3, postpone them likewise). And lanes whose rays have ended take
//! others as soon as there are enough such lanes.

use core::mem::MaybeUninit;

use cuda_std::warp::{FULL_MASK, ballot, lane_mask_lt};
use glam::Vec3;

use super::traverse::{Group, Hit, NODES, STACK_SIZE, has_instances, traverse_instances};
use super::{Arch, Geometry, Gpu, NodeHits, Rays};
use crate::arch::{highest_bit, load, outlined};
use crate::features::Compiled;
use crate::ray::{Ray, TraversalRay};
use crate::shape;

/// Lanes under way at most when the others take new rays: that takes the time of a third of a step.
const REFILL: u32 = 28;

/// Primitives are tested when the lanes that have some are this part of those under way: one in so many.
const TEST: u32 = 3;

/// `index` of a lane without a ray.
const NONE: u32 = u32::MAX;

/// Traces rays `next` to `end`, all by this warp: for each the nearest intersection before its end, or with `ANY`, any.
///
/// # Safety
/// All lanes of the warp call this together, with the same arguments. `scene` is valid and asks for no features but
/// those of `C`, and there are these rays.
#[inline(always)]
pub(crate) unsafe fn trace<C: Compiled, const ANY: bool>(
    scene: &Geometry,
    rays: &impl Rays,
    mut next: u32,
    end: u32,
) {
    let mut entries = MaybeUninit::uninit();
    let mut lane = Lane::new(&mut entries);
    let mut index = NONE;
    let mut refill = REFILL;
    loop {
        // SAFETY: all lanes are in this loop until all leave it.
        let busy = unsafe { ballot(FULL_MASK, lane.is_busy()) };
        if busy.count_ones() <= refill {
            let is_idle = !lane.is_busy();
            if is_idle && index != NONE {
                // SAFETY: as the caller promised; the lane has had this ray alone.
                unsafe {
                    lane.finish::<C, ANY>(scene);
                    rays.tell(index, &lane.hit);
                }
                index = NONE;
            }
            if next < end {
                let i = next + (!busy & lane_mask_lt()).count_ones();
                if is_idle && i < end {
                    index = i;
                    // SAFETY: there is such a ray.
                    let (ray, t_max) = unsafe { rays.ray(i) };
                    lane.begin(ray, t_max);
                }
                next += 32 - busy.count_ones();
                refill = if next < end { REFILL } else { 0 };
                continue;
            }
            if busy == 0 {
                return;
            }
        }
        // SAFETY: as above.
        let mut pending = unsafe { ballot(FULL_MASK, lane.prims.1 != 0) };
        if pending != busy && pending.count_ones() * TEST < busy.count_ones() {
            // SAFETY: as the caller promised.
            unsafe { lane.visit(scene) };
            continue;
        }
        while pending != 0 && pending.count_ones() * TEST >= busy.count_ones() {
            // SAFETY: as the caller promised, and as above.
            unsafe {
                lane.test::<C, ANY>(scene);
                pending = ballot(FULL_MASK, lane.prims.1 != 0);
            }
        }
    }
}

/// Entries of a stack: the siblings of nodes, one for every level, and as many groups of primitives that had to wait.
type Entries = MaybeUninit<[Group; 2 * STACK_SIZE]>;

/// A ray under way.
struct Lane<'a> {
    ray: TraversalRay,
    hit: Hit,
    /// Nodes to visit next, if any.
    nodes: Group,
    /// Primitives to test next, if any.
    prims: Group,
    /// Stack of groups that are still to be visited.
    entries: &'a mut Entries,
    len: u32,
}

impl<'a> Lane<'a> {
    /// One without a ray.
    #[inline(always)]
    fn new(entries: &'a mut Entries) -> Self {
        let ray = TraversalRay::new(Ray { o: Vec3::ZERO, d: Vec3::Z });
        Self { ray, hit: Hit::miss(0.0), nodes: (0, 0), prims: (0, 0), entries, len: 0 }
    }

    /// Takes a ray, at the root of the world.
    #[inline(always)]
    fn begin(&mut self, ray: Ray, t_max: f32) {
        self.ray = TraversalRay::new(ray);
        self.hit = Hit::miss(t_max);
        // The only child of a node that does not exist.
        self.nodes = (0, 0x8000_0000);
    }

    /// Whether there is anything left to do in the tree of the world.
    #[inline(always)]
    const fn is_busy(&self) -> bool {
        (self.nodes.1 & NODES) | self.prims.1 | self.len != 0
    }

    /// Looks for hits on instances, after all in the world.
    ///
    /// # Safety
    /// `scene` is valid.
    #[inline(always)]
    unsafe fn finish<C: Compiled, const ANY: bool>(&mut self, scene: &Geometry) {
        if has_instances::<C>(scene) && !(ANY && self.hit.is_hit()) {
            let (ray, mut hit, scene) = (self.ray, self.hit, scene.shared());
            self.hit = outlined(move || {
                // SAFETY: as the caller promised; there are instances.
                unsafe { traverse_instances::<Gpu, C, ANY>(scene, &ray, &mut hit) };
                hit
            });
        }
    }

    #[inline(always)]
    fn push(&mut self, group: Group) {
        // SAFETY: a level of the tree leaves at most one group of nodes and one of primitives; the latter are tested before
        // the lane goes on to nodes that were left above them.
        unsafe { self.entries.as_mut_ptr().cast::<Group>().add(self.len as usize).write(group) };
        self.len += 1;
    }

    /// Takes what is on top of the stack, unless it is primitives while others still wait.
    #[inline(always)]
    fn pop(&mut self) {
        if self.len == 0 {
            return;
        }
        // SAFETY: entries below `len` have been written.
        let group = unsafe { self.entries.as_ptr().cast::<Group>().add(self.len as usize - 1).read() };
        if group.1 & NODES != 0 {
            self.nodes = group;
            self.len -= 1;
        } else if self.prims.1 == 0 {
            self.prims = group;
            self.len -= 1;
        }
    }

    /// Visits a node, if there is any to visit now.
    ///
    /// # Safety
    /// `scene` is valid, and the lane's ray was begun in it.
    #[inline(always)]
    unsafe fn visit(&mut self, scene: &Geometry) {
        if self.nodes.1 & NODES == 0 {
            self.pop();
        }
        if self.nodes.1 & NODES == 0 {
            return;
        }
        let (base, bits) = self.nodes;
        let bit = highest_bit(bits);
        self.nodes.1 &= !(1 << bit);
        if self.nodes.1 & NODES != 0 {
            self.push(self.nodes);
        }
        let node = NodeHits::child(base, bits, bit, &self.ray);
        // SAFETY: a hit inner child names a node of the tree.
        let node = unsafe { Gpu::intersect_children(scene.nodes.add(node as usize), &self.ray, self.hit.t) };
        self.nodes = (node.child_base, (node.hits & NODES) | node.imask);
        let found = (node.prim_base, node.hits & !NODES);
        if found.1 != 0 {
            match self.prims.1 {
                0 => self.prims = found,
                _ => self.push(found),
            }
        }
    }

    /// Tests a primitive, if there is any to test now.
    ///
    /// # Safety
    /// As [`Lane::visit`].
    #[inline(always)]
    unsafe fn test<C: Compiled, const ANY: bool>(&mut self, scene: &Geometry) {
        if self.prims.1 == 0 {
            return;
        }
        let bit = highest_bit(self.prims.1);
        self.prims.1 &= !(1 << bit);
        let index = self.prims.0 + bit;
        // SAFETY: the bit stands for a primitive of the tree.
        let prim = unsafe { load(scene.prims.add(index as usize)) };
        if let Some((t, b)) = shape::intersect::<C>(&prim, &self.ray, self.hit.t)
            // SAFETY: as above; what was hit before is a primitive as well.
            && unsafe { self.hit.yields_to(scene, t, index) }
        {
            self.hit = Hit { t, prim: index, b, instance: Hit::WORLD };
            if ANY {
                (self.nodes.1, self.prims.1, self.len) = (0, 0, 0);
            }
        }
    }
}
