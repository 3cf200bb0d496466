//! Traversal by packets: as many rays at once as the machine's registers have lanes.
//!
//! A packet visits a child if any of its rays does. Where only few still do, these go on alone, taking turns: Benthin, Wald, Woop,
//! Ernst & Mark 2012, "Combining Single and Packet-Ray Tracing for Arbitrary Ray Distributions on the Intel MIC
//! Architecture". A ray meets the same primitive whatever company it is in.
//!
//! One traversal loop with its node and leaf tests, which are inlined into it: they are in one file to be read together.

mod instances;

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use glam::Vec3;

use super::Geometry;
use crate::arch::{Mask, Real, Vec3s, load, minus, splat};
use crate::features::Compiled;
use crate::ray::{Ray, TraversalRay, origin_crossings, safe_inverse};
use crate::sampling::tangents;
use crate::shape::{self, LaneHits, triangle};

use super::herd;
use super::stray::Stray;
use super::traverse::{Hit, NODES, STACK_SIZE, has_instances};
use super::wide::{EARLIER, LATER};
use super::{Arch, WideNode};
use instances::Company;

/// Most lanes that any machine has.
const MAX_LANES: usize = 16;

/// Up to how many rays of a packet go on alone if they lead the same way, and of any packet in a tree that fits into a cache, in
/// scenes without instances.
pub const FEWEST_STRAYS: u32 = 2;
/// Of other packets in such a tree among instances, where rays part sooner.
pub const STRAYS_AMONG_INSTANCES: u32 = 4;
/// Of other packets in a larger tree: all that a packet has, so that these begin as strays.
pub const MOST_STRAYS: u32 = MAX_LANES as u32;

/// Rays by columns.
#[repr(C, align(64))]
pub struct RayColumns<const N: usize> {
    o: [[f32; N]; 3],
    d: [[f32; N]; 3],
    t_max: [f32; N],
}

/// Hits of the rays, by columns.
#[repr(C, align(64))]
pub struct HitColumns<const N: usize> {
    t: [f32; N],
    prim: [u32; N],
    b: [[f32; N]; 2],
    instance: [u32; N],
}

impl<const N: usize> RayColumns<N> {
    /// Room for `N` rays, a multiple of the lanes of all machines.
    pub const fn zeroed() -> Self {
        const { assert!(N / MAX_LANES * MAX_LANES == N) };
        Self { o: [[0.0; N]; 3], d: [[0.0; N]; 3], t_max: [0.0; N] }
    }

    /// Puts `ray`, which ends at `t_max`, in place `i`.
    #[inline(always)]
    pub fn set(&mut self, i: usize, ray: Ray, t_max: f32) {
        for axis in 0..3 {
            self.o[axis][i] = ray.o[axis];
            self.d[axis][i] = ray.d[axis];
        }
        self.t_max[i] = t_max;
    }

    /// Puts rays without end, given by columns of their origins and directions, in the places from `first` on.
    #[inline(always)]
    pub(crate) fn set_block<const M: usize>(&mut self, first: usize, o: [&[f32; M]; 3], d: [&[f32; M]; 3]) {
        let places = first..first + M;
        for axis in 0..3 {
            self.o[axis][places.clone()].copy_from_slice(o[axis]);
            self.d[axis][places.clone()].copy_from_slice(d[axis]);
        }
        self.t_max[places].fill(f32::INFINITY);
    }

    /// The ray in place `i`, and where it ends.
    #[inline(always)]
    pub fn get(&self, i: usize) -> (Ray, f32) {
        let at = |columns: &[[f32; N]; 3]| Vec3::new(columns[0][i], columns[1][i], columns[2][i]);
        (Ray { o: at(&self.o), d: at(&self.d) }, self.t_max[i])
    }

    /// Fills the places from `len` on up to the end of a packet with rays that meet nothing.
    #[inline(always)]
    fn pad(&mut self, len: usize, lanes: usize) {
        for i in len..len.next_multiple_of(lanes) {
            for column in self.o.iter_mut().chain(&mut self.d) {
                column[i] = column[len - 1];
            }
            self.t_max[i] = NOTHING;
        }
    }
}

