//! Many rays that go their own ways through a tree, a step at a time each.
//!
//! They wait for memory, and for what a step depends on, more than they compute. So every step is taken by all of them in loops,
//! one after the other: one tests boxes, one chooses where rays go next, one tests primitives. In the first two nothing depends on
//! a branch, so that a processor has several rays under way; and what the next step needs is asked for long before, as there are
//! two troops of rays of which one takes its step while the other waits.

use core::mem::MaybeUninit;

use super::stray::{ask_for_leaves, ask_for_node};
use super::traverse::{Group, Hit, STACK_SIZE};
use super::{Arch, Geometry, WideNode};
use crate::arch::highest_bit;
use crate::features::Compiled;
use crate::ray::TraversalRay;

/// Rays of a troop: few enough for the states of two to stay in the first cache.
const TROOP: usize = 16;

/// A ray on its way.
#[repr(align(64))]
struct Walker {
    ray: TraversalRay,
    hit: Hit,
    /// The node that is visited next, or [`Walker::NONE`].
    node: u32,
    /// Primitives still to be tested: the first of their node, and a bit for each.
    prims: Group,
    /// Its place among the rays.
    place: u32,
    /// Index of the last of `entries`.
    top: u32,
    /// Nodes still to be visited, none without any but the first, which says that there is none. Above the last is room for one.
    entries: MaybeUninit<[Group; STACK_SIZE + 2]>,
}

impl Walker {
    /// What is no node.
    const NONE: u32 = u32::MAX;

    /// The first entry: a child that is no node, and one more so that it stays.
    const BOTTOM: Group = (Self::NONE, 0xc000_0000);

    /// A ray that is about to visit the root, written to its place but for the entries of the stack.
    #[inline(always)]
    fn begin(walker: &mut MaybeUninit<Self>, ray: TraversalRay, t_max: f32, place: u32) {
        let walker = walker.as_mut_ptr();
        // SAFETY: there is room for a walker; entries that were not pushed are not read.
        unsafe {
            (&raw mut (*walker).ray).write(ray);
            (&raw mut (*walker).hit).write(Hit::miss(t_max));
            (&raw mut (*walker).node).write(0);
            (&raw mut (*walker).prims).write((0, 0));
            (&raw mut (*walker).place).write(place);
            (&raw mut (*walker).top).write(0);
            (&raw mut (*walker).entries).cast::<Group>().write(Self::BOTTOM);
        }
    }

    /// Where an entry is.
    #[inline(always)]
    fn entry(&mut self, i: u32) -> *mut Group {
        debug_assert!((i as usize) < STACK_SIZE + 2);
        self.entries.as_mut_ptr().cast::<Group>().wrapping_add(i as usize)
    }

    /// Chooses the node that is visited next: of the children of the last one, in the order of the ray's octant, with the
    /// [`WideNode`]'s `child_base` and `imask`, or else of those that are left.
    #[inline(always)]
    fn choose(&mut self, child_base: u32, inner: u32, imask: u32) {
        // SAFETY: the tree is at most STACK_SIZE deep, and there is room for one entry more; those up to the top are written.
        unsafe {
            self.entry(self.top + 1).write((child_base, (inner << 24) | imask));
            self.top += u32::from(inner != 0);
            let entry = self.entry(self.top);
            let (base, bits) = entry.read();
            let bit = highest_bit(bits);
            let rest = bits & !(1 << bit);
            entry.write((base, rest));
            self.top -= u32::from(rest >> 24 == 0);
            let slot = (bit ^ self.ray.oct_inv4) & 7;
            self.node = base.wrapping_add((bits & 0xff & !(u32::MAX << slot)).count_ones());
        }
    }
}

/// Numbers of walkers.
struct List {
    walkers: [u8; TROOP],
    len: usize,
}

impl List {
    #[inline(always)]
    const fn new() -> Self {
        Self { walkers: [0; TROOP], len: 0 }
    }

    /// Adds a walker if a condition holds, without a branch; there is room.
    #[inline(always)]
    fn add(&mut self, walker: usize, holds: bool) {
        self.walkers[self.len % TROOP] = walker as u8;
        self.len += usize::from(holds);
    }

    /// Walker number `k`.
    #[inline(always)]
    fn get(&self, k: usize) -> usize {
        usize::from(self.walkers[k % TROOP]) % TROOP
    }
}

/// Rays that take their steps together.
struct Troop {
    walkers: [MaybeUninit<Walker>; TROOP],
    /// Those on their way.
    going: List,
    /// Those that have primitives to test.
    waiting: List,
    /// Those that are nobody's.
    free: List,
}

impl Troop {
    fn new() -> Self {
        let mut free = List::new();
        for i in 0..TROOP {
            free.add(i, true);
        }
        Self {
            walkers: [const { MaybeUninit::uninit() }; TROOP],
            going: List::new(),
            waiting: List::new(),
            free,
        }
    }

