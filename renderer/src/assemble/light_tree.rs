//! The tree that chooses lights, built (Conty Estevez and Kulla 2018, "Importance Sampling of Many Lights with Adaptive Tree
//! Splitting", sections 4.1 to 4.3).

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use bytemuck::Zeroable;
use device::light::LightNode;
use device::light::tree::WIDTH;
use device::rng::{pcg4d, uniform};
use glam::{Quat, Vec3};

/// Lights close together, or one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cluster {
    /// Corners of a box around them.
    pub(super) bounds: [Vec3; 2],
    /// Radius of a sphere around its centre that has them, metres.
    pub(super) radius: f32,
    /// Where they shine.
    pub(super) cone: Cone,
    /// The sum of their largest radiant intensities.
    pub(super) intensity: f32,
    /// How many they are.
    pub(super) lights: u32,
}

/// Directions of light: normals within `theta_o` of an axis, and directions within `theta_e` of a normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cone {
    pub(super) axis: Vec3,
    /// Radians, from 0 to π.
    pub(super) theta_o: f32,
    /// Radians, from 0 to π.
    pub(super) theta_e: f32,
}

impl Cone {
    /// All directions.
    pub(super) const ALL: Self = Self { axis: Vec3::Z, theta_o: PI, theta_e: FRAC_PI_2 };

    /// Those of a surface with a normal.
    pub(super) const fn of_normal(axis: Vec3) -> Self {
        Self { axis, theta_o: 0.0, theta_e: FRAC_PI_2 }
    }

    /// The smallest that has both, but for rounding (section 4.1, algorithm 1).
    fn union(self, other: Self) -> Self {
        let theta_e = self.theta_e.max(other.theta_e);
        let (wide, narrow) = if self.theta_o >= other.theta_o { (self, other) } else { (other, self) };
        let apart = wide.axis.angle_between(narrow.axis);
        if (apart + narrow.theta_o).min(PI) <= wide.theta_o {
            return Self { theta_e, ..wide };
        }
        let theta_o = 0.5 * (wide.theta_o + apart + narrow.theta_o);
        let across = wide.axis.cross(narrow.axis);
        match across.try_normalize() {
            Some(across) if theta_o < PI => {
                let turn = Quat::from_axis_angle(across, theta_o - wide.theta_o);
                Self { axis: (turn * wide.axis).normalize(), theta_o, theta_e }
            }
            _ => Self { theta_e, ..Self::ALL },
        }
    }

    /// How much it spreads: M_Ω of eq. 1.
    fn measure(self) -> f32 {
        let Self { theta_o, theta_e, .. } = self;
        let theta_w = (theta_o + theta_e).min(PI);
        let (sin_o, cos_o) = theta_o.sin_cos();
        let around = 2.0 * theta_w * sin_o - (theta_o - 2.0 * theta_w).cos() - 2.0 * theta_o * sin_o + cos_o;
        TAU * (1.0 - cos_o) + FRAC_PI_2 * around
    }
}

impl Cluster {
    fn center(&self) -> Vec3 {
        0.5 * (self.bounds[0] + self.bounds[1])
    }

    /// What it brings to a point if nothing is in the way.
    fn brings(&self, p: Vec3) -> f64 {
        let to = p - self.center();
        let distance2 = to.length_squared().max(self.radius * self.radius).max(f32::MIN_POSITIVE);
        let Cone { axis, theta_o, theta_e } = self.cone;
        let beyond = (axis.angle_between(to) - theta_o).max(0.0);
        if beyond < theta_e { f64::from(self.intensity * beyond.cos() / distance2) } else { 0.0 }
    }

    fn union(self, other: Self) -> Self {
        let [[a, b], [c, d]] = [self.bounds, other.bounds];
        let bounds = [a.min(c), b.max(d)];
        let radius = 0.5 * (bounds[1] - bounds[0]).length();
        let (cone, intensity) = (self.cone.union(other.cone), self.intensity + other.intensity);
        Self { bounds, radius, cone, intensity, lights: self.lights + other.lights }
    }

    /// How badly one choice stands for all that is in it: eq. 2, with the square of the diagonal for the surface, which lights in a row have too.
    fn cost(&self) -> f32 {
        self.intensity * self.cone.measure() * self.radius * self.radius
    }
}