impl<const N: usize> HitColumns<N> {
    /// Room for `N` hits.
    pub const fn zeroed() -> Self {
        Self { t: [0.0; N], prim: [0; N], b: [[0.0; N]; 2], instance: [Hit::WORLD; N] }
    }

    /// Hit of ray `i`.
    #[inline(always)]
    pub fn get(&self, i: usize) -> Hit {
        let (t, prim, instance) = (self.t[i], self.prim[i], self.instance[i]);
        Hit { t, prim, b: [self.b[0][i], self.b[1][i]], instance }
    }

    #[inline(always)]
    fn set(&mut self, i: usize, hit: Hit) {
        (self.t[i], self.prim[i], self.instance[i]) = (hit.t, hit.prim, hit.instance);
        (self.b[0][i], self.b[1][i]) = (hit.b[0], hit.b[1]);
    }
}

/// Orders the first `len` places of `order` by the octants that their rays look into, given by their directions: rays of a
/// packet then visit nodes in one order, and more of the same ones. A counting sort.
#[inline(always)]
pub fn sort_by_octant<const N: usize>(order: &mut [u16; N], len: usize, direction: impl Fn(u16) -> Vec3) {
    let unsorted = *order;
    let mut octants = [0_u8; N];
    let mut counts = [0_u16; 8];
    for (octant, i) in octants.iter_mut().zip(&unsorted[..len]) {
        let [x, y, z] = direction(*i).to_array().map(|x| (x.to_bits() >> 31) as u8);
        *octant = x | (y << 1) | (z << 2);
        counts[usize::from(*octant & 7)] += 1;
    }
    let mut end = 0;
    let mut next = counts.map(|n| {
        end += n;
        end - n
    });
    for (octant, i) in octants.iter().zip(&unsorted[..len]) {
        let next = &mut next[usize::from(*octant & 7)];
        order[usize::from(*next)] = *i;
        *next += 1;
    }
}

/// End of a ray that cannot meet anything.
const NOTHING: f32 = -1.0;

/// The nearest intersections of the first `len` rays closer than their ends; with `ANY`, any one, of which only is
/// known that it is there. Up to `strays` rays of a packet go on alone.
///
/// # Safety
/// `scene` is valid and asks for no features but those of `C`, `len` ≤ `N`, and the machine is an `A`. The columns of
/// hits are of this scene alone.
#[inline(always)]
pub unsafe fn intersect<A: Arch, C: Compiled, const ANY: bool, const N: usize>(
    scene: &Geometry,
    rays: &mut RayColumns<N>,
    len: usize,
    hits: &mut HitColumns<N>,
    strays: u32,
) {
    const { assert!(MAX_LANES.is_power_of_two() && A::Packet::LANES <= MAX_LANES) };
    let lanes = A::Packet::LANES;
    if strays as usize >= lanes {
        // SAFETY: as the caller promised.
        return unsafe { in_turn::<A, C, ANY, N>(scene, rays, len, hits) };
    }
    rays.pad(len, lanes);
    let mut stack = Stack::empty();
    for first in (0..len).step_by(lanes) {
        // SAFETY: columns are as long as all packets; the rest as the caller promised.
        unsafe {
            let packet = Packet::new(load3(&rays.o, first), load3(&rays.d, first), 0);
            let hit = PacketHit::miss(A::Packet::load(rays.t_max.as_ptr().add(first)));
            let mut hit = traverse::<A, C, ANY>(scene, &packet, 0, hit, &mut stack, strays);
            if has_instances::<C>(scene) {
                let mut instance = A::Packet::splat(f32::from_bits(Hit::WORLD));
                A::outlined(Company::<A, C, ANY> {
                    scene,
                    packet: &packet,
                    hit: &mut hit,
                    instance: &mut instance,
                    stack: &mut stack,
                    strays,
                    features: PhantomData,
                });
                instance.store(hits.instance.as_mut_ptr().cast::<f32>().add(first));
            }
            hit.t.store(hits.t.as_mut_ptr().add(first));
            hit.prim.store(hits.prim.as_mut_ptr().cast::<f32>().add(first));
            hit.b[0].store(hits.b[0].as_mut_ptr().add(first));
            hit.b[1].store(hits.b[1].as_mut_ptr().add(first));
        }
    }
}

