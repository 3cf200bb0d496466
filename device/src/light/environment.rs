//! Environment maps: look-up, and importance sampling by radiance.

use core::f32::consts::FRAC_1_PI;

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3, Vec4};

use super::guide::{BELOW_ONE, GuideEntry, choose};
use super::{Lighting, portal};
use crate::arch::{load, max, min, sqrt};
use crate::math::{atan2, sin_cos_turn};

/// An image of all directions: row 0 is +y, the middle column −z, and columns to the right of it turn towards +x. 64
/// bytes.
///
/// Texels are interpolated. As in Mitsuba, that of column i and row j is at i + ½ over the width and at j over the height
/// less 1: columns go on around the image, and the first and the last row are the poles.
///
/// Directions are drawn by the luminance between texels: first a row of cells, which each have four texels around them, then a
/// cell of the row, then a point in it. [`Lighting::tables`] begins with a guide table of the rows, and then has one of the
/// cells of each row.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Environment {
    /// Rows of the rotation from the world to the image.
    pub image_from_world: [Vec3; 3],
    /// Width, texels.
    pub width: u32,
    /// Height, texels, ≥ 2.
    pub height: u32,
    /// Number of [`Lighting::portals`].
    pub portals: u32,
    /// Solid-angle density, over luminance, with which a point half-way down its cell is drawn.
    pub unit_density: f32,
    /// Unused.
    pub reserved: [u32; 3],
}

const _: () = assert!(size_of::<Environment>() == 64);

/// A texel, 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct SkyTexel {
    /// Radiance, W·sr⁻¹·m⁻².
    pub radiance: Vec3,
    /// Its luminance.
    pub luminance: f32,
}

impl SkyTexel {
    /// Radiance, and luminance as w.
    #[inline(always)]
    fn to_vec4(self) -> Vec4 {
        self.radiance.extend(self.luminance)
    }
}

/// A cell, and a place in it.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// Column and row: the texels are of columns x and x + 1 and rows y and y + 1.
    pub(crate) cell: [u32; 2],
    /// Part of the luminance in its row of the cell that is to the left of it, and part of that in the cell that is above that
    /// row; in (0, 1).
    pub(crate) within: [f32; 2],
}

/// A point of the image.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    /// As [`Place::cell`].
    pub(crate) cell: [u32; 2],
    /// From the first texel to the next.
    pub(crate) f: Vec2,
}

/// A direction, the radiance from there, and its density.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Unit direction.
    pub wi: Vec3,
    /// Radiance.
    pub li: Vec3,
    /// Solid-angle density.
    pub pdf: f32,
}

impl Environment {
    /// Radiance from a direction, W·sr⁻¹·m⁻².
    ///
    /// # Safety
    /// `scene` is valid, and this is its environment.
    #[inline(always)]
    pub unsafe fn radiance(&self, scene: &Lighting, d: Vec3) -> Vec3 {
        // SAFETY: as the caller promised.
        unsafe { self.interpolated(scene, self.point(self.local(d))) }.truncate()
    }

    /// Draws a direction by the luminance of the image.
    ///
    /// # Safety
    /// As [`Environment::radiance`].
    #[inline(always)]
    pub unsafe fn sample(&self, scene: &Lighting, bits: [u32; 2]) -> Sample {
        // SAFETY: as the caller promised; cells are between texels of the image.
        unsafe {
            let place = self.place(scene, bits);
            let corners = self.corners(scene, place.cell);
            let (point, wi, pdf) = self.sample_cell(place, corners.map(|texel| texel.w));
            Sample { wi, li: interpolate(corners, point.f).truncate(), pdf }
        }
    }

    /// Draws a cell and a place in it: the row by the second word, the column by the first.
    ///
    /// # Safety
    /// As [`Environment::radiance`].
    #[inline(always)]
    pub(crate) unsafe fn place(&self, scene: &Lighting, bits: [u32; 2]) -> Place {
        let (columns, rows) = (self.width, self.height - 1);
        let guides = scene.tables.cast::<GuideEntry>();
        // SAFETY: as the caller promised.
        unsafe {
            let row = choose(guides, rows, bits[1]);
            let first = (rows + 1) + row.index * (columns + 1);
            let column = choose(guides.add(first as usize), columns, bits[0]);
            Place { cell: [column.index, row.index], within: [column.part_of(bits[0]), row.part_of(bits[1])] }
        }
    }

