//! Packets among instances: the rays that enter one go on as a packet in its space.
//!
//! Of instances that a ray meets equally near, the first wins, in the order in which a ray alone visits them: that of its
//! octant. So rays of several octants part here.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::{
    HitColumns, MAX_LANES, NOTHING, Packet, PacketHit, RayColumns, Stack, byte, first_lane,
    intersect_children, set_lane, traverse,
};
use crate::arch::{Mask, Real, Vec3s, dot, load, scaled, splat};
use crate::bvh::arch::Outlined;
use crate::bvh::stray::Guest;
use crate::bvh::traverse::{Hit, NODES};
use crate::bvh::{Arch, Geometry, Instance, WideNode};
use crate::features::Compiled;
use crate::ray::TraversalRay;

/// Rays that take turns where none is in a packet: enough to cover the time that memory takes, few enough for their stacks to stay
/// in the first cache.
const AT_ONCE: usize = 16;

/// Rays of a packet and the hits on instances that they have found so far.
pub(super) struct Company<'a, A: Arch, C, const ANY: bool> {
    pub(super) scene: &'a Geometry,
    pub(super) packet: &'a Packet<A::Packet>,
    pub(super) hit: &'a mut PacketHit<A::Packet>,
    /// Bits of [`Hit::instance`].
    pub(super) instance: &'a mut A::Packet,
    pub(super) stack: &'a mut Stack<A::Packet>,
    /// Up to how many rays go on alone.
    pub(super) strays: u32,
    pub(super) features: PhantomData<C>,
}

/// Looks for hits on instances that are closer than those before, in a valid scene which has instances and asks for no
/// features but those of `C`.
impl<A: Arch, C: Compiled, const ANY: bool> Outlined for Company<'_, A, C, ANY> {
    #[inline(always)]
    unsafe fn run(mut self) {
        let nothing = A::Packet::splat(NOTHING);
        let mut left = A::Packet::splat(0.0).le(self.hit.t);
        while left.bits() != 0 {
            let side_by_side = left & self.packet.octant_of(first_lane(left));
            let before = self.hit.t;
            self.hit.t = A::Packet::select(side_by_side, before, nothing);
            // SAFETY: as the caller promised.
            unsafe { self.traverse() };
            self.hit.t = A::Packet::select(side_by_side, self.hit.t, before);
            left = left & !side_by_side;
        }
    }
}

impl<A: Arch, C: Compiled, const ANY: bool> Company<'_, A, C, ANY> {
    /// Goes through the tree of the instances with the rays that have not ended.
    ///
    /// # Safety
    /// As [`Company::run`].
    #[inline(always)]
    unsafe fn traverse(&mut self) {
        let mut next = Some((A::Packet::splat(0.0), self.scene.instances_root));
        while let Some((near, node)) = next {
            let active = near.le(self.hit.t);
            // SAFETY: the node is one of the tree of the instances.
            unsafe {
                if active.bits().count_ones() > self.strays {
                    self.visit(node, active);
                } else if active.bits() != 0 {
                    self.go_alone(node, active.bits());
                }
            }
            next = self.stack.pop();
        }
    }

    /// Enters the instances of a node, and puts its child nodes onto the stack: those that any of these rays meets, in the
    /// order of a ray alone.
    ///
    /// # Safety
    /// As [`Company::run`], and the tree of the instances has this node.
    #[inline(always)]
    unsafe fn visit(&mut self, node: u32, active: <A::Packet as Real>::Mask) {
        // SAFETY: the node is one of the tree, whose nodes are these on CPUs, which alone trace packets.
        let node = unsafe { &*self.scene.nodes.cast::<WideNode>().add(node as usize) };
        let mut enter = [A::Packet::splat(0.0); 8];
        // Others than the active ones could only enter by rounding, which they do not alone.
        let t_max = A::Packet::select(active, self.hit.t, A::Packet::splat(NOTHING));
        let hits = intersect_children(node, self.packet, t_max, &mut enter);
        let mut slots = 0..8;
        let mut instances = hits & !NODES;
        while instances != 0
            && let Some(slot) = slots.next_back()
        {
            let meta = u32::from(byte(&node.meta, slot));
            // Of a node, no bit is an instance's.
            let mut of_slot = ((meta >> 5) << (meta & 0x1f)) & instances;
            instances &= !of_slot;
            debug_assert!(
                of_slot == 0 || of_slot > instances,
                "places in a node are in the order of its slots"
            );
            while of_slot != 0 {
                let bit = 31 - of_slot.leading_zeros();
                of_slot &= !(1 << bit);
                let enters = enter[slot].le(self.hit.t);
                if enters.bits() != 0 {
                    // SAFETY: the leaf's instances are of the scene.
                    unsafe { self.enter(node.prim_base + bit, enters) };
                }
            }
        }
        self.stack.push_children(node, hits, &enter, self.packet.oct_inv);
    }

    /// Goes on in the space of an instance with some of the rays.
    ///
    /// # Safety
    /// As [`Company::run`], and the scene has this instance.
    #[inline(always)]
    unsafe fn enter(&mut self, index: u32, enters: <A::Packet as Real>::Mask) {
        // SAFETY: the instance is of the scene.
        let placed = unsafe { load(self.scene.instances.add(index as usize)) };
        let ([o, d], stretch) = enter(&placed, self.packet);
        let t_max = A::Packet::select(enters, self.hit.t * stretch, A::Packet::splat(NOTHING));
        let mut met = PacketHit::miss(t_max);
        // SAFETY: as the caller promised; the root is a node of the group's tree.
        unsafe {
            A::outlined(InGroup::<A, C, ANY> {
                scene: self.scene,
                packet: &Packet::new(o, d, first_lane(enters)),
                root: placed.root,
                hit: &mut met,
                stack: self.stack,
                strays: self.strays,
                features: PhantomData,
            });
        }
        let t = if ANY { A::Packet::splat(NOTHING) } else { met.t / stretch };
        // The end of a ray has changed where it has met something.
        let mask = met.t.lt(t_max) & t.lt(self.hit.t);
        self.hit.take(mask, PacketHit { t, ..met });
        *self.instance = A::Packet::select(mask, A::Packet::splat(f32::from_bits(index)), *self.instance);
    }

    /// Follows the rays of some lanes below a node, in turn.
    ///
    /// # Safety
    /// As [`Company::run`], and the tree of the instances has this node.
    #[inline(always)]
    unsafe fn go_alone(&mut self, node: u32, mut lanes: u32) {
        let mut guests = [const { MaybeUninit::<Guest>::uninit() }; MAX_LANES];
        let mut order = [0_u8; MAX_LANES];
        let mut len = 0;
        while lanes != 0 {
            let i = lanes.trailing_zeros() as usize % MAX_LANES;
            lanes &= lanes - 1;
            Guest::begin(&mut guests[i], self.packet.ray(i), i, self.hit.lane(i), node);
            order[len] = i as u8;
            len += 1;
        }
        while len > 0 {
            let mut k = 0;
            while k < len {
                let i = usize::from(order[k]) % MAX_LANES;
                // SAFETY: what is in `order` was begun above; the rest is as the caller promised.
                let (goes_on, hit) = unsafe {
                    let guest = guests[i].assume_init_mut();
                    (guest.turn::<A, C, ANY>(self.scene), &guest.outside.hit)
                };
                if goes_on {
                    k += 1;
                    continue;
                }
                // What was met before is no instance here.
                if hit.instance != Hit::WORLD {
                    let t = if ANY { NOTHING } else { hit.t };
                    self.hit.set_lane(i, Hit { t, ..*hit });
                    set_lane(self.instance, i, f32::from_bits(hit.instance));
                }
                len -= 1;
                order.swap(k, len);
            }
        }
    }
}