/// Traces the first `len` rays alone, several in turn: one that is done makes room for the next.
///
/// # Safety
/// As [`intersect`].
#[inline(always)]
unsafe fn in_turn<A: Arch, C: Compiled, const ANY: bool, const N: usize>(
    scene: &Geometry,
    rays: &RayColumns<N>,
    len: usize,
    hits: &mut HitColumns<N>,
) {
    let ray = |i: usize| {
        let (ray, t_max) = rays.get(i);
        (TraversalRay::new(ray), t_max)
    };
    // SAFETY: as the caller promised.
    unsafe { herd::trace::<A, C, ANY>(scene, len, ray, |i, hit| hits.set(i, hit)) };
    if has_instances::<C>(scene) {
        // SAFETY: as the caller promised.
        unsafe { instances::in_turn::<A, C, ANY, N>(scene, rays, len, hits) };
    }
}

/// Reads the places from `first` on of three columns.
///
/// # Safety
/// The columns have as many places as there are lanes from there on.
#[inline(always)]
unsafe fn load3<F: Real, const N: usize>([x, y, z]: &[[f32; N]; 3], first: usize) -> Vec3s<F> {
    // SAFETY: as the caller promised.
    unsafe {
        [F::load(x.as_ptr().add(first)), F::load(y.as_ptr().add(first)), F::load(z.as_ptr().add(first))]
    }
}

/// Rays, a lane each: what [`TraversalRay`] is for one.
struct Packet<F: Real> {
    o: Vec3s<F>,
    d: Vec3s<F>,
    inv_d: Vec3s<F>,
    /// [`TraversalRay::crossings`].
    enter: Vec3s<F>,
    leave: Vec3s<F>,
    /// Where `inv_d` is negative.
    negative: [F::Mask; 3],
    across: [Vec3s<F>; 2],
    /// [`TraversalRay::oct_inv4`] of one of the rays, once: all visit children in its order.
    oct_inv: u32,
}

/// Hits of the rays, a lane each. `prim` holds the bits of an index.
#[derive(Clone, Copy)]
struct PacketHit<F> {
    t: F,
    prim: F,
    b: [F; 2],
}

/// Number of lane `i`.
#[inline(always)]
fn lane<F: Real>(x: &F, i: usize) -> f32 {
    debug_assert!(i < F::LANES);
    // SAFETY: a number is its lanes in order.
    unsafe { core::ptr::from_ref(x).cast::<f32>().add(i).read() }
}

#[inline(always)]
fn set_lane<F: Real>(x: &mut F, i: usize, value: f32) {
    debug_assert!(i < F::LANES);
    // SAFETY: as above.
    unsafe { core::ptr::from_mut(x).cast::<f32>().add(i).write(value) }
}

impl<F: Real> Packet<F> {
    /// Prepares rays, which visit children in the order of that in lane `first`.
    #[inline(always)]
    fn new(o: Vec3s<F>, d: Vec3s<F>, first: usize) -> Self {
        let [x, y, z] = [safe_inverse(d[0]), safe_inverse(d[1]), safe_inverse(d[2])];
        let negative = [x.is_sign_negative(), y.is_sign_negative(), z.is_sign_negative()];
        let positive = [
            (!negative[0].bits() >> first) & 1,
            (!negative[1].bits() >> first) & 1,
            (!negative[2].bits() >> first) & 1,
        ];
        let oct_inv = (positive[0] << 2) | (positive[1] << 1) | positive[2];
        let crossings = [origin_crossings(o[0], x), origin_crossings(o[1], y), origin_crossings(o[2], z)];
        let [enter, leave] = [0, 1].map(|i| crossings.map(|axis| axis[i]));
        Self { o, d, inv_d: [x, y, z], enter, leave, negative, across: tangents(d), oct_inv }
    }

