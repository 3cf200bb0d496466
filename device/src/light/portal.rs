//! Portals: rectangles through which the light of an environment comes in.
//!
//! Bitterli, Novák & Jarosz 2015, "Portal-Masked Environment Map Sampling": rectified to the angles α = atan(x/z) and
//! β = atan(y/z) in the frame of the rectangle, the environment seen through it from any point is a window with edges
//! along the axes.

use core::f32::consts::{FRAC_1_PI, PI};

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::Lighting;
use super::environment::Environment;
use super::table::{Entries, PARTS, Table, TableSample, Window};
use crate::arch::{load, max, min};
use crate::math::{atan2, sin_cos_turn};

/// A portal, 80 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Portal {
    /// A corner.
    pub corner: Vec3,
    /// Length of the edges, metres.
    pub size: [f32; 2],
    /// Unit vectors along the two edges, and from the room outwards.
    pub axes: [Vec3; 3],
    /// Power per unit of weight in the table and area, in units common to all portals.
    pub unit: f32,
    /// Unused.
    pub reserved: u32,
    /// Distribution of luminance over (α/π + ½, β/π + ½), with a little everywhere.
    pub table: Table,
}

const _: () = assert!(size_of::<Portal>() == 80);

/// Part of the samples that are drawn as if there were no portals: so that light that does come another way, such as to
/// the outer wall of a house, is found as well.
pub const DEFENSIVE: f32 = 0.125;

/// Rescales random bits that choose the portals to a number in [0, 1); `None` if they do not choose them.
#[inline(always)]
pub(super) fn rest(bits: u32) -> Option<f32> {
    const FIRST: u32 = (DEFENSIVE * 4_294_967_296.0) as u32;
    (bits >= FIRST)
        .then(|| ((bits - FIRST) >> 8) as f32 * (1.0 / ((u32::MAX - FIRST) >> 8) as f32) * 0.999_999_9)
}

impl Portal {
    #[inline(always)]
    fn local(&self, v: Vec3) -> Vec3 {
        Vec3::from_array(self.axes.map(|axis| axis.dot(v)))
    }

    /// A part of the table's width, and one of its height, to [`PARTS`] of cells; `None` unless outwards.
    #[inline(always)]
    fn window(&self, p: Vec3) -> Option<Window> {
        let corner = self.local(self.corner - p);
        if corner.z <= 0.0 {
            return None;
        }
        let range = |x: f32, size: f32, n: u32| {
            let parts = (n * PARTS) as f32;
            let at = |x: f32| (FRAC_1_PI * atan2(x, corner.z) + 0.5) * parts;
            let ends = Vec2::new(at(x), at(x + size));
            let (first, last) = (max(ends.floor().x, 0.0), min(ends.ceil().y, parts));
            // SAFETY: both are from 0 to a number below 2²⁴.
            unsafe { [first.to_int_unchecked::<i32>() as u32, last.to_int_unchecked::<i32>() as u32] }
        };
        Some(Window {
            x: range(corner.x, self.size[0], self.table.width),
            y: range(corner.y, self.size[1], self.table.height),
        })
    }

    /// The direction to a place in the table.
    #[inline(always)]
    fn direction(&self, TableSample { cell, within }: TableSample) -> Option<Vec3> {
        let half_turns = |i: usize, n: u32| (cell[i] as f32 + within[i]) / n as f32;
        // sin α = −cos π(α/π + ½), cos α = sin π(α/π + ½).
        let (cos_a, minus_sin_a) = sin_cos_turn(0.5 * half_turns(0, self.table.width));
        let (cos_b, minus_sin_b) = sin_cos_turn(0.5 * half_turns(1, self.table.height));
        let [x, y, z] = self.axes;
        let d = (-minus_sin_a * cos_b) * x + (-minus_sin_b * cos_a) * y + (cos_a * cos_b) * z;
        (d != Vec3::ZERO).then(|| d.normalize())
    }

    /// Density over solid angle, times [`mass`], with which a direction is drawn from `p` through this portal.
    #[inline(always)]
    fn density(&self, entries: Entries, p: Vec3, d: Vec3) -> f32 {
        let w = self.local(d);
        let Some(window) = self.window(p) else { return 0.0 };
        if w.z <= 0.0 {
            return 0.0;
        }
        let at = |x: f32, n: u32| (FRAC_1_PI * atan2(x, w.z) + 0.5) * n as f32;
        let place = Vec2::new(at(w.x, self.table.width), at(w.y, self.table.height));
        let is_within = |x: f32, [a, b]: [u32; 2]| {
            let parts = x * PARTS as f32;
            parts >= a as f32 && parts <= b as f32
        };
        if !is_within(place.x, window.x) || !is_within(place.y, window.y) {
            return 0.0;
        }
        // SAFETY: both are from 0 to a number below 2²⁴.
        let [x, y] = unsafe { [place.x, place.y].map(|x| x.to_int_unchecked::<i32>() as u32) };
        let cell =
            [if x == self.table.width { x - 1 } else { x }, if y == self.table.height { y - 1 } else { y }];
        let cells = self.table.width as f32 * self.table.height as f32;
        let weight = (entries.weight(cell) * u64::from(PARTS)) as f32 * self.unit;
        weight * cells / solid_angle(w)
    }
}

/// |∂ω / ∂(α/π, β/π)|.
#[inline(always)]
fn solid_angle(w: Vec3) -> f32 {
    PI * PI * (1.0 - w.x * w.x) * (1.0 - w.y * w.y) / w.z
}

/// Power that comes through all portals that `p` sees.
///
/// # Safety
/// `scene` is valid, and has the environment.
#[inline(always)]
pub(super) unsafe fn mass(scene: &Lighting, environment: &Environment, p: Vec3) -> f32 {
    let mut sum = 0.0;
    for i in 0..environment.portals {
        // SAFETY: as the caller promised.
        sum += unsafe { mass_of(scene, &load(scene.portals.add(i as usize)), p) };
    }
    sum
}

#[inline(always)]
unsafe fn mass_of(scene: &Lighting, portal: &Portal, p: Vec3) -> f32 {
    // SAFETY: as the caller promised.
    let entries = unsafe { portal.table.entries(scene.tables) };
    portal.window(p).map_or(0.0, |window| entries.mass(window) as f32 * portal.unit)
}

/// Draws a direction through a portal, which the number `x` below [`mass`] chooses.
///
/// # Safety
/// As [`mass`].
#[inline(always)]
pub(super) unsafe fn sample(
    scene: &Lighting,
    environment: &Environment,
    p: Vec3,
    mut x: f32,
    bits: [u32; 2],
) -> Option<Vec3> {
    for i in 0..environment.portals {
        // SAFETY: as the caller promised.
        unsafe {
            let portal = load(scene.portals.add(i as usize));
            let mass = mass_of(scene, &portal, p);
            if x < mass {
                let place = portal.table.entries(scene.tables).sample(portal.window(p)?, bits)?;
                return portal.direction(place);
            }
            x -= mass;
        }
    }
    None
}

/// Density over solid angle, times [`mass`], with which `d` is drawn through any portal.
///
/// # Safety
/// As [`mass`].
#[inline(always)]
pub(super) unsafe fn density(scene: &Lighting, environment: &Environment, p: Vec3, d: Vec3) -> f32 {
    let mut sum = 0.0;
    for i in 0..environment.portals {
        // SAFETY: as the caller promised.
        unsafe {
            let portal = load(scene.portals.add(i as usize));
            sum += portal.density(portal.table.entries(scene.tables), p, d);
        }
    }
    sum
}