/// Looks for hits on instances that are closer than those of the first `len` rays: alone, several in turn.
///
/// # Safety
/// As [`super::intersect`], and there are instances.
#[inline(always)]
pub(super) unsafe fn in_turn<A: Arch, C: Compiled, const ANY: bool, const N: usize>(
    scene: &Geometry,
    rays: &RayColumns<N>,
    len: usize,
    hits: &mut HitColumns<N>,
) {
    let mut guests = [const { MaybeUninit::<Guest>::uninit() }; AT_ONCE];
    let mut order = [0_u8; AT_ONCE];
    for (i, place) in order.iter_mut().enumerate() {
        *place = i as u8;
    }
    let (mut active, mut next) = (0, 0);
    loop {
        while active < AT_ONCE && next < len {
            let hit = Hit { instance: Hit::WORLD, ..hits.get(next) };
            if 0.0 <= hit.t && !(ANY && hit.is_hit()) {
                let (ray, place) = (rays.get(next).0, usize::from(order[active]) % AT_ONCE);
                Guest::begin(&mut guests[place], TraversalRay::new(ray), next, hit, scene.instances_root);
                active += 1;
            } else {
                hits.set(next, hit);
            }
            next += 1;
        }
        if active == 0 {
            return;
        }
        let mut k = 0;
        while k < active {
            let i = usize::from(order[k]) % AT_ONCE;
            // SAFETY: the first `active` of `order` have begun; the rest is as the caller promised.
            let (goes_on, outside) = unsafe {
                let guest = guests[i].assume_init_mut();
                (guest.turn::<A, C, ANY>(scene), &guest.outside)
            };
            if goes_on {
                k += 1;
                continue;
            }
            hits.set(outside.lane, outside.hit);
            active -= 1;
            order.swap(k, active);
        }
    }
}

/// A packet that goes through the tree of a group, of a scene as for [`Company`].
struct InGroup<'a, A: Arch, C, const ANY: bool> {
    scene: &'a Geometry,
    packet: &'a Packet<A::Packet>,
    root: u32,
    hit: &'a mut PacketHit<A::Packet>,
    stack: &'a mut Stack<A::Packet>,
    strays: u32,
    features: PhantomData<C>,
}

impl<A: Arch, C: Compiled, const ANY: bool> Outlined for InGroup<'_, A, C, ANY> {
    #[inline(always)]
    unsafe fn run(self) {
        let Self { scene, packet, root, hit, stack, strays, .. } = self;
        // SAFETY: as the caller promised; the root is a node of a tree of primitives.
        *hit = unsafe { traverse::<A, C, ANY>(scene, packet, root, *hit, stack, strays) };
    }
}

/// [`Instance::enter`] for all rays of a packet: the same arithmetic, and so the same bits.
#[inline(always)]
fn enter<F: Real>(instance: &Instance, packet: &Packet<F>) -> ([Vec3s<F>; 2], F) {
    let ([x, y, z], added) = instance.parts();
    let (rows, added) = ([splat::<F>(x), splat(y), splat(z)], splat::<F>(added));
    let d = [dot(rows[0], packet.d), dot(rows[1], packet.d), dot(rows[2], packet.d)];
    let stretch = dot(d, d).sqrt();
    let o = [
        dot(rows[0], packet.o) + added[0],
        dot(rows[1], packet.o) + added[1],
        dot(rows[2], packet.o) + added[2],
    ];
    ([o, scaled(d, F::splat(1.0) / stretch)], stretch)
}