    /// The rays that look into the octant of that in lane `i`.
    #[inline(always)]
    fn octant_of(&self, i: usize) -> F::Mask {
        let [x, y, z] = self.negative;
        lanes_like(x, i) & lanes_like(y, i) & lanes_like(z, i)
    }

    /// The ray of lane `i`.
    #[inline(always)]
    fn ray(&self, i: usize) -> TraversalRay {
        let vec3 = |v: &[F; 3]| Vec3::new(lane(&v[0], i), lane(&v[1], i), lane(&v[2], i));
        let ray = Ray { o: vec3(&self.o), d: vec3(&self.d) };
        TraversalRay::from_parts(ray, vec3(&self.inv_d), [vec3(&self.across[0]), vec3(&self.across[1])])
    }
}

/// Lanes that have the truth value of lane `i`.
#[inline(always)]
fn lanes_like<M: Mask>(mask: M, i: usize) -> M {
    if (mask.bits() >> i) & 1 == 1 { mask } else { !mask }
}

/// The first of the lanes in a mask that has some.
#[inline(always)]
fn first_lane(mask: impl Mask) -> usize {
    mask.bits().trailing_zeros() as usize % MAX_LANES
}

impl<F: Real> PacketHit<F> {
    /// Rays that have met nothing closer than `t_max`.
    #[inline(always)]
    fn miss(t_max: F) -> Self {
        let zero = F::splat(0.0);
        Self { t: t_max, prim: F::splat(f32::from_bits(Hit::MISS)), b: [zero; 2] }
    }

    /// Puts other hits in the place of those in some lanes.
    #[inline(always)]
    fn take(&mut self, mask: F::Mask, hit: Self) {
        self.t = F::select(mask, hit.t, self.t);
        self.prim = F::select(mask, hit.prim, self.prim);
        self.b = [F::select(mask, hit.b[0], self.b[0]), F::select(mask, hit.b[1], self.b[1])];
    }

    #[inline(always)]
    fn lane(&self, i: usize) -> Hit {
        Hit {
            t: lane(&self.t, i),
            prim: lane(&self.prim, i).to_bits(),
            b: [lane(&self.b[0], i), lane(&self.b[1], i)],
            instance: Hit::WORLD,
        }
    }

    #[inline(always)]
    fn set_lane(&mut self, i: usize, hit: Hit) {
        set_lane(&mut self.t, i, hit.t);
        set_lane(&mut self.prim, i, f32::from_bits(hit.prim));
        set_lane(&mut self.b[0], i, hit.b[0]);
        set_lane(&mut self.b[1], i, hit.b[1]);
    }
}

/// Places of the stack for one tree: a level leaves at most seven siblings, and the deepest node eight children.
const STACK_OF_TREE: usize = 7 * STACK_SIZE + 8;

/// Nodes still to be visited, each with the distances at which the rays enter its box: of the tree of the world, or of that
/// of the instances and of a group.
struct Stack<F> {
    entries: MaybeUninit<[(F, u32); 2 * STACK_OF_TREE]>,
    len: usize,
    /// Entries below are another tree's.
    bottom: usize,
}

impl<F: Real> Stack<F> {
    #[inline(always)]
    const fn empty() -> Self {
        Self { entries: MaybeUninit::uninit(), len: 0, bottom: 0 }
    }

    #[inline(always)]
    fn push(&mut self, entry: (F, u32)) {
        debug_assert!(self.len < 2 * STACK_OF_TREE);
        // SAFETY: trees are at most STACK_SIZE deep, and there are nodes of two at most.
        unsafe { self.entries.as_mut_ptr().cast::<(F, u32)>().add(self.len).write(entry) };
        self.len += 1;
    }