/// The tree of some lights.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LightTree {
    /// Its nodes, the root first.
    pub nodes: Vec<LightNode>,
    /// The place of each light: [`WIDTH`] times the number of its node, and which child.
    pub places: Vec<u32>,
}

/// Lights from which on a tree may pay: of fewer, none is so unlikely by its weight that a wrong guess of the tree would not be worse.
const LEAST_LIGHTS: usize = 16;
/// Points at which it is seen whether a tree pays.
const POINTS: u32 = 64;
/// Lights that are looked at there, at most.
const LIGHTS: usize = 1 << 14;
/// How many times as large a second moment makes up for a level of the tree.
const LEAST_GAIN: f64 = 2.0;

/// Whether choosing by the tree pays: how many times as large the second moment of unoccluded light is, at points among the lights, if they
/// are chosen by weights instead of by what each brings there, held against the levels of the tree.
pub(super) fn pays(lights: &[Cluster], weights: &[f64]) -> bool {
    if lights.len() < LEAST_LIGHTS {
        return false;
    }
    let bounds = lights.iter().map(|light| light.bounds).reduce(|[a, b], [c, d]| [a.min(c), b.max(d)]);
    let Some([low, high]) = bounds else { return false };
    let some: Vec<_> = lights.iter().zip(weights).step_by(lights.len().div_ceil(LIGHTS)).collect();
    let all: f64 = some.iter().map(|(_, weight)| **weight).sum();
    let gain = |point: u32| {
        let [x, y, z, _] = pcg4d([point, 0x11c4_7e3b, 1, 2]).map(uniform);
        let p = low + (high - low) * Vec3::new(x, y, z);
        let (mut sum, mut squares) = (0.0, 0.0);
        for (light, weight) in &some {
            let brought = light.brings(p);
            sum += brought;
            squares += brought * brought * all / weight.max(f64::MIN_POSITIVE);
        }
        if sum > 0.0 { squares / (sum * sum) } else { 0.0 }
    };
    let mut gains: Vec<f64> = (0..POINTS).map(gain).collect();
    let median = *gains.select_nth_unstable_by(POINTS as usize / 2, f64::total_cmp).1;
    let levels = (lights.len() as f64).ln() / (WIDTH as f64).ln();
    median > LEAST_GAIN * levels.max(1.0)
}

/// A tree whose nodes have two children.
enum Binary {
    Leaf(u32, Cluster),
    Inner(Box<[Self; 2]>, Cluster),
}

/// Slabs among which a split is looked for.
const BINS: usize = 16;
/// Lights from which on halves are built side by side.
const SIDE_BY_SIDE: usize = 1024;

impl Binary {
    const fn cluster(&self) -> &Cluster {
        let (Self::Leaf(_, cluster) | Self::Inner(_, cluster)) = self;
        cluster
    }

    fn of(lights: &[Cluster], of: &mut [u32]) -> Self {
        if let [light] = of {
            return Self::Leaf(*light, lights[*light as usize]);
        }
        let middle = split(lights, of);
        let (a, b) = of.split_at_mut(middle);
        let (a, b) = match a.len() + b.len() < SIDE_BY_SIDE {
            true => (Self::of(lights, a), Self::of(lights, b)),
            false => rayon::join(|| Self::of(lights, a), || Self::of(lights, b)),
        };
        let cluster = a.cluster().union(*b.cluster());
        Self::Inner(Box::new([a, b]), cluster)
    }
}