    /// The point at a place between texels of the given luminances, its direction, and the density over solid angle with
    /// which it is drawn.
    #[inline(always)]
    pub(crate) fn sample_cell(&self, place: Place, luminances: [f32; 4]) -> (Point, Vec3, f32) {
        let ([u, v], [a, b, c, d]) = (place.within, luminances);
        // The interpolated luminance within the cell: first the row of it, then the point in that.
        let y = sample_linear(v, a + b, c + d);
        let (left, right) = (lerp(y, a, c), lerp(y, b, d));
        let x = sample_linear(u, left, right);
        let point = Point { cell: place.cell, f: Vec2::new(x, y) };
        let (wi, sin_theta) = self.direction(point);
        (point, wi, self.density(point, sin_theta) * lerp(x, left, right))
    }

    /// Solid-angle density with which [`Environment::sample`] draws a direction.
    ///
    /// # Safety
    /// As [`Environment::radiance`].
    #[inline(always)]
    pub unsafe fn pdf(&self, scene: &Lighting, d: Vec3) -> f32 {
        let (point, density) = self.seen(d);
        // SAFETY: as the caller promised.
        density * unsafe { self.interpolated(scene, point) }.w
    }

    /// The point of the image in a direction, and the density over solid angle and luminance with which it is drawn.
    #[inline(always)]
    pub(crate) fn seen(&self, d: Vec3) -> (Point, f32) {
        let local = self.local(d);
        let point = self.point(local);
        (point, self.density(point, sin_theta(local)))
    }

    #[inline(always)]
    fn local(&self, d: Vec3) -> Vec3 {
        Vec3::from_array(self.image_from_world.map(|row| row.dot(d)))
    }

    /// Where in the image a direction is.
    #[inline(always)]
    fn point(&self, local: Vec3) -> Point {
        let u = 0.5 + 0.5 * FRAC_1_PI * atan2(local.x, -local.z);
        let v = FRAC_1_PI * atan2(sin_theta(local), local.y);
        let (width, rows) = (self.width as f32, self.height - 1);
        let (x, y) = (u * width + (width - 0.5), v * rows as f32);
        // SAFETY: u and v are in [0, 1] but for rounding, and sizes below 2¹⁵.
        let (i, j) = unsafe { (x.to_int_unchecked::<i32>() as u32, y.to_int_unchecked::<i32>() as u32) };
        let j = if j >= rows { rows - 1 } else { j };
        let f = Vec2::new(x - i as f32, min(y - j as f32, 1.0));
        Point { cell: [if i >= self.width { i - self.width } else { i }, j], f }
    }

    /// The direction in the world of a point, and the sine of its angle to the pole.
    #[inline(always)]
    fn direction(&self, Point { cell, f }: Point) -> (Vec3, f32) {
        let u = (cell[0] as f32 + 0.5 + f.x) * (1.0 / self.width as f32);
        let v = min((cell[1] as f32 + f.y) * (1.0 / (self.height - 1) as f32), 1.0);
        let (sin_phi, cos_phi) = sin_cos_turn(if u > 1.0 { u - 1.0 } else { u });
        let (sin_theta, cos_theta) = sin_cos_turn(0.5 * v);
        // u = ½ is −z.
        let local = Vec3::new(-sin_theta * sin_phi, cos_theta, sin_theta * cos_phi);
        let [x, y, z] = self.image_from_world;
        (local.x * x + local.y * y + local.z * z, sin_theta)
    }

    /// The four texels around a cell: radiance, and luminance as w.
    ///
    /// # Safety
    /// As [`Environment::radiance`]; the cell is one of the image.
    #[inline(always)]
    pub(crate) unsafe fn corners(&self, scene: &Lighting, [x, y]: [u32; 2]) -> [Vec4; 4] {
        let right = if x + 1 == self.width { 0 } else { x + 1 };
        // SAFETY: columns and rows are within the image.
        let texel = |x: u32, y: u32| unsafe { load(scene.sky.add((y * self.width + x) as usize)) }.to_vec4();
        [texel(x, y), texel(right, y), texel(x, y + 1), texel(right, y + 1)]
    }