    /// Puts the child nodes that are hit onto the stack, the nearest on top, with where rays enter the children.
    #[inline(always)]
    fn push_children(&mut self, node: &WideNode, hits: u32, enter: &[F; 8], oct_inv: u32) {
        let imask = node.imask();
        let mut nodes = hits >> 24;
        while nodes != 0 {
            let slot = nodes.trailing_zeros() ^ oct_inv;
            nodes &= nodes - 1;
            let child = node.child_base + (imask & !(u32::MAX << slot)).count_ones();
            self.push((enter[slot as usize & 7], child));
        }
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<(F, u32)> {
        if self.len == self.bottom {
            return None;
        }
        self.len -= 1;
        // SAFETY: entries below `len` have been written.
        Some(unsafe { self.entries.as_ptr().cast::<(F, u32)>().add(self.len).read() })
    }
}

/// Nearest hits of a packet's rays below a node, closer than `hit`.
///
/// # Safety
/// `scene` is valid and has this node in a tree of primitives, and the machine is an `A`.
#[inline(always)]
unsafe fn traverse<A: Arch, C: Compiled, const ANY: bool>(
    scene: &Geometry,
    packet: &Packet<A::Packet>,
    root: u32,
    mut hit: PacketHit<A::Packet>,
    stack: &mut Stack<A::Packet>,
    strays: u32,
) -> PacketHit<A::Packet> {
    let mut alone = Alone { rays: [const { MaybeUninit::uninit() }; MAX_LANES], known: 0 };
    let below = core::mem::replace(&mut stack.bottom, stack.len);
    let mut next = Some((A::Packet::splat(0.0), root));
    while let Some((near, node)) = next {
        let active = near.le(hit.t).bits();
        // SAFETY: the node is one of the tree.
        unsafe {
            if active.count_ones() > strays {
                visit::<A, C, ANY>(scene, packet, node, &mut hit, stack);
            } else if active != 0 {
                alone.follow::<A, C, ANY>(scene, packet, node, active, &mut hit);
            }
        }
        next = stack.pop();
    }
    stack.bottom = below;
    hit
}

/// Rays of a packet that go on alone.
struct Alone {
    rays: [MaybeUninit<TraversalRay>; MAX_LANES],
    /// Those that are there, a bit each.
    known: u32,
}

impl Alone {
    /// Follows the rays of some lanes below a node, in turn.
    ///
    /// # Safety
    /// `scene` is valid and has this node, the rays are always those of the same packet, and the machine is an `A`.
    #[inline(always)]
    unsafe fn follow<A: Arch, C: Compiled, const ANY: bool>(
        &mut self,
        scene: &Geometry,
        packet: &Packet<A::Packet>,
        node: u32,
        mut active: u32,
        hit: &mut PacketHit<A::Packet>,
    ) {
        let mut strays = [const { MaybeUninit::<Stray>::uninit() }; MAX_LANES];
        let mut order = [0_u8; MAX_LANES];
        let mut len = 0;
        while active != 0 {
            let lane = active.trailing_zeros() as usize % MAX_LANES;
            active &= active - 1;
            if self.known >> lane & 1 == 0 {
                self.rays[lane].write(packet.ray(lane));
                self.known |= 1 << lane;
            }
            Stray::begin(&mut strays[lane], lane, hit.lane(lane), node);
            order[len] = lane as u8;
            len += 1;
        }
        while len > 0 {
            let mut i = 0;
            while i < len {
                let lane = usize::from(order[i]) % MAX_LANES;
                // SAFETY: what is in `order` was begun above, and its ray is known.
                let is_done = unsafe {
                    let stray = strays[lane].assume_init_mut();
                    !stray.turn::<A, C, ANY>(scene, self.rays[lane].assume_init_ref())
                };
                if is_done {
                    len -= 1;
                    order.swap(i, len);
                    // SAFETY: as above.
                    let Stray { lane, hit: mut found, .. } = *unsafe { strays[lane].assume_init_ref() };
                    if ANY && found.is_hit() {
                        found.t = NOTHING;
                    }
                    hit.set_lane(lane, found);
                } else {
                    i += 1;
                }
            }
        }
    }
}

/// Tests the primitives of a node, and puts its child nodes onto the stack, the nearest on top.
///
/// # Safety
/// `scene` is valid and has this node, and the machine is an `A`.
#[inline(always)]
unsafe fn visit<A: Arch, C: Compiled, const ANY: bool>(
    scene: &Geometry,
    packet: &Packet<A::Packet>,
    node: u32,
    hit: &mut PacketHit<A::Packet>,
    stack: &mut Stack<A::Packet>,
) {
    // SAFETY: the node is one of the tree, whose nodes are these on CPUs, which alone trace packets.
    let node = unsafe { &*scene.nodes.cast::<WideNode>().add(node as usize) };
    let mut enter = [A::Packet::splat(0.0); 8];
    let hits = intersect_children(node, packet, hit.t, &mut enter);
    let prims = hits & !NODES;
    let mut slot = 0;
    while prims != 0 && slot < 8 {
        let meta = u32::from(byte(&node.meta, slot));
        // Of a node, no bit is a primitive's.
        let mut of_slot = ((meta >> 5) << (meta & 0x1f)) & prims;
        let enters = enter[slot].le(A::Packet::splat(f32::INFINITY));
        while of_slot != 0 {
            let i = of_slot.trailing_zeros();
            of_slot &= of_slot - 1;
            // SAFETY: the leaf's primitives are of the scene.
            unsafe { intersect_prim::<A::Packet, C, ANY>(scene, node.prim_base + i, packet, enters, hit) };
        }
        slot += 1;
    }
    stack.push_children(node, hits, &enter, packet.oct_inv);
}

/// Tests the children: sets the bits of [`super::NodeHits::hits`] for those that any ray meets, and where each ray
/// enters them, NaN where it misses.
#[inline(always)]
fn intersect_children<F: Real>(node: &WideNode, packet: &Packet<F>, t_max: F, enter: &mut [F; 8]) -> u32 {
    let mut hits = 0;
    for (slot, enter) in enter.iter_mut().enumerate() {
        let [near, far] = box_crossings(&node.planes, slot, packet);
        let near = near.max(F::splat(0.0));
        let met = near.le(far.min(t_max));
        // No end lies beyond NaN: a ray that misses is done with the child.
        *enter = F::select(met, near, F::splat(f32::NAN));
        // No branches: which children are met is hard to predict.
        let meta = u32::from(byte(&node.meta, slot));
        let is_inner = (meta & (meta << 1) & 0x10) >> 4;
        let bits = (meta >> 5) * u32::from(met.bits() != 0);
        hits |= bits << ((meta ^ (packet.oct_inv * is_inner)) & 0x1f);
    }
    hits
}

#[inline(always)]
const fn byte(words: &[u32; 2], i: usize) -> u8 {
    (words[i / 4] >> (8 * (i % 4))) as u8
}

/// Where the rays enter and leave the box of a child.
#[inline(always)]
fn box_crossings<F: Real>(planes: &[[f32; 8]; 6], slot: usize, packet: &Packet<F>) -> [F; 2] {
    let crossings = |a: usize| {
        let (low, high) = (F::splat(planes[2 * a][slot]), F::splat(planes[2 * a + 1][slot]));
        let near = F::select(packet.negative[a], high, low);
        let far = F::select(packet.negative[a], low, high);
        [near.mad_loose(packet.inv_d[a], packet.enter[a]), far.mad_loose(packet.inv_d[a], packet.leave[a])]
    };
    let [x, y, z] = [crossings(0), crossings(1), crossings(2)];
    [x[0].max(y[0]).max(z[0]) * F::splat(EARLIER), x[1].min(y[1]).min(z[1]) * F::splat(LATER)]
}

/// Tests one primitive against the rays that enter its box. The others could hit it by rounding only, which would not happen
/// to them alone: the distance to a needle is less certain than the position of its box.
///
/// # Safety
/// `scene` is valid and has this primitive and those of `hit`; the machine has the instruction set of `F`.
#[inline(always)]
unsafe fn intersect_prim<F: Real, C: Compiled, const ANY: bool>(
    scene: &Geometry,
    index: u32,
    packet: &Packet<F>,
    enters: F::Mask,
    hit: &mut PacketHit<F>,
) {
    // SAFETY: the primitive is of the scene.
    let prim = unsafe { load(scene.prims.add(index as usize)) };
    let zero = F::splat(0.0);
    if prim.is_analytic::<C>() {
        let o = minus(packet.o, splat(prim.a));
        if let Some(LaneHits { mask, t, b }) = prim.meet::<F, C>(o, packet.d, hit.t, enters) {
            let mask = mask & zero.lt(t) & t.le(hit.t);
            // SAFETY: as the caller promised.
            unsafe { accept::<F, C, ANY>(scene, index, packet, mask, t, b, hit) };
        }
        return;
    }
    let [a, b, c] = [splat(prim.a), splat(prim.b), splat(prim.c)];
    let vertices = [minus(a, packet.o), minus(b, packet.o), minus(c, packet.o)];
    let edges = triangle::edges(triangle::project(vertices, packet.across));
    let [u, v, w] = edges;
    let undecided = u.eq(zero) | v.eq(zero) | w.eq(zero);
    let inside = !(u.signs_differ(v, w) | undecided);
    // Rays that are done need no decision.
    let undecided = undecided & enters & zero.le(hit.t);
    // No branch if none is inside: it is as likely as not.
    let (t, b) = triangle::distance(vertices, edges, packet.d);
    // SAFETY: as the caller promised.
    unsafe {
        accept::<F, C, ANY>(scene, index, packet, enters & inside & zero.lt(t) & t.le(hit.t), t, b, hit)
    };
    if undecided.bits() != 0 {
        // SAFETY: as the caller promised.
        unsafe { one_by_one::<F, C, ANY>(scene, index, packet, undecided.bits(), hit) };
    }
}

/// Records hits that are no farther than what the rays have met so far.
///
/// # Safety
/// `scene` is valid and has this primitive and those of `hit`; the machine has the instruction set of `F`.
#[inline(always)]
unsafe fn accept<F: Real, C: Compiled, const ANY: bool>(
    scene: &Geometry,
    index: u32,
    packet: &Packet<F>,
    mask: F::Mask,
    t: F,
    b: [F; 2],
    hit: &mut PacketHit<F>,
) {
    let ties = mask & t.eq(hit.t);
    let mask = mask & !ties;
    let t = if ANY { F::splat(NOTHING) } else { t };
    hit.take(mask, PacketHit { t, prim: F::splat(f32::from_bits(index)), b });
    if ties.bits() != 0 {
        // SAFETY: as the caller promised.
        unsafe { one_by_one::<F, C, ANY>(scene, index, packet, ties.bits(), hit) };
    }
}

/// Tests rays alone against a primitive.
///
/// # Safety
/// `scene` is valid and has this primitive and those of `hit`; the machine has the instruction set of `F`.
#[inline(never)]
unsafe fn one_by_one<F: Real, C: Compiled, const ANY: bool>(
    scene: &Geometry,
    index: u32,
    packet: &Packet<F>,
    mut lanes: u32,
    hit: &mut PacketHit<F>,
) {
    // SAFETY: the primitive is of the scene.
    let prim = unsafe { load(scene.prims.add(index as usize)) };
    while lanes != 0 {
        let i = lanes.trailing_zeros() as usize;
        lanes &= lanes - 1;
        let mut best = hit.lane(i);
        if let Some((t, b)) = shape::intersect::<C>(&prim, &packet.ray(i), best.t)
            // SAFETY: as the caller promised; what was hit before is a primitive of the scene as well.
            && unsafe { best.yields_to(scene, t, index) }
        {
            best = Hit { t: if ANY { NOTHING } else { t }, prim: index, b, instance: Hit::WORLD };
            hit.set_lane(i, best);
        }
    }
}