/// Orders two or more lights, and says how many of the first are to be split off: where the cost of both parts is least (eq. 3).
fn split(lights: &[Cluster], of: &mut [u32]) -> usize {
    let center = |light: u32| lights[light as usize].center();
    let none = [Vec3::INFINITY, Vec3::NEG_INFINITY];
    let [least, most] = of.iter().fold(none, |[a, b], light| [a.min(center(*light)), b.max(center(*light))]);
    let extent = most - least;
    let bin = |axis: usize, light: u32| {
        let part = (center(light)[axis] - least[axis]) / extent[axis];
        ((part * BINS as f32) as usize).min(BINS - 1)
    };
    let mut best: Option<(f32, usize, usize)> = None;
    for axis in (0..3).filter(|axis| extent[*axis] > 0.0 && extent[*axis].is_finite()) {
        let mut bins = [None::<Cluster>; BINS];
        for light in of.iter() {
            let (bin, own) = (&mut bins[bin(axis, *light)], lights[*light as usize]);
            *bin = Some(bin.map_or(own, |others| others.union(own)));
        }
        let join = |a: Option<Cluster>, b: Option<Cluster>| match (a, b) {
            (Some(a), Some(b)) => Some(a.union(b)),
            (a, b) => a.or(b),
        };
        let mut after = [None; BINS];
        let mut all = None;
        for k in (1..BINS).rev() {
            all = join(bins[k], all);
            after[k] = all;
        }
        let mut before = None;
        // Thin slabs are better than long ones.
        let shape = extent.max_element() / extent[axis];
        for k in 1..BINS {
            before = join(before, bins[k - 1]);
            let (Some(before), Some(after)) = (before, after[k]) else { continue };
            let cost = shape * (before.cost() + after.cost());
            if best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, axis, k));
            }
        }
    }
    let Some((_, axis, border)) = best else { return of.len() / 2 };
    // In their order, so that the tree does not depend on how they are moved.
    let (mut first, mut second): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    of.iter()
        .for_each(|light| if bin(axis, *light) < border { first.push(*light) } else { second.push(*light) });
    let middle = first.len();
    first.append(&mut second);
    of.copy_from_slice(&first);
    middle
}

/// By how much cones are wider, and spheres larger, than they are: rounding must not hide a light.
const SLACK: f32 = 2e-3;

impl LightTree {
    /// The tree of these lights; empty if there are none.
    pub(super) fn new(lights: &[Cluster]) -> Self {
        let mut tree = Self { nodes: Vec::new(), places: vec![0; lights.len()] };
        let mut order: Vec<u32> = (0..lights.len() as u32).collect();
        if !order.is_empty() {
            let root = Binary::of(lights, &mut order);
            tree.add(vec![root], 0);
        }
        tree
    }

    /// Adds a node of up to [`WIDTH`] children, made of these, of which those are opened first that stand for most; its place is one of
    /// its parent. Returns its number.
    fn add(&mut self, mut children: Vec<Binary>, place: u32) -> u32 {
        let number = self.nodes.len() as u32;
        while children.len() < WIDTH {
            let inner = children.iter().enumerate().filter(|(_, child)| matches!(child, Binary::Inner(..)));
            let costs = inner.map(|(k, child)| (k, child.cluster().cost()));
            let Some((k, _)) = costs.max_by(|(_, a), (_, b)| a.total_cmp(b)) else { break };
            if let Binary::Inner(halves, _) = children.swap_remove(k) {
                children.extend(*halves);
            }
        }
        let mut node = LightNode { place, ..LightNode::zeroed() };
        for (k, child) in children.iter().enumerate() {
            put(&mut node, k, child.cluster());
        }
        self.nodes.push(node);
        for (k, child) in children.into_iter().enumerate() {
            let place = number * WIDTH as u32 + k as u32;
            self.nodes[number as usize].child[k] = match child {
                Binary::Leaf(light, _) => {
                    self.places[light as usize] = place;
                    light | LightNode::LEAF
                }
                Binary::Inner(halves, _) => self.add(Vec::from(*halves), place),
            };
        }
        number
    }
}

/// Makes a cluster child `k` of a node.
fn put(node: &mut LightNode, k: usize, cluster: &Cluster) {
    let (center, Cone { axis, theta_o, theta_e }) = (cluster.center(), cluster.cone);
    let radius = cluster.radius * (1.0 + SLACK);
    let half = 0.5 * (cluster.bounds[1] - cluster.bounds[0]);
    for c in 0..3 {
        (node.center[c].0[k], node.half[c].0[k], node.axis[c].0[k]) = (center[c], half[c], axis[c]);
    }
    (node.radius.0[k], node.spacing2.0[k]) = (radius, radius * radius / cluster.lights as f32);
    node.intensity.0[k] = cluster.intensity;
    let [theta_o, theta_e] = [theta_o, theta_e].map(|theta| (theta + SLACK).min(PI));
    (node.cos_o.0[k], node.sin_o.0[k], node.cos_e.0[k]) =
        (theta_o.cos(), theta_o.sin().max(0.0), theta_e.cos());
}

#[cfg(test)]
mod tests;