    /// Radiance, and its luminance as w, at a point.
    ///
    /// # Safety
    /// As [`Environment::corners`].
    #[inline(always)]
    pub(crate) unsafe fn interpolated(&self, scene: &Lighting, Point { cell, f }: Point) -> Vec4 {
        // SAFETY: as the caller promised.
        interpolate(unsafe { self.corners(scene, cell) }, f)
    }

    /// Density over solid angle and luminance with which a point is drawn that has the given sine of the angle to the pole.
    /// Over the image it is the same in all of a row of cells: that of its middle.
    #[inline(always)]
    fn density(&self, Point { cell, .. }: Point, sin_theta: f32) -> f32 {
        let rows = self.height - 1;
        // Twice the rows from the pole that is nearer, which is exact.
        let from_pole = core::cmp::min(2 * cell[1] + 1, 2 * (rows - cell[1]) - 1);
        let (sin_middle, _) = sin_cos_turn(from_pole as f32 * (0.25 / rows as f32));
        self.unit_density * sin_middle / max(sin_theta, MIN_SIN_THETA)
    }
}

/// What is at `f` between four texels.
#[inline(always)]
fn interpolate([a, b, c, d]: [Vec4; 4], f: Vec2) -> Vec4 {
    let (top, bottom) = (a + (b - a) * f.x, c + (d - c) * f.x);
    top + (bottom - top) * f.y
}

/// Sine of the angle to a pole below which rounding would divide by zero.
const MIN_SIN_THETA: f32 = 1e-8;

/// Sine of the angle to +y.
#[inline(always)]
fn sin_theta(local: Vec3) -> f32 {
    sqrt(local.x * local.x + local.z * local.z)
}

#[inline(always)]
fn lerp(x: f32, a: f32, b: f32) -> f32 {
    a + (b - a) * x
}

/// A number in [0, 1) with a density that goes linearly from `a` to `b` (pbrt 4th ed. §2.3.2).
#[inline(always)]
fn sample_linear(u: f32, a: f32, b: f32) -> f32 {
    if a + b <= 0.0 {
        return u;
    }
    let scale = 1.0 / (a + b);
    let (a, b) = (a * scale, b * scale);
    min(u / (a + sqrt(lerp(u, a * a, b * b))), BELOW_ONE)
}

/// Draws a direction from `p` to the environment: through the portals that `p` sees, or by the image alone.
///
/// # Safety
/// `scene` is valid and has an environment that is an image.
#[inline(always)]
pub(super) unsafe fn sample(scene: &Lighting, p: Vec3, [u, v, choice]: [u32; 3]) -> Option<Sample> {
    // SAFETY: as the caller promised.
    unsafe {
        let environment = load(scene.environment);
        let through = portal::mass(scene, &environment, p);
        if through == 0.0 {
            return Some(environment.sample(scene, [u, v]));
        }
        let wi = match portal::rest(choice) {
            None => environment.sample(scene, [u, v]).wi,
            Some(x) => portal::sample(scene, &environment, p, x * through, [u, v])?,
        };
        let pdf = mixed_pdf(scene, &environment, through, p, wi);
        let li = environment.radiance(scene, wi);
        (pdf > 0.0).then_some(Sample { wi, li, pdf })
    }
}

/// Solid-angle density with which [`sample`] from `p` yields `d`.
///
/// # Safety
/// As [`sample`].
#[inline(always)]
pub(super) unsafe fn pdf(scene: &Lighting, environment: &Environment, p: Vec3, d: Vec3) -> f32 {
    // SAFETY: as the caller promised.
    unsafe {
        let through = portal::mass(scene, environment, p);
        if through == 0.0 {
            return environment.pdf(scene, d);
        }
        mixed_pdf(scene, environment, through, p, d)
    }
}

#[inline(always)]
unsafe fn mixed_pdf(scene: &Lighting, environment: &Environment, through: f32, p: Vec3, d: Vec3) -> f32 {
    // SAFETY: as the caller promised.
    let (within, plain) = unsafe { (portal::density(scene, environment, p, d), environment.pdf(scene, d)) };
    lerp(portal::DEFENSIVE, within / through, plain)
}
