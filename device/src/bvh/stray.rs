//! A ray that has left its packet, and goes on alone from some node on.
//!
//! It waits for memory most of the time. So the few that leave a packet at a node take turns: in each, a ray visits one node, and
//! asks for the node and the primitives that it needs in the next.

use core::mem::MaybeUninit;

use super::traverse::{Group, Hit, NODES, STACK_SIZE};
use super::{Arch, Geometry, NodeHits, TreeNode};
use crate::arch::{highest_bit, load, prefetch};
use crate::features::Compiled;
use crate::ray::TraversalRay;

/// A ray on its way.
pub(super) struct Stray {
    /// Its lane in the packet, or its place among the rays.
    pub(super) lane: usize,
    pub(super) hit: Hit,
    /// The node that is visited next, or [`Stray::NONE`].
    node: u32,
    /// Nodes still to be visited, of the last node that had any.
    siblings: Group,
    /// Primitives or instances still to be tested, of the last node.
    prims: Group,
    /// Groups before `siblings`: how many, and which.
    len: u32,
    entries: MaybeUninit<[Group; STACK_SIZE]>,
}

impl Stray {
    /// What is no node.
    const NONE: u32 = u32::MAX;

    /// A ray that has met `hit` so far, and is about to visit `node`, written to its place but for the entries of the stack.
    #[inline(always)]
    pub(super) fn begin(place: &mut MaybeUninit<Self>, lane: usize, hit: Hit, node: u32) {
        let stray = place.as_mut_ptr();
        // SAFETY: the place is a stray's; entries that were not pushed are not read.
        unsafe {
            (&raw mut (*stray).lane).write(lane);
            (&raw mut (*stray).hit).write(hit);
            (&raw mut (*stray).node).write(node);
            (&raw mut (*stray).siblings).write((0, 0));
            (&raw mut (*stray).prims).write((0, 0));
            (&raw mut (*stray).len).write(0);
        }
    }

    /// Takes a turn: tests what was asked for in the last one. Whether there is something left to be visited.
    ///
    /// # Safety
    /// `scene` is valid, the stray is one of its tree and of this ray, and the machine is an `A`.
    #[inline(always)]
    pub(super) unsafe fn turn<A: Arch, C: Compiled, const ANY: bool>(
        &mut self,
        scene: &Geometry,
        ray: &TraversalRay,
    ) -> bool {
        // SAFETY: bits stand for primitives and nodes of the tree.
        unsafe {
            if self.prims.1 != 0 {
                A::intersect_prims::<C, ANY>(scene, self.prims.0, self.prims.1, ray, &mut self.hit);
                if (ANY && self.hit.is_hit()) || self.node == Self::NONE {
                    return false;
                }
            }
            self.visit::<A, _>(scene, scene.prims, ray)
        }
    }

    /// Visits the next node, which there is, in a tree of these `leaves`. Whether there is something left.
    ///
    /// # Safety
    /// As [`Stray::turn`].
    #[inline(always)]
    unsafe fn visit<A: Arch, L>(&mut self, scene: &Geometry, leaves: *const L, ray: &TraversalRay) -> bool {
        // SAFETY: the node is one of the tree.
        let node = unsafe { A::intersect_children(scene.nodes.add(self.node as usize), ray, self.hit.t) };
        self.prims = (node.prim_base, node.hits & !NODES);
        if node.hits & NODES != 0 {
            self.push(self.siblings);
            self.siblings = (node.child_base, (node.hits & NODES) | node.imask);
        }
        self.node = self.next(ray);
        self.ask(scene, leaves);
        self.node != Self::NONE || self.prims.1 != 0
    }

    /// Puts a group aside, if any of it is left.
    #[inline(always)]
    fn push(&mut self, group: Group) {
        if group.1 & NODES != 0 {
            debug_assert!((self.len as usize) < STACK_SIZE);
            // SAFETY: the tree is at most STACK_SIZE deep.
            unsafe { self.entries.as_mut_ptr().cast::<Group>().add(self.len as usize).write(group) };
            self.len += 1;
        }
    }

    /// Takes the next node from what is left.
    #[inline(always)]
    fn next(&mut self, ray: &TraversalRay) -> u32 {
        if self.siblings.1 & NODES == 0 {
            if self.len == 0 {
                return Self::NONE;
            }
            self.len -= 1;
            // SAFETY: entries below `len` have been written.
            self.siblings = unsafe { self.entries.as_ptr().cast::<Group>().add(self.len as usize).read() };
        }
        let (base, bits) = self.siblings;
        let bit = highest_bit(bits);
        self.siblings.1 &= !(1 << bit);
        NodeHits::child(base, bits, bit, ray)
    }