    /// # Safety
    /// Walker `i` has begun.
    #[inline(always)]
    unsafe fn walker(&mut self, i: usize) -> &mut Walker {
        // SAFETY: as the caller promised; `i` is below `TROOP`.
        unsafe { self.walkers.get_unchecked_mut(i).assume_init_mut() }
    }

    /// Tests the primitives that were asked for.
    ///
    /// # Safety
    /// `scene` is valid, the rays are in its tree, and the machine is an `A`.
    #[inline(always)]
    unsafe fn test<A: Arch, C: Compiled, const ANY: bool>(&mut self, scene: &Geometry) {
        for k in 0..self.waiting.len {
            // SAFETY: those in lists have begun, and bits stand for primitives of the tree.
            unsafe {
                let walker = self.walker(self.waiting.get(k));
                let (base, bits) = walker.prims;
                A::intersect_prims::<C, ANY>(scene, base, bits, &walker.ray, &mut walker.hit);
                if ANY && walker.hit.is_hit() {
                    walker.node = Walker::NONE;
                }
            }
        }
        self.waiting.len = 0;
    }

    /// Lets go of those that have come to their end, and tells of them.
    #[inline(always)]
    fn release(&mut self, mut tell: impl FnMut(u32, Hit)) {
        let (mut going, first) = (List::new(), self.free.len);
        for k in 0..self.going.len {
            let i = self.going.get(k);
            // SAFETY: those in lists have begun.
            let is_done = unsafe { self.walker(i) }.node == Walker::NONE;
            going.add(i, !is_done);
            self.free.add(i, is_done);
        }
        self.going = going;
        for k in first..self.free.len {
            // SAFETY: as above.
            let walker = unsafe { self.walker(self.free.get(k)) };
            tell(walker.place, walker.hit);
        }
    }

    /// Adds a ray; there is room.
    #[inline(always)]
    fn begin(&mut self, ray: TraversalRay, t_max: f32, place: u32) {
        self.free.len -= 1;
        let i = self.free.get(self.free.len);
        Walker::begin(&mut self.walkers[i], ray, t_max, place);
        self.going.add(i, true);
    }

    /// Has every ray visit its node, and asks for what it needs next.
    ///
    /// # Safety
    /// As [`Troop::test`].
    #[inline(always)]
    unsafe fn visit<A: Arch>(&mut self, scene: &Geometry) {
        let mut met = [0_u32; TROOP];
        // SAFETY: those in lists have begun, and their nodes are of the tree.
        unsafe {
            for (k, met) in met.iter_mut().enumerate().take(self.going.len) {
                let walker = self.walker(self.going.get(k));
                *met = A::meet_children(node_at(scene, walker.node), &walker.ray, walker.hit.t);
            }
            for (k, &met) in met.iter().enumerate().take(self.going.len) {
                let i = self.going.get(k);
                let walker = self.walkers.get_unchecked_mut(i).assume_init_mut();
                let node = &*node_at(scene, walker.node);
                let (inner, leaves) = node.inner_and_leaves(met, walker.ray.oct_inv4);
                // Which primitives are in them is found where there are some.
                walker.prims = (walker.node, leaves);
                self.waiting.add(i, leaves != 0);
                walker.choose(node.child_base, inner, node.imask());
                ask_for_node(scene, walker.node);
            }
            for k in 0..self.waiting.len {
                let walker = self.walker(self.waiting.get(k));
                let (node, leaves) = walker.prims;
                let node = &*node_at(scene, node);
                walker.prims = (node.prim_base, A::prims_of(node, leaves));
                ask_for_leaves(scene.prims, walker.prims);
            }
        }
    }
}

/// Where a node is. Nodes are these on CPUs, which alone have herds.
#[inline(always)]
fn node_at(scene: &Geometry, node: u32) -> *const WideNode {
    scene.nodes.cast::<WideNode>().wrapping_add(node as usize)
}

/// Traces `count` rays, which `ray` gives with their ends, through the tree of the world, and tells what they meet; with `ANY`, any
/// one thing.
///
/// # Safety
/// `scene` is valid and asks for no features but those of `C`, and the machine is an `A`.
#[inline(always)]
pub(super) unsafe fn trace<A: Arch, C: Compiled, const ANY: bool>(
    scene: &Geometry,
    count: usize,
    ray: impl Fn(usize) -> (TraversalRay, f32),
    mut tell: impl FnMut(usize, Hit),
) {
    let mut troops = [Troop::new(), Troop::new()];
    let mut next = 0;
    loop {
        let mut going = 0;
        for troop in &mut troops {
            // SAFETY: as the caller promised.
            unsafe {
                troop.test::<A, C, ANY>(scene);
                troop.release(|place, hit| tell(place as usize, hit));
                while next < count && troop.free.len > 0 {
                    let (ray, t_max) = ray(next);
                    troop.begin(ray, t_max, next as u32);
                    next += 1;
                }
                troop.visit::<A>(scene);
            }
            going += troop.going.len;
        }
        if going == 0 {
            return;
        }
    }
}