    /// Asks for what the next turn needs.
    #[inline(always)]
    fn ask<L>(&self, scene: &Geometry, leaves: *const L) {
        if self.node != Self::NONE {
            ask_for_node(scene, self.node);
        }
        if self.prims.1 != 0 {
            ask_for_leaves(leaves, self.prims);
        }
    }
}

/// Size of what memory hands out at once.
const LINE: usize = 64;

/// Asks for a node. Of one that is not there, nothing is waited for.
#[inline(always)]
pub(super) fn ask_for_node(scene: &Geometry, node: u32) {
    let node = scene.nodes.wrapping_add(node as usize).cast::<u8>();
    for line in 0..size_of::<TreeNode>().div_ceil(LINE) {
        prefetch(node.wrapping_add(LINE * line));
    }
}

/// Asks for what is in leaves, some of it, if it is as close together as most is.
#[inline(always)]
pub(super) fn ask_for_leaves<L>(leaves: *const L, (base, bits): Group) {
    let at = |bit: u32| leaves.wrapping_add((base + bit) as usize).cast::<u8>();
    // Most are in as many lines; there is no loop, whose end would be hard to predict.
    let first = at(bits.trailing_zeros());
    for line in 0..3 {
        prefetch(first.wrapping_add(LINE * line));
    }
    prefetch(at(highest_bit(bits) + 1).wrapping_sub(1));
}

/// A stray in the tree of the instances, or in that of a group.
pub(super) struct Guest {
    ray: TraversalRay,
    /// In the tree of the instances, with the nearest hit so far.
    pub(super) outside: Stray,
    /// In the tree of a group, if `visit` is there.
    inside: MaybeUninit<Stray>,
    visit: Option<Visit>,
}

/// The way into the space of an instance.
struct Visit {
    instance: u32,
    stretch: f32,
    ray: TraversalRay,
}

impl Guest {
    /// As [`Stray::begin`], at a node of the tree of the instances.
    #[inline(always)]
    pub(super) fn begin(place: &mut MaybeUninit<Self>, ray: TraversalRay, lane: usize, hit: Hit, node: u32) {
        let guest = place.as_mut_ptr();
        // SAFETY: the place is a guest's, and what is not written is not read.
        unsafe {
            (&raw mut (*guest).ray).write(ray);
            Stray::begin(&mut *(&raw mut (*guest).outside).cast(), lane, hit, node);
            (&raw mut (*guest).visit).write(None);
        }
    }

    /// As [`Stray::turn`]. Instances are entered in the order in which rays alone do.
    ///
    /// # Safety
    /// As [`Stray::turn`]; the node at the beginning was one of the tree of the instances.
    #[inline(always)]
    pub(super) unsafe fn turn<A: Arch, C: Compiled, const ANY: bool>(&mut self, scene: &Geometry) -> bool {
        if let Some(visit) = &self.visit {
            // SAFETY: the stray began with the visit, in the tree of the instance's group.
            let inside = unsafe { self.inside.assume_init_mut() };
            // SAFETY: as the caller promised.
            if unsafe { inside.turn::<A, C, ANY>(scene, &visit.ray) } {
                return true;
            }
            let (hit, t) = (inside.hit, inside.hit.t / visit.stretch);
            if hit.is_hit() && t < self.outside.hit.t {
                self.outside.hit = Hit { t, instance: visit.instance, ..hit };
                if ANY {
                    return false;
                }
            }
            self.visit = None;
        }
        if self.outside.prims.1 != 0 {
            // SAFETY: bits stand for instances of the scene.
            unsafe { self.enter(scene) };
            return true;
        }
        // SAFETY: as the caller promised.
        self.outside.node != Stray::NONE
            && unsafe { self.outside.visit::<A, _>(scene, scene.instances, &self.ray) }
    }

    /// Enters the next instance, which there is.
    ///
    /// # Safety
    /// As [`Guest::turn`].
    #[inline(always)]
    unsafe fn enter(&mut self, scene: &Geometry) {
        let (base, bits) = &mut self.outside.prims;
        let bit = highest_bit(*bits);
        *bits &= !(1 << bit);
        let instance = *base + bit;
        // SAFETY: as the caller promised.
        let placed = unsafe { load(scene.instances.add(instance as usize)) };
        ask_for_node(scene, placed.root);
        let (local, stretch) = placed.enter(&self.ray.ray);
        let end = Hit::miss(self.outside.hit.t * stretch);
        Stray::begin(&mut self.inside, self.outside.lane, end, placed.root);
        self.visit = Some(Visit { instance, stretch, ray: TraversalRay::new(local) });
    }
}
